/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Best first over (machine, batch, degrees). The bounds of all tuples are known (explore/tuple_list.h); the search goes
 * up in levels. At each level the tuples whose bound is not above it are expanded, in rising order of their bounds, and
 * what is above the level stays closed in them (explore/left.h): a tuple takes the least bound of that for its own, and
 * comes again, with what it has left, when a level has reached it. So a plan is looked for only where the bounds, all
 * of them, have nothing better to offer. Without levels, the tuples of the lowest bounds, which often fit nowhere,
 * would be searched to their end before anything is known. Within a level tuples are taken in blocks against the
 * threshold of the block's start, so that counts are the same for any number of threads; blocks grow, so that early
 * ones tighten the threshold. docs/search.md, "Levels, blocks and threads". */
#include "search/engine/walk/walk.h"

#include "base/util.h"
#include "search/engine/explore/explore.h"
#include "search/engine/explore/explorer.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_MOST = 32 };
/* By how much a level is above the one before: little while the first plans may be near, then more and more, since
 * where nothing fits there is no end to go up to. */
static const double LEVEL_STEP = 0.05, LEVEL_GROWTH = 1.5;
enum { LEVELS_SMALL = 4 };
/* With more of a limit of memory taken than this, what is left of expanded tuples is not kept. */
static const double BUDGET_SHORT = 0.9;

/* What one opening of an entry gave. */
typedef struct {
    Explorer explorer;
    DeferredList left;
    bool ok;
} Opening;

/* What the walk through one share of the space works on. */
typedef struct {
    Search *search;
    Opening openings[BLOCK_MOST];
    BoundedIndex *order; /* of the entries of a level */
    int64_t count;       /* of them */
    double level;        /* ranked */
    bool sample;         /* it ends when there are plans, and some work later: */
    int64_t began;       /* Search.work when it began */
    int64_t until;       /* the same when it ends; 0: there are none yet */
} Walk;

/* ---- one entry ---- */

static const Degrees *degrees_of(const Search *search, const TupleBatches *entry) {
    return &search->tuples.groups[entry->group].degrees[entry->tuple];
}

/* Whether nothing of an entry's batches can be within the limit and fit. Then *above is the bound of what may fit;
 * where that is INFINITY, nothing may, and the plans are counted. */
static bool tuple_batches_are_cut(Search *search, const TupleBatches *entry, double limit, Explorer *explorer,
                                  double *above) {
    const TupleList *tuples = &search->tuples;
    ExploreStats *stats = &explorer->stats;
    const Degrees *degrees = degrees_of(search, entry);
    RangeVerdict verdict;
    if (search->request->control.brute_force) return false;
    ExploreProblem problem =
        tuple_list_problem(tuples, entry->group, tuple_batches_sequences(tuples, entry, entry->last));
    explorer->problem = &problem;
    int64_t fewest = tuple_batches_sequences(tuples, entry, entry->first);
    bool cut = tuple_range_is_cut(explorer, degrees, fewest, limit, &verdict);
    explorer->problem = NULL;
    if (!cut) return false;
    explore_note_missing(stats, degrees, &(Knobs){0}, verdict.missing);
    *above = verdict.refused ? INFINITY : verdict.bound;
    if (*above == INFINITY)
        stats->pruned[verdict.refused              ? PRUNED_REQUIRE
                      : verdict.missing < INFINITY ? PRUNED_MEMORY
                      : verdict.beaten             ? PRUNED_KNOB_BOUND
                                                   : PRUNED_INDIVISIBLE] += tuple_batches_plans(tuples, entry);
    return true;
}

/* Leaves an entry's batches closed, of which nothing is below a bound. */
static bool leave_batches(Search *search, const TupleBatches *entry, double bound, double limit, Explorer *explorer) {
    explorer->stats.threshold = limit;
    Deferred left = {.kind = LEFT_BATCHES,
                     .bound = bound,
                     .first_batch = entry->first,
                     .last_batch = entry->last,
                     .plans = tuple_batches_plans(&search->tuples, entry)};
    return explorer_leave(explorer, left);
}

