/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `shardopt explain`: one plan in full. --plan fixes degrees and knobs, which become requirements of a search; --from
 * takes them, the placement and the request from a report. */
#include "base/clock.h"
#include "base/util.h"
#include "search/cli/command.h"
#include "search/cli/data_files.h"
#include "search/cli/options.h"
#include "search/cli/planning.h"
#include "search/cli/report_options.h"
#include "search/knob_words.h"
#include "search/report.h"

#include <stdlib.h>
#include <string.h>

enum { FROM_TOP = 64 }; /* rows that one tuple of degrees can have: schedules, machines and batches */

/* A plan as --plan names it: degrees (0: not named), and conditions on knobs. */
typedef struct {
    int64_t degree[ROLE_COUNT];
    Requirement knobs[REQUIREMENTS_MAX];
    int knob_count;
} Named;

static bool read_plan(const char *text, const char *where, Named *named, Error *error) {
    Requirement list[REQUIREMENTS_MAX];
    int count = 0;
    *named = (Named){0};
    if (!requirements_parse(text, where, list, &count, error)) return false;
    for (int i = 0; i < count; i++) {
        const char *name = list[i].knob > 0 ? knob_word(list[i].knob - 1) : role_name(list[i].role);
        if (list[i].op != REQUIRE_EQUAL)
            return error_set(error, ERROR_INPUT, where,
                             "%s has no one value; a plan is degrees and knobs like %s=4 (--require takes conditions)",
                             name, name);
        bool twice = list[i].knob == 0 && named->degree[list[i].role];
        for (int j = 0; j < named->knob_count; j++)
            twice = twice || (list[i].knob > 0 && list[i].knob == named->knobs[j].knob);
        if (twice) return error_set(error, ERROR_INPUT, where, "%s is given twice; give it once", name);
        if (list[i].knob > 0)
            named->knobs[named->knob_count++] = list[i];
        else
            named->degree[list[i].role] = list[i].degree;
    }
    return true;
}

/* Their product; -1: more than any machine has. */
static int64_t product(const int64_t named[ROLE_COUNT]) {
    int64_t all = 1;
    for (Role role = 0; role < ROLE_COUNT; role++) {
        all *= max_whole(1, named[role]);
        if (all > 4 * MACHINE_CHIPS_MAX) return -1;
    }
    return all;
}

/* What is not named is 1 when what is named uses the machine, or all of it but what may idle; else it is chosen best.
 * */
static bool complete_degrees(const Request *request, const char *where, int64_t named[ROLE_COUNT], Error *error) {
    int64_t devices = request->machine.mesh.devices, used = product(named);
    if (named[ROLE_EXPERT] > 1 && !(request->roles & 1u << ROLE_EXPERT))
        return error_set(error, ERROR_INPUT, where, "%s has no experts; leave expert out", request->model.name);
    if (used < 0 || used > devices)
        return error_set(
            error, ERROR_INPUT, where,
            "the degrees multiply to more than the %lld devices of %s; give smaller ones, or a larger machine",
            (long long)devices, request->machine.text);
    bool divides = devices % used == 0, idles = !divides && (double)used >= (1 - request->max_idle) * (double)devices;
    bool whole = used == devices || idles;
    if (!divides && !idles)
        return error_set(error, ERROR_INPUT, where,
                         "the degrees multiply to %lld, which does not divide the %lld devices of %s", (long long)used,
                         (long long)devices, request->machine.text);
    for (Role role = 0; role < ROLE_COUNT && whole; role++) named[role] = max_whole(1, named[role]);
    return true;
}

/* More replicas than sequences is the commonest reason why a plan on paper does not divide: what batch lacks, context
 * can give. */
static bool check_replicas(const Request *request, const char *where, const int64_t named[ROLE_COUNT], Error *error) {
    int64_t replicas =
        max_whole(1, named[ROLE_DATA]) * max_whole(1, named[ROLE_FSDP]) * max_whole(1, named[ROLE_EXPERT]);
    if (replicas <= request->work.sequences || request->padding == PADDING_ANY) return true;
    return error_set(
        error, ERROR_INPUT, where,
        "data x fsdp x expert = %lld replicas for %lld sequences; give a part of them to sequence, or --padding any",
        (long long)replicas, (long long)request->work.sequences);
}

static bool require_plan(Request *request, const char *where, const Named *named, Error *error) {
    char text[NOTATION_SIZE] = "";
    for (Role role = 0; role < ROLE_COUNT; role++) {
        size_t length = strlen(text);
        if (named->degree[role])
            snprintf(text + length, sizeof text - length, " %s=%lld", role_name(role), (long long)named->degree[role]);
    }
    if (text[0] && !requirements_parse(text, where, request->requirements, &request->requirement_count, error))
        return false;
    for (int i = 0; i < named->knob_count; i++) {
        if (request->requirement_count == REQUIREMENTS_MAX)
            return error_set(error, ERROR_INPUT, where, "has too many conditions with those of --require; give fewer");
        request->requirements[request->requirement_count++] = named->knobs[i];
    }
    return true;
}

