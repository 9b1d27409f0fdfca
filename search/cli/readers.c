/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Words whose value decides more than a row of meanings.tsv can say. */
#include "base/file.h"
#include "base/number.h"
#include "base/util.h"
#include "search/cli/replaced.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The batch of a device is that of a pass; MaxText's is of a step, which has one. */
static int read_device_batch(Replaced *out, Typed typed) {
    char *end = NULL;
    const char *micro = typed.value ? arena_format(out->arena, "microbatch_sequences=%s", typed.value) : NULL;
    if (!typed.value || !micro) return typed.value ? 0 : -1;
    bool number = strtod(typed.value, &end) > 0 && *end == '\0';
    out->any = true;
    if (!out->maxtext || !number) return replaced_condition(out, micro) ? typed.read : 0;
    return replaced_add(out, "--sequences=%s/device", typed.value) && replaced_condition(out, "microbatches=1")
               ? typed.read
               : 0;
}

/* FSDP over all that the line leaves: of what it does not say there is one. */
bool replaced_rest(Replaced *out) {
    out->any = true;
    for (int i = 0; i < REST_COUNT; i++) {
        const char *one = arena_format(out->arena, "%s=1", REST_ROLES[i]);
        if (!one || (!(out->roles & 1u << i) && !replaced_condition(out, one))) return false;
        out->roles |= 1u << i;
    }
    return true;
}

static int read_rest(Replaced *out, Typed typed) {
    if (typed.value && strcasecmp(typed.value, "false") == 0) return out->any = true, typed.read;
    bool valued = typed.value && (typed.read == 1 || strncasecmp(typed.value, "full_shard", 10) == 0 ||
                                  strcasecmp(typed.value, "true") == 0 || strcmp(typed.value, "2") == 0 ||
                                  strcmp(typed.value, "3") == 0);
    return !replaced_rest(out) ? 0 : valued ? typed.read : 1;
}

/* Passes of a step. Who gives the sequences of a pass too has given the batch; else a batch is cut into so many. One,
 * which is the default of trainers, is no wish without them. */
static int read_accumulation(Replaced *out, Typed typed) {
    const char *passes = arena_format(out->arena, "microbatches=%s", typed.value);
    out->any = true;
    if (!out->micro && strcmp(typed.value, "1") == 0)
        return replaced_advise(out, "one pass a step says no batch without --mbs, the sequences of a pass: the number "
                                    "of passes is chosen; --require microbatches=1 has one")
                   ? typed.read
                   : 0;
    if (!passes || !replaced_condition(out, passes)) return 0;
    return out->micro || replaced_advise(out,
                                         "the batch is run in %s passes a step (--require %s), however large that "
                                         "makes them; without it their number is chosen",
                                         typed.value, passes)
               ? typed.read
               : 0;
}

/* Whether a configuration of DeepSpeed says in its name which ZeRO it has, "ds_z3_config.json". */
static int read_config(Replaced *out, Typed typed) {
    bool model = typed.value && text_ends_in(typed.value, ".json");
    const char *deep = strstr(typed.word, "deepspeed") || strstr(typed.word, "ds") ? typed.value : NULL;
    const char *option = model && !deep ? "model" : "from-config", *zero = deep ? strcasestr(deep, "z") : NULL;
    if (!typed.value) return -1;
    if (deep && !file_is_there(deep)) {
        const char *number = zero ? strpbrk(zero, "123") : strpbrk(deep, "123"), *name = "not here, and left out";
        bool three = number && *number == '3', other = number && !three;
        const char *stage = other ? arena_format(out->arena, "fsdp=1 zero_stage=%c", *number) : NULL;
        bool ok = three ? replaced_rest(out) : !other || (stage && replaced_condition(out, stage));
        return ok && replaced_advise(out, "%s is %s", deep,
                                     three   ? "read as ZeRO 3"
                                     : other ? "read as its ZeRO stage"
                                             : name)
                   ? typed.read
                   : 0;
    }
    if (!deep && !file_is_there(typed.value) && replaced_has(out, "model") &&
        zoo_of_repository(replaced_zoo(out), typed.value)) /* "--config meta-llama/Llama-3.2-3B" */
        return replaced_add(out, "--model=%s", typed.value) ? typed.read : 0;
    if (!replaced_has(out, option)) {
        const char *name = arena_format(out->arena, "%.*s", (int)strcspn(typed.word, "="), typed.word);
        static const char WHY[] =
            "is no option here; `shardopt explain --from-config FILE` prices a configuration, and "
            "--model NAME or a config.json is planned";
        return name && replaced_refuse(out, name, WHY) ? typed.read : 0;
    }
    return replaced_add(out, "--%s=%s", option, typed.value) ? typed.read : 0;
}

