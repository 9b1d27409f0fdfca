/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/program/write.h"

#include "base/util.h"
#include "search/program/strategies.h"

#include <stdlib.h>
#include <string.h>

/* What the answer says of each operation, value and operand; with calls that disagree, SPEC_AS_IT_IS. */
typedef struct {
    Spec *spec;
    bool *met;
} Votes;

/* Something to write in place of `length` bytes of the text. */
typedef enum {
    EDIT_MESH,      /* behind the brace of the module */
    EDIT_ARGUMENT,  /* the dictionary of an argument of the entry */
    EDIT_RESULT,    /* of a result */
    EDIT_NAME,      /* a value's name where it is defined: another one, since the constraint takes it */
    EDIT_CONSTRAIN, /* behind an operation, or at the head of a region */
    EDIT_BRING,     /* before an operation: an operand in the sharding that it needs */
    EDIT_USE,       /* its name in the operation */
    EDIT_DEVICES,   /* the number of partitions, which the module says */
} EditKind;

enum { WIDER_MAX = 6 };

typedef struct {
    const char *at;
    int order; /* of edits at one place */
    EditKind kind;
    int length;
    const ProgramValue *value;
    Spec spec, summed; /* the one before partial sums are scattered */
    Piece old;
    int number;            /* of an operand */
    Spec route[ROUTE_MAX]; /* of it, on the way to what it needs; SPEC_AS_IT_IS behind the last */
    int wider[WIDER_MAX];  /* operations that made it wide, the last first, which are written again */
    int widers;
    Spec narrow; /* what they need of what they made wide */
} Edit;

typedef struct {
    const ProgramQuestion *question;
    const ProgramAnswer *answer;
    const ProgramChoice *best;
    Edit *edit;
    int64_t edits, room;
    int *maker; /* of each value, its operation; -1 */
    Arena *arena;
    Error *error;
} Annotating;

static bool add(Annotating *annotating, Edit edit) {
    if (!list_grow((void **)&annotating->edit, annotating->edits, &annotating->room, sizeof edit))
        return error_memory(annotating->error);
    edit.order = (int)annotating->edits;
    annotating->edit[annotating->edits++] = edit;
    return true;
}

static int by_place(const void *a, const void *b) {
    const Edit *left = a, *right = b;
    if (left->at != right->at) return left->at < right->at ? -1 : 1;
    return left->order - right->order;
}

/* ---- what to write ---- */

static bool votes_begin(Votes *votes, int64_t count, Arena *arena) {
    votes->spec = ARENA_NEW(arena, Spec, (size_t)count);
    votes->met = ARENA_NEW(arena, bool, (size_t)count);
    return votes->spec && votes->met;
}

static void vote(Votes *votes, int64_t at, Spec spec) {
    votes->spec[at] = !votes->met[at] || votes->spec[at] == spec ? spec : (Spec)SPEC_AS_IT_IS;
    votes->met[at] = true;
}

static bool agreed(const Votes *votes, int64_t at) { return votes->met[at] && votes->spec[at] != SPEC_AS_IT_IS; }

/* Where the name of a value stands in its operation: the first word of it. */
static bool constrain_op(Annotating *annotating, const ProgramOp *op, Spec spec, Spec summed) {
    const Program *program = annotating->question->program;
    if (op->results != 1) return true; /* results of one name with numbers cannot be named anew one by one */
    const ProgramValue *value = &program->value[op->result];
    Edit name = {.at = op->begin, .kind = EDIT_NAME, .length = value->name.length, .old = value->name};
    Edit constraint = {.at = op->end, .kind = EDIT_CONSTRAIN, .value = value, .spec = spec, .old = value->name};
    constraint.summed = summed;
    return add(annotating, name) && add(annotating, constraint);
}

/* The carry of a loop: named anew in the loop's head, and constrained at the head of condition and body. */
static bool constrain_carry(Annotating *annotating, const ProgramOp *op, int number, Spec spec) {
    const Program *program = annotating->question->program;
    const ProgramRegion *condition = &program->region[op->region], *body = &program->region[condition->next];
    const ProgramValue *value = &program->value[body->argument + number];
    Edit name = {.at = value->name.at, .kind = EDIT_NAME, .length = value->name.length, .old = value->name};
    if (value->name.at < op->text.at || value->name.at >= op->text.at + op->text.length) return true;
    if (!add(annotating, name)) return false;
    Edit constraint = {.kind = EDIT_CONSTRAIN, .value = value, .spec = spec, .summed = spec, .old = value->name};
    constraint.at = condition->begin;
    if (!add(annotating, constraint)) return false;
    constraint.at = body->begin;
    return add(annotating, constraint);
}

