/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines that people typed: each does what another line says in our words, byte for byte, or names the right word. */
#include "base/util.h"
#include "search/shardopt.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 40, LINE_SIZE = 512 };

typedef struct {
    int code;
    char *out, *err;
} Ran;

/* Words stand between blanks; a word in single quotes may hold some. */
static Ran run(const char *line) {
    char text[LINE_SIZE], *argv[WORDS] = {(char *)"shardopt"};
    int argc = 1;
    snprintf(text, sizeof text, "%s", line);
    for (char *at = text; *at && argc < WORDS - 1;) {
        char end = *at == '\'' ? '\'' : ' ';
        at += end == '\'';
        argv[argc++] = at;
        at += strcspn(at, end == '\'' ? "'" : " ");
        if (*at) *at++ = '\0';
        while (*at == ' ') at++;
    }
    Ran ran = {0};
    ran.code = shardopt_call(argc, argv, &ran.out, &ran.err);
    return ran;
}

static void release(Ran *ran) {
    free(ran->out);
    free(ran->err);
}

#define SMALL "--model 8b --chip v5e --slice 4x4 --batch 64Ki --seq 2048 --sensitivity none"
#define PLAIN "--model 8b --chip h100 --nodes 1 --batch 64Ki --seq 2048 --sensitivity none --quiet"
#define EXPLAINED "--model 8b --chip h100 --nodes 1 --batch 64Ki --seq 2048 --quiet"

Test(synonyms, lines_are_other_lines) {
    static const struct {
        const char *typed, *ours;
    } LINES[] = {
        {SMALL " --json", SMALL " --format json"},
        {SMALL " --format md", SMALL " --format markdown"},
        {SMALL " --format=md", SMALL " --format markdown"},
        {SMALL " --csv", SMALL " --format csv"},
        {"optimize " SMALL " --csv", "plan " SMALL " --format csv"},
        {SMALL " --csv --tp 2", SMALL " --format csv --require tensor=2"},
        {SMALL " --csv --tp=2 --fsdp 8", SMALL " --format csv --require 'tensor=2 fsdp=8'"},
        {SMALL " --csv --tp 2 --require fsdp=8", SMALL " --format csv --require 'tensor=2 fsdp=8'"},
        {SMALL " --csv --require fsdp=8 --tp 2", SMALL " --format csv --require 'fsdp=8 tensor=2'"},
        {SMALL " --csv --cp 2 --mbs 1", SMALL " --format csv --require 'sequence=2 microbatch_sequences=1'"},
        {SMALL " --csv --require tp=2", SMALL " --format csv --require tensor=2"},
        {SMALL " --csv --require 'TP2 FSDP8'", SMALL " --format csv --require 'tensor=2 fsdp=8'"},
        {"--model 8b --tpu v5e --tpus 16 --global-batch-size 32 --seq-len 2048 --csv",
         "--model 8b --chip v5e --chips 16 --sequences 32 --seq 2048 --format csv"},
        {"--model 8b --gpu h100 --gpus 8 --gbs 32 --sequence-length 2048 --dtype bf16 --csv",
         "--model 8b --chip h100 --chips 8 --sequences 32 --seq 2048 --precision bf16 --format csv"},
        {PLAIN " --csv --framework megatron-lm", PLAIN " --format csv --for megatron"},
        {PLAIN " --csv --for nemo", PLAIN " --format csv --for megatron"},
        {"explain " EXPLAINED " --plan 'tp=2 pp=2'", "explain " EXPLAINED " --plan 'tensor=2 pipeline=2'"},
        {"explain " EXPLAINED " --plan 'TP2 PP2 DP2'", "explain " EXPLAINED " --plan 'tensor=2 pipeline=2 data=2'"},
        {"-V", "--version"},
        {"version", "--version"},
        {"list", "models"},
        {"--list-models", "models"},
        {"--model meta-llama/Llama-3.1-8B --chip v5e --slice 4x4 --sensitivity none",
         "--model llama3.1-8b --chip v5e --slice 4x4 --sensitivity none"},
    };
    for (size_t i = 0; i < COUNT_OF(LINES); i++) {
        Ran typed = run(LINES[i].typed), ours = run(LINES[i].ours);
        cr_expect_eq(typed.code, ours.code, "%s: %d, not %d: %s", LINES[i].typed, typed.code, ours.code, typed.err);
        cr_expect_neq(ours.code, 2, "%s: %s", LINES[i].ours, ours.err);
        /* the words to emit with are as they were typed: what comes before them is the same */
        const char *emit = strstr(ours.out, "shardopt emit");
        size_t same = emit ? (size_t)(emit - ours.out) : strlen(ours.out);
        cr_expect(same > 0 && strncmp(typed.out, ours.out, same) == 0, "%s: %.300s", LINES[i].typed, typed.out);
        release(&typed);
        release(&ours);
    }
}

