/* SPDX-License-Identifier: GPL-3.0-or-later */
/* shardopt models [NAME]: the zoo as a table, or one model in full. */
#include "base/util.h"
#include "search/cli/command.h"
#include "search/cli/views/models_view.h"

#include <popt.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    bool json, help;
    const char *name; /* NULL: list all; belongs to argv */
} Request;

static bool write_answer(FILE *out, Request request, Arena *arena, Error *error) {
    Zoo zoo = {0};
    Model model;
    if (request.name && !model_load(request.name, arena, &model, error)) {
        if (strcmp(error->where, "--model") == 0) snprintf(error->where, sizeof error->where, "models");
        return false;
    }
    if (!request.name && !zoo_load(arena, &zoo, error)) return false;
    if (request.json) return models_write_json(out, &zoo, request.name ? &model : NULL) || error_memory(error);
    if (!request.name) return models_write_table(out, &zoo) || error_memory(error);
    models_write_text(out, &model);
    return true;
}

static const struct poptOption OPTIONS[] = {
    {"format", '\0', POPT_ARG_STRING, NULL, 'f', "how the answer is written (text)", "text|json"},
    {"help", 'h', POPT_ARG_NONE, NULL, 'h', "this text", NULL},
    POPT_TABLEEND,
};

static bool read_request(poptContext context, Request *request, Error *error) {
    int option;
    while ((option = poptGetNextOpt(context)) > 0) {
        if (option == 'h') request->help = true;
        if (option != 'f') continue;
        char *format = poptGetOptArg(context);
        bool json = format && strcmp(format, "json") == 0, text = format && strcmp(format, "text") == 0;
        if (!json && !text)
            error_set(error, ERROR_INPUT, "--format", "\"%.60s\" is no format; give text or json",
                      format ? format : "");
        free(format);
        if (!json && !text) return false;
        request->json = json;
    }
    if (option < -1)
        return error_set(error, ERROR_INPUT, poptBadOption(context, 0),
                         "%s; `shardopt models --help` lists the options", poptStrerror(option));
    request->name = poptGetArg(context);
    if (request->name && poptPeekArg(context))
        return error_set(error, ERROR_INPUT, poptPeekArg(context),
                         "is one name too many; give one, or none for the list");
    return true;
}

int command_models(int argc, char **argv, Streams streams, Error *error) {
    Request request = {0};
    Arena arena = {0};
    char *text = NULL;
    size_t length = 0;
    bool ok = false;
    FILE *memory = NULL;
    poptContext context = NULL;
    const char **words = ARENA_NEW(&arena, const char *, (size_t)argc + 1); /* popt's help begins with the first */
    if (words) {
        for (int i = 0; i < argc; i++) words[i] = i ? argv[i] : "shardopt models";
        context = poptGetContext(NULL, argc, words, OPTIONS, 0);
    }
    if (!context || !(memory = open_memstream(&text, &length))) {
        error_memory(error);
        goto done;
    }
    poptSetOtherOptionHelp(context, "[OPTION...] [NAME|config.json|DIR]");
    if (!read_request(context, &request, error)) goto done;
    if (request.help)
        poptPrintHelp(context, memory, 0);
    else if (!write_answer(memory, request, &arena, error))
        goto done;
    bool whole = !ferror(memory);
    whole = fclose(memory) == 0 && whole;
    memory = NULL;
    if (!whole)
        error_memory(error);
    else if (fwrite(text, 1, length, streams.out) != length || fflush(streams.out))
        error_set(error, ERROR_IO, "stdout", "the answer could not be written");
    else
        ok = true;
done:
    if (memory) fclose(memory);
    free(text);
    poptFreeContext(context);
    arena_free(&arena);
    if (ok) return 0;
    return error->kind == ERROR_MEMORY || error->kind == ERROR_INTERNAL ? 70 : 2;
}
