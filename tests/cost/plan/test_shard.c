/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compares the contents of one chip with counting: layers dealt to stages, heads dealt to chips, and sizes that do not
 * divide. */
#include "tests/cost/workbench.h"

#include <criterion/criterion.h>

typedef struct {
    int64_t tensor, expert, sequence, fsdp, data, pipeline, microbatches, microbatch_sequences, virtual_stages;
} Ways;

/* Stages have the same number of layers each where they divide, else balanced numbers. */
static bool shard_of(const Model *model, Work work, Ways w, PaddingRule rule, Shard *shard, PaddingSet *padding) {
    Degrees degrees = {{w.tensor, w.expert, w.sequence, w.fsdp, w.data, w.pipeline}};
    Knobs knobs = {.microbatches = w.microbatches,
                   .microbatch_sequences = w.microbatch_sequences,
                   .virtual_stages = w.virtual_stages,
                   .stages = model->layers % (w.pipeline * w.virtual_stages) == 0 ? STAGES_EVEN : STAGES_BALANCED};
    bool ok = shard_of_plan(model, &work, &degrees, &knobs, rule, shard);
    *padding = shard->padding;
    return ok;
}

static Model llama_405b(void) { return dense_model(126, 16384, 53248, 128, 8, 128, 128256); }

static Model mixture(void) {
    Model model = dense_model(8, 4096, 0, 32, 8, 128, 32000);
    model.kinds[0].experts = 8, model.kinds[0].top_k = 2, model.kinds[0].d_ff_expert = 14336;
    return model;
}

#define BIT(kind) (1u << (kind))

Test(shard, sizes) {
    Model m405 = llama_405b(), m70 = llama3_70b(), moe = mixture();
    const struct {
        const char *name;
        const Model *model;
        Work work;
        Ways ways;
        double sizes[8]; /* heads, kv_heads, d_ff, vocab, seq, tokens, layers, layers_last */
        PaddingSet padding;
    } rows[] = {
        {"alone",
         &m70,
         {.sequences = 1024, .seq = 4096},
         {1, 1, 1, 1, 1, 1, 1024, 1, 1},
         {64, 8, 28672, 128256, 4096, 4096, 80, 80},
         0},
        {"8 ways",
         &m70,
         {.sequences = 1024, .seq = 4096},
         {8, 1, 1, 128, 1, 1, 4, 2, 1},
         {8, 1, 3584, 16032, 4096, 8192, 80, 80},
         0},
        {"KV heads are copied",
         &m70,
         {.sequences = 1024, .seq = 4096},
         {16, 1, 1, 64, 1, 1, 16, 1, 1},
         {4, 1, 1792, 8016, 4096, 4096, 80, 80},
         0},
        {"10 ways: 13 heads touch 2 KV heads",
         &m405,
         {.sequences = 64, .seq = 8192},
         {10, 1, 1, 1, 1, 1, 64, 1, 1},
         {13, 2, 5325, 12826, 8192, 8192, 126, 126},
         BIT(PAD_HEADS) | BIT(PAD_WIDTH) | BIT(PAD_VOCAB)},
        {"3 context ways, zig-zag: 6 pieces of 1366",
         &m405,
         {.sequences = 64, .seq = 8193},
         {1, 1, 3, 1, 1, 1, 64, 1, 1},
         {128, 8, 53248, 128256, 8196, 2732, 126, 126},
         BIT(PAD_TOKENS)},
        {"16 stages",
         &m405,
         {.sequences = 64, .seq = 8192},
         {1, 1, 1, 1, 1, 16, 64, 1, 1},
         {128, 8, 53248, 128256, 8192, 8192, 8, 7},
         BIT(PAD_STAGES)},
        {"6 stages of 7 chunks of 3",
         &m405,
         {.sequences = 64, .seq = 8192},
         {1, 1, 1, 1, 1, 6, 64, 1, 7},
         {128, 8, 53248, 128256, 8192, 8192, 21, 21},
         0},
        {"experts on 4 ways, tensor 2",
         &moe,
         {.sequences = 64, .seq = 4096},
         {2, 4, 1, 1, 1, 1, 16, 1, 1},
         {16, 4, 0, 16000, 4096, 4096, 8, 8},
         0},
        {"3 replicas of 64 sequences",
         &m70,
         {.sequences = 64, .seq = 4096},
         {1, 1, 1, 1, 3, 1, 22, 1, 1},
         {64, 8, 28672, 128256, 4096, 4096, 80, 80},
         BIT(PAD_REPLICAS)},
        {"microbatches of 3 for 8",
         &m70,
         {.sequences = 64, .seq = 4096},
         {1, 1, 1, 8, 1, 1, 3, 3, 1},
         {64, 8, 28672, 128256, 4096, 12288, 80, 80},
         BIT(PAD_REPLICAS)},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        Shard s = {0};
        PaddingSet padding;
        cr_expect(shard_of(rows[i].model, rows[i].work, rows[i].ways, PADDING_ANY, &s, &padding), "%s", rows[i].name);
        const double found[] = {s.heads, shard_kv_heads(&rows[i].model->kinds[0], &s), s.d_ff, s.vocab, s.seq, s.tokens,
                                s.layers, s.layers_last};
        for (size_t j = 0; j < COUNT_OF(found); j++)
            cr_expect_eq(found[j], rows[i].sizes[j], "%s: figure %zu is %g, not %g", rows[i].name, j, found[j],
                         rows[i].sizes[j]);
        cr_expect_eq(padding, rows[i].padding, "%s: padding %x, not %x", rows[i].name, padding, rows[i].padding);

        /* Nothing may be padded; or only the sizes that a launcher pads by itself: uneven stages, a longer table. */
        PaddingSet refused = 0, launchable = BIT(PAD_STAGES) | BIT(PAD_VOCAB);
        cr_expect_eq(shard_of(rows[i].model, rows[i].work, rows[i].ways, PADDING_NONE, &s, &refused), padding == 0,
                     "%s", rows[i].name);
        cr_expect_eq(refused, rows[i].padding, "%s", rows[i].name);
        cr_expect_eq(shard_of(rows[i].model, rows[i].work, rows[i].ways, PADDING_LAUNCHABLE, &s, &refused),
                     (padding & ~launchable) == 0, "%s", rows[i].name);
    }
}

