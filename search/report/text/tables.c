/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of plans and the table of ways out. */
#include "search/report/text/parts.h"

#include "base/text/table.h"
#include "base/util.h"
#include "mesh/factorization.h"
#include "search/launch/launcher.h"

#include <string.h>

enum { PLAN_COLUMNS = 42, PLAN_COLUMNS_WITH_CHANCES = 40, LAUNCHER_COLUMNS = 16, WHAT_COLUMNS = 30 };

/* "2^11·5·7" */
static void add_factors(Prose *to, int64_t n) {
    PrimePower powers[PRIMES_MAX];
    int count = n > 1 ? prime_powers(n, powers) : 0;
    if (count == 0) prose_add(to, "%lld", (long long)n);
    for (int i = 0; i < count; i++) {
        prose_add(to, "%s%lld", i ? "·" : "", (long long)powers[i].prime);
        if (powers[i].exponent > 1) prose_add(to, "^%d", powers[i].exponent);
    }
}

/* What a plan moves away from: another machine than plan 1's, another batch than requested, padding; empty: nothing. */
static void deviations(const Report *report, const RankedPlan *ranked, Prose *to) {
    char number[NUMBER_TEXT_SIZE], kinds[WORDS_SIZE];
    if (strcmp(ranked->machine.text, report->result.plans[0].machine.text) != 0)
        prose_item(to, ", ", "on %s", ranked->machine.text);
    if (ranked->work.sequences != report->request->question.work.sequences)
        prose_item(to, ", ", "%s sequences", number_grouped(ranked->work.sequences, number));
    if (ranked->padding != 0) prose_item(to, ", ", "padded %s", padding_text(ranked->padding, kinds));
}

/* With --variants rows differ in nothing but their knobs. */
static void knobs_words(const Knobs *knobs, Prose *to) {
    prose_item(to, ", ", "m=%lld b=%lld", (long long)knobs->microbatches, (long long)knobs->microbatch_sequences);
    if (knobs->zero_stage > 0) prose_item(to, ", ", "zero=%d", knobs->zero_stage);
    if (knobs->methods.context != CONTEXT_NONE) prose_item(to, ", ", "%s", context_method_name(knobs->methods.context));
    if (knobs->methods.context == CONTEXT_ULYSSES_RING)
        prose_item(to, ", ", "heads over %lld", (long long)knobs->methods.ulysses);
    if (knobs->methods.sequence_replicates) prose_item(to, ", ", "sequence replicates");
    if (knobs->methods.tensor_overlap) prose_item(to, ", ", "tensor overlap");
    if (knobs->stages == STAGES_BALANCED) prose_item(to, ", ", "balanced stages");
    if (knobs->stages == STAGES_SLOTS) prose_item(to, ", ", "stages in slots");
    if (!knobs->regather) prose_item(to, ", ", "weights kept");
    if (knobs->offload_optimizer) prose_item(to, ", ", "optimizer on host");
}

/* Roles above 1 from the inside, as they nest in this plan, where they may in any order. */
static void nesting_words(const RankedPlan *ranked, Prose *to) {
    Prose order = {0};
    for (int i = 0; i < ROLE_COUNT; i++)
        if (ranked->plan.degrees.of[ranked->nesting.order[i]] > 1)
            prose_item(&order, ", ", "%s", role_name(ranked->nesting.order[i]));
    if (order.used > 0) prose_item(to, "; ", "from the inside %s", order.text);
}

