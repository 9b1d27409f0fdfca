/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/measured/validate_kernels.h"

#include "base/byte_source.h"
#include "base/util.h"
#include "cost/plan/ops.h"
#include "mesh/chip_json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS_MAX = 64, LINE_SIZE = 4096, GROUPS_MAX = 4096, ERRORS_FIRST = 256 };

/* ---- lines of a file that may be packed ---- */

typedef struct {
    ByteSource source;
    char bytes[1 << 16], line[LINE_SIZE];
    size_t at, end;
    int64_t number; /* of the line, from 1 */
    const char *path;
    Error *error;
} Lines;

/* The next line, without its end, or NULL: the end, or *error. */
static char *next_line(Lines *lines) {
    size_t used = 0;
    lines->number++;
    for (;;) {
        if (lines->at == lines->end) {
            ptrdiff_t got = lines->source.read(lines->source.context, lines->bytes, sizeof lines->bytes);
            if (got < 0) return error_set(lines->error, ERROR_IO, lines->path, "cannot be read to its end"), NULL;
            lines->at = 0, lines->end = (size_t)got;
            if (got == 0) return lines->line[used] = '\0', used > 0 ? lines->line : NULL;
        }
        char byte = lines->bytes[lines->at++];
        if (byte == '\n') return lines->line[used] = '\0', lines->line;
        if (byte == '\r') continue;
        if (used == LINE_SIZE - 1 || byte == '\0')
            return error_set(lines->error, ERROR_INPUT, lines->path, "line %lld: is no row of a table",
                             (long long)lines->number),
                   NULL;
        lines->line[used++] = byte;
    }
}

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

/* Columns that tell an op from the others; the first that a table has all of is its own. */
static const struct {
    KernelOp op;
    const char *columns[8];
} TABLES[] = {
    {KERNEL_MATMUL, {"m", "n", "k"}},
    {KERNEL_ATTENTION, {"batch", "length", "heads", "head_dim"}},
    {KERNEL_SCAN, {"batch", "length", "num_v_heads", "head_k_dim", "head_v_dim"}},
    {KERNEL_LATENT_ATTENTION, {"batch", "length", "heads"}},
    {KERNEL_EXPERTS, {"tokens", "hidden", "inter", "topk", "experts"}},
    {KERNEL_COLLECTIVE, {"op", "gpus", "elements"}},
    {KERNEL_DISPATCH, {"phase", "nodes", "tokens", "hidden", "topk"}},
};

typedef enum {
    CHIP,
    ENGINE,
    KERNEL,
    DTYPE,
    KV_DTYPE,
    OP,
    PHASE,
    GPUS,
    NODES,
    DISTRIBUTION,
    SMS,
    US,
    NAMED_COUNT
} Named;
static const char *const NAMED[NAMED_COUNT] = {"chip",  "engine", "kernel", "dtype",        "kv_dtype", "op",
                                               "phase", "gpus",   "nodes",  "distribution", "sms",      "us"};

typedef struct {
    KernelOp op;
    int columns, named[NAMED_COUNT]; /* where; -1: no such column */
    size_t sizes[COLUMNS_MAX];       /* of each column: 1 + its place in SIZES; 0: it is no size */
    char *cells[COLUMNS_MAX];
} Sheet;

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

static int column(const Sheet *sheet, const char *name) {
    for (int i = 0; i < sheet->columns; i++)
        if (strcmp(sheet->cells[i], name) == 0) return i;
    return -1;
}

