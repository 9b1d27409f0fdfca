/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compares the op list with independent counts: parameters and FLOPs of the whole zoo, and bytes of every collective by
 * hand. */
#include "models/mixer.h"
#include "tests/cost/workbench.h"
#include "tests/models/zoo_fixture.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(ops, .init = zoo_setup, .fini = zoo_teardown);

enum { SEQ = 4096 };

/* One sequence and one microbatch; degrees that are not named are 1. The sharding is the first that the planner would
 * list. */
static Bench bench_plan(const Model *model, int64_t tensor, int64_t expert, int64_t sequence) {
    Bench bench = {.model = *model,
                   .chip = bench_chip(1, NO_LIMIT),
                   .knobs = {.microbatches = 1, .microbatch_sequences = 1, .virtual_stages = 1}};
    Work work = {.sequences = expert, .seq = SEQ};
    Degrees degrees = {{tensor, expert, sequence, 1, 1, 1}};
    cr_assert(shard_of_plan(model, &work, &degrees, &bench.knobs, PADDING_ANY, &bench.shard), "%s", model->name);
    CostContext setting = bench_setting(&bench);
    Sharding shardings[SHARDINGS_MAX];
    cr_assert_gt(shardings_of(&setting, &bench.shard, shardings), 0);
    bench.sharding = shardings[0];
    return bench;
}

typedef struct {
    double weights;
    double matmul[PHASE_COUNT], attention[PHASE_COUNT], scan[PHASE_COUNT]; /* matmul: with convolutions */
    Traffic traffic[GROUP_COUNT][PHASE_COUNT];
} Totals;

static void add_ops(const Op *ops, int count, double times, Totals *totals) {
    for (int i = 0; i < count; i++) {
        totals->weights += times * ops[i].weights;
        for (int phase = 0; phase < PHASE_COUNT; phase++) {
            *(ops[i].kind == OP_ATTENTION ? &totals->attention[phase]
              : ops[i].kind == OP_SCAN    ? &totals->scan[phase]
                                          : &totals->matmul[phase]) += times * ops[i].flops[phase];
            for (int group = 0; group < GROUP_COUNT; group++) {
                totals->traffic[group][phase].messages += times * ops[i].traffic[group][phase].messages;
                totals->traffic[group][phase].bytes += times * ops[i].traffic[group][phase].bytes;
            }
        }
    }
}

static Totals layer_totals(const Bench *bench, const LayerKind *kind) {
    Op ops[OPS_MAX];
    Totals totals = {0};
    add_ops(ops,
            ops_of_layer(&(ShardedLayer){&bench->model, kind, &bench->shard, &bench->sharding}, &bench->knobs.methods,
                         1, ops),
            1, &totals);
    return totals;
}

/* All layers, embedding and logits on one chip. */
static Totals model_totals(const Bench *bench) {
    Op ops[OPS_MAX];
    Totals totals = {0};
    for (int i = 0; i < bench->model.kind_count; i++) {
        const LayerKind *kind = &bench->model.kinds[i];
        add_ops(ops,
                ops_of_layer(&(ShardedLayer){&bench->model, kind, &bench->shard, &bench->sharding},
                             &bench->knobs.methods, 1, ops),
                (double)kind->count, &totals);
    }
    add_ops(ops, ops_of_embedding(&bench->model, &bench->shard, &bench->sharding, NULL, ops), 1, &totals);
    add_ops(ops, ops_of_logits(&bench->model, &bench->shard, &bench->sharding, NULL, ops), 1, &totals);
    return totals;
}

/* Every parameter belongs to one op (a tied table to two). */
Test(ops, weights_are_the_parameters) {
    for (int i = 0; i < zoo.count; i++) {
        const Model *model = &zoo.models[i];
        Bench bench = bench_plan(model, 1, 1, 1);
        double twice = model->tied ? (double)(model->vocab * model->d_model) : 0;
        double weights = model_totals(&bench).weights - twice;
        cr_expect_eq(weights, (double)model_parameters(model).total, "%s: %.17g, %.17g", model->name, weights,
                     (double)model_parameters(model).total);
    }
}

