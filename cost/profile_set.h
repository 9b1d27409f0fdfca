/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/profile_set.h: a set of profiles as `calibrate` writes it and --profile takes it: what chips reach, and what
 * software makes of them. Each entry inherits from its kin the figures that it does not give itself: h100 from gpu,
 * megatron-core-0.15 from megatron-core. A figure has its value, its prior, and how far measured runs determined it. */
#ifndef SHARDOPT_COST_PROFILE_SET_H
#define SHARDOPT_COST_PROFILE_SET_H

#include "base/arena.h"
#include "base/error.h"
#include "cost/profile_figure.h"

enum { SET_ENTRIES_MAX = 128, SET_FIGURES_MAX = 64, SET_MATCHES_MAX = 16, SET_CHIPS_MAX = 24 };

typedef struct {
    const ProfileFigure *figure;
    double value;
    /* What is believed without runs: this value, or, where `of` is not empty, `prior` times the same figure of the entry
     * of that name. */
    double prior;
    char of[PROFILE_NAME_SIZE];
    double sigma;     /* standard deviation of the logarithm of the prior; 0: fixed */
    double deviation; /* the same behind the fit; 0: not fitted */
    int64_t runs;     /* that it moves by 1% or more of a step, when it moves by a standard deviation of its prior */
    bool determined;  /* deviation well below sigma (cost/... fit says how); else it has kept its prior */
    char source[PROFILE_SOURCE_SIZE];
} SetFigure;

/* Which runs a stack is the software of: every text given must stand in the run's column (case ignored); dates compare
 * as release numbers in the column date/version ("26.04.01" >= "26.04"). */
typedef struct {
    char framework[64], notes[64], not_notes[64], date[64];
    char from[16], before[16]; /* release: from <= r < before */
    char scaleup[16];          /* "torus" or "switch": of the chip */
    char chip[64];             /* chips, names with commas or blanks between */
} StackMatch;

typedef struct {
    char name[PROFILE_NAME_SIZE]; /* "gpu" "h100" "megatron-core-0.15" */
    char title[128];
    char kin[PROFILE_NAME_SIZE]; /* ""; else an entry of the same list that stands before it */
    char released[16];           /* stacks: "2025-09" */
    char source[PROFILE_SOURCE_SIZE];
    char chips[SET_CHIPS_MAX][CHIP_NAME_SIZE]; /* profiles: made for; stacks: the best current one of these */
    int chip_count;
    bool torus, switched; /* profiles: for any other chip joined like this; stacks: the best current one of those */
    bool tile_padding;    /* profiles */
    StackMatch matches[SET_MATCHES_MAX];
    int match_count;
    SetFigure figures[SET_FIGURES_MAX];
    int figure_count;
} SetEntry;

typedef struct {
    char name[PROFILE_NAME_SIZE], date[16], source[PROFILE_SOURCE_SIZE];
    char runs_file[128], runs_sha256[65];
    int64_t runs;
    SetEntry *profiles; /* kin first */
    int profile_count;
    SetEntry *stacks;
    int stack_count;
    /* shares of measured / predicted behind cross-validation: see likely_low of each profile */
} ProfileSet;

/* Strict, as everything that reads JSON here. In the arena. */
bool profile_set_read(const char *path, Arena *arena, ProfileSet *out, Error *error);
/* cost/profiles/default.json */
bool profile_set_default(Arena *arena, ProfileSet *out, Error *error);

/* The entry that is made for a chip; else that for chips joined like it; NULL: none. */
const SetEntry *profile_set_chip(const ProfileSet *set, const Chip *chip);
/* By name; NULL: none. */
const SetEntry *profile_set_stack(const ProfileSet *set, const char *name);
/* The best current stack of a chip. */
const SetEntry *profile_set_best_stack(const ProfileSet *set, const Chip *chip);

/* What a chip reaches under a stack: pure, and cheap enough for a fit's inner loop. `stack` NULL: every figure of the
 * software as in `ideal`. Precision is bf16. */
void profile_compose(const ProfileSet *set, const SetEntry *chip, const SetEntry *stack, Profile *out);

/* What --profile and --stack accept: "ideal"; "default" (cost/profiles/default.json); the name of a file in
 * cost/profiles, or a path: of a set, or of one whole profile, with which there is no stack. `stack` NULL or "": the
 * best current one. */
bool profile_choose(const char *argument, const char *stack, const Chip *chip, Arena *arena, Profile *out,
                    Error *error);

#endif
