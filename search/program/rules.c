/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/program/rules.h"

#include "base/util.h"

#include <string.h>

/* An operation while its rule is made. */
typedef struct {
    const Program *program;
    const ProgramOp *op;
    Arena *arena;
    OpRule *rule;
    Error *error;
} Making;

typedef struct {
    int64_t of[PROGRAM_RANK_MAX];
    int count; /* -1: the attribute is not there */
} Dims;

static const TensorType *operand_type(const Making *making, int i) {
    return &making->program->value[making->program->operand[making->op->operand + i]].type;
}

static const TensorType *result_type(const Making *making) { return &making->program->value[making->op->result].type; }

static bool misfit(const Making *making) {
    const ProgramOp *op = making->op;
    return program_wrong(making->program, op->begin, making->error,
                         "the attributes of this %.*s do not fit the types of its operands",
                         op->name.length < 60 ? op->name.length : 60, op->name.at);
}

/* Adds a factor that no operand has yet. NULL: memory is out, or there are too many. */
static int8_t *add_factor(Making *making, int64_t size, int result) {
    OpRule *rule = making->rule;
    size_t operands = (size_t)making->op->operands;
    int8_t *operand = ARENA_NEW(making->arena, int8_t, operands + 1);
    if (!operand || rule->factors == FACTORS_MAX) return error_memory(making->error), NULL;
    memset(operand, -1, operands + 1);
    rule->factor[rule->factors++] = (Factor){size, result, operand};
    return operand;
}

static bool factor_of_one(Making *making, int64_t size, int result, int operand, int dimension) {
    int8_t *of = add_factor(making, size, result);
    if (of) of[operand] = (int8_t)dimension;
    return of;
}

static bool factor_of_two(Making *making, int64_t size, int result, int first, int second) {
    int8_t *of = add_factor(making, size, result);
    if (of) of[0] = (int8_t)first, of[1] = (int8_t)second;
    return of;
}

/* The first name that is there: the pretty and the generic form call attributes differently. */
static Dims dims_of(const Making *making, const char *names, bool second) {
    Dims dims = {.count = -1};
    char name[64];
    while (*names && dims.count < 0) {
        size_t length = strcspn(names, " ");
        if (length < sizeof name) {
            memcpy(name, names, length);
            name[length] = '\0';
            dims.count = op_whole_list(making->op, name, second, dims.of, PROGRAM_RANK_MAX);
        }
        names += length + (names[length] == ' ');
    }
    return dims;
}

static bool has(const Dims *dims, int64_t dimension) {
    for (int i = 0; i < dims->count; i++)
        if (dims->of[i] == dimension) return true;
    return false;
}

static bool dims_fit(const Making *making, const Dims *dims, int rank) {
    for (int i = 0; i < dims->count; i++)
        if (dims->of[i] < 0 || dims->of[i] >= rank) return misfit(making);
    return true;
}

static bool same_shape(const TensorType *a, const TensorType *b) {
    return a->rank == b->rank && memcmp(a->size, b->size, sizeof a->size[0] * (size_t)max_whole(a->rank, 0)) == 0;
}

/* Operands of the result's shape share all its dimensions; others (scalars) are whole. */
static bool rule_pointwise(Making *making) {
    const TensorType *result = result_type(making);
    making->rule->kind = RULE_POINTWISE;
    for (int d = 0; d < result->rank; d++) {
        int8_t *of = add_factor(making, result->size[d], d);
        if (!of) return false;
        for (int i = 0; i < making->op->operands; i++)
            if (same_shape(operand_type(making, i), result)) of[i] = (int8_t)d;
    }
    return true;
}

static bool sizes_match(const Making *making, const Dims *a, const Dims *b) {
    bool all = a->count == b->count;
    for (int i = 0; i < a->count && all; i++)
        all = operand_type(making, 0)->size[a->of[i]] == operand_type(making, 1)->size[b->of[i]];
    return all || misfit(making);
}

