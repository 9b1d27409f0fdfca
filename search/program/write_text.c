/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/text/prose.h"
#include "base/text/table.h"
#include "base/util.h"
#include "search/program/write.h"

#include <string.h>

const char *spec_text(const LogicalMesh *mesh, int rank, Spec spec, bool shardy, char text[SPEC_TEXT_SIZE]) {
    size_t used = 0;
    text[used++] = shardy ? '[' : '(';
    for (int d = 0; d < rank; d++) {
        char axes[3 * 8] = "";
        int count = 0;
        size_t length = 0;
        for (int a = 0; a < mesh->axes; a++)
            if (spec_dimension(spec, a) == d)
                length += (size_t)snprintf(axes + length, sizeof axes - length, "%s%c%c%c", count++ ? ", " : "",
                                           shardy ? '"' : '\'', 'x' + a, shardy ? '"' : '\'');
        used += (size_t)snprintf(text + used, SPEC_TEXT_SIZE - used,
                                 shardy      ? "%s{%s}"
                                 : count > 1 ? "%s(%s)"
                                             : "%s%s",
                                 d > 0 ? ", " : "", count || shardy ? axes : "None");
    }
    snprintf(text + used, SPEC_TEXT_SIZE - used, shardy ? "]" : rank == 1 ? ",)" : ")");
    return text;
}

/* "x=4 y=4 (x along torus x; y along torus y)" */
static void mesh_words(const ProgramQuestion *question, const LogicalMesh *mesh, Prose *prose) {
    const Mesh *physical = &question->machine.mesh;
    for (int a = 0; a < mesh->axes; a++) prose_item(prose, " ", "%c=%lld", 'x' + a, (long long)mesh->size[a]);
    for (int a = 0; a < mesh->axes; a++) {
        bool any = false;
        prose_add(prose, a > 0 ? "; %c along" : " (%c along", 'x' + a);
        for (int p = 0; p < physical->axis_count; p++) {
            const Span *span = &mesh->footprint[a].on[p];
            if (span->factor <= 1) continue;
            bool torus = physical->axes[p].level == LEVEL_ICI;
            prose_add(prose, any ? " and %s%s" : " %s%s", torus ? "torus " : "", physical->axes[p].name);
            if (span->factor != physical->axes[p].size) prose_add(prose, " %lld", (long long)span->factor);
            if (span->stride > 1) prose_add(prose, " every %lld", (long long)span->stride);
            any = true;
        }
    }
    prose_add(prose, ")");
}

static void sent_words(const Tally *tally, Prose *prose) {
    char bytes[NUMBER_TEXT_SIZE], seconds[NUMBER_TEXT_SIZE];
    for (int op = 0; op < COLLECTIVE_COUNT; op++)
        if (tally->bytes[op] > 0)
            prose_item(prose, ", ", "%s %s in %s", collective_name((Collective)op),
                       number_bytes(tally->bytes[op], bytes), number_time(tally->seconds[op], seconds));
}

static double sent(const Tally *tally) {
    double bytes = 0;
    for (int op = 0; op < COLLECTIVE_COUNT; op++) bytes += tally->bytes[op];
    return bytes;
}

/* "dot_general, sort": operations without a rule, each named once; returns how many there are. */
static int unruled_words(const ProgramQuestion *question, const Flow *flow, Prose *line) {
    const Program *program = question->program;
    int count = 0;
    for (int64_t i = 0; i < flow->nodes; i++) {
        if (!flow->node[i].whole || flow->node[i].op < 0) continue;
        const ProgramOp *op = &program->op[flow->node[i].op];
        Piece name = op->symbol.length ? op->symbol : op->name;
        char word[80], clean[PROSE_NAME_SIZE];
        snprintf(word, sizeof word, "%.*s", name.length < 60 ? name.length : 60, name.at);
        if (!strstr(line->text, clean_name(word, clean))) prose_item(line, ", ", "%s", clean);
        count++;
    }
    return count;
}

