/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/launch/syntax/shell.h"

#include "base/util.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the arithmetic of $((...)): + - * / %, brackets, names with or without $ ---- */

enum { DEPTH_MAX = 32 };

typedef struct {
    const char *at, *end;
    const ShellScript *script;
    int depth;
} Sum;

/* The number that a name stands for; false: nobody knows. */
static bool number_of_name(const ShellScript *script, const char *name, size_t length, int64_t *out) {
    const ShellVariable *variable = shell_variable(script, name, length);
    char *end;
    if (!variable || variable->words.count != 1) return false;
    const char *text = variable->words.items[0].text;
    if (!isdigit((unsigned char)*text) || strlen(text) > 15) return false;
    *out = strtoll(text, &end, 10);
    return *end == '\0';
}

static char peek(Sum *sum) {
    while (sum->at < sum->end && isspace((unsigned char)*sum->at)) sum->at++;
    return sum->at < sum->end ? *sum->at : '\0';
}

static bool read_sum(Sum *sum, int64_t *out);

static bool read_digits(Sum *sum, int64_t *out) {
    *out = 0;
    for (; sum->at < sum->end && isdigit((unsigned char)*sum->at); sum->at++)
        if (__builtin_mul_overflow(*out, 10, out) || __builtin_add_overflow(*out, *sum->at - '0', out)) return false;
    return true;
}

/* A number, a name, or a sum in brackets. */
static bool read_operand(Sum *sum, int64_t *out) {
    char c = peek(sum);
    if (isdigit((unsigned char)c)) return read_digits(sum, out);
    if (c == '(') {
        if (++sum->depth > DEPTH_MAX) return false;
        sum->at++;
        if (!read_sum(sum, out) || peek(sum) != ')') return false;
        sum->at++;
        sum->depth--;
        return true;
    }
    bool braced = false;
    if (c == '$') {
        sum->at++;
        braced = sum->at < sum->end && *sum->at == '{';
        sum->at += braced;
    }
    const char *name = sum->at;
    while (sum->at < sum->end && (isalnum((unsigned char)*sum->at) || *sum->at == '_')) sum->at++;
    size_t length = (size_t)(sum->at - name);
    if (braced && (sum->at == sum->end || *sum->at++ != '}')) return false;
    return length > 0 && number_of_name(sum->script, name, length, out);
}

static bool read_product(Sum *sum, int64_t *out) {
    if (!read_operand(sum, out)) return false;
    for (;;) {
        char op = peek(sum);
        int64_t other;
        if (op != '*' && op != '/' && op != '%') return true;
        sum->at++;
        if (!read_operand(sum, &other)) return false;
        if (op == '*') {
            if (__builtin_mul_overflow(*out, other, out)) return false;
            continue;
        }
        if (other <= 0) return false;
        *out = op == '/' ? *out / other : *out % other;
    }
}

static bool read_sum(Sum *sum, int64_t *out) {
    if (!read_product(sum, out)) return false;
    for (;;) {
        char op = peek(sum);
        int64_t other;
        if (op != '+' && op != '-') return true;
        sum->at++;
        if (!read_product(sum, &other)) return false;
        if (op == '+' ? __builtin_add_overflow(*out, other, out) : __builtin_sub_overflow(*out, other, out))
            return false;
    }
}

/* False: a name is not known, it overflows, divides by zero, or is none of that arithmetic. */
static bool sum_of(const char *text, size_t length, const ShellScript *script, int64_t *out) {
    Sum sum = {text, text + length, script, 0};
    return read_sum(&sum, out) && peek(&sum) == '\0';
}

/* ---- words ---- */

static const char BLANKS[] = " \t\r\n";

bool shell_wrong(Shell *shell, const char *what) {
    return config_wrong_at(shell->file, shell->cursor.line, cursor_column(&shell->cursor), shell->error, "%s", what);
}

bool shell_add(ShellWords *words, ShellWord word, const ConfigFile *file, Error *error) {
    if (words->count == SHELL_WORDS_MAX)
        return config_wrong_at(file, word.line, word.column, error, "more than %d words; give a launch script",
                               SHELL_WORDS_MAX);
    words->items = config_room(file, words->items, words->count, &words->room, sizeof *words->items);
    if (!words->items) return error_memory(error);
    words->items[words->count++] = word;
    return true;
}

