/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `emit vllm|sglang|tensorrt-llm|maxtext-serving`: scripts are run, with programs in the place of the engines that
 * write down what they were given. What each flag means to the real packages: tests/launch/emit_serving.py. */
#include "tests/sanitizer.h"
#include "tests/search/cli/shell.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[FOLDER_SIZE];

/* Each writes a line: its devices, its name, and its words with | between them. */
static const char RECORD[] =
    "mkdir $D/bin $D/configs; cat >$D/bin/vllm <<'E'\n#!/bin/bash\n[ \"$1\" = -c ] && { echo \"${0%/*}/..\"; exit; "
    "}\nline=${CUDA_VISIBLE_DEVICES-}:${0##*/}\n"
    "for word; do line+=\"|$word\"; done\n"
    "for word; do case $word in */tmp.*) line+=\"|$(tr '\\n' ';' <\"$word\")\" ;; esac; done\n"
    "exec 9>>\"${0%/*}/../log\"; flock 9; printf '%s\\n' \"$line\" >&9; exec 9>&-; sleep 0.4\nE\n"
    "chmod +x $D/bin/vllm; for n in python vllm-router trtllm-serve nginx genai-perf mpirun; do ln -s vllm "
    "$D/bin/$n; done; mkdir \"$D/a 'b\\\" \\$(touch P); c\"; cp " SHARDOPT_SOURCE_DATA
    "/models/zoo/llama3.1-8b.json \"$D/a 'b\\\" \\$(touch "
    "P); c/config.json\"";

static void make(void) {
    folder_make(folder, "start");
    Run made = run(folder, RECORD);
    cr_assert_eq(made.code, 0, "%s", made.err);
    free(made.out);
    free(made.err);
}

static void drop(void) { folder_drop(folder); }

TestSuite(serving_emit, .init = make, .fini = drop);

/* Emits, runs the script (`how` in front of it, a way behind it), prints what the programs were given. */
#define START(emit, how, way)                                                                                          \
    "rm -f $D/log; $P emit " emit " -o $D/s.sh && (cd $D && PATH=$D/bin:$PATH " how " bash s.sh " way                  \
    " >/dev/null 2>&1); sort $D/log"
#define H100 " --model 70b --chip h100"
#define FOUR " --nodes 1 --mode aggregated --require 'tensor=4 pipeline=1 batch=64'"
#define POOLS " --nodes 2 --mode disaggregated --require 'tensor=8 pipeline=1 batch=32'"

typedef struct {
    const char *name, *line;
    int code;
    const char *out[4], *err;
} Row;

static void check(const Row *row) {
    Run ran = run(folder, row->line);
    cr_expect_eq(ran.code, row->code, "%s: %d\n%s", row->name, ran.code, ran.err);
    for (int i = 0; i < 4 && row->out[i]; i++)
        cr_expect(strstr(ran.out, row->out[i]) != NULL, "%s: %s\nis not in\n%s", row->name, row->out[i], ran.out);
    if (row->code != 0) cr_expect_str_eq(ran.out, "", "%s writes nothing", row->name);
    if (row->err) cr_expect(strstr(ran.err, row->err) != NULL, "%s: %s", row->name, ran.err);
    free(ran.out);
    free(ran.err);
}

