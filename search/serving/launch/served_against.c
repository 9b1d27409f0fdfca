/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/serving/launch/served_against.h"

#include "base/text/prose.h"
#include "base/text/table.h"
#include "base/util.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double LEAST_GAIN = 0.005; /* below the error of any prediction: not a change to make */

/* One change: conditions that go, and what else is let loose. */
enum { EXPERTS = 1u << LAYOUT_EXPERT | 1u << LAYOUT_EXPERT_TENSOR, ALL = ~0u };
typedef enum { CHANGE_LAYOUT, CHANGE_BUDGET, CHANGE_CACHE, CHANGE_ENGINE, CHANGE_POOLS } ChangeKind;
static const struct {
    const char *what;
    unsigned words; /* conditions that go, as bits of LayoutWord */
    ChangeKind kind;
} CHANGES[] = {
    {"experts", EXPERTS, CHANGE_LAYOUT}, /* first: a change that needs no other degree is named by it */
    {"tensor", 1u << LAYOUT_TENSOR | EXPERTS, CHANGE_LAYOUT},
    {"pipeline", 1u << LAYOUT_PIPELINE, CHANGE_LAYOUT},
    {"attention data", 1u << LAYOUT_ATTENTION_DATA | EXPERTS, CHANGE_LAYOUT},
    {"cache by sequence", 1u << LAYOUT_KV_SEQUENCE, CHANGE_LAYOUT},
    {"sequences in flight", 1u << LAYOUT_BATCH, CHANGE_LAYOUT},
    {"tokens of a step", 0, CHANGE_BUDGET},
    {"cache in fp8", 0, CHANGE_CACHE},
    {"engine", 0, CHANGE_ENGINE},
    {"one pool or two", ALL, CHANGE_POOLS},
};

static void drop_conditions(ServingQuestion *question, unsigned words) {
    int kept = 0;
    for (int i = 0; i < question->requirement_count; i++)
        if (!(words >> question->requirements[i].word & 1)) question->requirements[kept++] = question->requirements[i];
    question->requirement_count = kept;
}

/* The most sequences that its slots and memory take: that many are in flight when it is full. */
static const ServingPoint *fullest(const ServingFront *front) {
    const ServingPoint *best = NULL;
    for (int i = 0; i < front->count; i++) {
        const ServingPoint *one = &front->points[i];
        int64_t batch = one->pools[one->pool_count - 1].batch,
                most = best ? best->pools[best->pool_count - 1].batch : 0;
        if (!best || batch > most || (batch == most && one->per_chip > best->per_chip)) best = one;
    }
    return best;
}

static bool price_now(const ServingQuestion *pinned, Arena *arena, ServedAgainst *out, Error *error) {
    ServingQuestion *question = ARENA_NEW(arena, ServingQuestion, 1);
    ServingAnswer *answer = ARENA_NEW(arena, ServingAnswer, 1);
    if (!question || !answer) return error_memory(error);
    *question = *pinned;
    question->tpot_limit_seconds = question->ttft_limit_seconds = 0;
    for (int round = 0; round < 2 && !out->fits; round++) {
        if (!serving_answer(question, arena, answer, error)) return serving_answer_free(answer), false;
        const ServingPoint *now = fullest(&answer->front);
        if (now) out->now = *now, out->fits = true;
        serving_answer_free(answer);
        if (question->concurrency == 0) break;
        if (!out->fits) out->fewer_slots = true;
        question->concurrency = 0; /* more are in flight than it has slots for */
    }
    if (!out->fits) out->fewer_slots = false;
    return true;
}

static bool try_change(const ServingQuestion *pinned, const ServingQuestion *free, int number, Arena *arena,
                       ServedAgainst *out, Error *error) {
    ServingQuestion *question = ARENA_NEW(arena, ServingQuestion, 1);
    ServingAnswer *answer = ARENA_NEW(arena, ServingAnswer, 1);
    if (!question || !answer) return error_memory(error);
    *question = *pinned;
    if (out->fewer_slots && !(CHANGES[number].words >> LAYOUT_BATCH & 1)) question->concurrency = 0;
    drop_conditions(question, CHANGES[number].words);
    bool budgets = CHANGES[number].kind == CHANGE_BUDGET || CHANGES[number].kind == CHANGE_POOLS;
    if (budgets) {
        memcpy(question->budgets, free->budgets, sizeof question->budgets);
        question->budget_count = free->budget_count;
    }
    if (CHANGES[number].kind == CHANGE_CACHE) {
        if (question->caches[0] == STORED_FP8) return true;
        question->caches[0] = STORED_FP8;
    }
    if (CHANGES[number].kind == CHANGE_ENGINE) question->engines = engines_of_chip(&question->chip) & ~pinned->engines;
    if (CHANGES[number].kind == CHANGE_POOLS)
        question->modes = pinned->modes >> SERVE_AGGREGATED & 1 ? 1u << SERVE_DISAGGREGATED : 1u << SERVE_AGGREGATED;
    if (question->engines == 0) return true;
    bool ok = serving_answer(question, arena, answer, error);
    double gain = ok && answer->has_best ? answer->best.per_chip / out->now.per_chip - 1 : 0;
    for (int i = 0; i < out->change_count && gain > LEAST_GAIN; i++) /* the same, with a degree free that stays */
        if (out->changes[i].gain == gain && out->changes[i].point.tpot_seconds == answer->best.tpot_seconds) gain = 0;
    if (gain > LEAST_GAIN && out->change_count < SERVED_CHANGES_MAX)
        out->changes[out->change_count++] = (ServedChange){CHANGES[number].what, answer->best, gain};
    serving_answer_free(answer);
    return ok;
}

