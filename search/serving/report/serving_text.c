/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The first answer: what a stranger needs, in two dozen lines. */
#include "base/text/prose.h"
#include "base/text/table.h"
#include "base/util.h"
#include "search/serving/report/point_fields.h"

#include <math.h>
#include <string.h>

static const char *rate_of(double value, char text[NUMBER_TEXT_SIZE]) {
    snprintf(text, NUMBER_TEXT_SIZE, value < 99.5 ? "%.1f" : "%.0f", value);
    if (value >= 999.5) number_grouped((int64_t)(value + 0.5), text);
    return text;
}

static void write_head(const ServingReport *report, TextOut out) {
    const ServingQuestion *q = report->question;
    char chips[NUMBER_TEXT_SIZE], prompt[NUMBER_TEXT_SIZE], output[NUMBER_TEXT_SIZE];
    char lengths[PROSE_NAME_SIZE];
    Prose prose = {0};
    prose_add(&prose, "%s on %s of %s (%s chip%s), prompts of %s tokens", q->model.name, q->machine.text, q->chip.title,
              number_grouped(q->machine.mesh.chips, chips), q->machine.mesh.chips == 1 ? "" : "s",
              number_grouped((int64_t)(q->request.prompt + 0.5), prompt));
    if (q->request.cached > 0) prose_add(&prose, " (%g%% cached)", 100 * q->request.cached);
    prose_add(&prose, ", answers of %s", number_grouped((int64_t)(q->request.output + 0.5), output));
    if (report->lengths) prose_add(&prose, " on average (%s)", clean_name(report->lengths, lengths));
    prose_add(&prose, ":");
    prose_write(out, "", "", prose.text);
}

/* Nine in ten by the model's own error: a time that is promised is that much longer than the mean. */
static void write_rates(const ServingReport *report, const ServingPoint *point, TextOut out) {
    char user[NUMBER_TEXT_SIZE], chip[NUMBER_TEXT_SIZE], all[NUMBER_TEXT_SIZE], tpot[NUMBER_TEXT_SIZE];
    char late[NUMBER_TEXT_SIZE], ttft[NUMBER_TEXT_SIZE];
    Prose prose = {0};
    double factor = report->answer->likely_factor;
    if (point->tpot_seconds > 0)
        prose_add(&prose, "%s tokens/s in total, %s per chip, %s per user; %s per token",
                  rate_of(point->tokens_per_second, all), rate_of(point->per_chip, chip),
                  rate_of(point->per_user, user), step_text(point->tpot_seconds, tpot));
    PointRecord record;
    point_record(report, point, 0, &record);
    if (point->mode == SERVE_PREFILL) { /* of embedding and reranking too */
        prose_add(&prose, "%s prompt tokens/s in total, %s requests/s; %s per chip to compute",
                  rate_of(record.input_tokens_per_second, all), rate_of(point->requests_per_second, user),
                  rate_of(point->per_chip, chip));
        if (record.usd_of_input >= 0) prose_add(&prose, "; $%.3g per million prompt tokens", record.usd_of_input);
    }
    if (point->tpot_seconds > 0 && factor > 1)
        prose_add(&prose, " (90%% likely below %s)", step_text(point->tpot_seconds * factor, late));
    if (point->ttft_seconds > 0) prose_item(&prose, ", ", "first token after %s", step_text(point->ttft_seconds, ttft));
    if (point->prefill_load > 0)
        prose_add(&prose, " with prefill at %.0f%% of its capacity", 100 * point->prefill_load);
    double usd = point_usd_per_million(report->question, point, point->tokens_per_second);
    if (usd >= 0) prose_add(&prose, "; $%.2f per million tokens", usd);
    double joules = point_joules_per_token(report->question, point);
    if (joules >= 0 && !report->screen) prose_add(&prose, "; at most %.3g J per token", joules);
    fields_words(POINT_FIELDS, &record, &prose);
    prose_write(out, "  ", "  ", prose.text);
}

