/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a comparison says in plain words. */
#include "base/number.h"
#include "base/text/prose.h"
#include "base/util.h"
#include "search/trace/comparison.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Differences below this share of the step are noise. */
static const double WORTH_SAYING = 0.005;
/* A figure that is this near to the plan's is the plan's. */
static const double NEAR = 0.03;

/* A stage that computes for so much longer than the plan has, compared with the stage in the middle, is slow. */
static const double SLOW = 1.05;

static double exposed_difference(const ComparisonRow *row) { return row->exposed_measured - row->exposed_predicted; }

static int by_difference(const void *a, const void *b) {
    const ComparisonRow *x = *(const ComparisonRow *const *)a, *y = *(const ComparisonRow *const *)b;
    double dx = fabs(exposed_difference(x)), dy = fabs(exposed_difference(y));
    if (dx != dy) return dx > dy ? -1 : 1;
    return (int)x->term - (int)y->term;
}

/* The kinds of collectives that a term's time went to, the largest first: "all_gathers and reduce_scatters". */
static void kinds_of(const Comparison *compared, TraceTerm term, Prose *out) {
    double seconds[COLLECTIVE_KIND_COUNT] = {0}, all = 0;
    for (int r = 0; r < compared->rank_count; r++)
        for (int u = 0; u < compared->ranks[r].use_count; u++) {
            const CollectiveUse *use = &compared->ranks[r].uses[u];
            if (use->term != term) continue;
            seconds[use->kind] += use->seconds;
            all += use->seconds;
        }
    for (int n = 0; n < 2; n++) {
        int most = 0;
        for (int kind = 1; kind < COLLECTIVE_KIND_COUNT; kind++)
            if (seconds[kind] > seconds[most]) most = kind;
        if (!(seconds[most] > 0.1 * all)) break;
        prose_item(out, " and ", "%ss", collective_kind_name((CollectiveKind)most));
        seconds[most] = 0;
    }
    if (!out->used) prose_add(out, "collectives");
}

/* Bytes per second that one rank sends or receives; `bytes` are of whole arrays. */
static double link_rate(const Comparison *compared, TraceTerm term, double bytes, double seconds) {
    double n = compared->plan->group[term];
    if (term == TERM_EXPERT) bytes /= n; /* the plan counts what all ranks send together */
    return n > 1 && term != TERM_PIPELINE ? bytes * (n - 1) / n / seconds : bytes / seconds;
}

bool comparison_rates(const Comparison *compared, const ComparisonRow *row, double *measured, double *predicted) {
    double lasted = row->transfer >= 0 ? row->transfer : row->measured;
    double planned = compared->plan ? compared->plan->bytes[row->term] : 0;
    if (!(row->bytes > 0) || !(lasted > 0) || !(planned > 0) || !(row->predicted > 0)) return false;
    *measured = link_rate(compared, row->term, row->bytes, lasted);
    *predicted = link_rate(compared, row->term, planned, row->predicted);
    return true;
}

static void say_collective(const Comparison *compared, const ComparisonRow *row, Prose *out) {
    char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE], c[NUMBER_TEXT_SIZE], d[NUMBER_TEXT_SIZE];
    Prose kinds = {0};
    double lasted = row->transfer >= 0 ? row->transfer : row->measured, planned = compared->plan->bytes[row->term];
    kinds_of(compared, row->term, &kinds);
    prose_add(out, "%s of %s ", kinds.text, term_name(row->term));
    if (!(row->predicted > 0)) {
        prose_add(out, "take %s, and the plan has none", step_text(row->measured, a));
    } else if (!(lasted > 0)) {
        prose_add(out, "are not in the trace; the plan has %s of them", step_text(row->predicted, a));
    } else {
        double moved = row->bytes > 0 && planned > 0 ? row->bytes / planned : 1;
        double rate = moved * row->predicted / lasted;
        if (fabs(rate - 1) > NEAR)
            prose_add(out, "run at %.0f%% of the rate that the profile has", 100 * rate);
        else
            prose_add(out, "run at the rate that the profile has");
        if (planned > 0)
            prose_add(out, ": %s a chip, not %s",
                      rate_text(link_rate(compared, row->term, moved * planned, lasted), "B", a),
                      rate_text(link_rate(compared, row->term, planned, row->predicted), "B", b));
        if (fabs(moved - 1) > NEAR) prose_add(out, ", and move %.2f times the bytes", moved);
    }
    prose_add(out, "; %s of them is exposed, and the plan has %s", step_text(row->exposed_measured, c),
              step_text(row->exposed_predicted, d));
    if (row->transfer >= 0 && row->measured > (1 + NEAR) * row->transfer)
        prose_add(out, "; %s is waiting for the last rank", step_text(row->measured - row->transfer, a));
}

