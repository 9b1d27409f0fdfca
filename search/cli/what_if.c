/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/cli/what_if.h"

#include "base/json.h"
#include "base/memory_stream.h"
#include "base/number.h"
#include "base/text/field.h"
#include "base/util.h"
#include "search/options/options.h"

#include <stdlib.h>
#include <string.h>

enum { CHANGES_MOST = 8, WORDS_MOST = 16 };

/* What a brief answer has, of its best. */
static const struct {
    const char *list, *path, *of;
    FieldUnit *unit;
    bool moves; /* how far stands behind it */
} FIGURES[] = {
    {"plans", "chips_used", " chips", grouped_text, false},
    {"plans", "step.seconds", " per step", step_text, true},
    {"plans", "tokens_per_second_per_chip", " tokens/s per chip", grouped_text, true},
    {"plans", "training.cost_usd", " in all", usd_text, true},
    {"best_point", "chips_used", " chips", grouped_text, false},
    {"best_point", "tokens_per_second", " tokens/s", grouped_text, true},
    {"best_point", "tokens_per_second_per_chip", " per chip", grouped_text, true},
    {"best_point", "tpot_seconds", " TPOT", step_text, true},
    {"best_point", "cost_usd_per_million_output_tokens", " per million output tokens", usd_text, true},
    {"steps", "train_chips", " chips train", grouped_text, false},
    {"steps", "rollout_chips", " generate", grouped_text, false},
    {"steps", "seconds", " per step", step_text, true},
    {"steps", "usd", " a step", usd_text, true},
};

static double figure(const cJSON *answer, size_t which) {
    const cJSON *best = json_at(answer, FIGURES[which].list);
    if (cJSON_IsArray(best)) best = best->child;
    const cJSON *value = best ? json_at(best, FIGURES[which].path) : NULL;
    return cJSON_IsNumber(value) ? value->valuedouble : -1;
}

/* The answer to a line as brief JSON; NULL without an error: there is none. */
static cJSON *brief(CommandLine line, Error *error) {
    static const Option SILENT[] = {OPTION_WHAT_IF, OPTION_OUTPUT,      OPTION_VERBOSE, OPTION_TIMING,
                                    OPTION_FRONT,   OPTION_CERTIFICATE, OPTION_COLOR};
    char *texts[2] = {NULL, NULL};
    size_t lengths[2] = {0};
    for (size_t i = 0; i < COUNT_OF(SILENT); i++) line.text[SILENT[i]] = NULL;
    line.text[OPTION_FORMAT] = "brief";
    line.text[OPTION_QUIET] = "";
    FILE *out = memory_stream_open(&texts[0], &lengths[0]), *err = memory_stream_open(&texts[1], &lengths[1]);
    if (out && err) line.command->run(&line, (Streams){out, err, {0}}, error);
    bool whole = out && err;
    whole = (!out || fclose(out) == 0) && whole;
    whole = (!err || fclose(err) == 0) && whole;
    if (!whole) error_memory(error);
    bool answered = error->kind == ERROR_NONE && lengths[0] > 0;
    cJSON *json = answered ? json_parse(texts[0], lengths[0], "--what-if", error) : NULL;
    for (int i = 0; i < 2; i++) free(texts[i]);
    return json;
}

