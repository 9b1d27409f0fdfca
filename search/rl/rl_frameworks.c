/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The keys of each framework, as of its release. Sources: NVIDIA-NeMo/RL examples/configs @7ea279a (August 2026); the
 * packages verl 0.9.1 (verl/trainer/config, verl/experimental), openrlhf 0.11.2 (openrlhf/cli/train_ppo_ray.py) and trl
 * 1.16.0 (trl/trainer/grpo_config.py); slime: THUDM/slime scripts/run-qwen3-30B-A3B.sh @128cb0e and slime/utils. */
#include "search/rl/rl_files.h"

#include <string.h>

/* In the order of RL_ALGORITHM: grpo dapo ppo rloo reinforce++ distillation. */
static const char *const NEMO_ESTIMATORS[] = {"grpo", "grpo", NULL, "grpo", "reinforce_plus_plus", NULL};
static const char *const VERL_ESTIMATORS[] = {"grpo", "grpo", "gae", "rloo", "reinforce_plus_plus", NULL};
static const char *const OPENRLHF_ESTIMATORS[] = {"group_norm", "group_norm", "gae", "rloo", "reinforce", NULL};
static const char *const SLIME_ESTIMATORS[] = {"grpo", "grpo", "ppo", NULL, "reinforce_plus_plus", NULL};
static const char *const TRL_ESTIMATORS[] = {"grpo", "dapo", NULL, NULL, NULL, NULL};

static const RlKey NEMO_KEYS[] = {
    {"grpo.num_prompts_per_step", FACT_PROMPTS, NULL},
    {"grpo.num_generations_per_prompt", FACT_SAMPLES, NULL},
    {"grpo.adv_estimator.name", FACT_ESTIMATOR, NULL},
    {"grpo.async_grpo.enabled", FACT_LAGS, NULL},
    {"grpo.async_grpo.max_trajectory_age_steps", FACT_LAG, NULL},
    {"grpo.async_grpo.in_flight_weight_updates", FACT_PARTIAL, NULL},
    {"loss_fn.use_importance_sampling_correction", FACT_LAGS, NULL},
    {"loss_fn.force_on_policy_ratio", FACT_BYPASS, NULL},
    {"policy.model_name", FACT_MODEL, NULL},
    {"policy.train_global_batch_size", FACT_BATCH_ANSWERS, NULL},
    {"policy.train_micro_batch_size", FACT_MICRO, NULL},
    {"policy.max_total_sequence_length", FACT_LENGTH, NULL},
    {"policy.sequence_packing.enabled", FACT_NONE, "true"},
    {"policy.dtensor_cfg.enabled", FACT_NONE, "false"},
    {"policy.megatron_cfg.enabled", FACT_NONE, "true"},
    {"policy.megatron_cfg.activation_checkpointing", FACT_RECOMPUTES, NULL},
    {"policy.megatron_cfg.tensor_model_parallel_size", FACT_TENSOR, NULL},
    {"policy.megatron_cfg.sequence_parallel", FACT_SEQUENCE_PARALLEL, NULL},
    {"policy.megatron_cfg.context_parallel_size", FACT_CONTEXT, NULL},
    {"policy.megatron_cfg.pipeline_model_parallel_size", FACT_PIPELINE, NULL},
    {"policy.megatron_cfg.expert_model_parallel_size", FACT_EXPERT, NULL},
    {"policy.megatron_cfg.expert_tensor_parallel_size", FACT_EXPERT_TENSOR, NULL},
    {"policy.megatron_cfg.optimizer.use_precision_aware_optimizer", FACT_ON_HOST, "true"},
    {"policy.megatron_cfg.optimizer.optimizer_cpu_offload", FACT_ON_HOST, "true"},
    {"policy.megatron_cfg.optimizer.optimizer_offload_fraction", FACT_ON_HOST, "1.0"},
    {"policy.generation.backend", FACT_ENGINE, NULL},
    {"policy.generation.colocated.enabled", FACT_COLOCATED, NULL},
    {"policy.generation.colocated.resources.num_nodes", FACT_ROLLOUT_HOSTS, NULL},
    {"policy.generation.colocated.resources.gpus_per_node", FACT_ROLLOUT_HOST_CHIPS, NULL},
    {"policy.generation.vllm_cfg.async_engine", FACT_LAGS, NULL},
    {"policy.generation.vllm_cfg.tensor_parallel_size", FACT_ROLLOUT_TENSOR, NULL},
    {"policy.generation.vllm_cfg.pipeline_parallel_size", FACT_ROLLOUT_PIPELINE, NULL},
    {"policy.generation.vllm_cfg.expert_parallel_size", FACT_ROLLOUT_EXPERT, NULL},
    {"policy.generation.vllm_cfg.gpu_memory_utilization", FACT_HBM_SHARE, NULL},
    {"cluster.num_nodes", FACT_HOSTS, NULL},
    {"cluster.gpus_per_node", FACT_CLUSTER_CHIPS, NULL},
    {NULL}};

