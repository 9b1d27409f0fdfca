/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Words of command lines: gathered, and printed for people and for shells. */
#include "base/util.h"
#include "search/serving/engines/engine.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

void engine_word(EngineWords *words, EngineWordKind kind, const char *text) {
    if (words->count == ENGINE_WORDS_MAX || strlen(text) >= ENGINE_WORD_SIZE) {
        words->full = true;
        return;
    }
    EngineWord *word = &words->word[words->count++];
    word->kind = kind;
    snprintf(word->text, sizeof word->text, "%s", text);
}

void engine_words(EngineWords *words, const char *format, ...) {
    char text[ENGINE_LINE_SIZE], word[ENGINE_WORD_SIZE];
    va_list arguments;
    va_start(arguments, format);
    words->full |= vsnprintf(text, sizeof text, format, arguments) >= (int)sizeof text;
    va_end(arguments);
    for (const char *at = text; *at; at += *at == ' ') {
        bool quoted = *at == '"';
        size_t length = quoted ? strcspn(at + 1, "\"") + 2 : strcspn(at, " ");
        words->full |= snprintf(word, sizeof word, "%.*s", (int)length, at) >= (int)sizeof word;
        engine_word(words, quoted ? WORD_SHELL : WORD_TEXT, word);
        at += strnlen(at, length);
    }
}

void engine_flag(EngineWords *words, const char *flag, int64_t value) {
    char number[ENGINE_WORD_SIZE];
    bool key = flag[0] != '-';
    snprintf(number, sizeof number, "%s%s%" PRId64, key ? flag : "", key ? "=" : "", value);
    if (!key) engine_word(words, WORD_TEXT, flag);
    engine_word(words, WORD_TEXT, number);
}

bool served_flag_switches(ServedFlag flag) { return flag == SERVED_DATA_ATTENDS || flag == SERVED_EXPERT_ALL; }

void engine_says(const EngineAsk *ask, const EngineKnobs *knobs, int64_t says[SERVED_FLAGS]) {
    const WorkerLayout *layout = ask->layout;
    says[SERVED_TENSOR] = layout->tensor;
    says[SERVED_PIPELINE] = layout->pipeline;
    says[SERVED_DATA] = says[SERVED_ATTENTION_DATA] = layout->attention_data;
    says[SERVED_DATA_ATTENDS] = layout->attention_data > 1;
    says[SERVED_EXPERT] = layout->expert;
    says[SERVED_EXPERT_ALL] = layout->expert > 1;
    says[SERVED_CONTEXT] = layout->kv_sequence;
    says[SERVED_KV_BATCH] = layout->kv_batch;
    says[SERVED_SEQUENCES] = divide_up(knobs->sequences, layout->attention_data);
    says[SERVED_TOKENS] = max_whole(says[SERVED_SEQUENCES], divide_up(knobs->step_tokens, layout->attention_data));
    says[SERVED_DRAFTS] = knobs->drafts;
}

void engine_flags(EngineWords *words, const EngineFlag *flags, char group, const int64_t says[SERVED_FLAGS]) {
    for (; flags->name; flags++) {
        int64_t value = says[flags->says];
        bool switches = served_flag_switches(flags->says);
        if (flags->group != group || value <= (flags->more ? 1 : switches ? 0 : -1)) continue;
        if (switches)
            engine_word(words, WORD_TEXT, flags->name);
        else
            engine_flag(words, flags->name, value);
    }
}

static void append(EngineWords *words, char to[ENGINE_SETTINGS_SIZE], const char *format, va_list arguments) {
    size_t used = strlen(to);
    int length = vsnprintf(to + used, ENGINE_SETTINGS_SIZE - used, format, arguments);
    if (length < 0 || (size_t)length >= ENGINE_SETTINGS_SIZE - used) {
        to[used] = '\0';
        words->full = true;
    }
}

void engine_setting(EngineWords *words, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    append(words, words->settings, format, arguments);
    va_end(arguments);
}

void engine_export(EngineWords *words, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    append(words, words->environment, format, arguments);
    va_end(arguments);
}

