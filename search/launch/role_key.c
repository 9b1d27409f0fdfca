/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/launch/import.h"

#include "base/util.h"

#include <stdlib.h>
#include <string.h>

/* A key sets a degree if it has the first word or the second, has not the third, and ends as such keys do. */
static const struct {
    const char *word, *other, *without;
} KEYS[ROLE_COUNT] = {
    [ROLE_TENSOR] = {"tensor", NULL, "expert"}, /* --tensor-model-parallel-size, ici_tensor_parallelism */
    [ROLE_EXPERT] = {"expert", NULL, "tensor"}, /* --expert-model-parallel-size, expert_parallel_degree */
    [ROLE_SEQUENCE] = {"context", "sequence", "tensor"},
    [ROLE_FSDP] = {"fsdp", "shard", "replicate"}, /* data_parallel_shard_degree, ici_fsdp_parallelism */
    [ROLE_DATA] = {"data", "replicate", "shard"},
    [ROLE_PIPELINE] = {"pipeline", NULL, "virtual"},
};

static bool ends_as_a_degree(const char *key) {
    static const char *const ENDS[] = {"size", "degree", "parallelism"};
    bool ends = false;
    for (size_t i = 0; i < COUNT_OF(ENDS); i++) ends = ends || text_ends_in(key, ENDS[i]);
    return ends;
}

static bool sets_degree(const ConfigEntry *entry, Role role) {
    char *end;
    bool named = strstr(entry->key, KEYS[role].word) || (KEYS[role].other && strstr(entry->key, KEYS[role].other));
    if (!named || strstr(entry->key, KEYS[role].without) || !ends_as_a_degree(entry->key)) return false;
    strtoll(entry->value, &end, 10);
    return end != entry->value && *end == '\0';
}

int64_t role_key_line(const ConfigFile *file, Role role) {
    int64_t line = 0;
    for (int64_t i = 0; i < file->count; i++) {
        const ConfigEntry *entry = &file->entries[i];
        if (!sets_degree(entry, role)) continue;
        if (strcmp(entry->value, "1") != 0) return entry->line;
        if (line == 0) line = entry->line;
    }
    return line;
}

Role role_to_change(const Degrees *have, const Degrees *want, const int64_t lines[ROLE_COUNT]) {
    Role best = ROLE_COUNT;
    double farthest = 1;
    for (Role role = 0; role < ROLE_COUNT; role++) {
        double ratio = (double)have->of[role] / (double)want->of[role];
        if (ratio < 1) ratio = 1 / ratio;
        if (lines[role] == 0 || ratio <= farthest) continue;
        farthest = ratio;
        best = role;
    }
    return best;
}
