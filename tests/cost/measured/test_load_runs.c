/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/util.h"
#include "cost/measured/run.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char PATH[64];

static void write_table(const char *text, size_t length) {
    snprintf(PATH, sizeof PATH, "/tmp/shardopt-runs-%ld.tsv", (long)getpid());
    FILE *file = fopen(PATH, "wb");
    cr_assert(file && fwrite(text, 1, length, file) == length && fclose(file) == 0);
}

#define HEADING "id\thardware\tchips\tmodel\tseq_len\tglobal_batch\tnotes\tsp\tmfu\n"

Test(run, a_row_as_it_stands) {
    static const char TEXT[] =
        "\xEF\xBB\xBFnotes\tID\thardware\tchips\tmodel\tseq_len\tglobal_batch\todd\tstep_time_s\tmfu\tsp\r\n"
        "\r\n"
        "\"a \"\"b\"\"\tc\r\nd\"\tone-1\th100\t8\tm\t2048\t4\t\"\"\t1.5\t41%\t1\r\n"
        " it's 5\" wide \ttwo\th100\t16\tm\t4Ki\t8\tx\t\t\t";
    Arena arena = {0};
    RunTable table;
    Error error = {0};
    write_table(TEXT, sizeof TEXT - 1);
    cr_assert(run_table_read(PATH, &arena, &table, &error), "%s: %s", error.where, error.text);
    unlink(PATH);
    cr_assert_eq(table.count, 2);
    const Run *one = &table.runs[0], *two = &table.runs[1];
    cr_expect_str_eq(one->notes, "a \"b\" c d", "marks are doubled, tabs and ends of lines are blanks");
    cr_expect_str_eq(one->id, "one-1");
    cr_expect_str_eq(one->family, "one");
    cr_expect_eq(one->line, 3);
    cr_expect_eq(one->chips, 8);
    cr_expect_float_eq(one->step_seconds, 1.5, 0);
    cr_expect_float_eq(one->mfu, 0.41, 0);
    cr_expect_eq(one->sequence_parallel, 1);
    cr_expect_str_eq(one->framework, "", "a column that the table has not");
    cr_expect_str_eq(two->notes, "it's 5\" wide", "a mark in the middle is text");
    cr_expect_str_eq(two->family, "two");
    cr_expect_eq(two->line, 5);
    cr_expect_eq(two->seq, 4096);
    cr_expect_eq(two->sequence_parallel, -1);
    cr_expect_float_eq(two->step_seconds, 0, 0);
    arena_free(&arena);
}

#define SIZES "id\thardware\tchips\tmodel\tseq_len\tglobal_batch\tn_heads\tn_kv_heads\texperts\ttopk\tmfu_convention\n"

