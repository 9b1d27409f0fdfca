/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The ops of layers with mixers against counts by hand, and what tensor gives to each chip against dealing heads out
 * one by one. Mamba 2 is Nemotron-3-Nano's layer, the gated delta net Qwen3-Next's. */
#include "models/mixer.h"
#include "tests/cost/workbench.h"

#include <criterion/criterion.h>

enum { SEQ = 4096 };

/* One layer with nothing but the mixer and its norm. */
static Model mixer_model(const char *name, int64_t d_model, const int64_t *sizes, int count) {
    Model model = {.d_model = d_model, .vocab = 1024, .max_seq = SEQ, .layers = 1, .kind_count = 1};
    model.kinds[0] = (LayerKind){.count = 1, .norms = 1, .mixer = mixer_named(name)};
    for (int i = 0; i < count; i++) model.kinds[0].sizes[i] = sizes[i];
    return model;
}

static Model nemotron(void) {
    return mixer_model("mamba2", 2688, (const int64_t[]){64, 64, 8, 128, 4, 128, 0, 1, 1}, 9);
}
static Model qwen(void) { return mixer_model("gated_delta_net", 2048, (const int64_t[]){16, 32, 128, 128, 4, 64}, 6); }

typedef struct {
    Bench bench;
    Op ops[OPS_MAX];
    int count;
} Layer;

static void layer_of(const Model *model, int64_t tensor, int64_t sequence, ContextMethod context, Layer *out) {
    *out = (Layer){.bench = {.model = *model,
                             .chip = bench_chip(1, NO_LIMIT),
                             .sharding = {.residual = tensor > 1 ? RESIDUAL_SEQUENCE : RESIDUAL_REPLICATED},
                             .knobs = {.microbatches = 1, .microbatch_sequences = 1, .virtual_stages = 1}}};
    Work work = {.sequences = 1, .seq = SEQ};
    Degrees degrees = {{tensor, 1, sequence, 1, 1, 1}};
    out->bench.knobs.methods.context = context;
    out->bench.knobs.methods.ulysses = context == CONTEXT_ULYSSES ? sequence : 1;
    cr_assert(shard_of_plan(model, &work, &degrees, &out->bench.knobs, PADDING_ANY, &out->bench.shard));
    out->count = ops_of_layer(&(ShardedLayer){model, &model->kinds[0], &out->bench.shard, &out->bench.sharding},
                              &out->bench.knobs.methods, 1, out->ops);
}

static const Op *op_named(const Layer *layer, const char *name) {
    for (int i = 0; i < layer->count; i++)
        if (strcmp(layer->ops[i].name, name) == 0) return &layer->ops[i];
    cr_assert_fail("no op %s", name);
    return NULL;
}

/* Mamba 2, a token: in projection to z 4096, x 4096, B and C 2 x 8 x 128, dt 64. Scan in chunks of 128: C B' 2 128 128
 * of 8 groups, with x 2 128 4096, states in and out 2 x 2 128 4096. Delta net: q, k 2 x 2048, v, z 2 x 4096, b, a 64;
 * of each of 32 heads 6 128 128 + 64 (6 128 + 4 128) + 2/3 64 64. */
Test(mixer_ops, flops_by_hand) {
    static const struct {
        const char *op;
        int mixer;
        double forward, backward;
    } ROWS[] = {
        {"mamba in projection", 0, 2. * 2688 * 10304, 2},
        {"mamba scan", 0, 2. * 128 * 128 * 8 + 2. * 128 * 4096 + 4. * 128 * 4096, 2.5},
        {"mamba out projection", 0, 2. * 4096 * 2688, 2},
        {"delta net in projection", 1, 2. * 2048 * 12352, 2},
        {"delta net scan", 1, 32 * (6. * 128 * 128 + 64. * (6 * 128 + 4 * 128) + 2. / 3 * 64 * 64), 2.75},
        {"delta net out projection", 1, 2. * 4096 * 2048, 2},
    };
    const Model models[] = {nemotron(), qwen()};
    for (size_t i = 0; i < COUNT_OF(ROWS); i++)
        for (int64_t tensor = 1; tensor <= 8; tensor *= 2) {
            Layer layer;
            layer_of(&models[ROWS[i].mixer], tensor, 1, CONTEXT_NONE, &layer);
            const Op *op = op_named(&layer, ROWS[i].op);
            double forward = SEQ * ROWS[i].forward / (double)tensor;
            cr_expect_float_eq(op->flops[PHASE_FORWARD], forward, 1e-9 * forward, "%s: %.9g", ROWS[i].op,
                               op->flops[PHASE_FORWARD]);
            cr_expect_float_eq(op->flops[PHASE_BACKWARD], ROWS[i].backward * forward, 1e-9 * forward, "%s", ROWS[i].op);
        }
}

/* Of a token, in bytes. Mamba's scan: x twice, B and C twice, dt three times, and its output, of 16 bits; of float32,
 * written and read, 1.5 states of 64 x 64 x 128 in 128 tokens, and 8 x 128 scores. */
