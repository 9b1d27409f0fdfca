/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/search/report_fixture.h"

#include "base/json.h"
#include "base/util.h"
#include "search/answer/plan_words.h"
#include "tests/search/golden.h"
#include "tests/search/launchers.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

static Fixture fixture;

/* What a writer writes; the caller frees. */
static char *written(bool (*write)(const Report *report, TextOut out, Error *error)) {
    char *text = NULL;
    size_t length = 0;
    Error error = {0};
    FILE *memory = open_memstream(&text, &length);
    cr_assert(memory && write(&fixture.report, (TextOut){.file = memory}, &error), "%s", error.text);
    cr_assert(fclose(memory) == 0);
    return text;
}

static bool explain_third(const Report *report, TextOut out, Error *error) {
    return explain_write_text(report, 3, out, error);
}
static bool explain_first(const Report *report, TextOut out, Error *error) {
    return explain_write_text(report, 1, out, error);
}

static bool write_json(const Report *report, TextOut out, Error *error) {
    return report_write_json(report, false, out.file, error);
}

/* The answer on one screen, stage by stage, as the command prints it. */
static bool write_brief(const Report *report, TextOut out, Error *error) {
    for (ReportStage stage = STAGE_PLAN; stage < STAGE_COUNT; stage++)
        if (!report_write_brief_stage(report, stage, out, error)) return false;
    return true;
}

static bool brief_of_80(const Report *report, TextOut out, Error *error) {
    out.terminal.columns = 80;
    return write_brief(report, out, error);
}

Test(report, golden) {
    static const struct {
        const char *name;
        bool none;
        bool (*write)(const Report *report, TextOut out, Error *error);
    } ROWS[] = {
        {"plan.txt", false, report_write_text}, {"none.txt", true, report_write_text},
        {"brief.txt", false, write_brief},      {"brief_80.txt", false, brief_of_80},
        {"brief_none.txt", true, write_brief},
    };
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        if (ROWS[i].none)
            fixture_fill_none(&fixture);
        else
            fixture_fill(&fixture);
        char *text = written(ROWS[i].write);
        expect_golden(ROWS[i].name, text);
        free(text);
    }
}

/* Lines of at most 120 columns, no blanks at their ends, no control characters. */
static void expect_tidy(const char *text, const char *what) {
    for (const char *line = text; *line;) {
        size_t length = strcspn(line, "\n");
        char copy[2048];
        cr_assert(length < sizeof copy, "%s", what);
        memcpy(copy, line, length);
        copy[length] = '\0';
        cr_expect(text_columns(copy) <= 120, "%s: %d columns: %s", what, text_columns(copy), copy);
        cr_expect(length == 0 || copy[length - 1] != ' ', "%s: trailing blank: %s", what, copy);
        for (size_t i = 0; i < length; i++)
            cr_expect((unsigned char)copy[i] >= 0x20 && copy[i] != 0x7F, "%s: control character", what);
        line += length + (line[length] == '\n');
    }
}

Test(report, every_line_is_tidy_whatever_the_names) {
    static bool (*const WRITERS[])(const Report *report, TextOut out, Error *error) = {report_write_text, explain_first,
                                                                                       explain_third};
    for (int hostile = 0; hostile < 2; hostile++)
        for (size_t i = 0; i < COUNT_OF(WRITERS); i++) {
            fixture_fill(&fixture);
            if (hostile) {
                strcpy(fixture.request.question.model.name, "a\x1b[31m\n\r\t\x7f\xff\xc2\x9b\xe2\x80\xae red");
                strcpy(fixture.request.question.chip.title, "evil\x07\nchip");
                strcpy(fixture.request.question.profile.name, "p\x1b]0;title\x07");
                memset(fixture.request.question.profile.source, 'x', 500);
                for (int role = 0; role < ROLE_COUNT; role++)
                    fixture.plans[2].plan.degrees.of[role] = INT64_C(2147483647) - role;
                fixture.plans[2].padding = (1u << PAD_COUNT) - 1;
                fixture.plans[2].launchable_by = ((1u << LAUNCHER_TRL) - 1) & ~1u;
            }
            char *text = written(WRITERS[i]);
            expect_tidy(text, hostile ? "hostile" : "plain");
            cr_expect(!hostile || strstr(text, "a?[31m??????? red") != NULL, "the name is there, made harmless");
            free(text);
        }
}

