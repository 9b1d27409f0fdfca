/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/plan/tuning.h"

#include "base/util.h"
#include "cost/plan/ops.h"

#include <assert.h>
#include <string.h>

#define BIT(number) (1u << (number))

/* The matmuls of a model, each with its part, the matrices it is made of, and the activation that it reads and that is
 * kept for nothing else; -1: others need it too. What is no row is part of attention (or of what mixes tokens). */
static const struct {
    const char *op;
    FrozenPart part;
    unsigned targets;
    int input;
} ROWS[] = {
    {"qkv projection", FROZEN_ATTENTION, BIT(TARGET_QUERY) | BIT(TARGET_KEY) | BIT(TARGET_VALUE),
     ACTIVATION_ATTENTION_INPUT},
    {"query projection", FROZEN_ATTENTION, BIT(TARGET_QUERY), ACTIVATION_ATTENTION_INPUT},
    {"latent down projection", FROZEN_ATTENTION, BIT(TARGET_KEY), ACTIVATION_ATTENTION_INPUT},
    {"key and value up projection", FROZEN_ATTENTION, BIT(TARGET_VALUE), -1},
    {"attention output", FROZEN_ATTENTION, BIT(TARGET_OUTPUT), -1},
    {"mlp gate and up", FROZEN_MLP, BIT(TARGET_GATE) | BIT(TARGET_UP), ACTIVATION_MLP_INPUT},
    {"mlp up", FROZEN_MLP, BIT(TARGET_UP), ACTIVATION_MLP_INPUT},
    {"mlp down", FROZEN_MLP, BIT(TARGET_DOWN), ACTIVATION_PRODUCT},
    {"expert gate and up", FROZEN_EXPERTS, BIT(TARGET_GATE) | BIT(TARGET_UP), ACTIVATION_MLP_INPUT},
    {"expert up", FROZEN_EXPERTS, BIT(TARGET_UP), ACTIVATION_MLP_INPUT},
    {"expert down", FROZEN_EXPERTS, BIT(TARGET_DOWN), ACTIVATION_PRODUCT},
    {"router", FROZEN_ROUTER, 0, -1},
    {"attention norm", FROZEN_NORMS, 0, -1},
    {"mlp norm", FROZEN_NORMS, 0, -1},
    {"mixer norm", FROZEN_NORMS, 0, -1},
    {"final norm", FROZEN_NORMS, 0, -1},
    {"embedding norm", FROZEN_NORMS, 0, -1},
    {"embedding", FROZEN_EMBEDDING, 0, -1},
    {"logits", FROZEN_LOGITS, 0, -1},
    {"towers", FROZEN_VISION, 0, -1},
    {"projector", FROZEN_PROJECTOR, 0, -1},
};

static int row_of(const Op *op) {
    for (size_t i = 0; i < COUNT_OF(ROWS); i++)
        if (strcmp(ROWS[i].op, op->name) == 0) return (int)i;
    return -1;
}

static bool is_matmul(const Op *op) { return op->kind == OP_MATMUL || op->kind == OP_GROUPED_MATMUL; }

static bool is_frozen(const Tuning *tuning, int row) {
    return tuning->frozen >> (row < 0 ? FROZEN_ATTENTION : ROWS[row].part) & 1;
}

/* How many of the matrices that an op is made of have adapters, and how many of its columns are theirs. */
typedef struct {
    double matrices, columns;
} Adapted;

static Adapted adapted_of(const Tuning *tuning, const Op *op, int row, double query_share) {
    unsigned of = row < 0 ? 0 : ROWS[row].targets, chosen = of & (tuning->rank > 0 ? tuning->targets : 0);
    Adapted out = {0};
    for (int target = 0; target < TARGET_COUNT; target++) {
        if (!(chosen >> target & 1)) continue;
        double all = 0, share;
        for (int other = 0; other < TARGET_COUNT; other++) all += of >> other & 1;
        share = all < 3 ? 1 / all : target == TARGET_QUERY ? query_share : (1 - query_share) / 2;
        out.matrices++;
        out.columns += share * op->n;
    }
    return out;
}

/* Over how many chips of tensor the layout splits the matrix of an op that it gathers for use; 1: it does not. */
static double gathered_over(const Op *op) {
    const Traffic *gather = &op->traffic[GROUP_TENSOR_WEIGHTS][PHASE_FORWARD];
    return gather->messages > 0 && op->weights > 0 ? gather->bytes / (BF16_BYTES * op->weights) : 1;
}

/* The matrix of an adapter has the dimension that tensor splits in the base's: it is split and gathered like that one,
 * and a chip holds as much of it under every layout. */
static void gather_adapter(double ways, Op *op) {
    if (!(ways > 1)) return;
    double bytes = BF16_BYTES * op->weights;
    op->weights /= ways;
    op->traffic[GROUP_TENSOR_WEIGHTS][PHASE_FORWARD] = (Traffic){1, bytes};
    op->traffic[GROUP_TENSOR_WEIGHTS][PHASE_BACKWARD] = (Traffic){2, 2 * bytes};
}

