/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A pipeline's step in time, as it is played (cost/played.h): a line for each stage. */
#include "search/report/text/parts.h"

#include "base/text/table.h"
#include "base/util.h"
#include "cost/played.h"
#include "search/answer/plan_words.h"

#include <string.h>

enum { COLUMNS = 56, STAGES_SHOWN = 8 };

/* What a stage does in each of COLUMNS equal parts of the time until the last pass ends: the letter of what fills most
 * of it. Of a pass what it waits for comes last. */
static void draw_stage(const PlayedStep *step, int stage, char line[COLUMNS + 1]) {
    static const char LETTERS[PASS_COUNT] = {
        [PASS_FORWARD] = 'F', [PASS_BACKWARD] = 'B', [PASS_INPUT] = 'B', [PASS_WEIGHTS] = 'W', [PASS_BOTH] = 'D'};
    const Play *play = &step->play;
    const Played *played = &step->played;
    double width = played->end / COLUMNS;
    for (int column = 0, first = 0; column < COLUMNS; column++) {
        double from = column * width, until = from + width, idle = width, of[PASS_COUNT] = {0};
        while (first < play->count[stage] && played->ends[stage][first] <= from) first++;
        for (int i = first; i < play->count[stage] && played->begins[stage][i] < until; i++) {
            double covers = min_real(until, played->ends[stage][i]) - max_real(from, played->begins[stage][i]);
            of[play->passes[stage][i].kind] += covers;
            idle -= covers;
        }
        line[column] = '.';
        for (int kind = 0; kind < PASS_COUNT; kind++)
            if (of[kind] > idle) idle = of[kind], line[column] = LETTERS[kind];
    }
    line[COLUMNS] = '\0';
}

static void add_stage(Table *table, const PlayedStep *step, int stage) {
    const PlayedStage *of = &step->stages[stage];
    char line[COLUMNS + 1], name[16], a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE], c[NUMBER_TEXT_SIZE],
        d[NUMBER_TEXT_SIZE], e[NUMBER_TEXT_SIZE];
    double end = step->played.end;
    draw_stage(step, stage, line);
    snprintf(name, sizeof name, "%d", stage + 1);
    const char *cells[] = {name,
                           line,
                           share_text(of->exchange / end, a),
                           share_text(of->idle / end, b),
                           share_text(of->reduction / end, c),
                           number_short(of->held, d),
                           number_bytes(of->memory_bytes, e)};
    table_row(table, cells);
}

bool timeline_write(const Request *request, const RankedPlan *ranked, TextOut out) {
    CostContext setting = ranked_cost_context(ranked->request ? ranked->request : request, ranked);
    const Estimate *estimate = &ranked->estimate;
    char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE];
    Arena arena = {0};
    PlayedStep step;
    if (estimate->shard.pipeline <= 1 || !(estimate->played_seconds > 0)) return true;
    if (!step_play(&(PlayedPlan){&setting, &estimate->shard, &ranked->plan, &estimate->rates}, &arena, &step)) {
        arena_free(&arena);
        return false;
    }
    Prose text = {0};
    prose_add(&text, "Stages in time (F forward, B backward, . idle), played: %s, by the formula %s",
              step_text(step.seconds, a), step_text(estimate->formula_seconds, b));
    if (step.play.microbatches < ranked->plan.knobs.microbatches)
        prose_add(&text, "; %d of %lld microbatches are shown", step.play.microbatches,
                  (long long)ranked->plan.knobs.microbatches);
    prose_add(&text, ":");
    fputc('\n', out.file);
    prose_write(out, "", "", text.text);
    Table table = table_new(&arena, NULL, "stage|passes|>exchange|>idle|>reduction|>in flight|>peak HBM");
    int stages = step.play.ranks, half = stages > STAGES_SHOWN ? STAGES_SHOWN / 2 : stages;
    for (int stage = 0; stage < stages; stage++)
        if (stage < half || stage >= stages - STAGES_SHOWN / 2) add_stage(&table, &step, stage);
    bool ok = table_write_text(&table, "  ", out);
    arena_free(&arena);
    return ok;
}
