/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/util.h"
#include "models/parameters.h"

#include <criterion/criterion.h>
#include <string.h>

/* The book's shapes; its sums are of matrices alone, so that norms are compared on their own. */
typedef struct {
    int64_t L, D, F, heads, kv, H, V;
    bool tied;
    int64_t experts, top_k;
} Shape;

static Model model_of(Shape s) {
    Model model = {.layers = s.L, .d_model = s.D, .vocab = s.V, .tied = s.tied, .max_seq = 8192, .kind_count = 1};
    model.kinds[0] = (LayerKind){.count = s.L,
                                 .heads = s.heads,
                                 .kv_heads = s.kv,
                                 .head_dim = s.H,
                                 .gated = true,
                                 .norms = 2,
                                 .experts = s.experts,
                                 .top_k = s.top_k,
                                 .d_ff = s.experts ? 0 : s.F,
                                 .d_ff_expert = s.experts ? s.F : 0};
    return model;
}

static const Shape LLAMA3_70B = {80, 8192, 28672, 64, 8, 128, 128256, false, 0, 0};
static const Shape LLAMA2_13B = {40, 5120, 13824, 40, 40, 128, 32000, false, 0, 0};
static const Shape DENSE_18B = {64, 4096, 16384, 32, 8, 256, 32128, true, 0, 0};
static const Shape MIXTURE = {64, 4096, 16384, 32, 8, 256, 32128, true, 16, 2};

