/* SPDX-License-Identifier: GPL-3.0-or-later */
/* shardopt validate FILE.tsv: measured runs replayed, and how wrong the model is. */
#include "cost/measured/validate.h"
#include "base/util.h"
#include "search/cli/commands.h"
#include "search/cli/commands/kinds.h"
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

/* Sources and chips of the table, for who named another one. */
static bool unmatched(const RunTable *table, const Validation *validation, Error *error) {
    const char *where = validation->unmatched_chip ? "--chip" : "--source", *name = validation->unmatched;
    char names[320] = "", own[RUN_LABEL_SIZE];
    size_t used = 0;
    for (int64_t i = 0; i < table->count && used + RUN_LABEL_SIZE < sizeof names; i++) {
        char between[RUN_LABEL_SIZE + 4];
        if (validation->unmatched_chip)
            snprintf(own, sizeof own, "%.40s", table->runs[i].hardware);
        else
            run_source(&table->runs[i], own);
        snprintf(between, sizeof between, " %s,", own);
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
    RunTable table;
    FlaggedRuns flagged;
    Validation validation;
    ReplayData *data = ARENA_NEW(arena, ReplayData, 1);
    ProfileSet *set = ARENA_NEW(arena, ProfileSet, 1);
    if (!data || !set) return error_memory(error);
    if (!run_table_read(options->path, arena, &table, error) || !replay_data_load(arena, data, error) ||
        !flagged_load(arena, &flagged, error) ||
        !profile_set_load(options->profile ? options->profile : "default", arena, set, error))
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
                         .flagged = &flagged,
                         .worst = options->worst,
                         .verbose = options->verbose};
    if (options->plot && options->output && strcmp(options->plot, options->output) == 0)
        return error_set(error, ERROR_INPUT, "--plot", "is the file of --output too; give another one");
    if (options->plot && !write_form(validate_write_plot, &view, streams, options->plot, error)) return false;
    if (!write_form(writer_of(options->format), &view, streams, options->output, error)) return false;
    *code = gate_check(&options->gate, &validation, streams.err) > 0 ? EXIT_GATE : EXIT_DONE;
    return true;
}

static int run(const CommandLine *line, Streams streams, Error *error) {
    ValidateOptions options;
    int code = EXIT_USAGE;
    if (!validate_options_read(line, &options, error)) return code;
    kind_of_table(options.path, line->arena)->validate(&options, line->arena, streams, &code, error);
    return code;
}

const Command COMMAND_VALIDATE = {
    .name = "validate",
    .summary = "how wrong it is: measured runs (a table of them) replayed",
    .usage = "validate FILE.tsv [OPTIONS]",
    .about =
        "Replays measured runs (cost/measured/README.md says how a table of them looks) and tells how wrong the model "
        "is.",
    .details = "How wrong the model is: every measured run of a table (FILES) is priced as plans are, in its "
               "source's own convention, and the errors are summed up by source, chip, framework, software and kind "
               "of plan, for step times, memory and the order of plans. What cannot be replayed is listed with the "
               "reason.",
    .options = VALIDATE_OPTIONS,
    .option_count = VALIDATE_OPTION_COUNT,
    .takes_arguments = true,
    .argument_values = "@files",
    .footer = "Limits of --max-error: median, p90, worst, bias (of each source), skipped, memory-median, memory-p90,\n"
              "  memory-fitting (plans called fitting that were measured not to).\n"
              "Limits of --min-ranking: tau (Kendall's, without bloom), tau-all, best (groups whose plan predicted "
              "best is\n  within 3% of the best).\n"
              "Exit codes: 0 done, 1 a limit does not hold, 2 input is wrong, 70 a defect.",
    .examples = "shardopt validate cost/measured/data/train.tsv\n"
                "shardopt validate cost/measured/data/train.tsv --max-error p90=100% -v\n",
    .run = run,
};