Test(shard, what_cannot_be) {
    Model m70 = llama3_70b(), moe = mixture();
    const struct {
        const char *name;
        const Model *model;
        Ways ways;
    } rows[] = {
        {"more stages than layers", &m70, {1, 1, 1, 1, 1, 81, 64, 1, 1}},
        {"more chunks than layers", &m70, {1, 1, 1, 1, 1, 16, 64, 1, 6}},
        {"more tensor ways than heads", &m70, {65, 1, 1, 1, 1, 1, 64, 1, 1}},
        {"more expert ways than experts", &moe, {1, 9, 1, 1, 1, 1, 64, 1, 1}},
        {"less than two tokens a context way", &m70, {1, 1, 2049, 1, 1, 1, 64, 1, 1}},
        {"the same beside heads that do not divide", &m70, {10, 1, 1, 1, 1, 81, 64, 1, 1}},
        {"and beside a table that does not", &m70, {5, 1, 1, 1, 1, 16, 64, 1, 6}},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        Shard shard;
        PaddingSet padding = 1;
        cr_expect_not(
            shard_of(rows[i].model, (Work){.sequences = 64, .seq = 4096}, rows[i].ways, PADDING_ANY, &shard, &padding),
            "%s", rows[i].name);
        cr_expect_eq(padding, 0, "%s", rows[i].name);
    }
}

/* EVEN gives every chunk the same number of layers, dealt out in turns (chunk c of the model lies on stage c mod p); it
 * is refused where some chunk would get one more. */
