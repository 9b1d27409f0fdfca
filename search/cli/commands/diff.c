/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `shardopt diff A B`: two reports side by side. */
#include "base/json.h"
#include "search/cli/command.h"
#include "search/baseline/diff.h"

#include <popt.h>
#include <stdlib.h>
#include <string.h>

static const struct poptOption OPTIONS[] = {
    {"format", '\0', POPT_ARG_STRING, NULL, 'f', "how the answer is written (text)", "text|json|markdown"},
    {"output", 'o', POPT_ARG_STRING, NULL, 'o', "write the result there instead of to stdout", "FILE"},
    {"exit-code", '\0', POPT_ARG_NONE, NULL, 'e', "exit with 1 where the reports differ", NULL},
    {"quiet", 'q', POPT_ARG_NONE, NULL, 'q', "print nothing: the exit code says it (with --exit-code)", NULL},
    {"help", 'h', POPT_ARG_NONE, NULL, 'h', "this text", NULL},
    POPT_TABLEEND,
};

typedef struct {
    DiffFormat format;
    const char *path; /* NULL: stdout */
    bool exit_code, quiet, help;
    const char *a, *b;
} DiffChoice;

static bool take_value(poptContext context, int option, Arena *arena, DiffChoice *out, Error *error) {
    char *value = poptGetOptArg(context);
    const char *text = value ? arena_text(arena, value) : NULL;
    free(value);
    if (!text) return error_memory(error);
    if (option == 'o') {
        out->path = text;
        return text[0] || error_set(error, ERROR_INPUT, "--output", "is empty; give a file");
    }
    for (out->format = 0; out->format < DIFF_FORMATS; out->format++)
        if (strcmp(text, diff_format_name(out->format)) == 0) return true;
    return error_set(error, ERROR_INPUT, "--format", "\"%.40s\" is not available; give text, json or markdown", text);
}

static bool read_choice(poptContext context, Arena *arena, DiffChoice *out, Error *error) {
    int option;
    while ((option = poptGetNextOpt(context)) > 0) {
        if (option == 'h') out->help = true;
        if (option == 'e') out->exit_code = true;
        if (option == 'q') out->quiet = true;
        if ((option == 'f' || option == 'o') && !take_value(context, option, arena, out, error)) return false;
    }
    if (option < -1)
        return error_set(error, ERROR_INPUT, poptBadOption(context, 0), "%s; `shardopt diff --help` lists the options",
                         poptStrerror(option));
    const char **files = poptGetArgs(context); /* belong to the context */
    if (out->help) return true;
    if (!files || !files[0] || !files[1] || files[2])
        return error_set(error, ERROR_INPUT, "diff", "give two reports of `shardopt plan --format json`");
    out->a = arena_text(arena, files[0]);
    out->b = arena_text(arena, files[1]);
    return (out->a && out->b) || error_memory(error);
}

static void print_help(FILE *out) {
    fprintf(out, "usage: shardopt diff [OPTIONS] A B\n\n"
                 "What moved from report A to report B, and why: what was asked, data and program, the best plan's "
                 "step and\nmemory part by part, and the ranks of all plans. Reports are those of --format json.\n\n");
    for (const struct poptOption *option = OPTIONS; option->longName; option++) {
        char left[64];
        snprintf(left, sizeof left, "--%s %s", option->longName, option->argDescrip ? option->argDescrip : "");
        fprintf(out, "  %-34s %s\n", left, option->descrip);
    }
    fprintf(out, "\nExit codes: 0 done, 1 with --exit-code: they differ, 2 input is wrong, 70 a defect.\n");
}

static bool write_answer(const Diff *diff, const DiffChoice *choice, Streams streams, Error *error) {
    char *text = NULL;
    size_t length = 0;
    FILE *memory = open_memstream(&text, &length);
    if (!memory) return error_memory(error);
    bool ok = diff_write(diff, choice->format, (TextOut){memory, output_terminal(streams, choice->path)}, error);
    if (fclose(memory) != 0 && ok) ok = error_memory(error);
    ok = ok && output_write(streams.out, choice->path, text, length, error);
    free(text);
    return ok;
}

/* A baseline has many reports; which of them is meant nobody said. */
static cJSON *read_report(const char *path, Error *error) {
    cJSON *json = json_read_file(path, error);
    if (!cJSON_IsArray(json)) return json;
    error_set(error, ERROR_INPUT, path, "is a list of %d reports; give a file of one", cJSON_GetArraySize(json));
    cJSON_Delete(json);
    return NULL;
}

static int compare(const DiffChoice *choice, Arena *arena, Streams streams, Error *error) {
    Diff *diff = ARENA_NEW(arena, Diff, 1);
    cJSON *a = diff ? read_report(choice->a, error) : NULL, *b = a ? read_report(choice->b, error) : NULL;
    bool ok = b && diff_make(a, choice->a, b, choice->b, arena, diff, error) &&
              (choice->quiet || write_answer(diff, choice, streams, error));
    if (!diff) error_memory(error);
    int code = !ok ? exit_of_error(error) : choice->exit_code && diff->different ? EXIT_GATE : EXIT_DONE;
    cJSON_Delete(a);
    cJSON_Delete(b);
    return code;
}

int command_diff(int argc, char **argv, Streams streams, Error *error) {
    Arena arena = {0};
    DiffChoice choice = {.format = DIFF_TEXT};
    int code = EXIT_USAGE;
    poptContext context = poptGetContext("shardopt", argc, (const char **)argv, OPTIONS, 0);
    if (!context) {
        error_memory(error);
    } else if (read_choice(context, &arena, &choice, error)) {
        if (choice.help) print_help(streams.out);
        code = choice.help ? EXIT_DONE : compare(&choice, &arena, streams, error);
    }
    if (error->kind != ERROR_NONE) code = exit_of_error(error);
    if (context) poptFreeContext(context);
    arena_free(&arena);
    return code;
}
