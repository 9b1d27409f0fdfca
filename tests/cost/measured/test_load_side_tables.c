/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The network between nodes of eight chips in topology notes, read by hand. */
#include "base/util.h"

#include "cost/measured/side_tables.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static Network WORDS[] = {{"TCPXO", 1600}, {"TCPX", 800}};
static const Networks NETWORKS = {WORDS, 2};

static const struct {
    const char *note;
    double gigabits; /* of a node; 0 means that the note gives none */
} ROWS[] = {
    {"", 0},
    {"1 nodes x 8 GPU; inter-node fabric not stated", 0},
    {"nodes x 8 A100, 4x100 Gb/s RoCE per node", 400},
    {"8 nodes x 8 GPU; 1600 Gb/s RoCE per node", 1600},
    {"8 A3 nodes x 8 H100, GPUDirect-TCPX", 800},
    {"32 x A3 Mega (8 H100, GPUDirect-TCPXO)", 1600},
    {"64 nodes x 8; NVLINK Gen4 900 GB/s; 8x ConnectX-7 IB NDR 400Gb/s + 200Gb/s Ethernet NIC", 3200},
    {"64 nodes x 8; Storage: 2x ConnectX-7 IB NDR 400Gb/s, Compute: 8x ConnectX-7 IB NDR 400Gb/s", 3200},
    {"64 nodes x 8; Storage: 2x ConnectX-7 IB NDR 400Gb/s", 0},
    {"1344 nodes x 8; 1x Ethernet 100Gb/Sec, 8x CX7 InfiniBand (4", 0}, /* cut by its source */
    {"800 Gbps per node", 800},
    {"800 Gb/S per node", 800},
    {"800 Gbit/s per node", 800},
    {"1.6 Tbps per node", 1600},
    {"Grand Teton, 8 x H100, 400 Gb/s RoCE per GPU", 3200},
    {"3.2 Tb/s InfiniBand per node", 3200},
    {"8x400 Gbps RoCE per GPU", 3200}, /* the rate already covers all GPUs */
    {"1e308 Gb/s per node", 0},
    {"9999999999x9999999999 Gb/s per node", 0},
    {"8x RoCE Gb/s", 0},
};

Test(networks, notes) {
    for (size_t i = 0; i < COUNT_OF(ROWS); i++)
        cr_expect_float_eq(network_gigabits(&NETWORKS, ROWS[i].note, 8), ROWS[i].gigabits, 1e-9, "%s: %g", ROWS[i].note,
                           network_gigabits(&NETWORKS, ROWS[i].note, 8));
}

static bool read_text(const char *text, Networks *out, Error *error) {
    char path[] = "/tmp/shardopt-networks-XXXXXX";
    static Arena arena; /* texts outlive the call */
    int file = mkstemp(path);
    FILE *stream = file >= 0 ? fdopen(file, "w") : NULL;
    cr_assert(stream);
    fputs(text, stream);
    fclose(stream);
    bool ok = networks_read(path, &arena, out, error);
    remove(path);
    return ok;
}

Test(networks, file) {
    Networks found;
    Error error = {0};
    cr_assert(read_text("word\tgigabits_per_node\tsource\nEFA\t400\tAWS\n", &found, &error), "%s", error.text);
    cr_expect(found.count == 1 && found.networks[0].gigabits == 400);
    static const char *const WRONG[] = {"name\tx\ty\n", "word\tgigabits_per_node\tsource\nEFA\t400\t\n",
                                        "word\tgigabits_per_node\tsource\nEFA\t4\tAWS\n"};
    for (size_t i = 0; i < COUNT_OF(WRONG); i++) cr_expect(!read_text(WRONG[i], &found, &error), "%s", WRONG[i]);
}

/* Kinds of runs that are replayed but not scored, and tables that are none. */

#define HEADING "family\tnotes\tconfidence\tchips_over\treason\n"

static bool read_kinds(const char *text, Arena *arena, ExcludedKinds *out, Error *error) {
    char path[] = "/tmp/shardopt-aside-XXXXXX";
    int file = mkstemp(path);
    cr_assert(file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text) && close(file) == 0);
    bool ok = excluded_read(path, arena, out, error);
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
    ExcludedKinds kinds;
    cr_assert(read_kinds(HEADING "sweep\tslow-p2p\t\t\tearly code\nsweep\t\tC\t\topen\nsweep\t\t\t256\tlarge\n", &arena,
                        &kinds, &error),
              "%s: %s", error.where, error.text);
    for (size_t i = 0; i < COUNT_OF(RUNS); i++) {
        Run run = {.notes = RUNS[i].notes, .confidence = RUNS[i].confidence, .chips = RUNS[i].chips};
        snprintf(run.family, sizeof run.family, "%s", RUNS[i].family);
        const char *reason = excluded_reason(&kinds, &run);
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
        ExcludedKinds kinds;
        cr_expect_not(read_kinds(TEXTS[i], &arena, &kinds, &error), "%zu", i);
        cr_expect_eq(error.kind, ERROR_INPUT, "%zu", i);
        arena_free(&arena);
    }
}
