/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a sequence holds of layers that are not plain attention, counted by hand. */
#include "cost/serving/cache.h"
#include "tests/models/zoo_fixture.h"

#include <criterion/criterion.h>

TestSuite(cache, .init = zoo_setup, .fini = zoo_teardown);

static double all_states(const Model *model, int64_t tensor) {
    double bytes = 0;
    for (int i = 0; i < model->kind_count; i++)
        bytes += (double)model->kinds[i].count * state_bytes_per_layer(model, &model->kinds[i], tensor);
    return bytes;
}

/* Nemotron-3-Nano: 23 layers with a state of 64 heads x 64 x 128 in float32, and 3 tokens of 4096 + 2 x 8 x 128
 * channels in 16 bits; on 16 chips 4 heads each, and of the channels 256 and one whole group of the 8. Its cache grows
 * in 6 layers, by 2 heads of keys and values. */
Test(cache, states_of_a_hybrid) {
    const Model *nano = zoo_find(&zoo, "nemotron-3-nano-30b-a3b");
    cr_assert(nano);
    cr_expect_float_eq(all_states(nano, 1), 23. * (4 * 64 * 64 * 128 + 2 * 3 * 6144), 1e-3);
    cr_expect_float_eq(all_states(nano, 8), 23. / 8 * (4 * 64 * 64 * 128 + 2 * 3 * 6144), 1e-3);
    cr_expect_float_eq(all_states(nano, 16), 23. * (4 * 4 * 64 * 128 + 2 * 3 * (256 + 256)), 1e-3);
    double once = cache_bytes_per_sequence(nano, 2, 1000, 1), twice = cache_bytes_per_sequence(nano, 2, 2000, 1);
    cr_expect_float_eq(twice - once, 1000. * 6 * 2 * 2 * 128 * 2, 1e-3, "the states do not grow");
}

/* Qwen3-Next: 36 states of 32 heads x 128 x 128 and 3 tokens of 8192 channels. DeepSeek-V3.2: latents of 576 numbers
 * and an indexer's key of 128 bytes and a scale in each of 61 layers, of which attention reads the latents alone. */
Test(cache, states_of_delta_nets_and_indexers) {
    const Model *qwen = zoo_find(&zoo, "qwen3-next-80b-a3b"), *deepseek = zoo_find(&zoo, "deepseek-v3.2");
    cr_assert(qwen && deepseek);
    cr_expect_float_eq(all_states(qwen, 1), 36. * (4 * 32 * 128 * 128 + 2 * 3 * 8192), 1e-3);
    cr_expect_eq(cache_bytes_per_sequence(deepseek, 2, 1, 1), 61. * (576 * 2 + 132));
    cr_expect_eq(cache_bytes_per_sequence(deepseek, 1, 1, 1), 61. * (576 + 132),
                 "keys of an indexer are 8 bits anyway");
    cr_expect_eq(attended_bytes_per_layer(&deepseek->kinds[0], 2), 576. * 2);
    cr_expect_eq(all_states(deepseek, 1), 0);
}

/* DeepSeek-V4: one head of 512 whose values are its keys, in bf16. Of 1,280 tokens a layer that joins 4 keeps 320
 * entries with 128 numbers of the indexer each, one that joins 128 keeps 10; both keep 128 tokens as they are. */
Test(cache, joined_entries_and_their_window) {
    LayerKind sparse = {.count = 1,
                        .heads = 64,
                        .kv_heads = 1,
                        .head_dim = 512,
                        .kv_reused = KV_SAME,
                        .window = 128,
                        .compress = 4,
                        .index_heads = 64,
                        .index_head_dim = 128,
                        .index_top_k = 512};
    LayerKind heavy = sparse;
    heavy.compress = 128, heavy.index_heads = heavy.index_head_dim = heavy.index_top_k = 0;
    Model model = {.layers = 1, .d_model = 4096, .kind_count = 1, .kinds = {sparse}};
    cr_expect_float_eq(cache_bytes_per_sequence(&model, 2, 1280, 1), 320 * (512 * 2 + 132) + 128 * 512 * 2,
                       320); /* whole tokens; an indexer's key is 128 bytes of fp8 and its scale */
    model.kinds[0] = heavy;
    cr_expect_float_eq(cache_bytes_per_sequence(&model, 2, 1280, 1), 10 * 512 * 2 + 128 * 512 * 2, 8);
}
