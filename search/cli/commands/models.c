/* SPDX-License-Identifier: GPL-3.0-or-later */
/* shardopt models [NAME]: the zoo as a table, or one model in full. */
#include "base/memory_stream.h"
#include "base/text/prose.h"
#include "base/util.h"
#include "search/cli/commands.h"
#include "search/cli/views/models_view.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FORMAT };

static const CommandOption OPTIONS[] = {
    [FORMAT] = {OPTION_ROW_TEXT_OR_JSON},
};

/* Names and sources are those of a file that somebody else may have written. False: memory is out. */
static bool write_clean(FILE *out, const Model *model) {
    char *text = NULL;
    size_t length = 0;
    FILE *memory = memory_stream_open(&text, &length);
    if (!memory) return false;
    models_write_text(memory, model);
    if (fclose(memory) != 0) return false;
    text_clean(text);
    fputs(text, out);
    free(text);
    return true;
}

static bool write_answer(TextOut out, const char *name, bool json, Arena *arena, Error *error) {
    Zoo zoo = {0}, like = {0};
    Model model;
    bool file = name && access(name, F_OK) == 0;
    if (!file && !(name ? zoo_names : zoo_load)(arena, &zoo, error)) return false;
    if (name && !file && !zoo_find(&zoo, name)) { /* a part of names lists all that have it */
        if (!zoo_filter(&zoo, name, arena, &like, error)) return false;
        for (int i = 0; i < like.count; i++)
            if (!zoo_complete(&like.models[i], error)) return false;
        if (like.count > 0 && json) return models_write_json(out.file, &like, NULL);
        if (like.count > 0) return models_write_table(out, &like);
    }
    if (name && !model_load(name, arena, &model, error)) {
        if (strcmp(error->where, "--model") == 0) snprintf(error->where, sizeof error->where, "models");
        return false;
    }
    if (json) return models_write_json(out.file, &zoo, name ? &model : NULL);
    return name ? write_clean(out.file, &model) : models_write_table(out, &zoo);
}

/* The words as one, as "llama 70b" filters; or one name. */
static const char *one_name(const CommandLine *line, Error *error) {
    const char *name = line->arguments[0];
    Zoo zoo, like;
    for (int i = 1; i < line->argument_count && name; i++)
        name = arena_format(line->arena, "%s %s", name, line->arguments[i]);
    if (!name && line->argument_count > 0) error_memory(error);
    if (line->argument_count < 2 || !name || !zoo_names(line->arena, &zoo, error) ||
        !zoo_filter(&zoo, name, line->arena, &like, error))
        return name;
    if (like.count == 0)
        error_set(error, ERROR_INPUT, line->arguments[1],
                  "is one name too many; no model has all these words, and a name is one");
    return name;
}

static int run(const CommandLine *line, Streams streams, Error *error) {
    Draft draft;
    int json = 0;
    if (!line_choice(line, FORMAT, &json, error)) return EXIT_USAGE;
    const char *name = one_name(line, error);
    if (error->kind != ERROR_NONE) return EXIT_USAGE;
    if (!draft_open(&draft, error)) return EXIT_DEFECT;
    bool ok = write_answer((TextOut){draft.file, streams.terminal}, name, json, line->arena, error);
    draft_write(&draft, ok, streams.out, NULL, error);
    return EXIT_DONE;
}

const Command COMMAND_MODELS = {
    .name = "models",
    .summary = "the models it knows; with a name one of them, its parts, counts and sources; with a part of "
               "names all that have it",
    .usage = "models [--format text|json] [NAME | config.json | DIR]",
    .details = "The models of the zoo, with the distance of our count from the published one in percent (* over 2%); "
               "with a name, a Hugging Face config.json or its folder: that model, its layers by kind, its "
               "positions, its parameters by part, its FLOPs by convention, and of a file what is left out of it.",
    .options = OPTIONS,
    .option_count = COUNT_OF(OPTIONS),
    .takes_arguments = true,
    .argument_values = "@models",
    .footer = "Exit codes: 0 done, 2 input is wrong, 70 a defect.",
    .examples = "shardopt models\n"
                "shardopt models deepseek-v3\n",
    .run = run,
};
