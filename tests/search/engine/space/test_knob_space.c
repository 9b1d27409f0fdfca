/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The space: knobs counted, listed and made by their rules are the same; every plan of every space is covered once. */
#include "search/engine/space/knob_space.h"
#include "tests/sanitizer.h"
#include "tests/search/brute_space.h"
#include "tests/search/random_problem.h"

#include <stdlib.h>
#include <string.h>

/* ---- knobs of one tuple ---- */

#define ONE_CHUNKED .whole = {SCHEDULE_1F1B}, .whole_count = 1, .chunked = {SCHEDULE_INTERLEAVED}, .chunked_count = 1
static const KnobDomain PLAIN = {ONE_CHUNKED};
static const KnobDomain TORUS = {.head_ways = {2, 4, 8},
                                 .head_way_count = 3,
                                 .experts = 8,
                                 .overlaps = true,
                                 .whole = {SCHEDULE_GPIPE, SCHEDULE_1F1B, SCHEDULE_ZB_H1},
                                 .whole_count = 3,
                                 .chunked = {SCHEDULE_INTERLEAVED, SCHEDULE_CIRCULAR},
                                 .chunked_count = 2};
static const KnobDomain GPUS = {.switched = true, .experts = 8, ONE_CHUNKED};

/* ceil(n / x): 12, 6, 4, 3, 3, 2, 2, 2, 2, 2, 2, 1 for n = 12: six values, each at its least x. */
static const struct {
    const char *name;
    const KnobDomain *domain;
    int64_t layers, sequences;
    Degrees degrees; /* tensor expert sequence fsdp data pipeline */
    int64_t count;
} ROWS[] = {
    {"one chip, one sequence: nothing to choose", &PLAIN, 8, 1, {{1, 1, 1, 1, 1, 1}}, 1},
    {"12 sequences: 1 2 3 4 6 12", &PLAIN, 8, 12, {{1, 1, 1, 1, 1, 1}}, 6},
    {"tensor brings no knob", &PLAIN, 8, 12, {{4, 1, 1, 1, 1, 1}}, 6},
    {"but for overlap, where there is some", &TORUS, 8, 12, {{4, 1, 1, 1, 1, 1}}, 6 * 2},
    {"data: three stages of ZeRO", &PLAIN, 8, 24, {{1, 1, 1, 1, 2, 1}}, 6 * 3},
    {"fsdp: gather again or keep", &PLAIN, 8, 24, {{1, 1, 1, 2, 1, 1}}, 6 * 2},
    {"sequence: ring, all_gather, ulysses; weights over it or not, then with ZeRO",
     &PLAIN,
     8,
     12,
     {{1, 1, 2, 1, 1, 1}},
     6 * 3 * 2 * 3 * 2},
    {"sequence 8: also heads over 2 or 4, a ring of the rest", &TORUS, 8, 12, {{1, 1, 8, 1, 1, 1}}, 6 * 5 * 2 * 3 * 2},
    {"on GPUs sequence shards or replicates, then with ZeRO", &GPUS, 8, 12, {{1, 1, 2, 1, 1, 1}}, -1},
    {"expert splits the batch and gathers what is dense", &PLAIN, 8, 24, {{1, 2, 1, 1, 1, 1}}, 6 * 2},
    {"8 layers on 2 stages: 1, 2 or 4 chunks; even or balanced", &PLAIN, 8, 12, {{1, 1, 1, 1, 1, 2}}, 6 * 3 * 2},
    {"three whole schedules, two in 2 or 4 chunks", &TORUS, 8, 12, {{1, 1, 1, 1, 1, 2}}, 6 * (3 + 2 * 2) * 2},
    {"as many stages as layers: no virtual ones", &PLAIN, 8, 12, {{1, 1, 1, 1, 1, 8}}, 6 * 2},
    {"more stages than layers are counted, and pruned later", &PLAIN, 8, 12, {{1, 1, 1, 1, 1, 16}}, 6 * 2},
    {"uneven replicas: the fullest has ceil(13 / 2) = 7: 1 2 3 4 7", &PLAIN, 8, 13, {{1, 1, 1, 1, 2, 1}}, 5 * 3},
    /* none; over 4 ranks of data and 2 of tensor: ep 1 2 4 8, each with etp 1 or 2 that leaves whole ranks, less
     * (1, 2), the plain way: 1x1, 2x1, 2x2, 4x1, 4x2, 8x1 */
    {"folded experts", &GPUS, 8, 48, {{2, 1, 1, 1, 4, 1}}, 6 * 7 * 3 * 2},
    {"experts on a role are not folded", &GPUS, 8, 48, {{2, 4, 1, 1, 1, 1}}, 6 * 2},
    {"all together", &PLAIN, 8, 96, {{2, 1, 2, 2, 4, 2}}, 6 * 3 * 2 * 2 * 3 * 3 * 2},
};

