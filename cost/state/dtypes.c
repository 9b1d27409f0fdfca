/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads and writes the dtypes of the state as words, for --state-dtypes. */
#include "base/util.h"
#include "cost/state/state.h"

#include <stdio.h>
#include <string.h>

const char *dtype_name(Dtype dtype) {
    static const char *const NAMES[DTYPE_COUNT] = {"default", "none", "fp8", "bf16", "fp16", "fp32"};
    return NAMES[dtype];
}

double dtype_bytes(Dtype dtype) {
    static const double BYTES[DTYPE_COUNT] = {[DTYPE_FP8] = 1, [DTYPE_BF16] = 2, [DTYPE_FP16] = 2, [DTYPE_FP32] = 4};
    return BYTES[dtype];
}

enum { ALL_16_UP = 1u << DTYPE_BF16 | 1u << DTYPE_FP16 | 1u << DTYPE_FP32 };

/* The dtypes that each part may have: nobody reduces gradients in fp8; the optimizer says which moments there are, so
 * "none" is for the master alone. */
static const struct {
    const char *key;
    unsigned allowed;
    const char *right;
} KEYS[] = {
    {"parameters", ALL_16_UP | 1u << DTYPE_FP8, "fp8, bf16, fp16 or fp32"},
    {"gradients", ALL_16_UP, "bf16, fp16 or fp32"},
    {"master", ALL_16_UP | 1u << DTYPE_NONE, "fp32, bf16, fp16 or none"},
    {"moments", ALL_16_UP | 1u << DTYPE_FP8, "fp8, bf16, fp16 or fp32"},
    {"m", ALL_16_UP | 1u << DTYPE_FP8, "fp8, bf16, fp16 or fp32"},
    {"v", ALL_16_UP | 1u << DTYPE_FP8, "fp8, bf16, fp16 or fp32"},
};

static void set_dtype(StateDtypes *dtypes, size_t key, Dtype dtype) {
    Dtype *const places[COUNT_OF(KEYS)] = {&dtypes->parameters, &dtypes->gradients, &dtypes->master,
                                           &dtypes->first,      &dtypes->first,     &dtypes->second};
    *places[key] = dtype;
    if (strcmp(KEYS[key].key, "moments") == 0) dtypes->second = dtype;
}

static bool set_word(const char *word, const char *where, StateDtypes *dtypes, unsigned *seen, Error *error) {
    const char *equals = strchr(word, '=');
    size_t length = equals ? (size_t)(equals - word) : strlen(word), key = 0;
    while (key < COUNT_OF(KEYS) && (strlen(KEYS[key].key) != length || strncmp(KEYS[key].key, word, length) != 0))
        key++;
    if (key == COUNT_OF(KEYS) || !equals)
        return error_set(error, ERROR_INPUT, where,
                         "\"%.40s\" names no state; give parameters=, gradients=, master=, moments=, m= or v=", word);
    if (*seen >> key & 1) return error_set(error, ERROR_INPUT, where, "%s stands twice; give it once", KEYS[key].key);
    *seen |= 1u << key;
    for (Dtype dtype = DTYPE_NONE; dtype < DTYPE_COUNT; dtype++) {
        if (strcmp(equals + 1, dtype_name(dtype)) != 0 || !(KEYS[key].allowed >> dtype & 1)) continue;
        set_dtype(dtypes, key, dtype);
        return true;
    }
    return error_set(error, ERROR_INPUT, where, "%s=%.40s is no dtype it may have; give %s", KEYS[key].key, equals + 1,
                     KEYS[key].right);
}

bool state_dtypes_parse(const char *text, const char *where, StateDtypes *out, Error *error) {
    StateDtypes dtypes = *out;
    unsigned seen = 0;
    const char *rest = text + strspn(text, " \t,");
    if (*rest == '\0')
        return error_set(error, ERROR_INPUT, where, "is empty; write e.g. \"master=fp32 moments=bf16\", or default");
    while (strcmp(text, "default") != 0 && *rest != '\0') {
        char word[64];
        size_t length = strcspn(rest, " \t,");
        snprintf(word, sizeof word, "%.*s", (int)min_whole((int64_t)length, (int64_t)sizeof word - 1), rest);
        if (!set_word(word, where, &dtypes, &seen, error)) return false;
        rest += length;
        rest += strspn(rest, " \t,");
    }
    if ((seen & 1u << 3) && (seen & (1u << 4 | 1u << 5)))
        return error_set(error, ERROR_INPUT, where, "moments is given with m or v; give m and v, or moments");
    if (dtypes.parameters == DTYPE_FP8 && dtypes.master == DTYPE_NONE)
        return error_set(error, ERROR_INPUT, where,
                         "parameters=fp8 cannot take an update of their own; give master=fp32 or bf16");
    *out = dtypes;
    return true;
}

const char *state_dtypes_text(const StateDtypes *dtypes, char text[STATE_TEXT_SIZE]) {
    const struct {
        const char *key;
        Dtype dtype;
    } all[] = {{"parameters", dtypes->parameters},
               {"gradients", dtypes->gradients},
               {"master", dtypes->master},
               {"m", dtypes->first},
               {"v", dtypes->second}};
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < COUNT_OF(all); i++)
        if (all[i].dtype != DTYPE_DEFAULT)
            used += (size_t)snprintf(text + used, STATE_TEXT_SIZE - used, "%s%s=%s", used > 0 ? " " : "", all[i].key,
                                     dtype_name(all[i].dtype));
    if (used == 0) snprintf(text, STATE_TEXT_SIZE, "default");
    return text;
}