/* One batch of an entry: what is left of it or, where that is NULL, all. */
static bool explore_batch(Search *search, const TupleBatches *entry, const DeferredList *left, double *limit,
                          Explorer *explorer) {
    const TupleList *tuples = &search->tuples;
    const Degrees *degrees = degrees_of(search, entry);
    ExploreProblem problem =
        tuple_list_problem(tuples, entry->group, tuple_batches_sequences(tuples, entry, entry->first));
    explorer->problem = &problem;
    explorer->batch = entry->first;
    bool ok = left ? explore_orders_left(explorer, degrees, left->items, left->count, limit)
                   : explore_orders(explorer, degrees, limit);
    explorer->problem = NULL;
    return ok;
}

/* An entry's batches, in halves where there are many, the largest first: what the bounds of a part leave is explored.
 * Where one plan is wanted, the best of a batch is the limit of the next. */
static bool explore_entry(Search *search, TupleBatches entry, double *limit, Explorer *explorer) {
    const TupleList *tuples = &search->tuples;
    double above = INFINITY;
    if (entry.first == entry.last) return explore_batch(search, &entry, NULL, limit, explorer);
    entry.bound = tuple_batches_bound(tuples, &entry, explorer->cache->sums);
    if (entry.bound > *limit * CUT && !search->request->control.brute_force)
        return leave_batches(search, &entry, entry.bound, *limit, explorer);
    if (tuple_batches_are_cut(search, &entry, *limit, explorer, &above))
        return above == INFINITY || leave_batches(search, &entry, above, *limit, explorer);
    if (explorer->interrupted) return false;
    TupleBatches low = entry, high = entry;
    low.last = entry.first + (entry.last - entry.first) / 2;
    high.first = low.last + 1;
    return explore_entry(search, high, limit, explorer) && explore_entry(search, low, limit, explorer);
}

/* What an entry has left, up to the limit; the rest is left again. */
static bool explore_left_entry(Search *search, TupleBatches entry, const DeferredList *left, double *limit,
                               Explorer *explorer) {
    bool ok = true;
    for (int64_t i = 0, to; ok && i < left->count; i = to) {
        const Deferred *from = &left->items[i];
        entry.first = from->first_batch, entry.last = from->last_batch;
        for (to = i + 1; from->kind != LEFT_BATCHES && to < left->count; to++)
            if (left->items[to].kind == LEFT_BATCHES || left->items[to].first_batch != from->first_batch) break;
        DeferredList part = {.items = &left->items[i], .count = to - i};
        if (from->kind != LEFT_BATCHES)
            ok = explore_batch(search, &entry, &part, limit, explorer);
        else if (from->bound > *limit * CUT)
            ok = explorer_leave(explorer, *from);
        else
            ok = explore_entry(search, entry, limit, explorer);
    }
    return ok;
}

/* ---- one block ---- */

/* Takes what an opening gave into what the ones before it gave. What is left and above the k-th best is out for good:
 * that does not rise. Returns the least bound of what is left, now or for good. */
static double take_opening(Search *search, Expanded *expanded, Opening *opening) {
    DeferredList *left = &opening->left;
    double least = opening->explorer.stats.least_above_threshold;
    int64_t kept = 0;
    search_merge_stats(&expanded->stats, &opening->explorer.stats);
    for (int64_t i = 0; i < left->count; i++) {
        least = min_real(least, left->items[i].bound);
        if (!search_beats(search, left->items[i].bound)) {
            left->items[kept++] = left->items[i];
            continue;
        }
        explore_count_left(&expanded->stats, &left->items[i]);
        expanded->least_out = min_real(expanded->least_out, left->items[i].bound);
    }
    left->count = kept;
    expanded_keep(search, expanded, left);
    return min_real(least, expanded->least_out);
}

/* Takes what an opening gave: its plans, and the bound of what it left. Of an opening that was interrupted the plans
 * are kept, and the entry is as it was before. */
static bool settle(Search *search, int64_t index, Opening *opening, Error *error) {
    TupleBatches *entry = &search->tuples.entries[index];
    const Explorer *explorer = &opening->explorer;
    search->work += explorer->stats.work;
    if (!opening->ok && !explorer->interrupted) {
        *error = explorer->error;
        return false;
    }
    double best = INFINITY;
    for (int64_t i = 0; i < explorer->plans.count; i++) {
        best = min_real(best, explorer->plans.items[i].ranked_seconds);
        search_keep(search, &explorer->plans.items[i]);
    }
    if (!opening->ok) return true;
    if (!expanded_note(search, index, error)) return false;
    Expanded *expanded = search->expanded[index];
    expanded->stats.best_seconds = best = min_real(best, expanded->stats.best_seconds);
    if (!search_keeps_left(search)) expanded->stats = explore_stats_new(INFINITY), expanded->stats.best_seconds = best;
    entry->bound = max_real(entry->bound, take_opening(search, expanded, opening));
    return true;
}

