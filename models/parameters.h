/* SPDX-License-Identifier: GPL-3.0-or-later */
/* models/parameters.h: how many parameters and FLOPs a model has, by part and under named conventions. Pure; exact in
 * int64 for every model that model_validate() accepts. Source: "How to Scale Your Model", part 4; docs/model.md,
 * "Parameters and FLOPs". */
#pragma once

#include "base/error.h"
#include "models/model.h"

/* The columns by name, and by ModelPart. */
typedef struct {
    union {
        struct {
            int64_t attention, mlp, experts, router, embedding, unembedding, positions, norms, biases, indexer,
                cross_attention, linear, shared_experts, ple, ngram, hyper, mtp, vision, audio, projector, other;
        };
        int64_t parts[PART_COUNT];
    };
    int64_t total;
    int64_t language;      /* the total without towers and projector */
    int64_t active;        /* used per token: top_k of the experts; both embeddings are counted */
    int64_t active_matmul; /* the active parameters of the language model without look-ups (input, learned positions,
                            * per-layer and n-gram tables): the N of 6 N (a tied table stays, as logits) */
} Parameters;

/* The column of a key of Parameters; -1: there is none. */
int model_part_named(const char *key);

/* Checks ranges and products so that nothing downstream can overflow: every dimension is >= 1 where it must be and
 * below 2^31, there are at most MODEL_LAYERS_MAX layers and fewer than 2^60 parameters, and the counts add up to the
 * layers. False means that *error says which key is wrong. */
bool model_validate(const Model *model, const char *where, Error *error);

/* False: *error says in one line that the model has something (named by its kind) that plans do not price. Whatever is
 * planned or served is requested first. */
bool model_priceable(const Model *model, const char *where, Error *error);

Parameters model_parameters(const Model *model);

/* Its active parameters, also of a model that is noted alone (models/config/model_json.h). */
int64_t model_active_parameters(const Model *model);
/* Parameters of one layer of a kind; the embeddings are zero. */
Parameters layer_parameters(const Model *model, const LayerKind *kind);

/* Named conventions for training FLOPs per token (forward + backward = 3 x forward). */
typedef enum {
    FLOPS_6N,             /* 6 x active_matmul */
    FLOPS_FULL_ATTENTION, /* FLOPS_6N + 12 * N_h * H * span(full) per layer: scores and values over the full square,
                           * or the full window where there is one; MLA has its own widths */
    FLOPS_EAGER,          /* as FLOPS_FULL_ATTENTION, but the full square in layers with a window too: what a program
                           * that masks does. Cross attention only where the model has an encoder: a decoder alone,
                           * given text alone, skips it, and layers of nothing else */
    FLOPS_CAUSAL,         /* FLOPS_6N + half of that term: those of a causal kernel. MFU uses this convention here */
    FLOPS_HARDWARE,       /* FLOPS_CAUSAL + a second forward of every layer (full block remat): the book's 8N,
                           * except that logits are not computed again */
} FlopConvention;

double model_flops_per_token(const Model *model, FlopConvention convention, int64_t seq);

/* Mean number of keys that a query attends to in a layer of this kind, causal, at sequence length seq >= 1: (seq + 1) /
 * 2 is rounded to seq / 2 as is usual; a window lowers it. `full` selects the full square (or full window) instead. */
/* Keys that an indexer chooses for a query, mean over a sequence: top_k of those before it, joined by `compress`. */
double indexed_span(const LayerKind *kind, double seq);

double attention_span(const LayerKind *kind, int64_t seq, bool full);