/* Tables with a row that cannot be read, the last; and broken ones; with the fault and its place. */
static const struct {
    const char *name, *text, *where, *part;
} WRONG_ROWS[] =
    {
        {"short row", HEADING "a\th100\t8\n", "line 2, column 1: ", "has 3 cells, the heading 9"},
        {"long row", HEADING "a\th\t8\tm\t1\t1\t\t\t\t\n", "line 2, column 1: ", "has 10 cells"},
        {"no id", HEADING "\th\t8\tm\t1\t1\t\t\t\n", "line 2, column 1: ", "no id"},
        {"an id twice", HEADING "a\th\t8\tm\t1\t1\t\t\t\nb\th\t8\tm\t1\t1\t\t\t\na\th\t8\tm\t1\t1\t\t\t\n",
         "line 4: ", "its id is that of line 2"},
        {"no number", HEADING "a\th\teight\tm\t1\t1\t\t\t\n", "line 2, column 5: ", "chips: "},
        {"no chips", HEADING "a\th\t0\tm\t1\t1\t\t\t\n", "line 2, column 5: ", "chips: 0 is out of range"},
        {"less than nothing", HEADING "a\th\t-8\tm\t1\t1\t\t\t\n", "line 2, column 5: ", "chips: "},
        {"half a sequence", HEADING "a\th\t8\tm\t1\t0.5\t\t\t\n", "line 2, column 11: ", "global_batch: "},
        {"not finite", HEADING "a\th\t8\tm\t1\t1\t\t\tnan\n", "line 2, column 15: ", "mfu: "},
        {"no share", HEADING "a\th\t8\tm\t1\t1\t\t\t1100%\n", "line 2, column 15: ", "mfu: 1100% is out of range"},
        {"not yes or no", HEADING "a\th\t8\tm\t1\t1\t\t2\t\n", "line 2, column 14: ", "sp: 2 is out of range"},
        {"keys for 4.6 heads", SIZES "a\th\t8\tm\t1\t1\t32\t7\t\t\t\n",
         "line 2, column 16: ", "n_kv_heads: the heads are no multiple"},
        {"more keys than heads", SIZES "a\th\t8\tm\t1\t1\t4\t8\t\t\t\n", "line 2, column 15: ", "n_kv_heads: "},
        {"5 of 4 experts", SIZES "a\th\t8\tm\t1\t1\t\t\t4\t5\t\n", "line 2, column 17: ", "topk: more than there are"},
        {"a number as convention", SIZES "a\th\t8\tm\t1\t1\t\t\t\t\t1e308\n",
         "line 2, column 17: ", "mfu_convention: a number is no"},
        {"a peak of no chip", SIZES "a\th\t8\tm\t1\t1\t\t\t\t\t6N; peak 1e308\n",
         "line 2, column 17: ", "mfu_convention: its peak is no"},
        {"a peak in PFLOP/s", SIZES "a\th\t8\tm\t1\t1\t\t\t\t\t6N; peak 0.989\n",
         "line 2, column 17: ", "mfu_convention: its peak is no"},
},
  WRONG[] = {
      {"empty", "", "", "the file is empty"},
      {"only empty lines", "\n\r\n\n", "", "the file is empty"},
      {"no column", "id\tchips\tmodel\n", ":1", "no column hardware, seq_len, global_batch;"},
      {"a column twice", "id\thardware\tid\n", ":1:13", "twice"},
      {"no run", HEADING, "", "no run below the heading"},
      {"open quotation", HEADING "a\t\"h\t8\tm\n\n", ":2:3", "never closed"},
      {"text behind a quotation", HEADING "a\t\"h\"h\t8\n", ":2:6", "behind a closing quotation mark"},
      {"Latin-1", HEADING "a\t\xE4\t8\n", ":2:3", "not UTF-8"},
      {"cut character", HEADING "a\t\xE4", ":2:3", "not UTF-8"},
      {"escape", HEADING "a\th\x1b[2J\t8\n", ":2:4", "control character"},
      {"a return alone", HEADING "a\th\rb\t8\n", ":2:4", "control character"},
};

