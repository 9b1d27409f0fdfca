/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds the serving profile that --profile names. */
#include "base/file.h"
#include "base/json.h"
#include "base/util.h"
#include "cost/serving/serving_profile.h"

#include <string.h>

static bool is_path(const char *argument) {
    size_t length = strlen(argument);
    return strchr(argument, '/') || (length > 5 && strcmp(argument + length - 5, ".json") == 0);
}

cJSON *serving_profile_open(const char *argument, Arena *arena, const char **path, Error *error) {
    *path = argument;
    if (argument[0] == '\0')
        return error_set(error, ERROR_INPUT, "--profile", "is empty; give default, ideal, a name or a file"), NULL;
    if (!is_path(argument)) {
        char **names;
        size_t count, at = 0;
        const char *folder = file_data_folder("cost/serving/profiles", arena, error);
        if (!folder || !file_list(folder, ".json", arena, &names, &count, error)) return NULL;
        while (at < count && (strncmp(names[at], argument, strlen(argument)) != 0 ||
                              strcmp(names[at] + strlen(argument), ".json") != 0))
            at++;
        if (at == count)
            return error_set(error, ERROR_INPUT, "--profile",
                             "there is no serving profile \"%.60s\"; give default, ideal, "
                             "a name in cost/serving/profiles, or a file",
                             argument),
                   NULL;
        *path = arena_format(arena, "%s/%s", folder, names[at]);
        if (!*path) return error_memory(error), NULL;
    }
    return json_read_file(*path, error);
}