#define VERL_MODEL "actor_rollout_ref.actor.megatron.override_transformer_config."
static const RlKey VERL_KEYS[] = {
    {"data.train_batch_size", FACT_PROMPTS, NULL},
    {"data.max_prompt_length", FACT_PROMPT_LENGTH, NULL},
    {"data.max_response_length", FACT_ANSWER_LENGTH, NULL},
    {"algorithm.adv_estimator", FACT_ESTIMATOR, NULL},
    {"algorithm.rollout_correction.bypass_mode", FACT_BYPASS, NULL},
    {"actor_rollout_ref.model.path", FACT_MODEL, NULL},
    {"actor_rollout_ref.actor.ppo_mini_batch_size", FACT_BATCH_PROMPTS, NULL},
    {"actor_rollout_ref.actor.use_dynamic_bsz", FACT_NONE, "True"},
    {"actor_rollout_ref.actor.ppo_max_token_len_per_gpu", FACT_MICRO_TOKENS, NULL},
    {"actor_rollout_ref.actor.use_kl_loss", FACT_KL, NULL},
    {"actor_rollout_ref.actor.megatron.tensor_model_parallel_size", FACT_TENSOR, NULL},
    {"actor_rollout_ref.actor.megatron.context_parallel_size", FACT_CONTEXT, NULL},
    {"actor_rollout_ref.actor.megatron.pipeline_model_parallel_size", FACT_PIPELINE, NULL},
    {"actor_rollout_ref.actor.megatron.virtual_pipeline_model_parallel_size", FACT_VIRTUAL, NULL},
    {"actor_rollout_ref.actor.megatron.expert_model_parallel_size", FACT_EXPERT, NULL},
    {"actor_rollout_ref.actor.megatron.expert_tensor_parallel_size", FACT_EXPERT_TENSOR, NULL},
    {VERL_MODEL "recompute_granularity", FACT_RECOMPUTE_FLAG, "full"},
    {VERL_MODEL "recompute_method", FACT_RECOMPUTE_FLAG, "uniform"},
    {VERL_MODEL "recompute_num_layers", FACT_RECOMPUTE_FLAG, "1"},
    {"actor_rollout_ref.actor.megatron.param_offload", FACT_OFFLOAD, NULL},
    {"actor_rollout_ref.actor.megatron.optimizer_offload", FACT_OFFLOAD, NULL},
    {"actor_rollout_ref.rollout.name", FACT_ENGINE, NULL},
    {"actor_rollout_ref.rollout.n", FACT_SAMPLES, NULL},
    {"actor_rollout_ref.rollout.tensor_model_parallel_size", FACT_ROLLOUT_TENSOR, NULL},
    {"actor_rollout_ref.rollout.pipeline_model_parallel_size", FACT_ROLLOUT_PIPELINE, NULL},
    {"actor_rollout_ref.rollout.data_parallel_size", FACT_ROLLOUT_DATA, NULL},
    {"actor_rollout_ref.rollout.expert_parallel_size", FACT_ROLLOUT_EXPERT, NULL},
    {"actor_rollout_ref.rollout.max_num_seqs", FACT_SLOTS, NULL},
    {"actor_rollout_ref.rollout.gpu_memory_utilization", FACT_HBM_SHARE, NULL},
    {"trainer.nnodes", FACT_TRAIN_HOSTS, NULL},
    {"trainer.n_gpus_per_node", FACT_HOST_CHIPS, NULL},
    {"rollout.nnodes", FACT_ROLLOUT_HOSTS, NULL},
    {"rollout.n_gpus_per_node", FACT_ROLLOUT_HOST_CHIPS, NULL},
    {NULL}};

