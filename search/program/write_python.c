/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/text/prose.h"
#include "base/util.h"
#include "search/program/write.h"

#include <stdlib.h>
#include <string.h>

/* JAX's words and those of PyTorch's DTensor. `%s` of the mesh: sizes, names. */
static const struct {
    const char *head, *mesh, *arguments, *constraints;
} WORDS[] = {
    {"import jax\nimport numpy\nfrom jax.sharding import Mesh, NamedSharding, PartitionSpec as P\n\n"
     "devices = sorted(jax.devices(), key=lambda d: (*reversed(getattr(d, \"coords\", ())), getattr(d, "
     "\"core_on_chip\", 0), d.id))\n",
     "mesh = Mesh(numpy.array(devices)[order].reshape(%s), (%s))\n",
     "in_shardings = [NamedSharding(mesh, spec) for spec in arguments]  # jax.tree.unflatten(jax.tree.structure(args), "
     "in_shardings)\n",
     "# x = jax.lax.with_sharding_constraint(x, NamedSharding(mesh, spec)), by the line that makes x:\n"},
    {"import torch\nfrom torch.distributed.device_mesh import DeviceMesh\nfrom torch.distributed.tensor import "
     "Replicate, Shard\n\n",
     "mesh = DeviceMesh(\"cuda\", torch.tensor(order).reshape(%s), mesh_dim_names=(%s))\n",
     "# distribute_tensor(tensor, mesh, placements) for each of them\n",
     "# x = x.redistribute(mesh, placements), by the line that makes x:\n"},
};

/* Where the source made a tensor. */
typedef struct {
    Piece file;
    long line;
} Place;

typedef struct {
    const ProgramOp *op;
    Place place;
    Spec spec;
    int others; /* of the same line, operation and type, that are sharded in another way */
} Row;

typedef struct {
    const Program *program;
    const ProgramChoice *best;
    bool torch;
    const char **definition; /* of #locN: what is in its brackets */
    int64_t definitions, room;
    Row *row;
    int64_t rows, row_room;
    FILE *out;
} Python;

/* `#loc12 = loc(...)`, a line each, mostly behind the program. */
static bool find_definitions(Python *python) {
    const char *at = python->program->text, *end = at + python->program->length;
    for (; at && at < end; at = memchr(at, '\n', (size_t)(end - at)), at = at ? at + 1 : NULL) {
        char *behind;
        if (strncmp(at, "#loc", 4) != 0) continue;
        long number = strtol(at + 4, &behind, 10);
        if (behind == at + 4 || number < 0 || number > PROGRAM_NAMES_MAX || strncmp(behind, " = loc(", 7) != 0)
            continue;
        while (python->definitions <= number) {
            if (!list_grow((void **)&python->definition, python->definitions, &python->room, sizeof(char *)))
                return false;
            python->definition[python->definitions++] = NULL;
        }
        python->definition[number] = behind + 7;
    }
    return true;
}

/* Follows the innermost frame of a location to `"file":12:3`. False: it names none, or a gradient's, whose tensors are
 * sharded as those that they are of. */
static bool place_of(const Python *python, const ProgramOp *op, Place *out) {
    const char *at = op->end;
    while (at > op->begin && strncmp(at, "loc(", 4) != 0) at--;
    at += 4;
    for (int depth = 0; at > op->begin + 4 && depth < PROGRAM_DEPTH_MAX; depth++) {
        size_t length = strcspn(at, "\n");
        if (memmem(at, length, "transpose(jvp", 13)) return false;
        const char *quote = *at == '"' ? memchr(at + 1, '"', length - 1) : NULL;
        if (quote && quote[1] == ':') {
            *out = (Place){{at, (int)(quote + 1 - at)}, strtol(quote + 2, NULL, 10)};
            return !memchr(at, '\\', (size_t)(quote - at));
        }
        const char *next = memmem(at, length, "#loc", 4);
        long number = next ? strtol(next + 4, NULL, 10) : -1;
        if (number < 0 || number >= python->definitions || !python->definition[number]) return false;
        at = python->definition[number];
    }
    return false;
}

