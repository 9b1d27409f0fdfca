/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `inference --from-config`: what `emit` wrote comes back with its own figures; what people write is read; what is
 * wrong has its place. */
#include "tests/sanitizer.h"
#include "tests/search/cli/shell.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[FOLDER_SIZE];

static void make(void) { /* a short name, so that what it is told about breaks no line */
    strcpy(folder, "/tmp/s-XXXXXX");
    cr_assert(mkdtemp(folder) != NULL);
}

static void drop(void) { folder_drop(folder); }

TestSuite(serving_from_config, .init = make, .fini = drop);

/* The time of a token that the script's comment predicts stands in the answer of its own script. */
#define BACK(emit)                                                                                                     \
    "$P emit " emit                                                                                                    \
    " -o $D/s.sh && $P inference --from-config $D/s.sh >$D/a && t=$(sed -n 's/^# Predicted: \\([0-9.]* "               \
    "[a-z]*\\) per token.*/\\1/p' $D/s.sh) && grep -F \": $t per token\" $D/a"

/* A script of two lines, read for 70B on one node. */
#define WRITTEN(text, options) "printf '%b' " text " >$D/u.sh; $P inference --from-config $D/u.sh " options
#define ON_H100 "--model 70b --chip h100 --nodes 1"

typedef struct {
    const char *name, *line;
    int code;
    const char *out[3], *err;
} Row;

static void check(const Row *row) {
    Run ran = run(folder, row->line);
    cr_expect_eq(ran.code, row->code, "%s: %d\n%s", row->name, ran.code, ran.err);
    for (int i = 0; i < 3 && row->out[i]; i++)
        cr_expect(strstr(ran.out, row->out[i]) != NULL, "%s: %s\nis not in\n%s", row->name, row->out[i], ran.out);
    if (row->code == 2) cr_expect_str_eq(ran.out, "", "%s writes nothing", row->name);
    if (row->err) cr_expect(strstr(ran.err, row->err) != NULL, "%s: %s", row->name, ran.err);
    free(ran.out);
    free(ran.err);
}

Test(serving_from_config, what_was_emitted_comes_back, .timeout = 300) {
    static const Row ROWS[] = {
        {"SGLang", BACK("sglang --model 70b --chip h100 --nodes 1"), 0, {" per token"}, NULL},
        {"vLLM on two hosts",
         BACK("vllm --model 405b --chip h100 --nodes 2 --precision fp8 --require tensor=16"),
         0,
         {" per token"},
         NULL},
        {"two pools of vLLM",
         BACK("vllm --model 70b --chip h100 --nodes 2 --mode disaggregated"),
         0,
         {" per token"},
         NULL},
        {"two pools of TensorRT-LLM, in two YAML files",
         BACK("tensorrt-llm --model deepseek-v3 --chip h200 --nodes 2 --mode disaggregated"),
         0,
         {" per token"},
         NULL},
        {"cache and lengths",
         BACK("tensorrt-llm --model 70b --chip h100 --nodes 1 --kv-dtype fp8 --prompt 4096"),
         0,
         {" per token"},
         NULL},
        {"a rate, drafts",
         BACK("sglang --model 70b --chip h100 --nodes 1 --rate 6/s --speculate 2:0.7"),
         0,
         {" per token"},
         NULL},
        {"MaxText",
         BACK("maxtext-serving --model 8b --chip v5e --slice 2x4 --require 'tensor=8 batch=64'"),
         0,
         {" per token"},
         NULL},
        {"MaxText, a cache cut by batch",
         BACK("maxtext-serving --model 70b --chip v5e --slice 4x4 --precision int8 --kv-dtype int8 --require "
              "'tensor=16 batch=32'"),
         0,
         {" per token"},
         NULL},
        {"a folder with a hostile name",
         "mkdir \"$D/a 'b\"; cp " SHARDOPT_SOURCE_DATA "/models/zoo/llama3.1-8b.json \"$D/a 'b/config.json\"; " BACK(
             "vllm --chip h100 --nodes 1 --model \"$D/a 'b\""),
         0,
         {" per token"},
         NULL},
        {"the script asks by itself",
         "$P emit vllm --model 8b --chip h100 --nodes 1 -o $D/s.sh; ln -s $P $D/shardopt; PATH=$D:$PATH MODEL=m bash "
         "$D/s.sh why",
         0,
         {"s.sh serves llama3.1-8b on 1 node of 8", "The best within them is"},
         NULL},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i += PROBLEMS_SHARE) check(&ROWS[i]);
}