static const RlKey OPENRLHF_KEYS[] = {{"actor.model_name_or_path", FACT_MODEL, NULL},
                                      {"actor.num_nodes", FACT_TRAIN_HOSTS, NULL},
                                      {"actor.num_gpus_per_node", FACT_HOST_CHIPS, NULL},
                                      {"ref.num_nodes", FACT_TRAIN_HOSTS, NULL},
                                      {"ref.num_gpus_per_node", FACT_HOST_CHIPS, NULL},
                                      {"train.colocate_all", FACT_SHARES, NULL},
                                      {"vllm.enable_sleep", FACT_SHARES, NULL},
                                      {"ds.enable_sleep", FACT_SHARES, NULL},
                                      {"train.colocate_actor_ref", FACT_NONE, ""},
                                      {"vllm.num_engines", FACT_ENGINES, NULL},
                                      {"vllm.tensor_parallel_size", FACT_ROLLOUT_TENSOR, NULL},
                                      {"vllm.gpu_memory_utilization", FACT_HBM_SHARE, NULL},
                                      {"rollout.batch_size", FACT_PROMPTS, NULL},
                                      {"rollout.n_samples_per_prompt", FACT_SAMPLES, NULL},
                                      {"rollout.max_new_tokens", FACT_ANSWER_LENGTH, NULL},
                                      {"data.max_len", FACT_LENGTH, NULL},
                                      {"train.batch_size", FACT_BATCH_ANSWERS, NULL},
                                      {"train.async_enable", FACT_FLAG_LAGS, NULL},
                                      {"train.async_queue_size", FACT_LAG, NULL},
                                      {"train.partial_rollout_enable", FACT_FLAG_PARTIAL, NULL},
                                      {"algo.advantage.estimator", FACT_ESTIMATOR, NULL},
                                      {"ds.zero_stage", FACT_NONE, "3"},
                                      {"ds.tensor_parallel_size", FACT_TENSOR, NULL},
                                      {"ds.ring_attn_size", FACT_CONTEXT, NULL},
                                      {"ds.packing_samples", FACT_NONE, ""},
                                      {"train.dynamic_batch_enable", FACT_NONE, ""},
                                      {"train.max_tokens_per_gpu", FACT_MICRO_TOKENS, NULL},
                                      {"actor.gradient_checkpointing_enable", FACT_RECOMPUTE_FLAG, NULL},
                                      {"ds.adam_offload", FACT_ON_HOST, NULL},
                                      {NULL}};

static const RlKey SLIME_KEYS[] = {{"hf-checkpoint", FACT_MODEL, NULL},
                                   {"actor-num-nodes", FACT_TRAIN_HOSTS, NULL},
                                   {"actor-num-gpus-per-node", FACT_HOST_CHIPS, NULL},
                                   {"colocate", FACT_SHARES, NULL},
                                   {"rollout-num-gpus", FACT_ROLLOUT_CHIPS, NULL},
                                   {"rollout-num-gpus-per-engine", FACT_ENGINE_CHIPS, NULL},
                                   {"sglang-enable-dp-attention", FACT_ROLLOUT_ATTENTION, NULL},
                                   {"sglang-dp-size", FACT_ROLLOUT_DATA, NULL},
                                   {"sglang-ep-size", FACT_ROLLOUT_EXPERT, NULL},
                                   {"sglang-mem-fraction-static", FACT_HBM_SHARE, NULL},
                                   {"rollout-batch-size", FACT_PROMPTS, NULL},
                                   {"n-samples-per-prompt", FACT_SAMPLES, NULL},
                                   {"rollout-max-response-len", FACT_ANSWER_LENGTH, NULL},
                                   {"global-batch-size", FACT_BATCH_ANSWERS, NULL},
                                   {"advantage-estimator", FACT_ESTIMATOR, NULL},
                                   {"tensor-model-parallel-size", FACT_TENSOR, NULL},
                                   {"sequence-parallel", FACT_SEQUENCE_FLAG, NULL},
                                   {"context-parallel-size", FACT_CONTEXT, NULL},
                                   {"pipeline-model-parallel-size", FACT_PIPELINE, NULL},
                                   {"expert-model-parallel-size", FACT_EXPERT, NULL},
                                   {"expert-tensor-parallel-size", FACT_EXPERT_TENSOR, NULL},
                                   {"use-dynamic-batch-size", FACT_NONE, ""},
                                   {"max-tokens-per-gpu", FACT_MICRO_TOKENS, NULL},
                                   {"recompute-granularity", FACT_RECOMPUTE_FLAG, "full"},
                                   {"recompute-method", FACT_RECOMPUTE_FLAG, "uniform"},
                                   {"recompute-num-layers", FACT_RECOMPUTE_FLAG, "1"},
                                   {"optimizer-cpu-offload", FACT_ON_HOST, NULL},
                                   {"use-precision-aware-optimizer", FACT_ON_HOST, NULL},
                                   {NULL}};

