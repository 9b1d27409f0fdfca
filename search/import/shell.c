/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/import/shell.h"

#include "base/util.h"
#include "search/import/cursor.h"
#include "search/import/shell_sum.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One `if` that is open. */
typedef struct {
    bool skips;   /* the branch that is open is not taken */
    bool settled; /* a branch was taken: no other is */
    bool guarded; /* nobody knows whether it is taken */
} Branch;

typedef struct {
    Cursor cursor;
    const ConfigFile *file;
    ShellScript *script;
    Error *error;
    int64_t words, commands_room;
    size_t bytes; /* of all words so far: what a variable of variables can grow to is bounded */
    Branch branches[CONFIG_DEPTH_MAX];
    int branch_count, loops, cases;
    /* the word that is being put together */
    char *word;
    size_t used, room;
    ShellWord next;
    int64_t line, column; /* where the piece that is read begins */
    bool open;
    ShellWords *into;
    bool vanished;     /* "$@" or an empty array stood between quotes: no word at all */
    const char *until; /* the word that ends the text behind <<, which begins with the next line; NULL: none */
    size_t until_length;
} Shell;

static bool wrong(Shell *shell, const char *what) {
    return config_wrong_at(shell->file, shell->cursor.line, cursor_column(&shell->cursor), shell->error, "%s", what);
}

bool shell_add(ShellWords *words, ShellWord word, const ConfigFile *file, Error *error) {
    if (words->count == SHELL_WORDS_MAX)
        return config_wrong_at(file, word.line, word.column, error, "more than %d words; give a launch script",
                               SHELL_WORDS_MAX);
    if (words->count == words->room) {
        int64_t room = max_whole(16, 2 * words->room);
        ShellWord *items = ARENA_NEW(file->arena, ShellWord, (size_t)room);
        if (!items) return error_memory(error);
        if (words->count > 0) memcpy(items, words->items, (size_t)words->count * sizeof *items);
        words->items = items;
        words->room = room;
    }
    words->items[words->count++] = word;
    return true;
}

/* ---- the word ---- */

