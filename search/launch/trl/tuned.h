/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/launch/trl/tuned.h: what launchers on Hugging Face's Trainer have in common: DDP or FSDP2 through accelerate,
 * gradient checkpointing of every layer or of none, PEFT's adapters, bitsandbytes' formats. Each has a table of its own
 * keys for the terms below; what they come to is read here, once. */
#pragma once

#include "search/launch/keys.h"
#include "search/launch/rules.h"

/* Terms of their own. TERM_MICRO counts samples here: of pairs, a pair is one. */
enum {
    TERM_RANK = TERM_OWN, /* of adapters */
    TERM_ALPHA,           /* written alone */
    TERM_ADAPTER,         /* a TunedAdapter */
    TERM_BITS,            /* of a number of frozen weights: 4, 8; 0: they are not quantised */
    TERM_FOUR_BITS,       /* the same as switches */
    TERM_EIGHT_BITS,
    TERM_DOUBLE,      /* scales are quantised too */
    TERM_EVERY,       /* all linear matrices have adapters */
    TERM_PAIRS,       /* 1: DPO; 0: SFT */
    TERM_PACKED,      /* samples fill sequences */
    TERM_FREE,        /* they lie behind each other without padding */
    TERM_CHECKPOINTS, /* every layer is computed again */
    TERM_KEEPS,       /* none is */
    TERM_FSDP,        /* a TunedShards */
    TERM_ON_HOST,     /* parameters live in the host's memory */
    TERM_LOADS_ONCE,  /* the checkpoint is read by one rank, which sends it to the others */
    TERM_SHARDS,      /* ranks that share parameters */
    TERM_PLAIN,       /* weights and moments in bf16 as they lie, no autocast */
    TERM_MIXED,       /* bf16 autocast */
    TERM_VERSION,     /* of FSDP */
    TERM_TOWERS,      /* towers are frozen; silent where there are none */
    TERM_PROJECTOR,   /* and what is behind them */
};
typedef enum { ADAPTER_NONE, ADAPTER_LORA, ADAPTER_QLORA } TunedAdapter;
typedef enum { SHARDS_NONE, SHARDS_ALL, SHARDS_ON_HOST } TunedShards;

/* ---- fields of their Launcher ---- */

const char *tuned_refuses_degrees(const PlanFacts *facts);
const char *tuned_refuses(const PlanFacts *facts);
const char *tuned_refuses_work(const Request *request);
bool tuned_offloads_optimizer(const PlanFacts *facts);
void tuned_remat(RematList *list, const Model *model);
void tuned_plan_words(const LaunchJob *job, Prose *out); /* in the names of the launcher's keys */
const char *tuned_cannot(const LaunchJob *job);
void tuned_notes(const LaunchJob *job, EmitNotes *notes);

/* What all of them have, with a refuses_work() that ends in theirs; refuses_degrees() is a field of each. */
#define TUNED_FIELDS(refuses_what)                                                                                     \
    .fine_tunes = true,                                                                                                \
    .nestings = {{.name = "megatron",                                                                                  \
                  .order = {{ROLE_TENSOR, ROLE_SEQUENCE, ROLE_EXPERT, ROLE_FSDP, ROLE_DATA, ROLE_PIPELINE}}}},         \
    .gpus_only = true, .any_layers = true, .refuses = tuned_refuses, .refuses_work = refuses_what,                     \
    .offloads_optimizer = tuned_offloads_optimizer, .host_update = HOST_UPDATE_ON_CPU, .remat = tuned_remat,           \
    .plan_words = tuned_plan_words, .optimizers = TUNED_OPTIMIZERS

/* ---- written ---- */

LaunchTerms tuned_terms(const LaunchJob *job);
bool tuned_shards(const LaunchJob *job); /* FSDP2, if only to have parameters on the host */
bool tuned_has_towers(const LaunchJob *job);
/* The matrices that have adapters, "q_proj, k_proj". */
void tuned_write_targets(const LaunchJob *job, const char *between, FILE *out);
/* As transformers call optimizers. */
extern const OptimizerWord TUNED_OPTIMIZERS[];
/* A repository or folder where one was requested, else the model's name here. */
const char *tuned_model(const LaunchJob *job);

/* ---- read ---- */

/* keys_read(), and an error for a word that is in no row. */
bool tuned_read(const LaunchKey *keys, ConfigFile *file, LaunchTerms *out, Error *error);

/* `terms`: as the launcher's table has them; `targets`: its list of matrices, NULL or "all": all of them; `model` as
 * ImportedWork. */
bool tuned_work(ConfigFile *file, const LaunchTerms *terms, const char *model, const char *targets, ImportedWork *out,
                Error *error);
bool tuned_plan(ConfigFile *file, const LaunchTerms *terms, const Request *request, ImportedPlan *plan, Error *error);
