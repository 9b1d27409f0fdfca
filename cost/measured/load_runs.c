/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/file.h"
#include "base/json.h"
#include "base/number.h"
#include "base/sha256.h"
#include "base/util.h"
#include "cost/measured/line.h"
#include "cost/measured/run.h"
#include "cost/plan/knobs.h"
#include "models/config/model_json.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MAX = 64 << 20, CHIPS_MOST = 10000000 };

bool run_wrong(const Run *run, const char *path, const char *key, Error *error, const char *format, ...) {
    char text[240];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    return line_wrong(&(Line){path, run->line, run->text, run->length, NULL, error}, key, "%s", text);
}

/* ---- keys ---- */

#define AT(member) offsetof(Run, member)
/* To read another figure, add a line. KEY_OTHER: what has a function of its own, or is there for people. */
static const Key ROW[] = {
    {"id", KEY_TEXT, AT(id), 0, 0},
    {"source", KEY_TEXT, AT(source), 0, 0},
    {"family", KEY_TEXT, AT(family), 0, 0},
    {"framework", KEY_TEXT, AT(framework), 0, 0},
    {"release", KEY_TEXT, AT(release), 0, 0},
    {"variant", KEY_TEXT, AT(variant), 0, 0},
    {"model", KEY_TEXT, AT(model), 0, 0},
    {"not_replayed", KEY_TEXT, AT(not_replayed), 0, 0},
    {"assumed", KEY_TEXT, AT(assumed), 0, 0},
    {"guesses", KEY_WHOLE, AT(guesses), 0, 100},
    {"aside", KEY_TEXT, AT(aside), 0, 0},
    {"flagged", KEY_TEXT, AT(flagged), 0, 0},
    {"active_parameters", KEY_REAL, AT(active_parameters), 1, 1e15},
    {"mixture", KEY_FLAG, AT(mixture), 0, 0},
    {"request", KEY_OTHER, 0, 0, 0},
    {"plan", KEY_OTHER, 0, 0, 0},
    {"measured", KEY_OTHER, 0, 0, 0},
    {"said", KEY_OTHER, 0, 0, 0},
    {"note", KEY_OTHER, 0, 0, 0},
};
static const Key REQUEST[] = {
    {"model", KEY_OTHER, 0, 0, 0},
    {"vocab", KEY_WHOLE, AT(request.vocab), 1, 1e9},
    {"chip", KEY_TEXT, AT(request.chip), 0, 0},
    {"chips", KEY_WHOLE, AT(request.chips), 1, CHIPS_MOST},
    {"slice", KEY_TEXT, AT(request.slice), 0, 0},
    {"slices", KEY_WHOLE, AT(request.slices), 1, 4096},
    {"node_gigabits", KEY_REAL, AT(request.node_gigabits), 1, 1e6},
    {"seq", KEY_WHOLE, AT(request.seq), 1, 1 << 24},
    {"sequences", KEY_WHOLE, AT(request.sequences), 1, INT64_C(1) << 32},
    {"longest_seq", KEY_WHOLE, AT(request.longest_seq), 1, 1 << 24},
    {"document_tokens", KEY_WHOLE, AT(request.document_tokens), 1, 1 << 24},
    {"capacity_factor", KEY_REAL, AT(request.capacity_factor), 1, 16},
    {"stack", KEY_TEXT, AT(request.stack), 0, 0},
    {"precision", KEY_OTHER, 0, 0, 0},
    {"state", KEY_OTHER, 0, 0, 0},
    {"remat", KEY_OTHER, 0, 0, 0},
    {"remat_layers", KEY_WHOLE, AT(request.remat_layers), 1, 1e5},
    {"tuning", KEY_OTHER, 0, 0, 0},
    {"sequence_parallel", KEY_FLAG, AT(request.sequence_parallel), 0, 0},
    {"jax_mesh", KEY_FLAG, AT(request.jax_mesh), 0, 0},
    {"serial_ranks", KEY_FLAG, AT(request.serial_ranks), 0, 0},
    {"expert_overlap", KEY_FLAG, AT(request.expert_overlap), 0, 0},
};
static const Key TUNING[] = {
    {"rank", KEY_REAL, AT(request.tuning.rank), 1, 65536},
    {"targets", KEY_OTHER, 0, 0, 0},
    {"stored", KEY_OTHER, 0, 0, 0},
    {"on_host", KEY_FLAG, AT(request.tuning.on_host), 0, 0},
};
static const Key MEASURED[] = {
    {"step_seconds", KEY_REAL, AT(measured.step_seconds), 1e-6, 1e9},
    {"tokens_per_second_per_chip", KEY_REAL, AT(measured.tokens_per_second_per_chip), 1e-6, 1e12},
    {"flops_per_second_per_chip", KEY_REAL, AT(measured.flops_per_second_per_chip), 1e6, 1e18},
    {"mfu", KEY_REAL, AT(measured.mfu), 1e-6, 10},
    {"peak_flops_per_second", KEY_REAL, AT(measured.peak_flops_per_second), 1e9, 1e18},
    {"counted", KEY_OTHER, 0, 0, 0},
    {"step_factor", KEY_REAL, AT(measured.step_factor), 1, 10},
    {"memory_bytes", KEY_REAL, AT(measured.memory_bytes), 1, 1e15},
    {"memory_shows", KEY_OTHER, 0, 0, 0},
    {"first_stage_layers", KEY_WHOLE, AT(measured.first_stage_layers), 0, 1e5},
    {"failed", KEY_FLAG, AT(measured.failed), 0, 0},
};
#undef AT