static int by_gain(const void *a, const void *b) {
    double x = ((const ServedChange *)a)->gain, y = ((const ServedChange *)b)->gain;
    return (y > x) - (y < x);
}

bool served_against(const ServedConfig *config, const Served *served, Arena *arena, ServedAgainst *out, Error *error) {
    const ServingQuestion *free = &served->request.question;
    ServingQuestion *pinned = ARENA_NEW(arena, ServingQuestion, 1);
    memset(out, 0, sizeof *out);
    if (!pinned) return error_memory(error);
    *pinned = *free;
    if (!served_config_pin(config, pinned, error) || !price_now(pinned, arena, out, error)) return false;
    if (!out->fits) return true;
    out->keeps = out->now.tpot_seconds <= served->answer.tpot_goal_seconds &&
                 out->now.ttft_seconds <= served->answer.ttft_goal_seconds;
    for (int i = 0; i < (int)COUNT_OF(CHANGES); i++)
        if (!try_change(pinned, free, i, arena, out, error)) return false;
    qsort(out->changes, (size_t)out->change_count, sizeof out->changes[0], by_gain);
    return true;
}

/* ---- as text ---- */

static void write_verdict(const Served *served, const ServedAgainst *against, TextOut out) {
    const ServingAnswer *answer = &served->answer;
    char way[POINT_TEXT_SIZE], tpot[NUMBER_TEXT_SIZE], ttft[NUMBER_TEXT_SIZE];
    Prose prose = {0};
    prose_add(&prose, "It %s the limits of %s per token and %s to the first token.",
              against->keeps ? "keeps" : "breaks", step_text(answer->tpot_goal_seconds, tpot),
              step_text(answer->ttft_goal_seconds, ttft));
    if (answer->has_best) {
        double gain = answer->best.per_chip / against->now.per_chip - 1;
        prose_add(&prose, " The best within them is %s, %s: %.4g tokens/s per chip, ", point_engine(&answer->best),
                  point_notation(&answer->best, way), answer->best.per_chip);
        if (gain > LEAST_GAIN)
            prose_add(&prose, "%.1f%% more.", 100 * gain);
        else if (gain < -LEAST_GAIN)
            prose_add(&prose, "%.1f%% less%s.", -100 * gain,
                      against->keeps ? ", with the margin of the model's error" : "");
        else
            prose_add(&prose, "the same.");
    }
    prose_write(out, "", "  ", prose.text);
}

/* Which term costs what, today and in the best: rows that are a thousandth of neither are left out. */
static void write_why(const Served *served, const ServedAgainst *against, TextOut out) {
    const ServingAnswer *answer = &served->answer;
    ChipTime now, best;
    Prose prose = {0};
    Arena arena = {0};
    char text[NUMBER_TEXT_SIZE], other[NUMBER_TEXT_SIZE];
    if (!answer->has_best || fabs(answer->best.per_chip / against->now.per_chip - 1) < LEAST_GAIN) return;
    chip_time(&served->request.question, &against->now, &now);
    chip_time(&served->request.question, &answer->best, &best);
    int most = now.total > best.total ? chip_time_most(&now, &best) : chip_time_most(&best, &now);
    prose_add(&prose, "A token takes %s of a chip, and %s there", step_text(now.total, text),
              step_text(best.total, other));
    if (most >= 0) prose_add(&prose, "; most of the difference is %s.", chip_time_name(most));
    prose_write(out, "", "  ", prose.text);
    Table table = table_new(&arena, "Why", "a chip's time of a token|>today|>the best|>difference");
    for (int row = 0; row <= CHIP_TIME_ROWS; row++) {
        bool all = row == CHIP_TIME_ROWS;
        double ours = all ? now.total : now.seconds[row], theirs = all ? best.total : best.seconds[row];
        if (max_real(ours, theirs) < 1e-3 * max_real(now.total, best.total)) continue;
        table_cell(&table, "%s", all ? "in all" : chip_time_name(row));
        table_cell(&table, "%s", step_text(ours, text));
        table_cell(&table, "%s", step_text(theirs, text));
        bool same = fabs(ours - theirs) < 1e-4 * max_real(now.total, best.total);
        table_cell(&table, "%s%s",
                   same            ? ""
                   : ours > theirs ? "+"
                                   : "-",
                   same ? "" : step_text(fabs(ours - theirs), text));
    }
    table_write_text(&table, "", out);
    arena_free(&arena);
}

