/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/cli/commands/trace_plan.h"

#include "base/json.h"
#include "base/number.h"
#include "base/util.h"
#include "search/answer/plan_words.h"
#include "search/cli/commands/named_plan.h"
#include "search/cli/commands/refitting.h"
#include "search/cli/interrupt.h"
#include "search/cli/planning.h"
#include "search/options/data_files.h"

#include <stdlib.h>

const CommandOption TRACE_OPTIONS[TRACE_OPTION_COUNT] = {
    [TRACE_FROM] = {.name = "from",
                    .takes = "REPORT",
                    .help = "the report (--format json) with the plan that was run",
                    .details = "The report of `plan` or `explain` (--format json) with the plan that was run. Without "
                               "it and without --from-config, what was measured stands alone.",
                    .values = "@files"},
    [TRACE_RANK] = {.name = "rank", .takes = "N", .help = "which of the report's plans was run (1)"},
    [TRACE_FROM_CONFIG] =
        {.name = "from-config",
         .takes = "FILE",
         .help = "the launch file that was run: MaxText, torchtitan, Megatron, DeepSpeed, JAX",
         .details = "The launch file that was run, read and priced as `explain --from-config` does it: the machine "
                    "and what the file leaves to others come from the options below, which count before the file.",
         .values = "@files"},
    [TRACE_CONFIG_FORMAT] = {.name = "config-format",
                             .takes = "NAME",
                             .help = "the format of --from-config (recognised by its keys)",
                             .values = "maxtext torchtitan megatron jax deepspeed"},
    [TRACE_MODEL] = {.name = "model",
                     .takes = "NAME",
                     .heading = "With --from-config, as `explain` has them",
                     .help = "the model, where the file does not say it",
                     .values = "@models"},
    [TRACE_CHIP] = {.name = "chip", .takes = "NAME", .help = "a chip of `shardopt chips` (v5p)", .values = "@chips"},
    [TRACE_NODES] = {.name = "nodes", .takes = "N", .help = "GPU nodes"},
    [TRACE_CHIPS] = {.name = "chips", .takes = "N", .help = "chips, in place of nodes or a slice"},
    [TRACE_SLICE] = {.name = "slice", .takes = "SHAPE", .help = "a slice of TPUs, 4x4x8 or v5p-256"},
    [TRACE_SLICES] = {.name = "slices", .takes = "N", .help = "as many slices joined by the data center network (1)"},
    [TRACE_PODS] = {.name = "pods", .takes = "N", .help = "whole pods of TPUs"},
    [TRACE_BATCH] = {.name = "batch", .takes = "TOKENS", .help = "tokens of a step"},
    [TRACE_SEQUENCES] = {.name = "sequences", .takes = "N", .help = "the same in sequences"},
    [TRACE_SEQ] = {.name = "seq", .takes = "LEN", .help = "tokens of a sequence"},
    [TRACE_PRECISION] = {.name = "precision", .takes = "NAME", .help = "of matrix products, where the file is silent"},
    [TRACE_OPTIMIZER] = {.name = "optimizer", .takes = "NAME", .help = "the optimizer, where the file is silent"},
    [TRACE_REMAT] = {.name = "remat", .takes = "POLICY", .help = "what is recomputed, where the file is silent"},
    [TRACE_PROFILE] = {.name = "profile", .takes = "NAME", .help = "the efficiencies that price it, or a file"},
    [TRACE_STACK] = {.name = "stack", .takes = "NAME", .help = "whose software prices it"},
    [TRACE_REFIT] = {.name = "refit",
                     .takes = "FILE",
                     .heading = "What comes of it",
                     .help = "write the profile moved to this trace, search again with it, and say what now wins",
                     .details = "Write the profile that priced the plan, with the figures that this trace determines "
                                "moved to what was measured, and no others; then price the plan with it, search "
                                "again, and say what now wins. `--profile ./FILE` plans with it.",
                     .values = "@files",
                     .writes = true},
    [TRACE_FORMAT] = {.name = "format",
                      .takes = "FORMAT",
                      .help = "how the answer is written: text, json or html (text)",
                      .details = "How the answer is written: text, json, or html, a page that loads nothing, with the "
                                 "measured step in time above the predicted one.",
                      .values = "text json html"},
    [TRACE_OUTPUT] = {OPTION_ROW_OUTPUT},
};