Test(report, no_plan_says_how_far_off) {
    fixture_fill_none(&fixture);
    char *text = written(report_write_text);
    cr_expect(strstr(text, "parameters, gradients and optimizer alone need 400 GB per chip") ==
              text + strlen("No plan fits: "));
    cr_expect(strstr(text, "use only 92.0 GB of the 100 GB of a Demo torus"));
    cr_expect(strstr(text, "Nearest machine that fits: 4 x 8x4x4"));
    cr_expect(strstr(text, "Proven: no plan fits."));
    free(text);
}

Test(report, explain_has_every_part) {
    static const char *const PARTS[] = {
        ("Plan: data=2 fsdp=32 sequence=1 tensor=4 expert=1 pipeline=3; 8 microbatches of 1 sequence, schedule "
         "interleaved"),
        "4.10 s if all communication overlaps, 6.00 s if none does",
        "qkv projection  870.0 ms   1.750 s  1.00 P  1.00 TB  382 TFLOP/s      95%", /* 1e15 / 2.62 s, of 4e14 */
        "tensor: activations",
        "4 of x (a line)",
        "> last stage, at the logits",
        "(('data', 'fsdp'), 'tensor', None)",
    };
    fixture_fill(&fixture);
    char *text = written(explain_third);
    for (size_t i = 0; i < COUNT_OF(PARTS); i++) {
        cr_expect(strstr(text, PARTS[i]), "%s", PARTS[i]);
    }
    free(text);
}

Test(report, a_gap_is_said) {
    fixture_fill(&fixture);
    fixture.report.result.certificate.proof = PROOF_GAP;
    fixture.report.result.certificate.gap = 1; /* that of the last row: rows are missing */
    fixture.report.result.certificate.best_bound_seconds = 0.75 * fixture.report.result.plans[0].ranked_seconds;
    char *text = written(report_write_text);
    cr_expect(strstr(text, "Not proven") && strstr(text, "25.0%"));
    cr_expect(!strstr(text, "Proven"));
    free(text);
}

/* ---- JSON ---- */

static cJSON *json_of_report(void) {
    Error error = {0};
    char *text = written(write_json);
    cJSON *json = json_parse(text, strlen(text), "report", &error);
    cr_assert(json, "%s: %s", error.where, error.text);
    free(text);
    return json;
}

static double real(const cJSON *json, const char *path) {
    double value = NAN;
    Error error = {0};
    cr_expect(json_real(json, path, -1e300, 1e300, "report", &value, &error), "%s: %s", path, error.text);
    return value;
}

static double sum(const cJSON *json, const char *const *paths, size_t count) {
    double total = 0;
    for (size_t i = 0; i < count; i++) total += real(json, paths[i]);
    return total;
}

