/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/cli/commands/trace_plan.h"

#include "base/json.h"
#include "base/number.h"
#include "search/answer/plan_words.h"
#include "search/cli/commands/refitting.h"
#include "search/cli/planning.h"
#include "search/options/data_files.h"
#include "search/options/one_plan.h"

static bool config_report(const Report *report, TracePlan *out, Error *error) {
    out->report = report_json(report, error);
    if (out->report) json_settle(out->report);
    return out->report != NULL;
}

/* What each stage of a pipeline computes, which a report does not say. */
static bool share_stages(const Report *report, Arena *arena, PlanTerms *out, Error *error) {
    const RankedPlan *ranked = &report->result.plans[0];
    int64_t stages = out->shape.degree[TERM_PIPELINE];
    if (stages < 2 || (double)stages != ranked->estimate.shard.pipeline) return true;
    CostContext setting = ranked_cost_context(report->result.request, ranked);
    double *shares = ARENA_NEW(arena, double, (size_t)stages);
    if (!shares) return error_memory(error);
    for (int64_t stage = 0; stage < stages; stage++)
        shares[stage] = stage_share(&setting, &ranked->estimate.shard, &ranked->plan.knobs, stage);
    out->stage_share = shares;
    return true;
}

/* A report that cannot be priced any more still has its terms, of which the fullest stage's are known. */
static bool share_of_report(const CommandLine *line, TracePlan *out, Error *error) {
    RefitAsk ask = {.report = out->name, .json = out->report, .rank = out->rank};
    Report *report;
    Error ignored = {0};
    if (out->terms.shape.degree[TERM_PIPELINE] < 2) return true;
    if (!refitting_price(&ask, NULL, line->arena, &report, &ignored)) return true;
    return share_stages(report, line->arena, &out->terms, error);
}

/* A plan that lacks HBM by the model is priced as if that were there: it was run. */
static bool price_config(const CommandLine *line, FILE *err, TracePlan *out, Report **priced, Error *error) {
    Options *options = ARENA_NEW(line->arena, Options, 1);
    Request *request = ARENA_NEW(line->arena, Request, 1);
    Report *report = ARENA_NEW(line->arena, Report, 1);
    ReportPlan *from = ARENA_NEW(line->arena, ReportPlan, 1);
    NamedPrice price;
    char bytes[NUMBER_TEXT_SIZE];
    if (!options || !request || !report || !from) return error_memory(error);
    options_of_line(line, options);
    if (!one_plan_request(options, line->command->name, line->arena, request, from, error)) return false;
    one_plan_notes(from, err);
    const NamedPlan named = {options, request, from, line->arena};
    if (!named_plan_price(&named, report, &price, error)) return false;
    if (report->result.plan_count == 0)
        return error_set(error, ERROR_INPUT, out->name,
                         "its plan does not fit on this machine; `shardopt explain --from-config` says why");
    if (price.lacking_bytes > 0)
        fprintf(err, "shardopt: warning: %s: by this model it lacks %s of HBM per chip; priced as if that were there\n",
                out->name, number_bytes(price.lacking_bytes, bytes));
    report->request = report->result.request;
    *priced = report;
    return data_files_name_all(report, line->arena, error) && config_report(report, out, error);
}

/* Options that go with a launch file, without one. */
static bool check_alone(const CommandLine *line, Error *error) {
    for (Option option = 0; option < OPTION_COUNT; option++)
        if ((option_is_input(option) || option == OPTION_CONFIG_FORMAT) && line->text[option])
            return error_set(error, ERROR_INPUT, line->where[option], "belongs to --from-config; a report has its own");
    return true;
}

bool trace_plan_read(const CommandLine *line, FILE *err, TracePlan *out, Error *error) {
    const char *config = NULL;
    int64_t rank = 1;
    if (!line_file(line, OPTION_FROM, &out->name, error) || !line_file(line, OPTION_FROM_CONFIG, &config, error) ||
        (line->text[OPTION_RANK] && !number_whole(line->text[OPTION_RANK], "--rank", 1, 100000, &rank, error)))
        return false;
    out->rank = line->text[OPTION_RANK];
    if (out->rank && !out->name) return error_set(error, ERROR_INPUT, "--rank", "is of a report; give --from too");
    if (out->name && config)
        return error_set(error, ERROR_INPUT, line->command->name,
                         "has two plans; give --from REPORT or --from-config FILE");
    if (!config && !check_alone(line, error)) return false;
    if (config) out->name = config;
    if (!out->name) return true;
    Report *priced = NULL;
    if (config ? !price_config(line, err, out, &priced, error) : !(out->report = json_read_file(out->name, error)))
        return false;
    if (!plan_terms_read(out->report, out->name, rank, &out->terms, error)) return false;
    return priced ? share_stages(priced, line->arena, &out->terms, error) : share_of_report(line, out, error);
}
