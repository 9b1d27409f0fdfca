/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/answer/plan_words.h"

#include "base/util.h"
#include "cost/stage/stage_totals.h"
#include "cost/time/step_terms.h"

#include <string.h>

double plan_trained(const Request *request, const RankedPlan *ranked, double *all) {
    const CostContext setting = ranked_cost_context(request, ranked);
    const Knobs plain = {.microbatches = 1, .microbatch_sequences = 1, .virtual_stages = 1};
    const Work work = {.sequences = 1, .seq = ranked->work.seq};
    const Degrees one = {{1, 1, 1, 1, 1, 1}};
    Sharding shardings[SHARDINGS_MAX];
    Shard shard;
    StageTotals sums;
    if (!shard_of_plan(&request->question.model, &work, &one, &plain, PADDING_ANY, &shard)) return -1;
    shardings_of(&setting, &shard, shardings);
    stage_sums(&setting, &shard, &plain.methods, &shardings[0], &sums);
    *all = local_parameters(&setting, &shard, &plain, &sums, false).total;
    return trained_parameters(&setting, &shard, &plain, &sums, false).total;
}

char *plan_label(const RankedPlan *ranked, char text[WORDS_SIZE]) {
    const Knobs *knobs = &ranked->plan.knobs;
    char notation[NOTATION_SIZE];
    plan_notation(&ranked->plan.degrees, &ranked->plan.knobs, true, notation);
    if (knobs->schedule == SCHEDULE_NONE)
        snprintf(text, WORDS_SIZE, "%s", notation);
    else if (knobs->virtual_stages > 1)
        snprintf(text, WORDS_SIZE, "%s %s v=%lld m=%lld", notation, schedule_name(knobs->schedule),
                 (long long)knobs->virtual_stages, (long long)knobs->microbatches);
    else
        snprintf(text, WORDS_SIZE, "%s %s m=%lld", notation, schedule_name(knobs->schedule),
                 (long long)knobs->microbatches);
    return text;
}

static const char *role_short(Role role) {
    static const char *const WORDS[ROLE_COUNT] = {[ROLE_DATA] = "DP",   [ROLE_FSDP] = "FSDP", [ROLE_SEQUENCE] = "CP",
                                                  [ROLE_TENSOR] = "TP", [ROLE_EXPERT] = "EP", [ROLE_PIPELINE] = "PP"};
    return WORDS[role];
}

const char *chip_noun(const Chip *chip) { return chip_has_domains(chip) ? "GPU" : "chip"; }

char *plan_degrees(const RankedPlan *ranked, char text[WORDS_SIZE]) {
    static const Role ORDER[] = {ROLE_TENSOR, ROLE_SEQUENCE, ROLE_PIPELINE, ROLE_EXPERT, ROLE_FSDP, ROLE_DATA};
    static const char *const SCHEDULES[SCHEDULE_COUNT] = {
        [SCHEDULE_GPIPE] = "GPipe",         [SCHEDULE_1F1B] = "1F1B",         [SCHEDULE_INTERLEAVED] = "VPP",
        [SCHEDULE_CIRCULAR] = "circular x", [SCHEDULE_ZB_H1] = "zero bubble", [SCHEDULE_DUALPIPE] = "DualPipe"};
    const Knobs *knobs = &ranked->plan.knobs;
    const ExpertGrid *grid = &knobs->methods.grid;
    char count[NUMBER_TEXT_SIZE];
    Prose words = {0};
    for (size_t i = 0; i < COUNT_OF(ORDER); i++) {
        bool folded = ORDER[i] == ROLE_EXPERT && grid->expert > 0;
        int64_t degree = folded ? grid->expert : ranked->plan.degrees.of[ORDER[i]];
        if (degree > 1) prose_item(&words, " ", "%s%lld", role_short(ORDER[i]), (long long)degree);
        if (folded && grid->expert_tensor > 1) prose_item(&words, " ", "ETP%lld", (long long)grid->expert_tensor);
    }
    if (words.used == 0)
        prose_add(&words, "one %s", ranked->request ? chip_noun(&ranked->request->question.chip) : "chip");
    if (knobs->schedule != SCHEDULE_NONE) prose_add(&words, " %s", SCHEDULES[knobs->schedule]);
    if (knobs->virtual_stages > 1) prose_add(&words, "%lld", (long long)knobs->virtual_stages);
    if (knobs->schedule != SCHEDULE_NONE)
        prose_add(&words, ", %s microbatches", number_grouped(knobs->microbatches, count));
    snprintf(text, WORDS_SIZE, "%.*s", WORDS_SIZE - 1, words.text);
    return text;
}

const char *launch_kind_name(LaunchKind kind) {
    static const char *const NAMES[] = {"default", "option", "device_order", "impossible"};
    return NAMES[kind];
}

