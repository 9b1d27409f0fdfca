/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/profile/profile_set.h: a set of profiles as `calibrate` writes it and --profile takes it: what chips reach, and
 * what software makes of them. Each entry inherits from its kin the figures that it does not give itself: h100 from
 * gpu, megatron-core-0.15 from megatron-core; what nobody gives is as in `ideal`. A figure has its value, its prior,
 * and how far measured runs determined it. Reading and writing: cost/profile/profile_set_json.h. */
#ifndef SHARDOPT_COST_PROFILE_PROFILE_SET_H
#define SHARDOPT_COST_PROFILE_PROFILE_SET_H

#include "base/arena.h"
#include "base/error.h"
#include "cost/profile/profile_figure.h"

enum {
    SET_ENTRIES_MAX = 128,
    SET_FIGURES_MAX = 80,
    SET_MATCHES_MAX = 16,
    SET_CHIPS_MAX = 24,
    SET_ALIASES_MAX = 8,
    SET_OF_SIZE = 2 * PROFILE_NAME_SIZE,
    SET_WHERE_SIZE = 128
};

/* Which figure of which entry of a list: entries[entry].figures[figure]. entry -1: none. Numbers, not addresses, so
 * that a copy of the entries (one for each thread of a fit) stands for itself. */
typedef struct {
    int16_t entry, figure;
} SetAt;

typedef struct {
    const ProfileFigure *figure;
    double value; /* what profile_compose() takes: a fit may change it in place */
    /* What is believed without runs: `prior`, or, where `of` is not empty, `prior` times the value of the figure that
     * it names: "h100" (the same figure of h100, which may have inherited it) or "h100.fp8_efficiency" (another one).
     * Of the same list. set_figure_prior() says the product. */
    double prior;
    char of[SET_OF_SIZE];
    SetAt of_at;      /* of profile_set_resolve() */
    double sigma;     /* standard deviation of the logarithm of the prior; 0: fixed, and the file has no prior either */
    double deviation; /* the same behind the fit; 0: not fitted */
    int64_t runs;     /* that it moves by 1% or more of a step, when it moves by a standard deviation of its prior */
    bool determined;  /* deviation well below sigma (the fit says how far); else it has kept its prior */
    const char *source; /* in the arena of the set, or constant; less than PROFILE_SOURCE_SIZE bytes */
} SetFigure;

/* Which runs a stack is the software of: every text given must stand in the run's column (case ignored). Releases are
 * compared number by number with the first number of the column date/version, as in "NeMo 26.04.01 container": 26.04.01
 * >= 26.04; a column without a number is of no release. */
typedef struct {
    char framework[64], source[64], notes[64], not_notes[64], date[64];
    char from[16], before[16]; /* release: from <= r < before */
    char scaleup[16];          /* "torus" or "switch": of the chip */
    char chip[64];             /* chips, names with commas or blanks between */
} StackMatch;

typedef struct {
    char name[PROFILE_NAME_SIZE]; /* "gpu" "h100" "megatron-core-0.15" */
    char title[128];
    char aliases[SET_ALIASES_MAX][PROFILE_NAME_SIZE]; /* stacks: what else --stack may call it */
    int alias_count;
    char parent[PROFILE_NAME_SIZE]; /* ""; else an entry of the same list that stands before it */
    char released[16];              /* stacks: "2025-09" */
    char source[PROFILE_SOURCE_SIZE];
    char chips[SET_CHIPS_MAX][CHIP_NAME_SIZE]; /* profiles: made for; stacks: the best current one of these */
    int chip_count;
    bool torus, switched;    /* profiles: for any other chip joined like this; stacks: the best current one of those */
    bool tile_padding;       /* profiles; its kin's where it gives none */
    const char *tile_source; /* NULL: its kin's */
    StackMatch matches[SET_MATCHES_MAX];
    int match_count;
    SetFigure figures[SET_FIGURES_MAX]; /* its own, in the order of profile_figures() */
    int figure_count;
    /* Of profile_set_resolve(): its kin in the list, -1: none; and who gives each figure of profile_figures(), itself
     * or the nearest kin. */
    int parent_at;
    SetAt at[SET_FIGURES_MAX];
} SetEntry;

typedef struct {
    char name[PROFILE_NAME_SIZE], date[16], source[PROFILE_SOURCE_SIZE];
    char runs_file[128], runs_sha256[65]; /* "": not fitted */
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
/* What --profile names (profile_load()): a set, or one whole profile as a set that has it for every chip and
 * software. */
bool profile_set_load(const char *argument, Arena *arena, ProfileSet *out, Error *error);

/* Fills parent_at, at, of_at and the inherited tile_padding of every entry. The reader has done it; whoever adds figures
 * to an entry does it again. An error is a kin or an `of` that is not there, or an `of` that leads back to itself;
 * `file` begins where it says so. */
bool profile_set_resolve(ProfileSet *set, const char *file, Error *error);

/* "FILE:profiles.h100", of a long path its end: where errors of an entry (or, "", of a list) are. Returns `where`. */
const char *set_where(const char *file, const char *list, const char *entry, char where[SET_WHERE_SIZE]);

/* The entry that is made for a chip; else that for chips joined like it; NULL: none. */
const SetEntry *profile_set_chip(const ProfileSet *set, const Chip *chip);
/* By name or alias; NULL: none. */
const SetEntry *profile_set_stack(const ProfileSet *set, const char *name);
/* The best current stack of a chip: the last entry that names it, else the last for chips joined like it. */
const SetEntry *profile_set_best_stack(const ProfileSet *set, const Chip *chip);
/* Whether a stack is meant for chips like this: it, or its nearest kin that says so, names the chip or, where it names
 * none, how the chip is joined. */
bool set_stack_fits(const ProfileSet *set, const SetEntry *stack, const Chip *chip);

/* What a table of runs says of a run's software. None is NULL. */
typedef struct {
    const char *framework, *version, *notes; /* its columns; version: date/version */
    const Chip *chip;
    const char *source;
} StackQuery;

/* The software of a run: the last entry of the file with a match that holds, for what is special stands behind its kin.
 * NULL: none. */
const SetEntry *profile_set_match(const ProfileSet *set, const StackQuery *query);

/* The figure that an entry of `list` (the set's profiles or stacks) takes, its own or its kin's; NULL: as in ideal. */
const SetFigure *set_entry_figure(const SetEntry *list, const SetEntry *entry, const ProfileFigure *figure);
/* What is believed of a figure of a `list` without runs: its prior, times what it is a share of. */
double set_figure_prior(const SetEntry *list, const SetFigure *figure);

/* What a chip reaches under a stack: pure, and cheap enough for a fit's inner loop (a load a figure). `stack` NULL:
 * every figure of the software as in `ideal`. Precision is bf16. Its source is the chip's. */
void profile_compose(const ProfileSet *set, const SetEntry *chip, const SetEntry *stack, Profile *out);

#endif