static bool put(Shell *shell, const char *text, size_t length) {
    if (!shell->open) {
        shell->next = (ShellWord){.line = shell->line, .column = shell->column};
        shell->open = true;
    }
    shell->bytes += length + 1;
    if (shell->bytes > CONFIG_TEXT_MAX)
        return wrong(shell, "the variables put in here grow beyond 4 MB; give a launch script");
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

static void drop_word(Shell *shell) {
    shell->open = false;
    shell->used = 0;
}

static bool end_word(Shell *shell) {
    if (!shell->open) return true;
    shell->next.text = config_copy(shell->file, shell->word, shell->used);
    shell->open = false;
    shell->used = 0;
    if (!shell->next.text) return error_memory(shell->error);
    if (++shell->words > SHELL_WORDS_MAX) return wrong(shell, "more than 16,384 words; give a launch script");
    for (int i = 0; i < shell->branch_count; i++)
        shell->next.guarded = shell->next.guarded || shell->branches[i].guarded;
    return shell_add(shell->into, shell->next, shell->file, shell->error);
}

static ShellVariable *variable_of(const ShellScript *script, const char *name, size_t length) {
    for (int64_t i = 0; i < script->variable_count; i++)
        if (strlen(script->variables[i].name) == length && strncmp(script->variables[i].name, name, length) == 0)
            return &script->variables[i];
    return NULL;
}

/* A value put in: unquoted, its blanks end words. */
static bool put_value(Shell *shell, const char *text, bool quoted) {
    if (quoted) return put(shell, text, strlen(text));
    while (*text) {
        size_t blanks = strspn(text, " \t\r\n"), length = strcspn(text + blanks, " \t\r\n");
        if (blanks > 0 && !end_word(shell)) return false;
        text += blanks;
        if (length > 0 && !put(shell, text, length)) return false;
        text += length;
    }
    return true;
}

static bool put_variable(Shell *shell, const ShellVariable *variable, bool quoted) {
    for (int64_t i = 0; i < variable->words.count; i++) {
        const ShellWord *word = &variable->words.items[i];
        if (i > 0 && !end_word(shell)) return false;
        bool begins = !shell->open;
        if (begins && !put(shell, "", 0)) return false;
        if (begins && variable->array)
            shell->next = (ShellWord){"", word->line, word->column, word->guarded, word->quoted};
        if (!put_value(shell, word->text, quoted)) return false;
    }
    return true;
}

/* The text up to the `close` that matches, nested ones passed over; the cursor stands behind it. */
static bool inside(Shell *shell, char open, char close, const char **from, size_t *length) {
    int depth = 1;
    *from = shell->cursor.at;
    for (;;) {
        char c = cursor_peek(&shell->cursor);
        if (c == '\0') return wrong(shell, "something behind a $ is never closed");
        depth += c == open;
        depth -= c == close;
        *length = (size_t)(shell->cursor.at - *from);
        cursor_step(&shell->cursor);
        if (depth == 0) return true;
    }
}

static bool number_of_name(const void *script, const char *name, size_t length, int64_t *out) {
    const ShellVariable *variable = variable_of(script, name, length);
    char *end;
    if (!variable || variable->words.count != 1) return false;
    const char *text = variable->words.items[0].text;
    if (!isdigit((unsigned char)*text) || strlen(text) > 15) return false;
    *out = strtoll(text, &end, 10);
    return *end == '\0';
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
        if (sum && length >= 2 && shell_sum(from + 1, length - 2, number_of_name, shell->script, &value)) {
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
    const ShellVariable *variable = variable_of(shell->script, from, length);
    if (variable && variable->array && variable->words.count == 0) shell->vanished = true;
    if (variable) return put_variable(shell, variable, quoted && !variable->array);
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
            return wrong(shell, "the text in quotes is never closed");
        }
        if (c == '\\' && quote == '"') {
            cursor_step(cursor);
            if (cursor_peek(cursor) != '\n' && cursor_peek(cursor) != '\0' && !put(shell, cursor->at, 1)) return false;
            cursor_step(cursor);
            continue;
        }
        cursor_step(cursor);
        if (c == quote && begins && shell->vanished && shell->used == 0) drop_word(shell);
        if (c == quote) return true;
        if (!(c == '$' && quote == '"' ? expand(shell, true) : put(shell, &c, 1))) return false;
        if (c == '$' && quote == '"') shell->next.quoted = true;
    }
}

