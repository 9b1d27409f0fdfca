/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Options of engines and frameworks that say nothing which is priced: files, logs, addresses, learning. */
#include "base/util.h"
#include "search/cli/synonyms.h"

#include <string.h>
#include <strings.h>

/* Between blanks, with hyphens; one that ends with a dot: all keys that begin so. */
static const char *const WITH_VALUE[] = {
    /* engines: addresses, files, logs, and how text goes in and out */
    "port host api-key served-model-name download-dir tokenizer tokenizer-path tokenizer-mode chat-template "
    "tool-call-parser reasoning-parser uvicorn-log-level log-level seed random-seed revision load-format swap-space "
    "distributed-executor-backend limit-mm-per-prompt response-role guided-decoding-backend block-size page-size "
    "hf-overrides generation-config override-generation-config node-rank dist-init-addr master-addr master-port "
    "nccl-port watchdog-timeout schedule-policy attention-backend sampling-backend grammar-backend moe-backend "
    "max-log-len data-parallel-size-local data-parallel-address data-parallel-rpc-port data-parallel-backend "
    "partition account qos job-name max-workers engine-dir backend all2all-backend moe-a2a-backend deepep-mode",
    /* learning, data, logs and checkpoints */
    "learning-rate lr min-lr weight-decay beta beta1 beta2 epsilon temperature top-p top-k warmup-ratio warmup-steps "
    "lr-scheduler-type max-grad-norm save-steps eval-steps logging-steps logging-dir output-dir run-name report-to "
    "project-name experiment-name dataset-name dataset-path data-path val-files train-files "
    "actor-learning-rate critic-learning-rate init-kl-coef kl-coef kl-loss-coef kl-target eps-clip gamma lambd "
    "cliprange clip-ratio loss-type num-iterations max-samples max-epochs num-episodes save-path ckpt-path "
    "load-checkpoint input-key prompt-data apply-chat-template reward-fn reward-funcs use-wandb wandb-project "
    "vllm-sync-backend ppo-epochs dataloader-num-workers gpu-type-hint micro-train-batch-size "
    "micro-rollout-batch-size micro-forward-batch-size ppo-micro-batch-size-per-gpu log-prob-micro-batch-size-per-gpu "
    "train-micro-batch-size ppo-max-token-len-per-gpu total-epochs total-training-steps save-freq test-freq logger "
    "entropy-coeff trainer. data. logger. checkpointing. env. reward. custom-reward-function. algorithm. grpo. "
    "loss-fn. actor.optim. hydra.",
};
static const char *const FLAGS[] = {
    "trust-remote-code disable-log-requests disable-log-stats no-enable-log-requests enable-auto-tool-choice "
    "enable-reasoning skip-tokenizer-init enable-metrics allow-credentials disable-radix-cache-logs no-wait "
    "enable-log-requests show-time-cost enable-torch-compile headless enable-request-stats ray "
    "disable-custom-all-reduce disable-hybrid-kv-cache-manager async-scheduling enable-mixed-chunk "
    "data-parallel-hybrid-lb multi-modal-encoder-tp-mode",
    "do-train do-eval overwrite-output-dir normalize-reward apply-chat-template remove-unused-columns "
    "packing-samples gradient-checkpointing adam-offload use-kl-loss bf16-full-eval flash-attn use-flash-attn "
    "use-flash-attn-2 use-liger-kernel enable-gradient-checkpointing use-remove-padding use-dynamic-bsz",
};

static bool is_in(const char *const *lists, size_t count, const char *word) {
    for (size_t i = 0; i < count; i++)
        for (const char *at = lists[i]; *at; at += strspn(at, " ")) {
            size_t length = strcspn(at, " "), own = strlen(word);
            bool whole = own == length || (at[length - 1] == '.' && own > length);
            if (whole && strncasecmp(at, word, length) == 0) return true;
            at += length;
        }
    return false;
}

bool word_is_passed_over(const char *name, bool *takes) {
    *takes = is_in(WITH_VALUE, COUNT_OF(WITH_VALUE), name);
    return *takes || is_in(FLAGS, COUNT_OF(FLAGS), name);
}
