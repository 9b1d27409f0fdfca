/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `shardopt bench`: what to measure on a cluster, and what was measured as a profile. */
#include "base/file.h"
#include "base/json.h"
#include "base/text/prose.h"
#include "base/util.h"
#include "search/answer/doubts.h"
#include "search/cli/commands.h"
#include "search/cli/commands/refitting.h"
#include "search/cli/commands/trace_plan.h"
#include "search/options/options.h"
#include "search/trace/refit.h"

#include <math.h>
#include <string.h>

enum { FOUND_MAX = 64, LOG_BYTES_MAX = 16 << 20 };

/* What a log says. */
typedef struct {
    const char *file;
    BenchResult result;
    MeasuredFigure figure;
} Found;

typedef struct {
    const CommandLine *line;
    Arena *arena;
    RefitAsk ask;
    Report *report;
    Cluster cluster;
    Measurements list;
    Found found[FOUND_MAX];
    int found_count;
    RefitAnswer *moved; /* NULL: nothing was to be written */
} Bench;

static void describe_cluster(const Report *report, Cluster *out) {
    const Chip *chip = &report->request->question.chip;
    const Mesh *mesh = &report->request->question.machine.mesh;
    *out = (Cluster){.pcie_bytes_per_second = chip->pcie_bytes_per_second.value,
                     .peak_flops = chip->bf16_flops_per_second.value};
    for (int i = 0; i < mesh->axis_count; i++) {
        const Axis *axis = &mesh->axes[i];
        if (strcmp(axis->name, "network") == 0) out->network_bytes_per_second = axis->bytes_per_second;
        if (strcmp(axis->name, "nvlink") == 0 || strcmp(axis->name, "xgmi") == 0) {
            out->nvlink_bytes_per_second = axis->bytes_per_second;
            out->domain = axis->size;
        }
    }
}

static bool list_measurements(Bench *bench, Error *error) {
    DoubtEffect effects[SET_FIGURES_MAX];
    const Request *request = bench->report->request;
    int count = plan_effects(request, &bench->report->result.plans[0], effects);
    if (count < 0)
        return error_set(error, ERROR_INPUT, bench->ask.report,
                         "was priced by a profile that does not know its errors; use --profile default");
    double own = hypot(request->question.profile.plan_error, request->question.profile.stack_error);
    measurements_list(effects, count, own, &bench->cluster, &bench->list);
    return true;
}

static bool read_logs(Bench *bench, const char *folder, Error *error) {
    char **names;
    size_t count;
    if (!file_list(folder, "", bench->arena, &names, &count, error)) return false;
    for (size_t i = 0; i < count; i++) {
        BenchResult results[BENCH_RESULTS_MAX];
        char *text;
        size_t length;
        const char *path = arena_format(bench->arena, "%s/%s", folder, names[i]);
        if (!path) return error_memory(error);
        if (!file_read(path, LOG_BYTES_MAX, bench->arena, &text, &length, error)) return false;
        int found = bench_log_read(text, length, path, results);
        for (int r = 0; r < found && bench->found_count < FOUND_MAX; r++)
            bench->found[bench->found_count++] =
                (Found){path, results[r], measured_figure(&results[r], &bench->cluster)};
    }
    if (bench->found_count == 0)
        return error_set(
            error, ERROR_INPUT, folder,
            "holds no log that is known: nccl-tests, nvbandwidth, perftest, or a matmul sweep with a median");
    return true;
}

/* Gathers and scatters say what a link carries; all-reduces may be added up in switches, and count where nothing else
 * is there; what a wire carries only bounds, and where no collective was measured. Of several results for a figure the
 * mean is taken. */
static void set_figures(const Bench *bench, const RefitInto *into, Refit *out) {
    static const char *const KEYS[] = {"nvlink_efficiency", "network_efficiency", "pcie_efficiency",
                                       "matrix_efficiency"};
    for (size_t k = 0; k < COUNT_OF(KEYS); k++) {
        double sum[2] = {0}, most = INFINITY;
        int count[2] = {0};
        for (int i = 0; i < bench->found_count; i++) {
            const Found *found = &bench->found[i];
            bool reduce = found->result.kind == BENCH_ALL_REDUCE;
            if (!found->figure.key || strcmp(found->figure.key, KEYS[k]) != 0) continue;
            if (found->figure.ceiling) most = min_real(most, found->figure.value);
            if (found->figure.ceiling) continue;
            sum[reduce] += found->figure.value;
            count[reduce]++;
        }
        int which = count[0] == 0;
        if (count[which] > 0) refit_set(into, KEYS[k], sum[which] / count[which], out);
        if (count[which] == 0 && isfinite(most)) refit_lower(into, KEYS[k], most, out);
    }
}

static bool step_to_logs(void *context, const RefitInto *into, const Report *report, const PlanTerms *terms, Refit *out,
                         Error *error) {
    (void)report, (void)terms;
    set_figures(context, into, out);
    return profile_set_resolve(into->set, "--refit", error);
}