/* `--method lora`; else a task. */
static int read_way(Replaced *out, Typed typed) {
    const WordRow *row = typed.value ? word_row("command", typed.value) : NULL;
    const char *option = row && row->cell[3] && row->cell[3][0] ? row->cell[3] : NULL;
    if (!typed.value) return -1;
    if (!option || command_option(out->command, option + 2, strcspn(option + 2, "=")) < 0)
        return !replaced_has(out, "task") ||
                       !(word_among("sft dpo", typed.value) || word_value("task", typed.value, NULL))
                   ? -1
               : replaced_add(out, "--task=%s", typed.value) ? typed.read
                                                             : 0;
    out->any = true;
    if (row->cell[4] && !replaced_advise(out, "%s", row->cell[4])) return 0;
    bool said = (out->ranked && strstr(option, "lora=")) || (strcmp(option, "--task=sft") == 0 && out->tasked);
    return said || replaced_add(out, "%s", option) ? typed.read : 0;
}

/* `--load_in_8bit`, unless it is false; 4 bits are what QLoRA has by itself. */
static int read_quantised(Replaced *out, Typed typed) {
    bool off = typed.value && strcasecmp(typed.value, "false") == 0, eight = strchr(typed.word, '8') != NULL;
    bool valued = off || (typed.value && strcasecmp(typed.value, "true") == 0);
    out->any = true;
    if (!off && (eight || !out->qlora) && !replaced_add(out, "--qlora=%s", eight ? "8bit" : "4bit")) return 0;
    return valued ? typed.read : 1;
}

enum { DAY_SECONDS = 86400 };

static int read_tokens_rate(Replaced *out, Typed typed) {
    if (strcasestr(typed.value, "req") || strcasestr(typed.value, "qps")) /* "2000req/s" */
        return replaced_add(out, "--rate=%.*s", (int)strspn(typed.value, "0123456789."), typed.value) ? typed.read : 0;
    out->tokens_rate = strtod(typed.value, NULL);
    return out->any = true, typed.read;
}

/* "10e9", "2B": tokens. False: it is no number of them. */
static bool tokens_of(Replaced *out, const char *value, double *tokens) {
    Error none = {0};
    const char *unit = value ? value + strspn(value, "0123456789.") : "";
    char *number = value ? arena_format(out->arena, "%.*s%s", (int)(unit - value), value,
                                        toupper((unsigned char)*unit) == 'B' ? "G" : unit)
                         : NULL;
    return number && number_real(number, "", 1, 1e18, tokens, &none);
}

/* "--tokens-per-day 2B", "--tokens-per-month 3B". */
static int read_daily(Replaced *out, Typed typed) {
    double tokens, days = strcasestr(typed.word, "month") ? 30 : strcasestr(typed.word, "week") ? 7 : 1;
    if (!tokens_of(out, typed.value, &tokens)) return -1;
    return out->tokens_rate = tokens / (days * DAY_SECONDS), out->any = true, typed.read;
}

/* Requests of so many seconds, "@every 86400". */
static int read_every(Replaced *out, Typed typed, const char *seconds) {
    Error none = {0};
    double requests;
    if (!typed.value || !number_real(typed.value, "", 1, 1e18, &requests, &none)) return -1;
    return replaced_add(out, "--rate=%.4g", requests / strtod(seconds, NULL)) ? typed.read : 0;
}

