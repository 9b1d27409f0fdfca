/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/cli/synonym_table.h"

#include "base/util.h"
#include "search/cli/synonyms.h"

#include <string.h>
#include <strings.h>

const Synonym SYNONYMS[] = {
    {.word = "gpus", .option = "chips"},
    {.word = "tpus", .option = "chips"},
    {.word = "num-gpus", .option = "chips"},
    {.word = "world-size", .option = "chips"},
    {.word = "gpu", .option = "chip"},
    {.word = "tpu", .option = "chip"},
    {.word = "accelerator", .option = "chip"},
    {.word = "hardware", .option = "chip"},
    {.word = "num-nodes", .option = "nodes"},
    {.word = "batch-size", .option = "sequences"},
    {.word = "global-batch-size", .option = "sequences"},
    {.word = "gbs", .option = "sequences"},
    {.word = "topology", .option = "slice"},
    {.word = "seq-len", .option = "seq"},
    {.word = "seqlen", .option = "seq"},
    {.word = "context", .option = "seq"},
    {.word = "ctx", .option = "seq"},
    {.word = "seq-length", .option = "seq"},
    {.word = "sequence-length", .option = "seq"},
    {.word = "max-seq-len", .option = "seq"},
    {.word = "context-length", .option = "seq"},
    {.word = "dtype", .option = "precision"},
    {.word = "framework", .option = "for"},
    {.word = "launcher", .option = "for"},
    {.word = "models", .option = "model"},
    {.word = "chip-type", .option = "chip"},
    {.word = "gpu-type", .option = "chip"},
    {.word = "config", .option = "from-config"},
    {.word = "report", .option = "from"},
    {.word = "train-tokens", .option = "tokens"},
    {.word = "training-tokens", .option = "tokens"},
    {.word = "output-format", .option = "format"},
    {.word = "timeout", .option = "time-limit"},
    {.word = "offload-optimizer", .option = "offload", .value = "optimizer"},
    {.word = "megatron", .option = "for", .value = "megatron"},
    {.word = "deepspeed", .option = "for", .value = "deepspeed"},
    {.word = "torchtitan", .option = "for", .value = "torchtitan"},
    {.word = "maxtext", .option = "for", .value = "maxtext"},
    {.word = "json", .option = "format", .value = "json"},
    {.word = "html", .option = "format", .value = "html"},
    {.word = "csv", .option = "format", .value = "csv"},
    {.word = "markdown", .option = "format", .value = "markdown"},
    {.word = "lora-r", .option = "lora"},
    {.word = "lora-rank", .option = "lora"},
    {.word = "lora-target-modules", .option = "targets"},
    {.word = "dpo", .option = "task", .value = "dpo"},
    {.word = "sft", .option = "task", .value = "sft"},
    {.word = "stage", .option = "task"}, /* LLaMA-Factory's */
    {.word = "rlhf-type", .option = "task"},
    {.word = "full", .option = "task", .value = "sft"},
    {.word = "full-finetuning", .option = "task", .value = "sft"},
    {.word = "load-in-4bit", .option = "qlora", .value = "4bit"},
    {.word = "load-in-8bit", .option = "qlora", .value = "8bit"},
    {.word = "target-modules", .option = "targets"},
    {.word = "lora-target", .option = "targets"},
    {.word = "lora-targets", .option = "targets"},
    {.word = "num-train-epochs", .option = "epochs"},
    {.word = "num-epochs", .option = "epochs"},
    {.word = "max-seq-length", .option = "max-length"},
    {.word = "cutoff-len", .option = "max-length"},
    {.word = "sequence-len", .option = "max-length"},
    {.word = "cpu-offload", .option = "offload", .value = "parameters"},
    {.word = "offload-params", .option = "offload", .value = "parameters"},
    {.word = "bf16", .option = "precision", .value = "bf16"},
    {.word = "fp8", .option = "precision", .value = "fp8"},
    {.word = "mxfp8", .option = "precision", .value = "mxfp8"},
    {.word = "nvfp4", .option = "precision", .value = "nvfp4"},
    {.word = "per-device-batch", .condition = "microbatch_sequences"},
    {.word = "per-device-batch-size", .condition = "microbatch_sequences"},
    {.word = "per-device-train-batch-size", .condition = "microbatch_sequences"},
    {.word = "helps", .option = "sensitivity", .advised = true},
    {.word = "osl", .option = "answer"},
    {.word = "file", .option = "output", .advised = true},
    {.word = "isl", .option = "prompt"},
    {.word = "input-len", .option = "prompt"},
    {.word = "random-input-len", .option = "prompt"},
    {.word = "output-len", .option = "answer"},
    {.word = "random-output-len", .option = "answer"},
    {.word = "qps", .option = "rate"},
    {.word = "p99-ttft", .option = "ttft", .advised = true},
    {.word = "p99-tpot", .option = "tpot", .advised = true},
    {.word = "request-rate", .option = "rate"},
    {.word = "max-concurrency", .option = "concurrency"},
    {.word = "as-is", .option = "stack", .value = "as-is"},
    {.word = "ngpu", .option = "chips"},
    {.word = "nnodes", .option = "nodes"},
    {.word = "count", .option = "nodes"},
    {.word = "instance", .option = "chip"},
    {.word = "instance-type", .option = "chip"},
    {.word = "machine", .option = "chip"},
    {.word = "machine-type", .option = "chip"},
    {.word = "accelerator-type", .option = "chip"},
    {.word = "bs", .option = "sequences"},
    {.word = "global-batch", .option = "sequences"},
    {.word = "tokens-per-batch", .option = "batch"},
    {.word = "training.seq-len", .option = "seq"},
    {.word = "training.local-batch-size", .condition = "microbatch_sequences"},
    {.word = "max-target-length", .option = "seq"},
    {.word = "num-slices", .option = "slices"},
    {.word = "ici-fsdp-parallelism", .condition = "fsdp"},
    {.word = "ici-tensor-parallelism", .condition = "tensor"},
    {.word = "ici-expert-parallelism", .condition = "expert"},
    {.word = "tp-size", .condition = "tensor"},
    {.word = "pp-size", .condition = "pipeline"},
    {.word = "ep-size", .condition = "ep"},
    {.word = "fp4", .option = "precision", .value = "nvfp4"},
    {.word = "int4", .option = "precision", .value = "int4"},
    {.word = "int8", .option = "precision", .value = "int8"},
    {.word = "no-fp8", .option = "precision", .value = "bf16"},
    {.word = "quant", .option = "precision"},
    {.word = "quantization", .option = "precision"},
    {.word = "kv-cache-dtype", .option = "kv-dtype"},
    {.word = "itl", .option = "tpot"},
    {.word = "rps", .option = "rate"},
    {.word = "in", .option = "prompt"},
    {.word = "out", .option = "answer"},
    {.word = "users", .option = "concurrency"},
    {.word = "batch", .option = "concurrency"},
    {.word = "batch-size", .option = "concurrency"},
    {.word = "prefix-cache-hit", .option = "cached"},
    {.word = "algo", .option = "algorithm"},
    {.word = "ppo", .option = "algorithm", .value = "ppo"},
    {.word = "grpo", .option = "algorithm", .value = "grpo"},
    {.word = "group-size", .option = "samples"},
    {.word = "num-generations", .option = "samples"},
    {.word = "samples-per-prompt", .option = "samples"},
    {.word = "rollout.n", .option = "samples"},
    {.word = "rollouts", .option = "samples"},
    {.word = "num-prompts", .option = "prompts"},
    {.word = "train-batch-size", .option = "prompts"}, /* verl's counts prompts */
    {.word = "max-prompt-length", .option = "prompt"},
    {.word = "max-response-length", .option = "max-answer"},
    {.word = "max-completion-length", .option = "max-answer"},
    {.word = "mean-response", .option = "answer"},
    {.word = "reward-model", .option = "reward"},
    {.word = "dataset-size", .option = "samples"},
    {.word = "examples", .option = "samples"},
    {.word = "rank", .option = "lora"},
    {.word = "context", .option = "prompt"},
    {.word = "dp-size", .condition = "data"},
    {.word = "batch", .option = "prompts"},
    {.word = "batch-size", .option = "prompts"},
    {.word = "max-tokens", .option = "max-answer"},
    {.word = "max-new-tokens", .option = "answer"},
    {.word = "async", .option = "lag", .value = "1"},
    {.word = "no-pipeline", .condition = "pipeline", .value = "1"},
    {.word = "no-pp", .condition = "pipeline", .value = "1"},
    {.word = "no-tp", .condition = "tensor", .value = "1"},
    {.word = "max-tp", .condition = "tensor<"},
    {.word = "max-pp", .condition = "pipeline<"},
    {.word = "max-ep", .condition = "ep<"},
    {.word = "tp", .condition = "tensor"},
    {.word = "pp", .condition = "pipeline"},
    {.word = "dp", .condition = "data"},
    {.word = "cp", .condition = "sequence"},
    {.word = "sp", .condition = "sequence"},
    {.word = "ep", .condition = "ep"},
    {.word = "fsdp", .condition = "fsdp"},
    {.word = "vpp", .condition = "virtual_stages"},
    {.word = "num-microbatches", .condition = "microbatches"},
    {.word = "gradient-accumulation", .condition = "microbatches"},
    {.word = "gradient-accumulation-steps", .condition = "microbatches"},
    {.word = "micro-batch", .condition = "microbatch_sequences"},
    {.word = "mbs", .condition = "microbatch_sequences"},
    {.word = "micro-batch-size", .condition = "microbatch_sequences"},
    {.word = "tensor-parallel-size", .condition = "tensor"},
    {.word = "tensor-model-parallel-size", .condition = "tensor"},
    {.word = "pipeline-parallel-size", .condition = "pipeline"},
    {.word = "pipeline-model-parallel-size", .condition = "pipeline"},
    {.word = "context-parallel-size", .condition = "sequence"},
    {.word = "expert-model-parallel-size", .condition = "ep"},
    {.word = "data-parallel-size", .condition = "data"},
};
const int SYNONYM_COUNT = (int)COUNT_OF(SYNONYMS);

