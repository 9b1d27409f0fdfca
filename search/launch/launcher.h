/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/launch/launcher.h: what a launcher is, and all that the search needs to know of the launchers there are. Pure.
 *
 * A launcher is a folder that defines one `const Launcher`, and a row in launchers.c. Everywhere else it is an index
 * into that list, or a bit of a LauncherSet. */
#pragma once

#include "base/arena.h"
#include "base/text/prose.h"
#include "cost/state/remat.h"
#include "cost/time/step.h"
#include "search/answer/ranked_plan.h"

#include <stdio.h>

typedef struct PlanFacts PlanFacts;   /* search/launch/rules.h */
typedef struct LaunchAsk LaunchAsk;   /* search/launch/placement.h */
typedef struct LaunchWays LaunchWays; /* search/launch/placement.h */
typedef struct LaunchWay LaunchWay;   /* search/launch/placement.h */
typedef struct RematList RematList;
typedef struct EmitNotes EmitNotes;       /* search/launch/emit.h */
typedef struct LaunchJob LaunchJob;       /* search/launch/emit.h */
typedef struct LaunchKey LaunchKey;       /* search/launch/keys.h */
typedef struct ConfigFile ConfigFile;     /* search/launch/syntax/config_file.h */
typedef struct ImportedWork ImportedWork; /* search/launch/import.h */
typedef struct ImportedPlan ImportedPlan; /* search/launch/import.h */

/* How a plan is written: emit_write() (search/launch/emit.h) calls these. */
typedef bool EmitWriter(const LaunchJob *job, const EmitNotes *notes, FILE *out, Error *error);
/* Adds a sentence for each thing that the framework does otherwise than was costed. */
typedef void EmitNoter(const LaunchJob *job, EmitNotes *notes);
typedef const char *EmitRefusal(const LaunchJob *job);

typedef struct {
    const char *name; /* as the command line spells it */
    EmitWriter *write;
    EmitNoter *notes;
    const char *does;    /* for help: "a YAML file for MaxText's trainer" */
    const char *file;    /* what one calls it, in examples: "train.sh"; NULL: no name is suggested */
    EmitRefusal *cannot; /* what it refuses beyond the launcher's rules; NULL: nothing */
    const char *title;   /* who refuses it: "torchtitan 0.2"; NULL: the launcher */
    const char *starts;  /* on TPUs, what reads the file as its last word but for arguments; NULL: one's own program */
} EmitFormat;

/* How a file is read: import_work() and import_plan() (search/launch/import.h) call these. */
typedef bool ImportWork(ConfigFile *file, ImportedWork *out, Error *error);
typedef bool ImportPlan(ConfigFile *file, const Request *request, ImportedPlan *out, Error *error);

/* An optimizer in a launcher's word and in ours. Of several words for one the first is written, all are read. */
typedef struct {
    const char *word, *ours; /* NULL behind the last */
} OptimizerWord;
#define OPTIMIZER_WORDS(name, ...) const OptimizerWord name[] = {__VA_ARGS__, {NULL, NULL}}

/* An order in which a launcher nests roles. */
typedef struct {
    const char *name; /* as --nesting spells it */
    Nesting order;
    const char *option; /* that it needs for it, as it spells it; NULL: none */
} NamedNesting;

/* What else a layer may have that not every launcher's models do. */
typedef enum {
    LAYERS_INDEXED,        /* sparse attention: an indexer and its top_k */
    LAYERS_LATENT_EXPERTS, /* routed experts of another width than the stream */
    LAYERS_GATED,          /* a gate on the attention's output */
    LAYERS_JOINED,         /* keys of several tokens in one, queries and outputs of low rank: DeepSeek-V4 */
    LAYERS_OTHER,          /* keys reused, low ranks, cross attention, shared blocks, other matrices */
} LayerFeature;

enum { LAUNCHER_MIXERS_MAX = 6 };
enum { LAUNCHER_NESTINGS_MAX = 2, LAUNCHER_SIGNS_MAX = 8, LAUNCHER_FORMATS_MAX = 2 };

