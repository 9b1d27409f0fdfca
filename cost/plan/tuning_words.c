/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What people and tables call matrices and formats. */
#include "base/util.h"
#include "cost/plan/tuning.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Formats that frozen matrices lie in: bytes of a number with its share of the scales. */
static const struct {
    const char *name, *others; /* others: between blanks */
    double bytes;
} FORMATS[] = {
    {"nf4", " 4bit 4-bit nf4-dq bnb-nf4 bnb.nf4-dq double ", TUNING_STORED_BYTES},
    {"nf4-single", " nf4-sq bnb.nf4 ", 0.5 + 4 / 64.}, /* an fp32 scale for 64 */
    {"int8", " 8bit 8-bit bnb-int8 bnb.int8 ", 1},     /* rows' scales are a few in a thousand */
    {"gptq", " gptq-4bit awq ", 0.5 + 2.5 / 128},      /* a scale of 16 and a zero of 4 bits for 128 */
};

static const char *const TARGETS[TARGET_COUNT] = {"q_proj",    "k_proj",  "v_proj",   "o_proj",
                                                  "gate_proj", "up_proj", "down_proj"};

bool tuning_next_word(const char **list, char *word, size_t size) {
    *list += strspn(*list, ", ");
    size_t length = strcspn(*list, ", ");
    snprintf(word, size, "%.*s", (int)min_whole((int64_t)length, (int64_t)size - 1), *list);
    *list += length;
    return length > 0;
}

double tuning_format_bytes(const char *word) {
    char padded[36];
    snprintf(padded, sizeof padded, " %.30s ", word);
    for (size_t i = 0; i < COUNT_OF(FORMATS); i++)
        if (strcasecmp(FORMATS[i].name, word) == 0 || strstr(FORMATS[i].others, padded)) return FORMATS[i].bytes;
    return 0;
}

const char *tuning_target_name(Target target) { return TARGETS[target]; }

unsigned tuning_target_bits(const char *word) {
    unsigned found = strcasecmp(word, "all-linear") == 0  ? TARGETS_ALL
                     : strcasecmp(word, "attention") == 0 ? TARGETS_ATTENTION
                     : strcasecmp(word, "mlp") == 0       ? TARGETS_ALL & ~TARGETS_ATTENTION
                                                          : 0;
    size_t length = strlen(word);
    for (int i = 0; i < TARGET_COUNT; i++) /* q, or q_proj */
        if (strncasecmp(TARGETS[i], word, length) == 0 && (TARGETS[i][length] == '\0' || TARGETS[i][length] == '_'))
            found |= 1u << i;
    return found;
}