const Way *way_named(const char *word) {
    static const Way WAYS[] = {
        {"lora", "plan", "--lora=16"},
        {"qlora", "plan", "--qlora=16"},
        {"dpo", "plan", "--task=dpo"},
        {"sft", "plan", "--task=sft"},
        {"full", "plan", "--task=sft"},
        {"grpo", "rl", "--algorithm=grpo"},
        {"ppo", "rl", "--algorithm=ppo"},
        {"vllm", "inference", "--engine=vllm"},
        {"sglang", "inference", "--engine=sglang"},
    };
    for (size_t i = 0; i < COUNT_OF(WAYS); i++)
        if (strcasecmp(WAYS[i].word, word) == 0) return &WAYS[i];
    return NULL;
}

const char *command_meaning(const char *word, bool of_model) {
    static const char *const QUESTIONS[] = {"how",  "can",  "what",   "which",   "is",
                                            "does", "will", "whatif", "what-if", "why"};
    size_t length = strcspn(word, " "); /* a question may be one word of the shell's */
    for (size_t i = 0; i < COUNT_OF(QUESTIONS); i++)
        if (strlen(QUESTIONS[i]) == length && strncasecmp(QUESTIONS[i], word, length) == 0)
            return "a question is put as options: `shardopt plan --model 70b --gpus 64xh100` says whether it fits, how "
                   "long it takes and what it costs; `shardopt sweep --nodes 16,32,64 --deadline 60d` finds the "
                   "machine";
    return of_model && strcmp(word, "compare") == 0
               ? "is of two reports; `shardopt sweep --model M --chip h100,b200 --chips N` compares machines"
               : NULL;
}

