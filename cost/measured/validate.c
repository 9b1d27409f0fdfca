/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/measured/validate.h"

#include "base/locale.h"
#include "base/threads.h"
#include "base/util.h"
#include "models/parameters.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

enum { CHUNK = 512, PLAN_SIZE = NOTATION_SIZE + 96 };

/* ---- which runs ---- */

bool run_is_of_chip(const Run *run, const char *name, const Catalog *chips) {
    const Chip *chip = catalog_find(chips, name);
    return name_matches(run->request.chip, name) || (chip && chip == catalog_find(chips, run->request.chip));
}

/* The names of the filter that some run has. */
typedef struct {
    bool source[FILTER_MAX], chip[FILTER_MAX];
} Hits;

static bool takes(const RunFilter *filter, const Run *run, const Catalog *chips, Hits *hits) {
    bool source_ok = filter->source_count == 0, chip_ok = filter->chip_count == 0;
    for (int i = 0; i < filter->source_count; i++) {
        if (!name_matches(run->family, filter->sources[i])) continue;
        source_ok = hits->source[i] = true;
    }
    for (int i = 0; i < filter->chip_count; i++) {
        if (!run_is_of_chip(run, filter->chips[i], chips)) continue;
        chip_ok = hits->chip[i] = true;
    }
    return source_ok && chip_ok;
}

static void find_unmatched(const RunFilter *filter, const Hits *hits, Validation *out) {
    for (int i = 0; i < filter->source_count && !out->unmatched; i++)
        if (!hits->source[i]) out->unmatched = filter->sources[i];
    for (int i = 0; i < filter->chip_count && !out->unmatched; i++) {
        if (hits->chip[i]) continue;
        out->unmatched = filter->chips[i];
        out->unmatched_chip = true;
    }
}

/* ---- one run ---- */

/* The results of one run for a thread: a replay is too large to be kept for each run. */
typedef struct {
    Outcome outcome;
    char skipped[REPLAY_REASON_SIZE], plan[PLAN_SIZE], chip[CHIP_NAME_SIZE];
} Draft;

static void plan_words(const Plan *plan, char text[PLAN_SIZE]) {
    const Knobs *knobs = &plan->knobs;
    plan_notation(&plan->degrees, knobs, true, text);
    size_t used = strlen(text);
    if (knobs->schedule != SCHEDULE_NONE)
        used +=
            (size_t)snprintf(text + used, PLAN_SIZE - used, "%s%s", used ? " " : "", schedule_name(knobs->schedule));
    if (knobs->virtual_stages > 1)
        used += (size_t)snprintf(text + used, PLAN_SIZE - used, " v=%lld", (long long)knobs->virtual_stages);
    snprintf(text + used, PLAN_SIZE - used, "%sm=%lld b=%lld", used ? " " : "", (long long)knobs->microbatches,
             (long long)knobs->microbatch_sequences);
}

static bool usable(const Prediction *prediction) {
    return isfinite(prediction->seconds) && prediction->seconds > 0 && isfinite(prediction->memory_bytes);
}

static void replay_one(const Run *run, const ReplayData *data, const ProfileSet *set, Replay *replay, Draft *out) {
    IN_LOCALE_C; /* a thread of its own */
    Outcome *outcome = &out->outcome;
    *out = (Draft){.outcome = {.run = run}};
    replay_prepare(run, data, set, replay);
    if (!replay->skipped[0] && !replay_predict(replay, set, &outcome->prediction))
        snprintf(replay->skipped, sizeof replay->skipped, "its plan cannot be priced");
    else if (!replay->skipped[0] && !usable(&outcome->prediction))
        snprintf(replay->skipped, sizeof replay->skipped, "its step is predicted to take %g s and %g B",
                 outcome->prediction.seconds, outcome->prediction.memory_bytes);
    memcpy(out->skipped, replay->skipped, sizeof out->skipped);
    if (replay->skipped[0]) return;
    memcpy(out->chip, replay->chip.name, sizeof out->chip);
    plan_words(&replay->plan, out->plan);
    outcome->stack = replay->stack_entry ? replay->stack_entry->name : "none";
    outcome->measured_by = replay->measured_by ? replay->measured_by : "";
    outcome->kind = replay_kind(replay);
    outcome->precision = replay->precision;
    outcome->flops = model_flops_per_token(&replay->model, FLOPS_CAUSAL, replay->work.seq) *
                     (double)replay->work.sequences * (double)replay->work.seq;
    outcome->measured_seconds = replay->measured_seconds;
    outcome->measured_bytes = run->measured.memory_bytes;
    outcome->limit_bytes = replay->chip.hbm_bytes.value; /* of a device */
    if (outcome->measured_seconds > 0) outcome->error = outcome->prediction.seconds / outcome->measured_seconds - 1;
}

