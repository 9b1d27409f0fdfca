/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The answer as one page: the words; a step in time, both pools, their phases and the tail; the machine;
 * HBM; who is in flight. */
#include "base/text/bars.h"
#include "base/text/html.h"
#include "base/text/lines.h"
#include "base/util.h"
#include "search/answer/plan_words.h"
#include "search/rl/rl_report.h"

#include <stdlib.h>

/* ---- a step in time ---- */

typedef struct {
    Svg *svg;
    SvgScale seconds;
    Table *table;
    const char *lane;
    double top, at; /* where the next bar begins: pixels, seconds */
} Lane;

enum { LANE_HEIGHT = 26, LANE_LEFT = 70, LANE_WIDTH = 760 };

static void add_bar(Lane *on, const char *name, double seconds, Paint paint) {
    char tip[160], text[NUMBER_TEXT_SIZE];
    if (!(seconds > 0)) return;
    double left = svg_at(&on->seconds, on->at), right = svg_at(&on->seconds, on->at + seconds);
    snprintf(tip, sizeof tip, "%s: %s: %s", on->lane, name, step_text(seconds, text));
    svg_bar(on->svg, left, on->top, right - left, LANE_HEIGHT, paint, tip);
    table_row(on->table, (const char *const[]){on->lane, name, step_text(on->at, tip), text});
    on->at += seconds;
}

static void add_lane(Lane *on, const char *name, double top) {
    on->lane = name, on->top = top, on->at = 0;
    svg_text(on->svg, LANE_LEFT - 6, top + 17, "end", "small", "%s", name);
}

static void add_generation(Lane *on, const RlStep *step) {
    double tail = min_real(step->rollout.tail_seconds, step->phases[RL_GENERATION]);
    add_bar(on, "generation", step->phases[RL_GENERATION] - tail, PAINT_MATMUL);
    add_bar(on, "last tenth", tail, PAINT_ATTENTION);
    add_bar(on, rl_phase_words(RL_REWARD), step->rollout_side - step->phases[RL_GENERATION], PAINT_FORWARD);
}

static void add_training(Lane *on, const RlStep *step) {
    for (int phase = 0; phase < RL_PHASES; phase++) {
        bool train = phase == RL_TRAINING || phase == RL_CRITIC, moves = phase == RL_LOAD || phase == RL_OTHER;
        bool there = phase == RL_REWARD && step->rollout_side > step->phases[RL_GENERATION];
        if (phase == RL_GENERATION || phase == RL_TRANSFER || there) continue;
        add_bar(on, rl_phase_words((RlPhase)phase), step->phases[phase],
                train   ? PAINT_BACKWARD
                : moves ? PAINT_OTHER
                        : PAINT_FORWARD);
    }
}

/* Until both pools take the weights. */
static void add_end(Lane *on, const RlStep *step) {
    double from = step->seconds - step->phases[RL_TRANSFER];
    add_bar(on, "waits", from - on->at > 1e-9 * from ? from - on->at : 0, PAINT_WAITS);
    add_bar(on, rl_phase_words(RL_TRANSFER), step->phases[RL_TRANSFER], PAINT_PIPELINE);
}

