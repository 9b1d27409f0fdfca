/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every parameter once, and whole numbers of elements on every chip. How many parameters there are is
 * models/parameters.c's count, which is checked against what authors publish. */
#include "models/mixer.h"
#include "search/answer/parameter_shards.h"

#include "base/util.h"
#include "models/parameters.h"
#include "tests/models/zoo_fixture.h"

#include <string.h>

TestSuite(specs, .init = zoo_setup, .fini = zoo_teardown);

static Plan plan_of(int64_t tensor, int64_t expert, int64_t sequence, int64_t fsdp) {
    return (Plan){.degrees.of = {tensor, expert, sequence, fsdp, 1, 1}};
}

static int64_t degree_of(const Plan *plan, Ways ways) {
    static const int ROLES[] = {ROLE_DATA, ROLE_FSDP, ROLE_SEQUENCE, ROLE_TENSOR, ROLE_EXPERT};
    return ways < COUNT_OF(ROLES) ? plan->degrees.of[ROLES[ways]] : 1;
}

Test(specs, every_parameter_of_the_zoo_once) {
    ParameterShards specs[PARAMETERS_MAX];
    const char *undivided;
    for (int m = 0; m < zoo.count; m++) {
        const Model *model = &zoo.models[m];
        Plan plan = plan_of(1, 1, 1, 1);
        int count = parameter_shards(model, &plan, specs, &undivided);
        int64_t total = 0;
        for (int i = 0; i < count; i++) {
            int64_t size = specs[i].kind < 0 ? 1 : model->kinds[specs[i].kind].count;
            for (int d = 0; d < specs[i].rank; d++) size *= specs[i].size[d];
            total += size;
        }
        Parameters counted = model_parameters(model);
        int64_t planned = counted.total - counted.vision - counted.audio; /* towers are not */
        cr_expect_eq(total, planned, "%s: %lld of %lld", model->name, (long long)total, (long long)planned);
        cr_expect_null(undivided, "%s: nothing is split, and %s does not divide", model->name, undivided);
    }
}

/* What is said to divide does, no role is used twice in one parameter, and every matrix has all that shards it. */
Test(specs, whole_elements_on_every_chip) {
    static const int64_t DEGREES[][4] = {{8, 1, 1, 64}, {1, 8, 1, 32}, {2, 4, 2, 8}, {16, 1, 4, 4}, {1, 1, 3, 5}};
    ParameterShards specs[PARAMETERS_MAX];
    const char *undivided;
    for (int m = 0; m < zoo.count; m++)
        for (size_t g = 0; g < COUNT_OF(DEGREES); g++) {
            Plan plan = plan_of(DEGREES[g][0], DEGREES[g][1], DEGREES[g][2], DEGREES[g][3]);
            int count = parameter_shards(&zoo.models[m], &plan, specs, &undivided);
            for (int i = 0; i < count; i++) {
                unsigned seen = 0;
                for (int d = 0; d < specs[i].rank; d++) {
                    int64_t parts = 1;
                    for (int w = 0; w < specs[i].ways_count[d]; w++) {
                        Ways ways = specs[i].ways[d][w];
                        cr_expect_not(seen >> ways & 1, "%s: %s has %s twice", zoo.models[m].name, specs[i].name,
                                      ways_name(ways));
                        seen |= 1u << ways;
                        parts *= degree_of(&plan, ways);
                    }
                    cr_expect_eq(specs[i].size[d] % parts, 0, "%s: %s[%d] = %lld over %lld", zoo.models[m].name,
                                 specs[i].name, d, (long long)specs[i].size[d], (long long)parts);
                }
                bool expert = strncmp(specs[i].name, "expert_", 7) == 0;
                bool matrix = specs[i].rank > 1 && !strstr(specs[i].name, "_bias");
                if (!undivided && matrix && DEGREES[g][3] > 1)
                    cr_expect(seen >> WAYS_FSDP & 1, "%s: %s is not split by fsdp", zoo.models[m].name, specs[i].name);
                if (!undivided && matrix && !expert && DEGREES[g][1] > 1)
                    cr_expect(seen >> WAYS_EXPERT & 1, "%s: %s is not split by expert", zoo.models[m].name,
                              specs[i].name);
            }
        }
}

static const ParameterShards *find(const ParameterShards *specs, int count, const char *name) {
    for (int i = 0; i < count; i++)
        if (strcmp(specs[i].name, name) == 0) return &specs[i];
    return NULL;
}

