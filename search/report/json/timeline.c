/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One step in time: with stages every pass of every microbatch, played (cost/played.h); without, the microbatches and
 * what communicates alongside them. */
#include "search/report/json/timeline.h"

#include "base/json.h"
#include "base/util.h"
#include "cost/played.h"
#include "search/answer/plan_words.h"

/* Of each end of a step: what is between repeats. */
enum { STAGES_SHOWN = 16, MICROBATCHES_SHOWN = 64 };

/* What a step ends with, behind its passes; not `whole`: first come those that are not played. */
static void add_tail(BarRows *bars, const StepTime *time, double from, bool whole) {
    double waits = max_real(0, time->seconds - from - time->optimizer_seconds - time->other_seconds);
    const struct {
        const char *name, *of;
        double seconds;
    } PARTS[] = {{whole ? "waits for communication" : "microbatches in between", whole ? "waits" : "forward", waits},
                 {"optimizer", "optimizer", time->optimizer_seconds},
                 {"other overheads", "other", time->other_seconds}};
    for (size_t i = 0; i < COUNT_OF(PARTS); i++) {
        bars_add(bars, PARTS[i].name, PARTS[i].of, from, from + PARTS[i].seconds, 0);
        from += PARTS[i].seconds;
    }
}

/* ---- stages ---- */

/* Of each direction, where there are two. */
static bool shown(const Play *play, int microbatch) {
    int ways = play->two_ways ? 2 : 1, all = play->microbatches / ways, most = MICROBATCHES_SHOWN / ways;
    return all <= most || microbatch < most / 2 || microbatch >= all - most / 2;
}

static bool pass_shown(const Play *play, const Pass *pass) {
    return shown(play, pass->microbatch) && (pass->kind != PASS_BOTH || shown(play, pass->back_microbatch));
}

static bool add_stage(BarRows *bars, const PlayedStep *step, int stage) {
    static const char *const NAMES[PASS_COUNT] = {[PASS_FORWARD] = "forward",
                                                  [PASS_BACKWARD] = "backward",
                                                  [PASS_INPUT] = "gradients of the input",
                                                  [PASS_WEIGHTS] = "gradients of weights",
                                                  [PASS_BOTH] = "forward and backward at once"};
    static const char *const OF[PASS_COUNT] = {[PASS_FORWARD] = "forward",
                                               [PASS_BACKWARD] = "backward",
                                               [PASS_INPUT] = "backward",
                                               [PASS_WEIGHTS] = "optimizer",
                                               [PASS_BOTH] = "expert"};
    const Play *play = &step->play;
    const PlayedStage *of = &step->stages[stage];
    char name[32];
    double busy = 0;
    snprintf(name, sizeof name, "stage %d", stage + 1);
    cJSON *row = bars_row(bars, name);
    for (int i = 0; i < play->count[stage]; i++) {
        const Pass *pass = &play->passes[stage][i];
        double begin = step->played.begins[stage][i], end = step->played.ends[stage][i];
        busy += end - begin;
        if (pass_shown(play, pass)) bars_add(bars, NAMES[pass->kind], OF[pass->kind], begin, end, pass->microbatch + 1);
    }
    return bars->ok && json_add_real(row, "busy_seconds", busy) &&
           json_add_real(row, "idle_seconds", step->played.end - busy) &&
           json_add_real(row, "exchange_seconds", of->exchange) &&
           json_add_real(row, "reduction_seconds", of->reduction) &&
           json_add_real(row, "microbatches_in_flight", of->held) && json_add_real(row, "peak_bytes", of->memory_bytes);
}

