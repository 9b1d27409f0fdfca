/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/text/prose.h"

#include "base/text/terminal.h"
#include "base/utf8.h"
#include "base/util.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

static void add(Prose *prose, const char *between, const char *format, va_list arguments)
    __attribute__((format(printf, 3, 0)));

static void add(Prose *prose, const char *between, const char *format, va_list arguments) {
    size_t start = prose->used, joint = start > 0 ? strlen(between) : 0, left = PROSE_SIZE - start;
    if (joint >= left) return;
    memcpy(prose->text + start, between, joint);
    int length = vsnprintf(prose->text + start + joint, left - joint, format, arguments);
    if (length >= 0 && (size_t)length < left - joint) prose->used = start + joint + (size_t)length;
    prose->text[prose->used] = '\0';
}

void prose_add(Prose *prose, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    add(prose, "", format, arguments);
    va_end(arguments);
}

void prose_item(Prose *prose, const char *between, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    add(prose, between, format, arguments);
    va_end(arguments);
}

/* Characters in the first `size` bytes: continuation bytes do not count. */
static int columns_of(const char *text, size_t size) {
    int columns = 0;
    for (size_t i = 0; i < size; i++) columns += ((unsigned char)text[i] & 0xC0) != 0x80;
    return columns;
}

int text_columns(const char *text) { return columns_of(text, strlen(text)); }

void text_wrap(char *text, int columns) {
    char *start = text, *blank = NULL;
    for (char *at = text; *at; at++) {
        if (*at == '\n') {
            start = at + 1;
            blank = NULL;
            continue;
        }
        if (*at == ' ') blank = at;
        if (!blank || columns_of(start, (size_t)(at - start) + 1) <= columns) continue;
        *blank = '\n';
        start = blank + 1;
        blank = NULL;
    }
}

void text_cut(char *text, size_t size, int columns, int lines) {
    enum { MOST = 1024 };
    char whole[MOST], wrapped[MOST + 4];
    size_t used = strlen(text);
    if (used >= sizeof whole || size > sizeof whole) return;
    memcpy(whole, text, used + 1);
    for (bool cut = false;; cut = true) {
        int taken = 1;
        snprintf(wrapped, sizeof wrapped, "%.*s%s", (int)used, whole, cut ? " ..." : "");
        text_wrap(wrapped, columns);
        for (const char *at = wrapped; *at; at++) taken += *at == '\n';
        if (taken <= lines) break;
        while (used > 0 && whole[used - 1] != ' ') used--;
        if (used == 0) return;
        used--;
    }
    snprintf(text, size, "%.*s%s", (int)used, whole, whole[used] ? " ..." : "");
}

/* "3.42 s", "88 GB,": a number and a short word behind it stay together. */
static bool glued(const char *start, const char *blank) {
    if (blank == start || !isdigit((unsigned char)blank[-1])) return false;
    size_t length = strcspn(blank + 1, " ");
    return length > 0 && length <= 4 && isalpha((unsigned char)blank[1]);
}

/* Bytes up to the last blank (or the end) that keeps the line within `columns`; a word that is too long is cut. */
static size_t line_length(const char *text, int columns) {
    size_t best = 0, at = 0, fits = 0;
    int used = 0;
    for (;; at++) {
        bool character = ((unsigned char)text[at] & 0xC0) != 0x80;
        if (text[at] == '\0' || (text[at] == ' ' && !glued(text, text + at))) best = at;
        if (text[at] == '\0') return best;
        if (!character) continue;
        if (used == columns) break;
        used++;
        fits = at;
    }
    if (best > 0) return best;
    fits++;
    while (((unsigned char)text[fits] & 0xC0) == 0x80) fits++;
    return fits;
}

void prose_write(TextOut out, const char *first, const char *rest, const char *text) {
    const char *margin = first;
    int columns = out.terminal.columns, width = columns > 0 ? (int)min_whole(columns, PROSE_WIDTH) : PROSE_WIDTH;
    do {
        size_t length = line_length(text, (int)max_whole(20, width - text_columns(margin)));
        fprintf(out.file, "%s%.*s\n", margin, (int)length, text);
        text += length;
        while (*text == ' ') text++;
        margin = rest;
    } while (*text);
}

