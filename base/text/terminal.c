/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/text/terminal.h"

#include "base/util.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static _Thread_local Page current;

static int columns_of(int descriptor) {
    struct winsize size = {0};
    const char *named = getenv("COLUMNS");
    long columns = ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
    if (columns == 0 && named) columns = strtol(named, NULL, 10);
    if (columns <= 0) return 80;
    return (int)min_whole(PAGE_COLUMNS_MOST, max_whole(PAGE_COLUMNS_LEAST, columns));
}

Page page_of_stream(FILE *out) {
    int descriptor = out ? fileno(out) : -1;
    const char *term = getenv("TERM"), *none = getenv("NO_COLOR");
    if (descriptor < 0 || !isatty(descriptor)) return (Page){0};
    return (Page){.columns = columns_of(descriptor), .color = !(none && none[0]) && term && strcmp(term, "dumb") != 0};
}

void page_set(Page page) { current = page; }
Page page_now(void) { return current; }

static void say(FILE *out, const char *code) {
    if (current.color) fputs(code, out);
}
void page_strong(FILE *out) { say(out, "\033[1m"); }
void page_bar(FILE *out) { say(out, "\033[36m"); }
void page_plain(FILE *out) { say(out, "\033[0m"); }
