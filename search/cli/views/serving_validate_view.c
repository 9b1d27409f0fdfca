/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/cli/views/serving_validate_view.h"

#include "base/json.h"
#include "base/text/prose.h"
#include "base/text/table.h"

#include <math.h>
#include <string.h>

static void add_stats(Table *table, const ServingStats *stats) {
    if (stats->rows == 0) {
        for (int i = 0; i < 4; i++) table_cell(table, "%s", "");
        return;
    }
    table_cell(table, "%lld", (long long)stats->rows);
    table_cell(table, "%.1f%%", 100 * stats->median);
    table_cell(table, "%.0f%%", 100 * stats->p90);
    table_cell(table, "%+.0f%%", 100 * stats->bias);
}

static void add_row(Table *table, const char *by, const char *name, const ServingStats of[SCORE_METRICS]) {
    char clean[PROSE_NAME_SIZE];
    table_cell(table, "%s", by);
    table_cell(table, "%s", clean_name(name, clean));
    for (int metric = 0; metric < SCORE_METRICS; metric++) add_stats(table, &of[metric]);
}

static Table errors_table(const ServingScore *score, Arena *arena) {
    Table table =
        table_new(arena, "Errors",
                  "by|name|>TPOT rows|>median|>p90|>bias|>TTFT rows|>median|>p90|>bias|>rate rows|>median|>p90|"
                  ">bias");
    add_row(&table, "all", "", score->all);
    for (int by = 0; by < SERVED_BY_COUNT; by++)
        for (int i = 0; i < score->by_count[by]; i++)
            add_row(&table, served_by_name((ServedBy)by), score->by[by][i].name, score->by[by][i].of);
    table_wrap(&table, 1, 30);
    return table;
}

/* Reasons, and how many rows each keeps out: the figures in them are left out where rows would differ by them alone. */
static Table skipped_table(const ServingValidateView *view, Arena *arena) {
    Table table = table_new(arena, "Not replayed", ">rows|why, and the first of them");
    int64_t count = view->score->count;
    for (int64_t i = 0; i < count; i++) {
        const char *reason = view->outcomes[i].skipped;
        int64_t rows = 0, first = -1;
        if (!reason[0]) continue;
        for (int64_t j = 0; j < count; j++) {
            if (strcmp(view->outcomes[j].skipped, reason) != 0) continue;
            if (first < 0) first = j;
            rows++;
        }
        if (first != i) continue;
        table_cell(&table, "%lld", (long long)rows);
        table_cell(&table, "%s (%s)", reason, view->outcomes[i].run->id);
    }
    return table;
}

static void say_order(const ServingOrder *order, Prose *to) {
    if (!(order->pairs > 0)) return;
    prose_add(to, "Order within one load: tau %.3f of the time of a token, %.3f of chip-seconds per token",
              order->tau_tpot, order->tau_chip);
    if (order->best > 0)
        prose_add(to, "; the layout predicted best is within 5%% of the best measured in %lld of %lld choices",
                  (long long)order->best_within, (long long)order->best);
    if (order->limits > 0)
        prose_add(to, "; under limits of 10, 15, 20, 30 and 50 ms %lld of %lld choices keep the limit",
                  (long long)order->limits_kept, (long long)order->limits);
    prose_add(to, ".");
}

static void say_head(const ServingValidateView *view, Prose *to) {
    prose_add(
        to,
        "%lld of %lld rows of %s replayed with profile %s. Errors are predicted / measured - 1, magnitudes weighed "
        "so that each group of rows counts once; the bias has its sign.",
        (long long)view->score->replayed, (long long)view->score->count, view->path, view->profile);
}

bool serving_validate_text(TextOut out, const ServingValidateView *view, Error *error) {
    Arena arena = {0};
    Prose head = {0}, order = {0};
    Table errors = errors_table(view->score, &arena), skipped = skipped_table(view, &arena);
    say_head(view, &head);
    say_order(&view->score->order, &order);
    prose_write(out, "", "", head.text);
    fputc('\n', out.file);
    bool ok = table_write_text(&errors, "", out);
    if (order.text[0]) fputc('\n', out.file), prose_write(out, "", "", order.text);
    if (skipped.rows > 0) fputs("\nNot replayed:\n", out.file), ok = table_write_text(&skipped, "", out) && ok;
    arena_free(&arena);
    return ok || error_memory(error);
}

