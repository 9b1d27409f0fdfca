/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/profile/profile.h"

#include "base/util.h"

#include <math.h>

static double level_efficiency(const Profile *profile, AxisLevel level) {
    switch (level) {
    case LEVEL_ICI:
        return profile->ici_efficiency;
    case LEVEL_NVLINK:
        return profile->nvlink_efficiency;
    case LEVEL_PCIE:
        return profile->pcie_efficiency;
    case LEVEL_NETWORK:
        return profile->network_efficiency * profile->network_factor;
    case LEVEL_DCN:
        return profile->dcn_efficiency;
    }
    return 1;
}

Mesh profile_mesh(const Profile *profile, const Mesh *mesh) {
    Mesh scaled = *mesh;
    scaled.fabric.routed_copies = profile->routed_copies;
    scaled.fabric.ring_step_seconds = profile->ring_step_seconds;
    for (int i = 0; i < scaled.axis_count; i++)
        scaled.axes[i].bytes_per_second *= level_efficiency(profile, scaled.axes[i].level);
    return scaled;
}

/* The profile under a model: it says how many copies of a token the dispatch saves. */
static Profile profile_for_model(const Profile *profile, const Model *model) {
    Profile made = *profile;
    made.routed_copies = 0;
    for (int i = 0; i < model->kind_count; i++) {
        const LayerKind *kind = &model->kinds[i];
        if (profile->dispatch_per_node >= 0.5) made.routed_copies = max_real(made.routed_copies, (double)kind->top_k);
        if (kind->mixer || kind->compress > 1)
            made.expert_layer_seconds = max_real(made.expert_layer_seconds, profile->scan_expert_seconds);
    }
    return made;
}

static double stretch_of(const Profile *profile, double chips, double slices) {
    return (1 + profile->jitter * (chips > 8 ? log2(chips / 8) : 0)) *
           (1 + profile->slice_loss * (slices > 1 ? log2(slices) : 0));
}

static Profile stretched(const Profile *profile, double stretch) {
    Profile scaled = *profile;
    double *const rates[] = {&scaled.matrix_efficiency,  &scaled.linear_efficiency, &scaled.attention_efficiency,
                             &scaled.hbm_efficiency,     &scaled.ici_efficiency,    &scaled.nvlink_efficiency,
                             &scaled.network_efficiency, &scaled.dcn_efficiency,    &scaled.pcie_efficiency};
    double *const seconds[] = {&scaled.layer_seconds,
                               &scaled.microbatch_seconds,
                               &scaled.step_overhead_seconds,
                               &scaled.rank_seconds,
                               &scaled.expert_layer_seconds,
                               &scaled.scan_expert_seconds,
                               &scaled.dispatch_seconds_per_byte,
                               &scaled.host_layer_seconds,
                               &scaled.host_tensor_seconds,
                               &scaled.stage_message_seconds,
                               &scaled.ring_step_seconds};
    for (size_t i = 0; i < COUNT_OF(rates); i++) *rates[i] /= stretch;
    for (size_t i = 0; i < COUNT_OF(seconds); i++) *seconds[i] *= stretch;
    return scaled;
}

Profile profile_at_scale(const Profile *profile, double chips, double slices) {
    double stretch = stretch_of(profile, chips, slices);
    return stretch > 1 ? stretched(profile, stretch) : *profile;
}

Profile profile_rescaled(const Profile *profile, double chips, double slices, double to_chips, double to_slices) {
    return stretched(profile, stretch_of(profile, to_chips, to_slices) / stretch_of(profile, chips, slices));
}

static double low_efficiency(const Profile *profile, Precision precision) {
    switch (precision) {
    case PRECISION_FP8:
        return profile->fp8_efficiency;
    case PRECISION_MXFP8:
        return profile->mxfp8_efficiency;
    case PRECISION_NVFP4:
        return profile->nvfp4_efficiency;
    case PRECISION_INT8:
        return profile->int8_efficiency;
    default:
        return profile->matrix_efficiency;
    }
}

Profile profile_in_precision(const Profile *profile, const Chip *chip, Precision precision) {
    Profile made = *profile;
    double peak = precision_peak(chip, precision), bf16 = chip->bf16_flops_per_second.value;
    made.precision = precision;
    made.linear_peak_ratio = peak > 0 && bf16 > 0 ? peak / bf16 : 1;
    made.linear_efficiency = low_efficiency(profile, precision) * made.linear_peak_ratio;
    /* Software that groups matmuls better than the efficiencies say reaches the peak at most. */
    double grouped = made.linear_efficiency * made.compute_factor * made.grouped_efficiency;
    if (grouped > 0) made.grouped_factor = min_real(made.grouped_factor, made.linear_peak_ratio / grouped);
    return made;
}

Profile profile_of_work(const Profile *profile, const Chip *chip, Precision precision, const Model *model, double chips,
                        double slices) {
    Profile made = profile_in_precision(profile, chip, precision);
    made = profile_for_model(&made, model);
    return profile_at_scale(&made, chips, slices);
}

const char *precision_name(Precision precision) {
    static const char *const NAMES[PRECISION_COUNT] = {"bf16", "fp8", "mxfp8", "nvfp4", "int8"};
    return NAMES[precision];
}

double precision_peak(const Chip *chip, Precision precision) {
    switch (precision) {
    case PRECISION_FP8:
        return chip->fp8_flops_per_second.value;
    case PRECISION_MXFP8:
        return chip->fp4_flops_per_second.value > 0 ? chip->fp8_flops_per_second.value : 0; /* Blackwell and later */
    case PRECISION_NVFP4:
        return chip->fp4_flops_per_second.value;
    case PRECISION_INT8:
        return chip->int8_ops_per_second.value;
    default:
        return chip->bf16_flops_per_second.value;
    }
}

double precision_bytes(Precision precision) {
    return precision == PRECISION_BF16 ? 2 : precision == PRECISION_NVFP4 ? 0.5 : 1;
}
