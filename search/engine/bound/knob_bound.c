/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/engine/bound/knob_bound.h"

#include "base/util.h"
#include "cost/time/slack.h"
#include "search/engine/bound/shard_bound.h"
#include "search/engine/layout/branch.h"

#include <math.h>
#include <string.h>

/* What the rows of one knob setting or family have in common. */
typedef struct {
    const Bounds *bounds;
    const Shard *shard;
    const Knobs *knobs; /* for a family, those of least time */
    bool family;
    double in_flight[MOMENT_COUNT];
    const Rates *least;
    double enough;
} RowMaker;

/* Which activations may go to the host; for a family, those that any member may send: alone on the host, with the
 * fewest microbatches in flight. */
static void offloadable_by(const RowMaker *maker, const DetailSlot *slot, bool out[ACTIVATION_COUNT]) {
    const CostContext *context = maker->bounds->context;
    if (maker->family) {
        for (int a = 0; a < ACTIVATION_COUNT; a++)
            out[a] = offload_bytes(context, maker->shard, &slot->whole[a], a,
                                   maker->in_flight[MOMENT_FIRST_BACKWARD] +
                                       layers_read_in_place(context, maker->shard)) <= offload_room(context);
        return;
    }
    StageTotals first; /* what is trained has a state; where everything is, these are the weights */
    first.layer.dense_weights = first.layer.dense_trained = slot->weights[0];
    first.layer.expert_weights = first.layer.expert_trained = slot->weights[1];
    first.embedding.dense_weights = first.embedding.dense_trained = slot->weights[2];
    first.logits.dense_weights = first.logits.dense_trained = slot->weights[3];
    offloadable_activations(context, maker->shard, maker->knobs, slot->whole, &first, out);
}

/* The branch of the least totals: everything saved, and each activation in each state at its cheapest. */
static void least_branch(const RowMaker *maker, const DetailSlot *slot, const StepRule *rule, Branch *out) {
    const CostContext *context = maker->bounds->context;
    const RematDomain *domain = cost_context_domain(context);
    bool offloadable[ACTIVATION_COUNT];
    offloadable_by(maker, slot, offloadable);
    out->item_count = 0;
    for (int a = 0; a < ACTIVATION_COUNT && !cost_context_remat(context); a++) {
        const ActivationCost *cost = &slot->cheapest[a];
        if (!cost->exists) continue;
        for (ActivationState state = STATE_RECOMPUTED; state < STATE_COUNT; state++) {
            if (state != STATE_OFFLOADED ? !cost->recomputable
                                         : !(rule->offload_bytes_per_second > 0 && offloadable[a]))
                continue;
            if (domain ? !domain->has[a][state] : state == STATE_PARTLY) continue;
            BranchItem *item = &out->items[out->item_count++];
            *item = (BranchItem){.activation = a, .state = state, .layers = maker->shard->layers};
            resources_add_state(cost, state, 1, maker->in_flight, &item->adds);
            if (state == STATE_OFFLOADED) item->adds.of[RES_OFFLOAD_BYTES] = 2 * slot->least_bytes[a];
        }
    }
}

/* Drops rows that exceed memory if any row fits. If none fits, it keeps them all, and the memory bound decides. */
static void drop_unfit(BoundRows *rows) {
    int kept = 0;
    for (int i = 0; i < rows->count; i++)
        if (rows->row[i].relaxation.fits) rows->row[kept++] = rows->row[i];
    if (kept > 0) rows->count = kept;
}

/* Begins the relaxation of a row: everything saved. */
static void begin_row(const Resources *saved, BoundRow *row) {
    memset(&row->relaxation, 0, sizeof(row->relaxation));
    row->relaxation.rows = 1;
    row->relaxation.row[0].resources = *saved;
    row->relaxation.fits = true;
}

/* Raises the relaxation of a row by what freeing the missing memory takes, where everything saved does not fit and that
 * can matter. A row that cannot fit is left to the memory bound. */
static void relax_row(const RowMaker *maker, MlpChoice mlp, BoundRow *row) {
    const Resources *saved = &row->relaxation.row[0].resources;
    if (cost_context_remat(maker->bounds->context) || resources_fit(saved, row->rule.memory_limit_bytes)) return;
    if (step_seconds(&row->rule, saved, maker->least) * SLACK > maker->enough) return;
    const DetailSlot *slot = totals_cache_details(maker->bounds, maker->shard, &maker->knobs->methods, mlp);
    Branch branch;
    Relaxation relaxation;
    branch.saved = *saved;
    least_branch(maker, slot, &row->rule, &branch);
    branch_relax(&row->rule, &branch, maker->least, &relaxation);
    if (relaxation.fits)
        row->relaxation = relaxation;
    else
        row->relaxation.fits = false;
}

/* The rule that counts the reduction of all chunks in place of one. */
static StepRule whole_reduction(const BoundRow *row) {
    StepRule whole = row->rule;
    for (int group = 0; group < DATA_GROUPS; group++) {
        whole.data_end[group].messages *= row->chunks;
        whole.data_end[group].bytes *= row->chunks;
    }
    return whole;
}

