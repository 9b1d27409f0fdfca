/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The first answer: what a stranger needs, in two dozen lines. */
#include "base/text/prose.h"
#include "base/text/table.h"
#include "base/util.h"
#include "search/report/text/brief_bars.h"
#include "search/serving/report/serving_report.h"

#include <math.h>
#include <string.h>

static const char *noun(const ServingReport *report) { return chip_noun(&report->question->chip); }

static void write_head(const ServingReport *report, TextOut out) {
    const ServingQuestion *q = report->question;
    char chips[NUMBER_TEXT_SIZE], prompt[NUMBER_TEXT_SIZE], output[NUMBER_TEXT_SIZE];
    char lengths[PROSE_NAME_SIZE], machine[WORDS_SIZE];
    Prose prose = {0};
    prose_add(&prose, "%s on %s (%s %s%s), ", q->model.name, machine_of(&q->chip, q->machine.text, 0, machine),
              number_grouped(q->machine.mesh.chips, chips), noun(report), q->machine.mesh.chips == 1 ? "" : "s");
    for (int i = 0; i < q->weights_count; i++) prose_add(&prose, "%s%s", i ? " or " : "", stored_name(q->weights[i]));
    prose_add(&prose, ", prompts of %s tokens", number_grouped((int64_t)(q->request.prompt + 0.5), prompt));
    if (q->request.cached > 0) prose_add(&prose, " (%g%% cached)", 100 * q->request.cached);
    prose_add(&prose, ", answers of %s", number_grouped((int64_t)(q->request.output + 0.5), output));
    if (report->lengths) prose_add(&prose, " on average (%s)", clean_name(report->lengths, lengths));
    prose_add(&prose, ":");
    text_strong(out);
    prose_write(out, "", "", prose.text);
    text_plain(out);
}

/* Nine in ten by the model's own error: a time that is promised is that much longer than the mean. */
static void add_rates(const ServingReport *report, const ServingPoint *point, Prose *to) {
    char user[NUMBER_TEXT_SIZE], chip[NUMBER_TEXT_SIZE], all[NUMBER_TEXT_SIZE], tpot[NUMBER_TEXT_SIZE];
    char late[NUMBER_TEXT_SIZE], ttft[NUMBER_TEXT_SIZE];
    double factor = report->answer->likely_factor;
    const char *per = noun(report);
    if (point->tpot_seconds > 0)
        prose_add(to, "%s output tokens/s, %s per %s, %s per user; TPOT %s",
                  serving_rate(point->tokens_per_second, all), serving_rate(point->per_chip, chip), per,
                  serving_rate(point->per_user, user), step_text(point->tpot_seconds, tpot));
    PointRecord record;
    point_record(report, point, 0, &record);
    if (point->mode == SERVE_PREFILL) { /* of embedding and reranking too */
        prose_add(to, "%s prompt tokens/s, %s requests/s; %s per %s to compute",
                  serving_rate(record.input_tokens_per_second, all), serving_rate(point->requests_per_second, user),
                  serving_rate(point->per_chip, chip), per);
        if (record.usd_of_input >= 0) prose_add(to, "; $%.3g per million prompt tokens", record.usd_of_input);
    }
    if (point->tpot_seconds > 0 && factor > 1)
        prose_add(to, " (90%% likely below %s)", step_text(point->tpot_seconds * factor, late));
    if (point->ttft_seconds > 0) prose_item(to, ", ", "TTFT %s", step_text(point->ttft_seconds, ttft));
    if (point->prefill_load > 0) prose_add(to, ", prefill busy %.0f%% of the time", 100 * point->prefill_load);
    double usd = point_usd_per_million(report->question, point, point->tokens_per_second);
    if (usd >= 0) prose_add(to, "; $%.2f per million output tokens", usd);
    double joules = point_joules_per_token(report->question, point);
    if (joules >= 0 && !report->screen) prose_add(to, "; at most %.3g J per token", joules);
    fields_words(POINT_FIELDS, &record, to);
}

