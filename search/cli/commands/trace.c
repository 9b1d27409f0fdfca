/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `shardopt trace FILE...`: what a profiler recorded, compared with the plan that was run. */
#include "base/file.h"
#include "base/json.h"
#include "base/text/page.h"
#include "base/util.h"
#include "cost/trace/formats/formats.h"
#include "search/cli/commands/refitting.h"
#include "search/cli/commands/trace_plan.h"
#include "search/options/options.h"
#include "search/trace/comparison.h"

#include <stdlib.h>
#include <string.h>

enum { TRACE_FILES_MAX = 4096, LOGS_MAX = 16 };

/* Everything that was read, in the order of the ranks. */
typedef struct {
    KernelNames names;
    RankTrace *ranks;
    int count, room;
    StepLog logs[LOGS_MAX];
    int log_count;
    Arena *arena;
} Traces;

static bool add_ranks(Traces *traces, const RankTraces *more, Error *error) {
    int count = more->count;
    if (traces->count + count > traces->room) {
        int room = max_whole(2 * traces->room, traces->count + count + 8);
        RankTrace *larger = ARENA_NEW(traces->arena, RankTrace, (size_t)room);
        if (!larger) return error_memory(error);
        if (traces->count > 0) memcpy(larger, traces->ranks, (size_t)traces->count * sizeof *larger);
        traces->ranks = larger;
        traces->room = room;
    }
    memcpy(traces->ranks + traces->count, more->ranks, (size_t)count * sizeof *more->ranks);
    traces->count += count;
    return true;
}

static bool read_log(Traces *traces, const char *path, Error *error) {
    if (traces->log_count == LOGS_MAX)
        return error_set(error, ERROR_INPUT, path, "is one log too many; at most %d are read", LOGS_MAX);
    return trace_log_read(path, &traces->logs[traces->log_count++], error);
}

/* A file while it is read. */
typedef struct {
    Traces *traces;
    const char *path;
    const PlanShape *shape;
} Reading;

static bool take_devices(Recording *recording, void *context, Error *error) {
    const Reading *reading = context;
    RankTraces ranks;
    return rank_traces(recording, reading->path, reading->shape, reading->traces->arena, &ranks, error) &&
           (ranks.count == 0 || add_ranks(reading->traces, &ranks, error));
}

/* What went wrong behind a device that was taken is the file's all the same. */
static bool note_trouble(const Recording *recording, const Reading *reading, int first, Error *error) {
    const char *trouble = arena_text(reading->traces->arena, recording->trouble);
    for (int r = first; trouble && r < reading->traces->count; r++) {
        reading->traces->ranks[r].trouble = trouble;
        reading->traces->ranks[r].dropped = recording->dropped;
        reading->traces->ranks[r].damaged = recording->damaged;
    }
    return trouble || error_memory(error);
}

static bool read_one(Traces *traces, const char *path, const PlanShape *shape, Error *error) {
    Recording recording;
    Reading reading = {traces, path, shape};
    int first = traces->count;
    bool is_log;
    if (!trace_file_is_log(path, &is_log, error)) return false;
    if (is_log) return read_log(traces, path, error);
    recording_begin(&recording, &traces->names);
    recording.take = take_devices;
    recording.take_context = &reading;
    bool ok = trace_file_read(path, &recording, error) &&
              (recording.event_count == 0 || recording_hand_over(&recording, error)) &&
              note_trouble(&recording, &reading, first, error);
    recording_free(&recording);
    return ok;
}

static int by_rank(const void *a, const void *b) {
    const RankTrace *x = a, *y = b;
    if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
    int files = strcmp(x->file, y->file);
    return files ? files : x->device < y->device ? -1 : x->device > y->device;
}

static bool read_all(Traces *traces, const CommandLine *line, const PlanShape *shape, Error *error) {
    if (!kernel_names_load(traces->arena, &traces->names, error)) return false;
    for (int i = 0; i < line->argument_count; i++) {
        const char **paths = &line->arguments[i];
        size_t count = 1;
        if (file_is_folder(*paths) && !trace_folder_list(*paths, traces->arena, &paths, &count, error)) return false;
        if (count > TRACE_FILES_MAX)
            return error_set(error, ERROR_INPUT, line->arguments[i], "holds %zu files; at most %d are read", count,
                             TRACE_FILES_MAX);
        for (size_t p = 0; p < count; p++)
            if (!read_one(traces, paths[p], shape, error)) return false;
    }
    if (traces->count == 0 && traces->log_count > 0) return true;
    if (traces->count == 0)
        return error_set(error, ERROR_INPUT, line->arguments[0],
                         "nothing ran on a device in it: record with the activities of the GPU");
    qsort(traces->ranks, (size_t)traces->count, sizeof *traces->ranks, by_rank);
    ranks_settle_messages(traces->ranks, traces->count);
    for (int r = 1; r < traces->count; r++)
        if (traces->ranks[r].rank >= 0 && traces->ranks[r].rank == traces->ranks[r - 1].rank &&
            traces->ranks[r].file != traces->ranks[r - 1].file)
            return error_set(error, ERROR_INPUT, traces->ranks[r].file, "is of rank %lld, as %.120s is",
                             (long long)traces->ranks[r].rank, traces->ranks[r - 1].file);
    return true;
}