static bool put(Shell *shell, const char *text, size_t length) {
    if (!shell->open) {
        shell->next = (ShellWord){.line = shell->line, .column = shell->column};
        shell->open = true;
    }
    shell->bytes += length + 1;
    if (shell->bytes > CONFIG_TEXT_MAX)
        return shell_wrong(shell, "the variables put in here grow beyond 4 MB; give a launch script");
    if (shell->used + length + 1 > shell->room) {
        size_t room = 2 * (shell->used + length + 1);
        char *word = realloc(shell->word, room);
        if (!word) return error_memory(shell->error);
        shell->word = word;
        shell->room = room;
    }
    if (length > 0) memcpy(shell->word + shell->used, text, length);
    shell->used += length;
    return true;
}

void shell_drop(Shell *shell) {
    shell->open = false;
    shell->used = 0;
}

bool shell_end_word(Shell *shell) {
    if (!shell->open) return true;
    shell->next.text = config_copy(shell->file, shell->word, shell->used);
    shell->open = false;
    shell->used = 0;
    if (!shell->next.text) return error_memory(shell->error);
    if (++shell->words > SHELL_WORDS_MAX) return shell_wrong(shell, "more than 16,384 words; give a launch script");
    shell->next.guarded = shell->next.guarded || shell->list == LIST_GUARDED;
    for (int i = 0; i < shell->branch_count; i++)
        shell->next.guarded = shell->next.guarded || shell->branches[i].guarded;
    return shell_add(shell->into, shell->next, shell->file, shell->error);
}

ShellVariable *shell_variable(const ShellScript *script, const char *name, size_t length) {
    for (int64_t i = 0; i < script->variable_count; i++)
        if (strlen(script->variables[i].name) == length && strncmp(script->variables[i].name, name, length) == 0)
            return &script->variables[i];
    return NULL;
}

/* A value put in: unquoted, its blanks end words, but where it is assigned. */
static bool put_value(Shell *shell, const char *text, bool quoted) {
    if (quoted || shell->assigns) return put(shell, text, strlen(text));
    while (*text) {
        size_t blanks = strspn(text, BLANKS), length = strcspn(text + blanks, BLANKS);
        if (blanks > 0 && !shell_end_word(shell)) return false;
        text += blanks;
        if (length > 0 && !put(shell, text, length)) return false;
        text += length;
    }
    return true;
}

/* Each word of an array is one of its own, as of "${A[@]}", but where they are assigned; what is empty and in no quotes
 * is no word. */
static bool put_variable(Shell *shell, const ShellVariable *variable, bool quoted) {
    for (int64_t i = 0; i < variable->words.count; i++) {
        const ShellWord *word = &variable->words.items[i];
        if (i > 0 && !(shell->assigns ? put(shell, " ", 1) : shell_end_word(shell))) return false;
        const char *text = word->text;
        bool whole = quoted || shell->assigns;
        if (!whole && !shell->open) text += strspn(text, BLANKS);
        bool begins = (!shell->open || shell->used == 0) && (whole || *text); /* an opening quote has no line of it */
        if (begins && !put(shell, "", 0)) return false;
        if (begins && variable->array)
            shell->next = (ShellWord){"", word->line, word->column, word->guarded, word->quoted};
        if (!put_value(shell, text, quoted)) return false;
    }
    return true;
}

/* The text up to the `close` that matches, nested ones passed over; the cursor stands behind it. */
static bool inside(Shell *shell, char open, char close, const char **from, size_t *length) {
    int depth = 1;
    *from = shell->cursor.at;
    for (;;) {
        char c = cursor_peek(&shell->cursor);
        if (c == '\0') return shell_wrong(shell, "something behind a $ is never closed");
        depth += c == open;
        depth -= c == close;
        *length = (size_t)(shell->cursor.at - *from);
        cursor_step(&shell->cursor);
        if (depth == 0) return true;
    }
}

/* Blanks in what is left as it is written would end the word. */
static bool put_unknown(Shell *shell, const char *from, size_t length) {
    for (size_t i = 0; i < length; i++)
        if (!put(shell, isspace((unsigned char)from[i]) ? "_" : from + i, 1)) return false;
    return true;
}