/* The line that stands below: what is not known of them. */
static void write_whole(const ProgramQuestion *question, const Flow *flow, TextOut out) {
    Prose line = {0}, all = {0};
    int count = unruled_words(question, flow, &line);
    if (count == 0) return;
    prose_add(&all, "no rule, so that all their tensors are whole on every chip: %s (%d)", line.text, count);
    prose_write(out, "  ", "  ", all.text);
}

static void write_choice(const ProgramQuestion *question, const ProgramAnswer *answer, TextOut out) {
    const ProgramChoice *best = &answer->choice[answer->best];
    char text[NUMBER_TEXT_SIZE], limit[NUMBER_TEXT_SIZE], most[NUMBER_TEXT_SIZE];
    Prose line = {0};
    Prose unruled = {0};
    int unpriced = unruled_words(question, &answer->flow, &unruled);
    prose_add(&line, "%s", step_text(best->seconds, text));
    if (unpriced > 0)
        prose_add(&line, " and what %s takes (%d operation%s without a rule: not priced)", unruled.text, unpriced,
                  unpriced == 1 ? "" : "s");
    if (answer->proven && unpriced > 0)
        prose_add(&line, "; of the rest no sharding on any of %d meshes takes less, with these whole on every chip",
                  answer->meshes.count);
    else if (answer->proven)
        prose_add(&line, ", proven: no sharding on any of %d meshes takes less", answer->meshes.count);
    else
        prose_add(&line, "; no sharding takes less than %s (gap %.1f%%)", step_text(answer->bound, limit),
                  100 * (1 - answer->bound / best->seconds));
    prose_write(out, "  step    ", "          ", line.text);
    line = (Prose){0};
    mesh_words(question, &best->mesh, &line);
    prose_write(out, "  mesh    ", "          ", line.text);
    line = (Prose){0};
    prose_add(&line, "%s a chip", number_bytes(sent(&best->tally), text));
    if (sent(&best->tally) > 0) prose_add(&line, ": ");
    Prose parts = {0};
    sent_words(&best->tally, &parts);
    prose_add(&line, "%s; work %s", parts.text, number_time(best->tally.work_seconds, limit));
    prose_write(out, "  sends   ", "          ", line.text);
    line = (Prose){0};
    prose_add(&line, "%s of %s, buffers as a compiler fuses them; it may take up to %s",
              number_bytes(best->peak_bytes, text), number_bytes(question->priced.hbm_bytes, limit),
              number_bytes(best->peak_most_bytes, most));
    if (answer->may_exceed) prose_add(&line, ", which does not fit: no sharding is sure to");
    prose_write(out, "  memory  ", "          ", line.text);
}

static void write_references(const ProgramAnswer *answer, TextOut out) {
    const ProgramChoice *best = &answer->choice[answer->best];
    char text[NUMBER_TEXT_SIZE], bytes[NUMBER_TEXT_SIZE], peak[NUMBER_TEXT_SIZE];
    for (int r = 0; r < REFERENCE_COUNT; r++) {
        const ProgramChoice *reference = &answer->reference[r];
        if (!reference->found) continue;
        Prose line = {0};
        prose_add(&line, "%s takes %s (%+.1f%%), sends %s and holds %s, with its intermediate tensors at their best",
                  REFERENCE_NAMES[r], step_text(reference->seconds, text),
                  100 * (reference->seconds / best->seconds - 1), number_bytes(sent(&reference->tally), bytes),
                  number_bytes(reference->peak_bytes, peak));
        prose_write(out, "  ", "    ", line.text);
    }
}

/* "0, 21, 42 and 3 more", with the label of the first: the arguments from `first` on that are like it, *count of
 * them. */