static void say_compute(const ComparisonRow *row, Prose *out) {
    char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE];
    if (!(row->measured > 0)) {
        prose_add(out, "%s is not in the trace; the plan has %s", term_name(row->term), step_text(row->predicted, a));
        return;
    }
    prose_add(out, "%s takes %s, and the plan has %s", term_name(row->term), step_text(row->measured, a),
              step_text(row->predicted, b));
    if (row->predicted > 0 && row->measured > 0 && row->term != TERM_UNPLACED)
        prose_add(out, ": it runs at %.0f%% of the rate that the profile has", 100 * row->predicted / row->measured);
}

static void say_idle(const ComparisonRow *row, Prose *out) {
    char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE];
    const char *what = row->term == TERM_BUBBLE  ? "the bubble of the pipeline takes"
                       : row->term == TERM_WAITS ? "copies between chip and host that nothing hides take"
                                                 : "the device idles for";
    prose_add(out, "%s %s of a step, and the plan has %s", what, step_text(row->exposed_measured, a),
              step_text(row->exposed_predicted, b));
    if (row->term == TERM_OTHER) prose_add(out, " of overheads: launches come late, or something else is waited for");
}

bool comparison_find_differences(Comparison *compared, Arena *arena) {
    const ComparisonRow *rows[TERM_COUNT];
    char change[NUMBER_TEXT_SIZE];
    if (!compared->plan) return true;
    for (int i = 0; i < compared->row_count; i++) rows[i] = &compared->rows[i];
    qsort((void *)rows, (size_t)compared->row_count, sizeof *rows, by_difference);
    for (int i = 0; i < compared->row_count && compared->difference_count < COMPARISON_DIFFERENCES; i++) {
        Prose prose = {0};
        double difference = exposed_difference(rows[i]);
        if (fabs(difference) < WORTH_SAYING * compared->plan->step) break;
        if (term_is_collective(rows[i]->term))
            say_collective(compared, rows[i], &prose);
        else if (term_is_compute(rows[i]->term))
            say_compute(rows[i], &prose);
        else
            say_idle(rows[i], &prose);
        prose_add(&prose, " (%s%s a step)", difference > 0 ? "+" : "-", step_text(fabs(difference), change));
        const char *text = arena_text(arena, prose.text);
        if (!text) return false;
        compared->differences[compared->difference_count++] = text;
    }
    return true;
}

/* ---- notes ---- */

static bool note(Comparison *compared, Arena *arena, const Prose *prose) {
    if (compared->note_count == COMPARISON_NOTES || !prose->used) return true;
    return (compared->notes[compared->note_count++] = arena_text(arena, prose->text)) != NULL;
}

static bool note_trouble(Comparison *compared, Arena *arena) {
    char name[PROSE_NAME_SIZE];
    for (int r = 0; r < compared->rank_count; r++) {
        const RankTrace *rank = &compared->ranks[r];
        Prose prose = {0};
        if (r > 0 && rank->file == compared->ranks[r - 1].file) continue;
        if (rank->trouble[0])
            prose_item(&prose, "; ", "%s %s: it was read as far as that", clean_name(rank->file, name), rank->trouble);
        if (rank->damaged > 0)
            prose_item(&prose, "; ", "%s has %lld events that are no JSON and were left out",
                       clean_name(rank->file, name), (long long)rank->damaged);
        if (rank->dropped > 0)
            prose_item(&prose, "; ", "%s has %lld events without a time that makes sense, which were left out",
                       clean_name(rank->file, name), (long long)rank->dropped);
        if (!note(compared, arena, &prose)) return false;
    }
    return true;
}

static bool note_steps(Comparison *compared, Arena *arena) {
    const RankTrace *rank = &compared->ranks[0];
    Prose prose = {0};
    if (rank->steps_by == STEPS_WHOLE)
        prose_add(&prose, "the trace marks no steps and has no period: the whole of it is taken as one step, whose "
                          "length is a lower bound");
    else if (rank->steps == 1)
        prose_add(&prose, "the trace has one step, which ends with its last kernel: its length is a lower bound");
    return note(compared, arena, &prose);
}