/* A list that is too short is an error that names it, not a smaller space. */
Test(space, limits_are_errors) {
    static const struct {
        const char *name;
        KnobDomain domain;
        int64_t devices;
        const char *error; /* NULL means that all fits */
    } LIMITS[] = {
        {"few", {.switched = true, .experts = 8}, 64, NULL},
        {"more divisors of the heads than 65", {.too_many_head_ways = true}, 64, "65 divisors"},
        /* 735,134,400 has 1,344 divisors, of which 512 are not above 100,000 or so */
        {"more expert grids than 1024", {.switched = true, .experts = 1 << 20}, 735134400, "1024 ways"},
        {"which a torus has not", {.experts = 1 << 20}, 735134400, NULL},
    };
    for (size_t i = 0; i < COUNT_OF(LIMITS); i++) {
        Error error = {0};
        Model model = {.name = "m"};
        Mesh mesh = {.devices = LIMITS[i].devices};
        bool fit = knob_domain_fits(&LIMITS[i].domain, &model, &mesh, &error);
        cr_expect_eq(fit, LIMITS[i].error == NULL, "%s", LIMITS[i].name);
        if (LIMITS[i].error) cr_expect(strstr(error.text, LIMITS[i].error), "%s: %s", LIMITS[i].name, error.text);
    }
}

Test(space, knob_count) {
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        Model model = {.layers = ROWS[i].layers};
        int64_t count = knob_count(&model, &ROWS[i].degrees, ROWS[i].sequences, ROWS[i].domain);
        /* 6 microbatches x 3 methods x 2 (shards, replicates) x grids: none, (1, 1) is plain, (2, 1) x ZeRO x
         * gathers */
        int64_t expected = ROWS[i].count < 0 ? 6 * 3 * 2 * 2 * 3 * 2 : ROWS[i].count;
        cr_expect(count == expected, "%s: %lld, expected %lld", ROWS[i].name, (long long)count, (long long)expected);
    }
}

static int64_t seen_settings;

static int by_knobs(const void *a, const void *b) { return knobs_compare(a, b); }

/* The list is the rule's list, each setting once, in any order. */
static void check_list(const Request *request, const Degrees *degrees, int64_t sequences) {
    static Knobs listed[KNOBS_MAX], wanted[KNOBS_MAX];
    const Model *model = &request->question.model;
    const Mesh *mesh = &request->question.machine.mesh;
    CostContext setting = request_cost_context(request);
    KnobDomain domain = knob_domain(&setting, mesh, request->space.schedules);
    Arena arena = {0};
    Error error = {0};
    KnobSpace space;
    char notation[NOTATION_SIZE];
    degrees_notation(degrees, true, notation);
    if (knob_count(model, degrees, sequences, &domain) > KNOBS_MAX) return;
    cr_assert(knob_space(model, degrees, sequences, &domain, &arena, &space, &error));
    int64_t size = knob_family_count(&space) * knob_family_size(&space),
            count = brute_knobs(request, mesh, degrees, sequences, wanted);
    cr_expect(size == count && knob_count(model, degrees, sequences, &domain) == count,
              "%s, %lld layers, %lld sequences: listed %lld, counted %lld, by the rule %lld", notation,
              (long long)model->layers, (long long)sequences, (long long)size,
              (long long)knob_count(model, degrees, sequences, &domain), (long long)count);
    for (int64_t i = 0; i < size; i++) listed[i] = knob_space_at(&space, i);
    arena_free(&arena);
    if (size != count) return;
    qsort(listed, (size_t)size, sizeof(Knobs), by_knobs);
    qsort(wanted, (size_t)size, sizeof(Knobs), by_knobs);
    for (int64_t i = 0; i < size; i++) {
        cr_expect(knobs_compare(&listed[i], &wanted[i]) == 0, "%s, %lld layers, %lld sequences: setting %lld differs",
                  notation, (long long)model->layers, (long long)sequences, (long long)i);
        cr_expect(i == 0 || knobs_compare(&listed[i - 1], &listed[i]) != 0, "%s: a setting is listed twice", notation);
    }
    seen_settings += size;
}