static void write_memory(const ServingPoint *point, TextOut out) {
    const ServingPool *pool = &point->pools[point->pool_count - 1];
    char weights[NUMBER_TEXT_SIZE], cache[NUMBER_TEXT_SIZE], rest[NUMBER_TEXT_SIZE], limit[NUMBER_TEXT_SIZE];
    HeldBy held = step_held_by(&pool->step);
    Prose prose = {0};
    prose_add(&prose, "HBM per chip: %s weights, %s KV cache, %s other, of %s usable; %s is bound by %s.",
              number_bytes(pool->memory.weights_bytes, weights), number_bytes(pool->memory.kv_bytes, cache),
              number_bytes(pool->memory.activations_bytes + pool->memory.workspace_bytes, rest),
              number_bytes(pool->memory.limit_bytes, limit), point->mode == SERVE_PREFILL ? "prefill" : "decode",
              held == HELD_BY_HBM ? "HBM" : held_by_name(held));
    prose_write(out, "  ", "  ", prose.text);
}

void serving_write_point(const ServingReport *report, const ServingPoint *point, TextOut out) {
    write_rates(report, point, out);
    write_memory(point, out);
}

static void write_launch(const ServingReport *report, const ServingPoint *point, TextOut out) {
    for (int i = 0; i < point->pool_count; i++) {
        const ServingPool *pool = &point->pools[i];
        char words[ENGINE_LINE_SIZE];
        if (!pool_launch(report->question, pool, words)[0]) continue;
        int64_t hosts = divide_up(pool->on.submesh->devices, devices_of_host(report->question));
        fprintf(out.file, "  %lld x", (long long)pool->workers);
        if (hosts > 1) fprintf(out.file, ", on %lld hosts each, whose addresses emit adds", (long long)hosts);
        fprintf(out.file, ": %s\n", words);
    }
}

/* The command that writes the best point as a script, with what was requested and no default. */
static void write_emit(const ServingReport *report, const ServingPoint *point, TextOut out) {
    static const char *const LEFT_OUT[] = {"engine", "top", "brute-force", "time-limit"};
    if (point->pools[0].on.engine == NO_ENGINE || point->mode == SERVE_DECODE || point->mode == SERVE_PREFILL) return;
    const Engine *engine = engine_at(point->pools[0].on.engine);
    fprintf(out.file, "  shardopt emit %s%s", engine->name, engine == &ENGINE_MAXTEXT ? "-serving" : "");
    for (int i = 0; i < report->said_count; i++) {
        const ServingSaid *said = &report->said[i];
        bool skip = (strcmp(said->option, "prompt") == 0 && strcmp(said->value, "1024") == 0) ||
                    (strcmp(said->option, "answer") == 0 && strcmp(said->value, "256") == 0);
        for (size_t k = 0; k < COUNT_OF(LEFT_OUT); k++) skip = skip || strcmp(said->option, LEFT_OUT[k]) == 0;
        if (skip) continue;
        fprintf(out.file, " --%s ", said->option);
        engine_print_quoted(said->value, out.file);
    }
    fputc('\n', out.file);
}

/* Two figures, rounded up: what a limit has to be so that a time is within it. */
static const char *allowing(double seconds, char text[NUMBER_TEXT_SIZE]) {
    double unit = pow(10, floor(log10(seconds)) - 1), limit = ceil(seconds / unit) * unit;
    snprintf(text, NUMBER_TEXT_SIZE, limit < 1 ? "%.3gms" : "%.3gs", limit < 1 ? 1000 * limit : limit);
    return text;
}

