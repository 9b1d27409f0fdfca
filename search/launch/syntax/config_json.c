/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A JSON document as keys joined by dots; lists are kept as texts. */
#include "base/json.h"
#include "search/launch/syntax/config_file.h"

#include <stdlib.h>

/* json_parse() bounds the depth (JSON_DEPTH_MAX), and so this recursion. */
static bool add_object(const cJSON *object, const char *prefix, ConfigFile *file, Error *error) {
    const cJSON *item;
    cJSON_ArrayForEach(item, object) {
        const char *key = arena_format(file->arena, "%s%s", prefix, item->string), *value;
        if (!key) return error_memory(error);
        if (cJSON_IsObject(item)) {
            const char *inside = arena_format(file->arena, "%s.", key);
            if (!inside) return error_memory(error);
            if (!add_object(item, inside, file, error)) return false;
            continue;
        }
        if (cJSON_IsString(item)) {
            value = arena_text(file->arena, item->valuestring);
        } else {
            char *text = cJSON_PrintUnformatted(item);
            value = text ? arena_text(file->arena, text) : NULL;
            cJSON_free(text);
        }
        if (!value) return error_memory(error);
        if (!config_add(file, key, value, 0, 0, NULL, error)) return false;
    }
    return true;
}

bool config_read_json(const char *text, size_t length, ConfigFile *file, Error *error) {
    if (length > CONFIG_BYTES_MAX) return config_check_text(file, text, length, error);
    cJSON *json = json_parse(text, length, file->name, error);
    bool ok = json && (cJSON_IsObject(json) || error_set(error, ERROR_INPUT, file->name, "is no object; give {...}")) &&
              add_object(json, "", file, error);
    cJSON_Delete(json);
    return ok;
}
