/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/cli/synonyms.h"

#include "base/number.h"
#include "base/util.h"
#include "mesh/chip_json.h"
#include "search/cli/typed_words.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* What an option is in our words: an option that takes its value, or (`value`) one that is given this value; or a
 * condition of --require on what its value says ("tensor<": at most that), or on this value. */
typedef struct {
    const char *word, *option, *value, *condition;
    bool advised; /* the option was called so once: what it is called now is said */
} Synonym;

static const Synonym SYNONYMS[] = {
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
    {.word = "ep-size", .condition = "expert"},
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
    {.word = "max-ep", .condition = "expert<"},
    {.word = "tp", .condition = "tensor"},
    {.word = "pp", .condition = "pipeline"},
    {.word = "dp", .condition = "data"},
    {.word = "cp", .condition = "sequence"},
    {.word = "sp", .condition = "sequence"},
    {.word = "ep", .condition = "expert"},
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
    {.word = "expert-model-parallel-size", .condition = "expert"},
    {.word = "data-parallel-size", .condition = "data"},
};

static int option_of(const Command *command, const char *name, size_t length) {
    for (int i = 0; i < command->option_count; i++)
        if (command_has_option(command, i) && strlen(command->options[i].name) == length &&
            strncmp(command->options[i].name, name, length) == 0)
            return i;
    return -1;
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

int option_synonyms(const Command *command, const char **names, int room) {
    int count = 0;
    for (size_t i = 0; i < COUNT_OF(SYNONYMS) && count < room; i++) {
        const char *needs = SYNONYMS[i].condition ? "require" : SYNONYMS[i].option;
        if (option_of(command, needs, strlen(needs)) >= 0) names[count++] = SYNONYMS[i].word;
    }
    return count;
}

const char *command_synonym(const char *word) {
    static const char *const WORDS[][2] = {
        {"optimize", "plan"},   {"search", "plan"},  {"list", "models"},        {"--list-models", "models"},
        {"serve", "inference"}, {"export", "emit"},  {"--list-chips", "chips"}, {"compare", "diff"},
        {"show", "explain"},    {"solve", "layout"}, {"gate", "check"},         {"serving", "inference"},
        {"launch", "emit"},     {"gpus", "chips"},   {"convert", "emit"},       {"fit", "calibrate"},
        {"tune", "plan"},       {"train", "plan"},   {"finetune", "plan"},      {"fine-tune", "plan"}};
    for (size_t i = 0; i < COUNT_OF(WORDS); i++)
        if (strcmp(WORDS[i][0], word) == 0) return WORDS[i][1];
    return NULL;
}

/* The synonym that a word is, where the command lacks an option of that name and has what it stands for; NULL: none. */
static const Synonym *synonym_of(const Command *command, const char *word) {
    if (strncmp(word, "--", 2) != 0) return NULL;
    const char *name = word + 2;
    size_t length = strcspn(name, "=");
    if (option_of(command, name, length) >= 0) return NULL;
    for (size_t i = 0; i < COUNT_OF(SYNONYMS); i++) {
        const Synonym *synonym = &SYNONYMS[i];
        const char *needs = synonym->condition ? "require" : synonym->option;
        if (strlen(synonym->word) == length && strncmp(synonym->word, name, length) == 0 &&
            option_of(command, needs, strlen(needs)) >= 0)
            return synonym;
    }
    return NULL;
}

/* The words as they become. */
typedef struct {
    const Command *command;
    Arena *arena;
    char **words;
    int count;
    char *conditions;   /* of --require: NULL means none */
    const char *advice; /* NULL: none */
    bool any, sized;    /* something became another word; the line says how large the machine is */
    bool model;         /* it has --model */
    bool ranked;        /* it says the rank of adapters */
    int instance;       /* chips of a cloud's instance that is named; 0: none is */
} Replaced;

static bool add_condition(Replaced *out, const char *condition) {
    out->conditions = out->conditions ? arena_format(out->arena, "%s %s", out->conditions, condition)
                                      : arena_text(out->arena, condition);
    return out->conditions != NULL;
}

/* `--output` of a command that answers with tokens, and a number: how many tokens, as it once was. */
static bool is_answer_length(const Replaced *out, const char *word, const char *value) {
    double tokens;
    Error ignored = {0};
    size_t first = value ? strcspn(value, ",") : 0; /* of a list of `sweep inference` the first */
    char number[32];
    if (strncmp(word, "--output", 8) != 0 || (word[8] && word[8] != '=') || first == 0 || first >= sizeof number)
        return false;
    snprintf(number, sizeof number, "%.*s", (int)first, value);
    return option_of(out->command, "answer", 6) >= 0 && number_real(number, "", 0, 1e18, &tokens, &ignored);
}

/* "4M", "16Mi": nobody has as many sequences in a batch, so that these are tokens. */
static bool is_millions(const char *value) {
    size_t digits = value ? strspn(value, "0123456789.") : 0;
    return digits > 0 && toupper((unsigned char)value[digits]) == 'M';
}

/* Whether a chip is called so: rtx4090 is no 4,090 of anything. */
static bool is_chip(Arena *arena, const char *name) {
    Catalog catalog;
    Error unread = {0};
    return catalog_load(arena, &catalog, &unread) && catalog_find(&catalog, name);
}

/* An instance of a cloud as a chip, of which --nodes counts instances; false: it is none (*ok), or memory is out. */
static bool add_instance(Replaced *out, const char *word, bool *ok) {
    Catalog catalog;
    Error unread = {0};
    int chips = 0;
    const Chip *chip = catalog_load(out->arena, &catalog, &unread) ? catalog_instance(&catalog, word, &chips) : NULL;
    if (!chip) return false;
    out->any = true;
    out->instance = chips;
    out->words[out->count++] = arena_format(out->arena, "--chip=%s", chip->name);
    *ok = out->words[out->count - 1] != NULL;
    return true;
}

/* --nodes of instances as chips; without a number it is one instance. */
static bool count_instances(Replaced *out) {
    char *last = NULL;
    for (int i = 1; i < out->count; i++) {
        bool own = strcmp(out->words[i], "--nodes") == 0 && i + 1 < out->count;
        if (!own && strncmp(out->words[i], "--nodes=", 8) != 0) continue;
        const char *value = own ? out->words[i + 1] : out->words[i] + 8;
        long nodes = strspn(value, "0123456789") == strlen(value) && strlen(value) < 8 ? strtol(value, NULL, 10) : 0;
        if (nodes == 0) return true; /* the error is the option's own */
        out->words[i] = last = arena_format(out->arena, "--chips=%ld", nodes * out->instance);
        if (own) memmove(out->words + i + 1, out->words + i + 2, (size_t)(--out->count - i - 1) * sizeof *out->words);
        if (!last) return false;
    }
    if (last || out->sized) return true;
    out->words[out->count++] = last = arena_format(out->arena, "--chips=%d", out->instance);
    return last != NULL;
}

/* A machine in one word, "8xH200" or "v5litepod-256", as options. False: it is none (*ok), or memory is out. */
static bool add_machine(Replaced *out, const char *word, bool sized, bool *ok) {
    char name[64], count[64];
    if (option_of(out->command, "chip", 4) >= 0 && add_instance(out, word, ok)) return true;
    bool slice = typed_slice(word) && option_of(out->command, "slice", 5) >= 0;
    if (option_of(out->command, "chip", 4) < 0) return false;
    if (!slice && !typed_chips(word, name, count, sizeof name)) return false;
    if (!slice && isalpha((unsigned char)word[0]) && (is_chip(out->arena, word) || !is_chip(out->arena, name)))
        return false;
    out->any = true;
    out->words[out->count++] =
        slice ? arena_format(out->arena, "--slice=%s", word) : arena_format(out->arena, "--chip=%s", name);
    *ok = out->words[out->count - 1] != NULL;
    if (slice || sized || !*ok) return true;
    out->words[out->count++] = arena_format(out->arena, "--chips=%s", count);
    return *ok = out->words[out->count - 1] != NULL, true;
}

/* The degree or knob that letters stand for, "tp" tensor; NULL: none. */
static const char *condition_of(const char *word, size_t letters) {
    for (const Synonym *synonym = SYNONYMS; synonym < SYNONYMS + COUNT_OF(SYNONYMS); synonym++)
        if (synonym->condition && strlen(synonym->word) == letters && strncasecmp(synonym->word, word, letters) == 0)
            return synonym->condition;
    return NULL;
}

/* "TP8-PP2", "tp=8,pp=2" as a plan, "tensor=8 pipeline=2"; NULL: it is none, or memory is out. */
static char *plan_of_degrees(const char *word, Arena *arena) {
    char *plan = NULL;
    for (const char *at = word; *at;) {
        size_t letters = 0;
        while (isalpha((unsigned char)at[letters])) letters++;
        const char *condition = condition_of(at, letters);
        const char *number = at + letters + (at[letters] == '=' || at[letters] == '-');
        size_t digits = strspn(number, "0123456789");
        if (!condition || digits == 0) return NULL;
        plan = arena_format(arena, "%s%s%s=%.*s", plan ? plan : "", plan ? " " : "", condition, (int)digits, number);
        if (!plan) return NULL;
        at = number + digits;
        at += strspn(at, "-_, ");
    }
    return plan;
}

/* A machine or a plan in one word, as the value of an option. False: it is none (*ok), or memory is out. */
static bool add_typed(Replaced *out, const char *option, const char *value, bool *ok) {
    size_t length = strcspn(option, "=");
    bool chips = length == 5 && strncmp(option, "chips", 5) == 0, chip = length == 4 && strncmp(option, "chip", 4) == 0;
    if (chips || chip) return add_machine(out, value, chip && out->sized, ok);
    char *plan = length == 4 && strncmp(option, "plan", 4) == 0 ? plan_of_degrees(value, out->arena) : NULL;
    if (!plan) return false;
    out->any = true;
    out->words[out->count++] = arena_format(out->arena, "--plan=%s", plan);
    *ok = out->words[out->count - 1] != NULL;
    return true;
}

/* What is trained, or how, in one word: "lora", as an option; NULL: it is none, or the command has no such option. */
static const char *way_of(const Replaced *out, const char *word) {
    static const char *const WAYS[][3] = {
        {"lora", "lora", "--lora=16"},          {"qlora", "qlora", "--qlora=16"},
        {"dpo", "task", "--task=dpo"},          {"sft", "task", "--task=sft"},
        {"full", "task", "--task=sft"},         {"grpo", "algorithm", "--algorithm=grpo"},
        {"ppo", "algorithm", "--algorithm=ppo"}};
    for (size_t i = 0; i < COUNT_OF(WAYS); i++)
        if (strcasecmp(WAYS[i][0], word) == 0 && option_of(out->command, WAYS[i][1], strlen(WAYS[i][1])) >= 0)
            return WAYS[i][2];
    return NULL;
}

/* Words between the others: "on 64 h100". */
static bool is_filler(const char *word) {
    static const char *const WORDS[] = {"on", "with", "using", "for", "serve", "of", "to"};
    for (size_t i = 0; i < COUNT_OF(WORDS); i++)
        if (strcasecmp(WORDS[i], word) == 0) return true;
    return false;
}

/* "64", "x8" as --chips, "h100" as --chip; NULL: it is neither, or memory is out. */
static char *part_of_machine(Replaced *out, const char *word) {
    const char *digits = word + (tolower((unsigned char)word[0]) == 'x');
    if (option_of(out->command, "chip", 4) < 0) return NULL;
    if (digits[0] && strspn(digits, "0123456789") == strlen(digits))
        return arena_format(out->arena, "--chips=%s", digits);
    return is_chip(out->arena, word) ? arena_format(out->arena, "--chip=%s", word) : NULL;
}

/* A word without an option: the machine, or else the model. Returns as replace_word() does. */
static int replace_stray(Replaced *out, char *word) {
    bool ok = true, json = strlen(word) > 5 && strcmp(word + strlen(word) - 5, ".json") == 0;
    const char *way = way_of(out, word);
    char *option = way ? arena_text(out->arena, way) : is_filler(word) ? NULL : part_of_machine(out, word);
    if (option) out->words[out->count++] = option;
    if (option || is_filler(word)) return out->any = true, 1;
    if (add_machine(out, word, out->sized, &ok)) return ok;
    bool model = !out->model && !json && word[0] && option_of(out->command, "model", 5) >= 0;
    out->any = out->any || model;
    out->model = out->model || model;
    out->words[out->count++] = model ? arena_format(out->arena, "--model=%s", word) : word;
    return out->words[out->count - 1] != NULL;
}

/* "--lora_rank" is "--lora-rank", where that is no option's own name; NULL: memory is out. */
static char *with_hyphens(Replaced *out, char *word) {
    size_t length = strcspn(word, "=");
    if (strncmp(word, "--", 2) != 0 || !memchr(word, '_', length) || option_of(out->command, word + 2, length - 2) >= 0)
        return word;
    char *copy = arena_text(out->arena, word);
    for (size_t i = 0; copy && i < length; i++)
        if (copy[i] == '_') copy[i] = '-';
    out->any = true;
    return copy;
}

/* "--name" or "--name=value". */
static bool is_option(const char *word, const char *name) {
    size_t length = strlen(name);
    return strncmp(word, name, length) == 0 && (word[length] == '\0' || word[length] == '=');
}

/* One word and, where its option takes a value that is not in the word, the next one. Returns how many were read; 0:
 * memory is out. */
static int replace_word(Replaced *out, char **words, int left) {
    char *word = with_hyphens(out, words[0]); /* the words may lie where nothing is written */
    if (!word) return 0;
    if (strcmp(word, "--format=md") == 0 ||
        (left > 1 && strcmp(word, "--format") == 0 && strcmp(words[1], "md") == 0)) {
        out->any = true;
        out->words[out->count++] = arena_text(out->arena, "--format=markdown");
        return !out->words[out->count - 1] ? 0 : word[8] ? 1 : 2;
    }
    bool lora = strcmp(word, "--lora") == 0 || strcmp(word, "--qlora") == 0;
    if (lora && option_of(out->command, "lora", 4) >= 0) { /* the rank may be left out */
        bool said = left > 1 && words[1][0] != '-';
        out->any = true;
        out->words[out->count++] = arena_format(out->arena, "%s=%s", word, said ? words[1] : "16");
        return !out->words[out->count - 1] ? 0 : said ? 2 : 1;
    }
    static const char *const METHODS[] = {"--method", "--peft", "--finetuning-type", "--rlhf-type"};
    for (size_t i = 0; i < COUNT_OF(METHODS) && left > 1; i++)
        if (strcmp(word, METHODS[i]) == 0 && way_of(out, words[1]))
            return out->ranked && strcasecmp(words[1], "lora") == 0 ? 2 : replace_stray(out, words[1]) ? 2 : 0;
    const Synonym *synonym = synonym_of(out->command, word);
    const char *inside = strchr(word, '='), *value = inside ? inside + 1 : left > 1 ? words[1] : NULL;
    if (is_option(word, "--gpus-per-node") || is_option(word, "--nproc-per-node")) {
        int64_t chips;
        Error not_whole = {0};
        if (value && number_whole(value, "", 1, 1024, &chips, &not_whole)) {
            out->any = true;
            out->instance = (int)chips;
            return inside ? 1 : 2;
        }
    }
    if (is_answer_length(out, word, value)) {
        static const Synonym LENGTH = {.word = "output N", .option = "answer", .advised = true};
        synonym = &LENGTH;
    }
    bool ok = true;
    static const Synonym TOKENS = {.word = "batch", .option = "batch"};
    if (synonym && synonym->option && strcmp(synonym->option, "sequences") == 0 && is_millions(value))
        synonym = &TOKENS;
    const char *option = synonym && synonym->option && !synonym->value ? synonym->option : word;
    if (value && strncmp(word, "--", 2) == 0 && add_typed(out, option + (option == word ? 2 : 0), value, &ok))
        return !ok ? 0 : inside ? 1 : 2;
    bool is_require = strcmp(word, "--require") == 0 || strncmp(word, "--require=", 10) == 0;
    if (!synonym && !is_require) {
        out->words[out->count++] = word;
        return 1;
    }
    out->any = out->any || synonym;
    if (synonym && synonym->advised)
        out->advice = arena_format(out->arena, "--%s is called --%s now", synonym->word, synonym->option);
    if (synonym && synonym->value && synonym->condition)
        return (value = arena_format(out->arena, "%s=%s", synonym->condition, synonym->value)) &&
               add_condition(out, value);
    if (synonym && synonym->value) {
        out->words[out->count++] = arena_format(out->arena, "--%s=%s", synonym->option, synonym->value);
        return out->words[out->count - 1] ? 1 : 0;
    }
    if (!value) { /* the error of a missing value is popt's */
        out->words[out->count++] =
            arena_format(out->arena, "--%s", is_require || synonym->condition ? "require" : synonym->option);
        return out->words[out->count - 1] ? 1 : 0;
    }
    if (is_require)
        ok = add_condition(out, value);
    else if (synonym->condition)
        ok = (value = arena_format(out->arena, "%s=%s", synonym->condition, value)) && add_condition(out, value);
    else
        ok = (out->words[out->count++] = arena_format(out->arena, "--%s=%s", synonym->option, value)) != NULL;
    return !ok ? 0 : inside ? 1 : 2;
}

/* Who counts GPUs does not mean the default chip, which is none. */
static bool counts_gpus_of_nothing(const Replaced *out, int argc, char **argv, Error *error) {
    bool gpus = false, chip = option_of(out->command, "chip", 4) < 0;
    static const char *const COUNTS[] = {"--gpus",          "--num-gpus",       "--num_gpus",      "--ngpu",
                                         "--gpus-per-node", "--nproc-per-node", "--gpus_per_node", "--nproc_per_node"};
    for (int i = 1; i < argc; i++)
        for (size_t k = 0; k < COUNT_OF(COUNTS); k++) gpus = gpus || is_option(argv[i], COUNTS[k]);
    for (int i = 0; i < out->count; i++)
        chip = chip || is_option(out->words[i], "--chip") || strncmp(out->words[i], "--from", 6) == 0 ||
               is_option(out->words[i], "--help");
    if (!gpus || chip) return false;
    error_set(error, ERROR_INPUT, "--gpus", "has no chip; give one of `shardopt chips` too, say --chip h100");
    return true;
}

/* Whether the word is an option whose value is the next one. */
static bool takes_next(const Command *command, const char *word) {
    if (word[0] != '-' || strchr(word, '=')) return false;
    for (int i = 0; i < command->option_count; i++) {
        const CommandOption *option = &command->options[i];
        if (!command_has_option(command, i)) continue;
        bool named = word[1] == '-' ? strcmp(word + 2, option->name) == 0
                                    : option->letter && word[strlen(word) - 1] == option->letter;
        if (named) return option->takes != NULL;
    }
    return true; /* one that nobody knows: the error is its own */
}

/* Whether degrees are the plan itself: `explain --tp 8 --pp 2`. */
static bool is_plan(const Replaced *out) {
    if (strcmp(out->command->name, "explain") != 0) return false;
    for (int i = 1; i < out->count; i++)
        if (is_option(out->words[i], "--plan") || strncmp(out->words[i], "--from", 6) == 0) return false;
    return true;
}

bool synonyms_replace(CommandLine *line, int *argc, char ***argv, Error *error) {
    const Command *command = line->command;
    Arena *arena = line->arena;
    Replaced out = {.command = command, .arena = arena, .words = ARENA_NEW(arena, char *, 2 * (size_t)*argc + 2)};
    if (!out.words) return error_memory(error);
    for (int i = 1; i < *argc; i++) {
        static const char *const SIZES[] = {"--nodes", "--num-nodes", "--chips", "--gpus", "--pods", "--slice"};
        for (size_t k = 0; k < COUNT_OF(SIZES); k++) out.sized = out.sized || is_option((*argv)[i], SIZES[k]);
        static const char *const RANKS[] = {"--lora-r", "--lora_r", "--lora-rank", "--lora_rank", "--rank"};
        for (size_t k = 0; k < COUNT_OF(RANKS); k++) out.ranked = out.ranked || is_option((*argv)[i], RANKS[k]);
        out.model = out.model || is_option((*argv)[i], "--model") || strncmp((*argv)[i], "--from", 6) == 0;
    }
    for (int i = 0; i < *argc;) {
        bool ends = i > 0 && strcmp((*argv)[i], "--") == 0; /* what follows is no option */
        bool stray = (*argv)[i][0] != '-' && !command->takes_arguments && !takes_next(command, (*argv)[i - (i > 0)]);
        int read = i == 0  ? 1
                   : ends  ? *argc - i
                   : stray ? replace_stray(&out, (*argv)[i])
                           : replace_word(&out, *argv + i, *argc - i);
        if (read == 0) return error_memory(error);
        for (int k = 0; (i == 0 || ends) && k < read; k++) out.words[out.count++] = (*argv)[i + k];
        i += read;
    }
    if (out.instance && !count_instances(&out)) return error_memory(error);
    if (counts_gpus_of_nothing(&out, *argc, *argv, error)) return false;
    if (!out.any) return true; /* as it was, a --require that is given twice with it */
    if (out.conditions &&
        !(out.words[out.count++] = arena_format(arena, "--%s=%s", is_plan(&out) ? "plan" : "require", out.conditions)))
        return error_memory(error);
    line->advice = out.advice;
    *argc = out.count;
    *argv = out.words;
    return true;
}