Test(serving_emit, workers) {
    static const Row ROWS[] = {
        {"two copies on one host",
         START("sglang" H100 FOUR, "MODEL=m", ""),
         0,
         {"0,1,2,3:python|-m|sglang.launch_server|--model-path|m|--tp-size|4|--max-running-requests|64|",
          "4,5,6,7:python|-m|sglang.launch_server|", "|--port|8001|", "|--port|8002|--cuda-graph-max-bs-decode|64"},
         NULL},
        {"a copy alone has the port itself",
         START("vllm" H100 " --nodes 1 --mode aggregated --require 'tensor=8 batch=16'", "MODEL=m PORT=9100", ""),
         0,
         {"0,1,2,3,4,5,6,7:vllm|serve|m|--tensor-parallel-size|8|--max-num-seqs|16|", "|--max-model-len|1344|",
          "|--port|9100|--max-cudagraph-capture-size|16\n"},
         NULL},
        {"a copy on two hosts: the second joins the first",
         START("vllm --model 405b --chip h100 --nodes 2 --mode aggregated --require 'tensor=16 batch=4'",
               "MODEL=m HOSTS='h0 h1' NODE_RANK=1", ""),
         0,
         {"0,1,2,3,4,5,6,7:vllm|serve|m|--tensor-parallel-size|16|",
          "|--nnodes|2|--node-rank|1|--master-addr|h0|--master-port|29000|--headless\n"},
         NULL},
        {"ranks of data parallel on two hosts",
         START("vllm --model deepseek-v3 --chip h200 --nodes 2 --mode aggregated --require 'tensor=1 attention_data=16 "
               "expert=16 batch=64'",
               "MODEL=m HOSTS='h0 h1' SLURM_NODEID=1", ""),
         0,
         {"|--data-parallel-size|16|--enable-expert-parallel|--max-num-seqs|4|",
          "|--data-parallel-size-local|8|--data-parallel-start-rank|8|--data-parallel-address|h0|"},
         NULL},
        {"the same in SGLang's words, where batches are of all ranks",
         START("sglang --model deepseek-v3 --chip h200 --nodes 2 --mode aggregated --require 'tensor=1 "
               "attention_data=16 expert=16 batch=64'",
               "MODEL=m HOSTS='h0 h1' NODE_RANK=1", ""),
         0,
         {"|--tp-size|16|--attn-dp-size|16|--ep-size|16|--moe-a2a-backend|deepep|--max-running-requests|64|",
          "|--nnodes|2|--node-rank|1|--dist-init-addr|h0:29000\n"},
         NULL},
        {"two pools: the first host has prompts",
         START("vllm" H100 POOLS, "MODEL=m HOSTS='h0 h1' NODE_RANK=0", ""),
         0,
         {"0,1,2,3,4,5,6,7:vllm|serve|m|--tensor-parallel-size|8|--max-num-seqs|8|", "|--port|8001|",
          "|--kv-transfer-config|{\"kv_connector\": \"NixlConnector\", \"kv_role\": \"kv_producer\"}\n"},
         NULL},
        {"and the second decodes",
         START("sglang" H100 POOLS, "MODEL=m HOSTS='h0 h1' NODE_RANK=1", ""),
         0,
         {"|--max-running-requests|32|--context-length|1344|", "|--port|8002|", "|--disaggregation-mode|decode|"},
         NULL},
        {"YAML of TensorRT-LLM",
         START("tensorrt-llm" H100 " --kv-dtype fp8" FOUR, "MODEL=m", ""),
         0,
         {"4,5,6,7:trtllm-serve|m|--tp_size|4|--max_batch_size|64|",
          "|enable_chunked_prefill: true;kv_cache_config:;  free_gpu_memory_fraction: 0.90;  dtype: fp8;"
          "cuda_graph_config:;  enable_padding: true;  max_batch_size: 64;\n"},
         NULL},
        {"ranks of TensorRT-LLM over hosts are MPI's",
         START("tensorrt-llm --model 405b --chip h100 --nodes 2 --precision fp8 --mode aggregated --require 'tensor=16 "
               "batch=8'",
               "MODEL=m HOSTS='h0 h1'", ""),
         0,
         {":mpirun|-n|16|-H|h0:8,h1:8|trtllm-llmapi-launch|trtllm-serve|m|--tp_size|16|", "|--gpus_per_node|8|"},
         NULL},
        {"MaxText's keys",
         START("maxtext-serving --model 70b --chip v5e --slice 4x4 --precision int8 --kv-dtype int8 --require "
               "'tensor=8 batch=16'",
               "MODEL=gs://w MODEL_NAME=llama3.1-70b TOKENIZER=t HOSTS='h0 h1'", ""),
         0,
         {"|ici_tensor_parallelism=8|per_device_batch_size=2|max_target_length=1344|quantization=int8|",
          "|model_name=llama3.1-70b|tokenizer_path=t|load_parameters_path=gs://w|ici_fsdp_parallelism=1|"},
         NULL},
        {"MaxText's own rules for a cache cut by batch",
         START("maxtext-serving --model 70b --chip v5e --slice 4x4 --precision int8 --kv-dtype int8 --require "
               "'tensor=16 batch=32'",
               "MODEL=gs://w MODEL_NAME=llama3.1-70b TOKENIZER=t HOSTS='h0 h1'", ""),
         0,
         {"|inference/multihost/interleaved/llama3_405b_v5e-64.yml|ici_tensor_parallelism=8|"
          "ici_autoregressive_parallelism=2|per_device_batch_size=2|"},
         NULL},
        {"drafts of a model that has a head for them",
         START("sglang --model deepseek-v3 --chip h200 --nodes 1 --mode aggregated --speculate 2:0.7", "MODEL=m", ""),
         0,
         {"|--speculative-algorithm|NEXTN|--speculative-num-steps|2|--speculative-eagle-topk|1|"
          "--speculative-num-draft-tokens|3|"},
         NULL},
        {"and of one that has none",
         START("vllm" H100 " --nodes 1 --mode aggregated --speculate 3:0.7", "MODEL=m DRAFT='d $x'", ""),
         0,
         {"|--speculative-config.method|eagle3|--speculative-config.model|d $x|--speculative-config.num_speculative_"
          "tokens|3|"},
         NULL},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i += PROBLEMS_SHARE) check(&ROWS[i]);
}

