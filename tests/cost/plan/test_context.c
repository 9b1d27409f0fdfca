/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ways of context parallelism: Ulysses, rings of such groups, all-gather; and the effect of context ranks that
 * replicate parameters instead of sharding them. Everything is in bf16. */
#include "tests/cost/workbench.h"
#include "tests/models/zoo_fixture.h"

#include <criterion/criterion.h>
#include <string.h>

/* N heads of 128, K of keys and values; one sequence of `seq` tokens over `ways` chips. */
static Bench bench_context(int64_t N, int64_t K, double seq, double ways, Methods methods) {
    Bench bench = bench_of(dense_model(1, N * 128, 4 * N * 128, N, K, 128, 1), 1, seq / ways);
    bench.shard.seq = seq, bench.shard.sequence = ways;
    bench.shard.ulysses = methods.ulysses > 1 ? (double)methods.ulysses : 1;
    bench.shard.sequence_replicates = methods.sequence_replicates;
    bench.knobs.methods = methods;
    return bench;
}

static Traffic traffic_of(const Bench *bench, Group group, Phase phase) {
    Op ops[OPS_MAX];
    Traffic sum = {0, 0};
    int count = ops_of_layer(&(ShardedLayer){&bench->model, &bench->model.kinds[0], &bench->shard, &bench->sharding},
                             &bench->knobs.methods, 1, ops);
    for (int i = 0; i < count; i++) {
        sum.messages += ops[i].traffic[group][phase].messages;
        sum.bytes += ops[i].traffic[group][phase].bytes;
    }
    return sum;
}

/* DeepSpeed-Ulysses (Jacobs et al. 2023, section 3.2): a layer exchanges q, k, v (3 N h elements, N tokens, h wide)
 * before attention and its output (N h) after it; on a switch each chip's link carries M / P of an all_to_all of M: 4 N
 * h / P, and the same in backward. N = 65536, h = 8192, bf16: 4 x 65536 x 8192 x 2 = 4,294,967,296 bytes together. An
 * exchange keeps 1/P on the chip, which the paper's limit of many chips leaves out. */
Test(context, ulysses_is_4Nh_over_P) {
    for (int64_t P = 2; P <= 64; P *= 2) {
        Bench bench = bench_context(64, 64, 65536, (double)P, (Methods){.context = CONTEXT_ULYSSES, .ulysses = P});
        GroupAxis axis = switch_axis((double)P, 1e9);
        CollectiveCost cost = group_collective_cost(COLLECTIVE_ALL_TO_ALL, &axis, 1);
        for (int phase = 0; phase < PHASE_COUNT; phase++) {
            Traffic exchanged = traffic_of(&bench, GROUP_ULYSSES, (Phase)phase);
            cr_expect_eq(exchanged.messages, 2, "in front of attention and behind it");
            cr_expect_float_eq(exchanged.bytes, 4294967296., 1e-3, "%d ways: %.12g", (int)P, exchanged.bytes);
            double link = 1e9 * collective_seconds(cost, exchanged.messages, exchanged.bytes);
            double expected = 4294967296. / (double)P * (double)(P - 1) / (double)P;
            cr_expect_float_eq(link, expected, 1e-9 * expected, "%d ways: %.12g bytes of each chip, not %.12g", (int)P,
                               link, expected);
            cr_expect_eq(traffic_of(&bench, GROUP_SEQUENCE, (Phase)phase).bytes, 0, "nothing goes round");
        }
        cr_expect_eq(group_collective(GROUP_ULYSSES, CONTEXT_ULYSSES), COLLECTIVE_ALL_TO_ALL);
    }
}

/* With fewer key and value heads than ways, every chip needs a whole one, so they travel in ways / K copies. 64 query
 * heads, 8 of keys and values, of 128; 32768 tokens: queries and output are 2 x 2 x 32768 x 8192 bytes, keys and values
 * 2 x 32768 x 2 x 1024 for each copy. With tensor the heads of a chip count. */
