/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fine-tuning op by op and byte by byte, against arithmetic by hand; and its laws. */
#include "base/util.h"
#include "cost/stage/memory_detail.h"
#include "tests/cost/workbench.h"

#include <criterion/criterion.h>
#include <string.h>

/* Llama 3 8B's layer: d 4096, 32 heads of 128, 8 KV heads, 14336 wide. */
static Model layer_8b(void) { return dense_model(32, 4096, 14336, 32, 8, 128, 128256); }

enum { TOKENS = 2048 };
static const double QKV = 4096. * (4096 + 2 * 1024), OUT = 4096. * 4096, UP = 2 * 4096. * 14336, DOWN = 14336. * 4096;

static int ops_under(const Tuning *tuning, Op *ops) {
    static Bench bench;
    bench = bench_of(layer_8b(), 1, TOKENS);
    LayerSoftware software = {.imbalance = 1, .tuning = tuning};
    return ops_of_layer_under(&(ShardedLayer){&bench.model, &bench.model.kinds[0], &bench.shard, &bench.sharding},
                              &bench.knobs.methods, &software, ops);
}

typedef struct {
    double trained, adapters, saved;
} Sum;

static Sum sum_under(const Tuning *tuning) {
    Op ops[OPS_MAX];
    int count = ops_under(tuning, ops);
    Sum out = {0};
    for (int i = 0; i < count; i++) {
        out.trained += ops[i].weights - ops[i].frozen;
        if (ops[i].adapter) out.adapters += ops[i].weights;
        if (ops[i].output_activation >= 0) out.saved += ops[i].saved_bytes;
    }
    return out;
}

static Tuning lora(double rank, unsigned targets) {
    return (Tuning){.on = true, .rank = rank, .targets = targets, .frozen = FROZEN_ALL};
}

/* PEFT prints 41,943,040 for rank 16 on all linear layers of 8B. */
Test(tuning, adapters) {
    Tuning all = lora(16, TARGETS_ALL);
    Sum sum = sum_under(&all);
    cr_expect_float_eq(32 * sum.adapters, 41943040, 0.5);
    cr_expect_float_eq(sum.trained, sum.adapters, 1e-6);
}

/* A frozen matmul without adapters needs its input for nothing: under adapters of attention alone the normed input of
 * the MLP (2 bytes x 4096 a token) and its product (2 x 14336) go, under those of the MLP that of attention. */
Test(tuning, inputs_that_are_not_kept) {
    Tuning all = lora(8, TARGETS_ALL), attention = lora(8, TARGETS_ATTENTION),
           mlp = lora(8, TARGETS_ALL & ~TARGETS_ATTENTION);
    double whole = sum_under(NULL).saved;
    cr_expect_float_eq(sum_under(&all).saved, whole, 1);
    cr_expect_float_eq(whole - sum_under(&attention).saved, 2. * TOKENS * (4096 + 14336), 1);
    cr_expect_float_eq(whole - sum_under(&mlp).saved, 2. * TOKENS * 4096, 1);
    attention.stored_bytes = TUNING_STORED_BYTES;
    cr_expect_float_eq(sum_under(&attention).saved, whole, 1, "bitsandbytes keeps inputs of frozen matmuls");
}

/* Nothing frozen and no adapters: each op as it is without a tuning, to the last bit. */
Test(tuning, all_of_the_weights_is_as_before) {
    Op before[OPS_MAX], after[OPS_MAX];
    const Tuning all[] = {{.on = true}, {.on = true, .rank = 16, .targets = TARGETS_ALL}};
    int count = ops_under(NULL, before);
    for (size_t of = 0; of < COUNT_OF(all); of++) {
        cr_assert_eq(ops_under(&all[of], after), count);
        for (int i = 0; i < count; i++) cr_expect_arr_eq(&before[i], &after[i], sizeof *before, "%s", before[i].name);
    }
}

static MemoryRows rows_under(const TrainingState *state, double fsdp, Moment moment) {
    Bench bench = bench_of(layer_8b(), 1, TOKENS);
    bench.shard.layers = bench.shard.layers_last = 32, bench.shard.vocab = 128256, bench.shard.fsdp = fsdp;
    bench.knobs.regather = true;
    CostContext setting = bench_setting(&bench);
    setting.state = state;
    MemoryRows rows;
    memory_rows(&(ShardedStage){&setting, &bench.shard, &bench.knobs, &bench.sharding}, moment, 0, &rows);
    return rows;
}

