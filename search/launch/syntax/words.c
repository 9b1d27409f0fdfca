/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which words of a script are the training's own: those behind the program (a word that ends in .py, or the module of
 * -m), in the command that has most of them; of a list of arguments without a command, all. */
#include "base/util.h"
#include "search/launch/syntax/shell.h"

#include <ctype.h>
#include <string.h>

enum { INSIDE_MAX = 4 }; /* bash -c "srun bash -c '...'" */

/* Where the arguments of the training begin; 0: there is no program in it. */
static int64_t behind_program(const ShellWords *words) {
    int64_t behind = 0;
    for (int64_t i = 0; i < words->count; i++) {
        if (text_ends_in(words->items[i].text, ".py")) behind = i + 1;
        if (strcmp(words->items[i].text, "-m") == 0 && i + 2 < words->count) behind = i + 2;
    }
    return behind;
}

static bool is_key(const char *text) {
    if (text[0] == '-') return text[1] == '-' && isalpha((unsigned char)text[2]);
    return false;
}

/* key=value, as MaxText and Hydra have it: the length of the key. */
static size_t assigned_key(const ShellWord *word) {
    size_t length = 0;
    while (isalnum((unsigned char)word->text[length]) || strchr("_.+-", word->text[length])) {
        if (word->text[length] == '\0') return 0;
        length++;
    }
    return isalpha((unsigned char)word->text[0]) && word->text[length] == '=' ? length : 0;
}

static bool add(ConfigFile *file, const ShellWord *at, const char *key, const char *value, bool bare, Error *error) {
    ConfigEntry *entry;
    if (!key || !value) return error_memory(error);
    if (!config_add(file, key, value, at->line, at->column, &entry, error)) return false;
    entry->guarded = entry->guarded || at->guarded;
    entry->bare = bare;
    return true;
}

/* Several words that were written as one, in quotes: "--fp8-format hybrid". */
static bool split_words(const ShellWords *from, ShellWords *to, const ConfigFile *file, Error *error) {
    for (int64_t i = 0; i < from->count; i++) {
        ShellWord word = from->items[i];
        const char *rest = word.text;
        if (!is_key(rest) || !strpbrk(rest, " \t\n")) {
            if (!shell_add(to, word, file, error)) return false;
            continue;
        }
        while (*(rest += strspn(rest, " \t\n"))) {
            size_t length = strcspn(rest, " \t\n");
            word.text = config_copy(file, rest, length);
            if (!word.text) return error_memory(error);
            if (!shell_add(to, word, file, error)) return false;
            rest += length;
        }
    }
    return true;
}

/* A word of which nobody knows what it stands for, or whether it is any: $EXTRA_ARGS. */
static bool is_unknown(const ShellWord *word) { return !word->quoted && word->text[0] == '$'; }

/* How many words from `first` on are values of the key before it. Behind one that is known, what is not known may be
 * anything. */
static int64_t value_count(const ShellWords *words, int64_t first) {
    int64_t count = 0;
    for (; first + count < words->count; count++) {
        const ShellWord *word = &words->items[first + count];
        if (is_key(word->text) || (!word->quoted && assigned_key(word) > 0) || (count > 0 && is_unknown(word))) break;
    }
    return count;
}

/* With a blank between them; NULL: memory is out. */
static const char *joined(const ConfigFile *file, const ShellWord *words, int64_t count) {
    size_t size = 1, used = 0;
    for (int64_t i = 0; i < count; i++) size += strlen(words[i].text) + 1;
    char *text = arena_alloc(file->arena, size, 1);
    for (int64_t i = 0; i < count && text; i++) {
        size_t length = strlen(words[i].text);
        if (i > 0) text[used++] = ' ';
        memcpy(text + used, words[i].text, length);
        used += length;
    }
    return text;
}

/* --key value value, --key=value, --flag, key=value. */
static bool add_arguments(const ShellWords *given, int64_t first, ConfigFile *file, Error *error) {
    ShellWords all = {0}, from = {given->items + first, given->count - first, 0};
    if (!split_words(&from, &all, file, error)) return false;
    for (int64_t i = 0; i < all.count; i++) {
        const ShellWord *word = &all.items[i];
        size_t assigned = assigned_key(word);
        if (assigned > 0) {
            if (!add(file, word, config_copy(file, word->text, assigned), word->text + assigned + 1, false, error))
                return false;
            continue;
        }
        if (is_unknown(word)) config_note(file, "what %.60s stands for is not known here: it is left out", word->text);
        if (!is_key(word->text)) continue;
        const char *key = word->text + 2, *equals = strchr(key, '=');
        if (equals) {
            if (!add(file, word, config_copy(file, key, (size_t)(equals - key)), equals + 1, false, error))
                return false;
            continue;
        }
        int64_t values = value_count(&all, i + 1);
        const char *value = joined(file, &all.items[i + 1], values);
        i += values;
        if (!add(file, word, key, value, values == 0, error)) return false;
    }
    return true;
}