/* A bias is moved before it is broadcast, as it is priced: else XLA exchanges all that it was broadcast to. */
static bool find_wider(const Annotating *annotating, const Votes *ops, int value, Edit *bring) {
    const Program *program = annotating->question->program;
    Spec spec = bring->spec;
    for (int count = 0; count < WIDER_MAX && annotating->maker[value] >= 0; count++) {
        const ProgramOp *op = &program->op[annotating->maker[value]];
        OpRule rule;
        if (op->operands != 1 || op->results != 1 || op->region >= 0 || agreed(ops, annotating->maker[value])) break;
        if (!op_rule(program, op, annotating->arena, &rule, annotating->error)) return false;
        if (rule.kind != RULE_VIEW && rule.kind != RULE_POINTWISE) break;
        bring->wider[count] = annotating->maker[value];
        value = program->operand[op->operand];
        for (int a = 0; a < LOGICAL_MAX && rule.kind == RULE_VIEW; a++)
            if (spec_dimension(spec, a) >= 0) spec = spec_with(spec, a, rule.view[spec_dimension(spec, a)]);
        if (type_elements(&program->value[value].type) >= type_elements(&program->value[op->result].type)) continue;
        bring->widers = count + 1;
        bring->narrow = spec;
    }
    return true;
}

/* The operands that an operation needs in another sharding than they have. */
static bool bring_operands(Annotating *annotating, const ProgramOp *op, const Votes *ops, const Votes *needs,
                           const Votes *routes) {
    const Program *program = annotating->question->program;
    for (int i = 0; i < op->operands; i++) {
        int at = op->operand + i;
        if (!agreed(needs, at)) continue;
        const ProgramValue *value = &program->value[program->operand[at]];
        Edit bring = {.at = op->begin, .kind = EDIT_BRING, .value = value, .spec = needs->spec[at]};
        Edit use = {.at = program->use[at].at, .kind = EDIT_USE, .length = program->use[at].length};
        bring.old = use.old = program->use[at];
        bring.number = use.number = at;
        for (int k = 0, from = at * ROUTE_MAX; k < ROUTE_MAX; k++)
            bring.route[k] = agreed(routes, from + k) ? routes->spec[from + k] : (Spec)SPEC_AS_IT_IS;
        bool matrix = piece_is(op->name, "dot_general") || piece_is(op->name, "convolution");
        if (!matrix && !find_wider(annotating, ops, program->operand[at], &bring)) return false;
        if (!add(annotating, bring) || !add(annotating, use)) return false;
    }
    return true;
}

typedef struct {
    Votes ops, sums, values, needs, routes;
} Decided;

static bool constrain_all(Annotating *annotating, const Decided *decided) {
    const Votes *ops = &decided->ops, *sums = &decided->sums, *values = &decided->values;
    const Program *program = annotating->question->program;
    for (int64_t i = 0; i < program->ops; i++) {
        const ProgramOp *op = &program->op[i];
        if (!bring_operands(annotating, op, ops, &decided->needs, &decided->routes)) return false;
        Spec summed = agreed(sums, i) ? sums->spec[i] : ops->spec[i];
        if (agreed(ops, i) && !constrain_op(annotating, op, ops->spec[i], summed)) return false;
        if (!piece_is(op->name, "while") || op->region < 0) continue;
        const ProgramRegion *body = &program->region[program->region[op->region].next];
        for (int k = 0; k < body->arguments; k++)
            if (agreed(values, body->argument + k) &&
                !constrain_carry(annotating, op, k, values->spec[body->argument + k]))
                return false;
    }
    return true;
}

static bool constrain_entry(Annotating *annotating) {
    const Program *program = annotating->question->program;
    const ProgramRegion *entry = &program->region[program->function[program->main].region];
    for (int64_t i = 0; i < program->entries; i++) { /* the first nodes are the arguments */
        const ProgramValue *value = &program->value[entry->argument + i];
        Piece old = program->entry[i].dictionary;
        Spec spec = annotating->best->spec[i];
        Edit edit = {
            .at = old.at, .kind = EDIT_ARGUMENT, .length = old.length, .value = value, .spec = spec, .old = old};
        if (!add(annotating, edit)) return false;
        int alias = program->entry[i].aliases;
        if (alias < 0 || alias >= program->outputs) continue;
        edit.kind = EDIT_RESULT;
        edit.old = program->output[alias];
        edit.at = edit.old.at;
        edit.length = edit.old.length;
        if (!add(annotating, edit)) return false;
    }
    return true;
}