Test(report, json_sums_hold) {
    static const char *const STEP[] = {"step.compute_seconds", "step.exposed_communication_seconds",
                                       "step.bubble_seconds", "step.optimizer_seconds", "step.other_seconds"};
    static const char *const MEMORY[] = {"memory.parameters_bytes",  "memory.gradients_bytes", "memory.optimizer_bytes",
                                         "memory.activations_bytes", "memory.gathered_bytes",  "memory.logits_bytes",
                                         "memory.transient_bytes"};
    static const char *const AXES[] = {"axes.data",   "axes.fsdp",   "axes.sequence",
                                       "axes.tensor", "axes.expert", "axes.pipeline"};
    fixture_fill(&fixture);
    cJSON *json = json_of_report();
    const cJSON *plan;
    int rank = 0;
    cJSON_ArrayForEach(plan, json_at(json, "plans")) {
        rank++;
        cr_expect_float_eq(real(plan, "rank"), rank, 0);
        double seconds = real(plan, "step.seconds"), used = real(plan, "chips_used");
        cr_expect_float_eq(sum(plan, STEP, COUNT_OF(STEP)), seconds, 1e-9 * seconds, "plan %d", rank);
        cr_expect_float_eq(sum(plan, MEMORY, COUNT_OF(MEMORY)), real(plan, "memory.total_bytes"), 1, "plan %d", rank);
        cr_expect_float_eq(real(plan, "memory.limit_bytes") + real(plan, "memory.reserve_bytes"), 100e9, 1);
        double degrees = 1;
        for (size_t i = 0; i < COUNT_OF(AXES); i++) degrees *= real(plan, AXES[i]);
        cr_expect_float_eq(degrees, used, 0, "plan %d", rank);
        cr_expect_float_eq(used + real(plan, "chips_idle"), 768, 0, "plan %d", rank);
        /* 1e12 tokens in steps of 512 x 8192; six slices are paid for whatever is used, at $4 */
        double training = 1e12 / (512.0 * 8192) * seconds;
        cr_expect_float_eq(real(plan, "training.seconds"), training, 1e-9 * training);
        cr_expect_float_eq(real(plan, "training.chip_hours"), training / 3600 * 768, 1e-3);
        cr_expect_float_eq(real(plan, "training.cost_usd"), training / 3600 * 768 * 4, 1e-2);
        cr_expect_float_eq(real(plan, "step.likely_low_seconds"), 0.9 * seconds, 1e-9);
    }
    cr_expect_eq(rank, 3);
    cJSON_Delete(json);
}

/* Over a step: four microbatches, and once what the replicas of parameters send. */
Test(report, json_bytes_by_role) {
    fixture_fill(&fixture);
    Estimate *estimate = &fixture.plans[0].estimate;
    estimate->rule.microbatches = 4;
    memset(&estimate->resources, 0, sizeof estimate->resources);
    double *of = estimate->resources.of;
    of[res_bytes(GROUP_TENSOR, PHASE_FORWARD)] = 10, of[res_bytes(GROUP_TENSOR, PHASE_BACKWARD)] = 20;
    of[res_messages(GROUP_TENSOR, PHASE_FORWARD)] = 2, of[res_messages(GROUP_TENSOR, PHASE_BACKWARD)] = 3;
    of[res_bytes(GROUP_TENSOR_WEIGHTS, PHASE_BACKWARD)] = 7;
    of[res_bytes(GROUP_WEIGHTS, PHASE_FORWARD)] = 3, of[res_bytes(GROUP_WEIGHTS, PHASE_BACKWARD)] = 5;
    estimate->rule.data_start[0] = (Traffic){1, 50}, estimate->rule.data_end[0] = (Traffic){2, 100};
    cJSON *json = json_of_report();
    const cJSON *plan = cJSON_GetArrayItem(json_at(json, "plans"), 0), *group;
    cr_expect_float_eq(real(plan, "step.communication_bytes.tensor"), 4 * (10 + 20 + 7), 1e-9);
    cr_expect_float_eq(real(plan, "step.communication_bytes.fsdp"), 4 * (3 + 5), 1e-9);
    cr_expect_float_eq(real(plan, "step.communication_bytes.data"), 150, 1e-9);
    cr_expect_float_eq(real(plan, "step.communication_bytes.expert"), 0, 0);
    static const struct {
        const char *name;
        double messages, bytes;
    } GROUPS[] = {{"tensor", 20, 120}, {"weights", 0, 32}, {"tensor_weights", 0, 28}, {"data", 3, 150}};
    size_t count = 0;
    cJSON_ArrayForEach(group, json_at(plan, "communication")) {
        cr_assert(count < COUNT_OF(GROUPS));
        cr_expect_str_eq(json_at(group, "group")->valuestring, GROUPS[count].name);
        cr_expect_float_eq(real(group, "messages"), GROUPS[count].messages, 1e-9, "%s", GROUPS[count].name);
        cr_expect_float_eq(real(group, "bytes"), GROUPS[count].bytes, 1e-9, "%s", GROUPS[count].name);
        count++;
    }
    cr_expect_eq(count, COUNT_OF(GROUPS));
    cJSON_Delete(json);
}