const char *padding_text(PaddingSet set, char text[WORDS_SIZE]) {
    size_t used = 0;
    strcpy(text, "nothing");
    for (int i = 0; i < PAD_COUNT; i++)
        if (set >> i & 1)
            used += (size_t)snprintf(text + used, WORDS_SIZE - used, "%s%s", used ? ", " : "",
                                     padding_name((PaddingKind)i));
    return text;
}

const char *machine_of(const Chip *chip, const char *shape, int64_t pods, char text[WORDS_SIZE]) {
    char title[PROSE_NAME_SIZE], clean[PROSE_NAME_SIZE];
    const char *network = chip_network_typed(chip);
    clean_name(chip->title[0] ? chip->title : chip->name, title);
    clean_name(shape, clean);
    if (pods > 0)
        snprintf(text, WORDS_SIZE, "%lld pod%s of %s", (long long)pods, pods > 1 ? "s" : "", title);
    else if (chip_has_domains(chip)) /* "16 nodes of 8", or "4 chips of one node" */
        snprintf(text, WORDS_SIZE, "%s%s %s", clean, strstr(clean, "chip") ? "," : "", title);
    else
        snprintf(text, WORDS_SIZE, "%s of %s", clean, title);
    size_t used = strlen(text);
    if (network) snprintf(text + used, WORDS_SIZE - used, ", %s between hosts", clean_name(network, clean));
    return text;
}

void host_share_words(const Chip *chip, Prose *to) {
    char rate[NUMBER_TEXT_SIZE];
    if (chip->usual_host_chips <= chip->chips_per_host || !chip_has_domains(chip)) return;
    prose_item(to, ", ", "hosts of %lld", (long long)chip->chips_per_host);
    if (machine_may_scale_out(chip) && !chip_network_typed(chip))
        prose_add(to, " with %lld/%lld of a usual host's network cards (%s/s, --network)",
                  (long long)chip->chips_per_host, (long long)chip->usual_host_chips,
                  number_bytes(chip->scaleout_bytes_per_second.value * (double)chip->chips_per_host, rate));
}

const char *machine_text(const Request *request, char text[WORDS_SIZE]) {
    return machine_of(&request->question.chip, request->question.machine.text, request->requested.machine_request.pods,
                      text);
}

const char *moment_text(Moment moment, bool stages) {
    static const char *const ONE[MOMENT_COUNT] = {"at the start of backward", "at the logits",
                                                  "at the start of backward", "at the end of backward"};
    static const char *const MANY[MOMENT_COUNT] = {"first stage, start of backward", "last stage, at the logits",
                                                   "last stage, start of backward", "at the end of backward"};
    return (stages ? MANY : ONE)[moment];
}

const char *bound_text(BoundBy bound, const Mesh *mesh) {
    static const char *const WORDS[BOUND_COUNT] = {"compute", "HBM",  "ICI",       "DCN",     "NVLink",
                                                   "network", "PCIe", "host CPUs", "latency", "bubble"};
    for (int a = 0; a < mesh->axis_count && bound == BOUND_NVLINK; a++)
        if (mesh->axes[a].level == LEVEL_NVLINK && mesh->axes[a].kind == AXIS_MESH) return "xGMI";
    return WORDS[bound];
}

void footprint_words(const Mesh *mesh, const Footprint *footprint, Prose *to) {
    bool first = true;
    for (int a = 0; a < mesh->axis_count; a++) {
        const Axis *axis = &mesh->axes[a];
        Span span = footprint->on[a];
        if (span.factor <= 1) continue;
        if (!first) prose_add(to, ", ");
        first = false;
        bool whole = span.factor == axis->size;
        if (whole)
            prose_add(to, "all %lld of %s", (long long)span.factor, axis->name);
        else
            prose_add(to, "%lld of %s", (long long)span.factor, axis->name);
        if (axis->kind == AXIS_SWITCH || axis->kind == AXIS_MESH) continue;
        bool ring = axis->kind == AXIS_RING && span.factor * span.stride == axis->size;
        if (span.stride > 1)
            prose_add(to, " (a %s, %lld apart)", ring ? "ring" : "line", (long long)span.stride);
        else
            prose_add(to, " (a %s)", ring ? "ring" : "line");
    }
}

double role_seconds(const StepTime *time, Role role, double *exposed) {
    double seconds = 0, certain = 0;
    for (int group = 0; group < GROUP_COUNT; group++)
        if (group_role((Group)group) == role) {
            seconds += time->group_seconds[group];
            certain += time->group_exposed_seconds[group];
        }
    if (exposed) *exposed = certain;
    return seconds;
}