/* 8B in nf4 with double quantisation: 6.98 G numbers of layers in 0.5159 bytes (3.60 GB), two tables and norms in bf16
 * (2.10 GB), adapters in bf16; gradients and AdamW of the adapters alone. */
Test(tuning, memory) {
    TrainingState state = *training_state_default();
    double stored = 0.5 + 1 / 64. + 4 / (64. * 256), layers = 32 * (QKV + OUT + UP + DOWN), adapters = 41943040;
    double rest = 2 * 128256. * 4096 + (2 * 32 + 1) * 4096.;
    state.tuning = lora(16, TARGETS_ALL);
    MemoryRows rows = rows_under(&state, 1, MOMENT_UPDATE);
    cr_expect_float_eq(rows.parameters_bytes, 2 * (layers + rest + adapters), 1e3);
    cr_expect_float_eq(rows.gradients_bytes, 2 * adapters, 1);
    cr_expect_float_eq(rows.optimizer_bytes, 12 * adapters, 1);
    state.tuning.stored_bytes = stored;
    rows = rows_under(&state, 1, MOMENT_UPDATE);
    cr_expect_float_eq(rows.parameters_bytes, stored * layers + 2 * (rest + adapters), 1e3, "%.0f",
                       rows.parameters_bytes);
    rows = rows_under(&state, 4, MOMENT_UPDATE);
    cr_expect_float_eq(rows.parameters_bytes, (stored * layers + 2 * (rest + adapters)) / 4, 1e3);
    cr_expect_float_eq(rows.gradients_bytes, 2 * adapters / 4, 1);
    state.tuning.reference_model = true, state.tuning.stored_bytes = 0;
    cr_expect_float_eq(rows_under(&state, 1, MOMENT_UPDATE).parameters_bytes, 4 * (layers + rest + adapters), 1e3);
    state.tuning.on_host = true;
    cr_expect_eq(rows_under(&state, 1, MOMENT_UPDATE).parameters_bytes, 0);
}

/* A tower of 400 M and a projector of 30 M alongside: 2 bytes held of each however they are trained; a gradient of 2
 * and AdamW's 12 of what is not frozen alone, spread over the chips like all else. */
Test(tuning, towers) {
    static const struct {
        const char *name;
        Tuning what;
        double trained;
    } ROWS[] = {
        {"all", {.on = true}, 430e6},
        {"tower frozen", {.on = true, .frozen = 1 << FROZEN_VISION}, 30e6},
        {"both frozen", {.on = true, .frozen = FROZEN_TOWERS}, 0},
        {"embedding frozen", {.on = true, .frozen = 1 << FROZEN_EMBEDDING}, 430e6 - 128256. * 4096},
        {"adapters", {.on = true, .rank = 16, .targets = TARGETS_ALL, .frozen = FROZEN_ALL}, 0},
    };
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        TrainingState state = *training_state_default();
        double held[2], gradients[2], moments[2];
        for (int with = 0; with < 2; with++) {
            Bench bench = bench_of(layer_8b(), 1, TOKENS);
            bench.shard.layers = bench.shard.layers_last = 32, bench.shard.vocab = 128256, bench.shard.fsdp = 8;
            if (with) {
                bench.model.towers[bench.model.tower_count++] = (Tower){.part = PART_VISION, .parameters = 400000000};
                bench.model.extra.matrix[PART_PROJECTOR] = 30000000;
            }
            CostContext setting = bench_setting(&bench);
            setting.state = &state;
            state.tuning = with ? ROWS[i].what : (Tuning){.on = true};
            if (ROWS[i].what.rank > 0) state.tuning = ROWS[i].what;
            MemoryRows rows;
            memory_rows(&(ShardedStage){&setting, &bench.shard, &bench.knobs, &bench.sharding}, MOMENT_UPDATE, 0,
                        &rows);
            held[with] = rows.parameters_bytes, gradients[with] = rows.gradients_bytes;
            moments[with] = rows.optimizer_bytes;
        }
        cr_expect_float_eq(held[1] - held[0], 2 * 430e6 / 8, 1, "%s: %.0f", ROWS[i].name, held[1] - held[0]);
        double per = gradients[0] / moments[0]; /* the bench's dtypes: what is trained takes as much of each */
        cr_expect_float_eq(moments[1] - moments[0], 12 * ROWS[i].trained / 8, 1, "%s: %.0f", ROWS[i].name,
                           moments[1] - moments[0]);
        cr_expect_float_eq(gradients[1] - gradients[0], per * 12 * ROWS[i].trained / 8, 1, "%s", ROWS[i].name);
    }
}