/* What a shell takes as it stands: the same in any place of a line. */
static bool is_plain(const char *text) {
    static const char PLAIN[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+./:=,@%";
    return text[0] && text[0] != '=' && strspn(text, PLAIN) == strlen(text);
}

void engine_print_quoted(const char *text, FILE *out) {
    if (is_plain(text)) {
        fputs(text, out);
        return;
    }
    fputc('\'', out);
    for (; *text; text++)
        if (*text == '\'')
            fputs("'\\''", out);
        else
            fputc(*text, out);
    fputc('\'', out);
}

void engine_print_word(const EngineWord *word, FILE *out) {
    switch (word->kind) {
    case WORD_TEXT:
        engine_print_quoted(word->text, out);
        break;
    case WORD_SHELL:
        fputs(word->text, out);
        break;
    case WORD_MODEL:
        fputs("\"$MODEL\"", out);
        break;
    case WORD_DRAFT:
        fputs("\"$DRAFT\"", out);
        break;
    }
}

static void append_text(char out[ENGINE_LINE_SIZE], const char *text, size_t length) {
    size_t used = strlen(out);
    snprintf(out + used, ENGINE_LINE_SIZE - used, "%.*s", (int)length, text);
}

/* "a:\n  b: 1\n" as a file that the shell makes of {a: {b: 1}}, so that the line starts as it stands. */
static void append_settings(const char *settings, char out[ENGINE_LINE_SIZE]) {
    bool inside = false, begins = true;
    if (!settings[0]) return;
    append_text(out, " --config <(echo '{", ENGINE_LINE_SIZE);
    for (const char *line = settings; *line; line += strcspn(line, "\n") + 1) {
        const char *text = line + strspn(line, " ");
        size_t length = strcspn(text, "#\n"), comma = begins ? 0 : 2;
        while (length > 0 && text[length - 1] == ' ') length--;
        bool opens = text[length - 1] == ':', closes = inside && text == line;
        if (closes) append_text(out, "}", 1);
        append_text(out, ", ", comma);
        append_text(out, text, length);
        if (opens) append_text(out, " {", 2);
        inside = opens || (inside && !closes);
        begins = opens;
    }
    append_text(out, inside ? "}}')" : "}')", ENGINE_LINE_SIZE);
}

const char *engine_line(const EngineWords *words, char out[ENGINE_LINE_SIZE]) {
    size_t used = 0;
    out[0] = '\0';
    for (int i = 0; i < words->count; i++) {
        const EngineWord *word = &words->word[i];
        const char *text = word->kind == WORD_MODEL ? "MODEL" : word->kind == WORD_DRAFT ? "DRAFT" : word->text;
        const char *quote = is_plain(text) || word->kind != WORD_TEXT ? "" : "'";
        int length = snprintf(out + used, ENGINE_LINE_SIZE - used, "%s%s%s%s", i > 0 ? " " : "", quote, text, quote);
        if (length < 0 || (size_t)length >= ENGINE_LINE_SIZE - used) break;
        used += (size_t)length;
    }
    append_settings(words->settings, out);
    return out;
}

/* DeepSeek-V3 and GLM-4.5 have published such heads; Kimi-K2, of the same family as the first, has not. */
bool engine_drafts_itself(const Model *model) {
    if (strncmp(model->name, "kimi", 4) == 0) return false;
    return strcmp(model->family, "deepseek_v3") == 0 || strcmp(model->family, "glm4_moe") == 0;
}

void engine_test_vllm(const EngineRoute *to, FILE *out) {
    fprintf(out,
            "    vllm bench serve --base-url \"$URL\" --model \"$MODEL\" --dataset-name random --ignore-eos \\\n"
            "        --random-input-len \"$PROMPT\" --random-output-len \"$OUTPUT\" --num-prompts \"$REQUESTS\" \\\n");
    fprintf(out, to->concurrency > 0 ? "        --max-concurrency \"$LOAD\"" : "        --request-rate \"$LOAD\"");
    fprintf(out, " --percentile-metrics ttft,tpot,itl,e2el \\\n"
                 "        --metadata \"${FACTS[@]}\" --save-result --result-filename \"$RESULT\"\n");
}

void engine_test_genai_perf(const EngineRoute *to, FILE *out) {
    fprintf(out,
            "    genai-perf profile --model \"$MODEL\" --tokenizer \"$MODEL\" --url \"$URL\" \\\n"
            "        --endpoint-type completions --streaming --synthetic-input-tokens-mean \"$PROMPT\" \\\n"
            "        --synthetic-input-tokens-stddev 0 --output-tokens-mean \"$OUTPUT\" --output-tokens-stddev 0 \\\n"
            "        --extra-inputs ignore_eos:true --request-count \"$REQUESTS\" \\\n");
    fprintf(out, to->concurrency > 0 ? "        --concurrency \"$LOAD\"" : "        --request-rate \"$LOAD\"");
    fprintf(out, " --artifact-dir \"${RESULT%%.json}\"\n");
}
