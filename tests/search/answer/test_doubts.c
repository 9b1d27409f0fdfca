/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Chances of being the fastest against a simulation that draws every figure of the profiles and prices every plan anew:
 * no linear effects, no covariance. */
#include "search/answer/doubts.h"

#include "base/util.h"
#include "models/parameters.h"
#include "search/answer/plan_words.h"
#include "search/report/report.h"
#include "search/request/request.h"
#include "tests/search/asked.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DRAWS = 3000, DRAWN_MOST = 512 };
/* The error of 2^9 draws there and of DRAWS here, two deviations. */
static const double DRAWN = 0.055;

static uint64_t state = 1;

static double normal(void) {
    double sum = -6;
    for (int i = 0; i < 12; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        sum += (double)(state >> 11) * 0x1p-53;
    }
    return sum;
}

/* What was drawn so far for figures, by where they stand. */
typedef struct {
    const void *of[DRAWN_MOST];
    double normal[DRAWN_MOST];
    int count;
} Drawn;

static double drawn_for(Drawn *drawn, const void *of) {
    for (int i = 0; i < drawn->count; i++)
        if (drawn->of[i] == of) return drawn->normal[i];
    cr_assert_lt(drawn->count, (int)DRAWN_MOST);
    drawn->of[drawn->count] = of;
    return drawn->normal[drawn->count++] = normal();
}

static double priced(const RankedPlan *ranked, const Profile *composed) {
    const Question *question = &ranked->request->question;
    Profile profile = profile_of_work(composed, &question->chip, question->precision, &question->model,
                                      (double)question->machine.mesh.chips, (double)question->machine.slices);
    CostContext setting = ranked_cost_context(ranked->request, ranked);
    Estimate estimate;
    Error error = {0};
    setting.profile = &profile;
    cr_assert(estimate_plan(&setting, &(NestedMesh){&ranked->machine.mesh, ranked->nesting}, &ranked->plan, PADDING_ANY,
                            &estimate, &error));
    return estimate.time.seconds;
}

static double drawn_seconds(const RankedPlan *ranked, Drawn *drawn) {
    const ProfileDoubts *doubts = ranked->request->question.doubts;
    const Profile *profile = &ranked->request->question.profile;
    Profile composed = doubts->composed;
    for (int i = 0; i < doubts->count; i++) {
        const FigureDoubt *doubt = &doubts->of[i];
        double *value = figure_of(&composed, doubt->figure),
               moved = *value * exp(doubt->deviation * drawn_for(drawn, doubt->from));
        *value = min_real(max_real(moved, min_real(*value, doubt->figure->fit_low)),
                          max_real(*value, doubt->figure->fit_high));
    }
    return priced(ranked, &composed) *
           exp(profile->stack_error * drawn_for(drawn, profile->stack) + profile->plan_error * normal());
}

static void simulate(const Report *report, double *chances) {
    int count = report->result.plan_count;
    for (int draw = 0; draw < DRAWS; draw++) {
        Drawn drawn = {.count = 0};
        int best = 0;
        double least = INFINITY;
        for (int i = 0; i < count; i++) {
            const RankedPlan *ranked = &report->result.plans[i]; /* ranks hold what is odd */
            double seconds = drawn_seconds(ranked, &drawn) * ranked->ranked_seconds / ranked->estimate.time.seconds;
            if (seconds >= least) continue;
            least = seconds;
            best = i;
        }
        chances[best] += 1.0 / DRAWS;
    }
}

Test(doubts, chances_are_those_of_a_simulation) {
    static const char *const QUESTIONS[] = {
        "plan --model 8b --chip h100 --nodes 4 --batch 1Mi --seq 8192 --for megatron --top 6",
        "plan --model 8b --chip v5e --slice 4x8 --batch 512Ki --seq 4096 --for maxtext --top 5"};
    for (size_t q = 0; q < COUNT_OF(QUESTIONS); q++) {
        Arena arena = {0};
        Error error = {0};
        Report *report = ARENA_NEW(&arena, Report, 1);
        Request *request = ARENA_NEW(&arena, Request, 1);
        cr_assert(request_from_text(QUESTIONS[q], &arena, request));
        cr_assert(report_make(request, &arena, report, &error), "%s", error.text);
        int count = report->result.plan_count;
        double chances[16] = {0}, sum = 0;
        cr_assert(count >= 2 && count <= 16);
        for (int i = 0; i < count; i++) {
            const RankedPlan *ranked = &report->result.plans[i];
            cr_expect_float_eq(priced(ranked, &ranked->request->question.doubts->composed),
                               ranked->estimate.time.seconds, 1e-12);
            sum += ranked->doubt.best_chance;
        }
        simulate(report, chances);
        cr_expect_float_eq(sum, 1, 1e-9);
        for (int i = 0; i < count; i++)
            cr_expect_float_eq(report->result.plans[i].doubt.best_chance, chances[i], DRAWN, "%s: plan %d: %g, not %g",
                               QUESTIONS[q], i + 1, report->result.plans[i].doubt.best_chance, chances[i]);
        arena_free(&arena);
    }
}

