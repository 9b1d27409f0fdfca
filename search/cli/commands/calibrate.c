/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `shardopt calibrate FILE`: profiles fitted to measured runs, with what that is worth. */
#include "base/file.h"
#include "base/json.h"
#include "base/number.h"
#include "base/util.h"
#include "cost/measured/run.h"
#include "cost/profile/profile_set.h"
#include "search/cli/commands/kinds.h"
#include "search/cli/commands/laboratory.h"
#include "search/serving/measured/serving_replay.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The words of the script, ended by NULL. */
typedef struct {
    const char *word[LABORATORY_WORDS_MAX];
    int count;
} ScriptWords;

/* An option; a value of NULL: it is not given. */
static bool add_option(ScriptWords *to, const char *name, const char *value, Arena *arena, Error *error) {
    if (!value) return true;
    const char *word = arena_format(arena, "%s=%s", name, value);
    if (word) to->word[to->count++] = word;
    return word || error_memory(error);
}

static void add_flag(ScriptWords *to, const char *name, bool given) {
    if (given) to->word[to->count++] = name;
}

/* A path that the script's own program can open: standard input is ours, and was read into a file of its own. */
static const char *readable(const char *path, Arena *arena) {
    if (strcmp(path, "-") == 0) return arena_format(arena, "/proc/%ld/fd/0", (long)getpid());
    return strchr(path, '/') ? path : arena_format(arena, "./%s", path);
}

/* `set`: the set to begin with, as the script can open it; NULL: the default one. */
static bool script_words(const CalibrateWords *words, const char *set, Arena *arena, ScriptWords *out, Error *error) {
    static const char *const FORMATS[] = {"text", "json", "markdown"}, *const BEGINS[] = {NULL, "priors", "values"};
    const char *table = readable(words->file, arena);
    const char *folds = arena_format(arena, "%d", words->folds), *threads = arena_format(arena, "%d", words->threads);
    if (!table || !folds || !threads) return error_memory(error);
    *out = (ScriptWords){0};
    const struct {
        const char *name, *value;
    } GIVEN[] = {
        {"--table", table},
        {"--set", set},
        {"--file", words->file},
        {"--profile", words->profile},
        {"--output", words->output},
        {"--begin", BEGINS[words->begin]},
        {"--only", words->only},
        {"--facts", words->facts},
        {"--folds", folds},
        {"--date", words->date},
        {"--format", FORMATS[words->format]},
        {"--threads", words->threads > 0 ? threads : NULL},
    };
    for (size_t i = 0; i < COUNT_OF(GIVEN); i++)
        if (!add_option(out, GIVEN[i].name, GIVEN[i].value, arena, error)) return false;
    add_flag(out, "--exclude-flagged", words->exclude_flagged);
    add_flag(out, "--verbose", words->verbose);
    return true;
}

/* The script reads both too, but may not be there to say what is wrong with them. */
static bool read_input(const CalibrateWords *words, Arena *arena, Error *error) {
    RunTable table;
    ProfileSet set;
    bool own = words->profile && strcmp(words->profile, "default") != 0;
    if (!run_table_read(words->file, arena, &table, error) ||
        !(own ? profile_set_read(words->profile, arena, &set, error) : profile_set_default(arena, &set, error)))
        return false;
    if (words->only && !profile_set_stack(&set, words->only))
        return error_set(error, ERROR_INPUT, "--only", "the set has no stack %.60s", words->only);
    return true;
}

/* Checks the set that the script printed in one line, and prints it in the form of such files. */
typedef bool PrintSet(const cJSON *json, const CalibrateWords *words, Arena *arena, FILE *out, Error *error);

typedef struct {
    const char *name; /* in cost/measured/lab */
    const char *set;  /* to begin with, as the script can open it; NULL: the default one */
    PrintSet *print;
} Script;

static bool write_set(const cJSON *json, PrintSet *print, const CalibrateWords *words, Arena *arena, FILE *out,
                      Error *error) {
    Draft draft;
    if (!draft_open(&draft, error)) return false;
    bool printed = print(json, words, arena, draft.file, error);
    return draft_write(&draft, printed, out, words->output, error);
}

/* The set is the first line, the report all others. */
static bool write_answer(const CalibrateWords *words, const LaboratoryAnswer *answer, PrintSet *print, Arena *arena,
                         FILE *out, Error *error) {
    const char *end = memchr(answer->text, '\n', answer->length);
    if (!end) return error_set(error, ERROR_INTERNAL, "python3", "ended without a report");
    const char *report = end + 1;
    size_t length = answer->length - (size_t)(report - answer->text);
    if (words->output) {
        cJSON *json = json_parse(answer->text, (size_t)(end - answer->text), "the fitted set", error);
        bool written = json && write_set(json, print, words, arena, out, error);
        cJSON_Delete(json);
        if (!written) return false;
    }
    return (words->output && strcmp(words->output, "-") == 0) || output_write(out, NULL, report, length, error);
}

