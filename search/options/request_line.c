/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/options/request_line.h"

#include <stdio.h>
#include <string.h>

bool request_line_add(char *line, size_t size, const char *name, const char *value) {
    size_t used = strlen(line), room = size - used;
    bool plain =
        value[strspn(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.,_=%+:/@-")] == '\0';
    bool quotable = !strchr(value, '\'');
    for (const char *c = value; *c; c++) quotable = quotable && (unsigned char)*c >= ' ' && (unsigned char)*c < 0x7f;
    int length = snprintf(line + used, room, value[0] == '\0' ? "%s--%s%s%s%s" : "%s--%s %s%s%s", used > 0 ? " " : "",
                          name, plain ? "" : "'", value, plain ? "" : "'");
    return quotable && length >= 0 && (size_t)length < room;
}

static void keep_short(const char *text, char *out, size_t size) {
    if (text && strlen(text) < size) snprintf(out, size, "%s", text);
}

void request_keep_line(const Options *options, Requested *requested) {
    bool ok = true;
    for (Option option = 0; option < OPTION_COUNT; option++) {
        bool of_one_search = option == OPTION_FOR || option == OPTION_TOP || option == OPTION_VARIANTS;
        char *line = of_one_search ? requested->choices : requested->words;
        size_t size = of_one_search ? sizeof requested->choices : sizeof requested->words;
        if (option_is_input(option) && options->text[option])
            ok = request_line_add(line, size, option_name(option), options->text[option]) && ok;
    }
    if (!ok) requested->words[0] = requested->choices[0] = '\0';
    keep_short(options->text[OPTION_SEQ], requested->typed_seq, sizeof requested->typed_seq);
    keep_short(options->text[OPTION_BATCH], requested->typed_batch, sizeof requested->typed_batch);
}