Test(report, json_placement_multiplies_to_the_axes) {
    fixture_fill(&fixture);
    cJSON *json = json_of_report();
    const cJSON *plan, *axis, *item;
    cJSON_ArrayForEach(plan, json_at(json, "plans")) {
        cJSON_ArrayForEach(axis, json_at(plan, "machine.axes")) {
            const char *name = json_at(axis, "name")->valuestring;
            double factors = 1, outermost = 1;
            cJSON_ArrayForEach(item, json_at(plan, "placement")) {
                if (strcmp(json_at(item, "axis")->valuestring, name) != 0) continue;
                cr_expect(real(item, "factor") > 1);
                factors *= real(item, "factor");
                outermost = real(item, "stride") * real(item, "factor");
            }
            cr_expect_float_eq(factors, real(axis, "size"), 0, "%s", name);
            cr_expect_float_eq(outermost, real(axis, "size"), 0, "%s", name);
        }
    }
    cJSON_Delete(json);
}

/* 2^100 and what it adds up to, digit by digit: a double would round it. */
Test(report, json_counts_are_exact) {
    fixture_fill(&fixture);
    char *text = written(write_json);
    cr_expect(strstr(text, "\"degree_bound\": 1267650600228229401496703205376"));
    cr_expect(strstr(text, "\"plans_covered\": 1267650600228229401496703207126"));
    cr_expect(strstr(text, "\"factorizations\": 23625"));
    free(text);
}

Test(report, json_has_the_request_and_the_ways) {
    fixture_fill(&fixture);
    strcpy(fixture.report.data_sha256, "abc");
    strcpy(fixture.request.question.model.name, "quote\" \\ \x01 \xff");
    cJSON *json = json_of_report(); /* still JSON, whatever the name */
    static const char *const PATHS[] = {"program.version",  "program.data_sha256", "request.model",
                                        "request.slice",    "request.slices",      "request.seq",
                                        "request.max_idle", "request.padding",     "model.parameters",
                                        "mesh.chip",        "mesh.devices",        "search.proof"};
    for (size_t i = 0; i < COUNT_OF(PATHS); i++) cr_expect(json_at(json, PATHS[i]), "%s", PATHS[i]);
    cr_expect_eq(cJSON_GetArraySize(json_at(json, "ways_out")), 4);
    cr_expect_eq(cJSON_GetArraySize(json_at(json, "nearest")), 0);
    cJSON_Delete(json);
}

Test(report, json_of_no_plan) {
    fixture_fill_none(&fixture);
    cJSON *json = json_of_report();
    cr_expect_eq(cJSON_GetArraySize(json_at(json, "plans")), 0);
    cr_expect_eq(cJSON_GetArraySize(json_at(json, "nearest")), 1);
    cr_expect_float_eq(real(json, "shortfall.needed_bytes"), 406e9, 1);
    cJSON_Delete(json);
}

/* ---- with a search ---- */

/* A small model on the demo torus, in `ideal`: 12 layers, 12 heads; x * y * z = 8 x 4 x 4 and `slices` slices. */
static void small_request(int64_t slices, int64_t sequences, int64_t heads, Request *request) {
    fixture_fill(&fixture);
    *request = fixture.request;
    request->question.model =
        (Model){.layers = 12, .d_model = 768, .vocab = 51200, .max_seq = 1024, .norm = NORM_RMS, .kind_count = 1};
    strcpy(request->question.model.name, "small");
    request->question.model.kinds[0] =
        (LayerKind){.count = 12, .heads = heads, .kv_heads = heads, .head_dim = 64, .d_ff = 3072, .norms = 2};
    request->question.profile = (Profile){.name = "ideal",
                                          .matrix_efficiency = 1,
                                          .linear_efficiency = 1,
                                          .linear_peak_ratio = 1,
                                          .network_factor = 1,
                                          .optimizer_traffic = 1,
                                          .chunk_traffic = 1,
                                          .compute_factor = 1,
                                          .attention_factor = 1,
                                          .grouped_factor = 1,
                                          .biased_expert_efficiency = 1,
                                          .grouped_efficiency = 1,
                                          .attention_efficiency = 1,
                                          .attention_backward_rate = 1,
                                          .hbm_efficiency = 1,
                                          .ici_efficiency = 1,
                                          .nvlink_efficiency = 1,
                                          .network_efficiency = 1,
                                          .dcn_efficiency = 1,
                                          .pcie_efficiency = 1,
                                          .host_memory_share = 1,
                                          .expert_imbalance = 1,
                                          .tensor_exposed = 1,
                                          .expert_exposed = 1,
                                          .sequence_exposed = 1,
                                          .pipeline_exposed = 1,
                                          .ring_attention_exposed = 1};
    fixture_machine(slices, &request->question.machine);
    if (slices == 1) request->question.machine.mesh.axis_count = 3;
    request->question.work = (Work){.sequences = sequences, .seq = 1024};
    request->requested.batch_tokens = (double)sequences * 1024;
    request->space.max_idle = 0;
    request->control.top = 1;
}

