/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A distribution of lengths as means: of requests, and of the sequences that are in flight at a time. */
#include "search/serving/options/serving_options.h"

#include <stdio.h>
#include <string.h>

bool serving_lengths(const char *text, const char *where, ServingQuestion *question, Error *error) {
    double weights = 0, prompts = 0, outputs = 0, stays = 0, peaks = 0, contexts = 0, squares = 0;
    int line_number = 0;
    for (const char *line = text; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        char row[256];
        double prompt, output, weight = 1;
        line_number++;
        snprintf(row, sizeof row, "%.*s", (int)strcspn(line, "\r\n#"), line);
        if (row[strspn(row, " \t")] == '\0') continue;
        char rest;
        int read = sscanf(row, "%lf %lf %lf %c", &prompt, &output, &weight, &rest);
        if (read < 2 || read > 3 || !(prompt >= 1 && prompt <= 1e9) || !(output >= 1 && output <= 1e9) ||
            !(weight > 0 && weight <= 1e12))
            return error_set(error, ERROR_INPUT, where,
                             "line %d: give prompt tokens, output tokens and perhaps a weight, "
                             "all above 0",
                             line_number);
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
    if (!(weights > 0)) return error_set(error, ERROR_INPUT, where, "has no lengths; give lines of prompt and output");
    question->request.prompt = prompts / weights;
    question->request.output = outputs / weights;
    question->peak_tokens = peaks / stays;
    question->mean_context = contexts / stays;
    question->prompt_context = squares / prompts;
    return true;
}