static void point_memory_parts(const ServingPoint *point, Parts *out) {
    const ServingPool *pool = &point->pools[point->pool_count - 1];
    *out = (Parts){.whole = pool->memory.limit_bytes, .bytes = true};
    snprintf(out->title, sizeof out->title, "Where HBM goes%s", point->pool_count > 1 ? ", decode" : "");
    parts_add(out, "weights", pool->memory.weights_bytes);
    parts_add(out, "KV cache", pool->memory.kv_bytes);
    parts_add(out, "activations", pool->memory.activations_bytes);
    parts_add(out, "graphs", pool->memory.workspace_bytes);
}

static void point_time_parts(const ServingPoint *point, Parts *out) {
    static const char *const NAMES[STEP_TERMS] = {
        [STEP_REDUCE] = "TP comms", [STEP_EXCHANGE] = "EP comms", [STEP_LAYERS] = "norms etc.",
        [STEP_HEAD] = "logits",     [STEP_PASS] = "PP comms",     [STEP_DRAFT] = "drafts"};
    const StepCost *step = &point->pools[point->pool_count - 1].step;
    *out = (Parts){.whole = step->seconds};
    snprintf(out->title, sizeof out->title, "Where a %s step goes",
             point->mode == SERVE_PREFILL ? "prefill" : "decode");
    for (int term = 0; term < STEP_TERMS; term++)
        parts_add(out, NAMES[term] ? NAMES[term] : step_term_name((StepTerm)term), step->terms[term]);
}

void serving_write_point(const ServingReport *report, const ServingPoint *point, TextOut out) {
    Prose prose = {0};
    char used[NUMBER_TEXT_SIZE], limit[NUMBER_TEXT_SIZE];
    const ServingPool *pool = &point->pools[point->pool_count - 1];
    HeldBy held = step_held_by(&pool->step);
    add_rates(report, point, &prose);
    prose_add(&prose, "; %s of %s HBM; %s bound by %s.", number_bytes(worker_memory_total(&pool->memory), used),
              number_bytes(pool->memory.limit_bytes, limit), point->mode == SERVE_PREFILL ? "prefill" : "decode",
              held == HELD_BY_HBM ? "HBM" : held_by_name(held));
    prose_write(out, "  ", "  ", prose.text);
}

/* Command lines to copy are not wrapped. */
static void write_launch(const ServingReport *report, const ServingPoint *point, TextOut out) {
    static const char *const PHASES[] = {[PHASE_BOTH] = "", [PHASE_PROMPTS] = "prefill ", [PHASE_DECODES] = "decode "};
    if (point->pools[0].on.engine == NO_ENGINE) return;
    for (int i = 0; i < point->pool_count; i++) {
        const ServingPool *pool = &point->pools[i];
        char words[ENGINE_LINE_SIZE];
        Prose before = {0};
        if (!pool_launch(report->question, pool, words)[0]) continue;
        int64_t hosts = divide_up(pool->on.submesh->devices, devices_of_host(report->question));
        if (i == 0) prose_add(&before, "In %s's words: ", point_engine(point));
        prose_add(&before, "%s%s%lld x", i ? "  " : "", PHASES[pool->phase], (long long)pool->workers);
        if (hosts > 1) prose_add(&before, ", on %lld hosts each, whose addresses emit adds", (long long)hosts);
        prose_add(&before, ": ");
        fprintf(out.file, "%s%s\n", before.text, words);
    }
}

/* The point that misses the limits least, and the limits that would allow it. */
static void write_miss(const ServingReport *report, TextOut out) {
    const ServingAnswer *answer = report->answer;
    int rank = answer_best_rank(report->question, answer);
    const ServingPoint *point = rank > 0 ? &answer->front.points[rank - 1] : NULL;
    char text[POINT_TEXT_SIZE], limit[NUMBER_TEXT_SIZE];
    Prose prose = {0};
    if (!point) return;
    prose_add(&prose, "Nearest: %s, %s, which", point_engine(point), point_degrees(point, text));
    if (point->tpot_seconds > answer->tpot_goal_seconds)
        prose_add(&prose, " --tpot %s", serving_limit(point->tpot_seconds, limit));
    if (point->ttft_seconds > answer->ttft_goal_seconds)
        prose_add(&prose, "%s --ttft %s", point->tpot_seconds > answer->tpot_goal_seconds ? " and" : "",
                  serving_limit(point->ttft_seconds, limit));
    prose_add(&prose, " would allow.");
    prose_write(out, "  ", "  ", prose.text);
    serving_write_point(report, point, out);
    write_launch(report, point, out);
}