/* Moves the texts of a draft to memory that lasts. */
static bool keep(const Draft *draft, Arena *arena, Outcome *out) {
    *out = draft->outcome;
    if (!out->stack) out->stack = "";
    if (!out->measured_by) out->measured_by = "";
    return (out->skipped = arena_text(arena, draft->skipped)) && (out->plan = arena_text(arena, draft->plan)) &&
           (out->chip = arena_text(arena, draft->chip));
}

static bool replay_all(const Run **runs, int64_t count, const ReplayWith *with, Arena *arena, Outcome *outcomes) {
    int team = threads_usable(with->threads);
    Replay *replays = ARENA_NEW(arena, Replay, (size_t)team);
    Draft *drafts = ARENA_NEW(arena, Draft, (size_t)min_whole(CHUNK, count));
    if (!replays || !drafts) return false;
    for (int64_t from = 0; from < count; from += CHUNK) {
        int64_t n = min_whole(CHUNK, count - from);
#pragma omp parallel for schedule(dynamic, 4) num_threads(team)
        for (int64_t i = 0; i < n; i++)
            replay_one(runs[from + i], with->data, with->set, &replays[omp_get_thread_num()], &drafts[i]);
        for (int64_t i = 0; i < n; i++)
            if (!keep(&drafts[i], arena, &outcomes[from + i])) return false;
    }
    return true;
}

/* ---- the statistics ---- */

static Scored scored_of(const Outcome *outcome) {
    return (Scored){.id = outcome->run->id,
                    .model = outcome->run->model,
                    .precision = precision_name(outcome->precision),
                    .label = {[BY_SOURCE] = outcome->run->family,
                              [BY_CHIP] = outcome->chip,
                              [BY_FRAMEWORK] = outcome->run->framework,
                              [BY_STACK] = outcome->stack,
                              [BY_KIND] = run_kind_name(outcome->kind)},
                    .chips = outcome->run->request.chips,
                    .flops = outcome->flops,
                    .measured_seconds = outcome->measured_seconds,
                    .predicted_seconds = outcome->prediction.seconds,
                    .likely_low_seconds = outcome->prediction.likely_low_seconds,
                    .likely_high_seconds = outcome->prediction.likely_high_seconds,
                    .measured_bytes = outcome->measured_bytes,
                    .predicted_bytes = outcome->prediction.memory_bytes};
}

static void count_failed(const Outcome *outcome, Validation *out) {
    double share = outcome->prediction.needed_bytes / outcome->limit_bytes;
    int bin = 0;
    while (bin < FAILED_BINS - 1 && share > FAILED_SHARES[bin]) bin++;
    out->failed++;
    out->failed_by_share[bin]++;
    out->failed_too_large += share > 1;
}

static void count_outcomes(Validation *out) {
    for (int64_t i = 0; i < out->count; i++) {
        const Outcome *outcome = &out->outcomes[i];
        if (outcome->skipped[0]) {
            out->skipped++;
            continue;
        }
        if (outcome->run->measured.failed) {
            count_failed(outcome, out);
            continue;
        }
        if (outcome->run->aside[0]) {
            out->set_aside++;
            continue;
        }
        bool fits = outcome->prediction.needed_bytes <= outcome->limit_bytes;
        out->called_too_large += !fits;
        out->called_fitting += fits && outcome->measured_bytes > outcome->limit_bytes;
        out->of_scored[out->replayed] = outcome;
        out->scored[out->replayed++] = scored_of(outcome);
    }
}

