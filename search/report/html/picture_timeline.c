/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One step in time: with stages every pass of every microbatch, played (cost/time/schedule_simulation.h); without, the
 * microbatches and what communicates alongside them. Below it one layer, op by op. */
#include "search/report/html/paints.h"
#include "search/report/html/pictures.h"

#include "base/util.h"
#include "cost/played.h"
#include "search/answer/plan_words.h"

#include <math.h>

/* A group over replicas may have a lane of each phase. */
enum { STAGES_SHOWN = 16, MICROBATCHES_SHOWN = 64, LANES_MAX = 2 * GROUP_COUNT + 1, LABEL_ROOM = 15 };
static const double WIDTH = 860, LEFT = 104, RIGHT = 836, TOP = 52, GAP = 30, LANE = 22;

/* Seconds of a microbatch on the fullest stage, what is exposed of critical groups included. */
typedef struct {
    double compute[PHASE_COUNT], exposed[GROUP_DATA][PHASE_COUNT], all[PHASE_COUNT];
    double hidden[GROUP_DATA][PHASE_COUNT]; /* of the groups that run alongside compute */
    double weights;                         /* of backward: gradients of weights, that a schedule may put off */
} Microbatch;

static Microbatch microbatch_of(const RankedPlan *ranked) {
    const Estimate *estimate = &ranked->estimate;
    const Resources *resources = &estimate->resources;
    const Knobs *knobs = &ranked->plan.knobs;
    Microbatch one = {0};
    for (int phase = 0; phase < PHASE_COUNT; phase++) {
        one.compute[phase] = resources->of[RES_COMPUTE_FORWARD + phase] + resources->of[RES_ATTENTION_FORWARD + phase];
        one.all[phase] = one.compute[phase];
        for (int group = 0; group < GROUP_DATA; group++) {
            double whole = estimate->time.group_seconds[group],
                   seconds = timeline_lane_seconds(estimate, (Group)group, (Phase)phase);
            double share = whole > 0 ? estimate->time.group_exposed_seconds[group] / whole : 0;
            if (group < GROUP_WEIGHTS) one.exposed[group][phase] = share * seconds;
            one.hidden[group][phase] = (group < GROUP_WEIGHTS ? 1 - share : 1) * seconds;
            one.all[phase] += one.exposed[group][phase];
        }
    }
    double stages = (double)ranked->plan.degrees.of[ROLE_PIPELINE];
    Bubble bubble =
        schedule_bubble(knobs->schedule, stages, (double)knobs->microbatches, (double)knobs->virtual_stages);
    if (bubble.weights > 0 && stages > 1)
        one.weights = min_real(0.5 * one.all[PHASE_BACKWARD],
                               estimate->rule.bubble_saved_seconds / (bubble.weights * (stages - 1)));
    return one;
}

/* ---- time to pixels, the middle of a long step left out ---- */

typedef struct {
    double end;     /* of all */
    double out, in; /* from .. to is left out; out >= in: nothing is */
} Window;

static double x_of(const Window *window, double seconds) {
    double cut = max_real(0, window->in - window->out), whole = window->end - cut, room = cut > 0 ? GAP : 0;
    if (cut <= 0 || seconds <= window->out) return LEFT + (RIGHT - LEFT - room) * seconds / whole;
    if (seconds < window->in) return LEFT + (RIGHT - LEFT - room) * window->out / whole;
    return LEFT + room + (RIGHT - LEFT - room) * (seconds - cut) / whole;
}

/* Many rectangles of one kind as one path. */
static void open_path(Svg *svg, Paint paint) { fprintf(svg->out, "<path class=\"k%d\" d=\"", (int)paint); }
static void add_box(Svg *svg, double x, double y, double width, double height) {
    fprintf(svg->out, "M%.1f %.1fh%.2fv%.1fh%.2fz", x, y, width, height, -width);
}
static void close_path(Svg *svg) { fputs("\"/>\n", svg->out); }

