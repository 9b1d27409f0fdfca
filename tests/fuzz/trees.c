/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/fuzz/fuzz.h"

#include "cost/profile/profile_figure.h"
#include "cost/profile/profile_set.h"
#include "cost/serving/serving_profile.h"
#include "cost/state/optimizer.h"
#include "cost/trace/kernel_names.h"
#include "mesh/chip_json.h"
#include "mesh/machine.h"
#include "mesh/slice.h"
#include "search/baseline/snapshot.h"
#include "search/options/report_options.h"
#include "search/serving/engines/engine.h"
#include "search/serving/options/served.h"

static void read_again(const BaselineEntry *entry) {
    Arena arena = {0};
    Error error = {0};
    Baseline again;
    const cJSON *request = cJSON_GetObjectItemCaseSensitive(entry->report, "request");
    cJSON *kept = baseline_compact(entry->report, request);
    if (!kept) abort();
    json_settle(kept);
    bool ok = baseline_read(kept, "kept", true, &arena, &again, &error);
    fuzz_check(ok, &error);
    if (ok && again.entries[0].edited) abort();
    cJSON_Delete(kept);
    arena_free(&arena);
}

/* Whatever the tree is, a baseline is read or refused with one line. Its entries have names; what is kept of one is
 * read again, and its request counts as not edited. */
void fuzz_baseline(const cJSON *json) {
    Error error = {0};
    for (int incomplete = 0; incomplete < 2; incomplete++) {
        Arena arena = {0};
        Baseline baseline;
        error = (Error){0};
        bool ok = baseline_read(json, "fuzz", incomplete, &arena, &baseline, &error);
        fuzz_check(ok, &error);
        for (int i = 0; ok && i < baseline.count && i < 8; i++) {
            if (!baseline.entries[i].name || strchr(baseline.entries[i].name, '\n')) abort();
            if (baseline.entries[i].has_plans) read_again(&baseline.entries[i]);
        }
        arena_free(&arena);
    }
}

/* Whatever the tree is, a chip is read or refused with one line. What is read can be shown: no text of it has a control
 * character; each of its slices is offered, and has its number of chips. */
void fuzz_chip(const cJSON *json) {
    Error error = {0};
    Chip chip;
    bool ok = chip_from_json(json, "fuzz", &chip, &error);
    fuzz_check(ok, &error);
    if (ok && !json_is_plain(json, "fuzz", &error)) abort();
    for (int i = 0; ok && i < chip.default_count; i++)
        if (!slice_offered(&chip, chip.defaults[i]) || slice_chips(chip.defaults[i]) < 1) abort();
}

static void check_parts(const char *const *parts) {
    for (; *parts; parts++)
        if (!**parts) abort();
}

static void check_rules(const NameRules *rules, int meanings) {
    for (int i = 0; i < rules->count; i++) {
        const NameRule *rule = &rules->rules[i];
        if (rule->meaning < 0 || rule->meaning >= meanings) abort();
        check_parts(rule->begins);
        check_parts(rule->holds);
        check_parts(rule->also);
        check_parts(rule->unless);
    }
}

static void check_names(const KernelNames *names) {
    static const char *const TEXTS[] = {"", "ncclDevKernel_AllGather", "all-reduce|x|y", "ProfilerStep#1", "\xFF"};
    check_rules(&names->kernels, CLASS_COUNT);
    check_rules(&names->operations, CLASS_COUNT);
    check_rules(&names->ranges, RANGE_COUNT);
    check_rules(&names->collectives, COLLECTIVE_KIND_COUNT);
    check_rules(&names->groups, TERM_COUNT);
    for (size_t i = 0; i < COUNT_OF(TEXTS); i++)
        if (kernel_class(names, TEXTS[i]) >= CLASS_COUNT || operation_class(names, TEXTS[i]) >= CLASS_COUNT ||
            range_kind(names, TEXTS[i]) >= RANGE_COUNT || collective_kind(names, TEXTS[i]) >= COLLECTIVE_KIND_COUNT ||
            group_term(names, TEXTS[i]) > TERM_COUNT)
            abort();
}

/* Whatever the tree is, rules for names are read or refused with one line. Rules that were read have meanings that
 * exist and texts that are not empty, and tell of any name something that exists. */
void fuzz_kernel_names(const cJSON *json) {
    Error error = {0};
    Arena arena = {0};
    KernelNames names;
    bool ok = kernel_names_from_json(json, "fuzz", &arena, &names, &error);
    fuzz_check(ok, &error);
    if (ok) check_names(&names);
    arena_free(&arena);
}

