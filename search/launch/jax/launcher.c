/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Plain JAX: what can be written in it, and how the module is read that `shardopt emit jax` writes (emit.c): mesh,
 * shardings and schedule of one plan as constants of Python. Other programs say such things in their own ways. */
#include "base/util.h"
#include "search/answer/parameter_shards.h"
#include "search/launch/jax/jax.h"
#include "search/launch/placement.h"
#include "search/launch/rules.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Mesh axes, each with the role whose ranks it is. */
enum { AXES_MAX = 16, NAME_SIZE = 32, WORDS_MAX = 64 };
typedef struct {
    struct {
        char name[NAME_SIZE];
        int64_t size;
        Role role;
    } of[AXES_MAX];
    int count;
} Axes;

/* The words and numbers of a literal in the order in which they stand; brackets are words of their own. */
typedef struct {
    char text[NAME_SIZE];
} Word;

static int words_of(const char *text, Word *out, int most) {
    int count = 0;
    while (*text && count < most) {
        size_t length = 0;
        if (strchr("()[]{}", *text)) {
            length = 1;
        } else if (*text == '"' || *text == '\'') {
            char quote = *text++;
            while (text[length] && text[length] != quote) length++;
        } else if (isalnum((unsigned char)*text)) {
            while (isalnum((unsigned char)text[length]) || text[length] == '_') length++;
        } else {
            text++;
            continue;
        }
        snprintf(out[count++].text, NAME_SIZE, "%.*s", (int)min_whole((int64_t)length, NAME_SIZE - 1), text);
        text += length;
        text += *text == '"' || *text == '\'';
    }
    return count;
}

static bool is(const Word *word, const char *text) { return strcmp(word->text, text) == 0; }

/* Of "data": ("a", "b"), the product of the sizes of its axes; `owner`: these are the ranks of that role. */
static int64_t degree_of(const Word *words, int count, const char *role, Axes *axes, int owner) {
    int64_t degree = 1;
    for (int i = 0; i + 1 < count; i++) {
        if (!is(&words[i], role) || !is(&words[i + 1], "(")) continue;
        for (int j = i + 2; j < count && !is(&words[j], ")"); j++)
            for (int a = 0; a < axes->count; a++) {
                if (!is(&words[j], axes->of[a].name)) continue;
                if (__builtin_mul_overflow(degree, axes->of[a].size, &degree)) degree = INT64_MAX / 4;
                if (owner >= 0) axes->of[a].role = (Role)owner;
            }
        break;
    }
    return degree;
}

static bool read_work(ConfigFile *file, ImportedWork *out, Error *error) {
    const char *machine = config_text(file, "MACHINE", ""), *dtypes = config_text(file, "DTYPES", "");
    out->model = config_text(file, "MODEL", NULL);
    out->chip = config_text(file, "CHIP", NULL);
    if (!config_number_text(file, "SEQUENCE_LENGTH", &out->seq, error)) return false;
    size_t digits = strspn(machine, "0123456789");
    const char *each = machine + digits;
    if (digits > 0 && digits < 12 && (strncmp(each, " nodes of ", 10) == 0 || strncmp(each, " node of ", 9) == 0)) {
        each = strstr(each, "of ") + strlen("of ");
        out->nodes = config_copy(file, machine, digits);
        out->gpus_per_node = config_copy(file, each, strspn(each, "0123456789"));
    } else if (digits > 0 && digits < 12 && strncmp(machine + digits, " x ", 3) == 0) {
        out->slices = config_copy(file, machine, digits);
        out->slice = machine + digits + 3;
    } else if (machine[0]) {
        out->slice = machine;
    }
    Word words[WORDS_MAX];
    int count = words_of(dtypes, words, WORDS_MAX);
    const char *gradients = NULL, *first = NULL, *second = NULL, *master = NULL;
    for (int i = 0; i + 1 < count; i++) {
        if (is(&words[i], "gradients")) gradients = words[i + 1].text;
        if (is(&words[i], "first_moment")) first = words[i + 1].text;
        if (is(&words[i], "second_moment")) second = words[i + 1].text;
        if (is(&words[i], "master")) master = words[i + 1].text;
        if (is(&words[i], "matmuls") && !is(&words[i + 1], "bf16"))
            out->precision = config_copy(file, words[i + 1].text, strlen(words[i + 1].text));
    }
    if (!gradients) return true;
    bool moments = first && second && (strcmp(first, "fp32") != 0 || strcmp(second, "fp32") != 0);
    bool own = master && strcmp(master, "fp32") != 0;
    out->state_dtypes =
        arena_format(file->arena, "gradients=%s%s%s%s%s%s%s", gradients, moments ? " m=" : "", moments ? first : "",
                     moments ? " v=" : "", moments ? second : "", own ? " master=" : "", own ? master : "");
    return out->state_dtypes || error_memory(error);
}