static bool refit(Bench *bench, Error *error) {
    if (!line_file(bench->line, OPTION_REFIT, &bench->ask.path, error)) return false;
    if (!bench->ask.path) return true;
    if (!bench->line->text[OPTION_READ])
        return error_set(error, ERROR_INPUT, "--refit", "needs figures: give --read FOLDER");
    bench->moved = ARENA_NEW(bench->arena, RefitAnswer, 1);
    bench->ask.source = arena_format(bench->arena, "shardopt bench --read %.200s", bench->line->text[OPTION_READ]);
    if (!bench->moved || !bench->ask.source) return error_memory(error);
    bench->ask.step = step_to_logs;
    bench->ask.context = bench;
    bench->ask.steps = 1;
    return refitting_run(&bench->ask, bench->arena, bench->moved, error);
}

/* ---- words ---- */

/* The plan's likely range as it would be with another deviation: its distances from the price shrink as that does. */
typedef struct {
    bool known;
    double low, high;
} Likely;

static Likely likely_after(const Bench *bench, double deviation) {
    const RankedPlan *plan = &bench->report->result.plans[0];
    double seconds = plan->estimate.time.seconds, share = deviation / bench->list.deviation;
    Likely out = {0};
    out.known = plan_likely(bench->report->request, plan, &out.low, &out.high) && seconds > 0 && share >= 0;
    if (out.known) out.low = seconds * pow(out.low / seconds, share);
    if (out.known) out.high = seconds * pow(out.high / seconds, share);
    return out;
}

static void add_likely(const Bench *bench, double deviation, const char *before, Prose *out) {
    char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE], c[NUMBER_TEXT_SIZE];
    Likely now = likely_after(bench, bench->list.deviation), then = likely_after(bench, deviation);
    if (!then.known) return;
    prose_add(out, "%s%s to %s", before, step_text(then.low, a), step_text(then.high, b));
    if (deviation < bench->list.deviation && now.high > now.low)
        prose_add(out, " (%s)", change_text((then.high - then.low) / (now.high - now.low) - 1, c));
}

static void write_list(const Bench *bench, TextOut out) {
    const Measurements *list = &bench->list;
    char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE];
    Prose head = {0};
    prose_add(&head, "The plan's step is known to %s (one deviation)", share_text(list->deviation, a));
    add_likely(bench, list->deviation, ", likely ", &head);
    prose_add(&head, "; with all of these it would be known to %s", share_text(list->after, b));
    add_likely(bench, list->after, ", likely ", &head);
    prose_add(&head, ". The most informative first:");
    prose_write(out, "", "", head.text);
    for (int i = 0; i < list->count; i++) {
        const Measurement *own = &list->of[i];
        char number[16];
        Prose prose = {0};
        snprintf(number, sizeof number, "  %d. ", i + 1);
        prose_add(&prose, "%s: to %s", own->name, share_text(own->deviation, a));
        add_likely(bench, own->deviation, ", likely ", &prose);
        prose_add(&prose, ", by");
        for (int f = 0; own->figures[f]; f++) prose_add(&prose, "%s %s", f ? "," : "", own->figures[f]);
        prose_write(out, number, "     ", prose.text);
        fprintf(out.file, "       %s\n", own->command);
    }
}

static void write_found(const Bench *bench, TextOut out) {
    char a[NUMBER_TEXT_SIZE], name[PROSE_NAME_SIZE];
    fputs("\nRead:\n", out.file);
    for (int i = 0; i < bench->found_count; i++) {
        const Found *found = &bench->found[i];
        Prose prose = {0};
        prose_add(&prose, "%s: %s at %s", clean_name(found->file, name), bench_kind_name(found->result.kind),
                  rate_text(found->result.rate, found->result.kind == BENCH_MATMUL ? "FLOP" : "B", a));
        if (found->result.ranks > 0)
            prose_add(&prose, " on %lld ranks of %lld %s", (long long)found->result.ranks,
                      (long long)found->result.hosts, found->result.hosts == 1 ? "host" : "hosts");
        if (found->figure.key)
            prose_add(&prose, ": %s %s%.4g", found->figure.key, found->figure.ceiling ? "at most " : "",
                      found->figure.value);
        else
            prose_add(&prose, ": no figure of the profile is this");
        prose_write(out, "  ", "    ", prose.text);
    }
}

static void add_likely_json(const Bench *bench, double deviation, cJSON *to, const char *const keys[2]) {
    Likely likely = likely_after(bench, deviation);
    if (!likely.known) return;
    json_add_real(to, keys[0], likely.low);
    json_add_real(to, keys[1], likely.high);
}

