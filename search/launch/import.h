/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/launch/import.h: what a launch configuration says, in our words: the work, and one plan whole. Pure: from a
 * buffer, and for the plan from a request, whose machine, model and sequence say what a file leaves to them.
 *
 * Keys, defaults and what each launcher enforces: docs/launch.md, "What each launcher accepts", and the commits named
 * there. What the model does
 * not know is priced as the nearest thing that it does, and noted; what contradicts is an error. */
#pragma once

#include "mesh/factorization.h"
#include "search/launch/launcher.h"
#include "search/launch/syntax/config_file.h"

/* Sizes of the model as a file has them; 0: it is silent. */
typedef struct {
    int64_t layers, d_model, heads, kv_heads, d_ff, experts, vocab, max_seq;
} ImportedSizes;

/* What is trained and on what, as options take it; NULL: the file is silent. */
struct ImportedWork {
    const char *model; /* as the launcher calls it */
    ImportedSizes sizes;
    const char *seq, *precision, *state_dtypes, *optimizer;
    const char *chip, *slice, *slices, *nodes, *gpus_per_node; /* the machine, where it stands there */
    int64_t devices;                                           /* how many it starts processes for; 0: it is silent */
    const char *tuning[TUNING_WORD_COUNT], *offload;           /* of fine-tuning */
};

struct ImportedPlan {
    Degrees degrees;            /* multiply to the devices */
    int64_t across[ROLE_COUNT]; /* of these over DCN (or between domains), where the launcher sets them; else 1 */
    bool expressible_across;
    Knobs knobs; /* of which those in `said` count; of the others the file is silent */
    KnobSet said;
    char remat[REMAT_TEXT_SIZE]; /* as --remat has it; "": the file does not say */
    int64_t sequences;           /* of a step */
    const char
        *option; /* what it says of placement, as a LaunchWay has it (search/launch/placement.h); NULL: nothing */
    const char *nesting; /* the order of roles that it requires; NULL: the launcher's own */
    bool placed;         /* `pins` are all that there is to say of where roles lie */
    Pin pins[PINS_MAX];
    int pin_count;
};

/* What a file is, by its content and then by its name; false: *error says that it is none that is known. `format`:
 * what --config-format says; NULL: find out. */
bool import_read(const char *name, const char *text, size_t length, const char *format, Arena *arena, ConfigFile *file,
                 int *launcher, Error *error);

/* The first half: without a machine or a model. */
bool import_work(int launcher, ConfigFile *file, ImportedWork *out, Error *error);

/* Makes the request's machine the part of it that the file starts processes on, where what idles is no more than may;
 * else they have to be all its devices. */
bool import_machine(ConfigFile *file, const ImportedWork *work, Request *request, Error *error);

/* The second: `request` is that of the work, with what the command line says put in. Its batch counts where it was
 * requested (batch_origin FROM_OPTION); else the file's. */
bool import_plan(int launcher, ConfigFile *file, const Request *request, ImportedPlan *out, Error *error);

/* Fills in where that launcher puts these roles by itself: plan->nesting, and the factors in it as plan->pins. No pins:
 * its order is none that factors write, and that is noted. */
bool import_place(int launcher, ConfigFile *file, const Request *request, ImportedPlan *plan, Error *error);

/* How well a model has the sizes that a file gives, of which vocabulary and longest sequence may differ a little; 0:
 * it has them not. */
int import_sizes_match(const ImportedSizes *sizes, const Model *model);
bool import_sizes_known(const ImportedSizes *sizes); /* enough of them to tell a model by */

/* ---- what they have in common ---- */

/* The file has its state in these dtypes, and is silent of those that are DTYPE_DEFAULT: out->state_dtypes. */
bool import_state(ConfigFile *file, const StateDtypes *state, ImportedWork *out, Error *error);

/* The file says this setting of a knob (cost/plan/knobs.h). */
void import_knob(ImportedPlan *plan, Knob knob, int64_t setting);
bool import_says(const ImportedPlan *plan, Knob knob);

/* Numbers of a batch are up to this: products with ranks stay below 2^63. */
#define IMPORT_BATCH_MAX (INT64_C(1) << 32)

/* The knobs of the batch: so many sequences a step, in microbatches of `micro` of each replica; the sequences of a
 * replica must be whole microbatches. `key`: what an error names. */
bool import_batch(ConfigFile *file, const Request *request, const char *key, int64_t sequences, int64_t micro,
                  ImportedPlan *plan, Error *error);

/* Knobs where the space has them: the optimizer's state on the host, tensor collectives behind matmuls. */
void import_offload(ConfigFile *file, const Request *request, bool offloads, ImportedPlan *plan);
void import_overlap(ConfigFile *file, const Request *request, bool overlaps, ImportedPlan *plan);

/* Heads, and KV heads (`copies`: or tensor by KV heads), by tensor; sequence length by `by`. */
bool import_check_heads(ConfigFile *file, const Request *request, const char *key, int64_t tensor, bool copies,
                        Error *error);
bool import_check_seq(ConfigFile *file, const Request *request, const char *key, int64_t by, Error *error);

/* The degree that is left of the devices when all others are set. False: they do not divide. */
bool import_left_over(ConfigFile *file, const Request *request, const char *key, const ImportedPlan *plan,
                      int64_t *left, Error *error);

int64_t import_experts(const Request *request); /* of the widest mixture; 0: none */

/* GPUs alone run it. */
bool import_check_gpus(ConfigFile *file, const Request *request, const char *launcher, Error *error);

/* role_key.c: where a launch file sets the degree of a role, for those who point at what to change. */

/* The line of the key that sets the degree, from 1, given by the words that launchers name roles by; of several keys
 * the first that does not say 1. 0: the file leaves the role to its launcher, or has no lines (JSON). */
int64_t role_key_line(const ConfigFile *file, Role role);

/* The role to change first in a plan that is to become another: the one whose degree is farthest from the other's among
 * those with a line; of two as far the one that comes first in the line of roles. ROLE_COUNT: none. */
Role role_to_change(const Degrees *have, const Degrees *want, const int64_t lines[ROLE_COUNT]);