static bool dot_factors(Making *making, const Dims batch[2], const Dims contracted[2]) {
    const TensorType *a = operand_type(making, 0), *b = operand_type(making, 1);
    if (!sizes_match(making, &batch[0], &batch[1]) || !sizes_match(making, &contracted[0], &contracted[1]))
        return false;
    double flops = 2;
    int at = 0;
    for (int i = 0; i < batch[0].count; i++, at++)
        if (!factor_of_two(making, a->size[batch[0].of[i]], at, (int)batch[0].of[i], (int)batch[1].of[i])) return false;
    for (int side = 0; side < 2; side++) {
        const TensorType *type = side ? b : a;
        for (int d = 0; d < type->rank; d++)
            if (!has(&batch[side], d) && !has(&contracted[side], d))
                if (!factor_of_one(making, type->size[d], at++, side, d)) return false;
    }
    for (int i = 0; i < contracted[0].count; i++)
        if (!factor_of_two(making, a->size[contracted[0].of[i]], -1, (int)contracted[0].of[i],
                           (int)contracted[1].of[i]))
            return false;
    for (int i = 0; i < making->rule->factors; i++) flops *= (double)making->rule->factor[i].size;
    making->rule->flops = flops;
    return at == result_type(making)->rank || misfit(making);
}

static bool rule_dot(Making *making) {
    Dims batch[2] = {{.count = 0}, {.count = 0}}, contracted[2];
    if (making->op->operands != 2) return misfit(making);
    const TensorType *a = operand_type(making, 0), *b = operand_type(making, 1);
    contracted[0] = dims_of(making, "contracting_dims lhs_contracting_dimensions", false);
    contracted[1] = dims_of(making, "contracting_dims", true);
    if (contracted[1].count < 0) contracted[1] = dims_of(making, "rhs_contracting_dimensions", false);
    batch[0] = dims_of(making, "batching_dims lhs_batching_dimensions", false);
    batch[1] = dims_of(making, "batching_dims", true);
    if (batch[1].count < 0) batch[1] = dims_of(making, "rhs_batching_dimensions", false);
    if (piece_is(making->op->name, "dot")) { /* the last of the first with the first of the second */
        contracted[0] = (Dims){.of = {a->rank - 1}, .count = 1};
        contracted[1] = (Dims){.count = 1};
    }
    for (int side = 0; side < 2; side++) {
        batch[side].count = (int)max_whole(batch[side].count, 0);
        contracted[side].count = (int)max_whole(contracted[side].count, 0);
        int rank = side ? b->rank : a->rank;
        if (!dims_fit(making, &batch[side], rank) || !dims_fit(making, &contracted[side], rank)) return false;
    }
    making->rule->kind = RULE_FACTORS;
    return dot_factors(making, batch, contracted);
}

/* "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]": where a letter stands in the group; -1: not there. */
static int letter_at(const char *groups, int group, char letter) {
    for (; group > 0 && *groups; groups++) group -= *groups == ']';
    int at = 0;
    while (*groups && *groups != '[') groups++;
    for (; *groups && *groups != ']'; groups++) {
        if (*groups == letter) return at;
        at += *groups == ',';
    }
    return -1;
}

static bool rule_convolution(Making *making) {
    const ProgramOp *op = making->op;
    const char *groups = memmem(op->text.at, (size_t)op->text.length, "]x[", 3);
    while (groups && groups > op->text.at && *groups != '[') groups--;
    if (!groups || op->operands != 2) return misfit(making);
    int batch = letter_at(groups, 0, 'b'), in = letter_at(groups, 0, 'f'), from = letter_at(groups, 1, 'i'),
        to = letter_at(groups, 1, 'o'), out_batch = letter_at(groups, 2, 'b'), out = letter_at(groups, 2, 'f');
    const TensorType *a = operand_type(making, 0), *kernel = operand_type(making, 1), *result = result_type(making);
    if (batch < 0 || in < 0 || from < 0 || to < 0 || out_batch < 0 || out < 0 || batch >= a->rank || in >= a->rank ||
        from >= kernel->rank || to >= kernel->rank || out_batch >= result->rank || out >= result->rank)
        return misfit(making);
    Dims features = dims_of(making, "feature_group_count", false),
         batches = dims_of(making, "batch_group_count", false);
    int64_t of_features = features.count == 1 ? features.of[0] : 1, of_batch = batches.count == 1 ? batches.of[0] : 1;
    making->rule->kind = RULE_FACTORS;
    making->rule->flops = 2 * type_elements(result) * type_elements(kernel) / (double)max_whole(kernel->size[to], 1);
    if (of_batch == 1 && !factor_of_one(making, result->size[out_batch], out_batch, 0, batch)) return false;
    if (of_batch > 1) return factor_of_two(making, of_batch, out, batch, to);
    if (of_features > 1) return factor_of_two(making, of_features, out, in, to);
    return factor_of_one(making, result->size[out], out, 1, to) && factor_of_two(making, a->size[in], -1, in, from);
}

