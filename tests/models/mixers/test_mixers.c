/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Each mixer's parameters and forward FLOPs, by hand, of one layer that has nothing else. */
#include "base/util.h"
#include "models/mixer.h"
#include "models/parameters.h"

#include <criterion/criterion.h>

static const struct {
    const char *mixer;
    int64_t sizes[MIXER_SIZES_MAX];
    int64_t linear, norms; /* parameters; the layer's own norm of 8 is not among them */
    double core;           /* forward FLOPs of a token, without the matrices */
    int64_t state;         /* numbers that a sequence carries */
} ROWS[] = {
    {"none", {0}, 0, 0, 0, 0},
    /* d_model 8; 4 heads of 2 in 2 groups, state 3, kernel 4, chunks of 5. In: z 8, x 8, B 6, C 6, dt 4; convolution of
     * 20 channels with biases; A, D, dt; a norm of 8; out 8 x 8. Scan: C B' 2 5 3 a group, with x 2 5 2 a head, states
     * and what comes of them 2 3 2 each. */
    {"mamba2",
     {4, 2, 2, 3, 4, 5, 0, 1, 1},
     8 * 32 + 20 * 4 + 20 + 12 + 64,
     8,
     2 * (2 * 5 * 3) + 4 * (2 * 5 * 2 + 2 * 2 * 3 * 2),
     20 * 3 + 4 * 2 * 3},
    /* 2 key heads of 3, 4 value heads of 2, kernel 4, chunks of 6. In: q 6, k 6, v 8, z 8, b 4, a 4; convolution of 20
     * channels; A, dt; a norm of 2; out 8 x 8. Per value head: 6 (6 3 + 4 2) in a chunk, the triangle 2/3 36, 6 3 2. */
    {"gated_delta_net",
     {2, 4, 3, 2, 4, 6},
     8 * 36 + 20 * 4 + 8 + 64,
     2,
     4 * (6 * (6 * 3 + 4 * 2) + 24 + 6 * 3 * 2),
     20 * 3 + 4 * 3 * 2},
};

Test(mixers, parts_counted_by_hand) {
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        Model model = {.d_model = 8, .vocab = 16, .tied = true, .max_seq = 64, .layers = 3, .kind_count = 1};
        LayerKind *kind = &model.kinds[0];
        MixerPart parts[MIXER_PARTS_MAX];
        Error error = {0};
        *kind = (LayerKind){.count = 3, .norms = 1, .mixer = mixer_named(ROWS[i].mixer)};
        cr_assert(kind->mixer, "%s", ROWS[i].mixer);
        for (int s = 0; s < MIXER_SIZES_MAX; s++) kind->sizes[s] = ROWS[i].sizes[s];
        cr_assert(model_validate(&model, "test", &error), "%s: %s", ROWS[i].mixer, error.text);
        Parameters layer = layer_parameters(&model, kind), all = model_parameters(&model);
        cr_expect_eq(layer.linear, ROWS[i].linear, "%s: %lld", ROWS[i].mixer, (long long)layer.linear);
        cr_expect_eq(layer.norms, 8 + ROWS[i].norms, "%s: %lld", ROWS[i].mixer, (long long)layer.norms);
        cr_expect_eq(layer.total, layer.linear + layer.norms, "%s has nothing else", ROWS[i].mixer);
        cr_expect_eq(all.total, 3 * layer.total + 16 * 8 + 8);
        double scan = model_flops_per_token(&model, FLOPS_CAUSAL, 64) - model_flops_per_token(&model, FLOPS_6N, 64);
        cr_expect_float_eq(scan, 3 * 3 * ROWS[i].core, 1e-9, "%s: %g", ROWS[i].mixer, scan / 9);
        int64_t state = 0;
        for (int p = 0, count = kind->mixer->parts(&model, kind, parts); p < count; p++) state += parts[p].state;
        cr_expect_eq(state, ROWS[i].state, "%s: %lld", ROWS[i].mixer, (long long)state);
        cr_expect(model_priceable(&model, "test", &error));
    }
}

/* A layer's parameters as classes of transformers 5.23 have them (counted on the meta device, divided by the layers),
 * but for MiniMax-Text-01 (6144 x 4 x 8192 in, 8192 x 6144 out) and LFM2-1.2B (2048 x 6144 in, 3 a channel, 2048 x 2048
 * out), by hand; and the FLOPs of a token's scan by the formulas of the papers. */
Test(mixers, as_counted_elsewhere) {
    static const struct {
        const char *mixer;
        int64_t d_model, sizes[MIXER_SIZES_MAX], linear, norms;
        double scan;
    } COUNTED[] = {
        {"kda", 2304, {32, 128, 4, 64}, 39514144, 128, 32 * (6. * 16384 + 10. * 64 * 128 + 2. / 3 * 4096)},
        {"rg_lru", 2560, {2560, 10, 4, 1}, 20999680, 0, 12. * 2560},
        {"mamba", 768, {1536, 16, 48, 4, 0, 1, 0}, 3770880, 0, 9. * 1536 * 16},
        {"mamba", 4096, {8192, 16, 256, 4, 0, 1, 1}, 105308160, 288, 9. * 8192 * 16},
        {"rwkv", 4096, {4096}, 67129344, 0, 16. * 4096},
        {"mlstm", 4096, {8, 256, 512, 64, 0}, 67174416, 4096, 8 * (2. * 64 * 768 + 4. * 256 * 512)},
        {"lightning", 6144, {64, 128, 256, 0, 1, 8192}, 251658240, 8192, 64 * (4. * 256 * 128 + 4. * 128 * 128)},
        {"short_conv", 2048, {2048, 3, 0}, 16783360, 0, 0},
    };
    for (size_t i = 0; i < COUNT_OF(COUNTED); i++) {
        Model model = {.d_model = COUNTED[i].d_model, .vocab = 16, .max_seq = 64, .layers = 1, .kind_count = 1};
        LayerKind *kind = &model.kinds[0];
        *kind = (LayerKind){.count = 1, .norms = 1, .mixer = mixer_named(COUNTED[i].mixer)};
        cr_assert(kind->mixer, "%s", COUNTED[i].mixer);
        for (int s = 0; s < MIXER_SIZES_MAX; s++) kind->sizes[s] = COUNTED[i].sizes[s];
        Parameters layer = layer_parameters(&model, kind);
        cr_expect_eq(layer.linear, COUNTED[i].linear, "%s: %lld", COUNTED[i].mixer, (long long)layer.linear);
        cr_expect_eq(layer.norms, COUNTED[i].d_model + COUNTED[i].norms, "%s: norms %lld", COUNTED[i].mixer,
                     (long long)layer.norms);
        cr_expect_float_eq(mixer_flops(&model, kind), COUNTED[i].scan, 1e-6 * COUNTED[i].scan + 1e-9, "%s: %g",
                           COUNTED[i].mixer, mixer_flops(&model, kind));
    }
}

Test(mixers, sizes_that_do_not_go_together) {
    Model model = {.d_model = 8, .vocab = 16, .max_seq = 64, .layers = 1, .kind_count = 1};
    Error error = {0};
    model.kinds[0] = (LayerKind){.count = 1, .norms = 1, .mixer = mixer_named("mamba2"),
                                 .sizes = {4, 2, 3, 3, 4, 5, 0, 1, 1}};
    cr_expect_not(model_validate(&model, "test", &error));
    cr_expect_str_eq(error.text, "mamba2: the groups do not divide the heads");
    cr_expect_null(mixer_named("mamba3"));
}
