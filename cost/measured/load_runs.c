/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/measured/run.h"

#include "base/file.h"
#include "base/number.h"
#include "base/sha256.h"
#include "base/util.h"
#include "cost/measured/tsv.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { FILE_MAX = 64 << 20, RUNS_MAX = 1000000 };
enum { PEAK_LEAST = 50, PEAK_MOST = 100000 }; /* TFLOP/s; beyond it convention.c would take the chip's own, unsaid */

typedef enum { COLUMN_TEXT, COLUMN_WHOLE, COLUMN_REAL, COLUMN_SHARE, COLUMN_YES, COLUMN_MAYBE } ColumnType;

/* The columns that are read. To read another column, add a line. */
typedef struct {
    const char *name;
    ColumnType type;
    size_t offset;
    bool obligatory; /* the table must have the column; of these only `id` must stand in every row */
    double low, high;
} Column;

#define AT(member) offsetof(Run, member)
static const Column COLUMNS[] = {
    {"id", COLUMN_TEXT, AT(id), true, 0, 0},
    {"source", COLUMN_TEXT, AT(source), false, 0, 0},
    {"hardware", COLUMN_TEXT, AT(hardware), true, 0, 0},
    {"chips", COLUMN_WHOLE, AT(chips), true, 1, 1e7},
    {"topology_note", COLUMN_TEXT, AT(topology), false, 0, 0},
    {"framework", COLUMN_TEXT, AT(framework), false, 0, 0},
    {"model", COLUMN_TEXT, AT(model), true, 0, 0},
    {"params_b", COLUMN_REAL, AT(params_b), false, 0, 1e6},
    {"active_params_b", COLUMN_REAL, AT(active_params_b), false, 0, 1e6},
    {"layers", COLUMN_WHOLE, AT(layers), false, 0, 1e5},
    {"d_model", COLUMN_WHOLE, AT(d_model), false, 0, 1e7},
    {"d_ff", COLUMN_WHOLE, AT(d_ff), false, 0, 1e8},
    {"n_heads", COLUMN_WHOLE, AT(heads), false, 0, 1e6},
    {"n_kv_heads", COLUMN_WHOLE, AT(kv_heads), false, 0, 1e6},
    {"head_dim", COLUMN_WHOLE, AT(head_dim), false, 0, 1e6},
    {"vocab", COLUMN_WHOLE, AT(vocab), false, 0, 1e9},
    {"gated_mlp", COLUMN_YES, AT(gated), false, 0, 1},
    {"experts", COLUMN_WHOLE, AT(experts), false, 0, 1e6},
    {"topk", COLUMN_WHOLE, AT(top_k), false, 0, 1e6},
    {"seq_len", COLUMN_WHOLE, AT(seq), true, 0, 1e9},
    {"global_batch", COLUMN_WHOLE, AT(global_batch), true, 0, 1e9},
    {"micro_batch", COLUMN_WHOLE, AT(micro_batch), false, 0, 1e9},
    {"dp", COLUMN_WHOLE, AT(data), false, 0, 1e7},
    {"fsdp", COLUMN_TEXT, AT(fsdp), false, 0, 0},
    {"tp", COLUMN_WHOLE, AT(tensor), false, 0, 1e7},
    {"sp", COLUMN_MAYBE, AT(sequence_parallel), false, 0, 1},
    {"cp", COLUMN_WHOLE, AT(context), false, 0, 1e7},
    {"pp", COLUMN_WHOLE, AT(pipeline), false, 0, 1e7},
    {"vpp", COLUMN_WHOLE, AT(chunks), false, 0, 1e5},
    {"ep", COLUMN_WHOLE, AT(expert), false, 0, 1e7},
    {"remat", COLUMN_TEXT, AT(remat), false, 0, 0},
    {"precision", COLUMN_TEXT, AT(precision), false, 0, 0},
    {"step_time_s", COLUMN_REAL, AT(step_seconds), false, 1e-6, 1e9},
    {"tokens_per_s_per_chip", COLUMN_REAL, AT(tokens_per_second_per_chip), false, 1e-6, 1e12},
    {"tflops_per_chip", COLUMN_REAL, AT(tflops_per_chip), false, 1e-6, 1e6},
    {"mfu", COLUMN_SHARE, AT(mfu), false, 1e-6, 10},
    {"mfu_convention", COLUMN_TEXT, AT(convention), false, 0, 0},
    {"mem_gb_per_chip", COLUMN_REAL, AT(memory_gb), false, 0, 1e6},
    {"date/version", COLUMN_TEXT, AT(version), false, 0, 0},
    {"confidence", COLUMN_TEXT, AT(confidence), false, 0, 0},
    {"notes", COLUMN_TEXT, AT(notes), false, 0, 0},
    {"check", COLUMN_TEXT, AT(check), false, 0, 0},
    {"method", COLUMN_TEXT, AT(method), false, 0, 0},
    {"lora_rank", COLUMN_WHOLE, AT(adapter_rank), false, 0, 65536},
    {"targets", COLUMN_TEXT, AT(targets), false, 0, 0},
    {"quant", COLUMN_TEXT, AT(quantised), false, 0, 0},
    {"seq_note", COLUMN_TEXT, AT(lengths), false, 0, 0},
    {"attention", COLUMN_TEXT, AT(attention), false, 0, 0},
    {"grad_accum", COLUMN_WHOLE, AT(accumulation), false, 0, 1e9},
    {"samples_per_s", COLUMN_REAL, AT(samples_per_second), false, 0, 1e12},
    {"mem_kind", COLUMN_TEXT, AT(memory_kind), false, 0, 0},
    {"result", COLUMN_TEXT, AT(result), false, 0, 0},
};
#undef AT

