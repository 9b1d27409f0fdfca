/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tests/search/report/html/page_text.h: whether a page is well-formed, and how often it has something. */
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static inline bool is_void(const char *name) { return strcmp(name, "meta") == 0 || strcmp(name, "br") == 0; }

/* Every tag closes, in order; attributes stand in quotes; & begins a reference; where a < is text, it is none. Returns
 * NULL or where it is wrong. */
static inline const char *first_flaw(const char *text) {
    enum { DEPTH_MAX = 64, NAME_SIZE = 32 };
    char open[DEPTH_MAX][NAME_SIZE];
    int depth = 0;
    for (const char *at = text; *at; at++) {
        if (*at == '&' && strncmp(at, "&amp;", 5) && strncmp(at, "&lt;", 4) && strncmp(at, "&gt;", 4) &&
            strncmp(at, "&quot;", 6) && strncmp(at, "&#39;", 5))
            return at;
        if (*at != '<' || strncmp(at, "<!DOCTYPE", 9) == 0) continue;
        const char *start = at + 1 + (at[1] == '/');
        size_t length = strspn(start, "abcdefghijklmnopqrstuvwxyz0123456789");
        char name[NAME_SIZE];
        if (length == 0 || length >= NAME_SIZE) return at;
        snprintf(name, sizeof name, "%.*s", (int)length, start);
        bool quoted = false;
        const char *end = start + length;
        for (; *end && (quoted || *end != '>'); end++) {
            if (*end == '"') quoted = !quoted;
            if (*end == '<' || (*end == '=' && !quoted && end[1] != '"')) return end;
        }
        if (*end != '>') return at;
        if (at[1] == '/') {
            if (depth == 0 || strcmp(open[--depth], name) != 0) return at;
        } else if (end[-1] != '/' && !is_void(name)) {
            if (depth == DEPTH_MAX) return at;
            snprintf(open[depth++], NAME_SIZE, "%s", name);
        }
    }
    return depth == 0 ? NULL : "the end: something is open";
}

static inline int occurrences(const char *text, const char *what) {
    int count = 0;
    for (const char *at = text; (at = strstr(at, what)); at += strlen(what)) count++;
    return count;
}

/* Takes out of a page all that stands between a tag and its end. */
static inline void leave_out(char *page, const char *tag) {
    char open[16], close[16];
    snprintf(open, sizeof open, "<%s", tag);
    snprintf(close, sizeof close, "</%s>", tag);
    for (char *at = page, *end; (at = strstr(at, open)) && (end = strstr(at, close));)
        memmove(at, end + strlen(close), strlen(end + strlen(close)) + 1);
}
