/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/answer/doubts.h"

#include "base/util.h"
#include "cost/goodput.h"
#include "cost/stage/memory.h"
#include "mesh/host_link.h"
#include "models/parameters.h"
#include "search/answer/plan_words.h"

#include <math.h>
#include <stdarg.h>

static const double NINE_IN_TEN = 1.645; /* deviations of a normal distribution, on either side */
static const double MOVES_LEAST = 1e-3;  /* of the step: what moves it by less is in no plan's way */

/* A plan that is priced again and again, under one profile after another. */
typedef struct {
    const Request *request;
    const RankedPlan *ranked;
    CostContext setting; /* of it, but for the profile */
} Priced;

static Priced priced_of(const Request *request, const RankedPlan *ranked) {
    return (Priced){request, ranked, ranked_cost_context(request, ranked)};
}

static bool price(const void *context, const Profile *composed, double *seconds) {
    const Priced *priced = context;
    const Question *question = &priced->request->question;
    const RankedPlan *ranked = priced->ranked;
    Profile profile = profile_of_work(composed, &question->chip, question->precision, &question->model,
                                      (double)question->machine.mesh.chips, (double)question->machine.slices);
    CostContext setting = priced->setting;
    setting.profile = &profile;
    *seconds = estimate_seconds(&setting, &(NestedMesh){&ranked->machine.mesh, ranked->nesting}, &ranked->plan);
    return isfinite(*seconds);
}

static double square(double x) { return x * x; }

/* The range of the profile, which unseen runs made, and in addition what figures may be off by that no run moved. */
static double widened(double end, double unmeasured) {
    double distance = hypot(log(end), NINE_IN_TEN * unmeasured);
    return exp(end < 1 ? -distance : distance);
}

static void fill_range(const Profile *profile, const DoubtEffect *effects, int count, PlanDoubt *out) {
    double squares[2] = {0}, most = 0; /* of figures that no run moved, and of others */
    for (int i = 0; i < count; i++) {
        double moves = fabs(effects[i].effect);
        squares[effects[i].of->measured] += square(moves);
        if (effects[i].of->measured) continue;
        out->unmeasured_figures += moves >= MOVES_LEAST;
        if (moves <= most) continue;
        most = moves;
        out->unmeasured_figure = effects[i].of->figure;
    }
    out->deviation = sqrt(squares[0] + squares[1] + square(profile->plan_error) + square(profile->stack_error));
    out->unmeasured = sqrt(squares[0]);
    if (!(profile->likely_low > 0) || !(profile->likely_high > 0)) return;
    out->likely_low = widened(profile->likely_low, out->unmeasured);
    out->likely_high = widened(profile->likely_high, out->unmeasured);
}

/* One plan alone. False: nothing is known of its doubts. */
static bool doubt_alone(const Priced *priced, PlanDoubt *out) {
    const ProfileDoubts *doubts = priced->request->question.doubts;
    const Profile *profile = &priced->request->question.profile;
    DoubtEffect effects[SET_FIGURES_MAX];
    *out = (PlanDoubt){.likely_low = profile->likely_low, .likely_high = profile->likely_high};
    if (!doubts || !(profile->plan_error > 0)) return false;
    int count = doubt_effects(doubts, price, priced, effects);
    if (count >= 0) fill_range(profile, effects, count, out);
    return count >= 0;
}

int plan_effects(const Request *request, const RankedPlan *ranked, DoubtEffect out[SET_FIGURES_MAX]) {
    const ProfileDoubts *doubts = request->question.doubts;
    Priced own = priced_of(request, ranked);
    return doubts ? doubt_effects(doubts, price, &own, out) : -1;
}

bool plan_doubt(const Request *request, RankedPlan *ranked) {
    Priced own = priced_of(request, ranked);
    return doubt_alone(&own, &ranked->doubt);
}

