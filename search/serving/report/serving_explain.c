/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One point in full: what it gives, then each pool with its layout, its placement, its step and its memory. */
#include "base/text/prose.h"
#include "base/text/table.h"
#include "search/answer/plan_words.h"
#include "search/serving/report/serving_report.h"

static void write_given(const ServingReport *report, const ServingPoint *point, TextOut out) {
    char way[POINT_TEXT_SIZE], tpot[NUMBER_TEXT_SIZE], late[NUMBER_TEXT_SIZE], ttft[NUMBER_TEXT_SIZE],
        machine[WORDS_SIZE];
    const ServingQuestion *q = report->question;
    double factor = report->answer->likely_factor;
    Prose head = {0}, rates = {0};
    prose_add(&head, "%s on %s: %s, %s", q->model.name, machine_of(&q->chip, q->machine.text, 0, machine),
              point_engine(point), point_notation(point, way));
    text_strong(out);
    prose_write(out, "", "  ", head.text);
    text_plain(out);
    prose_add(&rates, "%.1f tokens/s for a user, %.1f for a chip, %.0f in all; %.3g requests/s", point->per_user,
              point->per_chip, point->tokens_per_second, point->requests_per_second);
    if (point->tpot_seconds > 0)
        prose_add(&rates, "; %s per token, nine in ten below %s", step_text(point->tpot_seconds, tpot),
                  step_text(point->tpot_seconds * factor, late));
    if (point->ttft_seconds > 0)
        prose_add(&rates, "; first token in %s at %.0f%% of the capacity for prompts",
                  step_text(point->ttft_seconds, ttft), 100 * point->prefill_load);
    if (point->pool_count == 2)
        prose_add(&rates, "; a cache takes %s between the pools", step_text(point->transfer_seconds, tpot));
    double usd = point_usd_per_million(q, point, point->tokens_per_second);
    if (usd >= 0) prose_add(&rates, "; $%.2f per million tokens", usd);
    prose_add(&rates, "; %lld chips of %lld.", (long long)point->chips_used, (long long)q->machine.mesh.chips);
    prose_write(out, "  ", "  ", rates.text);
}

static void write_where(const ServingPool *pool, TextOut out) {
    static const struct {
        Role role;
        const char *name;
    } ROLES[] = {{ROLE_TENSOR, "tensor"}, {ROLE_EXPERT, "attention_data"}, {ROLE_PIPELINE, "pipeline"}};
    const SubMesh *submesh = pool->on.submesh;
    Prose prose = {0};
    for (int a = 0; a < submesh->mesh.axis_count; a++)
        for (size_t r = 0; r < sizeof ROLES / sizeof ROLES[0]; r++)
            if (pool->on.placement.factor[a][ROLES[r].role] > 1)
                prose_item(&prose, ", ", "%s %lld on %s", ROLES[r].name,
                           (long long)pool->on.placement.factor[a][ROLES[r].role], submesh->mesh.axes[a].name);
    if (!prose.text[0]) prose_add(&prose, "one device");
    prose_write(out, "  Lies: ", "  ", prose.text);
}

static bool write_step(const ServingPool *pool, Arena *arena, TextOut out) {
    Table table = table_new(arena, "Step", "a step by kernel|>seconds|>share");
    char text[NUMBER_TEXT_SIZE], share[NUMBER_TEXT_SIZE];
    for (int term = 0; term < STEP_TERMS; term++) {
        if (!(pool->step.terms[term] > 0)) continue;
        table_cell(&table, "%s", step_term_name((StepTerm)term));
        table_cell(&table, "%s", step_text(pool->step.terms[term], text));
        table_cell(&table, "%s", share_text(pool->step.terms[term] / pool->step.seconds, share));
    }
    table_cell(&table, "in all, held up by %s", held_by_name(step_held_by(&pool->step)));
    table_cell(&table, "%s", step_text(pool->step.seconds, text));
    table_cell(&table, "100.0%%");
    return table_write_text(&table, "  ", out);
}

static bool write_memory(const ServingPool *pool, Arena *arena, TextOut out) {
    const WorkerMemory *memory = &pool->memory;
    const struct {
        const char *name;
        double bytes;
    } rows[] = {{"weights", memory->weights_bytes},         {"cache", memory->kv_bytes},
                {"activations", memory->activations_bytes}, {"graphs and buffers", memory->workspace_bytes},
                {"in all", worker_memory_total(memory)},    {"what the engine may use", memory->limit_bytes}};
    Table table = table_new(arena, "Memory", "memory of a chip|>bytes");
    char text[NUMBER_TEXT_SIZE];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        table_cell(&table, "%s", rows[i].name);
        table_cell(&table, "%s", number_bytes(rows[i].bytes, text));
    }
    return table_write_text(&table, "  ", out);
}

static bool write_pool(const ServingReport *report, const ServingPool *pool, Arena *arena, TextOut out) {
    static const char *const PHASES[] = {"Prompts and decoding", "Prompts", "Decoding"};
    char way[POOL_TEXT_SIZE], words[ENGINE_LINE_SIZE];
    Prose head = {0};
    fputc('\n', out.file);
    prose_add(&head, "%s: %lld x %s, %lld sequences in each, at most %lld tokens a step, %s weights, %s cache",
              PHASES[pool->phase], (long long)pool->workers, pool_notation(pool, way), (long long)pool->batch,
              (long long)pool->step_tokens, stored_name(pool->on.layout.weights), stored_name(pool->on.layout.cache));
    prose_write(out, "", "  ", head.text);
    write_where(pool, out);
    if (pool_launch(report->question, pool, words)[0]) fprintf(out.file, "  %s\n", words);
    return write_step(pool, arena, out) && write_memory(pool, arena, out);
}

bool serving_explain_text(const ServingReport *report, const ServingPoint *point, TextOut out, Error *error) {
    Arena arena = {0};
    bool ok = true;
    write_given(report, point, out);
    for (int i = 0; i < point->pool_count && ok; i++) ok = write_pool(report, &point->pools[i], &arena, out);
    arena_free(&arena);
    return ok || error_memory(error);
}