/* Whether the best keeps its limits, and what it does to those who wait. */
static void add_limits(const ServingReport *report, const ServingPoint *best, const char *requested, Prose *to) {
    const ServingAnswer *answer = report->answer;
    char tpot[NUMBER_TEXT_SIZE], ttft[NUMBER_TEXT_SIZE];
    if (answer->loosened)
        prose_add(to, "Nothing keeps the default limits, TPOT %s and TTFT %s. It meets twice ",
                  step_text(TPOT_GOAL_SECONDS, tpot), step_text(TTFT_GOAL_SECONDS, ttft));
    else
        prose_add(to, "It meets the %s", requested);
    prose_add(to, "%s%s: TPOT %s, TTFT %s.", answer->loosened ? "the shortest times" : "limits",
              !(answer->likely_factor > 1) ? ""
              : answer->with_margin        ? " with 90% probability"
                                           : " on average; within the model's error it may miss them",
              step_text(answer->tpot_goal_seconds, tpot), step_text(answer->ttft_goal_seconds, ttft));
    const ServingPool *decode = &best->pools[best->pool_count - 1];
    int64_t slots = decode->batch * decode->workers, all = report->question->concurrency;
    if (slots < all)
        prose_add(to, " Of the %s requests in flight %s run at a time; the others wait, which is in the TTFT.",
                  number_grouped(all, tpot), number_grouped(slots, ttft));
    if (answer->has_two_pools && best->per_chip > 0)
        prose_add(to, " Disaggregated on this host gives %s more per %s, less than the model's error.",
                  share_text(answer->two_pools.per_chip / best->per_chip - 1, tpot), noun(report));
}

static void write_best(const ServingReport *report, TextOut out) {
    const ServingAnswer *answer = report->answer;
    char text[POINT_TEXT_SIZE], tpot[NUMBER_TEXT_SIZE], ttft[NUMBER_TEXT_SIZE];
    Prose prose = {0}, limits = {0};
    const char *requested =
        report->question->tpot_limit_seconds > 0 || report->question->ttft_limit_seconds > 0 ? "" : "default ";
    if (!answer->has_best) {
        prose_add(&prose, "no point%s meets the %slimits: TPOT %s, TTFT %s.", answer->count.complete ? "" : " so far",
                  requested, step_text(answer->tpot_goal_seconds, tpot), step_text(answer->ttft_goal_seconds, ttft));
        prose_write(out, "Answer: ", "  ", prose.text);
        write_miss(report, out);
        return;
    }
    const ServingPoint *best = &answer->best;
    prose_add(&prose, "%s%s, %s.", best->pool_count > 1 ? "disaggregated, " : "",
              best->pools[0].on.engine == NO_ENGINE ? "without any engine's rules" : point_engine(best),
              point_degrees(best, text));
    prose_write(out, "Answer: ", "  ", prose.text);
    serving_write_point(report, best, out);
    if (report->question->requests > 0)
        serving_add_job(report->question, best, &limits);
    else
        add_limits(report, best, requested, &limits);
    prose_write(out, "  ", "  ", limits.text);
    write_launch(report, best, out);
}

/* Returns how wide engine and note are. */
static int add_point(Table *table, int rank, const ServingPoint *point, const char *kind) {
    char text[POINT_TEXT_SIZE];
    if (strcmp(kind, "two pools") == 0) kind = "disaggregated";
    if (strcmp(kind, "one pool") == 0) kind = "aggregated";
    table_cell(table, "%d ", rank);
    table_cell(table, "%s", point_degrees(point, text));
    table_cell(table, "%s", point->tpot_seconds > 0 ? step_text(point->tpot_seconds, text) : "-");
    table_cell(table, "%s", point->ttft_seconds > 0 ? step_text(point->ttft_seconds, text) : "-");
    table_cell(table, "%s", serving_rate(point->per_user, text));
    table_cell(table, "%s", serving_rate(point->per_chip, text));
    table_cell(table, "%s", point_engine(point));
    table_cell(table, "%s", kind);
    return (int)(strlen(point_engine(point)) + strlen(kind));
}