static bool collect(Annotating *annotating) {
    const Program *program = annotating->question->program;
    const Flow *flow = &annotating->answer->flow;
    const ProgramChoice *best = annotating->best;
    Arena arena = {0};
    Decided decided;
    bool ok = votes_begin(&decided.ops, program->ops, &arena) && votes_begin(&decided.sums, program->ops, &arena) &&
              votes_begin(&decided.values, program->values, &arena) &&
              votes_begin(&decided.needs, program->operands, &arena) &&
              votes_begin(&decided.routes, program->operands * ROUTE_MAX, &arena);
    if (!ok) error_memory(annotating->error);
    for (int64_t i = 0; i < flow->nodes && ok; i++) {
        const FlowNode *node = &flow->node[i];
        if (node->op >= 0) vote(&decided.ops, node->op, best->spec[i]);
        if (node->op >= 0) vote(&decided.sums, node->op, best->summed[i]);
        if (node->kind == FLOW_FREE && node->value >= 0) vote(&decided.values, node->value, best->spec[i]);
    }
    for (int64_t i = 0; i < flow->edges && ok; i++) {
        const FlowEdge *edge = &flow->edge[i];
        const FlowNode *to = &flow->node[edge->to];
        if (to->kind != FLOW_WORK) continue;
        int at = program->op[to->op].operand + edge->operand;
        vote(&decided.needs, at, best->need[i]);
        for (int k = 0; k < ROUTE_MAX; k++)
            vote(&decided.routes, (int64_t)at * ROUTE_MAX + k, best->route[i * ROUTE_MAX + k]);
    }
    ok = ok && add(annotating, (Edit){.at = program->module_begin, .kind = EDIT_MESH}) && constrain_entry(annotating) &&
         constrain_all(annotating, &decided);
    arena_free(&arena);
    return ok;
}

/* ---- writing ---- */

static void write_spec(const Annotating *annotating, int rank, Spec spec, FILE *out) {
    char text[SPEC_TEXT_SIZE];
    fputs(spec_text(&annotating->best->mesh, rank, spec, true, text), out);
}

/* The mesh stands in the order of the devices that the program is given, as JAX's does: with device_ids, XLA does not
 * see how its axes nest and gathers where it could exchange. */
static void write_mesh(const Annotating *annotating, FILE *out) {
    const LogicalMesh *mesh = &annotating->best->mesh;
    const Mesh *physical = &annotating->question->machine.mesh;
    fputs("\n  // devices:", out);
    for (int64_t i = 0; i < physical->devices; i++) fprintf(out, " %lld", (long long)mesh_chip(physical, mesh, i));
    fputs("\n  sdy.mesh @mesh = <[", out);
    for (int a = 0; a < mesh->axes; a++)
        fprintf(out, "%s\"%c\"=%lld", a > 0 ? ", " : "", 'x' + a, (long long)mesh->size[a]);
    fputs("]>", out);
}

/* `%to_12 = sdy.sharding_constraint %from_12 ...` on a line of its own; `to` of NULL: the name as it was. */
static void write_constraint(const Annotating *annotating, const Edit *edit, const char *to, const char *from,
                             Spec spec, FILE *out) {
    int length = edit->old.length - 1;
    const char *name = edit->old.at + 1;
    fprintf(out, "\n    %%%s%s%.*s = sdy.sharding_constraint %%%s_%.*s <@mesh, ", to ? to : "", to ? "_" : "", length,
            name, from, length, name);
    write_spec(annotating, edit->value->type.rank, spec, out);
    fprintf(out, "> : %.*s", edit->value->type.text.length, edit->value->type.text.at);
}

/* `%wide_7_1 = sdy.sharding_constraint %11 ...`, and `%wide_7_0 = stablehlo.broadcast_in_dim %wide_7_1 ...`. */
static void write_wider(const Annotating *annotating, const Edit *edit, FILE *out) {
    const Program *program = annotating->question->program;
    for (int k = edit->widers - 1; k >= 0; k--) {
        const ProgramOp *op = &program->op[edit->wider[k]];
        Piece use = program->use[op->operand];
        const TensorType *type = &program->value[program->operand[op->operand]].type;
        char text[SPEC_TEXT_SIZE];
        if (k == edit->widers - 1)
            fprintf(out, "%%wide_%d_%d = sdy.sharding_constraint %.*s <@mesh, %s> : %.*s\n    ", edit->number, k + 1,
                    use.length, use.at, spec_text(&annotating->best->mesh, type->rank, edit->narrow, true, text),
                    type->text.length, type->text.at);
        const char *begin = memchr(op->begin, '=', (size_t)(use.at - op->begin)), *behind = use.at + use.length;
        fprintf(out, "%%wide_%d_%d %.*s%%wide_%d_%d%.*s\n    ", edit->number, k, (int)(use.at - begin), begin,
                edit->number, k + 1, (int)(op->end - behind), behind);
    }
}