/* 16,384 = 2^14; 8 KV heads under 16 ways of tensor are whole on every chip. */
Test(specs, llama_405b) {
    const Model *model = zoo_find(&zoo, "llama3.1-405b");
    ParameterShards specs[PARAMETERS_MAX];
    const char *undivided;
    Plan plan = plan_of(16, 1, 2, 256);
    int count = parameter_shards(model, &plan, specs, &undivided);
    cr_assert_null(undivided);
    const ParameterShards *wq = find(specs, count, "wq"), *wk = find(specs, count, "wk"),
                          *down = find(specs, count, "down");
    cr_assert(wq && wk && down);
    cr_expect(wq->ways_count[0] == 2 && wq->ways[0][0] == WAYS_FSDP && wq->ways[0][1] == WAYS_SEQUENCE);
    cr_expect(wq->ways_count[1] == 1 && wq->ways[1][0] == WAYS_TENSOR && wq->size[1] == 16384);
    cr_expect_eq(wk->ways_count[1], 0);
    cr_expect(down->ways_count[0] == 1 && down->ways[0][0] == WAYS_TENSOR && down->ways_count[1] == 2);
    plan = plan_of(16, 1, 1, 2240); /* 2^6 x 5 x 7 */
    parameter_shards(model, &plan, specs, &undivided);
    cr_expect(undivided != NULL);
    plan = plan_of(1, 1, 1, 6656); /* 2^9 x 13: d_ff = 2^12 x 13 has it, attention does not */
    parameter_shards(model, &plan, specs, &undivided);
    cr_expect(undivided != NULL);
}

/* 2,880 = 2^6 x 45: over 128 ways attention lies on its 64 heads of 64, experts on their 128 numbers; over 256 experts
 * have nothing left. */
Test(specs, another_dimension_where_d_model_does_not_divide) {
    const Model *model = zoo_find(&zoo, "gpt-oss-120b");
    ParameterShards specs[PARAMETERS_MAX];
    const char *undivided;
    Plan plan = plan_of(1, 1, 1, 128);
    int count = parameter_shards(model, &plan, specs, &undivided);
    const ParameterShards *up = find(specs, count, "expert_up"), *wq = find(specs, count, "wq");
    cr_assert(up && wq);
    cr_expect_null(undivided, "%s", undivided);
    cr_expect(up->ways_count[0] == 1 && up->ways[0][0] == WAYS_FSDP && up->ways_count[1] == 0);
    cr_expect(wq->ways_count[0] == 0 && wq->ways_count[1] == 1 && wq->ways[1][0] == WAYS_FSDP);
    plan = plan_of(1, 1, 1, 256);
    parameter_shards(model, &plan, specs, &undivided);
    cr_expect(undivided != NULL);
}

/* A mixer of as many parts as one may have, each with a matrix and a vector. */
static int most_parts(const Model *model, const LayerKind *kind, MixerPart out[MIXER_PARTS_MAX]) {
    (void)kind;
    for (int i = 0; i < MIXER_PARTS_MAX; i++)
        out[i] = mixer_matmul("part", SPLIT_COLUMN, 8, model->d_model, model->d_model, true);
    return MIXER_PARTS_MAX;
}
static const Mixer LARGEST_MIXER = {.name = "largest", .parts = most_parts};

/* As many kinds of layers as a model may have, each with everything that a layer can have. */
Test(specs, room_for_the_largest_model) {
    ParameterShards specs[PARAMETERS_MAX];
    const char *undivided;
    const LayerKind full = {.count = 1,
                            .norms = 16,
                            .heads = 8,
                            .kv_heads = 8,
                            .head_dim = 16,
                            .q_lora_rank = 16,
                            .out_rank = 16,
                            .out_groups = 2,
                            .qk_norm_parameters = 32,
                            .qkv_bias = true,
                            .out_bias = true,
                            .sinks = true,
                            .gated = true,
                            .d_ff = 64,
                            .mlp_bias = true,
                            .experts = 4,
                            .top_k = 1,
                            .d_ff_expert = 64,
                            .router_bias = true,
                            .expert_bias = true,
                            .d_ff_shared = 64,
                            .shared_gate = true,
                            .mixer = &LARGEST_MIXER,
                            .out_gate = 64,
                            .index_heads = 4,
                            .index_head_dim = 16,
                            .cross_heads = 4,
                            .cross_kv_heads = 4,
                            .cross_head_dim = 16,
                            .extra = {.matrix = {[PART_OTHER] = 64 * 64}, .vector = {[PART_OTHER] = 64}}};
    Model model = {.d_model = 64,
                   .vocab = 128,
                   .layers = MODEL_KINDS_MAX,
                   .norm = NORM_LAYER,
                   .learned_positions = 32,
                   .embedding_norm = true,
                   .logits_bias = true,
                   .extra = full.extra,
                   .kind_count = MODEL_KINDS_MAX};
    for (int i = 0; i < MODEL_KINDS_MAX; i++) model.kinds[i] = full;
    Plan plan = plan_of(1, 1, 1, 1);
    int count = parameter_shards(&model, &plan, specs, &undivided);
    cr_expect_eq(count, PARAMETERS_MAX, "%d of %d", count, PARAMETERS_MAX);
    for (int i = 0; i < MODEL_KINDS_MAX; i++) {
        model.kinds[i].attention = ATTENTION_LATENT;
        model.kinds[i].q_lora_rank = model.kinds[i].kv_lora_rank = 16;
        model.kinds[i].qk_nope_head_dim = model.kinds[i].qk_rope_head_dim = model.kinds[i].v_head_dim = 16;
    }
    cr_expect_leq(parameter_shards(&model, &plan, specs, &undivided), PARAMETERS_MAX);
}