static void write_changes(const Served *served, const ServedAgainst *against, TextOut out) {
    Arena arena = {0};
    ChipTime now, then;
    Table table =
        table_new(&arena, "Changes", "one change|way|engine|>tokens/s/chip|>per token|>first token|>gains|mostly of");
    chip_time(&served->request.question, &against->now, &now);
    for (int i = 0; i < against->change_count; i++) {
        const ServedChange *change = &against->changes[i];
        char way[POINT_TEXT_SIZE], tpot[NUMBER_TEXT_SIZE], ttft[NUMBER_TEXT_SIZE];
        chip_time(&served->request.question, &change->point, &then);
        int most = chip_time_most(&now, &then);
        table_cell(&table, "%s", change->what);
        table_cell(&table, "%s", point_notation(&change->point, way));
        table_cell(&table, "%s", point_engine(&change->point));
        table_cell(&table, "%.4g", change->point.per_chip);
        table_cell(&table, "%s", step_text(change->point.tpot_seconds, tpot));
        table_cell(&table, "%s", step_text(change->point.ttft_seconds, ttft));
        table_cell(&table, "+%.1f%%", 100 * change->gain);
        table_cell(&table, "%s", most < 0 ? "" : chip_time_name(most));
    }
    table_wrap(&table, 1, 40);
    if (against->change_count > 0)
        table_write_text(&table, "", out);
    else
        fprintf(out.file, "No single change gains more than %.1f%% within the limits.\n", 100 * LEAST_GAIN);
    arena_free(&arena);
}

bool served_against_write(const ServedConfig *config, const Served *served, const ServedAgainst *against, bool full,
                          TextOut out, Error *error) {
    const ServingQuestion *question = &served->request.question;
    char way[POINT_TEXT_SIZE], name[PROSE_NAME_SIZE], model[PROSE_NAME_SIZE];
    Prose head = {0};
    prose_add(&head, "%s serves %s on %s of %s with %s", clean_name(config->name, name),
              clean_name(question->model.name, model), question->machine.text, question->chip.title,
              engine_at(config->engine)->title);
    if (!against->fits) {
        prose_add(&head, ": by this model it does not fit, or its steps do not keep up with the prompts.");
        prose_write(out, "", "", head.text);
        return true;
    }
    prose_add(&head, ", %s:", point_notation(&against->now, way));
    text_strong(out);
    prose_write(out, "", "  ", head.text);
    text_plain(out);
    if (full && !serving_explain_text(&served->report, &against->now, out, error)) return false;
    if (!full) serving_write_point(&served->report, &against->now, out);
    if (against->fewer_slots)
        fputs("  More requests are in flight than it has slots: these figures are of those that have one.\n", out.file);
    if (full) fputc('\n', out.file);
    write_verdict(served, against, out);
    write_why(served, against, out);
    write_changes(served, against, out);
    return true;
}

const char *chip_time_name(int row) { return row == CHIP_TIME_IDLE ? "idle chips" : step_term_name((StepTerm)row); }

void chip_time(const ServingQuestion *question, const ServingPoint *point, ChipTime *out) {
    double devices[2] = {0}, all = 0, paid = point_chips_paid(question, point);
    *out = (ChipTime){.total = 1 / point->per_chip};
    for (int p = 0; p < point->pool_count; p++) {
        const ServingPool *pool = &point->pools[p];
        devices[p] = (double)(pool->workers * worker_devices(&pool->on.layout));
        all += devices[p];
    }
    double used = out->total * (double)point->chips_used / paid;
    for (int p = 0; p < point->pool_count; p++) {
        const StepCost *step = &point->pools[p].step;
        double terms = 0; /* more than the step where communication hides */
        for (int term = 0; term < STEP_TERMS; term++) terms += step->terms[term];
        for (int term = 0; term < STEP_TERMS && terms > 0; term++)
            out->seconds[term] += used * devices[p] / all * step->terms[term] / terms;
    }
    out->seconds[CHIP_TIME_IDLE] = out->total - used;
}

int chip_time_most(const ChipTime *first, const ChipTime *second) {
    int most = -1;
    double beyond = 0;
    for (int row = 0; row < CHIP_TIME_ROWS; row++) {
        double more = first->seconds[row] - second->seconds[row];
        if (more > beyond) most = row, beyond = more;
    }
    return most;
}