double rows_seconds(const BoundRows *rows, const Rates *rates) { return rows_seconds_until(rows, rates, INFINITY); }

static double row_seconds(const BoundRow *row, const Rates *rates, double enough, double other_exposed) {
    double seconds = relaxed_seconds_with_other(&row->rule, &row->relaxation, rates, other_exposed);
    if (row->chunks <= 1 || seconds * SLACK > enough) return seconds;
    StepRule whole = whole_reduction(row);
    double merged = merged_seconds(&whole, &row->relaxation.row[0].resources, rates, row->idle_share);
    return max_real(seconds, merged + other_exposed);
}

double rows_seconds_until(const BoundRows *rows, const Rates *rates, double enough) {
    double best = INFINITY;
    for (int i = 0; i < rows->count; i++) best = min_real(best, row_seconds(&rows->row[i], rates, enough, 0));
    return best * SLACK;
}

double rows_seconds_with_other(const BoundRows *rows, const Rates *rates, double other_exposed) {
    double best = INFINITY;
    for (int i = 0; i < rows->count; i++)
        best = min_real(best, row_seconds(&rows->row[i], rates, INFINITY, other_exposed));
    return best * SLACK;
}

/* Sets the memory of everything saved to that of the member that holds least ("Family bound"). */
static void least_memory_saved(const RowMaker *maker, const Sharding *sharding, const StageTotals *totals,
                               Resources *to) {
    const Shard *shard = maker->shard;
    Knobs small = *maker->knobs;
    LeastState states[LEAST_STATES_MAX];
    int count = least_states(maker->bounds, small.zero_stage, states);
    small.regather = true;
    double saved = shard->layers * saved_of_sums(totals);
    for (int at = 0; at < count * (shard->pipeline > 1 ? 2 : 1); at++) {
        small.zero_stage = states[at % count].zero_stage;
        small.offload_optimizer = states[at % count].offload_optimizer;
        if (at >= count) small.schedule = SCHEDULE_DUALPIPE;
        for (int moment = 0; moment < MOMENT_COUNT; moment++) {
            MemoryRows rows;
            rows_of_sums(&(ShardedStage){maker->bounds->context, shard, &small, sharding}, totals, (Moment)moment,
                         maker->in_flight[moment] * saved, &rows);
            double bytes = memory_total(&rows);
            to->of[RES_MEMORY + moment] = at > 0 ? min_real(to->of[RES_MEMORY + moment], bytes) : bytes;
        }
    }
}

/* The resources of everything saved, at the totals of a slot; of a family without memory, which least_memory_saved()
 * has. */
static Resources saved_resources(const RowMaker *maker, const TotalsSlot *slot, const Sharding *sharding) {
    Resources resources;
    (maker->family ? moved_of_sums : resources_of_sums)(maker->bounds->context, maker->shard, maker->knobs, sharding,
                                                        &slot->totals, &resources);
    totals_add_required(maker->bounds->context, maker->shard, slot, &resources);
    return resources;
}

/* The row of a family for one choice of the MLP. */
static void family_row(const RowMaker *maker, const TotalsSlot *slot, double chunks, double share, BoundRow *row) {
    Sharding sharding = totals_sharding(slot);
    least_rule(maker->bounds->context, maker->shard, maker->knobs, &slot->totals, &row->rule);
    relax_rule(maker->bounds, maker->shard, share, &row->rule);
    Resources resources = saved_resources(maker, slot, &sharding);
    row->chunks = chunks;
    row->idle_share = row->rule.bubble[PHASE_FORWARD] / row->rule.microbatches;
    for (int group = 0; group < DATA_GROUPS && chunks > 1; group++) {
        row->rule.data_end[group].messages /= chunks;
        row->rule.data_end[group].bytes /= chunks;
    }
    begin_row(&resources, row);
}

/* What freeing memory takes in the row of a family. */
static void relax_family_row(const RowMaker *maker, const TotalsSlot *slot, BoundRow *row) {
    Sharding sharding = totals_sharding(slot);
    least_memory_saved(maker, &sharding, &slot->totals, &row->relaxation.row[0].resources);
    relax_row(maker, (MlpChoice)slot->key.mlp, row);
}

