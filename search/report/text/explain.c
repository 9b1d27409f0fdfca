/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One plan in full: every op, every group that communicates, memory at every moment, the layout. */
#include "search/report/report.h"

#include "base/text/table.h"
#include "base/util.h"
#include "cost/stage/memory_detail.h"
#include "search/launch/launcher.h"
#include "search/report/op_rows.h"
#include "search/report/text/parts.h"

#include <assert.h>
#include <math.h>

/* Writes the table, which ends with its arena. */
static bool finish(const Table *table, TextOut out) {
    bool ok = table_write_text(table, "  ", out);
    arena_free(table->arena);
    return ok;
}

/* What stands under the ops: what a kernel alone is, and how well the forms know those that are named. */
static void write_alone(const OpRow *rows, int count, TextOut out) {
    Prose text = {0};
    const Kernel *named[KERNEL_OP_COUNT] = {NULL};
    for (int i = 0; i < count; i++) {
        const Kernel *kernel = rows[i].kernel;
        if (!kernel || named[kernel->op]) continue;
        named[kernel->op] = kernel;
        prose_item(&text, "; ", "%s by %s (%s, %s; off by %.0f%% in the median)",
                   kernel->op == KERNEL_MATMUL ? "matmuls" : "attention", kernel->name, kernel->library, kernel->chip,
                   100 * kernel->median);
    }
    if (text.used == 0) return;
    Prose whole = {0};
    prose_add(
        &whole,
        "Kernel alone: the fastest forward of that size as measured by itself, at boost clock and without gaps: %s.",
        text.text);
    prose_write(out, "  ", "  ", whole.text);
}

static bool write_ops(const Request *request, const RankedPlan *ranked, TextOut out, Error *error) {
    Arena arena = {0};
    int count = 0;
    const OpRow *rows = op_rows(request, ranked, &arena, &count, error);
    if (!rows) return arena_free(&arena), false;
    fputs("\nOps of the fullest stage on one chip, over one step (without recomputation):\n", out.file);
    Table table =
        table_new(&arena, NULL, "op|>forward|>backward|>FLOPs|>bytes|>FLOP/s|>of peak|>kernel alone|bound by");
    for (int i = 0; i < count; i++) {
        const EstimatePart *part = rows[i].part;
        char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE], c[NUMBER_TEXT_SIZE], d[NUMBER_TEXT_SIZE], e[NUMBER_TEXT_SIZE];
        bool counts = rows[i].flops_per_second > 0;
        table_cell(&table, "%s", part->name);
        table_cell(&table, "%s", step_text(part->forward_seconds, a));
        table_cell(&table, "%s", step_text(part->backward_seconds, b));
        table_cell(&table, "%s", part->flops > 0 ? number_short(part->flops, c) : "-");
        table_cell(&table, "%s", number_bytes(part->hbm_bytes, d));
        table_cell(&table, "%s", counts ? rate_text(rows[i].flops_per_second, "FLOP", e) : "-");
        table_cell(&table, counts ? "%.0f%%" : "-", 100 * rows[i].peak_share);
        table_cell(&table, "%s", rows[i].kernel ? rate_text(rows[i].kernel_flops_per_second, "FLOP", e) : "-");
        table_cell(&table, "%s", rows[i].bound_by);
    }
    bool ok = table_write_text(&table, "  ", out) || error_memory(error);
    write_alone(rows, count, out);
    arena_free(&arena);
    return ok;
}

static const char *const GROUP_NAMES[GROUP_COUNT] = {
    [GROUP_TENSOR] = "tensor: activations",
    [GROUP_EXPERT_TENSOR] = "expert_tensor: tokens",
    [GROUP_EXPERT] = "expert: tokens",
    [GROUP_SEQUENCE] = "sequence: keys, values",
    [GROUP_ULYSSES] = "sequence: heads",
    [GROUP_PIPELINE] = "pipeline: stream",
    [GROUP_WEIGHTS] = "weights, gradients",
    [GROUP_EXPERT_WEIGHTS] = "expert weights",
    [GROUP_TENSOR_WEIGHTS] = "weights over tensor",
    [GROUP_DATA] = "data: gradients",
    [GROUP_EXPERT_DATA] = "data: expert gradients",
};