static bool run_script(const Script *script, const CalibrateWords *words, Arena *arena, Streams streams, int *code,
                       Error *error) {
    ScriptWords of;
    LaboratoryAnswer answer;
    const char *folder = file_data_folder("cost/measured/lab", arena, error);
    if (!folder || !script_words(words, script->set, arena, &of, error)) return false;
    const char *path = arena_format(arena, "%s/%s", folder, script->name);
    if (!path) return error_memory(error);
    if (!laboratory_run(path, of.word, arena, &answer, error)) return false;
    *code = answer.code;
    return answer.code == EXIT_DONE && write_answer(words, &answer, script->print, arena, streams.out, error);
}

static bool print_set(const cJSON *json, const CalibrateWords *words, Arena *arena, FILE *out, Error *error) {
    ProfileSet set;
    (void)words;
    return profile_set_from_json(json, "the fitted set", arena, &set, error) && profile_set_write(out, &set);
}

bool training_calibrate(const CalibrateWords *words, Arena *arena, Streams streams, int *code, Error *error) {
    bool own = words->profile && strcmp(words->profile, "default") != 0;
    const char *set = own ? readable(words->profile, arena) : NULL;
    if (own && !set) return error_memory(error);
    Script script = {"calibrate.py", set, print_set};
    return read_input(words, arena, error) && run_script(&script, words, arena, streams, code, error);
}

/* The profile of every engine and chip of the runs can be read of it. */
static bool print_profile(const cJSON *json, const CalibrateWords *words, Arena *arena, FILE *out, Error *error) {
    ServingRuns runs;
    ServingReplay with = {.profile = json, .where = "the fitted profile", .arena = arena};
    if (!serving_runs_load(words->file, words->facts, arena, &runs, error)) return false;
    for (int64_t i = 0; i < runs.count; i++) {
        int engine = served_engine(runs.runs[i].engine);
        if (engine >= 0 && !served_place(&with, &runs.runs[i], engine, error)) return false;
    }
    return json_print(out, json);
}

bool serving_calibrate(const CalibrateWords *words, Arena *arena, Streams streams, int *code, Error *error) {
    ServingRuns runs;
    const char *path;
    cJSON *begun = serving_profile_open(words->profile ? words->profile : "default", arena, &path, error);
    bool found = begun != NULL;
    cJSON_Delete(begun);
    Script script = {"calibrate_serving.py", words->profile, print_profile};
    return found && serving_runs_load(words->file, words->facts, arena, &runs, error) &&
           run_script(&script, words, arena, streams, code, error);
}

enum { FOLDS_DEFAULT = 10, FOLDS_MAX = 1000 };

enum { OUTPUT, PROFILE, BEGIN, ONLY, EXCLUDE, FOLDS, DATE, FORMAT, THREADS, VERBOSE, FACTS };

/* The values of BEGIN and FORMAT are in the order of CalibrateBegin (after AUTO) and of CalibrateFormat. */
static const CommandOption OPTIONS[] = {
    [OUTPUT] =
        OPTION_ROW("output", "SET.json", 0, .letter = 'o',
                   .help = "write the fitted set to this file; - means stdout, in place of the report",
                   .details = "Write the fitted set there, for --profile of all commands; -: to standard output, in "
                              "place of the report.",
                   .values = "@files", .writes = true),
    [PROFILE] = OPTION_ROW("profile", "SET", 0, .help = "begin with this set of profiles: default, or a file (default)",
                           .values = "default"),
    [BEGIN] =
        OPTION_ROW("begin", "WHERE", 0, .help = "priors, or values: go on from what the set was fitted to (see below)",
                   .details = "priors: with what the set believes without runs. values: go on from what it was "
                              "fitted to, so that a few runs of one's own move what they determine of their own "
                              "chips and software, and nothing else (values where the set was fitted to other runs, "
                              "else priors).",
                   .values = "priors values"),
    [ONLY] = OPTION_ROW(
        "only", "STACK", 0, .help = "fit the figures of this software alone; all others, and likely ranges, stay",
        .details = "Fits the figures of one software, and of those that follow it, from their priors; all "
                   "others, likely ranges, and what the set says it was fitted to stay as they are. Left out "
                   "are cells of one model and number of chips."),
    [EXCLUDE] = OPTION_ROW(
        "exclude-flagged", NULL, 0, .help = "leave out the runs that their lines call flagged",
        .details = "Without the runs that their lines call flagged. A fit keeps them else, with a bounded pull."),
    [FOLDS] =
        OPTION_ROW("folds", "N", 0, .help = "of the cross-validation by groups; 0: none, likely ranges stay (10)",
                   .details = "Of the cross-validation by groups; 0: no cross-validation, and likely ranges stay as "
                              "they were (10)."),
    [DATE] = OPTION_ROW("date", "YYYY-MM-DD", 0, .help = "of the set (today, UTC)"),
    [FORMAT] =
        OPTION_ROW("format", "FORMAT", 0, .help = "text, json or markdown (text)", .values = "text json markdown"),
    [THREADS] = {OPTION_ROW_THREADS},
    [FACTS] = {OPTION_ROW_FACTS},
    [VERBOSE] =
        OPTION_ROW("verbose", NULL, 0, .letter = 'v', .help = "list the runs that were not replayed, with the reason"),
};