/* The words "chip=b200 nodes=4" as options of the line; a machine's size takes the place of any other. */
static bool change(CommandLine *line, const char *words, size_t length, Error *error) {
    char *argv[WORDS_MOST + 2] = {"what-if"}, *next = NULL;
    int argc = 1;
    CommandLine changed;
    char *copy = arena_format(line->arena, "%.*s", (int)length, words);
    char *word = copy ? strtok_r(copy, " ", &next) : NULL;
    for (; word && argc <= WORDS_MOST; word = strtok_r(NULL, " ", &next))
        argv[argc++] = strchr(word, '=') && word[0] != '-' ? arena_format(line->arena, "--%s", word) : word;
    if (word) return error_set(error, ERROR_INPUT, "--what-if", "has more than %d words in a change", WORDS_MOST);
    for (int i = 1; i < argc; i++)
        if (!argv[i]) return error_memory(error);
    if (!copy) return error_memory(error);
    if (argc == 1) return error_set(error, ERROR_INPUT, "--what-if", "is empty; give a change, \"chip=b200\"");
    if (!command_line_read(line->command, argc, argv, line->arena, &changed, error)) return false;
    bool sized = false;
    for (int i = OPTION_PODS; i <= OPTION_NODES; i++) sized = sized || changed.text[i];
    int64_t chips = 0, nodes = 0;
    Error none = {0};
    if (sized && line->text[OPTION_NODES] && line->text[OPTION_CHIPS] && /* hosts stay as large */
        number_whole(line->text[OPTION_CHIPS], "", 1, MACHINE_CHIPS_MAX, &chips, &none) &&
        number_whole(line->text[OPTION_NODES], "", 1, MACHINE_CHIPS_MAX, &nodes, &none) &&
        !(line->text[OPTION_GPUS_PER_NODE] = arena_format(line->arena, "%lld", (long long)(chips / nodes))))
        return error_memory(error);
    for (int i = OPTION_PODS; sized && i <= OPTION_NODES; i++) line->text[i] = NULL;
    for (int i = 0; i < line->command->option_count; i++) {
        if (!changed.text[i]) continue;
        line->text[i] = changed.text[i];
        line->where[i] = "--what-if";
    }
    return true;
}

static void write_line(const char *words, size_t length, const cJSON *base, const cJSON *answer, TextOut out) {
    char text[NUMBER_TEXT_SIZE], move[NUMBER_TEXT_SIZE];
    Prose line = {0};
    prose_add(&line, "What if %.*s:", (int)length, words);
    const char *before = " ";
    for (size_t i = 0; i < COUNT_OF(FIGURES); i++) {
        double value = figure(answer, i), was = figure(base, i);
        if (!(value >= 0)) continue;
        prose_add(&line, "%s%s%s", before, FIGURES[i].unit(value, text), FIGURES[i].of);
        if (FIGURES[i].moves && was > 0) prose_add(&line, " (%s)", change_text(value / was - 1, move));
        before = ", ";
    }
    prose_add(&line, before[0] == ' ' ? " nothing fits, or keeps the limits." : ".");
    prose_write(out, "", "  ", line.text);
}

int what_if_run(const CommandLine *line, Streams streams, Error *error) {
    const char *starts[CHANGES_MOST], *at = line->text[OPTION_WHAT_IF], *format = line->text[OPTION_FORMAT];
    cJSON *answers[CHANGES_MOST] = {NULL}, *base = NULL;
    int count = 0, code = EXIT_DONE;
    CommandLine own = *line;
    own.text[OPTION_WHAT_IF] = NULL;
    if (format && strcmp(format, "text") != 0)
        return error_set(error, ERROR_INPUT, "--what-if", "is a line under the text; leave --format out"), EXIT_USAGE;
    for (; *at && count < CHANGES_MOST && error->kind == ERROR_NONE; at += strspn(at, "; "), count++) {
        CommandLine changed = own;
        size_t length = strcspn(at, ";");
        starts[count] = at;
        if (change(&changed, at, length, error)) answers[count] = brief(changed, error);
        at += length;
    }
    if (*at && error->kind == ERROR_NONE)
        error_set(error, ERROR_INPUT, "--what-if", "has more than %d changes", CHANGES_MOST);
    if (error->kind == ERROR_NONE) base = brief(own, error);
    if (error->kind == ERROR_NONE) code = line->command->run(&own, streams, error);
    for (int i = 0; i < count && error->kind == ERROR_NONE; i++)
        write_line(starts[i], strcspn(starts[i], ";"), base, answers[i],
                   (TextOut){.file = streams.out, .terminal = streams.terminal});
    for (int i = 0; i < count; i++) cJSON_Delete(answers[i]);
    cJSON_Delete(base);
    return error->kind == ERROR_NONE ? code : EXIT_USAGE;
}