static void alike_words(const Program *program, const ProgramAnswer *answer, int64_t first, int64_t *count,
                        Prose *prose) {
    enum { NAMED = 5 };
    const FlowNode *node = answer->flow.node; /* the first nodes are the arguments */
    const Spec *spec = answer->choice[answer->best].spec;
    *count = 0;
    for (int64_t i = first; i < program->entries; i++) {
        if (spec[i] != spec[first] || !type_same(&node[i].type, &node[first].type)) continue;
        if ((*count)++ < NAMED) prose_item(prose, ", ", "%lld", (long long)i);
    }
    if (*count > NAMED) prose_add(prose, " and %lld more", (long long)*count - NAMED);
    Piece label = program->entry[first].label;
    char name[PROSE_NAME_SIZE], clean[PROSE_NAME_SIZE];
    snprintf(name, sizeof name, "%.*s", label.length < 100 ? label.length : 100, label.length ? label.at : "");
    if (label.length) prose_add(prose, *count > 1 ? " (%s ...)" : " (%s)", clean_name(name, clean));
}

static bool is_first_of_kind(const ProgramAnswer *answer, int64_t at) {
    const FlowNode *node = answer->flow.node;
    const Spec *spec = answer->choice[answer->best].spec;
    for (int64_t i = 0; i < at; i++)
        if (spec[i] == spec[at] && type_same(&node[i].type, &node[at].type)) return false;
    return true;
}

/* A row for the arguments of one type and one sharding. */
static bool write_arguments(const ProgramQuestion *question, const ProgramAnswer *answer, Arena *arena, TextOut out) {
    const Program *program = question->program;
    const ProgramChoice *best = &answer->choice[answer->best];
    Table table = table_new(arena, "Arguments", "arguments|type|sharding|>a chip");
    char spec[SPEC_TEXT_SIZE], bytes[NUMBER_TEXT_SIZE];
    table_wrap(&table, 0, 44);
    for (int64_t first = 0; first < program->entries; first++) {
        const TensorType *type = &answer->flow.node[first].type;
        Prose names = {0};
        int64_t count;
        if (!is_first_of_kind(answer, first)) continue;
        alike_words(program, answer, first, &count, &names);
        table_cell(&table, "%s", names.text);
        table_cell(&table, "%.*s", type->text.length < 80 ? type->text.length : 80, type->text.at);
        table_cell(&table, "%s", spec_text(&best->mesh, type->rank, best->spec[first], false, spec));
        table_cell(
            &table, "%s",
            number_bytes((double)count * type_bytes(type) / (double)spec_ways(&best->mesh, best->spec[first]), bytes));
    }
    return table_write_text(&table, "  ", out);
}

bool program_write_text(const ProgramQuestion *question, const ProgramAnswer *answer, Arena *arena, TextOut out,
                        Error *error) {
    const Program *program = question->program;
    char ops[NUMBER_TEXT_SIZE], clean[PROSE_NAME_SIZE], excess[NUMBER_TEXT_SIZE], limit[NUMBER_TEXT_SIZE];
    Prose head = {0};
    prose_add(&head, "%s on %s of %s: %s operations, %lld arguments", clean_name(program->where, clean),
              question->machine.text, question->chip.title, number_grouped(answer->flow.steps, ops),
              (long long)program->entries);
    prose_write(out, "", "", head.text);
    if (answer->best < 0) {
        Prose line = {0};
        prose_add(&line, answer->infeasible ? "nothing fits into %s" : "nothing that fits into %s was found",
                  number_bytes(question->priced.hbm_bytes, limit));
        if (answer->least_peak > 0)
            prose_add(&line, "; the least that every tensor needs is %s more",
                      number_bytes(answer->least_peak, excess));
        prose_write(out, "  ", "  ", line.text);
        return true;
    }
    write_choice(question, answer, out);
    write_references(answer, out);
    write_whole(question, &answer->flow, out);
    if (answer->flow.unknown_trips)
        prose_write(out, "  ", "  ", "a loop does not say how often it runs: its body counts once");
    fputc('\n', out.file);
    return write_arguments(question, answer, arena, out) || error_memory(error);
}
