/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/serving/ledger.h"

#include "search/serving/space.h"

void serving_ledger_begin(ServingLedger *ledger) {
    fputs("engine\tmode\tphase\tbox\ttensor\tattention_data\tpipeline\texpert\texpert_tensor\tkv_sequence\tkv_batch\t"
          "stationary\tweights\tcache\tplacement\twhat\tlow\thigh\tuser\tchip\n",
          ledger->out);
}

void serving_ledger_add(ServingLedger *ledger, int phase, const ServingLayout *layout, LedgerLine line) {
    static const char *const PHASES[] = {"both", "prefill", "decode"};
    if (!ledger) return;
    const WorkerLayout *way = &layout->layout;
    const int64_t degrees[] = {way->tensor,        way->attention_data, way->pipeline, way->expert,
                               way->expert_tensor, way->kv_sequence,    way->kv_batch, way->stationary};
    FILE *out = ledger->out;
    fprintf(out, "%s\t%s\t%s\t", ledger->engine, ledger->mode, PHASES[phase]);
    for (int a = 0; a < MESH_AXES_MAX; a++) fprintf(out, "%s%lld", a ? "x" : "", (long long)layout->box->size[a]);
    for (size_t i = 0; i < sizeof degrees / sizeof degrees[0]; i++) fprintf(out, "\t%lld", (long long)degrees[i]);
    fprintf(out, "\t%s\t%s\t%lld\t%s\t%lld\t%lld\t%a\t%a\n", stored_name(way->weights), stored_name(way->cache),
            (long long)layout->number, line.what, (long long)line.low, (long long)line.high, line.user, line.chip);
}