static bool draw_step(const RlQuestion *question, const RlStep *step, Arena *arena, FILE *out, Prose *words,
                      Table *table) {
    (void)question;
    bool shared = step->way == RL_COLOCATED, lags = rl_way_lags(step->way);
    static const struct {
        Paint paint;
        const char *words;
    } KINDS[] = {{PAINT_MATMUL, "generation"},
                 {PAINT_ATTENTION, "last tenth of the answers"},
                 {PAINT_FORWARD, "forward"},
                 {PAINT_BACKWARD, "training"},
                 {PAINT_OTHER, "other"},
                 {PAINT_WAITS, "waits"},
                 {PAINT_PIPELINE, "weights to the engines"}};
    double bottom = shared ? 46 : 84;
    *table = table_new(arena, "A step in time", "pool|phase|>from|>seconds");
    Svg svg = svg_open(out, "step-svg", LANE_WIDTH, bottom + 64, "A step in time",
                       "Phases of each pool from left to right, until the weights are at the engines");
    Lane on = {&svg, {0, step->seconds, LANE_LEFT, LANE_WIDTH - 16, false}, table, "", 0, 0};
    svg_axis_x(&svg, &on.seconds, 8, bottom, 8, svg_say_seconds, "");
    add_lane(&on, shared ? "all chips" : "rollout", 12);
    add_generation(&on, step);
    double generated = on.at;
    if (!shared) {
        add_end(&on, step);
        add_lane(&on, "trainer", 50);
        if (!lags) add_bar(&on, "waits", generated, PAINT_WAITS);
    }
    add_training(&on, step);
    add_end(&on, step);
    SvgLegend legend = {LANE_LEFT, LANE_WIDTH - 16, LANE_LEFT, bottom + 36};
    for (size_t i = 0; i < COUNT_OF(KINDS); i++) svg_legend_add_bar(&svg, &legend, KINDS[i].paint, KINDS[i].words);
    svg_close(&svg);
    prose_add(words, "%s",
              lags ? "Both pools work at once, on the answers of steps that follow each other."
                   : "Phases follow each other.");
    return true;
}

/* ---- who is in flight ---- */

static bool draw_flight(const RlQuestion *question, const RlStep *step, Arena *arena, FILE *out, Prose *words,
                        Table *table) {
    const AnswersInFlight *curve = step->curve;
    (void)question;
    Lines lines = lines_new(arena, curve->count + 1);
    lines.id = "flight-svg", lines.title = "Answers in flight", lines.heading = "Answers in flight, of a replica";
    lines.words = "How many answers a replica generates at once, from the first token to the end of the longest";
    lines.width = LANE_WIDTH;
    lines.x = (LineAxis){svg_say_seconds, "", true, false};
    lines.y = (LineAxis){svg_say_count, "", true, false};
    int series = lines_series(&lines, JOIN_LINE, "s0 thick", NULL);
    double now = step->rollout.prompt_seconds;
    *table = table_new(arena, "Answers in flight", ">from|>in flight|>a token");
    char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE];
    for (int i = 0; i < curve->count; i++) {
        const InFlightSegment *part = &curve->of[i];
        LinePoint point = {.x = now, .y = part->answers, .series = series};
        lines_point(&lines, point, "%.0f answers, %s a token", part->answers, step_text(step->step_seconds[i], a));
        table_cell(table, "%s", step_text(now, a));
        table_cell(table, "%.1f", part->answers);
        table_cell(table, "%s", step_text(step->step_seconds[i], b));
        now += part->steps * step->step_seconds[i];
    }
    lines_point(&lines, (LinePoint){.x = now, .y = 0, .series = series}, "the longest ends");
    prose_add(words, "One batch of %lld answers by itself: %s until the longest ends.",
              (long long)step->rollout.answers, step_text(now, a));
    return lines_draw(&lines, out);
}

/* ---- HBM ---- */

static void memory_bar(Bars *bars, const MemoryRows *rows, double limit, const char *label) {
    static const Paint PAINTS[] = {PAINT_MATMUL, PAINT_TENSOR,   PAINT_OPTIMIZER, PAINT_ATTENTION,
                                   PAINT_FSDP,   PAINT_PIPELINE, PAINT_SEQUENCE};
    BarRow *to = &bars->row[bars->rows++];
    snprintf(to->label, sizeof to->label, "%s", label);
    to->total = memory_total(rows), to->limit = limit;
    for (int row = 0; row <= MEMORY_TRANSIENT; row++)
        to->of[bars_part(bars, memory_row_name((MemoryRow)row), PAINTS[row])] = memory_row_bytes(rows, (MemoryRow)row);
}

static bool draw_memory(const RlQuestion *question, const RlStep *step, Arena *arena, FILE *out, Prose *words,
                        Table *table) {
    const Estimate *trainer = &step->trainer.plan->estimate;
    (void)question;
    char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE];
    Bars *bars = ARENA_NEW(arena, Bars, 1);
    if (!bars) return table->failed = true;
    bars->say = svg_say_bytes, bars->amount = number_bytes;
    memory_bar(bars, &trainer->memory, trainer->memory_limit_bytes, "a trainer at its peak");
    prose_add(words, "Training takes %s of the %s that plans may use.", number_bytes(bars->row[0].total, a),
              number_bytes(bars->row[0].limit, b));
    bars_draw_stacked(bars, "memory-svg", "HBM of a trainer against its limit", words->text, LANE_WIDTH, out);
    *table = bars_table(bars, arena, "HBM of a trainer", "moment");
    return true;
}