/* The point that misses the limits least, and the limits that would allow it. */
static void write_miss(const ServingReport *report, TextOut out) {
    const ServingAnswer *answer = report->answer;
    int rank = answer_best_rank(report->question, answer);
    const ServingPoint *point = rank > 0 ? &answer->front.points[rank - 1] : NULL;
    char text[POINT_TEXT_SIZE], limit[NUMBER_TEXT_SIZE];
    Prose prose = {0};
    if (!point) return;
    prose_add(&prose, "Nearest: %s, %s, which", point_engine(point), point_notation(point, text));
    if (point->tpot_seconds > answer->tpot_goal_seconds)
        prose_add(&prose, " --tpot %s", allowing(point->tpot_seconds, limit));
    if (point->ttft_seconds > answer->ttft_goal_seconds)
        prose_add(&prose, "%s --ttft %s", point->tpot_seconds > answer->tpot_goal_seconds ? " and" : "",
                  allowing(point->ttft_seconds, limit));
    prose_add(&prose, " would allow.");
    prose_write(out, "", "  ", prose.text);
    write_rates(report, point, out);
    write_launch(report, point, out);
}

/* How long a batch job takes, and what it costs, whatever the number of chips: with an end, the copies that are enough,
 * or the machine that would be. */
static void add_job(const ServingQuestion *question, const ServingPoint *best, Prose *prose) {
    double seconds = (double)question->requests / best->requests_per_second, chips = point_chips_paid(question, best);
    double hours = chips * seconds / 3600, usd = question->chip.usd_per_chip_hour.value;
    char one[NUMBER_TEXT_SIZE], two[NUMBER_TEXT_SIZE];
    prose_add(prose, "%s requests take %.3g hours: %s chip-hours", number_grouped(question->requests, one),
              seconds / 3600, number_short(hours, two));
    if (usd > 0) prose_add(prose, ", $%s", number_short(hours * usd, one));
    double share = question->finish_in_seconds > 0 ? seconds / question->finish_in_seconds : 1;
    double workers = (double)best->pools[0].workers, enough = ceil(share * workers * (1 - 1e-12));
    if (share > 1)
        prose_add(prose, ". To end within %.3g h it takes %.0f chips", question->finish_in_seconds / 3600,
                  ceil(chips * share));
    else if (best->pool_count == 1 && enough < workers)
        prose_add(prose, "; %.0f of the %.0f copies end in %.3g", enough, workers, seconds / 3600 * workers / enough);
    prose_add(prose, ". Nobody waits for a token.");
}

static void write_best(const ServingReport *report, TextOut out) {
    const ServingAnswer *answer = report->answer;
    char text[POINT_TEXT_SIZE], tpot[NUMBER_TEXT_SIZE], ttft[NUMBER_TEXT_SIZE];
    Prose prose = {0};
    const char *requested =
        report->question->tpot_limit_seconds > 0 || report->question->ttft_limit_seconds > 0 ? "" : "default ";
    if (!answer->has_best) {
        prose_add(&prose, "No point%s meets the %slimits of %s per token and %s to the first token.",
                  answer->count.complete ? "" : " so far", requested, step_text(answer->tpot_goal_seconds, tpot),
                  step_text(answer->ttft_goal_seconds, ttft));
        prose_write(out, "", "", prose.text);
        write_miss(report, out);
        return;
    }
    const ServingPoint *best = &answer->best;
    if (best->pools[0].on.engine == NO_ENGINE)
        prose_add(&prose, "Best, without any engine's rules: %s.", point_notation(best, text));
    else
        prose_add(&prose, "Best: %s, %s.", point_engine(best), point_notation(best, text));
    text_strong(out);
    prose_write(out, "", "  ", prose.text);
    text_plain(out);
    write_rates(report, best, out);
    write_memory(best, out);
    write_launch(report, best, out);
    write_emit(report, best, out);
    Prose limits = {0};
    if (report->question->requests > 0) {
        add_job(report->question, best, &limits);
        prose_write(out, "  ", "  ", limits.text);
        return;
    }
    if (answer->loosened)
        prose_add(&limits, "Nothing keeps the default limits, %s per token and %s to the first token. It meets twice ",
                  step_text(TPOT_GOAL_SECONDS, tpot), step_text(TTFT_GOAL_SECONDS, ttft));
    else
        prose_add(&limits, "It meets the %s", requested);
    prose_add(&limits, "%s%s: %s per token, %s to the first token.", answer->loosened ? "the shortest times" : "limits",
              !(answer->likely_factor > 1) ? ""
              : answer->with_margin        ? " with 90% probability"
                                           : " on average; within the model's error it may miss them",
              step_text(answer->tpot_goal_seconds, tpot), step_text(answer->ttft_goal_seconds, ttft));
    const ServingPool *decode = &best->pools[best->pool_count - 1];
    int64_t slots = decode->batch * decode->workers, all = report->question->concurrency;
    if (slots < all)
        prose_add(&limits,
                  " Of the %s requests in flight %s run at a time; the others wait, which is in the "
                  "time to the first token.",
                  number_grouped(all, tpot), number_grouped(slots, ttft));
    if (answer->has_two_pools && best->per_chip > 0)
        prose_add(&limits, " Two pools on this host give %s more per chip, less than the model's error.",
                  share_text(answer->two_pools.per_chip / best->per_chip - 1, tpot));
    prose_write(out, "  ", "  ", limits.text);
}