static bool read_head(Lines *lines, Sheet *out) {
    char *line = next_line(lines);
    while (line && line[0] == '#') line = next_line(lines);
    *out = (Sheet){0};
    if (!line) return error_set(lines->error, ERROR_INPUT, lines->path, "is empty; give a table with a head");
    out->columns = split(line, out->cells);
    for (int i = 0; i < NAMED_COUNT; i++) out->named[i] = column(out, NAMED[i]);
    for (int i = 0; i < out->columns; i++)
        for (size_t size = 0; size < COUNT_OF(SIZES); size++)
            if (strcmp(out->cells[i], SIZES[size].name) == 0) out->sizes[i] = 1 + size;
    size_t table = 0;
    for (bool found = false; table < COUNT_OF(TABLES); table++) {
        found = true;
        for (size_t i = 0; TABLES[table].columns[i]; i++) found = found && column(out, TABLES[table].columns[i]) >= 0;
        if (found) break;
    }
    if (table == COUNT_OF(TABLES) || out->named[CHIP] < 0 || out->named[US] < 0)
        return error_set(lines->error, ERROR_INPUT, lines->path,
                         "is no table of kernels; give columns chip and us, and m n k, batch length heads head_dim, "
                         "tokens hidden inter topk experts, op gpus elements, phase nodes tokens, or num_v_heads "
                         "length");
    out->op = TABLES[table].op;
    return true;
}

/* ---- rows ---- */

typedef struct {
    KernelTable kernels;
    Catalog catalog;
    Arena *arena;
    const char *profile; /* NULL: forms of cost/kernels */
    Sheet sheet;
    KernelGroup *groups;
    const Chip *chips[GROUPS_MAX]; /* of each group; and so on */
    char *keys[GROUPS_MAX];
    int64_t room[GROUPS_MAX];
    int64_t count, last;
    struct Tuned *tuned; /* rows that wait for the fastest of their shape */
    int64_t tuned_count, tuned_room;
} Pricing;

static const char *cell(const Sheet *sheet, Named name) {
    return sheet->named[name] < 0 ? "" : sheet->cells[sheet->named[name]];
}

/* The names of types in such tables, as our own; no type is the usual one. */
static const char *precision_of(const char *dtype) {
    static const char *const OURS[][2] = {{"", "bf16"}, {"bfloat16", "bf16"}, {"float16", "bf16"}, {"half", "bf16"}};
    for (size_t i = 0; i < COUNT_OF(OURS); i++)
        if (strcmp(dtype, OURS[i][0]) == 0) return OURS[i][1];
    return dtype;
}

static bool wrong(const Lines *lines, const char *name, const char *cell_text) {
    return error_set(lines->error, ERROR_INPUT, lines->path, "line %lld: %s: \"%.40s\" is no number above 0",
                     (long long)lines->number, name, cell_text);
}

static bool read_shape(const Lines *lines, const Sheet *sheet, KernelShape *out, double *seconds) {
    *out = (KernelShape){0};
    for (int i = 0; i < sheet->columns; i++) {
        size_t size = sheet->sizes[i];
        bool measured = i == sheet->named[US];
        if (!size && !measured) continue;
        char *end;
        double value = strtod(sheet->cells[i], &end);
        bool empty = !sheet->cells[i][0], may = size && SIZES[size - 1].may_be_empty;
        if (empty && may) continue;
        if (empty || *end || !isfinite(value) || value < 0 || (!may && !(value > 0)))
            return wrong(lines, measured ? "us" : SIZES[size - 1].name, sheet->cells[i]);
        if (measured)
            *seconds = value * 1e-6;
        else
            *(double *)((char *)out + SIZES[size - 1].at) = value;
    }
    if (sheet->op == KERNEL_COLLECTIVE) out->bytes *= strcmp(cell(sheet, DTYPE), "int8") == 0 ? 1 : 2;
    return true;
}