/* Matrices that a token goes through, two FLOPs each; biases and norms are not matmuls. */
static double matmul_weights(const Model *model) {
    double weights = (double)(model->vocab * model->d_model);
    for (int i = 0; i < model->kind_count; i++) {
        const LayerKind *kind = &model->kinds[i];
        Parameters layer = layer_parameters(model, kind);
        double active = kind->experts > 0 ? (double)layer.experts * (double)kind->top_k / (double)kind->experts : 0;
        double dense = (double)(layer.attention + layer.mlp + layer.shared_experts + layer.router + layer.indexer +
                                layer.cross_attention);
        for (int part = 0; part < PART_COUNT; part++) {
            bool counted = part == PART_ATTENTION || part == PART_MLP || part == PART_SHARED_EXPERTS ||
                           part == PART_ROUTER || part == PART_INDEXER || part == PART_CROSS_ATTENTION;
            dense += counted ? -(double)kind->extra.vector[part] : (double)kind->extra.matrix[part];
        }
        MixerPart parts[MIXER_PARTS_MAX];
        for (int p = 0, count = kind->mixer ? kind->mixer->parts(model, kind, parts) : 0; p < count; p++)
            dense += parts[p].kind == MIXER_MATMUL || parts[p].kind == MIXER_CONVOLUTION ? parts[p].flops / 2 : 0;
        weights += (double)kind->count * (dense + active);
    }
    for (int part = 0; part < PART_COUNT; part++) /* text does not pass what projects from a tower */
        if (part != PART_VISION && part != PART_AUDIO && part != PART_PROJECTOR)
            weights += (double)model->extra.matrix[part];
    return weights;
}

/* Forward FLOPs of a token in scans. */
static double scans(const Model *model) {
    double flops = 0;
    for (int i = 0; i < model->kind_count; i++)
        if (model->kinds[i].mixer) flops += (double)model->kinds[i].count * mixer_flops(model, &model->kinds[i]);
    return flops;
}

/* Gradients of what an indexer scores reach the keys alone that are attended to: they follow no convention. */
static bool has_indexer(const Model *model) {
    for (int i = 0; i < model->kind_count; i++)
        if (model->kinds[i].index_heads > 0) return true;
    return false;
}

Test(ops, flops_are_the_conventions) {
    for (int i = 0; i < zoo.count; i++) {
        const Model *model = &zoo.models[i];
        Bench bench = bench_plan(model, 1, 1, 1);
        Totals totals = model_totals(&bench);
        double matmul = 2 * SEQ * matmul_weights(model);
        double attention =
            SEQ * (model_flops_per_token(model, FLOPS_CAUSAL, SEQ) - model_flops_per_token(model, FLOPS_6N, SEQ)) / 3 -
            SEQ * scans(model);
        const struct {
            const char *name;
            double found, expected;
        } rows[] = {
            {"matmuls, forward", totals.matmul[PHASE_FORWARD], matmul},
            {"matmuls, backward: twice", totals.matmul[PHASE_BACKWARD], 2 * matmul},
            {"causal attention, forward", totals.attention[PHASE_FORWARD], attention},
            {"scans, forward", totals.scan[PHASE_FORWARD], SEQ * scans(model)},
            {"flash backward: 5 matmuls for 2", totals.attention[PHASE_BACKWARD],
             has_indexer(model) ? totals.attention[PHASE_BACKWARD] : 2.5 * attention},
        };
        for (size_t j = 0; j < COUNT_OF(rows); j++)
            cr_expect_float_eq(rows[j].found, rows[j].expected, 1e-11 * rows[j].expected, "%s, %s: %.17g, not %.17g",
                               model->name, rows[j].name, rows[j].found, rows[j].expected);
    }
}

/* Chips share the work without a remainder: their number times the FLOPs of one chip is the whole, where sizes divide.
 * An expert group takes one sequence for each of its chips. */
