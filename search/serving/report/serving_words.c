/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/serving/report/serving_report.h"

#include "base/memory_stream.h"
#include "base/util.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *serving_rate(double value, char text[NUMBER_TEXT_SIZE]) {
    snprintf(text, NUMBER_TEXT_SIZE, value < 99.5 ? "%.1f" : "%.0f", value);
    if (value >= 999.5) number_grouped((int64_t)(value + 0.5), text);
    return text;
}

/* Degrees above 1 as the plan notation has them ("tensor=4"), or in the field's words ("TP4"). */
static const char *pool_text(const ServingPool *pool, bool field, char text[POOL_TEXT_SIZE]) {
    static const char *const FIELD[] = {"TP", "PP", "DP", "EP", "MoE-TP", "DCP", "KV-DP", "2D-MLP"};
    const WorkerLayout *layout = &pool->on.layout;
    const int64_t values[] = {layout->tensor,        layout->pipeline,    layout->attention_data, layout->expert,
                              layout->expert_tensor, layout->kv_sequence, layout->kv_batch,       layout->stationary};
    size_t used = 0;
    text[0] = '\0';
    for (int word = 0; word < (int)COUNT_OF(values); word++) {
        if (values[word] <= 1 || used >= POOL_TEXT_SIZE) continue;
        if (field && word == LAYOUT_EXPERT_TENSOR && layout->expert_tensor == layout->tensor)
            continue; /* as attention */
        used += (size_t)snprintf(text + used, POOL_TEXT_SIZE - used, "%s%s%s%lld", used ? " " : "",
                                 field ? FIELD[word] : layout_word_name((LayoutWord)word), field ? "" : "=",
                                 (long long)values[word]);
    }
    if (used == 0) snprintf(text, POOL_TEXT_SIZE, "one chip");
    return text;
}

static const char *point_text(const ServingPoint *point, bool field, char text[POINT_TEXT_SIZE]) {
    char one[POOL_TEXT_SIZE], two[POOL_TEXT_SIZE];
    const ServingPool *first = &point->pools[0], *second = &point->pools[1];
    pool_text(first, field, one);
    if (point->pool_count == 1)
        snprintf(text, POINT_TEXT_SIZE, "%lld x %s, batch %lld%s", (long long)first->workers, one,
                 (long long)first->batch, field && first->workers > 1 ? " each" : "");
    else
        snprintf(text, POINT_TEXT_SIZE, "%s %lld x %s; decode %lld x %s, batch %lld%s", field ? "prefill" : "prompts",
                 (long long)first->workers, one, (long long)second->workers, pool_text(second, field, two),
                 (long long)second->batch, field && second->workers > 1 ? " each" : "");
    return text;
}

const char *pool_notation(const ServingPool *pool, char text[POOL_TEXT_SIZE]) { return pool_text(pool, false, text); }
const char *pool_degrees(const ServingPool *pool, char text[POOL_TEXT_SIZE]) { return pool_text(pool, true, text); }

const char *point_notation(const ServingPoint *point, char text[POINT_TEXT_SIZE]) {
    return point_text(point, false, text);
}
const char *point_degrees(const ServingPoint *point, char text[POINT_TEXT_SIZE]) {
    return point_text(point, true, text);
}

const char *point_engine(const ServingPoint *point) {
    int engine = point->pools[0].on.engine;
    return engine == NO_ENGINE ? "none" : engine_at(engine)->title;
}

/* Tokens that a tokenizer adds to a text; and the prompts that a worker for prompts holds: while it computes one, the
 * caches of others are on their way. */
enum { SPECIAL_TOKENS = 64, PROMPTS_IN_FLIGHT = 8 };

const char *serving_limit(double seconds, char text[NUMBER_TEXT_SIZE]) {
    double unit = pow(10, floor(log10(seconds)) - 1), limit = ceil(seconds / unit) * unit;
    snprintf(text, NUMBER_TEXT_SIZE, limit < 1 ? "%.3gms" : "%.3gs", limit < 1 ? 1000 * limit : limit);
    return text;
}

/* Sequences that a worker is started with: those in flight, and of requests at a rate three deviations of their number
 * more (Poisson's), since that is a mean. */
static int64_t pool_slots(const ServingQuestion *question, const ServingPool *pool) {
    return pool->batch + (question->rate > 0 ? (int64_t)ceil(3 * sqrt((double)pool->batch)) : 0);
}