/* The profile with the group's precision, or NULL: rows of other ops, of types that plans do not compute in. */
static bool set_profile(Pricing *work, KernelGroup *group, const Chip *chip, bool mixed, Error *error) {
    static const struct {
        const char *name;
        Precision precision;
    } PRECISIONS[] = {{"bf16", PRECISION_BF16}, {"fp8", PRECISION_FP8}, {"nvfp4", PRECISION_NVFP4}};
    KernelOp op = work->sheet.op;
    size_t i = 0;
    while (i < COUNT_OF(PRECISIONS) && strcmp(PRECISIONS[i].name, group->precision) != 0) i++;
    bool known = op == KERNEL_MATMUL ? i < COUNT_OF(PRECISIONS) : op == KERNEL_ATTENTION && i == 0 && !mixed;
    if (!chip || !known || !(precision_peak(chip, PRECISIONS[i].precision) > 0)) return true;
    Profile loaded, *profile = ARENA_NEW(work->arena, Profile, 1);
    if (!profile) return error_memory(error);
    if (!profile_load(work->profile, NULL, chip, work->arena, &loaded, error)) return false;
    *profile = profile_in_precision(&loaded, chip, PRECISIONS[i].precision);
    group->profile = profile;
    return true;
}

/* The group of the row, found or made; NULL: *error. Rows of one kernel stand together in most tables. */
static KernelGroup *group_of(Pricing *work, const Lines *lines) {
    const Sheet *sheet = &work->sheet;
    char key[LINE_SIZE];
    const char *chip = cell(sheet, CHIP), *precision = precision_of(cell(sheet, DTYPE)),
               *keys = cell(sheet, KV_DTYPE)[0] ? precision_of(cell(sheet, KV_DTYPE)) : "";
    bool mixed = keys[0] && strcmp(keys, precision) != 0;
    snprintf(key, sizeof key, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s", chip, precision, cell(sheet, ENGINE),
             cell(sheet, KERNEL), cell(sheet, OP), cell(sheet, PHASE), cell(sheet, GPUS), cell(sheet, NODES),
             cell(sheet, KV_DTYPE));
    if (work->last < work->count && strcmp(work->keys[work->last], key) == 0) return &work->groups[work->last];
    for (int64_t i = 0; i < work->count; i++)
        if (strcmp(work->keys[i], key) == 0) return work->last = i, &work->groups[i];
    if (work->count == GROUPS_MAX)
        return error_set(lines->error, ERROR_INPUT, lines->path, "has more than %d kernels", GROUPS_MAX), NULL;
    bool moves = sheet->op == KERNEL_COLLECTIVE || sheet->op == KERNEL_DISPATCH || sheet->op == KERNEL_SCAN;
    const char *collective = strcmp(cell(sheet, OP), "alltoall") == 0 ? "all_to_all" : cell(sheet, OP);
    KernelAsk ask = {.op = sheet->op,
                     .library = cell(sheet, ENGINE),
                     .name = moves && sheet->op != KERNEL_SCAN ? "" : cell(sheet, KERNEL),
                     .precision = moves ? "" : precision,
                     .collective = collective,
                     .phase = cell(sheet, PHASE),
                     .ways = atof(cell(sheet, GPUS)),
                     .nodes = atof(cell(sheet, NODES))};
    int64_t i = work->count;
    work->chips[i] = catalog_find(&work->catalog, chip);
    ask.chip = work->chips[i] ? work->chips[i]->name : chip;
    work->groups[i] = (KernelGroup){.chip = arena_text(work->arena, chip),
                                    .library = arena_text(work->arena, cell(sheet, ENGINE)),
                                    .name = arena_text(work->arena, collective[0]           ? collective
                                                                    : cell(sheet, PHASE)[0] ? cell(sheet, PHASE)
                                                                                            : cell(sheet, KERNEL)),
                                    .precision = mixed ? arena_format(work->arena, "%s, keys %s", precision, keys)
                                                       : arena_text(work->arena, precision),
                                    .kernel = work->chips[i] && !mixed ? kernels_find(&work->kernels, &ask) : NULL};
    work->keys[i] = arena_text(work->arena, key);
    KernelGroup *made = &work->groups[i];
    if (!made->chip || !made->library || !made->name || !made->precision || !work->keys[i])
        return error_memory(lines->error), NULL;
    if (work->profile && (made->kernel = NULL, !set_profile(work, made, work->chips[i], mixed, lines->error)))
        return NULL;
    work->last = work->count++;
    return &work->groups[i];
}

