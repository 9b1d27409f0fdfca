/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds the optimizer that --optimizer names. */
#include "cost/state/optimizer.h"

#include "base/file.h"
#include "base/json.h"
#include "base/util.h"

#include <string.h>

static bool read_optimizer(const char *path, Optimizer *out, Error *error) {
    cJSON *json = json_read_file(path, error);
    bool ok = json && optimizer_from_json(json, path, out, error);
    cJSON_Delete(json);
    return ok;
}

static bool is_path(const char *argument) {
    size_t length = strlen(argument);
    return strchr(argument, '/') || (length > 5 && strcmp(argument + length - 5, ".json") == 0);
}

const char *optimizer_path(const char *argument, const char *where, Arena *arena, Error *error) {
    if (is_path(argument)) return argument;
    const char *folder = file_data_folder("cost/optimizers", arena, error);
    char **names, all[192] = "";
    size_t count, used = 0;
    if (!folder || !file_list(folder, ".json", arena, &names, &count, error)) return NULL;
    for (size_t i = 0; i < count; i++) {
        names[i][strlen(names[i]) - strlen(".json")] = '\0';
        if (name_matches(names[i], argument)) {
            const char *path = arena_format(arena, "%s/%s.json", folder, names[i]);
            if (!path) error_memory(error);
            return path;
        }
        if (used + strlen(names[i]) + 3 >= sizeof all) continue;
        used += (size_t)snprintf(all + used, sizeof all - used, "%s%s", i == 0 ? "" : ", ", names[i]);
    }
    error_set(error, ERROR_INPUT, where, "\"%.60s\" is no optimizer; give one of %s, or a file", argument, all);
    return NULL;
}

bool optimizer_load(const char *argument, const char *where, Arena *arena, Optimizer *out, Error *error) {
    const char *path = optimizer_path(argument, where, arena, error);
    return path && read_optimizer(path, out, error);
}