static void open_entry(Search *search, int64_t index, double limit, Opening *opening) {
    memset(opening, 0, sizeof(*opening));
    opening->explorer = (Explorer){.cache = &search->caches[omp_get_thread_num()],
                                   .stats = explore_stats_new(limit),
                                   .budget = search->budget,
                                   .until = search_until(search),
                                   .interrupted = environment_stops(&search->request->control.environment)};
    if (search_keeps_left(search)) opening->explorer.left = &opening->left;
    const Expanded *expanded = search->expanded[index];
    TupleBatches entry = search->tuples.entries[index];
    if (opening->explorer.interrupted) return;
    opening->ok = expanded && search_keeps_left(search)
                      ? explore_left_entry(search, entry, &expanded->left, &limit, &opening->explorer)
                      : explore_entry(search, entry, &limit, &opening->explorer);
    if (!opening->ok && opening->explorer.error.kind == ERROR_MEMORY && budget_is_met(search->budget))
        opening->explorer.interrupted = opening->explorer.late = true;
}

/* Opens entries order[from .. to - 1]. */
static bool run_block(Walk *walk, int64_t from, int64_t to, Error *error) {
    Search *search = walk->search;
    double limit = min_real(walk->level, search_threshold(search));
    int threads = (int)min_whole(search->threads, to - from); /* who has nothing to do would wait busily */
    bool ok = true;
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
    for (int64_t i = from; i < to; i++) open_entry(search, walk->order[i].index, limit, &walk->openings[i - from]);
    for (int64_t i = from; i < to; i++) {
        Opening *opening = &walk->openings[i - from];
        ok = ok && settle(search, walk->order[i].index, opening, error);
        search->interrupted = search->interrupted || (opening->explorer.interrupted && !opening->explorer.late);
        search->timed_out = search->timed_out || opening->explorer.interrupted;
        free(opening->explorer.plans.items);
        free(opening->left.items);
    }
    search->timed_out = search->timed_out || search->interrupted;
    return ok;
}

/* ---- levels ---- */

/* Entries of the level that are not beaten: those before the first one that is. */
static int64_t unbeaten(const Walk *walk) {
    int64_t from = 0, to = walk->count;
    while (from < to) {
        int64_t middle = from + (to - from) / 2;
        if (search_beats(walk->search, walk->order[middle].bound))
            to = middle;
        else
            from = middle + 1;
    }
    return from;
}

static void tell_progress(const Walk *walk, int64_t at) {
    const Search *search = walk->search;
    const Environment *environment = &search->request->control.environment;
    if (!environment->progress) return;
    SearchProgress progress = {.seconds = environment_clock(environment) - search->started,
                               .found = search->best_count > 0,
                               .best_seconds = search->best_count > 0 ? search->best[0].ranked_seconds : INFINITY,
                               .bound_seconds = walk->order[at].bound,
                               .done = at,
                               .all = unbeaten(walk)};
    environment->progress(environment->context, &progress);
}

/* A sample is over when there are plans, and a part of the bounds was made again that it took to find one. */
static bool is_over(Walk *walk) {
    enum { MOST = 10000, LEAST = 200, PART = 16 };
    Search *search = walk->search;
    if (search_is_over(search)) return true;
    if (!walk->sample) return false;
    if (search->best_count == 0 && walk->until == 0) return search->work > walk->began + MOST;
    if (walk->until == 0) walk->until = search->work + max_whole(LEAST, (search->work - walk->began) / PART);
    return search->work >= walk->until;
}

/* Opens the entries in walk->order, all of which reach up to the level, as long as they are not beaten. */
static bool run_level(Walk *walk, Error *error) {
    Search *search = walk->search;
    int64_t block = 1, blocks = 0;
    for (int64_t at = 0; at < walk->count;) {
        if (search_beats(search, walk->order[at].bound) || is_over(walk)) return true;
        tell_progress(walk, at);
        /* Where the level is what limits, another block before it would tighten little. */
        if (walk->level <= search_threshold(search)) block = max_whole(block, min_whole(BLOCK_MOST, walk->count / 16));
        int64_t to = min_whole(walk->count, at + block);
        if (!run_block(walk, at, to, error)) return false;
        if (search_keeps_left(search) && budget_is_above(search->budget, BUDGET_SHORT)) expanded_forget(search);
        at = to;
        if (++blocks % 2 == 0) block = min_whole(BLOCK_MOST, 2 * block);
    }
    return true;
}

