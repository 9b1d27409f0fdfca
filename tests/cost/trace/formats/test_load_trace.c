/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which files of a folder may be traces: by their names, but for what a profiler makes of another of them. */
#include "base/util.h"
#include "cost/trace/formats/formats.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char folder[64];

static void make(const char *const *names, size_t count) {
    snprintf(folder, sizeof folder, "/tmp/shardopt-traces-XXXXXX");
    cr_assert(mkdtemp(folder) != NULL);
    for (size_t i = 0; i < count; i++) {
        char path[256];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        FILE *file = fopen(path, "w");
        cr_assert(file && fclose(file) == 0, "%s", path);
    }
}

static void drop(const char *const *names, size_t count) {
    for (size_t i = 0; i < count; i++) {
        char path[256];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    rmdir(folder);
}

Test(load_trace, files_of_a_folder) {
    static const char *const NAMES[] = {
        "b.sqlite",   "a.json",    "host.xplane.pb", "host.trace.json.gz", "other.trace.json.gz", "c.txt",
        "c.json.bak", "r.json.gz", ".json.d"};
    static const char *const LISTED[] = {"a.json", "b.sqlite", "host.xplane.pb", "other.trace.json.gz", "r.json.gz"};
    Arena arena = {0};
    Error error = {0};
    const char **paths;
    size_t count = 0;
    make(NAMES, COUNT_OF(NAMES));
    bool ok = trace_folder_list(folder, &arena, &paths, &count, &error);
    drop(NAMES, COUNT_OF(NAMES));
    cr_assert(ok, "%s", error.text);
    cr_assert_eq(count, COUNT_OF(LISTED), "%zu", count);
    for (size_t i = 0; i < count; i++) cr_expect_str_eq(paths[i] + strlen(folder) + 1, LISTED[i], "%s", paths[i]);
    arena_free(&arena);
}

Test(load_trace, a_folder_without_any) {
    static const char *const NAMES[] = {"c.txt"};
    Arena arena = {0};
    Error error = {0};
    const char **paths;
    size_t count = 7;
    make(NAMES, COUNT_OF(NAMES));
    bool ok = trace_folder_list(folder, &arena, &paths, &count, &error);
    drop(NAMES, COUNT_OF(NAMES));
    cr_expect(!ok && count == 0 && error.kind == ERROR_INPUT && strstr(error.text, "holds no traces"), "%s",
              error.text);
    arena_free(&arena);
}

/* The rank stands behind a word in the name of the file itself; ten digits and more are a time or a process. */
Test(rank_of_name, names) {
    static const struct {
        const char *path;
        int64_t rank;
    } ROWS[] = {
        {"rank-3.json", 3},
        {"a/b/rank0.json.gz", 0},
        {"host_worker12.pt.trace.json", 12},
        {"kineto=7.json", 7},
        {"Rank.5", 5},
        {"rank_123456789.json", 123456789},
        {"rank_1234567890.json", -1},
        {"rank_1234567890_worker3.json", 3},
        {"rank_x_worker3.json", 3},
        {"rank7/trace.json", -1},
        {"trace.json", -1},
        {"", -1},
    };
    for (size_t i = 0; i < COUNT_OF(ROWS); i++)
        cr_expect_eq(trace_rank_of_name(ROWS[i].path), ROWS[i].rank, "%s", ROWS[i].path);
}
