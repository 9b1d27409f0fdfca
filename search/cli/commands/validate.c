/* SPDX-License-Identifier: GPL-3.0-or-later */
/* shardopt validate FILE: measured runs replayed, and how wrong the model is. */
#include "cost/measured/validate.h"
#include "base/file.h"
#include "base/number.h"
#include "base/util.h"
#include "search/cli/commands/asked_run.h"
#include "search/cli/commands/kinds.h"
#include "search/cli/commands/validate_sets.h"
#include "search/cli/progress.h"
#include "search/cli/views/validate_limits.h"
#include "search/cli/views/validate_view.h"

#include <string.h>

typedef bool (*Writer)(TextOut out, const ValidateView *view, Error *error);

static Writer writer_of(ValidateFormat format) {
    switch (format) {
    case VALIDATE_JSON:
        return validate_write_json;
    case VALIDATE_MARKDOWN:
        return validate_write_markdown;
    case VALIDATE_HTML:
        return validate_write_html;
    case VALIDATE_TEXT:
        break;
    }
    return validate_write_text;
}

/* Whole in memory first: nothing half-written, nothing on stdout where it fails. */
static bool write_form(Writer write, const ValidateView *view, Streams streams, const char *path, Error *error) {
    Draft draft;
    if (!draft_open(&draft, error)) return false;
    bool ok = write((TextOut){draft.file, output_terminal(streams, path)}, view, error);
    return draft_write(&draft, ok, streams.out, path, error);
}

enum { NAME_SIZE = 48 };

/* Sources and chips of the table, for who named another one. */
static bool unmatched(const RunTable *table, const Validation *validation, Error *error) {
    const char *where = validation->unmatched_chip ? "--chip" : "--source", *name = validation->unmatched;
    char names[320] = "";
    size_t used = 0;
    for (int64_t i = 0; i < table->count && used + NAME_SIZE < sizeof names; i++) {
        char between[NAME_SIZE];
        const Run *run = &table->runs[i];
        const char *own = validation->unmatched_chip ? run->request.chip : run->family;
        snprintf(between, sizeof between, " %.40s,", own);
        if (own[0] && !strstr(names, between))
            used += (size_t)snprintf(names + used, sizeof names - used, "%s", between);
    }
    if (used > 0) names[used - 1] = '\0';
    return error_set(error, ERROR_INPUT, where, "no run has %.60s; give one of%s", name, names);
}

static bool nothing_replayed(const ValidateOptions *options, const Validation *validation, Error *error) {
    if (validation->count == 0)
        return error_set(error, ERROR_INPUT, options->path,
                         "no run is both of --source and of --chip; leave one of them out");
    return error_set(
        error, ERROR_INPUT, options->path,
        "none of its %lld runs can be replayed (the first: %.180s); give runs with a chip, a model, a plan "
        "and a measured figure",
        (long long)validation->count, validation->outcomes[0].skipped);
}

bool training_validate(const ValidateOptions *options, Arena *arena, Streams streams, int *code, Error *error) {
    if (options->sets) {
        if (validate_sets(options, arena, streams, error)) *code = EXIT_DONE;
        return error->kind == ERROR_NONE;
    }
    RunTable table;
    Validation validation;
    ReplayData *data = ARENA_NEW(arena, ReplayData, 1);
    ProfileSet *set = ARENA_NEW(arena, ProfileSet, 1);
    if (!data || !set) return error_memory(error);
    if (!run_table_read(options->path, arena, &table, error) || !replay_data_load(arena, data, error) ||
        !profile_set_load(options->profile ? options->profile : "default", arena, set, error) ||
        !replay_names_known(&table, options->path, data, set, error) ||
        !asked_runs_price(&table, options->path, arena, error))
        return false;
    Progress *progress = progress_start(streams.err, false, "replaying");
    bool replayed =
        validate_runs(&table, &options->filter, &(ReplayWith){data, set, options->threads}, arena, &validation, error);
    progress_stop(progress);
    if (!replayed) return false;
    if (validation.unmatched) return unmatched(&table, &validation, error);
    if (validation.replayed + validation.failed + validation.set_aside == 0)
        return nothing_replayed(options, &validation, error);

    const char *profile = set->date[0] ? arena_format(arena, "%s (%s)", set->name, set->date) : set->name;
    if (!profile) return error_memory(error);
    ValidateView view = {.validation = &validation,
                         .path = options->path,
                         .profile = profile,
                         .sha256 = table.sha256,
                         .fitted = strcmp(table.sha256, set->runs_sha256) == 0,
                         .worst = options->worst,
                         .verbose = options->verbose};
    if (options->plot && !write_form(validate_write_html, &view, streams, options->plot, error)) return false;
    if (!write_form(writer_of(options->format), &view, streams, options->output, error)) return false;
    *code = gate_check(&options->gate, &validation, streams.err) > 0 ? EXIT_GATE : EXIT_DONE;
    return true;
}

enum { WORST_DEFAULT = 10, WORST_MAX = 1000000 };

