/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/cli/operands.h"

#include "base/file.h"
#include "base/util.h"
#include "search/options/options.h"

#include <string.h>
#include <unistd.h>

enum { OPERAND_BYTES_MAX = 1 << 28 };

bool operand_is_file(const char *word) {
    return strcmp(word, "-") == 0 || strpbrk(word, "./") || access(word, F_OK) == 0;
}

/* Every report of ours says its version; no launcher's configuration has that word. */
static bool is_report(const char *text) {
    return text[strspn(text, " \t\r\n")] == '{' && strstr(text, "\"format_version\"");
}

bool operand_take_plan(CommandLine *line, const char *word, Error *error) {
    static const Option PLANS[] = {OPTION_PLAN, OPTION_FROM, OPTION_FROM_CONFIG};
    char *text;
    size_t length;
    for (size_t i = 0; i < COUNT_OF(PLANS); i++)
        if (line->text[PLANS[i]])
            return error_set(error, ERROR_INPUT, word, "is a second plan beside %s; give one", line->where[PLANS[i]]);
    if (!file_read(word, OPERAND_BYTES_MAX, line->arena, &text, &length, error)) return false;
    Option option = is_report(text) ? OPTION_FROM : OPTION_FROM_CONFIG;
    line->text[option] = word;
    line->where[option] = option == OPTION_FROM ? "--from" : "--from-config";
    return true;
}