static bool write_front(const ServingReport *report, TextOut out) {
    Arena arena = {0};
    Table table =
        table_new(&arena, "Front", "Pareto front|layout|engine|>tokens/s/user|>tokens/s/chip|>per token|>first token");
    for (int i = 0; i < report_points(report); i++) {
        const char *kind;
        const ServingPoint *point = report_point(report, i, &kind);
        char text[POINT_TEXT_SIZE], user[NUMBER_TEXT_SIZE], chip[NUMBER_TEXT_SIZE], tpot[NUMBER_TEXT_SIZE],
            ttft[NUMBER_TEXT_SIZE];
        table_row(&table, (const char *const[]){kind, point_notation(point, text), point_engine(point),
                                                rate_of(point->per_user, user), rate_of(point->per_chip, chip),
                                                point->tpot_seconds > 0 ? step_text(point->tpot_seconds, tpot) : "-",
                                                point->ttft_seconds > 0 ? step_text(point->ttft_seconds, ttft) : "-"});
    }
    table_wrap(&table, 1, 56);
    table_may_drop(&table, 2);
    bool ok = table_write_text(&table, "", out);
    arena_free(&arena);
    return ok;
}

enum { DAY_ROWS = 24 }; /* of more hours the JSON has the rest */

/* The hours of a day, and what replicas that follow them take. */
static bool write_day(const ServingReport *report, TextOut out) {
    const ServingDay *day = report->day;
    double usd = report->question->chip.usd_per_chip_hour.value;
    char rate[NUMBER_TEXT_SIZE], hours[NUMBER_TEXT_SIZE], peak[NUMBER_TEXT_SIZE];
    Arena arena = {0};
    Prose prose = {0};
    if (!day || day->count == 0 || !day->point) return true;
    Table table = table_new(&arena, "Day", "hour|>requests/s|>replicas|>chips|>load");
    for (int i = 0; i < day->count && i < DAY_ROWS; i++) {
        const ServingHour *hour = &day->hours[i];
        table_cell(&table, "%s", hour->label);
        table_cell(&table, "%s", rate_of(hour->rate, rate));
        table_cell(&table, "%lld", (long long)hour->replicas);
        table_cell(&table, "%lld", (long long)(hour->replicas * day->replica_chips));
        table_cell(&table, "%.0f%%", 100 * hour->rate / day->replica_rate / (double)hour->replicas);
    }
    bool ok = table_write_text(&table, "", out);
    arena_free(&arena);
    prose_add(&prose, "Replicas of %lld chip%s, batch %lld, up to %s requests/s each: %s chip-hours in %d hours",
              (long long)day->replica_chips, day->replica_chips == 1 ? "" : "s", (long long)day->point->pools[0].batch,
              rate_of(day->replica_rate, rate), number_grouped((int64_t)day->chip_hours, hours), day->count);
    if (usd > 0) prose_add(&prose, ", $%s", number_grouped((int64_t)(day->chip_hours * usd + 0.5), peak));
    prose_add(&prose, "; at the peak's all the time %s, %.0f%% more.",
              number_grouped((int64_t)day->peak_chip_hours, hours), 100 * (day->peak_chip_hours / day->chip_hours - 1));
    prose_write(out, "", "  ", prose.text);
    return ok;
}

