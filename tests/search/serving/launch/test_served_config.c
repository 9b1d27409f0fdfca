/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a command that starts a server says, in our words, by hand; and every line that an engine writes of a layout,
 * read back as that layout. */
#include "search/serving/launch/served_against.h"

#include "base/util.h"
#include "tests/search/serving/problems.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

/* 64 heads, of which 8 of the cache; dense, or of 16 experts. */
static Model model_of(bool mixture) {
    Model model = {.name = "m", .layers = 48, .d_model = 8192, .vocab = 32000, .kind_count = 1};
    model.kinds[0] = (LayerKind){.count = 48, .heads = 64, .kv_heads = 8, .head_dim = 128, .d_ff = 28672, .norms = 2};
    if (mixture) model.kinds[0].experts = 16, model.kinds[0].top_k = 2, model.kinds[0].d_ff_expert = 2048;
    return model;
}

static Arena arena;
static ServedConfig config;
static ServingQuestion question;

static void drop(void) { arena_free(&arena); }
TestSuite(served_config, .fini = drop);

static bool read(const char *text, bool mixture, bool tpu, Error *error) {
    Catalog catalog;
    *error = (Error){0};
    memset(&question, 0, sizeof question);
    cr_assert(catalog_load(&arena, &catalog, error), "%s", error->text);
    question.model = model_of(mixture);
    question.chip = *catalog_find(&catalog, tpu ? "v5e" : "h100");
    question.weights_count = question.caches_count = 1;
    question.weights[0] = question.caches[0] = STORED_BF16;
    return served_config_read("run.sh", text, strlen(text), &arena, &config, error) &&
           served_config_pin(&config, &question, error);
}

/* "tensor=4 batch<=64": all that the question is narrowed to, degrees of 1 left out. */
static void pinned(char *text, size_t size) {
    static const char *const SIGNS[] = {"<=", "=", ">="};
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < question.requirement_count; i++) {
        const LayoutRequirement *one = &question.requirements[i];
        if (one->value == 1 && one->sign == 0) continue;
        used += (size_t)snprintf(text + used, size - used, "%s%s%s%lld", used ? " " : "", layout_word_name(one->word),
                                 SIGNS[one->sign + 1], (long long)one->value);
    }
    if (question.budget_count > 0)
        used += (size_t)snprintf(text + used, size - used, "%stokens %lld", used ? ", " : "",
                                 (long long)question.budgets[0]);
    if (question.weights[0] == STORED_FP8) used += (size_t)snprintf(text + used, size - used, ", fp8");
    if (question.caches[0] == STORED_FP8) snprintf(text + used, size - used, ", fp8 cache");
}

