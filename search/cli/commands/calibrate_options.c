/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/cli/commands/calibrate_options.h"

#include "base/number.h"
#include "base/util.h"

#include <popt.h>
#include <stdlib.h>
#include <string.h>

enum { FOLDS_MAX = 1000, THREADS_MAX = 1024 };

typedef enum {
    WORD_OUTPUT = 1,
    WORD_PROFILE,
    WORD_BEGIN,
    WORD_EXCLUDE,
    WORD_FOLDS,
    WORD_DATE,
    WORD_FORMAT,
    WORD_THREADS,
    WORD_VERBOSE,
    WORD_HELP,
    WORD_COUNT
} Word;

static const struct poptOption TABLE[] = {
    {"output", 'o', POPT_ARG_STRING, NULL, WORD_OUTPUT,
     "write the fitted set there; -: to stdout, in place of the report", "SET.json"},
    {"profile", 0, POPT_ARG_STRING, NULL, WORD_PROFILE, "begin with this set of profiles: default, or a file (default)",
     "SET"},
    {"begin", 0, POPT_ARG_STRING, NULL, WORD_BEGIN,
     "priors, or values: go on from what the set was fitted to (see below)", "WHERE"},
    {"exclude-flagged", 0, POPT_ARG_NONE, NULL, WORD_EXCLUDE, "leave out the runs of cost/measured/data/flagged.tsv", NULL},
    {"folds", 0, POPT_ARG_STRING, NULL, WORD_FOLDS,
     "of the cross-validation by groups; 0: none, likely ranges stay (10)", "N"},
    {"date", 0, POPT_ARG_STRING, NULL, WORD_DATE, "of the set (today, UTC)", "YYYY-MM-DD"},
    {"format", 0, POPT_ARG_STRING, NULL, WORD_FORMAT, "text, json or markdown (text)", "FORMAT"},
    {"threads", 0, POPT_ARG_STRING, NULL, WORD_THREADS, "threads to use; the answer is the same for any number", "N"},
    {"verbose", 'v', POPT_ARG_NONE, NULL, WORD_VERBOSE, "list the runs that were not replayed, with the reason", NULL},
    {"help", 'h', POPT_ARG_NONE, NULL, WORD_HELP, "show this", NULL},
    POPT_TABLEEND};

static bool choose(const char *text, const char *where, const char *const *names, int count, int *out, Error *error) {
    char all[128] = "";
    for (int i = 0; i < count; i++) {
        if (strcmp(names[i], text) == 0) {
            *out = i;
            return true;
        }
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s",
                 i == 0           ? ""
                 : i == count - 1 ? " or "
                                  : ", ",
                 names[i]);
    }
    return error_set(error, ERROR_INPUT, where, "\"%.40s\" is none of them; give %s", text, all);
}

static bool read_count(const char *text, const char *where, int64_t low, int64_t high, int *out, Error *error) {
    int64_t whole;
    if (!number_whole(text, where, low, high, &whole, error)) return false;
    *out = (int)whole;
    return true;
}

static bool is_date(const char *text) {
    static const char *const FORM = "dddd-dd-dd";
    if (strlen(text) != strlen(FORM)) return false;
    for (size_t i = 0; FORM[i]; i++)
        if (FORM[i] == '-' ? text[i] != '-' : text[i] < '0' || text[i] > '9') return false;
    int month = atoi(text + 5), day = atoi(text + 8);
    return month >= 1 && month <= 12 && day >= 1 && day <= 31;
}