static const RlKey TRL_KEYS[] = {{"model_name_or_path", FACT_MODEL, NULL},
                                 {"num_generations", FACT_SAMPLES, NULL},
                                 {"generation_batch_size", FACT_ANSWERS, NULL},
                                 {"per_device_train_batch_size", FACT_MICRO, NULL},
                                 {"gradient_checkpointing", FACT_RECOMPUTES, NULL},
                                 {"max_completion_length", FACT_ANSWER_LENGTH, NULL},
                                 {"loss_type", FACT_ESTIMATOR, NULL},
                                 {"use_vllm", FACT_NONE, "true"},
                                 {"vllm_mode", FACT_NONE, "colocate"},
                                 {"vllm_enable_sleep_mode", FACT_NONE, "true"},
                                 {"vllm_tensor_parallel_size", FACT_ROLLOUT_TENSOR, NULL},
                                 {"vllm_gpu_memory_utilization", FACT_HBM_SHARE, NULL},
                                 {NULL}};

const RlFramework RL_FRAMEWORK[RL_FRAMEWORKS] = {
    {"nemo-rl", "NeMo RL", "main of August 2026", RL_YAML, "defaults: grpo_math_1B.yaml", "defaults: grpo_math_1B.yaml",
     NEMO_ESTIMATORS, NEMO_KEYS, .expert_group = true},
    {"verl", "verl", "0.9.1", RL_OVERRIDES, "python3 -m verl.trainer.main_ppo --config-name=ppo_megatron_trainer.yaml",
     "python3 -m verl.experimental.one_step_off_policy.main_ppo --config-name=one_step_off_ppo_megatron_trainer.yaml",
     VERL_ESTIMATORS, VERL_KEYS, .ways = 1u << RL_COLOCATED | 1u << RL_SPLIT_LAGGED,
     .ways_words = "splits one step off policy with whole answers; give --lag 1 --partial no, or --colocated"},
    {"openrlhf", "OpenRLHF", "0.11.2", RL_FLAGS, "python3 -m openrlhf.cli.train_ppo_ray",
     "python3 -m openrlhf.cli.train_ppo_ray", OPENRLHF_ESTIMATORS, .keys = OPENRLHF_KEYS, .trainer = "deepspeed"},
    {"slime", "slime", "main of 2026", RL_FLAGS, "python3 train.py ${MODEL_ARGS[@]}",
     "python3 train_async.py ${MODEL_ARGS[@]}", SLIME_ESTIMATORS, .keys = SLIME_KEYS,
     .ways = 1u << RL_COLOCATED | 1u << RL_SPLIT | 1u << RL_SPLIT_LAGGED,
     .ways_words = "goes on with unfinished answers in no split; give --partial no"},
    {"trl", "TRL", "1.16.0", RL_YAML, NULL, NULL, TRL_ESTIMATORS, TRL_KEYS, .ways = 1u << RL_COLOCATED,
     .trainer = "deepspeed", .ways_words = "runs its server by hand, one step after the other; give --colocated"},
};

bool rl_has_fact(const RlFramework *framework, RlFact fact) {
    for (const RlKey *key = framework->keys; key->key; key++)
        if (key->fact == fact) return true;
    return false;
}

const RlFramework *rl_framework_named(const char *name) {
    for (int i = 0; i < RL_FRAMEWORKS; i++)
        if (strcmp(RL_FRAMEWORK[i].name, name) == 0) return &RL_FRAMEWORK[i];
    return NULL;
}