Test(ops, chips_divide_the_work) {
    static const struct {
        const char *model;
        int64_t tensor, expert, sequence;
    } rows[] = {
        {"llama3-70b", 2, 1, 1},       {"llama3-70b", 8, 1, 1},        {"llama3-70b", 1, 1, 16},
        {"llama3-70b", 8, 1, 4},       {"llama3.1-405b", 8, 1, 2},     {"gemma2-27b", 4, 1, 1},
        {"mixtral-8x7b", 1, 8, 1},     {"mixtral-8x7b", 4, 2, 1},      {"deepseek-v3", 8, 32, 1},
        {"deepseek-v2-lite", 4, 4, 2}, {"qwen1.5-moe-a2.7b", 4, 4, 1},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const Model *model = zoo_find(&zoo, rows[i].model);
        cr_assert(model, "%s", rows[i].model);
        Bench whole = bench_plan(model, 1, 1, 1),
              part = bench_plan(model, rows[i].tensor, rows[i].expert, rows[i].sequence);
        part.knobs.methods.context = rows[i].sequence > 1 ? CONTEXT_RING : CONTEXT_NONE;
        Totals all = model_totals(&whole), one = model_totals(&part);
        double chips = (double)(rows[i].tensor * rows[i].sequence); /* beside the sequences of its own */
        for (int phase = 0; phase < PHASE_COUNT; phase++) {
            double vocab = (double)(model->vocab % rows[i].tensor == 0 ? 0 : rows[i].tensor) /
                           (double)model->vocab; /* a padded table */
            cr_expect_float_eq(chips * one.matmul[phase], all.matmul[phase], (1e-11 + vocab) * all.matmul[phase],
                               "%s t=%d e=%d: %.17g of %.17g", rows[i].model, (int)rows[i].tensor, (int)rows[i].expert,
                               chips * one.matmul[phase], all.matmul[phase]);
            /* gemma2-27b mixes windows; spans are means over whole sequences, so context ways share them evenly
             * (zig-zag). */
            cr_expect_float_eq(chips * one.attention[phase], all.attention[phase], 1e-11 * all.attention[phase], "%s",
                               rows[i].model);
        }
    }
}

/* Matrices divide over tensor and experts over expert; norms (2 x 8192), routers (8 x 4096) and latent down
 * projections (7168 x (1536 + 512 + 64)) are on every chip; key-value heads beyond their number are copied: 16
 * copies of 128 for 8 of them. */
Test(ops, weights_of_one_chip) {
    const Model *llama = zoo_find(&zoo, "llama3-70b"), *mixtral = zoo_find(&zoo, "mixtral-8x7b"),
                *deepseek = zoo_find(&zoo, "deepseek-v3");
    cr_assert(llama && mixtral && deepseek);
    const double attention = 150994944, mlp = 704643072, norms = 16384; /* 70B: 2 D H (N + K), 3 D F */
    const double mixtral_attention = 4096. * 128 * 2 * (32 + 8), expert = 3 * 4096. * 14336;
    const double query = 1536. * 24576, up = 512. * 32768, out = 16384. * 7168, down = 7168. * 2112,
                 latent_norms = 1536 + 512, wide = 3 * 7168. * 18432;
    const struct {
        const char *name;
        const Model *model;
        int64_t tensor, expert;
        double expected;
    } rows[] = {
        {"70B whole", llama, 1, 1, attention + mlp + norms},
        {"70B, 8 ways", llama, 8, 1, (attention + mlp) / 8 + norms},
        {"70B, 16 ways: one copied KV head each", llama, 16, 1, (attention + mlp) / 16 + norms + 8192. * 128 * 2 * 0.5},
        {"mixtral, 2 x 4", mixtral, 2, 4, mixtral_attention / 2 + 8 * expert / 8 + 2 * 4096 + 8 * 4096},
        {"deepseek-v3, a dense layer, 8 ways", deepseek, 8, 1,
         (query + up + out + wide) / 8 + down + 2 * 7168 + latent_norms},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        Bench bench = bench_plan(rows[i].model, rows[i].tensor, rows[i].expert, 1);
        double weights = layer_totals(&bench, &bench.model.kinds[0]).weights;
        cr_expect_float_eq(weights, rows[i].expected, 0.5, "%s: %.9g, not %.9g", rows[i].name, weights,
                           rows[i].expected);
    }
}

/* ---- tensor ---- */

/* Bytes that one layer communicates over `tensor`, in streams of 2 T D. Along the sequence there are a gather into and
 * a scatter out of both blocks; with the residual stream whole there are two all_reduces of two passes each: the same
 * bytes. With weights gathered instead, the MLP's streams are gone. */
