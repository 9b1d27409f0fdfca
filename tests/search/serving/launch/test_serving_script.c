/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Workers on hosts: no device twice, none between two hosts or domains, at the places counted by hand. */
#include "search/serving/launch/serving_script.h"

#include "base/util.h"

#include <criterion/criterion.h>
#include <string.h>

static ServingQuestion question;
static ServingPoint point;
static SubMesh submeshes[2];

/* Hosts of `host` devices, `domain` of which are joined, and pools of workers of so many devices. */
static void make(int64_t host, int64_t domain, int64_t devices, const int64_t pools[2][2]) {
    Mesh *mesh = &question.machine.mesh;
    memset(&question, 0, sizeof question);
    memset(&point, 0, sizeof point);
    question.chip = (Chip){.chips_per_host = host, .devices_per_chip = 1};
    mesh->axis_count = 2;
    mesh->axes[0] = (Axis){.name = "nvlink", .kind = AXIS_SWITCH, .level = LEVEL_NVLINK, .size = domain};
    mesh->axes[1] = (Axis){.name = "network", .kind = AXIS_SWITCH, .level = LEVEL_NETWORK, .size = devices / domain};
    mesh->devices = mesh->chips = devices;
    for (int p = 0; p < 2 && pools[p][0] > 0; p++) {
        submeshes[p] = (SubMesh){.devices = pools[p][1]};
        point.pools[p].workers = pools[p][0];
        point.pools[p].on.submesh = &submeshes[p];
        point.pool_count++;
    }
}

static const struct {
    const char *what;
    int64_t host, domain, devices, pools[2][2];
    int64_t hosts;
    const char *places; /* host:first+count of each worker; several hosts as host-host; NULL: it is refused */
} ROWS[] = {
    {"two in a host", 8, 8, 16, {{3, 4}}, 2, "0:0+4 0:4+4 1:0+4"},
    {"of three, two fit", 8, 8, 16, {{3, 3}}, 2, "0:0+3 0:3+3 1:0+3"},
    {"whole hosts", 8, 8, 32, {{2, 16}}, 4, "0-1:0+8 2-3:0+8"},
    {"one and a half", 8, 8, 32, {{1, 12}}, 0, NULL},
    {"too many", 8, 8, 16, {{5, 4}}, 0, NULL},
    {"the larger pool first", 8, 8, 16, {{2, 2}, {1, 8}}, 2, "1:0+2 1:2+2 0:0+8"},
    {"the prompts' pool first where both are alike", 8, 8, 16, {{1, 4}, {1, 4}}, 1, "0:0+4 0:4+4"},
    {"a domain of several hosts", 4, 16, 32, {{2, 8}, {2, 2}}, 5, "0-1:0+4 2-3:0+4 4:0+2 4:2+2"},
    {"none between two hosts", 4, 16, 16, {{3, 3}}, 3, "0:0+3 1:0+3 2:0+3"},
    {"larger than a domain", 4, 8, 32, {{1, 16}, {1, 4}}, 5, "0-3:0+4 4:0+4"},
    {"no whole domains", 4, 8, 32, {{1, 12}}, 0, NULL},
    {"a machine smaller than a host", 8, 4, 4, {{2, 2}}, 1, "0:0+2 0:2+2"},
};

static void write(const WorkerPlaces *places, char *text, size_t size) {
    size_t used = 0;
    text[0] = '\0';
    for (int64_t i = 0; i < places->count; i++) {
        const WorkerPlace *at = &places->workers[i];
        used += (size_t)snprintf(text + used, size - used, "%s%d", i ? " " : "", (int)at->host);
        if (at->hosts > 1) used += (size_t)snprintf(text + used, size - used, "-%d", (int)(at->host + at->hosts - 1));
        used += (size_t)snprintf(text + used, size - used, ":%d+%d", (int)at->first, (int)at->count);
    }
}

Test(worker_hosts, places) {
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        Arena arena = {0};
        WorkerPlaces places;
        Error error = {0};
        char text[256];
        make(ROWS[i].host, ROWS[i].domain, ROWS[i].devices, ROWS[i].pools);
        bool ok = workers_place(&question, &point, "emit", &arena, &places, &error);
        cr_expect_eq(ok, ROWS[i].places != NULL, "%s: %s", ROWS[i].what, error.text);
        if (ok && ROWS[i].places) {
            write(&places, text, sizeof text);
            cr_expect_str_eq(text, ROWS[i].places, "%s: %s", ROWS[i].what, text);
            cr_expect_eq(places.hosts, ROWS[i].hosts, "%s: %d", ROWS[i].what, (int)places.hosts);
            for (int64_t w = 0; w < places.count; w++)
                cr_expect_eq(places.workers[w].pool, w >= point.pools[0].workers, "%s", ROWS[i].what);
        }
        arena_free(&arena);
    }
}