Test(context, ulysses_copies_few_kv_heads) {
    static const struct {
        const char *name;
        int64_t ways;
        double tensor, copies;
    } rows[] = {
        {"4 ways", 4, 1, 1},
        {"8 ways: a head each", 8, 1, 1},
        {"16 ways: two chips share a head", 16, 1, 2},
        {"64 ways", 64, 1, 8},
        {"tensor 4 leaves 2 heads: 4 ways", 4, 4, 2},
        {"tensor 8 leaves one: 4 ways", 4, 8, 4},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        Methods methods = {.context = CONTEXT_ULYSSES, .ulysses = rows[i].ways};
        Bench bench = bench_context(64, 8, 32768, (double)rows[i].ways, methods);
        double t = rows[i].tensor;
        bench_split(&bench, bench.shard.tokens / t, 1, t);
        double q = 2 * 2 * 32768. * 8192 / t, kv = rows[i].copies * 2 * 32768. * 2 * 1024 / t;
        for (int phase = 0; phase < PHASE_COUNT; phase++) {
            double found = traffic_of(&bench, GROUP_ULYSSES, (Phase)phase).bytes;
            cr_expect_float_eq(found, q + kv, 1e-3, "%s: %.12g, not %.12g", rows[i].name, found, q + kv);
        }
        /* Afterwards a chip holds its share of the heads: it saves them for backward, and attention reads them. */
        Op ops[OPS_MAX];
        int count = ops_of_layer(&(ShardedLayer){&bench.model, &bench.model.kinds[0], &bench.shard, &bench.sharding},
                                 &methods, 1, ops);
        for (int j = 0; j < count; j++) {
            double ways = (double)rows[i].ways;
            if (ops[j].output_activation == ACTIVATION_QKV)
                cr_expect_float_eq(ops[j].saved_bytes, (q / 2 + kv) / ways, 1e-3, "%s: %.12g saved", rows[i].name,
                                   ops[j].saved_bytes);
            if (ops[j].kind == OP_ATTENTION)
                cr_expect_float_eq(ops[j].hbm_bytes[PHASE_FORWARD], (q + kv) / ways, 1e-3, "%s: %.12g of HBM",
                                   rows[i].name, ops[j].hbm_bytes[PHASE_FORWARD]);
        }
    }
}

/* Ulysses x ring (USP: Fang and Zhao 2024; u heads ways inside, r = s / u around them) equals the plain methods at its
 * ends. Between them each chip exchanges the same bytes as u ways of Ulysses, and the ring passes the heads that are
 * left: r - 1 times the keys and values of a chip, with the bytes of its own tokens (in copies beyond K ways). */
Test(context, ulysses_ring) {
    enum { S = 16 };
    const double seq = 65536, own = seq / S, kv = 2 * own * 2 * 1024, q = 2 * own * 8192;
    for (int64_t u = 1; u <= S; u *= 2) {
        Bench both = bench_context(64, 8, seq, S, (Methods){.context = CONTEXT_ULYSSES_RING, .ulysses = u});
        Bench ring = bench_context(64, 8, seq, S, (Methods){.context = CONTEXT_RING});
        Bench heads = bench_context(64, 8, seq, S, (Methods){.context = CONTEXT_ULYSSES, .ulysses = S});
        double r = S / (double)u, copies = fmax(1, (double)u / 8);
        for (int phase = 0; phase < PHASE_COUNT; phase++) {
            Traffic inside = traffic_of(&both, GROUP_ULYSSES, (Phase)phase),
                    around = traffic_of(&both, GROUP_SEQUENCE, (Phase)phase);
            double passes = phase == PHASE_FORWARD ? 1 : 2; /* keys and values again, and their gradients back */
            double exchanged = u > 1 ? (double)u * (2 * q + copies * kv) : 0;
            cr_expect_float_eq(inside.bytes, exchanged, 1e-3, "u=%d: %.12g exchanged, not %.12g", (int)u, inside.bytes,
                               exchanged);
            cr_expect_float_eq(around.bytes, passes * (r - 1) * copies * kv, 1e-3, "u=%d: %.12g around", (int)u,
                               around.bytes);
            cr_expect_float_eq(around.messages, passes * (r - 1), 1e-12, "u=%d", (int)u);
            if (u == 1) {
                Traffic plain = traffic_of(&ring, GROUP_SEQUENCE, (Phase)phase);
                cr_expect_eq(memcmp(&plain, &around, sizeof plain), 0, "one heads way is a ring");
            }
            if (u == S) {
                Traffic plain = traffic_of(&heads, GROUP_ULYSSES, (Phase)phase);
                cr_expect_eq(memcmp(&plain, &inside, sizeof plain), 0, "all of them are Ulysses");
            }
        }
    }
}

/* Llama 3 (Grattafiori et al. 2024, section 3.3.2) gathers keys and values of the whole sequence, which is small beside
 * the rest because K is. 405B: K = 8 of 128, 131072 tokens over 16 ways: 2 x 131072 x 2 x 1024 bytes a layer, of which
 * a chip takes in 15/16; backward gathers again and scatters the gradients. */