/* Gathers of quantised weights are as small as they; a gradient is scattered of adapters alone; a reference is one more
 * forward. */
Test(tuning, traffic) {
    TrainingState state = *training_state_default();
    Bench bench = bench_of(layer_8b(), 1, TOKENS);
    bench.shard.layers = bench.shard.layers_last = 1, bench.shard.vocab = 1, bench.shard.fsdp = 4;
    bench.knobs.regather = true;
    CostContext setting = bench_setting(&bench);
    setting.state = &state;
    double layer = QKV + OUT + UP + DOWN + 2 * 4096, adapters = 41943040 / 32., tables = 2 * 4096. + 4096;
    const int at[PHASE_COUNT] = {res_bytes(GROUP_WEIGHTS, PHASE_FORWARD), res_bytes(GROUP_WEIGHTS, PHASE_BACKWARD)};
    Resources out;
    stage_resources(&setting, &bench.shard, &bench.knobs, &bench.sharding, &out);
    cr_expect_float_eq(out.of[at[0]], 2 * (layer + tables), 1);
    cr_expect_float_eq(out.of[at[1]], 4 * (layer + tables), 1);
    state.tuning = lora(16, TARGETS_ALL);
    stage_resources(&setting, &bench.shard, &bench.knobs, &bench.sharding, &out);
    cr_expect_float_eq(out.of[at[0]], 2 * (layer + adapters + tables), 1);
    cr_expect_float_eq(out.of[at[1]], 2 * (layer + adapters + tables) + 2 * adapters, 1);
    state.tuning.stored_bytes = 0.5;
    state.tuning.references = 1;
    stage_resources(&setting, &bench.shard, &bench.knobs, &bench.sharding, &out);
    cr_expect_float_eq(out.of[at[0]], 2 * (0.5 * (layer + adapters) + 2 * tables), 1);
}

/* A smaller rank, fewer targets, shorter sequences and fewer bytes a number take no more time and no more memory. */
Test(tuning, laws) {
    static const double RANKS[] = {1, 8, 16, 64, 256};
    double seconds = 0, bytes = 0;
    for (size_t i = 0; i < COUNT_OF(RANKS); i++) {
        TrainingState state = *training_state_default();
        state.tuning = lora(RANKS[i], TARGETS_ALL);
        Bench bench = bench_of(layer_8b(), 1, TOKENS);
        bench.shard.layers = bench.shard.layers_last = 32;
        CostContext setting = bench_setting(&bench);
        setting.state = &state;
        Resources out;
        stage_resources(&setting, &bench.shard, &bench.knobs, &bench.sharding, &out);
        double now = out.of[RES_COMPUTE_FORWARD] + out.of[RES_COMPUTE_BACKWARD],
               held = out.of[RES_MEMORY + MOMENT_FIRST_BACKWARD];
        cr_expect(now >= seconds && held >= bytes, "rank %g", RANKS[i]);
        seconds = now, bytes = held;
        Resources shorter;
        Bench half = bench;
        half.shard.seq /= 2, half.shard.tokens /= 2;
        stage_resources(&setting, &half.shard, &half.knobs, &half.sharding, &shorter);
        for (int r = 0; r < (int)COUNT_OF(out.of); r++)
            cr_expect(shorter.of[r] <= out.of[r] * (1 + 1e-12), "half as long: %d", r);
    }
}

/* ---- every family, matrix by matrix ---- */

/* A matrix as Hugging Face names it: so many alike of [k, n], each with a share of the tokens. */
typedef struct {
    Target target;
    double k, n, times, tokens;
    FrozenPart part;
} Matrix;

enum { D = 2048, HEADS = 16, KV = 4, H = 128, F = 8192, E = 8, TOP = 2, F_E = 1024, F_S = 2048, MATRICES = 10 };
enum { NOPE = 128, ROPE = 64, V = 128, LATENT = 512 };

static const LayerKind PLAIN = {.count = 1, .heads = HEADS, .kv_heads = KV, .head_dim = H, .d_ff = F, .norms = 2},
                       MIXTURE = {.count = 1,
                                  .attention = ATTENTION_LATENT,
                                  .heads = HEADS,
                                  .kv_heads = HEADS,
                                  .head_dim = NOPE + ROPE,
                                  .kv_lora_rank = LATENT,
                                  .qk_nope_head_dim = NOPE,
                                  .qk_rope_head_dim = ROPE,
                                  .v_head_dim = V,
                                  .gated = true,
                                  .experts = E,
                                  .top_k = TOP,
                                  .d_ff_expert = F_E,
                                  .d_ff_shared = F_S,
                                  .norms = 2};

