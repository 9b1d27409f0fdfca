/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/serving/question.h"

#include "base/number.h"
#include "base/util.h"

#include <stdio.h>
#include <string.h>

const char *serving_objective_name(ServingObjective objective) {
    static const char *const NAMES[SERVE_OBJECTIVE_COUNT] = {"throughput", "latency", "cost", "chips"};
    return NAMES[objective];
}

const char *serving_mode_name(ServingMode mode) {
    static const char *const NAMES[SERVE_MODE_COUNT] = {"aggregated", "disaggregated", "decode", "prefill"};
    return NAMES[mode];
}

const char *layout_word_name(LayoutWord word) {
    static const char *const NAMES[LAYOUT_WORD_COUNT] = {
        "tensor",   "pipeline",   "attention_data", "expert", "expert_tensor", "kv_sequence",
        "kv_batch", "stationary", "copies",         "batch",  "prefill_chips", "decode_chips"};
    return NAMES[word];
}

/* The field's short words: "tp=8". */
static const struct {
    const char *word;
    LayoutWord stands_for;
} SHORT_WORDS[] = {{"tp", LAYOUT_TENSOR}, {"pp", LAYOUT_PIPELINE}, {"ep", LAYOUT_EXPERT}};

static LayoutWord word_of(const char *text, size_t length) {
    for (size_t i = 0; i < COUNT_OF(SHORT_WORDS); i++)
        if (length == 2 && strncasecmp(SHORT_WORDS[i].word, text, 2) == 0) return SHORT_WORDS[i].stands_for;
    int word = 0;
    while (word < LAYOUT_WORD_COUNT && (strlen(layout_word_name((LayoutWord)word)) != length ||
                                        strncmp(layout_word_name((LayoutWord)word), text, length) != 0))
        word++;
    return (LayoutWord)word;
}

static bool parse_one(const char *text, const char *where, LayoutRequirement *out, Error *error) {
    size_t length = strcspn(text, "=<>");
    const char *sign = text + length;
    LayoutWord word = word_of(text, length);
    if (word < LAYOUT_WORD_COUNT) {
        *out = (LayoutRequirement){.word = word, .sign = *sign == '<' ? -1 : *sign == '>' ? 1 : 0};
        const char *number = sign + (*sign == '=' ? 1 : sign[0] && sign[1] == '=' ? 2 : 0);
        if (number != sign) return number_whole(number, where, 1, INT64_C(1) << 31, &out->value, error);
    }
    return error_set(
        error, ERROR_INPUT, where,
        "\"%.60s\" is no condition; give tensor, pipeline, attention_data, expert, expert_tensor, kv_sequence, "
        "kv_batch, stationary, copies, batch, prefill_chips or decode_chips with =, <= or >= and a number",
        text);
}

bool layout_requirements_parse(const char *text, const char *where, ServingQuestion *question, Error *error) {
    char copy[512], *rest = NULL;
    if ((size_t)snprintf(copy, sizeof copy, "%s", text) >= sizeof copy)
        return error_set(error, ERROR_INPUT, where, "is too long; give fewer conditions");
    for (char *word = strtok_r(copy, " ,", &rest); word; word = strtok_r(NULL, " ,", &rest)) {
        if (question->requirement_count == LAYOUT_REQUIREMENTS_MAX)
            return error_set(error, ERROR_INPUT, where, "has more than %d conditions; give fewer",
                             LAYOUT_REQUIREMENTS_MAX);
        if (!parse_one(word, where, &question->requirements[question->requirement_count], error)) return false;
        question->requirement_count++;
    }
    return true;
}

bool question_divides_pools(const ServingQuestion *question) {
    for (int i = 0; i < question->requirement_count; i++)
        if (question->requirements[i].word >= LAYOUT_PREFILL_CHIPS) return true;
    return false;
}

bool question_admits(const ServingQuestion *question, int phase, LayoutWord word, int64_t value) {
    for (int i = 0; i < question->requirement_count; i++) {
        const LayoutRequirement *one = &question->requirements[i];
        if (one->word != word || (one->phases && !(one->phases >> phase & 1))) continue;
        if (one->sign == 0 ? value != one->value : one->sign < 0 ? value > one->value : value < one->value)
            return false;
    }
    return true;
}

void question_lengths(ServingQuestion *question, double prompt, double output) {
    question->request.prompt = prompt;
    question->request.output = output;
    question->longest = question->peak_tokens = prompt + output;
    question->mean_context = prompt + output / 2;
    question->prompt_context = prompt - prompt * (1 - question->request.cached) / 2;
}

double question_new_tokens(const ServingQuestion *question) {
    return question->request.prompt * (1 - question->request.cached);
}