/* In which way a row differs from plan 1; `odd`: one that is odd is faster than the first. */
static void kinds_words(const RankedPlan *ranked, int rank, bool odd, Prose *to) {
    static const char *const WORDS[ROW_KIND_COUNT] = {[ROW_FASTEST] = "fastest, within the tie margin",
                                                      [ROW_WITH_PIPELINE] = "fastest with a pipeline",
                                                      [ROW_WITHOUT_PIPELINE] = "fastest without a pipeline",
                                                      [ROW_HEADROOM] = "15% of HBM left free",
                                                      [ROW_USUAL] = "fsdp and data alone",
                                                      [ROW_SUREST] = "the lowest risk of those tied with the fastest",
                                                      [ROW_ODD] = "faster, but odd",
                                                      [ROW_IN_HBM] = "fastest with nothing on the host",
                                                      [ROW_ON_HOST] = "fastest with the optimizer on the host"};
    char names[LAUNCHER_NAMES_SIZE];
    for (int kind = rank == 1 ? ROW_OF_LAUNCHER : ROW_FASTEST; kind < ROW_KIND_COUNT; kind++) {
        if (!(ranked->row_kinds >> kind & 1)) continue;
        if (kind == ROW_OF_LAUNCHER)
            prose_item(to, ", ", "fastest of %s",
                       launcher_names(ranked->request->space.launchers, " ", " ", names, sizeof names));
        else
            prose_item(to, ", ", "%s", kind == ROW_SUREST && odd ? "the best in rank" : WORDS[kind]);
    }
}

void row_gap_words(const Report *report, int rank, Prose *to) {
    const RankedPlan *ranked = &report->result.plans[rank - 1];
    char share[NUMBER_TEXT_SIZE];
    if (rank == 1) return; /* the verdict says it */
    if (ranked->gap > 0)
        prose_item(to, ", ", "gap %s", share_text(ranked->gap, share));
    else if (report->result.certificate.proof == PROOF_GAP)
        prose_item(to, ", ", "proven");
}

void plan_moves(const Report *report, int rank, Prose *to) {
    const RankedPlan *ranked = &report->result.plans[rank - 1];
    row_gap_words(report, rank, to);
    if (report->request->control.variants) knobs_words(&ranked->plan.knobs, to);
    kinds_words(ranked, rank, report->result.odd != NULL, to);
    deviations(report, ranked, to);
    if (report->request->space.nesting_all) nesting_words(ranked, to);
}

const char *chance_text(double chance, char text[NUMBER_TEXT_SIZE]) {
    static const double LEAST = 0.005, MOST = 0.995;
    if (chance > 0 && chance < LEAST) return "<1%";
    if (chance > MOST) return ">99%";
    snprintf(text, NUMBER_TEXT_SIZE, "%.0f%%", 100 * chance);
    return text;
}

/* What stands in some row of the table. */
typedef struct {
    bool tied, chance;
    bool otherwise; /* a launcher that takes a plan, but lays it out otherwise, at a price that nobody requested */
    bool expressed; /* likewise, at a price */
    bool lacking;   /* likewise, and that does not fit */
    bool elsewhere; /* a launcher that would place it otherwise */
} Seen;

static Seen seen_in(const SearchResult *result) {
    Seen seen = {0};
    for (int i = 0; i < result->plan_count; i++) {
        const RankedPlan *ranked = &result->plans[i];
        LauncherSet otherwise = ranked->launchable_by & ~ranked->exact;
        seen.tied = seen.tied || (i > 0 && ranked->tied);
        seen.chance = seen.chance || (result->plan_count > 1 && ranked->doubt.best_chance > 0);
        for (int j = 0; j < ranked->launch_count; j++) {
            const LaunchAnswer *answer = &ranked->launch[j];
            bool other = otherwise >> answer->launcher & 1;
            seen.otherwise = seen.otherwise || (other && answer->expressible_seconds == 0);
            seen.expressed = seen.expressed || (other && answer->expressible_seconds >= ranked->estimate.time.seconds);
            seen.lacking = seen.lacking || (other && answer->expressible_seconds < 0);
            seen.elsewhere = seen.elsewhere || (answer->kind == LAUNCH_IMPOSSIBLE && answer->default_seconds >= 0);
        }
    }
    return seen;
}

