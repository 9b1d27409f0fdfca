/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/file.h"
#include "base/json.h"
#include "base/number.h"
#include "base/sha256.h"
#include "base/util.h"
#include "cost/measured/run.h"
#include "cost/plan/knobs.h"
#include "models/config/model_json.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MAX = 64 << 20, RUNS_MAX = 1000000, WHERE_SIZE = 192, CHIPS_MOST = 10000000 };

/* One line that is read: its text, for columns of errors. */
typedef struct {
    const char *path;
    Run *run;
    Arena *arena;
    Error *error;
} Line;

/* The column of a key: the first of its name that a colon follows. */
static size_t column_of(const Run *run, const char *key) {
    char quoted[64];
    int length = snprintf(quoted, sizeof quoted, "\"%.60s\"", key);
    for (const char *at = strstr(run->text, quoted); at; at = strstr(at + 1, quoted))
        if (at[length + (int)strspn(at + length, " \t")] == ':') return (size_t)(at - run->text) + 1;
    return 1;
}

bool run_wrong(const Run *run, const char *path, const char *key, Error *error, const char *format, ...) {
    char where[WHERE_SIZE], text[240];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    snprintf(where, sizeof where, "%.150s:%lld:%zu", path, (long long)run->line, column_of(run, key));
    return error_set(error, ERROR_INPUT, where, "%s: %s", key, text);
}

#define wrong(line, key, ...) run_wrong((line)->run, (line)->path, key, (line)->error, __VA_ARGS__)

/* ---- keys ---- */

typedef enum { KEY_TEXT, KEY_WHOLE, KEY_REAL, KEY_FLAG, KEY_OTHER } KeyType;

typedef struct {
    const char *key;
    KeyType type;
    size_t offset; /* in Run */
    double low, high;
} Key;

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

static bool read_key(const Line *line, const Key *key, const cJSON *value) {
    void *member = (char *)line->run + key->offset;
    switch (key->type) {
    case KEY_TEXT:
        if (!cJSON_IsString(value)) return wrong(line, key->key, "give a text");
        *(const char **)member = arena_text(line->arena, value->valuestring);
        return *(const char **)member || error_memory(line->error);
    case KEY_WHOLE:
    case KEY_REAL:
        if (!cJSON_IsNumber(value) || !(value->valuedouble >= key->low && value->valuedouble <= key->high))
            return wrong(line, key->key, "give a number from %g to %g", key->low, key->high);
        if (key->type == KEY_REAL) return *(double *)member = value->valuedouble, true;
        *(int64_t *)member = (int64_t)value->valuedouble;
        return (double)*(int64_t *)member == value->valuedouble || wrong(line, key->key, "give a whole number");
    case KEY_FLAG:
        if (!cJSON_IsBool(value)) return wrong(line, key->key, "give true or false");
        *(bool *)member = cJSON_IsTrue(value);
        return true;
    case KEY_OTHER:
        break;
    }
    return true;
}

/* Every key of the object; one that is not known is an error. */
static bool read_keys(const Line *line, const cJSON *object, const Key *keys, size_t count) {
    const cJSON *item;
    cJSON_ArrayForEach(item, object) {
        const char *names[32];
        size_t i = 0;
        for (; i < count && strcmp(keys[i].key, item->string) != 0; i++) names[i] = keys[i].key;
        if (i < count) {
            if (!read_key(line, &keys[i], item)) return false;
            continue;
        }
        const char *nearest = name_nearest(item->string, names, count);
        return wrong(line, item->string, "is not known%s%s%s", nearest ? "; did you mean " : "", nearest ? nearest : "",
                     nearest ? "?" : "");
    }
    return true;
}

/* The text of a key, which may be absent (""); NULL: it is no text. */
static const char *text_of(const Line *line, const cJSON *object, const char *key) {
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(object, key);
    if (!value) return "";
    if (!cJSON_IsString(value)) wrong(line, key, "give a text");
    return cJSON_GetStringValue(value);
}

/* The place of a text among names; an absent one is the first. */
static bool read_name(const Line *line, const cJSON *object, const char *key, const char *const *names, int count,
                      int *out) {
    const char *text = text_of(line, object, key);
    char all[160] = "";
    if (!text) return false;
    for (int i = 0; i < count; i++) {
        if (!text[0] || strcmp(text, names[i]) == 0) return *out = i, true;
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", i ? ", " : "", names[i]);
    }
    return wrong(line, key, "\"%.30s\" is none of %s", text, all);
}