/* What torchrun and Slurm are given of the machine, under a name of ours. */
static bool add_launcher(const ShellWords *words, int64_t count, ConfigFile *file, Error *error) {
    static const char *const NAMES[][2] = {{"--nnodes", "(nodes)"},
                                           {"--nproc_per_node", "(devices of a node)"},
                                           {"--nproc-per-node", "(devices of a node)"}};
    for (int64_t i = 0; i < count; i++)
        for (size_t n = 0; n < sizeof NAMES / sizeof *NAMES; n++) {
            size_t length = strlen(NAMES[n][0]);
            const char *text = words->items[i].text;
            if (strncmp(text, NAMES[n][0], length) != 0) continue;
            const char *value = text[length] == '='                     ? text + length + 1
                                : text[length] == '\0' && i + 1 < count ? words->items[i + 1].text
                                                                        : NULL;
            if (!value || !isdigit((unsigned char)value[0])) continue; /* 1:4, gpu, $NNODES: no number */
            if (strspn(value, "0123456789") != strlen(value)) continue;
            if (!add(file, &words->items[i], NAMES[n][1], value, false, error)) return false;
        }
    return true;
}

static bool read_inside(const char *text, size_t length, ConfigFile *file, int depth, Error *error);

/* A command in quotes: bash -c "torchrun train.py ..." */
static bool read_quoted_command(const ShellWords *words, ConfigFile *file, int depth, bool *found, Error *error) {
    for (int64_t i = 0; i < words->count && depth < INSIDE_MAX; i++) {
        const char *text = words->items[i].text;
        if (!words->items[i].quoted || !strstr(text, ".py ") || is_key(text)) continue;
        *found = true;
        return read_inside(text, strlen(text), file, depth + 1, error);
    }
    return true;
}

/* What no command has: lists of arguments, or lines of key=value. */
static bool add_bare(const ShellScript *script, ConfigFile *file, Error *error) {
    const int64_t before = file->count;
    for (int64_t i = 0; i < script->command_count; i++)
        if (!add_arguments(&script->commands[i], 0, file, error)) return false;
    for (int64_t i = 0; i < script->variable_count && file->count == before; i++)
        if (script->variables[i].array) {
            for (int64_t j = i; j < script->variable_count; j++)
                if (!add_arguments(&script->variables[j].words, 0, file, error)) return false;
        }
    bool keys = file->count == before;
    for (int64_t i = 0; i < script->variable_count && keys; i++) {
        const ShellVariable *variable = &script->variables[i];
        if (variable->words.count == 1 &&
            !add(file, &variable->words.items[0], variable->name, variable->words.items[0].text, false, error))
            return false;
    }
    return true;
}

static bool read_inside(const char *text, size_t length, ConfigFile *file, int depth, Error *error) {
    ShellScript script;
    if (!shell_read(text, length, file, &script, error)) return false;
    int64_t best = -1, most = -1;
    for (int64_t i = 0; i < script.command_count; i++) {
        int64_t behind = behind_program(&script.commands[i]), arguments = script.commands[i].count - behind;
        if (behind > 0 && arguments > most) most = arguments, best = i;
    }
    if (script.inline_text && !config_has(file, "(text)") &&
        !config_add(file, "(text)", script.inline_text, 1, 1, NULL, error))
        return false;
    if (script.has_case) config_note(file, "\"case ... esac\" is not read: what it sets is not known");
    if (best >= 0) {
        const ShellWords *words = &script.commands[best];
        int64_t behind = behind_program(words);
        return add_launcher(words, behind, file, error) && add_arguments(words, behind, file, error);
    }
    bool found = false;
    for (int64_t i = 0; i < script.command_count && !found; i++)
        if (!read_quoted_command(&script.commands[i], file, depth, &found, error)) return false;
    return found || add_bare(&script, file, error);
}

bool config_read_words(const char *text, size_t length, ConfigFile *file, Error *error) {
    return config_check_text(file, text, length, error) && read_inside(text, length, file, 0, error);
}
