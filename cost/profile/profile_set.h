/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/profile/profile_set.h: a set of profiles as `calibrate` writes it and --profile takes it: the rates that chips
 * reach, and the share of them that software keeps. Each entry inherits from its parent the figures that it does not
 * give itself: h100 from gpu, megatron-core-0.15 from megatron-core; figures that nobody gives are as in `ideal`. A
 * figure has its value, its prior, and how far measured runs determined it. Reading and writing:
 * cost/profile/profile_set_json.h. */
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "cost/profile/profile_figure.h"

#include <cjson/cJSON.h>
#include <stdio.h>

enum {
    SET_ENTRIES_MAX = 128,
    SET_FIGURES_MAX = 112,
    SET_MATCHES_MAX = 16,
    SET_CHIPS_MAX = 24,
    SET_ALIASES_MAX = 8,
    SET_LAUNCHERS_MAX = 8,
    LAUNCHER_TEXT_SIZE = 24,
    SET_OF_SIZE = 2 * PROFILE_NAME_SIZE,
    SET_WHERE_SIZE = 128
};

/* A figure of an entry of a list: entries[entry].figures[figure]. entry -1 means none. These are numbers, not
 * addresses, so that a copy of the entries (one for each thread of a fit) stands for itself. */
typedef struct {
    int16_t entry, figure;
} SetAt;

typedef struct {
    const ProfileFigure *figure;
    double value; /* the value that profile_compose() takes: a fit may change it in place */
    /* The belief without runs: `prior`, or, where `of` is not empty, `prior` times the value of the figure of the same
     * list that it names: "h100" (the same figure of h100, which may have inherited it) or "h100.fp8_efficiency"
     * (another one). set_figure_prior() returns the product. */
    double prior;
    char of[SET_OF_SIZE];
    SetAt of_at;        /* filled by profile_set_resolve() */
    double sigma;       /* standard deviation of the logarithm of the prior; 0 means that it is fixed, and that the
                       * file has no prior either */
    double deviation;   /* the same after the fit; 0 means not fitted */
    int64_t runs;       /* runs whose step it moves by 1% or more when it moves by a standard deviation of its prior */
    bool determined;    /* the deviation is well below sigma (the fit says how far); otherwise the figure has kept its
                       * prior */
    const char *source; /* in the arena of the set, or constant; less than PROFILE_SOURCE_SIZE bytes */
} SetFigure;

/* The runs whose software a stack is, for who converts tables of them (cost/measured/lab/tables.py); here they are read
 * and written alone. Every text given must stand in the run's column (case ignored, and in a
 * framework's name hyphens and blanks too). Releases are compared number by number with one as in "NeMo 26.04" in the
 * framework, else the first number of the column date/version, as in "NeMo 26.04.01 container": 26.04.01 >= 26.04;
 * columns without a number have no release. `like` is in the name of software of which nothing is measured: it is
 * priced as this. */
typedef struct {
    char framework[64], like[64], source[64], notes[64], not_notes[64], date[64];
    char from[16], before[16]; /* release: from <= r < before */
    char scaleup[16];          /* "torus" or "switch": of the chip */
    char chip[64];             /* names of chips with commas or blanks between them */
} StackMatch;

typedef struct {
    char name[PROFILE_NAME_SIZE]; /* "gpu" "h100" "megatron-core-0.15" */
    char title[128];
    char aliases[SET_ALIASES_MAX][PROFILE_NAME_SIZE]; /* stacks: other names that --stack accepts */
    int alias_count;
    char parent[PROFILE_NAME_SIZE]; /* the name of an entry before it in the same list; "" means none */
    bool untuned;                   /* stacks: its parent as it comes: no recipe that somebody tuned */
    char released[16];              /* stacks: "2025-09" */
    char source[PROFILE_SOURCE_SIZE];
    char chips[SET_CHIPS_MAX][CHIP_NAME_SIZE]; /* profiles: the chips it is made for; stacks: the chips whose best
                                                * current stack it is */
    int chip_count;
    char launchers[SET_LAUNCHERS_MAX][LAUNCHER_TEXT_SIZE]; /* stacks: the launchers whose software it is, as --for
                                                            * spells them; none: its parent's */
    int launcher_count;
    bool torus, switched;    /* profiles: for any other chip joined in this way; stacks: the best current stack of
                              * those chips */
    bool tile_padding;       /* profiles; its parent's where it gives none */
    const char *tile_source; /* NULL means its parent's */
    StackMatch matches[SET_MATCHES_MAX];
    int match_count;
    SetFigure figures[SET_FIGURES_MAX]; /* the figures it gives itself, in the order of profile_figures() */
    int figure_count;
    /* Filled by profile_set_resolve(): its parent in the list (-1 means none), and the entry that gives each figure of
     * profile_figures(): itself or the nearest ancestor. */
    int parent_at;
    SetAt at[SET_FIGURES_MAX];
} SetEntry;

typedef struct {
    char name[PROFILE_NAME_SIZE], date[16], source[PROFILE_SOURCE_SIZE];
    char runs_file[128], runs_sha256[65]; /* "" means not fitted */
    int64_t runs;
    SetEntry *profiles; /* parents first */
    int profile_count;
    SetEntry *stacks;
    int stack_count;
    /* shares of measured / predicted after cross-validation: see likely_low of each profile */
} ProfileSet;

