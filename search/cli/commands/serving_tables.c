/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `shardopt validate` of serving runs. */
#include "base/file.h"
#include "base/json.h"
#include "base/text/page.h"
#include "base/text/prose.h"
#include "base/text/table.h"
#include "base/text/terminal.h"
#include "search/cli/commands/serving_sets.h"
#include "search/serving/measured/serving_score.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The errors of replayed serving runs, as text, Markdown and JSON. */

typedef struct {
    const ServingOutcome *outcomes;
    const ServingScore *score;
    const char *path, *profile;
} ServingValidateView;

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

static Table score_table(const ServingScore *score, Arena *arena) {
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
    char path[1024];
    prose_add(
        to,
        "%lld of %lld rows of %s replayed with profile %s. Errors are predicted / measured - 1, magnitudes weighed "
        "so that each group of rows counts once; the bias has its sign.",
        (long long)view->score->replayed, (long long)view->score->count, clean_text(view->path, path, sizeof path),
        view->profile);
}

static void write_paragraph(const char *text, bool markdown, TextOut out) {
    if (markdown)
        fprintf(out.file, "%s\n", text);
    else
        prose_write(out, "", "", text);
}

static bool write_table(Table *table, bool markdown, TextOut out) {
    return markdown ? table_write_markdown(table, out.file) : table_write_text(table, "", out);
}

static bool serving_validate_words(TextOut out, const ServingValidateView *view, bool markdown, Error *error) {
    Arena arena = {0};
    Prose head = {0}, order = {0};
    Table errors = score_table(view->score, &arena), skipped = skipped_table(view, &arena);
    say_head(view, &head);
    say_order(&view->score->order, &order);
    write_paragraph(head.text, markdown, out);
    fputc('\n', out.file);
    bool ok = write_table(&errors, markdown, out);
    if (order.text[0]) fputc('\n', out.file), write_paragraph(order.text, markdown, out);
    if (skipped.rows > 0) {
        fputs(markdown ? "\nNot replayed:\n\n" : "\nNot replayed:\n", out.file);
        ok = write_table(&skipped, markdown, out) && ok;
    }
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

/* JSON, or the page with it. */
static bool serving_validate_json(TextOut out, const ServingValidateView *view, bool page, Error *error) {
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
    bool ok = json && (page ? page_write(json, out.file, error) : json_print(out.file, json));
    cJSON_Delete(json);
    return ok || error_memory(error);
}

/* `shardopt validate` of a table of serving runs, recognised by its keys. */

static bool matches(const char *const *names, int count, const char *name) {
    for (int i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0) return true;
    return count == 0;
}

static bool replay_all(const ValidateOptions *options, const ServingRuns *runs, ServingReplay *with,
                       ServingValidateView *view, ServingScore *score, Error *error) {
    ServingOutcome *outcomes = ARENA_NEW(with->arena, ServingOutcome, (size_t)runs->count + 1);
    int64_t count = 0;
    if (!outcomes) return error_memory(error);
    for (int64_t i = 0; i < runs->count; i++) {
        const ServingRun *run = &runs->runs[i];
        if (!matches(options->filter.chips, options->filter.chip_count, run->chip) ||
            !matches(options->filter.sources, options->filter.source_count, run->family))
            continue;
        if (!serving_replay(with, run, &outcomes[count++], error)) return false;
    }
    if (count == 0) return error_set(error, ERROR_INPUT, options->path, "no run is both of --source and of --chip");
    view->outcomes = outcomes;
    view->score = score;
    return serving_score(outcomes, count, with->arena, score, error);
}

static bool write_view(const ValidateOptions *options, const ServingValidateView *view, Streams streams, Error *error) {
    Draft draft;
    if (!draft_open(&draft, error)) return false;
    TextOut out = {draft.file, output_terminal(streams, options->output)};
    bool page = options->format == VALIDATE_HTML, json = page || options->format == VALIDATE_JSON;
    bool ok = json ? serving_validate_json(out, view, page, error)
                   : serving_validate_words(out, view, options->format == VALIDATE_MARKDOWN, error);
    return draft_write(&draft, ok, streams.out, options->output, error);
}

bool serving_validate(const ValidateOptions *options, Arena *arena, Streams streams, int *code, Error *error) {
    if (options->sets) {
        if (serving_sets(options, arena, streams, error)) *code = EXIT_DONE;
        return error->kind == ERROR_NONE;
    }
    ServingRuns runs;
    ServingScore score;
    ServingReplay with = {.arena = arena};
    ServingValidateView view = {.path = options->path, .profile = options->profile ? options->profile : "default"};
    cJSON *profile = serving_profile_open(view.profile, arena, &with.where, error);
    with.profile = profile;
    bool ok = profile && serving_runs_load(options->path, options->facts, arena, &runs, error) &&
              replay_all(options, &runs, &with, &view, &score, error) && write_view(options, &view, streams, error);
    cJSON_Delete(profile);
    if (ok) *code = EXIT_DONE;
    return ok;
}