Test(context, gathered_keys_of_llama3) {
    Bench bench = bench_context(128, 8, 131072, 16, (Methods){.context = CONTEXT_ALL_GATHER});
    GroupAxis axis = switch_axis(16, 50e9);
    CollectiveCost cost = group_collective_cost(COLLECTIVE_ALL_GATHER, &axis, 1);
    for (int phase = 0; phase < PHASE_COUNT; phase++) {
        double passes = phase == PHASE_FORWARD ? 1 : 2;
        Traffic gathered = traffic_of(&bench, GROUP_SEQUENCE, (Phase)phase);
        cr_expect_eq(gathered.messages, passes);
        cr_expect_float_eq(gathered.bytes, passes * 536870912, 1e-3, "%.12g", gathered.bytes);
        double seconds = collective_seconds(cost, gathered.messages, gathered.bytes);
        cr_expect_float_eq(seconds, passes * 536870912 * 15 / 16 / 50e9, 1e-12);
        cr_expect_eq(traffic_of(&bench, GROUP_ULYSSES, (Phase)phase).bytes, 0);
    }
    cr_expect_eq(group_collective(GROUP_SEQUENCE, CONTEXT_ALL_GATHER), COLLECTIVE_ALL_GATHER);
    cr_expect_eq(group_collective(GROUP_SEQUENCE, CONTEXT_RING), COLLECTIVE_PERMUTE);
    cr_expect_eq(group_collective(GROUP_SEQUENCE, CONTEXT_ULYSSES_RING), COLLECTIVE_PERMUTE);
}

/* The methods that a sequence group may take: whole heads for every chip, after tensor. */
Test(context, heads_that_divide) {
    static const struct {
        const char *name;
        int64_t tensor, sequence, ulysses;
        bool padded;
    } rows[] = {
        {"64 heads over 8", 1, 8, 8, false},
        {"64 heads over 8 x 8", 8, 8, 8, false},
        {"64 heads over 16 x 8: half a head", 16, 8, 8, true},
        {"64 heads over 3", 1, 3, 3, true},
        {"64 heads over 4, rings of 2", 16, 8, 4, false},
    };
    Model model = llama3_70b();
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        Work work = {.sequences = 64, .seq = 12288};
        Degrees degrees = {{rows[i].tensor, 1, rows[i].sequence, 1, 1, 1}};
        Knobs knobs = {
            .microbatches = 64,
            .microbatch_sequences = 1,
            .virtual_stages = 1,
            .methods = {.context = rows[i].ulysses == rows[i].sequence ? CONTEXT_ULYSSES : CONTEXT_ULYSSES_RING,
                        .ulysses = rows[i].ulysses}};
        Shard shard;
        bool taken = shard_of_plan(&model, &work, &degrees, &knobs, PADDING_NONE, &shard);
        cr_expect_eq(taken, !rows[i].padded, "%s", rows[i].name);
        if (rows[i].padded) cr_expect_eq(shard.padding, 1u << PAD_HEADS, "%s: %x", rows[i].name, shard.padding);
        if (taken) cr_expect_eq(shard.ulysses, (double)rows[i].ulysses, "%s", rows[i].name);
    }
}

/* ---- context ranks that shard parameters, as fsdp does (MaxText, torchtitan), or replicate them, as data does
 * (Megatron): s = 4, fsdp = 2, data = 8. A book layer of P = 2 D F parameters; accumulated in fp32 over 4
 * microbatches. */
