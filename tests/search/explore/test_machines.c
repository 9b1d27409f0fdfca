/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Idle shapes of as many devices share their degrees, and their knobs where the same ones are offered. */
#include "tests/search/asked.h"

static bool has_torus(const Machine *machine) {
    for (int i = 0; i < machine->mesh.axis_count; i++)
        if (machine->mesh.axes[i].kind != AXIS_SWITCH) return true;
    return false;
}

/* Four slices of one chip each have a network alone; one slice of four chips is a torus, where sequence cannot leave
 * the parameters replicated. Both have four devices. */
Test(machines, a_torus_is_offered_what_a_torus_has) {
    AskedSearch asked;
    int tori = 0, replicating = 0;
    asked_open(&asked,
               "plan --model llama3.2-1b --chip v5e --slice 2x2 --slices 4 --seq 1024 --sequences 16 --max-idle "
               "80% --require sequence>=2,pipeline=1,tensor=1,zero_stage>=1 --top 60");
    for (int i = 0; i < asked.result.plan_count; i++) {
        const RankedPlan *ranked = &asked.result.plans[i];
        bool replicates = ranked->plan.knobs.methods.sequence_replicates, torus = has_torus(&ranked->machine);
        cr_expect(!replicates || !torus, "plan %d replicates over sequence on %s", i + 1, ranked->machine.text);
        tori += torus && ranked->machine.mesh.devices == 4;
        replicating += replicates;
    }
    cr_expect(tori > 0 && replicating > 0, "%d rows on the slice of four chips, %d that replicate", tori, replicating);
    asked_close(&asked);
}