/* One character of a word, or what it stands for. */
static bool read_piece(Shell *shell) {
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

/* ---- statements ---- */

/* The name of NAME= or NAME+= at the start of a word; 0: it is none. */
static size_t assigned_name(const char *text, bool *adds) {
    size_t length = 0;
    while (isalnum((unsigned char)text[length]) || text[length] == '_' ||
           (text[length] == '.' && length > 0)) /* a.b=1 is a key of a launcher, kept alike */
        length++;
    *adds = length > 0 && text[length] == '+' && text[length + 1] == '=';
    return length > 0 && !isdigit((unsigned char)text[0]) && (text[length] == '=' || *adds) ? length : 0;
}

static bool skipping(const Shell *shell) {
    for (int i = 0; i < shell->branch_count; i++)
        if (shell->branches[i].skips) return true;
    return shell->cases > 0;
}

static ShellVariable *variable_new(Shell *shell, const char *name, size_t length) {
    ShellScript *script = shell->script;
    ShellVariable *variable = variable_of(script, name, length);
    if (variable) return variable;
    if (script->variable_count == SHELL_VARIABLES_MAX) {
        wrong(shell, "more than 1,024 variables; give a launch script");
        return NULL;
    }
    variable = &script->variables[script->variable_count];
    *variable = (ShellVariable){.name = config_copy(shell->file, name, length)};
    if (!variable->name) {
        error_memory(shell->error);
        return NULL;
    }
    script->variable_count++;
    return variable;
}

static bool assign(Shell *shell, const ShellWord *word, size_t name, bool adds) {
    if (skipping(shell)) return true;
    ShellVariable *variable = variable_new(shell, word->text, name);
    if (!variable) return false;
    ShellWord value = *word;
    value.text += name + 1 + adds;
    value.column += (int64_t)name + 1 + adds;
    if (adds && variable->words.count > 0) {
        ShellWord *last = &variable->words.items[variable->words.count - 1];
        shell->bytes += strlen(last->text) + strlen(value.text);
        if (shell->bytes > CONFIG_TEXT_MAX)
            return wrong(shell, "the variables put in here grow beyond 4 MB; give a launch script");
        value.text = arena_format(shell->file->arena, "%s%s", last->text, value.text);
        if (!value.text) return error_memory(shell->error);
    }
    variable->words = (ShellWords){0};
    variable->array = false;
    return shell_add(&variable->words, value, shell->file, shell->error);
}

static bool skip_comment(Shell *shell) {
    if (cursor_peek(&shell->cursor) != '#' || shell->open) return false;
    cursor_skip_line(&shell->cursor);
    return true;
}

/* The words of NAME=( ... ), behind the bracket. */
static bool read_array(Shell *shell, const ShellWord *head, size_t name, bool adds) {
    ShellWords words = {0}, *outer = shell->into;
    Cursor from = shell->cursor;
    shell->into = &words;
    for (;;) {
        char c = cursor_peek(&shell->cursor);
        if (c == '\0') {
            shell->cursor = from;
            return wrong(shell, "the list is never closed; expected )");
        }
        if (skip_comment(shell)) continue;
        if (c == ' ' || c == '\t' || c == '\n' || c == ')') {
            cursor_step(&shell->cursor);
            if (!end_word(shell)) return false;
            if (c == ')') break;
        } else if (!read_piece(shell)) {
            return false;
        }
    }
    shell->into = outer;
    if (skipping(shell)) return true;
    ShellVariable *variable = variable_new(shell, head->text, name);
    if (!variable) return false;
    if (!adds) variable->words = (ShellWords){0};
    variable->array = true;
    for (int64_t i = 0; i < words.count; i++)
        if (!shell_add(&variable->words, words.items[i], shell->file, shell->error)) return false;
    return true;
}

/* What a condition says where the file alone decides it: [[ a == b ]], [ a -eq b ], [ -z a ], [ -n a ]. */
typedef enum { CONDITION_UNKNOWN, CONDITION_TRUE, CONDITION_FALSE } Condition;
static Condition condition_of(const ShellWords *words) {
    int64_t first = 0, count = words->count;
    if (count < 2 || (strcmp(words->items[0].text, "[") != 0 && strcmp(words->items[0].text, "[[") != 0))
        return CONDITION_UNKNOWN;
    first = 1;
    count -= 2; /* its closing bracket */
    for (int64_t i = 0; i < words->count; i++)
        if (strchr(words->items[i].text, '$') || strchr(words->items[i].text, '`')) return CONDITION_UNKNOWN;
    const ShellWord *word = &words->items[first];
    if (count == 3) {
        const char *op = word[1].text;
        bool same = strcmp(word[0].text, word[2].text) == 0;
        if (strcmp(op, "=") == 0 || strcmp(op, "==") == 0 || strcmp(op, "-eq") == 0)
            return same ? CONDITION_TRUE : CONDITION_FALSE;
        if (strcmp(op, "!=") == 0 || strcmp(op, "-ne") == 0) return same ? CONDITION_FALSE : CONDITION_TRUE;
    }
    if (count == 2 && (strcmp(word[0].text, "-z") == 0 || strcmp(word[0].text, "-n") == 0)) {
        bool empty = word[1].text[0] == '\0';
        return empty == (word[0].text[1] == 'z') ? CONDITION_TRUE : CONDITION_FALSE;
    }
    return CONDITION_UNKNOWN;
}

static void take_branch(Branch *branch, Condition condition) {
    *branch = (Branch){.skips = branch->settled || condition == CONDITION_FALSE,
                       .settled = branch->settled || condition != CONDITION_FALSE,
                       .guarded = condition == CONDITION_UNKNOWN || branch->guarded};
}

static bool is_word(const ShellWord *word, const char *text) { return !word->quoted && strcmp(word->text, text) == 0; }

/* Words of the language in front; how many words they are. `ended`: the character behind the statement: a condition with
 * && or || behind it is one that nobody decides. False: *error. */
static bool take_keywords(Shell *shell, ShellWords *words, char ended, int64_t *taken) {
    static const char *const PASSED[] = {"then",  "do",      "{",        "}",    "export",
                                         "local", "declare", "readonly", "time", "exec"};
    *taken = 0;
    while (*taken < words->count) {
        const ShellWord *word = &words->items[*taken];
        bool passed = false;
        for (size_t i = 0; i < COUNT_OF(PASSED); i++) passed = passed || is_word(word, PASSED[i]);
        if (passed) {
            ++*taken;
            continue;
        }
        bool begins = is_word(word, "if"), other = is_word(word, "elif");
        if (begins || other) {
            ShellWords rest = {words->items + *taken + 1, words->count - *taken - 1, 0};
            Condition condition = ended == '&' || ended == '|' ? CONDITION_UNKNOWN : condition_of(&rest);
            if (begins && shell->branch_count == CONFIG_DEPTH_MAX)
                return wrong(shell, "nests too deep; give a launch script");
            if (begins) shell->branches[shell->branch_count++] = (Branch){0};
            if (shell->branch_count > 0) take_branch(&shell->branches[shell->branch_count - 1], condition);
            *taken = words->count;
        } else if (is_word(word, "else")) {
            if (shell->branch_count > 0) take_branch(&shell->branches[shell->branch_count - 1], CONDITION_TRUE);
            ++*taken;
        } else if (is_word(word, "fi")) {
            if (shell->branch_count > 0) shell->branch_count--;
            ++*taken;
        } else if (is_word(word, "case")) {
            shell->script->has_case = true;
            shell->cases++;
            *taken = words->count;
        } else if (is_word(word, "esac")) {
            if (shell->cases > 0) shell->cases--;
            ++*taken;
        } else if (is_word(word, "for") || is_word(word, "while") || is_word(word, "until")) {
            *taken = words->count;
        } else {
            break;
        }
    }
    return true;
}

static bool end_statement(Shell *shell, ShellWords *words, char ended) {
    int64_t taken;
    if (!end_word(shell) || !take_keywords(shell, words, ended, &taken)) return false;
    for (; taken < words->count; taken++) {
        bool adds;
        size_t name = words->items[taken].quoted && words->items[taken].text[0] == '"'
                          ? 0
                          : assigned_name(words->items[taken].text, &adds);
        if (name == 0) break;
        if (!assign(shell, &words->items[taken], name, adds)) return false;
    }
    if (taken < words->count && !skipping(shell)) {
        ShellScript *script = shell->script;
        if (script->command_count == shell->commands_room) {
            int64_t room = max_whole(64, 2 * shell->commands_room);
            ShellWords *commands = ARENA_NEW(shell->file->arena, ShellWords, (size_t)room);
            if (!commands) return error_memory(shell->error);
            if (script->command_count > 0)
                memcpy(commands, script->commands, (size_t)script->command_count * sizeof *commands);
            script->commands = commands;
            shell->commands_room = room;
        }
        script->commands[script->command_count++] = (ShellWords){words->items + taken, words->count - taken, 0};
    }
    *words = (ShellWords){0};
    return true;
}

/* Lines up to `until`, of which the text is kept: behind << with the word `until`, from the next line on. */
static bool read_inline(Shell *shell, const char *until, size_t length) {
    Cursor *cursor = &shell->cursor, start = *cursor;
    const char *from = cursor->at;
    for (;;) {
        const char *line = cursor->at;
        if (cursor_peek(cursor) == '\0') {
            *cursor = start;
            return wrong(shell, "the text behind << is never closed");
        }
        while (line < cursor->end && *line == '\t') line++;
        bool last = (size_t)(cursor->end - line) >= length && memcmp(line, until, length) == 0 &&
                    (line + length == cursor->end || line[length] == '\n' || line[length] == '\r');
        if (last) break;
        cursor_skip_line(cursor);
        cursor_step(cursor);
    }
    if (!shell->script->inline_text)
        shell->script->inline_text = config_copy(shell->file, from, (size_t)(cursor->at - from));
    cursor_skip_line(cursor);
    cursor_step(cursor);
    return shell->script->inline_text || error_memory(shell->error);
}

/* Behind < or >: the file is no word of the command; of << the word that ends the text, kept until the line ends. */
static void read_redirection(Shell *shell) {
    Cursor *cursor = &shell->cursor;
    const char *from = cursor->at;
    while (strchr("<>&-", cursor_peek(cursor)) && cursor_peek(cursor) != '\0') cursor_step(cursor);
    bool inline_text =
        cursor->at - from >= 2 && from[0] == '<' && from[1] == '<' && !(cursor->at - from > 2 && from[2] == '<');
    cursor_skip_blanks(cursor);
    if (strchr("'\"\\", cursor_peek(cursor)) && cursor_peek(cursor) != '\0') cursor_step(cursor);
    const char *word = cursor->at;
    while (!strchr(" \t\n;|)'\"", cursor_peek(cursor)) && cursor_peek(cursor) != '\0') cursor_step(cursor);
    if (inline_text && !shell->until) shell->until = word, shell->until_length = (size_t)(cursor->at - word);
    if (strchr("'\"", cursor_peek(cursor)) && cursor_peek(cursor) != '\0') cursor_step(cursor);
}

/* NAME=( behind what was read of a word: an array begins. */
static bool begins_array(const Shell *shell, const ShellWords *words, size_t *name, bool *adds) {
    char head[128];
    if (!shell->open || shell->used == 0 || shell->used >= sizeof head || shell->word[shell->used - 1] != '=')
        return false;
    memcpy(head, shell->word, shell->used);
    head[shell->used] = '\0';
    *name = assigned_name(head, adds);
    (void)words;
    return *name > 0 && *name + 1 + *adds == shell->used;
}

static bool read_statements(Shell *shell) {
    ShellWords words = {0};
    shell->into = &words;
    for (;;) {
        Cursor *cursor = &shell->cursor;
        char c = cursor_peek(cursor);
        size_t name;
        bool adds;
        if (c == '\0') return end_statement(shell, &words, '\n');
        if (skip_comment(shell)) continue;
        if (c == '(' && begins_array(shell, &words, &name, &adds)) {
            ShellWord head = shell->next;
            head.text = config_copy(shell->file, shell->word, shell->used);
            drop_word(shell);
            cursor_step(cursor);
            if (!head.text) return error_memory(shell->error);
            if (!read_array(shell, &head, name, adds)) return false;
        } else if (c == ' ' || c == '\t') {
            cursor_step(cursor);
            if (!end_word(shell)) return false;
        } else if (c == '\n' || c == ';' || c == '&' || c == '|' || c == '(' || c == ')') {
            cursor_step(cursor);
            if (!end_statement(shell, &words, c)) return false;
            const char *until = shell->until;
            if (c != '\n' || !until) continue;
            shell->until = NULL;
            if (!read_inline(shell, until, shell->until_length)) return false;
        } else if (c == '<' ||
                   c == '>') { /* the file behind it, and the number before it, are no words of the command */
            if (shell->open && shell->used == 1 && isdigit((unsigned char)shell->word[0])) drop_word(shell);
            if (!end_word(shell)) return false;
            read_redirection(shell);
        } else if (!read_piece(shell)) {
            return false;
        }
    }
}

bool shell_read(const char *text, size_t length, const ConfigFile *file, ShellScript *out, Error *error) {
    Shell shell = {.cursor = cursor_start(text, length), .file = file, .script = out, .error = error};
    *out = (ShellScript){.variables = ARENA_NEW(file->arena, ShellVariable, SHELL_VARIABLES_MAX)};
    bool ok = out->variables ? read_statements(&shell) : error_memory(error);
    free(shell.word);
    return ok;
}