bool serving_validate_markdown(TextOut out, const ServingValidateView *view, Error *error) {
    Arena arena = {0};
    Prose head = {0}, order = {0};
    Table errors = errors_table(view->score, &arena), skipped = skipped_table(view, &arena);
    say_head(view, &head);
    say_order(&view->score->order, &order);
    fprintf(out.file, "%s\n\n", head.text);
    bool ok = table_write_markdown(&errors, out.file);
    if (order.text[0]) fprintf(out.file, "\n%s\n", order.text);
    if (skipped.rows > 0) fputs("\nNot replayed:\n\n", out.file), ok = table_write_markdown(&skipped, out.file) && ok;
    arena_free(&arena);
    return ok || error_memory(error);
}

/* ---- JSON ---- */

static void add_pair(cJSON *to, const char *name, double measured, double predicted) {
    char key[64];
    if (!(measured > 0) && !(predicted > 0)) return;
    snprintf(key, sizeof key, "%s_measured%s", name, strstr(name, "tokens") ? "" : "_seconds");
    json_add_real(to, key, measured > 0 ? measured : NAN);
    snprintf(key, sizeof key, "%s_predicted%s", name, strstr(name, "tokens") ? "" : "_seconds");
    json_add_real(to, key, predicted > 0 ? predicted : NAN);
}

static void add_outcome(cJSON *runs, const ServingOutcome *outcome) {
    cJSON *one = json_add_object(runs, NULL);
    json_add_text(one, "id", outcome->run->id);
    json_add_text(one, "mode", outcome->run->mode);
    json_add_text(one, "group", outcome->run->group);
    json_add_text(one, "layout", outcome->layout);
    add_pair(one, "tpot", outcome->measured.tpot_seconds, outcome->predicted.tpot_seconds);
    add_pair(one, "ttft", outcome->measured.ttft_seconds, outcome->predicted.ttft_seconds);
    add_pair(one, "output_tokens_per_second", outcome->measured.tokens_per_second,
             outcome->predicted.tokens_per_second);
    json_add_real(one, "resident", outcome->resident);
    json_add_real(one, "error", serving_error(outcome));
}

static void add_stats_json(cJSON *to, const ServingStats of[SCORE_METRICS]) {
    for (int metric = 0; metric < SCORE_METRICS; metric++) {
        if (of[metric].rows == 0) continue;
        cJSON *one = json_add_object(to, serving_metric_name((ServingMetric)metric));
        json_add_whole(one, "rows", of[metric].rows);
        json_add_whole(one, "groups", of[metric].groups);
        json_add_real(one, "median", of[metric].median);
        json_add_real(one, "p90", of[metric].p90);
        json_add_real(one, "worst", of[metric].worst);
        json_add_real(one, "bias", of[metric].bias);
    }
}

static void add_summary(cJSON *json, const ServingScore *score) {
    const ServingOrder *order = &score->order;
    cJSON *summary = json_add_object(json, "summary"), *by, *one;
    json_add_whole(summary, "runs", score->replayed);
    add_stats_json(summary, score->all);
    by = json_add_object(summary, "by");
    for (int b = 0; b < SERVED_BY_COUNT; b++) {
        cJSON *list = json_add_object(by, served_by_name((ServedBy)b));
        for (int i = 0; i < score->by_count[b]; i++)
            add_stats_json(json_add_object(list, score->by[b][i].name), score->by[b][i].of);
    }
    one = json_add_object(summary, "order");
    json_add_whole(one, "pairs", order->pairs);
    json_add_real(one, "tau", order->tau_tpot);
    json_add_real(one, "tau_chip_seconds", order->tau_chip);
    json_add_real(one, "best_within_5_percent",
                  order->best > 0 ? (double)order->best_within / (double)order->best : NAN);
    json_add_whole(one, "choices", order->best);
    json_add_whole(one, "limits", order->limits);
    json_add_whole(one, "limits_kept", order->limits_kept);
}

bool serving_validate_json(TextOut out, const ServingValidateView *view, Error *error) {
    cJSON *json = cJSON_CreateObject(), *runs = json_add_array(json, "runs"), *skipped;
    for (int64_t i = 0; i < view->score->count; i++)
        if (!view->outcomes[i].skipped[0]) add_outcome(runs, &view->outcomes[i]);
    skipped = json_add_array(json, "skipped");
    for (int64_t i = 0; i < view->score->count; i++) {
        if (!view->outcomes[i].skipped[0]) continue;
        cJSON *one = json_add_object(skipped, NULL);
        json_add_text(one, "id", view->outcomes[i].run->id);
        json_add_text(one, "reason", view->outcomes[i].skipped);
    }
    add_summary(json, view->score);
    bool ok = json && json_print(out.file, json);
    cJSON_Delete(json);
    return ok || error_memory(error);
}
