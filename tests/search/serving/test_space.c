/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of a machine that a worker may have, counted by hand. */
#include "search/serving/space.h"

#include "base/util.h"
#include "mesh/slice.h"
#include "tests/search/serving/problems.h"

/* An axis of which a part takes one chip is none of its mesh; a ring that it takes whole stays one, and a piece of a
 * ring is a line. */
static void check(const Mesh *machine, const WorkerBox *box) {
    int64_t devices = 1, copies = 1;
    int axes = 0;
    for (int a = 0; a < machine->axis_count; a++) {
        devices *= box->size[a];
        copies *= machine->axes[a].size / box->size[a];
        if (box->size[a] == 1) continue;
        const Axis *has = &box->mesh.axes[axes++], *of = &machine->axes[a];
        cr_expect_eq(has->size, box->size[a]);
        cr_expect_str_eq(has->name, of->name);
        cr_expect_eq(has->kind, of->kind == AXIS_RING && has->size < of->size ? AXIS_LINE : of->kind);
    }
    cr_expect_eq(box->mesh.axis_count, axes, "%d axes", box->mesh.axis_count);
    cr_expect(box->devices == devices && box->mesh.devices == devices && box->copies == copies);
}

Test(space, boxes) {
    static const struct {
        const char *chip, *slice;
        int64_t gpus;
        int boxes, whole_rings;
    } ROWS[] = {
        /* of 4 x 8: 1, 2 or 4 by 1, 2, 4 or 8, all lines, since a ring of v5e is 16 long */
        {"v5e", "4x8", 0, 3 * 4, 0},
        /* of 4 x 16: 3 by 5, of which those of 16 are rings */
        {"v5e", "4x16", 0, 3 * 5, 3},
        /* 1 to 8 of a domain; 2 or 3 domains whole */
        {"h100", NULL, 24, 8 + 2, 0},
    };
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        Arena arena = {0};
        Catalog catalog;
        Error error = {0};
        BoxList boxes;
        int rings = 0;
        cr_assert(catalog_load(&arena, &catalog, &error), "%s", error.text);
        ServingQuestion question = {.chip = *catalog_find(&catalog, ROWS[i].chip)};
        if (ROWS[i].slice) {
            SliceShape shape;
            int sizes;
            cr_assert(slice_parse(ROWS[i].slice, &shape, &sizes));
            machine_of_slice(&question.chip, shape, 1, &question.machine);
        } else
            machine_of_gpus(&question.chip, ROWS[i].gpus, &question.machine);
        cr_assert(boxes_enumerate(&question, &arena, &boxes, &error), "%s", error.text);
        cr_expect_eq(boxes.count, ROWS[i].boxes, "%s: %d boxes", ROWS[i].chip, boxes.count);
        for (int b = 0; b < boxes.count; b++) {
            check(&question.machine.mesh, &boxes.boxes[b]);
            for (int a = 0; a < boxes.boxes[b].mesh.axis_count; a++)
                rings += boxes.boxes[b].mesh.axes[a].kind == AXIS_RING;
        }
        cr_expect_eq(rings, ROWS[i].whole_rings, "%s: %d rings", ROWS[i].chip, rings);
        arena_free(&arena);
    }
}
