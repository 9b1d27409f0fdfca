/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/options/command_option.h: one option as a row of data: how it is typed, what help and manual say of it. */
#pragma once

#include <stdbool.h>

/* One option. Its number is its place in the table of its command; a row without a name is a gap in the numbers.
 * Texts for the manual (`details`) name options as they are typed (--plan) and put what else is typed between `...`;
 * a newline begins a paragraph. */
typedef struct {
    const char *name;    /* "max-idle" */
    char letter;         /* 'o' for -o; 0 means none */
    const char *takes;   /* what the value is called, "FILE"; NULL means that the option is a flag */
    unsigned use;        /* the commands that have it, as bits of Command.use; 0 means each command of the table */
    bool is_input;       /* it is an input of a search, and therefore in a report's `request` */
    const char *heading; /* stands before it in the help; NULL means none */
    const char *help;    /* one line */
    const char *details; /* the manual's text; NULL means that the line is all there is to say */
    /* What completion proposes and line_choice() reads: words with blanks between them; "@models" and "@chips" mean the
     * names that those commands list, "@files" means files; NULL means nothing. */
    const char *values;
    const char *key; /* what a report calls it; NULL: its name */
    bool writes;     /* the value is a file that is written: no other file of the command line may be the same one */
} CommandOption;

/* A row: its name, what its value is called (NULL: a flag), the commands that have it (0: all of the table), and any
 * other fields. One that is an input of a search is an INPUT_ROW. */
#define OPTION_ROW(NAME, TAKES, USE, ...)                                                                              \
    { .name = NAME, .takes = TAKES, .use = (USE), __VA_ARGS__ }
#define INPUT_ROW(NAME, TAKES, USE, ...)                                                                               \
    { .name = NAME, .takes = TAKES, .use = (USE), .is_input = true, __VA_ARGS__ }

/* Options that several tables have, described once. */
#define OPTION_ROW_DEADLINE                                                                                            \
    .name = "deadline", .takes = "TIME",                                                                               \
    .help = "mark the cheapest point whose training ends within 30d, failures and idle chips counted",                 \
    .details =                                                                                                         \
        "Mark the points whose training ends within this time (30d, 12h), failures counted as --mtbf has them, "       \
        "and the cheapest of them, on demand and at a reserved price where the catalog has one (`shardopt "            \
        "chips NAME` has both with source and date). Exit 3 where none does; the soonest is named then."
#define OPTION_ROW_BUDGET                                                                                              \
    .name = "budget", .takes = "USD", .help = "the same for what the training may cost: 20M",                          \
    .details = "The same for what the training may cost in dollars, every chip that is allocated paid for: 20M, 5e6. " \
               "A point is in the budget if one of its prices is."
#define OPTION_ROW_WHAT_IF                                                                                             \
    .name = "what-if", .takes = "CHANGES",                                                                             \
    .help = "the same with something else, a line under the answer: \"chip=b200; nodes=16\"",                          \
    .details =                                                                                                         \
        "The same question with other options, as a line under the answer: its figures, and how far they move. "       \
        "\"`chip=b200 nodes=4; nodes=16`\" are two changes, up to eight; another size takes the place of the "         \
        "machine's. A line is of text alone."
#define OPTION_ROW_OUTPUT                                                                                              \
    .name = "output", .letter = 'o', .takes = "FILE", .help = "write the result to this file instead of to stdout",    \
    .details = "Write the result there. A new file is written and renamed: the old content or the new, never half.",   \
    .values = "@files", .writes = true
#define OPTION_ROW_TEXT_OR_JSON                                                                                        \
    .name = "format", .takes = "FORMAT", .help = "how the answer is written: text or json (text)", .values = "text json"
#define OPTION_ROW_THREADS                                                                                             \
    .name = "threads", .takes = "N", .help = "threads to use; the answer is the same for any number",                  \
    .details = "Threads to use (all cores). The answer is the same for any number."

#define OPTION_ROW_FACTS                                                                                               \
    .name = "facts", .takes = "WORDS",                                                                                 \
    .help = "of a load test's JSON, what it does not say: \"chip=h100 engine=vllm tp=4 dp=2\"",                        \
    .details =                                                                                                         \
        "FILE may be the JSON of `vllm bench serve`, of SGLang's bench_serving or of genai-perf, or several of "       \
        "them. What it does not say is given here: model, chip, chips, engine, tp, pp, attn_dp, ep, dp, prec_w, "      \
        "prec_kv. Scripts of `emit` put these into the report."

enum { OPTIONS_MAX = 144 };