/* ---- request ---- */

/* The reason that another reader gave, at the key. */
static bool passed_on(const Line *line, const char *key, bool ok, const Error *inner) {
    return ok || line_wrong(line, key, "%.180s", inner->text);
}

/* An object as it is written, but for blanks. */
static bool keep_text(const Line *line, const cJSON *object, const char **out) {
    size_t length;
    char *text = json_to_line(object, &length);
    *out = text ? arena_text(line->arena, text) : NULL;
    free(text);
    return *out || error_memory(line->error);
}

static bool read_tuning(const Line *line, Run *run, const cJSON *object) {
    Tuning *tuning = &run->request.tuning;
    const cJSON *json = cJSON_GetObjectItemCaseSensitive(object, "tuning");
    char word[32];
    if (!json) return true;
    tuning->on = true;
    if (!keep_text(line, json, &run->trained)) return false;
    if (!cJSON_IsObject(json)) return line_wrong(line, "tuning", "give {} for all weights, or the rank of adapters");
    if (!line_keys(line, json, TUNING, COUNT_OF(TUNING), run)) return false;
    const char *targets = line_text(line, json, "targets"), *stored = line_text(line, json, "stored");
    if (!targets || !stored) return false;
    if (!(tuning->rank > 0)) return true;
    tuning->frozen = FROZEN_ALL;
    if (!targets[0]) tuning->targets = TARGETS_ALL;
    while (tuning_next_word(&targets, word, sizeof word)) {
        unsigned bits = tuning_target_bits(word);
        if (!bits)
            return line_wrong(line, "targets", "\"%s\" is no matrix of a layer; give q_proj, mlp, all-linear", word);
        tuning->targets |= bits;
    }
    tuning->stored_bytes = stored[0] ? tuning_format_bytes(stored) : 0;
    return !stored[0] || tuning->stored_bytes > 0 ||
           line_wrong(line, "stored", "\"%.30s\" is no format; give nf4", stored);
}

static bool read_model(const Line *line, Run *run, const cJSON *request) {
    const cJSON *model = cJSON_GetObjectItemCaseSensitive(request, "model");
    Model own;
    Error error = {0};
    if (cJSON_IsString(model)) {
        run->request.model = arena_text(line->arena, model->valuestring);
        if (!run->model[0]) run->model = run->request.model;
        return run->request.model || error_memory(line->error);
    }
    if (!cJSON_IsObject(model))
        return line_wrong(line, "model", "give a name of `shardopt models`, or a configuration");
    if (!keep_text(line, model, &run->dimensions)) return false;
    return passed_on(line, "model", model_from_json(model, "model", false, &own, &error), &error);
}

