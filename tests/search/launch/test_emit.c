/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the writers write of a plan filled by hand: keys and numbers that a reader can work out, texts that stay texts,
 * and what is refused. That the frameworks read it is tests/launch's and tests/oracle's. */
#include "search/launch/emit.h"

#include "base/util.h"
#include "models/config/model_json.h"
#include "search/launch/jax/jax.h"
#include "search/launch/maxtext/maxtext.h"
#include "tests/search/asked.h"
#include "tests/search/report_fixture.h"

#include <criterion/criterion.h>
#include <stdlib.h>

/* The fixture's plan, such that MaxText takes it: data=4 over DCN, fsdp=32 tensor=4 inside slices of 8x4x4. */
static void make(Request *request, RankedPlan *ranked) {
    memset(request, 0, sizeof *request);
    fixture_request(request);
    fixture_first(ranked);
    request->question.model.rope.share = 1;
    ranked->plan.knobs.zero_stage = 0;
    snprintf(request->question.chip.name_prefix[0], sizeof request->question.chip.name_prefix[0], "demo");
}

static EmitNotes notes; /* of the last that was written */

static char *written(const char *format, const Request *request, const RankedPlan *ranked, Error *error) {
    char *text = NULL;
    size_t length = 0;
    FILE *memory = open_memstream(&text, &length);
    notes.count = 0;
    bool ok = emit_write(emit_format_named(format), request, ranked, &notes, memory, error);
    fclose(memory);
    if (ok) return text;
    free(text);
    return NULL;
}

/* The number behind "key: " at the start of a line; -1: there is no such line. */
static double yaml_number(const char *text, const char *key) {
    char line[80];
    snprintf(line, sizeof line, "\n%s: ", key);
    const char *at = strstr(text, line);
    return at ? strtod(at + strlen(line), NULL) : -1;
}

Test(emit, maxtext_degrees_are_all_there_and_multiply_to_the_machine) {
    static const char *const ROLES[] = {"diloco",
                                        "data",
                                        "pipeline",
                                        "fsdp",
                                        "fsdp_transpose",
                                        "sequence",
                                        "context",
                                        "context_usp_ulysses",
                                        "context_autoregressive",
                                        "tensor",
                                        "tensor_sequence",
                                        "expert",
                                        "autoregressive"};
    Request request;
    RankedPlan ranked;
    Error error = {0};
    make(&request, &ranked);
    char *text = written("maxtext", &request, &ranked, &error);
    cr_assert(text, "%s", error.text);
    double inside = 1, across = 1;
    for (size_t i = 0; i < COUNT_OF(ROLES); i++) {
        char key[64];
        snprintf(key, sizeof key, "ici_%s_parallelism", ROLES[i]);
        inside *= yaml_number(text, key);
        snprintf(key, sizeof key, "dcn_%s_parallelism", ROLES[i]);
        across *= yaml_number(text, key);
    }
    cr_expect_eq(inside, 128, "8 x 4 x 4 devices a slice, and %g", inside);
    cr_expect_eq(across, 4, "four slices, and %g", across);
    cr_expect_eq(yaml_number(text, "dcn_data_parallelism"), 4);
    cr_expect_eq(yaml_number(text, "ici_fsdp_parallelism"), 32);
    cr_expect_eq(yaml_number(text, "ici_tensor_sequence_parallelism"), 4,
                 "the stream lies over tensor along the sequence");
    /* 2 microbatches of 2 sequences on 128 replicas of 4 devices: 256 in a pass over 512 devices */
    cr_expect_eq(yaml_number(text, "per_device_batch_size"), 0.5);
    cr_expect_eq(yaml_number(text, "gradient_accumulation_steps"), 2);
    cr_expect_eq(yaml_number(text, "max_target_length"), 8192);
    cr_expect(strstr(text, "\nallow_split_physical_axes: true\n"), "the fixture's launch answer needs it");
    cr_expect(strstr(text, "\n# XPK: --tpu-type=demo-8x4x4 --num-slices=4\n"));
    cr_expect(strstr(text, "\nbase_emb_dim: 8192\n") && strstr(text, "\nbase_mlp_dim: 28672\n"));
    free(text);
}