/* ---- request ---- */

/* The reason that another reader gave, at the key. */
static bool passed_on(const Line *line, const char *key, bool ok, const Error *inner) {
    return ok || wrong(line, key, "%.180s", inner->text);
}

/* An object as it is written, but for blanks. */
static bool keep_text(const Line *line, const cJSON *object, const char **out) {
    size_t length;
    char *text = json_to_line(object, &length);
    *out = text ? arena_text(line->arena, text) : NULL;
    free(text);
    return *out || error_memory(line->error);
}

static bool read_tuning(const Line *line, const cJSON *object) {
    Tuning *tuning = &line->run->request.tuning;
    const cJSON *json = cJSON_GetObjectItemCaseSensitive(object, "tuning");
    char word[32];
    if (!json) return true;
    tuning->on = true;
    if (!keep_text(line, json, &line->run->trained)) return false;
    if (!cJSON_IsObject(json)) return wrong(line, "tuning", "give {} for all weights, or the rank of adapters");
    if (!read_keys(line, json, TUNING, COUNT_OF(TUNING))) return false;
    const char *targets = text_of(line, json, "targets"), *stored = text_of(line, json, "stored");
    if (!targets || !stored) return false;
    if (!(tuning->rank > 0)) return true;
    tuning->frozen = FROZEN_ALL;
    if (!targets[0]) tuning->targets = TARGETS_ALL;
    while (tuning_next_word(&targets, word, sizeof word)) {
        unsigned bits = tuning_target_bits(word);
        if (!bits) return wrong(line, "targets", "\"%s\" is no matrix of a layer; give q_proj, mlp, all-linear", word);
        tuning->targets |= bits;
    }
    tuning->stored_bytes = stored[0] ? tuning_format_bytes(stored) : 0;
    return !stored[0] || tuning->stored_bytes > 0 || wrong(line, "stored", "\"%.30s\" is no format; give nf4", stored);
}

static bool read_model(const Line *line, const cJSON *request) {
    const cJSON *model = cJSON_GetObjectItemCaseSensitive(request, "model");
    Run *run = line->run;
    Model own;
    Error error = {0};
    if (cJSON_IsString(model)) {
        run->request.model = arena_text(line->arena, model->valuestring);
        if (!run->model[0]) run->model = run->request.model;
        return run->request.model || error_memory(line->error);
    }
    if (!cJSON_IsObject(model)) return wrong(line, "model", "give a name of `shardopt models`, or a configuration");
    if (!keep_text(line, model, &run->dimensions)) return false;
    return passed_on(line, "model", model_from_json(model, "model", false, &own, &error), &error);
}

static bool read_request(const Line *line, const cJSON *request) {
    static const char *const NEEDED[] = {"model", "chip", "chips", "seq", "sequences"};
    RunRequest *out = &line->run->request;
    Error error = {0};
    for (size_t i = 0; i < COUNT_OF(NEEDED); i++)
        if (!cJSON_GetObjectItemCaseSensitive(request, NEEDED[i]))
            return wrong(line, "request", "has no %s", NEEDED[i]);
    if (!read_keys(line, request, REQUEST, COUNT_OF(REQUEST)) || !read_model(line, request) ||
        !read_tuning(line, request))
        return false;
    const char *precisions[PRECISION_COUNT], *state = text_of(line, request, "state"),
                                             *remat = text_of(line, request, "remat");
    int precision = PRECISION_BF16;
    for (Precision p = 0; p < PRECISION_COUNT; p++) precisions[p] = precision_name(p);
    if (!state || !remat || !read_name(line, request, "precision", precisions, PRECISION_COUNT, &precision))
        return false;
    out->precision = (Precision)precision;
    if (state[0] && !passed_on(line, "state", state_dtypes_parse(state, "", &out->state, &error), &error)) return false;
    if (!passed_on(line, "remat", remat_parse(remat[0] ? remat : "none", "", &out->remat, &error), &error))
        return false;
    if (!out->remat.required) return wrong(line, "remat", "a run has no \"auto\"; give none, full or states");
    if (out->remat_layers > 0) out->remat.layers = out->remat_layers;
    return (line->run->remat = arena_text(line->arena, remat)) != NULL || error_memory(line->error);
}

/* ---- plan ---- */