static const struct {
    const char *name;
    const LayerKind *kind;
    double routers, norms;
    Matrix of[MATRICES];
} FAMILIES[] = {
    {"two matrices in the MLP",
     &PLAIN,
     0,
     2 * D,
     {{TARGET_QUERY, D, HEADS *H, 1, TOKENS, FROZEN_ATTENTION},
      {TARGET_KEY, D, KV *H, 1, TOKENS, FROZEN_ATTENTION},
      {TARGET_VALUE, D, KV *H, 1, TOKENS, FROZEN_ATTENTION},
      {TARGET_OUTPUT, HEADS *H, D, 1, TOKENS, FROZEN_ATTENTION},
      {TARGET_UP, D, F, 1, TOKENS, FROZEN_MLP},
      {TARGET_DOWN, F, D, 1, TOKENS, FROZEN_MLP}}},
    {"latent attention, a mixture with a shared expert", /* DeepSeek-V2-Lite's matrices */
     &MIXTURE,
     D *E,
     2 * D + LATENT,
     {{TARGET_QUERY, D, HEADS *(NOPE + ROPE), 1, TOKENS, FROZEN_ATTENTION},
      {TARGET_KEY, D, LATENT + ROPE, 1, TOKENS, FROZEN_ATTENTION},
      {TARGET_VALUE, LATENT, HEADS *(NOPE + V), 1, TOKENS, FROZEN_ATTENTION},
      {TARGET_OUTPUT, HEADS *V, D, 1, TOKENS, FROZEN_ATTENTION},
      {TARGET_GATE, D, F_E, E, TOKENS *TOP / E, FROZEN_EXPERTS},
      {TARGET_UP, D, F_E, E, TOKENS *TOP / E, FROZEN_EXPERTS},
      {TARGET_DOWN, F_E, D, E, TOKENS *TOP / E, FROZEN_EXPERTS},
      {TARGET_GATE, D, F_S, 1, TOKENS, FROZEN_MLP},
      {TARGET_UP, D, F_S, 1, TOKENS, FROZEN_MLP},
      {TARGET_DOWN, F_S, D, 1, TOKENS, FROZEN_MLP}}},
};

static Bench family_bench(size_t family) {
    Model model = dense_model(1, D, F, HEADS, KV, H, 1000);
    model.kinds[0] = *FAMILIES[family].kind;
    return bench_of(model, 1, TOKENS);
}

static int family_ops(const Bench *bench, const Tuning *tuning, Op *ops) {
    LayerSoftware software = {.imbalance = 1, .tuning = tuning};
    return ops_of_layer_under(&(ShardedLayer){&bench->model, &bench->model.kinds[0], &bench->shard, &bench->sharding},
                              &bench->knobs.methods, &software, ops);
}

typedef struct {
    double weights, frozen, flops[PHASE_COUNT], bytes[PHASE_COUNT], gathered[PHASE_COUNT], messages[PHASE_COUNT];
} Total;

/* Of all ops; of adapters and what is added to them alone; of all matmuls of the base. */
static Total total_of(const Op *ops, int count, bool added) {
    Total out = {0};
    for (int i = 0; i < count; i++) {
        if (added && !ops[i].adapter && strcmp(ops[i].name, "adapter sum") != 0) continue;
        out.weights += ops[i].weights, out.frozen += ops[i].frozen;
        for (int phase = 0; phase < PHASE_COUNT; phase++) {
            out.flops[phase] += ops[i].flops[phase], out.bytes[phase] += ops[i].hbm_bytes[phase];
            out.gathered[phase] += ops[i].traffic[GROUP_TENSOR_WEIGHTS][phase].bytes;
            out.messages[phase] += ops[i].traffic[GROUP_TENSOR_WEIGHTS][phase].messages;
        }
    }
    return out;
}

static void expect_share(double value, double expected, double within, const char *name, const char *what) {
    cr_expect(fabs(value - expected) <= within * fabs(expected), "%s: %s %.8g, by hand %.8g", name, what, value,
              expected);
}

