/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What `emit` writes of a plan, `explain --from-config` reads back as the same plan with the same step. Plans are such
 * as their launcher does exactly: what it does otherwise, emit says itself (recomputation by layers, weights kept for
 * backward), and no configuration has it. JAX's module says its machine itself. */
#include "base/util.h"
#include "search/cli/commands.h"
#include "search/cli/planning.h"
#include "search/launch/emit.h"
#include "search/options/one_plan.h"
#include "tests/sanitizer.h"
#include "tests/search/asked.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#define V6E "--chip v6e --slice 16x16"
#define V5P "--slice 8x8x8 --slices 2"
#define LONG "--slice 8x8x16"
#define H100 "--chip h100 --nodes 16"
#define H100_64 "--chip h100 --nodes 64"

static const struct {
    const char *format, *machine, *plan;
} ROWS[] = {
    {"maxtext", V6E, "--model 8b --batch 4Mi --seq 8192 --remat full --require regather=true"},
    {"maxtext", V6E, "--model 8b --batch 4Mi --seq 8192 --remat save_qkv_proj --require tensor=4,regather=true"},
    {"maxtext", V5P, "--model 70b --batch 16Mi --seq 8192 --remat full --require tensor=8,regather=true"},
    {"maxtext", LONG,
     "--model mixtral-8x22b --batch 16Mi --seq 4096 --remat minimal_with_context --require expert=8,regather=true"},
    {"maxtext", LONG, "--model 70b --batch 8Mi --seq 32768 --remat full --require sequence=4,pipeline=1,regather=true"},
    {"maxtext", V5P, "--model 70b --batch 16Mi --seq 8192 --remat full --require pipeline=4,regather=true"},
    {"jax", H100, "--model mixtral-8x22b --batch 4Mi --seq 8192 --remat full"},
    {"jax", V5P, "--model 70b --batch 4Mi --seq 8192 --remat full --require tensor=4,sequence=2"},
    {"jax", V6E, "--model 8b --batch 4Mi --seq 8192 --remat save_qkv_proj"},
    {"jax", LONG, "--model mixtral-8x22b --batch 16Mi --seq 4096 --remat minimal_with_context --require expert=8"},
    {"jax", H100, "--model 70b --batch 4Mi --seq 8192 --remat full --require pipeline=4,tensor=4"},
    {"jax", V5P, "--model 70b --batch 4Mi --seq 8192 --remat full:40"},
    {"megatron", H100, "--model 70b --batch 4Mi --seq 8192 --remat full --require pipeline=4,tensor=4"},
    {"megatron", H100, "--model 70b --batch 4Mi --seq 8192 --remat none --require pipeline=8,microbatch_sequences=1"},
    {"megatron", H100, "--model 8b --batch 4Mi --seq 8192 --remat none"},
    {"megatron", H100_64, "--model 405b --batch 8Mi --seq 8192 --remat full --require pipeline=16,stages=slots"},
    {"megatron", H100, "--model mixtral-8x22b --batch 4Mi --seq 8192 --remat full"},
    {"megatron", H100, "--model 8b --batch 4Mi --seq 65536 --remat full --require sequence=4"},
    {"torchtitan", H100, "--model 70b --batch 4Mi --seq 8192 --remat full"},
    {"torchtitan", H100, "--model 8b --batch 4Mi --seq 8192 --remat none"},
    {"torchtitan", H100_64, "--model 405b --batch 8Mi --seq 8192 --remat full --require pipeline=16,stages=slots"},
    {"torchtitan", H100, "--model 70b --batch 4Mi --seq 8192 --remat full --require pipeline=4,tensor=8"},
    {"torchtitan", H100, "--model 8b --batch 4Mi --seq 65536 --remat full --require sequence=4"},
    {"torchtitan", H100, "--model 70b --batch 4Mi --seq 8192 --remat full --require data=4"},
    {"deepspeed", H100, "--model llama2-13b --batch 4Mi --seq 4096 --remat full"},
    {"deepspeed", H100, "--model 8b --batch 2Mi --seq 8192 --remat full"},
    {"deepspeed", H100, "--model 8b --batch 4Mi --seq 8192 --remat full --require tensor=4,zero_stage=2"},
    {"deepspeed", H100, "--model 70b --batch 4Mi --seq 8192 --remat full --require pipeline=8"},
    {"deepspeed", H100, "--model llama2-7b --batch 4Mi --seq 4096 --remat full --require sequence=4"},
    {"deepspeed", "--chip h200 --nodes 8", "--model qwen3-30b-a3b --batch 2Mi --remat full --require folded_expert=8"},
    {"trl", "--model 8b --chip 4090 --gpus 1", "--lora 8 --targets q_proj,v_proj --seq 1024 --epochs 3"},
    {"trl", "--model 70b --chip 4090 --gpus 2", "--qlora nf4-single --offload parameters"},
    {"trl", "--model 8b --chip h100 --nodes 2", "--sft --require data=2 --remat full"},
    {"trl", "--model 8b --chip a100 --gpus 8", "--dpo --lora --sequences 32"},
    {"axolotl", "--chip 4090 --gpus 2", "--model 70b --qlora 64,nf4-single --offload parameters"},
    {"axolotl", "--chip 4090 --gpus 3", "--model qwen3-8b --lora --targets attention --packing packed --remat none"},
    {"axolotl", "--chip h100 --nodes 2", "--model 8b --sft --require data=2 --remat full"},
    {"axolotl", "--chip a100 --gpus 8", "--model 8b --dpo --lora --sequences 32 --epochs 2"},
    {"llama-factory", "--chip 4090 --gpus 2", "--model 70b --qlora --offload parameters"},
    {"llama-factory", "--chip 4090 --gpus 2", "--model 8b --qlora int8 --targets mlp"},
    {"llama-factory", "--chip a100 --gpus 8", "--model 8b --dpo --remat none"},
    {"llama-factory", "--chip l40s --gpus 4", "--model mixtral-8x7b --lora --packing packed"},
};

