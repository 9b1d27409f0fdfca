/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The answer of `inference` as text, Markdown, CSV, as it lies in tests/data/reports/serving: points, steps
 * and memory are invented here, so that only the layout is compared, which was looked at. Throughput
 * alone is priced, for a model and a chip that are invented too, by the book's rules. */
#include "search/serving/report/serving_report.h"

#include "base/json.h"
#include "base/util.h"
#include "tests/search/golden.h"

static ServingQuestion question;
static ServingAnswer answer;
static ServingReport report;
static SubMesh submeshes[2];
static ServingPoint front[4], physical[2];

static void fill_profile(ServingProfile *profile) {
    *profile = (ServingProfile){.name = "plain",
                                .source = "invented",
                                .prefill_attention_flops_share = 1,
                                .expert_hbm_share = {1, 1, 1},
                                .expert_flops_share = {1, 1, 1},
                                .attention_hbm_share = {1, 1},
                                .page_tokens = 1,
                                .pipeline_share = 1,
                                .memory_fraction = 1,
                                .link_share = 1,
                                .exchange_share = 1};
    for (int a = 0; a < ARITHMETIC_COUNT; a++) profile->matmul_hbm_share[a] = profile->matmul_flops_share[a] = 1;
}

static void fill_question(void) {
    Chip *chip = &question.chip;
    question.model = (Model){.name = "demo-2b", .layers = 24, .d_model = 2048, .vocab = 32000, .kind_count = 1};
    question.model.kinds[0] =
        (LayerKind){.count = 24, .heads = 16, .kv_heads = 4, .head_dim = 128, .d_ff = 8192, .gated = true, .norms = 2};
    *chip = (Chip){.name = "demo", .title = "Demo chip", .devices_per_chip = 1};
    chip->bf16_flops_per_second.value = 4e14, chip->hbm_bytes_per_second.value = 2e12;
    chip->hbm_bytes.value = 32e9, chip->usd_per_chip_hour.value = 2.5;
    question.device = *chip;
    question.machine.mesh =
        (Mesh){.axes = {{.name = "links", .kind = AXIS_SWITCH, .size = 8, .bytes_per_second = 1e11}},
               .axis_count = 1,
               .chips = 8,
               .devices = 8};
    chip->chips_per_host = 8;
    snprintf(question.machine.text, sizeof question.machine.text, "8 chips");
    question_lengths(&question, 1024, 256);
    question.modes = 1u << SERVE_AGGREGATED | 1u << SERVE_DISAGGREGATED;
    question.engines = 1u << engine_named("vllm");
    question.weights_count = question.caches_count = question.budget_count = 1;
    question.weights[0] = question.caches[0] = STORED_BF16;
    question.budgets[0] = 2048;
    for (int e = 0; e <= ENGINES_MAX; e++) fill_profile(&question.profiles[e]);
}

/* A sub-mesh of so many devices on one switch. */
static void fill_submesh(SubMesh *submesh, int64_t devices) {
    *submesh = (SubMesh){.size = {devices}, .devices = devices, .copies = 8 / devices};
    if (devices > 1)
        submesh->mesh.axes[submesh->mesh.axis_count++] =
            (Axis){.name = "links", .kind = AXIS_SWITCH, .size = devices, .bytes_per_second = 1e11};
    submesh->mesh.chips = submesh->mesh.devices = devices;
}

/* 40% matmuls, 20% attention, 15% each of messages and small kernels, 10% the head. */
static ServingPool pool_of(ServingPhase phase, int64_t workers, int64_t tensor, int64_t batch, double step) {
    ServingPool pool = {.phase = phase, .workers = workers, .batch = batch, .step_tokens = 2048};
    SubMesh *submesh = &submeshes[tensor > 1];
    pool.on = (ServingLayout){.submesh = submesh, .engine = engine_named("vllm")};
    pool.on.layout = (WorkerLayout){tensor, 1, 1, 1, 1, 1, 1, 1, STORED_BF16, STORED_BF16};
    for (int a = 0; a < MESH_AXES_MAX; a++)
        for (int role = 0; role < ROLE_COUNT; role++) pool.on.placement.factor[a][role] = 1;
    pool.on.placement.factor[0][ROLE_TENSOR] = tensor;
    pool.step = (StepCost){.seconds = step, .held = {step / 2, step / 4, step / 8, step / 16}};
    pool.step.terms[STEP_MATMUL] = 0.4 * step, pool.step.terms[STEP_ATTENTION] = 0.2 * step;
    pool.step.terms[STEP_REDUCE] = pool.step.terms[STEP_LAYERS] = 0.15 * step;
    pool.step.terms[STEP_HEAD] = 0.1 * step;
    pool.memory = (WorkerMemory){28e9, 5e9 / (double)tensor, 2e8 * (double)batch / (double)tensor, 3e8, 1e9};
    return pool;
}

static ServingPoint point_of(int64_t workers, int64_t tensor, int64_t batch, double step) {
    ServingPoint point = {.mode = SERVE_AGGREGATED, .pool_count = 1, .chips_used = workers * tensor};
    point.pools[0] = pool_of(PHASE_BOTH, workers, tensor, batch, step);
    point.tpot_seconds = step;
    point.per_user = 1 / step;
    point.ttft_seconds = 10 * step, point.prompt_seconds = 4 * step;
    point.tokens_per_second = (double)(workers * batch) / step;
    point.requests_per_second = point.tokens_per_second / 256;
    point.per_chip = point.tokens_per_second / 8;
    point.prefill_load = 0.4;
    return point;
}