enum {
    FORMAT,
    OUTPUT,
    PLOT,
    PROFILE,
    SOURCE,
    CHIP,
    MAX_ERROR,
    MIN_RANKING,
    WORST,
    SETS,
    THREADS,
    VERBOSE,
    FACTS,
};

/* The values of FORMAT are in the order of ValidateFormat. */
static const CommandOption OPTIONS[] = {
    [FORMAT] = OPTION_ROW("format", "FORMAT", 0, .help = "text, json, markdown or html (text)",
                          .values = "text json markdown html"),
    [OUTPUT] = {OPTION_ROW_OUTPUT},
    [PLOT] = OPTION_ROW("plot", "FILE", 0,
                        .help = "write the page to this file as well, with predicted against measured steps",
                        .details = "Write the page (--format html) there as well.", .values = "@files", .writes = true),
    [PROFILE] = OPTION_ROW(
        "profile", "NAME", 0, .help = "default, ideal, a name of cost/profiles, or a file (default; of kernels none)",
        .details = "default, ideal, a name of cost/profiles, or a file: a set of profiles in the form of "
                   "default.json, or one whole profile, then for every chip (default).",
        .values = "default ideal"),
    [SOURCE] = OPTION_ROW("source", "LIST", 0, .help = "only runs of these sources: bloom,mlperf-v5.0",
                          .details = "Only runs of these sources (the first word of an id, of MLPerf with the round: "
                                     "bloom,mlperf-v5.0)."),
    [CHIP] = OPTION_ROW("chip", "LIST", 0, .help = "only runs on these chips: h100,v5p", .values = "@chips"),
    [MAX_ERROR] = OPTION_ROW(
        "max-error", "LIMITS", 0, .help = "exit 1 beyond median=4%,p90=13%,bias=8% ...; 4% is of the median",
        .details = "Exit with 1, and a line for each limit that does not hold: median, p90, worst, bias (of "
                   "each source), skipped, memory-median, memory-p90, memory-fitting (plans called fitting "
                   "that were measured not to), as in \"median=4%,p90=13%,bias=8%\"; a share alone is of the "
                   "median."),
    [MIN_RANKING] = OPTION_ROW(
        "min-ranking", "LIMITS", 0, .help = "exit 1 below tau=0.8,tau-all=0.6,best=90%",
        .details =
            "The same as of --max-error for tau (Kendall's, without bloom's trials), tau-all and best (groups whose "
            "plan predicted best was measured within 3% of the best)."),
    [WORST] = OPTION_ROW("worst", "N", 0, .help = "how many of the worst runs to show (10)"),
    [SETS] = OPTION_ROW(
        "sets", "FILE", 0, .help = "price the runs under each profile set of FILE (- is stdin), for fits",
        .details = "For programs that fit profiles: price the runs under one profile set after another. FILE (- is "
                   "standard input) has one set as JSON in each line. The first line printed describes the runs and "
                   "the figures; then each set gets one line, the list of predicted seconds (null: no prediction; "
                   "of serving runs lists of tpot, ttft, rate and resident).",
        .values = "@files"),
    [THREADS] = {OPTION_ROW_THREADS},
    [FACTS] = {OPTION_ROW_FACTS},
    [VERBOSE] = OPTION_ROW("verbose", NULL, 0, .letter = 'v', .help = "show every run",
                           .details = "Show every run: measured, predicted, error, likely range, what bounds it, plan, "
                                      "software, what is odd or was assumed."),
};

/* "a,b" to its words, in the arena. */
static bool take_list(const char *text, const char *where, Arena *arena, const char **list, int *count, Error *error) {
    char *copy = arena_text(arena, text);
    if (!copy) return error_memory(error);
    for (char *word = copy; word;) {
        char *comma = strchr(word, ',');
        if (comma) *comma = '\0';
        if (word[0] == '\0') return error_set(error, ERROR_INPUT, where, "has an empty name; give NAME,NAME,...");
        if (*count == FILTER_MAX)
            return error_set(error, ERROR_INPUT, where, "has more than %d names; give fewer", FILTER_MAX);
        list[(*count)++] = word;
        word = comma ? comma + 1 : NULL;
    }
    return true;
}

static bool validate_options_read(const CommandLine *line, ValidateOptions *out, Error *error) {
    ValidateOptions options = {.worst = WORST_DEFAULT, .profile = line->text[PROFILE], .verbose = line->text[VERBOSE]};
    const char *const *text = line->text, *const *where = line->where;
    RunFilter *filter = &options.filter;
    options.facts = text[FACTS];
    int format = VALIDATE_TEXT;
    if (!line_choice(line, FORMAT, &format, error) || !line_file(line, OUTPUT, &options.output, error) ||
        !line_file(line, PLOT, &options.plot, error) || !line_file(line, SETS, &options.sets, error) ||
        !line_threads(line, THREADS, &options.threads, error))
        return false;
    if (text[SOURCE] &&
        !take_list(text[SOURCE], where[SOURCE], line->arena, filter->sources, &filter->source_count, error))
        return false;
    if (text[CHIP] && !take_list(text[CHIP], where[CHIP], line->arena, filter->chips, &filter->chip_count, error))
        return false;
    if ((text[MAX_ERROR] && !gate_parse(text[MAX_ERROR], where[MAX_ERROR], false, &options.gate, error)) ||
        (text[MIN_RANKING] && !gate_parse(text[MIN_RANKING], where[MIN_RANKING], true, &options.gate, error)) ||
        (text[WORST] && !number_whole(text[WORST], where[WORST], 0, WORST_MAX, &options.worst, error)) ||
        !line_one_file(line, "no file of runs is named; give FILE (see --help)", &options.path, error))
        return false;
    options.format = (ValidateFormat)format;
    *out = options;
    return true;
}

