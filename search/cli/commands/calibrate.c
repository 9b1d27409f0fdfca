/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `shardopt calibrate FILE`: profiles fitted to measured runs, with what that is worth. */
#include "cost/measured/calibrate.h"
#include "base/file.h"
#include "base/number.h"
#include "base/threads.h"
#include "base/util.h"
#include "cost/measured/fit.h"
#include "cost/measured/replay.h"
#include "cost/measured/run.h"
#include "cost/profile/profile_set.h"
#include "search/cli/commands/asked_run.h"
#include "search/cli/commands/kinds.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { RUNS_MAX = 10000 }; /* replayed: a Jacobian over more is no evening's work */

typedef struct {
    RunTable table;
    ProfileSet set;
    Replay *replays; /* of those that can be replayed */
    FitRun *runs;
    int32_t count;
    CalibrateSkip *skipped;
    int64_t skipped_count;
    CalibrateBegin begin;
} Material;

static bool predict(const void *context, int32_t run, const ProfileSet *set, double *seconds) {
    const Material *material = context;
    Prediction prediction;
    if (!replay_predict(&material->replays[run], set, &prediction)) return false;
    *seconds = prediction.seconds;
    return true;
}

/* ---- reading ---- */

static bool load_set(const CalibrateWords *words, Arena *arena, ProfileSet *out, Error *error) {
    if (!words->profile || strcmp(words->profile, "default") == 0) return profile_set_default(arena, out, error);
    return profile_set_read(words->profile, arena, out, error);
}

static void take_run(Material *material, const Replay *replay) {
    const Run *run = replay->run;
    material->replays[material->count] = *replay;
    material->runs[material->count++] = (FitRun){.id = run->id,
                                                 .source = run->family,
                                                 .model = run->model,
                                                 .precision = precision_name(replay->precision),
                                                 .chip = replay->chip_entry,
                                                 .stack = replay->stack_entry,
                                                 .chips = run->request.chips,
                                                 .measured_seconds = replay->measured_seconds,
                                                 .unknowns = (int)run->guesses,
                                                 .flagged = run->flagged[0] != '\0'};
}

static bool nothing_replayed(const char *file, const Material *material, Error *error) {
    if (material->table.count == 0) return error_set(error, ERROR_INPUT, file, "has no runs; give one line for each");
    return error_set(error, ERROR_INPUT, file, "none of its %lld runs can be replayed: %.64s: %.200s",
                     (long long)material->table.count, material->skipped[0].id, material->skipped[0].reason);
}

static bool replay_all(const CalibrateWords *words, Material *material, Arena *arena, Error *error) {
    ReplayData data;
    size_t count = (size_t)material->table.count;
    if (!replay_data_load(arena, &data, error) ||
        !replay_names_known(&material->table, words->file, &data, &material->set, error) ||
        !asked_runs_price(&material->table, words->file, arena, error))
        return false;
    material->replays = ARENA_NEW(arena, Replay, (size_t)min_whole((int64_t)count, RUNS_MAX));
    material->runs = ARENA_NEW(arena, FitRun, (size_t)min_whole((int64_t)count, RUNS_MAX));
    material->skipped = ARENA_NEW(arena, CalibrateSkip, count);
    if (!material->replays || !material->runs || !material->skipped) return error_memory(error);
    for (size_t i = 0; i < count; i++) {
        Replay replay;
        replay_prepare(&material->table.runs[i], &data, &material->set, &replay);
        if (!replay.skipped[0] && replay.run->aside[0])
            snprintf(replay.skipped, sizeof replay.skipped, "set aside: %s", replay.run->aside);
        if (!replay.skipped[0] && !(replay.measured_seconds > 0))
            snprintf(replay.skipped, sizeof replay.skipped, "its step was not measured");
        if (replay.skipped[0]) {
            const char *reason = arena_text(arena, replay.skipped);
            if (!reason) return error_memory(error);
            material->skipped[material->skipped_count++] = (CalibrateSkip){replay.run->id, reason};
            continue;
        }
        if (material->count == RUNS_MAX)
            return error_set(error, ERROR_INPUT, words->file, "more than %d runs can be replayed; give fewer",
                             RUNS_MAX);
        take_run(material, &replay);
    }
    return material->count > 0 || nothing_replayed(words->file, material, error);
}