static int read_user_rate(Replaced *out, Typed typed) {
    enum { FASTEST = 300 }; /* no user reads more */
    if (strtod(typed.value, NULL) > FASTEST && !strcasestr(typed.word, "user")) return read_tokens_rate(out, typed);
    double milliseconds = 1000 / strtod(typed.value, NULL);
    if (!(milliseconds > 0 && milliseconds < 1e9)) return -1;
    return replaced_advise(out, "%s tokens/s are of a user: --tpot %.4gms", typed.value, milliseconds) &&
                   replaced_add(out, "--tpot=%.4gms", milliseconds)
               ? typed.read
               : 0;
}

/* `--slo "ttft<1s,tpot<40ms"`. */
static int read_limits(Replaced *out, Typed typed) {
    for (const char *at = typed.value ? typed.value : "?"; *at; at += strspn(at, ", ;")) {
        size_t name = strcspn(at, "<=:"), op = strspn(at + name, "<=:"), length = strcspn(at + name + op, ", ;");
        if (name == 0 || op == 0) return -1;
        bool plain = strspn(at + name + op, "0123456789.") >= length;
        if (!replaced_add(out, "--%.*s=%.*s%s", (int)name, at, (int)length, at + name + op, plain ? "ms" : ""))
            return 0;
        at += name + op + length;
    }
    return typed.read;
}

/* Of a switch by the name of what it chooses: `--use_vllm`, `--grpo`; `row`: of which words it is one. */
static int read_own_name(Replaced *out, Typed typed, const char *names, const char *format) {
    bool off = typed.value && strcasecmp(typed.value, "false") == 0;
    for (const char *at = names; *at; at += strspn(at, " ")) {
        char name[24];
        size_t length = strcspn(at, " ");
        snprintf(name, sizeof name, "%.*s", (int)length, at);
        at += length;
        if (!strcasestr(typed.word, name)) continue;
        out->any = true;
        if (!off && !replaced_add(out, format, name)) return 0;
        return off || (typed.value && strcasecmp(typed.value, "true") == 0) ? typed.read : 1;
    }
    return -1;
}

static int read_algorithm(Replaced *out, Typed typed) {
    return read_own_name(out, typed, "ppo grpo dapo rloo", "--algorithm=%s");
}

static int read_engine(Replaced *out, Typed typed) { return read_own_name(out, typed, "vllm sglang", "--engine=%s"); }

static int read_emits(Replaced *out, Typed typed) {
    static const char *const NAMES[] = {"verl", "trl", "slime", "openrlhf", "nemo"}; /* the last is "nemo-rl" */
    size_t i = 0;
    while (i + 1 < COUNT_OF(NAMES) && !strcasestr(typed.word, NAMES[i])) i++;
    return replaced_advise(out, "--emit %s%s writes its configuration", NAMES[i], i + 1 < COUNT_OF(NAMES) ? "" : "-rl")
               ? 1
               : 0;
}

/* GPUs that train, or that generate, as a split of all. */
static int read_gpus(Replaced *out, Typed typed, const char *of) {
    int64_t number;
    Error not_whole = {0};
    bool trains = strcmp(of, "train") == 0;
    if (!typed.value || !number_whole(typed.value, "", 1, 1 << 24, &number, &not_whole)) return -1;
    *(trains ? &out->train_gpus : &out->rollout_gpus) += (long)number;
    return out->any = true, typed.read;
}

static int read_trainer(Replaced *out, Typed typed, const char *role);

/* `--tp 8` of RL: of the trainer where the engines have their own, or a pipeline is said, else of the engines. */
static int read_tp(Replaced *out, Typed typed) {
    if (!typed.value) return -1;
    if (out->engine_degrees) return read_trainer(out, typed, "tensor");
    return replaced_advise(out, "--tp is read as the engines' tensor=%s; the trainer's is --train-plan \"tensor=%s\"",
                           typed.value, typed.value) &&
                   replaced_add(out, "--rollout=tensor=%s", typed.value)
               ? typed.read
               : 0;
}

