/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/trace/kernel_names.h"

#include "base/file.h"
#include "base/json.h"

bool kernel_names_load(Arena *arena, KernelNames *out, Error *error) {
    const char *folder = file_data_folder("cost/trace/names", arena, error);
    const char *path = folder ? arena_format(arena, "%s/kernels.json", folder) : NULL;
    if (!path) return folder ? error_memory(error) : false;
    cJSON *json = json_read_file(path, error);
    bool ok = json && kernel_names_from_json(json, path, arena, out, error);
    cJSON_Delete(json);
    return ok;
}