/* Lists the entries with a bound up to the level, by rising bound; an infinite bound means that nothing is left of an
 * entry. */
static void list_level(Walk *walk) {
    const Search *search = walk->search;
    bool brute = search->request->control.brute_force;
    walk->count = 0;
    for (int64_t i = 0; i < search->tuples.entry_count; i++) {
        double bound = search->tuples.entries[i].bound;
        if (brute || (bound <= walk->level && bound < INFINITY)) walk->order[walk->count++] = (BoundedIndex){bound, i};
    }
    bounded_indices_sort(walk->order, walk->count);
}

static double least_bound(const Search *search) {
    double least = INFINITY;
    for (int64_t i = 0; i < search->tuples.entry_count; i++) least = min_real(least, search->tuples.entries[i].bound);
    return least;
}

/* Opens one entry at the level of the walk. */
static bool open_alone(Walk *walk, int64_t index, Error *error) {
    walk->order[0] = (BoundedIndex){walk->search->tuples.entries[index].bound, index};
    walk->count = 1;
    return run_block(walk, 0, 1, error);
}

/* Looks for a plan of a seed's degrees, a little above its time at first. */
static bool open_seed(Walk *walk, const SearchSeed *seed, Error *error) {
    static const double STEPS[] = {1 + 1e-6, 1.02, 1.1, 1.3};
    Search *search = walk->search;
    for (int64_t i = 0; i < search->tuples.entry_count; i++) {
        const TupleBatches *entry = &search->tuples.entries[i];
        if (entry->first > 0 || degrees_compare(degrees_of(search, entry), &seed->degrees) != 0) continue;
        for (size_t step = 0; step < COUNT_OF(STEPS) && !search_is_over(search); step++) {
            walk->level = seed->seconds * STEPS[step];
            if (entry->bound > walk->level) continue;
            if (search_beats(search, entry->bound)) break;
            if (!open_alone(walk, i, error)) return false;
        }
    }
    return true;
}

static bool open_seeds(Walk *walk, Error *error) {
    const SearchControl *control = &walk->search->request->control;
    for (int i = 0; i < control->seed_count && !control->brute_force; i++)
        if (!open_seed(walk, &control->seeds[i], error)) return false;
    walk->level = 0;
    return true;
}

/* Whether the plans of a sample are as many as are wanted: then the best are near them. */
static bool is_near_best(const Walk *walk) {
    const Search *search = walk->search;
    return !walk->sample && search->sampled && search->best_count >= search->request->control.top;
}

/* Whether a level is the last one, and has no end. Where the best are known, of seeds, other machines or orders, there
 * is nothing to go up for. */
static bool is_last(const Walk *walk, int levels) {
    const Search *search = walk->search;
    const SearchControl *control = &search->request->control;
    if (is_near_best(walk)) return levels > 0;
    bool known = search->best_count >= control->top && !search->sampled;
    return levels == 0 && (control->brute_force || known || control->within_limit_is_little);
}

/* A level that has an end: a little below the plans of a sample where they are enough, else a little above the one
 * before. */
static double next_level(const Walk *walk, int levels, double step, double least) {
    static const double BELOW = 0.04;
    if (levels == 0 && is_near_best(walk)) return max_real(least, (1 - BELOW) * search_threshold(walk->search));
    return (1 + step) * max_real(walk->level, least);
}

static bool run_levels(Walk *walk, Error *error) {
    Search *search = walk->search;
    bool done = search->tuples.entry_count == 0;
    double step = LEVEL_STEP;
    if (!open_seeds(walk, error)) return false;
    for (int levels = 0; !done && !is_over(walk); levels++) {
        double least = least_bound(search);
        if (isinf(least) || search_beats(search, least)) break;
        done = is_last(walk, levels);
        walk->level = done ? INFINITY : next_level(walk, levels, step, least);
        if (levels >= LEVELS_SMALL) step *= LEVEL_GROWTH;
        list_level(walk);
        if (!run_level(walk, error)) return false;
    }
    return true;
}

/* ---- what became of the entries ---- */

