/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `shardopt emit FORMAT`: one plan as the configuration of a launcher. --from takes it out of a report, --from-config
 * out of the configuration of another launcher, --plan names it; without any, the best plan that the launcher can launch is searched for. */
#include "search/launch/emit.h"
#include "base/clock.h"
#include "base/number.h"
#include "base/text/prose.h"
#include "base/util.h"
#include "search/cli/command.h"
#include "search/cli/one_plan.h"
#include "search/cli/planning.h"
#include "search/launch/remat_offer.h"
#include "search/launch/rules.h"

#include <stdlib.h>
#include <string.h>

static bool unknown_format(const char *name, Error *error) {
    char all[128] = "";
    const EmitFormat *format;
    for (int i = 0; (format = emit_format_at(i)) != NULL; i++) {
        size_t length = strlen(all);
        snprintf(all + length, sizeof all - length, "%s%s",
                 i == 0                  ? ""
                 : emit_format_at(i + 1) ? ", "
                                         : " or ",
                 format->name);
    }
    if (!name) return error_set(error, ERROR_INPUT, "emit", "has no format; give %s first", all);
    return error_set(error, ERROR_INPUT, name, "is no format; give %s", all);
}

static void help(FILE *out) {
    const EmitFormat *format;
    options_help(out, COMMAND_EMIT);
    fprintf(out, "\nFormats:\n");
    for (int i = 0; (format = emit_format_at(i)) != NULL; i++) fprintf(out, "  %-15s %s\n", format->name, format->does);
}

/* A search of its own, for what this launcher can launch; *row: which of its plans. */
static bool best_plan_request(const Options *options, const EmitFormat *format, Arena *arena, Request *request,
                              int *row, Error *error) {
    int64_t rank = 1;
    if (!request_from_options(options, arena, request, error) ||
        (options->text[OPTION_RANK] && !number_whole(options->text[OPTION_RANK], "--rank", 1, 1000, &rank, error)))
        return false;
    if (request->space.launchers == 0) request->space.launchers = 1u << format->launcher;
    request->control.top = (int)rank;
    *row = (int)rank - 1;
    return true;
}

/* A report's plan was laid out freely, and takes longer as the launcher can be told. */
static void say_what_it_takes(const EmitFormat *format, const SearchResult *result, const ReportPlan *from, FILE *err) {
    char then[NUMBER_TEXT_SIZE], now[NUMBER_TEXT_SIZE];
    double seconds = result->plan_count > 0 ? result->plans[0].estimate.time.seconds : 0;
    if (!(from->seconds > 0) || !(seconds > from->seconds * (1 + 1e-9))) return;
    fprintf(err,
            "shardopt: warning: emit %s: as it can be told, the plan takes %s, and %s with the layout of the report; "
            "plan with --for %s finds the best for it\n",
            format->name, step_text(seconds, now), step_text(from->seconds, then), launcher_name(format->launcher));
}

/* Its plan is the one to write; no plan at all where none fits. */
static bool find_plan(const Options *options, const EmitFormat *format, Arena *arena, const OutputChoice *choice,
                      FILE *err, Request *request, SearchResult *result, Error *error) {
    ReportPlan from = {0};
    int row = 0;
    bool named = options->text[OPTION_PLAN] || options->text[OPTION_FROM] || options->text[OPTION_FROM_CONFIG];
    if (named ? !one_plan_request(options, "emit", arena, request, &from, error)
              : !best_plan_request(options, format, arena, request, &row, error))
        return false;
    /* Laid out as the launcher can be told, so that what is predicted is what is written. */
    if (!launch_remat(1u << format->launcher, &request->question.model, arena, &request->question.offer, error))
        return false;
    planning_announce(request, choice, err);
    if (named ? !one_plan_search(request, &from, arena, result, error) : !search_run(request, arena, result, error))
        return false;
    if (!choice->quiet && request->question.offer)
        say_what_it_takes(format, result, &from, err);
    else if (!choice->quiet)
        one_plan_compare(result, &from, err);
    if (result->plan_count > 0 && row >= result->plan_count)
        return error_set(error, ERROR_INPUT, "--rank", "%d is beyond the %d plans that there are; give a smaller one",
                         row + 1, result->plan_count);
    result->plans += row;
    return true;
}