static bool read_request(const Line *line, Run *run, const cJSON *request) {
    static const char *const NEEDED[] = {"model", "chip", "chips", "seq", "sequences"};
    RunRequest *out = &run->request;
    Error error = {0};
    for (size_t i = 0; i < COUNT_OF(NEEDED); i++)
        if (!cJSON_GetObjectItemCaseSensitive(request, NEEDED[i]))
            return line_wrong(line, "request", "has no %s", NEEDED[i]);
    if (!line_keys(line, request, REQUEST, COUNT_OF(REQUEST), run) || !read_model(line, run, request) ||
        !read_tuning(line, run, request))
        return false;
    const char *precisions[PRECISION_COUNT], *state = line_text(line, request, "state"),
                                             *remat = line_text(line, request, "remat");
    int precision = PRECISION_BF16;
    for (Precision p = 0; p < PRECISION_COUNT; p++) precisions[p] = precision_name(p);
    if (!state || !remat || !line_name(line, request, "precision", precisions, PRECISION_COUNT, &precision))
        return false;
    out->precision = (Precision)precision;
    if (state[0] && !passed_on(line, "state", state_dtypes_parse(state, "", &out->state, &error), &error)) return false;
    if (!passed_on(line, "remat", remat_parse(remat[0] ? remat : "none", "", &out->remat, &error), &error))
        return false;
    if (!out->remat.required) return line_wrong(line, "remat", "a run has no \"auto\"; give none, full or states");
    if (out->remat_layers > 0) out->remat.layers = out->remat_layers;
    return (run->remat = arena_text(line->arena, remat)) != NULL || error_memory(line->error);
}

/* ---- plan ---- */

/* "fsdp=64 tensor=4 microbatches=8 microbatch_sequences=1": degrees and knobs as `explain --plan` takes them, all that
 * are not the plain way. */
static bool read_plan(const Line *line, Run *run, const char *text) {
    Error error = {0};
    unsigned roles = 0;
    KnobSet knobs = 0;
    for (Role role = 0; role < ROLE_COUNT; role++) run->degrees.of[role] = 1;
    run->knobs = (Knobs){.microbatches = 1, .microbatch_sequences = 1, .virtual_stages = 1, .regather = true};
    for (const char *at = text + strspn(text, " "); *at; at += strspn(at, " ")) {
        char word[64], *value;
        size_t length = strcspn(at, " ");
        int64_t number;
        snprintf(word, sizeof word, "%.*s", (int)min_whole((int64_t)length, sizeof word - 1), at);
        at += length;
        if (!(value = strchr(word, '='))) return line_wrong(line, "plan", "\"%.40s\" is no fsdp=64", word);
        *value++ = '\0';
        Role role = 0;
        while (role < ROLE_COUNT && strcmp(role_name(role), word) != 0) role++;
        Knob knob = role < ROLE_COUNT ? KNOB_NONE : knob_find(word);
        if (role == ROLE_COUNT && knob == KNOB_NONE)
            return line_wrong(line, "plan", "\"%.40s\" is no degree or knob", word);
        if (knob ? knobs >> knob & 1 : roles >> role & 1)
            return line_wrong(line, "plan", "%s is given more than once; give it once", word);
        bool ok = knob ? knob_parse(knob, value, "", &number, &error)
                       : number_whole(value, "", 1, CHIPS_MOST, &number, &error);
        if (!passed_on(line, "plan", ok, &error)) return false;
        if (knob) knob_set(knob, number, &run->knobs), knobs |= (KnobSet)1 << knob;
        if (!knob) run->degrees.of[role] = number, roles |= 1u << role;
    }
    bool folded = knobs >> KNOB_FOLDED_EXPERT_TENSOR & 1;
    if (run->knobs.methods.grid.expert > 0 && !folded) run->knobs.methods.grid.expert_tensor = 1;
    return true;
}

/* ---- figures ---- */

static bool read_measured(const Line *line, Run *run, const cJSON *json) {
    static const char *const SHOWN[MEMORY_SHOWN_COUNT] = {"allocated", "reserved", "device"};
    static const char *const COUNTED[COUNTED_COUNT] = {
        "full", "full, embedding", "causal", "causal, embedding", "megatron 2021", "megatron 2021, recomputed"};
    RunFigures *out = &run->measured;
    int shown = 0, counted = 0;
    *out = (RunFigures){.step_factor = 1, .first_stage_layers = -1};
    if (!cJSON_IsObject(json)) return line_wrong(line, "measured", "give {\"step_seconds\": 12.3}");
    if (!line_keys(line, json, MEASURED, COUNT_OF(MEASURED), run) ||
        !line_name(line, json, "memory_shows", SHOWN, MEMORY_SHOWN_COUNT, &shown) ||
        !line_name(line, json, "counted", COUNTED, COUNTED_COUNT, &counted))
        return false;
    out->memory_shows = (MemoryShown)shown;
    out->counted = (Counted)counted;
    bool timed = out->step_seconds > 0 || out->tokens_per_second_per_chip > 0 || out->flops_per_second_per_chip > 0 ||
                 (out->mfu > 0 && out->peak_flops_per_second > 0);
    return timed || out->memory_bytes > 0 || out->failed ||
           line_wrong(line, "measured", "has no figure; give step_seconds, tokens_per_second_per_chip or memory_bytes");
}

