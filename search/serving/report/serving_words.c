/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/serving/report/serving_report.h"

#include "base/util.h"

#include <math.h>

const char *pool_notation(const ServingPool *pool, char text[POOL_TEXT_SIZE]) {
    const WorkerLayout *layout = &pool->on.layout;
    const int64_t values[] = {layout->tensor,        layout->pipeline,    layout->attention_data, layout->expert,
                              layout->expert_tensor, layout->kv_sequence, layout->kv_batch,       layout->stationary};
    size_t used = 0;
    text[0] = '\0';
    for (int word = 0; word < (int)COUNT_OF(values); word++) {
        if (values[word] <= 1 || used >= POOL_TEXT_SIZE) continue;
        used += (size_t)snprintf(text + used, POOL_TEXT_SIZE - used, "%s%s=%lld", used ? " " : "",
                                 layout_word_name((LayoutWord)word), (long long)values[word]);
    }
    if (used == 0) snprintf(text, POOL_TEXT_SIZE, "one chip");
    return text;
}

const char *point_notation(const ServingPoint *point, char text[POINT_TEXT_SIZE]) {
    char one[POOL_TEXT_SIZE], two[POOL_TEXT_SIZE];
    const ServingPool *first = &point->pools[0], *second = &point->pools[1];
    if (point->pool_count == 1)
        snprintf(text, POINT_TEXT_SIZE, "%lld x %s, batch %lld", (long long)first->workers, pool_notation(first, one),
                 (long long)first->batch);
    else
        snprintf(text, POINT_TEXT_SIZE, "prompts %lld x %s; decode %lld x %s, batch %lld", (long long)first->workers,
                 pool_notation(first, one), (long long)second->workers, pool_notation(second, two),
                 (long long)second->batch);
    return text;
}

const char *point_engine(const ServingPoint *point) {
    int engine = point->pools[0].on.engine;
    return engine == NO_ENGINE ? "none" : engine_at(engine)->title;
}

/* Tokens that a tokenizer adds to a text; and the prompts that a worker for prompts holds: while it computes one, the
 * caches of others are on their way. */
enum { SPECIAL_TOKENS = 64, PROMPTS_IN_FLIGHT = 8 };

int64_t pool_slots(const ServingQuestion *question, const ServingPool *pool) {
    return pool->batch + (question->rate > 0 ? (int64_t)ceil(3 * sqrt((double)pool->batch)) : 0);
}

const char *pool_launch(const ServingQuestion *question, const ServingPool *pool, char line[ENGINE_LINE_SIZE]) {
    EngineWords words = {0};
    line[0] = '\0';
    if (pool->on.engine == NO_ENGINE) return line;
    pool_words(question, pool, &words);
    return engine_line(&words, line);
}

void pool_words(const ServingQuestion *question, const ServingPool *pool, EngineWords *out) {
    int engine = pool->on.engine;
    EngineAsk ask = {&question->model, &question->chip, &pool->on.layout};
    EngineKnobs knobs = {.role = pool->phase == PHASE_BOTH      ? ENGINE_ALONE
                                 : pool->phase == PHASE_PROMPTS ? ENGINE_PROMPTS
                                                                : ENGINE_DECODES,
                         .sequences = pool_slots(question, pool),
                         .step_tokens = pool->step_tokens,
                         .length = (int64_t)question->longest + SPECIAL_TOKENS,
                         .memory_fraction = question->profiles[engine].memory_fraction,
                         .drafts = question->speculation.drafts,
                         .adapters = question->adapters};
    if (pool->phase == PHASE_PROMPTS)
        knobs.sequences = max_whole(knobs.sequences, PROMPTS_IN_FLIGHT * pool->on.layout.attention_data);
    engine_at(engine)->words(&ask, &knobs, out);
}

HeldBy step_held_by(const StepCost *step) {
    HeldBy most = HELD_BY_HBM;
    for (int held = 0; held < HELD_KINDS; held++)
        if (step->held[held] > step->held[most]) most = (HeldBy)held;
    return most;
}

int report_points(const ServingReport *report) {
    if (report->top == 0) return report->answer->kind_count;
    return (int)min_whole(report->top, report->answer->front.count);
}

const ServingPoint *report_point(const ServingReport *report, int number, const char **kind) {
    *kind = "";
    if (report->top > 0) return &report->answer->front.points[number];
    *kind = report->answer->kinds[number].kind;
    return &report->answer->kinds[number].point;
}