/* Names that tables of fine-tuning have for some of them. */
static const struct {
    const char *name, *same_as;
} OTHER_NAMES[] = {
    {"gpus", "chips"},
    {"gpu_note", "topology_note"},
    {"parallel", "fsdp"},
    {"act_ckpt", "remat"},
    {"step_s", "step_time_s"},
    {"tokens_per_s_per_gpu", "tokens_per_s_per_chip"},
    {"tflops_per_gpu", "tflops_per_chip"},
    {"mem_gb_peak", "mem_gb_per_chip"},
    {"date", "date/version"},
};

static void *member_of(Run *run, const Column *column) { return (char *)run + column->offset; }

static bool wrong(const char *path, const TsvCell *cell, Error *error, const char *text) {
    char where[192];
    snprintf(where, sizeof where, "%.150s:%lld:%lld", path, (long long)cell->line, (long long)cell->column);
    return error_set(error, ERROR_INPUT, where, "%s", text);
}

/* ---- the heading ---- */

/* A column whose name is in capitals is the same column. */
static bool column_is(const char *heading, const char *name) {
    bool is = strcasecmp(heading, name) == 0;
    for (size_t i = 0; i < COUNT_OF(OTHER_NAMES); i++)
        is = is || (strcmp(OTHER_NAMES[i].same_as, name) == 0 && strcasecmp(heading, OTHER_NAMES[i].name) == 0);
    return is;
}

static bool lacks_columns(const char *path, const int *at, Error *error) {
    char names[256] = "", where[192];
    size_t used = 0;
    for (size_t i = 0; i < COUNT_OF(COLUMNS); i++)
        if (COLUMNS[i].obligatory && at[i] < 0)
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", used > 0 ? ", " : "", COLUMNS[i].name);
    if (used == 0) return true;
    snprintf(where, sizeof where, "%.180s:1", path);
    return error_set(error, ERROR_INPUT, where,
                     "the heading has no column %s; give a table of runs, separated by tabs (see "
                     "cost/measured/README.md)",
                     names);
}

/* at[i] is the place of COLUMNS[i]; -1 means nowhere. */
static bool read_heading(const char *path, const TsvReader *reader, int *at, Error *error) {
    for (size_t i = 0; i < COUNT_OF(COLUMNS); i++) {
        at[i] = -1;
        for (int c = 0; c < reader->count; c++) {
            if (!column_is(reader->cells[c].text, COLUMNS[i].name)) continue;
            if (at[i] >= 0)
                return wrong(path, &reader->cells[c], error, "this column stands twice in the heading; give it once");
            at[i] = c;
        }
    }
    return lacks_columns(path, at, error);
}

/* ---- a row ---- */

static bool read_number(const Column *column, const char *text, Run *run, Error *error) {
    void *member = member_of(run, column);
    int64_t whole;
    double real;
    Error fraction = {0};
    switch (column->type) {
    case COLUMN_WHOLE:
        if (number_whole(text, column->name, (int64_t)column->low, (int64_t)column->high, member, error)) return true;
        /* some sources write half a sequence for each device: the measurement is not wrong for that */
        if (strcmp(column->name, "micro_batch") != 0 ||
            !number_real(text, column->name, column->low, column->high, &real, &fraction) || real == floor(real))
            return false;
        *(int64_t *)member = (int64_t)ceil(real);
        run->rounded = column->name;
        *error = (Error){0};
        return true;
    case COLUMN_REAL:
        return number_real(text, column->name, column->low, column->high, member, error);
    case COLUMN_SHARE:
        return number_share(text, column->name, column->low, column->high, member, error);
    case COLUMN_YES:
        if (!number_whole(text, column->name, 0, 1, &whole, error)) return false;
        *(bool *)member = whole == 1;
        return true;
    case COLUMN_MAYBE:
        if (!number_whole(text, column->name, 0, 1, &whole, error)) return false;
        *(int *)member = (int)whole;
        return true;
    case COLUMN_TEXT:
        break;
    }
    *(const char **)member = text;
    return true;
}

