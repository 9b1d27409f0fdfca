/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/cli/commands/kinds.h"

#include "base/file.h"
#include "base/util.h"
#include "search/serving/measured/serving_runs.h"

#include <string.h>

static const Command SWEEP_SERVING = {
    .name = "sweep inference",
    .summary = "the best point of every question of a grid: lists in any option of `inference`, one row each",
    .usage = "sweep inference --model NAME[,NAME...] [--shard K/N] [--resume FILE] [OPTIONS of `inference`]",
    .options = SERVING_OPTIONS,
    .option_count = OPTION_COUNT,
    .use = USE_INFERENCE | USE_SWEEP,
    .footer = PLANNING_FOOTER(""),
};

static const Command SWEEP_RL = {
    .name = "sweep rl",
    .summary = "the best step of every question of a grid: lists in any option of `rl`, one row each",
    .usage = "sweep rl --model NAME[,NAME...] [--shard K/N] [--resume FILE] [OPTIONS of `rl`]",
    .options = RL_OPTIONS,
    .option_count = OPTION_COUNT,
    .use = USE_SWEEP,
    .footer = PLANNING_FOOTER(""),
};

static const AnswerKind KINDS[] = {
    {NULL, training_explain, training_emit, training_again, NULL, training_point_chips, training_point,
     training_validate, training_calibrate},
    {"inference", serving_explain, serving_emit, serving_again, &SWEEP_SERVING, serving_point_chips, serving_point,
     serving_validate, serving_calibrate},
    {.command = "rl", .sweep = &SWEEP_RL, .point_chips = rl_point_chips, .point = rl_point},
};

const AnswerKind *kind_of_word(const char *word) {
    for (size_t i = 0; i < COUNT_OF(KINDS); i++)
        if (word && KINDS[i].command && strcmp(KINDS[i].command, word) == 0) return &KINDS[i];
    return NULL;
}

const AnswerKind *kind_of_report(const cJSON *report) {
    const AnswerKind *kind = kind_of_word(report_kind(report)->command);
    return kind ? kind : &KINDS[0];
}

const AnswerKind *kind_of_table(const char *path, Arena *arena) {
    Error ignored = {0};
    char *text;
    size_t length;
    bool read = file_read(path, 64 << 20, arena, &text, &length, &ignored);
    return &KINDS[read && serving_runs_are(text)];
}

bool kind_takes(const AnswerKind *kind, const CommandLine *line, const int *options, size_t count, Error *error) {
    for (size_t i = 0; i < count && kind->command; i++)
        if (line->text[options[i]])
            return error_set(error, ERROR_INPUT, line->where[options[i]],
                             "is of training runs, and the table has runs that serve; leave it out");
    return true;
}