static const struct {
    const char *text;
    bool mixture, tpu;
    const char *pinned, *says; /* `says`: of the error; NULL: there is none */
} ROWS[] = {
    {"vllm serve m", false, false, "", NULL},
    {"vllm serve m --tensor-parallel-size 4 --pipeline-parallel-size=2", false, false, "tensor=4 pipeline=2", NULL},
    {"vllm serve m -tp 8 --max_num_seqs 64 --max-num-batched-tokens 2048", false, false,
     "tensor=8 batch<=64, tokens 2048", NULL},
    /* data parallel of a dense model is copies; of a mixture each rank has its sequences and tokens */
    {"vllm serve m -tp 2 -dp 4 --max-num-seqs 64", false, false, "tensor=2 batch<=64", NULL},
    {"vllm serve m -tp 2 -dp 4 --max-num-seqs 64 --max-num-batched-tokens 512", true, false,
     "tensor=2 attention_data=4 expert_tensor=8 batch<=256, tokens 2048", NULL},
    {"vllm serve m -tp 2 -dp 4 --enable-expert-parallel", true, false, "tensor=2 attention_data=4 expert=8", NULL},
    {"vllm serve m -tp 16 --decode-context-parallel-size 2 --kv-cache-dtype fp8 --quantization fp8", false, false,
     "tensor=16 kv_sequence=2, fp8, fp8 cache", NULL},
    {"vllm serve m -tp 3", false, false, NULL, "run.sh:1:1"},
    {"vllm serve m -tp", false, false, NULL, "has no number"},
    {"vllm serve m -tp $TP", false, false, "", NULL},
    {"vllm serve m -tp 0", false, false, "", NULL},
    /* tensor counts all ranks of a stage; what attends in data parallel is a part of them */
    {"python -m sglang.launch_server --model-path m --tp 8 --attn-dp-size 4 --ep-size 8", true, false,
     "tensor=2 attention_data=4 expert=8", NULL},
    {"python -m sglang.launch_server --model-path m --tp 8 --dp 2 --enable-dp-attention --max-running-requests 64",
     true, false, "tensor=4 attention_data=2 expert_tensor=8 batch<=64", NULL},
    {"python -m sglang.launch_server --model-path m --tp 8 --enable-dp-attention", true, false,
     "attention_data=8 expert_tensor=8", NULL},
    {"python -m sglang.launch_server --model-path m --tp 8 --attn-dp-size 3", true, false, NULL,
     "groups of attention data do not divide"},
    {"python -m sglang.launch_server --model-path m --tp 8 --ep-size 3", true, false, NULL, "experts are cut"},
    {"python -m sglang.launch_server --model-path m --tp 8 --ep-size 3", false, false, "tensor=8", NULL},
    {"python -m sglang.launch_server --model-path m --disaggregation-mode prefill", false, false, NULL,
     "one of two pools"},
    {"trtllm-serve m --tp_size 8 --pp_size 2 --ep_size 4 --max_batch_size 32 --max_num_tokens 4096", true, false,
     "tensor=8 pipeline=2 expert=4 expert_tensor=2 batch<=32, tokens 4096", NULL},
    {"vllm serve m --pipeline-parallel-size 2", false, true, NULL, "pipelines on TPUs"},
    {"trtllm-serve m", false, true, NULL, "TensorRT-LLM does not run on"},
    {"python -m maxtext.inference.maxengine.maxengine_server base.yml ici_tensor_parallelism=8 "
     "per_device_batch_size=12.5",
     false, true, "tensor=8 batch<=100", NULL},
    {"python -m maxtext.inference.maxengine.maxengine_server base.yml ici_tensor_parallelism=8 "
     "ici_autoregressive_parallelism=2 per_device_batch_size=6.25",
     false, true, "tensor=16 kv_batch=2 batch<=100", NULL},
};

Test(served_config, commands) {
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        Error error;
        char text[256];
        bool ok = read(ROWS[i].text, ROWS[i].mixture, ROWS[i].tpu, &error);
        cr_expect_eq(ok, !ROWS[i].says, "%s: %s: %s", ROWS[i].text, error.where, error.text);
        if (!ok && ROWS[i].says)
            cr_expect(strstr(error.text, ROWS[i].says) || strstr(error.where, ROWS[i].says), "%s: %s: %s", ROWS[i].text,
                      error.where, error.text);
        if (!ok || ROWS[i].says) continue;
        pinned(text, sizeof text);
        cr_expect_str_eq(text, ROWS[i].pinned, "%s: %s", ROWS[i].text, text);
        cr_expect_eq(question.modes, 1u << SERVE_AGGREGATED);
    }
}

/* ---- there and back ---- */

/* Every row of an engine's table, whether it is written or only read, is what it says. `as`: whose row writes it. */
static bool comes_back(const Engine *engine, const EngineFlag *row, const EngineFlag *as, int64_t value) {
    static const char *const COMMANDS[] = {"vllm serve m", "python -m sglang.launch_server --model-path m",
                                           "trtllm-serve m",
                                           "python -m maxtext.inference.maxengine.maxengine_server base.yml"};
    EngineFlag one[2] = {{as->name, as->says, 'x', false}, {NULL, 0, 0, false}};
    int64_t says[SERVED_FLAGS], read_back[SERVED_FLAGS] = {0};
    EngineWords words = {0};
    char line[ENGINE_LINE_SIZE];
    Error error;
    for (int i = 0; i < SERVED_FLAGS; i++) says[i] = value;
    engine_words(&words, "%s", COMMANDS[engine_named(engine->name)]);
    engine_flags(&words, one, 'x', says);
    engine_line(&words, line);
    (void)read(line, true, false, &error); /* whether the layout can be launched is not asked here */
    if (config.pool_count == 1) memcpy(read_back, config.pools[0].flag, sizeof read_back);
    for (int i = 0; i < SERVED_FLAGS; i++)
        if (read_back[i] != (i == (int)row->says ? value : 0)) return false;
    return true;
}