Test(ops, tensor_streams_of_a_layer) {
    const Model *llama = zoo_find(&zoo, "llama3-70b"), *deepseek = zoo_find(&zoo, "deepseek-v3");
    cr_assert(llama && deepseek);
    const double T = SEQ, D = 8192, stream = 2 * T * D;
    const struct {
        const char *name;
        Sharding sharding;
        int64_t tensor;
        Group group;
        double messages[PHASE_COUNT], bytes[PHASE_COUNT];
    } rows[] = {
        {"along the sequence", {.residual = RESIDUAL_SEQUENCE}, 8, GROUP_TENSOR, {4, 4}, {4 * stream, 4 * stream}},
        {"all_reduce", {.residual = RESIDUAL_REPLICATED}, 8, GROUP_TENSOR, {4, 4}, {4 * stream, 4 * stream}},
        {"alone", {.residual = RESIDUAL_REPLICATED}, 1, GROUP_TENSOR, {0, 0}, {0, 0}},
        {"MLP weights gathered: streams",
         {.residual = RESIDUAL_SEQUENCE, .mlp = MLP_GATHERED},
         8,
         GROUP_TENSOR,
         {2, 2},
         {2 * stream, 2 * stream}},
        {"MLP weights gathered: weights, 6DF and twice",
         {.residual = RESIDUAL_SEQUENCE, .mlp = MLP_GATHERED},
         8,
         GROUP_TENSOR_WEIGHTS,
         {2, 4},
         {6 * D * 28672, 12 * D * 28672}},
        {"KV gathered, 16 ways: 2 T x 2 K H more",
         {.residual = RESIDUAL_SEQUENCE, .kv = KV_GATHERED},
         16,
         GROUP_TENSOR,
         {5, 5},
         {4 * stream + 2 * T * 2048, 4 * stream + 2 * T * 2048}},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        Bench bench = bench_plan(llama, rows[i].tensor, 1, 1);
        bench.sharding = rows[i].sharding;
        Totals totals = layer_totals(&bench, &bench.model.kinds[0]);
        for (int phase = 0; phase < PHASE_COUNT; phase++) {
            Traffic traffic = totals.traffic[rows[i].group][phase];
            cr_expect_float_eq(traffic.messages, rows[i].messages[phase], 1e-9, "%s: %g messages", rows[i].name,
                               traffic.messages);
            cr_expect_float_eq(traffic.bytes, rows[i].bytes[phase], 1e-3, "%s: %.9g bytes, not %.9g", rows[i].name,
                               traffic.bytes, rows[i].bytes[phase]);
        }
    }
    /* Latent attention gathers its latents, 1536 + 512 + 64 wide, and scatters a stream; a dense layer's MLP has its
     * two streams. */
    Bench bench = bench_plan(deepseek, 8, 1, 1);
    Traffic latent = layer_totals(&bench, &bench.model.kinds[0]).traffic[GROUP_TENSOR][PHASE_FORWARD];
    cr_expect_float_eq(latent.bytes, 2 * T * (2112 + 3 * 7168), 1e-3, "latent attention: %.9g", latent.bytes);
}

/* Tables: [V, D] of 32000 x 4096 on 4 ways, 1000 tokens, streams of 2 T D = 8,192,000 bytes. With split rows, partial
 * streams are scattered after the look-up and gathered before the logits, or all_reduced. With split columns, the
 * look-up exchanges columns for tokens (or gathers them), and the logits scatter partial sums over the whole
 * vocabulary, 2 T V = 64e6 bytes. The softmax adds two passes of 8 bytes a token. */
Test(ops, table_streams) {
    const double stream = 8192000, whole = 64e6, softmax = 2 * 8000;
    const struct {
        const char *name;
        Sharding sharding;
        double embedding[PHASE_COUNT], logits[PHASE_COUNT];
    } rows[] = {
        {"rows, along the sequence", {.residual = RESIDUAL_SEQUENCE}, {stream, stream}, {stream + softmax, stream}},
        {"rows, stream whole", {.residual = RESIDUAL_REPLICATED}, {2 * stream, 0}, {softmax, 2 * stream}},
        {"columns, along the sequence",
         {.residual = RESIDUAL_SEQUENCE, .embedding = TABLE_D_MODEL, .logits = TABLE_D_MODEL},
         {stream / 4, stream / 4},
         {whole + stream / 4 + softmax, whole + stream / 4}},
        {"columns, stream whole",
         {.residual = RESIDUAL_REPLICATED, .embedding = TABLE_D_MODEL, .logits = TABLE_D_MODEL},
         {stream, 0},
         {whole + stream / 4 + softmax, whole + stream / 4}},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        Bench bench = bench_of(dense_model(1, 4096, 14336, 32, 8, 128, 32000), 1, 1000);
        bench_split(&bench, 250, 1, 4);
        bench.shard.vocab = 8000;
        Op ops[OPS_MAX];
        Totals embedding = {0}, logits = {0};
        add_ops(ops, ops_of_embedding(&bench.model, &bench.shard, &rows[i].sharding, NULL, ops), 1, &embedding);
        add_ops(ops, ops_of_logits(&bench.model, &bench.shard, &rows[i].sharding, NULL, ops), 1, &logits);
        for (int phase = 0; phase < PHASE_COUNT; phase++) {
            double e = embedding.traffic[GROUP_TENSOR][phase].bytes, l = logits.traffic[GROUP_TENSOR][phase].bytes;
            cr_expect_float_eq(e, rows[i].embedding[phase], 1e-3, "%s: embedding %.9g", rows[i].name, e);
            cr_expect_float_eq(l, rows[i].logits[phase], 1e-3, "%s: logits %.9g", rows[i].name, l);
        }
    }
}