static bool read_axes(ConfigFile *file, const Request *request, Axes *axes, ImportedPlan *plan, Error *error) {
    static const Role OWNERS[] = {ROLE_PIPELINE, ROLE_DATA, ROLE_FSDP, ROLE_SEQUENCE, ROLE_TENSOR};
    Word mesh[WORDS_MAX], roles[WORDS_MAX];
    int mesh_count = words_of(config_text(file, "MESH_AXES", ""), mesh, WORDS_MAX);
    int count = words_of(config_text(file, "ROLES", ""), roles, WORDS_MAX);
    axes->count = 0;
    for (int i = 1; i + 1 < mesh_count && axes->count < AXES_MAX; i += 2) {
        int64_t size = strtoll(mesh[i + 1].text, NULL, 10);
        if (size < 1 || size > MACHINE_CHIPS_MAX)
            return config_wrong(file, NULL, "MESH_AXES", error,
                                "\"%s\" has no size; leave the module as it was written", mesh[i].text);
        snprintf(axes->of[axes->count].name, NAME_SIZE, "%s", mesh[i].text);
        axes->of[axes->count].role = ROLE_EXPERT; /* unless another role has it */
        axes->of[axes->count++].size = size;
    }
    for (size_t i = 0; i < COUNT_OF(OWNERS); i++)
        plan->degrees.of[OWNERS[i]] = degree_of(roles, count, role_name(OWNERS[i]), axes, (int)OWNERS[i]);
    int64_t expert = degree_of(roles, count, "expert", axes, -1),
            width = degree_of(roles, count, "expert_tensor", axes, -1);
    int64_t weights = degree_of(roles, count, "expert_weights", axes, -1), own = 1, left;
    for (int a = 0; a < axes->count; a++)
        if (axes->of[a].role == ROLE_EXPERT && __builtin_mul_overflow(own, axes->of[a].size, &own)) own = INT64_MAX / 4;
    plan->degrees.of[ROLE_EXPERT] = own;
    if (own == 1 && expert * width * weights > 1 && import_experts(request) > 0) {
        import_knob(plan, KNOB_FOLDED_EXPERT, expert);
        import_knob(plan, KNOB_FOLDED_EXPERT_TENSOR, width);
    }
    if (!import_left_over(file, request, "MESH_AXES", plan, &left, error)) return false;
    return left == 1 || config_wrong(file, NULL, "MESH_AXES", error,
                                     "multiply to %" PRId64 ", not to the %" PRId64 " devices of %s; name its machine",
                                     request->question.machine.mesh.devices / left,
                                     request->question.machine.mesh.devices, request->question.machine.text);
}

/* On one physical axis: its roles, the outermost first. */
typedef struct {
    char axis[12];
    struct {
        Role role;
        int64_t factor;
    } pieces[AXES_MAX];
    int count;
} Physical;