/* Behind a $. */
static bool expand(Shell *shell, bool quoted) {
    Cursor *cursor = &shell->cursor;
    const char *dollar = cursor->at - 1, *from = cursor->at;
    size_t length = 0;
    char c = cursor_peek(cursor);
    if (c == '(') {
        cursor_step(cursor);
        bool sum = cursor_peek(cursor) == '(';
        int64_t value;
        char digits[32];
        if (!inside(shell, '(', ')', &from, &length)) return false;
        if (sum && length >= 2 && sum_of(from + 1, length - 2, shell->script, &value)) {
            snprintf(digits, sizeof digits, "%lld", (long long)value);
            return put(shell, digits, strlen(digits));
        }
        return put_unknown(shell, dollar, (size_t)(cursor->at - dollar));
    }
    const char *fallback = NULL;
    size_t fallback_length = 0;
    if (c == '{') {
        cursor_step(cursor);
        if (!inside(shell, '{', '}', &from, &length)) return false;
        size_t name = 0;
        while (name < length && (isalnum((unsigned char)from[name]) || from[name] == '_')) name++;
        size_t behind = name + (name < length && from[name] == ':');
        if (behind < length && from[behind] == '-') {
            fallback = from + behind + 1;
            fallback_length = length - behind - 1;
        }
        length = name;
    } else if (isdigit((unsigned char)c) || c == '@' || c == '*' || c == '#' || c == '?' || c == '$') {
        cursor_step(cursor);
    } else {
        while (isalnum((unsigned char)cursor_peek(cursor)) || cursor_peek(cursor) == '_') cursor_step(cursor);
        length = (size_t)(cursor->at - from);
        if (length == 0) return put(shell, "$", 1);
    }
    const ShellVariable *variable = shell_variable(shell->script, from, length);
    if (variable && variable->array && variable->words.count == 0) shell->vanished = true;
    if (variable) return put_variable(shell, variable, quoted);
    if (fallback) {
        while (fallback_length >= 2 && (fallback[0] == '"' || fallback[0] == '\'')) fallback++, fallback_length -= 2;
        const char *copy = config_copy(shell->file, fallback, fallback_length);
        return copy ? put_value(shell, copy, quoted) : error_memory(shell->error);
    }
    if (length == 0 && (c == '@' || c == '*')) { /* the script's own arguments: none are known */
        shell->vanished = true;
        return true;
    }
    return put_unknown(shell, dollar, (size_t)(cursor->at - dollar));
}

static bool read_quoted(Shell *shell) {
    Cursor *cursor = &shell->cursor, from = *cursor;
    char quote = cursor_peek(cursor);
    bool begins = !shell->open;
    shell->vanished = false;
    if (!put(shell, "", 0)) return false;
    shell->next.quoted = true;
    cursor_step(cursor);
    for (;;) {
        char c = cursor_peek(cursor);
        if (c == '\0') {
            *cursor = from;
            return shell_wrong(shell, "the text in quotes is never closed");
        }
        if (c == '\\' && quote == '"') {
            cursor_step(cursor);
            char next = cursor_peek(cursor);
            bool escapes = next != '\0' && strchr("$`\"\\\n", next); /* before any other it is a letter */
            if (!escapes && !put(shell, "\\", 1)) return false;
            if (next != '\n' && next != '\0' && !put(shell, cursor->at, 1)) return false;
            cursor_step(cursor);
            continue;
        }
        cursor_step(cursor);
        if (c == quote && begins && shell->vanished && shell->used == 0) shell_drop(shell);
        if (c == quote) return true;
        if (!(c == '$' && quote == '"' ? expand(shell, true) : put(shell, &c, 1))) return false;
        if (c == '$' && quote == '"') shell->next.quoted = true;
    }
}

bool shell_piece(Shell *shell) {
    Cursor *cursor = &shell->cursor;
    char c = cursor_peek(cursor);
    shell->line = cursor->line;
    shell->column = cursor_column(cursor);
    if (c == '\'' || c == '"') return read_quoted(shell);
    cursor_step(cursor);
    if (c == '$') return expand(shell, false);
    if (c == '`') { /* nobody runs it */
        const char *from = cursor->at - 1;
        while (cursor_peek(cursor) != '`' && cursor_peek(cursor) != '\0') cursor_step(cursor);
        cursor_step(cursor);
        return put_unknown(shell, from, (size_t)(cursor->at - from));
    }
    if (c == '\\') {
        if (cursor_peek(cursor) == '\0') return true;
        if (cursor_peek(cursor) == '\n') {
            cursor_step(cursor);
            return true;
        }
        const char *escaped = cursor->at;
        cursor_step(cursor);
        return put(shell, escaped, 1);
    }
    return put(shell, &c, 1);
}