/* "--seq 2048+512", "2k/14k": tokens of a prompt, and where an answer is cut; else of both. */
static int read_prompt_answer(Replaced *out, Typed typed) {
    size_t first = typed.value ? strcspn(typed.value, "+/") : 0;
    if (!typed.value || first == 0) return -1;
    if (!typed.value[first])
        return replaced_advise(out, "%s is read as where answers are cut: --max-answer", typed.value) &&
                       replaced_add(out, "--max-answer=%s", typed.value)
                   ? typed.read
                   : 0;
    return replaced_add(out, "--prompt=%.*s", (int)first, typed.value) &&
                   replaced_add(out, "--max-answer=%s", typed.value + first + 1)
               ? typed.read
               : 0;
}

/* A whole number that other words of the line complete (replaced_add_work()). */
static int read_number(Replaced *out, Typed typed, const char *which) {
    double number = typed.value ? strtod(typed.value, NULL) : 0;
    const char *unit = typed.value ? typed.value + strspn(typed.value, "0123456789.") : "";
    double times = toupper((unsigned char)*unit) == 'K' ? 1e3 : toupper((unsigned char)*unit) == 'M' ? 1e6 : 1;
    if (!(number > 0 && number < 1e9)) return -1;
    out->any = true;
    if (strcmp(which, "mini") == 0) out->mini = (long)number;
    if (strcmp(which, "device") == 0) out->device = (long)number;
    if (strcmp(which, "passes") == 0) out->passes = (long)number;
    if (strcmp(which, "su") == 0) /* NVIDIA's scalable unit: 32 hosts */
        return replaced_add(out, "--nodes=%ld", 32 * (long)min_real(1e6, number)) ? typed.read : 0;
    if (strcmp(which, "dataset") == 0)
        out->dataset =
            number * (toupper((unsigned char)*unit) == 'B' || toupper((unsigned char)*unit) == 'G' ? 1e9 : times);
    if (strcmp(which, "actor") == 0) out->actor_gpus = (int)min_real(1024, number);
    if (strcmp(which, "engines") == 0) out->engines = (int)min_real(65536, number);
    if (strcmp(which, "loras") == 0) out->loras = (int)min_real(4096, number);
    if (strcmp(which, "lora_rank") == 0) out->lora_rank = (int)min_real(4096, number);
    if (strcmp(which, "user_daily") == 0) out->user_rate = number * times / DAY_SECONDS;
    if (strcmp(which, "peak") == 0) out->peak = number;
    if (strcmp(which, "nics") == 0) out->nics = (int)min_real(64, number);
    if (strcmp(which, "steps") == 0) out->steps = number * times;
    if (strcmp(which, "slices") == 0) out->slices = (out->slices ? out->slices : 1) * (int64_t)number;
    if (strcmp(which, "drafts") == 0 && out->drafts) return typed.read;
    if (strcmp(which, "drafts") == 0)
        return (out->drafts = true) && replaced_add(out, "--speculate=%ld:0.7", (long)number) &&
                       replaced_advise(
                           out, "each draft is accepted with 0.7, as nobody says; --speculate K:ACCEPTANCE says it")
                   ? typed.read
                   : 0;
    if (strncmp(which, "pool", 4) == 0) {
        long gpus = (long)number * (which[4] ? out->instance ? out->instance : 8 : 1);
        out->pools += gpus;
        const char *pool = strcasestr(typed.word, "prefill") ? "prefill" : "decode";
        const char *one = arena_format(out->arena, "%s_chips=%ld", pool, gpus);
        return replaced_condition(out, one) && replaced_add(out, "--mode=disaggregated") ? typed.read : 0;
    }
    return typed.read;
}