/* Dimensions that stay are shared by all operands; those that go leave partial results, of one operand alone. */
static bool rule_reduce(Making *making) {
    Dims gone = dims_of(making, "dimensions", false);
    int inputs = making->op->operands / 2;
    if (gone.count < 0 || inputs < 1) return misfit(making);
    const TensorType *first = operand_type(making, 0);
    if (!dims_fit(making, &gone, first->rank) || first->rank - gone.count != result_type(making)->rank)
        return misfit(making);
    making->rule->kind = RULE_FACTORS;
    for (int d = 0, to = 0; d < first->rank; d++) {
        bool stays = !has(&gone, d);
        if (!stays && inputs > 1) continue;
        int8_t *of = add_factor(making, first->size[d], stays ? to++ : -1);
        if (!of) return false;
        for (int i = 0; i < inputs; i++) of[i] = (int8_t)d;
    }
    return true;
}

static bool rule_view_of(Making *making, const Dims *from) {
    making->rule->kind = RULE_VIEW;
    for (int d = 0; d < PROGRAM_RANK_MAX; d++) making->rule->view[d] = d < from->count ? (int)from->of[d] : -1;
    return true;
}

static bool rule_transpose(Making *making) {
    Dims dims = dims_of(making, "dims permutation", false);
    const TensorType *type = operand_type(making, 0);
    if (dims.count != type->rank || !dims_fit(making, &dims, type->rank)) return misfit(making);
    return rule_view_of(making, &dims);
}

static bool rule_broadcast(Making *making) {
    Dims dims = dims_of(making, "dims broadcast_dimensions", false), view = {.count = PROGRAM_RANK_MAX};
    const TensorType *from = operand_type(making, 0), *to = result_type(making);
    if (dims.count != from->rank || !dims_fit(making, &dims, to->rank)) return misfit(making);
    for (int d = 0; d < PROGRAM_RANK_MAX; d++) view.of[d] = -1;
    for (int i = 0; i < from->rank; i++) {
        if (from->size[i] == to->size[dims.of[i]])
            view.of[dims.of[i]] = i;
        else if (from->size[i] != 1)
            return misfit(making);
    }
    return rule_view_of(making, &view);
}

/* Dimensions of 1 aside, equal products of neighbours belong together, and the outermost of each side is the one that
 * sharding moves from one to the other. */
static bool rule_reshape(Making *making) {
    const TensorType *from = operand_type(making, 0), *to = result_type(making);
    Dims view = {.count = PROGRAM_RANK_MAX};
    bool bits = piece_is(making->op->name, "bitcast_convert"); /* has one dimension more or less at the end */
    if (!bits && type_elements(from) != type_elements(to)) return misfit(making);
    for (int d = 0; d < PROGRAM_RANK_MAX; d++) view.of[d] = -1;
    int i = 0, j = 0;
    while (i < from->rank && j < to->rank) {
        int64_t a = from->size[i], b = to->size[j];
        int outer = from->size[i] == 1 ? -1 : i, major = to->size[j] == 1 ? -1 : j;
        while (a != b && (a < b ? i + 1 < from->rank : j + 1 < to->rank)) {
            if (a < b) {
                a *= from->size[++i];
                if (outer < 0 && from->size[i] > 1) outer = i;
            } else {
                b *= to->size[++j];
                if (major < 0 && to->size[j] > 1) major = j;
            }
        }
        if (a == b && outer >= 0 && major >= 0) view.of[major] = outer;
        i++, j++;
    }
    return rule_view_of(making, &view);
}

