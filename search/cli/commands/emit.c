/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `shardopt emit FORMAT`: one plan as the configuration of a launcher. --from takes it out of a report, --from-config
 * out of the configuration of another launcher, --plan names it; without any, the best plan that the launcher can
 * launch is searched for. */
#include "search/launch/emit.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/number.h"
#include "base/text/prose.h"
#include "base/util.h"
#include "search/answer/tie.h"
#include "search/cli/commands.h"
#include "search/cli/commands/kinds.h"
#include "search/cli/interrupt.h"
#include "search/cli/planning.h"
#include "search/launch/launcher.h"
#include "search/launch/scheduler.h"
#include "search/options/one_plan.h"

#include <string.h>

/* Formats of training, then servers, as completion has them. */
static bool unknown_format(const char *name, Error *error) {
    enum { FORMATS_MAX = 32, LETTERS_MAX = 24 };
    char words[FORMATS_MAX][LETTERS_MAX];
    const char *names[FORMATS_MAX];
    int count = 0;
    Prose all = {0};
    for (const char *at = COMMAND_EMIT.argument_values; *at && count < FORMATS_MAX; at += strspn(at, " ")) {
        int letters = (int)strcspn(at, " ");
        snprintf(words[count], LETTERS_MAX, "%.*s", letters, at);
        names[count] = words[count];
        prose_item(&all, ", ", "%s", words[count++]);
        at += letters;
    }
    const char *near = name ? name_nearest(name, names, (size_t)count) : NULL;
    if (!name) return error_set(error, ERROR_INPUT, "emit", "has no format; give one of %s", all.text);
    Error none = {0};
    if (scheduler_known(name, &none))
        return error_set(error, ERROR_INPUT, name, "is a scheduler, of a script: shardopt emit %s --under %s",
                         strcmp(name, "lws") == 0   ? "vllm"
                         : strcmp(name, "xpk") == 0 ? "maxtext"
                                                    : "megatron",
                         name);
    return error_set(error, ERROR_INPUT, name, "is no format; %s%s%sgive one of %s", near ? "did you mean " : "",
                     near ? near : "", near ? "? " : "", all.text);
}

static void list_formats(FILE *out) {
    const EmitFormat *format;
    fprintf(out, "\nFormats:\n");
    for (int i = 0; (format = emit_format_at(i)) != NULL; i++) fprintf(out, "  %-15s %s\n", format->name, format->does);
    serving_emit_list(out);
}

/* A search of its own, for what this launcher can launch. */
static bool best_plan_request(const Options *options, const EmitFormat *format, Arena *arena, Request *request,
                              Error *error) {
    int64_t rank = 1;
    Options words = *options;
    if (!words.text[OPTION_FOR]) {
        words.text[OPTION_FOR] = launcher_name(emit_format_launcher(format));
        words.where[OPTION_FOR] = format->name;
    }
    if (!request_from_options(&words, arena, request, error) ||
        (options->text[OPTION_RANK] && !number_whole(options->text[OPTION_RANK], "--rank", 1, 1000, &rank, error)))
        return false;
    if (rank > 1) /* rows of a table differ in kind, and the next best of this search are none of them */
        return error_set(
            error, ERROR_INPUT, "--rank",
            "is of a report: write it with `shardopt plan ... --format json -o report.json`, then `shardopt "
            "emit %s report.json --rank %lld`",
            format->name, (long long)rank);
    request->control.top = 1;
    return true;
}

/* A report's plan was laid out freely, and takes longer in what the launcher can express. */
static void say_what_it_takes(const EmitFormat *format, const SearchResult *result, const ReportPlan *from, FILE *err) {
    char then[NUMBER_TEXT_SIZE], now[NUMBER_TEXT_SIZE];
    double seconds = result->plan_count > 0 ? result->plans[0].estimate.time.seconds : 0;
    if (!(from->seconds > 0) || !(seconds > from->seconds * (1 + 1e-9))) return;
    fprintf(err,
            "shardopt: warning: emit %s: in what it can express the plan takes %s, with the layout of the report %s; "
            "plan with --for %s finds the best for it\n",
            format->name, step_text(seconds, now), step_text(from->seconds, then),
            launcher_name(emit_format_launcher(format)));
}

