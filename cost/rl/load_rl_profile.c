/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/file.h"
#include "base/json.h"
#include "base/util.h"
#include "cost/rl/rl_profile.h"

bool rl_profile_read(const char *text, size_t length, const char *where, RlProfile *out, Error *error) {
    const struct {
        const char *key;
        double *to;
    } FIGURES[] = {{"answer_sigma.value", &out->answer_sigma},
                   {"answers_at_once.value", &out->answers_at_once},
                   {"memory_colocated.value", &out->memory_colocated},
                   {"memory_apart.value", &out->memory_apart},
                   {"host_step_seconds.value", &out->host_step_seconds},
                   {"host_sequence_seconds.value", &out->host_sequence_seconds},
                   {"answer_seconds.value", &out->answer_seconds},
                   {"forward_share.value", &out->forward_share},
                   {"transfer_seconds.value", &out->transfer_seconds},
                   {"transfer_bytes_per_second.value", &out->transfer_bytes_per_second},
                   {"load_seconds.value", &out->load_seconds},
                   {"other_share.value", &out->other_share},
                   {"likely_error.value", &out->likely_error}};
    cJSON *json = json_parse(text, length, where, error);
    bool ok = json != NULL;
    for (size_t i = 0; i < COUNT_OF(FIGURES) && ok; i++)
        ok = json_real(json, FIGURES[i].key, 0, 1e15, where, FIGURES[i].to, error);
    cJSON_Delete(json);
    return ok;
}

bool rl_profile_load(Arena *arena, RlProfile *out, Error *error) {
    char *text;
    size_t length;
    const char *folder = file_data_folder("cost/rl/profiles", arena, error);
    const char *path = folder ? arena_format(arena, "%s/default.json", folder) : NULL;
    if (folder && !path) return error_memory(error);
    return path && file_read(path, 1 << 20, arena, &text, &length, error) &&
           rl_profile_read(text, length, path, out, error);
}
