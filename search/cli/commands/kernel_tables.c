/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `shardopt validate kernels FILE`: a table of measured kernels, and the forms of cost/kernels. */
#include "base/json.h"
#include "base/number.h"
#include "base/text/prose.h"
#include "base/text/table.h"
#include "base/util.h"
#include "cost/measured/validate_kernels.h"
#include "search/cli/commands/kinds.h"

#include <math.h>
#include <string.h>

static void add_stats(Table *table, const ErrorStats *stats) {
    char count[NUMBER_TEXT_SIZE];
    table_cell(table, "%s", number_grouped(stats->count, count));
    table_cell(table, "%.1f%%", 100 * stats->median);
    table_cell(table, "%.1f%%", 100 * stats->p90);
    table_cell(table, "%+.1f%%", 100 * stats->bias);
}

/* "nccl 2.27.3, 8 ways" */
static const char *kernel_words(const KernelGroup *group, Arena *arena) {
    const Kernel *kernel = group->kernel;
    double among = kernel ? max_real(kernel->ways, kernel->nodes) : 0;
    const char *what = kernel && kernel->ways > 0 ? "ways" : among > 1 ? "nodes" : "node";
    const char *between = group->name[0] && group->library[0] ? ", " : "";
    char clean[PROSE_NAME_SIZE], library[PROSE_NAME_SIZE];
    clean_name(group->name, clean);
    clean_name(group->library, library);
    return among > 0 ? arena_format(arena, "%s%s%s, %g %s", library, between, clean, among, what)
                     : arena_format(arena, "%s%s%s", library, between, clean);
}

/* Whose figures they are, where not the row's own. */
static const char *figures_words(const KernelGroup *group, Arena *arena) {
    const Kernel *kernel = group->kernel;
    if (!kernel) return "";
    const char *chip = name_matches(kernel->chip, group->chip) ? "" : kernel->chip;
    const char *library = strcmp(kernel->library, group->library) != 0 ? kernel->library : "";
    return arena_format(arena, "%s%s%s", chip, chip[0] && library[0] ? " " : "", library);
}

static Table kernels_table(const KernelValidation *of, bool forms, Arena *arena) {
    Table table = table_new(arena, "Kernels",
                            forms ? "chip|type|library, kernel|>rows|>median|>p90|>bias|>unseen median|>p90|figures of"
                                  : "chip|type|library, kernel|>rows|>median|>p90|>bias");
    for (int64_t i = 0; i < of->count; i++) {
        const KernelGroup *group = &of->groups[i];
        if (group->stats.count == 0) continue;
        char chip[PROSE_NAME_SIZE], precision[PROSE_NAME_SIZE];
        const char *words = kernel_words(group, arena), *figures = figures_words(group, arena);
        table_cell(&table, "%s", clean_name(group->chip, chip));
        table_cell(&table, "%s", clean_name(group->precision, precision));
        table_cell(&table, "%s", words ? words : "");
        add_stats(&table, &group->stats);
        if (!forms) continue;
        bool judged = group->kernel && group->kernel->judged > 0;
        table_cell(&table, judged ? "%.1f%%" : "", judged ? 100 * group->kernel->median : 0);
        table_cell(&table, judged ? "%.1f%%" : "", judged ? 100 * group->kernel->p90 : 0);
        table_cell(&table, "%s", figures ? figures : "");
    }
    table_wrap(&table, 2, 44);
    return table;
}

/* "1 row", "1,482 rows" */
static void say_rows(Prose *to, const char *before, int64_t rows) {
    char count[NUMBER_TEXT_SIZE];
    prose_add(to, "%s%s row%s", before, number_grouped(rows, count), rows == 1 ? "" : "s");
}

static void say_head(const KernelValidation *of, const ValidateOptions *options, Prose *to) {
    const char *path = options->path, *profile = options->profile;
    say_rows(to, "", of->rows);
    if (profile)
        prose_add(to, " of %s (%s) as plans are priced with profile %s", path, kernel_op_name(of->op), profile);
    else
        prose_add(to, " of %s (%s) by the forms of cost/kernels", path, kernel_op_name(of->op));
    if (of->rows > 0)
        prose_add(to, ": median %.1f%%, 90th percentile %.1f%%, bias %+.1f%%", 100 * of->stats.median,
                  100 * of->stats.p90, 100 * of->stats.bias);
    prose_add(to, ".");
    if (of->small > 0) {
        say_rows(to, " Left out: ", of->small);
        prose_add(to, " of sizes below those that a form is for%s", of->unknown > 0 ? "," : ".");
    }
    if (of->unknown > 0) {
        say_rows(to, of->small > 0 ? " " : " Left out: ", of->unknown);
        prose_add(to, " without a form (uneven loads, mixed types, kernels or chips that nobody measured).");
    }
    prose_add(to, " Errors are predicted / measured - 1%s.",
              profile ? "" : "; \"unseen\" are those of the shapes that a kernel's figures were not fitted to");
}