/* Ticks as close as what is shown has room for, on both sides of what is left out. */
static void draw_time(Svg *svg, const Window *window, double bottom, double top) {
    SvgScale scale = {0, window->end - max_real(0, window->in - window->out), 0, 1, false};
    double ticks[SVG_TICKS_MAX], last = -1e9;
    int count = svg_ticks(&scale, 9, ticks);
    double step = count > 1 ? ticks[1] - ticks[0] : window->end;
    for (double i = 0; step > 0 && i * step <= window->end * (1 + 1e-9); i++) {
        char text[NUMBER_TEXT_SIZE];
        double at = i * step, x = x_of(window, at), half = svg_text_width(svg_say_seconds(at, text)) / 2;
        if (at > window->out && at < window->in) {
            i = max_real(i, floor(window->in / step)); /* on behind what is left out */
            continue;
        }
        svg_line(svg, x, bottom, x, top, "grid");
        if (x - half < last + 4) continue;
        last = x + half;
        svg_text(svg, x, bottom + 16, "middle", "dim", "%s", text);
    }
    svg_line(svg, LEFT, bottom, RIGHT, bottom, "axis");
}

/* ---- stages ---- */

/* Of each direction, where there are two. */
static bool shown(const Play *play, int microbatch) {
    int ways = play->two_ways ? 2 : 1, all = play->microbatches / ways, most = MICROBATCHES_SHOWN / ways;
    return all <= most || microbatch < most / 2 || microbatch >= all - most / 2;
}

static bool pass_shown(const Play *play, const Pass *pass) {
    return shown(play, pass->microbatch) && (pass->kind != PASS_BOTH || shown(play, pass->back_microbatch));
}

/* Whether a pass reaches into what is left out. */
static bool is_cut(const Window *window, double begins, double ends) {
    return window->in > window->out && begins < window->in && ends > window->out;
}

/* From the first begin of what is not shown to its last end. */
static Window window_of(const Play *play, const Played *played, double end) {
    Window window = {end, end, 0};
    for (int rank = 0; rank < play->ranks; rank++)
        for (int i = 0; i < play->count[rank]; i++) {
            if (pass_shown(play, &play->passes[rank][i])) continue;
            window.out = min_real(window.out, played->begins[rank][i]);
            window.in = max_real(window.in, played->ends[rank][i]);
        }
    return window;
}

static void draw_passes(Svg *svg, const Play *play, const Played *played, const Window *window, int rank, double y) {
    static const Paint PAINTS[PASS_COUNT] = {[PASS_FORWARD] = PAINT_FORWARD,
                                             [PASS_BACKWARD] = PAINT_BACKWARD,
                                             [PASS_INPUT] = PAINT_BACKWARD,
                                             [PASS_WEIGHTS] = PAINT_OPTIMIZER,
                                             [PASS_BOTH] = PAINT_EXPERT};
    for (int kind = 0; kind < PASS_COUNT; kind++) {
        bool open = false;
        for (int i = 0; i < play->count[rank]; i++) {
            if ((int)play->passes[rank][i].kind != kind || !pass_shown(play, &play->passes[rank][i])) continue;
            if (is_cut(window, played->begins[rank][i], played->ends[rank][i])) continue;
            double x = x_of(window, played->begins[rank][i]), to = x_of(window, played->ends[rank][i]);
            double gap = min_real(1, (to - x) / 5);
            if (to - x < 0.05) continue;
            if (!open) open_path(svg, PAINTS[kind]);
            open = true;
            /* Forward passes stand on the lower edge: kinds are distinguished without colour. */
            double less = kind == PASS_FORWARD ? 4 : 0;
            add_box(svg, x, y + less, to - x - gap, LANE - 6 - less);
        }
        if (open) close_path(svg);
    }
}

