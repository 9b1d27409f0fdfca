/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/report/json/timeline.h"

#include "base/json.h"
#include "search/answer/plan_words.h"

#include <math.h>
#include <string.h>

bool json_add_short(cJSON *to, const char *key, double value) {
    char text[32];
    snprintf(text, sizeof text, "%.8g", value);
    cJSON *item = isfinite(value) ? cJSON_CreateRaw(text) : cJSON_CreateNull();
    if (!to || !item || !(key ? cJSON_AddItemToObject(to, key, item) : cJSON_AddItemToArray(to, item)))
        return cJSON_Delete(item), false;
    return true;
}

BarRows bars_begin(cJSON *to) {
    BarRows bars = {.kinds = json_add_array(to, "kinds"), .rows = json_add_array(to, "rows")};
    bars.ok = bars.kinds && bars.rows;
    return bars;
}

cJSON *bars_row(BarRows *bars, const char *name) {
    cJSON *row = json_add_object(bars->rows, NULL);
    bars->ok = bars->ok && json_add_text(row, "name", name) && (bars->kind = json_add_array(row, "kind")) &&
               (bars->begin = json_add_array(row, "begin_seconds")) &&
               (bars->end = json_add_array(row, "end_seconds")) &&
               (bars->microbatch = json_add_array(row, "microbatch"));
    return row;
}

static int kind_of(BarRows *bars, const char *name, const char *of) {
    for (int i = 0; i < bars->kind_count; i++)
        if (strcmp(bars->names[i], name) == 0) return i;
    if (bars->kind_count == TIMELINE_KINDS_MAX) return TIMELINE_KINDS_MAX - 1;
    snprintf(bars->names[bars->kind_count], TIMELINE_NAME_SIZE, "%s", name);
    cJSON *kind = json_add_object(bars->kinds, NULL);
    bars->ok = bars->ok && json_add_text(kind, "name", name) && json_add_text(kind, "of", of);
    return bars->kind_count++;
}

void bars_add(BarRows *bars, const char *name, const char *of, double begin, double end, int64_t microbatch) {
    if (!bars->ok || !(end > begin)) return;
    int kind = kind_of(bars, name, of);
    bars->ok = bars->ok && json_add_whole(bars->kind, NULL, kind) && json_add_short(bars->begin, NULL, begin) &&
               json_add_short(bars->end, NULL, end) && json_add_whole(bars->microbatch, NULL, microbatch);
}

const char *lane_name(Group group) {
    static const char *const NAMES[GROUP_COUNT] = {
        [GROUP_TENSOR] = "tensor",
        [GROUP_EXPERT_TENSOR] = "expert tensor",
        [GROUP_EXPERT] = "expert",
        [GROUP_SEQUENCE] = "sequence",
        [GROUP_ULYSSES] = "heads",
        [GROUP_PIPELINE] = "pipeline",
        [GROUP_WEIGHTS] = "weights",
        [GROUP_EXPERT_WEIGHTS] = "expert weights",
        [GROUP_TENSOR_WEIGHTS] = "over tensor",
        [GROUP_DATA] = "gradients",
        [GROUP_EXPERT_DATA] = "expert grads",
    };
    return NAMES[group];
}

double lane_seconds(const Estimate *estimate, Group group, Phase phase) {
    Traffic traffic = group_traffic(estimate, group, phase);
    return collective_seconds(estimate->rates.cost[group], traffic.messages, traffic.bytes);
}
