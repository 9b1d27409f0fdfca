/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of a machine that a worker may have, counted by hand; and certificates of searches: each batch of each
 * layout is in one line, and they add up to what the answer counts; what time cut off has no bound. */
#include "search/serving/space.h"

#include "base/util.h"
#include "mesh/slice.h"
#include "tests/sanitizer.h"
#include "tests/search/serving/problems.h"

#include <math.h>
#include <string.h>

/* An axis of which a part takes one chip is none of its mesh; a ring that it takes whole stays one, and a piece of a
 * ring is a line. */
static void check_submesh(const Mesh *machine, const SubMesh *submesh) {
    int64_t devices = 1, copies = 1;
    int axes = 0;
    for (int a = 0; a < machine->axis_count; a++) {
        devices *= submesh->size[a];
        copies *= machine->axes[a].size / submesh->size[a];
        if (submesh->size[a] == 1) continue;
        const Axis *has = &submesh->mesh.axes[axes++], *of = &machine->axes[a];
        cr_expect_eq(has->size, submesh->size[a]);
        cr_expect_str_eq(has->name, of->name);
        cr_expect_eq(has->kind, of->kind == AXIS_RING && has->size < of->size ? AXIS_LINE : of->kind);
    }
    cr_expect_eq(submesh->mesh.axis_count, axes, "%d axes", submesh->mesh.axis_count);
    cr_expect(submesh->devices == devices && submesh->mesh.devices == devices && submesh->copies == copies);
}

Test(space, submeshes) {
    static const struct {
        const char *chip, *slice;
        int64_t gpus;
        int submeshes, whole_rings;
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
        SubMeshList submeshes;
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
        cr_assert(submeshes_enumerate(&question, &arena, &submeshes, &error), "%s", error.text);
        cr_expect_eq(submeshes.count, ROWS[i].submeshes, "%s: %d submeshes", ROWS[i].chip, submeshes.count);
        for (int b = 0; b < submeshes.count; b++) {
            check_submesh(&question.machine.mesh, &submeshes.list[b]);
            for (int a = 0; a < submeshes.list[b].mesh.axis_count; a++)
                rings += submeshes.list[b].mesh.axes[a].kind == AXIS_RING;
        }
        cr_expect_eq(rings, ROWS[i].whole_rings, "%s: %d rings", ROWS[i].chip, rings);
        arena_free(&arena);
    }
}

/* Workers that hosts can start: an even part of one, whole ones in a rack, whole racks. MaxText answers at one port. */
Test(space, workers_lie_on_hosts) {
    static const struct {
        const char *chip, *engine;
        int64_t gpus, tensor, data, pipeline;
        bool takes;
    } ROWS[] = {
        {"h200", "vllm", 8, 2, 1, 1, true},
        {"h200", "vllm", 8, 2, 1, 3, false},
        {"h200", "vllm", 16, 8, 1, 2, true},
        {"h200", "vllm", 16, 4, 1, 3, false},
        {"gb200", "tensorrt-llm", 72, 2, 1, 3, false},
        {"gb200", "tensorrt-llm", 72, 4, 1, 3, true},
        {"gb200", "tensorrt-llm", 144, 8, 1, 9, true},
        {"gb200", "tensorrt-llm", 144, 4, 1, 19, false},
        {"h200", "vllm", 6, 2, 1, 3, true},
        {"v5e", "maxtext", 0, 8, 1, 1, true},
        {"v5e", "maxtext", 0, 4, 1, 1, false},
    };
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        Arena arena = {0};
        Catalog catalog;
        Error error = {0};
        SliceShape shape;
        int sizes;
        cr_assert(catalog_load(&arena, &catalog, &error), "%s", error.text);
        ServingQuestion question = {.chip = *catalog_find(&catalog, ROWS[i].chip)};
        question.model = (Model){.layers = 80, .d_model = 8192, .vocab = 1000, .kind_count = 1};
        question.model.kinds[0] = (LayerKind){.count = 80, .heads = 64, .kv_heads = 8, .head_dim = 128, .d_ff = 28672};
        if (ROWS[i].gpus > 0)
            machine_of_gpus(&question.chip, ROWS[i].gpus, &question.machine);
        else if (slice_parse("4x8", &shape, &sizes))
            machine_of_slice(&question.chip, shape, 1, &question.machine);
        WorkerLayout layout = {ROWS[i].tensor, ROWS[i].data, ROWS[i].pipeline, 1, 1, 1, 1, 1, STORED_BF16, STORED_BF16};
        cr_expect_eq(engine_takes(&question, engine_named(ROWS[i].engine), PHASE_BOTH, &layout), ROWS[i].takes,
                     "row %zu", i);
        arena_free(&arena);
    }
}

