/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which launcher a file is of, and what it is written in. A format is known by a key that no other launcher has. */
#include "base/util.h"
#include "search/launch/import.h"

#include <ctype.h>
#include <string.h>

typedef bool (*ReadSyntax)(const char *text, size_t length, ConfigFile *file, Error *error);

static bool has_sign(const ConfigFile *file, const char *sign) {
    size_t length = strlen(sign);
    bool begins = sign[length - 1] == '.' || sign[length - 1] == '_';
    for (int64_t i = 0; i < file->count; i++)
        if (begins ? strncmp(file->entries[i].key, sign, length) == 0 : strcmp(file->entries[i].key, sign) == 0)
            return true;
    return false;
}

static bool has_signs_of(const ConfigFile *file, const Launcher *launcher) {
    for (int k = 0; k < LAUNCHER_SIGNS_MAX && launcher->signs[k]; k++)
        if (has_sign(file, launcher->signs[k])) return true;
    return false;
}

static bool recognised(const ConfigFile *file, int *out) {
    for (int yield = 0; yield < 2; yield++)
        for (int i = 0; i < launcher_count(); i++)
            if (launcher_at(i)->signs_yield == yield && has_signs_of(file, launcher_at(i))) return *out = i, true;
    return false;
}

/* What the first line that says something looks like. */
static ReadSyntax syntax_of(const char *text, size_t length) {
    static const char MODULE[] = "\nMESH_AXES = ";
    if (memmem(text, length, MODULE, sizeof MODULE - 1)) return config_read_python;
    for (size_t at = 0; at < length;) {
        while (at < length && isspace((unsigned char)text[at])) at++;
        size_t end = at;
        while (end < length && text[end] != '\n') end++;
        size_t equals, key = at;
        if (at == end) break;
        if (text[at] == '{') return config_read_json;
        if (text[at] == '[' && at + 1 < end && isalpha((unsigned char)text[at + 1])) return config_read_toml;
        if (text[at] == '#' && !(end - at > 2 && text[at + 1] == '!')) {
            at = end;
            continue;
        }
        if (text[at] == '#') return config_read_words;
        while (key < end && (isalnum((unsigned char)text[key]) || strchr("_.-\"'", text[key]))) key++;
        if (key > at && key < end && text[key] == ':') return config_read_yaml;
        if (end - at >= 3 && memcmp(text + at, "---", 3) == 0 &&
            (end - at == 3 || isspace((unsigned char)text[at + 3])))
            return config_read_yaml;
        for (equals = key; equals < end && (text[equals] == ' ' || text[equals] == '\t'); equals++) {}
        /* TOML without a table in front; the shell knows no blanks around = */
        if (key > at && equals > key && equals < end && text[equals] == '=') return config_read_toml;
        return config_read_words;
    }
    return config_read_words;
}

static bool format_named(const char *format, const char *all, int *out, Error *error) {
    for (int i = 0; i < launcher_count(); i++)
        if (name_matches(format, launcher_name(i))) return *out = i, true;
    return error_set(error, ERROR_INPUT, "--config-format", "\"%.40s\" is not read; give %s", format, all);
}

/* "# Written by shardopt 0.1.0: MODEL on MACHINE of CHIP." (emit_header()), where more than a model's sizes has to be
 * known, or a file has none. */
static const char *made_for(const ConfigFile *file, const char *text, size_t length) {
    static const char WRITTEN[] = "# Written by shardopt ";
    const char *head = config_copy(file, text, length < 8192 ? length : 8192);
    const char *line = head ? strstr(head, WRITTEN) : NULL, *from = line ? strstr(line, ": ") : NULL;
    const char *to = from ? strstr(from, " on ") : NULL;
    return to && (size_t)(to - line) < strcspn(line, "\n") ? config_copy(file, from + 2, (size_t)(to - from - 2))
                                                           : NULL;
}

bool import_read(const char *name, const char *text, size_t length, const char *format, Arena *arena, ConfigFile *file,
                 int *launcher, Error *error) {
    char all[LAUNCHER_NAMES_SIZE];
    launcher_names(launchers_all(), ", ", " or ", all, sizeof all);
    *file = (ConfigFile){.name = name, .arena = arena};
    config_skip_mark(&text, &length);
    file->made = made_for(file, text, length);
    if (format && !format_named(format, all, launcher, error)) return false;
    if (!config_check_text(file, text, length, error) || !syntax_of(text, length)(text, length, file, error))
        return false;
    if (file->count == 0)
        return error_set(error, ERROR_INPUT, name, "has no key of a launcher; give a configuration of %s", all);
    if (format || recognised(file, launcher)) return true;
    return error_set(error, ERROR_INPUT, name, "is of no launcher that is known by its keys; say --config-format %s",
                     all);
}