/* vLLM's `--speculative-config '{"num_speculative_tokens": 3, ...}'`. */
static int read_drafts(Replaced *out, Typed typed) {
    const char *tokens = typed.value ? strstr(typed.value, "num_speculative_tokens") : NULL;
    const char *number = tokens ? strpbrk(tokens, "0123456789") : "3";
    return read_number(out, (Typed){typed.word, number ? number : "3", typed.read}, "drafts");
}

/* The batch of OpenRLHF's trainer is of answers where the rollout has one of its own. */
static int read_train_batch(Replaced *out, Typed typed) {
    if (!typed.value) return -1;
    return replaced_add(out, "--%s=%s", out->rolls ? "train-batch" : "prompts", typed.value) ? typed.read : 0;
}

/* A degree of RL's trainer, "@trainer tensor". */
static int read_trainer(Replaced *out, Typed typed, const char *role) {
    if (!typed.value || !isdigit((unsigned char)*typed.value)) return -1;
    out->trainer = arena_format(out->arena, "%s%s%s=%s", out->trainer ? out->trainer : "", out->trainer ? " " : "",
                                role, typed.value);
    return out->any = true, out->trainer ? typed.read : 0;
}

/* "(16, 4, 4)" and "data,fsdp,tensor": where a line has both they are a plan's degrees. */
static int read_axes(Replaced *out, Typed typed, bool sizes) {
    if (!typed.value || *typed.value == '-') return replaced_leave(out, &out->passed, typed.word) ? 1 : 0;
    *(sizes ? &out->mesh_sizes : &out->mesh_names) = arena_text(out->arena, typed.value);
    out->any = true;
    if (!out->mesh_sizes || !out->mesh_names) return typed.read;
    char *size = arena_text(out->arena, out->mesh_sizes), *name = arena_text(out->arena, out->mesh_names), *at[2];
    size = size ? strtok_r(size, "(),[] ", &at[0]) : NULL, name = name ? strtok_r(name, "(),[] '\"", &at[1]) : NULL;
    for (; size && name; size = strtok_r(NULL, "(),[] ", &at[0]), name = strtok_r(NULL, "(),[] '\"", &at[1])) {
        const char *role = strcmp(name, "model") == 0 ? "tensor" : name;
        const char *one = arena_format(out->arena, "%s=%s", role, size);
        const char *degree = one ? replaced_degrees(out, one) : NULL;
        if (!degree)
            return replaced_advise(out, "the axis %s is none of data, fsdp, tensor, sequence, pipeline, expert", name)
                       ? typed.read
                       : 0;
        out->degrees = max_whole(1, out->degrees) * max_whole(1, atol(size));
        if (!replaced_condition(out, degree)) return 0;
    }
    return typed.read;
}

/* `--mesh 16x16` is a slice; `--mesh data=4,fsdp=128` a plan's degrees. */
static int read_mesh(Replaced *out, Typed typed) {
    char *text = typed.value ? arena_text(out->arena, typed.value) : NULL;
    for (char *at = text; at && *at; at++) *at = *at == ':' ? '=' : *at;
    char *model = text ? strstr(text, "model=") : NULL; /* JAX's name of the axis of tensors */
    if (model) text = arena_format(out->arena, "%.*stp=%s", (int)(model - text), text, model + 6);
    const char *degrees = text ? replaced_degrees(out, text) : NULL;
    if (!typed.value) return -1;
    if (degrees) return out->any = true, replaced_condition(out, degrees) ? typed.read : 0;
    bool shape = strchr(typed.value, 'x') && strspn(typed.value, "0123456789x") == strlen(typed.value);
    if (!shape)
        return replaced_advise(out, "%s is left out: a mesh is --plan \"fsdp=16 tensor=4\", or chosen", typed.word)
                   ? typed.value[0] == '-' ? 1 : typed.read
                   : 0;
    return replaced_add(out, "--slice=%s", typed.value) ? typed.read : 0;
}

