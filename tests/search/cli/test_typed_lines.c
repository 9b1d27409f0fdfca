/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What people typed in their first ten minutes, with what should come: it runs, or one line names the right word. */
#include "shell.h"

#include "base/util.h"

#include <criterion/criterion.h>
#include <unistd.h>

#define WORK "--nodes 1 --batch 64Ki --seq 2048 --helps none"
#define LINE "--model 8b --chip h100 " WORK

typedef struct {
    const char *typed; /* behind the program's name; $R is a report of LINE */
    int code;
    const char *out, *err; /* what must be in it; NULL: nothing in particular, where the code is 2 an empty result */
} Typed;

static const Typed LINES[] = {
    /* names of chips and models, as people write them */
    {"--chip H100 --model 8b " WORK, 0, "H100 SXM5", NULL},
    {"--chip H100-80GB --model 8b " WORK, 0, "H100 SXM5", NULL},
    {"--chip 'H100 80GB' --model 8b " WORK, 0, "H100 SXM5", NULL},
    {"--chip nvidia-h100 --model 8b " WORK, 0, "H100 SXM5", NULL},
    {"--chip h100 --model 8B " WORK, 0, "llama3.1-8b on", NULL},
    {"--chip h100 --model=8b " WORK, 0, "llama3.1-8b on", NULL},
    {"--chip h100 --model llama-3-8b " WORK, 0, "llama3-8b on", NULL},
    {"--chip h100 --model meta-llama/Llama-3.1-8B " WORK, 0, "llama3.1-8b on", NULL},
    {"--chip h100 --model meta-llama/Meta-Llama-3-8B-Instruct " WORK, 0, "llama3-8b on", NULL},
    {"--model Llama-70B", 2, NULL, "give llama3.3-70b, llama3.1-70b, llama3-70b"},
    {"--model llama70b", 2, NULL, "give llama3.3-70b, llama3.1-70b, llama3-70b"},
    {"--model gpt-oss", 2, NULL, "gpt-oss-120b"},
    {"--chip mi300 --model 8b", 2, NULL, "nearest: mi300x"},
    {"--slice v6e-16 --model 8b --batch 64Ki --seq 2048 --helps none", 0, "TPU v6e", NULL},
    {"--slice v5p-1000 --model 8b", 2, NULL, "nearest: 448 (4x4x28) or 512 (8x8x8)"},
    {"models llama", 0, "llama3.3-70b", NULL},
    {"models deepseek", 0, "deepseek-v3", NULL},
    {"models llama 70b", 0, "llama3.3-70b", NULL},
    {"list", 0, "llama3.1-70b", NULL},
    {"--list-models", 0, "llama3.1-70b", NULL},
    {"--list-chips", 0, "tpu-v5p", NULL},
    /* sizes and options in the words of others */
    {"--gpu h100 --gpus 8 --model 8b --batch 64Ki --seq 2048 --helps none", 0, "(8 chips)", NULL},
    {"--tpu v6e --tpus 16 --model 8b --batch 64Ki --seq 2048 --helps none", 0, "(16 chips)", NULL},
    {"--gpus 512 --model 8b", 2, NULL, "--chip h100"},
    {"--model 8b --nodes 64", 2, NULL, "no --chip was given, and tpu-v5p is the default"},
    {"--nodes 1000000 --model 8b --chip h100", 2, NULL, "--nodes"},
    {"--model 8b --chip h100 --nodes 1 --batch-size 32 --seq-len 2048 --helps none", 0, "32 x 2,048 tokens", NULL},
    {"--model 8b --chip h100 --nodes 1 --global-batch-size 32 --seq-len 2048 --helps none", 0, "32 x 2,048 tokens",
     NULL},
    {"--model 8b --chip h100 --nodes 1 --gbs 32 --seq-len 2048 --mbs 1 --helps none", 0, "micro-batch 1", NULL},
    {LINE " --dtype bf16 -v", 0, "bf16 matmuls", NULL},
    {"--model 8b --chip h100 --precision fp16 " WORK, 2, NULL, "bf16, fp8"},
    {LINE " --framework megatron", 0, "In megatron's words", NULL},
    {LINE " --for megatron-lm", 0, "In megatron's words", NULL},
    {LINE " --for megatron-bridge", 0, "In megatron's words", NULL},
    {LINE " --for nemo", 0, "In megatron's words", NULL},
    {LINE " --deepspeed", 0, "In deepspeed's words", NULL},
    {LINE " --tp 8", 0, "tensor=8", NULL},
    {LINE " --pp 2 --tp 2", 0, "pipeline=2", NULL},
    {LINE " --fsdp 8", 0, "fsdp=8", NULL},
    {LINE " --require 'tp=2 pp=2'", 0, "pipeline=2", NULL},
    {LINE " --tp", 2, NULL, "needs a value"},
    {"explain --model 8b --chip h100 --nodes 1 --batch 64Ki --seq 2048 --plan 'tp=8 pp=1'", 0, "tensor=8", NULL},
    {"explain --model 8b --chip h100 --nodes 1 --batch 64Ki --seq 2048 --plan 'TP8 PP1'", 0, "tensor=8", NULL},
    {LINE " --json", 0, "\"format_version\": 1", NULL},
    {LINE " --csv", 0, "step_seconds", NULL},
    {LINE " --format md", 0, "## llama3.1-8b", NULL},
    {"--format yaml", 2, NULL, "text, json, markdown, html or csv"},
    {"models --format md", 2, NULL, "give text or json"},
    /* sizes that nobody means */
    {"--batch 1024 --model 8b --chip h100 --nodes 1", 2, NULL, "--sequences 1024"},
    {"--seq 2k --model 8b --chip h100 --nodes 1 --batch 64Ki", 0, NULL, "2,048 is 2Ki"},
    {"--batch 1M --seq 2048 --model 8b --chip h100 --nodes 1 --helps none", 0, NULL, "1,048,576 is 1Mi"},
    {"--batch 4MB --model 8b --chip h100", 2, NULL, "give 4Mi"},
    {"--seq 8K --model 8b --chip h100", 2, NULL, "give 8Ki"},
    {"--seq 8kb --model 8b --chip h100", 2, NULL, "give 8Ki"},
    {"--batch 4m --model 8b --chip h100", 2, NULL, "give 4Mi"},
    /* commands and files */
    {"-V", 0, "shardopt 0", NULL},
    {"version", 0, "shardopt 0", NULL},
    {"help", 0, "--chip h100", NULL},
    {"help plan", 0, "--model", NULL},
    {"optimize " LINE, 0, "llama3.1-8b on", NULL},
    {"pln", 2, NULL, "did you mean plan"},
    {"8b --chip h100", 2, NULL, "shardopt --model 8b"},
    {"plan $R", 2, NULL, "shardopt explain"},
    {"explain $R", 0, "llama3.1-8b on", NULL},
    {"explain $R --rank 2", 0, "llama3.1-8b on", NULL},
    {"explain --rank 2 $R", 0, "llama3.1-8b on", NULL},
    {"show $R", 0, "llama3.1-8b on", NULL},
    {"explain - <$R", 0, "llama3.1-8b on", NULL},
    {"explain $S/tests/data/import/megatron_70b.sh --chip h100 -q", 0, "Why not this plan", NULL},
    {"explain $R $R", 2, NULL, "is a second plan beside --from"},
    {"emit megatron $R", 0, "tensor-model-parallel-size", NULL},
    {"emit $R megatron", 0, "tensor-model-parallel-size", NULL},
    {"emit --from $R megatron", 0, "tensor-model-parallel-size", NULL},
    {"emit nemo $R", 0, "tensor-model-parallel-size", NULL},
    {"emit - megatron-lm <$R", 0, "tensor-model-parallel-size", NULL},
    {"emit megatron torchtitan", 2, NULL, "one format too many"},
    {"emit slurm", 2, NULL, "maxtext, jax, megatron"},
    {"compare $R $R", 0, "A  ", NULL},
    /* words of others that are no option: by meaning first, then by spelling */
    {"--memory 80GB", 2, NULL, "--hbm-reserve"},
    {"--num-layers 32", 2, NULL, "config.json"},
    {"--zero-stage 3", 2, NULL, "zero_stage=1"},
    {"--train-iters 100", 2, NULL, "--tokens"},
    {"--tensor-parallell 8", 2, NULL, "is not an option"},
    {"--gpuss 8", 2, NULL, "did you mean --gpus"},
    {"--modell 8b", 2, NULL, "did you mean --model"},
};

