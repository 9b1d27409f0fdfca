/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/measured/kernel_sheet.h"

#include "base/byte_source.h"
#include "base/util.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { COLUMNS_MAX = 64, LINE_SIZE = 4096 };

/* ---- columns ---- */

static const struct {
    const char *name;
    size_t at; /* of KernelShape */
    bool may_be_empty;
} SIZES[] = {
    {"m", offsetof(KernelShape, m), false},
    {"n", offsetof(KernelShape, n), false},
    {"k", offsetof(KernelShape, k), false},
    {"batch", offsetof(KernelShape, batch), false},
    {"length", offsetof(KernelShape, length), false},
    {"heads", offsetof(KernelShape, heads), false},
    {"num_v_heads", offsetof(KernelShape, heads), false},
    {"head_dim", offsetof(KernelShape, head_width), false},
    {"window", offsetof(KernelShape, window), true},
    {"head_k_dim", offsetof(KernelShape, key_width), true},
    {"head_v_dim", offsetof(KernelShape, value_width), true},
    {"tokens", offsetof(KernelShape, tokens), false},
    {"hidden", offsetof(KernelShape, hidden), false},
    {"inter", offsetof(KernelShape, inter), false},
    {"topk", offsetof(KernelShape, topk), false},
    {"experts", offsetof(KernelShape, experts), true},
    {"tp", offsetof(KernelShape, tensor), true},
    {"ep", offsetof(KernelShape, expert), true},
    {"elements", offsetof(KernelShape, bytes), false},
};

/* Columns that tell an op from the others; of one family the first that a table has all of is its own. */
static const struct {
    KernelOp op;
    int family;
    const char *columns[8];
} TABLES[] = {
    {KERNEL_MATMUL, 0, {"m", "n", "k"}},
    {KERNEL_ATTENTION, 1, {"batch", "length", "heads", "head_dim"}},
    {KERNEL_SCAN, 1, {"batch", "length", "num_v_heads", "head_k_dim", "head_v_dim"}},
    {KERNEL_LATENT_ATTENTION, 1, {"batch", "length", "heads"}},
    {KERNEL_EXPERTS, 2, {"tokens", "hidden", "inter", "topk", "experts"}},
    {KERNEL_COLLECTIVE, 3, {"op", "gpus", "elements"}},
    {KERNEL_DISPATCH, 4, {"phase", "nodes", "tokens", "hidden", "topk"}},
};

static const char *const NAMED[CELL_COUNT] = {"chip",  "engine", "kernel", "dtype",        "kv_dtype", "op",
                                              "phase", "gpus",   "nodes",  "distribution", "sms",      "us"};

struct KernelSheet {
    KernelOp op;
    int columns, named[CELL_COUNT]; /* where; -1: no such column */
    size_t sizes[COLUMNS_MAX];      /* of each column: 1 + its place in SIZES; 0: it is no size */
    char *cells[COLUMNS_MAX];
    ByteSource source;
    char bytes[1 << 16], line[LINE_SIZE];
    size_t at, end;
    int64_t number; /* of the line, from 1 */
    const char *path;
};

/* ---- lines ---- */

/* The next line, without its end, or NULL: the end, or *error. */
static char *next_line(KernelSheet *sheet, Error *error) {
    static const char MARK[] = "\xef\xbb\xbf";
    size_t used = 0;
    sheet->number++;
    for (;;) {
        if (sheet->at == sheet->end) {
            ptrdiff_t got = sheet->source.read(sheet->source.context, sheet->bytes, sizeof sheet->bytes);
            if (got < 0) return error_set(error, ERROR_IO, sheet->path, "cannot be read to its end"), NULL;
            sheet->at = 0, sheet->end = (size_t)got;
            if (sheet->number == 1 && got >= 3 && memcmp(sheet->bytes, MARK, 3) == 0) sheet->at = 3;
            if (got == 0) return sheet->line[used] = '\0', used > 0 ? sheet->line : NULL;
        }
        char byte = sheet->bytes[sheet->at++];
        if (byte == '\n') return sheet->line[used] = '\0', sheet->line;
        if (byte == '\r') continue;
        if (used == LINE_SIZE - 1 || byte == '\0')
            return error_set(error, ERROR_INPUT, sheet->path, "line %lld: %s", (long long)sheet->number,
                             byte ? "is longer than 4,095 bytes" : "has a NUL, which no table has"),
                   NULL;
        sheet->line[used++] = byte;
    }
}

static int split(char *line, char *cells[COLUMNS_MAX]) {
    int count = 0;
    for (char *at = line; at && count < COLUMNS_MAX;) {
        char *tab = strchr(at, '\t');
        if (tab) *tab = '\0';
        cells[count++] = at;
        at = tab ? tab + 1 : NULL;
    }
    return count;
}

/* ---- the head ---- */

static int column(const KernelSheet *sheet, const char *name) {
    for (int i = 0; i < sheet->columns; i++)
        if (strcmp(sheet->cells[i], name) == 0) return i;
    return -1;
}

static bool has_columns(const KernelSheet *sheet, size_t table) {
    bool found = true;
    for (size_t i = 0; TABLES[table].columns[i]; i++) found = found && column(sheet, TABLES[table].columns[i]) >= 0;
    return found;
}