/* A range is the profile's, or wider: in logarithms the square of its half width grows by that of what no run moved. */
Test(doubts, figures_that_no_run_moved_widen_the_range) {
    Arena arena = {0};
    Error error = {0};
    Report *report = ARENA_NEW(&arena, Report, 1);
    Request *request = ARENA_NEW(&arena, Request, 1);
    cr_assert(request_from_text("plan --model 8b --chip h100 --nodes 4 --batch 1Mi --seq 8192 --for megatron --top 2",
                                &arena, request));
    cr_assert(report_make(request, &arena, report, &error), "%s", error.text);
    RankedPlan *ranked = &report->result.plans[0];
    const Profile *profile = &ranked->request->question.profile;
    double low = 0, high = 0, unmeasured = ranked->doubt.unmeasured;
    cr_assert(plan_likely(report->request, ranked, &low, &high));
    double seconds = ranked->estimate.time.seconds;
    cr_expect_float_eq(pow(log(low / seconds), 2), pow(log(profile->likely_low), 2) + pow(1.645 * unmeasured, 2), 1e-9);
    cr_expect_float_eq(pow(log(high / seconds), 2), pow(log(profile->likely_high), 2) + pow(1.645 * unmeasured, 2),
                       1e-9);
    cr_expect_geq(ranked->doubt.deviation, unmeasured);

    /* nobody knows any figure: the range grows, and the risk is said */
    ProfileDoubts *doubts = ARENA_NEW(&arena, ProfileDoubts, 1);
    *doubts = *ranked->request->question.doubts;
    for (int i = 0; i < doubts->count; i++) doubts->of[i].measured = false;
    Request *own = ARENA_NEW(&arena, Request, 1);
    *own = *ranked->request;
    own->question.doubts = doubts;
    ranked->request = own;
    cr_assert(plans_doubt(own, ranked, 1, 0, &error));
    cr_expect_gt(ranked->doubt.unmeasured, unmeasured + 0.01);
    cr_expect_lt(ranked->doubt.likely_low, low / seconds);
    cr_assert_not_null(ranked->doubt.unmeasured_figure);
    Risk risks[RISKS_MAX];
    bool said = false;
    for (int i = 0, n = plan_risks(ranked, risks); i < n; i++) said = said || strcmp(risks[i].key, "unmeasured") == 0;
    cr_expect(said);

    /* without doubts there is the profile's range alone */
    own->question.doubts = NULL;
    cr_assert(plans_doubt(own, ranked, 1, 0, &error));
    cr_expect_eq(ranked->doubt.deviation, 0);
    cr_expect_eq(ranked->doubt.likely_low, profile->likely_low);
    arena_free(&arena);
}

/* What plan 1 claims over a run that was measured is said where it is more than its own step may be off, and is then an
 * error of the plan that its chance counts: a lead of a few per cent says little. */
Test(doubts, claims_beyond_what_was_measured) {
    Arena arena = {0};
    Error error = {0};
    Report *report = ARENA_NEW(&arena, Report, 1);
    Request *request = ARENA_NEW(&arena, Request, 1);
    cr_assert(request_from_text("plan --model 8b --chip h100 --nodes 4 --batch 1Mi --seq 8192 --for megatron --top 6",
                                &arena, request));
    cr_assert(report_make(request, &arena, report, &error), "%s", error.text);
    RankedPlan *plans = report->result.plans;
    int count = report->result.plan_count;
    for (int i = 1; i < count; i++) plans[i].ranked_seconds *= 1.2; /* plan 1 leads */
    cr_assert(plans_doubt(report->request, plans, count, 0, &error));
    double own = plans[0].estimate.mfu * 989.4e12, first = plans[0].doubt.best_chance; /* H100's dense bf16 peak */
    double high = plans[0].doubt.likely_high;
    cr_expect_eq(report_claim(report, plans), 0, "no run is near");
    MeasuredRun run = {.flops_per_second = own / (high + 0.5)};
    report->measured = &run;
    cr_expect_float_eq(report_claim(report, plans), high + 0.5 - 1, 1e-3);
    cr_assert(plans_doubt(report->request, plans, count, run.flops_per_second, &error));
    cr_expect(first > 0.5 && plans[0].doubt.best_chance < 0.8 * first, "%g, then %g", first,
              plans[0].doubt.best_chance);
    run.flops_per_second = own / (high - 0.02);
    cr_expect_eq(report_claim(report, plans), 0, "within the likely range");
    cr_assert(plans_doubt(report->request, plans, count, run.flops_per_second, &error));
    cr_expect_float_eq(plans[0].doubt.best_chance, first, 1e-12);
    run.flops_per_second = 2 * own;
    cr_expect_eq(plan_claim(report->request, plans, run.flops_per_second), 0, "it was measured");
    arena_free(&arena);
}

