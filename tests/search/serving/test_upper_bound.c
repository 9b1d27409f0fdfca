/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What nothing exceeds: by hand for the book's roofline, and on random problems. */
#include "search/serving/answer.h"

#include "search/serving/point.h"
#include "tests/sanitizer.h"
#include "tests/search/serving/problems.h"

#include <math.h>

static cJSON *profile_of(const char *name, Arena *arena, Catalog *catalog) {
    Error error = {0};
    const char *path;
    cr_assert(catalog_load(arena, catalog, &error), "%s", error.text);
    cJSON *json = serving_profile_open(name, arena, &path, &error);
    cr_assert(json, "%s", error.text);
    return json;
}

/* Every point of 120 fronts, by the profile with floors and by the one without. */
static void no_point_exceeds(const char *name) {
    enum { PROBLEMS = 60 / PROBLEMS_SHARE };
    Arena kept = {0};
    Catalog catalog;
    cJSON *profile = profile_of(name, &kept, &catalog);
    double closest = 0;
    for (uint64_t seed = 1; seed <= PROBLEMS; seed++) {
        ServingQuestion question = random_question(seed, &catalog, profile);
        Arena arena = {0};
        ServingAnswer answer;
        Error error = {0};
        cr_assert(serving_answer(&question, &arena, &answer, &error), "%s", error.text);
        for (int i = 0; i < answer.front.count; i++) {
            const ServingPoint *point = &answer.front.points[i];
            ServingUpperBound all = serving_upper_bound(&question, 0);
            ServingUpperBound within = serving_upper_bound(&question, point->tpot_seconds);
            cr_expect_leq(point->per_user, all.per_user * (1 + 1e-9), "problem %d, point %d", (int)seed, i);
            cr_expect_leq(point->per_chip, all.per_chip * (1 + 1e-9), "problem %d, point %d", (int)seed, i);
            cr_expect_leq(point->per_chip, within.per_chip * (1 + 1e-9), "problem %d, point %d", (int)seed, i);
            closest = fmax(closest, point->per_chip / within.per_chip);
        }
        serving_answer_free(&answer);
        arena_free(&arena);
    }
    if (PROBLEMS_SHARE == 1) /* a loose one would say nothing; fewer problems have less of everything */
        cr_expect_gt(closest, 0.9, "the bound is never near: %g", closest);
    cJSON_Delete(profile);
    arena_free(&kept);
}

Test(upper_bound, no_point_exceeds_it) {
    no_point_exceeds("default");
    no_point_exceeds("ideal");
}

/* 70B in int8 on 16 v5e by the book's rules, decode alone, contexts of 8,192 + 512 tokens. */
static ServingQuestion book_question(const Catalog *catalog, const cJSON *profile) {
    ServingQuestion question = random_question(1, catalog, profile);
    Error error = {0};
    question.chip = *catalog_find(catalog, "v5e");
    question.device = chip_device(&question.chip);
    machine_of_slice(&question.chip, (SliceShape){{4, 4, 1}}, 1, &question.machine);
    cr_assert(serving_profile_from_json(profile, "ideal", &question.chip, NULL, &question.profiles[NO_ENGINE], &error));
    question.any_engine = true;
    question.modes = 1u << SERVE_DECODE;
    question.weights_count = question.caches_count = 1;
    question.weights[0] = question.caches[0] = STORED_INT8;
    question.speculation = (Speculation){0};
    question.adapters = (Adapters){0};
    question.requirement_count = 0;
    question.rate = 0;
    question.concurrency = 0;
    question.model = (Model){.name = "70B", .layers = 80, .d_model = 8192, .vocab = 128256, .kind_count = 1};
    question.model.kinds[0] =
        (LayerKind){.count = 80, .heads = 64, .kv_heads = 8, .head_dim = 128, .d_ff = 28672, .gated = true, .norms = 2};
    question.request = (ServedRequest){8192, 512, 0};
    question.peak_tokens = question.longest = 8704;
    question.mean_context = 8448;
    return question;
}

static const double BOOK_LAYER = 8192.0 * (64 + 8 + 8 + 64) * 128 + 3 * 8192.0 * 28672;
static const double BOOK_TABLE = 128256.0 * 8192, BOOK_TOKEN = 80.0 * 2 * 8 * 128; /* bytes of a token's cache */

/* The book's decode step: bytes of weights and of one sequence's cache over 16 HBMs; the head and the embedding are not
 * read for a token of the answer, but for the head once. */
Test(upper_bound, is_the_roofline_of_the_book) {
    Arena arena = {0};
    Catalog catalog;
    cJSON *profile = profile_of("ideal", &arena, &catalog);
    ServingQuestion question = book_question(&catalog, profile);
    double weights = 80 * BOOK_LAYER + BOOK_TABLE, cache = BOOK_TOKEN * 8448;
    double hbm = 16 * question.device.hbm_bytes_per_second.value;
    ServingUpperBound bound = serving_upper_bound(&question, 0);
    cr_expect_float_eq(1 / bound.per_user, (weights + cache) / hbm, 1e-6, "%g s", 1 / bound.per_user);
    /* Ten sequences take the weights once and ten caches: so many and no more fit within just that time. */
    bound = serving_upper_bound(&question, (weights + 10.5 * cache) / hbm);
    cr_expect_float_eq(bound.per_chip, 10 / ((weights + 10 * cache) / hbm) / 16, 1e-6, "%g", bound.per_chip);
    cJSON_Delete(profile);
    arena_free(&arena);
}

/* What stays free of 16 HBMs after buffers, the weights and both tables holds five sequences at their full length, and
 * not six. */
Test(upper_bound, has_room_for_so_many) {
    Arena arena = {0};
    Catalog catalog;
    cJSON *profile = profile_of("ideal", &arena, &catalog);
    ServingQuestion question = book_question(&catalog, profile);
    double held = 80 * BOOK_LAYER + 2 * BOOK_TABLE, read = 80 * BOOK_LAYER + BOOK_TABLE;
    double limit = question.profiles[NO_ENGINE].memory_fraction * question.device.hbm_bytes.value;
    double hbm = 16 * question.device.hbm_bytes_per_second.value;
    question.profiles[NO_ENGINE].workspace_bytes = limit - (held + 5.5 * BOOK_TOKEN * 8704) / 16;
    cr_expect_gt(question.profiles[NO_ENGINE].workspace_bytes, 0);
    ServingUpperBound bound = serving_upper_bound(&question, 0);
    cr_expect_float_eq(bound.per_chip * 16 * (read + 5 * BOOK_TOKEN * 8448) / hbm, 5, 1e-3, "%g",
                       bound.per_chip * 16 * (read + 5 * BOOK_TOKEN * 8448) / hbm);
    cJSON_Delete(profile);
    arena_free(&arena);
}

/* Where no memory holds one sequence and the model, nothing is served at all: not one token. */
Test(upper_bound, of_what_does_not_fit_is_zero) {
    Arena arena = {0};
    Catalog catalog;
    cJSON *profile = profile_of("default", &arena, &catalog);
    ServingQuestion question = random_question(3, &catalog, profile);
    cr_expect(serving_upper_bound(&question, 0).per_chip > 0 && serving_upper_bound(&question, 0).per_user > 0);
    question.device.hbm_bytes.value = question.chip.hbm_bytes.value = 1;
    cr_expect_eq(serving_upper_bound(&question, 0).per_chip, 0);
    cr_expect_eq(serving_upper_bound(&question, 0).per_user, 0);
    cJSON_Delete(profile);
    arena_free(&arena);
}