static bool read_head(KernelSheet *sheet, Error *error) {
    char *line = next_line(sheet, error);
    while (line && (line[0] == '#' || !line[0])) line = next_line(sheet, error);
    if (!line)
        return error->kind != ERROR_NONE
                   ? false
                   : error_set(error, ERROR_INPUT, sheet->path, "is empty; give a table with a head");
    sheet->columns = split(line, sheet->cells);
    for (int i = 0; i < CELL_COUNT; i++) sheet->named[i] = column(sheet, NAMED[i]);
    for (int i = 0; i < sheet->columns; i++) {
        if (column(sheet, sheet->cells[i]) < i)
            return error_set(error, ERROR_INPUT, sheet->path, "line %lld: has the column %.40s twice",
                             (long long)sheet->number, sheet->cells[i]);
        for (size_t size = 0; size < COUNT_OF(SIZES); size++)
            if (strcmp(sheet->cells[i], SIZES[size].name) == 0) sheet->sizes[i] = 1 + size;
    }
    int family = -1;
    for (size_t table = 0; table < COUNT_OF(TABLES); table++) {
        if (!has_columns(sheet, table)) continue;
        if (family >= 0 && TABLES[table].family != family)
            return error_set(error, ERROR_INPUT, sheet->path, "has the columns of %s and of %s; give one table of each",
                             kernel_op_name(sheet->op), kernel_op_name(TABLES[table].op));
        if (family < 0) sheet->op = TABLES[table].op;
        family = TABLES[table].family;
    }
    if (family < 0 || sheet->named[CELL_CHIP] < 0 || sheet->named[CELL_US] < 0)
        return error_set(
            error, ERROR_INPUT, sheet->path,
            "is no table of kernels; give columns, with tabs between them: chip and us, and m n k, batch "
            "length heads head_dim, tokens hidden inter topk experts, op gpus elements, phase nodes tokens, "
            "or num_v_heads length");
    return true;
}

KernelSheet *sheet_open(const char *path, Arena *arena, Error *error) {
    KernelSheet *sheet = ARENA_NEW(arena, KernelSheet, 1);
    if (!sheet) return error_memory(error), NULL;
    *sheet = (KernelSheet){.path = path};
    if (!byte_source_open(path, &sheet->source, error)) return NULL;
    if (read_head(sheet, error)) return sheet;
    sheet_close(sheet);
    return NULL;
}

void sheet_close(KernelSheet *sheet) { byte_source_close(&sheet->source); }

KernelOp sheet_op(const KernelSheet *sheet) { return sheet->op; }

bool sheet_has(const KernelSheet *sheet, Cell cell) { return sheet->named[cell] >= 0; }

/* ---- rows ---- */

bool sheet_next(KernelSheet *sheet, Error *error) {
    char *line = next_line(sheet, error);
    while (line && (line[0] == '#' || !line[0])) line = next_line(sheet, error);
    if (!line) return false;
    int cells = split(line, sheet->cells);
    return cells == sheet->columns ||
           error_set(error, ERROR_INPUT, sheet->path, "line %lld: has %d columns, the head %d",
                     (long long)sheet->number, cells, sheet->columns);
}

const char *sheet_cell(const KernelSheet *sheet, Cell cell) {
    return sheet->named[cell] < 0 ? "" : sheet->cells[sheet->named[cell]];
}

const char *sheet_precision(const char *dtype) {
    static const char *const OURS[][2] = {{"", "bf16"},     {"bf16", "bf16"},    {"bfloat16", "bf16"},
                                          {"fp16", "bf16"}, {"float16", "bf16"}, {"half", "bf16"}};
    for (size_t i = 0; i < COUNT_OF(OURS); i++)
        if (strcasecmp(dtype, OURS[i][0]) == 0) return OURS[i][1];
    return dtype;
}

/* Bytes of an element that is sent, by NCCL's names of types too; 0: not known. */
static double element_bytes(const char *dtype) {
    static const struct {
        const char *name;
        double bytes;
    } TYPES[] = {{"int8", 1},  {"uint8", 1}, {"fp8", 1},    {"float8", 1}, {"fp32", 4},    {"float32", 4},
                 {"float", 4}, {"int32", 4}, {"uint32", 4}, {"double", 8}, {"float64", 8}, {"int64", 8}};
    if (strcmp(sheet_precision(dtype), "bf16") == 0) return 2;
    for (size_t i = 0; i < COUNT_OF(TYPES); i++)
        if (strcasecmp(dtype, TYPES[i].name) == 0) return TYPES[i].bytes;
    return 0;
}

/* A decimal number, and nothing else. */
static bool read_number(const char *text, double *out) {
    char *end;
    *out = strtod(text, &end);
    return text[0] && text[strspn(text, "0123456789.eE-+")] == '\0' && text[0] != '+' && !*end && isfinite(*out);
}

bool sheet_shape(const KernelSheet *sheet, KernelShape *out, double *seconds, Error *error) {
    static const double MOST = 1e15, MOST_US = 1e12, LEAST_US = 1e-3;
    *out = (KernelShape){0};
    for (int i = 0; i < sheet->columns; i++) {
        size_t size = sheet->sizes[i];
        bool measured = i == sheet->named[CELL_US];
        if (!size && !measured) continue;
        double value, most = measured ? MOST_US : MOST;
        bool may = size && SIZES[size - 1].may_be_empty;
        if (!sheet->cells[i][0] && may) continue;
        if (!read_number(sheet->cells[i], &value) || value > most ||
            (measured ? value < LEAST_US
             : may    ? value < 0
                      : !(value > 0)))
            return error_set(error, ERROR_INPUT, sheet->path, "line %lld: %s: \"%.40s\" is no number above 0",
                             (long long)sheet->number, measured ? "us" : SIZES[size - 1].name, sheet->cells[i]);
        if (measured)
            *seconds = value * 1e-6;
        else
            *(double *)((char *)out + SIZES[size - 1].at) = value;
    }
    if (sheet->op == KERNEL_COLLECTIVE) out->bytes *= element_bytes(sheet_cell(sheet, CELL_DTYPE));
    return true;
}