/* The training with failures, against figures worked out by hand: 1,024 chips in hosts of 8, a failure of a chip every
 * 50,000 hours, 12 bytes a parameter. */

static Request *request_new(void) {
    Request *request = calloc(1, sizeof *request);
    cr_assert(request);
    Question *question = &request->question;
    question->work = (Work){.sequences = 1024, .seq = 4096};
    question->model.kind_count = 1;
    question->model.kinds[0] = (LayerKind){.count = 32, .heads = 32, .kv_heads = 32, .head_dim = 128, .d_ff = 16384};
    question->model.d_model = 4096;
    question->model.layers = 32;
    question->model.vocab = 32000;
    question->training_tokens = 1e12;
    question->chip.hbm_bytes.value = 80e9;
    question->chip.bf16_flops_per_second.value = 1e15;
    question->chip.usd_per_chip_hour.value = 2;
    question->chip.hours_per_failure.value = 50000;
    question->chip.chips_per_host = 8;
    question->machine.mesh.chips = 1088;
    question->failing.restart_seconds = -1;
    question->profile = (Profile){.restart_seconds = 600,
                                  .repair_seconds = 86400,
                                  .checkpoint_seconds = 1,
                                  .storage_bytes_per_second = 1e11,
                                  .storage_chip_bytes_per_second = 1e7,
                                  .pcie_efficiency = 1};
    return request;
}

static RankedPlan ranked_new(void) {
    RankedPlan ranked = {.work = {.sequences = 1024, .seq = 4096}};
    ranked.machine.mesh.chips = 1024;
    ranked.estimate.time.seconds = 2;
    return ranked;
}

Test(failing, by_hand) {
    Request *request = request_new();
    RankedPlan ranked = ranked_new();
    Failing failing = failing_of(request, &ranked);
    double bytes = 12 * (double)model_parameters(&request->question.model).total;
    double mean = 50000.0 * 3600 / 1024, write = bytes / (1024 * 1e7), blocking = 1 + write; /* no host is known */
    cr_expect_float_eq(failing.mtbf_seconds, mean, 1e-6);
    cr_expect_float_eq(failing.checkpoint_bytes, bytes, 1);
    cr_expect_float_eq(failing.write_seconds, write, 1e-9);
    cr_expect_float_eq(failing.blocking_seconds, blocking, 1e-9);
    double interval = failing.interval_seconds;
    cr_expect_float_eq(interval, sqrt(2 * blocking * mean) - blocking + 2 * blocking / 3, 0.01 * interval); /* Daly */
    double good = interval / mean * exp(-600 / mean) / (exp((interval + blocking) / mean) - 1);
    cr_expect_float_eq(failing.goodput, good, 1e-9);
    double steps = 1e12 / (1024.0 * 4096);
    cr_expect_float_eq(failing.seconds, 2 * steps / good, 1e-3);
    cr_expect_float_eq(failing.usd, 2 * 1088 * 2 * steps / 3600 / good, 1); /* idle chips are paid for */
    cr_expect_eq(failing.hosts, 128);
    cr_expect_eq(failing.idle_hosts, 8);
    cr_expect_eq(failing.spares, 2); /* 6,250 hours a host, 24 of repair */
    free(request);
}

Test(failing, as_the_user_says) {
    Request *request = request_new();
    RankedPlan ranked = ranked_new();
    request->question.failing =
        (FailureRequest){.mtbf_seconds = 7200, .restart_seconds = 60, .storage_bytes_per_second = 1e12};
    Failing failing = failing_of(request, &ranked);
    cr_expect_float_eq(failing.mtbf_seconds, 7200, 0);
    cr_expect_float_eq(failing.restart_seconds, 60, 0);
    cr_expect_float_eq(failing.write_seconds, failing.checkpoint_bytes / 1e12, 1e-9);
    request->question.failing.never = true;
    cr_expect_eq(failing_of(request, &ranked).mtbf_seconds, 0);
    request->question.failing = (FailureRequest){.restart_seconds = -1};
    request->question.chip.hours_per_failure.value = 0; /* not known */
    cr_expect_eq(failing_of(request, &ranked).mtbf_seconds, 0);
    /* a job that fails before it can restart gets nowhere, and no infinity is printed */
    request->question.failing = (FailureRequest){.mtbf_seconds = 1e-3, .restart_seconds = 1e6};
    cr_expect_eq(failing_of(request, &ranked).mtbf_seconds, 0);
    free(request);
}