int step_terms(const Estimate *estimate, const Degrees *degrees, Term terms[TERMS_MAX]) {
    const StepTime *time = &estimate->time;
    static const Role ORDER[ROLE_COUNT] = {ROLE_TENSOR,   ROLE_EXPERT, ROLE_SEQUENCE,
                                           ROLE_PIPELINE, ROLE_FSDP,   ROLE_DATA};
    int count = 0;
    double counted = 0;
    _Static_assert(4 + (int)ROLE_COUNT + 4 <= (int)TERMS_MAX, "compute, roles, and the rest of a step");
    terms[count++] = (Term){"matmul", estimate->matmul_seconds, 0};
    terms[count++] = (Term){"attention", estimate->attention_seconds, 0};
    terms[count++] = (Term){"elementwise", estimate->elementwise_seconds, 0};
    for (int i = 0; i < count; i++) counted += terms[i].seconds;
    terms[count++] = (Term){"recompute", max_real(0, time->compute_seconds - counted), 0};
    for (int i = 0; i < ROLE_COUNT; i++) {
        double exposed, whole = role_seconds(time, ORDER[i], &exposed);
        if (whole <= 0) continue;
        /* Weights also lie over sequence and expert: without fsdp their gathers have no role of their own. */
        const char *name = ORDER[i] == ROLE_FSDP && degrees->of[ROLE_FSDP] == 1 ? "weights" : role_name(ORDER[i]);
        terms[count++] = (Term){name, exposed, whole};
    }
    terms[count++] =
        (Term){time->pcie_seconds > 0 ? "PCIe, waits" : "waits", time->unhidden_seconds, time->pcie_seconds};
    terms[count++] = (Term){"bubble", time->bubble_seconds, 0};
    terms[count++] = (Term){"optimizer", time->optimizer_seconds, 0};
    terms[count++] = (Term){"other", time->other_seconds, 0};
    return count;
}

/* Tokens computed for a sample. Ranks wait for each other whenever they gather weights, else once a step. */
static double sample_tokens(const FineTuning *tuning, const RankedPlan *ranked) {
    const Knobs *knobs = &ranked->plan.knobs;
    if (!tuning->lengths) return tuning->sample_tokens;
    TogetherComputed together = {.ranks = (double)degrees_replicas(&ranked->plan.degrees),
                                 .samples = (double)knobs->microbatch_sequences,
                                 .microbatches =
                                     ranked->plan.degrees.of[ROLE_FSDP] > 1 ? 1 : (double)knobs->microbatches};
    return (tuning->pairs ? 2 : 1) * lengths_computed(tuning->lengths, tuning->packing, &together);
}

Training training_of(const Request *request, const RankedPlan *ranked) {
    Training training = {
        .tokens = request->question.training_tokens, .usd = -1, .reserved_usd = -1, .samples_per_second = -1};
    const FineTuning *tuning = &request->question.tuning;
    if (tuning->what.on) {
        double computed = sample_tokens(tuning, ranked);
        training.samples_per_second =
            (double)ranked->work.sequences * (double)ranked->work.seq / computed / ranked->estimate.time.seconds;
        if (tuning->lengths) training.tokens = tuning->samples * tuning->epochs * computed;
    }
    training.steps = training.tokens / ((double)ranked->work.sequences * (double)ranked->work.seq);
    training.seconds = training.steps * ranked->estimate.time.seconds;
    training.chip_hours = training.seconds / 3600 *
                          max_real((double)request->question.machine.mesh.chips, (double)ranked->machine.mesh.chips);
    double price = request->question.chip.usd_per_chip_hour.value;
    double reserved = request->question.chip.usd_per_chip_hour_reserved.value;
    if (price > 0) training.usd = training.chip_hours * price;
    if (reserved > 0) training.reserved_usd = training.chip_hours * reserved;
    return training;
}

CostContext ranked_cost_context(const Request *request, const RankedPlan *ranked) {
    CostContext setting = request_cost_context(request);
    setting.work = ranked->work;
    return setting;
}

int64_t stage_layers(const Plan *plan) {
    const int64_t *states = plan->layout.layers[ACTIVATION_LAYER_INPUT];
    return states[STATE_SAVED] + states[STATE_RECOMPUTED] + states[STATE_OFFLOADED] + states[STATE_PARTLY];
}

int peak_parts(const Request *request, const RankedPlan *ranked, MemoryPart parts[MEMORY_PARTS_MAX],
               double *in_flight) {
    const Estimate *estimate = &ranked->estimate;
    CostContext setting = ranked_cost_context(request, ranked);
    return memory_parts(&setting, &estimate->shard, &ranked->plan, estimate->moment, parts, in_flight);
}

double plan_host_bytes(const Request *request, const RankedPlan *ranked) {
    MemoryPart parts[MEMORY_PARTS_MAX];
    double in_flight, bytes = 0;
    int count = peak_parts(request, ranked, parts, &in_flight);
    for (int i = 0; i < count; i++)
        if (parts[i].row == MEMORY_HOST) bytes += parts[i].bytes;
    return bytes;
}

Traffic group_traffic(const Estimate *estimate, Group group, Phase phase) {
    return step_traffic(&estimate->rule, &estimate->resources, group, phase);
}