/* The first `inputs` operands share the result's dimensions where all are as long, and which are not in `but`. */
static bool rule_alike(Making *making, int inputs, const Dims *but) {
    const TensorType *result = result_type(making);
    making->rule->kind = RULE_FACTORS;
    inputs = (int)min_whole(inputs, making->op->operands);
    for (int d = 0; d < result->rank; d++) {
        bool all = !has(but, d);
        for (int i = 0; i < inputs; i++) {
            const TensorType *type = operand_type(making, i);
            all = all && type->rank == result->rank && type->size[d] == result->size[d];
        }
        int8_t *of = all ? add_factor(making, result->size[d], d) : NULL;
        if (all && !of) return false;
        for (int i = 0; i < inputs && all; i++) of[i] = (int8_t)d;
    }
    return true;
}

static bool rule_cut(Making *making) {
    making->rule->reads_rows = true;
    return rule_alike(making, 1, &(Dims){0});
}

static bool rule_reverse(Making *making) {
    Dims dims = dims_of(making, "dims dimensions", false);
    return rule_alike(making, 1, &dims);
}

static bool rule_concatenate(Making *making) { /* the dimension along which it is one is longer than its parts */
    Dims dims = dims_of(making, "dim dimension", false);
    return rule_alike(making, making->op->operands, &dims);
}

static bool rule_update(Making *making) {
    making->rule->in_place = true;
    return rule_alike(making, 2, &(Dims){0});
}

static bool rule_sort(Making *making) {
    Dims dims = dims_of(making, "dimension", false);
    if (dims.count < 0) dims = (Dims){.of = {result_type(making)->rank - 1}, .count = 1};
    return rule_alike(making, making->op->operands, &dims);
}

/* Dimensions that no window spans. */
static bool rule_window(Making *making) {
    Dims window = dims_of(making, "window_dimensions", false), spanned = {0};
    for (int d = 0; d < window.count; d++)
        if (window.of[d] != 1) spanned.of[spanned.count++] = d;
    bool scatters = piece_is(making->op->name, "select_and_scatter");
    return rule_alike(making, scatters ? 2 : making->op->operands / 2, &spanned);
}

/* All but the last one or two: what stands before them is a batch. */
static bool rule_batch(Making *making) {
    const ProgramOp *op = making->op;
    bool one = piece_is(op->name, "top_k") || piece_is(op->name, "fft");
    int rank = result_type(making)->rank;
    Dims last = {.of = {rank - 1, rank - 2, rank - 3}, .count = piece_is(op->name, "fft") ? 3 : one ? 1 : 2};
    return rule_alike(making, op->operands, &last);
}

/* Which places of a list a set of dimensions leaves, in order. */
static Dims others(int rank, const Dims *a, const Dims *b) {
    Dims left = {0};
    for (int d = 0; d < rank; d++)
        if (!has(a, d) && !has(b, d)) left.of[left.count++] = d;
    return left;
}

/* What gather and scatter have in common: `table` is read or added to, `rows` are gathered from it or added. */
typedef struct {
    const TensorType *table, *index, *rows;
    Dims window, dropped, batch, index_batch; /* dimensions of rows, of the table twice, of the index */
    int vector;                               /* the dimension of the index that holds coordinates */
} Lookup;

static bool lookup_fits(const Making *making, Lookup *lookup, const char *vector) {
    Dims *lists[] = {&lookup->window, &lookup->dropped, &lookup->batch, &lookup->index_batch};
    int ranks[] = {lookup->rows->rank, lookup->table->rank, lookup->table->rank, lookup->index->rank};
    Dims at = dims_of(making, vector, false);
    lookup->vector = at.count == 1 ? (int)at.of[0] : 0;
    for (int i = 0; i < 4; i++) {
        lists[i]->count = (int)max_whole(lists[i]->count, 0);
        if (!dims_fit(making, lists[i], ranks[i])) return false;
    }
    Dims inside = others(lookup->table->rank, &lookup->dropped, &lookup->batch), none = {0};
    Dims outside = others(lookup->rows->rank, &lookup->window, &none);
    int walked = lookup->index->rank - (lookup->vector < lookup->index->rank);
    return (inside.count == lookup->window.count && outside.count == walked &&
            lookup->batch.count == lookup->index_batch.count) ||
           misfit(making);
}

