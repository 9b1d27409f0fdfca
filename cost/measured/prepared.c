/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/measured/prepared.h"

#include "base/locale.h"
#include "base/threads.h"
#include "base/util.h"

#include <math.h>
#include <string.h>

/* A thread for so many runs: fewer are priced sooner than threads meet. */
enum { RUNS_OF_THREAD = 32 };

bool prepared_runs(const RunTable *table, const PrepareWith *with, Arena *arena, PreparedRuns *out, Error *error) {
    size_t count = (size_t)table->count;
    *out = (PreparedRuns){.set = with->set,
                          .replays = ARENA_NEW(arena, Replay, count),
                          .too_large = ARENA_NEW(arena, bool, count),
                          .prices = ARENA_NEW(arena, PreparedPrices, count),
                          .unknown = ARENA_NEW(arena, int64_t, count),
                          .count = table->count,
                          .threads = 1};
    if (!out->replays || !out->too_large || !out->prices || !out->unknown) return error_memory(error);
    if (out->count > RUNS_OF_THREAD)
        out->threads = (int)min_whole(threads_usable(with->threads), 1 + out->count / RUNS_OF_THREAD);
#pragma omp parallel for schedule(dynamic, 4) num_threads(out->threads)
    for (int64_t i = 0; i < out->count; i++) {
        IN_LOCALE_C; /* a thread of its own */
        Replay *replay = &out->replays[i];
        Prediction prediction;
        replay_prepare(&table->runs[i], with->data, with->set, replay);
        if (!replay->skipped[0] && replay_predict(replay, with->set, &prediction))
            out->too_large[i] = prediction.needed_bytes > replay->chip.hbm_bytes.value;
    }
    return true;
}

/* For each entry of `from` the entry of the same name in `to`, most often at the same place; NULL: there is none. */
static void pair_entries(const SetEntry *from, int from_count, const SetEntry *to, int to_count,
                         const SetEntry *pairs[SET_ENTRIES_MAX]) {
    for (int i = 0; i < from_count; i++) {
        int at = i < to_count && strcmp(from[i].name, to[i].name) == 0 ? i : 0;
        while (at < to_count && strcmp(from[i].name, to[at].name) != 0) at++;
        pairs[i] = at < to_count ? &to[at] : NULL;
    }
}

/* 0: the plan has no price there. */
static double price(const Replay *replay, const Profile *composed) {
    double seconds = 0;
    return replay_price(replay, composed, &seconds) && isfinite(seconds) && seconds > 0 ? seconds : 0;
}

/* The seconds that are known under a profile. False: they are to be priced, into the last place of `prices`. */
static bool recall(PreparedPrices *prices, const Profile *composed, double *seconds) {
    for (int i = 0; i < prices->count; i++) {
        if (memcmp(&prices->under[i], composed, sizeof *composed) != 0) continue;
        if (i == 1) { /* met twice */
            const PreparedPrices last = *prices;
            prices->under[0] = last.under[1], prices->seconds[0] = last.seconds[1];
            prices->under[1] = last.under[0], prices->seconds[1] = last.seconds[0];
        }
        *seconds = prices->seconds[0];
        return true;
    }
    prices->count = prices->count > 0 ? 2 : 1;
    prices->under[prices->count - 1] = *composed;
    return false;
}

bool prepared_seconds(PreparedRuns *runs, const ProfileSet *set, const char *where, double *seconds, Error *error) {
    const SetEntry *chips[SET_ENTRIES_MAX], *stacks[SET_ENTRIES_MAX];
    const ProfileSet *begun = runs->set;
    pair_entries(begun->profiles, begun->profile_count, set->profiles, set->profile_count, chips);
    pair_entries(begun->stacks, begun->stack_count, set->stacks, set->stack_count, stacks);
    for (int64_t i = 0; i < runs->count; i++) {
        const Replay *replay = &runs->replays[i];
        if (replay->skipped[0]) continue;
        const SetEntry *lost = !chips[replay->chip_entry - begun->profiles] ? replay->chip_entry
                               : replay->stack_entry && !stacks[replay->stack_entry - begun->stacks]
                                   ? replay->stack_entry
                                   : NULL;
        if (lost)
            return error_set(error, ERROR_INPUT, where, "has no entry %s, from which runs take figures", lost->name);
    }
    int64_t unknown = 0;
    for (int64_t i = 0; i < runs->count; i++) {
        const Replay *replay = &runs->replays[i];
        Profile composed;
        seconds[i] = 0;
        if (replay->skipped[0]) continue;
        profile_compose(set, chips[replay->chip_entry - begun->profiles],
                        replay->stack_entry ? stacks[replay->stack_entry - begun->stacks] : NULL, &composed);
        if (!recall(&runs->prices[i], &composed, &seconds[i])) runs->unknown[unknown++] = i;
    }
    int threads = (int)min_whole(runs->threads, 1 + unknown / RUNS_OF_THREAD);
#pragma omp parallel for schedule(dynamic, 4) num_threads(threads) if (threads > 1)
    for (int64_t k = 0; k < unknown; k++) {
        int64_t i = runs->unknown[k];
        PreparedPrices *prices = &runs->prices[i];
        int at = prices->count - 1;
        prices->seconds[at] = seconds[i] = price(&runs->replays[i], &prices->under[at]);
    }
    return true;
}

const char *prepared_generation(const PreparedRuns *runs, int64_t run) {
    int count;
    const SetEntry *chip = runs->replays[run].chip_entry;
    SetAt at = chip->at[profile_figure("matrix_efficiency") - profile_figures(&count)];
    return at.entry < 0 ? chip->name : runs->set->profiles[at.entry].name;
}
