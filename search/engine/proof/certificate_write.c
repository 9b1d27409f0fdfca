/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The certificate as a file: every degree tuple judged once more, block by block in parallel, written in order. */
#include "base/build.h"
#include "base/threads.h"
#include "search/engine/proof/certificate.h"

#include "base/util.h"

#include <inttypes.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 4096, PARTS = 2 };

/* A line to be. */
typedef struct {
    TupleBatches entry; /* bound: of its degrees */
    TupleVerdict verdict;
    Count placements, plans;
    int64_t orders;
} Line;

typedef struct {
    const SearchRecord *record;
    const SearchLog *search_log;
    TupleList tuples;        /* the sites once more, one of them listed */
    ExpandedTuple *expanded; /* of the search log, in the order of lines */
    FILE *out;
    TotalsCache **caches; /* per thread */
    int threads;
    Line (*lines)[PARTS];    /* of one block */
    int parts[BLOCK];        /* how many each of its tuples has */
    int64_t next;            /* of the expanded tuples, in the order of lines */
    Count plans, evaluated;  /* so far */
    Count cut[PRUNED_COUNT]; /* likewise */
} Writer;

/* ---- head ---- */

static void write_seconds(FILE *out, const char *what, int number, double seconds) {
    fprintf(out, "# %s\t%d\t%.17g\t%a\n", what, number, seconds, seconds);
}

static void write_machine(const Writer *writer, int index) {
    const SearchedMachine *searched = &writer->record->result->machines[index];
    const Mesh *mesh = &searched->machine.mesh;
    char count[COUNT_TEXT_SIZE];
    fprintf(writer->out, "# machine\t%d\t%s\t%" PRId64 "\t%" PRId64 "\t%s\t", index, searched->machine.text,
            mesh->devices, searched->degree_tuples, count_text(searched->factorizations, false, count));
    for (int a = 0; a < mesh->axis_count; a++)
        fprintf(writer->out, "%s%s=%" PRId64 " %s", a ? "," : "", mesh->axes[a].name, mesh->axes[a].size,
                axis_kind_name(mesh->axes[a].kind));
    fputc('\n', writer->out);
}

static void write_head(const Writer *writer) {
    const SearchRecord *record = writer->record;
    const Request *request = record->request;
    const Certificate *certificate = &record->result->certificate;
    char text[COUNT_TEXT_SIZE], hash[SHA256_HEX_SIZE];
    FILE *out = writer->out;
    profile_sha256(&request->question.profile, hash);
    fprintf(out, "# shardopt certificate\t1\n# program\t%s\n# compiler\t%s\n# flags\t%s\n", program_version(),
            program_compiler(), program_flags());
    fprintf(out, "# data_sha256\t%s\n# profile_sha256\t%s\n# roles", record->data_sha256, hash);
    for (int i = 0; i < ROLE_COUNT; i++)
        if (request->space.roles >> request->space.nesting.order[i] & 1)
            fprintf(out, "\t%s", role_name(request->space.nesting.order[i]));
    fprintf(out, "\n# sequences\t%" PRId64 "\n", request->question.work.sequences);
    for (int i = 0; i < certificate->machines; i++) write_machine(writer, i);
    fprintf(out, "# plans_covered\t%s\n", count_text(certificate->plans_covered, false, text));
    fprintf(out, "# plans_evaluated\t%s\n", count_text(certificate->plans_evaluated, false, text));
    for (int i = 0; i < PRUNED_COUNT; i++)
        fprintf(out, "# plans_pruned\t%s\t%s\n", prune_reason_name((PruneReason)i),
                count_text(certificate->plans_pruned[i], false, text));
    for (int i = 0; i < record->result->plan_count; i++)
        write_seconds(out, "plan", i + 1, record->result->plans[i].ranked_seconds);
    write_seconds(out, "threshold", request->control.top, certificate->threshold);
    write_seconds(out, "cut_above", request->control.top, writer->search_log->beaten);
    for (int i = 0; i < ROLE_COUNT; i++) fprintf(out, "%s%s", i ? "\t" : "machine\tmachines\t", role_name((Role)i));
    fputs(
        "\tsequences_least\tsequences_most\tbatches\tplacements\tknobs\torders\tplans\tbound\treason\tleft\tevaluated",
        out);
    for (int i = 0; i < PRUNED_COUNT; i++) fprintf(out, "\t%s", prune_reason_name((PruneReason)i));
    fputs("\tbest\n", out);
}

