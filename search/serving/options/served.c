/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/serving/options/served.h"

#include "base/build.h"
#include "base/json.h"
#include "search/options/data_hash.h"

#include <string.h>

/* What was given, and the two defaults that a later program may have otherwise. */
static void say(const Options *options, Served *out) {
    int count = 0;
    bool lengths = options->text[OPTION_LENGTHS] != NULL;
    for (int i = 0; i < OPTION_COUNT; i++) {
        const char *value = options->text[i];
        if (!SERVING_OPTIONS[i].asks) continue;
        if (!value && i == OPTION_PROMPT && !lengths) value = "1024";
        if (!value && i == OPTION_ANSWER && !lengths) value = "256";
        if (value) out->said[count++] = (ServingSaid){option_name(i), SERVING_OPTIONS[i].key, value};
    }
    out->report.said = out->said;
    out->report.said_count = count;
}

bool serve(const Options *options, Arena *arena, Served *out, Error *error) {
    memset(out, 0, sizeof *out);
    ServingRequested *asked = &out->asked;
    if (!serving_question(options, arena, asked, error) || !file_data_sha256(out->data_sha256, arena, error) ||
        !file_sha256(asked->profile_path, out->profile_sha256, error) ||
        !serving_answer(&asked->question, arena, &out->answer, error))
        return false;
    out->report = (ServingReport){.question = &asked->question,
                                  .answer = &out->answer,
                                  .machine = asked->machine.text,
                                  .model = asked->model,
                                  .lengths = asked->lengths,
                                  .profile = asked->profile,
                                  .version = program_version(),
                                  .data_sha256 = out->data_sha256,
                                  .profile_sha256 = out->profile_sha256,
                                  .weights_said = asked->weights_said,
                                  .engines_said = asked->engines_said,
                                  .top = asked->top};
    say(options, out);
    return served_add_nearest(out, arena, error) && served_add_published(out, arena, error);
}

void served_free(Served *served) { serving_answer_free(&served->answer); }

int served_code(const Served *served) {
    enum { DONE = 0, NOTHING = 3, CUT_SHORT = 4 };
    if (!served->answer.count.complete) return CUT_SHORT;
    return served->answer.front.count > 0 ? DONE : NOTHING;
}

bool serving_report_is(const cJSON *json) {
    const cJSON *command = json_at(json, "request.command");
    return cJSON_IsString(command) && strcmp(command->valuestring, "inference") == 0;
}

bool serving_options_of_report(const cJSON *report, const char *file, Options *out, Error *error) {
    const cJSON *options = json_at(report, "request.options");
    *out = (Options){.environment = out->environment};
    for (int i = 0; i < OPTION_COUNT; i++) out->where[i] = file;
    if (!cJSON_IsObject(options))
        return error_set(error, ERROR_INPUT, file, "request.options is missing; write the report again");
    for (const cJSON *one = options->child; one; one = one->next) {
        int at = option_named(SERVING_OPTIONS, one->string);
        if (at < 0 || !SERVING_OPTIONS[at].asks || !cJSON_IsString(one))
            return error_set(error, ERROR_INPUT, file,
                             "request.options.%.40s is no option of `shardopt inference`; leave it out", one->string);
        out->text[at] = one->valuestring;
    }
    return true;
}

const ServingPoint *served_point(const Served *served, int64_t rank, const char *where, Error *error) {
    const ServingFront *front = &served->answer.front;
    if (rank >= 1 && rank <= front->count) return &front->points[rank - 1];
    error_set(error, ERROR_INPUT, where, "%lld is no rank of its front; give 1 to %d", (long long)rank, front->count);
    return NULL;
}