/* The place of the table that a dimension of the index walks along with it; -1: it does not. */
static int batch_of_index(const Lookup *lookup, int64_t dimension) {
    for (int i = 0; i < lookup->index_batch.count; i++)
        if (lookup->index_batch.of[i] == dimension) return (int)lookup->batch.of[i];
    return -1;
}

/* Rows lie by window (whole in a row), and by what the index walks. Sharded rows of the table: each chip looks up its
 * own, and the sum is the answer. A scatter is the same with the table as its result. */
static bool lookup_factors(Making *making, const Lookup *lookup, bool scatters) {
    Dims inside = others(lookup->table->rank, &lookup->dropped, &lookup->batch), none = {0};
    Dims outside = others(lookup->rows->rank, &lookup->window, &none);
    making->rule->kind = RULE_FACTORS;
    for (int i = 0; i < inside.count; i++) {
        int64_t size = lookup->table->size[inside.of[i]];
        if (lookup->rows->size[lookup->window.of[i]] != size) continue;
        int8_t *of = add_factor(making, size, (int)(scatters ? inside.of[i] : lookup->window.of[i]));
        if (!of) return false;
        of[0] = (int8_t)inside.of[i];
        if (scatters) of[2] = (int8_t)lookup->window.of[i];
    }
    for (int i = 0, dimension = 0; i < outside.count; i++, dimension++) {
        dimension += dimension == lookup->vector;
        int batch = batch_of_index(lookup, dimension);
        int64_t size = lookup->rows->size[outside.of[i]];
        int8_t *of = add_factor(making, size, scatters ? batch : (int)outside.of[i]);
        if (!of) return false;
        of[0] = (int8_t)batch;
        of[1] = (int8_t)dimension;
        if (scatters) of[2] = (int8_t)outside.of[i];
    }
    for (int i = 0; i < lookup->dropped.count; i++) {
        int d = (int)lookup->dropped.of[i];
        if (!factor_of_one(making, lookup->table->size[d], scatters ? d : -1, 0, d)) return false;
    }
    return true;
}

static bool rule_gather(Making *making) {
    if (making->op->operands != 2) return misfit(making);
    Lookup lookup = {.table = operand_type(making, 0), .index = operand_type(making, 1), .rows = result_type(making)};
    making->rule->reads_rows = true;
    lookup.window = dims_of(making, "offset_dims", false);
    lookup.dropped = dims_of(making, "collapsed_slice_dims", false);
    lookup.batch = dims_of(making, "operand_batching_dims", false);
    lookup.index_batch = dims_of(making, "start_indices_batching_dims", false);
    return lookup_fits(making, &lookup, "index_vector_dim") && lookup_factors(making, &lookup, false);
}

static bool rule_scatter(Making *making) {
    if (making->op->operands != 3) return true; /* several tables at once: whole */
    Lookup lookup = {
        .table = operand_type(making, 0), .index = operand_type(making, 1), .rows = operand_type(making, 2)};
    lookup.window = dims_of(making, "update_window_dims", false);
    lookup.dropped = dims_of(making, "inserted_window_dims", false);
    lookup.batch = dims_of(making, "input_batching_dims", false);
    lookup.index_batch = dims_of(making, "scatter_indices_batching_dims", false);
    making->rule->in_place = true;
    return lookup_fits(making, &lookup, "index_vector_dim") && lookup_factors(making, &lookup, true);
}

static bool rule_custom(Making *making);