/* What there is to know of a launcher. Lists end at their first NULL, or when they are full. */
typedef struct {
    const char *name; /* as --for spells it: "maxtext" */
    NamedNesting nestings
        [LAUNCHER_NESTINGS_MAX]; /* the order in which it nests roles, then those that it can be configured to */

    /* Whether it is among those that plans are made for where nobody says (--for): production launchers. */
    bool usual_on_tpus, usual_on_gpus;
    bool (*has_model)(const Model *model); /* else it is not among them; NULL: it has all that its rules take */
    bool usual_in_tuning;                  /* the same where a model is fine-tuned */
    bool fine_tunes; /* it is made for that: adapters, a part of the weights, pairs. Others train all weights of it */

    /* ---- which layers its models have, alongside attention, MLPs and mixtures ---- */
    bool any_layers; /* it runs the user's own model: without tensor and sequence, which would have to know it */
    const char *mixers[LAUNCHER_MIXERS_MAX]; /* by their names in models/mixers */
    unsigned layers;                         /* a bit per LayerFeature */

    /* ---- what it refuses ---- */
    bool gpus_only;  /* it speaks NCCL */
    PaddingSet pads; /* what it pads, or splits unevenly */
    /* What it has against a request whatever the plan: its model, precision, state or sequence, which it has no words
     * for. A sentence; NULL: nothing. No function: it never has. */
    const char *(*refuses_work)(const Request *);
    /* A sentence that names the rule; NULL: it takes the plan. What is refused in the plainest form that
     * launchers_taking_some() tests has to be refused in every form. */
    const char *(*refuses)(const PlanFacts *);
    /* The rules among these that degrees (and the model and its sequences) alone decide; the others need not have them
     * again. They are requested first, once for all settings of a tuple of degrees. NULL: there are none. */
    const char *(*refuses_degrees)(const PlanFacts *);
    bool (*offloads_optimizer)(const PlanFacts *); /* its state to the host; NULL means always */
    HostUpdate host_update;                        /* who updates the state there */
    bool counts_microbatches; /* it has a rule about microbatches that are no multiple of the stages */

    /* ---- where it puts roles ---- */
    /* Adds its placements to none. NULL means ranks in the order of its nestings, as torchrun numbers them. */
    void (*ways)(const LaunchAsk *ask, LaunchWays *out);
    bool expressible_domains; /* on GPUs its degrees inside and across domains say the whole placement */
    const char *device_order; /* how it is made to place roles in any way at all; NULL means that it cannot be */

    /* ---- what it can be configured to recompute and offload ---- */
    void (*remat)(RematList *list, const Model *model); /* NULL means anything, by layer */
    bool remat_by_chunk;                                /* it counts layers in each chunk of a stage */
    /* How it is configured to do what a layout does: "remat_policy=full". NULL: it has no words for that; no function:
     * for nothing. */
    const char *(*remat_words)(const Model *model, const Layout *layout, char text[REMAT_TEXT_SIZE]);

    /* The plan in the words of the people who use it: "TP 4, PP 8, CP 1, micro-batch 1, recompute full". NULL: it has
     * none. The plan is one that it takes. */
    void (*plan_words)(const LaunchJob *job, Prose *out);

    /* ---- its files ---- */
    /* Keys of which one is enough to recognise a file; a trailing . or _ means that the key begins so. */
    const char *signs[LAUNCHER_SIGNS_MAX];
    bool signs_yield;                /* its keys stand in files of others too, whose signs count first */
    const LaunchKey *keys;           /* what is both written and read as it stands; NULL: all is irregular */
    const char *optimizer_key;       /* of the optimizer's word, which is AdamW where a file has no such key */
    const OptimizerWord *optimizers; /* what it refuses all others than; NULL: it has them all, and no key */
    ImportWork *import_work;
    ImportPlan *import_plan;
    /* Which of the ways a file means; *out NULL: none. No function: the one whose option is plan->option. */
    bool (*import_way)(ConfigFile *file, const Request *request, const ImportedPlan *plan, const LaunchWays *ways,
                       const LaunchWay **out, Error *error);
    EmitFormat formats[LAUNCHER_FORMATS_MAX];
} Launcher;

/* ---- the list: search/launch/launchers.c ---- */

int launcher_count(void); /* at most LAUNCHERS_MAX */
const Launcher *launcher_at(int index);

