/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A comparison as text, and its sentences. */
#include "search/trace/comparison.h"

#include "base/json.h"
#include "base/number.h"
#include "base/text/table.h"
#include "base/util.h"

/* Most that was allocated on a device, in bytes; -1: the traces do not say. */
static int64_t peak_bytes(const Comparison *compared) {
    int64_t peak = -1;
    for (int r = 0; r < compared->rank_count; r++) peak = max_whole(peak, compared->ranks[r].peak_bytes);
    return peak;
}

static int64_t straggler_rank(const Comparison *compared) {
    const RankTrace *late = &compared->ranks[compared->match.straggler];
    return late->rank >= 0 ? late->rank : late->device;
}

/* ---- sentences, which stay empty where there is nothing to say ---- */

/* Devices, steps, how long one is. */
static void head_words(const Comparison *compared, Prose *out) {
    static const char *const BY[] = {"found by annotations", "found by the period of kernels", "the whole trace"};
    const RankTrace *first = &compared->ranks[0];
    char name[PROSE_NAME_SIZE], a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE], c[NUMBER_TEXT_SIZE];
    double least = first->step_least, most = first->step_most;
    for (int r = 1; r < compared->rank_count; r++) {
        least = min_real(least, compared->ranks[r].step_least);
        most = max_real(most, compared->ranks[r].step_most);
    }
    prose_add(out, "%d %s", compared->rank_count, compared->rank_count == 1 ? "device" : "devices");
    if (first->chip[0]) prose_add(out, " (%s)", clean_name(first->chip, name));
    if (first->world_size > 0) prose_add(out, " of a job of %lld", (long long)first->world_size);
    prose_add(out, ", %d of %d steps (%s): %s per step", first->steps_used, first->steps, BY[first->steps_by],
              step_text(compared->step_measured, a));
    if (most > least) prose_add(out, " (%s to %s)", step_text(least, b), step_text(most, c));
    if (compared->plan && compared->plan->step > 0)
        prose_add(out, "; the plan predicts %s (%s)", step_text(compared->plan->step, b),
                  change_text(compared->step_measured / compared->plan->step - 1, c));
    prose_add(out, ".");
}

static void plan_words(const Comparison *compared, Prose *out) {
    if (compared->plan) prose_add(out, "Plan %lld: %s", (long long)compared->plan->rank, compared->plan->notation);
}

/* Collectives over ranks, and who comes last. */
static void ranks_words(const Comparison *compared, Prose *out) {
    const RankMatch *match = &compared->match;
    char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE];
    if (!match->known) return;
    prose_add(out,
              "%lld collectives were found on several ranks: they take %s on the mean rank, of which %s moves bytes "
              "and the other part is waiting for the last rank.",
              (long long)match->matched, step_text(compared->lasted, a), step_text(compared->transfer, b));
    if (match->straggler >= 0)
        prose_add(out, " Rank %lld is most often last: others wait %s for it, and it waits %s itself.",
                  (long long)straggler_rank(compared), step_text(match->caused[match->straggler], a),
                  step_text(match->waited[match->straggler], b));
}

static void rates_words(const Comparison *compared, Prose *out) {
    char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE];
    double measured, predicted;
    for (int i = 0; i < compared->row_count; i++) {
        if (!comparison_rates(compared, &compared->rows[i], &measured, &predicted)) continue;
        prose_add(out, "%s %s at %s (the plan: %s)",
                  out->used ? "," : "Send rate per chip, by the bytes in the trace:", term_name(compared->rows[i].term),
                  rate_text(measured, "B", a), rate_text(predicted, "B", b));
    }
    if (out->used) prose_add(out, ".");
}

/* How much of the time has a term, and what has none. */
static void placed_words(const Comparison *compared, Prose *out) {
    char a[NUMBER_TEXT_SIZE], name[100];
    double fallback = 0, all = 0;
    for (int r = 0; r < compared->rank_count; r++) {
        const PlaceTotals *totals = &compared->ranks[r].placed;
        fallback += totals->fallback_ns;
        all += totals->placed_ns + totals->fallback_ns + totals->unplaced_ns;
    }
    prose_add(out, "%s of the kernel time was assigned to a term", share_text(compared->placed_share, a));
    if (fallback > 0) prose_add(out, ", of which %s by what is sent and not by name", share_text(fallback / all, a));
    prose_add(out, ".");
    if (compared->ranks[0].unplaced_count > 0) prose_add(out, " Not assigned:");
    for (int i = 0; i < compared->ranks[0].unplaced_count && i < 4; i++) {
        const UnplacedName *unplaced = &compared->ranks[0].unplaced[i];
        prose_add(out, "%s %lld of %s (%s)", i ? "," : "", (long long)unplaced->count,
                  clean_text(unplaced->name, name, sizeof name), step_text(unplaced->seconds, a));
    }
}

static void memory_words(const Comparison *compared, Prose *out) {
    char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE];
    int64_t peak = peak_bytes(compared);
    if (peak < 0) return;
    prose_add(out, "Peak memory allocated: %s", number_bytes((double)peak, a));
    if (compared->plan && compared->plan->memory_bytes > 0)
        prose_add(out, "; the plan predicts %s", number_bytes(compared->plan->memory_bytes, b));
    prose_add(out, ".");
}