int64_t pool_graphs(const ServingQuestion *question, const ServingPool *pool) {
    enum { FEW = 256 };
    int64_t ranks = pool->on.layout.attention_data, rows = question->speculation.drafts + 1;
    int64_t batch = divide_up(pool_slots(question, pool), ranks) * rows;
    int64_t step = batch <= 2 ? 1 : batch <= 4 ? 4 : batch <= FEW ? 8 : 16;
    return divide_up(batch, step) * step;
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
    EngineAsk ask = {&question->model, &question->chip, &pool->on.layout, engine_role(pool->phase)};
    EngineKnobs knobs = {.role = ask.role,
                         .sequences = pool_slots(question, pool),
                         .step_tokens = pool->step_tokens,
                         .length =
                             question->accepted > 0 ? question->accepted : (int64_t)question->longest + SPECIAL_TOKENS,
                         .memory_fraction = question->profiles[engine].memory_fraction,
                         .drafts = question->speculation.drafts,
                         .adapters = question->adapters,
                         .host_bytes = pool->hit.copied > 0 ? question->prefixes.host_bytes : 0};
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

void serving_add_job(const ServingQuestion *question, const ServingPoint *best, Prose *prose) {
    double seconds = (double)question->requests / best->requests_per_second, chips = point_chips_paid(question, best);
    double hours = chips * seconds / 3600, usd = question->chip.usd_per_chip_hour.value;
    char one[NUMBER_TEXT_SIZE], two[NUMBER_TEXT_SIZE];
    prose_add(prose, "%s requests take %.3g hours: %s chip-hours", number_grouped(question->requests, one),
              seconds / 3600, number_short(hours, two));
    if (usd > 0) prose_add(prose, ", $%s", number_short(hours * usd, one));
    double share = question->finish_in_seconds > 0 ? seconds / question->finish_in_seconds : 1;
    double workers = (double)best->pools[0].workers, enough = ceil(share * workers * (1 - 1e-12));
    if (share > 1)
        prose_add(prose, ". To end within %.3g h it takes %.0f chips", question->finish_in_seconds / 3600,
                  ceil(chips * share));
    else if (best->pool_count == 1 && enough < workers)
        prose_add(prose, "; %.0f of the %.0f copies end in %.3g", enough, workers, seconds / 3600 * workers / enough);
    prose_add(prose, ". Nobody waits for a token.");
}

void serving_add_weights(const ServingQuestion *q, Prose *prose) {
    static const StoredType TYPES[] = {STORED_BF16, STORED_FP8, STORED_INT4};
    ServedModel served = question_served(q, NO_ENGINE);
    WorkerLayout one = {1, 1, 1, 1, 1, 1, 1, 1, q->weights[0], q->caches[0]};
    double held = q->device.hbm_bytes.value * (double)q->machine.mesh.devices,
           requested = worker_weights_bytes(&served, &one);
    prose_add(prose, " All weights once take %.0f GB in %s", requested / 1e9, stored_name(q->weights[0]));
    for (size_t i = 0; i < COUNT_OF(TYPES); i++) {
        one.weights = TYPES[i];
        double bytes = worker_weights_bytes(&served, &one);
        if (bytes < 0.95 * requested)
            prose_add(prose, ", %.0f GB with --precision %s", bytes / 1e9, stored_name(TYPES[i]));
    }
    prose_add(prose, "; the machine has %.0f GB.", held / 1e9);
}

bool serving_write_next(const ServingReport *report, TextOut out) {
    if (!report->answer->has_best) return true;
    const ServingPoint *point = &report->answer->best;
    static const char *const LEFT_OUT[] = {"engine", "top", "brute-force", "time-limit"};
    if (point->pools[0].on.engine == NO_ENGINE || point->mode == SERVE_DECODE || point->mode == SERVE_PREFILL)
        return true;
    const Engine *engine = engine_at(point->pools[0].on.engine);
    char *command = NULL;
    size_t length = 0;
    FILE *memory = memory_stream_open(&command, &length);
    if (!memory) return false;
    fprintf(memory, "shardopt emit %s%s", engine->name, engine == &ENGINE_MAXTEXT ? "-serving" : "");
    for (int i = 0; i < report->said_count; i++) {
        const ServingSaid *said = &report->said[i];
        bool skip = (strcmp(said->option, "prompt") == 0 && strcmp(said->value, "1024") == 0) ||
                    (strcmp(said->option, "answer") == 0 && strcmp(said->value, "256") == 0);
        for (size_t k = 0; k < COUNT_OF(LEFT_OUT); k++) skip = skip || strcmp(said->option, LEFT_OUT[k]) == 0;
        if (skip) continue;
        fprintf(memory, " --%s ", said->option);
        engine_print_quoted(said->value, memory);
    }
    bool ok = fclose(memory) == 0;
    if (ok) fprintf(out.file, "Next: %s\n", command);
    free(command);
    return ok;
}