/* What is no option of ours, but has an answer elsewhere. */
static const struct {
    const char *words, *answer; /* words: parts of names, between blanks */
} MEANINGS[] = {
    {"zero", "ZeRO 3 is the role fsdp (--fsdp 8), ZeRO 1 and 2 are a knob (--require zero_stage=1)"},
    {"memory hbm vram mem", "a chip has the HBM of `shardopt chips`; --hbm-reserve 20% keeps a part of it free; "
                            "--memory-limit, of `plan`, `sweep` and `check`, is of the search"},
    {"layer hidden head vocab param", "the model's sizes stand in its config.json: --model path/to/config.json"},
    {"step iter iteration epoch", "a step is planned; where a training has a length, --tokens says it"},
    {"cost price dollar", "the answer says what the training costs; `shardopt sweep --budget` compares machines"},
    {"interconnect bandwidth network nic",
     "a chip has its links (`shardopt chips NAME`); --oversubscription thins the spine"},
    {"activation checkpoint checkpointing recompute recomputation", "--remat POLICY says what is recomputed"},
    {"node", "a node has the chips of its kind (`shardopt chips NAME`); give --nodes N or --chips N"},
    {"day days hour deadline budget", "the answer says how long the training takes and what it costs; `shardopt sweep "
                                      "--nodes 16,32,64 --deadline 30d --budget 2M` finds the machine"},
    {"latency ttft tpot qps concurrency", "`shardopt inference` plans serving, within --ttft 500ms and --tpot 30ms"},
    {"prompt isl osl input output", "`shardopt inference` plans serving"},
    {"grpo ppo rlhf", "`shardopt rl --algorithm ppo` plans reinforcement learning; --dpo plans preference pairs"},
    {"max-batch", "`shardopt sweep --batch 4Mi,8Mi,16Mi` compares batches; what does not fit is said"},
    {"disagg disaggregation prefill decode", "pools for prompts and for decoding are tried as well; --mode prefill or "
                                             "decode plans one of them, --require shapes it"},
    {"attention", "--require attention_data=8 has so many ranks of attention; without it that is chosen"},
    {"spec draft speculative", "--speculate 3:0.7 has 3 drafts a step, of which each is accepted with 0.7"},
    {"seqs batched chunked", "the batch is chosen; --concurrency N has N requests in flight"},
    {"throughput tps", "--rate N is requests a second, --tpot 25ms is 40 tokens/s a user"},
    {"len", "--prompt N and --answer N are the tokens of a request"},
    {"fp16", "16-bit matmuls are costed as bf16: --precision bf16"},
    {"cluster", "--nodes 32 --chip h100 are 32 hosts of 8"},
    {"gpus", "--train-nodes K and --rollout-nodes K divide the hosts; --nodes N or --chips N is the machine"},
    {"spot", "prices are on demand and reserved (`shardopt chips NAME`); leave it out"},
    {"alpha dropout lr warmup dataset", "no plan depends on it; leave it out"},
    {"flash attn", "it is what the software does anyway; leave it out"},
    {"unsloth torchtune", "it is not planned for; --for trl, axolotl or llama-factory launch fine-tuning"},
    {"bit quant quantization double bnb",
     "--qlora [RANK],FORMAT quantises frozen weights: --qlora 4bit, --qlora 16,int8"},
    {"finetune finetuning tuner tuning adapter peft method",
     "--lora [RANK], --qlora [RANK], --freeze PARTS or --task sft plan fine-tuning"},
};

/* Whether the part of `length` characters is one of the words, a plural too. */
static bool is_among(const char *words, const char *part, size_t length) {
    for (const char *at = words; *at;) {
        size_t one = strcspn(at, " ");
        bool same = strncasecmp(at, part, one) == 0 && length >= one;
        if (same && (length == one || (length == one + 1 && part[one] == 's'))) return true;
        at += one + (at[one] == ' ');
    }
    return false;
}

const char *option_meaning(const char *word) {
    for (size_t i = 0; i < COUNT_OF(MEANINGS); i++)
        if (strcasecmp(MEANINGS[i].words, word) == 0) return MEANINGS[i].answer; /* as a whole */
    for (size_t i = 0; i < COUNT_OF(MEANINGS); i++)
        for (const char *part = word; *part;) { /* "num-layers": any of its parts */
            size_t length = strcspn(part, "-_");
            if (is_among(MEANINGS[i].words, part, length)) return MEANINGS[i].answer;
            part += length + (part[length] != '\0');
        }
    return NULL;
}