/* What is printed: a trace, or logs alone. */
typedef struct {
    const Traces *traces;
    const PlanTerms *plan;      /* NULL: none was given */
    const Comparison *compared; /* NULL: there are logs alone */
    const RefitAnswer *refit;   /* NULL: it was not requested */
} Answer;

/* JSON, or the page with it. */
static bool print_document(const Answer *answer, bool page, FILE *out, Error *error) {
    cJSON *json = answer->compared ? comparison_json(answer->compared) : cJSON_CreateObject();
    bool ok = json && (answer->compared || json_add_whole(json, "format_version", 1)) &&
              (!answer->refit || refitting_add_json(answer->refit, json));
    if (ok && answer->traces->log_count > 0)
        step_logs_add_json(answer->traces->logs, answer->traces->log_count, answer->plan, json);
    ok = ok && (page ? page_write(json, out, error) : json_print(out, json));
    cJSON_Delete(json);
    return ok || error_memory(error);
}

static bool print_text(const Answer *answer, TextOut out, Error *error) {
    if (answer->compared && !comparison_write_text(answer->compared, out, error)) return false;
    if (answer->compared && answer->traces->log_count > 0) fputc('\n', out.file);
    step_logs_write_text(answer->traces->logs, answer->traces->log_count, answer->plan,
                         answer->compared ? answer->compared->step_measured : 0, out);
    if (answer->refit) refitting_write_text(answer->refit, answer->compared->step_measured, out);
    return true;
}

static bool write_answer(const Answer *answer, const CommandLine *line, Streams streams, Error *error) {
    int format = 0;
    const char *path = NULL;
    if (!line_choice(line, OPTION_TRACE_FORMAT, &format, error) || !line_file(line, OPTION_OUTPUT, &path, error))
        return false;
    Draft draft;
    if (!draft_open(&draft, error)) return false;
    bool ok = format > 0 ? print_document(answer, format == 2, draft.file, error)
                         : print_text(answer, (TextOut){draft.file, output_terminal(streams, path)}, error);
    return draft_write(&draft, ok, streams.out, path, error);
}

/* Terms depend on each other's figures a little: after so many steps they have settled. */
enum { REFIT_STEPS = 4 };

/* A comparison that moves with the profile; what stages compute is the plan's and stays. */
typedef struct {
    Comparison compared;
    PlanTerms terms;
    const double *stage_share;
} RefitSteps;

static bool step_towards(void *context, const RefitInto *into, const Report *report, const PlanTerms *terms, Refit *out,
                         Error *error) {
    (void)report;
    RefitSteps *own = context;
    own->terms = *terms;
    own->terms.stage_share = own->stage_share;
    comparison_price(&own->compared, &own->terms);
    return refit_step(&own->compared, into, out, error);
}

/* What --refit requests; *out stays NULL without it. */
static bool refit(const CommandLine *line, const TracePlan *plan, const Comparison *compared, RefitAnswer **out,
                  Error *error) {
    RefitSteps *own = ARENA_NEW(line->arena, RefitSteps, 1);
    RefitAsk ask = {.report = plan->name, .json = plan->report, .rank = plan->rank, .steps = REFIT_STEPS};
    if (!own) return error_memory(error);
    *own = (RefitSteps){.compared = *compared, .stage_share = plan->terms.stage_share};
    ask.step = step_towards;
    ask.context = own;
    if (!line_file(line, OPTION_REFIT, &ask.path, error)) return false;
    if (!ask.path) return true;
    if (!plan->report)
        return error_set(error, ERROR_INPUT, "--refit", "needs the plan that was run: give --from or --from-config");
    if (!comparison_same_chip(compared))
        return error_set(error, ERROR_INPUT, "--refit",
                         "the trace is of %.60s and the plan for %.40s: nothing is written", compared->ranks[0].chip,
                         compared->plan->chip);
    *out = ARENA_NEW(line->arena, RefitAnswer, 1);
    ask.source = arena_format(line->arena, "shardopt trace --refit: %d devices, %d steps of the first",
                              compared->rank_count, compared->ranks[0].steps_used);
    return *out && ask.source ? refitting_run(&ask, line->arena, *out, error) : error_memory(error);
}