static void add_plan(Table *table, const Report *report, int rank, const Seen *seen) {
    const RankedPlan *ranked = &report->result.plans[rank - 1];
    const Estimate *estimate = &ranked->estimate;
    char number[16], label[WORDS_SIZE], cell[2 * WORDS_SIZE + 4], launchers[WORDS_SIZE];
    char step[NUMBER_TEXT_SIZE], mfu[NUMBER_TEXT_SIZE], hbm[NUMBER_TEXT_SIZE], exposed[NUMBER_TEXT_SIZE],
        bubble[NUMBER_TEXT_SIZE], chance[NUMBER_TEXT_SIZE];
    Prose moves = {0};
    plan_moves(report, rank, &moves);
    snprintf(cell, sizeof cell, "%s%s%.*s", plan_label(ranked, label), moves.used ? "\n" : "", WORDS_SIZE, moves.text);
    snprintf(number, sizeof number, "%d%s", rank, !seen->tied ? "" : ranked->tied && rank > 1 ? "~" : " ");
    bool stages = ranked->plan.degrees.of[ROLE_PIPELINE] > 1;
    table_cell(table, "%s", number);
    table_cell(table, "%s", cell);
    table_cell(table, "%s", step_text(estimate->time.seconds, step));
    if (seen->chance) table_cell(table, "%s", chance_text(ranked->doubt.best_chance, chance));
    table_cell(table, "%s", share_text(estimate->mfu, mfu));
    table_cell(table, "%s", number_bytes(memory_total(&estimate->memory), hbm));
    table_cell(table, "%s", share_text(estimate->time.exposed_seconds / estimate->time.seconds, exposed));
    table_cell(table, "%s", stages ? share_text(estimate->time.bubble_seconds / estimate->time.seconds, bubble) : "-");
    table_cell(table, "%s", bound_text(estimate->bound_by, &ranked->machine.mesh));
    table_cell(table, "%s", launch_text(ranked, " ", launchers));
}

/* What has to be known to read the table. */
static void write_notes(const Report *report, const Seen *seen, TextOut out) {
    char equal[COUNT_TEXT_SIZE], within[COUNT_TEXT_SIZE];
    const RankedPlan *first = &report->result.plans[0];
    Prose counts = {0};
    if (first->equal_placements > 0) /* else the search was interrupted before they were counted */
        prose_add(
            &counts,
            "%s placement%s of plan 1 cost%s the same; %s of its placements and knob settings are within 1%% of it%s.",
            count_text(first->equal_placements, true, equal), first->equal_placements == 1 ? "" : "s",
            first->equal_placements == 1 ? "s" : "", count_text(first->within_one_percent, true, within),
            report->request->control.variants ? "" : " (--variants lists them)");
    if (seen->chance)
        prose_add(&counts, " \"fastest\": how probable it is that the plan is the fastest of these, given the "
                           "error of its figures that measured runs leave.");
    if (seen->tied)
        prose_add(&counts, " ~ marks plans within %g%% of the fastest, which the model cannot tell apart from it.",
                  100 * TIE);
    if (seen->otherwise)
        prose_add(&counts, " A launcher with ~ takes the plan, but recomputes or offloads otherwise, and slower.");
    if (seen->expressed)
        prose_add(&counts, " A percentage next to a launcher is what its own way to recompute or offload costs.");
    if (seen->lacking)
        prose_add(&counts, " A launcher with ! takes the plan, but can express no layout of it that fits.");
    if (seen->elsewhere)
        prose_add(&counts, " A percentage after a launcher is the change in time with its default placement.");
    prose_write(out, "    ", "    ", counts.text);
}