static const struct {
    RuleRow row;
    bool (*make)(Making *making); /* NULL: the kind is all there is */
    RuleKind kind;
} RULES[] = {
    {{"abs acos acosh add and asin asinh atan atan2 atanh bessel_i1e cbrt ceil clamp compare complex conj "
      "constant_like "
      "convert cosh cosine count_leading_zeros digamma divide erf erf_inv erfc exponential exponential_minus_one floor "
      "imag is_finite is_inf is_neg_inf is_pos_inf lgamma log log_plus_one logistic map maximum minimum multiply "
      "negate "
      "next_after not or polygamma popcnt power real reduce_precision remainder round_nearest_afz round_nearest_even "
      "rsqrt select shift_left shift_right_arithmetic shift_right_logical sign sine sinh sqrt square subtract tan tanh "
      "xor zeta",
      "every dimension, with the operands of the same shape; scalars are whole"},
     .make = rule_pointwise},
    {{"dot dot_general", "batch, rows and columns; contracted dimensions leave partial sums"}, .make = rule_dot},
    {{"convolution", "batch and features out; features in leave partial sums; groups; space is whole"},
     .make = rule_convolution},
    {{"reduce", "what stays; what goes leaves partial results, where one tensor is reduced"}, .make = rule_reduce},
    {{"transpose", "every dimension: a view"}, .make = rule_transpose},
    {{"broadcast_in_dim", "what was there: a view"}, .make = rule_broadcast},
    {{"reshape", "the outermost of dimensions that are joined or split: a view"}, .make = rule_reshape},
    {{"bitcast_convert", "dimensions of both: a view"}, .make = rule_reshape},
    {{"slice dynamic_slice pad", "dimensions that are not cut or padded"}, .make = rule_cut},
    {{"reverse", "dimensions that are not turned round"}, .make = rule_reverse},
    {{"concatenate", "every dimension but that along which it is"}, .make = rule_concatenate},
    {{"dynamic_update_slice", "dimensions that the update has whole; in place"}, .make = rule_update},
    {{"sort", "every dimension but that which is sorted"}, .make = rule_sort},
    {{"reduce_window select_and_scatter", "dimensions that no window spans"}, .make = rule_window},
    {{"cholesky triangular_solve fft top_k", "the batch: all before the last one (top_k), two, or three (fft)"},
     .make = rule_batch},
    {{"gather", "what a row holds, what the index walks; rows of the table leave partial sums"}, .make = rule_gather},
    {{"scatter", "rows of the table, what a row holds; what the index walks leaves partial sums"},
     .make = rule_scatter},
    {{"constant iota rng rng_bit_generator create_token partition_id replica_id",
      "anything: made on each chip as it is needed"},
     NULL,
     RULE_SOURCE},
    {{"optimization_barrier", "as the operand is"}, .kind = RULE_IDENTITIES},
    {{"call", "as the function's own operations"}, .kind = RULE_CALL},
    {{"while", "carries keep one sharding, what the body reshards counts by trips"}, .kind = RULE_LOOP},
    {{"if case", "results as the branches agree"}, .kind = RULE_BRANCHES},
    {{"return", "as the function's results"}, .kind = RULE_END},
    {{"custom_call",
      "by its target: mhlo.* of the first row, cu_threefry2x32 and hip_threefry2x32; others as --rules says, or whole"},
     .make = rule_custom},
};

int rule_count(void) { return (int)COUNT_OF(RULES); }
RuleRow rule_row(int at) { return RULES[at].row; }

static bool is_in(const char *names, Piece name) {
    while (*names) {
        size_t length = strcspn(names, " ");
        if (length == (size_t)name.length && memcmp(names, name.at, length) == 0) return true;
        names += length + (names[length] == ' ');
    }
    return false;
}

/* Targets that JAX lowers element-wise functions to. */
static bool rule_custom(Making *making) {
    Piece target = making->op->symbol;
    bool of_mhlo = target.length > 5 && memcmp(target.at, "mhlo.", 5) == 0;
    if (of_mhlo && is_in(RULES[0].row.names, (Piece){target.at + 5, target.length - 5})) return rule_pointwise(making);
    if (piece_is(target, "cu_threefry2x32") || piece_is(target, "hip_threefry2x32")) return rule_pointwise(making);
    return true;
}

bool op_rule(const Program *program, const ProgramOp *op, Arena *arena, OpRule *out, Error *error) {
    Making making = {program, op, arena, out, error};
    *out = (OpRule){.kind = RULE_WHOLE};
    for (size_t i = 0; i < COUNT_OF(RULES); i++) {
        if (!is_in(RULES[i].row.names, op->name)) continue;
        if (!RULES[i].make) return out->kind = RULES[i].kind, true;
        if (op->operands == 0 || op->results == 0) return true;
        return RULES[i].make(&making);
    }
    return true;
}