/* The runs whose steps were measured and priced; NULL: memory is out. */
static Ranked *priced_rows(const Validation *from, Arena *arena, int64_t *count) {
    Ranked *rows = ARENA_NEW(arena, Ranked, (size_t)from->replayed + 1);
    *count = 0;
    for (int64_t i = 0; rows && i < from->replayed; i++) {
        const Outcome *outcome = from->of_scored[i];
        if (outcome->measured_seconds > 0)
            rows[(*count)++] = (Ranked){outcome->run, outcome->measured_seconds, outcome->prediction.seconds,
                                        outcome->prediction.needed_bytes > outcome->limit_bytes};
    }
    return rows;
}

static bool rank_all(Validation *out, Arena *arena, Error *error) {
    int64_t n;
    const Ranked *rows = priced_rows(out, arena, &n);
    if (!rows) return error_memory(error);
    return rank_runs(rows, n, NULL, arena, &out->ranking, error) &&
           rank_runs(rows, n, "bloom", arena, &out->ranking_elsewhere, error);
}

/* Runs that are priced under drawn figures, side by side. */
typedef struct {
    const ReplayWith *with;
    Replay replays[DOUBT_PRICES_MAX];
    ProfileDoubts doubts[DOUBT_PRICES_MAX];
} Weighed;

static bool prepare_price(void *context, int place, const Run *run, DoubtedPrice *out) {
    Weighed *weighed = context;
    Replay *replay = &weighed->replays[place];
    ProfileDoubts *doubts = &weighed->doubts[place];
    replay_prepare(run, weighed->with->data, weighed->with->set, replay);
    profile_doubts(weighed->with->set, replay->chip_entry, replay->stack_entry, doubts);
    *out = (DoubtedPrice){.doubts = doubts,
                          .price = replay_price,
                          .context = replay,
                          .own_error = doubts->composed.plan_error,
                          .group_error = doubts->composed.stack_error,
                          .group = doubts->composed.stack};
    return doubts->composed.plan_error > 0;
}

static bool weigh_chances(const ReplayWith *with, Validation *out, Arena *arena, Error *error) {
    int64_t n;
    const Ranked *rows = priced_rows(out, arena, &n);
    Weighed *weighed = ARENA_NEW(arena, Weighed, 1);
    if (!rows || !weighed) return error_memory(error);
    weighed->with = with;
    return reliability_of(rows, n, &(ReliabilityPrices){weighed, prepare_price, with->threads}, &out->reliability,
                          error);
}

bool replay_runs(const RunTable *table, const RunFilter *filter, const ReplayWith *with, Arena *arena, Validation *out,
                 Error *error) {
    *out = (Validation){0};
    const Run **runs = ARENA_NEW(arena, const Run *, (size_t)table->count);
    if (!runs) return error_memory(error);
    Hits hits = {0};
    for (int64_t i = 0; i < table->count; i++)
        if (takes(filter, &table->runs[i], &with->data->chips, &hits)) runs[out->count++] = &table->runs[i];
    find_unmatched(filter, &hits, out);
    out->outcomes = ARENA_NEW(arena, Outcome, (size_t)out->count);
    return (out->outcomes && replay_all(runs, out->count, with, arena, out->outcomes)) || error_memory(error);
}

bool validate_runs(const RunTable *table, const RunFilter *filter, const ReplayWith *with, Arena *arena,
                   Validation *out, Error *error) {
    if (!replay_runs(table, filter, with, arena, out, error)) return false;
    out->scored = ARENA_NEW(arena, Scored, (size_t)out->count);
    out->of_scored = ARENA_NEW(arena, const Outcome *, (size_t)out->count);
    if (!out->scored || !out->of_scored) return error_memory(error);
    count_outcomes(out);
    return score_make(out->scored, out->replayed, arena, &out->score, error) && rank_all(out, arena, error) &&
           weigh_chances(with, out, arena, error);
}
