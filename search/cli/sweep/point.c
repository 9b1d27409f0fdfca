/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/cli/sweep/point.h"

#include "base/memory_stream.h"
#include "search/cli/planning.h"
#include "search/options/data_files.h"
#include "search/rl/rl_report.h"
#include "search/serving/options/served.h"
#include "search/serving/report/serving_report.h"

#include <math.h>
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

bool training_point(const SweepPoint *point, Arena *arena, PointAnswer *out, Error *failure) {
    Report *report = ARENA_NEW(arena, Report, 1);
    if (!report) return error_memory(failure);
    Request *request = request_of(point->words, arena, failure);
    const char *warning = request ? warning_of(request, arena) : NULL;
    if (!request) return false;
    if (!warning) return error_memory(failure);
    if (!sweep_search(request, arena, report, failure) || !data_files_name(report, arena, failure)) return false;
    snprintf(report->data_sha256, sizeof report->data_sha256, "%s", point->data_sha256);
    if (!sweep_answer_of_report(report, arena, out, failure)) return false;
    out->warning = warning;
    return true;
}

/* ---- serving ---- */

int64_t serving_point_chips(const Options *words, Arena *arena, Error *failure) {
    ServingRequested *request = ARENA_NEW(arena, ServingRequested, 1);
    if (!request) return error_memory(failure), 0;
    return serving_question(words, arena, request, failure) ? request->question.machine.mesh.chips : 0;
}

static bool answer_of_served(const SweepPoint *point, const Served *served, PointAnswer *out) {
    const ServingAnswer *answer = &served->answer;
    out->state = !answer->count.complete ? POINT_NOT_PROVEN : answer->has_best ? POINT_OK : POINT_NO_PLAN;
    if (!answer->has_best && answer->front.count > 0) out->message = "no point keeps the limits";
    out->report = point->keeps_report ? serving_json(&served->report) : cJSON_CreateObject();
    if (!answer->has_best) return out->report != NULL;
    PointRecord record;
    point_record(&served->report, &answer->best, 0, &record);
    out->best = cJSON_CreateObject();
    return out->report && sweep_add_best(out->best, sweep_fields(point->grid), POINT_FIELDS, &record);
}

bool serving_point(const SweepPoint *point, Arena *arena, PointAnswer *out, Error *failure) {
    Served *served = ARENA_NEW(arena, Served, 1);
    if (!served) return error_memory(failure);
    bool ok = serve(point->words, arena, served, failure) &&
              (answer_of_served(point, served, out) || error_memory(failure));
    served_free(served);
    return ok;
}

/* ---- reinforcement learning ---- */

int64_t rl_point_chips(const Options *words, Arena *arena, Error *failure) {
    RlQuestion *question = ARENA_NEW(arena, RlQuestion, 1);
    if (!question) return error_memory(failure), 0;
    return rl_question(words, arena, question, failure) ? question->chips + question->rollout_only : 0;
}

static bool add_step(cJSON *to, const RlQuestion *question, const RlStep *best) {
    char split[RL_WORDS_SIZE], trainer[RL_WORDS_SIZE], rollout[RL_WORDS_SIZE];
    double usd = rl_usd_per_step(question, best);
    return to && json_add_text(to, "plan", split_short(best, split)) &&
           json_add_text(to, "trainer", trainer_degrees(&best->trainer, trainer)) &&
           json_add_text(to, "rollout", rollout_degrees(&best->rollout, rollout)) &&
           json_add_whole(to, "chips", question->chips + question->rollout_only) &&
           json_add_whole(to, "train_chips", best->train_chips) &&
           json_add_whole(to, "rollout_chips", best->rollout_chips) && json_add_real(to, "seconds", best->seconds) &&
           json_add_real(to, "tokens_per_hour", rl_tokens_per_hour(question, best)) &&
           json_add_real(to, "usd", usd >= 0 ? usd : NAN);
}

bool rl_point(const SweepPoint *point, Arena *arena, PointAnswer *out, Error *failure) {
    RlQuestion *question = ARENA_NEW(arena, RlQuestion, 1);
    RlAnswer *answer = ARENA_NEW(arena, RlAnswer, 1);
    Recipes recipes = {0};
    if (!question || !answer) return error_memory(failure);
    if (!rl_question(point->words, arena, question, failure) || !rl_answer(question, arena, answer, failure) ||
        (point->keeps_report && answer->found && !recipes_price(question, arena, &recipes, failure)))
        return false;
    out->state = answer->found ? POINT_OK : POINT_NO_PLAN;
    out->message = answer->found ? NULL : rl_lack_words(answer);
    out->warning = question->answers.left_out ? question->answers.left_out : question->calls_left_out;
    out->report = point->keeps_report ? rl_json(question, answer, &recipes) : cJSON_CreateObject();
    if (answer->found) out->best = cJSON_CreateObject();
    return (out->report && (!answer->found || add_step(out->best, question, &answer->best[answer->first]))) ||
           error_memory(failure);
}