/* The step as it is played: of a long one the rounds that repeat are left out. */
static bool add_stages(cJSON *to, const Report *report, const RankedPlan *ranked) {
    Arena arena = {0};
    PlayedStep step;
    CostContext setting = ranked_cost_context(ranked->request ? ranked->request : report->request, ranked);
    const Estimate *estimate = &ranked->estimate;
    bool ok = true;
    if (step_play(&(PlayedPlan){&setting, &estimate->shard, &ranked->plan, &estimate->rates}, &arena, &step)) {
        int ranks = step.play.ranks, half = ranks > STAGES_SHOWN ? STAGES_SHOWN / 2 : ranks;
        BarRows bars = bars_begin(to);
        ok = bars.ok && json_add_whole(to, "stages", ranks) &&
             json_add_whole(to, "played_microbatches", step.play.microbatches) &&
             json_add_whole(to, "left_out_microbatches", max_whole(0, step.play.microbatches - MICROBATCHES_SHOWN)) &&
             json_add_real(to, "passes_end_seconds", step.played.end);
        for (int stage = 0; stage < ranks && ok; stage++)
            if (stage < half || stage >= ranks - STAGES_SHOWN / 2) ok = add_stage(&bars, &step, stage);
        bars_row(&bars, "step");
        add_tail(&bars, &estimate->time, step.played.end, step.play.microbatches >= ranked->plan.knobs.microbatches);
        ok = ok && bars.ok;
    }
    arena_free(&arena);
    return ok;
}

/* ---- one stage ---- */

/* Seconds of a microbatch on the fullest stage, what is exposed of critical groups included. */
typedef struct {
    double compute[PHASE_COUNT], exposed[GROUP_DATA][PHASE_COUNT], all[PHASE_COUNT];
    double hidden[GROUP_DATA][PHASE_COUNT]; /* of the groups that run alongside compute */
} Microbatch;

static Microbatch microbatch_of(const Estimate *estimate) {
    const Resources *resources = &estimate->resources;
    Microbatch one = {0};
    for (int phase = 0; phase < PHASE_COUNT; phase++) {
        one.compute[phase] = resources->of[RES_COMPUTE_FORWARD + phase] + resources->of[RES_ATTENTION_FORWARD + phase];
        one.all[phase] = one.compute[phase];
        for (int group = 0; group < GROUP_DATA; group++) {
            double whole = estimate->time.group_seconds[group],
                   seconds = lane_seconds(estimate, (Group)group, (Phase)phase);
            double share = whole > 0 ? estimate->time.group_exposed_seconds[group] / whole : 0;
            if (group < GROUP_WEIGHTS) one.exposed[group][phase] = share * seconds;
            one.hidden[group][phase] = (group < GROUP_WEIGHTS ? 1 - share : 1) * seconds;
            one.all[phase] += one.exposed[group][phase];
        }
    }
    return one;
}

/* The microbatch after i that is shown: of a long step the middle is left out. */
static int64_t next_shown(int64_t i, int64_t m) {
    bool middle = m > MICROBATCHES_SHOWN && i + 1 == MICROBATCHES_SHOWN / 2;
    return middle ? m - MICROBATCHES_SHOWN / 2 : i + 1;
}

static double pass_begins(const Microbatch *one, int64_t i, int phase) {
    return (double)i * (one->all[0] + one->all[1]) + (phase == PHASE_BACKWARD ? one->all[0] : 0);
}

/* Compute with what is exposed behind it. */
static void add_compute(BarRows *bars, const Microbatch *one, int64_t m) {
    static const char *const NAMES[PHASE_COUNT] = {"forward", "backward"};
    for (int64_t i = 0; i < m; i = next_shown(i, m))
        for (int phase = 0; phase < PHASE_COUNT; phase++) {
            double from = pass_begins(one, i, phase), at = from + one->compute[phase];
            bars_add(bars, NAMES[phase], NAMES[phase], from, at, i + 1);
            for (int group = 0; group < GROUP_WEIGHTS; group++) {
                const char *role = role_name(group_role((Group)group));
                char name[TIMELINE_NAME_SIZE];
                snprintf(name, sizeof name, "%s, exposed", role);
                bars_add(bars, name, role, at, at + one->exposed[group][phase], i + 1);
                at += one->exposed[group][phase];
            }
        }
}

