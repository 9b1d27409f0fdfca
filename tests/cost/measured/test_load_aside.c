/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kinds of runs that are replayed but not scored, and tables that are none. */
#include "base/util.h"
#include "cost/measured/aside.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEADING "family\tnotes\tconfidence\tchips_over\treason\n"

static bool read_text(const char *text, Arena *arena, AsideKinds *out, Error *error) {
    char path[] = "/tmp/shardopt-aside-XXXXXX";
    int file = mkstemp(path);
    cr_assert(file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text) && close(file) == 0);
    bool ok = aside_read(path, arena, out, error);
    unlink(path);
    return ok;
}

Test(aside, kinds) {
    static const struct {
        const char *family, *notes, *confidence;
        int64_t chips;
        const char *reason;
    } RUNS[] = {
        {"sweep", "tied; Slow-p2p", "B", 8, "early code"},
        {"sweep", "tied", "B", 8, NULL},
        {"sweep", "tied", "C", 8, "open"},
        {"sweep", "", "B", 256, NULL},
        {"sweep", "", "B", 257, "large"},
        {"other", "slow-p2p", "C", 512, NULL},
    };
    Arena arena = {0};
    Error error = {0};
    AsideKinds kinds;
    cr_assert(read_text(HEADING "sweep\tslow-p2p\t\t\tearly code\nsweep\t\tC\t\topen\nsweep\t\t\t256\tlarge\n", &arena,
                        &kinds, &error),
              "%s: %s", error.where, error.text);
    for (size_t i = 0; i < COUNT_OF(RUNS); i++) {
        Run run = {.notes = RUNS[i].notes, .confidence = RUNS[i].confidence, .chips = RUNS[i].chips};
        snprintf(run.family, sizeof run.family, "%s", RUNS[i].family);
        const char *reason = aside_reason(&kinds, &run);
        cr_expect(RUNS[i].reason ? reason && strcmp(reason, RUNS[i].reason) == 0 : !reason, "%zu: %s", i,
                  reason ? reason : "none");
    }
    arena_free(&arena);
}

Test(aside, broken_tables) {
    static const char *const TEXTS[] = {"family\tnotes\n", "x\tnotes\tconfidence\tchips_over\treason\n",
                                        HEADING "sweep\t\t\t\t\n", HEADING "sweep\t\t\tmany\twhy\n"};
    for (size_t i = 0; i < COUNT_OF(TEXTS); i++) {
        Arena arena = {0};
        Error error = {0};
        AsideKinds kinds;
        cr_expect_not(read_text(TEXTS[i], &arena, &kinds, &error), "%zu", i);
        cr_expect_eq(error.kind, ERROR_INPUT, "%zu", i);
        arena_free(&arena);
    }
}