/* 96 sequences on 7 x 32 devices: 96 / 224 is no double, and the next one above makes 96 again but no whole tokens. */
Test(emit, maxtext_batches_come_out_whole_or_are_refused) {
    static const struct {
        int64_t devices, data, sequences, seq;
        bool taken;
    } ROWS[] = {{128, 1, 2, 8192, true}, {49, 49, 1, 8192, true}, {224, 32, 3, 4096, false}, {192, 64, 1, 4098, true}};
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        Request request;
        RankedPlan ranked;
        Error error = {0};
        make(&request, &ranked);
        ranked.machine.mesh.devices = ROWS[i].devices;
        ranked.plan.degrees = (Degrees){{ROWS[i].devices / ROWS[i].data, 1, 1, 1, ROWS[i].data, 1}};
        ranked.plan.knobs.microbatches = 1;
        ranked.plan.knobs.microbatch_sequences = ROWS[i].sequences;
        ranked.work.seq = ROWS[i].seq;
        char *text = written("maxtext", &request, &ranked, &error);
        cr_expect_eq(text != NULL, ROWS[i].taken, "row %zu: %s", i, error.text);
        if (text) { /* as types.py does it */
            double share = yaml_number(text, "per_device_batch_size");
            cr_expect_eq((int64_t)((double)ROWS[i].devices * share), ROWS[i].sequences * ROWS[i].data, "row %zu", i);
        } else {
            cr_expect(strstr(error.text, "per_device_batch_size"), "%s", error.text);
        }
        free(text);
    }
}

Test(emit, maxtext_pipeline_keys) {
    Request request;
    RankedPlan ranked;
    Error error = {0};
    make(&request, &ranked);
    ranked.plan.degrees.of[ROLE_DATA] = 1, ranked.plan.degrees.of[ROLE_PIPELINE] = 4;
    ranked.plan.placement.factor[3][ROLE_DATA] = 1, ranked.plan.placement.factor[3][ROLE_PIPELINE] = 4;
    ranked.plan.knobs.schedule = SCHEDULE_CIRCULAR;
    ranked.plan.knobs.microbatches = 8, ranked.plan.knobs.virtual_stages = 3;
    for (int a = 0; a < ACTIVATION_COUNT; a++)
        ranked.plan.layout.layers[a][STATE_SAVED] = 12,
        ranked.plan.layout.layers[a][STATE_RECOMPUTED] = ranked.plan.layout.layers[a][STATE_OFFLOADED] = 0;
    char *text = written("maxtext", &request, &ranked, &error);
    cr_assert(text, "%s", error.text);
    cr_expect_eq(yaml_number(text, "dcn_pipeline_parallelism"), 4);
    cr_expect_eq(yaml_number(text, "num_pipeline_microbatches"), 8);
    cr_expect_eq(yaml_number(text, "num_pipeline_repeats"), 3);
    cr_expect_eq(yaml_number(text, "num_layers_per_pipeline_stage"), 4, "48 layers = 4 stages x 3 repeats x 4");
    cr_expect_eq(yaml_number(text, "gradient_accumulation_steps"), 1);
    cr_expect_eq(yaml_number(text, "per_device_batch_size"), 1, "8 x 2 sequences on 32 replicas, 512 devices");
    free(text);
}

/* usp is two axes of the mesh. JAX gives them y and z whole where the plan has sequence there; eight ways of heads it
 * puts on x, which is eight long, and the plan has fsdp there. */
Test(emit, maxtext_usp_lies_where_it_was_costed_or_is_refused) {
    for (int64_t heads = 4; heads <= 8; heads += 4) {
        Request request;
        RankedPlan ranked;
        Error error = {0};
        make(&request, &ranked);
        ranked.plan.degrees = (Degrees){{1, 1, 16, 8, 4, 1}};
        for (int a = 0; a < 3; a++)
            for (int role = 0; role < ROLE_COUNT; role++) ranked.plan.placement.factor[a][role] = 1;
        ranked.plan.placement.factor[0][ROLE_FSDP] = 8;
        ranked.plan.placement.factor[1][ROLE_SEQUENCE] = ranked.plan.placement.factor[2][ROLE_SEQUENCE] = 4;
        ranked.plan.knobs.methods = (Methods){.context = CONTEXT_ULYSSES_RING, .ulysses = heads};
        char *text = written("maxtext", &request, &ranked, &error);
        if (heads == 8) {
            cr_expect(!text && strstr(error.text, "usp"), "%s", error.text);
        } else {
            cr_assert(text, "%s", error.text);
            cr_expect_eq(yaml_number(text, "ici_context_parallelism"), 4);
            cr_expect_eq(yaml_number(text, "ici_context_usp_ulysses_parallelism"), 4);
            cr_expect(strstr(text, "\nallow_split_physical_axes: false\n"));
        }
        free(text);
    }
}