Test(serving_from_config, what_people_write) {
    static const Row ROWS[] = {
        {"a command line",
         WRITTEN("'vllm serve x/y --tensor-parallel-size 8 --max-num-seqs=64'", ON_H100),
         0,
         {"with vLLM, 1 x tensor=8, batch 64:", "more.", "\ntensor  "},
         NULL},
        {"one change is what a search with all else kept finds",
         WRITTEN("'vllm serve x/y --tensor-parallel-size 8 --max-num-seqs 64 --max-num-batched-tokens 8192'",
                 ON_H100) " >$D/a; $P inference " ON_H100
                          " --engine vllm --mode aggregated --require 'pipeline=1 attention_data=1 "
                          "kv_sequence=1 batch<=64 tensor=4' --format json >$D/j; grep -c '^tensor *2 x tensor=4, "
                          "batch 64 ' $D/a; grep "
                          "-c '\"notation\": \"2 x tensor=4, batch 64\"' $D/j",
         0,
         {"1\n"},
         NULL},
        {"a script with variables, short names and a load test",
         WRITTEN(
             "'TP=4\\npython3 -m sglang.launch_server --model x --tp $TP --max-running-requests 32 --kv-cache-dtype "
             "fp8_e4m3 &\\nvllm bench serve --random-input-len 2048 --random-output-len 128\\n'",
             ON_H100),
         0,
         {"with SGLang, 2 x tensor=4, batch 32:"},
         NULL},
        {"attention data in the words of before 0.5.23",
         WRITTEN(
             "'python -m sglang.launch_server --model-path x --tp-size 8 --dp-size 8 --enable-dp-attention --ep-size "
             "8 --max-running-requests 256'",
             "--model deepseek-v3 --chip h200 --nodes 1"),
         0,
         {"1 x attention_data=8 expert=8,"},
         NULL},
        {"options count first",
         WRITTEN("'vllm serve x/y -tp 4\\nvllm bench serve --max-concurrency 8\\n'", ON_H100 " --concurrency 16"),
         0,
         {"2 x tensor=4, batch 8:"},
         NULL},
        {"more in flight than slots",
         WRITTEN("'vllm serve x/y -tp 4 --max-num-seqs 4'", ON_H100 " --concurrency 64"),
         0,
         {"2 x tensor=4, batch 4:", "More requests are in flight"},
         NULL},
        {"why: 8 chips x 17.69 ms / 64 tokens are 2.211 ms of a chip, parted over the terms of its step",
         WRITTEN("'vllm serve x/y --tensor-parallel-size 8 --max-num-seqs 64'",
                 ON_H100) " >$D/a; awk '/ per user: / { sub(/.*per user: /, \"\"); token = $1 * 8 / 64 } /^a chip/ { "
                          "on = 1; next } "
                          "/^in all/ { on = 0; whole = $3 } on { sum += $2 * ($3 == \"ms\" ? 1 : 1e-3) } "
                          "END { print (sum - whole)^2 < 4e-6, (token - whole)^2 < 4e-6 }' $D/a",
         0,
         {"1 1\n"},
         NULL},
        {"explain has it in full, by name",
         WRITTEN("'vllm serve x/y --tensor-parallel-size 8 --max-num-seqs 64'",
                 ON_H100) " | tail -9 >$D/a; $P explain $D/u.sh " ON_H100
                          " >$D/b && tail -9 $D/b | cmp - $D/a && cat $D/b",
         0,
         {"a step by kernel", "memory of a chip", "mostly of"},
         NULL},
        {"explain by its option",
         WRITTEN("'trtllm-serve m --tp_size 8 --max_batch_size 64'",
                 ON_H100) " >$D/a; $P explain --from-config=$D/u.sh " ON_H100,
         0,
         {"with TensorRT-LLM, 1 x tensor=8", "a chip's time of a token"},
         NULL},
        {"nothing to gain",
         "$P emit vllm --model 70b --chip h100 --nodes 1 --kv-dtype fp8 -o $D/s.sh && $P inference --from-config "
         "$D/s.sh --kv-dtype fp8",
         0,
         {"No single change gains more"},
         NULL},
        {"what does not fit",
         WRITTEN("'vllm serve x/y --tensor-parallel-size 1'", ON_H100),
         3,
         {"it does not fit"},
         NULL},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i += PROBLEMS_SHARE) check(&ROWS[i]);
}