/* What the comparison rests on, paragraph by paragraph. */
static void (*const BASIS[])(const Comparison *compared, Prose *out) = {rates_words, ranks_words, placed_words,
                                                                        memory_words};

/* ---- tables ---- */

static void add_seconds(Table *table, double seconds) {
    char text[NUMBER_TEXT_SIZE];
    table_cell(table, "%s", seconds > 0 ? step_text(seconds, text) : "-");
}

static void add_ratio(Table *table, double measured, double predicted) {
    if (predicted > 0 && measured > 0)
        table_cell(table, "%.2f", measured / predicted);
    else
        table_cell(table, "-");
}

/* Measured and predicted, term by term. */
static Table term_table(const Comparison *compared, Arena *arena) {
    Table table = table_new(arena, "Terms",
                            compared->plan ? "term|>measured|>predicted|>ratio|>exposed|>predicted|>transfer"
                                           : "term|>measured|>exposed|>of the step|>transfer");
    char text[NUMBER_TEXT_SIZE];
    for (int i = 0; i < compared->row_count; i++) {
        const ComparisonRow *row = &compared->rows[i];
        table_cell(&table, "%s", term_name(row->term));
        add_seconds(&table, row->measured);
        if (compared->plan) add_seconds(&table, row->predicted);
        if (compared->plan) add_ratio(&table, row->measured, row->predicted);
        add_seconds(&table, row->exposed_measured);
        if (compared->plan)
            add_seconds(&table, row->exposed_predicted);
        else
            table_cell(&table, "%s", share_text(row->exposed_measured / compared->step_measured, text));
        table_cell(&table, "%s", row->transfer >= 0 ? step_text(row->transfer, text) : "-");
    }
    return table;
}

/* The same of the stages of a pipeline, without rows where no stage is known. */
static Table stage_table(const Comparison *compared, Arena *arena) {
    Table table =
        table_new(arena, "Stages", "stage|>ranks|>computation|>predicted|>bubble|>predicted|>ratio|>communication");
    char text[NUMBER_TEXT_SIZE];
    for (int i = 0; i < compared->stage_count; i++) {
        const StageTimes *measured = &compared->stages[i].measured, *predicted = &compared->stages[i].predicted;
        const double SECONDS[] = {measured->compute, predicted->compute, measured->bubble, predicted->bubble};
        table_cell(&table, "%lld", (long long)compared->stages[i].stage + 1);
        table_cell(&table, "%d", compared->stages[i].ranks);
        for (size_t k = 0; k < COUNT_OF(SECONDS); k++) table_cell(&table, "%s", step_text(SECONDS[k], text));
        if (predicted->bubble > 0)
            table_cell(&table, "%.2f", measured->bubble / predicted->bubble);
        else
            table_cell(&table, "-");
        table_cell(&table, "%s", step_text(measured->communication, text));
    }
    return table;
}

/* ---- text ---- */

static void write_differences(const Comparison *compared, TextOut out) {
    if (!compared->plan) return;
    fputs(compared->difference_count ? "\nLargest differences:\n"
                                     : "\nNo term differs by more than 0.5% of the step.\n",
          out.file);
    for (int i = 0; i < compared->difference_count; i++) {
        char number[16];
        snprintf(number, sizeof number, "  %d. ", i + 1);
        prose_write(out, number, "     ", compared->differences[i]);
    }
}

bool comparison_write_text(const Comparison *compared, TextOut out, Error *error) {
    Arena arena = {0};
    Prose head = {0}, plan = {0};
    head_words(compared, &head);
    plan_words(compared, &plan);
    prose_write(out, "", "", head.text);
    if (plan.used) prose_write(out, "", "  ", plan.text);
    fputc('\n', out.file);
    Table rows = term_table(compared, &arena);
    Table stages = stage_table(compared, &arena);
    bool ok = table_write_text(&rows, "  ", out);
    if (ok && stages.rows > 0) fputc('\n', out.file);
    ok = (ok && table_write_text(&stages, "  ", out)) || error_memory(error);
    arena_free(&arena);
    if (!ok) return false;
    write_differences(compared, out);
    for (size_t i = 0; i < COUNT_OF(BASIS); i++) {
        Prose prose = {0};
        BASIS[i](compared, &prose);
        if (prose.used && BASIS[i] != memory_words) fputc('\n', out.file);
        if (prose.used) prose_write(out, "", "", prose.text);
    }
    if (compared->note_count > 0) fputc('\n', out.file);
    for (int i = 0; i < compared->note_count; i++) prose_write(out, "- ", "  ", compared->notes[i]);
    return true;
}

/* ---- for JSON ---- */

bool comparison_add_words(const Comparison *compared, cJSON *to) {
    cJSON *words = json_add_object(to, "words"), *basis = NULL;
    Prose head = {0};
    head_words(compared, &head);
    bool ok = json_add_text(words, "summary", head.text) && (basis = json_add_array(words, "basis"));
    for (size_t i = 0; i < COUNT_OF(BASIS) && ok; i++) {
        Prose prose = {0};
        BASIS[i](compared, &prose);
        ok = !prose.used || json_add_text(basis, NULL, prose.text);
    }
    return ok;
}