/* Beside every matrix [k, n] stand [k, r] and [r, n]: r (k + n) numbers, and of what moves the inputs, the matrices and
 * the results of both, once forward and twice back; the sum reads two and writes one. What several matrices have is the
 * sum of what each has. */
Test(tuning, adapters_of_every_family) {
    enum { R = 8 };
    for (size_t f = 0; f < COUNT_OF(FAMILIES); f++) {
        Bench bench = family_bench(f);
        for (unsigned targets = 1; targets <= TARGETS_ALL; targets++) {
            Op ops[OPS_MAX];
            Tuning what = lora(R, targets);
            Total added = total_of(ops, family_ops(&bench, &what, ops), true);
            double weights = 0, flops = 0, bytes = 0, sums = 0;
            for (const Matrix *m = FAMILIES[f].of; m < FAMILIES[f].of + MATRICES && m->times > 0; m++) {
                if (!(targets >> m->target & 1)) continue;
                double t = m->tokens;
                weights += m->times * R * (m->k + m->n), flops += m->times * 2 * t * R * (m->k + m->n);
                bytes += m->times * 2 * (t * m->k + m->k * R + 2 * t * R + R * m->n + t * m->n);
                sums += m->times * 3 * 2 * t * m->n;
            }
            const char *name = FAMILIES[f].name;
            expect_share(added.weights, weights, 1e-9, name, "numbers");
            expect_share(added.flops[PHASE_FORWARD], flops, 1e-9, name, "FLOPs");
            expect_share(added.flops[PHASE_BACKWARD], 2 * flops, 1e-9, name, "FLOPs back");
            /* a fused projection reads its r columns once for up to three matrices */
            expect_share(added.bytes[PHASE_FORWARD], bytes + sums, 0.005, name, "bytes");
            expect_share(added.bytes[PHASE_BACKWARD], 2 * bytes + sums, 0.005, name, "bytes back");
        }
    }
}

/* One part frozen: its numbers are, its matmuls lose the gradient of their weights (2 FLOPs a number and token, half of
 * what moves), and nothing else changes. In 4 bits its matrices are written out in bf16 in both passes, but a router's.
 */
Test(tuning, parts_of_every_family) {
    for (size_t f = 0; f < COUNT_OF(FAMILIES); f++)
        for (int part = 0; part < FROZEN_PARTS; part++) {
            Op ops[OPS_MAX];
            Bench bench = family_bench(f);
            Tuning what = {.on = true, .frozen = 1u << part}, nf4 = what;
            nf4.stored_bytes = 0.5;
            Total before = total_of(ops, family_ops(&bench, NULL, ops), false);
            int count = family_ops(&bench, &what, ops);
            Total after = total_of(ops, count, false);
            for (int i = 0; i < count; i++) /* of the base back is twice forth, of what is frozen once */
                if (ops[i].kind == OP_MATMUL || ops[i].kind == OP_GROUPED_MATMUL)
                    cr_expect_eq(ops[i].hbm_bytes[PHASE_BACKWARD],
                                 (ops[i].frozen > 0 ? 1 : 2) * ops[i].hbm_bytes[PHASE_FORWARD], "%s", ops[i].name);
            Total stored = total_of(ops, family_ops(&bench, &nf4, ops), false);
            double numbers = 0, flops = 0, router = part == FROZEN_ROUTER ? FAMILIES[f].routers : 0;
            for (const Matrix *m = FAMILIES[f].of; m < FAMILIES[f].of + MATRICES && m->times > 0; m++)
                if ((int)m->part == part)
                    numbers += m->times * m->k * m->n, flops += m->times * 2 * m->tokens * m->k * m->n;
            const char *name = FAMILIES[f].name;
            double written = 2.5 * numbers, norms = part == FROZEN_NORMS ? FAMILIES[f].norms : 0;
            flops += 2. * TOKENS * router;
            if (part != FROZEN_NORMS && part != FROZEN_ATTENTION) /* norms of heads and latents lie in attention */
                expect_share(after.frozen, numbers + router + norms, 1e-9, name, "frozen numbers");
            cr_expect_eq(after.weights, before.weights);
            expect_share(after.flops[PHASE_FORWARD], before.flops[PHASE_FORWARD], 1e-12, name, "forward");
            expect_share(before.flops[PHASE_BACKWARD] - after.flops[PHASE_BACKWARD], flops, 1e-6, name, "back");
            expect_share(before.bytes[PHASE_FORWARD], after.bytes[PHASE_FORWARD], 1e-12, name, "bytes");
            for (int phase = 0; phase < PHASE_COUNT; phase++)
                cr_expect_float_eq(stored.bytes[phase] - after.bytes[phase], written, 1e-6 * written + 1,
                                   "%s: part %d is written out: %g", name, part,
                                   stored.bytes[phase] - after.bytes[phase]);
        }
}