/* ---- writing ---- */

static void today(char date[16]) {
    time_t now = time(NULL);
    struct tm utc;
    strcpy(date, "1970-01-01");
    if (gmtime_r(&now, &utc)) strftime(date, 16, "%Y-%m-%d", &utc);
}

/* A fit of one software leaves the set what it was fitted to. */
static void name_runs(const CalibrateWords *words, const Material *material, const Calibration *c, ProfileSet *set) {
    snprintf(
        set->source, sizeof set->source,
        "shardopt calibrate: %d runs of %.100s, begun with the %s of %.64s; each figure's own source is that of its "
        "prior",
        (int)c->usable, words->file, material->begin == BEGIN_PRIORS ? "priors" : "values", material->set.name);
    snprintf(set->runs_file, sizeof set->runs_file, "%s", words->file);
    snprintf(set->runs_sha256, sizeof set->runs_sha256, "%s", material->table.sha256);
    set->runs = c->usable;
}

static bool write_set(const CalibrateWords *words, const Material *material, const Calibration *c, FILE *out,
                      Arena *arena, Error *error) {
    ProfileSet copy, *set = &copy;
    const char *name = file_base_name(words->output);
    if (!fit_set_copy(&c->set, arena, set)) return error_memory(error);
    if (!fit_drop_own(set, error)) return false;
    if (!words->only && strcmp(name, "-") != 0 && name[0] != '.')
        snprintf(set->name, sizeof set->name, "%.*s",
                 (int)min_whole((int64_t)strcspn(name, "."), PROFILE_NAME_SIZE - 1), name);
    if (words->date)
        snprintf(set->date, sizeof set->date, "%s", words->date);
    else
        today(set->date);
    if (!words->only) name_runs(words, material, c, set);
    Draft draft;
    if (!draft_open(&draft, error)) return false;
    bool ok = profile_set_write(draft.file, set);
    return draft_write(&draft, ok, out, words->output, error);
}

/* Replayed, but the model has no time for them: a fit cannot take them. */
static void skip_unpredicted(Material *material, const Calibration *c) {
    for (int32_t i = 0; i < material->count; i++)
        if (!c->model.usable[i])
            material->skipped[material->skipped_count++] = (CalibrateSkip){
                material->runs[i].id, material->runs[i].measured_seconds > 0 ? "the model has no finite time for it"
                                                                             : "its step was not measured"};
}

/* The order of plans under one line of predictions. What is too large is so under the set that the fit began with:
 * figures of memory are not fitted. */
static bool rank_line(const Material *material, const double *seconds, Arena *arena, Ranking *out, Error *error) {
    Ranked *rows = ARENA_NEW(arena, Ranked, (size_t)material->count);
    int64_t n = 0;
    if (!rows) return error_memory(error);
    for (int32_t i = 0; seconds && i < material->count; i++) {
        const Replay *replay = &material->replays[i];
        Prediction prediction;
        if (!(seconds[i] > 0) || !replay_predict(replay, &material->set, &prediction)) continue;
        rows[n++] = (Ranked){replay->run, replay->measured_seconds, seconds[i],
                             prediction.needed_bytes > replay->chip.hbm_bytes.value};
    }
    return rank_runs(rows, n, NULL, arena, out, error);
}