/* Numbers of microbatches where they have room. */
static void draw_numbers(Svg *svg, const Play *play, const Played *played, const Window *window, int rank, double y) {
    for (int i = 0; i < play->count[rank]; i++) {
        double x = x_of(window, played->begins[rank][i]), to = x_of(window, played->ends[rank][i]);
        if (to - x < LABEL_ROOM || !pass_shown(play, &play->passes[rank][i]) ||
            is_cut(window, played->begins[rank][i], played->ends[rank][i]))
            continue;
        svg_text(svg, (x + to) / 2, y + 12, "middle", "small onbar", "%d", play->passes[rank][i].microbatch + 1);
    }
}

static void draw_tail(Svg *svg, const Window *window, const StepTime *time, double from, double y, double height) {
    double waits = max_real(0, time->seconds - from - time->optimizer_seconds - time->other_seconds);
    const struct {
        const char *name;
        double seconds;
        Paint paint;
    } PARTS[] = {{"waits for communication", waits, PAINT_WAITS},
                 {"optimizer", time->optimizer_seconds, PAINT_OPTIMIZER},
                 {"other overheads", time->other_seconds, PAINT_OTHER}};
    for (size_t i = 0; i < COUNT_OF(PARTS); i++) {
        char tip[96], text[NUMBER_TEXT_SIZE];
        double x = x_of(window, from), to = x_of(window, from + PARTS[i].seconds);
        from += PARTS[i].seconds;
        if (to - x < 0.1) continue;
        snprintf(tip, sizeof tip, "%s: %s", PARTS[i].name, step_text(PARTS[i].seconds, text));
        svg_bar(svg, x, y, to - x, height, PARTS[i].paint, tip);
    }
}

static void list_stage(Table *table, const Play *play, const Played *played, int rank) {
    double busy = 0;
    char name[32], a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE], c[NUMBER_TEXT_SIZE];
    for (int i = 0; i < play->count[rank]; i++) busy += played->ends[rank][i] - played->begins[rank][i];
    snprintf(name, sizeof name, "stage %d", rank + 1);
    const char *cells[] = {name, step_text(busy, a), share_text(busy / played->end, b),
                           step_text(played->end - busy, c)};
    table_row(table, cells);
}

/* Lanes of the stages that are shown, and one that says how many are not. */
static int stage_lanes(int ranks) { return (int)min_whole(ranks, STAGES_SHOWN + 1); }

static void draw_stages(Svg *svg, const RankedPlan *ranked, const Play *play, const Played *played, Table *table) {
    const StepTime *time = &ranked->estimate.time;
    int ranks = play->ranks, rows = (int)min_whole(ranks, STAGES_SHOWN), half = ranks > rows ? rows / 2 : rows;
    double end = max_real(time->seconds, played->end), y = TOP;
    Window window = window_of(play, played, end);
    double bottom = TOP + LANE * stage_lanes(ranks);
    draw_time(svg, &window, bottom, TOP - 4);
    for (int row = 0; row < rows; row++) {
        int rank = row < half ? row : ranks - rows + row;
        if (row == half) {
            svg_text(svg, LEFT, y + 13, "start", "dim", "... %d stages left out", ranks - rows);
            y += LANE;
        }
        svg_text(svg, LEFT - 8, y + 12, "end", NULL, "stage %d", rank + 1);
        draw_passes(svg, play, played, &window, rank, y);
        draw_numbers(svg, play, played, &window, rank, y);
        y += LANE;
    }
    draw_tail(svg, &window, time, played->end, TOP, bottom - TOP - 6);
    if (window.in > window.out) {
        double x = x_of(&window, window.out) + GAP / 2;
        svg_text(svg, x, TOP - 8, "middle", "dim", "...");
        svg_line(svg, x, TOP - 4, x, bottom, "axis dash");
    }
    for (int rank = 0; rank < ranks; rank++) list_stage(table, play, played, rank);
}