/* Every activation of the plan has its word for each of MaxText's tensors; what is mixed over layers takes the state
 * that keeps least, and says so. */
Test(emit, maxtext_remat) {
    Request request;
    RankedPlan ranked;
    Error error = {0};
    make(&request, &ranked);
    memset(ranked.plan.layout.layers, 0, sizeof ranked.plan.layout.layers);
    for (int a = 0; a < ACTIVATION_COUNT; a++) ranked.plan.layout.layers[a][STATE_RECOMPUTED] = 48;
    int64_t(*layers)[STATE_COUNT] = ranked.plan.layout.layers;
    layers[ACTIVATION_LAYER_INPUT][STATE_RECOMPUTED] = 0, layers[ACTIVATION_LAYER_INPUT][STATE_OFFLOADED] = 48;
    layers[ACTIVATION_QKV][STATE_RECOMPUTED] = 0, layers[ACTIVATION_QKV][STATE_SAVED] = 48;
    layers[ACTIVATION_GATE_UP][STATE_RECOMPUTED] = 0;
    layers[ACTIVATION_GATE_UP][STATE_OFFLOADED] = 10, layers[ACTIVATION_GATE_UP][STATE_SAVED] = 38;
    char *text = written("maxtext", &request, &ranked, &error);
    cr_assert(text, "%s", error.text);
    static const char *const LINES[] = {"remat_policy: custom", "decoder_layer_input: offload",
                                        "query_proj: device",   "key_proj: device",
                                        "value_proj: device",   "qkv_proj: device",
                                        "context: remat",       "out_proj: remat",
                                        "mlpwi_0: offload",     "moe_mlpwi_1: offload",
                                        "mlpwo: remat"};
    for (size_t i = 0; i < COUNT_OF(LINES); i++) {
        char line[64];
        snprintf(line, sizeof line, "\n%s\n", LINES[i]);
        cr_expect(strstr(text, line), "%s is missing", LINES[i]);
    }
    bool said = false;
    for (int i = 0; i < notes.count; i++) said = said || strstr(notes.text[i], "gate_up in 10 of 48");
    cr_expect(said, "gate_up is offloaded in 10 layers of 48, and in all in the file");
    free(text);
}

/* Nothing that a name holds ends its literal or its comment. */
Test(emit, hostile_names_stay_names) {
    static const char *const NAMES[] = {"a\"\nimport os\nos.system(\"true\")\n\"", "b'''\"\"\"\\",
                                        "c\r\nbase_emb_dim: 1", "d\x1b[2J\xff\xc3"};
    for (size_t i = 0; i < COUNT_OF(NAMES); i++) {
        Request request;
        RankedPlan ranked;
        Error error = {0};
        make(&request, &ranked);
        snprintf(request.question.model.name, sizeof request.question.model.name, "%s", NAMES[i]);
        snprintf(request.question.chip.title, sizeof request.question.chip.title, "%s", NAMES[i]);
        snprintf(request.question.chip.name_prefix[0], sizeof request.question.chip.name_prefix[0], "%s", NAMES[i]);
        snprintf(ranked.machine.text, sizeof ranked.machine.text, "%s", NAMES[i]);
        char *python = written("jax", &request, &ranked, &error);
        cr_assert(python, "%s", error.text);
        cr_expect_null(strstr(python, "\nimport os"), "%s", NAMES[i]);
        cr_expect_null(strchr(python, '\x1b'));
        /* the literal is on one line, and every quote inside it is escaped */
        const char *at = strstr(python, "\nMODEL = \"");
        cr_assert(at);
        for (at += strlen("\nMODEL = \""); *at != '"'; at++) {
            cr_assert(*at != '\n' && *at != '\0', "%s: the literal does not end on its line", NAMES[i]);
            if (*at == '\\') at++;
        }
        cr_expect_eq(at[1], '\n', "%s: something stands behind the literal", NAMES[i]);
        free(python);
        char *yaml = written("maxtext", &request, &ranked, &error);
        cr_assert(yaml, "%s", error.text);
        cr_expect_eq(yaml_number(yaml, "base_emb_dim"), 8192, "%s", NAMES[i]);
        cr_expect_null(strchr(yaml, '\r'));
        free(yaml);
    }
}