/* What the plan's launcher is given, in a file. */
static void emit_into(const char *path, const char *name, const RequestedSearch *asked) {
    Error error = {0};
    EmitNotes notes = {0};
    const EmitFormat *format = emit_format_named(name);
    FILE *file = fopen(path, "w");
    cr_assert(format && file && asked->result.plan_count > 0, "%s", name);
    const Request *own = asked->result.plans->request ? asked->result.plans->request : asked->request;
    cr_assert(emit_allowed(format, own, asked->result.plans, &error), "%s: %s", name, error.text);
    cr_assert(emit_write(format, own, asked->result.plans, &notes, file, &error), "%s: %s", name, error.text);
    fclose(file);
}

/* "explain --from-config FILE ..." up to its search. */
static void read_back(const char *path, const char *machine, RequestedSearch *out) {
    Error error = {0};
    Options options;
    ReportPlan from = {0};
    char text[512], *words[32], *rest = NULL;
    int count = 0;
    memset(out, 0, sizeof *out);
    out->request = ARENA_NEW(&out->arena, Request, 1);
    snprintf(text, sizeof text, "explain --from-config %s %s", path, machine);
    for (char *word = strtok_r(text, " ", &rest); word && count < 31; word = strtok_r(NULL, " ", &rest))
        words[count++] = word;
    cr_assert(options_parse(count, words, &COMMAND_EXPLAIN, &out->arena, &options, &error) &&
                  one_plan_request(&options, "explain", &out->arena, out->request, &from, &error) &&
                  one_plan_search(out->request, &from, &out->arena, &out->result, &error),
              "%s: %s: %s", machine, error.where, error.text);
}

Test(round_trip, emitted_and_read_back) {
    char path[] = "/tmp/shardopt-round-XXXXXX", line[1024], here[NOTATION_SIZE], back[NOTATION_SIZE];
    int descriptor = mkstemp(path);
    cr_assert(descriptor >= 0);
    close(descriptor);
    for (size_t i = 0; i < COUNT_OF(ROWS); i += PROBLEMS_SHARE) {
        RequestedSearch plan, read;
        snprintf(line, sizeof line, "plan %s %s --max-idle 0 --for %s --top 1", ROWS[i].machine, ROWS[i].plan,
                 ROWS[i].format);
        asked_open(&plan, line);
        emit_into(path, ROWS[i].format, &plan);
        read_back(path, strcmp(ROWS[i].format, "jax") == 0 ? "" : ROWS[i].machine, &read);
        cr_assert_eq(read.result.plan_count, 1, "%s", line);
        const RankedPlan *a = plan.result.plans, *b = read.result.plans;
        plan_notation(&a->plan.degrees, &a->plan.knobs, true, here);
        plan_notation(&b->plan.degrees, &b->plan.knobs, true, back);
        cr_expect_str_eq(here, back, "%s", line);
        cr_expect_eq(knobs_compare(&a->plan.knobs, &b->plan.knobs), 0, "%s", line);
        cr_expect_float_eq(b->estimate.time.seconds, a->estimate.time.seconds, 1e-12 * a->estimate.time.seconds,
                           "%s: %.17g, not %.17g", line, b->estimate.time.seconds, a->estimate.time.seconds);
        asked_close(&plan);
        asked_close(&read);
    }
    unlink(path);
}
