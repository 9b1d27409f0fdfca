/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/request/request.h"

#include "base/number.h"
#include "base/util.h"
#include "cost/plan/knobs.h"
#include "cost/stage/stage.h"
#include "mesh/host_link.h"
#include "models/parameters.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const OPS[] = {[REQUIRE_EQUAL] = "=", [REQUIRE_AT_MOST] = "<=", [REQUIRE_AT_LEAST] = ">="};
static const int64_t DEGREE_MAX = INT64_C(1) << 31; /* no machine has more chips */

const char *objective_name(Objective objective) {
    static const char *const NAMES[OBJECTIVE_COUNT] = {"time", "chip-hours", "cost"};
    return NAMES[objective];
}

const char *padding_rule_name(PaddingRule rule) {
    static const char *const NAMES[] = {
        [PADDING_NONE] = "none", [PADDING_LAUNCHABLE] = "launchable", [PADDING_ANY] = "any"};
    return NAMES[rule];
}

void request_for(const Request *request, const Subproblem *subproblem, Request *out) {
    if (out != request) *out = *request;
    out->subproblems = NULL;
    out->subproblem_count = 0;
    out->space.launchers = subproblem->launchers;
    out->space.nesting = subproblem->nesting;
    out->requested.nesting = subproblem->nesting_name;
    out->question.profile = subproblem->profile;
    out->question.doubts = subproblem->doubts;
    out->question.domain = subproblem->domain;
    out->question.host_update = subproblem->host_update;
    out->question.state_dtypes = subproblem->state_dtypes;
    out->question.state = subproblem->state;
    if (subproblem->parameters_on_host && !out->question.tuning.what.on_host) {
        out->question.tuning.what.on_host = true;
        out->question.offload = OFFLOAD_NONE; /* the rest, as --offload parameters has it */
    }
    out->question.state.tuning = out->question.tuning.what;
    out->question.hbm_reserve = out->requested.hbm_reserve;
    if (out->requested.reserve_origin == FROM_DEFAULT) out->question.hbm_reserve = request_default_reserve(out);
}

/* What a plan runs on: a chip, or one of the devices that it has. */
static const Chip *device_of(const Question *question) {
    return question->chip.devices_per_chip > 1 ? &question->device : &question->chip;
}

/* Communicators are those of three roles, and of experts: a plan that has more of them fits a little less surely. */
double tie_end(const SearchControl *control, double fastest) { return fastest * (1 + control->tie); }

double request_default_reserve(const Request *request) {
    static const double ODDS = 9, UNKNOWN_RESERVE = 0.08, STEP = 0.001; /* nine in ten are odds of 9 to 1 */
    enum { GROUPS = 3 };
    const Profile *profile = &request->question.profile;
    double hbm = device_of(&request->question)->hbm_bytes.value, share = UNKNOWN_RESERVE;
    if (profile->hbm_error > 0 && hbm > 0) {
        bool experts = model_layers_with(&request->question.model, true) > 0;
        int64_t chips = request->question.machine.mesh.chips;
        double groups = request->question.tuning.what.on ? chips > 1 : GROUPS; /* DDP or FSDP has one, a chip none */
        double communicators = groups * profile->communicator_bytes +
                               (experts ? profile->communicator_bytes + profile->all_to_all_bytes : 0);
        double held = hbm * pow(ODDS, -profile->hbm_error);
        double allocated = (held - profile->context_bytes - communicators) / (1 + profile->fragmentation_share);
        share = STEP * ceil((1 - allocated / hbm) / STEP);
    }
    return min_real(max_real(share, profile->least_reserve), RESERVE_MOST);
}

