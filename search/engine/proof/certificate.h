/* SPDX-License-Identifier: GPL-3.0-or-later */
/* engine/proof/certificate.h: what an outsider needs to check a search without trusting it (docs/search.md, "The
 * certificate"): the nearest of what was cut, and on request what became of every degree tuple. */
#pragma once

#include "base/sha256.h"
#include "search/answer/search_result.h"
#include "search/engine/explore/tuple_list.h"

#include <stdio.h>

/* Nothing noted yet. */
void certificate_open(Certificate *certificate, double threshold);

/* Notes what is left of an entry, entry->bound: the least bound of what was left out there as too slow. `stats`: of its
 * last opening; NULL: never expanded. The same whatever the order of the calls. */
void certificate_note(Certificate *certificate, const TupleList *tuples, const TupleBatches *entry,
                      const ExploreStats *stats);

/* What the bounds are worth where some tuples were not even bounded: no less than `floor` (ranked) is known of them,
 * and there is none to name for it. */
void certificate_note_floor(Certificate *certificate, double floor);

/* The machines of the space as a result has them, in the arena. */
bool certificate_machines(const TupleList *tuples, Arena *arena, const SearchedMachine **out, Error *error);

/* What is not said by the bounds alone: the tuples that were expanded. Everything else is made again when it is
 * written, so that a space of millions of tuples costs nothing while it is searched. */
typedef struct {
    int32_t group;
    Degrees degrees;
    int64_t first; /* as that of its entry */
    double left;   /* ranked: the least bound of what was left out as too slow */
    Count evaluated, pruned[PRUNED_COUNT];
    /* Of the plans found in it, ranked: its best where that is not above the threshold; INFINITY: none was within
     * reach */
    double best_seconds;
} ExpandedTuple;

typedef struct SearchLog {
    Arena *arena; /* of the result */
    ExpandedTuple *expanded;
    int64_t count, room;
    bool timed_out;
    double beaten; /* ranked: a tuple whose bound is above is cut by it; INFINITY: brute force cuts none */
} SearchLog;

/* Grows in the arena. NULL: memory is out. */
SearchLog *certificate_log_new(Arena *arena);
/* In any order. False: memory is out. */
bool certificate_log_add(SearchLog *search_log, const TupleList *tuples, const TupleBatches *entry,
                         const ExploreStats *stats);

/* A search and its answer, as the certificate is written from. */
typedef struct {
    const Request *request;
    const SearchResult *result;
    const char *data_sha256; /* of the data folder; "" where it is not known */
} SearchRecord;

/* The certificate as a table with tabs: lines behind # with the totals, the axes and the threshold, the names of the
 * columns, then one line for each machine, degree tuple and batch range, in the order of machines and degrees
 * (docs/json.md has the columns). The same bytes for any number of threads. `record` is of a request that keeps its
 * search log; the search's memory aside it takes a few MB. */
bool certificate_write(const SearchRecord *record, FILE *out, Error *error);

/* How many ordered factorizations one axis has into the roles of the set: C(e + R - 1, R - 1) for each p^e of its size.
 * 0: more than 128 bits. */
Count axis_factorizations(const Axis *axis, RoleSet roles);

/* SHA-256 over the profile's figures as they were used, "key=%a\n" each, tile_padding first. */
void profile_sha256(const Profile *profile, char hex[SHA256_HEX_SIZE]);

/* `search.certificate` of the JSON report. False: memory is out. */
bool certificate_add_json(const SearchRecord *record, cJSON *search);

/* Adds `first_plan` to `to`: when the search first knew a plan, in bounds, since a clock would make two reports differ.
 * Nothing where there is no plan. False means that memory is out. */
bool certificate_add_first_plan(const FirstPlan *first, cJSON *to);