static bool nests(const Nesting *nesting, const Physical *physical) {
    int place[ROLE_COUNT];
    for (int i = 0; i < ROLE_COUNT; i++) place[nesting->order[i]] = i;
    for (int i = 0; i + 1 < physical->count; i++)
        if (place[physical->pieces[i].role] <= place[physical->pieces[i + 1].role]) return false;
    return true;
}

/* PHYSICAL, as pins under the first order of roles that puts them so; in none: they are placed as is best. */
static void read_placement(ConfigFile *file, const Axes *axes, ImportedPlan *plan) {
    Word words[4 * WORDS_MAX];
    Physical physical[MESH_AXES_MAX + 1];
    int count = words_of(config_text(file, "PHYSICAL", ""), words, 4 * WORDS_MAX), depth = 0, of = 0;
    memset(physical, 0, sizeof physical);
    for (int i = 0; i < count; i++) {
        depth += is(&words[i], "(") - is(&words[i], ")");
        if (is(&words[i], "(") && depth == 2 && of <= MESH_AXES_MAX && i + 1 < count)
            snprintf(physical[of++].axis, sizeof physical[0].axis, "%.11s", words[i + 1].text);
        if (!is(&words[i], "(") || depth != 4 || of == 0 || i + 2 >= count) continue;
        Physical *at = &physical[of - 1];
        for (int a = 0; a < axes->count && at->count < AXES_MAX; a++) {
            if (!is(&words[i + 1], axes->of[a].name)) continue;
            int64_t factor = max_whole(1, strtoll(words[i + 2].text, NULL, 10));
            bool same = at->count > 0 && at->pieces[at->count - 1].role == axes->of[a].role;
            if (same && factor <= MACHINE_CHIPS_MAX && at->pieces[at->count - 1].factor <= MACHINE_CHIPS_MAX)
                at->pieces[at->count - 1].factor *= factor;
            else
                at->pieces[at->count].role = axes->of[a].role, at->pieces[at->count++].factor = factor;
        }
    }
    for (int n = 0; nesting_name(n); n++) {
        Nesting nesting;
        bool all = nesting_named(nesting_name(n), &nesting);
        for (int p = 0; p < of && all; p++) all = nests(&nesting, &physical[p]);
        if (!all) continue;
        plan->nesting = nesting_name(n);
        break;
    }
    if (!plan->nesting) {
        config_note(file, "PHYSICAL nests roles in no order that has a name: placed as is best");
        return;
    }
    for (int p = 0; p < of; p++)
        for (int i = 0; i < physical[p].count && plan->pin_count < PINS_MAX; i++) {
            Pin *pin = &plan->pins[plan->pin_count++];
            *pin = (Pin){.role = physical[p].pieces[i].role, .factor = physical[p].pieces[i].factor};
            memcpy(pin->axis, physical[p].axis, sizeof pin->axis);
        }
}

/* REMAT: of each run of layers how many they are, what is saved, what is offloaded. One run is a policy; so is one
 * next to layers that keep all. */
static void read_remat(ConfigFile *file, ImportedPlan *plan) {
    Word words[4 * WORDS_MAX];
    int count = words_of(config_text(file, "REMAT", ""), words, 4 * WORDS_MAX), depth = 0, runs = 0, list = 0;
    ActivationState state[2][ACTIVATION_COUNT];
    int64_t layers[2] = {0};
    for (int i = 0; i < count && runs <= 2; i++) {
        bool opens = is(&words[i], "("), closes = is(&words[i], ")");
        depth += opens - closes;
        if (opens && depth == 2) {
            if (++runs > 2 || i + 1 >= count) break;
            layers[runs - 1] = strtoll(words[i + 1].text, NULL, 10);
            list = 0;
            for (int a = 0; a < ACTIVATION_COUNT; a++) state[runs - 1][a] = a == 0 ? STATE_SAVED : STATE_RECOMPUTED;
        }
        list += opens && depth == 3;
        for (int a = 0; a < ACTIVATION_COUNT && depth == 3 && runs > 0; a++)
            if (is(&words[i], activation_name((Activation)a)))
                state[runs - 1][a] = list == 1 ? STATE_SAVED : STATE_OFFLOADED;
    }
    int kept[2] = {0};
    for (int r = 0; r < runs && r < 2; r++)
        for (int a = 1; a < ACTIVATION_COUNT; a++) kept[r] += state[r][a] == STATE_SAVED;
    int run = runs == 2 && kept[0] == ACTIVATION_COUNT - 1 ? 1 : 0;
    bool full = runs == 2 && kept[run] == 0 && kept[1 - run] == ACTIVATION_COUNT - 1 && state[run][0] == STATE_SAVED;
    if (full) {
        snprintf(plan->remat, sizeof plan->remat, "full:%" PRId64, max_whole(1, layers[run]));
    } else if (runs == 1) {
        RematRule rule = {.required = true};
        memcpy(rule.state, state[0], sizeof rule.state);
        remat_text(&rule, plan->remat);
    } else {
        config_note(file, "REMAT differs from layer to layer: chosen best");
    }
}