Test(serving_emit, before_and_behind_them) {
    static const Row ROWS[] = {
        {"a router before copies",
         START("vllm" H100 FOUR, "MODEL=m", "route"),
         0,
         {":vllm-router|--host|0.0.0.0|--port|8000|--policy|round_robin|--worker-urls|http://127.0.0.1:8001|"
          "http://127.0.0.1:8002\n"},
         NULL},
        {"a cache wants like prompts in one place",
         START("sglang --cached 50%" H100 FOUR, "MODEL=m", "route"),
         0,
         {":python|-m|sglang_router.launch_router|--host|0.0.0.0|--port|8000|--policy|cache_aware|--worker-urls|"},
         NULL},
        {"a router before two pools",
         START("sglang" H100 POOLS, "MODEL=m HOSTS='h0 h1'", "route"),
         0,
         {"|--pd-disaggregation|--prefill|http://h0:8001|9000|--decode|http://h1:8002\n"},
         NULL},
        {"its own of TensorRT-LLM",
         START("tensorrt-llm" H100 POOLS, "MODEL=m HOSTS='h0 h1'", "route"),
         0,
         {":trtllm-serve|disaggregated|-c|",
          "|hostname: 0.0.0.0;port: 8000;backend: pytorch;context_servers:;  num_instances: 1;  urls:;    - "
          "\"h0:8001\";generation_servers:;  num_instances: 1;  urls:;    - \"h1:8002\";\n"},
         NULL},
        {"and nginx before its copies",
         START("tensorrt-llm" H100 FOUR, "MODEL=m", "route"),
         0,
         {"upstream copies {;    least_conn;;    server 127.0.0.1:8001;;    server 127.0.0.1:8002;;"},
         NULL},
        {"the load: 2 x 64 in flight",
         START("vllm" H100 FOUR, "MODEL=m", "test"),
         0,
         {":vllm|bench|serve|--base-url|http://127.0.0.1:8000|--model|m|--dataset-name|random|--ignore-eos|"
          "--random-input-len|1024|--random-output-len|256|--num-prompts|1280|--max-concurrency|128|",
          "|--metadata|model=llama3.1-70b|chip=h100|chips=8|engine=vllm|mode=closed-loop|", "|tp=4|pp=1|", "|dp=2|"},
         NULL},
        {"the load of a rate",
         START("tensorrt-llm --rate 3/s" H100 FOUR, "MODEL=m RESULT=r.json", "test"),
         0,
         {":genai-perf|profile|--model|m|", "|--request-rate|3|--artifact-dir|r\n"},
         NULL},
        {"the load of SGLang",
         START("sglang" H100 FOUR, "MODEL=m", "test"),
         0,
         {":python|-m|sglang.bench_serving|--backend|sglang|", "|--max-concurrency|128|--tag|model=llama3.1-70b chip="},
         NULL},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i += PROBLEMS_SHARE) check(&ROWS[i]);
}

/* What a shell would run if it were not quoted makes a file P. */
#define HOSTILE "a 'b\\\" \\$(touch P); c"

Test(serving_emit, hostile_names_stay_names) {
    static const Row ROWS[] = {
        {"a folder of weights",
         START("vllm --chip h100 --nodes 1 --mode aggregated --require 'tensor=8 batch=4' --model \"$D/" HOSTILE "\"",
               "", "") "; ls $D/P 2>/dev/null && echo INJECTED; true",
         0,
         {"/a 'b\" $(touch P); c|--tensor-parallel-size|8|"},
         NULL},
        {"its config.json",
         START("sglang --chip h100 --nodes 1 --mode aggregated --require 'tensor=8 batch=4' --model \"$D/" HOSTILE
               "/config.json\"",
               "", ""),
         0,
         {"|--model-path|/tmp/shardopt-start-", "/a 'b\" $(touch P); c|--tp-size|8|"},
         NULL},
        {"a name from outside",
         START("tensorrt-llm" H100 FOUR, "MODEL='x\"; touch P; $(touch P) #'", "test"),
         0,
         {"|--model|x\"; touch P; $(touch P) #|--tokenizer|x\"; touch P; $(touch P) #|"},
         NULL},
        {"no file was made", "ls $D/P $D/../P 2>/dev/null; ! test -e $D/P && echo none", 0, {"none"}, NULL},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i += PROBLEMS_SHARE) check(&ROWS[i]);
}