/* ---- the page ---- */

static void write_cards(const RlQuestion *question, const RlStep *step, FILE *out) {
    const Estimate *trainer = &step->trainer.plan->estimate;
    double error = 1 + question->profile.likely_error, usd = rl_usd_per_step(question, step);
    char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE], value[NUMBER_TEXT_SIZE], more[RL_WORDS_SIZE];
    fputs("<dl class=\"cards\">\n", out);
    snprintf(more, sizeof more, "likely %s to %s", number_time(step->seconds / error, a),
             number_time(step->seconds * error, b));
    html_card(out, "Step", step_text(step->seconds, value), more);
    html_card(out, "Tokens an hour", number_short(rl_tokens_per_hour(question, step), value), split_words(step, more));
    if (usd >= 0) {
        snprintf(more, sizeof more, "at $%.2f per chip-hour", question->chip.usd_per_chip_hour.value);
        html_card(out, "Cost of a step", usd_text(usd, value), more);
    }
    snprintf(more, sizeof more, "of %s that plans may use", number_bytes(trainer->memory_limit_bytes, a));
    html_card(out, "HBM of a trainer", number_bytes(memory_total(&trainer->memory), value), more);
    fputs("</dl>\n", out);
}

static const struct {
    const char *id, *heading;
    bool (*draw)(const RlQuestion *question, const RlStep *step, Arena *arena, FILE *out, Prose *words, Table *table);
} PICTURES[] = {{"step", "A step in time", draw_step},
                {"mesh", "Which chips do what", rl_draw_map},
                {"memory", "What lies in HBM", draw_memory},
                {"flight", "Answers in flight", draw_flight}};

bool rl_write_html(const RlQuestion *question, const RlAnswer *answer, const Recipes *recipes, FILE *out,
                   Error *error) {
    HtmlLink links[COUNT_OF(PICTURES) + 1] = {{"answer", "The answer"}};
    Drawn drawn[COUNT_OF(PICTURES)] = {{0}};
    Arena arena = {0};
    char title[WORDS_SIZE + 256], name[PROSE_NAME_SIZE], machine[WORDS_SIZE];
    bool ok = true;
    snprintf(title, sizeof title, "%s of %s on %s", question->algorithm->title, clean_name(question->model.name, name),
             machine_of(&question->chip, question->machine.text, 0, machine));
    for (size_t i = 0; i < COUNT_OF(PICTURES) && ok && answer->found; i++) {
        const RlStep *step = &answer->best[answer->first];
        FILE *svg = drawn_open(&drawn[i]);
        ok = svg && drawn_close(&drawn[i], svg,
                                PICTURES[i].draw(question, step, &arena, svg, &drawn[i].words, &drawn[i].table));
        links[i + 1] = (HtmlLink){PICTURES[i].id, PICTURES[i].heading};
    }
    if (!ok) error_memory(error);
    html_open(out, title, "One step of reinforcement learning: both pools, their phases and the longest answers");
    html_contents(out, links, answer->found ? (int)COUNT_OF(links) : 1);
    html_section_open(out, links[0].id, links[0].heading);
    if (answer->found) write_cards(question, &answer->best[answer->first], out);
    ok = ok && rl_write_text(question, answer, recipes, (TextOut){out, {COLUMNS_OF_PAGE, false}}, error);
    html_section_close(out);
    for (size_t i = 0; i < COUNT_OF(PICTURES) && ok; i++)
        if (drawn[i].drawn) drawn_section(&drawn[i], PICTURES[i].id, PICTURES[i].heading, out);
    html_close(out);
    for (size_t i = 0; i < COUNT_OF(PICTURES); i++) free(drawn[i].svg);
    arena_free(&arena);
    return ok;
}