CostContext request_cost_context(const Request *request) {
    CostContext setting = (CostContext){.model = &request->question.model,
                                        .chip = device_of(&request->question),
                                        .profile = &request->question.profile,
                                        .work = request->question.work,
                                        .hbm_reserve = request->question.hbm_reserve,
                                        .precision_flops_per_second =
                                            precision_peak(&request->question.chip, request->question.precision),
                                        .state = request->question.state.optimizer[0] ? &request->question.state : NULL,
                                        .remat = &request->question.remat,
                                        .domain = request->question.domain,
                                        .offload = request->question.offload,
                                        .host_update = request->question.host_update,
                                        .slices = (double)request->question.machine.slices};
    setting.work.layer_weight = stage_layer_weight(&setting, request->question.work.seq);
    setting.work.layer_flops = layer_flops(setting.model, request->question.work.seq, &setting.work.layer_active);
    return setting;
}

static bool meets(const Requirement *required, int64_t value) {
    return (required->op == REQUIRE_AT_LEAST || value <= required->degree) &&
           (required->op == REQUIRE_AT_MOST || value >= required->degree);
}

bool request_admits(const Request *request, const Degrees *degrees) {
    for (int i = 0; i < request->space.requirement_count; i++) {
        const Requirement *required = &request->space.requirements[i];
        int64_t degree = degrees->of[required->role];
        bool of_knob = required->either && degree == 1; /* the fold decides */
        if (required->knob == KNOB_NONE && !of_knob && !meets(required, degree)) return false;
    }
    return true;
}

bool request_admits_some(const Request *request, const Degrees *degrees, const Knobs *knobs, KnobSet which) {
    for (int i = 0; i < request->space.requirement_count; i++) {
        const Requirement *required = &request->space.requirements[i];
        bool either = required->either && degrees->of[ROLE_EXPERT] == 1;
        Knob knob = either ? KNOB_FOLDED_EXPERT : required->knob;
        if (knob == KNOB_NONE || !(which >> knob & 1)) continue;
        int64_t setting = knob_setting(knob, knobs);
        if (!meets(required, either ? max_whole(1, setting) : setting)) return false;
    }
    return true;
}

bool request_admits_knobs(const Request *request, const Degrees *degrees, const Knobs *knobs) {
    return request_admits_some(request, degrees, knobs, ~0u);
}

bool request_admits_placement(const Request *request, const Mesh *mesh, const Placement *placement) {
    for (int a = 0; a < mesh->axis_count && request->space.pin_count > 0; a++)
        for (Role role = 0; role < ROLE_COUNT; role++) {
            int64_t factor = 1;
            for (int i = 0; i < request->space.pin_count; i++)
                if (request->space.pins[i].role == role && strcmp(request->space.pins[i].axis, mesh->axes[a].name) == 0)
                    factor = request->space.pins[i].factor;
            if (placement->factor[a][role] != factor) return false;
        }
    return true;
}

int pins_of_placement(const Mesh *mesh, const Placement *placement, Pin out[PINS_MAX]) {
    int count = 0;
    for (int a = 0; a < mesh->axis_count; a++)
        for (Role role = 0; role < ROLE_COUNT; role++) {
            if (placement->factor[a][role] <= 1) continue;
            Pin *pin = &out[count++];
            *pin = (Pin){.role = role, .factor = placement->factor[a][role]};
            snprintf(pin->axis, sizeof pin->axis, "%s", mesh->axes[a].name);
        }
    return count;
}

static bool is_between(char c) { return c == ' ' || c == '\t' || c == ','; }
static bool is_blank(char c) { return c == ' ' || c == '\t'; }
static bool is_op(char c) { return c == '=' || c == '<' || c == '>'; }

/* Copies up to a character that ends a word. False means that it is longer than any word of the grammar. */
static bool take_word(const char **text, char *word, size_t size) {
    size_t length = 0;
    while ((*text)[length] && !is_between((*text)[length]) && !is_op((*text)[length])) length++;
    snprintf(word, size, "%.*s", (int)min_whole((int64_t)length, (int64_t)size - 1), *text);
    *text += length;
    return length < size;
}

