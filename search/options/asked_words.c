/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/options/asked_words.h"

#include <stdio.h>
#include <string.h>

/* Between quotes where a shell would see more in it than a word. */
static void add_word(Asked *asked, const char *name, const char *value) {
    size_t used = strlen(asked->words), room = sizeof asked->words - used;
    bool plain =
        value[strspn(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.,_=%+:/@-")] == '\0';
    bool quotable = !strchr(value, '\'');
    for (const char *c = value; *c; c++) quotable = quotable && (unsigned char)*c >= ' ' && (unsigned char)*c < 0x7f;
    int length = snprintf(asked->words + used, room, value[0] == '\0' ? "%s--%s%s%s%s" : "%s--%s %s%s%s",
                          used > 0 ? " " : "", name, plain ? "" : "'", value, plain ? "" : "'");
    if (!quotable || length < 0 || (size_t)length >= room) asked->words[used] = '\0';
}

static void keep_short(const char *text, char *out, size_t size) {
    if (text && strlen(text) < size) snprintf(out, size, "%s", text);
}

void asked_words_keep(const Options *options, Asked *asked) {
    for (Option option = 0; option < OPTION_COUNT; option++) {
        bool of_one_search = option == OPTION_FOR || option == OPTION_TOP || option == OPTION_VARIANTS;
        if (option_asks(option) && options->text[option] && !of_one_search)
            add_word(asked, option_name(option), options->text[option]);
    }
    keep_short(options->text[OPTION_SEQ], asked->typed_seq, sizeof asked->typed_seq);
    keep_short(options->text[OPTION_BATCH], asked->typed_batch, sizeof asked->typed_batch);
}