static bool write_text(TextOut out, const KernelValidation *of, const ValidateOptions *options, Error *error) {
    Arena arena = {0};
    Prose head = {0};
    bool markdown = options->format == VALIDATE_MARKDOWN;
    Table table = kernels_table(of, !options->profile, &arena);
    say_head(of, options, &head);
    if (markdown)
        fprintf(out.file, "%s\n\n", head.text);
    else
        prose_write(out, "", "", head.text), fputc('\n', out.file);
    bool ok = markdown ? table_write_markdown(&table, out.file) : table_write_text(&table, "", out);
    arena_free(&arena);
    return ok || error_memory(error);
}

static void add_stats_json(cJSON *to, const ErrorStats *stats) {
    json_add_whole(to, "rows", stats->count);
    json_add_real(to, "median", stats->count > 0 ? stats->median : NAN);
    json_add_real(to, "p90", stats->count > 0 ? stats->p90 : NAN);
    json_add_real(to, "worst", stats->count > 0 ? stats->worst : NAN);
    json_add_real(to, "bias", stats->count > 0 ? stats->bias : NAN);
}

static bool write_json(FILE *out, const KernelValidation *of, const ValidateOptions *options, Error *error) {
    cJSON *json = cJSON_CreateObject(), *kernels, *summary;
    json_add_whole(json, "format_version", 1);
    json_add_text(json, "file", options->path);
    json_add_text(json, "priced_by", options->profile ? options->profile : "cost/kernels");
    json_add_text(json, "op", kernel_op_name(of->op));
    kernels = json_add_array(json, "kernels");
    for (int64_t i = 0; i < of->count; i++) {
        const KernelGroup *group = &of->groups[i];
        const Kernel *kernel = group->kernel;
        cJSON *one = json_add_object(kernels, NULL), *figures;
        json_add_text(one, "chip", group->chip);
        json_add_text(one, "precision", group->precision);
        json_add_text(one, "library", group->library);
        json_add_text(one, "kernel", group->name);
        json_add_whole(one, "smaller", group->small);
        add_stats_json(one, &group->stats);
        if (!kernel) continue;
        figures = json_add_object(one, "figures");
        json_add_text(figures, "chip", kernel->chip);
        json_add_text(figures, "library", kernel->library);
        if (kernel->ways > 0) json_add_real(figures, "ways", kernel->ways);
        if (kernel->nodes > 0) json_add_real(figures, "nodes", kernel->nodes);
        json_add_whole(figures, "fitted", kernel->fitted);
        json_add_whole(figures, "judged", kernel->judged);
        json_add_real(figures, "median", kernel->median);
        json_add_real(figures, "p90", kernel->p90);
    }
    summary = json_add_object(json, "summary");
    add_stats_json(summary, &of->stats);
    json_add_whole(summary, "smaller", of->small);
    json_add_whole(summary, "no_form", of->unknown);
    bool ok = json && json_print(out, json);
    cJSON_Delete(json);
    return ok || error_memory(error);
}

bool kernel_validate(const ValidateOptions *options, Arena *arena, Streams streams, int *code, Error *error) {
    KernelValidation validation;
    Draft draft;
    if (options->format == VALIDATE_HTML)
        return error_set(error, ERROR_INPUT, "--format", "of kernels there is text, markdown or json");
    if (!kernels_validate(options->path, options->profile, arena, &validation, error) || !draft_open(&draft, error))
        return false;
    TextOut out = {draft.file, output_terminal(streams, options->output)};
    bool ok = options->format == VALIDATE_JSON ? write_json(draft.file, &validation, options, error)
                                               : write_text(out, &validation, options, error);
    if (!draft_write(&draft, ok, streams.out, options->output, error)) return false;
    *code = gate_check_errors(&options->gate, &validation.stats, streams.err) > 0 ? EXIT_GATE : EXIT_DONE;
    return true;
}