static bool read_plan(ConfigFile *file, const Request *request, ImportedPlan *plan, Error *error) {
    static const char IGNORED[] = "*"; /* shardings follow from the roles */
    Axes axes;
    LaunchTerms terms;
    if (!read_axes(file, request, &axes, plan, error) || !keys_read(JAX_KEYS, NULL, file, &terms, error)) return false;
    int64_t sequences = terms.of[TERM_BATCH], micro = terms.of[TERM_MICRO];
    if (sequences == 0 || micro == 0)
        return config_wrong(file, NULL, "SEQUENCES", error, "is missing; give a module that `shardopt emit jax` wrote");
    if (!import_batch(file, request, "SEQUENCES", sequences, micro, plan, error)) return false;
    import_knob(plan, KNOB_SCHEDULE, terms.of[TERM_SCHEDULE]);
    import_knob(plan, KNOB_VIRTUAL_STAGES, terms.of[TERM_VIRTUAL_STAGES]);
    import_knob(plan, KNOB_ZERO_STAGE, terms.of[TERM_ZERO]);
    import_knob(plan, KNOB_REGATHER, terms.of[TERM_REGATHER]);
    if (plan->degrees.of[ROLE_SEQUENCE] > 1) {
        import_knob(plan, KNOB_CONTEXT_METHOD, terms.of[TERM_CONTEXT]);
        import_knob(plan, KNOB_ULYSSES, terms.of[TERM_ULYSSES]);
        bool shards = strstr(config_text(file, "PARAMETERS", ""), "\"sequence") != NULL;
        if (chip_has_domains(&request->question.chip)) import_knob(plan, KNOB_SEQUENCE_PARAMETERS, !shards);
    }
    import_overlap(file, request, terms.of[TERM_OVERLAP], plan);
    import_offload(file, request, terms.of[TERM_OFFLOAD], plan);
    plan->placed = true;
    read_placement(file, &axes, plan);
    read_remat(file, plan);
    config_ignore(file, IGNORED);
    return true;
}

/* ---- what it refuses ---- */

/* Some other dimension of each matrix may do as well. */
static bool weights_divide(const PlanFacts *facts) {
    ParameterShards specs[PARAMETERS_MAX];
    const char *undivided;
    parameter_shards(facts->model, facts->plan, specs, &undivided);
    return !undivided;
}

static const char *refuses_degrees(const PlanFacts *facts) {
    REFUSE_UNLESS(facts_heads_divide(facts), REFUSES_HEADS);
    REFUSE_UNLESS(facts_kv_heads_divide(facts, true), REFUSES_KV_COPIES);
    REFUSE_UNLESS(facts->seq % facts->sequence == 0, "sequence has to divide the tokens of a sequence");
    return NULL;
}

/* One writes the program oneself: what divides can be said. Stages are one stacked array, so they are even; nobody has
 * written ZB-H1 or DualPipe in it. */