Test(emit, what_is_refused_names_the_rule) {
    Request request;
    RankedPlan ranked;
    Error error = {0};
    make(&request, &ranked);
    cr_expect(emit_allowed(emit_format_named("maxtext"), &request, &ranked, &error), "%s", error.text);
    ranked.plan.knobs.zero_stage = 1;
    cr_expect_not(emit_allowed(emit_format_named("maxtext"), &request, &ranked, &error));
    cr_expect(strstr(error.text, "ZeRO-1") && strstr(error.text, "--for maxtext"), "%s", error.text);
    cr_expect_null(strchr(error.text, '\n'));
    ranked.plan.knobs.zero_stage = 0;
    ranked.launch[0].kind = LAUNCH_IMPOSSIBLE;
    cr_expect_not(emit_allowed(emit_format_named("maxtext"), &request, &ranked, &error));
    cr_expect(strstr(error.text, "cannot put the roles"), "%s", error.text);
    cr_expect(emit_allowed(emit_format_named("jax"), &request, &ranked, &error));
    cr_expect_null(emit_format_named("slurm"));
    request.question.model.kinds[0].sinks = true; /* no layer of MaxText's under no name of its own */
    cr_expect_null(written("maxtext", &request, &ranked, &error));
    cr_expect(strstr(error.text, "it has neither"), "%s", error.text);
    make(&request, &ranked);
    snprintf(request.requested.optimizer, sizeof request.requested.optimizer, "adafactor");
    cr_expect_null(written("maxtext", &request, &ranked, &error));
    cr_expect(strstr(error.text, "no such optimizer"), "%s", error.text);
}

/* x of 8: tensor 4 inside fsdp 2; y and z fsdp; dcn data. */
Test(emit, jax_axes_of_plain_roles) {
    Request request;
    RankedPlan ranked;
    JaxAxes axes;
    make(&request, &ranked);
    cr_assert(jax_axes_of(&ranked, &axes));
    cr_assert_eq(axes.axis_count, 3);
    static const struct {
        const char *name;
        int64_t size;
    } AXES[] = {{"data", 4}, {"fsdp", 32}, {"tensor", 4}};
    for (int i = 0; i < 3; i++) {
        cr_expect_str_eq(axes.axes[i].name, AXES[i].name);
        cr_expect_eq(axes.axes[i].size, AXES[i].size);
    }
    cr_assert_eq(axes.physical_count, 4);
    cr_expect_str_eq(axes.physical[0].name, "dcn");
    cr_expect_str_eq(axes.physical[1].name, "x");
    cr_expect(axes.physical[1].piece_count == 2 && axes.physical[1].pieces[0].axis == 1 &&
              axes.physical[1].pieces[0].size == 2 && axes.physical[1].pieces[1].axis == 2);
}

/* Eight experts' ways over the same ranks, from the inside: tensor's 4 on x, then 2 of fsdp there; y and z have
 * none. */
Test(emit, jax_axes_of_a_folded_grid) {
    Request request;
    RankedPlan ranked;
    JaxAxes axes;
    make(&request, &ranked);
    ranked.plan.knobs.methods.grid = (ExpertGrid){8, 1};
    cr_assert(jax_axes_of(&ranked, &axes));
    int64_t expert = 1, tensor = 1, fsdp = 1;
    for (int i = 0; i < axes.axis_count; i++) {
        if (axes.axes[i].part == PART_EXPERT) expert *= axes.axes[i].size;
        if (axes.axes[i].role == ROLE_TENSOR) tensor *= axes.axes[i].size;
        if (axes.axes[i].role == ROLE_FSDP) fsdp *= axes.axes[i].size;
    }
    cr_expect(expert == 8 && tensor == 4 && fsdp == 32, "%lld %lld %lld", (long long)expert, (long long)tensor,
              (long long)fsdp);
    ranked.plan.degrees.of[ROLE_TENSOR] = 4; /* 3 of 8 neighbours: cuts tensor */
    ranked.plan.knobs.methods.grid = (ExpertGrid){3, 1};
    cr_expect_not(jax_axes_of(&ranked, &axes));
}