/* ---- names ---- */

const char *launcher_name(int launcher); /* "maxtext" */
LauncherSet launchers_all(void);

/* What the field calls a launcher in our word: "nemo" is megatron; any other word is itself. */
const char *launcher_plain_name(const char *word);

/* "maxtext", or several with commas; "any" is the empty set. */
bool launchers_parse(const char *text, const char *where, LauncherSet *out, Error *error);

/* The names of a set, `between` between them and `last` before the last: "maxtext, jax or megatron".
 * LAUNCHER_NAMES_SIZE is enough for all of them. Returns `text`. */
enum { LAUNCHER_NAME_SIZE = 24, LAUNCHER_NAMES_SIZE = LAUNCHERS_MAX * (LAUNCHER_NAME_SIZE + 4) };
char *launcher_names(LauncherSet set, const char *between, const char *last, char *text, size_t size);

/* The same for a report: "maxtext jax", "all launchers", "no launcher". Returns `text`. */
char *launchers_text(LauncherSet set, const char *between, char *text, size_t size);

/* Whom a request is for, as --for takes it: "maxtext", "megatron,torchtitan,deepspeed", "any". Returns `text`. */
char *request_launchers(const Request *request, char text[LAUNCHER_NAMES_SIZE]);

/* The plan in the words of the people who use the launcher; nothing where it has none, or is NULL. */
void launcher_words(const Launcher *launcher, const Request *request, const RankedPlan *ranked, Prose *out);

/* The order in which a launcher nests roles, as --nesting spells it. */
const char *launcher_nesting(int launcher);

/* Every order of roles that has a name, from 0 on, "default" (the canonical one) first; NULL after the last. */
const char *nesting_name(int index);
bool nesting_named(const char *name, Nesting *out);

/* ---- what they take ---- */

/* Which launchers take the degrees, knobs and padding of a plan, wherever its roles lie. */
LauncherSet plan_launchers(const Model *model, const Work *work, const Plan *plan, PaddingSet padding,
                           const Mesh *mesh);

/* Which of the launchers requested may take some knob setting with these degrees and with the methods, schedule and
 * split of the layers of `like`, whatever its other knobs. Theorem: no rule of a launcher refuses as many
 * microbatches as stages, of as many sequences as a stage has chips but for fsdp and data, in one chunk, without
 * overlap or offloading, without ZeRO and with weights gathered again, if it takes anything else;
 * tests/search/launch/test_rules.c tries it on random plans. */
LauncherSet launchers_taking_some(LauncherSet requested, const Model *model, const Work *work, const Degrees *degrees,
                                  const Knobs *like, const Mesh *mesh);

/* Whether one of them may take some knob setting of these degrees with one of these methods and schedules. */
typedef struct {
    const Model *model;
    const Work *work;
    const Mesh *mesh;
    const Degrees *degrees;
    StageSplit split;
    const Methods *methods;
    int method_count;
    Schedule schedules[SCHEDULE_COUNT];
    int schedule_count;
} PlainPlans;
bool launchers_take_one(LauncherSet requested, const PlainPlans *plans);

/* Those of them that may take these degrees with some methods, knobs and split: none of the others takes any. */
LauncherSet launchers_of_degrees(LauncherSet requested, const Model *model, const Work *work, const Degrees *degrees,
                                 const Mesh *mesh);

/* Of launchers that take the degrees of a plan, those that take its knobs and padding. */
LauncherSet launchers_of_knobs(LauncherSet able, const Model *model, const Work *work, const Plan *plan,
                               PaddingSet padding, const Mesh *mesh);

/* Why a launcher does not take the degrees, knobs or padding of a plan: a sentence that names the rule; NULL: it takes
 * them. */
const char *launch_refusal(int launcher, const Model *model, const Work *work, const Plan *plan, PaddingSet padding,
                           const Mesh *mesh);

/* Why a launcher takes no plan of a request, of which question and requested optimizer are read: a sentence; NULL: it
 * may take some. */
const char *launch_refusal_of_work(int launcher, const Request *request);

/* The requested optimizer in the word of a launcher that has optimizers; NULL: it does not have that one. */
const char *launcher_optimizer(const Launcher *launcher, const Request *request);