static const char *refuses(const PlanFacts *facts) {
    REFUSE_UNLESS(facts_runs(facts, 1u << SCHEDULE_GPIPE | 1u << SCHEDULE_1F1B | 1u << SCHEDULE_INTERLEAVED |
                                        1u << SCHEDULE_CIRCULAR),
                  "nobody has written this schedule in JAX: gpipe, 1f1b, interleaved or circular");
    REFUSE_UNLESS(facts_even_stages(facts), REFUSES_UNEVEN_STAGES);
    REFUSE_UNLESS(facts_weights_divide(facts) || weights_divide(facts),
                  "a sharded dimension has to divide: fsdp, sequence or expert divides none of some matrix");
    return NULL;
}

/* AXLearn 34aed43c experiments/text/gpt/common.py: pipeline, data, expert, fsdp, seq, model. */
#define ORDER                                                                                                          \
    {                                                                                                                  \
        { ROLE_TENSOR, ROLE_SEQUENCE, ROLE_FSDP, ROLE_EXPERT, ROLE_DATA, ROLE_PIPELINE }                               \
    }

#define KEY_WITH(comment, key, term, kind, low, high, absent)                                                          \
    { key, term, 's', kind, low, high, absent, NULL, "  # " comment }
const LaunchKey JAX_KEYS[] = {
    KEY_WITH("of one step", "SEQUENCES", TERM_BATCH, KEY_WHOLE, 1, INT64_C(1) << 40, 0),
    KEY_SIZE('s', "SEQUENCE_LENGTH", TERM_SEQ),
    KEY_WITH("of each replica", "MICROBATCHES", TERM_MICROBATCHES, KEY_WHOLE, 1, 0, 0),
    KEY_NUMBER('s', "MICROBATCH_SEQUENCES", TERM_MICRO, 1, INT64_C(1) << 32, 0),
    {"SCHEDULE", TERM_SCHEDULE, 's', KEY_KNOB, KNOB_SCHEDULE, 0, SCHEDULE_NONE, NULL, NULL},
    KEY_COUNT('s', "VIRTUAL_STAGES", TERM_VIRTUAL_STAGES, 1),
    KEY_WRITTEN('s', "LAYERS_PER_STAGE", TERM_STAGE_LAYERS),
    KEY_WITH("over data: 1 shards the optimizer's state, 2 gradients too", "ZERO_STAGE", TERM_ZERO, KEY_WHOLE, 0, 2, 0),
    KEY_WITH("weights come together again for backward", "REGATHER", TERM_REGATHER, KEY_SWITCH, 0, 1, 1),
    KEY_FLAG('s', "OFFLOAD_OPTIMIZER", TERM_OFFLOAD),
    {"CONTEXT_METHOD", TERM_CONTEXT, 's', KEY_KNOB, KNOB_CONTEXT_METHOD, 0, CONTEXT_NONE, NULL, NULL},
    KEY_DEGREE('s', "ULYSSES", TERM_ULYSSES),
    KEY_WITH("matmuls in chunks alongside their collectives", "TENSOR_OVERLAP", TERM_OVERLAP, KEY_SWITCH, 0, 1, 0),
    {NULL},
};

static void ways(const LaunchAsk *ask, LaunchWays *out) {
    static const Nesting NESTING = ORDER;
    launch_on_device_mesh(ask, &NESTING, "allow_split_physical_axes=True", out);
}

const Launcher JAX_LAUNCHER = {
    .name = "jax",
    .nestings = {{.name = "jax", .order = ORDER}},
    .refuses_degrees = refuses_degrees,
    .refuses = refuses,
    .ways = ways,
    .device_order = "an array of devices in the plan's order",
    .signs = {"MESH_AXES"},
    .keys = JAX_KEYS,
    .import_work = read_work,
    .import_plan = read_plan,
    .formats = {{"jax", jax_write, jax_notes, "a Python module: mesh, PartitionSpecs, remat, schedule", "plan.py"}},
};