Test(context, sequence_shards_or_replicates) {
    const double P = 2. * 8192 * 28672;
    static const struct {
        const char *name;
        bool replicates;
        int zero_stage;
        double weight_ways, data_ways;
        double optimizer, gradients; /* shares of a parameter's bytes that a chip keeps */
    } rows[] = {
        {"shards", false, 0, 8, 8, 1. / 8, 1. / 8},
        {"shards, ZeRO-1", false, 1, 8, 8, 1. / 64, 1. / 8},
        {"shards, ZeRO-2", false, 2, 8, 8, 1. / 64, 1. / 64},
        {"replicates", true, 0, 2, 32, 1. / 2, 1. / 2},
        {"replicates, ZeRO-1 over 32", true, 1, 2, 32, 1. / 64, 1. / 2},
        {"replicates, ZeRO-2 over 32", true, 2, 2, 32, 1. / 64, 1. / 64},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        Bench bench = bench_of(book_model(8192, 28672), 1, 4096);
        Methods methods = {.context = CONTEXT_RING, .sequence_replicates = rows[i].replicates};
        bench.shard.sequence = 4, bench.shard.fsdp = 2, bench.shard.data = 8, bench.shard.microbatches = 4;
        bench.shard.sequence_replicates = rows[i].replicates;
        bench.knobs.methods = methods, bench.knobs.zero_stage = rows[i].zero_stage;
        cr_expect_eq(shard_weight_ways(&bench.shard), rows[i].weight_ways, "%s", rows[i].name);
        cr_expect_eq(shard_data_ways(&bench.shard), rows[i].data_ways, "%s", rows[i].name);

        Degrees degrees = {{1, 1, 4, 2, 8, 1}};
        cr_expect_eq((double)group_degree(GROUP_WEIGHTS, &degrees, &methods), rows[i].weight_ways, "%s", rows[i].name);
        cr_expect_eq((double)group_degree(GROUP_EXPERT_WEIGHTS, &degrees, &methods), rows[i].weight_ways, "%s",
                     rows[i].name);
        cr_expect_eq((double)group_degree(GROUP_DATA, &degrees, &methods), rows[i].data_ways, "%s", rows[i].name);
        cr_expect_eq(group_degree(GROUP_SEQUENCE, &degrees, &methods), 4, "%s", rows[i].name);

        CostContext setting = bench_setting(&bench);
        MemoryRows found;
        StepRule rule;
        memory_rows(&(ShardedStage){&setting, &bench.shard, &bench.knobs, &bench.sharding}, MOMENT_UPDATE, 0, &found);
        step_rule(&setting, &bench.shard, &bench.knobs, &rule);
        double held = P * LAYERS / rows[i].weight_ways;
        const struct {
            const char *name;
            double found, expected;
        } figures[] = {
            {"parameters", found.parameters_bytes, 2 * held},
            {"gradients", found.gradients_bytes, 4 * P * LAYERS * rows[i].gradients},
            {"optimizer", found.optimizer_bytes, 12 * P * LAYERS * rows[i].optimizer},
            /* all_reduce: two passes; ZeRO: scattered, and the new parameters gathered */
            {"gradients over replicas", rule.data_end[0].bytes, (rows[i].zero_stage == 0 ? 2 : 1) * 4 * held},
            {"before the first microbatch", rule.data_start[0].bytes,
             rows[i].zero_stage == 0   ? 0
             : rows[i].zero_stage == 1 ? 2 * held
                                       : 2 * held + 3 * 4 * held},
        };
        for (size_t j = 0; j < COUNT_OF(figures); j++)
            cr_expect_float_eq(figures[j].found, figures[j].expected, 1e-9 * figures[j].expected,
                               "%s, %s: %.9g, not %.9g", rows[i].name, figures[j].name, figures[j].found,
                               figures[j].expected);
        /* Gathers over fsdp bring together the shards of its whole group, whoever is in it: the whole layer. */
        Resources resources = bench_resources(&bench);
        cr_expect_float_eq(resources.of[res_bytes(GROUP_WEIGHTS, PHASE_FORWARD)], 2 * P * LAYERS, 1e-9 * P * LAYERS,
                           "%s", rows[i].name);
    }
}

/* The share of a causal square that each rank computes. Zig-zag: a sequence in 2 r pieces, piece i and piece 2 r - 1 -
 * i on rank i (Llama 3, section 3.3.2; Megatron-Core, get_batch_on_this_cp_rank; torch's context parallel and MaxText
 * balance by default, so they do too): query and key pairs counted one by one are equal on all ranks, and equal the
 * op's number. Pieces in order would give the last rank 2 - 1/r times that; heads (Ulysses) are balanced whatever the
 * order. */