static void stages_words(const RankedPlan *ranked, const Play *play, const Played *played, Prose *words) {
    char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE];
    prose_add(words, "%d stages, %lld microbatches, schedule %s", play->ranks,
              (long long)ranked->plan.knobs.microbatches, schedule_name(ranked->plan.knobs.schedule));
    if (ranked->plan.knobs.virtual_stages > 1)
        prose_add(words, " with %lld chunks a stage", (long long)ranked->plan.knobs.virtual_stages);
    prose_add(words, ": the passes end after %s of a step of %s.", step_text(played->end, a),
              step_text(ranked->estimate.time.seconds, b));
    if (play->microbatches < ranked->plan.knobs.microbatches)
        prose_add(words, " The picture plays %d microbatches, as the others repeat what is shown.", play->microbatches);
    else if (play->microbatches > MICROBATCHES_SHOWN)
        prose_add(words, " The %d microbatches in the middle are left out.", play->microbatches - MICROBATCHES_SHOWN);
    if (play->ranks > STAGES_SHOWN) prose_add(words, " The first and the last %d stages are shown.", STAGES_SHOWN / 2);
}

/* ---- one stage ---- */

typedef struct {
    const char *name;
    int group;   /* -1 means compute */
    Phase phase; /* of groups over replicas: gathers of parameters before the first pass, gradients after the last */
} Lane;

/* What a microbatch takes, and the lanes that show it. */
typedef struct {
    Microbatch one;
    Lane lanes[LANES_MAX];
    int count;
} OneStage;

static int list_lanes(const Microbatch *one, const Estimate *estimate, Lane lanes[LANES_MAX]) {
    int count = 0;
    double least = 1e-6 * estimate->time.seconds;
    lanes[count++] = (Lane){"compute", -1, PHASE_FORWARD};
    for (int group = 0; group < GROUP_DATA; group++)
        if (one->hidden[group][0] + one->hidden[group][1] > least)
            lanes[count++] = (Lane){lane_name((Group)group), group, PHASE_FORWARD};
    for (int group = GROUP_DATA; group < GROUP_COUNT; group++)
        for (int phase = 0; phase < PHASE_COUNT; phase++) {
            const char *name = phase == PHASE_BACKWARD ? lane_name((Group)group)
                               : group == GROUP_DATA   ? "parameters"
                                                       : "expert params";
            if (timeline_lane_seconds(estimate, (Group)group, (Phase)phase) > least)
                lanes[count++] = (Lane){name, group, (Phase)phase};
        }
    return count;
}

/* Compute with what is exposed behind it, and the hidden shares in their lanes from where the pass begins. */
static void draw_pass(Svg *svg, const Window *window, const OneStage *stage, int phase, double from, int number) {
    const Microbatch *one = &stage->one;
    const Lane *lanes = stage->lanes;
    char tip[128], text[NUMBER_TEXT_SIZE];
    double start = x_of(window, from), to = x_of(window, from + one->compute[phase]),
           gap = min_real(1, (to - start) / 8);
    snprintf(tip, sizeof tip, "microbatch %d, %s: %s of compute", number + 1,
             phase == PHASE_FORWARD ? "forward" : "backward", step_text(one->compute[phase], text));
    svg_bar(svg, start, TOP, to - start - gap, LANE - 6, phase == PHASE_FORWARD ? PAINT_FORWARD : PAINT_BACKWARD, tip);
    if (to - start > LABEL_ROOM) svg_text(svg, (start + to) / 2, TOP + 12, "middle", "small onbar", "%d", number + 1);
    double at = from + one->compute[phase];
    for (int group = 0; group < GROUP_WEIGHTS; group++) {
        double seconds = one->exposed[group][phase], x = x_of(window, at), end = x_of(window, at + seconds);
        at += seconds;
        if (end - x < 0.1) continue;
        snprintf(tip, sizeof tip, "%s, exposed: %s", role_name(group_role((Group)group)), step_text(seconds, text));
        svg_bar(svg, x, TOP, end - x, LANE - 6, paint_of_role(group_role((Group)group)), tip);
    }
    for (int i = 1; i < stage->count; i++) {
        int group = lanes[i].group;
        if (group >= GROUP_DATA || !(one->hidden[group][phase] > 0)) continue;
        double wide = x_of(window, from + one->hidden[group][phase]) - start;
        snprintf(tip, sizeof tip, "%s, overlapped with compute: %s", lanes[i].name,
                 step_text(one->hidden[group][phase], text));
        svg_bar(svg, start, TOP + LANE * i, max_real(0.6, wide - min_real(1, wide / 8)), LANE - 6,
                paint_of_role(group_role((Group)group)), tip);
    }
}

