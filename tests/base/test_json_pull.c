/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/json_pull.h"
#include "base/util.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

/* Gives a text in pieces of a few bytes, so that every value crosses a refill somewhere. */
typedef struct {
    const char *at;
    size_t left, piece;
    bool fails; /* instead of an end */
} Drip;

static ptrdiff_t drip(void *context, char *bytes, size_t room) {
    Drip *own = context;
    size_t count = own->left < own->piece ? own->left : own->piece;
    if (count > room) count = room;
    if (count == 0 && own->fails) return -1;
    memcpy(bytes, own->at, count);
    own->at += count;
    own->left -= count;
    return (ptrdiff_t)count;
}

static char window[PULL_WINDOW_LEAST];

static void begin(JsonPull *pull, Drip *source, const char *text, size_t piece) {
    *source = (Drip){text, strlen(text), piece, false};
    json_pull_begin(pull, (ByteSource){drip, source}, window, sizeof window);
}

Test(json_pull, values_in_pieces_of_any_size) {
    static const char TEXT[] = " {\"a\" : [1, -2.5e3, \"x\\\"y\\u0041\\\\\", true], \"long key\" :{\"b\":[[],{}]}, "
                               "\"c\"\n:\nNaN,}";
    for (size_t piece = 1; piece < sizeof TEXT; piece++) {
        JsonPull pull;
        Drip source;
        JsonSlice key, value;
        begin(&pull, &source, TEXT, piece);
        cr_assert(json_pull_enter(&pull, '{'));
        cr_assert(json_pull_key(&pull, &key) && json_slice_is(key, "a"));
        cr_assert(json_pull_enter(&pull, '['));
        cr_assert(json_pull_item(&pull) && json_pull_literal(&pull, &value) && json_slice_is(value, "1"));
        cr_assert(json_pull_item(&pull) && json_pull_literal(&pull, &value) && json_slice_is(value, "-2.5e3"));
        cr_assert(json_pull_item(&pull) && json_pull_text(&pull, &value) && json_slice_is(value, "x\"yA\\"));
        cr_assert(json_pull_item(&pull) && json_pull_scalar(&pull, &value) && json_slice_is(value, "true"));
        cr_assert_not(json_pull_item(&pull));
        cr_assert(json_pull_key(&pull, &key) && json_slice_is(key, "long key"));
        cr_assert(json_pull_skip(&pull));
        cr_assert(json_pull_key(&pull, &key) && json_slice_is(key, "c"));
        cr_assert(json_pull_scalar(&pull, &value) && json_slice_is(value, "NaN"));
        cr_assert_not(json_pull_key(&pull, &key));
        cr_assert_eq(pull.fault, PULL_WHOLE, "in pieces of %zu", piece);
    }
}

/* Each beginning of a document is cut off, none is broken, and none is taken for whole. */
Test(json_pull, every_beginning_is_cut_off) {
    static const char TEXT[] = "{\"a\":[1,{\"b\":\"c\\n\"},2],\"d\":\"e\"}";
    for (size_t length = 0; length + 1 < sizeof TEXT; length++) {
        JsonPull pull;
        JsonSlice key;
        ByteText text = {TEXT, length};
        json_pull_begin(&pull, byte_source_of_text(&text), window, sizeof window);
        if (json_pull_enter(&pull, '{'))
            while (json_pull_key(&pull, &key)) json_pull_skip(&pull);
        cr_expect_eq(pull.fault, PULL_CUT, "after %zu bytes: %d", length, pull.fault);
    }
}

Test(json_pull, a_source_that_fails_is_told_from_an_end) {
    Drip source = {"{\"a\":1", 6, 3, true};
    JsonPull pull;
    JsonSlice key;
    json_pull_begin(&pull, (ByteSource){drip, &source}, window, sizeof window);
    cr_assert(json_pull_enter(&pull, '{'));
    while (json_pull_key(&pull, &key)) json_pull_skip(&pull);
    cr_expect_eq(pull.fault, PULL_SOURCE);
}

/* A quote that a writer left bare breaks one object, and the next is read. The offset is that of the stray byte. */
Test(json_pull, goes_on_after_a_broken_object) {
    static const char TEXT[] = "[{\"ph\":\"bad \"name\" here\"}, {\"x\":{ \"ph\" : 2}}, {\"ph\":3}]";
    JsonPull pull;
    Drip source;
    JsonSlice key, value;
    begin(&pull, &source, TEXT, 5);
    cr_assert(json_pull_enter(&pull, '[') && json_pull_item(&pull) && json_pull_enter(&pull, '{'));
    cr_assert(json_pull_key(&pull, &key) && json_pull_scalar(&pull, &value));
    cr_assert_not(json_pull_key(&pull, &key));
    cr_expect_eq(pull.fault, PULL_BROKEN);
    cr_expect_eq(pull.offset, 13);
    cr_assert(json_pull_recover(&pull, "ph") && json_pull_item(&pull) && json_pull_enter(&pull, '{'));
    cr_assert(json_pull_key(&pull, &key) && json_pull_scalar(&pull, &value) && json_slice_is(value, "2"));
}

/* A text that is longer than half of the window is passed, and what follows is read. */
Test(json_pull, a_text_of_any_length) {
    enum { LONG = 3 * PULL_WINDOW_LEAST };
    char *text = malloc(LONG + 64);
    int head = sprintf(text, "[\"");
    memset(text + head, 'x', LONG);
    strcpy(text + head + LONG, "\", 7]");
    for (size_t piece = 100; piece < 5000; piece += 1234) {
        JsonPull pull;
        Drip source;
        JsonSlice value;
        begin(&pull, &source, text, piece);
        cr_assert(json_pull_enter(&pull, '[') && json_pull_item(&pull) && json_pull_text(&pull, &value));
        cr_expect_eq(value.length, 0);
        cr_assert(json_pull_item(&pull) && json_pull_literal(&pull, &value) && json_slice_is(value, "7"));
        cr_assert_not(json_pull_item(&pull));
        cr_expect_eq(pull.fault, PULL_WHOLE);
    }
    free(text);
}

Test(json_pull, whole_numbers) {
    static const struct {
        const char *text;
        bool ok;
        int64_t value;
    } ROWS[] = {{"0", true, 0},    {"-17", true, -17}, {"9223372036854775807", true, INT64_MAX},
                {"1.0", false, 0}, {"", false, 0},     {"9223372036854775808", false, 0},
                {"-", false, 0}};
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        int64_t value = 0;
        bool ok = json_slice_whole((JsonSlice){ROWS[i].text, strlen(ROWS[i].text)}, &value);
        cr_expect(ok == ROWS[i].ok && value == ROWS[i].value, "%s", ROWS[i].text);
    }
}
