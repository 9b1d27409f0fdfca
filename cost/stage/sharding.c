/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/stage/sharding.h"

#include <math.h>

/* What every launcher with rules of its own does (RematDomain), also where a policy is required. */
static bool plain(const Sharding *sharding) {
    return sharding->mlp == MLP_TENSOR && sharding->kv != KV_GATHERED && sharding->embedding == TABLE_VOCABULARY &&
           sharding->logits == TABLE_VOCABULARY;
}

bool sharding_allowed(const CostContext *setting, const Shard *shard, const Sharding *sharding) {
    bool split = shard->tensor > 1;
    if (setting->domain && !plain(sharding)) return false;
    double local = shard->seq / shard->sequence;
    bool sequence_divides = split && fmod(local, shard->tensor) == 0;
    if (sharding->residual == RESIDUAL_SEQUENCE && !sequence_divides) return false;
    bool always = shard->along_sequence || (sequence_divides && setting->profile->stream_split > 0.5);
    if (sharding->residual == RESIDUAL_REPLICATED && always && split) return false;
    bool has_dense = false, copies = false;
    for (int i = 0; i < setting->model->kind_count; i++) {
        const LayerKind *kind = &setting->model->kinds[i];
        has_dense = has_dense || kind->d_ff > 0 || kind->d_ff_shared > 0;
        copies = copies || (kind->kv_heads > 0 && (double)kind->kv_heads < shard->tensor);
    }
    if (sharding->mlp == MLP_GATHERED && (sharding->residual != RESIDUAL_SEQUENCE || !has_dense)) return false;
    if ((sharding->kv == KV_SPLIT) == copies) return false;
    if (!split && (sharding->embedding != TABLE_VOCABULARY || sharding->logits != TABLE_VOCABULARY)) return false;
    return true;
}

int shardings_of(const CostContext *setting, const Shard *shard, Sharding out[SHARDINGS_MAX]) {
    static const ResidualChoice RESIDUALS[] = {RESIDUAL_SEQUENCE, RESIDUAL_REPLICATED};
    int count = 0;
    for (int residual = 0; residual < 2; residual++)
        for (int mlp = MLP_TENSOR; mlp <= MLP_GATHERED; mlp++)
            for (int kv = KV_SPLIT; kv <= KV_GATHERED; kv++)
                for (int embedding = TABLE_VOCABULARY; embedding <= TABLE_D_MODEL; embedding++)
                    for (int logits = TABLE_VOCABULARY; logits <= TABLE_D_MODEL; logits++) {
                        Sharding sharding = {RESIDUALS[residual], (MlpChoice)mlp, (KvChoice)kv, (TableChoice)embedding,
                                             (TableChoice)logits};
                        if (count < SHARDINGS_MAX && sharding_allowed(setting, shard, &sharding))
                            out[count++] = sharding;
                    }
    return count;
}

int sharding_choice(const Sharding *sharding, int node) {
    switch (node) {
    case NODE_RESIDUAL:
        return sharding->residual;
    case NODE_MLP:
        return sharding->mlp;
    case NODE_KV:
        return sharding->kv;
    case NODE_EMBEDDING:
        return sharding->embedding;
    default:
        return sharding->logits;
    }
}

void sharding_choose(Sharding *sharding, int node, int choice) {
    switch (node) {
    case NODE_RESIDUAL:
        sharding->residual = (ResidualChoice)choice;
        break;
    case NODE_MLP:
        sharding->mlp = (MlpChoice)choice;
        break;
    case NODE_KV:
        sharding->kv = (KvChoice)choice;
        break;
    case NODE_EMBEDDING:
        sharding->embedding = (TableChoice)choice;
        break;
    default:
        sharding->logits = (TableChoice)choice;
        break;
    }
}
