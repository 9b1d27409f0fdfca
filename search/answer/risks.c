/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What of a plan is likelier than the rest to turn out otherwise than it is priced. */
#include "search/answer/plan_words.h"

#include "base/util.h"

#include <stdarg.h>
#include <string.h>

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
    add(to, "unmeasured", "no run determines what it leans on, most of all %s (the step by %.0f%% either way)",
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