Test(shard, even_layers_as_dealt) {
    for (int64_t layers = 1; layers <= 40; layers++)
        for (int64_t stages = 1; stages <= layers + 1; stages++)
            for (int64_t chunks = 1; stages * chunks <= layers + 1; chunks++) {
                int64_t held[41] = {0}, in_chunk[41] = {0}, most = 0, least = layers;
                for (int64_t layer = 0; layer < layers; layer++)
                    held[layer % (stages * chunks) % stages]++, in_chunk[layer % (stages * chunks)]++;
                for (int64_t chunk = 0; chunk < stages * chunks; chunk++)
                    most = max_whole(most, in_chunk[chunk]), least = min_whole(least, in_chunk[chunk]);
                Model model = dense_model(layers, 64, 256, 4, 4, 16, 64);
                Work work = {.sequences = 8, .seq = 64};
                Degrees degrees = {{1, 1, 1, 1, 1, stages}};
                Knobs knobs = {.microbatches = 8, .microbatch_sequences = 1, .virtual_stages = chunks};
                Shard shard = {0};
                bool taken = shard_of_plan(&model, &work, &degrees, &knobs, PADDING_ANY, &shard);
                cr_expect_eq(taken, most == least, "%d layers on %d x %d", (int)layers, (int)stages, (int)chunks);
                if (!taken) continue;
                cr_expect_eq(shard.layers, (double)held[0], "%d layers on %d x %d", (int)layers, (int)stages,
                             (int)chunks);
                cr_expect_eq(shard.layers_last, (double)held[stages - 1], "%d layers on %d x %d", (int)layers,
                             (int)stages, (int)chunks);
                cr_expect_eq(shard.padding, 0, "%d layers on %d x %d", (int)layers, (int)stages, (int)chunks);
            }
}

/* Query heads are dealt out in order; the test takes the KV heads of the chip that touches most. On many chips the
 * worst place occurs; on few it may not. */
Test(shard, kv_heads_as_dealt) {
    for (int64_t kv = 1; kv <= 10; kv++)
        for (int64_t group = 1; group <= 8; group++)
            for (int64_t tensor = 1; tensor <= kv * group; tensor++) {
                int64_t heads = kv * group, own = divide_up(heads, tensor), most = 0;
                bool every_place = true;
                for (int64_t place = 0; place < group;
                     place++) { /* does a whole share of a chip begin here in a group? */
                    bool reached = false, possible = false;
                    for (int64_t chip = 0; chip < 4 * group; chip++) possible = possible || chip * own % group == place;
                    for (int64_t chip = 0; (chip + 1) * own <= heads; chip++)
                        reached = reached || chip * own % group == place;
                    every_place = every_place && (reached || !possible);
                }
                for (int64_t first = 0; first < heads; first += own)
                    most = max_whole(most, (min_whole(first + own, heads) - 1) / group - first / group + 1);
                Model model = dense_model(1, 64, 256, heads, kv, 16, 64);
                Shard shard = {0};
                PaddingSet padding;
                cr_expect(shard_of(&model, (Work){.sequences = 8, .seq = 64}, (Ways){tensor, 1, 1, 1, 1, 1, 8, 1, 1},
                                   PADDING_ANY, &shard, &padding));
                cr_expect_geq(shard_kv_heads(&model.kinds[0], &shard), (double)most, "%d heads, %d KV heads, %d ways",
                              (int)heads, (int)kv, (int)tensor);
                if (every_place)
                    cr_expect_eq(shard_kv_heads(&model.kinds[0], &shard), (double)most,
                                 "%d heads, %d KV heads, %d ways: %g", (int)heads, (int)kv, (int)tensor,
                                 shard_kv_heads(&model.kinds[0], &shard));
            }
}

/* Layers with embedding and logits, over the stages, where that is whole; two stages have one table each anyway. */
Test(shard, slots_of_a_stage) {
    static const struct {
        int64_t layers, stages, slots;
    } ROWS[] = {{10, 1, 0},  {10, 2, 0},   {10, 3, 4},   {10, 4, 3},   {10, 5, 0},  {10, 6, 2}, {10, 12, 1},
                {10, 13, 0}, {126, 16, 8}, {126, 8, 16}, {126, 64, 2}, {126, 7, 0}, {1, 3, 1},  {11, 3, 0}};
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        Model model = dense_model(ROWS[i].layers, 64, 256, 4, 4, 16, 64);
        cr_expect_eq(slots_of_stage(&model, ROWS[i].stages), ROWS[i].slots, "%d layers, %d stages: %d",
                     (int)ROWS[i].layers, (int)ROWS[i].stages, (int)slots_of_stage(&model, ROWS[i].stages));
    }
}