double plan_claim(const Request *request, const RankedPlan *ranked, double measured) {
    double own = ranked->estimate.mfu * request_cost_context(request).precision_flops_per_second;
    return measured > 0 ? max_real(0, own / measured - 1) : 0;
}

/* What a plan claims beyond its likely range over what was measured, in logarithms: nobody has seen it. */
static double unseen(const Priced *priced, double measured) {
    double high = priced->ranked->doubt.likely_high;
    return high > 0 ? max_real(0, log1p(plan_claim(priced->request, priced->ranked, measured)) - log(high)) : 0;
}

static DoubtedPrice price_of(const Priced *priced, double measured) {
    const Profile *profile = &priced->request->question.profile;
    return (DoubtedPrice){.doubts = priced->request->question.doubts,
                          .price = price,
                          .context = priced,
                          .factor = priced->ranked->ranked_seconds / priced->ranked->estimate.formula_seconds,
                          .own_error = hypot(profile->plan_error, unseen(priced, measured)),
                          .group_error = profile->stack_error,
                          .group = profile->stack};
}

bool plans_doubt(const Request *request, RankedPlan *plans, int count, double measured, Error *error) {
    Priced priced[DOUBT_PRICES_MAX];
    DoubtedPrice prices[DOUBT_PRICES_MAX];
    double chances[DOUBT_PRICES_MAX];
    int n = (int)min_whole(count, DOUBT_PRICES_MAX);
    bool known = n > 1;
    for (int i = 0; i < count; i++) {
        Priced own = priced_of(plans[i].request ? plans[i].request : request, &plans[i]);
        bool has = doubt_alone(&own, &plans[i].doubt);
        if (i >= n) continue;
        known = known && has;
        priced[i] = own;
        prices[i] = price_of(&priced[i], measured);
    }
    if (!known) return true;
    if (!doubt_chances(prices, n, request->control.threads, chances)) return error_memory(error);
    for (int i = 0; i < n; i++) plans[i].doubt.best_chance = chances[i];
    return true;
}

bool plan_likely(const Request *request, const RankedPlan *ranked, double *low, double *high) {
    const Profile *profile = &request->question.profile;
    bool own = ranked->doubt.likely_low > 0 && ranked->doubt.likely_high > 0;
    double seconds = ranked->estimate.time.seconds;
    *low = seconds * (own ? ranked->doubt.likely_low : profile->likely_low);
    *high = seconds * (own ? ranked->doubt.likely_high : profile->likely_high);
    return *low > 0 && *high > 0;
}

/* The logistic distribution is close to what measured runs show: most lie within a few per cent, and more lie far off
 * than a normal distribution has. */
double plan_fits_chance(const Request *request, const RankedPlan *ranked) {
    CostContext setting = ranked_cost_context(ranked->request ? ranked->request : request, ranked);
    const Estimate *estimate = &ranked->estimate;
    double scale = setting.profile->hbm_error;
    double held = memory_on_device(&setting, &estimate->shard, memory_total(&estimate->memory));
    if (!(scale > 0) || !(held > 0)) return 0;
    return 1 / (1 + exp(-log(setting.chip->hbm_bytes.value / held) / scale));
}

/* What of a plan is likelier than the rest to turn out otherwise than it is priced. */

static const double HBM_FULL = 0.97, LINK_BUSY = 0.8, UNMEASURED_SHOWS = 0.03;

typedef struct {
    Risk *risks;
    int count;
} Risks;

__attribute__((format(printf, 3, 4))) static void add(Risks *to, const char *key, const char *format, ...) {
    Risk *risk = &to->risks[to->count++];
    va_list arguments;
    risk->key = key;
    va_start(arguments, format);
    vsnprintf(risk->text, sizeof risk->text, format, arguments);
    va_end(arguments);
}