Test(serving_from_config, what_is_wrong_has_its_place) {
    static const Row ROWS[] = {
        {"no number",
         WRITTEN("'#\\n  vllm serve x --tensor-parallel-size four'", ON_H100),
         2,
         {0},
         "u.sh:2:16: tensor-parallel-size: "},
        {"no value",
         WRITTEN("'vllm serve x --max-num-seqs'", ON_H100),
         2,
         {0},
         "u.sh:1:14: max-num-seqs: has no number"},
        {"it does not divide the model",
         WRITTEN("'\\nvllm serve x -tp 7'", ON_H100),
         2,
         {0},
         "u.sh:2:1: its degrees do not divide the model"},
        {"the engine refuses it",
         WRITTEN("'python -m sglang.launch_server --tp 8 --attn-dp-size 2'", ON_H100),
         2,
         {0},
         "u.sh:1:1: attention data parallel is for mixtures"},
        {"groups do not divide",
         WRITTEN("'python -m sglang.launch_server --tp 8 --attn-dp-size 3'",
                 "--model deepseek-v3 --chip h200 --nodes 1"),
         2,
         {0},
         "u.sh:1:1: groups of attention data"},
        {"no engine", WRITTEN("'torchrun train.py'", ON_H100), 2, {0}, "starts no engine"},
        {"two engines", WRITTEN("'vllm serve x\\ntrtllm-serve x'", ON_H100), 2, {0}, "u.sh:2:1: starts TensorRT-LLM"},
        {"half of two pools",
         WRITTEN("'python -m sglang.launch_server --tp 8 --disaggregation-mode decode'", ON_H100),
         2,
         {0},
         "is one of two pools"},
        {"a quote that never ends", WRITTEN("\"vllm serve 'x\"", ON_H100), 2, {0}, "u.sh:1:12"},
        {"no file", "$P inference --from-config $D/none " ON_H100, 2, {0}, "none"},
        {"no model", WRITTEN("'vllm serve x'", "--chip h100"), 2, {0}, "--model"},
        {"two scripts",
         WRITTEN("'vllm serve x -tp 8'", ON_H100) " >$D/a; $P explain $D/u.sh $D/u.sh " ON_H100,
         2,
         {0},
         "second"},
        {"another form", WRITTEN("'vllm serve x -tp 8'", ON_H100 " --format json"), 2, {0}, "--format"},
        {"MaxText's rules do not copy heads",
         WRITTEN("'python -m maxtext.inference.maxengine.maxengine_server base.yml ici_tensor_parallelism=16'",
                 "--model 8b --chip v5e --slice 4x4"),
         2,
         {0},
         "u.sh:1:1: heads of the cache are not copied"},
        {"and its experts lie beside tensor",
         WRITTEN("'python -m maxtext.inference.maxengine.maxengine_server base.yml ici_tensor_parallelism=8 "
                 "ici_expert_parallelism=8'",
                 "--model mixtral-8x7b --chip v6e --slice 2x4"),
         2,
         {0},
         "u.sh:1:1: its axis of experts lies beside tensor"},
        {"not of this chip",
         WRITTEN("'python -m sglang.launch_server --tp 8'", "--model 8b --chip v5e --slice 2x4"),
         2,
         {0},
         "does not run on"},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i += PROBLEMS_SHARE) check(&ROWS[i]);
}