Test(serving_emit, words_and_ends) {
    static const Row ROWS[] = {
        {"the line of the first answer runs",
         "$P inference --model 8b --chip h100 --nodes 1 | sed -n 's/^  shardopt emit/emit/p' >$D/line && test -s "
         "$D/line && xargs $P <$D/line | head -n 3",
         0,
         {"#!/usr/bin/env bash\n", "llama3.1-8b on 1 node of 8"},
         NULL},
        {"a point of a report",
         "$P inference --model 8b --chip h100 --nodes 1 --format json -o $D/r.json && $P emit vllm --from $D/r.json "
         "--rank 1 | sed -n 3p",
         0,
         {"# vLLM: 1 x tensor=8, batch 1."},
         NULL},
        {"of another engine", "$P emit tensorrt-llm --from $D/r.json --rank 1", 2, {0}, "--rank: is a point of vLLM"},
        {"beyond the front", "$P emit vllm --from $D/r.json --rank 100000", 2, {0}, "is no rank of its front"},
        {"a report has the request", "$P emit vllm --from $D/r.json --model 8b", 2, {0}, "contradicts --from"},
        {"no launcher of training", "$P emit megatron --from $D/r.json", 2, {0}, "is a report of `inference`"},
        {"maxtext of a report of another engine", "$P emit maxtext --from $D/r.json", 2, {0}, "is a point of"},
        {"maxtext of a report of its own",
         "$P inference --model 8b --chip v5e --slice 2x4 --engine maxtext --mode aggregated --require tensor=8 "
         "--format "
         "json -o $D/m.json; $P emit maxtext --from $D/m.json | sed -n 3p",
         0,
         {"# MaxText: 1 x tensor=8"},
         NULL},
        {"a report of training",
         "$P --model 8b --chip v5e --slice 4x4 --batch 64Ki --seq 2048 --top 1 --format json -o $D/p.json && $P emit "
         "vllm --from $D/p.json",
         2,
         {0},
         "is no report of `shardopt inference`"},
        {"another engine", "$P emit vllm --engine sglang --model 8b --chip h100 --nodes 1", 2, {0}, "--engine: "},
        {"not on this chip", "$P emit sglang --model 8b --chip v5e --slice 2x4", 2, {0}, "does not run on"},
        {"nothing fits", "$P emit vllm --model 405b --chip h100 --chips 1", 3, {0}, "nothing fits"},
        {"one phase is no server", "$P emit vllm --model 8b --chip h100 --nodes 1 --mode decode", 2, {0}, "one phase"},
        {"hosts of TPUs", "$P emit vllm --model 70b --chip v5e --slice 4x4 --require tensor=16", 2, {0}, "through Ray"},
        {"three GPUs of a host of four",
         "$P emit vllm --model 8b --chip gb200 --nodes 1 --mode aggregated --require 'tensor=2 pipeline=3'",
         2,
         {0},
         "whole hosts of 4"},
        {"too few hosts are said by the script",
         "$P emit vllm --model 405b --chip h100 --nodes 2 --require tensor=16 -o $D/s.sh && MODEL=m bash $D/s.sh",
         2,
         {0},
         "HOSTS has 1 names, and 2 hosts are used"},
        {"no weights are said by the script",
         "$P emit vllm --model 8b --chip h100 --nodes 1 -o $D/s.sh && { bash $D/s.sh || exit 2; }",
         2,
         {0},
         "MODEL: give the folder"},
        {"nowhere to write", "$P emit vllm --model 8b --chip h100 --nodes 1 -o $D/none/s.sh", 2, {0}, "none/s.sh"},
        {"its own help", "$P emit vllm --help", 0, {"--prompt", "--rank"}, NULL},
        {"among the formats", "$P emit --help", 0, {"  sglang ", "maxtext-serving"}, NULL},
    };
    /* All of them under the sanitizers too: later lines read the report of the second. */
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) check(&ROWS[i]);
}