static bool role_of(const char *word, Role *out) {
    for (Role role = 0; role < ROLE_COUNT; role++) {
        if (strcmp(word, role_name(role)) != 0) continue;
        *out = role;
        return true;
    }
    return false;
}

/* The field's short words for roles and knobs, in any case. */
static const struct {
    const char *word, *name;
} SHORT_WORDS[] = {{"tp", "tensor"},
                   {"pp", "pipeline"},
                   {"dp", "data"},
                   {"cp", "sequence"},
                   {"sp", "sequence"},
                   {"ep", "expert"},
                   {"vp", "virtual_stages"},
                   {"vpp", "virtual_stages"},
                   {"mbs", "microbatch_sequences"},
                   {"etp", "folded_expert_tensor"}};

static const char *long_word(const char *word) {
    for (size_t i = 0; i < COUNT_OF(SHORT_WORDS); i++)
        if (strcasecmp(word, SHORT_WORDS[i].word) == 0) return SHORT_WORDS[i].name;
    return word;
}

/* "TP8" is "tp=8". Moves *text back to the digits; false: the word is not of that form. */
static bool split_glued(const char **text, char word[24]) {
    size_t letters = strcspn(word, "0123456789");
    if (letters == 0 || word[letters] == '\0' || strspn(word + letters, "0123456789") != strlen(word + letters))
        return false;
    char start[24];
    snprintf(start, sizeof start, "%.*s", (int)letters, word);
    if (long_word(start) == start && strcasecmp(start, "fsdp") != 0) return false;
    *text -= strlen(word) - letters;
    snprintf(word, 24, "%s", start);
    return true;
}

/* Reads the subject of a condition, which is a role or a knob; *glued: its number follows without a comparison. */
static bool take_subject(const char **text, const char *where, char word[24], bool *glued, Requirement *out,
                         Error *error) {
    bool whole = take_word(text, word, 24);
    *out = (Requirement){0};
    *glued = whole && !is_op(**text) && split_glued(text, word);
    const char *name = strcasecmp(word, "fsdp") == 0 ? "fsdp" : long_word(word);
    out->either = whole && strcasecmp(word, "ep") == 0;
    if (whole && name != word) snprintf(word, 24, "%s", name);
    if (whole && role_of(word, &out->role)) return true;
    out->knob = whole ? knob_find(word) : KNOB_NONE;
    if (out->knob != KNOB_NONE) return true;
    char knobs[256] = "";
    for (Knob knob = KNOB_NONE + 1; knob < KNOB_COUNT; knob++) {
        size_t length = strlen(knobs);
        snprintf(knobs + length, sizeof knobs - length, " %s", knob_name(knob));
    }
    return error_set(error, ERROR_INPUT, where,
                     "\"%s\" is not a role or a knob; roles are data fsdp sequence tensor expert pipeline, knobs are%s",
                     word, knobs);
}

/* Reads one condition at *text and moves *text past it. */
static bool take_requirement(const char **text, const char *where, Requirement *out, Error *error) {
    char subject[24], op[4] = "", value[32];
    bool glued = false;
    if (!take_subject(text, where, subject, &glued, out, error)) return false;
    while (is_blank(**text)) (*text)++;
    for (size_t length = 0; is_op(**text) && length + 1 < sizeof op; (*text)++) op[length++] = **text;
    if (glued) snprintf(op, sizeof op, "=");
    size_t found = 0;
    while (found < COUNT_OF(OPS) && strcmp(OPS[found], op) != 0) found++;
    if (found == COUNT_OF(OPS))
        return error_set(error, ERROR_INPUT, where, "\"%s%s\" has no comparison; write %s=4, %s<=4 or %s>=4", subject,
                         op, subject, subject, subject);
    out->op = (RequireOp)found;
    while (is_blank(**text)) (*text)++;
    if (!take_word(text, value, sizeof value))
        return error_set(error, ERROR_INPUT, where, "\"%s...\" is not a %s", value,
                         out->knob != KNOB_NONE ? "setting of a knob" : "degree of a role");
    if (out->knob == KNOB_NONE) return number_whole(value, where, 1, DEGREE_MAX, &out->degree, error);
    if (out->op != REQUIRE_EQUAL && knob_has_names(out->knob))
        return error_set(error, ERROR_INPUT, where,
                         "\"%s%s\": its settings are names, which have no order; write %s=", subject, op, subject);
    return knob_parse(out->knob, value, where, &out->degree, error);
}