/* Reads strictly, as everything that reads JSON here. The set lies in the arena. */
bool profile_set_read(const char *path, Arena *arena, ProfileSet *out, Error *error);
/* cost/profiles/default.json */
bool profile_set_default(Arena *arena, ProfileSet *out, Error *error);
/* Loads the file that --profile names (profile_load()): a set, or one whole profile as a set that has it for every chip
 * and software. */
bool profile_set_load(const char *argument, Arena *arena, ProfileSet *out, Error *error);

/* Fills parent_at, at, of_at and the inherited tile_padding of every entry. The reader has done it; a caller that adds
 * figures to an entry does it again. A parent or an `of` that is not there, or an `of` that leads back to itself, is an
 * error; `file` begins the place that it names. */
bool profile_set_resolve(ProfileSet *set, const char *file, Error *error);

/* "FILE:profiles.h100", of a long path its end: the place that errors of an entry (or, for "", of a list) name. Returns
 * `where`. */
const char *set_where(const char *file, const char *list, const char *entry, char where[SET_WHERE_SIZE]);

/* The entry that is made for a chip; else the entry for chips joined like it; NULL means that there is none. */
const SetEntry *profile_set_chip(const ProfileSet *set, const Chip *chip);
/* Finds a stack by name or alias; NULL means that there is none. */
const SetEntry *profile_set_stack(const ProfileSet *set, const char *name);
/* The same software as it comes, the last entry that says so of itself; NULL means that there is none. */
const SetEntry *profile_set_untuned(const ProfileSet *set, const SetEntry *stack);
/* The best current stack of a chip: the last entry that names it, else the last entry for chips joined like it. */
const SetEntry *profile_set_best_stack(const ProfileSet *set, const Chip *chip);
/* The software that a launcher runs on a chip today: the best current stack of the chip where it is the launcher's,
 * else the last entry that names the launcher itself and fits the chip. NULL means that there is none. */
const SetEntry *profile_set_launcher_stack(const ProfileSet *set, const char *launcher, const Chip *chip);
/* The entry whose list of launchers a stack has: its own, or the nearest ancestor's; NULL means that nobody has one. */
const SetEntry *set_stack_launchers(const ProfileSet *set, const SetEntry *stack);
/* Whether an entry names a launcher in its own list; NULL names none. */
bool stack_lists_launcher(const SetEntry *listing, const char *launcher);
/* Whether a stack is meant for chips like this: it, or the nearest ancestor that says so, names the chip or, where it
 * names none, how the chip is joined. */
bool set_stack_fits(const ProfileSet *set, const SetEntry *stack, const Chip *chip);

/* The figure that an entry of `list` (the set's profiles or stacks) takes, its own or its parent's; NULL means the
 * value of `ideal`. */
const SetFigure *set_entry_figure(const SetEntry *list, const SetEntry *entry, const ProfileFigure *figure);
/* The belief about a figure of a `list` without runs: its prior, times the figure that the prior is a share of. */
double set_figure_prior(const SetEntry *list, const SetFigure *figure);

/* The figures of a chip under a stack: pure, and cheap enough for a fit's inner loop (one load for each figure).
 * `stack` NULL means that every figure of the software is as in `ideal`. The precision is bf16; the source is the
 * chip's. */
void profile_compose(const ProfileSet *set, const SetEntry *chip, const SetEntry *stack, Profile *out);

/* profile_set_json.c, profile_set_write.c: a ProfileSet from its file and back. cost/profiles/default.json is one:
 *  { "name", "date", "source", "runs_file"?, "runs_sha256"?, "runs"?,
 *    "profiles": { NAME: {"source", "title"?, "kin"?, "chips"?, "scaleup"?, "tile_padding"?, FIGURES of the chip} },
 *    "stacks": { NAME: {"source", "title"?, "aliases"?, "kin"?, "released"?, "chips"?, "launchers"?,
 *                       "scaleup"?, "matches"?, FIGURES of the software} } }
 * "kin" names the parent; "scaleup" is ["torus"], ["switch"] or both. A figure is {"value", "source"}. A figure that
 * a fit may move has "prior" as well, perhaps "of" (the figure that the prior is a share of) and "sigma" (else the
 * table's, cost/profile/profile_figure.c). A figure that a fit has moved, or tried to move, has "deviation", "runs" and
 * "determined". */

/* Whether a document is a set and not one whole profile. */
bool profile_set_is(const cJSON *json);

/* Reads strictly: a key that is missing, unknown, without a source or out of its range is an error, as are two entries
 * of one name, or two that are made for the same chip. `file` begins the place that errors name. Pure; the set lies in
 * the arena. */
bool profile_set_from_json(const cJSON *json, const char *file, Arena *arena, ProfileSet *out, Error *error);

/* Writes in one form: keys in the order above, figures in the order of their table, numbers as the shortest text that
 * reads back the same. A set that was read from a file in this form is written with the same bytes. False means that
 * the stream failed. */
bool profile_set_write(FILE *out, const ProfileSet *set);