bool plans_write(const Report *report, TextOut out) {
    const SearchResult *result = &report->result;
    const Seen seen = seen_in(result);
    enum { PLAN = 1, CHANCE = 3 };
    Arena arena = {0};
    Table table = seen.chance
                      ? table_new(&arena, NULL, ">|plan|>step|>fastest|>MFU|>HBM|>exposed|>bubble|bound by|launchers")
                      : table_new(&arena, NULL, ">|plan|>step|>MFU|>HBM|>exposed|>bubble|bound by|launchers");
    int last = table.columns - 1, bound = last - 1, bubble = last - 2, exposed = last - 3;
    table_wrap(&table, PLAN, seen.chance ? PLAN_COLUMNS_WITH_CHANCES : PLAN_COLUMNS);
    table_wrap(&table, last, LAUNCHER_COLUMNS);
    table_may_drop(&table, bubble);
    table_may_drop(&table, exposed);
    table_may_drop(&table, bound);
    if (seen.chance) table_may_drop(&table, CHANCE);
    table_may_drop(&table, last);
    for (int i = 0; i < result->plan_count; i++) add_plan(&table, report, i + 1, &seen);
    bool ok = table_write_text(&table, " ", out);
    arena_free(&arena);
    if (ok) write_notes(report, &seen, out);
    return ok;
}

/* ---- ways out ---- */

static void what_it_takes(const Request *request, Alternative way, const RankedPlan *best, char text[WORDS_SIZE]) {
    char kinds[WORDS_SIZE], number[NUMBER_TEXT_SIZE], share[NUMBER_TEXT_SIZE];
    int64_t used = best->machine.mesh.chips, requested = request->question.machine.mesh.chips;
    double moved = (double)best->work.sequences / (double)request->question.work.sequences - 1;
    Prose what = {0};
    if (used != requested)
        prose_item(&what, ", ", "%s, %s idle", best->machine.text,
                   share_text(1 - (double)used / (double)requested, share));
    else if (way == ALTERNATIVE_OFF_SIZE)
        prose_item(&what, ", ", "%s", best->machine.text);
    if (moved != 0)
        prose_item(&what, ", ", "%s sequences (%+.1f%%)", number_grouped(best->work.sequences, number), 100 * moved);
    if (best->padding) prose_item(&what, ", ", "padded %s", padding_text(best->padding, kinds));
    if (what.used == 0) prose_add(&what, "nothing");
    snprintf(text, WORDS_SIZE, "%.300s", what.text);
}

static bool same_plan(const RankedPlan *a, const RankedPlan *b) {
    return degrees_compare(&a->plan.degrees, &b->plan.degrees) == 0 &&
           knobs_compare(&a->plan.knobs, &b->plan.knobs) == 0 && a->work.sequences == b->work.sequences &&
           strcmp(a->machine.text, b->machine.text) == 0;
}

void alternative_words(const Report *report, Alternative way, char cells[ALTERNATIVE_CELLS][WORDS_SIZE]) {
    static const char *const NAMES[ALTERNATIVE_COUNT] = {"as requested", "fewer chips", "other batch", "padding",
                                                         "other shape"};
    const AlternativeResult *result = &report->alternatives[way];
    char step[NUMBER_TEXT_SIZE];
    snprintf(cells[0], WORDS_SIZE, "%s", NAMES[way]);
    if (!result->found) {
        const Request *request = report->request;
        bool rows = report->request->control.sensitivity == SENSITIVITY_ROWS;
        const char *none = result->skipped            ? "not searched (many batches): ask with --batch-tolerance 10%"
                           : result->left_out && rows ? "takes some work: ask with --sensitivity fast"
                           : result->left_out    ? "takes more work than the plan itself: ask with --sensitivity all"
                           : result->cut_short   ? "the search ended early"
                           : result->none_faster ? "none is faster than plan 1"
                                                 : "no plan is possible";
        if (way == ALTERNATIVE_IDLE)
            snprintf(cells[1], WORDS_SIZE, "up to %s idle: %s", share_text(request->space.max_idle, step), none);
        else if (way == ALTERNATIVE_BATCH)
            snprintf(cells[1], WORDS_SIZE, "up to %s away: %s",
                     share_text(max_real(request->space.batch_tolerance, ALTERNATIVE_TOLERANCE), step), none);
        else
            snprintf(cells[1], WORDS_SIZE, "%s", none);
        for (int i = 2; i < ALTERNATIVE_CELLS; i++) strcpy(cells[i], "-");
        return;
    }
    const RankedPlan *best = &result->best, *first = report->result.plan_count > 0 ? &report->result.plans[0] : NULL;
    what_it_takes(report->request, way, best, cells[1]);
    snprintf(cells[2], WORDS_SIZE, "%s", step_text(best->estimate.time.seconds, step));
    if (first) change_text(best->ranked_seconds / first->ranked_seconds - 1, step);
    snprintf(cells[3], WORDS_SIZE, "%s", !first ? "-" : strcmp(step, "none") == 0 ? "+0.0%" : step);
    plan_label(best, cells[4]);
    if (first && same_plan(first, best)) snprintf(cells[4], WORDS_SIZE, "plan 1");
    launch_text(best, " ", cells[5]);
}

