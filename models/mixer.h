/* SPDX-License-Identifier: GPL-3.0-or-later */
/* models/mixer.h: what a layer has alongside softmax attention, or instead of it, to mix tokens: state space, linear
 * attention, recurrence, short convolution.
 *
 * A mixer is one file, models/mixers/NAME.c, with one const struct, and a row in models/mixers/mixers.c. Its parts()
 * says in numbers all that the rest of the program needs; parameters, FLOPs, ops, activations, context traffic and
 * serving state are generic readers of these parts. */
#pragma once

#include "models/model.h"

/* What one chip of a tensor group has of a part. */
typedef enum {
    SPLIT_LOCAL,  /* all of it */
    SPLIT_COLUMN, /* its share of the outputs, by whole units: the input is entered, as that of an MLP */
    SPLIT_ROW,    /* its share of the inputs, by whole units: the output is left, as that of an MLP */
} MixerSplit;

typedef enum {
    MIXER_MATMUL,      /* [in] x [in, out] */
    MIXER_CONVOLUTION, /* over time, each channel alone: `out` channels, `kernel` tokens wide */
    MIXER_CORE,        /* the scan or the recurrence */
    MIXER_ELEMENTWISE, /* reads and writes numbers: gates, norms */
} MixerPartKind;

/* One part of a mixer, of one layer, whole (no chip's share). Counts are of one token unless they say otherwise. */
typedef struct {
    MixerPartKind kind;
    const char *name; /* of the op in reports */
    MixerSplit split;
    int64_t units; /* heads: a tensor group holds whole ones; >= 1 where the part is split */
    /* What several heads share (B and C of Mamba 2, keys of value heads): a chip has the groups of its heads, so beyond
     * their number they are copied. 0: nothing is shared. */
    int64_t groups;
    double group_share; /* of the numbers and parameters of the part: those of groups */
    double group_flops; /* of its FLOPs */

    int64_t in, out, kernel; /* matmul; convolution: in = out = channels; core: of a token, what it takes and makes */
    int64_t parameters;      /* numbers that are trained, with biases */
    bool whole_weights;      /* every chip has all of them, whatever it has of the work: one norm for all heads */
    ModelPart column;        /* of Parameters, in which these count */
    double flops;            /* forward; of a matmul and of a convolution 2 * their weights */
    double backward;         /* FLOPs of backward as a multiple of forward */
    int64_t read, written;   /* numbers to and from HBM, forward */
    int64_t kept;            /* of what it makes: numbers of 16 bits that stay for backward */
    double kept_float;       /* the same in float32 */
    double moved_float;      /* core: numbers of float32 that it writes and reads again, forward: states of chunks */
    bool own_input;          /* column: each head reads its own numbers alone, a block of a diagonal */
    bool on_vectors;         /* core: its FLOPs are not matrix products */
    int64_t state;           /* numbers that a sequence carries from token to token, whatever its length */
    bool state_float;        /* they are float32 in serving; false: as activations are */
} MixerPart;

enum { MIXER_PARTS_MAX = 12, MIXER_REQUIRED = -1 };

/* A dimension of a mixer: LayerKind.sizes[] has them in the order of the keys. */
typedef struct {
    const char *key;       /* in the native format and in families */
    int64_t low, fallback; /* MIXER_REQUIRED: it must be there */
} MixerSize;

typedef struct Mixer {
    const char *name;  /* of the native format, of families and of reports */
    const char *words; /* "Mamba 2" */
    MixerSize sizes[MIXER_SIZES_MAX];
    /* Returns how many parts were written. Sizes are in the ranges that model_validate() checks. */
    int (*parts)(const Model *model, const LayerKind *kind, MixerPart out[MIXER_PARTS_MAX]);
    /* What of the sizes does not go together, "groups do not divide the heads"; NULL: nothing, or nothing requested. */
    const char *(*wrong)(const LayerKind *kind);
} Mixer;

/* NULL: no mixer has this name. The list ends with NULL. */
const Mixer *mixer_named(const char *name);
extern const Mixer *const MIXERS[];

/* The number of sizes that a mixer has. */
int mixer_size_count(const Mixer *mixer);

/* Whether a layer mixes tokens at all, by attention or by a mixer other than "none". */
bool kind_mixes(const LayerKind *kind);

/* The first kind of layers with attention; the first of all where none has. */
const LayerKind *model_attending(const Model *model);

/* What a mean layer of the model has of the two blocks of a transformer's: attention or a mixer, and an MLP or
 * experts. */
double model_blocks_share(const Model *model);

/* FLOPs of one token in its cores, forward: what no parameter says. */
double mixer_flops(const Model *model, const LayerKind *kind);

/* The share of a part's numbers that one chip of `tensor` ways has. Heads divide; what a group of them shares is held
 * by every chip that has one of them. Ways may be real: heads are then as well. */
double mixer_share(const MixerPart *part, double tensor);
/* The same of its state: a core's belongs to heads alone, a convolution's to the channels that it mixes. */
double mixer_state_share(const MixerPart *part, double tensor);
/* The same of its FLOPs. */
double mixer_flops_share(const MixerPart *part, double tensor);

/* Makers of parts, for the files of models/mixers. Products stop at INT64_MAX. */
MixerPart mixer_matmul(const char *name, MixerSplit split, int64_t units, int64_t in, int64_t out, bool bias);
MixerPart mixer_convolution(const char *name, int64_t units, int64_t channels, int64_t kernel, bool bias);
/* Parameters that no op of their own reads: A_log, dt_bias, the weights of a norm. */
MixerPart mixer_weights(const char *name, MixerSplit split, int64_t units, int64_t parameters, ModelPart column);
/* The norm on a core's output of `width` numbers, multiplied with its gate. */
MixerPart mixer_gated_norm(const char *name, int64_t units, int64_t parameters, int64_t width);