/* A row of fine-tuning in the columns of all others: lengths, degrees, recomputation, the batch and what failed. */
Test(run, rows_of_fine_tuning) {
    static const char HEAD[] = "# a note\nid\thardware\tgpus\tframework\tmodel\tseq_len\tglobal_batch\tmicro_batch\t"
                               "grad_accum\tparallel\tact_ckpt\tmethod\tseq_note\tsamples_per_s\tmem_gb_peak\tresult\n";
    static const struct {
        const char *cells;
        int64_t seq, longest, batch, tensor;
        const char *fsdp, *remat;
        double seconds, memory;
        bool failed;
    } ROWS[] = {
        {"HF SFTTrainer\tm\t2048\t\t2\t4\tfsdp\tTrue\tlora\t\t8\t20\tok", 2048, 0, 64, 0, "fsdp", "full", 8, 20, false},
        {"peft\tm\t768\t8\t1\t\tddp\tFalse\tlora\tmean 210 tokens a sample\t4\t20\tok", 210, 768, 8, 0, "none", "none",
         2, 20, false},
        {"x\tm\t\t8\t1\t\tsingle\t\tfull\tmean 277 tokens; packed\t4\t20\tok", 277, 0, 8, 0, "none", "none", 2, 0,
         false},
        {"litgpt\tm\t\t8\t1\t\tsingle\t\tlora\tlongest example 1304 tokens\t4\t20\tok", 1304, 0, 8, 0, "none", "full",
         0, 0, false},
        {"NeMo\tm\t4096\t8\t1\t\ttp2 pp1 fsdp4\t\tqlora\t\t4\t20\tOOM", 4096, 0, 8, 2, "tp2 pp1 fsdp4", "none", 0, 0,
         true},
    };
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        char text[1024];
        Arena arena = {0};
        RunTable table;
        Error error = {0};
        int length = snprintf(text, sizeof text, "%sone\th100\t8\t%s\n", HEAD, ROWS[i].cells);
        cr_assert(run_table_parse("t", text, (size_t)length, &arena, &table, &error), "%s: %s", error.where,
                  error.text);
        const Run *run = &table.runs[0];
        cr_expect_eq(run->seq, ROWS[i].seq, "%zu", i);
        cr_expect_eq(run->longest, ROWS[i].longest, "%zu", i);
        cr_expect_eq(run->global_batch, ROWS[i].batch, "%zu", i);
        cr_expect_eq(run->tensor, ROWS[i].tensor, "%zu", i);
        cr_expect_str_eq(run->fsdp, ROWS[i].fsdp, "%zu", i);
        cr_expect_str_eq(run->remat, ROWS[i].remat, "%zu", i);
        cr_expect_float_eq(run->step_seconds, ROWS[i].seconds, 1e-12, "%zu", i);
        cr_expect_float_eq(run->memory_gb, ROWS[i].memory, 1e-12, "%zu", i);
        cr_expect_eq(run->failed, ROWS[i].failed, "%zu", i);
        arena_free(&arena);
    }
}

Test(run, what_is_wrong) {
    for (size_t i = 0; i < COUNT_OF(WRONG); i++) {
        Arena arena = {0};
        RunTable table = {.count = 77};
        Error error = {0};
        char where[128];
        write_table(WRONG[i].text, strlen(WRONG[i].text));
        snprintf(where, sizeof where, "%s%s", PATH, WRONG[i].where);
        cr_expect_not(run_table_read(PATH, &arena, &table, &error), "%s", WRONG[i].name);
        cr_expect_eq(error.kind, ERROR_INPUT, "%s", WRONG[i].name);
        cr_expect_str_eq(error.where, where, "%s", WRONG[i].name);
        cr_expect(strstr(error.text, WRONG[i].part), "%s: %s", WRONG[i].name, error.text);
        cr_expect_eq(table.count, 77, "%s: untouched", WRONG[i].name);
        arena_free(&arena);
    }
    unlink(PATH);
}

Test(run, a_wrong_row_is_named) {
    for (size_t i = 0; i < COUNT_OF(WRONG_ROWS); i++) {
        Arena arena = {0};
        RunTable table;
        Error error = {0};
        write_table(WRONG_ROWS[i].text, strlen(WRONG_ROWS[i].text));
        cr_assert(run_table_read(PATH, &arena, &table, &error), "%s: %s", WRONG_ROWS[i].name, error.text);
        const Run *run = &table.runs[table.count - 1];
        size_t length = strlen(WRONG_ROWS[i].where);
        cr_assert(run->wrong && strncmp(run->wrong, WRONG_ROWS[i].where, length) == 0, "%s: %s", WRONG_ROWS[i].name,
                  run->wrong);
        cr_expect(strstr(run->wrong, WRONG_ROWS[i].part), "%s: %s", WRONG_ROWS[i].name, run->wrong);
        cr_expect_str_eq(run->id, strcmp(WRONG_ROWS[i].name, "no id") == 0 ? "line 2" : "a");
        for (int64_t r = 0; r + 1 < table.count; r++) cr_expect_null(table.runs[r].wrong);
        arena_free(&arena);
    }
    unlink(PATH);
}

