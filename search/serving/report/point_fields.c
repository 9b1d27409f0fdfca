/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/serving/report/serving_report.h"

#define AT(member) .at = offsetof(PointRecord, member)
#define REAL(member) .type = FIELD_REAL, AT(member)
#define WHOLE(member) .type = FIELD_WHOLE, AT(member)
#define TEXT(member) .type = FIELD_TEXT, AT(member)
#define OR_ABSENT .rule = FIELD_OR_ABSENT
#define OR_NULL .rule = FIELD_OR_NULL
#define SAY(place, words, text) .shown = (place), .name = (words), .unit = (text), .in_prose = true

const Field POINT_FIELDS[] = {
    {"rank", WHOLE(rank), OR_ABSENT, .column = 1},
    {"notation", TEXT(notation), .column = 4, .heading = "way", .flat = "plan"},
    {"engine", TEXT(engine), OR_NULL, .flat = "engine_name",
     .meaning = "whose rules and figures priced it (`null`: none's)"},
    {"mode", TEXT(mode), .column = 6},
    {"chips_used", WHOLE(point.chips_used), .column = 7, .heading = "chips_used", .flat = "chips",
     SAY(7, "chips", grouped_text)},
    {"chips_idle", WHOLE(chips_idle)},
    {"copies", WHOLE(pool.workers), .column = 8},
    {"ttft_seconds", REAL(point.ttft_seconds), .column = 14, SAY(2, "first token", step_text),
     .meaning = "the first token's mean wait; `prefill_load` is the share of the capacity for prompts at which it is "
                "given"},
    {"tpot_seconds", REAL(point.tpot_seconds), .column = 13, SAY(1, "time of a token", step_text),
     .meaning = "the time of each further token"},
    {"tokens_per_second", REAL(point.tokens_per_second), .column = 12, SAY(5, "tokens/s in all", digits_text)},
    {"tokens_per_second_per_user", REAL(point.per_user), .column = 10, SAY(3, "tokens/s of a user", digits_text)},
    {"tokens_per_second_per_chip", REAL(point.per_chip), .column = 11, SAY(4, "tokens/s of a chip", digits_text),
     .meaning = "output tokens, of the whole machine, idle chips too; with `--rate` of the chips that are used"},
    {"input_tokens_per_second", REAL(input_tokens_per_second)},
    {"requests_per_second", REAL(point.requests_per_second)},
    {"prefill_load", REAL(point.prefill_load)},
    {"transfer_seconds", REAL(transfer_seconds), OR_ABSENT,
     .meaning = "of two pools: what a cache takes from one to the other"},
    {"prefix_hits.cached", REAL(hit_cached), OR_ABSENT,
     .meaning = "with `--prefixes`: the share of a prompt that HBM or the host has; `copied` is of it the host's"},
    {"prefix_hits.copied", REAL(hit_copied), OR_ABSENT, .meaning = "="},
    {"concurrency", WHOLE(concurrency), .meaning = "requests in flight"},
    {"likely.tpot_low_seconds", REAL(tpot_low),
     .meaning = "nine of ten measured times lie below the high ones, by the profile's own error"},
    {"likely.tpot_high_seconds", REAL(tpot_high), .meaning = "="},
    {"likely.ttft_high_seconds", REAL(ttft_high), .meaning = "="},
    {"cost_usd_per_million_output_tokens", REAL(usd_of_output), OR_NULL, SAY(6, "USD per million tokens", digits_text)},
    {"cost_usd_per_million_input_tokens", REAL(usd_of_input), OR_NULL},
    {"joules_per_output_token_at_most", REAL(joules), OR_ABSENT,
     .meaning = "with every board at the power that its maker states, without hosts and network"},
    /* Not in JSON, or there in another form. */
    {.flat = "model", TEXT(model), .column = 2},
    {.flat = "chip", TEXT(chip), .column = 3},
    {.flat = "engine", TEXT(title), .column = 5},
    {.flat = "batch", WHOLE(pool.batch), .column = 9},
    {.flat = "memory_bytes", REAL(memory_bytes), .column = 15},
    {0},
};

void point_record(const ServingReport *report, const ServingPoint *point, int rank, PointRecord *out) {
    const ServingQuestion *q = report->question;
    double factor = report->answer->likely_factor, rate = point->tokens_per_second;
    int engine = point->pools[0].on.engine;
    *out = (PointRecord){.point = *point, .pool = point->pools[point->pool_count - 1], .rank = rank > 0 ? rank : -1};
    out->notation = point_notation(point, out->text);
    out->engine = engine == NO_ENGINE ? NULL : engine_at(engine)->name;
    out->title = point_engine(point);
    out->mode = serving_mode_name(point->mode);
    out->model = q->model.name;
    out->chip = q->chip.name;
    out->chips_idle = q->machine.mesh.chips - point->chips_used;
    out->concurrency = out->pool.batch * out->pool.workers;
    double requests = point->mode == SERVE_PREFILL ? point->requests_per_second : rate / q->request.output;
    out->input_tokens_per_second = requests * q->request.prompt;
    out->transfer_seconds = point->pool_count == 2 ? point->transfer_seconds : -1;
    out->hit_cached = q->prefixes.count > 0 ? out->pool.hit.cached : -1;
    out->hit_copied = q->prefixes.count > 0 ? out->pool.hit.copied : -1;
    out->usd_of_output = point_usd_per_million(q, point, rate);
    out->usd_of_input = point_usd_per_million(q, point, out->input_tokens_per_second);
    out->joules = point_joules_per_token(q, point);
    out->tpot_low = point->tpot_seconds / factor;
    out->tpot_high = point->tpot_seconds * factor;
    out->ttft_high = point->ttft_seconds * factor;
    out->memory_bytes = worker_memory_total(&out->pool.memory);
}