static bool note(Python *python, const ProgramOp *op, Spec spec) {
    Row row = {.op = op, .spec = spec};
    const ProgramValue *value = python->program->value;
    if (!place_of(python, op, &row.place)) return true;
    for (int64_t i = 0; i < python->rows; i++) {
        Row *other = &python->row[i];
        if (other->place.line == row.place.line && other->place.file.at == row.place.file.at &&
            type_same(&value[other->op->result].type, &value[op->result].type) && piece_same(op->name, other->op->name))
            return other->others += other->spec != spec, true;
    }
    if (!list_grow((void **)&python->row, python->rows, &python->row_room, sizeof row)) return false;
    python->row[python->rows++] = row;
    return true;
}

static void write_sharding(const Python *python, int rank, Spec spec) {
    const LogicalMesh *mesh = &python->best->mesh;
    char text[SPEC_TEXT_SIZE];
    if (!python->torch) {
        fprintf(python->out, "P%s", spec_text(mesh, rank, spec, false, text));
        return;
    }
    for (int a = 0; a < mesh->axes; a++) {
        int d = spec_dimension(spec, a);
        fputs(a ? ", " : "(", python->out);
        fprintf(python->out, d < 0 ? "Replicate()" : "Shard(%d)", d);
    }
    fputs(mesh->axes == 1 ? ",)" : ")", python->out);
}

static void write_mesh(const Python *python, const Mesh *physical) {
    const LogicalMesh *mesh = &python->best->mesh;
    char sizes[32 * LOGICAL_MAX] = "", names[8 * LOGICAL_MAX] = "";
    for (int64_t i = 0; i < physical->devices; i++)
        fprintf(python->out, i ? ", %lld" : "order = [%lld", (long long)mesh_chip(physical, mesh, i));
    for (int a = 0; a < mesh->axes; a++) {
        size_t length = strlen(sizes);
        snprintf(sizes + length, sizeof sizes - length, "%lld, ", (long long)mesh->size[a]);
        snprintf(names + 5 * a, sizeof names - 5 * (size_t)a, "\"%c\", ", 'x' + a);
    }
    fputs("]\n", python->out);
    fprintf(python->out, WORDS[python->torch].mesh, sizes, names);
}

static void write_lists(const Python *python, const Flow *flow) {
    FILE *out = python->out;
    fputs("arguments = [\n", out);
    for (int64_t i = 0; i < python->program->entries; i++) { /* the first nodes are the arguments */
        const TensorType *type = &flow->node[i].type;
        Piece label = python->program->entry[i].label;
        char name[PROSE_NAME_SIZE], clean[PROSE_NAME_SIZE];
        snprintf(name, sizeof name, "%.*s", label.length < 100 ? label.length : 100, label.length ? label.at : "");
        fputs("    ", out);
        write_sharding(python, type->rank, python->best->spec[i]);
        fprintf(out, ",  # %lld %s %.*s\n", (long long)i, clean_name(name, clean), type->text.length, type->text.at);
    }
    fprintf(out, "]\n%s%sconstraints = [\n", WORDS[python->torch].arguments, WORDS[python->torch].constraints);
    for (int64_t i = 0; i < python->rows; i++) {
        const Row *row = &python->row[i];
        const TensorType *type = &python->program->value[row->op->result].type;
        fprintf(out, "    (%.*s, %ld, \"%.*s\", \"%.*s\", ", row->place.file.length, row->place.file.at,
                row->place.line, row->op->name.length, row->op->name.at, type->text.length, type->text.at);
        write_sharding(python, type->rank, row->spec);
        fputs("),", out);
        if (row->others) fprintf(out, "  # %d more of this line are sharded otherwise", row->others);
        fputc('\n', out);
    }
    fprintf(out, "]%s\n",
            python->definitions ? "" : "  # the text names no lines: lower(...).as_text(debug_info=True)");
}

bool program_write_python(const ProgramQuestion *question, const ProgramAnswer *answer, bool torch, FILE *out,
                          Error *error) {
    Python python = {.program = question->program, .best = &answer->choice[answer->best], .torch = torch, .out = out};
    const Flow *flow = &answer->flow;
    bool ok = find_definitions(&python);
    for (int64_t i = 0; i < flow->nodes && ok; i++)
        ok = flow->node[i].op < 0 || note(&python, &question->program->op[flow->node[i].op], python.best->spec[i]);
    if (ok) {
        fputs(WORDS[torch].head, out);
        write_mesh(&python, &question->machine.mesh);
        write_lists(&python, flow);
    }
    free(python.definition);
    free(python.row);
    return ok || error_memory(error);
}