Test(report, sizes_that_divide_need_no_way_out) {
    static Request request;
    Arena arena = {0};
    Error error = {0};
    small_request(1, 1024, 16, &request);
    cr_assert(report_make(&request, &arena, &fixture.report, &error), "%s", error.text);
    cr_assert_eq(fixture.report.result.plan_count, 1);
    for (int i = 0; i < ALTERNATIVE_COUNT; i++) cr_expect(!fixture.report.alternatives[i].tried, "way %d", i);
    cr_expect(fixture.report.sensitivity_count > 0);
    for (int i = 0; i < fixture.report.sensitivity_count; i++) {
        const Sensitivity *help = &fixture.report.sensitivities[i];
        /* Faster parts never make the best plan slower, and 10% more never gain more than 10%. */
        if (strstr(help->text, "+10%"))
            cr_expect(help->found && help->relative <= 1e-12 && help->relative >= 1 / 1.1 - 1 - 1e-12, "%s %g",
                      help->text, help->relative);
    }
    char *text = written(report_write_text);
    expect_tidy(text, "a search");
    cr_expect(strstr(text, "small on 1 x 8x4x4"));
    free(text);
    arena_free(&arena);
}

/* Only data and fsdp may split, so 128 chips are 128 replicas, which 97 and 120 sequences do not divide into. */
Test(report, ways_out_are_each_within_their_rule) {
    static Request request;
    Arena arena = {0};
    Error error = {0};
    small_request(1, 97, 16, &request);
    request.space.requirements[0] = (Requirement){.role = ROLE_SEQUENCE, .op = REQUIRE_EQUAL, .degree = 1};
    request.space.requirements[1] = (Requirement){.role = ROLE_TENSOR, .op = REQUIRE_EQUAL, .degree = 1};
    request.space.requirements[2] = (Requirement){.role = ROLE_PIPELINE, .op = REQUIRE_EQUAL, .degree = 1};
    request.space.requirement_count = 3;
    cr_assert(report_make(&request, &arena, &fixture.report, &error), "%s", error.text);
    const AlternativeResult *ways = fixture.report.alternatives;
    cr_expect_eq(fixture.report.result.plan_count, 0);
    cr_expect(ways[ALTERNATIVE_AS_ASKED].tried && !ways[ALTERNATIVE_AS_ASKED].found, "128 replicas, 97 sequences");
    cr_expect(!ways[ALTERNATIVE_IDLE].tried, "--max-idle 0");
    cr_expect(ways[ALTERNATIVE_BATCH].tried && !ways[ALTERNATIVE_BATCH].found, "no multiple of 128 within 10%% of 97");
    cr_expect(ways[ALTERNATIVE_PADDED].tried);
    char *text = written(report_write_text);
    expect_tidy(text, "ways out");
    cr_expect(strstr(text, "No plan fits") == text);
    free(text);
    arena_free(&arena);

    small_request(1, 120, 16, &request); /* 128 is 6.7% away */
    request.space.requirements[0] = (Requirement){.role = ROLE_SEQUENCE, .op = REQUIRE_EQUAL, .degree = 1};
    request.space.requirements[1] = (Requirement){.role = ROLE_TENSOR, .op = REQUIRE_EQUAL, .degree = 1};
    request.space.requirements[2] = (Requirement){.role = ROLE_PIPELINE, .op = REQUIRE_EQUAL, .degree = 1};
    request.space.requirement_count = 3;
    cr_assert(report_make(&request, &arena, &fixture.report, &error), "%s", error.text);
    cr_assert(ways[ALTERNATIVE_BATCH].found);
    cr_expect_eq(ways[ALTERNATIVE_BATCH].best.work.sequences, 128);
    cr_expect_eq(fixture.report.nearest[0].machine.mesh.chips, 128);
    arena_free(&arena);
}