/* Gathers of a step's parameters (ZeRO) alongside its first pass, reductions of gradients alongside its last: no
 * gradient is there before the first backward. */
static void draw_data(Svg *svg, const Window *window, const RankedPlan *ranked, const OneStage *stage, double end) {
    const Estimate *estimate = &ranked->estimate;
    const Microbatch *one = &stage->one;
    const Lane *lanes = stage->lanes;
    for (int i = 1; i < stage->count; i++) {
        int group = lanes[i].group;
        if (group < GROUP_DATA) continue;
        double seconds = timeline_lane_seconds(estimate, (Group)group, lanes[i].phase);
        double from = lanes[i].phase == PHASE_FORWARD ? 0 : end - one->all[PHASE_BACKWARD], x = x_of(window, from);
        char tip[96], text[NUMBER_TEXT_SIZE];
        snprintf(tip, sizeof tip, "%s%s: %s", lanes[i].name,
                 lanes[i].phase == PHASE_FORWARD ? ", gathered after the update (ZeRO)" : "", step_text(seconds, text));
        svg_bar(svg, x, TOP + LANE * i, x_of(window, min_real(window->end, from + seconds)) - x, LANE - 6,
                paint_of_role(group_role((Group)group)), tip);
    }
}

static void draw_alone(Svg *svg, const RankedPlan *ranked, const OneStage *stage, Table *table) {
    const Microbatch *one = &stage->one;
    const Lane *lanes = stage->lanes;
    int count = stage->count;
    const StepTime *time = &ranked->estimate.time;
    int64_t m = ranked->plan.knobs.microbatches;
    double each = one->all[0] + one->all[1], end = (double)m * each, bottom = TOP + LANE * count;
    Window window = {max_real(time->seconds, end), 0, 0};
    bool cut = m > MICROBATCHES_SHOWN;
    window.out = cut ? each * MICROBATCHES_SHOWN / 2 : window.end;
    window.in = cut ? end - each * MICROBATCHES_SHOWN / 2 : 0;
    draw_time(svg, &window, bottom, TOP - 4);
    for (int i = 0; i < count; i++) svg_text(svg, LEFT - 8, TOP + LANE * i + 12, "end", NULL, "%s", lanes[i].name);
    for (int64_t i = 0; i < m; i++) {
        if (cut && i >= MICROBATCHES_SHOWN / 2 && i < m - MICROBATCHES_SHOWN / 2) continue;
        double from = (double)i * each;
        draw_pass(svg, &window, stage, PHASE_FORWARD, from, (int)min_whole(i, INT32_MAX - 1));
        draw_pass(svg, &window, stage, PHASE_BACKWARD, from + one->all[0], (int)min_whole(i, INT32_MAX - 1));
    }
    draw_data(svg, &window, ranked, stage, end);
    draw_tail(svg, &window, time, end, TOP, LANE - 6);
    if (cut) svg_text(svg, x_of(&window, window.out) + GAP / 2, TOP + 12, "middle", "dim", "...");
    for (int phase = 0; phase < PHASE_COUNT; phase++) {
        char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE], c[NUMBER_TEXT_SIZE];
        const char *cells[] = {phase == PHASE_FORWARD ? "forward of a microbatch" : "backward of a microbatch",
                               step_text(one->compute[phase], a), share_text(one->compute[phase] / one->all[phase], b),
                               step_text(one->all[phase] - one->compute[phase], c)};
        table_row(table, cells);
    }
}