static void write_usual(const ServingReport *report, TextOut out) {
    const ServingAnswer *answer = report->answer;
    char text[POINT_TEXT_SIZE], chip[NUMBER_TEXT_SIZE];
    Prose prose = {0};
    if (!answer->has_best || !answer->count.complete || report->question->modes == 1u << SERVE_PREFILL) return;
    if (report->question->machine.mesh.devices == 1) return;
    if (!answer->has_usual)
        prose_add(&prose, "Tensor parallelism over all chips meets these limits with no batch.");
    else if (answer->usual.per_chip >= answer->best.per_chip * (1 - 1e-9))
        prose_add(&prose, "Tensor parallelism over all chips is as good under these limits.");
    else
        prose_add(&prose, "Tensor parallelism over all chips (%s): %s tokens/s per chip, %.0f%% less.",
                  point_notation(&answer->usual, text), rate_of(answer->usual.per_chip, chip),
                  100 * (1 - answer->usual.per_chip / answer->best.per_chip));
    prose_write(out, "", "  ", prose.text);
}

static void write_measured(const ServingReport *report, TextOut out) {
    const ServingNearest *run = &report->nearest;
    char id[PROSE_NAME_SIZE], model[PROSE_NAME_SIZE], measured[NUMBER_TEXT_SIZE], predicted[NUMBER_TEXT_SIZE];
    Prose prose = {0};
    if (!run->id) return;
    prose_add(&prose, "Nearest measured run (%s): ", clean_name(run->id, id));
    if (strcmp(run->model, report->question->model.name) != 0) prose_add(&prose, "%s, ", clean_name(run->model, model));
    bool timed = run->tpot_seconds > 0 && run->concurrency > 0;
    prose_add(&prose, "%s, %s%s, ", run->engine, run->layout[0] ? run->layout : "unknown layout",
              run->drafts_unknown ? ", drafts unknown" : "");
    if (timed)
        prose_add(&prose, "%.0f in flight", run->concurrency);
    else
        prose_add(&prose, "%lld chip%s, all requests at once", (long long)run->chips, run->chips == 1 ? "" : "s");
    if (run->prompt > 0) prose_add(&prose, ", %.0f+%.0f", run->prompt, run->output);
    prose_add(&prose, ": %s", timed ? step_text(run->tpot_seconds, measured) : rate_of(run->rate, measured));
    if (!timed) prose_add(&prose, " tokens/s");
    if (timed && run->predicted_seconds > 0)
        prose_add(&prose, ", predicted %s", step_text(run->predicted_seconds, predicted));
    else if (!timed && run->predicted_rate > 0)
        prose_add(&prose, ", predicted %s", rate_of(run->predicted_rate, predicted));
    prose_add(&prose, ".");
    prose_write(out, "", "  ", prose.text);
}

/* What others have published for this model and chip: the best of it for this load, and what is too large. */
static void write_published(const ServingReport *report, TextOut out) {
    const ServingPublished *best = NULL;
    char chip[NUMBER_TEXT_SIZE];
    Prose prose = {0};
    if (report->published_count == 0) return;
    for (int i = 0; i < report->published_count; i++)
        if (report->published[i].fits && (!best || report->published[i].per_chip > best->per_chip))
            best = &report->published[i];
    double more = best ? best->per_chip / report->answer->best.per_chip - 1 : 0;
    prose_add(&prose, "Published: ");
    if (best && best->per_chip > 0)
        prose_add(&prose, "%s's %s (%s) has %s tokens/s per chip within these limits, %.0f%% %s", best->source,
                  best->engine, best->layout, rate_of(best->per_chip, chip), 100 * fabs(more),
                  more < 0 ? "less" : "more");
    else if (best)
        prose_add(&prose, "nothing that fits meets these limits");
    for (int i = 0; i < report->published_count; i++)
        if (!report->published[i].fits)
            prose_add(&prose, "%s%s's takes %lld chips", i > 0 || best ? "; " : "", report->published[i].source,
                      (long long)report->published[i].chips);
    prose_add(&prose, ".");
    prose_write(out, "", "  ", prose.text);
}