static bool take(Word word, const char *text, CalibrateWords *out, Error *error) {
    static const char *const FORMATS[] = {"text", "json", "markdown"}, *const BEGINS[] = {"auto", "priors", "values"};
    int number = 0;
    switch (word) {
    case WORD_OUTPUT:
        out->output = text;
        return *text || error_set(error, ERROR_INPUT, "--output", "is empty; give a file");
    case WORD_PROFILE:
        out->profile = text;
        return *text || error_set(error, ERROR_INPUT, "--profile", "is empty; give default, or the file of a set");
    case WORD_BEGIN:
        if (!choose(text, "--begin", BEGINS + 1, 2, &number, error)) return false;
        out->begin = number == 0 ? BEGIN_PRIORS : BEGIN_VALUES;
        return true;
    case WORD_FOLDS:
        return read_count(text, "--folds", 0, FOLDS_MAX, &out->folds, error);
    case WORD_THREADS:
        return read_count(text, "--threads", 1, THREADS_MAX, &out->threads, error);
    case WORD_DATE:
        out->date = text;
        return is_date(text) ||
               error_set(error, ERROR_INPUT, "--date", "\"%.40s\" is no date; give one like 2025-06-30", text);
    case WORD_FORMAT:
        if (!choose(text, "--format", FORMATS, COUNT_OF(FORMATS), &number, error)) return false;
        out->format = number == 0 ? CALIBRATE_TEXT : number == 1 ? CALIBRATE_JSON : CALIBRATE_MARKDOWN;
        return true;
    case WORD_EXCLUDE:
        out->exclude_flagged = true;
        return true;
    case WORD_VERBOSE:
        out->verbose = true;
        return true;
    default:
        out->help = true;
        return true;
    }
}

static bool read_words(poptContext context, Arena *arena, CalibrateWords *out, Error *error) {
    bool given[WORD_COUNT] = {false};
    int code;
    while ((code = poptGetNextOpt(context)) > 0) {
        char *value = poptGetOptArg(context);
        const char *text = arena_text(arena, value ? value : "");
        free(value);
        if (!text) return error_memory(error);
        if (given[code]) {
            char where[64];
            snprintf(where, sizeof where, "--%s", TABLE[code - 1].longName);
            return error_set(error, ERROR_INPUT, where, "is given twice; give it once");
        }
        given[code] = true;
        if (!take((Word)code, text, out, error)) return false;
    }
    if (code < -1)
        return error_set(error, ERROR_INPUT, poptBadOption(context, POPT_BADOPTION_NOALIAS),
                         "%s; see shardopt calibrate --help", poptStrerror(code));
    const char *file = poptGetArg(context);
    if (out->help) return true;
    if (!file || !*file || poptPeekArg(context))
        return error_set(error, ERROR_INPUT, "calibrate", "give one table of measured runs, as in cost/measured/README.md");
    out->file = arena_text(arena, file);
    return out->file || error_memory(error);
}

bool calibrate_options(int argc, char **argv, Arena *arena, CalibrateWords *out, Error *error) {
    *out = (CalibrateWords){.folds = 10};
    poptContext context = poptGetContext("shardopt calibrate", argc, (const char **)argv, TABLE, 0);
    if (!context) return error_memory(error);
    bool ok = read_words(context, arena, out, error);
    poptFreeContext(context);
    return ok;
}

void calibrate_help(FILE *out) {
    fprintf(out,
            "usage: shardopt calibrate FILE.tsv [-o SET.json] [OPTIONS]\n\n"
            "Fits a set of profiles to measured runs (cost/measured/README.md says how a table of them looks), and tells how "
            "far off\nit is, of runs that it has not seen too. --profile ./SET.json then plans with it.\n\n");
    for (const struct poptOption *option = TABLE; option->longName; option++) {
        char left[64], letter[8] = "    ";
        if (option->shortName) snprintf(letter, sizeof letter, "-%c, ", option->shortName);
        snprintf(left, sizeof left, "%s--%s %s", letter, option->longName,
                 option->argDescrip ? option->argDescrip : "");
        fprintf(out, "  %-26s %s\n", left, option->descrip);
    }
    fprintf(out, "\nWithout --begin: values where the set was fitted to other runs, of which only what these runs "
                 "determine moves;\nelse priors.\n"
                 "Exit codes: 0 done, 2 input is wrong, 70 a defect.\n");
}