static bool write_plan(const EmitFormat *format, const Request *request, const RankedPlan *ranked,
                       const OutputChoice *choice, Streams streams, Error *error) {
    char *text = NULL;
    size_t length = 0;
    EmitNotes notes = {.count = 0};
    FILE *memory = open_memstream(&text, &length);
    if (!memory) return error_memory(error);
    bool ok = format->write(request, ranked, memory, error);
    bool failed = ferror(memory) != 0;
    if ((fclose(memory) != 0 || failed) && ok) ok = error_memory(error);
    if (ok) format->notes(request, ranked, &notes);
    for (int i = 0; i < notes.count && ok && !choice->quiet; i++)
        fprintf(streams.err, "shardopt: warning: emit %s: %s\n", format->name, notes.text[i]);
    ok = ok && output_write(streams.out, choice->path, text, length, error);
    free(text);
    return ok;
}

/* What the launcher has against the model or the machine, whatever the plan: one chip alone is refused too. */
static const char *refuses_all(const EmitFormat *format, const Request *request) {
    const Plan plain = {.degrees.of = {1, 1, 1, 1, 1, 1},
                        .knobs = {.microbatches = 1, .microbatch_sequences = 1, .virtual_stages = 1, .regather = true}};
    return launch_refusal(format->launcher, &request->question.model, &request->question.work, &plain, 0,
                          &request->question.machine.mesh);
}

static bool emit(const Options *options, const EmitFormat *format, Arena *arena, Streams streams, SearchResult *result,
                 Error *error) {
    OutputChoice choice;
    Request *request = ARENA_NEW(arena, Request, 1);
    if (!request) return error_memory(error);
    double start = clock_seconds();
    if (!output_from_options(options, &choice, error) ||
        !find_plan(options, format, arena, &choice, streams.err, request, result, error))
        return false;
    const char *refusal = result->plan_count == 0 ? refuses_all(format, request) : NULL;
    if (refusal)
        fprintf(streams.err, "shardopt: emit %s: %s takes no plan of this: %s\n", format->name,
                launcher_name(format->launcher), refusal);
    else if (result->plan_count == 0)
        fprintf(streams.err,
                "shardopt: emit %s: no plan fits; `shardopt plan` with the same options says how far off\n",
                format->name);
    else if (!emit_allowed(format, request, result->plans, error) ||
             !write_plan(format, request, result->plans, &choice, streams, error))
        return false;
    planning_conclude(result, &choice, clock_seconds() - start, streams.err);
    return true;
}

int command_emit(int argc, char **argv, Streams streams, Error *error) {
    Arena arena = {0};
    Options options;
    int code = EXIT_USAGE;
    SearchResult result;
    memset(&result, 0, sizeof result);
    const char *name = argc > 1 && argv[1][0] != '-' ? argv[1] : NULL;
    const EmitFormat *format = name ? emit_format_named(name) : NULL;
    if (name && !format) {
        unknown_format(name, error);
        goto done;
    }
    if (!options_parse(argc - (name ? 1 : 0), argv + (name ? 1 : 0), COMMAND_EMIT, &arena, &options, error)) goto done;
    if (options.text[OPTION_HELP]) {
        help(streams.out);
        code = EXIT_DONE;
    } else if (options_answered(&options, COMMAND_EMIT, streams)) {
        code = EXIT_DONE;
    } else if (!format) {
        unknown_format(NULL, error);
    } else if (emit(&options, format, &arena, streams, &result, error)) {
        code = exit_of_result(&result);
    }
done:
    if (error->kind != ERROR_NONE) code = exit_of_error(error);
    arena_free(&arena);
    return code;
}