static const char *subject_name(const Requirement *required) {
    if (required->either) return "ep";
    return required->knob != KNOB_NONE ? knob_name(required->knob) : role_name(required->role);
}

static bool same_subject(const Requirement *a, const Requirement *b) {
    return a->knob == b->knob && a->either == b->either && (a->knob != KNOB_NONE || a->role == b->role);
}

/* tensor=4 with tensor>=8 is a slip of the pen, not a machine on which nothing fits. */
static bool check_compatible(const char *where, const Requirement *list, int count, Error *error) {
    for (int i = 0; i < count; i++) {
        int64_t low = 0, high = DEGREE_MAX;
        for (int j = 0; j < count; j++) {
            if (!same_subject(&list[i], &list[j])) continue;
            if (list[j].op != REQUIRE_AT_MOST) low = max_whole(low, list[j].degree);
            if (list[j].op != REQUIRE_AT_LEAST) high = min_whole(high, list[j].degree);
        }
        if (low <= high) continue;
        if (list[i].knob != KNOB_NONE && knob_has_names(list[i].knob))
            return error_set(error, ERROR_INPUT, where, "%s is required to have two different values; give one of them",
                             subject_name(&list[i]));
        return error_set(
            error, ERROR_INPUT, where, "no %s%s is at least %lld and at most %lld; give conditions that agree",
            list[i].knob != KNOB_NONE ? "" : "degree of ", subject_name(&list[i]), (long long)low, (long long)high);
    }
    return true;
}

bool requirements_parse(const char *text, const char *where, Requirement list[REQUIREMENTS_MAX], int *count,
                        Error *error) {
    int before = *count;
    for (;;) {
        while (is_between(*text)) text++;
        if (*text == '\0') break;
        if (*count == REQUIREMENTS_MAX)
            return error_set(error, ERROR_INPUT, where, "has too many conditions; give at most %d in all",
                             REQUIREMENTS_MAX);
        if (!take_requirement(&text, where, &list[*count], error)) return false;
        (*count)++;
    }
    if (*count == before)
        return error_set(error, ERROR_INPUT, where, "is empty; write conditions like \"tensor=4 pipeline<=8\"");
    return check_compatible(where, list, *count, error);
}

const char *requirements_text(const Request *request, char text[REQUIREMENTS_TEXT_SIZE]) {
    size_t length = 0;
    text[0] = '\0';
    for (int i = 0; i < request->space.requirement_count; i++) {
        const Requirement *required = &request->space.requirements[i];
        char value[KNOB_TEXT_SIZE];
        if (required->knob != KNOB_NONE)
            knob_text(required->knob, required->degree, value);
        else
            snprintf(value, sizeof value, "%lld", (long long)required->degree);
        length += (size_t)snprintf(text + length, REQUIREMENTS_TEXT_SIZE - length, "%s%s%s%s", i > 0 ? " " : "",
                                   subject_name(required), OPS[required->op], value);
    }
    return text;
}

