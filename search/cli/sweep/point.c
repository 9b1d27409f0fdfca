/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/cli/sweep/point.h"

#include "base/memory_stream.h"
#include "search/cli/planning.h"
#include "search/options/data_files.h"
#include "search/rl/rl_report.h"
#include "search/serving/options/served.h"
#include "search/serving/report/serving_report.h"

#include <stdlib.h>
#include <string.h>

/* ---- training ---- */

static Request *request_of(const Options *words, Arena *arena, Error *failure) {
    Request *request = ARENA_NEW(arena, Request, 1);
    if (!request) return error_memory(failure), NULL;
    if (!request_from_options(words, arena, request, failure)) return NULL;
    request->control.top = 1;
    request->control.different = false;
    return request;
}

int64_t training_point_chips(const Options *words, Arena *arena, Error *failure) {
    const Request *request = request_of(words, arena, failure);
    return request ? request->question.machine.mesh.chips : 0;
}

/* What `plan` says on stderr of this request, without its "shardopt: warning: "; sets the threads. In the arena. */
static const char *warning_of(const Request *request, Arena *arena) {
    static const char PREFIX[] = "shardopt: warning: ";
    char *text = NULL;
    size_t length = 0;
    FILE *memory = memory_stream_open(&text, &length);
    if (!memory) return NULL;
    planning_announce(request, &(OutputChoice){0}, memory);
    thousands_warn(request, &(OutputChoice){0}, memory);
    const char *kept = fclose(memory) == 0 ? arena_text(arena, "") : NULL;
    for (char *line = text; kept && line && *line;) {
        char *end = line + strcspn(line, "\n"), *next = end + (*end == '\n');
        *end = '\0';
        if (strncmp(line, PREFIX, sizeof PREFIX - 1) == 0) line += sizeof PREFIX - 1;
        kept = arena_format(arena, "%s%s%s", kept, kept[0] ? "; " : "", line);
        line = next;
    }
    free(text);
    return kept;
}

bool training_point_row(const SweepPoint *point, Arena *arena, SweepText *row, Error *failure) {
    Report *report = ARENA_NEW(arena, Report, 1);
    if (!report) return error_memory(failure);
    Request *request = request_of(point->words, arena, failure);
    const char *warning = request ? warning_of(request, arena) : NULL;
    if (!request) return false;
    if (!warning) return error_memory(failure);
    if (!sweep_search(request, arena, report, failure) || !data_files_name(report, arena, failure)) return false;
    snprintf(report->data_sha256, sizeof report->data_sha256, "%s", point->data_sha256);
    return sweep_row_of_report(point->grid, point->point, report, warning, row, failure);
}

/* ---- serving ---- */

int64_t serving_point_chips(const Options *words, Arena *arena, Error *failure) {
    ServingRequested *request = ARENA_NEW(arena, ServingRequested, 1);
    if (!request) return error_memory(failure), 0;
    return serving_question(words, arena, request, failure) ? request->question.machine.mesh.chips : 0;
}

static bool write_served(const SweepPoint *point, const Served *served, SweepText *row, Error *failure) {
    const ServingAnswer *answer = &served->answer;
    SweepRow out = {.point = point->point,
                    .state = !answer->count.complete ? POINT_NOT_PROVEN
                             : answer->has_best      ? POINT_OK
                                                     : POINT_NO_PLAN,
                    .message = answer->has_best || answer->front.count == 0 ? "" : "no point keeps the limits",
                    .warning = "",
                    .has_plan = answer->has_best};
    PointRecord record;
    if (answer->has_best) {
        point_record(&served->report, &answer->best, 0, &record);
        fields_fill(sweep_fields(point->grid), &out, POINT_FIELDS, &record);
    }
    cJSON *report = point->keeps_report ? serving_json(&served->report) : cJSON_CreateObject();
    return report ? sweep_row_write(point->grid, &out, report, row, failure) : error_memory(failure);
}

bool serving_point_row(const SweepPoint *point, Arena *arena, SweepText *row, Error *failure) {
    Served *served = ARENA_NEW(arena, Served, 1);
    if (!served) return error_memory(failure);
    bool ok = serve(point->words, arena, served, failure) && write_served(point, served, row, failure);
    served_free(served);
    return ok;
}

/* ---- reinforcement learning ---- */

int64_t rl_point_chips(const Options *words, Arena *arena, Error *failure) {
    RlQuestion *question = ARENA_NEW(arena, RlQuestion, 1);
    if (!question) return error_memory(failure), 0;
    return rl_question(words, arena, question, failure) ? question->chips + question->rollout_only : 0;
}

/* What `rl` says with the same options. */
static bool write_step(const SweepPoint *point, const RlQuestion *question, const RlAnswer *answer,
                       const Recipes *recipes, SweepText *row, Error *failure) {
    const RlStep *best = &answer->best[answer->first];
    char split[RL_WORDS_SIZE], trainer[RL_WORDS_SIZE], rollout[RL_WORDS_SIZE];
    const char *warning = question->answers.left_out ? question->answers.left_out : question->calls_left_out;
    SweepRow out = {.point = point->point,
                    .state = answer->found ? POINT_OK : POINT_NO_PLAN,
                    .message = answer->found ? "" : rl_lack_words(answer),
                    .warning = warning ? warning : "",
                    .has_plan = answer->found};
    if (answer->found) {
        out.plan = split_short(best, split);
        out.trainer = trainer_degrees(&best->trainer, trainer);
        out.rollout = rollout_degrees(&best->rollout, rollout);
        out.chips = question->chips + question->rollout_only;
        out.train_chips = best->train_chips, out.rollout_chips = best->rollout_chips;
        out.step_seconds = best->seconds;
        out.tokens_per_hour = rl_tokens_per_hour(question, best);
        out.cost_usd = rl_usd_per_step(question, best);
    }
    cJSON *report = point->keeps_report ? rl_json(question, answer, recipes) : cJSON_CreateObject();
    return report ? sweep_row_write(point->grid, &out, report, row, failure) : error_memory(failure);
}

bool rl_point_row(const SweepPoint *point, Arena *arena, SweepText *row, Error *failure) {
    RlQuestion *question = ARENA_NEW(arena, RlQuestion, 1);
    RlAnswer *answer = ARENA_NEW(arena, RlAnswer, 1);
    Recipes recipes = {0};
    if (!question || !answer) return error_memory(failure);
    return rl_question(point->words, arena, question, failure) && rl_answer(question, arena, answer, failure) &&
           (!point->keeps_report || !answer->found || recipes_price(question, arena, &recipes, failure)) &&
           write_step(point, question, answer, &recipes, row, failure);
}
