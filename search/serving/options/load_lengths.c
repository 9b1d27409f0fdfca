/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A distribution of lengths as means: of requests, and of the sequences that are in flight at a time. */
#include "base/file.h"
#include "base/rows.h"
#include "search/serving/options/serving_options.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char FOLDER[] = "cost/serving/workloads", SUFFIX[] = ".tsv";

static bool wrong_name(const char *argument, const char *where, char *const *names, size_t count, Error *error) {
    char list[192] = "";
    for (size_t i = 0; i < count; i++) {
        size_t used = strlen(list), length = strlen(names[i]) - strlen(SUFFIX);
        snprintf(list + used, sizeof list - used, "%s%.*s", i ? ", " : "", (int)length, names[i]);
    }
    return error_set(error, ERROR_INPUT, where, "there is no file or workload \"%.60s\"; give a file, or %s", argument,
                     list);
}

bool serving_workload_path(const char *argument, const char *where, Arena *arena, const char **path, Error *error) {
    char **names;
    size_t count, length = strlen(argument);
    Error missing = {0};
    const char *folder = file_data_folder(FOLDER, arena, &missing);
    *path = argument;
    if (strchr(argument, '/') || !folder) return true;
    if (!file_list(folder, SUFFIX, arena, &names, &count, error)) return false;
    for (size_t i = 0; i < count; i++)
        if (strncmp(names[i], argument, length) == 0 && strcmp(names[i] + length, SUFFIX) == 0) {
            *path = arena_format(arena, "%s/%s", folder, names[i]);
            return *path || error_memory(error);
        }
    return access(argument, F_OK) == 0 || wrong_name(argument, where, names, count, error);
}

bool serving_lengths(const char *text, const char *where, Arena *arena, ServingQuestion *question,
                     const char **left_out, Error *error) {
    double weights = 0, prompts = 0, outputs = 0, stays = 0, peaks = 0, contexts = 0, squares = 0;
    Rows rows = {.at = text};
    while (rows_next(&rows)) {
        double prompt, output, weight = 1;
        char rest;
        int end = 0, read = sscanf(rows.text, "%lf %lf %n%lf %c", &prompt, &output, &end, &weight, &rest);
        if (read < 2 || read > 3 || (read == 2 && rows.text[end]) || !(prompt >= 1 && prompt <= 1e9) ||
            !(output >= 1 && output <= 1e9) || !(weight > 0 && weight <= 1e12)) {
            rows_leave_out(&rows);
            continue;
        }
        double new_tokens = prompt * (1 - question->request.cached);
        weights += weight;
        prompts += weight * prompt;
        outputs += weight * output;
        stays += weight * output;
        peaks += weight * output * (prompt + output);
        contexts += weight * output * (prompt + output / 2);
        squares += weight * prompt * (prompt - new_tokens / 2);
        if (prompt + output > question->longest) question->longest = prompt + output;
    }
    if (!rows_settle(&rows, where, "give prompt tokens, output tokens and perhaps a weight, all above 0", arena,
                     left_out, error))
        return false;
    if (!(weights > 0)) return error_set(error, ERROR_INPUT, where, "has no lengths; give lines of prompt and output");
    question->request.prompt = prompts / weights;
    question->request.output = outputs / weights;
    question->peak_tokens = peaks / stays;
    question->mean_context = contexts / stays;
    question->prompt_context = squares / prompts;
    return true;
}