Test(context, zig_zag_balances) {
    const int seq = 480;
    for (int r = 2; r <= 8; r *= 2) {
        int64_t pairs[8] = {0}, in_order[8] = {0};
        for (int q = 0; q < seq; q++) {
            int piece = q * 2 * r / seq, rank = piece < r ? piece : 2 * r - 1 - piece;
            pairs[rank] += q + 1;
            in_order[q * r / seq] += q + 1;
        }
        for (int rank = 0; rank < r; rank++) cr_expect_eq(pairs[rank], (int64_t)seq * (seq + 1) / 2 / r, "r=%d", r);
        double diagonal = seq / 2. / r; /* the op takes half of each pair of a query with itself */
        static const ContextMethod METHODS[] = {CONTEXT_RING, CONTEXT_ALL_GATHER, CONTEXT_ULYSSES};
        for (size_t i = 0; i < COUNT_OF(METHODS); i++) {
            Bench bench = bench_context(16, 16, seq, r, (Methods){.context = METHODS[i], .ulysses = r});
            Op ops[OPS_MAX];
            int count =
                ops_of_layer(&(ShardedLayer){&bench.model, &bench.model.kinds[0], &bench.shard, &bench.sharding},
                             &bench.knobs.methods, 1, ops);
            for (int j = 0; j < count; j++)
                if (ops[j].kind == OP_ATTENTION)
                    cr_expect_float_eq(ops[j].flops[PHASE_FORWARD], ((double)pairs[0] - diagonal) * 4 * 16 * 128, 1e-3,
                                       "r=%d, method %d", r, (int)METHODS[i]);
        }
        double most = ((double)in_order[r - 1] - diagonal) / ((double)pairs[0] - diagonal);
        cr_expect_float_eq(most, 2 - 1. / r, 1e-12, "r=%d: %g", r, most);
    }
}

/* ---- what the bounds assume of every list of ops: docs/search.md, L4 and L15 ---- */

TestSuite(context_laws, .init = zoo_setup, .fini = zoo_teardown);

static const LayerSoftware SOFTWARE[] = {
    {.imbalance = 1},
    {.imbalance = 1.3, .ring_returns = true, .lanes = 128},
    {.imbalance = 1, .keys_kept = true, .receives_worst_case = true},
};

/* A layer under one way of splitting the sequence: each law is asked about thousands of them. */
typedef struct {
    Bench bench;
    Op ops[OPS_MAX];
    int count;
} Case;

/* False: the sizes do not allow it. */
static bool case_make(Case *out, const Model *model, int64_t tensor, int64_t sequence, Methods methods) {
    Work work = {.sequences = 1, .seq = 4096};
    Degrees degrees = {{tensor, 1, sequence, 1, 1, 1}};
    out->bench = (Bench){.model = *model, .chip = bench_chip(1e12, 1e9)};
    out->bench.knobs = (Knobs){.microbatches = 1, .microbatch_sequences = 1, .virtual_stages = 1, .methods = methods};
    return shard_of_plan(&out->bench.model, &work, &degrees, &out->bench.knobs, PADDING_ANY, &out->bench.shard);
}

static void case_list(Case *of, int kind, const Sharding *sharding, const LayerSoftware *software) {
    const Model *model = &of->bench.model;
    of->count = ops_of_layer_under(&(ShardedLayer){model, &model->kinds[kind], &of->bench.shard, sharding},
                                   &of->bench.knobs.methods, software, of->ops);
}

/* All that an op does, but for what it moves over the sequence and for the copies of keys, which are larger or equal:
 * a list of numbers that are equal, then one of numbers that may be more. */
static int op_figures(const Op *op, double equal[64], double more[8]) {
    int n = 0;
    const double same[] = {op->m,
                           op->n,
                           op->k,
                           op->groups,
                           op->chunks,
                           op->score_elements,
                           op->head_dim,
                           op->routed_bytes,
                           op->weights,
                           op->saved_ways,
                           op->saved_copy,
                           op->kind,
                           op->pair,
                           op->biased,
                           op->runs_in_precision,
                           op->expert_weights,
                           op->output_activation,
                           op->saved_input,
                           op->flops[PHASE_FORWARD],
                           op->flops[PHASE_BACKWARD]};
    for (size_t i = 0; i < COUNT_OF(same); i++) equal[n++] = same[i];
    for (int group = 0; group < GROUP_COUNT; group++)
        for (int phase = 0; phase < PHASE_COUNT && group != GROUP_SEQUENCE && group != GROUP_ULYSSES; phase++) {
            equal[n++] = op->traffic[group][phase].messages;
            equal[n++] = op->traffic[group][phase].bytes;
        }
    more[0] = op->hbm_bytes[PHASE_FORWARD], more[1] = op->hbm_bytes[PHASE_BACKWARD], more[2] = op->saved_bytes;
    return n;
}