void family_rows(const Bounds *bounds, const Shard *shard, const Knobs *member, const Rates *least, double enough,
                 BoundRows *out) {
    Knobs fast = least_time(shard, member);
    RowMaker maker = {
        .bounds = bounds, .shard = shard, .knobs = &fast, .family = true, .least = least, .enough = enough};
    double most = most_chunks(bounds->context, shard->pipeline), chunks = shard->pipeline > 1 ? most : 1;
    double share = schedule_least_share(shard->pipeline, shard->microbatches, most, WEIGHT_GRADIENTS_MOST);
    out->count = 0;
    out->least_bytes = 0;
    for (int mlp = MLP_TENSOR; mlp <= MLP_GATHERED; mlp++) {
        const TotalsSlot *slot = totals_cache_get(bounds, shard, &fast.methods, (MlpChoice)mlp);
        if (slot->allowed) family_row(&maker, slot, chunks, share, &out->row[out->count++]);
    }
    out->seconds = rows_seconds(out, least);
    if (out->seconds > enough) return;
    out->least_bytes = shard_bytes(bounds, shard, member);
    if (out->least_bytes > cost_context_memory_limit(bounds->context)) return;
    microbatches_in_flight(bounds->context, shard, &fast, maker.in_flight);
    for (int mlp = MLP_TENSOR, row = 0; mlp <= MLP_GATHERED; mlp++) {
        const TotalsSlot *slot = totals_cache_get(bounds, shard, &fast.methods, (MlpChoice)mlp);
        if (slot->allowed) relax_family_row(&maker, slot, &out->row[row++]);
    }
    drop_unfit(out);
    out->seconds = rows_seconds(out, least);
}

/* What knobs hold at least in their worst moment, over the choices of the MLP. */
static double knob_bytes(const Bounds *bounds, const Shard *shard, const Knobs *knobs) {
    double bytes = INFINITY;
    for (int mlp = MLP_TENSOR; mlp <= MLP_GATHERED; mlp++) {
        const TotalsSlot *slot = totals_cache_get(bounds, shard, &knobs->methods, (MlpChoice)mlp);
        if (!slot->allowed) continue;
        Sharding sharding = totals_sharding(slot);
        bytes = min_real(bytes, least_memory(bounds->context, shard, knobs, &sharding, &slot->totals));
    }
    return bytes * SLACK;
}

void knob_rows(const Bounds *bounds, const Shard *shard, const Knobs *knobs, const Rates *least, double enough,
               BoundRows *out) {
    const CostContext *context = bounds->context;
    RowMaker maker = {.bounds = bounds, .shard = shard, .knobs = knobs, .least = least, .enough = enough};
    out->count = 0;
    out->seconds = INFINITY;
    out->least_bytes = knob_bytes(bounds, shard, knobs);
    if (out->least_bytes > cost_context_memory_limit(context)) return;
    microbatches_in_flight(context, shard, knobs, maker.in_flight);
    for (int mlp = MLP_TENSOR; mlp <= MLP_GATHERED; mlp++) {
        const TotalsSlot *slot = totals_cache_get(bounds, shard, &knobs->methods, (MlpChoice)mlp);
        if (!slot->allowed) continue;
        Sharding sharding = totals_sharding(slot);
        BoundRow *row = &out->row[out->count++];
        row->chunks = 1;
        rule_of_sums(context, shard, knobs, &slot->totals, &row->rule);
        Resources resources = saved_resources(&maker, slot, &sharding);
        begin_row(&resources, row);
        relax_row(&maker, (MlpChoice)mlp, row);
    }
    drop_unfit(out);
    out->seconds = rows_seconds(out, least);
}

double knob_bound(const Bounds *bounds, const Shard *shard, const Knobs *knobs, const Rates *least,
                  double *least_bytes) {
    BoundRows rows;
    knob_rows(bounds, shard, knobs, least, INFINITY, &rows);
    *least_bytes = rows.least_bytes;
    return rows.seconds;
}

bool offload_never_pays(const Bounds *bounds, const Shard *shard, const Knobs *knobs, double step_seconds_least) {
    const CostContext *context = bounds->context;
    double limit = cost_context_memory_limit(context) * SLACK, weights[MOMENT_COUNT];
    Knobs home = *knobs;
    home.offload_optimizer = false;
    microbatches_in_flight(context, shard, &home, weights);
    for (int mlp = MLP_TENSOR; mlp <= MLP_GATHERED; mlp++) {
        const TotalsSlot *slot = totals_cache_get(bounds, shard, &home.methods, (MlpChoice)mlp);
        if (!slot->allowed) continue;
        const DetailSlot *details = totals_cache_details(bounds, shard, &home.methods, (MlpChoice)mlp);
        StepRule here, there;
        rule_of_sums(context, shard, &home, &details->most, &here);
        rule_of_sums(context, shard, knobs, &details->most, &there);
        /* more than rounding can hide */
        if (!(there.optimizer_seconds - here.optimizer_seconds > LAYOUT_TOLERANCE * step_seconds_least)) return false;
        Sharding sharding = {.residual = details->replicated ? RESIDUAL_REPLICATED : RESIDUAL_SEQUENCE,
                             .mlp = (MlpChoice)mlp,
                             .logits = shard->tensor > 1 ? TABLE_D_MODEL : TABLE_VOCABULARY};
        double saved = shard->layers * saved_of_sums(&details->most);
        for (int moment = 0; moment < MOMENT_COUNT; moment++) {
            MemoryRows rows;
            rows_of_sums(&(ShardedStage){context, shard, &home, &sharding}, &details->most, (Moment)moment,
                         weights[moment] * saved, &rows);
            if (memory_total(&rows) > limit) return false;
        }
    }
    return true;
}
