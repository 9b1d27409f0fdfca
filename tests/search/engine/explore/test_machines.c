/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Idle shapes of as many devices share their degrees, and their knobs where the same ones are offered. */
#include "tests/search/asked.h"

static bool has_torus(const Machine *machine) {
    for (int i = 0; i < machine->mesh.axis_count; i++)
        if (machine->mesh.axes[i].kind != AXIS_SWITCH) return true;
    return false;
}

/* Four slices of one chip each have a network alone, where experts may fold onto other ranks; one slice of four chips
 * is a torus, where they may not. Both have four devices. */
Test(machines, a_torus_is_offered_what_a_torus_has) {
    RequestedSearch asked;
    int tori = 0, folded = 0;
    asked_open(
        &asked,
        "plan --model qwen1.5-moe-a2.7b --chip v5e --slice 2x2 --slices 4 --seq 1024 --sequences 16 --offload all "
        "--max-idle 80% --optimizer sgd --hbm-reserve 0 --require expert=1,pipeline=1 --top 200");
    for (int i = 0; i < asked.result.plan_count; i++) {
        const RankedPlan *ranked = &asked.result.plans[i];
        bool folds = ranked->plan.knobs.methods.grid.expert > 0, torus = has_torus(&ranked->machine);
        cr_expect(!folds || !torus, "plan %d folds its experts on %s", i + 1, ranked->machine.text);
        tori += torus && ranked->machine.mesh.devices == 4;
        folded += folds;
    }
    cr_expect(tori > 0 && folded > 0, "%d rows on the slice of four chips, %d that fold", tori, folded);
    asked_close(&asked);
}