/* `%need_7_0 = sdy.sharding_constraint %12 ...`, a line for each step of the way. */
static void write_bring(const Annotating *annotating, const Edit *edit, FILE *out) {
    int steps = 0;
    write_wider(annotating, edit, out);
    for (int k = edit->widers ? ROUTE_MAX : 0; k <= ROUTE_MAX; k++) {
        bool is_last = k == ROUTE_MAX;
        if (!is_last && edit->route[k] == SPEC_AS_IT_IS) continue;
        fprintf(out, is_last ? "%%need_%d" : "%%need_%d_%d", edit->number, steps);
        fputs(" = sdy.sharding_constraint ", out);
        if (steps > 0 || edit->widers)
            fprintf(out, edit->widers ? "%%wide_%d_%d" : "%%need_%d_%d", edit->number, edit->widers ? 0 : steps - 1);
        else
            fwrite(edit->old.at, 1, (size_t)edit->old.length, out);
        fputs(" <@mesh, ", out);
        write_spec(annotating, edit->value->type.rank, is_last ? edit->spec : edit->route[k], out);
        fprintf(out, "> : %.*s\n    ", edit->value->type.text.length, edit->value->type.text.at);
        steps++;
    }
}

static void write_edit(const Annotating *annotating, const Edit *edit, FILE *out) {
    switch (edit->kind) {
    case EDIT_MESH:
        write_mesh(annotating, out);
        break;
    case EDIT_ARGUMENT:
    case EDIT_RESULT:
        fputs(edit->length ? "{sdy.sharding = #sdy.sharding<@mesh, " : " {sdy.sharding = #sdy.sharding<@mesh, ", out);
        write_spec(annotating, edit->value->type.rank, edit->spec, out);
        fputs(edit->length > 2 ? ">, " : ">", out);
        if (edit->length > 1)
            fwrite(edit->old.at + 1, 1, (size_t)edit->length - 1, out);
        else
            fputs("}", out);
        break;
    case EDIT_NAME:
        fprintf(out, "%%free_%.*s", edit->old.length - 1, edit->old.at + 1);
        break;
    case EDIT_CONSTRAIN:
        if (edit->summed != edit->spec) write_constraint(annotating, edit, "sum", "free", edit->summed, out);
        write_constraint(annotating, edit, NULL, edit->summed != edit->spec ? "sum" : "free", edit->spec, out);
        break;
    case EDIT_BRING:
        write_bring(annotating, edit, out);
        break;
    case EDIT_USE:
        fprintf(out, "%%need_%d", edit->number);
        break;
    case EDIT_DEVICES:
        fprintf(out, "%lld", (long long)annotating->question->machine.mesh.devices);
        break;
    }
}

/* `mhlo.num_partitions = 1` of the module's attributes. */
static bool add_devices(Annotating *annotating) {
    static const char NAME[] = "mhlo.num_partitions = ";
    const Program *program = annotating->question->program;
    const char *at = memmem(program->text, (size_t)(program->module_begin - program->text), NAME, sizeof NAME - 1);
    if (!at) return true;
    at += sizeof NAME - 1;
    return add(annotating, (Edit){.at = at, .kind = EDIT_DEVICES, .length = (int)strspn(at, "0123456789")});
}

bool program_annotate(const ProgramQuestion *question, const ProgramAnswer *answer, FILE *out, Error *error) {
    const Program *program = question->program;
    Annotating annotating = {
        .question = question, .answer = answer, .best = &answer->choice[answer->best], .error = error};
    Arena arena = {0};
    annotating.arena = &arena;
    annotating.maker = ARENA_NEW(&arena, int, (size_t)program->values);
    for (int64_t i = 0; i < program->values && annotating.maker; i++) annotating.maker[i] = -1;
    for (int64_t i = 0; i < program->ops && annotating.maker; i++)
        for (int k = 0; k < program->op[i].results; k++) annotating.maker[program->op[i].result + k] = (int)i;
    bool ok = annotating.maker ? add_devices(&annotating) && collect(&annotating) : error_memory(error);
    if (ok) qsort(annotating.edit, (size_t)annotating.edits, sizeof *annotating.edit, by_place);
    const char *at = program->text, *end = program->text + program->length;
    for (int64_t i = 0; i < annotating.edits && ok; i++) {
        const Edit *edit = &annotating.edit[i];
        fwrite(at, 1, (size_t)(edit->at - at), out);
        write_edit(&annotating, edit, out);
        at = edit->at + edit->length;
    }
    if (ok) fwrite(at, 1, (size_t)(end - at), out);
    free(annotating.edit);
    arena_free(&arena);
    return ok;
}
