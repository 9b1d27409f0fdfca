/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A request as the options that make it again: what a report carries, so that it can be planned once more. */
#include "search/request/request.h"

#include "base/json.h"

#include <string.h>

const char *const TUNING_WORDS[TUNING_WORD_COUNT] = {"lora",    "qlora",       "targets",    "freeze",
                                                     "task",    "mean_length", "max_length", "packing",
                                                     "samples", "epochs",      "lengths"};

static bool add_tuning(const Requested *requested, cJSON *to) {
    bool ok = true;
    for (int i = 0; i < TUNING_WORD_COUNT && ok; i++)
        ok = !requested->tuning[i][0] || json_add_text(to, TUNING_WORDS[i], requested->tuning[i]);
    return ok;
}

/* The machine in the option that named it. */
static bool add_machine(const Request *request, cJSON *to) {
    const MachineRequest *requested = &request->requested.machine_request;
    if (!json_add_text(to, "chip", request->question.chip.name)) return false;
    if (request->question.chip.oversubscription > 1 &&
        !json_add_real(to, "oversubscription", request->question.chip.oversubscription))
        return false;
    const char *network = chip_network_typed(&request->question.chip);
    if (network && !json_add_text(to, "network", network)) return false;
    const char *memory = chip_host_memory_typed(&request->question.chip);
    if (memory && !json_add_text(to, "host_memory", memory)) return false;
    if (strcmp(request->question.chip.usd_per_chip_hour.source, CHIP_PRICE_TYPED) == 0 &&
        !json_add_real(to, "price", request->question.chip.usd_per_chip_hour.value))
        return false;
    if (requested->slice)
        return json_add_text(to, "slice", requested->slice) &&
               (requested->slices == 0 || json_add_whole(to, "slices", requested->slices));
    const Chip *chip = &request->question.chip;
    if (requested->pods > 0) return json_add_whole(to, "pods", requested->pods);
    return json_add_whole(to, requested->chips > 0 ? "chips" : "nodes", requested->chips + requested->nodes) &&
           (!chip->usual_host_chips || !chip_has_domains(chip) ||
            json_add_whole(to, "gpus_per_node", chip->chips_per_host));
}

/* As the options have them; what nobody said is left out. */
static bool add_failures(const FailureRequest *requested, cJSON *to) {
    return (!requested->never || json_add_text(to, "mtbf", "none")) &&
           (!(requested->mtbf_seconds > 0) || json_add_real(to, "mtbf", requested->mtbf_seconds)) &&
           (!(requested->restart_seconds >= 0) || json_add_real(to, "restart", requested->restart_seconds)) &&
           (!(requested->storage_bytes_per_second > 0) ||
            json_add_real(to, "storage", requested->storage_bytes_per_second));
}

bool request_add_json(const Request *request, const char *launchers, cJSON *to) {
    char required[REQUIREMENTS_TEXT_SIZE], dtypes[STATE_TEXT_SIZE], remat[REMAT_TEXT_SIZE];
    char schedules[SCHEDULES_TEXT_SIZE];
    requirements_text(request, required);
    /* Of several launchers each has its own order of roles and its own software, which accompany its plans. */
    bool several = strchr(launchers, ',') != NULL;
    const char *stack = several ? request->requested.stack : request->question.profile.stack;
    const StateDtypes *kept = several ? &request->requested.state_dtypes : &request->question.state_dtypes;
    return json_add_text(to, "model", request->requested.model) && add_machine(request, to) &&
           json_add_whole(to, "batch", (int64_t)request->requested.batch_tokens) &&
           (request->requested.tuning[TUNING_MAX_LENGTH][0] || json_add_whole(to, "seq", request->question.work.seq)) &&
           (request->question.tuning.what.on || json_add_real(to, "tokens", request->question.training_tokens)) &&
           add_tuning(&request->requested, to) && add_failures(&request->question.failing, to) &&
           (required[0] == '\0' || json_add_text(to, "require", required)) && json_add_text(to, "for", launchers) &&
           json_add_real(to, "max_idle", request->space.max_idle) &&
           json_add_real(to, "batch_tolerance", request->space.batch_tolerance) &&
           json_add_text(to, "padding", padding_rule_name(request->space.padding)) &&
           ((several && !request->requested.nesting_said) ||
            json_add_text(to, "nesting", request->requested.nesting)) &&
           json_add_text(to, "schedules", schedules_text(request->space.schedules, schedules)) &&
           json_add_text(to, "objective", objective_name(request->question.objective)) &&
           (!request->control.by_time || json_add_text(to, "rank", "time")) &&
           (request->control.different || json_add_whole(to, "top", request->control.top)) &&
           json_add_bool(to, "variants", request->control.variants) &&
           json_add_text(to, "precision", precision_name(request->question.precision)) &&
           json_add_text(to, "optimizer", request->requested.optimizer[0] ? request->requested.optimizer : "adamw") &&
           json_add_text(to, "state_dtypes", state_dtypes_text(kept, dtypes)) &&
           json_add_text(to, "remat", remat_text(&request->question.remat, remat)) &&
           json_add_text(to, "offload",
                         !request->requested.offload             ? "auto"
                         : request->question.tuning.what.on_host ? "parameters"
                                                                 : offload_name(request->question.offload)) &&
           json_add_real(to, "hbm_reserve", request->question.hbm_reserve) &&
           json_add_text(to, "profile", request->requested.profile) &&
           (stack[0] == '\0' || json_add_text(to, "stack", stack)) &&
           json_add_bool(to, "brute_force", request->control.brute_force) &&
           (request->control.memory_limit_bytes == 0 ||
            json_add_whole(to, "memory_limit", request->control.memory_limit_bytes)) &&
           (request->requested.time_limit_seconds == 0 ||
            json_add_real(to, "time_limit", request->requested.time_limit_seconds));
}