/* Whether one name of a chip is found in the other: "h100" in "NVIDIA H100 80GB HBM3". */
static bool same_chip(const char *plan, const char *trace) {
    char word[32];
    for (const char *at = plan; *at;) {
        size_t length = strcspn(at, "- ");
        snprintf(word, sizeof word, "%.*s", (int)min_whole((int64_t)length, 31), at);
        if (strpbrk(word, "0123456789") && text_has(trace, word)) return true;
        at += length + (at[length] != '\0');
    }
    return false;
}

bool comparison_same_chip(const Comparison *compared) {
    const char *trace = compared->ranks[0].chip, *plan = compared->plan ? compared->plan->chip : "";
    return !trace[0] || !plan[0] || same_chip(plan, trace);
}

static bool note_mismatch(Comparison *compared, Arena *arena) {
    const RankTrace *rank = &compared->ranks[0];
    const PlanTerms *plan = compared->plan;
    char name[PROSE_NAME_SIZE];
    Prose chip = {0}, recompute = {0}, stage = {0};
    if (!plan) return true;
    if (!comparison_same_chip(compared))
        prose_add(&chip, "the trace is of %s and the plan for %s: they do not belong together",
                  clean_name(rank->chip, name), plan->chip);
    bool seen = false;
    for (int r = 0; r < compared->rank_count; r++) seen = seen || compared->ranks[r].placed.recompute_seen;
    if (plan->exposed[TERM_RECOMPUTE] > 0 && !seen)
        prose_add(&recompute, "the trace does not distinguish recomputation: the plan's is spread over matmul, "
                              "attention and elementwise in proportion");
    bool staged = plan->stage_share && compared->stage_count > 0;
    if (plan->shape.degree[TERM_PIPELINE] > 1 && !staged)
        prose_add(&stage, "a rank of a pipeline is one stage; the plan's terms are those of its fullest stage");
    else if (plan->shape.degree[TERM_PIPELINE] > 1 && compared->stage_count < plan->shape.degree[TERM_PIPELINE])
        prose_add(&stage, "of the pipeline's %lld stages %d were read; the plan's terms are those of these stages",
                  (long long)plan->shape.degree[TERM_PIPELINE], compared->stage_count);
    return note(compared, arena, &chip) && note(compared, arena, &recompute) && note(compared, arena, &stage);
}

static double slowness(const ComparisonStage *stage) {
    return stage->predicted.compute > 0 ? stage->measured.compute / stage->predicted.compute : 0;
}

/* How many stages are slower than this one. */
static int slower(const Comparison *compared, int than) {
    int count = 0;
    for (int i = 0; i < compared->stage_count; i++)
        count += slowness(&compared->stages[i]) > slowness(&compared->stages[than]);
    return count;
}

void comparison_slow_stage(const Comparison *compared, Prose *out) {
    char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE];
    const ComparisonStage *slow = NULL;
    double middle = 0;
    if (compared->stage_count < 3) return;
    for (int i = 0; i < compared->stage_count; i++) {
        int rank = slower(compared, i);
        if (rank == 0) slow = &compared->stages[i];
        if (rank <= compared->stage_count / 2)
            middle = middle > 0 ? min_real(middle, slowness(&compared->stages[i])) : slowness(&compared->stages[i]);
    }
    if (!slow || !(slowness(slow) > SLOW * middle)) return;
    prose_add(out,
              "stage %lld computes for %s, %.2f times what the plan has, and a stage in the middle %.2f times: the "
              "others wait for it (its bubble is %s)",
              (long long)slow->stage + 1, step_text(slow->measured.compute, a), slowness(slow), middle,
              step_text(slow->measured.bubble, b));
}

bool comparison_find_notes(Comparison *compared, Arena *arena) {
    Prose waits = {0}, slow = {0};
    bool any = false;
    comparison_slow_stage(compared, &slow);
    for (int r = 0; r < compared->rank_count; r++) any = any || compared->ranks[r].whole.collectives > 0;
    if (any && !compared->match.known)
        prose_add(&waits, "transfer and waiting inside collectives cannot be distinguished: %s",
                  compared->match.why_not);
    return note_trouble(compared, arena) && note(compared, arena, &slow) && note_mismatch(compared, arena) &&
           note_steps(compared, arena) && note(compared, arena, &waits);
}
