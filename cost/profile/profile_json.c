/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/profile/profile_json.h"

#include "base/json.h"
#include "base/util.h"
#include "cost/profile/profile_figure.h"

#include <string.h>

static bool known_key(const char *key) {
    static const char *const OTHERS[] = {"name", "source", "note", "tile_padding"};
    for (size_t i = 0; i < COUNT_OF(OTHERS); i++)
        if (strcmp(key, OTHERS[i]) == 0) return true;
    return profile_figure(key) != NULL;
}

/* The value of a figure that has its source and nothing else; NULL means that *error says what is wrong. */
static const cJSON *figure_value(const cJSON *json, const char *key, const char *where, Error *error) {
    const cJSON *figure = cJSON_GetObjectItemCaseSensitive(json, key);
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(figure, "value");
    const cJSON *source = cJSON_GetObjectItemCaseSensitive(figure, "source");
    if (!value || !cJSON_IsString(source) || source->valuestring[0] == '\0' || cJSON_GetArraySize(figure) != 2) {
        error_set(error, ERROR_INPUT, where, "%s: is %s; give {\"value\", \"source\": text}", key,
                  figure ? "not a figure with its source" : "missing");
        return NULL;
    }
    return value;
}

static bool read_figures(const cJSON *json, const char *where, Profile *profile, Error *error) {
    int count;
    const ProfileFigure *figures = profile_figures(&count);
    for (int i = 0; i < count; i++) {
        const cJSON *value = figure_value(json, figures[i].key, where, error);
        if (!value) return false;
        if (!cJSON_IsNumber(value) || !(value->valuedouble >= figures[i].low && value->valuedouble <= figures[i].high))
            return error_set(error, ERROR_INPUT, where, "%s.value: is out of range; give a number from %g to %g",
                             figures[i].key, figures[i].low, figures[i].high);
        *figure_of(profile, &figures[i]) = value->valuedouble;
    }
    const cJSON *tile = figure_value(json, "tile_padding", where, error);
    if (!tile) return false;
    if (!cJSON_IsBool(tile)) return error_set(error, ERROR_INPUT, where, "tile_padding.value: give true or false");
    profile->tile_padding = cJSON_IsTrue(tile);
    if ((profile->likely_low > 0) != (profile->likely_high > 0) ||
        (profile->likely_high > 0 && profile->likely_high < 1))
        return error_set(
            error, ERROR_INPUT, where,
            "likely_low, likely_high: are no range around 1; give 0 and 0 (not known), or e.g. 0.85 and 1.2");
    return true;
}

bool profile_from_json(const cJSON *json, const char *where, Profile *out, Error *error) {
    Profile profile = {0};
    const cJSON *child;
    if (!cJSON_IsObject(json)) return error_set(error, ERROR_INPUT, where, "a profile is an object; see cost/profiles");
    if (!json_is_plain(json, where, error)) return false;
    cJSON_ArrayForEach(child, json) {
        if (!known_key(child->string))
            return error_set(error, ERROR_INPUT, where, "%.64s: is no key of a profile; see cost/profiles/ideal.json",
                             child->string);
    }
    if (!json_text(json, "name", where, profile.name, sizeof profile.name, error) ||
        !json_text(json, "source", where, profile.source, sizeof profile.source, error) ||
        !read_figures(json, where, &profile, error))
        return false;
    if (profile.name[0] == '\0' || profile.source[0] == '\0')
        return error_set(error, ERROR_INPUT, where, "name, source: are empty; give both");
    profile.linear_efficiency = profile.matrix_efficiency;
    profile.linear_peak_ratio = 1;
    *out = profile; /* written only when all of it is right */
    return true;
}