static bool write_groups(const RankedPlan *ranked, TextOut out) {
    const Estimate *estimate = &ranked->estimate;
    fputs("\nCommunication. Bytes and messages are of one microbatch, forward / backward (over data: of one step, "
          "start / "
          "end).\nBytes are of the whole array (of a ring of keys and values: what one chip passes on); seconds are of "
          "the whole step:\n",
          out.file);
    enum { SPANS = 2, SPANS_COLUMNS = 34 };
    Arena arena = {0};
    Table table = table_new(&arena, NULL, "group|>chips|spans|>bytes|>messages|>step|>exposed");
    table_wrap(&table, SPANS, SPANS_COLUMNS);
    for (int i = 0; i < GROUP_COUNT; i++) {
        Group group = (Group)i;
        if (estimate->time.group_seconds[i] <= 0) continue;
        char chips[NUMBER_TEXT_SIZE], bytes_text[2 * NUMBER_TEXT_SIZE + 4], messages_text[64], step[NUMBER_TEXT_SIZE],
            exposed[NUMBER_TEXT_SIZE];
        char lies[WORDS_SIZE], number[2][NUMBER_TEXT_SIZE];
        Traffic first = group_traffic(estimate, group, PHASE_FORWARD);
        Traffic second = group_traffic(estimate, group, PHASE_BACKWARD);
        NestedMesh nested_mesh = {&ranked->machine.mesh, ranked->nesting};
        const Methods *methods = &ranked->plan.knobs.methods;
        Footprint footprint = group_footprint(&nested_mesh, &ranked->plan.placement, group, methods);
        Prose words = {0};
        footprint_words(&ranked->machine.mesh, &footprint, &words);
        snprintf(lies, sizeof lies, "%.*s", (int)sizeof lies - 1, words.text);
        snprintf(bytes_text, sizeof bytes_text, "%s / %s", number_bytes(first.bytes, number[0]),
                 number_bytes(second.bytes, number[1]));
        snprintf(messages_text, sizeof messages_text, "%.6g / %.6g", first.messages, second.messages);
        const char *cells[] = {GROUP_NAMES[i],
                               number_grouped(group_degree(group, &ranked->plan.degrees, methods), chips),
                               lies,
                               bytes_text,
                               messages_text,
                               step_text(estimate->time.group_seconds[i], step),
                               step_text(estimate->time.group_exposed_seconds[i], exposed)};
        table_row(&table, cells);
    }
    bool ok = finish(&table, out);

    char seconds[NUMBER_TEXT_SIZE];
    Prose busy = {0};
    for (int a = 0; a < ranked->machine.mesh.axis_count; a++)
        prose_item(&busy, ", ", "%s %s", ranked->machine.mesh.axes[a].name,
                   step_text(estimate->time.axis_seconds[a], seconds));
    if (estimate->time.pcie_seconds > 0)
        prose_item(&busy, ", ", "PCIe %s", step_text(estimate->time.pcie_seconds, seconds));
    Prose line = {0};
    if (busy.used > 0)
        prose_add(&line, "In a step of %s, links are busy for: %s.", step_text(estimate->time.seconds, seconds),
                  busy.text);
    else
        prose_add(&line, "There is one chip, so nothing is communicated.");
    prose_write(out, "  ", "  ", line.text);
    return ok;
}

enum { MOMENT_COLUMNS = 32 };

static bool write_memory(const Request *request, const RankedPlan *ranked, TextOut out) {
    bool stages = ranked->plan.degrees.of[ROLE_PIPELINE] > 1;
    CostContext setting = ranked_cost_context(request, ranked);
    char limit[NUMBER_TEXT_SIZE], reserve[NUMBER_TEXT_SIZE];
    fprintf(out.file, "\nHBM at each moment that may be the peak (limit %s, %s reserved; > marks the peak):\n",
            number_bytes(ranked->estimate.memory_limit_bytes, limit),
            number_bytes(ranked->estimate.reserve_bytes, reserve));
    Arena arena = {0};
    Table table = table_new(&arena, NULL,
                            "at|>parameters|>gradients|>optimizer|>activations|>gathered|>logits|>transients|>total");
    table_wrap(&table, 0, MOMENT_COLUMNS);
    for (int i = 0; i < MOMENT_COUNT; i++) {
        if (i == MOMENT_LAST_BACKWARD && !stages) continue; /* the first stage's */
        MemoryRows rows;
        double total = plan_memory(&setting, &ranked->estimate.shard, &ranked->plan, (Moment)i, &rows);
        const double bytes[] = {
            rows.parameters_bytes, rows.gradients_bytes, rows.optimizer_bytes, rows.activations_bytes,
            rows.gathered_bytes,   rows.logits_bytes,    rows.transient_bytes, total};
        char texts[COUNT_OF(bytes)][NUMBER_TEXT_SIZE], name[64];
        const char *cells[1 + COUNT_OF(bytes)] = {name};
        snprintf(name, sizeof name, "%s%s", i == (int)ranked->estimate.moment ? "> " : "",
                 moment_text((Moment)i, stages));
        for (size_t j = 0; j < COUNT_OF(bytes); j++) cells[1 + j] = number_bytes(bytes[j], texts[j]);
        table_row(&table, cells);
    }
    return finish(&table, out);
}

