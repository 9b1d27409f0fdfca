/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/launch/syntax/shell.h"

#include "base/util.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* The name of NAME= or NAME+= at the start of a word; 0 means it is none. */
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
    return shell->cases > 0 || shell->list == LIST_SKIPPED;
}

/* Whether a value is not to be taken: behind a test of which nobody knows how it ends, what has a value keeps it. */
static bool keeps_value(const Shell *shell, const char *name, size_t length) {
    return skipping(shell) || (shell->list == LIST_GUARDED && shell_variable(shell->script, name, length));
}

static ShellVariable *variable_new(Shell *shell, const char *name, size_t length) {
    ShellScript *script = shell->script;
    ShellVariable *variable = shell_variable(script, name, length);
    if (variable) return variable;
    if (script->variable_count == SHELL_VARIABLES_MAX) {
        shell_wrong(shell, "more than 1,024 variables; give a launch script");
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
    if (keeps_value(shell, word->text, name)) return true;
    ShellVariable *variable = variable_new(shell, word->text, name);
    if (!variable) return false;
    ShellWord value = *word;
    value.text += name + 1 + adds;
    value.column += (int64_t)name + 1 + adds;
    if (adds && variable->words.count > 0) {
        ShellWord *last = &variable->words.items[variable->words.count - 1];
        shell->bytes += strlen(last->text) + strlen(value.text);
        if (shell->bytes > CONFIG_TEXT_MAX)
            return shell_wrong(shell, "the variables put in here grow beyond 4 MB; give a launch script");
        value.text = arena_format(shell->file->arena, "%s%s", last->text, value.text);
        if (!value.text) return error_memory(shell->error);
    }
    variable->words = (ShellWords){0};
    variable->array = false;
    return shell_add(&variable->words, value, shell->file, shell->error);
}

/* Where a word might begin, not behind a piece of one that came to nothing: $EMPTY#. */
static bool skip_comment(Shell *shell) {
    if (cursor_peek(&shell->cursor) != '#' || shell->open) return false;
    if (cursor_column(&shell->cursor) > 1 && !strchr(" \t;&|()<>", shell->cursor.at[-1])) return false;
    cursor_skip_line(&shell->cursor);
    return true;
}

/* The words of NAME=( ... ), behind the bracket. */
static bool read_array(Shell *shell, const ShellWord *head, size_t name, bool adds) {
    ShellWords words = {0}, *outer = shell->into;
    Cursor from = shell->cursor;
    shell->into = &words;
    shell->assigns = false;
    for (;;) {
        char c = cursor_peek(&shell->cursor);
        if (c == '\0') {
            shell->cursor = from;
            return shell_wrong(shell, "the list is never closed; expected )");
        }
        if (skip_comment(shell)) continue;
        if (c == ' ' || c == '\t' || c == '\n' || c == ')') {
            cursor_step(&shell->cursor);
            if (!shell_end_word(shell)) return false;
            if (c == ')') break;
        } else if (!shell_piece(shell)) {
            return false;
        }
    }
    shell->into = outer;
    shell->listed = true;
    if (keeps_value(shell, head->text, name)) return true;
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
    int64_t count = words->count;
    if (count < 2 || (strcmp(words->items[0].text, "[") != 0 && strcmp(words->items[0].text, "[[") != 0))
        return CONDITION_UNKNOWN;
    count -= 2; /* its closing bracket */
    for (int64_t i = 0; i < words->count; i++)
        if (strchr(words->items[i].text, '$') || strchr(words->items[i].text, '`')) return CONDITION_UNKNOWN;
    const ShellWord *word = &words->items[1];
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

static void take_branch(ConditionBranch *branch, Condition condition) {
    *branch = (ConditionBranch){.skips = branch->settled || condition == CONDITION_FALSE,
                                .settled = branch->settled || condition != CONDITION_FALSE,
                                .guarded = condition == CONDITION_UNKNOWN || branch->guarded};
}

static bool is_word(const ShellWord *word, const char *text) { return !word->quoted && strcmp(word->text, text) == 0; }

static bool is_passed(const ShellWord *word) {
    static const char *const PASSED[] = {"then",  "do",      "{",        "}",    "export",
                                         "local", "declare", "readonly", "time", "exec"};
    for (size_t i = 0; i < COUNT_OF(PASSED); i++)
        if (is_word(word, PASSED[i])) return true;
    return false;
}

/* What stands in {} is taken as the list in front of it has it. */
static bool open_group(Shell *shell) {
    if (shell->branch_count == CONFIG_DEPTH_MAX) return shell_wrong(shell, "nests too deep; give a launch script");
    shell->branches[shell->branch_count++] =
        (ConditionBranch){.skips = shell->list == LIST_SKIPPED, .guarded = shell->list == LIST_GUARDED};
    shell->list = LIST_TAKEN;
    return true;
}

/* Words of the language in front; how many words they are. `ended`: the character behind the statement: a condition
 * with && or || behind it is one that nobody decides. False: *error. */
static bool take_keywords(Shell *shell, ShellWords *words, char ended, int64_t *taken) {
    *taken = 0;
    while (*taken < words->count) {
        const ShellWord *word = &words->items[*taken];
        if (is_word(word, "{") && !open_group(shell)) return false;
        if (is_word(word, "}") && shell->branch_count > 0) shell->branch_count--;
        if (is_passed(word)) {
            ++*taken;
            continue;
        }
        bool begins = is_word(word, "if"), other = is_word(word, "elif");
        if (begins || other) {
            ShellWords rest = {words->items + *taken + 1, words->count - *taken - 1, 0};
            Condition condition = ended == '&' || ended == '|' ? CONDITION_UNKNOWN : condition_of(&rest);
            if (begins && shell->branch_count == CONFIG_DEPTH_MAX)
                return shell_wrong(shell, "nests too deep; give a launch script");
            if (begins) shell->branches[shell->branch_count++] = (ConditionBranch){0};
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

/* Takes note of how a statement ends, and of what the one behind it has in front: `by` is & of &&, | of ||, or anything
 * else that ends a statement. Of a command nobody knows it: behind && it is taken to end well. */
static void go_on(Shell *shell, const ShellWords *words, char by) {
    bool is_test = words->count > 0 && words->items[0].text[0] == '[';
    Condition condition = is_test ? condition_of(words) : CONDITION_UNKNOWN;
    if (shell->list == LIST_GUARDED || (shell->list == LIST_TAKEN && is_test && condition == CONDITION_UNKNOWN))
        shell->ended = ENDED_UNKNOWN;
    else if (shell->list == LIST_TAKEN)
        shell->ended = !is_test ? ENDED_AS_COMMAND : condition == CONDITION_TRUE ? ENDED_TRUE : ENDED_FALSE;
    bool both = by == '&';
    if ((by != '&' && by != '|') || (both && shell->ended == ENDED_AS_COMMAND))
        shell->list = LIST_TAKEN;
    else if (shell->ended == ENDED_UNKNOWN || shell->ended == ENDED_AS_COMMAND)
        shell->list = LIST_GUARDED;
    else
        shell->list = (shell->ended == ENDED_TRUE) == both ? LIST_TAKEN : LIST_SKIPPED;
}

static bool end_statement(Shell *shell, ShellWords *words, char ended) {
    int64_t taken;
    if (!shell_end_word(shell) || !take_keywords(shell, words, ended, &taken)) return false;
    ShellWords own =
        taken < words->count ? (ShellWords){words->items + taken, words->count - taken, 0} : (ShellWords){0};
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
        script->commands = config_room(shell->file, script->commands, script->command_count, &shell->commands_room,
                                       sizeof *script->commands);
        if (!script->commands) return error_memory(shell->error);
        script->commands[script->command_count++] = (ShellWords){words->items + taken, words->count - taken, 0};
    }
    if (words->count > 0 || shell->listed) go_on(shell, &own, ended); /* else: a new line behind &&, a bracket */
    shell->listed = false;
    shell->led = 0;
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
            return shell_wrong(shell, "the text behind << is never closed");
        }
        while (line < cursor->end && *line == '\t') line++;
        bool last = (size_t)(cursor->end - line) >= length && memcmp(line, until, length) == 0 &&
                    (line + length == cursor->end || line[length] == '\n' || line[length] == '\r');
        if (last) break;
        cursor_skip_line(cursor);
        cursor_step(cursor);
    }
    ShellScript *script = shell->script;
    if (script->inline_count < SHELL_INLINES_MAX) {
        const char *text = config_copy(shell->file, from, (size_t)(cursor->at - from));
        if (!text) return error_memory(shell->error);
        script->inlines[script->inline_count].text = text;
        script->inlines[script->inline_count++].behind = script->command_count;
        script->inline_text = script->inlines[0].text;
    }
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

/* The name in front, if what was read of a word begins with NAME= or NAME+=; else 0. */
static size_t name_of_open(const Shell *shell, bool *adds) {
    char head[128];
    if (!shell->open || shell->used == 0) return 0;
    size_t length = shell->used < sizeof head ? shell->used : sizeof head - 1;
    memcpy(head, shell->word, length);
    head[length] = '\0';
    return assigned_name(head, adds);
}

/* NAME=( behind what was read of a word: an array begins. */
static bool begins_array(const Shell *shell, size_t *name, bool *adds) {
    *name = name_of_open(shell, adds);
    return *name > 0 && *name + 1 + *adds == shell->used;
}

/* Whether the word that is open is NAME=value, and no word of a command. Each word before it is looked at once. */
static bool is_assignment(Shell *shell, const ShellWords *before) {
    bool adds;
    for (; shell->led < before->count; shell->led++) {
        const ShellWord *word = &before->items[shell->led];
        if (!is_passed(word) && !is_word(word, "else") && assigned_name(word->text, &adds) == 0) return false;
    }
    return name_of_open(shell, &adds) > 0;
}

/* Words of the language in front of what is read at once: else A=( ... ). */
static bool drop_keywords(Shell *shell, ShellWords *words) {
    int64_t taken;
    if (!take_keywords(shell, words, ';', &taken)) return false;
    if (taken > 0) *words = (ShellWords){words->items + taken, words->count - taken, words->room - taken};
    shell->led = 0;
    return true;
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
        if (c == '(' && begins_array(shell, &name, &adds)) {
            ShellWord head = shell->next;
            head.text = config_copy(shell->file, shell->word, shell->used);
            shell_drop(shell);
            cursor_step(cursor);
            if (!head.text) return error_memory(shell->error);
            if (!drop_keywords(shell, &words) || !read_array(shell, &head, name, adds)) return false;
        } else if (c == ' ' || c == '\t') {
            cursor_step(cursor);
            if (!shell_end_word(shell)) return false;
        } else if (c == '\n' || c == ';' || c == '&' || c == '|' || c == '(' || c == ')') {
            cursor_step(cursor);
            bool twice = (c == '&' || c == '|') && cursor_peek(cursor) == c;
            if (twice) cursor_step(cursor);
            if (!end_statement(shell, &words, twice ? c : ';')) return false;
            const char *until = shell->until;
            if (c != '\n' || !until) continue;
            shell->until = NULL;
            if (!read_inline(shell, until, shell->until_length)) return false;
        } else if (c == '<' ||
                   c == '>') { /* the file behind it, and the number before it, are no words of the command */
            if (shell->open && shell->used == 1 && isdigit((unsigned char)shell->word[0])) shell_drop(shell);
            if (!shell_end_word(shell)) return false;
            read_redirection(shell);
        } else {
            shell->assigns = (c == '$' || c == '"') && is_assignment(shell, &words);
            if (!shell_piece(shell)) return false;
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