/* What is measured takes time, and belongs to a job of the plan's size. */
static bool is_comparable(const Traces *traces, const PlanTerms *plan, Error *error) {
    double seconds = 0;
    for (int r = 0; r < traces->count; r++) {
        const RankTrace *rank = &traces->ranks[r];
        seconds += rank->step_mean;
        if (plan && rank->world_size > 0 && rank->world_size != plan->chips)
            return error_set(error, ERROR_INPUT, rank->file,
                             "is of a job of %lld ranks, and the plan uses %lld; give the plan of that job",
                             (long long)rank->world_size, (long long)plan->chips);
    }
    return seconds > 0 || error_set(error, ERROR_INPUT, traces->ranks[0].file,
                                    "no time passes in it: all its kernels are at one instant; record it again");
}

/* Logs alone have no terms to be compared. */
static bool compare(const CommandLine *line, const TracePlan *plan, Answer *out, Error *error) {
    Comparison *compared = ARENA_NEW(line->arena, Comparison, 1);
    RefitAnswer *moved = NULL;
    if (!compared) return error_memory(error);
    if (out->traces->count == 0)
        return !line->text[OPTION_REFIT] ||
               error_set(error, ERROR_INPUT, "--refit", "needs a trace; a log has no terms");
    if (!is_comparable(out->traces, out->plan, error)) return false;
    if (!comparison_make(out->traces->ranks, out->traces->count, out->plan, line->arena, compared, error) ||
        !refit(line, plan, compared, &moved, error))
        return false;
    out->compared = compared;
    out->refit = moved;
    return true;
}

static bool answer_line(const CommandLine *line, Streams streams, TracePlan *plan, Error *error) {
    Traces *traces = ARENA_NEW(line->arena, Traces, 1);
    Answer answer = {.traces = traces};
    int format;
    if (!traces) return error_memory(error);
    traces->arena = line->arena;
    if (line->argument_count == 0)
        return error_set(error, ERROR_INPUT, "trace", "give the file that a profiler wrote, or a folder of one a rank");
    if (!line_choice(line, OPTION_TRACE_FORMAT, &format, error) || !trace_plan_read(line, streams.err, plan, error))
        return false;
    if (plan->report) answer.plan = &plan->terms;
    if (!read_all(traces, line, &plan->terms.shape, error)) return false;
    for (int i = 0; i < traces->log_count; i++) step_log_scale(&traces->logs[i], plan->terms.tokens);
    return compare(line, plan, &answer, error) && write_answer(&answer, line, streams, error);
}

static int run(const CommandLine *line, Streams streams, Error *error) {
    TracePlan plan = {0};
    answer_line(line, streams, &plan, error);
    cJSON_Delete(plan.report);
    return exit_of_error(error);
}

const Command COMMAND_TRACE = {
    .name = "trace",
    .summary = "a profiler's trace of a run compared with its plan, term by term",
    .usage = "trace FILE... [--from REPORT [--rank N]] [--refit FILE] [--format text|json|html] [-o OUT]\n"
             "trace FILE... --from-config FILE [OPTIONS]    (the launch file that was run)",
    .about =
        "Where the time of a step went, by what a profiler recorded: matmuls, attention, collectives by role, and "
        "idle,\neach measured next to the plan's, with the largest differences in words. A folder holds one file a "
        "rank.",
    .details =
        "What a profiler recorded of a run, compared with the plan that was run: traces of PyTorch (Kineto, .json and "
        ".json.gz), of XProf and JAX (.xplane.pb, .trace.json.gz) and of Nsight Systems (.sqlite), one rank or "
        "a folder of "
        "ranks. Each kernel is put to a term of the model by the rules of cost/trace/names; times are unions "
        "of intervals, so that what overlaps does not count twice. What no rule knows is named. Nothing of a "
        "trace's environment, command lines or hosts is printed. With --from-config the machine, and what the "
        "file leaves to others, come from options, as `explain` has them.",
    .options = PLANNING_OPTIONS,
    .option_count = OPTION_COUNT,
    .use = USE_TRACE,
    .takes_arguments = true,
    .argument_values = "@files",
    .footer = "Exit codes: 0 done, 2 input is wrong, 70 a defect.",
    .examples = "shardopt trace rank0.json --from report.json\n",
    .run = run,
};
