/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/report/around.h"

#include "base/util.h"
#include "cost/profile/profile_figure.h"
#include "search/report/side_searches.h"

#include <string.h>

/* ---- of the chip ---- */

static bool scale(Figure *figure, double factor) {
    figure->value *= factor;
    return figure->value > 0;
}

static bool move_peak(Request *request, double factor) {
    Chip *chip = &request->question.chip;
    scale(&chip->fp8_flops_per_second, factor);
    scale(&chip->int8_ops_per_second, factor);
    scale(&chip->fp4_flops_per_second, factor);
    return scale(&chip->bf16_flops_per_second, factor);
}

static bool move_hbm(Request *request, double factor) { return scale(&request->question.chip.hbm_bytes, factor); }
static bool move_bandwidth(Request *request, double factor) {
    return scale(&request->question.chip.hbm_bytes_per_second, factor);
}
/* Copies one way, both ways, and of all chips of a host. */
static bool move_pcie(Request *request, double factor) {
    Chip *chip = &request->question.chip;
    scale(&chip->pcie_both_bytes_per_second, factor);
    scale(&chip->host_copies_bytes_per_second, factor);
    return scale(&chip->pcie_bytes_per_second, factor);
}
static bool move_host(Request *request, double factor) { return scale(&request->question.chip.host_bytes, factor); }
static bool move_scale_up(Request *request, double factor) { return request_scale_links(request, true, factor); }
static bool move_scale_out(Request *request, double factor) { return request_scale_links(request, false, factor); }

static bool move_latency(Request *request, double factor) {
    Chip *chip = &request->question.chip;
    Mesh *mesh = &request->question.machine.mesh;
    Fabric *fabric = &mesh->fabric;
    Figure *const figures[] = {&chip->hop_seconds,       &chip->scaleout_seconds, &chip->ring_base_seconds,
                               &chip->tree_base_seconds, &chip->tree_hop_seconds, &chip->tree_scaleout_seconds};
    double *const seconds[] = {&fabric->ring_base_seconds, &fabric->tree_base_seconds, &fabric->tree_hop_seconds,
                               &fabric->tree_scaleout_seconds};
    for (size_t i = 0; i < COUNT_OF(figures); i++) scale(figures[i], factor);
    for (size_t i = 0; i < COUNT_OF(seconds); i++) *seconds[i] *= factor;
    for (int a = 0; a < mesh->axis_count; a++) mesh->axes[a].latency_seconds *= factor;
    return mesh->axis_count > 0;
}

static const struct {
    const char *name;
    bool (*move)(Request *request, double factor);
} OF_CHIP[] = {
    {"peak FLOP/s", move_peak},
    {"HBM size", move_hbm},
    {"HBM bandwidth", move_bandwidth},
    {"link bandwidth", move_scale_up},
    {"network bandwidth", move_scale_out},
    {"latency of links", move_latency},
    {"PCIe bandwidth", move_pcie},
    {"host memory", move_host},
};

/* ---- of the profile ---- */

/* What is a factor of a figure above moves the same, and what only words rest on moves nothing. A switch, or a type
 * that software has, does not move by a tenth: it is what the data never move, but for shares that are exposed. */
static bool stays(const ProfileFigure *figure) {
    static const char *const OTHERS[] = {"ici_efficiency",
                                         "nvlink_efficiency",
                                         "network_efficiency",
                                         "network_factor",
                                         "dcn_efficiency",
                                         "pcie_efficiency",
                                         "host_update_efficiency",
                                         "host_exposed",
                                         "host_memory_share",
                                         "fp8_efficiency",
                                         "mxfp8_efficiency",
                                         "nvfp4_efficiency",
                                         "int8_efficiency",
                                         "likely_low",
                                         "likely_high",
                                         "slice_loss",
                                         "jitter",
                                         "tensor_overlapped",
                                         "expert_overlapped",
                                         "attention_factor",
                                         "biased_expert_efficiency"};
    for (size_t i = 0; i < COUNT_OF(OTHERS); i++)
        if (strcmp(figure->key, OTHERS[i]) == 0) return true;
    bool measured = figure->sigma > 0 || strstr(figure->key, "exposed") || strcmp(figure->key, "expert_imbalance") == 0;
    return !measured && (figure->owner == FIGURE_OF_STACK || (figure->low == 0 && figure->high == 1));
}