/* `--params 3B`: a model of that size, unless the line has all sizes. */
static int read_params(Replaced *out, Typed typed) {
    if (!typed.value || !isdigit((unsigned char)*typed.value)) return -1;
    char *end;
    double number = strtod(typed.value, &end);
    out->params = *end == '\0' && number >= 1e7 ? arena_format(out->arena, "%.4gb", number / 1e9) /* "7e9" */
                                                : arena_text(out->arena, typed.value);
    return out->any = true, out->params ? typed.read : 0;
}

/* Tokens of a batch job: answers of so many, as requests. */
static int read_job(Replaced *out, Typed typed) {
    return tokens_of(out, typed.value, &out->job) ? (out->any = true, typed.read) : -1;
}

/* Answers of a step, which are --prompts times --samples; few of them are those of a prompt. */
static int read_rollouts(Replaced *out, Typed typed) {
    enum { MOST_OF_A_PROMPT = 128 };
    long all = atol(typed.value), each = 16;
    if (all <= MOST_OF_A_PROMPT) return replaced_add(out, "--samples=%s", typed.value) ? typed.read : 0;
    return replaced_add(out, "--prompts=%ld", max_whole(1, all / each)) &&
                   replaced_advise(out, "%ld rollouts are %ld prompts with 16 answers each", all, all / each)
               ? typed.read
               : 0;
}

/* A model's size, "@size hidden_size". */
static int read_size(Replaced *out, Typed typed, const char *key) {
    int64_t number;
    Error not_whole = {0};
    if (!number_whole(typed.value, "", 1, 1 << 24, &number, &not_whole)) return -1;
    out->sizes = arena_format(out->arena, "%s%s=%lld ", out->sizes ? out->sizes : "", key, (long long)number);
    return out->any = true, out->sizes ? typed.read : 0;
}

/* The size that a line gives, of "hidden_size=4096 "; 0: it gives none. */
static long size_of(const Replaced *out, const char *key) {
    const char *at = out->sizes;
    for (; at && *at; at += strcspn(at, " ") + 1)
        if (strncmp(at, key, strlen(key)) == 0 && at[strlen(key)] == '=') return atol(at + strlen(key) + 1);
    return 0;
}