/* The row to explain: the first, or that of a report's plan, whose degrees every row has. */
static int find_row(const SearchResult *result, const ReportPlan *from) {
    for (int i = 0; from && i < result->plan_count; i++) {
        const RankedPlan *row = &result->plans[i];
        if (row->plan.knobs.schedule == from->schedule && row->machine.mesh.chips == from->chips_used &&
            (from->sequences == 0 || row->work.sequences == from->sequences))
            return i;
    }
    return 0;
}

static bool write_explanation(const Report *report, const OutputChoice *choice, Streams streams, Error *error) {
    char *text = NULL;
    size_t length = 0;
    FILE *memory = open_memstream(&text, &length);
    if (!memory) return error_memory(error);
    bool ok = choice->json                     ? report_write_json(report, memory, error)
              : report->result.plan_count == 0 ? report_write_text(report, memory, error)
                                               : explain_write_text(report, 1, memory, error);
    if (fclose(memory) != 0 && ok) ok = error_memory(error);
    ok = ok && output_write(streams.out, choice->path, text, length, error);
    free(text);
    return ok;
}

/* The words of the request are the command line's, or those of the report that --from names. */
static bool read_request(const Options *options, Arena *arena, Request *request, ReportPlan *from, Error *error) {
    const char *plan = options->text[OPTION_PLAN], *where = options->where[OPTION_PLAN];
    Options words = *options;
    if (!plan == !options->text[OPTION_FROM])
        return error_set(error, ERROR_INPUT, "explain", "%s; give --plan \"fsdp=64 tensor=4\", or --from REPORT",
                         plan ? "has two plans" : "has no plan");
    if (!plan) {
        if (!options_from_report(options, arena, &words, from, error)) return false;
        words.text[OPTION_REQUIRE] = NULL; /* the plan meets it, and its degrees and knobs say more */
        plan = from->plan;
        where = options->text[OPTION_FROM];
    } else if (options->text[OPTION_RANK]) {
        return error_set(error, ERROR_INPUT, "--rank", "belongs to --from; leave it out");
    }
    Named named;
    if (!request_from_options(&words, arena, request, error) || !read_plan(plan, where, &named, error) ||
        (options->text[OPTION_PLAN] && !complete_degrees(request, where, named.degree, error)) ||
        (options->text[OPTION_PLAN] && !check_replicas(request, where, named.degree, error)) ||
        !require_plan(request, where, &named, error))
        return false;
    memcpy(request->pins, from->pins, sizeof request->pins);
    request->pin_count = from->pin_count;
    request->variants = false;
    request->top = from->plan[0] ? FROM_TOP : 1;
    return true;
}

static bool explain(const Options *options, Arena *arena, Streams streams, Report *report, Error *error) {
    OutputChoice choice;
    ReportPlan from = {0};
    Request *request = ARENA_NEW(arena, Request, 1);
    if (!request) return error_memory(error);
    double start = clock_seconds();
    if (!output_from_options(options, &choice, error) || !read_request(options, arena, request, &from, error))
        return false;
    planning_announce(request, &choice, streams.err);
    report->request = request;
    if (!search_run(request, arena, &report->result, error)) return false;
    if (report->result.plan_count > 0) {
        report->result.plans += find_row(&report->result, from.plan[0] ? &from : NULL);
        report->result.plan_count = 1;
    } else if (!report_make(request, arena, report, error)) { /* for what is nearest */
        return false;
    }
    if (!data_files_name_all(report, arena, error) || !write_explanation(report, &choice, streams, error)) return false;
    planning_conclude(&report->result, &choice, clock_seconds() - start, streams.err);
    return true;
}

int command_explain(int argc, char **argv, Streams streams, Error *error) {
    Arena arena = {0};
    Options options;
    int code = EXIT_USAGE;
    Report *report = NULL;
    if (!options_parse(argc, argv, COMMAND_EXPLAIN, &arena, &options, error)) goto done;
    if (options_answered(&options, COMMAND_EXPLAIN, streams)) {
        code = EXIT_DONE;
        goto done;
    }
    report = ARENA_NEW(&arena, Report, 1);
    if (!report)
        error_memory(error);
    else if (explain(&options, &arena, streams, report, error))
        code = exit_of_result(&report->result);
done:
    if (error->kind != ERROR_NONE) code = exit_of_error(error);
    arena_free(&arena);
    return code;
}