Test(report, a_machine_that_is_too_small_names_one_that_is_not) {
    static Request request;
    Arena arena = {0};
    Error error = {0};
    small_request(1, 1024, 16, &request);
    /* 12 x (4 x 768^2 + 2 x 768 x 3072) + 2 x 51,200 x 768 = 163.6 M parameters and the norms; 2 + 12 bytes each over
     * 128 chips: 17.9 MB. */
    request.question.chip.hbm_bytes.value = 16e6;
    cr_assert(report_make(&request, &arena, &fixture.report, &error), "%s", error.text);
    const Shortfall *shortfall = &fixture.report.result.shortfall;
    cr_assert_eq(fixture.report.result.plan_count, 0);
    cr_expect(shortfall->known && shortfall->needed_bytes >= 14 * 163.6e6 / 128 * 0.999, "%g", shortfall->needed_bytes);
    cr_expect_float_eq(shortfall->limit_bytes, 0.92 * 16e6, 1);
    cr_expect(fixture.report.nearest_count > 0);
    for (int i = 0; i < fixture.report.nearest_count; i++) {
        const RankedPlan *ranked = &fixture.report.nearest[i];
        cr_expect(ranked->machine.mesh.chips > 128 && memory_total(&ranked->estimate.memory) <= shortfall->limit_bytes);
    }
    char *text = written(report_write_text);
    expect_tidy(text, "too small");
    free(text);
    arena_free(&arena);
}

/* ---- words ---- */

Test(report, the_terms_are_the_step) {
    fixture_fill(&fixture);
    for (int i = 0; i < 3; i++) {
        Term terms[TERMS_MAX];
        int count = step_terms(&fixture.plans[i].estimate, &fixture.plans[i].plan.degrees, terms);
        double total = 0;
        for (int j = 0; j < count; j++) total += terms[j].seconds;
        cr_expect(count <= TERMS_MAX && fabs(total - fixture.plans[i].estimate.time.seconds) < 1e-9, "plan %d: %g",
                  i + 1, total);
    }
}

Test(report, why_not_names_the_term_that_grew) {
    fixture_fill(&fixture);
    Prose second = {0}, third = {0};
    report_why_not(&fixture.plans[0], &fixture.plans[1], &second);
    cr_expect_str_eq(second.text, "it spends 600.0 ms on exposed tensor communication, while plan 1 spends 180.0 "
                                  "ms; saving 50.00 ms on elementwise work does not make up for that.");
    report_why_not(&fixture.plans[0], &fixture.plans[2], &third);
    cr_expect(strstr(third.text, "it spends 3.200 s on matmuls, while plan 1 spends 2.620 s") == third.text, "%s",
              third.text);
}

Test(report, layout_rows_cover_every_layer) {
    fixture_fill(&fixture);
    LayoutRow rows[LAYOUT_ROWS_MAX];
    int count = layout_rows(&fixture.request.question.model, &fixture.plans[1].plan, rows);
    int64_t layers = 0;
    const char *query = "";
    for (int i = 0; i < count; i++) {
        if (strcmp(rows[i].tensor, "gate_up") == 0) layers += rows[i].layers;
        if (strcmp(rows[i].tensor, "query weights") == 0) query = rows[i].sharding;
    }
    cr_expect_eq(layers, 48); /* 36 saved, 12 recomputed */
    cr_expect_str_eq(query, "('fsdp', 'tensor')");
}