/* What the rows at the peak are made of, a row to a line. */
static void write_memory_parts(const Request *request, const RankedPlan *ranked, TextOut out) {
    MemoryPart parts[MEMORY_PARTS_MAX];
    double in_flight;
    int count = peak_parts(request, ranked, parts, &in_flight);
    fputs("\nThe peak, part by part:\n", out.file);
    for (int i = 0; i < count;) {
        MemoryRow row = parts[i].row;
        char bytes[NUMBER_TEXT_SIZE], first[24];
        Prose line = {0};
        for (; i < count && parts[i].row == row; i++) {
            char name[48];
            size_t length = (size_t)snprintf(name, sizeof name, "%s", parts[i].name);
            for (size_t c = 0; c < length; c++)
                if (name[c] == '_') name[c] = ' ';
            prose_item(&line, ", ", "%s %s", name, number_bytes(parts[i].bytes, bytes));
        }
        if (row == MEMORY_ACTIVATIONS) prose_add(&line, " (%.3g microbatches in flight)", in_flight);
        snprintf(first, sizeof first, "  %-12s", memory_row_name(row));
        prose_write(out, first, "              ", line.text);
    }
}

static bool write_layout(const Request *request, const RankedPlan *ranked, TextOut out) {
    LayoutRow rows[LAYOUT_ROWS_MAX];
    int count = layout_rows(&request->question.model, &ranked->plan, rows);
    fputs("\nLayout (dimensions as in a JAX PartitionSpec; activations: sequences, tokens, width; layers of the "
          "fullest stage):\n",
          out.file);
    Arena arena = {0};
    Table table = table_new(&arena, NULL, "tensor|sharding|state|>layers");
    for (int i = 0; i < count; i++) {
        char layers[NUMBER_TEXT_SIZE];
        const char *cells[] = {rows[i].tensor, rows[i].sharding, rows[i].state, number_grouped(rows[i].layers, layers)};
        table_row(&table, cells);
    }
    return finish(&table, out);
}

/* "+12 ms", "-3.1 GB", "0": what a choice adds. */
static const char *signed_text(double value, const char *(*words)(double, char *), char *text, size_t size) {
    char number[NUMBER_TEXT_SIZE];
    snprintf(text, size, "%s%s", value > 0 ? "+" : value < 0 ? "-" : "", words(fabs(value), number));
    return text;
}

static const char *bytes_words(double value, char *text) { return number_bytes(value, text); }
static const char *step_words(double value, char *text) { return value == 0 ? "0" : step_text(value, text); }

static bool write_effects(const Request *request, const RankedPlan *ranked, TextOut out) {
    LayoutEffect effects[LAYOUT_EFFECTS_MAX];
    int count = layout_effects(request, ranked, effects);
    if (count == 0) return true;
    fputs("\nWhat each choice of the layout adds to the step and to peak HBM, compared with the default, all else "
          "equal:\n",
          out.file);
    Arena arena = {0};
    Table table = table_new(&arena, NULL, "choice|is|in place of|>layers|>step|>HBM|without it");
    for (int i = 0; i < count; i++) {
        const LayoutEffect *effect = &effects[i];
        char layers[NUMBER_TEXT_SIZE], step[NUMBER_TEXT_SIZE + 1], bytes[NUMBER_TEXT_SIZE + 1];
        bool alone = !effect->bound_to_others;
        const char *cells[] = {effect->of,
                               effect->chosen,
                               effect->instead,
                               effect->layers > 0 ? number_grouped(effect->layers, layers) : "",
                               alone ? signed_text(effect->seconds, step_words, step, sizeof step) : "",
                               alone ? signed_text(-effect->freed_bytes, bytes_words, bytes, sizeof bytes) : "",
                               !alone                 ? "not possible"
                               : effect->fits_without ? "fits"
                                                      : "does not fit"};
        table_row(&table, cells);
    }
    return finish(&table, out);
}