/* Whatever the tree is, an optimizer is read or refused with one line; what is read has its names, in plain text. */
void fuzz_optimizer(const cJSON *json) {
    Error error = {0};
    Optimizer optimizer;
    bool ok = optimizer_from_json(json, "fuzz", &optimizer, &error);
    fuzz_check(ok, &error);
    if (ok && (!optimizer.name[0] || !optimizer.source[0] || !json_is_plain(json, "fuzz", &error))) abort();
}

/* Whatever the tree is, a profile is read or refused with one line. What is read has a name, a source, and every figure
 * in its range. */
void fuzz_profile(const cJSON *json) {
    Error error = {0};
    Profile profile;
    int count;
    const ProfileFigure *figures = profile_figures(&count);
    bool ok = profile_from_json(json, "fuzz", &profile, &error);
    fuzz_check(ok, &error);
    if (ok && (!profile.name[0] || !profile.source[0])) abort();
    for (int f = 0; ok && f < count; f++) {
        double value = figure_value_of(&profile, &figures[f]);
        if (!(value >= figures[f].low && value <= figures[f].high)) abort();
    }
}

static bool set_of(const char *text, size_t size, Arena *arena, ProfileSet *out, Error *error) {
    cJSON *json = json_parse(text, size, "fuzz", error);
    bool ok = json && profile_set_from_json(json, "fuzz", arena, out, error);
    cJSON_Delete(json);
    return ok;
}

static char *written(const ProfileSet *set, size_t *size) {
    char *text = NULL;
    FILE *out = open_memstream(&text, size);
    if (!out || !profile_set_write(out, set)) abort();
    fclose(out);
    return text;
}

static void compose(const ProfileSet *set) {
    int count;
    const ProfileFigure *figures = profile_figures(&count);
    for (int c = 0; c < set->profile_count; c++)
        for (int s = 0; s < set->stack_count; s++) {
            Profile profile;
            profile_compose(set, &set->profiles[c], &set->stacks[s], &profile);
            for (int f = 0; f < count; f++) {
                double value = figure_value_of(&profile, &figures[f]);
                if (!(value >= figures[f].low && value <= figures[f].high)) abort();
            }
        }
}

/* Whatever a set of profiles holds, profile_set_from_json says yes or no with one line; what it takes is written, read
 * and written with the same bytes, and composes figures in their ranges. */
void fuzz_profile_set(const cJSON *json) {
    Arena arena = {0};
    Error error = {0};
    ProfileSet set, again;
    bool ok = profile_set_from_json(json, "fuzz", &arena, &set, &error);
    fuzz_check(ok, &error);
    if (ok) {
        size_t first_size, second_size;
        char *first = written(&set, &first_size);
        if (!set_of(first, first_size, &arena, &again, &error)) abort();
        char *second = written(&again, &second_size);
        if (first_size != second_size || memcmp(first, second, first_size) != 0) abort();
        free(first);
        free(second);
        compose(&set);
        Chip chip = {.name = "h100", .scaleup = SCALEUP_SWITCH};
        (void)profile_set_best_stack(&set, &chip);
    }
    arena_free(&arena);
}

/* Whatever the tree is, a report is read back or refused with one line: its snapshot, its request, its first plan, and
 * the terms that traces are put beside; of serving, its options. A snapshot is the same plan as itself. */
void fuzz_report(const cJSON *json) {
    Arena arena = {0};
    Error error = {0};
    Snapshot snapshot;
    Options options = {0};
    ReportPlan plan = {0};
    Options texts = {{0}, {0}};
    bool ok = snapshot_read(json, "fuzz", &snapshot, &error);
    fuzz_check(ok, &error);
    if (ok && snapshot.plan_count > 0 && !snapshot_same_plan(&snapshot.best, &snapshot.best)) abort();
    error = (Error){0};
    fuzz_check(report_request_read(json, "fuzz", &arena, &options, &error), &error);
    error = (Error){0};
    fuzz_check(report_plan_read(json, "fuzz", 1, &plan, &error), &error);
    error = (Error){0};
    if (serving_report_is(json)) fuzz_check(serving_options_of_report(json, "fuzz", &texts, &error), &error);
    arena_free(&arena);
}

/* Whatever the tree is, a profile of serving is read for a chip of each kind and for each engine, or refused with one
 * line. */
void fuzz_serving_profile(const cJSON *json) {
    static const ScaleupKind KINDS[] = {SCALEUP_TORUS_2D, SCALEUP_SWITCH};
    Error error = {0};
    for (size_t k = 0; k < COUNT_OF(KINDS); k++)
        for (int engine = 0; engine < engine_count(); engine++) {
            Chip chip = {.name = "h100", .scaleup = KINDS[k]};
            ServingProfile profile;
            error = (Error){0};
            fuzz_check(serving_profile_from_json(json, "fuzz", &chip, engine_at(engine)->name, &profile, &error),
                       &error);
        }
}