Test(synonyms, errors_name_the_right_word) {
    static const struct {
        const char *typed, *says;
    } LINES[] = {
        {"--model 8b --nodes 4", "no --chip was given, and tpu-v5p is the default"},
        {"--model gemma", "may be one of"},
        {"--model 8b --chip h100 --tp", "needs a value"},
        {"--model 8b --chip h100 --tp 2 --require tensor=4", "no degree of tensor"},
        {"--model 8b --chip h100 --require 'tensor=2' --require 'tensor=2'", "given twice"},
        {"--model 8b --chip h100 --tp two", "two"},
        {"--model 8b --chip h100 --require 'TP2x'", "TP2x"},
        {"--model no/such-model", "no/such-model"},
        {"--model 8b --chip h100 --for megatronn", "is not a launcher"},
        {"models --tp 8", "--tp"},
    };
    for (size_t i = 0; i < COUNT_OF(LINES); i++) {
        Ran ran = run(LINES[i].typed);
        cr_expect_eq(ran.code, 2, "%s: %d", LINES[i].typed, ran.code);
        cr_expect_str_empty(ran.out, "%s", LINES[i].typed);
        cr_expect_not_null(strstr(ran.err, LINES[i].says), "%s: %s", LINES[i].typed, ran.err);
        release(&ran);
    }
}

Test(synonyms, what_looks_decimal_is_planned_with_a_warning) {
    static const struct {
        const char *typed, *says; /* NULL: nothing */
    } LINES[] = {
        {"--seq 2k --batch 64Ki", "--seq: 2k is 2,000; 2,048 is 2Ki"},
        {"--seq 2Ki --batch 1M", "--batch: 1M is 1,000,000; 1,048,576 is 1Mi"},
        {"--seq 2Ki --batch 64Ki", NULL},
        {"--seq 2000 --batch 64000", NULL},
        {"--seq 2k --batch 64Ki --quiet", NULL},
    };
    for (size_t i = 0; i < COUNT_OF(LINES); i++) {
        char line[LINE_SIZE];
        snprintf(line, sizeof line, "--model 8b --chip v5e --slice 4x4 --sensitivity none %s", LINES[i].typed);
        Ran ran = run(line);
        cr_expect_eq(ran.code, 0, "%s: %s", line, ran.err);
        if (LINES[i].says)
            cr_expect_not_null(strstr(ran.err, LINES[i].says), "%s: %s", line, ran.err);
        else
            cr_expect_str_empty(ran.err, "%s: %s", line, ran.err);
        release(&ran);
    }
}

Test(synonyms, a_part_of_a_name_lists_models) {
    Ran some = run("models deepseek"), all = run("models");
    cr_expect_eq(some.code, 0);
    cr_expect_not_null(strstr(some.out, "deepseek-v3"));
    cr_expect_null(strstr(some.out, "bloom"));
    cr_expect_lt(strlen(some.out), strlen(all.out));
    release(&some);
    release(&all);
}