static double best_per_chip(const ServingFront *front, double tpot, double ttft) {
    double best = 0;
    for (int i = 0; i < front->count; i++)
        if (front->points[i].tpot_seconds <= tpot && front->points[i].ttft_seconds <= ttft)
            best = max_real(best, front->points[i].per_chip);
    return best;
}

/* What no engine reaches: one line. */
static void write_physical(const ServingReport *report, TextOut out) {
    const ServingAnswer *answer = report->answer;
    const ServingFront *front = &answer->physical;
    if (front->count == 0 || answer->front.count == 0) return;
    char user[NUMBER_TEXT_SIZE], chip[NUMBER_TEXT_SIZE];
    double tpot = answer->tpot_goal_seconds, ttft = answer->ttft_goal_seconds;
    double own = best_per_chip(&answer->front, tpot, ttft), all = best_per_chip(front, tpot, ttft);
    Prose prose = {0};
    prose_add(&prose, "Without engine limits: up to %s tokens/s per user and %s per chip",
              rate_of(front->points[0].per_user, user), rate_of(front->points[front->count - 1].per_chip, chip));
    if (own > 0 && all > own) prose_add(&prose, "; within these limits %.1f%% more per chip", 100 * (all / own - 1));
    prose_add(&prose, ".");
    prose_write(out, "", "  ", prose.text);
}

/* How far the best so far can be from the best of all. */
static void write_gap(const ServingReport *report, TextOut out) {
    const ServingAnswer *answer = report->answer;
    char most[NUMBER_TEXT_SIZE];
    Prose prose = {0};
    if (answer->count.complete) return;
    prose_add(&prose, "Stopped before the proof was complete");
    if (answer->has_best && report->question->objective == SERVE_LATENCY)
        prose_add(&prose, ": no layout gives a user more than %s tokens/s, %.3g%% more than the best so far",
                  rate_of(answer->upper_bound.per_user, most), 100 * answer->gap);
    else if (answer->has_best && report->question->objective == SERVE_CHIPS)
        prose_add(&prose, ": no machine with fewer than %.0f chips can sustain the rate",
                  (double)answer->best.chips_used / (1 + answer->gap));
    else if (answer->has_best)
        prose_add(
            &prose,
            ": no layout gives more than %s tokens/s per chip within these limits, %.3g%% more than the best so far",
            rate_of(answer->upper_bound.per_chip, most), 100 * answer->gap);
    else
        prose_add(&prose, "; nothing found so far meets the limits");
    prose_add(&prose, ".");
    prose_write(out, "", "  ", prose.text);
}

static void write_searched(const ServingReport *report, TextOut out) {
    const ServingCount *count = &report->answer->count;
    char layouts[COUNT_TEXT_SIZE], covered[COUNT_TEXT_SIZE], evaluated[COUNT_TEXT_SIZE];
    Prose prose = {0};
    prose_add(&prose,
              "Searched: %s layouts, %s pairs of a layout and a batch; %s evaluated, the others excluded by bounds, "
              "memory or rules. %s front has %d points.",
              count_text(count->space.layouts, true, layouts), count_text(count->covered, true, covered),
              count_text(count->evaluated, true, evaluated),
              count->complete ? "The exact" : "The search was stopped: the best so far; its",
              report->answer->front.count);
    prose_write(out, "", "  ", prose.text);
    write_gap(report, out);
}