static bool read_cell(const char *path, const Column *column, const TsvCell *cell, Run *run, Error *error) {
    Error inner = {0};
    if (cell->text[0] == '\0') return true;
    if (read_number(column, cell->text, run, &inner)) return true;
    if (inner.kind == ERROR_MEMORY) return error_memory(error);
    char text[384];
    snprintf(text, sizeof text, "%.30s: %.300s", inner.where, inner.text);
    return wrong(path, cell, error, text);
}

static bool is_number(const char *text) {
    char *end;
    strtod(text, &end);
    return text[0] && *end == '\0';
}

/* What each cell may say and the row as a whole may not: the column, and *text says what is wrong. NULL: nothing. */
static const char *nonsense_of(const Run *run, const char **text) {
    const char *peak = strstr(run->convention, "peak ");
    if (run->heads > 0 && run->kv_heads > 0 && run->heads % run->kv_heads != 0)
        return *text = "the heads are no multiple of it: each head of keys has as many of queries", "n_kv_heads";
    if (run->experts > 0 && run->top_k > run->experts) return *text = "more than there are experts", "topk";
    if (is_number(run->convention))
        return *text = "a number is no convention; say in words which FLOPs are counted", "mfu_convention";
    double flops = peak ? strtod(peak + 5, NULL) : 0;
    if (flops != 0 && !(flops > PEAK_LEAST && flops < PEAK_MOST))
        return *text = "its peak is no chip's; give TFLOP/s, 50 to 100,000", "mfu_convention";
    return NULL;
}

static bool row_makes_sense(const char *path, const TsvReader *reader, const int *at, const Run *run, Error *error) {
    const char *text, *name = nonsense_of(run, &text);
    char said[160];
    if (!name) return true;
    for (size_t i = 0; i < COUNT_OF(COLUMNS); i++) {
        if (strcmp(COLUMNS[i].name, name) != 0) continue;
        snprintf(said, sizeof said, "%s: %s", name, text);
        return wrong(path, &reader->cells[at[i]], error, said);
    }
    return true;
}

static void set_family(Run *run) {
    size_t length = strcspn(run->id, "-");
    snprintf(run->family, sizeof run->family, "%.*s", (int)min_whole((int64_t)length, 31), run->id);
}

/* A run that did not end may have a 0 where others have what was measured. */
static bool is_of_failure(const TsvReader *reader, const int *at, size_t column) {
    size_t result = 0;
    while (COLUMNS[result].offset != offsetof(Run, result)) result++;
    const char *text = reader->cells[at[column]].text;
    bool zero = COLUMNS[column].type == COLUMN_REAL && is_number(text) && strtod(text, NULL) == 0;
    return zero && at[result] >= 0 && run_result_failed(reader->cells[at[result]].text);
}

static bool read_row(const char *path, const TsvReader *reader, const int *at, int columns, Run *out, Error *error) {
    Run run = {.line = reader->cells[0].line, .sequence_parallel = -1};
    if (reader->count != columns) {
        char text[160];
        snprintf(text, sizeof text, "this row has %d cells, the heading %d; give one for each column, if empty",
                 reader->count, columns);
        return wrong(path, &reader->cells[0], error, text);
    }
    for (size_t i = 0; i < COUNT_OF(COLUMNS); i++) {
        if (COLUMNS[i].type == COLUMN_TEXT) *(const char **)member_of(&run, &COLUMNS[i]) = "";
        if (at[i] < 0 || is_of_failure(reader, at, i)) continue;
        if (!read_cell(path, &COLUMNS[i], &reader->cells[at[i]], &run, error)) return false;
    }
    if (run.id[0] == '\0')
        return wrong(path, &reader->cells[0], error, "this run has no id; give each a name of its own");
    if (!row_makes_sense(path, reader, at, &run, error)) return false;
    run_read_tuning(&run);
    set_family(&run);
    *out = run;
    return true;
}

/* ---- the table ---- */

/* Counts the lines that are not empty: at least the number of rows. */
static size_t rows_at_most(const char *text, size_t length) {
    size_t rows = 0;
    for (const char *at = text, *end = text + length; at < end;) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        if (!stop) stop = end;
        if (stop > at) rows++;
        at = stop + 1;
    }
    return rows;
}