static void add_memory(const RankedPlan *ranked, Risks *to) {
    const Estimate *estimate = &ranked->estimate;
    char left[NUMBER_TEXT_SIZE], limit[NUMBER_TEXT_SIZE];
    double total = memory_total(&estimate->memory), most = estimate->memory_limit_bytes;
    if (total > most || total <= HBM_FULL * most) return;
    add(to, "hbm_full", "only %s of the %s that plans may use stays free", number_bytes(most - total, left),
        number_bytes(most, limit));
}

/* The busiest link of each kind, where it is busy for most of the step. */
static void add_links(const RankedPlan *ranked, Risks *to) {
    const Mesh *mesh = &ranked->machine.mesh;
    const StepTime *time = &ranked->estimate.time;
    int busiest = -1;
    for (int axis = 0; axis < mesh->axis_count; axis++)
        if (busiest < 0 || time->axis_seconds[axis] > time->axis_seconds[busiest]) busiest = axis;
    if (time->pcie_seconds > LINK_BUSY * time->seconds)
        add(to, "host_link_busy", "the host link is busy for %.0f%% of the step",
            100 * time->pcie_seconds / time->seconds);
    if (busiest >= 0 && time->axis_seconds[busiest] > LINK_BUSY * time->seconds)
        add(to, "link_busy", "links along %s are busy for %.0f%% of the step", mesh->axes[busiest].name,
            100 * time->axis_seconds[busiest] / time->seconds);
}

static void add_pipeline(const RankedPlan *ranked, Risks *to) {
    int64_t stages = ranked->plan.degrees.of[ROLE_PIPELINE], microbatches = ranked->plan.knobs.microbatches;
    if (stages > 1 && microbatches < 2 * stages)
        add(to, "short_pipeline", "%lld microbatches for %lld stages: stragglers and bubbles show",
            (long long)microbatches, (long long)stages);
}

/* Roles whose messages the step waits for belong on the fast links. */
static void add_far_roles(const RankedPlan *ranked, Risks *to) {
    static const Role ROLES[] = {ROLE_TENSOR, ROLE_EXPERT};
    const Mesh *mesh = &ranked->machine.mesh;
    for (size_t i = 0; i < COUNT_OF(ROLES); i++) {
        if (ranked->plan.degrees.of[ROLES[i]] == 1) continue;
        Footprint footprint = nesting_footprint(mesh, &ranked->nesting, &ranked->plan.placement, 1u << ROLES[i]);
        for (int axis = 0; axis < mesh->axis_count; axis++) {
            bool far = mesh->axes[axis].level == LEVEL_NETWORK || mesh->axes[axis].level == LEVEL_DCN;
            if (!far || footprint.on[axis].factor <= 1) continue;
            add(to, "far_role", "%s crosses %s", role_name(ROLES[i]), mesh->axes[axis].name);
            break;
        }
    }
}

static void add_host(const RankedPlan *ranked, Risks *to) {
    if (ranked->plan.knobs.offload_optimizer)
        add(to, "optimizer_on_host", "the optimizer's state is on the host, which few measured runs have");
}

/* Figures of the profile that are only believed. */
static void add_unmeasured(const RankedPlan *ranked, Risks *to) {
    const PlanDoubt *doubt = &ranked->doubt;
    if (doubt->unmeasured < UNMEASURED_SHOWS || !doubt->unmeasured_figure) return;
    add(to, "unmeasured", "no measured run determines %s and similar figures, which may move the step by %.0f%%",
        doubt->unmeasured_figure->key, 100 * doubt->unmeasured);
}

int plan_risks(const RankedPlan *ranked, Risk risks[RISKS_MAX]) {
    Risks to = {risks, 0};
    add_memory(ranked, &to);
    add_links(ranked, &to);
    add_pipeline(ranked, &to);
    add_far_roles(ranked, &to);
    add_host(ranked, &to);
    add_unmeasured(ranked, &to);
    return to.count;
}

/* What failures make of a training: docs/model.md, "Failures". */

