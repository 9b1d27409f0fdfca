/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What --profile points at, and what a profile makes of a mesh. */
#include "cost/profile.h"

#include "base/file.h"
#include "base/json.h"
#include "base/util.h"
#include "cost/profile_json.h"

#include <math.h>
#include <string.h>

static double level_efficiency(const Profile *profile, AxisLevel level) {
    switch (level) {
    case LEVEL_ICI:
        return profile->ici_efficiency;
    case LEVEL_NVLINK:
        return profile->nvlink_efficiency;
    case LEVEL_NETWORK:
        return profile->network_efficiency;
    case LEVEL_DCN:
        return profile->dcn_efficiency;
    }
    return 1;
}

Mesh profile_mesh(const Profile *profile, const Mesh *mesh) {
    Mesh scaled = *mesh;
    scaled.fabric.routed_copies = profile->routed_copies;
    for (int i = 0; i < scaled.axis_count; i++)
        scaled.axes[i].bytes_per_second *= level_efficiency(profile, scaled.axes[i].level);
    return scaled;
}

Profile profile_for_model(const Profile *profile, const Model *model) {
    Profile made = *profile;
    made.routed_copies = 0;
    if (profile->dispatch_per_node < 0.5) return made;
    for (int i = 0; i < model->kind_count; i++)
        made.routed_copies = max_real(made.routed_copies, (double)model->kinds[i].top_k);
    return made;
}

Profile profile_at_scale(const Profile *profile, double chips, double slices) {
    Profile scaled = *profile;
    double stretch = (1 + profile->jitter * (chips > 8 ? log2(chips / 8) : 0)) *
                     (1 + profile->slice_loss * (slices > 1 ? log2(slices) : 0));
    double *const rates[] = {&scaled.matrix_efficiency,  &scaled.linear_efficiency, &scaled.attention_efficiency,
                             &scaled.hbm_efficiency,     &scaled.ici_efficiency,    &scaled.nvlink_efficiency,
                             &scaled.network_efficiency, &scaled.dcn_efficiency,    &scaled.pcie_efficiency};
    double *const seconds[] = {&scaled.layer_seconds, &scaled.microbatch_seconds,   &scaled.step_seconds,
                               &scaled.rank_seconds,  &scaled.expert_layer_seconds, &scaled.dispatch_seconds_per_byte};
    if (!(stretch > 1)) return scaled;
    for (size_t i = 0; i < COUNT_OF(rates); i++) *rates[i] /= stretch;
    for (size_t i = 0; i < COUNT_OF(seconds); i++) *seconds[i] *= stretch;
    return scaled;
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
    return made;
}

static bool read_profile(const char *path, Profile *out, ProfileUse *use, Error *error) {
    cJSON *json = json_read_file(path, error);
    bool ok = json && profile_from_json(json, path, out, use, error);
    cJSON_Delete(json);
    return ok;
}

/* How well a profile fits a chip as its default: 2 made for it, 1 for its kin, 0 not at all. */
static int fitness(const ProfileUse *use, const Chip *chip) {
    for (int i = 0; i < use->chip_count; i++)
        if (name_matches(use->chips[i], chip->name)) return 2;
    return chip_has_domains(chip) ? use->nvlink : use->torus;
}

/* Reads every file of the folder, so that a broken one is found before somebody needs it; the names are sorted, and of
 * two that fit alike the first is taken. */
static bool load_default(const char *folder, char **names, size_t count, const Chip *chip, Arena *arena, Profile *out,
                         Error *error) {
    int best = 0;
    for (size_t i = 0; i < count; i++) {
        Profile profile;
        ProfileUse use;
        const char *path = arena_format(arena, "%s/%s", folder, names[i]);
        if (!path) return error_memory(error);
        if (!read_profile(path, &profile, &use, error)) return false;
        if (fitness(&use, chip) <= best) continue;
        best = fitness(&use, chip);
        *out = profile;
    }
    return best > 0 || error_set(error, ERROR_INPUT, "--profile", "no default profile is for %s; give ideal, or a file",
                                 chip->name);
}

static bool load_named(const char *folder, char **names, size_t count, const char *argument, Arena *arena, Profile *out,
                       Error *error) {
    const char **stems = ARENA_NEW(arena, const char *, count + 1);
    if (!stems) return error_memory(error);
    for (size_t i = 0; i < count; i++) {
        char *stem = arena_text(arena, names[i]);
        const char *path = arena_format(arena, "%s/%s", folder, names[i]);
        if (!stem || !path) return error_memory(error);
        stem[strlen(stem) - strlen(".json")] = '\0';
        if (name_matches(stem, argument)) return read_profile(path, out, NULL, error);
        stems[i] = stem;
    }
    stems[count] = "default";
    const char *nearest = name_nearest(argument, stems, count + 1);
    return error_set(error, ERROR_INPUT, "--profile", "there is no profile \"%.60s\"; %s%s", argument,
                     nearest ? "did you mean " : "give default, ideal, a name in cost/profiles, or a file",
                     nearest ? nearest : "");
}

static bool is_path(const char *argument) {
    size_t length = strlen(argument);
    return strchr(argument, '/') || (length > 5 && strcmp(argument + length - 5, ".json") == 0);
}

bool profile_load(const char *argument, const Chip *chip, Arena *arena, Profile *out, Error *error) {
    if (argument[0] == '\0')
        return error_set(error, ERROR_INPUT, "--profile", "is empty; give default, ideal, a name or a file");
    if (is_path(argument)) return read_profile(argument, out, NULL, error);
    const char *folder = file_data_folder("cost/profiles", arena, error);
    char **names;
    size_t count;
    if (!folder || !file_list(folder, ".json", arena, &names, &count, error)) return false;
    if (name_matches(argument, "default")) return load_default(folder, names, count, chip, arena, out, error);
    return load_named(folder, names, count, argument, arena, out, error);
}