bool schedules_parse(const char *text, const char *where, unsigned *out, Error *error) {
    if (name_matches(text, "launchable")) return *out = SCHEDULES_LAUNCHABLE, true;
    if (name_matches(text, "all")) return *out = SCHEDULES_ALL, true;
    unsigned set = 0;
    for (;;) {
        char word[24];
        size_t length = strcspn(text, ",");
        snprintf(word, sizeof word, "%.*s", (int)min_whole((int64_t)length, (int64_t)sizeof word - 1), text);
        Schedule found = SCHEDULE_NONE + 1;
        while (found < SCHEDULE_COUNT && (length >= sizeof word || !name_matches(word, schedule_name(found)))) found++;
        if (found == SCHEDULE_COUNT)
            return error_set(
                error, ERROR_INPUT, where,
                "\"%s\" is not a schedule; give launchable, all, or some of gpipe, 1f1b, interleaved, circular, "
                "zb_h1, dualpipe",
                word);
        set |= 1u << found;
        text += length;
        if (*text == '\0') break;
        text++;
    }
    *out = set;
    return true;
}

const char *schedules_text(unsigned schedules, char text[SCHEDULES_TEXT_SIZE]) {
    if (schedules == SCHEDULES_LAUNCHABLE) return strcpy(text, "launchable");
    if (schedules == SCHEDULES_ALL) return strcpy(text, "all");
    size_t used = 0;
    text[0] = '\0';
    for (Schedule schedule = SCHEDULE_NONE + 1; schedule < SCHEDULE_COUNT; schedule++)
        if (schedules >> schedule & 1)
            used += (size_t)snprintf(text + used, SCHEDULES_TEXT_SIZE - used, "%s%s", used ? "," : "",
                                     schedule_name(schedule));
    return text;
}

bool request_has_host_room(const Request *request) {
    const Question *question = &request->question;
    double stored = question->tuning.what.stored_bytes > 0 ? question->tuning.what.stored_bytes : BF16_BYTES;
    double room = 0.5 * question->chip.host_bytes.value * (double)question->machine.mesh.chips;
    return host_is_known(&question->chip) && stored * (double)model_parameters(&question->model).total <= room;
}

/* What --require and --remat put on the host. */
static void required_there(const Request *request, bool *optimizer, bool *activations) {
    const RematRule *remat = &request->question.remat;
    *optimizer = *activations = false;
    for (int i = 0; i < request->space.requirement_count; i++) {
        const Requirement *required = &request->space.requirements[i];
        *optimizer = *optimizer || (required->knob == KNOB_OFFLOAD_OPTIMIZER && required->degree != 0);
    }
    for (int a = 0; a < ACTIVATION_COUNT && remat->required; a++)
        *activations = *activations || remat->state[a] == STATE_OFFLOADED;
}

void request_settle_offload(Request *request) {
    const Chip *chip = &request->question.chip;
    bool optimizer, activations, roomy = !chip_has_domains(chip) || chip->coherent_host;
    if (request->requested.offload) return;
    required_there(request, &optimizer, &activations);
    activations = activations || (roomy && host_is_known(chip));
    request->question.offload = optimizer && activations ? OFFLOAD_ALL
                                : optimizer              ? OFFLOAD_OPTIMIZER
                                : activations            ? OFFLOAD_ACTIVATIONS
                                                         : OFFLOAD_NONE;
}

bool request_offload(const char *text, const char *where, Request *request, Error *error) {
    request->question.offload = host_is_known(&request->question.chip) ? OFFLOAD_ALL : OFFLOAD_NONE;
    if (!text || strcmp(text, "auto") == 0) return true;
    Offload requested;
    bool optimizer, activations;
    required_there(request, &optimizer, &activations);
    if (!offload_parse(text, where, &requested, error)) return false;
    if (optimizer && !offload_takes_optimizer(requested))
        return error_set(error, ERROR_INPUT, where, "%s, and --require has the optimizer's state on the host", text);
    if (activations && !offload_takes_activations(requested))
        return error_set(error, ERROR_INPUT, where, "%s, and --remat offloads activations", text);
    if (requested != OFFLOAD_NONE && !host_is_known(&request->question.chip))
        return error_set(error, ERROR_INPUT, where, "the catalog knows no host memory of %s; give none",
                         request->question.chip.title);
    request->question.offload = requested;
    request->requested.offload = true;
    return true;
}