static bool is_date(const char *text) {
    static const char *const FORM = "dddd-dd-dd";
    if (strlen(text) != strlen(FORM)) return false;
    for (size_t i = 0; FORM[i]; i++)
        if (FORM[i] == '-' ? text[i] != '-' : text[i] < '0' || text[i] > '9') return false;
    int month = atoi(text + 5), day = atoi(text + 8);
    return month >= 1 && month <= 12 && day >= 1 && day <= 31;
}

static bool calibrate_options_read(const CommandLine *line, CalibrateWords *out, Error *error) {
    const char *const *text = line->text, *const *where = line->where;
    CalibrateWords words = {.date = text[DATE], .exclude_flagged = text[EXCLUDE], .verbose = text[VERBOSE]};
    int begin = 0, format = CALIBRATE_TEXT;
    int64_t folds = FOLDS_DEFAULT;
    if (!line_file(line, OUTPUT, &words.output, error) || !line_choice(line, BEGIN, &begin, error) ||
        !line_choice(line, FORMAT, &format, error) || !line_threads(line, THREADS, &words.threads, error))
        return false;
    words.profile = text[PROFILE];
    words.facts = text[FACTS];
    words.only = text[ONLY];
    if (words.profile && !words.profile[0])
        return error_set(error, ERROR_INPUT, where[PROFILE], "is empty; give default, or the file of a set");
    if (text[FOLDS] && !number_whole(text[FOLDS], where[FOLDS], 0, FOLDS_MAX, &folds, error)) return false;
    if (words.date && !is_date(words.date))
        return error_set(error, ERROR_INPUT, where[DATE], "\"%.40s\" is no date; give one like 2025-06-30", words.date);
    if (line->argument_count != 1 || !line->arguments[0][0])
        return error_set(error, ERROR_INPUT, "calibrate",
                         "give one file of measured runs, as in cost/measured/README.md");
    words.file = line->arguments[0];
    words.folds = (int)folds;
    words.begin = !text[BEGIN] ? BEGIN_AUTO : (CalibrateBegin)(BEGIN_PRIORS + begin);
    words.format = (CalibrateFormat)format;
    *out = words;
    return true;
}

static int run(const CommandLine *line, Streams streams, Error *error) {
    static const int TRAINING[] = {ONLY, EXCLUDE, DATE};
    CalibrateWords words;
    int code = EXIT_USAGE;
    if (!calibrate_options_read(line, &words, error)) return code;
    const AnswerKind *kind = kind_of_table(words.file, line->arena);
    if (kind_takes(kind, line, TRAINING, COUNT_OF(TRAINING), error))
        kind->calibrate(&words, line->arena, streams, &code, error);
    return code;
}

const Command COMMAND_CALIBRATE = {
    .name = "calibrate",
    .summary = "fit profiles to measured runs, with the error of unseen ones",
    .usage = "calibrate FILE [-o SET.json] [OPTIONS]",
    .about = "Fits a set of profiles to measured runs (cost/measured/README.md says how a file of them looks), and "
             "says how "
             "far off\nit is, of runs that it has not seen too. --profile ./SET.json then plans with it.",
    .details = "Fits a set of profiles to a file of measured training runs (form: cost/measured/README.md), and "
               "says what that is worth: the error before the fit, fitted, fitted without runs known to be odd, and "
               "of runs that the fit has not seen, by groups of source, model and chip and by sources; by source and "
               "by chip; and each figure with its prior, its deviation and the runs that it moves. A figure that the "
               "runs do not determine says that it kept its prior.",
    .options = OPTIONS,
    .option_count = COUNT_OF(OPTIONS),
    .takes_arguments = true,
    .argument_values = "@files",
    .footer = "Without --begin: values where the set was fitted to other runs, of which only what these runs "
              "determine moves;\nelse priors.\n"
              "calibrate needs Python with numpy and scipy: apt install python3-scipy, or pip install scipy.\n"
              "Exit codes: 0 done, 2 input is wrong, 70 a defect.",
    .examples = "shardopt calibrate mine.jsonl -o mine.json\n",
    .run = run,
};