static Count plans_of_stats(const ExploreStats *stats) {
    Count plans = stats->evaluated;
    for (int i = 0; i < PRUNED_COUNT; i++) plans += stats->pruned[i];
    return plans;
}

/* An entry that was never expanded. After an interrupt, which does not wait, the plans of all of these are counted
 * together. */
static void count_closed(Search *search, const TupleBatches *entry) {
    bool open = search->timed_out && !search_beats(search, entry->bound);
    if (!search->interrupted)
        search->stats.pruned[open ? PRUNED_TIME_LIMIT : PRUNED_DEGREE_BOUND] +=
            tuple_batches_plans(&search->tuples, entry);
    if (open) search->open = min_real(search->open, entry->bound);
    search->stats.least_cut_bound = min_real(search->stats.least_cut_bound, entry->bound);
    certificate_note(search->certificate, &search->tuples, entry, NULL);
}

/* An entry by its expansions, the last of which a limit may have cut off. */
static bool count_expanded(Search *search, const TupleBatches *entry, ExploreStats *last, Error *error) {
    bool open = search->timed_out && !search_beats(search, entry->bound);
    if (open) search->open = min_real(search->open, entry->bound);
    for (int reason = PRUNED_DEGREE_BOUND; open && reason <= PRUNED_KNOB_BOUND; reason++) {
        last->pruned[PRUNED_TIME_LIMIT] += last->pruned[reason];
        last->pruned[reason] = 0;
    }
    search_merge_stats(&search->stats, last);
    certificate_note(search->certificate, &search->tuples, entry, last);
    if (search->search_log && !certificate_log_add(search->search_log, &search->tuples, entry, last))
        return error_memory(error);
    return true;
}

/* Counts what the last expansions gave, and what was never expanded or, when time ran out, not to the end. */
static bool count_entries(Search *search, Error *error) {
    const TupleList *tuples = &search->tuples;
    Count closed = tuples->coverage.entry_plans;
    for (int64_t i = 0; i < tuples->entry_count; i++) {
        Expanded *expanded = search->expanded[i];
        if (!expanded) {
            count_closed(search, &tuples->entries[i]);
            continue;
        }
        for (int64_t j = 0; j < expanded->left.count; j++)
            explore_count_left(&expanded->stats, &expanded->left.items[j]);
        closed -= plans_of_stats(&expanded->stats);
        if (!count_expanded(search, &tuples->entries[i], &expanded->stats, error)) return false;
    }
    if (search->interrupted) search->stats.pruned[PRUNED_TIME_LIMIT] += closed;
    return true;
}

static bool walk_all(Walk *walk, Error *error) { return run_levels(walk, error) && count_entries(walk->search, error); }

/* Until there are plans, and a while longer: the first ones are seldom good. */
static bool walk_sample(Walk *walk, Error *error) {
    walk->sample = true;
    walk->began = walk->search->work;
    bool ok = run_levels(walk, error);
    walk->search->sampled = true;
    return ok;
}

/* Against the best plans; where fewer are known than are wanted, a little above the first. */
static bool walk_near(Walk *walk, Error *error) {
    static const double ABOVE = 0.03;
    walk->sample = true;
    const Search *search = walk->search;
    walk->level = search->best_count > 0 ? (1 + ABOVE) * search->best[0].ranked_seconds : search_threshold(search);
    list_level(walk);
    return run_level(walk, error);
}

static bool walk_entries(Search *search, int64_t until, bool (*each)(Walk *walk, Error *error), Error *error) {
    size_t count = (size_t)search->tuples.entry_count;
    Walk *walk = calloc(1, sizeof *walk);
    BoundedIndex *order = calloc(count + 1, sizeof(BoundedIndex));
    search->expanded = calloc(count + 1, sizeof(Expanded *));
    bool ok = (walk && order && search->expanded) || error_memory(error);
    if (ok) {
        walk->search = search;
        walk->order = order;
        walk->until = until;
        ok = each(walk, error);
    }
    expanded_free(search);
    free(order);
    free(walk);
    return ok;
}

bool search_walk(Search *search, Error *error) {
    bool ok = walk_entries(search, 0, walk_all, error);
    search->sampled = false;
    return ok;
}

bool search_walk_sample(Search *search, Error *error) { return walk_entries(search, 0, walk_sample, error); }

bool search_walk_near(Search *search, int64_t until, Error *error) {
    return walk_entries(search, until, walk_near, error);
}