static ServingPoint two_pools(void) {
    ServingPoint point = point_of(1, 4, 40, 0.008);
    point.mode = SERVE_DISAGGREGATED;
    point.pool_count = 2;
    point.chips_used = 8;
    point.pools[1] = point.pools[0];
    point.pools[0] = pool_of(PHASE_PROMPTS, 4, 1, 1, 0.05);
    point.pools[1].phase = PHASE_DECODES;
    point.transfer_seconds = 0.001;
    return point;
}

static void fill(void) {
    fill_question();
    fill_submesh(&submeshes[0], 1);
    fill_submesh(&submeshes[1], 4);
    front[0] = point_of(2, 4, 1, 0.004);
    front[1] = two_pools();
    front[2] = point_of(8, 1, 16, 0.012);
    front[3] = point_of(8, 1, 100, 0.04);
    physical[0] = point_of(2, 4, 1, 0.0035);
    physical[1] = point_of(8, 1, 101, 0.04);
    for (int i = 0; i < 2; i++) physical[i].pools[0].on.engine = NO_ENGINE;
    answer = (ServingAnswer){.front = {front, 4, 4},
                             .physical = {physical, 2, 2},
                             .ttft_goal_seconds = 2,
                             .tpot_goal_seconds = 0.05,
                             .has_best = true,
                             .with_margin = true,
                             .best = front[3],
                             .kinds = {{"lowest latency", front[0]}, {"two pools", front[1]}, {"most", front[3]}},
                             .kind_count = 3,
                             .has_usual = true,
                             .usual = front[0],
                             .likely_factor = 1.25};
    answer.count = (ServingCount){.space = {.layouts = 20, .excluded = {3, 2, 4, 1}},
                                  .covered = 1000,
                                  .evaluated = 60,
                                  .cut = {500, 440, 0, 0},
                                  .pairs = 12,
                                  .complete = true};
    answer.physical_count = answer.count;
    report = (ServingReport){
        .question = &question,
        .answer = &answer,
        .machine = "--chips 8",
        .model = "demo",
        .profile = "plain",
        .version = "0",
        .data_sha256 = "abc",
        .profile_sha256 = "def",
        .nearest = {.id = "a-run",
                    .source = "a source",
                    .model = "demo",
                    .engine = "vllm",
                    .layout = "tensor=4",
                    .chips = 4,
                    .prompt = 1000,
                    .output = 250,
                    .concurrency = 32,
                    .tpot_seconds = 0.01,
                    .predicted_seconds = 0.011},
        .published = {{"p1", "somebody 2025", "vLLM", "1 x tensor=4 + 1 x tensor=4", 8, true, 900, 0.03, 0.5, 240},
                      {"p2", "somebody else", "SGLang", "4 x tensor=8 + 4 x tensor=8", 64, false, 0, 0, 0, 0}},
        .published_count = 2};
}

/* What a form writes; the caller frees. */
static char *written(ServedFormat format) {
    char *text = NULL;
    size_t length = 0;
    Error error = {0};
    FILE *memory = open_memstream(&text, &length);
    cr_assert(memory && serving_write_as(&report, format, (TextOut){.file = memory}, &error), "%s", error.text);
    cr_assert_eq(fclose(memory), 0);
    return text;
}

Test(serving_document, as_they_were_looked_at, .init = fill) {
    static const struct {
        const char *name;
        ServedFormat format;
    } ROWS[] = {{"serving/answer.txt", SERVED_TEXT},
                {"serving/answer.md", SERVED_MARKDOWN},
                {"serving/answer.csv", SERVED_CSV}};
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        char *text = written(ROWS[i].format);
        expect_golden(ROWS[i].name, text);
        free(text);
    }
    report.top = 2;
    char *text = written(SERVED_TEXT);
    expect_golden("serving/top_2.txt", text);
    free(text);
}

/* Every device of the machine is in a run of the map, each worker holds as many as it has, and curves end with the last
 * batch that has room. */
Test(serving_document, document, .init = fill) {
    Error error = {0};
    cJSON *json = serving_document(&report, &error);
    cr_assert_not_null(json, "%s", error.text);
    json_settle(json);
    const cJSON *map = json_at(json, "places.maps")->child, *layer = json_at(map, "layers")->child, *one;
    double devices = 0, held = 0;
    cJSON_ArrayForEach(one, json_at(layer, "count")) devices += one->valuedouble;
    cJSON_ArrayForEach(one, json_at(map, "groups")) held += json_real_at(one, "devices", 0);
    cr_expect_eq(devices, 8);
    cr_expect_eq(held, 8);
    cr_expect_eq(cJSON_GetArraySize(json_at(json, "throughput.curves")), 4);
    cr_expect_eq(cJSON_GetArraySize(json_at(json, "shown")), 3);
    cr_expect_float_eq(json_real_at(json, "request_seconds.decode", 0), 255 * 0.04, 1e-9);
    cr_expect_str_eq(json_text_at(json, "words.title"), "demo-2b on 8 chips of Demo chip");
    cJSON_Delete(json);
}

Test(serving_document, points_in_full, .init = fill) {
    static const char *const NAMES[] = {"serving/two_pools.txt", "serving/best.txt"};
    for (int i = 0; i < 2; i++) {
        char *text = NULL;
        size_t length = 0;
        Error error = {0};
        FILE *memory = open_memstream(&text, &length);
        cr_assert(memory && serving_explain_text(&report, &front[1 + 2 * i], (TextOut){.file = memory}, &error), "%s",
                  error.text);
        cr_assert_eq(fclose(memory), 0);
        expect_golden(NAMES[i], text);
        free(text);
    }
}