Test(served_config, every_flag_is_one_row) {
    for (int e = 0; e < engine_count(); e++)
        for (const EngineFlag *row = engine_at(e)->flags; row->name; row++) {
            EngineFlag other = *row, misspelt = *row;
            other.says = row->says == SERVED_TOKENS ? SERVED_SEQUENCES : SERVED_TOKENS;
            misspelt.name = "--tensor-parallel-sizes";
            cr_expect(comes_back(engine_at(e), row, row, 1), "%s", row->name);
            if (served_flag_switches(row->says)) continue;
            cr_expect(comes_back(engine_at(e), row, row, 4096), "%s", row->name);
            cr_expect_not(comes_back(engine_at(e), &other, row, 8), "%s: what it says is not found wrong", row->name);
            cr_expect_not(comes_back(engine_at(e), row, &misspelt, 8), "%s: another name is not found", row->name);
        }
}

/* A layout that the engine takes, as it writes it and as it is read. */
static bool there_and_back(int number, bool mixture, bool tpu, const WorkerLayout *layout) {
    const Engine *engine = engine_at(number);
    Model model = model_of(mixture);
    Chip chip = {.scaleup = tpu ? SCALEUP_TORUS_2D : SCALEUP_SWITCH};
    EngineAsk ask = {&model, &chip, layout, ENGINE_ALONE};
    EngineKnobs knobs = {
        ENGINE_ALONE, 96 * worker_devices(layout), 3840 * layout->attention_data, 5000, 0.9, 0, {0, 0}, 0};
    EngineWords words = {0};
    char line[ENGINE_LINE_SIZE];
    Error error;
    if (!layout_divides(&model, layout) || engine->refuses(&ask)) return false;
    engine->words(&ask, &knobs, &words);
    engine_line(&words, line);
    cr_expect(read(line, mixture, tpu, &error), "%s: %s: %s", line, error.where, error.text);
    const int64_t values[] = {layout->tensor,        layout->pipeline,    layout->attention_data, layout->expert,
                              layout->expert_tensor, layout->kv_sequence, layout->kv_batch,       layout->stationary};
    for (int word = 0; word < (int)COUNT_OF(values); word++) {
        cr_expect(question_admits(&question, PHASE_BOTH, (LayoutWord)word, values[word]), "%s: %s", line,
                  layout_word_name((LayoutWord)word));
        cr_expect_not(question_admits(&question, PHASE_BOTH, (LayoutWord)word, values[word] + 1), "%s: %s", line,
                      layout_word_name((LayoutWord)word));
    }
    cr_expect(question_admits(&question, PHASE_BOTH, LAYOUT_BATCH, knobs.sequences), "%s", line);
    cr_expect_not(question_admits(&question, PHASE_BOTH, LAYOUT_BATCH, knobs.sequences + 1), "%s", line);
    if (strcmp(engine->name, "maxtext") != 0) cr_expect_eq(question.budgets[0], knobs.step_tokens, "%s", line);
    return true;
}

Test(served_config, there_and_back) {
    int tried[ENGINES_MAX] = {0};
    for (int engine = 0; engine < engine_count(); engine++)
        for (int kind = 0; kind < 2; kind++)
            for (int64_t tensor = 1; tensor <= 16; tensor *= 2)
                for (int64_t data = 1; data <= 4; data *= 2)
                    for (int64_t expert = 1; expert <= (kind ? tensor * data : 1); expert *= 2)
                        for (int64_t cut = 1; cut <= 2; cut++) {
                            bool tpu = strcmp(engine_at(engine)->name, "maxtext") == 0;
                            WorkerLayout layout = {tensor,
                                                   data,
                                                   tpu ? 1 : 2,
                                                   expert,
                                                   kind ? tensor * data / expert : 1,
                                                   tpu ? 1 : cut,
                                                   tpu ? cut : 1,
                                                   1,
                                                   STORED_BF16,
                                                   STORED_BF16};
                            tried[engine] += there_and_back(engine, kind == 1, tpu, &layout);
                        }
    for (int engine = 0; engine < engine_count(); engine++)
        cr_expect_geq(tried[engine], 4, "%s: %d", engine_at(engine)->name, tried[engine]);
}