static void knobs_sentence(const Degrees *degrees, const Knobs *knobs, Prose *text) {
    const Methods *methods = &knobs->methods;
    if (knobs->schedule != SCHEDULE_NONE) {
        prose_add(text, ", schedule %s", schedule_name(knobs->schedule));
        if (knobs->virtual_stages > 1) prose_add(text, " with %lld chunks a stage", (long long)knobs->virtual_stages);
        if (knobs->stages == STAGES_BALANCED) prose_add(text, ", stages balanced with the logits");
        if (knobs->stages == STAGES_SLOTS)
            prose_add(text, ", stages with a slot for the embedding and one for the logits");
    }
    if (degrees->of[ROLE_DATA] > 1 || methods->sequence_replicates)
        prose_add(text, ", ZeRO-%d over %s", knobs->zero_stage,
                  !methods->sequence_replicates ? "data"
                  : degrees->of[ROLE_DATA] > 1  ? "data and sequence"
                                                : "sequence");
    if (methods->context != CONTEXT_NONE) prose_add(text, ", context by %s", context_method_name(methods->context));
    if (methods->context == CONTEXT_ULYSSES_RING) prose_add(text, " (heads over %lld)", (long long)methods->ulysses);
    if (methods->tensor_overlap) prose_add(text, ", tensor collectives overlapped");
    if (degrees->of[ROLE_FSDP] > 1)
        prose_add(text, ", weights %s",
                  knobs->regather ? "gathered again for backward" : "kept from forward to backward");
    if (knobs->offload_optimizer) prose_add(text, ", optimizer state on the host");
}

static void write_plan(const Request *request, const RankedPlan *ranked, TextOut out) {
    const Knobs *knobs = &ranked->plan.knobs;
    char notation[NOTATION_SIZE], a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE], words[WORDS_SIZE];
    char remat[REMAT_TEXT_SIZE];
    Prose text = {0};
    prose_add(&text, "Plan: %s; ", plan_notation(&ranked->plan.degrees, &ranked->plan.knobs, false, notation));
    prose_add(&text, "%s microbatch%s of %s sequence%s", number_grouped(knobs->microbatches, a),
              knobs->microbatches == 1 ? "" : "es", number_grouped(knobs->microbatch_sequences, b),
              knobs->microbatch_sequences == 1 ? "" : "s");
    knobs_sentence(&ranked->plan.degrees, knobs, &text);
    prose_add(&text, "; remat %s; padding: %s", remat_name(&request->question.model, &ranked->plan.layout, remat),
              padding_text(ranked->padding, words));
    prose_add(&text, "; launchable by %s.", launchers_text(ranked->launchable_by, ", ", words, sizeof words));
    prose_write(out, "", "  ", text.text);
    launch_write("Device order: ", ranked, out);
}

/* Why the exit code is that of a limit. */
static void write_gap(const SearchResult *result, TextOut out) {
    const Certificate *certificate = &result->certificate;
    char seconds[NUMBER_TEXT_SIZE], share[NUMBER_TEXT_SIZE];
    Prose text = {0};
    if (certificate->proof != PROOF_GAP) return;
    prose_add(&text, "Not proven: %s ended the search for the layout or the knobs of the plan",
              result->interrupted ? "an interrupt" : "a limit");
    if (certificate->best_bound_seconds > 0 && isfinite(certificate->best_bound_seconds))
        prose_add(&text, "; the best might take %s", step_text(certificate->best_bound_seconds, seconds));
    prose_add(&text, " (gap %s).", share_text(certificate->gap, share));
    prose_write(out, "", "  ", text.text);
}

bool explain_write_text(const Report *report, int rank, TextOut out, Error *error) {
    assert(rank >= 1 && rank <= report->result.plan_count);
    const Request *request = report->request;
    const RankedPlan *ranked = &report->result.plans[rank - 1];
    verdict_write(request, ranked, true, out);
    fputc('\n', out.file);
    write_plan(request, ranked, out);
    write_gap(&report->result, out);
    fputc('\n', out.file);
    bars_write("Step breakdown", request, ranked, out);
    if (!timeline_write(request, ranked, out)) return error_memory(error);
    if (!write_ops(request, ranked, out, error)) return false;
    bool ok = write_groups(ranked, out) && write_memory(request, ranked, out);
    write_memory_parts(request, ranked, out);
    ok = ok && write_layout(request, ranked, out) && write_effects(request, ranked, out);

    Why why;
    report_why(ranked, &why);
    fputs("\nWhy:\n", out.file);
    for (int i = 0; i < why.count; i++) prose_write(out, "  - ", "    ", why.text[i]);
    fputc('\n', out.file);
    assumed_write(request, ranked, out);
    if (request->question.profile.source[0]) {
        Prose text = {0};
        char source[PROFILE_SOURCE_SIZE];
        prose_add(&text, "Profile: %s", clean_text(request->question.profile.source, source, sizeof source));
        prose_write(out, "", "  ", text.text);
    }
    if (!ok) return error_memory(error);
    return !ferror(out.file) || error_stream(error, "report", "the text");
}