/* ---- lines ---- */

static void judge_block(Writer *writer, int group, int64_t from, int count) {
    const TupleList *tuples = &writer->tuples;
#pragma omp parallel for schedule(dynamic, 64) num_threads(writer->threads)
    for (int i = 0; i < count; i++) {
        TupleBatches entries[PARTS];
        writer->parts[i] = tuple_batches_of(tuples, group, from + i, entries);
        for (int part = 0; part < writer->parts[i]; part++) {
            Line *line = &writer->lines[i][part];
            line->entry = entries[part];
            line->verdict = tuple_batches_judge(tuples, &line->entry, writer->caches[omp_get_thread_num()]);
            line->plans = tuple_batches_plans(tuples, &line->entry);
            line->placements = tuple_batches_placements(tuples, &line->entry);
            line->orders = tuple_batches_orders(tuples, &line->entry);
        }
    }
}

/* The order of lines. */
static int compare_expanded(const void *a, const void *b) {
    const ExpandedTuple *x = a, *y = b;
    if (x->group != y->group) return x->group < y->group ? -1 : 1;
    int order = degrees_compare(&x->degrees, &y->degrees); /* as degrees_enumerate() has them */
    if (order != 0) return order;
    return (x->first > y->first) - (x->first < y->first);
}

/* The expanded tuple that a line is of, or NULL. */
static const ExpandedTuple *take_expanded(Writer *writer, const TupleBatches *entry) {
    if (writer->next == writer->search_log->count) return NULL;
    const ExpandedTuple *expanded = &writer->expanded[writer->next];
    const Degrees *degrees = &writer->tuples.groups[entry->group].degrees[entry->tuple];
    if (expanded->group != entry->group || expanded->first != entry->first ||
        degrees_compare(&expanded->degrees, degrees) != 0)
        return NULL;
    writer->next++;
    return expanded;
}

static void write_expanded(Writer *writer, double bound, const ExpandedTuple *expanded) {
    char text[COUNT_TEXT_SIZE];
    fprintf(writer->out, "%a\topened\t%a\t%s", bound, expanded->left, count_text(expanded->evaluated, false, text));
    writer->evaluated += expanded->evaluated;
    for (int i = 0; i < PRUNED_COUNT; i++) {
        fprintf(writer->out, "\t%s", count_text(expanded->pruned[i], false, text));
        writer->cut[i] += expanded->pruned[i];
    }
    fprintf(writer->out, "\t%a\n", expanded->best_seconds);
}

static void write_line(Writer *writer, const Line *line) {
    const SearchLog *search_log = writer->search_log;
    const TupleBatches *entry = &line->entry;
    const Degrees *degrees = &writer->tuples.groups[entry->group].degrees[entry->tuple];
    char placements[COUNT_TEXT_SIZE], knobs[COUNT_TEXT_SIZE], plans[COUNT_TEXT_SIZE];
    const DeviceCountGroup *group = &writer->tuples.groups[entry->group];
    fprintf(writer->out, "%d\t%d", group->first, group->shape_count);
    for (int i = 0; i < ROLE_COUNT; i++) fprintf(writer->out, "\t%" PRId64, degrees->of[i]);
    fprintf(writer->out, "\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t%s\t%s\t%" PRId64 "\t%s\t",
            tuple_batches_sequences(&writer->tuples, entry, entry->first),
            tuple_batches_sequences(&writer->tuples, entry, entry->last), entry->last - entry->first + 1,
            count_text(line->placements, false, placements),
            count_text(line->plans / line->placements / (Count)line->orders, false, knobs), line->orders,
            count_text(line->plans, false, plans));
    writer->plans += line->plans;
    const ExpandedTuple *expanded = line->verdict.out ? NULL : take_expanded(writer, entry);
    if (expanded) {
        write_expanded(writer, entry->bound, expanded);
        return;
    }
    bool beaten = entry->bound > search_log->beaten;
    PruneReason reason = line->verdict.out                  ? line->verdict.reason
                         : search_log->timed_out && !beaten ? PRUNED_TIME_LIMIT
                                                            : PRUNED_DEGREE_BOUND;
    writer->cut[reason] += line->plans;
    if (line->verdict.out)
        fprintf(writer->out, "-\t%s\n", prune_reason_name(reason));
    else
        fprintf(writer->out, "%a\t%s\n", entry->bound, prune_reason_name(reason));
}

