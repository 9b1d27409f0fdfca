/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/number.h"
#include "base/text/prose.h"
#include "base/text/table.h"
#include "base/util.h"
#include "search/trace/beside_words.h"

void beside_head_words(const Beside *beside, Prose *out) {
    static const char *const BY[] = {"by its annotations", "by the period of its kernels", "the whole of it"};
    const RankTrace *first = &beside->ranks[0];
    char name[PROSE_NAME_SIZE], a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE], c[NUMBER_TEXT_SIZE];
    double least = first->step_least, most = first->step_most;
    for (int r = 1; r < beside->rank_count; r++) {
        least = min_real(least, beside->ranks[r].step_least);
        most = max_real(most, beside->ranks[r].step_most);
    }
    prose_add(out, "%d %s", beside->rank_count, beside->rank_count == 1 ? "device" : "devices");
    if (first->chip[0]) prose_add(out, " (%s)", clean_name(first->chip, name));
    if (first->world_size > 0) prose_add(out, " of a job of %lld", (long long)first->world_size);
    prose_add(out, ", %d of %d steps (%s): %s a step", first->steps_used, first->steps, BY[first->steps_by],
              step_text(beside->step_measured, a));
    if (most > least) prose_add(out, " (%s to %s)", step_text(least, b), step_text(most, c));
    if (beside->plan && beside->plan->step > 0)
        prose_add(out, ", and the plan has %s (%s)", step_text(beside->plan->step, b),
                  change_text(beside->step_measured / beside->plan->step - 1, c));
    prose_add(out, ".");
}

static void write_head(const Beside *beside, TextOut out) {
    Prose prose = {0};
    beside_head_words(beside, &prose);
    prose_write(out, "", "", prose.text);
    if (beside->plan) {
        Prose plan = {0};
        prose_add(&plan, "Plan %lld: %s", (long long)beside->plan->rank, beside->plan->notation);
        prose_write(out, "", "  ", plan.text);
    }
    fputc('\n', out.file);
}

static const char *seconds_or_dash(double seconds, char *text) { return seconds > 0 ? step_text(seconds, text) : "-"; }

Table beside_table(const Beside *beside, Arena *arena) {
    Table table = table_new(arena, "Terms",
                            beside->plan ? "term|>measured|>predicted|>ratio|>exposed|>predicted|>transfer"
                                         : "term|>measured|>exposed|>of the step|>transfer");
    char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE], c[NUMBER_TEXT_SIZE], d[NUMBER_TEXT_SIZE], e[NUMBER_TEXT_SIZE];
    char ratio[32], share[NUMBER_TEXT_SIZE];
    for (int i = 0; i < beside->row_count; i++) {
        const BesideRow *row = &beside->rows[i];
        const char *measured = seconds_or_dash(row->measured, a), *exposed = seconds_or_dash(row->exposed_measured, b);
        const char *transfer = row->transfer >= 0 ? step_text(row->transfer, c) : "-";
        if (row->predicted > 0 && row->measured > 0)
            snprintf(ratio, sizeof ratio, "%.2f", row->measured / row->predicted);
        else
            snprintf(ratio, sizeof ratio, "-");
        if (beside->plan)
            table_row(&table,
                      (const char *const[]){term_name(row->term), measured, seconds_or_dash(row->predicted, d), ratio,
                                            exposed, seconds_or_dash(row->exposed_predicted, e), transfer});
        else
            table_row(&table, (const char *const[]){term_name(row->term), measured, exposed,
                                                    share_text(row->exposed_measured / beside->step_measured, share),
                                                    transfer});
    }
    return table;
}

Table beside_stage_table(const Beside *beside, Arena *arena) {
    Table table =
        table_new(arena, "Stages", "stage|>ranks|>computation|>predicted|>bubble|>predicted|>ratio|>communication");
    char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE], c[NUMBER_TEXT_SIZE], d[NUMBER_TEXT_SIZE], e[NUMBER_TEXT_SIZE];
    for (int i = 0; i < beside->stage_count; i++) {
        const BesideStage *stage = &beside->stages[i];
        char number[24], ranks[16], ratio[32] = "-";
        snprintf(number, sizeof number, "%lld", (long long)stage->stage + 1);
        snprintf(ranks, sizeof ranks, "%d", stage->ranks);
        if (stage->predicted.bubble > 0)
            snprintf(ratio, sizeof ratio, "%.2f", stage->measured.bubble / stage->predicted.bubble);
        table_row(&table,
                  (const char *const[]){number, ranks, step_text(stage->measured.compute, a),
                                        step_text(stage->predicted.compute, b), step_text(stage->measured.bubble, c),
                                        step_text(stage->predicted.bubble, d), ratio,
                                        step_text(stage->measured.communication, e)});
    }
    return table;
}