static int by_id(const void *a, const void *b) {
    const Run *x = *(Run *const *)a, *y = *(Run *const *)b;
    int order = strcmp(x->id, y->id);
    return order ? order : (x->line > y->line) - (x->line < y->line);
}

/* The second of two of one id is not read. */
static bool set_ids_apart(const RunTable *table, Arena *arena, Error *error) {
    Run **order = ARENA_NEW(arena, Run *, (size_t)table->count);
    if (!order) return error_memory(error);
    for (int64_t i = 0; i < table->count; i++) order[i] = &table->runs[i];
    qsort(order, (size_t)table->count, sizeof *order, by_id);
    for (int64_t i = 1; i < table->count; i++) {
        if (strcmp(order[i]->id, order[i - 1]->id) != 0 || order[i]->wrong) continue;
        order[i]->wrong = arena_format(arena, "line %lld: its id is that of line %lld; give each run a name of its own",
                                       (long long)order[i]->line, (long long)order[i - 1]->line);
        if (!order[i]->wrong) return error_memory(error);
    }
    return true;
}

/* A row that cannot be read, with what its error says. */
static bool leave_out(const TsvReader *reader, int id, Arena *arena, Run *out, Error *error) {
    if (error->kind != ERROR_INPUT) return false;
    *out = (Run){.line = reader->cells[0].line, .sequence_parallel = -1};
    for (size_t i = 0; i < COUNT_OF(COLUMNS); i++)
        if (COLUMNS[i].type == COLUMN_TEXT) *(const char **)member_of(out, &COLUMNS[i]) = "";
    const char *named = id < reader->count ? reader->cells[id].text : "";
    out->id = named[0] ? named : arena_format(arena, "line %lld", (long long)out->line);
    out->wrong = arena_format(arena, "line %lld, column %s: %s", (long long)out->line, strrchr(error->where, ':') + 1,
                              error->text);
    *error = (Error){0};
    if (out->id) set_family(out);
    return (out->id && out->wrong) || error_memory(error);
}

static bool read_rows(TsvReader *reader, const int *at, RunTable *table, Arena *arena, size_t limit, Error *error) {
    int columns = reader->count;
    for (;;) {
        TsvResult result = tsv_next(reader, error);
        if (result == TSV_ERROR) return false;
        if (result == TSV_END) return true;
        if ((size_t)table->count == limit)
            return wrong(reader->where, &reader->cells[0], error, "more than 1,000,000 runs; split the table");
        Run *run = &table->runs[table->count++];
        if (!read_row(reader->where, reader, at, columns, run, error) && !leave_out(reader, at[0], arena, run, error))
            return false;
    }
}

bool run_table_parse(const char *path, char *text, size_t length, Arena *arena, RunTable *out, Error *error) {
    RunTable table = {0};
    int at[COUNT_OF(COLUMNS)];

    size_t limit = (size_t)min_whole((int64_t)rows_at_most(text, length), RUNS_MAX);
    TsvReader *reader = ARENA_NEW(arena, TsvReader, 1);
    table.runs = ARENA_NEW(arena, Run, limit);
    if (!reader || !table.runs) return error_memory(error);
    *reader = tsv_start(path, text, length);
    TsvResult result = tsv_next(reader, error);
    while (result == TSV_ROW && reader->cells[0].text[0] == '#') result = tsv_next(reader, error);
    if (result == TSV_ERROR) return false;
    if (result == TSV_END)
        return error_set(error, ERROR_INPUT, path, "the file is empty; give a table of runs with a heading");
    if (!read_heading(path, reader, at, error) || !read_rows(reader, at, &table, arena, limit, error)) return false;
    if (table.count == 0)
        return error_set(error, ERROR_INPUT, path, "there is no run below the heading; give at least one");
    if (!set_ids_apart(&table, arena, error)) return false;
    *out = table;
    return true;
}

bool run_table_read_runs(const char *path, Arena *arena, RunTable *out, Error *error) {
    char *text;
    size_t length;
    return file_read(path, FILE_MAX, arena, &text, &length, error) &&
           run_table_parse(path, text, length, arena, out, error);
}

bool run_table_read(const char *path, Arena *arena, RunTable *out, Error *error) {
    char *text, sha256[sizeof out->sha256];
    size_t length;
    if (!file_read(path, FILE_MAX, arena, &text, &length, error)) return false;
    Sha256 hash = sha256_start();
    sha256_add(&hash, text, length);
    sha256_hex(&hash, sha256);
    if (!run_table_parse(path, text, length, arena, out, error)) return false;
    memcpy(out->sha256, sha256, sizeof sha256);
    return true;
}