/* HBM traffic of each op of a layer, bf16: a matmul reads two matrices and writes one, twice that back; a norm with
 * its residual sum moves 5 streams and 7 back; flash attention reads q, k, v and writes its context, twice that
 * back. 1000 tokens, D = 4096, F = 14336, N = 32, K = 8. */
Test(ops, hbm_bytes) {
    const double T = 1000, D = 4096, F = 14336, q = 4096, kv = 1024;
    const struct {
        const char *name;
        double bytes[PHASE_COUNT];
    } rows[] = {
        {"attention norm", {2 * 5 * T * D, 2 * 7 * T * D}},
        {"qkv projection",
         {2 * (T * D + D * (q + 2 * kv) + T * (q + 2 * kv)), 4 * (T * D + D * (q + 2 * kv) + T * (q + 2 * kv))}},
        {"rotary", {2 * 2 * T * (q + 2 * kv), 2 * 3 * T * (q + 2 * kv)}},
        {"attention", {2 * T * (2 * q + 2 * kv), 2 * T * (4 * q + 4 * kv)}},
        {"attention output", {2 * (T * q + q * D + T * D), 4 * (T * q + q * D + T * D)}},
        {"mlp norm", {2 * 5 * T * D, 2 * 7 * T * D}},
        {"mlp gate and up", {2 * (T * D + 2 * D * F + 2 * T * F), 4 * (T * D + 2 * D * F + 2 * T * F)}},
        {"mlp activation", {2 * 3 * T * F, 2 * 5 * T * F}},
        {"mlp down", {2 * (T * F + F * D + T * D), 4 * (T * F + F * D + T * D)}},
    };
    Bench bench = bench_of(dense_model(1, 4096, 14336, 32, 8, 128, 1), 1, T);
    Op ops[OPS_MAX];
    int count = ops_of_layer(&(ShardedLayer){&bench.model, &bench.model.kinds[0], &bench.shard, &bench.sharding},
                             &bench.knobs.methods, 1, ops);
    cr_assert_eq(count, (int)COUNT_OF(rows));
    for (int i = 0; i < count; i++) {
        cr_expect_str_eq(ops[i].name, rows[i].name);
        for (int phase = 0; phase < PHASE_COUNT; phase++)
            cr_expect_eq(ops[i].hbm_bytes[phase], rows[i].bytes[phase], "%s: %.9g", rows[i].name,
                         ops[i].hbm_bytes[phase]);
    }
}

/* ---- experts ---- */

/* Each chip sends its tokens to k experts: 2 k D T_own bytes a chip, Z chips of the group together; dispatch and
 * combine, forward and backward. On a ring of 8 that takes V / (8 W1) each time. */