/* Plans that differ in kind, and tensor parallelism over all chips, which many would run. */
static bool write_plans(const ServingReport *report, TextOut out) {
    const ServingAnswer *answer = report->answer;
    Arena arena = {0};
    char headings[96];
    snprintf(headings, sizeof headings, ">|plan|>TPOT|>TTFT|>tok/s/user|>tok/s/%s|engine|note", noun(report));
    Table table = table_new(&arena, "Plans", headings);
    int count = report_points(report);
    bool compares = answer->has_best && answer->count.complete && !report->top &&
                    report->question->modes != 1u << SERVE_PREFILL && report->question->machine.mesh.devices > 1;
    bool shown = false;
    int wide = 0;
    for (int i = 0; i < count; i++) {
        const char *kind;
        char also[64];
        const ServingPoint *point = report_point(report, i, &kind), *usual = &answer->usual;
        bool equal = compares && answer->has_usual && !shown && fabs(usual->per_chip / point->per_chip - 1) < 1e-9 &&
                     fabs(usual->per_user / point->per_user - 1) < 1e-9;
        snprintf(also, sizeof also, "%s, as TP over all", kind);
        wide = (int)max_whole(wide, add_point(&table, i + 1, point, equal ? also : kind));
        shown |= equal;
    }
    if (compares && !shown && answer->has_usual) add_point(&table, count + 1, &answer->usual, "TP over all");
    if (compares && !answer->has_usual)
        table_row(&table, (const char *const[]){"", "TP over all", "-", "-", "-", "-", "", "misses the limits"});
    table_wrap(&table, 1, (int)max_whole(30, min_whole(46, 62 - wide))); /* 120 columns in all */
    table_may_drop(&table, 6);
    table_may_drop(&table, 7);
    bool ok = table_write_text(&table, " ", out);
    arena_free(&arena);
    return ok;
}

/* What was measured nearest to it, and what the model says of that. */
static void add_measured(const ServingReport *report, Prose *to) {
    const ServingNearest *run = &report->nearest;
    char name[PROSE_NAME_SIZE], measured[NUMBER_TEXT_SIZE];
    bool timed = run->tpot_seconds > 0 && run->concurrency > 0;
    double predicted = timed ? run->predicted_seconds : run->predicted_rate,
           value = timed ? run->tpot_seconds : run->rate;
    if (!run->id) {
        prose_add(to, "no measured run is near");
        return;
    }
    prose_add(to, "nearest measured run: ");
    if (!report->screen) prose_add(to, "(%s) ", clean_name(run->id, name));
    if (strcmp(run->model, report->question->model.name) != 0) prose_add(to, "%s, ", clean_name(run->model, name));
    prose_add(to, "%s, %s%s, ", run->engine, run->layout[0] ? run->layout : "unknown layout",
              run->drafts_unknown ? ", drafts unknown" : "");
    if (timed)
        prose_add(to, "%.0f in flight", run->concurrency);
    else
        prose_add(to, "%lld %s%s, all requests at once", (long long)run->chips, noun(report),
                  run->chips == 1 ? "" : "s");
    if (run->prompt > 0) prose_add(to, ", %.0f+%.0f tokens", run->prompt, run->output);
    prose_add(to, timed ? ": TPOT %s" : ": %s tokens/s",
              timed ? step_text(value, measured) : serving_rate(value, measured));
    double off = 100 * (predicted / value - 1);
    if (predicted > 0 && fabs(off) < 0.5)
        prose_add(to, " (as predicted)");
    else if (predicted > 0)
        prose_add(to, " (predicted %.0f%% %s)", fabs(off), off > 0 ? "more" : "less");
}