/* The hidden shares in rows of their own, from where the pass begins. */
static void add_hidden(BarRows *bars, const Microbatch *one, int group, int64_t m) {
    char name[TIMELINE_NAME_SIZE];
    snprintf(name, sizeof name, "%s, overlapped with compute", lane_name((Group)group));
    bars_row(bars, lane_name((Group)group));
    for (int64_t i = 0; i < m; i = next_shown(i, m))
        for (int phase = 0; phase < PHASE_COUNT; phase++) {
            double from = pass_begins(one, i, phase);
            bars_add(bars, name, role_name(group_role((Group)group)), from, from + one->hidden[group][phase], i + 1);
        }
}

/* Gathers of a step's parameters (ZeRO) alongside its first pass, reductions of gradients alongside its last: no
 * gradient is there before the first backward. */
static void add_replicas(BarRows *bars, const Estimate *estimate, const Microbatch *one, double end) {
    for (int group = GROUP_DATA; group < GROUP_COUNT; group++)
        for (int phase = 0; phase < PHASE_COUNT; phase++) {
            double seconds = lane_seconds(estimate, (Group)group, (Phase)phase);
            bool forward = phase == PHASE_FORWARD;
            double from = forward ? 0 : end - one->all[PHASE_BACKWARD];
            const char *row = !forward ? lane_name((Group)group) : group == GROUP_DATA ? "parameters" : "expert params";
            char name[TIMELINE_NAME_SIZE];
            if (!(seconds > 1e-6 * estimate->time.seconds)) continue;
            snprintf(name, sizeof name, "%s%s", row, forward ? ", gathered after the update (ZeRO)" : "");
            bars_row(bars, row);
            bars_add(bars, name, role_name(group_role((Group)group)), from, from + seconds, 0);
        }
}

static bool add_alone(cJSON *to, const RankedPlan *ranked) {
    const Estimate *estimate = &ranked->estimate;
    Microbatch one = microbatch_of(estimate);
    int64_t m = ranked->plan.knobs.microbatches;
    double end = (double)m * (one.all[0] + one.all[1]), least = 1e-6 * estimate->time.seconds;
    BarRows bars = bars_begin(to);
    bars_row(&bars, "compute");
    add_compute(&bars, &one, m);
    add_tail(&bars, &estimate->time, end, true);
    for (int group = 0; group < GROUP_DATA; group++)
        if (one.hidden[group][0] + one.hidden[group][1] > least) add_hidden(&bars, &one, group, m);
    add_replicas(&bars, estimate, &one, end);
    return bars.ok && json_add_whole(to, "stages", 1) &&
           json_add_whole(to, "left_out_microbatches", max_whole(0, m - MICROBATCHES_SHOWN)) &&
           json_add_real(to, "passes_end_seconds", end) &&
           json_add_real(to, "forward_compute_seconds", one.compute[0]) &&
           json_add_real(to, "forward_exposed_seconds", one.all[0] - one.compute[0]) &&
           json_add_real(to, "backward_compute_seconds", one.compute[1]) &&
           json_add_real(to, "backward_exposed_seconds", one.all[1] - one.compute[1]);
}

bool timeline_add_json(cJSON *to, const Report *report) {
    if (report->result.plan_count == 0) return true;
    const RankedPlan *ranked = &report->result.plans[0];
    cJSON *json = json_add_object(to, "timeline");
    bool ok = json_add_whole(json, "microbatches", ranked->plan.knobs.microbatches) &&
              json_add_text(json, "schedule", schedule_name(ranked->plan.knobs.schedule)) &&
              json_add_whole(json, "virtual_stages", ranked->plan.knobs.virtual_stages) &&
              json_add_real(json, "step_seconds", ranked->estimate.time.seconds);
    bool stages = ranked->plan.degrees.of[ROLE_PIPELINE] > 1;
    ok = ok && (stages ? add_stages(json, report, ranked) : add_alone(json, ranked));
    return ok && layer_add_json(json, ranked->request ? ranked->request : report->request, ranked);
}