/* Whether the lines add up to what the search said; else one of them is wrong. */
static bool check_sums(const Writer *writer, Error *error) {
    const Certificate *certificate = &writer->record->result->certificate;
    bool same = writer->plans == certificate->plans_covered && writer->evaluated == certificate->plans_evaluated &&
                writer->next == writer->search_log->count &&
                memcmp(writer->cut, certificate->plans_pruned, sizeof writer->cut) == 0;
    return same || error_set(error, ERROR_INTERNAL, "certificate", "its lines do not add up to what was searched");
}

static bool write_body(Writer *writer, Error *error) {
    for (int group = 0; group < writer->tuples.group_count; group++) {
        if (!tuple_list_whole_group(&writer->tuples, group, error)) return false;
        int64_t total = writer->tuples.groups[group].count;
        for (int64_t from = 0; from < total; from += BLOCK) {
            int count = (int)min_whole(BLOCK, total - from);
            judge_block(writer, group, from, count);
            for (int i = 0; i < count; i++)
                for (int part = 0; part < writer->parts[i]; part++) write_line(writer, &writer->lines[i][part]);
            if (ferror(writer->out)) return error_set(error, ERROR_IO, "certificate", "could not be written");
        }
    }
    return check_sums(writer, error);
}

bool certificate_write(const SearchRecord *record, FILE *out, Error *error) {
    const SearchLog *search_log = record->result->search_log;
    if (!search_log) return error_set(error, ERROR_INTERNAL, "certificate", "the search kept no search log for it");
    Arena arena = {0};
    Writer *writer = calloc(1, sizeof *writer);
    if (!writer) return error_memory(error);
    int threads = threads_usable(record->request->control.threads);
    *writer = (Writer){.record = record, .search_log = search_log, .out = out, .threads = threads};
    writer->lines = calloc(BLOCK, sizeof *writer->lines);
    writer->caches = calloc((size_t)threads, sizeof *writer->caches);
    size_t expanded = (size_t)search_log->count;
    writer->expanded = malloc((expanded + 1) * sizeof(ExpandedTuple));
    bool ok = writer->lines && writer->caches && writer->expanded;
    if (ok && expanded > 0) {
        memcpy(writer->expanded, search_log->expanded, expanded * sizeof(ExpandedTuple));
        qsort(writer->expanded, expanded, sizeof(ExpandedTuple), compare_expanded);
    }
    for (int i = 0; ok && i < threads; i++) ok = (writer->caches[i] = totals_cache_new()) != NULL;
    if (!ok) error_memory(error);
    ok = ok && tuple_list_make(record->request, 1, &arena, &writer->tuples, error);
    if (ok) write_head(writer);
    ok = ok && write_body(writer, error);
    for (int i = 0; writer->caches && i < threads; i++) totals_cache_free(writer->caches[i]);
    tuple_list_free(&writer->tuples);
    arena_free(&arena);
    free(writer->expanded);
    free(writer->caches);
    free(writer->lines);
    free(writer);
    return ok;
}