/* Of a shape that was measured with several numbers of SMs, as a library tunes itself, the fastest counts. */
typedef struct Tuned {
    KernelShape shape;
    int64_t group;
    double seconds;
} Tuned;

static int by_shape(const void *a, const void *b) {
    const Tuned *x = a, *y = b;
    if (x->group != y->group) return x->group < y->group ? -1 : 1;
    int order = memcmp(&x->shape, &y->shape, sizeof x->shape);
    return order ? order : (x->seconds > y->seconds) - (x->seconds < y->seconds);
}

static bool add_error(Pricing *work, KernelGroup *group, double value, Error *error) {
    int64_t *room = &work->room[group - work->groups];
    if (group->rows == *room) {
        *room = *room ? *room * 2 : ERRORS_FIRST;
        double *errors = ARENA_NEW(work->arena, double, (size_t)*room);
        if (!errors) return error_memory(error);
        if (group->rows > 0) memcpy(errors, group->errors, (size_t)group->rows * sizeof *errors);
        group->errors = errors;
    }
    group->errors[group->rows++] = value;
    return true;
}

/* Seconds of a forward op of that shape in a plan, with the cast of its operands. */
static double op_of_plan_seconds(const Profile *profile, const Chip *chip, KernelOp op, const KernelShape *of) {
    double span = of->window > 0 && of->window < of->length ? of->window - of->window * of->window / (2 * of->length)
                                                            : of->length / 2;
    double tokens = of->batch * of->length, width = of->heads * of->head_width;
    Op matmul = {.kind = OP_MATMUL,
                 .m = of->m,
                 .n = of->n,
                 .k = of->k,
                 .groups = 1,
                 .chunks = 1,
                 .runs_in_precision = true,
                 .flops = {2 * of->m * of->n * of->k},
                 .hbm_bytes = {BF16_BYTES * (of->m * of->k + of->k * of->n + of->m * of->n)}};
    Op attention = {.kind = OP_ATTENTION,
                    .head_dim = of->head_width,
                    .flops = {4 * tokens * width * span},
                    .hbm_bytes = {BF16_BYTES * 2 * tokens * width}, /* queries and what comes out */
                    .score_elements = of->heads * tokens * of->length};
    bool memory_bound;
    return op_seconds(op == KERNEL_MATMUL ? &matmul : &attention, PHASE_FORWARD, chip, profile, &memory_bound);
}

static bool price(Pricing *work, KernelGroup *group, const KernelShape *shape, double seconds, KernelValidation *out,
                  Error *error) {
    const Chip *chip = work->chips[group - work->groups];
    double predicted = group->kernel ? kernel_seconds(group->kernel, chip, shape)
                                     : op_of_plan_seconds(group->profile, chip, work->sheet.op, shape);
    if (!(predicted > 0) || !isfinite(predicted)) return out->unknown++, true;
    out->rows++;
    return add_error(work, group, predicted / seconds - 1, error);
}

static bool wait_for_fastest(Pricing *work, const KernelGroup *group, const KernelShape *shape, double seconds,
                             Error *error) {
    if (work->tuned_count == work->tuned_room) {
        int64_t room = work->tuned_room ? work->tuned_room * 2 : ERRORS_FIRST;
        Tuned *tuned = ARENA_NEW(work->arena, Tuned, (size_t)room);
        if (!tuned) return error_memory(error);
        if (work->tuned_count > 0) memcpy(tuned, work->tuned, (size_t)work->tuned_count * sizeof *tuned);
        work->tuned = tuned, work->tuned_room = room;
    }
    work->tuned[work->tuned_count++] = (Tuned){*shape, group - work->groups, seconds};
    return true;
}

static bool price_fastest(Pricing *work, KernelValidation *out, Error *error) {
    if (work->tuned_count > 0) qsort(work->tuned, (size_t)work->tuned_count, sizeof *work->tuned, by_shape);
    for (int64_t i = 0; i < work->tuned_count; i++) {
        const Tuned *at = &work->tuned[i];
        bool slower = i > 0 && at[-1].group == at->group && memcmp(&at[-1].shape, &at->shape, sizeof at->shape) == 0;
        if (!slower && !price(work, &work->groups[at->group], &at->shape, at->seconds, out, error)) return false;
    }
    return true;
}