Test(space, knobs_are_listed_once) {
    Draw draw = draw_seeded(5);
    Arena arena = {0};
    Catalog catalog;
    load_catalog(&arena, &catalog);
    for (int round = 0; round < 400 / PROBLEMS_SHARE; round++) {
        Arena own = {0};
        Request request = random_request(&draw, &catalog, 64, 96, &own);
        request.question.model.layers = request.question.model.kinds[0].count = draw_whole(&draw, 1, 80);
        request.question.model.kind_count = 1;
        Degrees degrees;
        for (int role = 0; role < ROLE_COUNT; role++) degrees.of[role] = DRAW_FROM(&draw, 1, 1, 2, 3, 4, 8);
        check_list(&request, &degrees, draw_whole(&draw, 1, 100));
        arena_free(&own);
    }
    arena_free(&arena);
    cr_expect(seen_settings > 100000 / PROBLEMS_SHARE, "%lld settings", (long long)seen_settings);
}

/* ---- what is covered ---- */

/* By definition: over machines, tuples and batches, placements times knobs, each counted by listing it. */
static Count brute_covered(const Request *request, int64_t *tuples_of_all, int *machine_count) {
    static Knobs knobs[KNOBS_MAX];
    Arena arena = {0};
    Error error = {0};
    const Machine *machines;
    Count covered = 0;
    *machine_count = brute_machines(request, &arena, &machines);
    *tuples_of_all = 0;
    for (int m = 0; m < *machine_count; m++) {
        Degrees *tuples;
        int64_t count;
        DegreesList listed = {0};
        cr_assert(degrees_enumerate(&machines[m].mesh, request->space.roles, 100000, &arena, &listed, &error));
        tuples = listed.tuples, count = listed.count;
        *tuples_of_all += count;
        for (int64_t i = 0; i < count; i++) {
            Arena own = {0};
            Placement *placements;
            int64_t batches[512], ways;
            cr_assert(placements_enumerate(&machines[m].mesh, &tuples[i], &own, &placements, &ways, &error));
            int64_t batch_count = brute_batches(request, &tuples[i], batches, 512);
            for (int64_t b = 0; b < batch_count; b++)
                covered += (Count)ways * (Count)brute_knobs(request, &machines[m].mesh, &tuples[i], batches[b], knobs);
            arena_free(&own);
        }
    }
    arena_free(&arena);
    return covered;
}

static void check_sum(const Certificate *certificate, const char *text) {
    Count sum = certificate->plans_evaluated;
    for (int i = 0; i < PRUNED_COUNT; i++) sum += certificate->plans_pruned[i];
    char covered[COUNT_TEXT_SIZE], added[COUNT_TEXT_SIZE];
    cr_expect(sum == certificate->plans_covered, "%s: covered %s, evaluated and pruned %s", text,
              count_text(certificate->plans_covered, true, covered), count_text(sum, true, added));
}