/* Master weights and moments, or the weights themselves where there is no master: what a training goes on from. */
static double checkpoint_bytes(const CostContext *setting) {
    const TrainingState *state = cost_context_state(setting);
    Parameters all = model_parameters(setting->model);
    double tables = (double)(all.embedding + all.unembedding + all.positions), experts = (double)all.experts;
    double held[HELD_COUNT] = {
        [HELD_DENSE] = (double)all.total - tables - experts, [HELD_EXPERTS] = experts, [HELD_TABLES] = tables};
    double bytes = state->dtypes.master == DTYPE_NONE ? state->parameter_bytes * (double)all.total : 0;
    for (int part = 0; part < HELD_COUNT; part++) bytes += held[part] * state->part[part].optimizer_bytes;
    return bytes;
}

/* Copies to the host are at the rate of its link; where that is not known, steps wait for the storage. */
static void checkpoint_times(const Request *request, const CostContext *setting, double chips, Failing *out) {
    const Profile *profile = setting->profile;
    const Chip *chip = &request->question.chip;
    double storage = request->question.failing.storage_bytes_per_second;
    if (!(storage > 0))
        storage = min_real(profile->storage_bytes_per_second, profile->storage_chip_bytes_per_second * chips);
    out->checkpoint_bytes = checkpoint_bytes(setting);
    out->write_seconds = storage > 0 ? out->checkpoint_bytes / storage : 0;
    double link = host_is_known(chip) ? host_one_way_rate(chip) * profile->pcie_efficiency : 0;
    out->blocking_seconds =
        profile->checkpoint_seconds + (link > 0 ? out->checkpoint_bytes / chips / link : out->write_seconds);
}

static void spare_hosts(const Request *request, double hours, double repair, int64_t used, Failing *out) {
    const Chip *chip = &request->question.chip;
    int64_t per_host = max_whole(1, chip->chips_per_host);
    out->hosts = divide_up(used, per_host);
    out->idle_hosts = max_whole(0, request->question.machine.mesh.chips - used) / per_host;
    if (!(hours > 0) || !(repair > 0)) return;
    double between = 3600 * hours / (double)per_host;
    out->spares = spares_needed(out->hosts, between, repair, SPARES_PERCENT / 100.0);
    out->whole = units_up(out->hosts, out->idle_hosts, between, repair);
}

Failing failing_of(const Request *request, const RankedPlan *ranked) {
    const Request *own = ranked->request ? ranked->request : request;
    const FailureRequest *requested = &request->question.failing;
    CostContext setting = ranked_cost_context(own, ranked);
    Training training = training_of(request, ranked);
    int64_t used = ranked->machine.mesh.chips;
    double chips = (double)used, hours = request->question.chip.hours_per_failure.value;
    double restart = requested->restart_seconds >= 0 ? requested->restart_seconds : setting.profile->restart_seconds;
    Failing out = {.usd = -1, .reserved_usd = -1};
    double mtbf = requested->mtbf_seconds > 0 ? requested->mtbf_seconds : 3600 * hours / chips;
    if (requested->never || !(mtbf > 0) || !(restart > 0)) return out;
    checkpoint_times(request, &setting, chips, &out);
    const Failures failures = {mtbf, restart, out.blocking_seconds, out.write_seconds};
    out.mtbf_seconds = mtbf;
    out.restart_seconds = restart;
    out.interval_seconds = max_real(goodput_best_interval(&failures), ranked->estimate.time.seconds);
    out.goodput = goodput_at(&failures, out.interval_seconds);
    if (!(out.goodput > 0)) return (Failing){.usd = -1, .reserved_usd = -1};
    out.seconds = training.seconds / out.goodput;
    out.chip_hours = training.chip_hours / out.goodput;
    out.usd = training.usd >= 0 ? training.usd / out.goodput : -1;
    out.reserved_usd = training.reserved_usd >= 0 ? training.reserved_usd / out.goodput : -1;
    spare_hosts(request, hours, setting.profile->repair_seconds, used, &out);
    return out;
}