static void write_differences(const Beside *beside, TextOut out) {
    if (!beside->plan) return;
    fputs(beside->difference_count ? "\nWhat is most off:\n" : "\nNo term is off by more than 0.5% of the step.\n",
          out.file);
    for (int i = 0; i < beside->difference_count; i++) {
        char number[16];
        snprintf(number, sizeof number, "  %d. ", i + 1);
        prose_write(out, number, "     ", beside->differences[i]);
    }
}

void beside_ranks_words(const Beside *beside, Prose *out) {
    const RankMatch *match = &beside->match;
    char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE];
    if (!match->known) return;
    double transfer = 0, lasted = 0;
    for (int term = 0; term < TERM_COUNT; term++) {
        transfer += match->transfer[term];
        lasted += match->lasted[term];
    }
    prose_add(out,
              "%lld collectives were found on several ranks: of %s that they last on the mean rank, %s moves bytes "
              "and the rest waits for the last rank to come.",
              (long long)match->matched, step_text(lasted, a), step_text(transfer, b));
    if (match->straggler >= 0) {
        const RankTrace *late = &beside->ranks[match->straggler];
        prose_add(out, " Rank %lld comes last most: it makes others wait for %s, and waits %s itself.",
                  (long long)(late->rank >= 0 ? late->rank : late->device),
                  step_text(match->caused[match->straggler], a), step_text(match->waited[match->straggler], b));
    }
}

void beside_rates_words(const Beside *beside, Prose *out) {
    char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE];
    double measured, predicted;
    for (int i = 0; i < beside->row_count; i++) {
        if (!beside_rates(beside, &beside->rows[i], &measured, &predicted)) continue;
        prose_add(out, "%s %s at %s (the plan has %s)", out->used ? "," : "By the bytes in the trace a chip sends for",
                  term_name(beside->rows[i].term), rate_text(measured, "B", a), rate_text(predicted, "B", b));
    }
    if (out->used) prose_add(out, ".");
}

void beside_placed_words(const Beside *beside, Prose *out) {
    char a[NUMBER_TEXT_SIZE], name[100];
    double fallback = 0, all = 0;
    for (int r = 0; r < beside->rank_count; r++) {
        const PlaceTotals *totals = &beside->ranks[r].placed;
        fallback += totals->fallback_ns;
        all += totals->placed_ns + totals->fallback_ns + totals->unplaced_ns;
    }
    prose_add(out, "%s of the kernels' time was placed", share_text(beside->placed_share, a));
    if (fallback > 0) prose_add(out, ", of that %s by what is sent and not by a name", share_text(fallback / all, a));
    prose_add(out, ".");
    if (beside->ranks[0].unplaced_count > 0) prose_add(out, " Not placed:");
    for (int i = 0; i < beside->ranks[0].unplaced_count && i < 4; i++) {
        const UnplacedName *unplaced = &beside->ranks[0].unplaced[i];
        prose_add(out, "%s %lld of %s (%s)", i ? "," : "", (long long)unplaced->count,
                  clean_text(unplaced->name, name, sizeof name), step_text(unplaced->seconds, a));
    }
}

void beside_memory_words(const Beside *beside, Prose *out) {
    char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE];
    int64_t peak = beside_peak(beside);
    if (peak < 0) return;
    prose_add(out, "Most memory that was allocated: %s", number_bytes((double)peak, a));
    if (beside->plan && beside->plan->memory_bytes > 0)
        prose_add(out, "; the plan has %s", number_bytes(beside->plan->memory_bytes, b));
    prose_add(out, ".");
}

int64_t beside_peak(const Beside *beside) {
    int64_t peak = -1;
    for (int r = 0; r < beside->rank_count; r++) peak = max_whole(peak, beside->ranks[r].peak_bytes);
    return peak;
}

bool beside_write_text(const Beside *beside, TextOut out, Error *error) {
    Arena arena = {0};
    write_head(beside, out);
    Table rows = beside_table(beside, &arena);
    Table stages = beside_stage_table(beside, &arena);
    bool ok = table_write_text(&rows, "  ", out);
    if (ok && stages.rows > 0) fputc('\n', out.file);
    ok = (ok && table_write_text(&stages, "  ", out)) || error_memory(error);
    arena_free(&arena);
    if (!ok) return false;
    write_differences(beside, out);
    Prose rates = {0}, ranks = {0}, placed = {0}, memory = {0};
    beside_rates_words(beside, &rates);
    beside_ranks_words(beside, &ranks);
    beside_placed_words(beside, &placed);
    beside_memory_words(beside, &memory);
    if (rates.used) fputc('\n', out.file);
    if (rates.used) prose_write(out, "", "", rates.text);
    if (ranks.used) fputc('\n', out.file);
    if (ranks.used) prose_write(out, "", "", ranks.text);
    fputc('\n', out.file);
    prose_write(out, "", "", placed.text);
    if (memory.used) prose_write(out, "", "", memory.text);
    if (beside->note_count > 0) fputc('\n', out.file);
    for (int i = 0; i < beside->note_count; i++) prose_write(out, "- ", "  ", beside->notes[i]);
    return true;
}