/* Its plan is the one to write; no plan at all where none fits. */
static bool find_plan(const Options *options, const EmitFormat *format, Arena *arena, const OutputChoice *choice,
                      FILE *err, Request *request, SearchResult *result, Error *error) {
    ReportPlan from = {0};
    bool named = options->text[OPTION_PLAN] || options->text[OPTION_FROM] || options->text[OPTION_FROM_CONFIG];
    if (named ? !one_plan_request(options, "emit", arena, request, &from, error)
              : !best_plan_request(options, format, arena, request, error))
        return false;
    /* Laid out, and updated, in what the launcher can express, so that what is predicted is what is written. */
    request->question.host_update = launchers_host_update(1u << emit_format_launcher(format));
    if (!launch_remat(1u << emit_format_launcher(format), &request->question.model, arena, &request->question.domain,
                      error))
        return false;
    if (from.remat[0] &&
        !remat_is_expressible(request->question.domain, &request->question.model, &request->question.remat))
        request->question.remat.required = false; /* the report's plan is another launcher's */
    planning_announce(request, choice, err);
    thousands_warn(request, choice, err);
    if (named ? !one_plan_search(request, &from, arena, result, error) : !search_run(request, arena, result, error))
        return false;
    if (!choice->quiet && request->question.domain)
        say_what_it_takes(format, result, &from, err);
    else if (!choice->quiet)
        one_plan_compare(result, &from, err);
    return true;
}

typedef struct {
    const EmitFormat *format;
    const RankedPlan *ranked;
    EmitNotes notes;
} EmittedPlan;

static bool write_emitted(void *plan, FILE *out, Error *error) {
    EmittedPlan *own = plan;
    const Chip *chip = &own->ranked->request->question.chip;
    if (chip->sixteen_bits[0] == 'f' && strcmp(own->format->name, "deepspeed") != 0)
        emit_note(&own->notes, "%s multiplies in fp16: write fp16 where bf16 stands", chip->title);
    return emit_write(own->format, own->ranked->request, own->ranked, &own->notes, out, error);
}

static bool write_plan(const EmitFormat *format, const RankedPlan *ranked, const char *under,
                       const OutputChoice *choice, Streams streams, Error *error) {
    Draft draft;
    EmittedPlan plan = {format, ranked, {.count = 0}};
    const ScheduledJob job = {ranked->request->question.model.name, &ranked->request->question.chip, &ranked->machine,
                              false, format->starts};
    if (!draft_open(&draft, error)) return false;
    bool ok = scheduler_write(under, &job, write_emitted, &plan, draft.file, error) && !ferror(draft.file);
    for (int i = 0; i < plan.notes.count && ok && !choice->quiet; i++)
        fprintf(streams.err, "shardopt: warning: emit %s: %s\n", format->name, plan.notes.text[i]);
    return draft_write(&draft, ok, streams.out, choice->path, error);
}

/* What the launcher has against the model or the machine, whatever the plan: one chip alone is refused too. */
static const char *refuses_all(const EmitFormat *format, const Request *request) {
    const int launcher = emit_format_launcher(format);
    const Plan plain = {.degrees.of = {1, 1, 1, 1, 1, 1},
                        .knobs = {.microbatches = 1, .microbatch_sequences = 1, .virtual_stages = 1, .regather = true}};
    const char *work = launch_refusal_of_work(launcher, request);
    return work ? work
                : launch_refusal(launcher, &request->question.model, &request->question.work, &plain, 0,
                                 &request->question.machine.mesh);
}

/* A configuration that nobody has proven is not written: what is known of it is said. */
static void say_interrupted(const EmitFormat *format, const SearchResult *result, FILE *err) {
    char step[NUMBER_TEXT_SIZE], gap[NUMBER_TEXT_SIZE];
    if (result->plan_count == 0)
        fprintf(err, "shardopt: emit %s: interrupted before a plan was found; nothing is written\n", format->name);
    else
        fprintf(err, "shardopt: emit %s: interrupted; the best so far takes %s (gap %s); nothing is written\n",
                format->name, step_text(result->plans[0].estimate.time.seconds, step),
                share_text(search_gap(result), gap));
}

static bool emit(const Options *options, const EmitFormat *format, Arena *arena, Streams streams, SearchResult *result,
                 Error *error) {
    OutputChoice choice;
    Request *request = ARENA_NEW(arena, Request, 1);
    if (!request) return error_memory(error);
    double start = clock_seconds();
    if (!output_from_options(options, &choice, error) || !scheduler_known(options->text[OPTION_UNDER], error) ||
        !find_plan(options, format, arena, &choice, streams.err, request, result, error))
        return false;
    const char *refusal = result->plan_count == 0 ? refuses_all(format, request) : NULL;
    if (interrupt_came(NULL))
        say_interrupted(format, result, streams.err);
    else if (refusal)
        fprintf(streams.err, "shardopt: emit %s: %s takes no plan of this: %s\n", format->name,
                launcher_name(emit_format_launcher(format)), refusal);
    else if (result->plan_count == 0)
        fprintf(streams.err,
                "shardopt: emit %s: no plan fits; `shardopt plan` with the same options says how far off\n",
                format->name);
    else if (!emit_allowed(format, result->plans->request, result->plans, error) ||
             !write_plan(format, result->plans, options->text[OPTION_UNDER], &choice, streams, error))
        return false;
    planning_conclude(result, &choice, clock_seconds() - start, streams.err);
    return true;
}

