/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/options/request_line.h"

#include <stdio.h>
#include <string.h>

typedef struct {
    char *text; /* `size` bytes */
    size_t size;
    bool failed; /* a word has no room, or characters that no line should have: there is no line */
} Line;

/* Between quotes where a shell would see more in it than a word. */
static void add_word(Line *line, const char *name, const char *value) {
    size_t used = strlen(line->text), room = line->size - used;
    bool plain =
        value[strspn(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.,_=%+:/@-")] == '\0';
    bool quotable = !strchr(value, '\'');
    for (const char *c = value; *c; c++) quotable = quotable && (unsigned char)*c >= ' ' && (unsigned char)*c < 0x7f;
    int length = snprintf(line->text + used, room, value[0] == '\0' ? "%s--%s%s%s%s" : "%s--%s %s%s%s",
                          used > 0 ? " " : "", name, plain ? "" : "'", value, plain ? "" : "'");
    if (!quotable || length < 0 || (size_t)length >= room) line->failed = true;
}

static void keep_short(const char *text, char *out, size_t size) {
    if (text && strlen(text) < size) snprintf(out, size, "%s", text);
}

void request_keep_line(const Options *options, Requested *requested) {
    Line words = {requested->words, sizeof requested->words, false},
         choices = {requested->choices, sizeof requested->choices, false};
    for (Option option = 0; option < OPTION_COUNT; option++) {
        bool of_one_search = option == OPTION_FOR || option == OPTION_TOP || option == OPTION_VARIANTS;
        if (option_is_input(option) && options->text[option])
            add_word(of_one_search ? &choices : &words, option_name(option), options->text[option]);
    }
    if (words.failed || choices.failed) requested->words[0] = requested->choices[0] = '\0';
    keep_short(options->text[OPTION_SEQ], requested->typed_seq, sizeof requested->typed_seq);
    keep_short(options->text[OPTION_BATCH], requested->typed_batch, sizeof requested->typed_batch);
}
