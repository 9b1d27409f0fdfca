/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The step in time, measured above predicted, and what it adds up to, rank by rank. */
#include "base/text/bars.h"
#include "base/util.h"
#include "search/trace/comparison.h"

static const double WIDTH = 860, LEFT = 104, RIGHT = 836, LANE = 20;
enum { RANKS_SHOWN = 32 };

static Paint paint_of(TraceTerm term) {
    static const Paint OF[TERM_COUNT] = {
        [TERM_MATMUL] = PAINT_MATMUL,       [TERM_ATTENTION] = PAINT_ATTENTION, [TERM_ELEMENTWISE] = PAINT_ELEMENTWISE,
        [TERM_RECOMPUTE] = PAINT_RECOMPUTE, [TERM_OPTIMIZER] = PAINT_OPTIMIZER, [TERM_UNPLACED] = PAINT_BACKWARD,
        [TERM_TENSOR] = PAINT_TENSOR,       [TERM_EXPERT] = PAINT_EXPERT,       [TERM_SEQUENCE] = PAINT_SEQUENCE,
        [TERM_FSDP] = PAINT_FSDP,           [TERM_DATA] = PAINT_DATA,           [TERM_PIPELINE] = PAINT_PIPELINE,
        [TERM_COLLECTIVE] = PAINT_EXPERT,   [TERM_WAITS] = PAINT_WAITS,         [TERM_BUBBLE] = PAINT_BUBBLE,
        [TERM_OTHER] = PAINT_OTHER};
    return OF[term];
}

/* ---- one step in time ---- */

/* Moments in which a term is about as active as in the one before are one box. */
static const double SAME = 1.0 / 16;

static void draw_lane(Svg *svg, const TraceTimeline *of, TraceTerm term, const SvgScale *scale, double y) {
    double moment = of->seconds / TIMELINE_MOMENTS, high = LANE - 4;
    bool open = false;
    for (int i = 0, next; i < TIMELINE_MOMENTS; i = next) {
        double busy = of->busy[i][term], sum = 0;
        for (next = i; next < TIMELINE_MOMENTS && of->busy[next][term] > busy - SAME &&
                       of->busy[next][term] < busy + SAME && (of->busy[next][term] > 0) == (busy > 0);
             next++)
            sum += of->busy[next][term];
        if (!(busy > 0)) continue;
        double x = svg_at(scale, i * moment), to = svg_at(scale, next * moment), share = sum / (next - i);
        if (!open) fprintf(svg->out, "<path class=\"k%d\" d=\"", (int)paint_of(term));
        open = true;
        fprintf(svg->out, "M%.1f %.1fh%.2fv%.1fh%.2fz", x, y + high * (1 - share), to - x, high * share, x - to);
    }
    if (open) fputs("\"/>\n", svg->out);
}

/* Returns where the next lanes begin. */
static double draw_lanes(Svg *svg, const Comparison *compared, const TraceTimeline *of, const SvgScale *scale,
                         double top) {
    double bottom = top + LANE * compared->row_count;
    svg_axis_x(svg, scale, 9, bottom, top - 2, svg_say_seconds, "");
    for (int i = 0; i < compared->row_count; i++) {
        TraceTerm term = compared->rows[i].term;
        svg_text(svg, LEFT - 8, top + LANE * i + 13, "end", NULL, "%s", term_name(term));
        draw_lane(svg, of, term, scale, top + LANE * i);
    }
    return bottom + 52;
}

static double active_seconds(const TraceTimeline *of, TraceTerm term) {
    double sum = 0;
    for (int i = 0; i < TIMELINE_MOMENTS; i++) sum += of->busy[i][term];
    return sum * of->seconds / TIMELINE_MOMENTS;
}

static void list_moments(const Comparison *compared, const TraceTimeline *measured, const TraceTimeline *planned,
                         Table *table) {
    for (int i = 0; i < compared->row_count; i++) {
        char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE];
        TraceTerm term = compared->rows[i].term;
        const char *cells[] = {term_name(term), step_text(active_seconds(measured, term), a),
                               planned ? step_text(active_seconds(planned, term), b) : ""};
        table_row(table, cells);
    }
}

static void time_words(const Comparison *compared, const RankTrace *rank, int64_t stage, Prose *words) {
    char a[NUMBER_TEXT_SIZE];
    const PlanTerms *plan = compared->plan;
    prose_add(words, "One step of rank %lld, the one nearest to its median of %s",
              (long long)(rank->rank >= 0 ? rank->rank : rank->device), step_text(rank->step_median, a));
    if (plan) prose_add(words, "; below it the plan's step on the same scale");
    if (plan && plan->shape.degree[TERM_PIPELINE] > 1)
        prose_add(words, ", of stage %lld of %lld", (long long)stage + 1, (long long)plan->shape.degree[TERM_PIPELINE]);
    prose_add(words, ". A box is as high as the share of its moment in which something of the term ran.");
    if (plan)
        prose_add(words, " A report has the terms and not their order: passes are laid out as the schedule plays them, "
                         "backward twice as long as forward.");
}

