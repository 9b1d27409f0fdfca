/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/launch/import.h: what a launch configuration says, in our words: the work, and one plan whole. Pure: from a
 * buffer, and for the plan from a request, whose machine, model and sequence say what a file leaves to them.
 *
 * Keys, defaults and what each launcher enforces: reference/exports.md and the commits named there. What the model does
 * not know is priced as the nearest thing that it does, and noted; what contradicts is an error. */
#ifndef SHARDOPT_SEARCH_LAUNCH_IMPORT_H
#define SHARDOPT_SEARCH_LAUNCH_IMPORT_H

#include "search/launch/syntax/config_file.h"
#include "search/request/request.h"

/* Sizes of the model as a file has them; 0: it is silent. */
typedef struct {
    int64_t layers, d_model, heads, kv_heads, d_ff, experts, vocab, max_seq;
} ImportedSizes;

/* What is trained and on what, as options take it; NULL: the file is silent. */
typedef struct {
    const char *model; /* as the launcher calls it */
    ImportedSizes sizes;
    const char *seq, *precision, *state_dtypes, *optimizer;
    const char *chip, *slice, *slices, *nodes; /* the machine, where it stands there */
} ImportedWork;

enum { IMPORTED_KNOBS_SIZE = 512 };
typedef struct {
    Degrees degrees;            /* multiply to the devices */
    int64_t across[ROLE_COUNT]; /* of these over DCN (or between domains), where the launcher is told; else 1 */
    bool told_across;
    char knobs[IMPORTED_KNOBS_SIZE]; /* as --plan has them */
    char remat[REMAT_TEXT_SIZE];     /* as --remat has it; "": the file does not say */
    int64_t sequences;               /* of a step */
    bool splits_axes;                /* MaxText may split physical axes */
    const char *custom_mesh;         /* MaxText's; NULL: none */
    bool stages_inside;              /* Megatron's --use-tp-pp-dp-mapping */
    const char *nesting;             /* the module of JAX says where roles lie: in this order, as pins; else NULL */
    Pin pins[PINS_MAX];
    int pin_count;
} ImportedPlan;

/* What a file is, by its content and then by its name; false: *error says that it is none that is known. `format`:
 * what --config-format says; NULL: find out. */
bool import_read(const char *name, const char *text, size_t length, const char *format, Arena *arena, ConfigFile *file,
                 Launcher *launcher, Error *error);

/* The first half: without a machine or a model. */
bool import_work(Launcher launcher, ConfigFile *file, ImportedWork *out, Error *error);

/* The second: `request` is that of the work, with what the command line says put in. Its batch counts where it was
 * asked for (batch_origin FROM_OPTION); else the file's. */
bool import_plan(Launcher launcher, ConfigFile *file, const Request *request, ImportedPlan *out, Error *error);

/* Where that launcher puts these roles by itself, as factors to pin, for its own nesting (*nesting). No pins: its order
 * is none that factors write, and that is noted. */
bool import_place(Launcher launcher, ConfigFile *file, const Request *request, const ImportedPlan *plan,
                  Pin pins[PINS_MAX], int *pin_count, const char **nesting, Error *error);

/* How well a model has the sizes that a file gives, of which vocabulary and longest sequence may differ a little; 0: it has
 * them not. */
int import_sizes_match(const ImportedSizes *sizes, const Model *model);
bool import_sizes_known(const ImportedSizes *sizes); /* enough of them to tell a model by */

/* ---- the launchers ---- */

typedef bool (*ImportWork)(ConfigFile *file, ImportedWork *out, Error *error);
typedef bool (*ImportPlan)(ConfigFile *file, const Request *request, ImportedPlan *out, Error *error);
bool maxtext_work(ConfigFile *file, ImportedWork *out, Error *error);
bool maxtext_plan(ConfigFile *file, const Request *request, ImportedPlan *out, Error *error);
bool torchtitan_work(ConfigFile *file, ImportedWork *out, Error *error);
bool torchtitan_plan(ConfigFile *file, const Request *request, ImportedPlan *out, Error *error);
bool megatron_work(ConfigFile *file, ImportedWork *out, Error *error);
bool megatron_plan(ConfigFile *file, const Request *request, ImportedPlan *out, Error *error);
/* Its recomputation; recompute-num-layers counts in each of the `chunks` of layers that a stage has. */
bool megatron_remat(ConfigFile *file, const Request *request, int64_t chunks, ImportedPlan *plan, Error *error);
bool jax_work(ConfigFile *file, ImportedWork *out, Error *error);
bool jax_plan(ConfigFile *file, const Request *request, ImportedPlan *out, Error *error);
bool deepspeed_work(ConfigFile *file, ImportedWork *out, Error *error);
bool deepspeed_plan(ConfigFile *file, const Request *request, ImportedPlan *out, Error *error);

/* ---- what they have in common ---- */

/* One more knob, printf: "microbatches=%lld". */
void import_knob(ImportedPlan *plan, const char *format, ...) __attribute__((format(printf, 2, 3)));

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

#endif