/* Eight heads of keys for 32 of queries, all experts asked, and the two ends of what a peak can be. */
Test(run, what_is_at_the_edge_is_taken) {
    static const char TEXT[] = SIZES "a\th\t8\tm\t1\t1\t32\t8\t4\t4\t6N; peak 51\n"
                                     "b\th\t8\tm\t1\t1\t8\t8\t\t2\t6N; no peak given\n"
                                     "c\th\t8\tm\t1\t1\t\t7\t\t\tpeak 99999\n";
    Arena arena = {0};
    RunTable table;
    Error error = {0};
    write_table(TEXT, sizeof TEXT - 1);
    cr_assert(run_table_read(PATH, &arena, &table, &error), "%s: %s", error.where, error.text);
    unlink(PATH);
    cr_expect_eq(table.count, 3);
    arena_free(&arena);
}

Test(run, a_nul_is_no_end) {
    static const char TEXT[] = HEADING "a\th\0\t8";
    Arena arena = {0};
    RunTable table;
    Error error = {0};
    write_table(TEXT, sizeof TEXT - 1);
    cr_expect_not(run_table_read(PATH, &arena, &table, &error));
    cr_expect(strstr(error.text, "control character"), "%s", error.text);
    unlink(PATH);
    arena_free(&arena);
}

/* The two tables of the project: the counts that their description names. */
Test(run, tables_of_the_project) {
    static const struct {
        const char *path;
        int64_t runs, memory;
    } TABLES[] = {{SHARDOPT_SOURCE_DATA "/cost/measured/data/train.tsv", 798, 81},
                  {SHARDOPT_SOURCE_DATA "/cost/measured/data/partial.tsv", 148, 30}};
    for (size_t i = 0; i < COUNT_OF(TABLES); i++) {
        Arena arena = {0};
        RunTable table;
        Error error = {0};
        cr_assert(run_table_read(TABLES[i].path, &arena, &table, &error), "%s: %s", error.where, error.text);
        int64_t memory = 0;
        for (int64_t r = 0; r < table.count; r++) memory += table.runs[r].memory_gb > 0 && !table.runs[r].wrong;
        cr_expect_eq(table.count, TABLES[i].runs);
        cr_expect_eq(memory, TABLES[i].memory);
        cr_expect_eq(strlen(table.sha256), 64);
        arena_free(&arena);
    }
}

Test(run, first_row_of_train) {
    Arena arena = {0};
    RunTable table;
    Error error = {0};
    cr_assert(run_table_read(SHARDOPT_SOURCE_DATA "/cost/measured/data/train.tsv", &arena, &table, &error));
    const Run *run = &table.runs[0];
    cr_expect_str_eq(run->id, "llmfoundry-001");
    cr_expect_str_eq(run->family, "llmfoundry");
    cr_expect(strstr(run->source, "table \"H100 80GB BF16"), "%s", run->source);
    cr_expect_str_eq(run->hardware, "h100");
    cr_expect_eq(run->chips, 512);
    cr_expect_float_eq(run->params_b, 64.8624, 0);
    cr_expect_eq(run->layers, 80);
    cr_expect_eq(run->d_ff, 32768);
    cr_expect_not(run->gated);
    cr_expect_eq(run->micro_batch, 8);
    cr_expect_str_eq(run->fsdp, "512 (zero3)");
    cr_expect_eq(run->sequence_parallel, 0);
    cr_expect_float_eq(run->tokens_per_second_per_chip, 1007, 0);
    cr_expect_float_eq(run->mfu, 0.4125, 0);
    cr_expect_str_eq(run->confidence, "A");
    cr_expect_str_eq(run->check, "ok");
    arena_free(&arena);
}