/* Heads are exchanged among neighbours, the ring joins what is left. */
Test(emit, jax_axes_of_heads_inside_a_ring) {
    Request request;
    RankedPlan ranked;
    JaxAxes axes;
    make(&request, &ranked);
    ranked.plan.placement.factor[0][ROLE_FSDP] = 1, ranked.plan.placement.factor[0][ROLE_SEQUENCE] = 2;
    ranked.plan.placement.factor[1][ROLE_FSDP] = 1, ranked.plan.placement.factor[1][ROLE_SEQUENCE] = 4;
    ranked.plan.degrees = (Degrees){{4, 1, 8, 4, 4, 1}};
    ranked.plan.knobs.methods = (Methods){.context = CONTEXT_ULYSSES_RING, .ulysses = 4};
    cr_assert(jax_axes_of(&ranked, &axes));
    for (int i = 0; i < axes.axis_count; i++) {
        if (axes.axes[i].part == PART_ULYSSES)
            cr_expect(axes.axes[i].size == 4 && strcmp(axes.axes[i].name, "sequence_ulysses") == 0);
        if (axes.axes[i].part == PART_RING)
            cr_expect(axes.axes[i].size == 2 && strcmp(axes.axes[i].name, "sequence_ring") == 0);
    }
    cr_expect_eq(axes.axis_count, 5);
}

Test(emit, notes_that_have_no_room_are_said) {
    for (int i = 0; i < EMIT_NOTES_MAX; i++) emit_note(&notes, "note %d", i);
    cr_expect_str_eq(notes.text[EMIT_NOTES_MAX - 1], "note 15");
    emit_note(&notes, "one more");
    cr_expect_eq(notes.count, EMIT_NOTES_MAX);
    cr_expect_str_eq(notes.text[EMIT_NOTES_MAX - 1], "More differs from the plan than these notes say.");
}

/* Whether `emit` writes the first plan of a search. */
static void expect_written(const char *command, const RequestedSearch *asked, const EmitFormat *format) {
    const RankedPlan *ranked = asked->result.plans;
    EmitNotes notes = {.count = 0};
    Error error = {0};
    FILE *out = fopen("/dev/null", "w");
    cr_assert(out);
    bool ok = emit_allowed(format, asked->result.request, ranked, &error) &&
              emit_write(format, asked->result.request, ranked, &notes, out, &error);
    cr_expect(ok, "%s: %s: %s", command, error.where, error.text);
    fclose(out);
}

/* The law that follows from what launchers have against a request as a whole: some models of every family, each
 * launcher, each precision that the chip has: it is refused, with a reason, or its first plan is written. */
Test(emit, what_is_planned_for_a_launcher_is_emitted, .timeout = 600) {
    static const char *const CHIPS[] = {"h100 --nodes 2", "v6e --slice 4x4", "b200 --nodes 1", "mi300x --nodes 1"};
    enum { STEP = 8, TEXT = 300 };
    Arena arena = {0};
    Error error = {0};
    Zoo zoo;
    int written = 0, refused = 0;
    cr_assert(zoo_load(&arena, &zoo, &error), "%s", error.text);
    for (int m = 0; m < zoo.count; m += STEP)
        for (int i = 0; i < LAUNCHER_COUNT; i++)
            for (int p = 0; p < PRECISION_COUNT; p++) {
                char command[TEXT];
                size_t chip = (size_t)(m / STEP + p) % COUNT_OF(CHIPS);
                RequestedSearch asked = {0};
                snprintf(command, sizeof command,
                         "plan --model %s --chip %s --precision %s --for %s --seq 1024 --sequences 64 --threads 1",
                         zoo.models[m].name, CHIPS[chip], precision_name((Precision)p), launcher_name(i));
                asked.request = ARENA_NEW(&asked.arena, Request, 1);
                cr_assert(asked.request);
                if (request_from_text(command, &asked.arena, asked.request)) {
                    requested_search(&asked, command);
                    for (int f = 0; asked.result.plan_count > 0 && emit_format_at(f); f++)
                        if (emit_format_launcher(emit_format_at(f)) == i && !emit_format_at(f)->title)
                            expect_written(command, &asked, emit_format_at(f)), written++;
                } else
                    refused++;
                asked_close(&asked);
            }
    arena_free(&arena);
    cr_expect_gt(written, 60, "%d", written);
    cr_expect_gt(refused, 60, "%d", refused);
}