/* A format, and perhaps the file of a plan, in any order. */
static bool take_operands(CommandLine *line, const EmitFormat **format, Error *error) {
    const char *unknown = NULL;
    *format = NULL;
    for (int i = 0; i < line->argument_count; i++) {
        const char *word = line->arguments[i];
        const EmitFormat *named = emit_format_named(word);
        if (named && *format) return error_set(error, ERROR_INPUT, word, "is one format too many; give one");
        if (!named && !operand_is_file(word)) unknown = word;
        if (!named && operand_is_file(word) && !operand_take_plan(line, word, error)) return false;
        if (named) *format = named;
    }
    if (*format && unknown)
        return error_set(error, ERROR_INPUT, unknown,
                         "is neither a format nor a file; give a report of plan --format json");
    return *format != NULL || unknown_format(unknown, error);
}

int training_emit(const CommandLine *line, const char *format, const cJSON *report, Streams streams, Error *error) {
    Planning planning;
    (void)report; /* read with what the line says of it */
    if (!planning_begin(line, &planning, error)) return EXIT_DEFECT;
    SearchResult *result = &planning.report->result;
    return planning_end(&planning,
                        emit(&planning.options, emit_format_named(format), line->arena, streams, result, error));
}

static int run(const CommandLine *line, Streams streams, Error *error) {
    const EmitFormat *format;
    CommandLine *own = ARENA_NEW(line->arena, CommandLine, 1);
    if (!own) return error_memory(error), EXIT_DEFECT;
    *own = *line;
    if (!take_operands(own, &format, error)) return EXIT_USAGE;
    const char *from = own->text[OPTION_FROM];
    cJSON *report = from ? json_read_file(from, error) : NULL;
    int code = from && !report ? EXIT_USAGE : kind_of_report(report)->emit(own, format->name, report, streams, error);
    cJSON_Delete(report);
    return code;
}

const Command COMMAND_EMIT = {
    .name = "emit",
    .summary = "a plan as launch configuration: MaxText, torchtitan, Megatron, JAX, DeepSpeed; a server's start script",
    .usage = "emit FORMAT REPORT [--rank N] [-o FILE]    (as --from REPORT; - is stdin)\n"
             "emit FORMAT --from-config FILE [-o FILE] [OPTIONS]\n"
             "emit FORMAT --model NAME [--plan PLAN] [-o FILE] [OPTIONS]\n"
             "emit vllm|sglang|tensorrt-llm|maxtext-serving|dynamo|llm-d [--from REPORT] [OPTIONS of "
             "`inference`]",
    .details =
        "A plan as the configuration of what runs it: `maxtext` (YAML over base.yml), `megatron`, "
        "`torchtitan` (bash scripts), `torchtitan-toml` (TOML, for torchtitan up to 0.2), `jax` (a Python "
        "module with mesh, PartitionSpecs, remat and schedule; its --check prints and checks them), "
        "`deepspeed` (JSON; what its schema has no key for stands in an object \"shardopt\", which it leaves "
        "alone), `trl` (a bash script), `axolotl`, `llama-factory` (YAML). The plan is one of a report (--from), the "
        "one that --plan names, or, without either, the "
        "best that the launcher can launch. What it refuses, or cannot put where the plan was costed, is an "
        "error that names the rule; what it does otherwise than was costed is a comment in the file and a "
        "warning. Activations that a GPU launcher has no words for become the cheapest of its ways that keeps "
        "no more of them. Scripts are run on every host, with MASTER_ADDR, and NODE_RANK or, where hosts have "
        "to come in an order, HOST; SLURM_NODEID stands for both. `--under` writes the job that starts the script on "
        "every host: a batch file of Slurm, a JobSet of Kubernetes or a LeaderWorkerSet for servers (for Kueue too), a "
        "task of SkyPilot, a program for `ray job submit` or a RayJob of KubeRay; for slices of TPUs the line of XPK "
        "that carries MaxText's file. Their arguments go to the trainer: data and tokenizer, for one. With "
        "`vllm`, `sglang`, `tensorrt-llm` or `maxtext-serving` the options are those of `inference`, and the file is a "
        "script that starts every worker, routes to them, and runs the load test "
        "that would confirm what was predicted; `dynamo` and `llm-d` write what these start on Kubernetes.",
    .options = PLANNING_OPTIONS,
    .option_count = OPTION_COUNT,
    .use = USE_EMIT,
    .takes_arguments = true,
    .argument_values =
        "maxtext torchtitan megatron jax deepspeed torchtitan-toml trl axolotl llama-factory vllm sglang tensorrt-llm "
        "maxtext-serving dynamo llm-d",
    .footer = PLANNING_FOOTER(""),
    .list = list_formats,
    .examples = "shardopt emit maxtext --from report.json -o run.yml\n"
                "shardopt emit jax --from report.json --rank 1 -o plan.py\n"
                "shardopt emit vllm --model 70b --chip h100 --nodes 1 -o serve.sh\n",
    .other = serving_emit_command,
    .run = run,
};
