/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Words that are no options and no commands: ways to train, and what an unknown word is answered with. */
#include "base/util.h"
#include "search/cli/replaced.h"
#include "search/cli/synonyms.h"

#include <string.h>
#include <strings.h>

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
        {"trtllm-serve", "inference", "--engine=tensorrt-llm"},
        {"trtllm", "inference", "--engine=tensorrt-llm"},
        {"tensorrt-llm", "inference", "--engine=tensorrt-llm"},
    };
    for (size_t i = 0; i < COUNT_OF(WAYS); i++)
        if (strcasecmp(WAYS[i].word, word) == 0) return &WAYS[i];
    return NULL;
}

const char *command_meaning(const char *word, bool of_model) {
    static const char *const OTHERS[] = {"ollama", "llama.cpp", "llama-server", "lmstudio", "tgi", "mlx"};
    for (size_t k = 0; k < COUNT_OF(OTHERS); k++)
        if (strcasecmp(OTHERS[k], word) == 0)
            return "is not planned for; `shardopt serve --model 8b --gpus 1x4090` plans vLLM, SGLang and TensorRT-LLM";
    return of_model && strcmp(word, "compare") == 0
               ? "is of two reports; `shardopt sweep --model M --chip h100,b200 --chips N` compares machines"
               : NULL;
}

/* What is no option of commands that have another one (`rl`: lag; `inference`: kv-dtype), but has an answer. */
static const struct {
    const char *needs, *words, *answer;
} OF_COMMANDS[] = {
    {"lag", "lora", "rl trains all weights; leave it out (`shardopt finetune --lora` plans adapters)"},
    {"kv-dtype", "eager graph", "engines are planned with CUDA graphs, as they run by default; leave it out"},
    {"kv-dtype", "lora loras adapters", "the base model is planned, adapters are not priced; leave it out"},
    {"kv-dtype", "cpu-offload-gb", "weights stay in HBM; leave it out, or give --precision int4 or more chips"},
    {"lag", "tp pp dp cp ep parallel degree",
     "--rollout tensor=4 is of the engines, --train-plan \"tensor=4 pipeline=2\" of the trainer"},
    {"lag", "mini", "--train-batch N is the answers of an update: prompts of it times --samples"},
    {"lag", "device accumulation accum", "a step has --prompts N, with --samples N answers to each"},
};

/* What is no option of ours, but has an answer elsewhere. */
static const struct {
    const char *words, *answer; /* words: parts of names, between blanks */
} MEANINGS[] = {
    {"zero", "ZeRO 3 is the role fsdp (--fsdp 8), ZeRO 1 and 2 are a knob (--require zero_stage=1)"},
    {"memory hbm vram mem", "a chip has the HBM of `shardopt chips`; --hbm-reserve 20% keeps a part of it free; "
                            "--memory-limit, of `plan`, `sweep` and `check`, is of the search"},
    {"layer hidden head vocab param expert topk ffn",
     "the model's sizes stand in its config.json: --model path/to/config.json"},
    {"step iter iteration epoch", "a step is planned; where a training has a length, --tokens says it"},
    {"cost price dollar", "the answer says what the training costs; `shardopt sweep --budget` compares machines"},
    {"interconnect bandwidth network nic",
     "a chip has its links (`shardopt chips NAME`); --oversubscription 4 is a network of a quarter of its rate"},
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

/* Whether one of the parts of a word, "layers" of "num-layers", is among words. */
static bool has_word(const char *words, const char *word) {
    for (const char *part = word; *part;) {
        size_t length = strcspn(part, "-_.");
        if (is_among(words, part, length)) return true;
        part += length + (part[length] != '\0');
    }
    return false;
}

const char *option_meaning(const Command *command, const char *word) {
    for (size_t i = 0; i < COUNT_OF(OF_COMMANDS); i++)
        if (replaced_option(command, OF_COMMANDS[i].needs, strlen(OF_COMMANDS[i].needs)) >= 0 &&
            (strcasecmp(OF_COMMANDS[i].words, word) == 0 || has_word(OF_COMMANDS[i].words, word)))
            return OF_COMMANDS[i].answer;
    for (size_t i = 0; i < COUNT_OF(MEANINGS); i++)
        if (strcasecmp(MEANINGS[i].words, word) == 0) return MEANINGS[i].answer; /* as a whole */
    for (size_t i = 0; i < COUNT_OF(MEANINGS); i++)
        if (has_word(MEANINGS[i].words, word)) return MEANINGS[i].answer;
    return NULL;
}