Test(space, every_plan_is_covered_once) {
    Arena arena = {0};
    Catalog catalog;
    load_catalog(&arena, &catalog);
    int idle = 0, moved = 0, all = 0;
    for (uint64_t seed = 0; seed < 120 / PROBLEMS_SHARE; seed++) {
        Arena own = {0};
        Draw draw = draw_seeded(500 + seed);
        Error error = {0};
        char text[320];
        Request request = random_request(&draw, &catalog, 24, 40, &own);
        request.control.top = (int)draw_whole(&draw, 1, 5);
        request.control.brute_force = draw_chance(&draw, 0.1);
        set_hbm(&request, request.question.chip.hbm_bytes.value / NO_LIMIT * draw_real(&draw, 0.001, 0.2));
        problem_text(&request, text);
        int64_t tuples;
        int machines;
        Count covered = brute_covered(&request, &tuples, &machines);
        if (covered > (request.control.brute_force ? 6000 : 1600000)) { /* time */
            arena_free(&own);
            continue;
        }
        SearchResult result;
        cr_assert(search_run(&request, &own, &result, &error), "%s: %s", text, error.text);
        const Certificate *certificate = &result.certificate;
        check_sum(certificate, text);
        cr_expect(certificate->plans_covered == covered, "%s: covered %lld, by definition %lld", text,
                  (long long)certificate->plans_covered, (long long)covered);
        cr_expect(certificate->degree_tuples == tuples && certificate->machines == machines,
                  "%s: %lld tuples on %d machines, by definition %lld on %d", text,
                  (long long)certificate->degree_tuples, certificate->machines, (long long)tuples, machines);
        cr_expect(certificate->degree_tuples_expanded <= certificate->degree_tuples * certificate->batches, "%s", text);
        idle += certificate->machines > 1;
        moved += certificate->batches > 1;
        all++;
        arena_free(&own);
    }
    arena_free(&arena);
    cr_expect(all > 60 / PROBLEMS_SHARE && idle > 10 / PROBLEMS_SHARE && moved > 10 / PROBLEMS_SHARE,
              "%d problems, %d with idle shapes, %d with several batches", all, idle, moved);
}

/* ---- eight v5p pods: the counts of docs/search.md, "The question and the space" ---- */

/* Ways to write n as an ordered product of `roles` factors: C(e + roles - 1, roles - 1) over the primes. */
static int64_t splits(int64_t n, int roles) {
    if (roles == 1) return 1;
    int64_t ways = 0;
    for (int64_t first = 1; first <= n; first++)
        if (n % first == 0) ways += splits(n / first, roles - 1);
    return ways;
}

static int64_t
quotients(int64_t n) { /* a value of ceil(n / x) is new where it differs from the one before, for they only fall */
    int64_t count = 0;
    for (int64_t x = 1; x <= n; x++) count += x == 1 || (n + x - 1) / x != (n + x - 2) / (x - 1);
    return count;
}