/* "fsdp=64 tensor=4 microbatches=8 microbatch_sequences=1": degrees and knobs as `explain --plan` takes them, all that
 * are not the plain way. */
static bool read_plan(const Line *line, const char *text) {
    Run *run = line->run;
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
        if (!(value = strchr(word, '='))) return wrong(line, "plan", "\"%.40s\" is no fsdp=64", word);
        *value++ = '\0';
        Role role = 0;
        while (role < ROLE_COUNT && strcmp(role_name(role), word) != 0) role++;
        Knob knob = role < ROLE_COUNT ? KNOB_NONE : knob_find(word);
        if (role == ROLE_COUNT && knob == KNOB_NONE) return wrong(line, "plan", "\"%.40s\" is no degree or knob", word);
        if (knob ? knobs >> knob & 1 : roles >> role & 1)
            return wrong(line, "plan", "%s is given more than once; give it once", word);
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

static bool read_measured(const Line *line, const cJSON *json) {
    static const char *const SHOWN[MEMORY_SHOWN_COUNT] = {"allocated", "reserved", "device"};
    static const char *const COUNTED[COUNTED_COUNT] = {
        "full", "full, embedding", "causal", "causal, embedding", "megatron 2021", "megatron 2021, recomputed"};
    RunFigures *out = &line->run->measured;
    int shown = 0, counted = 0;
    *out = (RunFigures){.step_factor = 1, .first_stage_layers = -1};
    if (!cJSON_IsObject(json)) return wrong(line, "measured", "give {\"step_seconds\": 12.3}");
    if (!read_keys(line, json, MEASURED, COUNT_OF(MEASURED)) ||
        !read_name(line, json, "memory_shows", SHOWN, MEMORY_SHOWN_COUNT, &shown) ||
        !read_name(line, json, "counted", COUNTED, COUNTED_COUNT, &counted))
        return false;
    out->memory_shows = (MemoryShown)shown;
    out->counted = (Counted)counted;
    bool timed = out->step_seconds > 0 || out->tokens_per_second_per_chip > 0 || out->flops_per_second_per_chip > 0 ||
                 (out->mfu > 0 && out->peak_flops_per_second > 0);
    return timed || out->memory_bytes > 0 || out->failed ||
           wrong(line, "measured", "has no figure; give step_seconds, tokens_per_second_per_chip or memory_bytes");
}

/* ---- a line ---- */

/* What is not given of its names: an id is the line's number, a family what stands before the first '-' of the id. */
static bool name_run(const Line *line) {
    Run *run = line->run;
    if (!run->id[0]) run->id = arena_format(line->arena, "line %lld", (long long)run->line);
    if (run->id && !run->family[0]) {
        size_t length = strcspn(run->id, "-");
        run->family = run->id[length] ? arena_format(line->arena, "%.*s", (int)length, run->id) : run->source;
    }
    return (run->id && run->family) || error_memory(line->error);
}

static bool read_object(const Line *line, const cJSON *json) {
    Run *run = line->run;
    const cJSON *request = cJSON_GetObjectItemCaseSensitive(json, "request");
    if (!cJSON_IsObject(json)) return wrong(line, "a run", "give {\"request\": .., \"plan\": .., \"measured\": ..}");
    if (!read_keys(line, json, ROW, COUNT_OF(ROW)) || !name_run(line)) return false;
    if (run->not_replayed[0]) return !request || read_keys(line, request, REQUEST, COUNT_OF(REQUEST));
    if (cJSON_IsString(request)) {
        run->request.words = arena_text(line->arena, request->valuestring);
        if (!run->request.words) return error_memory(line->error);
    } else if (!cJSON_IsObject(request)) {
        return wrong(line, "request", "give the options of a request, or an object");
    } else if (!read_request(line, request)) {
        return false;
    }
    const char *plan = text_of(line, json, "plan");
    if (!plan || !(run->plan = arena_text(line->arena, plan))) return plan && error_memory(line->error);
    return (run->request.words || read_plan(line, plan)) &&
           read_measured(line, cJSON_GetObjectItemCaseSensitive(json, "measured"));
}

/* An error of the line alone, in the file. */
static bool at_line(const char *path, const Run *run, Error *error) {
    char where[WHERE_SIZE];
    const char *column = strrchr(error->where, ':');
    snprintf(where, sizeof where, "%.150s:%lld%s", path, (long long)run->line, column ? column : "");
    memcpy(error->where, where, sizeof error->where < sizeof where ? sizeof error->where : sizeof where);
    return false;
}

static bool read_line(const char *path, Run *run, Arena *arena, Error *error) {
    const Line line = {path, run, arena, error};
    for (size_t i = 0; i < COUNT_OF(ROW); i++)
        if (ROW[i].type == KEY_TEXT) *(const char **)((char *)run + ROW[i].offset) = "";
    run->request.chip = run->request.slice = run->request.stack = run->request.model = "";
    run->plan = run->remat = run->trained = run->dimensions = "";
    run->request.slices = 1;
    run->request.sequence_parallel = true;
    cJSON *json = json_parse(run->text, run->length, "", error);
    if (!json) return at_line(path, run, error);
    bool ok = read_object(&line, json);
    cJSON_Delete(json);
    return ok;
}

bool run_model(const Run *run, Model *out, Error *error) {
    cJSON *json = json_parse(run->dimensions, strlen(run->dimensions), run->id, error);
    bool ok = json && model_from_json(json, run->id, false, out, error);
    cJSON_Delete(json);
    return ok;
}

/* ---- the table ---- */

/* Two runs of one id are one too many. */
static bool set_ids_apart(const char *path, const RunTable *table, Arena *arena, Error *error) {
    typedef struct {
        const char *id;
        const Run *run;
    } Named;
    Named *order = ARENA_NEW(arena, Named, (size_t)table->count);
    if (!order) return error_memory(error);
    for (int64_t i = 0; i < table->count; i++) order[i] = (Named){table->runs[i].id, &table->runs[i]};
    qsort(order, (size_t)table->count, sizeof *order, order_text);
    for (int64_t i = 1; i < table->count; i++) {
        const Run *a = order[i - 1].run, *b = order[i].run, *later = a->line > b->line ? a : b;
        if (strcmp(a->id, b->id) != 0) continue;
        return run_wrong(later, path, "id", error, "is that of line %lld; give each run its own",
                         (long long)(a->line + b->line - later->line));
    }
    return true;
}

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

typedef struct {
    const char *path;
    char *text;
    size_t length;
    const char *only; /* lines without this text are passed over; NULL: none */
} Source;

static bool parse(const Source *source, Arena *arena, RunTable *out, Error *error) {
    RunTable table = {0};
    const char *path = source->path, *only = source->only;
    char *text = source->text;
    size_t length = source->length;
    int64_t lines = 1, number = 0;
    for (size_t i = 0; i < length; i++) lines += text[i] == '\n';
    if (lines > RUNS_MAX) return error_set(error, ERROR_INPUT, path, "more than 1,000,000 runs; split the file");
    if (!(table.runs = ARENA_NEW(arena, Run, (size_t)lines))) return error_memory(error);
    for (char *at = text, *end = text + length; at < end;) {
        char *stop = memchr(at, '\n', (size_t)(end - at));
        if (!stop) stop = end;
        *stop = '\0';
        number++;
        if (at[strspn(at, " \t\r")] && (!only || strstr(at, only))) {
            Run *run = &table.runs[table.count++];
            *run = (Run){.line = number, .text = at, .length = (size_t)(stop - at)};
            if (number == 1 && strchr(at, '\t') && at[0] != '{')
                return error_set(error, ERROR_INPUT, path,
                                 "is a table; convert it: python3 cost/measured/lab/convert.py FILE.tsv >FILE.jsonl");
            if (!read_line(path, run, arena, error)) return false;
        }
        at = stop + 1;
    }
    if (table.count == 0 && !only) return error_set(error, ERROR_INPUT, path, "there is no run; give one a line");
    if (!set_ids_apart(path, &table, arena, error)) return false;
    *out = table;
    return true;
}

bool run_table_parse(const char *path, char *text, size_t length, Arena *arena, RunTable *out, Error *error) {
    return parse(&(Source){path, text, length, NULL}, arena, out, error);
}

bool run_table_read_chip(const char *path, const char *chip, Arena *arena, RunTable *out, Error *error) {
    char *text, only[CHIP_NAME_SIZE + 16];
    size_t length;
    snprintf(only, sizeof only, "\"chip\":\"%s\"", chip);
    return file_read(path, FILE_MAX, arena, &text, &length, error) &&
           parse(&(Source){path, text, length, only}, arena, out, error);
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