Test(ops, expert_all_to_all) {
    const Model *mixtral = zoo_find(&zoo, "mixtral-8x7b"), *deepseek = zoo_find(&zoo, "deepseek-v3");
    cr_assert(mixtral && deepseek);
    const struct {
        const char *name;
        const Model *model;
        int kind;
        int64_t tensor, expert;
        double bytes; /* both, one phase */
    } rows[] = {
        {"mixtral, 8 ways, top 2", mixtral, 0, 1, 8, 2 * (2. * 2 * 4096 * 4096 * 8)},
        {"tensor splits the tokens first", mixtral, 0, 4, 8, 2 * (2. * 2 * 4096 * 1024 * 8)},
        {"one way: nothing leaves", mixtral, 0, 4, 1, 0},
        {"deepseek-v3, 64 ways, top 8", deepseek, 1, 1, 64, 2 * (2. * 8 * 7168 * 4096 * 64)},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        Bench bench = bench_plan(rows[i].model, rows[i].tensor, rows[i].expert, 1);
        Totals totals = layer_totals(&bench, &bench.model.kinds[rows[i].kind]);
        for (int phase = 0; phase < PHASE_COUNT; phase++) {
            Traffic traffic = totals.traffic[GROUP_EXPERT][phase];
            cr_expect_float_eq(traffic.bytes, rows[i].bytes, 1e-3, "%s: %.9g", rows[i].name, traffic.bytes);
            cr_expect_float_eq(traffic.messages, rows[i].bytes > 0 ? 2 : 0, 1e-9, "%s", rows[i].name);
        }
    }
    GroupAxis ring = ring_axis(8, 9e10);
    cr_expect_float_eq(
        collective_seconds(group_collective_cost(COLLECTIVE_ALL_TO_ALL, &ring, 1), 1, 2. * 2 * 4096 * 4096 * 8),
        2. * 2 * 4096 * 4096 / 9e10, 1e-15);
}

static double expert_excess(double ways, void *context) {
    Bench *bench = context;
    bench->shard.expert = ways;
    bench->shard.experts = (double)bench->model.kinds[0].experts / ways;
    return layer_group_seconds(bench, GROUP_EXPERT, PHASE_FORWARD) / layer_compute_seconds(bench, PHASE_FORWARD) - 1;
}

/* The book's expert parallelism ("How to Scale Your Model", part 5, in exact form): two all_to_alls of 2kDBZ bytes at a
 * quarter of a gather's time against 6kDFB FLOPs give Z = 6F / alpha, whatever B and k are; the router adds 2DEB, which
 * the book leaves out. */
Test(ops, most_expert_ways_that_hide) {
    static const struct {
        int64_t top_k;
        double tokens;
    } rows[] = {{1, 100}, {8, 100}, {8, 5000}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        Model model = book_model(8192, 0);
        model.kinds[0] =
            (LayerKind){.count = 1, .gated = true, .experts = 64, .top_k = rows[i].top_k, .d_ff_expert = 20400};
        Bench bench = bench_of(model, 4.59e14, rows[i].tokens);
        bench_rate(&bench, GROUP_EXPERT, closed_axes(COLLECTIVE_ALL_TO_ALL, 1, 1.8e11), 0);
        double router = 2 * 64. / (double)rows[i].top_k / 2550;
        cr_expect_float_eq(break_even(expert_excess, &bench, 1.01, 1e4), 48 + router, 1e-7, "top %d",
                           (int)rows[i].top_k);
    }
}

/* ---- context: 2 sequences of 8192, K = 8, H = 128: 2 x 2 x 8192 x 2048 = 67,108,864 bytes of keys and values ---- */
Test(ops, context_traffic) {
    const double whole = 67108864;
    const struct {
        const char *name;
        ContextMethod method;
        double messages[PHASE_COUNT], bytes[PHASE_COUNT];
    } rows[] = {
        {"ring: 7 blocks pass; again and with gradients", CONTEXT_RING, {7, 14}, {whole * 7 / 8, whole * 14 / 8}},
        {"gather; again, and scatter gradients", CONTEXT_ALL_GATHER, {1, 2}, {whole, 2 * whole}},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        Bench bench = bench_of(llama3_70b(), 1, 2 * 8192 / 8);
        bench.shard.sequences = 2, bench.shard.seq = 8192, bench.shard.sequence = 8;
        bench.knobs.methods.context = rows[i].method;
        Totals totals = layer_totals(&bench, &bench.model.kinds[0]);
        for (int phase = 0; phase < PHASE_COUNT; phase++) {
            cr_expect_float_eq(totals.traffic[GROUP_SEQUENCE][phase].messages, rows[i].messages[phase], 1e-9, "%s",
                               rows[i].name);
            cr_expect_float_eq(totals.traffic[GROUP_SEQUENCE][phase].bytes, rows[i].bytes[phase], 1e-3, "%s",
                               rows[i].name);
        }
    }
}