/* Figures that are made of others, or go with them. */
static void move_with(Profile *profile, const ProfileFigure *figure, double factor) {
    if (strcmp(figure->key, "matrix_efficiency") == 0) profile->linear_efficiency *= factor;
    if (strcmp(figure->key, "tensor_exposed") == 0)
        profile->tensor_overlapped = min_real(1, profile->tensor_overlapped * factor);
    if (strcmp(figure->key, "expert_exposed") == 0)
        profile->expert_overlapped = min_real(1, profile->expert_overlapped * factor);
}

static bool move_profile(Profile *profile, const ProfileFigure *figure, double factor) {
    double *value = figure_of(profile, figure), before = *value;
    bool share = figure->high <= 1; /* a peak that is reached whole, or hidden whole, stays */
    if (stays(figure) || before == 0) return false;
    *value = before * factor;
    if (share && *value > 1) *value = max_real(1, before);
    if (strcmp(figure->key, "expert_imbalance") == 0) *value = max_real(1, *value);
    if (*value == before) return false;
    move_with(profile, figure, *value / before);
    return true;
}

/* ---- all ---- */

int around_figure_count(void) {
    int count;
    profile_figures(&count);
    return (int)COUNT_OF(OF_CHIP) + count;
}

bool around_figure_of_chip(int figure) { return figure < (int)COUNT_OF(OF_CHIP); }

const char *around_figure_name(const Request *request, int figure) {
    const Chip *chip = &request->question.chip;
    bool domains = chip_has_domains(chip);
    int count;
    if (!around_figure_of_chip(figure)) return profile_figures(&count)[figure - (int)COUNT_OF(OF_CHIP)].key;
    if (OF_CHIP[figure].move == move_scale_up)
        return !domains                        ? "ICI bandwidth"
               : chip->scaleup == SCALEUP_MESH ? "xGMI bandwidth"
               : chip->scaleup == SCALEUP_PCIE ? "PCIe bandwidth"
                                               : "NVLink bandwidth";
    if (OF_CHIP[figure].move == move_scale_out) return domains ? "network bandwidth" : "DCN bandwidth";
    return OF_CHIP[figure].name;
}

bool around_figure_worsens(int figure, double factor) {
    if (!around_figure_of_chip(figure)) return false;
    return OF_CHIP[figure].move == move_latency ? factor > 1 : factor < 1;
}

bool around_figure_of_help(int figure, Help help) {
    static bool (*const OF[HELP_COUNT])(Request * request, double factor) = {[HELP_SCALE_UP] = move_scale_up,
                                                                             [HELP_SCALE_OUT] = move_scale_out,
                                                                             [HELP_HBM] = move_hbm,
                                                                             [HELP_BANDWIDTH] = move_bandwidth};
    return around_figure_of_chip(figure) && OF[help] == OF_CHIP[figure].move;
}

bool around_figure_is_idle(const Request *request, int figure) {
    if (!around_figure_of_chip(figure)) return false;
    bool host = OF_CHIP[figure].move == move_pcie || OF_CHIP[figure].move == move_host;
    return host && request->question.offload == OFFLOAD_NONE;
}

bool around_figure_move(Request *request, int figure, double factor) {
    int count;
    bool moved = around_figure_of_chip(figure)
                     ? OF_CHIP[figure].move(request, factor)
                     : move_profile(&request->question.profile,
                                    &profile_figures(&count)[figure - (int)COUNT_OF(OF_CHIP)], factor);
    request->question.device = chip_device(&request->question.chip);
    return moved;
}

bool around_reprice(const Request *changed, const RankedPlan *ranked, double *seconds, bool *fits) {
    CostContext setting = request_cost_context(changed);
    Estimate estimate;
    Error error = {0};
    setting.work.sequences = ranked->work.sequences; /* how stages weigh is the changed figures' */
    if (!estimate_plan(&setting, &(NestedMesh){&changed->question.machine.mesh, ranked->nesting}, &ranked->plan,
                       PADDING_ANY, &estimate, &error))
        return false;
    *seconds = estimate.time.seconds;
    *fits = memory_total(&estimate.memory) <= estimate.memory_limit_bytes * (1 + 1e-9);
    return true;
}
