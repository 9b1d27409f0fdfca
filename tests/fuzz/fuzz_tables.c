/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whatever the bytes are, the tables beside the measured runs (what is flagged, what is left aside, the rates of
 * networks) are read or refused with one line; what is read has its words, and rates that are rates. They are read by
 * path: the bytes stand in a file in memory. */
#include "cost/measured/aside.h"
#include "cost/measured/flagged.h"
#include "cost/measured/networks.h"
#include "tests/fuzz/files.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static bool checked(bool ok, Error *error) {
    if (ok != (error->kind == ERROR_NONE) || (!ok && (error->kind != ERROR_INPUT || strchr(error->text, '\n'))))
        abort();
    *error = (Error){0};
    return ok;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Arena arena = {0};
    Error error = {0};
    FlaggedRuns flagged;
    AsideKinds aside;
    Networks networks;
    char path[64];
    int file = memfd_create("fuzz", 0);
    if (file < 0 || write(file, data, size) != (ssize_t)size) abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    if (checked(flagged_read(path, &arena, &flagged, &error), &error)) (void)flagged_find(&flagged, "one");
    Run run = {.id = "one-1", .family = "one", .notes = "", .version = "", .confidence = "", .check = ""};
    if (checked(aside_read(path, &arena, &aside, &error), &error)) (void)aside_reason(&aside, &run);
    if (checked(networks_read(path, &arena, &networks, &error), &error))
        for (int i = 0; i < networks.count; i++)
            if (!networks.networks[i].word[0] || !isfinite(networks.networks[i].gigabits)) abort();
    close(file);
    arena_free(&arena);
    return 0;
}