bool comparison_picture_time(const Comparison *compared, Arena *arena, FILE *out, Prose *words, Table *table) {
    const RankTrace *rank = &compared->ranks[0];
    const PlanTerms *plan = compared->plan;
    TraceTimeline *planned = plan ? ARENA_NEW(arena, TraceTimeline, 1) : NULL;
    if (!rank->timeline || compared->row_count == 0) return false;
    int64_t stage = plan ? max_whole(0, plan_stage(plan, rank->rank)) : 0;
    *table = table_new(arena, "How long something of each term ran", "term|>measured|>predicted");
    if (plan && (!planned || !plan_timeline(compared, stage, planned))) return table->failed = true;
    time_words(compared, rank, stage, words);
    double longest = max_real(rank->timeline->seconds, planned ? planned->seconds : 0);
    double block = LANE * compared->row_count + 52, top = 34;
    SvgScale scale = {0, longest, LEFT, RIGHT, false};
    Svg svg = svg_open(out, "time-svg", WIDTH, (planned ? 2 : 1) * block + 34, "One step in time", words->text);
    svg_text(&svg, LEFT, top - 14, "start", "head", "measured");
    top = draw_lanes(&svg, compared, rank->timeline, &scale, top);
    if (planned) svg_text(&svg, LEFT, top - 14, "start", "head", "predicted");
    if (planned) draw_lanes(&svg, compared, planned, &scale, top);
    svg_close(&svg);
    list_moments(compared, rank->timeline, planned, table);
    return true;
}

/* ---- what a step adds up to ---- */

static void add_bar(Bars *bars, const char *name, const double shares[TERM_COUNT]) {
    BarRow *row = &bars->row[bars->rows++];
    snprintf(row->label, sizeof row->label, "%s", name);
    for (TraceTerm term = 0; term < TERM_COUNT; term++) {
        char words[BAR_NAME_SIZE];
        snprintf(words, sizeof words, "%s%s", term_is_collective(term) ? "exposed " : "", term_name(term));
        row->of[bars_part(bars, words, paint_of(term))] += shares[term];
        row->total += shares[term];
    }
}

static const char *rank_name(const RankTrace *rank, char name[32]) {
    snprintf(name, 32, "rank %lld", (long long)(rank->rank >= 0 ? rank->rank : rank->device));
    return name;
}

static void list_bars(const Comparison *compared, Table *table) {
    for (int r = 0; r < compared->rank_count; r++) {
        const RankTrace *rank = &compared->ranks[r];
        char name[32], a[NUMBER_TEXT_SIZE];
        double compute = 0, exposed = 0, idle = 0;
        for (TraceTerm term = 0; term < TERM_COUNT; term++)
            *(term_is_compute(term) ? &compute : term_is_collective(term) ? &exposed : &idle) += rank->exposed[term];
        table_cell(table, "%s", rank_name(rank, name));
        table_cell(table, "%s", step_text(rank->step_mean, a));
        table_cell(table, "%s", step_text(rank->step_least, a));
        table_cell(table, "%s", step_text(rank->step_most, a));
        table_cell(table, "%s", step_text(compute, a));
        table_cell(table, "%s", step_text(exposed, a));
        table_cell(table, "%s", step_text(idle, a));
        table_cell(table, "%s", compared->match.known ? step_text(compared->match.waited[r], a) : "");
        table_cell(table, "%s", compared->match.known ? step_text(compared->match.caused[r], a) : "");
        table_cell(table, "%s", rank->peak_bytes >= 0 ? number_bytes((double)rank->peak_bytes, a) : "");
    }
}

bool comparison_picture_terms(const Comparison *compared, Arena *arena, FILE *out, Prose *words, Table *table) {
    double measured[TERM_COUNT] = {0}, planned[TERM_COUNT] = {0};
    Bars *bars = ARENA_NEW(arena, Bars, 1);
    if (!bars) return table->failed = true;
    for (int i = 0; i < compared->row_count; i++) {
        measured[compared->rows[i].term] = compared->rows[i].exposed_measured;
        planned[compared->rows[i].term] = compared->rows[i].exposed_predicted;
    }
    bars->say = svg_say_seconds, bars->amount = step_text, bars->left = LEFT;
    add_bar(bars, "measured", measured);
    if (compared->plan) add_bar(bars, "predicted", planned);
    for (int r = 0; r < compared->rank_count && r < RANKS_SHOWN && compared->rank_count > 1; r++)
        add_bar(bars, rank_name(&compared->ranks[r], (char[32]){0}), compared->ranks[r].exposed);
    prose_add(words,
              "What the mean step adds up to: an instant belongs to computation if any runs, else to collectives, "
              "else to copies, else it is idle.");
    if (compared->rank_count > RANKS_SHOWN)
        prose_add(words, " The first %d of %d ranks are shown.", RANKS_SHOWN, compared->rank_count);
    *table = table_new(arena, "Devices",
                       "device|>mean step|>least|>most|>computation|>exposed collectives|>copies and idle|>waited|"
                       ">made others wait|>most memory");
    bars_draw_stacked(bars, "terms-svg", "Where a step goes", words->text, WIDTH, out);
    list_bars(compared, table);
    return true;
}