/* What others have published for this model and chip: the best for this load, and the smallest that is too large. */
static void add_published(const ServingReport *report, Prose *to) {
    const ServingPublished *best = NULL;
    char chip[NUMBER_TEXT_SIZE];
    if (report->published_count == 0) return;
    for (int i = 0; i < report->published_count; i++)
        if (report->published[i].fits && (!best || report->published[i].per_chip > best->per_chip))
            best = &report->published[i];
    double more = best ? best->per_chip / report->answer->best.per_chip - 1 : 0;
    prose_add(to, "; published: ");
    bool meets = best && best->per_chip > 0;
    if (meets)
        prose_add(to, "%s's %s (%s) has %s tokens/s per %s within these limits", best->source, best->engine,
                  best->layout, serving_rate(best->per_chip, chip), noun(report));
    if (meets && more < -0.5)
        prose_add(to, ", of which plan 1 claims %.1f times as many: time it first", 1 / (1 + more));
    if (meets && more >= -0.5) prose_add(to, ", %.0f%% %s", 100 * fabs(more), more < 0 ? "less" : "more");
    if (best && !meets) prose_add(to, "nothing that fits meets these limits");
    const ServingPublished *larger = NULL; /* the smallest of them */
    for (int i = 0; i < report->published_count; i++)
        if (!report->published[i].fits && (!larger || report->published[i].chips < larger->chips))
            larger = &report->published[i];
    if (larger)
        prose_add(to, "%s%s's takes %lld %ss", best ? "; " : "", larger->source, (long long)larger->chips,
                  noun(report));
}

static void write_confidence(const ServingReport *report, TextOut out) {
    Prose prose = {0};
    add_measured(report, &prose);
    add_published(report, &prose);
    prose_add(&prose, ".");
    prose_write(out, "Confidence: ", "  ", prose.text);
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
              serving_rate(front->points[0].per_user, user),
              serving_rate(front->points[front->count - 1].per_chip, chip));
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
                  serving_rate(answer->upper_bound.per_user, most), 100 * answer->gap);
    else if (answer->has_best && report->question->objective == SERVE_CHIPS)
        prose_add(&prose, ": no machine with fewer than %.0f chips can sustain the rate",
                  (double)answer->best.chips_used / (1 + answer->gap));
    else if (answer->has_best)
        prose_add(
            &prose,
            ": no layout gives more than %s tokens/s per chip within these limits, %.3g%% more than the best so far",
            serving_rate(answer->upper_bound.per_chip, most), 100 * answer->gap);
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

/* Whether a value was given that is not the default. */
static bool said(const ServingReport *report, const char *option, const char *unless) {
    for (int i = 0; i < report->said_count; i++)
        if (strcmp(report->said[i].option, option) == 0) return strcmp(report->said[i].value, unless) != 0;
    return false;
}

static void write_assumed(const ServingReport *report, TextOut out) {
    const ServingQuestion *q = report->question;
    const ServingProfile *profile = &q->profiles[NO_ENGINE];
    char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE];
    Prose prose = {0};
    if (report->degree_chips > 0)
        prose_item(&prose, ", ", "%lld %s%s (what the required degrees need; --chips gives others)",
                   (long long)report->degree_chips, noun(report), report->degree_chips == 1 ? "" : "s");
    host_share_words(&q->chip, &prose);
    if (!report->lengths && !said(report, "prompt", "1024"))
        prose_item(&prose, ", ", "prompts of %.0f", q->request.prompt);
    if (!report->lengths && !said(report, "answer", "256"))
        prose_item(&prose, ", ", "answers of %.0f", q->request.output);
    for (int i = 0; i < q->weights_count; i++) prose_item(&prose, i ? " or " : ", ", "%s", stored_name(q->weights[i]));
    prose_add(&prose, " weights%s,", report->weights_said ? "" : " (as published)");
    for (int i = 0; i < q->caches_count; i++) prose_add(&prose, "%s %s", i ? " or" : "", stored_name(q->caches[i]));
    prose_add(&prose, " KV cache, every sequence at its full length, %s",
              q->concurrency > 0 ? "the requested requests in flight"
              : q->rate > 0      ? "the requested rate"
                                 : "full batches");
    if (q->speculation.drafts > 0)
        prose_add(&prose, ", %lld drafts accepted %g%%", (long long)q->speculation.drafts,
                  100 * q->speculation.acceptance);
    if (q->adapters.count > 0)
        prose_add(&prose, ", %lld LoRA adapters of rank %lld within the weights, each request with one",
                  (long long)q->adapters.count, (long long)q->adapters.rank);
    if (report->answer->has_best && q->prefixes.count > 0) {
        const PrefixHit *hit = &report->answer->best.pools[0].hit;
        prose_add(&prose,
                  ", any of %.0f prefixes as likely as another: %.0f%% of a prompt is a hit, %.0f%% from the host",
                  q->prefixes.count, 100 * hit->cached, 100 * hit->copied);
    }
    if (report->answer->has_best) {
        const ServingPoint *best = &report->answer->best;
        prose_add(&prose, "; %s of %s HBM usable",
                  number_bytes(best->pools[best->pool_count - 1].memory.limit_bytes, a),
                  number_bytes(q->chip.hbm_bytes.value, b));
    }
    if (strcmp(profile->name, "default") != 0 || !report->screen) prose_add(&prose, "; profile %s", profile->name);
    if (profile->borrowed[0])
        prose_add(&prose, "; no run measured %s: figures of %s", q->chip.title, profile->borrowed);
    prose_add(&prose, ".");
    prose_write(out, "Assumed: ", "  ", prose.text);
}

