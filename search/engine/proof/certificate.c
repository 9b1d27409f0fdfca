/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a search notes for its certificate while it ends. */
#include "search/engine/proof/certificate.h"

#include "base/util.h"
#include "cost/profile/profile_figure.h"

#include <math.h>
#include <string.h>

void profile_sha256(const Profile *profile, char hex[SHA256_HEX_SIZE]) {
    Sha256 hash = sha256_start();
    char line[128];
    int count, length = snprintf(line, sizeof line, "tile_padding=%d\n", profile->tile_padding);
    const ProfileFigure *figures = profile_figures(&count);
    sha256_add(&hash, line, (size_t)length);
    for (int i = 0; i < count; i++) {
        length = snprintf(line, sizeof line, "%s=%a\n", figures[i].key, figure_value_of(profile, &figures[i]));
        sha256_add(&hash, line, (size_t)length);
    }
    sha256_hex(&hash, hex);
}

Count axis_factorizations(const Axis *axis, RoleSet roles) {
    Mesh mesh = {.axes = {*axis}, .axis_count = 1, .chips = axis->size, .devices = axis->size};
    Count count = 0;
    return factorization_count(&mesh, roles, &count) ? count : 0;
}

/* ---- what was cut ---- */

/* A total order, so that what is nearest does not depend on the order in which it is noted. */
static int cut_compare(const CutTuple *a, const CutTuple *b) {
    int order = (a->bound > b->bound) - (a->bound < b->bound);
    if (order == 0) order = (a->machine > b->machine) - (a->machine < b->machine);
    if (order == 0) order = degrees_compare(&a->degrees, &b->degrees);
    return order != 0 ? order : (a->batch_least > b->batch_least) - (a->batch_least < b->batch_least);
}

static void keep_least(CutTuple *least, const CutTuple *cut) {
    if (cut->bound < INFINITY && (isinf(least->bound) || cut_compare(cut, least) < 0)) *least = *cut;
}

static void keep_closest(Certificate *certificate, const CutTuple *cut) {
    int at = certificate->closest_count;
    while (at > 0 && cut_compare(cut, &certificate->closest[at - 1]) < 0) at--;
    if (at == CLOSEST_MAX) return;
    if (certificate->closest_count < CLOSEST_MAX) certificate->closest_count++;
    size_t behind = (size_t)(certificate->closest_count - 1 - at);
    memmove(&certificate->closest[at + 1], &certificate->closest[at], behind * sizeof(CutTuple));
    certificate->closest[at] = *cut;
}

void certificate_open(Certificate *certificate, double threshold) {
    certificate->threshold = threshold;
    certificate->least_cut.bound = certificate->least_above_threshold.bound = INFINITY;
    certificate->closest_count = 0;
}

void certificate_note(Certificate *certificate, const TupleList *tuples, const TupleBatches *entry,
                      const ExploreStats *stats) {
    CutTuple cut = {.bound = entry->bound,
                    .degrees = tuples->groups[entry->group].degrees[entry->tuple],
                    .machine = tuples->groups[entry->group].first,
                    .machines = tuples->groups[entry->group].shape_count,
                    .batch_least = tuple_batches_sequences(tuples, entry, entry->first),
                    .batch_most = tuple_batches_sequences(tuples, entry, entry->last),
                    .expanded = stats != NULL};
    keep_least(&certificate->least_above_threshold, &cut);
    if (!stats) keep_closest(certificate, &cut);
    if (stats) cut.bound = stats->least_cut_bound;
    keep_least(&certificate->least_cut, &cut);
}

void certificate_note_floor(Certificate *certificate, double floor) {
    if (certificate->least_cut.bound >= floor) certificate->least_cut.bound = INFINITY;
    if (certificate->least_above_threshold.bound >= floor) certificate->least_above_threshold.bound = INFINITY;
}

bool certificate_machines(const TupleList *tuples, Arena *arena, const SearchedMachine **out, Error *error) {
    SearchedMachine *machines = ARENA_NEW(arena, SearchedMachine, (size_t)tuples->shape_count);
    if (!machines) return error_memory(error);
    for (int i = 0; i < tuples->group_count; i++) {
        const DeviceCountGroup *group = &tuples->groups[i];
        for (int shape = group->first; shape < group->first + group->shape_count; shape++) {
            const Machine *machine = &tuples->shapes[shape].machine;
            machines[shape] = (SearchedMachine){.machine = *machine, .degree_tuples = group->tuples};
            if (!factorization_count(&machine->mesh, tuples->request->space.roles, &machines[shape].factorizations))
                return error_set(error, ERROR_INPUT, "search", "a machine has more than 2^128 factorizations");
        }
    }
    *out = machines;
    return true;
}

/* ---- what was expanded ---- */

SearchLog *certificate_log_new(Arena *arena) {
    SearchLog *search_log = ARENA_NEW(arena, SearchLog, 1);
    if (search_log) search_log->arena = arena;
    return search_log;
}

bool certificate_log_add(SearchLog *search_log, const TupleList *tuples, const TupleBatches *entry,
                         const ExploreStats *stats) {
    if (search_log->count == search_log->room) {
        int64_t room = search_log->room ? 2 * search_log->room : 64;
        ExpandedTuple *grown = ARENA_NEW(search_log->arena, ExpandedTuple, (size_t)room);
        if (!grown) return false;
        if (search_log->count > 0) memcpy(grown, search_log->expanded, (size_t)search_log->count * sizeof *grown);
        search_log->expanded = grown;
        search_log->room = room;
    }
    ExpandedTuple *expanded = &search_log->expanded[search_log->count++];
    *expanded = (ExpandedTuple){.group = entry->group,
                                .degrees = tuples->groups[entry->group].degrees[entry->tuple],
                                .first = entry->first,
                                .left = entry->bound,
                                .evaluated = stats->evaluated,
                                .best_seconds = stats->best_seconds};
    memcpy(expanded->pruned, stats->pruned, sizeof expanded->pruned);
    return true;
}