const char *clean_text(const char *name, char *text, size_t room) {
    size_t used = 0, left = strlen(name);
    while (left > 0) {
        size_t size = utf8_size(name, left);
        bool bad = size == 0 || utf8_is_harmful(name, size);
        if (used + (bad ? 1 : size) >= room) break;
        if (bad)
            text[used++] = '?';
        else
            for (size_t i = 0; i < size; i++) text[used++] = name[i];
        name += size ? size : 1;
        left -= size ? size : 1;
    }
    text[used] = '\0';
    return text;
}

const char *clean_name(const char *name, char *text) { return clean_text(name, text, PROSE_NAME_SIZE); }

void text_clean(char *text) {
    char *to = text;
    size_t left = strlen(text);
    while (left > 0) {
        size_t size = utf8_size(text, left), step = size ? size : 1;
        bool bad = size == 0 || (*text != '\n' && utf8_is_harmful(text, size));
        if (bad) *text = '?';
        memmove(to, text, bad ? 1 : step);
        to += bad ? 1 : step;
        text += step;
        left -= step;
    }
    *to = '\0';
}

const char *step_text(double seconds, char *text) {
    static const char *const UNITS[] = {"s", "ms", "us"};
    size_t unit = 0;
    if (seconds > 0 && isfinite(seconds))
        for (; unit + 1 < COUNT_OF(UNITS) && seconds < 0.99995; unit++) seconds *= 1000;
    if (!(seconds < 9999.5)) {
        char grouped[NUMBER_TEXT_SIZE];
        if (seconds < 1e15)
            snprintf(text, NUMBER_TEXT_SIZE, "%s s", number_grouped((int64_t)(seconds + 0.5), grouped));
        else
            snprintf(text, NUMBER_TEXT_SIZE, "%.3g s", seconds);
        return text;
    }
    int decimals = seconds < 9.9995 ? 3 : seconds < 99.995 ? 2 : seconds < 999.95 ? 1 : 0;
    snprintf(text, NUMBER_TEXT_SIZE, "%.*f %s", decimals, seconds, UNITS[unit]);
    return text;
}

const char *share_text(double share, char *text) {
    snprintf(text, NUMBER_TEXT_SIZE, "%.1f%%", 100 * share);
    return text;
}

const char *change_text(double share, char *text) {
    if (fabs(share) < 0.0005)
        snprintf(text, NUMBER_TEXT_SIZE, "none");
    else
        snprintf(text, NUMBER_TEXT_SIZE, "%+.1f%%", 100 * share);
    return text;
}

const char *duration_text(double seconds, char *text) {
    static const struct {
        double seconds;
        const char *name;
    } UNITS[] = {{31557600.0, "years"}, {86400, "days"}, {3600, "hours"}, {60, "minutes"}};
    char number[NUMBER_TEXT_SIZE];
    for (size_t i = 0; i < COUNT_OF(UNITS); i++) {
        if (seconds < 2 * UNITS[i].seconds) continue;
        snprintf(text, NUMBER_TEXT_SIZE, "%s %s", number_short(seconds / UNITS[i].seconds, number), UNITS[i].name);
        return text;
    }
    return number_time(seconds, text);
}

const char *rate_text(double per_second, const char *unit, char *text) {
    static const char *const SCALES[] = {"", "k", "M", "G", "T", "P", "E"};
    size_t scale = 0;
    for (; scale + 1 < COUNT_OF(SCALES) && per_second >= 999.5; scale++) per_second /= 1000;
    snprintf(text, NUMBER_TEXT_SIZE, "%.3g %s%s/s", per_second, SCALES[scale], unit);
    return text;
}

const char *usd_text(double value, char *text) {
    char number[NUMBER_TEXT_SIZE];
    snprintf(text, NUMBER_TEXT_SIZE, "$%.40s", number_short(value, number));
    return text;
}

const char *grouped_text(double value, char *text) {
    return number_grouped(value < 9e15 ? (int64_t)(value + 0.5) : INT64_MAX, text);
}

const char *digits_text(double value, char *text) {
    if (value >= 999.95) return grouped_text(value, text);
    snprintf(text, NUMBER_TEXT_SIZE, "%.4g", value);
    return text;
}