static bool read_row(Pricing *work, Lines *lines, char *line, KernelValidation *out) {
    Sheet *sheet = &work->sheet;
    int cells = split(line, sheet->cells);
    if (cells != sheet->columns)
        return error_set(lines->error, ERROR_INPUT, lines->path, "line %lld: has %d columns, the head %d",
                         (long long)lines->number, cells, sheet->columns);
    KernelShape shape;
    double seconds = 0;
    if (!read_shape(lines, sheet, &shape, &seconds)) return false;
    KernelGroup *group = group_of(work, lines);
    if (!group) return false;
    bool uneven = cell(sheet, DISTRIBUTION)[0] && strcmp(cell(sheet, DISTRIBUTION), "balanced") != 0;
    bool wide = group->kernel && sheet->op == KERNEL_ATTENTION &&
                shape.head_width > group->kernel->width[group->kernel->widths ? group->kernel->widths - 1 : 0];
    if ((!group->kernel && !group->profile) || uneven || wide) return out->unknown++, true;
    if (!kernel_shape_is_fitted(sheet->op, &shape)) return out->small++, group->small++, true;
    if (sheet->named[SMS] >= 0) return wait_for_fastest(work, group, &shape, seconds, lines->error);
    return price(work, group, &shape, seconds, out, lines->error);
}

static int by_names(const void *a, const void *b) {
    const KernelGroup *x = a, *y = b;
    int order = strcmp(x->chip, y->chip);
    if (!order) order = strcmp(x->precision, y->precision);
    if (!order) order = strcmp(x->library, y->library);
    if (!order) order = strcmp(x->name, y->name);
    if (order) return order;
    double p = x->kernel ? x->kernel->ways + x->kernel->nodes : 0,
           q = y->kernel ? y->kernel->ways + y->kernel->nodes : 0;
    return (p > q) - (p < q);
}

static bool settle(Pricing *work, KernelValidation *out, Error *error) {
    double *all = ARENA_NEW(work->arena, double, (size_t)out->rows + 1);
    int64_t used = 0;
    if (!all) return error_memory(error);
    for (int64_t i = 0; i < work->count; i++) {
        KernelGroup *group = &work->groups[i];
        if (!error_stats(group->errors, group->rows, &group->stats)) return error_memory(error);
        if (group->rows > 0) memcpy(all + used, group->errors, (size_t)group->rows * sizeof *all);
        used += group->rows;
    }
    qsort(work->groups, (size_t)work->count, sizeof *work->groups, by_names);
    out->groups = work->groups;
    out->count = work->count;
    return error_stats(all, used, &out->stats) || error_memory(error);
}

bool kernels_validate(const char *path, const char *profile, Arena *arena, KernelValidation *out, Error *error) {
    Lines *lines = ARENA_NEW(arena, Lines, 1);
    Pricing *work = ARENA_NEW(arena, Pricing, 1);
    *out = (KernelValidation){0};
    if (!lines || !work) return error_memory(error);
    *lines = (Lines){.path = path, .error = error};
    *work = (Pricing){.arena = arena, .profile = profile, .groups = ARENA_NEW(arena, KernelGroup, GROUPS_MAX)};
    if (!work->groups) return error_memory(error);
    if (!kernels_load(arena, &work->kernels, error) || !catalog_load(arena, &work->catalog, error) ||
        !byte_source_open(path, &lines->source, error))
        return false;
    bool ok = read_head(lines, &work->sheet);
    out->op = work->sheet.op;
    for (char *line; ok && (line = next_line(lines));)
        if (line[0] && line[0] != '#') ok = read_row(work, lines, line, out);
    byte_source_close(&lines->source);
    return ok && error->kind == ERROR_NONE && price_fastest(work, out, error) && settle(work, out, error);
}
