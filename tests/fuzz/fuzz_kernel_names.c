/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whatever the tree is, rules for names are read or refused with one line. Rules that were read have meanings that
 * exist and texts that are not empty, and tell of any name something that exists.
 *
 * libFuzzer: clang -fsanitize=fuzzer,address,undefined; without clang, -DSHARDOPT_FUZZ_MAIN runs the files given. */
#include "cost/trace/kernel_names.h"
#include "tests/fuzz/files.h"
#include "tests/fuzz/json_mutator.h"

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Error error = {0};
    Arena arena = {0};
    KernelNames names;
    cJSON *json = fuzz_tree(data, size, &error);
    if (!json) return fuzz_check(false, &error), 0;
    bool ok = kernel_names_from_json(json, "fuzz", &arena, &names, &error);
    fuzz_check(ok, &error);
    if (ok) check_names(&names);
    arena_free(&arena);
    cJSON_Delete(json);
    return 0;
}