static bool write_report(const CalibrateWords *words, const Material *material, const Calibration *c, FILE *out,
                         Arena *arena, Error *error) {
    Ranking fitted, unseen;
    if (!rank_line(material, c->seconds[LINE_FITTED], arena, &fitted, error) ||
        !rank_line(material, c->seconds[LINE_GROUPS], arena, &unseen, error))
        return false;
    const CalibrateFacts facts = {.file = words->file,
                                  .sha256 = material->table.sha256,
                                  .start = words->profile ? words->profile : "default",
                                  .written = words->output,
                                  .runs = material->table.count,
                                  .skipped = material->skipped,
                                  .skipped_count = material->skipped_count,
                                  .fitted_order = &fitted,
                                  .unseen_order = c->crossed ? &unseen : NULL,
                                  .verbose = words->verbose};
    Draft draft;
    if (!draft_open(&draft, error)) return false;
    bool ok = words->format == CALIBRATE_JSON       ? calibrate_json(draft.file, c, &facts)
              : words->format == CALIBRATE_MARKDOWN ? calibrate_markdown(draft.file, c, &facts)
                                                    : calibrate_text(draft.file, c, &facts);
    return draft_write(&draft, ok, out, NULL, error);
}

/* ---- progress ---- */

typedef struct {
    FILE *err;
    double begun;
    bool shown;
} Bar;

static void show(void *context, int done, int folds) {
    Bar *bar = context;
    if (omp_get_wtime() - bar->begun < 1) return;
    bar->shown = true;
    fprintf(bar->err, "\r%d of %d folds ", done, folds);
    fflush(bar->err);
}

bool training_calibrate(const CalibrateWords *words, Arena *arena, Streams streams, Error *error) {
    Material material = {.begin = words->begin};
    Calibration calibration;
    Bar bar = {streams.err, omp_get_wtime(), false};
    if (!run_table_read(words->file, arena, &material.table, error) || !load_set(words, arena, &material.set, error) ||
        !replay_all(words, &material, arena, error))
        return false;
    if (words->only && !profile_set_stack(&material.set, words->only))
        return error_set(error, ERROR_INPUT, "--only", "the set has no stack %.60s", words->only);
    if (material.begin == BEGIN_AUTO && words->only) material.begin = BEGIN_PRIORS;
    if (material.begin == BEGIN_AUTO) {
        bool other = material.set.runs_sha256[0] && strcmp(material.set.runs_sha256, material.table.sha256) != 0;
        material.begin = other ? BEGIN_VALUES : BEGIN_PRIORS;
    }
    if (material.begin == BEGIN_VALUES && !fit_own_figures(&material.set, material.runs, material.count, error))
        return false;
    const FitProblem problem = {.set = &material.set,
                                .runs = material.runs,
                                .run_count = material.count,
                                .predict = predict,
                                .context = &material,
                                .only = words->only,
                                .start = material.begin == BEGIN_PRIORS ? FIT_PRIORS : FIT_VALUES,
                                .threads = threads_usable(words->threads)};
    const CalibrateOptions options = {.exclude_flagged = words->exclude_flagged,
                                      .folds = words->folds,
                                      .progress = isatty(fileno(streams.err)) ? show : NULL,
                                      .progress_context = &bar};
    bool ok = calibrate(&problem, &options, arena, &calibration, error);
    if (bar.shown) fputs("\r                    \r", streams.err);
    if (ok) skip_unpredicted(&material, &calibration);
    if (!ok || (words->output && !write_set(words, &material, &calibration, streams.out, arena, error))) return false;
    return (words->output && strcmp(words->output, "-") == 0) ||
           write_report(words, &material, &calibration, streams.out, arena, error);
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
    if (!calibrate_options_read(line, &words, error)) return exit_of_error(error);
    const AnswerKind *kind = kind_of_table(words.file, line->arena);
    if (kind_takes(kind, line, TRAINING, COUNT_OF(TRAINING), error))
        kind->calibrate(&words, line->arena, streams, error);
    return exit_of_error(error);
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
              "Exit codes: 0 done, 2 input is wrong, 70 a defect.",
    .examples = "shardopt calibrate mine.jsonl -o mine.json\n",
    .run = run,
};