static void write_assumed(const ServingReport *report, TextOut out) {
    const ServingQuestion *q = report->question;
    const ServingProfile *profile = &q->profiles[NO_ENGINE];
    Prose prose = {0};
    prose_add(&prose, "Assumed:");
    if (report->degree_chips > 0)
        prose_add(&prose, " %lld chip%s (what the required degrees need; --chips gives others),",
                  (long long)report->degree_chips, report->degree_chips == 1 ? "" : "s");
    for (int i = 0; i < q->weights_count; i++) prose_add(&prose, "%s %s", i ? " or" : "", stored_name(q->weights[i]));
    prose_add(&prose, " weights%s,", report->weights_said ? "" : " (as published)");
    for (int i = 0; i < q->caches_count; i++) prose_add(&prose, "%s %s", i ? " or" : "", stored_name(q->caches[i]));
    prose_add(&prose, " cache, every sequence at its full length, %s",
              q->concurrency > 0 ? "the requested requests in flight"
              : q->rate > 0      ? "the requested rate"
                                 : "full batches");
    if (q->speculation.drafts > 0)
        prose_add(&prose, ", %lld drafts accepted %g%%", (long long)q->speculation.drafts,
                  100 * q->speculation.acceptance);
    if (q->adapters.count > 0)
        prose_add(&prose, ", %lld LoRA adapters of rank %lld within the weights, each request with one",
                  (long long)q->adapters.count, (long long)q->adapters.rank);
    prose_add(&prose, "; profile %s", profile->name);
    if (profile->borrowed[0])
        prose_add(&prose, ", which lacks figures of %s and borrows those of %s", q->chip.title, profile->borrowed);
    prose_add(&prose, ".");
    prose_write(out, "", "  ", prose.text);
}

/* All weights once, in the type that is requested and in narrower ones, and the memory of the machine. */
static void add_weights(const ServingQuestion *q, Prose *prose) {
    static const StoredType TYPES[] = {STORED_BF16, STORED_FP8, STORED_INT4};
    ServedModel served = question_served(q, NO_ENGINE);
    WorkerLayout one = {1, 1, 1, 1, 1, 1, 1, 1, q->weights[0], q->caches[0]};
    double held = q->device.hbm_bytes.value * (double)q->machine.mesh.devices,
           requested = worker_weights_bytes(&served, &one);
    prose_add(prose, " All weights once take %.0f GB in %s", requested / 1e9, stored_name(q->weights[0]));
    for (size_t i = 0; i < COUNT_OF(TYPES); i++) {
        one.weights = TYPES[i];
        double bytes = worker_weights_bytes(&served, &one);
        if (bytes < 0.95 * requested)
            prose_add(prose, ", %.0f GB with --precision %s", bytes / 1e9, stored_name(TYPES[i]));
    }
    prose_add(prose, "; the machine has %.0f GB.", held / 1e9);
}

static void write_nearest(const ServingReport *report, TextOut out) {
    char text[POINT_TEXT_SIZE];
    if (report->answer->has_nearest) {
        const ServingPoint *nearest = &report->answer->nearest;
        Prose prose = {0};
        prose_add(&prose, "Nothing meets the limits. Nearest: %s, %s.", point_engine(nearest),
                  point_notation(nearest, text));
        prose_write(out, "", "  ", prose.text);
        write_rates(report, nearest, out);
        return;
    }
    Prose prose = {0};
    if (report->answer->count.covered == 0)
        prose_add(&prose, "No layout divides the model, obeys the engines' rules, lies on whole hosts and meets "
                          "--require.");
    else
        prose_add(&prose, "Nothing fits: no layout leaves room for one sequence of %.0f tokens next to the weights.",
                  report->question->peak_tokens);
    if (report->answer->count.covered > 0) add_weights(report->question, &prose);
    prose_write(out, "", "  ", prose.text);
}

bool serving_write_text(const ServingReport *report, TextOut out, Error *error) {
    write_head(report, out);
    if (report->answer->front.count == 0) {
        write_nearest(report, out);
    } else {
        write_best(report, out);
        if (!write_front(report, out) || !write_day(report, out)) return error_memory(error);
        write_usual(report, out);
        write_measured(report, out);
        write_published(report, out);
        if (!report->screen) write_physical(report, out);
    }
    bool complete = report->answer->front.count > 0 && report->answer->count.complete;
    if (!report->screen || !complete) write_searched(report, out);
    write_assumed(report, out);
    return true;
}