/* Tables: what is looked up has a gradient to write or none; they are never quantised and have no adapters; a final
 * norm is frozen with the norms. */
Test(tuning, tables) {
    Bench bench = family_bench(0);
    bench.shard.vocab = 1000;
    for (int part = 0; part < FROZEN_PARTS; part++) {
        Tuning what = {.on = true, .frozen = 1u << part, .stored_bytes = 0.5};
        if (part == FROZEN_LOGITS) what.rank = 8, what.targets = TARGETS_ALL;
        Op before[OPS_MAX], after[OPS_MAX];
        int looked = ops_of_embedding(&bench.model, &bench.shard, &bench.sharding, NULL, before);
        cr_assert_eq(ops_of_embedding(&bench.model, &bench.shard, &bench.sharding, &what, after), looked);
        Total was = total_of(before, looked, false), is = total_of(after, looked, false);
        cr_expect_eq(is.frozen, part == FROZEN_EMBEDDING ? 1000. * D : 0, "part %d", part);
        cr_expect_eq(is.bytes[PHASE_FORWARD], was.bytes[PHASE_FORWARD]);
        cr_expect_eq(is.bytes[PHASE_BACKWARD] < was.bytes[PHASE_BACKWARD], part == FROZEN_EMBEDDING, "part %d", part);
        if (part == FROZEN_EMBEDDING) cr_expect_eq(after[0].hbm_bytes[PHASE_BACKWARD], 0);
        int scored = ops_of_logits(&bench.model, &bench.shard, &bench.sharding, NULL, before);
        cr_assert_eq(ops_of_logits(&bench.model, &bench.shard, &bench.sharding, &what, after), scored);
        was = total_of(before, scored, false), is = total_of(after, scored, false);
        cr_expect_eq(is.frozen, part == FROZEN_LOGITS ? 1000. * D : part == FROZEN_NORMS ? D : 0, "part %d", part);
        cr_expect_eq(was.flops[PHASE_BACKWARD] - is.flops[PHASE_BACKWARD],
                     part == FROZEN_LOGITS ? 2. * TOKENS * 1000 * D : 0, "part %d", part);
    }
}

/* Over tensor a chip holds as much of adapters whether activations move or the MLP's weights are gathered. Gathered
 * are the matrices along the split dimension: B of gate and up, A of down, in bf16; back once more, and their
 * gradient, which frozen ones do not have. */
Test(tuning, gathered_over_tensor) {
    enum { WAYS = 2, R = 16 };
    for (int gathers = 0; gathers < 2; gathers++) {
        Op ops[OPS_MAX];
        Bench bench = bench_of(layer_8b(), 1, TOKENS);
        bench_split(&bench, TOKENS / WAYS, 1, WAYS);
        bench.sharding.mlp = gathers ? MLP_GATHERED : MLP_TENSOR;
        Tuning what = lora(R, TARGETS_ALL & ~TARGETS_ATTENTION);
        int count = family_ops(&bench, &what, ops);
        Total added = total_of(ops, count, true), all = total_of(ops, count, false);
        double split = R * (2 * 14336. + 14336), whole = R * (2 * 4096. + 4096), base = 3 * 4096. * 14336;
        expect_share(added.weights, split / WAYS + whole, 1e-9, "adapters", "numbers");
        cr_expect_eq(added.gathered[PHASE_FORWARD], gathers * 2 * split, "%g", added.gathered[PHASE_FORWARD]);
        cr_expect_eq(added.gathered[PHASE_BACKWARD], gathers * 2 * 2 * split, "%g", added.gathered[PHASE_BACKWARD]);
        cr_expect_eq(added.messages[PHASE_FORWARD], gathers * 2);
        cr_expect_eq(added.messages[PHASE_BACKWARD], gathers * 4);
        for (int phase = 0; phase < PHASE_COUNT; phase++) {
            cr_expect_eq(all.gathered[phase] - added.gathered[phase], gathers * 2 * base, "%d", phase);
            cr_expect_eq(all.messages[phase] - added.messages[phase], gathers * 2, "%d", phase);
        }
    }
}
