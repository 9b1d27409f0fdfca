/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whatever a set of profiles holds, profile_set_from_json says yes or no with one line; what it takes is written, read
 * and written with the same bytes, and composes figures in their ranges.
 *
 * libFuzzer: clang -fsanitize=fuzzer,address,undefined; without clang, -DSHARDOPT_FUZZ_MAIN runs the files given. */
#include "base/json.h"
#include "cost/profile/profile_set_json.h"
#include "tests/fuzz/files.h"

#include <stdlib.h>
#include <string.h>

static bool set_of(const char *text, size_t size, Arena *arena, ProfileSet *out, Error *error) {
    cJSON *json = json_parse(text, size, "fuzz", error);
    bool ok = json && profile_set_from_json(json, "fuzz", arena, out, error);
    cJSON_Delete(json);
    return ok;
}

static char *written(const ProfileSet *set, size_t *size) {
    char *text = NULL;
    FILE *out = open_memstream(&text, size);
    if (!out || !profile_set_write(out, set)) abort();
    fclose(out);
    return text;
}

static void compose(const ProfileSet *set) {
    int count;
    const ProfileFigure *figures = profile_figures(&count);
    for (int c = 0; c < set->profile_count; c++)
        for (int s = 0; s < set->stack_count; s++) {
            Profile profile;
            profile_compose(set, &set->profiles[c], &set->stacks[s], &profile);
            for (int f = 0; f < count; f++) {
                double value = figure_value_of(&profile, &figures[f]);
                if (!(value >= figures[f].low && value <= figures[f].high)) abort();
            }
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Arena arena = {0};
    Error error = {0};
    ProfileSet set, again;
    char *text = malloc(size ? size : 1); /* its own allocation, so that a sanitizer sees its end */
    if (!text) return 0;
    memcpy(text, data, size);
    bool ok = set_of(text, size, &arena, &set, &error);
    free(text);
    if (ok != (error.kind == ERROR_NONE) || (!ok && strchr(error.text, '\n'))) abort();
    if (ok) {
        size_t first_size, second_size;
        char *first = written(&set, &first_size);
        if (!set_of(first, first_size, &arena, &again, &error)) abort();
        char *second = written(&again, &second_size);
        if (first_size != second_size || memcmp(first, second, first_size) != 0) abort();
        free(first);
        free(second);
        compose(&set);
        Chip chip = {.name = "h100", .scaleup = SCALEUP_SWITCH};
        StackQuery query = {"Megatron-LM", "NeMo 26.04.01", "hybridep", &chip, NULL};
        (void)profile_set_match(&set, &query);
        (void)profile_set_best_stack(&set, &chip);
    }
    arena_free(&arena);
    return 0;
}
