/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/measured/validate_kernels.h"

#include "base/util.h"
#include "cost/measured/kernel_sheet.h"
#include "cost/plan/ops.h"
#include "mesh/chip_json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GROUPS_MAX = 4096, KEY_SIZE = 4096, ERRORS_FIRST = 256 };

typedef struct {
    KernelTable kernels;
    Catalog catalog;
    Arena *arena;
    const char *path, *profile; /* profile NULL: forms of cost/kernels */
    KernelSheet *sheet;
    KernelGroup *groups;
    const Chip *chips[GROUPS_MAX]; /* of each group; and so on */
    int64_t room[GROUPS_MAX];
    int64_t count, last;
    struct Tuned *tuned; /* rows that wait for the fastest of their shape */
    int64_t tuned_count, tuned_room;
} Pricing;

static const struct {
    const char *name;
    Precision precision;
} PRECISIONS[] = {{"bf16", PRECISION_BF16}, {"fp8", PRECISION_FP8}, {"nvfp4", PRECISION_NVFP4}};

/* The profile with the group's precision, or NULL: rows of other ops, of types that plans do not compute in. */
static bool set_profile(Pricing *work, KernelGroup *group, const Chip *chip, bool mixed, Error *error) {
    KernelOp op = sheet_op(work->sheet);
    size_t i = 0;
    while (i < COUNT_OF(PRECISIONS) && strcmp(PRECISIONS[i].name, group->precision) != 0) i++;
    bool known = op == KERNEL_MATMUL ? i < COUNT_OF(PRECISIONS) : op == KERNEL_ATTENTION && i == 0 && !mixed;
    if (!chip || !known || !(precision_peak(chip, PRECISIONS[i].precision) > 0)) return true;
    for (int64_t other = 0; other < work->count && !group->profile; other++)
        if (work->chips[other] == chip && strcmp(work->groups[other].precision, group->precision) == 0)
            group->profile = work->groups[other].profile;
    if (group->profile) return true;
    Profile loaded, *profile = ARENA_NEW(work->arena, Profile, 1);
    if (!profile) return error_memory(error);
    if (!profile_load(work->profile, NULL, chip, work->arena, &loaded, error)) return false;
    *profile = profile_in_precision(&loaded, chip, PRECISIONS[i].precision);
    group->profile = profile;
    return true;
}

/* Whether the row says which collective, or which way, it is. */
static bool says_which(const KernelSheet *sheet) {
    KernelOp op = sheet_op(sheet);
    return (op != KERNEL_COLLECTIVE || sheet_cell(sheet, CELL_OP)[0]) &&
           (op != KERNEL_DISPATCH || sheet_cell(sheet, CELL_PHASE)[0]);
}

/* A group for the row; its kernel is looked up by what the row says. False: memory is out. */
static bool make_group(Pricing *work, bool mixed, KernelGroup *out) {
    const KernelSheet *sheet = work->sheet;
    const Chip *chip = work->chips[work->count];
    KernelOp op = sheet_op(sheet);
    bool moves = op == KERNEL_COLLECTIVE || op == KERNEL_DISPATCH || op == KERNEL_SCAN;
    const char *precision = sheet_precision(sheet_cell(sheet, CELL_DTYPE)), *phase = sheet_cell(sheet, CELL_PHASE),
               *keys = sheet_precision(sheet_cell(sheet, CELL_KV_DTYPE)), *collective = sheet_cell(sheet, CELL_OP);
    if (strcmp(collective, "alltoall") == 0) collective = "all_to_all";
    const char *name = collective[0] ? collective : phase[0] ? phase : sheet_cell(sheet, CELL_KERNEL);
    *out = (KernelGroup){.chip = arena_text(work->arena, sheet_cell(sheet, CELL_CHIP)),
                         .library = arena_text(work->arena, sheet_cell(sheet, CELL_ENGINE)),
                         .name = arena_text(work->arena, name),
                         .precision = mixed ? arena_format(work->arena, "%s, keys %s", precision, keys)
                                            : arena_text(work->arena, precision),
                         .ways = atof(sheet_cell(sheet, CELL_GPUS)),
                         .nodes = atof(sheet_cell(sheet, CELL_NODES))};
    const KernelAsk ask = {.op = op,
                           .chip = chip ? chip->name : "",
                           .library = sheet_cell(sheet, CELL_ENGINE),
                           .name = moves && op != KERNEL_SCAN ? "" : sheet_cell(sheet, CELL_KERNEL),
                           .precision = moves ? "" : precision,
                           .collective = collective,
                           .phase = phase,
                           .ways = out->ways,
                           .nodes = out->nodes};
    if (chip && !mixed && !work->profile && says_which(sheet)) out->kernel = kernels_find(&work->kernels, &ask);
    return out->chip && out->library && out->name && out->precision;
}