static void expect(const char *folder, const char *before, const char *typed, const char *after, Typed wanted) {
    char line[1024];
    snprintf(line, sizeof line, "R=$D/r.json S=%s; %s $P %s%s", SHARDOPT_SOURCE_DATA, before, typed, after);
    Run ran = run(folder, line);
    cr_expect_eq(ran.code, wanted.code, "%s: %d: %s", typed, ran.code, ran.err);
    if (wanted.code == 2) cr_expect_str_empty(ran.out, "%s: %.200s", typed, ran.out);
    if (wanted.out) cr_expect_not_null(strstr(ran.out, wanted.out), "%s: %.400s", typed, ran.out);
    if (wanted.err) cr_expect_not_null(strstr(ran.err, wanted.err), "%s: %s", typed, ran.err);
    if (wanted.code == 2) cr_expect_eq(strchr(ran.err, '\n'), ran.err + strlen(ran.err) - 1, "%s: %s", typed, ran.err);
    free(ran.out);
    free(ran.err);
}

static void make_folder(char folder[FOLDER_SIZE]) {
    folder_make(folder, "typed");
    Run ran = run(folder, "$P " LINE " --json -q -o $D/r.json");
    cr_assert_eq(ran.code, 0, "%s", ran.err);
    free(ran.out);
    free(ran.err);
}