/* A matmul of `groups` groups whose backward is two. */
static Op adapter_matmul(const Op *base, const char *name, double n, double k, double times) {
    double m = base->m, groups = base->groups;
    Op op = {
        .kind = OP_MATMUL, .name = name, .m = m, .n = n, .k = k, .groups = 1, .chunks = 1, .output_activation = -1};
    op.saved_ways = 1;
    op.expert_weights = base->expert_weights;
    op.adapter = true;
    op.weights = times * groups * n * k;
    op.flops[PHASE_FORWARD] = 2 * times * groups * m * n * k;
    op.hbm_bytes[PHASE_FORWARD] = BF16_BYTES * times * groups * (m * k + k * n + m * n);
    op.flops[PHASE_BACKWARD] = 2 * op.flops[PHASE_FORWARD];
    op.hbm_bytes[PHASE_BACKWARD] = 2 * op.hbm_bytes[PHASE_FORWARD];
    return op;
}

static Op passing(const char *name, double bytes) {
    Op op = {.kind = OP_ELEMENTWISE, .name = name, .groups = 1, .chunks = 1, .output_activation = -1, .saved_ways = 1};
    op.hbm_bytes[PHASE_FORWARD] = op.hbm_bytes[PHASE_BACKWARD] = bytes;
    return op;
}

/* What stands before a matmul: its weights written out, and its adapters. */
static int ops_before(const Tuning *tuning, const Op *op, int row, Adapted adapted, bool quantises, Op out[4]) {
    int count = 0;
    bool rows = row >= 0 && ROWS[row].targets == BIT(TARGET_DOWN); /* tensor splits what goes in, else what comes out */
    double ways = gathered_over(op);
    if (quantises && tuning->stored_bytes > 0 && op->kind != OP_LOOKUP)
        out[count++] = passing("dequantise", (tuning->stored_bytes + BF16_BYTES) * op->weights);
    if (!(adapted.matrices > 0)) return count;
    out[count] = adapter_matmul(op, "adapter down", tuning->rank, op->k, adapted.matrices);
    gather_adapter(rows ? ways : 1, &out[count++]);
    out[count] = adapter_matmul(op, "adapter up", adapted.columns, tuning->rank, 1);
    gather_adapter(rows ? 1 : ways, &out[count++]);
    /* both summands read, the sum written */
    out[count++] = passing("adapter sum", 3 * BF16_BYTES * op->m * op->groups * adapted.columns);
    return count;
}

static void freeze(Op *op) {
    op->frozen = op->weights;
    if (op->kind == OP_LOOKUP) op->hbm_bytes[PHASE_BACKWARD] = 0;
    if (!is_matmul(op)) return;
    op->flops[PHASE_BACKWARD] /= 2;
    op->hbm_bytes[PHASE_BACKWARD] /= 2;
    Traffic *gather = &op->traffic[GROUP_TENSOR_WEIGHTS][PHASE_BACKWARD]; /* and its gradient, which there is not */
    gather->messages /= 2, gather->bytes /= 2;
}

int tune_ops(const Tuning *tuning, double query_share, Op *ops, int count) {
    bool needed[ACTIVATION_COUNT] = {false};
    if (!tuning || !tuning->on) return count;
    for (int i = 0; i < count; i++) {
        int row = row_of(&ops[i]);
        bool frozen = is_frozen(tuning, row);
        Adapted adapted = frozen ? adapted_of(tuning, &ops[i], row, query_share) : (Adapted){0};
        /* bitsandbytes keeps the input of a quantised matmul, which has no use for it (autograd/_functions.py,
         * MatMul4Bit: ctx.tensors = (A, B)) */
        bool reads = !frozen || adapted.matrices > 0 || tuning->stored_bytes > 0;
        if (row >= 0 && ROWS[row].input >= 0 && reads) needed[ROWS[row].input] = true;
        if (frozen) freeze(&ops[i]);
        bool table = row >= 0 && ROWS[row].part == FROZEN_LOGITS;
        if (!is_matmul(&ops[i]) || table) continue;
        Op more[4];
        bool quantises = frozen && (row < 0 || ROWS[row].part != FROZEN_ROUTER);
        int added = ops_before(tuning, &ops[i], row, adapted, quantises, more);
        assert(count + added <= OPS_MAX);
        memmove(&ops[i + added], &ops[i], sizeof *ops * (size_t)(count - i));
        memcpy(&ops[i], more, sizeof *ops * (size_t)added);
        i += added, count += added;
    }
    static const Activation INPUTS[] = {ACTIVATION_ATTENTION_INPUT, ACTIVATION_MLP_INPUT, ACTIVATION_PRODUCT};
    for (int i = 0; i < count; i++)
        for (size_t j = 0; j < COUNT_OF(INPUTS); j++)
            if (ops[i].output_activation == (int)INPUTS[j] && !needed[INPUTS[j]])
                ops[i].saved_bytes = ops[i].saved_copy = 0;
    return count;
}