/* The probability that a plan fits, and the reserve that makes it nine in ten, against closed forms: the logistic
 * distribution is at 1/2 where the device holds as much as it has, and at 0.9 where ln(HBM / held) = scale ln 9. */

static const double HBM = 80e9, CONTEXT = 2e9, COMMUNICATOR = 0.5e9, EXCHANGE = 3e9, SPARE = 0.05, SCALE = 0.02;

static Request *request_of_memory(void) {
    Request *request = calloc(1, sizeof *request);
    cr_assert(request);
    request->question.work = (Work){.sequences = 8, .seq = 4096};
    request->question.model.kind_count = 1;
    request->question.model.kinds[0] = (LayerKind){.count = 4, .heads = 8, .kv_heads = 8, .head_dim = 64, .d_ff = 2048};
    request->question.model.d_model = 512;
    request->question.model.layers = 4;
    request->question.model.vocab = 1000;
    request->question.chip.hbm_bytes.value = HBM;
    request->question.chip.bf16_flops_per_second.value = 1e15;
    request->question.profile = (Profile){.hbm_error = SCALE,
                                          .context_bytes = CONTEXT,
                                          .communicator_bytes = COMMUNICATOR,
                                          .all_to_all_bytes = EXCHANGE,
                                          .fragmentation_share = SPARE};
    return request;
}

/* A plan over tensor and data whose rows add up to so many bytes. */
static RankedPlan ranked_of(double bytes, double folded_expert) {
    RankedPlan ranked = {.work = {.sequences = 8, .seq = 4096}};
    ranked.estimate.memory.parameters_bytes = 0.25 * bytes;
    ranked.estimate.memory.activations_bytes = 0.75 * bytes;
    ranked.estimate.shard = (Shard){
        .tensor = 2, .data = 4, .fsdp = 1, .sequence = 1, .expert = 1, .pipeline = 1, .grid_expert = folded_expert};
    return ranked;
}

Test(fits_chance, is_the_logistic_distribution) {
    Request *request = request_of_memory();
    const struct {
        double held, chance;
    } ROWS[] = {{HBM, 0.5}, {HBM * pow(9, -SCALE), 0.9}, {HBM * pow(9, SCALE), 0.1}, {HBM * pow(99, -SCALE), 0.99}};
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        double plain = (ROWS[i].held - CONTEXT - 2 * COMMUNICATOR) / (1 + SPARE);
        RankedPlan dense = ranked_of(plain, 0);
        cr_expect_float_eq(plan_fits_chance(request, &dense), ROWS[i].chance, 1e-9);
        /* experts on a folded grid have a communicator and the connections of all_to_all too */
        double mixture = (ROWS[i].held - CONTEXT - 3 * COMMUNICATOR - EXCHANGE) / (1 + SPARE);
        RankedPlan folded = ranked_of(mixture, 8);
        cr_expect_float_eq(plan_fits_chance(request, &folded), ROWS[i].chance, 1e-9);
    }
    request->question.profile.hbm_error = 0;
    RankedPlan any = ranked_of(1e9, 0);
    cr_expect_eq(plan_fits_chance(request, &any), 0);
    free(request);
}

/* A plan of three roles that fills what the reserve leaves fits nine times in ten; the reserve is rounded up to a
 * thousandth of HBM. */
Test(fits_chance, the_default_reserve_makes_it_nine_in_ten) {
    Request *request = request_of_memory();
    for (int experts = 0; experts < 2; experts++) {
        request->question.model.kinds[0].experts = 8 * experts;
        double reserve = request_default_reserve(request);
        RankedPlan full = ranked_of(HBM * (1 - reserve), experts ? 8 : 0);
        full.estimate.shard.pipeline = 4;
        double chance = plan_fits_chance(request, &full);
        cr_expect(chance >= 0.9 && chance < 0.91, "%g with %g", chance, reserve);
    }
    request->question.profile.least_reserve = 0.3;
    cr_expect_float_eq(request_default_reserve(request), 0.3, 0);
    request->question.profile = (Profile){0};
    cr_expect_float_eq(request_default_reserve(request), 0.08, 0);
    free(request);
}