Test(space, eight_pods) {
    enum { SEQUENCES = 2048 };
    Arena arena = {0};
    Error error = {0};
    Catalog catalog;
    load_catalog(&arena, &catalog);
    const Chip *chip = catalog_find(&catalog, "v5p");
    cr_assert_not_null(chip);
    Request request = {.question.chip = *chip,
                       .question.work = {SEQUENCES, 8192},
                       .space.nesting = nesting_canonical(),
                       .space.schedules = SCHEDULES_ALL,
                       .space.roles = ROLES_DENSE,
                       .space.padding = PADDING_ANY,
                       .control.top = 2,
                       .control.threads = 2,
                       .question.hbm_reserve = 0.08};
    request.question.model =
        (Model){.layers = 126, .d_model = 16384, .vocab = 128256, .max_seq = 131072, .kind_count = 1};
    request.question.model.kinds[0] = (LayerKind){.count = 126,
                                                  .heads = 128,
                                                  .kv_heads = 8,
                                                  .head_dim = 128,
                                                  .gated = true,
                                                  .d_ff = 53248,
                                                  .norms = 2}; /* Llama 3.1 405B */
    cr_assert(machine_from_request(chip, &(MachineRequest){.pods = 8}, &request.question.machine, &error), "%s",
              error.text);
    cr_assert(profile_load("ideal", NULL, chip, &arena, &request.question.profile, &error), "%s", error.text);
    cr_assert(requirements_parse("tensor>=8 tensor<=10 sequence<=2 pipeline<=2", "test", request.space.requirements,
                                 &request.space.requirement_count, &error));

    Degrees *tuples;
    int64_t count;
    DegreesList listed = {0};
    cr_assert(degrees_enumerate(&request.question.machine.mesh, ROLES_DENSE, 100000, &arena, &listed, &error));
    tuples = listed.tuples, count = listed.count;
    PlacementTable *table = placement_table(&request.question.machine.mesh, ROLES_DENSE, &arena);
    Count placements = 0, plans = 0, required = 0;
    for (int64_t i = 0; i < count; i++) {
        const int64_t *of = tuples[i].of;
        int64_t n = divide_up(SEQUENCES, of[ROLE_DATA] * of[ROLE_FSDP]),
                chunks = of[ROLE_PIPELINE] > 1 && of[ROLE_PIPELINE] <= 126 ? 126 / of[ROLE_PIPELINE] : 1;
        /* four schedules of whole stages, two of chunks, even or balanced stages, or 128 slots and then chunks of one;
         * ring, all_gather, Ulysses, and Ulysses x ring for every proper divisor that divides 128 heads too */
        int64_t slots = of[ROLE_PIPELINE] > 2 && of[ROLE_PIPELINE] <= 128 && 128 % of[ROLE_PIPELINE] == 0 ? 1 : 0;
        slots = slots && 128 / of[ROLE_PIPELINE] > chunks ? 1 : 0;
        int64_t pipes = of[ROLE_PIPELINE] > 1 ? (4 + 2 * (quotients(chunks) + slots - 1)) * (2 + slots) : 1,
                contexts = 1;
        for (int64_t ways = 2; of[ROLE_SEQUENCE] > 1 && ways < of[ROLE_SEQUENCE]; ways++)
            contexts += of[ROLE_SEQUENCE] % ways == 0 && 128 % ways == 0;
        int64_t knobs = quotients(n) * pipes * (of[ROLE_DATA] > 1 || of[ROLE_SEQUENCE] > 1 ? 3 : 1) *
                        (of[ROLE_SEQUENCE] > 1 ? (contexts + 2) * 2 /* it shards weights, or replicates */ : 1) *
                        (of[ROLE_SEQUENCE] > 1 || of[ROLE_FSDP] > 1 ? 2 : 1) * 2 /* optimizer at home or on the host */;
        Count ways = placement_count(table, &tuples[i]);
        placements += ways;
        plans += ways * (Count)knobs;
        required += request_admits(&request, &tuples[i]) ? 0 : ways * (Count)knobs;
    }
    int64_t per_axes = splits(16, 5) * splits(20, 5) * splits(28, 5) * splits(8, 5);
    cr_expect(per_axes == 13781250 && placements == 13781250, "%lld by axes, %lld by tuples", (long long)per_axes,
              (long long)placements);
    cr_expect(count == 34125, "%lld tuples", (long long)count);

    SearchResult result;
    cr_assert(search_run(&request, &arena, &result, &error), "%s", error.text);
    const Certificate *certificate = &result.certificate;
    cr_expect(certificate->factorizations == 13781250 && certificate->degree_tuples == 34125 &&
                  certificate->plans_covered == plans,
              "covered %lld, by definition %lld", (long long)certificate->plans_covered, (long long)plans);
    cr_expect(certificate->plans_pruned[PRUNED_REQUIRE] == required && result.plan_count == 2,
              "%lld not as required, by definition %lld, %d plans",
              (long long)certificate->plans_pruned[PRUNED_REQUIRE], (long long)required, result.plan_count);
    check_sum(certificate, "eight pods");
    arena_free(&arena);
}