static void write_nearest(const ServingReport *report, TextOut out) {
    char text[POINT_TEXT_SIZE], tpot[NUMBER_TEXT_SIZE], ttft[NUMBER_TEXT_SIZE];
    Prose prose = {0};
    if (report->answer->has_nearest) {
        const ServingPoint *nearest = &report->answer->nearest;
        prose_add(&prose, "nothing meets the limits, TPOT %s and TTFT %s. Nearest: %s, %s.",
                  step_text(report->answer->tpot_goal_seconds, tpot),
                  step_text(report->answer->ttft_goal_seconds, ttft), point_engine(nearest),
                  point_degrees(nearest, text));
    } else if (report->answer->count.covered == 0) {
        prose_add(&prose, "no layout divides the model, obeys the engines' rules, lies on whole hosts and meets "
                          "--require.");
    } else {
        prose_add(
            &prose,
            "nothing fits: no layout leaves room for one sequence of %.0f tokens next to the weights; more chips%s.",
            max_real(report->question->peak_tokens, (double)report->question->accepted),
            stored_bytes(report->question->weights[0]) > 1     ? ", or --precision fp8 or int4"
            : stored_bytes(report->question->weights[0]) > 0.6 ? ", or --precision int4"
                                                               : "");
        serving_add_weights(report->question, &prose);
    }
    prose_write(out, "Answer: ", "  ", prose.text);
    if (report->answer->has_nearest) serving_write_point(report, &report->answer->nearest, out);
}

static bool write_answer(const void *context, TextOut out) {
    write_head(context, out);
    write_best(context, out);
    return true;
}

static bool write_table(const void *context, TextOut out) {
    return write_plans(context, out) && serving_write_day(context, out);
}

static bool write_end(const void *context, TextOut out) {
    const ServingReport *report = context;
    bool found = report->answer->front.count > 0, complete = found && report->answer->count.complete;
    if (found) write_confidence(report, out);
    if (found && !report->screen) write_physical(report, out);
    if (!report->screen || !complete) write_searched(report, out);
    write_assumed(report, out);
    return serving_write_next(report, out);
}

bool serving_write_text(const ServingReport *report, TextOut out, Error *error) {
    const ServingAnswer *answer = report->answer;
    if (answer->front.count == 0) {
        write_head(report, out);
        write_nearest(report, out);
        return write_end(report, out) || error_memory(error);
    }
    int used =
        lines_of(write_answer, report, out) + lines_of(write_table, report, out) + lines_of(write_end, report, out);
    if (used >= LINES_UNKNOWN) return error_memory(error);
    write_answer(report, out);
    if (!write_table(report, out)) return error_memory(error);
    int rank = answer_best_rank(report->question, answer);
    const ServingPoint *point = answer->has_best ? &answer->best : rank > 0 ? &answer->front.points[rank - 1] : NULL;
    if (point) {
        Parts time, memory;
        point_time_parts(point, &time);
        point_memory_parts(point, &memory);
        brief_bars_write(&time, &memory, report->screen ? bar_rows(used) : PARTS_MAX, out);
    }
    return write_end(report, out) || error_memory(error);
}