/* ---- the search log ---- */

enum { COLUMNS = 20, WHAT = 15, LOW, HIGH, USER, CHIP, PROBLEMS = 24 };

typedef struct {
    Count covered, cut[CUT_COUNT], excluded[EXCLUDED_COUNT];
} Tally;

static int split(char *line, char *cells[COLUMNS]) {
    int count = 0;
    for (char *cell; count < COLUMNS && (cell = strsep(&line, "\t")) != NULL;) cells[count++] = cell;
    return line ? COLUMNS + 1 : count;
}

static void add_line(char *line, Tally *tally) {
    char *cells[COLUMNS];
    cr_assert_eq(split(line, cells), COLUMNS, "%s", line);
    Count batches = (Count)(atoll(cells[HIGH]) - atoll(cells[LOW]) + 1);
    double user = strtod(cells[USER], NULL), chip = strtod(cells[CHIP], NULL);
    bool known = false;
    for (int i = 0; i < CUT_COUNT; i++) {
        if (strcmp(cells[WHAT], cut_reason_name((CutReason)i)) != 0) continue;
        known = true;
        tally->cut[i] += batches;
        cr_expect(i != CUT_TIME || (user == 0 && chip == 0), "nothing is known of what time cut off");
        cr_expect(i != CUT_BOUND || (user > 0 && chip > 0));
    }
    for (int i = 0; i < EXCLUDED_COUNT; i++)
        if (strcmp(cells[WHAT], exclusion_name((Exclusion)i)) == 0) tally->excluded[i]++, known = true;
    if (known) return;
    cr_expect_str_eq(cells[WHAT], "layout");
    tally->covered += batches;
}

static Tally answer(ServingQuestion *question, ServingAnswer *out, Arena *arena) {
    char *text = NULL, *rest;
    size_t length = 0;
    Error error = {0};
    Tally tally = {0};
    question->certificate = open_memstream(&text, &length);
    cr_assert(question->certificate && serving_answer(question, arena, out, &error), "%s", error.text);
    cr_assert_eq(fclose(question->certificate), 0);
    rest = text;
    strsep(&rest, "\n"); /* the names of the columns */
    for (char *line; (line = strsep(&rest, "\n")) && *line;) add_line(line, &tally);
    free(text);
    return tally;
}

/* A clock that goes on by a second each time somebody looks at it. */
static double looked;
static int tried_late;
static double look(void *context) {
    (void)context;
    return looked++;
}

/* One pool, whose batches all stand in the certificate. */
static void check_log(uint64_t seed, const Catalog *catalog, const cJSON *profile, bool timed) {
    ServingQuestion question = random_question(seed, catalog, profile);
    Arena arena = {0};
    ServingAnswer out;
    question.modes = 1u << SERVE_AGGREGATED;
    question.environment.seconds = look;
    question.time_limit_seconds = timed ? (double)(seed % 7) + 0.5 : 0;
    Tally tally = answer(&question, &out, &arena);
    const ServingCount *count = &out.count;
    for (int i = 0; i < CUT_COUNT; i++)
        cr_expect(tally.cut[i] == count->cut[i], "problem %d: %s", (int)seed, cut_reason_name((CutReason)i));
    for (int i = 0; i < EXCLUDED_COUNT; i++)
        cr_expect(tally.excluded[i] == count->space.excluded[i], "problem %d: %s", (int)seed,
                  exclusion_name((Exclusion)i));
    Count evaluated = tally.covered;
    for (int i = 0; i < CUT_COUNT; i++) evaluated -= tally.cut[i];
    cr_expect(tally.covered == count->covered && evaluated == count->evaluated, "problem %d", (int)seed);
    cr_expect_eq(count->complete, count->cut[CUT_TIME] == 0, "problem %d", (int)seed);
    tried_late += !count->complete;
    serving_answer_free(&out);
    arena_free(&arena);
}

Test(serving_log, adds_up) {
    Arena kept = {0};
    Catalog catalog;
    Error error = {0};
    const char *path;
    cr_assert(catalog_load(&kept, &catalog, &error), "%s", error.text);
    cJSON *profile = serving_profile_open("default", &kept, &path, &error);
    cr_assert(profile, "%s", error.text);
    for (uint64_t seed = 1; seed <= PROBLEMS / PROBLEMS_SHARE; seed++) {
        check_log(seed, &catalog, profile, false);
        check_log(seed, &catalog, profile, true);
    }
    cr_expect_gt(tried_late, 5 / PROBLEMS_SHARE);
    cJSON_Delete(profile);
    arena_free(&kept);
}