/* Every op of `ring` is in `other`, in order, and asks there for the same or more. */
static void expect_no_less(const Case *ring, const Case *other) {
    int at = 0;
    for (int i = 0; i < ring->count; i++, at++) {
        double equal[2][64], more[2][8];
        while (at < other->count && strcmp(other->ops[at].name, ring->ops[i].name) != 0) at++;
        cr_assert_lt(at, other->count, "%s: no %s", ring->bench.model.name, ring->ops[i].name);
        int figures = op_figures(&ring->ops[i], equal[0], more[0]);
        op_figures(&other->ops[at], equal[1], more[1]);
        for (int k = 0; k < figures; k++)
            cr_expect_eq(equal[1][k], equal[0][k], "%s, %s: figure %d", ring->bench.model.name, ring->ops[i].name, k);
        for (int k = 0; k < 3; k++)
            cr_expect_geq(more[1][k], more[0][k], "%s, %s: bytes %d", ring->bench.model.name, ring->ops[i].name, k);
    }
}

/* The bounds on degrees and on ranges price all context methods by the ops of the first, a ring, whose traffic they
 * leave out. */
Test(context_laws, no_method_asks_for_less_than_a_ring) {
    static Case ring, other;
    int compared = 0;
    for (int m = 0; m < zoo.count; m++)
        for (int64_t tensor = 1; tensor <= 8; tensor *= 2)
            for (int64_t sequence = 2; sequence <= 8; sequence *= 2) {
                const Methods others[] = {{.context = CONTEXT_ALL_GATHER, .ulysses = 1},
                                          {.context = CONTEXT_ULYSSES, .ulysses = sequence},
                                          {.context = CONTEXT_ULYSSES_RING, .ulysses = 2}};
                Sharding shardings[SHARDINGS_MAX];
                if (!case_make(&ring, &zoo.models[m], tensor, sequence, (Methods){.context = CONTEXT_RING})) continue;
                CostContext context = bench_setting(&ring.bench);
                int count = shardings_of(&context, &ring.bench.shard, shardings);
                for (size_t o = 0; o < COUNT_OF(others); o++) {
                    if (!case_make(&other, &zoo.models[m], tensor, sequence, others[o])) continue;
                    for (int i = 0; i < count * (int)COUNT_OF(SOFTWARE) * zoo.models[m].kind_count; i++) {
                        int kind = i / count / (int)COUNT_OF(SOFTWARE);
                        const LayerSoftware *software = &SOFTWARE[i / count % (int)COUNT_OF(SOFTWARE)];
                        case_list(&ring, kind, &shardings[i % count], software);
                        case_list(&other, kind, &shardings[i % count], software);
                        expect_no_less(&ring, &other);
                        compared++;
                    }
                }
            }
    cr_expect_gt(compared, 10000, "%d lists", compared);
}

/* Attention has the same seconds under all shardings: a ring hides behind it, so a bound with less would be wrong. */
Test(context_laws, attention_is_the_same_under_all_shardings) {
    static Case of;
    int compared = 0;
    for (int m = 0; m < zoo.count; m++)
        for (int64_t tensor = 1; tensor <= 8; tensor *= 2)
            for (int method = CONTEXT_RING; method <= CONTEXT_ULYSSES; method++) {
                Sharding shardings[SHARDINGS_MAX];
                Methods methods = {.context = (ContextMethod)method, .ulysses = method == CONTEXT_ULYSSES ? 4 : 1};
                if (!case_make(&of, &zoo.models[m], tensor, 4, methods)) continue;
                CostContext context = bench_setting(&of.bench);
                int count = shardings_of(&context, &of.bench.shard, shardings);
                for (int kind = 0; kind < zoo.models[m].kind_count; kind++) {
                    double first[PHASE_COUNT] = {0, 0};
                    for (int s = 0; s < count; s++) {
                        double seconds[PHASE_COUNT] = {0, 0};
                        bool memory_bound;
                        case_list(&of, kind, &shardings[s], &SOFTWARE[0]);
                        for (int i = 0; i < of.count; i++)
                            for (int phase = 0; phase < PHASE_COUNT && of.ops[i].kind == OP_ATTENTION; phase++)
                                seconds[phase] +=
                                    op_seconds(&of.ops[i], (Phase)phase, &of.bench.chip, &IDEAL, &memory_bound);
                        for (int phase = 0; phase < PHASE_COUNT; phase++) {
                            if (s == 0) first[phase] = seconds[phase];
                            cr_expect_eq(seconds[phase], first[phase], "%s: sharding %d", zoo.models[m].name, s);
                        }
                        compared += s > 0 && seconds[0] > 0;
                    }
                }
            }
    cr_expect_gt(compared, 3000, "%d shardings", compared);
}