Test(mixer_ops, bytes_and_what_stays) {
    const Model model = nemotron();
    Layer layer;
    layer_of(&model, 1, 1, CONTEXT_NONE, &layer);
    const Op *scan = op_named(&layer, "mamba scan");
    double bytes = 2 * (2 * 4096 + 2 * 2048 + 3 * 64 + 4096) + 8 * (1.5 * 4096 + 8 * 128), kept[ACTIVATION_COUNT] = {0};
    cr_expect_float_eq(scan->hbm_bytes[PHASE_FORWARD], SEQ * bytes, 1, "%g", scan->hbm_bytes[PHASE_FORWARD] / SEQ);
    for (int i = 0; i < layer.count; i++)
        if (layer.ops[i].output_activation >= 0) kept[layer.ops[i].output_activation] += layer.ops[i].saved_bytes / SEQ;
    cr_expect_eq(kept[ACTIVATION_ATTENTION_INPUT], 2 * 2688);
    cr_expect_eq(kept[ACTIVATION_QKV], 2 * 10304, "what goes into the convolution");
    cr_expect_eq(kept[ACTIVATION_CONTEXT], 2 * (4096 + 4096), "the scan's output, and that of the norm with the gate");
    cr_expect_eq(kept[ACTIVATION_MIDDLE], 0, "the next layer's input is kept as such");

    /* the delta net: values of 4096 behind the convolution, and queries and keys of norm 1, 128 for each of 32 heads */
    const Model delta = qwen();
    double stays = 0;
    layer_of(&delta, 1, 1, CONTEXT_NONE, &layer);
    for (int i = 0; i < layer.count; i++)
        if (layer.ops[i].output_activation == ACTIVATION_QKV || layer.ops[i].output_activation == ACTIVATION_CONTEXT)
            stays += layer.ops[i].saved_bytes / SEQ;
    cr_expect_float_eq(stays, 2. * (12352 + 4096 + 2 * 4096 + 32 * 64 + 4096 + 4096), 1e-6, "%g", stays);
}

/* Heads are dealt out in order, and a chip has every group that one of its heads belongs to. The columns of the in
 * projection are z, x, dt by heads and B, C by groups. */
Test(mixer_ops, heads_and_groups_as_dealt) {
    for (int64_t groups = 1; groups <= 16; groups *= 2)
        for (int64_t tensor = 1; tensor <= 64; tensor *= 2) {
            const int64_t heads = 64, sizes[] = {heads, 64, groups, 128, 4, 128, 0, 1, 1}, own = heads / tensor;
            Model model = mixer_model("mamba2", 2688, sizes, 9);
            Layer layer;
            layer_of(&model, tensor, 1, CONTEXT_NONE, &layer);
            bool has[16] = {false};
            int64_t touched = 0;
            for (int64_t head = 0; head < own; head++) has[head * groups / heads] = true;
            for (int64_t group = 0; group < groups; group++) touched += has[group];
            double columns = (double)(own * (64 + 64 + 1) + 2 * touched * 128);
            cr_expect_float_eq(op_named(&layer, "mamba in projection")->n, columns, 1e-6, "%d groups, %d ways: %g",
                               (int)groups, (int)tensor, op_named(&layer, "mamba in projection")->n);
            double square = 2. * 128 * 128 * (double)touched, rest = (double)own * 64 * (2 * 128 + 4 * 128);
            cr_expect_float_eq(op_named(&layer, "mamba scan")->flops[PHASE_FORWARD], SEQ * (square + rest), 1, "%d, %d",
                               (int)groups, (int)tensor);
        }
}

/* A state of 64 x 64 x 128 in float32 and 3 tokens of 6144 channels in 16 bits, for each sequence: gathered from 4
 * chips, or passed on 3 times. With heads exchanged 1024 tokens of 4 chips: x, B, C, dt in, x out. Over tensor a gather
 * in and a scatter out, and back. */
Test(mixer_ops, traffic_by_hand) {
    const Model model = nemotron();
    const double state = 4. * 64 * 64 * 128 + 2. * 3 * 6144, stream = 2. * SEQ * 2688;
    static const struct {
        ContextMethod context;
        Group group;
        double messages;
    } ROWS[] = {{CONTEXT_ALL_GATHER, GROUP_SEQUENCE, 1},
                {CONTEXT_RING, GROUP_SEQUENCE, 3},
                {CONTEXT_ULYSSES, GROUP_ULYSSES, 2}};
    const double bytes[] = {4 * state, 3 * state, 2. * SEQ * (6144 + 64 + 4096)};
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        Layer layer;
        layer_of(&model, 1, 4, ROWS[i].context, &layer);
        for (int phase = 0; phase < PHASE_COUNT; phase++) {
            const Traffic *sent = &op_named(&layer, "mamba scan")->traffic[ROWS[i].group][phase];
            cr_expect_eq(sent->messages, ROWS[i].messages, "%d: %g messages", (int)i, sent->messages);
            cr_expect_float_eq(sent->bytes, bytes[i], 1e-6 * bytes[i], "%d: %.9g bytes", (int)i, sent->bytes);
        }
    }
    Layer layer;
    layer_of(&model, 8, 1, CONTEXT_NONE, &layer);
    for (int phase = 0; phase < PHASE_COUNT; phase++) {
        double sent = 0;
        for (int i = 0; i < layer.count; i++) sent += layer.ops[i].traffic[GROUP_TENSOR][phase].bytes;
        cr_expect_float_eq(sent, 2 * stream, 1e-3, "%g", sent);
    }
}