/* ---- a line ---- */

static bool read_object(const Line *line, Run *run, const cJSON *json) {
    const cJSON *request = cJSON_GetObjectItemCaseSensitive(json, "request");
    if (!line_keys(line, json, ROW, COUNT_OF(ROW), run) || !line_label(line, &run->id, &run->family, run->source))
        return false;
    if (run->not_replayed[0]) return !request || line_keys(line, request, REQUEST, COUNT_OF(REQUEST), run);
    if (cJSON_IsString(request)) {
        run->request.words = arena_text(line->arena, request->valuestring);
        if (!run->request.words) return error_memory(line->error);
    } else if (!cJSON_IsObject(request)) {
        return line_wrong(line, "request", "give the options of a request, or an object");
    } else if (!read_request(line, run, request)) {
        return false;
    }
    const char *plan = line_text(line, json, "plan");
    if (!plan || !(run->plan = arena_text(line->arena, plan))) return plan && error_memory(line->error);
    return (run->request.words || read_plan(line, run, plan)) &&
           read_measured(line, run, cJSON_GetObjectItemCaseSensitive(json, "measured"));
}

static bool read_line(const Line *line, const cJSON *json, void *to) {
    Run *run = to;
    *run = (Run){.line = line->number, .text = line->text, .length = line->length};
    keys_clear(ROW, COUNT_OF(ROW), run);
    run->request.chip = run->request.slice = run->request.stack = run->request.model = "";
    run->plan = run->remat = run->trained = run->dimensions = "";
    run->request.slices = 1;
    run->request.sequence_parallel = true;
    return read_object(line, run, json);
}

bool run_model(const Run *run, Model *out, Error *error) {
    cJSON *json = json_parse(run->dimensions, strlen(run->dimensions), run->id, error);
    bool ok = json && model_from_json(json, run->id, false, out, error);
    cJSON_Delete(json);
    return ok;
}

/* ---- the table ---- */

bool run_lines_are(const char *text) {
    static const char *const KEYS[] = {"\"measured\"", "\"not_replayed\""};
    text += strspn(text, " \t\r\n");
    const char *end = text + strcspn(text, "\n");
    for (size_t i = 0; i < COUNT_OF(KEYS) && *text == '{'; i++) {
        const char *at = strstr(text, KEYS[i]);
        if (at && at < end) return true;
    }
    return false;
}

static bool parse(const LineFile *file, Arena *arena, RunTable *out, Error *error) {
    static const LineKind KIND = {sizeof(Run), offsetof(Run, id), read_line, "cost/measured/lab/convert.py"};
    RunTable table = {0};
    table.runs = lines_read(&KIND, file, arena, &table.count, error);
    if (table.runs) *out = table;
    return table.runs != NULL;
}

bool run_table_parse(const char *path, char *text, size_t length, Arena *arena, RunTable *out, Error *error) {
    return parse(&(LineFile){path, text, length, NULL}, arena, out, error);
}

bool run_table_read_chip(const char *path, const char *chip, Arena *arena, RunTable *out, Error *error) {
    LineFile file = {.path = path};
    char only[CHIP_NAME_SIZE + 16];
    snprintf(only, sizeof only, "\"chip\":\"%s\"", chip);
    file.only = only;
    return file_read(path, FILE_MAX, arena, &file.text, &file.length, error) && parse(&file, arena, out, error);
}

bool run_table_read(const char *path, Arena *arena, RunTable *out, Error *error) {
    char *text, sha256[sizeof out->sha256];
    size_t length;
    if (!file_read(path, FILE_MAX, arena, &text, &length, error)) return false;
    Sha256 hash = sha256_start();
    sha256_add(&hash, text, length);
    sha256_hex(&hash, sha256);
    if (!run_table_parse(path, text, length, arena, out, error)) return false;
    memcpy(out->sha256, sha256, sizeof sha256);
    return true;
}