/* `validate kernels FILE`: the word, and what is left when it is taken away. */
static bool names_kernels(const CommandLine *line, CommandLine *rest) {
    *rest = *line;
    if (line->argument_count == 0 || strcmp(line->arguments[0], "kernels") != 0) return false;
    if (line->argument_count == 1 && file_is_there("kernels")) return false; /* a table of that name */
    rest->arguments++;
    rest->argument_count--;
    return true;
}

static int run_kernels(const CommandLine *line, Streams streams, Error *error) {
    static const int RUNS[] = {PLOT, SOURCE, CHIP, MIN_RANKING, WORST, SETS, THREADS, FACTS, VERBOSE};
    ValidateOptions options;
    int code = EXIT_USAGE;
    if (line->argument_count == 0)
        return error_set(error, ERROR_INPUT, "validate kernels", "no table of kernels is named; give FILE"), code;
    if (!validate_options_read(line, &options, error)) return code;
    for (size_t i = 0; i < COUNT_OF(RUNS); i++)
        if (line->text[RUNS[i]])
            return error_set(error, ERROR_INPUT, line->where[RUNS[i]],
                             "is of measured runs, not of kernels; leave it out"),
                   code;
    kernel_validate(&options, line->arena, streams, &code, error);
    return code;
}

/* What is printed under --sets is its own form. */
static bool sets_stand_alone(const CommandLine *line, Error *error) {
    static const int OTHERS[] = {FORMAT, OUTPUT, PLOT, SOURCE, CHIP, MAX_ERROR, MIN_RANKING, WORST, VERBOSE};
    for (size_t i = 0; line->text[SETS] && i < COUNT_OF(OTHERS); i++)
        if (line->text[OTHERS[i]])
            return error_set(error, ERROR_INPUT, line->where[OTHERS[i]], "does not go with --sets; leave it out");
    return true;
}

static int run(const CommandLine *line, Streams streams, Error *error) {
    ValidateOptions options;
    CommandLine rest;
    int code = EXIT_USAGE;
    static const int TRAINING[] = {PLOT, MAX_ERROR, MIN_RANKING, WORST};
    if (names_kernels(line, &rest)) return run_kernels(&rest, streams, error);
    if (!validate_options_read(line, &options, error) || !sets_stand_alone(line, error)) return code;
    const AnswerKind *kind = kind_of_table(options.path, line->arena);
    if (kind_takes(kind, line, TRAINING, COUNT_OF(TRAINING), error))
        kind->validate(&options, line->arena, streams, &code, error);
    return code;
}

const Command COMMAND_VALIDATE = {
    .name = "validate",
    .summary = "how wrong it is: measured runs (a file of them) replayed",
    .usage = "validate FILE [OPTIONS]\nvalidate kernels FILE [OPTIONS]",
    .about = "Replays measured runs (cost/measured/README.md says how a file of them looks) and says how wrong the "
             "model is;\n`validate kernels` does so of a table of single kernels (cost/kernels/README.md).",
    .details = "How wrong the model is: every measured run of a file (FILES) is priced as plans are, in its "
               "source's own convention, and the errors are summed up by source, chip, framework, software and kind "
               "of plan, for step times, memory and the order of plans. What cannot be replayed is listed with the "
               "reason. \"validate kernels FILE\" does the same of a table of single kernels, whose columns say what "
               "they are: chip us, and m n k, batch length heads head_dim, tokens hidden inter topk experts, op gpus "
               "elements, or phase nodes tokens. With --profile its matmuls and attention are priced as plans are. It "
               "takes --format, -o and --max-error besides.",
    .options = OPTIONS,
    .option_count = COUNT_OF(OPTIONS),
    .takes_arguments = true,
    .argument_values = "@files",
    .footer = "Limits of --max-error: median, p90, worst, bias (of each source), skipped, memory-median, memory-p90,\n"
              "  memory-fitting (plans called fitting that were measured not to).\n"
              "Limits of --min-ranking: tau (Kendall's, without bloom), tau-all, best (groups whose plan predicted "
              "best is\n  within 3% of the best).\n"
              "Exit codes: 0 done, 1 a limit does not hold, 2 input is wrong, 70 a defect.",
    .examples = "shardopt validate cost/measured/data/train.jsonl\n"
                "shardopt validate cost/measured/data/train.jsonl --max-error p90=100% -v\n",
    .run = run,
};
