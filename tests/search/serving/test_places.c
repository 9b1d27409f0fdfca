/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which device is held by which worker, as a text: a letter for each device, the axes from the inside. */
#include "search/serving/places.h"

#include "base/util.h"

#include <criterion/criterion.h>

typedef struct {
    int64_t size[3];
    bool torus;
} Place;

typedef struct {
    int64_t size[3], workers;
} Pool;

static const struct {
    const char *name;
    Place machine;
    int64_t host;
    Pool pools[2];
    const char *before, *holder; /* before: x is taken by others */
} ROWS[] = {
    {"side by side", {{8, 1, 1}, false}, 8, {{{4, 1, 1}, 2}}, NULL, "aaaabbbb"},
    {"what is too few for a worker idles", {{8, 1, 1}, false}, 8, {{{3, 1, 1}, 2}}, NULL, "aaabbb.."},
    {"none straddles two nodes", {{8, 2, 1}, false}, 8, {{{3, 1, 1}, 3}}, NULL, "aaabbb..ccc....."},
    {"none straddles two hosts of a domain", {{8, 1, 1}, false}, 4, {{{3, 1, 1}, 2}}, NULL, "aaa.bbb."},
    {"larger ones come first", {{8, 1, 1}, false}, 8, {{{2, 1, 1}, 2}, {{4, 1, 1}, 1}}, NULL, "ccccaabb"},
    {"whole nodes", {{2, 4, 1}, false}, 2, {{{2, 2, 1}, 2}}, NULL, "aaaabbbb"},
    {"behind what others hold", {{4, 2, 1}, false}, 4, {{{2, 1, 1}, 2}}, "xxxx....", "xxxxaabb"},
    {"no room", {{4, 1, 1}, false}, 4, {{{4, 1, 1}, 1}}, "x...", NULL},
    {"a box has rows of a torus", {{4, 2, 1}, true}, 4, {{{2, 2, 1}, 2}}, NULL, "aabbaabb"},
    {"boxes in three dimensions", {{2, 2, 2}, true}, 4, {{{2, 1, 2}, 2}}, NULL, "aabbaabb"},
    /* 1 x 2 of the second pool need two rows that no worker of the first is in: the cut is along x. */
    {"a torus is cut so that both have room", {{4, 2, 1}, true}, 4, {{{1, 1, 1}, 4}, {{1, 2, 1}, 2}}, NULL, "efabefcd"},
    {"a torus is full", {{2, 2, 1}, true}, 4, {{{2, 2, 1}, 2}}, NULL, NULL},
};

static void fill(const Place *machine, int64_t host, ServingQuestion *question) {
    Mesh *mesh = &question->machine.mesh;
    mesh->devices = 1;
    for (int a = 0; a < 3; a++) {
        if (machine->size[a] == 1) continue;
        AxisLevel level = machine->torus ? LEVEL_ICI : a == 0 ? LEVEL_NVLINK : LEVEL_NETWORK;
        mesh->axes[mesh->axis_count++] =
            (Axis){.kind = machine->torus ? AXIS_RING : AXIS_SWITCH, .level = level, .size = machine->size[a]};
        mesh->devices *= machine->size[a];
    }
    mesh->chips = mesh->devices;
    question->chip.chips_per_host = host, question->chip.devices_per_chip = 1;
}

static void fill_box(const Place *machine, const int64_t size[3], SubMesh *box) {
    *box = (SubMesh){.devices = 1, .copies = 1};
    for (int a = 0, axis = 0; a < 3; a++) {
        if (machine->size[a] == 1) continue;
        box->size[axis++] = size[a];
        box->devices *= size[a];
        box->copies *= machine->size[a] / size[a];
    }
}

Test(places, holders) {
    static ServingQuestion question;
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        Arena arena = {0};
        SubMesh boxes[2];
        ServingPoint point = {.pool_count = ROWS[i].pools[1].workers ? 2 : 1};
        int32_t holder[16];
        char text[17] = "";
        question = (ServingQuestion){0};
        fill(&ROWS[i].machine, ROWS[i].host, &question);
        for (int p = 0; p < point.pool_count; p++) {
            fill_box(&ROWS[i].machine, ROWS[i].pools[p].size, &boxes[p]);
            point.pools[p].on.submesh = &boxes[p], point.pools[p].workers = ROWS[i].pools[p].workers;
        }
        for (int64_t d = 0; d < question.machine.mesh.devices; d++)
            holder[d] = ROWS[i].before && ROWS[i].before[d] == 'x' ? 0 : -1;
        bool has_room = workers_hold(&question, &point, 1, &arena, holder);
        cr_expect_eq(has_room, ROWS[i].holder != NULL, "%s", ROWS[i].name);
        for (int64_t d = 0; d < question.machine.mesh.devices; d++)
            text[d] = holder[d] < 0 ? '.' : "xabcdefghijklmnop"[holder[d]];
        if (has_room && ROWS[i].holder) cr_expect_str_eq(text, ROWS[i].holder, "%s: %s", ROWS[i].name, text);
        arena_free(&arena);
    }
}