/* Column `note` of tests/data/book/cases.tsv: the exact value of the formula there, to all of its printed digits. */
Test(parameters, book) {
    Model m70 = model_of(LLAMA3_70B), m13 = model_of(LLAMA2_13B), m18 = model_of(DENSE_18B), m16 = model_of(MIXTURE);
    Model x07 = model_of((Shape){64, 4096, 16384, 32, 32, 128, 32000, false, 0, 0});
    x07.kinds[0].norms = 1; /* the question counts one norm for each layer, and none at the end */
    Parameters p70 = model_parameters(&m70), p13 = model_parameters(&m13), p18 = model_parameters(&m18);
    Parameters moe = model_parameters(&m16), one_norm = model_parameters(&x07);
    const struct {
        const char *name;
        int64_t counted;
        double expected;
    } rows[] = {
        {"A01 FFW of 70B", p70.mlp, 5.6371446e10},
        {"A02 vocabulary of 70B", p70.embedding + p70.unembedding, 2.1013463e9},
        {"A03 attention of 70B", p70.attention, 1.2079596e10},
        {"A04 all matrices of 70B", p70.total - p70.norms, 7.0552388e10},
        {"X07 D=4096 L=64", one_norm.total - 4096, 1.7442275e10},
        {"G23 FFW of 13B", p13.mlp, 8.4934656e9},
        {"G24 attention of 13B", p13.attention, 4.194304e9},
        {"G25 vocabulary of 13B", p13.embedding + p13.unembedding, 3.2768e8},
        {"G26 all matrices of 13B", p13.total - p13.norms, 1.301545e10},
        {"I12 18B with a tied vocabulary", p18.total - p18.norms, 1.8385207e10},
        {"I17 the same with 16 experts", moe.total - moe.norms - moe.router, 2.1165874e11},
        {"I18 two of which are active", moe.active - moe.norms - moe.router, 3.1270109e10},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        cr_expect_float_eq((double)rows[i].counted, rows[i].expected, 5e-8 * rows[i].expected, "%s: %lld", rows[i].name,
                           (long long)rows[i].counted);
    cr_expect_eq(p70.norms, 161 * 8192, "two norms in 80 layers and the last one");
    cr_expect_eq(moe.router, 64 * 4096 * 16);
}

/* Small enough to count on paper: D 8, F 16, 2 heads of 4, 1 kv head, V 32, 2 layers. */
static const Shape SMALL = {2, 8, 16, 2, 1, 4, 32, false, 0, 0};

Test(parameters, parts_counted_by_hand) {
    Model plain = model_of(SMALL);
    Parameters p = model_parameters(&plain);
    cr_expect_eq(p.attention, 2 * (64 + 32 + 32 + 64)); /* q, k, v, o */
    cr_expect_eq(p.mlp, 2 * 3 * 8 * 16);
    cr_expect_eq(p.norms, 5 * 8);
    cr_expect_eq(p.embedding, 32 * 8);
    cr_expect_eq(p.total, 384 + 768 + 40 + 512);
    cr_expect_eq(p.active, p.total);
    cr_expect_eq(p.active_matmul, p.total - 256);

    Model tied = plain;
    tied.tied = true;
    cr_expect_eq(model_parameters(&tied).total, p.total - 256);
    cr_expect_eq(model_parameters(&tied).active_matmul, p.active_matmul, "the one table is used as logits");

    Model biased = plain; /* all parts of a GPT: LayerNorm twice, biases of q 8, k 4, v 4, o 8, up 16, down 8 */
    biased.norm = NORM_LAYER;
    biased.kinds[0].gated = false;
    biased.kinds[0].qkv_bias = biased.kinds[0].out_bias = biased.kinds[0].mlp_bias = true;
    biased.learned_positions = 10;
    biased.logits_bias = biased.embedding_norm = true;
    p = model_parameters(&biased);
    cr_expect_eq(p.biases, 2 * (8 + 4 + 4 + 8 + 16 + 8) + 32);
    cr_expect_eq(p.norms, 2 * 6 * 8);
    cr_expect_eq(p.positions, 80);
    cr_expect_eq(p.mlp, 2 * 2 * 8 * 16);
    cr_expect_eq(p.active_matmul, p.total - 80 - 256);

    Model mixture =
        plain; /* one dense layer; one with 4 experts of 5, 2 used, one shared of 3 with its gate, all biased */
    mixture.kind_count = 2;
    mixture.kinds[0].count = 1;
    mixture.kinds[1] = mixture.kinds[0];
    mixture.kinds[1].d_ff = 0;
    mixture.kinds[1].experts = 4;
    mixture.kinds[1].top_k = 2;
    mixture.kinds[1].d_ff_expert = 5;
    mixture.kinds[1].d_ff_shared = 3;
    mixture.kinds[1].shared_gate = mixture.kinds[1].router_bias = mixture.kinds[1].expert_bias = true;
    mixture.kinds[1].sinks = true;
    p = model_parameters(&mixture);
    cr_expect_eq(p.mlp, 3 * 8 * 16);
    cr_expect_eq(p.shared_experts, 3 * 8 * 3);
    cr_expect_eq(p.experts, 4 * 3 * 8 * 5);
    cr_expect_eq(p.router, 8 * 4 + 8);
    cr_expect_eq(p.biases, 4 * (5 + 5 + 8) + 4 + 2); /* experts, router, sinks */
    cr_expect_eq(p.active, p.total - 2 * (120 + 18));

    Model latent = plain; /* q 8 -> 6 -> 2 x (3 + 1), kv 8 -> 5 + 1, 5 -> 2 x (3 + 2), out 2 x 2 -> 8 */
    LayerKind *kind = &latent.kinds[0];
    kind->attention = ATTENTION_LATENT;
    kind->q_lora_rank = 6;
    kind->kv_lora_rank = 5;
    kind->qk_nope_head_dim = 3;
    kind->qk_rope_head_dim = 1;
    kind->v_head_dim = 2;
    cr_expect_eq(model_parameters(&latent).attention, 2 * (8 * 6 + 6 * 8 + 8 * 6 + 5 * 10 + 4 * 8));
    kind->q_lora_rank = 0;
    cr_expect_eq(model_parameters(&latent).attention, 2 * (8 * 8 + 8 * 6 + 5 * 10 + 4 * 8));
    /* scores are 4 wide, values 2: 6 * heads * (4 + 2) * seq in two layers */
    double without = model_flops_per_token(&latent, FLOPS_6N, 10);
    cr_expect_float_eq(model_flops_per_token(&latent, FLOPS_FULL_ATTENTION, 10) - without, 2 * 6 * 2 * 6 * 10, 1e-9);
}

/* N = 2 * (192 + 384 + 16) + 8 + 256 = 1448 without the look-up. */
Test(parameters, flop_conventions) {
    Model model = model_of(SMALL);
    cr_expect_float_eq(model_flops_per_token(&model, FLOPS_6N, 10), 6 * 1448, 1e-9);
    cr_expect_float_eq(model_flops_per_token(&model, FLOPS_FULL_ATTENTION, 10), 8688 + 12 * 2 * 4 * 10 * 2, 1e-9);
    cr_expect_float_eq(model_flops_per_token(&model, FLOPS_CAUSAL, 10), 8688 + 960, 1e-9);
    /* once more forward: 2 FLOPs for each of 2 * 592, and a third of the attention */
    cr_expect_float_eq(model_flops_per_token(&model, FLOPS_HARDWARE, 10), 9648 + 2 * 1184 + 320, 1e-9);
    model.kinds[0].window = 4;
    cr_expect_float_eq(model_flops_per_token(&model, FLOPS_FULL_ATTENTION, 10), 8688 + 12 * 8 * 4 * 2, 1e-9);
    cr_expect_float_eq(model_flops_per_token(&model, FLOPS_CAUSAL, 10), 8688 + 12 * 8 * 3.2 * 2, 1e-9); /* 4 - 16/20 */
}

/* A query attends to itself and to the tokens before it, as far as the window goes; counted pair by pair. The closed
 * form takes the diagonal as half a key, hence 1/2 less. */
Test(parameters, spans_against_counting) {
    const struct {
        const char *name;
        int64_t seq, window;
        bool chunked;
    } rows[] = {
        {"full", 100, 0, false},
        {"one token", 1, 0, false},
        {"window", 100, 7, false},
        {"window of all", 64, 64, false},
        {"window longer", 64, 99, false},
        {"chunks", 96, 8, true},
        {"chunks with a rest", 100, 8, true},
        {"one chunk", 7, 8, true},
        {"window of one", 9, 1, false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        LayerKind kind = {.window = rows[i].window, .chunked = rows[i].chunked};
        int64_t pairs = 0;
        for (int64_t q = 0; q < rows[i].seq; q++)
            for (int64_t k = 0; k <= q; k++)
                pairs += !kind.window || (kind.chunked ? q / kind.window == k / kind.window : q - k < kind.window);
        double mean = (double)pairs / (double)rows[i].seq;
        double span = attention_span(&kind, rows[i].seq, false);
        cr_expect(span <= mean && span >= mean - 0.5 - 1e-12, "%s: %g, counted %g", rows[i].name, span, mean);
        if (!kind.window || kind.chunked || kind.window >= rows[i].seq)
            cr_expect_float_eq(attention_span(&kind, rows[i].seq, true), 2 * span, 1e-12, "%s", rows[i].name);
        else
            cr_expect_float_eq(attention_span(&kind, rows[i].seq, true), (double)kind.window, 1e-12, "%s",
                               rows[i].name);
    }
}

/* Models that must be refused, each made by one change to a good model. */
#define REFUSED(change, word)                                                                                          \
    do {                                                                                                               \
        Model model = model_of(SMALL);                                                                                 \
        LayerKind *kind = &model.kinds[0];                                                                             \
        Error error = {0};                                                                                             \
        (void)kind;                                                                                                    \
        change;                                                                                                        \
        cr_expect(!model_validate(&model, "here", &error), "%s", #change);                                             \
        cr_expect(error.kind == ERROR_INPUT && strstr(error.text, word), "%s: %s", #change, error.text);               \
    } while (0)

#define TAKEN(change)                                                                                                  \
    do {                                                                                                               \
        Model model = model_of(SMALL);                                                                                 \
        LayerKind *kind = &model.kinds[0];                                                                             \
        Error error = {0};                                                                                             \
        (void)kind;                                                                                                    \
        change;                                                                                                        \
        cr_expect(model_validate(&model, "here", &error), "%s: %s", #change, error.text);                              \
    } while (0)

/* The least and the most of each that the header allows, without 2^60 parameters. */
Test(parameters, edges_are_taken) {
    TAKEN(model.layers = kind->count = 1);
    TAKEN(model.layers = kind->count = MODEL_LAYERS_MAX);
    TAKEN(kind->heads = kind->kv_heads = 1);
    TAKEN((kind->heads = 8, kind->kv_heads = 8));
    TAKEN(kind->head_dim = 1);
    TAKEN(kind->d_ff = 1);
    TAKEN(kind->d_ff = INT32_MAX);
    TAKEN(model.vocab = 1);
    TAKEN(model.vocab = INT32_MAX);
    TAKEN(model.d_model = 1);
    TAKEN(model.max_seq = 1);
    TAKEN(model.max_seq = INT32_MAX);
    TAKEN(kind->window = 1);
    TAKEN(kind->window = INT32_MAX);
    TAKEN(kind->norms = 0);
    TAKEN(kind->norms = 16);
    TAKEN((kind->experts = kind->top_k = 1, kind->d_ff_expert = 1, kind->d_ff = 0));
    TAKEN((kind->experts = kind->top_k = 4, kind->d_ff_expert = 8, kind->d_ff = 0, kind->d_ff_shared = 1));
    TAKEN((kind->attention = ATTENTION_LATENT, kind->kv_lora_rank = kind->qk_nope_head_dim = kind->v_head_dim = 1));
    REFUSED(kind->norms = 17, "norms");
    REFUSED(kind->norms = -1, "norms");
    REFUSED(kind->head_dim = 0, "head_dim");
    REFUSED((kind->heads = kind->kv_heads = 0), "heads is 0");
    REFUSED(kind->q_lora_rank = -1, "q_lora_rank");
    REFUSED(kind->qk_norm_parameters = -1, "qk_norm_parameters");
    REFUSED(kind->qk_rope_head_dim = -1, "qk_rope_head_dim");
    REFUSED(kind->d_ff_shared = -1, "d_ff_shared");
    REFUSED(model.learned_positions = -1, "learned_positions");
    REFUSED((kind->attention = ATTENTION_LATENT, kind->kv_lora_rank = kind->v_head_dim = 1), "qk_nope_head_dim");
    REFUSED((kind->attention = ATTENTION_LATENT, kind->kv_lora_rank = kind->qk_nope_head_dim = 1), "v_head_dim");
}

Test(parameters, validate) {
    Error none = {0};
    Model good = model_of(SMALL);
    cr_assert(model_validate(&good, "here", &none), "%s", none.text);
    REFUSED(model.layers = 3, "sum over the kinds");
    REFUSED(model.layers = 0, "layers is 0");
    REFUSED(model.layers = kind->count = MODEL_LAYERS_MAX + 1, "layers");
    REFUSED(model.kind_count = 0, "kinds");
    REFUSED(model.kind_count = MODEL_KINDS_MAX + 1, "kinds");
    REFUSED(kind->count = -1, "layers of a kind");
    REFUSED(model.d_model = -8, "d_model");
    REFUSED(model.d_model = (int64_t)1 << 31, "d_model");
    REFUSED(model.vocab = 0, "vocab");
    REFUSED(model.max_seq = 0, "max_seq");
    REFUSED(kind->kv_heads = 3, "kv_heads");
    REFUSED((kind->heads = 8, kind->kv_heads = 3), "divide");
    REFUSED(kind->d_ff = 0, "d_ff");
    REFUSED(kind->top_k = 1, "top_k");
    REFUSED((kind->experts = 4, kind->d_ff_expert = 8), "top_k");
    REFUSED((kind->experts = 4, kind->d_ff_expert = 8, kind->top_k = 5), "top_k");
    REFUSED((kind->experts = 4, kind->top_k = 2), "d_ff_expert");
    REFUSED(kind->d_ff_expert = 2, "d_ff_expert");
    REFUSED(kind->attention = ATTENTION_LATENT, "kv_lora_rank");
    REFUSED(kind->window = -1, "window");
    REFUSED(model.d_model = kind->d_ff = INT32_MAX, "2^60");
    REFUSED((model.d_model = kind->d_ff_expert = kind->experts = kind->top_k = INT32_MAX), "2^60");
    REFUSED((model.vocab = model.d_model = kind->heads = kind->head_dim = INT32_MAX), "2^60");
}