/* The group of the row, found or made; NULL: *error. Rows of one kernel stand together in most tables. */
static KernelGroup *group_of(Pricing *work, Error *error) {
    static const Cell CELLS[] = {CELL_CHIP,  CELL_DTYPE, CELL_ENGINE, CELL_KERNEL,  CELL_OP,
                                 CELL_PHASE, CELL_GPUS,  CELL_NODES,  CELL_KV_DTYPE};
    char key[KEY_SIZE + COUNT_OF(CELLS)];
    size_t used = 0;
    for (size_t i = 0; i < COUNT_OF(CELLS); i++)
        used += (size_t)snprintf(key + used, sizeof key - used, "%s\t", sheet_cell(work->sheet, CELLS[i]));
    if (work->last < work->count && strcmp(work->groups[work->last].key, key) == 0) return &work->groups[work->last];
    for (int64_t i = 0; i < work->count; i++)
        if (strcmp(work->groups[i].key, key) == 0) return work->last = i, &work->groups[i];
    if (work->count == GROUPS_MAX)
        return error_set(error, ERROR_INPUT, work->path, "has more than %d kernels; give so many at a time",
                         GROUPS_MAX),
               NULL;
    const char *keys = sheet_cell(work->sheet, CELL_KV_DTYPE), *dtype = sheet_cell(work->sheet, CELL_DTYPE);
    bool mixed = keys[0] && strcmp(sheet_precision(keys), sheet_precision(dtype)) != 0;
    KernelGroup *made = &work->groups[work->count];
    work->chips[work->count] = catalog_find(&work->catalog, sheet_cell(work->sheet, CELL_CHIP));
    if (!make_group(work, mixed, made) || !(made->key = arena_text(work->arena, key))) return error_memory(error), NULL;
    if (work->profile && !set_profile(work, made, work->chips[work->count], mixed, error)) return NULL;
    work->last = work->count++;
    return made;
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
                    .flops = {4 * tokens * width * kernel_span(of)},
                    .hbm_bytes = {BF16_BYTES * 2 * tokens * width}, /* queries and what comes out */
                    .score_elements = of->heads * tokens * of->length};
    bool memory_bound;
    return op_seconds(op == KERNEL_MATMUL ? &matmul : &attention, PHASE_FORWARD, chip, profile, &memory_bound);
}

static bool price(Pricing *work, KernelGroup *group, const KernelShape *shape, double seconds, KernelValidation *out,
                  Error *error) {
    const Chip *chip = work->chips[group - work->groups];
    double predicted = group->kernel ? kernel_seconds(group->kernel, chip, shape)
                                     : op_of_plan_seconds(group->profile, chip, sheet_op(work->sheet), shape);
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
        out->slower += slower;
        if (!slower && !price(work, &work->groups[at->group], &at->shape, at->seconds, out, error)) return false;
    }
    return true;
}

static bool price_row(Pricing *work, KernelValidation *out, Error *error) {
    const KernelSheet *sheet = work->sheet;
    KernelShape shape;
    double seconds = 0;
    if (!sheet_shape(sheet, &shape, &seconds, error)) return false;
    KernelGroup *group = group_of(work, error);
    if (!group) return false;
    KernelOp op = sheet_op(sheet);
    const char *load = sheet_cell(sheet, CELL_DISTRIBUTION);
    bool uneven = load[0] && strcmp(load, "balanced") != 0, sizeless = op == KERNEL_COLLECTIVE && !(shape.bytes > 0);
    bool wide = group->kernel && op == KERNEL_ATTENTION &&
                shape.head_width > group->kernel->width[group->kernel->widths ? group->kernel->widths - 1 : 0];
    if ((!group->kernel && !group->profile) || uneven || wide || sizeless) return out->unknown++, true;
    if (!kernel_shape_is_fitted(op, &shape)) return out->small++, group->small++, true;
    if (sheet_has(sheet, CELL_SMS)) return wait_for_fastest(work, group, &shape, seconds, error);
    return price(work, group, &shape, seconds, out, error);
}

static int by_names(const void *a, const void *b) {
    const KernelGroup *x = a, *y = b;
    int order = strcmp(x->chip, y->chip);
    if (!order) order = strcmp(x->precision, y->precision);
    if (!order) order = strcmp(x->library, y->library);
    if (!order) order = strcmp(x->name, y->name);
    if (order) return order;
    double p = x->ways + x->nodes, q = y->ways + y->nodes;
    return p != q ? (p > q) - (p < q) : strcmp(x->key, y->key);
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
    Pricing *work = ARENA_NEW(arena, Pricing, 1);
    *out = (KernelValidation){0};
    if (!work) return error_memory(error);
    *work = (Pricing){
        .arena = arena, .path = path, .profile = profile, .groups = ARENA_NEW(arena, KernelGroup, GROUPS_MAX)};
    if (!work->groups) return error_memory(error);
    if (!catalog_load(arena, &work->catalog, error) || !(work->sheet = sheet_open(path, arena, error))) return false;
    out->op = sheet_op(work->sheet);
    bool loaded = kernels_load(1u << out->op, arena, &work->kernels, error);
    while (loaded && sheet_next(work->sheet, error) && price_row(work, out, error)) continue;
    sheet_close(work->sheet);
    return error->kind == ERROR_NONE && price_fastest(work, out, error) && settle(work, out, error);
}