/* The options that go with a launch file, by what they are to the commands that plan. */
static const struct {
    int own;
    Option option;
} OF_CONFIG[] = {
    {TRACE_FROM_CONFIG, OPTION_FROM_CONFIG},
    {TRACE_CONFIG_FORMAT, OPTION_CONFIG_FORMAT},
    {TRACE_MODEL, OPTION_MODEL},
    {TRACE_CHIP, OPTION_CHIP},
    {TRACE_NODES, OPTION_NODES},
    {TRACE_CHIPS, OPTION_CHIPS},
    {TRACE_SLICE, OPTION_SLICE},
    {TRACE_SLICES, OPTION_SLICES},
    {TRACE_PODS, OPTION_PODS},
    {TRACE_BATCH, OPTION_BATCH},
    {TRACE_SEQUENCES, OPTION_SEQUENCES},
    {TRACE_SEQ, OPTION_SEQ},
    {TRACE_PRECISION, OPTION_PRECISION},
    {TRACE_OPTIMIZER, OPTION_OPTIMIZER},
    {TRACE_REMAT, OPTION_REMAT},
    {TRACE_PROFILE, OPTION_PROFILE},
    {TRACE_STACK, OPTION_STACK},
};

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
    double lacking;
    char bytes[NUMBER_TEXT_SIZE];
    if (!options || !request || !report || !from) return error_memory(error);
    options->world = cli_world();
    for (size_t i = 0; i < COUNT_OF(OF_CONFIG); i++) {
        options->text[OF_CONFIG[i].option] = line->text[OF_CONFIG[i].own];
        options->where[OF_CONFIG[i].option] = line->where[OF_CONFIG[i].own];
    }
    if (!one_plan_request(options, "trace", line->arena, request, from, error)) return false;
    one_plan_notes(from, err);
    const NamedPlan named = {options, request, from, line->arena};
    if (!named_plan_price(&named, report, &lacking, error)) return false;
    if (report->result.plan_count == 0)
        return error_set(error, ERROR_INPUT, out->name,
                         "its plan does not fit on this machine; `shardopt explain --from-config` says why");
    if (lacking > 0)
        fprintf(err, "shardopt: warning: %s: by this model it lacks %s of HBM per chip; priced as if that were there\n",
                out->name, number_bytes(lacking, bytes));
    report->request = report->result.request;
    *priced = report;
    return data_files_name_all(report, line->arena, error) && config_report(report, out, error);
}

/* Options that go with a launch file, without one. */
static bool check_alone(const CommandLine *line, Error *error) {
    for (size_t i = 0; i < COUNT_OF(OF_CONFIG); i++)
        if (line->text[OF_CONFIG[i].own])
            return error_set(error, ERROR_INPUT, line->where[OF_CONFIG[i].own],
                             "belongs to --from-config; a report has its own");
    return true;
}

bool trace_plan_read(const CommandLine *line, FILE *err, TracePlan *out, Error *error) {
    const char *config = NULL;
    int64_t rank = 1;
    if (!line_file(line, TRACE_FROM, &out->name, error) || !line_file(line, TRACE_FROM_CONFIG, &config, error) ||
        (line->text[TRACE_RANK] && !number_whole(line->text[TRACE_RANK], "--rank", 1, 100000, &rank, error)))
        return false;
    out->rank = line->text[TRACE_RANK];
    if (out->rank && !out->name) return error_set(error, ERROR_INPUT, "--rank", "is of a report; give --from too");
    if (out->name && config)
        return error_set(error, ERROR_INPUT, "trace", "has two plans; give --from REPORT or --from-config FILE");
    if (!config && !check_alone(line, error)) return false;
    if (config) out->name = config;
    if (!out->name) return true;
    Report *priced = NULL;
    if (config ? !price_config(line, err, out, &priced, error) : !(out->report = json_read_file(out->name, error)))
        return false;
    if (!plan_terms_read(out->report, out->name, rank, &out->terms, error)) return false;
    return priced ? share_stages(priced, line->arena, &out->terms, error) : share_of_report(line, out, error);
}