static cJSON *bench_json(const Bench *bench) {
    static const char *const NOW[] = {"likely_low_seconds", "likely_high_seconds"}, *const AFTER[] = {
                                                                                        "likely_low_seconds_after",
                                                                                        "likely_high_seconds_after"};
    cJSON *json = cJSON_CreateObject(), *list = json ? json_add_array(json, "measurements") : NULL, *found;
    if (!list) return json;
    json_add_whole(json, "format_version", 1);
    json_add_real(json, "deviation", bench->list.deviation);
    json_add_real(json, "deviation_after", bench->list.after);
    add_likely_json(bench, bench->list.deviation, json, NOW);
    add_likely_json(bench, bench->list.after, json, AFTER);
    for (int i = 0; i < bench->list.count; i++) {
        const Measurement *own = &bench->list.of[i];
        cJSON *item = json_add_object(list, NULL), *figures = item ? json_add_array(item, "figures") : NULL;
        json_add_text(item, "name", own->name);
        json_add_text(item, "command", own->command);
        json_add_real(item, "deviation_after", own->deviation);
        add_likely_json(bench, own->deviation, item, AFTER);
        for (int f = 0; own->figures[f]; f++) json_add_text(figures, NULL, own->figures[f]);
    }
    found = json_add_array(json, "found");
    for (int i = 0; found && i < bench->found_count; i++) {
        cJSON *item = json_add_object(found, NULL);
        json_add_text(item, "file", bench->found[i].file);
        json_add_text(item, "kind", bench_kind_name(bench->found[i].result.kind));
        json_add_real(item, "rate", bench->found[i].result.rate);
        if (!bench->found[i].figure.key) continue;
        json_add_text(item, "figure", bench->found[i].figure.key);
        json_add_real(item, "value", bench->found[i].figure.value);
        if (bench->found[i].figure.ceiling) json_add_bool(item, "at_most", true);
    }
    if (bench->moved) refitting_add_json(bench->moved, json);
    return json;
}

static bool print(const Bench *bench, int format, TextOut out, Error *error) {
    if (format == 1) {
        cJSON *json = bench_json(bench);
        bool ok = json && json_print(out.file, json);
        cJSON_Delete(json);
        return ok || error_memory(error);
    }
    write_list(bench, out);
    if (bench->found_count > 0) write_found(bench, out);
    if (bench->moved) refitting_write_text(bench->moved, 0, out);
    return true;
}

static bool write_answer(const Bench *bench, Streams streams, Error *error) {
    int format = 0;
    const char *path = NULL;
    if (!line_choice(bench->line, OPTION_BENCH_FORMAT, &format, error) ||
        !line_file(bench->line, OPTION_OUTPUT, &path, error))
        return false;
    Draft draft;
    if (!draft_open(&draft, error)) return false;
    bool ok = print(bench, format, (TextOut){draft.file, output_terminal(streams, path)}, error);
    return draft_write(&draft, ok, streams.out, path, error);
}

static int run(const CommandLine *line, Streams streams, Error *error) {
    Bench *bench = ARENA_NEW(line->arena, Bench, 1);
    const char *folder = NULL;
    if (!bench) return error_memory(error), exit_of_error(error);
    *bench = (Bench){.line = line, .arena = line->arena, .ask.rank = line->text[OPTION_RANK]};
    TracePlan plan = {0};
    bool ok = trace_plan_read(line, streams.err, &plan, error) && line_file(line, OPTION_READ, &folder, error) &&
              (plan.name || error_set(error, ERROR_INPUT, "bench",
                                      "give --from REPORT or --from-config FILE: the plan in question"));
    bench->ask.report = plan.name;
    bench->ask.json = plan.report;
    ok = ok && refitting_price(&bench->ask, NULL, line->arena, &bench->report, error);
    if (ok) describe_cluster(bench->report, &bench->cluster);
    if (ok && list_measurements(bench, error) && (!folder || read_logs(bench, folder, error)) && refit(bench, error))
        write_answer(bench, streams, error);
    cJSON_Delete(plan.report);
    return exit_of_error(error);
}

const Command COMMAND_BENCH = {
    .name = "bench",
    .summary = "what to measure on a cluster, and what was measured as a profile",
    .usage = "bench --from REPORT [--rank N] [--read FOLDER [--refit FILE]] [--format text|json] [-o OUT]\n"
             "bench --from-config FILE [OPTIONS]    (the launch file of the plan)",
    .about =
        "The short list of measurements that say most about a plan on your cluster, with what each would pin down; "
        "with\n--read, what they found, and with --refit the profile made of it and what now wins.",
    .details = "What to measure on a cluster so that a plan is known better: each line with the figures of the profile "
               "that it pins down and with what would be left of the doubt about the step, by the deviations of the "
               "profile. `--read` reads the logs back, and `--refit` writes the profile, prices the plan with it, and "
               "searches again.",
    .options = PLANNING_OPTIONS,
    .option_count = OPTION_COUNT,
    .use = USE_BENCH,
    .footer = "Exit codes: 0 done, 2 input is wrong, 70 a defect.",
    .examples = "shardopt bench --from report.json\n",
    .run = run,
};
