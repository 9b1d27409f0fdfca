/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The words of a line: names of other programs are options of ours, byte for byte; what is none is refused with the
 * right word; values stay as they are typed. */
#include "base/arena.h"
#include "base/file.h"
#include "base/util.h"
#include "search/cli/commands.h"
#include "search/cli/names.h"
#include "search/cli/sweep/grid.h"
#include "search/options/options.h"
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

Test(words, lines_are_other_lines) {
    static const struct {
        const char *typed, *ours;
    } LINES[] = {
        {SMALL " --json", SMALL " --format json"},
        {SMALL " --format md", SMALL " --format markdown"},
        {SMALL " --format=md", SMALL " --format markdown"},
        {SMALL " --csv", SMALL " --format csv"},
        {"optimize " SMALL " --csv", "plan " SMALL " --format csv"},
        {"train 8b v5e-16 --batch 64Ki --seq 2048 --sensitivity none",
         "plan --model 8b --slice v5e-16 --batch 64Ki --seq 2048 "
         "--sensitivity none"},
        {"8b 8xH100 --batch 64Ki --seq 2048 --sensitivity none -q",
         "plan --model 8b --chip h100 --chips 8 --batch 64Ki --seq 2048 "
         "--sensitivity none -q"},
        {"plan h100:8 8b --batch 64Ki --seq 2048 --sensitivity none -q",
         "plan --model 8b --chip h100 --chips 8 --batch 64Ki --seq "
         "2048 --sensitivity none -q"},
        {SMALL " --csv --gradient_checkpointing false", SMALL " --format csv --remat none"},
        {SMALL " --csv --Gradient-Checkpointing=true", SMALL " --format csv --remat full"},
        {SMALL " --csv --no-pipeline --max-tp 2", SMALL " --format csv --require 'pipeline=1 tensor<=2'"},
        {SMALL " --csv --lr 1e-4 --seed 1 --ignore-unknown -q", SMALL " --format csv -q"},
        {SMALL " --csv --precision BF16", SMALL " --format csv --precision bf16"},
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
        {"explain " EXPLAINED " --tp 2 --pp 2", "explain " EXPLAINED " --plan 'tensor=2 pipeline=2'"},
        {"explain " EXPLAINED " --plan TP2-PP2,DP2", "explain " EXPLAINED " --plan 'tensor=2 pipeline=2 data=2'"},
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

Test(words, errors_name_the_right_word) {
    static const struct {
        const char *typed, *says;
    } LINES[] = {
        {"--model 8b --nodes 4", "--chip: is missing; give a machine"},
        {"--model 8b --chip h100", "how many of h100? give --nodes 1 (a host of 8) or --chips 4"},
        {"--model gemma", "nearest: gemma"},
        {"--model 8b --chip h100 --gradient-checkpointing=maybe", "takes true or false"},
        {"--model 8b --chip h100 --bf16 false",
         "false does not say what else; it stands for --precision bf16, which takes other values"},
        {"--model 8b --chip h100 --lr 1", "--lr: no plan depends on it; --ignore-unknown leaves it out"},
        {"--model 8b --chp h100 --ignore-unknown", "--chp: is not an option; did you mean --chip"},
        {"--model 8b --chip h100 -tp 8", "-tp: is not an option; did you mean --tp"},
        {"8b 70b 8xh100", "70b: is a second model, next to 8b; give one"},
        {"8b 8xh100 v5e-16", "v5e-16: is a second machine, next to 8xh100; give one"},
        {"plan 8b 8xh10", "there is no chip \"h10\""},
        {"finetune 8b 8xh100", "finetune: does not say what is trained"},
        {"--model 8b --chip h100 --nodes 1 -o x.csv --format json", "json contradicts the file x.csv"},

        {"--model 8b --chip h100 --tp", "needs a value"},
        {"--model 8b --chip h100 --nodes 1 --tp 2 --require tensor=4", "no degree of tensor"},
        {"--model 8b --chip h100 --require 'tensor=2' --require 'tensor=2'", "given twice"},
        {"--model 8b --chip h100 --nodes 1 --tp two", "two"},
        {"--model 8b --chip h100 --nodes 1 --require 'TP2x'", "TP2x"},
        {"--model no/such-model", "no/such-model"},
        {"--model 8b --chip h100 --nodes 1 --for megatronn", "is not a launcher"},
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

Test(words, what_looks_decimal_is_planned_with_a_warning) {
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

Test(words, a_part_of_a_name_lists_models) {
    Ran some = run("models deepseek"), all = run("models");
    cr_expect_eq(some.code, 0);
    cr_expect_not_null(strstr(some.out, "deepseek-v3"));
    cr_expect_null(strstr(some.out, "bloom"));
    cr_expect_lt(strlen(some.out), strlen(all.out));
    release(&some);
    release(&all);
}

Test(words, names_of_programs) {
    Arena arena = {0};
    Error error = {0};
    char *text, *rest = NULL;
    size_t length;
    int names = 0;
    cr_assert(file_read(SHARDOPT_TEST_DATA "/../search/cli/names.tsv", 1 << 20, &arena, &text, &length, &error), "%s",
              error.text);
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char *cells = NULL;
        if (*line == '#') continue;
        const Command *command = command_named(strtok_r(line, "\t", &cells), &error);
        const char *wanted = strtok_r(NULL, "\t", &cells);
        for (char *name = strtok_r(NULL, " ", &cells); name; name = strtok_r(NULL, " ", &cells), names++) {
            const NameRow *row = name_row(command_kind(command), name, strlen(name));
            int own = command_option(command, name, strlen(name));
            const char *is = own >= 0 ? command->options[own].name : row ? row->meaning : "?";
            cr_expect_str_eq(is, own >= 0 ? wanted + 2 : wanted, "%s of %s", name, command->name);
        }
    }
    cr_expect_gt(names, 320);
    arena_free(&arena);
}

/* No row is hidden by another, or by an option of the command's own. */
Test(words, rows_are_apart) {
    for (int i = 0; i < NAME_ROW_COUNT; i++) {
        const NameRow *row = &NAME_ROWS[i];
        if (strcmp(row->kinds, "value") == 0) continue;
        for (const char *at = row->names; *at; at += strspn(at, " ")) {
            size_t size = strcspn(at, " ");
            cr_expect_eq(name_row(row->kinds, at, size), row, "%s: %.*s stands in two rows", row->kinds, (int)size, at);
            at += size;
        }
    }
}

/* Of every option that a sweep takes lists of, two of its values stay two values, in either order, as they are
 * typed. */
Test(words, lists_keep_their_values) {
    static const struct {
        const CommandOption *table;
        Command command;
    } SWEPT[] = {
        {PLANNING_OPTIONS,
         {.name = "sweep", .options = PLANNING_OPTIONS, .option_count = OPTION_COUNT, .use = USE_SWEEP}},
        {SERVING_OPTIONS,
         {.name = "sweep inference",
          .options = SERVING_OPTIONS,
          .option_count = OPTION_COUNT,
          .use = USE_INFERENCE | USE_SWEEP}},
        {RL_OPTIONS, {.name = "sweep rl", .options = RL_OPTIONS, .option_count = OPTION_COUNT, .use = USE_SWEEP}}};
    int pairs = 0;
    for (size_t c = 0; c < COUNT_OF(SWEPT); c++)
        for (int o = 0; o < OPTION_COUNT; o++) {
            const CommandOption *option = &SWEPT[c].table[o];
            char values[16][32];
            int count = 0;
            if (o == OPTION_TIME_LIMIT || o == OPTION_MEMORY_LIMIT) continue; /* of the search alone */
            if (!option->name || !option->is_input || !option->takes || !command_has_option(&SWEPT[c].command, o))
                continue;
            bool listed = option->values && option->values[0] != '@';
            for (const char *at = listed                               ? option->values
                                  : strcmp(option->name, "model") == 0 ? "8b 70b"
                                  : strcmp(option->name, "chip") == 0  ? "h100 v5e"
                                                                       : "2 3 4";
                 *at && count < 16; at += strspn(at, " ")) {
                snprintf(values[count++], 32, "%.*s", (int)strcspn(at, " "), at);
                at += strcspn(at, " ");
            }
            for (int a = 0; a < count; a++)
                for (int b = 0; b < count; b++) {
                    if (a == b) continue;
                    Arena arena = {0};
                    Error error = {0};
                    CommandLine line;
                    Options options = {.text = {NULL}};
                    SweepGrid grid;
                    bool semicolon = word_among("require for schedules state-dtypes remat train-plan rollout qlora "
                                                "targets freeze",
                                                option->name, strlen(option->name));
                    char word[96], *argv[] = {(char *)"sweep", (char *)"--model=8b", word, NULL};
                    snprintf(word, sizeof word, "--%s=%s%s%s", option->name, values[a], semicolon ? ";" : ",",
                             values[b]);
                    if (strcmp(option->name, "model") == 0) argv[1] = word, argv[2] = NULL;
                    bool ok = command_line_read(&SWEPT[c].command, argv[2] ? 3 : 2, argv, &arena, &line, &error);
                    if (ok)
                        memcpy(options.text, line.text, sizeof options.text),
                            memcpy(options.where, line.where, sizeof options.where);
                    ok = ok && sweep_grid_from_options(SWEPT[c].table, &options, &arena, &grid, &error);
                    cr_expect(ok, "%s %s: %s", SWEPT[c].command.name, word, error.text);
                    int at = ok ? grid.option_count - 1 : -1;
                    while (at >= 0 && strcmp(grid.options[at].option, option->name) != 0) at--;
                    cr_expect(at >= 0 && grid.options[at].count == 2 &&
                                  strcmp(grid.options[at].values[0], values[a]) == 0 &&
                                  strcmp(grid.options[at].values[1], values[b]) == 0,
                              "%s %s", SWEPT[c].command.name, word);
                    pairs++;
                    arena_free(&arena);
                }
        }
    cr_expect_gt(pairs, 300, "%d", pairs);
}