Test(typed_lines, each_runs_or_names_the_right_word) {
    char folder[FOLDER_SIZE];
    make_folder(folder);
    cr_assert_geq((int)COUNT_OF(LINES), 60);
    for (size_t i = 0; i < COUNT_OF(LINES); i++) expect(folder, "", LINES[i].typed, "", LINES[i]);
    folder_drop(folder);
}

/* `| head` has what it wanted: no message, and the code that the answer has. */
Test(typed_lines, a_reader_that_leaves_is_no_error) {
    static const char *const LONG[] = {"models", "chips", "help --man", LINE " --json", "explain $R --format json"};
    char folder[FOLDER_SIZE], line[512];
    make_folder(folder);
    for (size_t i = 0; i < COUNT_OF(LONG); i++) {
        snprintf(line, sizeof line, "R=$D/r.json; { $P %s; echo $? >$D/code; } | :; cat $D/code", LONG[i]);
        Run ran = run(folder, line);
        cr_expect_str_eq(ran.out, "0\n", "%s", LONG[i]);
        cr_expect_str_empty(ran.err, "%s: %s", LONG[i], ran.err);
        free(ran.out);
        free(ran.err);
    }
    folder_drop(folder);
}

/* What comes through a pipe is read as a file is, though it is read twice. */
Test(typed_lines, standard_input_may_be_a_pipe) {
    static const Typed PIPED[] = {
        {"explain -", 0, "llama3.1-8b on", NULL},
        {"emit megatron -", 0, "tensor-model-parallel-size", NULL},
        {"emit - megatron", 0, "tensor-model-parallel-size", NULL},
        {"diff $R -", 0, "A  ", NULL},
    };
    char folder[FOLDER_SIZE];
    make_folder(folder);
    for (size_t i = 0; i < COUNT_OF(PIPED); i++) expect(folder, "cat $R |", PIPED[i].typed, "", PIPED[i]);
    expect(folder, ": |", "explain -", "", (Typed){"explain -", 2, NULL, "shardopt: "});
    folder_drop(folder);
}

/* The figure that the warning has is that of two runs. */
Test(typed_lines, thousands_say_what_they_cost) {
    char folder[FOLDER_SIZE];
    make_folder(folder);
    Run typed = run(folder, "$P --model 8b --chip h100 --nodes 1 --batch 64Ki --seq 2k --csv --top 1");
    Run meant = run(folder, "$P --model 8b --chip h100 --nodes 1 --batch 64Ki --seq 2Ki --csv --top 1 | "
                            "cut -d, -f1-400");
    const char *says = strstr(typed.err, "where a token takes ");
    cr_assert_not_null(says, "%s", typed.err);
    double share = strtod(says + strlen("where a token takes "), NULL) / 100;
    /* tokens/s per chip stands in both answers */
    Run rate =
        run(folder, "for s in 2k 2Ki; do $P --model 8b --chip h100 --nodes 1 --batch 64Ki --seq $s -q --json "
                    "--top 1 --helps none | sed -n 's/.*\"tokens_per_second_per_chip\": \\([0-9.e+]*\\).*/\\1/p' | "
                    "head -1; done");
    char *end;
    double slow = strtod(rate.out, &end), fast = strtod(end, NULL);
    cr_assert(slow > 0 && fast > 0, "%s", rate.out);
    cr_expect_float_eq(share, fast / slow - 1, 0.0006, "%g against %g", share, fast / slow - 1);
    Run all[] = {typed, meant, rate};
    for (size_t i = 0; i < COUNT_OF(all); i++) {
        free(all[i].out);
        free(all[i].err);
    }
    folder_drop(folder);
}