static void alone_words(const RankedPlan *ranked, Prose *words) {
    int64_t m = ranked->plan.knobs.microbatches;
    char number[NUMBER_TEXT_SIZE];
    prose_add(
        words,
        "%s microbatch%s, one after the other; after its compute, each waits for its exposed communication, while "
        "overlapped communication runs alongside the compute.",
        number_grouped(m, number), m == 1 ? "" : "es");
    if (m > MICROBATCHES_SHOWN)
        prose_add(words, " The %s in the middle are left out.", number_grouped(m - MICROBATCHES_SHOWN, number));
}

/* `one`: of a plan without stages, where what is exposed stands behind each pass; else NULL. */
static void draw_legend(Svg *svg, Schedule schedule, const Microbatch *one) {
    SvgLegend legend = {LEFT, RIGHT, LEFT, 14};
    bool said[ROLE_COUNT] = {false};
    svg_legend_add_bar(svg, &legend, PAINT_FORWARD, "forward");
    svg_legend_add_bar(svg, &legend, PAINT_BACKWARD, "backward");
    if (schedule == SCHEDULE_ZB_H1 || schedule == SCHEDULE_DUALPIPE)
        svg_legend_add_bar(svg, &legend, PAINT_OPTIMIZER, "gradients of weights");
    if (schedule == SCHEDULE_DUALPIPE) svg_legend_add_bar(svg, &legend, PAINT_EXPERT, "both at once");
    for (int group = 0; one && group < GROUP_WEIGHTS; group++) {
        Role role = group_role((Group)group);
        char words[64];
        if (said[role] || !(one->exposed[group][0] + one->exposed[group][1] > 0)) continue;
        said[role] = true;
        snprintf(words, sizeof words, "%s (in the row of compute: exposed)", role_name(role));
        svg_legend_add_bar(svg, &legend, paint_of_role(role), words);
    }
    svg_legend_add_bar(svg, &legend, PAINT_WAITS, "waits");
    svg_legend_add_bar(svg, &legend, PAINT_OPTIMIZER, "optimizer");
    svg_legend_add_bar(svg, &legend, PAINT_OTHER, "other overheads");
}

/* The step as it is played: of a long one the rounds that repeat are left out. */
static bool play_of(const PageView *view, const RankedPlan *ranked, Arena *arena, PlayedStep *step) {
    CostContext setting = ranked_cost_context(ranked->request ? ranked->request : view->report->request, ranked);
    const Estimate *estimate = &ranked->estimate;
    return step_play(&(PlayedPlan){&setting, &estimate->shard, &ranked->plan, &estimate->rates}, arena, step);
}

bool picture_timeline(const PageView *view, FILE *out, Prose *words, Table *table) {
    const RankedPlan *ranked = view_first(view);
    if (!ranked) return false;
    OneStage stage = {.one = microbatch_of(ranked)};
    Arena arena = {0};
    PlayedStep step;
    LayerLine line;
    stage.count = list_lanes(&stage.one, &ranked->estimate, stage.lanes);
    bool stages = ranked->plan.degrees.of[ROLE_PIPELINE] > 1, ok = true;
    if (stages) ok = play_of(view, ranked, &arena, &step);
    if (ok) {
        layer_line(view->report->request, ranked, &line);
        if (stages)
            stages_words(ranked, &step.play, &step.played, words);
        else
            alone_words(ranked, words);
        double top = TOP + LANE * (stages ? stage_lanes(step.play.ranks) : stage.count) + 36;
        Svg svg = svg_open(out, "timeline-svg", WIDTH, top + layer_line_height(&line), "One step in time", words->text);
        *table = table_new(view->arena, "Passes in time",
                           stages ? "stage, or op of a layer|>busy|>share|>idle"
                                  : "pass, or op of a layer|>compute|>share|>exposed");
        draw_legend(&svg, ranked->plan.knobs.schedule, stages ? NULL : &stage.one);
        if (stages)
            draw_stages(&svg, ranked, &step.play, &step.played, table);
        else
            draw_alone(&svg, ranked, &stage, table);
        layer_line_draw(&svg, &line, top, LEFT, RIGHT);
        layer_line_list(&line, table);
        svg_close(&svg);
    }
    arena_free(&arena);
    return ok;
}