bool replaced_add_model(Replaced *out) {
    static const char *const NEEDED[][2] = {
        {"num_hidden_layers", "--layers"}, {"hidden_size", "--hidden"}, {"num_attention_heads", "--heads"}};
    if (out->params && !out->model && !(size_of(out, "hidden_size") && size_of(out, "num_hidden_layers"))) {
        const char *name = replaced_model_of_size(out, out->params);
        return replaced_add(out, "--model=%s", name ? name : out->params);
    }
    if (!out->sizes) return true;
    const char *name = out->model ? replaced_option(out, "--model") : NULL;
    bool whole =
        size_of(out, "hidden_size") && size_of(out, "num_hidden_layers") && size_of(out, "num_attention_heads");
    bool unknown = name && whole && !file_is_there(name) && !zoo_of_repository(replaced_zoo(out), name);
    if (unknown) {
        if (!replaced_advise(out, "%s is the model of these sizes", name)) return false;
        replaced_put(out, "--model", NULL);
        out->model = false;
    }
    if (out->model) return replaced_advise(out, "the sizes of the model are those of --model");
    char *missing = NULL;
    for (size_t i = 0; i < COUNT_OF(NEEDED); i++)
        if (size_of(out, NEEDED[i][0]) == 0 && !(missing = arena_format(out->arena, "%s%s%s N", missing ? missing : "",
                                                                        missing ? ", " : "", NEEDED[i][1])))
            return false;
    if (missing) {
        const char *why =
            arena_format(out->arena, "is missing, of a model by its sizes; give %s too, or --model", missing);
        return why && replaced_refuse(out, "--model", why);
    }
    long hidden = size_of(out, "hidden_size"), heads = size_of(out, "num_attention_heads");
    long ffn = size_of(out, "intermediate_size"), kv = size_of(out, "num_key_value_heads");
    long vocab = size_of(out, "vocab_size"), wide = size_of(out, "head_dim"), experts = size_of(out, "num_experts");
    long chosen = size_of(out, "num_experts_per_tok"), expert = size_of(out, "moe_intermediate_size");
    long gated = (8 * hidden / 3 + 255) / 256 * 256;
    const char *assumed =
        arena_format(out->arena, "a gated decoder as Llama%s%s%s%s", ffn || expert ? "" : ", FFN of 8/3 hidden sizes",
                     kv ? "" : ", as many KV heads as heads", vocab ? "" : ", 128,256 tokens",
                     experts && !chosen ? ", 2 experts a token" : "");
    char *config =
        arena_format(out->arena,
                     "{\"model_type\":\"%s\",\"num_hidden_layers\":%ld,\"hidden_size\":%ld,"
                     "\"num_attention_heads\":%ld,\"num_key_value_heads\":%ld,\"intermediate_size\":%ld,"
                     "\"vocab_size\":%ld,\"head_dim\":%ld,\"max_position_embeddings\":1048576",
                     experts ? "mixtral" : "llama", size_of(out, "num_hidden_layers"), hidden, heads, kv ? kv : heads,
                     experts && expert ? expert
                     : ffn             ? ffn
                                       : gated,
                     vocab ? vocab : 128256,
                     wide    ? wide
                     : heads ? hidden / heads
                             : 1);
    if (config && experts)
        config = arena_format(out->arena, "%s,\"num_local_experts\":%ld,\"num_experts_per_tok\":%ld", config, experts,
                              chosen ? chosen : 2);
    return config && assumed && replaced_add(out, "--model=%s}", config) &&
           replaced_advise(out, "the model is %s", assumed);
}

int replaced_reader(Replaced *out, const char *reader, const char *word, const char *value, int read) {
    static const struct {
        const char *name;
        int (*read)(Replaced *out, Typed typed);
    } READERS[] = {
        {"@device_batch", read_device_batch},
        {"@accumulation", read_accumulation},
        {"@config", read_config},
        {"@way", read_way},
        {"@quantised", read_quantised},
        {"@tokens_rate", read_tokens_rate},
        {"@user_rate", read_user_rate},
        {"@limits", read_limits},
        {"@algorithm", read_algorithm},
        {"@engine", read_engine},
        {"@emits", read_emits},
        {"@prompt_answer", read_prompt_answer},
        {"@rest", read_rest},
        {"@mesh", read_mesh},
        {"@drafts", read_drafts},
        {"@daily", read_daily},
        {"@tp", read_tp},
        {"@rollouts", read_rollouts},
        {"@params", read_params},
        {"@job", read_job},
        {"@train_batch", read_train_batch},
    };
    Typed typed = {word, value, read};
    int done = strncmp(reader, "@size ", 6) == 0      ? read_size(out, typed, reader + 6)
               : strncmp(reader, "@number ", 8) == 0  ? read_number(out, typed, reader + 8)
               : strncmp(reader, "@trainer ", 9) == 0 ? read_trainer(out, typed, reader + 9)
               : strncmp(reader, "@pair ", 6) == 0    ? replaced_pair(out, typed, reader[6] == 'n')
               : strncmp(reader, "@gpus ", 6) == 0    ? read_gpus(out, typed, reader + 6)
               : strncmp(reader, "@every ", 7) == 0   ? read_every(out, typed, reader + 7)
               : strncmp(reader, "@mesh ", 6) == 0    ? read_axes(out, typed, reader[6] == 's')
                                                      : replaced_machine_reader(out, reader, typed);
    for (size_t i = 0; i < COUNT_OF(READERS); i++)
        if (strcmp(reader, READERS[i].name) == 0) done = READERS[i].read(out, typed);
    return done >= 0 ? done : !replaced_unknown(out, word) ? 0 : value && value[0] != '-' ? read : 1;
}