/* Where an alternative was not found its words are a sentence, which may stick out. */
static void add_way(Table *table, const Report *report, Alternative way) {
    char words[ALTERNATIVE_CELLS][WORDS_SIZE];
    alternative_words(report, way, words);
    if (report->alternatives[way].found) text_wrap(words[1], WHAT_COLUMNS);
    const char *cells[] = {words[0], words[1], words[2], words[3], words[4], words[5]};
    table_row(table, cells);
}

/* The sizes whose factors do not meet. */
static void write_sizes(const Report *report, TextOut out) {
    const Request *request = report->request;
    char chips[NUMBER_TEXT_SIZE], number[NUMBER_TEXT_SIZE];
    Prose text = {0};
    number_grouped(request->question.machine.mesh.chips, chips);
    if (!report->alternatives[ALTERNATIVE_AS_ASKED].found)
        prose_add(&text, "No plan uses all %s chips with this batch and no padding", chips);
    else
        prose_add(&text, "Plan 1 differs from the request, because sizes do not divide well");
    prose_add(&text, " (%s chips = ", chips);
    add_factors(&text, request->question.machine.mesh.chips);
    prose_add(&text, "; %s sequences = ", number_grouped(request->question.work.sequences, number));
    add_factors(&text, request->question.work.sequences);
    prose_add(&text, "; %lld layers = ", (long long)request->question.model.layers);
    add_factors(&text, request->question.model.layers);
    const LayerKind *kind = &request->question.model.kinds[0];
    if (kind->heads > 0) {
        prose_add(&text, "; %lld heads = ", (long long)kind->heads);
        add_factors(&text, kind->heads);
    }
    if (request->space.roles >> ROLE_EXPERT & 1)
        for (int i = 0; i < request->question.model.kind_count; i++) {
            if (request->question.model.kinds[i].experts == 0) continue;
            prose_add(&text, "; %lld experts = ", (long long)request->question.model.kinds[i].experts);
            add_factors(&text, request->question.model.kinds[i].experts);
            break;
        }
    prose_add(&text, "). Alternatives, each with its best plan; the price is per token:");
    prose_write(out, "", "", text.text);
}

bool alternatives_write(const Report *report, TextOut out) {
    bool any = false;
    for (int i = 0; i < ALTERNATIVE_COUNT; i++) any = any || report->alternatives[i].tried;
    if (!any) return true;
    fputc('\n', out.file);
    write_sizes(report, out);
    Arena arena = {0};
    Table table = table_new(&arena, NULL, "alternative|what changes|>step|>price|plan|launchers");
    enum { PRICE = 3, PLAN = 4, FOR = 5 };
    table_wrap(&table, PLAN, PLAN_COLUMNS);
    table_wrap(&table, FOR, LAUNCHER_COLUMNS);
    table_may_drop(&table, PRICE);
    table_may_drop(&table, FOR);
    for (int i = 0; i < ALTERNATIVE_COUNT; i++)
        if (report->alternatives[i].tried) add_way(&table, report, (Alternative)i);
    bool ok = table_write_text(&table, "  ", out);
    arena_free(&arena);
    return ok;
}