/* Those that take none: SpaceRules.unable. */
LauncherSet launchers_refusing_work(const Request *request);

/* The launchers that run on TPUs. */
LauncherSet launchers_on_tpus(void);

/* Those that plans are made for where nobody says which, on a chip of that kind and for that model. */
LauncherSet launchers_usual(const Chip *chip, const Model *model);

/* Those that are made to pre-train (all weights, the optimizer in fp32), or to fine-tune (a checkpoint as it lies). */
LauncherSet launchers_made_for(bool tuning);

/* Those that plans of fine-tuning are made for where nobody says which. */
LauncherSet launchers_usual_in_tuning(void);

/* The padding rule of a request as it is on a mesh: where a plan must be launched by somebody (PADDING_LAUNCHABLE, or
 * `launchers`, of which one is requested; 0: none is) and none of them pads anything there, nothing is padded. */
PaddingRule padding_on(PaddingRule rule, LauncherSet launchers, const Mesh *mesh);

/* Who updates the optimizer's state on the host under a launcher; under none, the chip, which nothing rules out and
 * which is the faster way. Of several, the CPUs, if one has them do it; but each is searched for by itself. */
HostUpdate launchers_host_update(LauncherSet launchers);

/* ---- where they put roles ---- */

/* Of each of `count` placements, all of one tuple of degrees: those of `launchers` that can be made to place roles so,
 * by any of their ways or by a device order. */
void launchers_placing(LauncherSet launchers, const NestedMesh *nested_mesh, const char *chip,
                       const Placement *placements, int64_t count, LauncherSet *out);

/* Whether one of `launchers` can be made to place roles so. A memo serves placements of one tuple of degrees on one
 * mesh and lives in the arena; NULL means that memory is out. */
typedef struct LaunchMemo LaunchMemo;
LaunchMemo *launch_memo_new(Arena *arena);
bool launchers_place(LauncherSet launchers, const NestedMesh *nested_mesh, const char *chip, const Placement *placement,
                     LaunchMemo *memo);

/* Every placement of a tuple of degrees of which launchers_place() says yes, for one launcher at least. */
typedef struct {
    Placement placement;
    LauncherSet launchers; /* that make it */
} MadePlacement;
typedef struct {
    MadePlacement *made; /* in the order of rates_walk() under the nesting of the mesh */
    int64_t count;
    LauncherSet any; /* launchers that place whatever is requested; what they make is not in the list */
    bool too_many;   /* the list is not whole: there are too many ways to ask */
} MadePlacements;
/* Lists them in the arena; false means that memory is out. */
bool launch_placements(LauncherSet launchers, const NestedMesh *nested_mesh, const char *chip, const Degrees *degrees,
                       Arena *arena, MadePlacements *out);

/* How `launcher` would place the plan whose step has this rule and these resources. */
LaunchAnswer launch_answer(int launcher, const NestedMesh *nested_mesh, const char *chip, const Plan *plan,
                           const StepRule *rule, const Resources *resources);

/* ---- what they can express ---- */

/* How a launcher lists what it can be configured to recompute and to offload. */
/* One more rule. `layers`: as RematRule has it. */
void remat_list_add(RematList *list, const ActivationState state[ACTIVATION_COUNT], int64_t layers);
void remat_list_add_none(RematList *list);                 /* everything is saved */
void remat_list_add_full(RematList *list, int64_t layers); /* everything is recomputed from the layer's input */

/* Which activations any of `launchers` can be configured to recompute or to offload, in the arena; *out NULL: anything
 * (one of them takes anything, or there are none). False: memory is out. */
bool launch_remat(LauncherSet launchers, const Model *model, Arena *arena, const RematDomain **out, Error *error);

/* Whether a required policy is one of a domain's rules, as far as the model has its activations. True without a domain,
 * and where none is required. */
bool remat_is_expressible(const RematDomain *domain, const Model *model, const RematRule *required);

/* Those of `launchers` that can express a layout as it is: what it recomputes and offloads, in which layers, and how it
 * shards tables and activations. False: memory is out. */
bool launchers_expressing(LauncherSet launchers, const CostContext *setting, const Shard *shard, const Layout *layout,
                          LauncherSet *out, Error *error);
