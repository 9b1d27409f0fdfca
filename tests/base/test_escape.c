/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/escape.h"

#include "base/util.h"

#include <criterion/criterion.h>
#include <stdlib.h>

/* The expected side is what the specifications require: XML's five, CommonMark's backslashes, RFC 4180, and
 * escapeData and escapeProperty of actions/toolkit. */
static const struct {
    const char *name, *text, *xml, *markdown, *csv, *message, *property;
} ROWS[] = {
    {"plain", "llama3.1-8b on 4x4", "llama3.1-8b on 4x4", "llama3.1-8b on 4x4", "llama3.1-8b on 4x4",
     "llama3.1-8b on 4x4", "llama3.1-8b on 4x4"},
    {"nothing", "", "", "", "", "", ""},
    {"a tag", "<b a='\"&", "&lt;b a=&#39;&quot;&amp;", "&lt;b a='\"&amp;", "\"<b a='\"\"&\"", "<b a='\"&", "<b a='\"&"},
    {"the end of CDATA", "]]>", "]]&gt;", "\\]\\]&gt;", "]]>", "]]>", "]]>"},
    {"a cell's end", "a|b`c", "a|b`c", "a\\|b\\`c", "a|b`c", "a|b`c", "a|b`c"},
    {"a link", "![x](y)", "![x](y)", "\\!\\[x\\](y)", "![x](y)", "![x](y)", "![x](y)"},
    {"a formula", "=1+1", "=1+1", "=1+1", "'=1+1", "=1+1", "=1+1"},
    {"one behind a blank", " @SUM(A1)", " @SUM(A1)", " @SUM(A1)", "' @SUM(A1)", " @SUM(A1)", " @SUM(A1)"},
    {"one in wide letters",
     "\xEF\xBC\x9D"
     "1",
     "\xEF\xBC\x9D"
     "1",
     "\xEF\xBC\x9D"
     "1",
     "'\xEF\xBC\x9D"
     "1",
     "\xEF\xBC\x9D"
     "1",
     "\xEF\xBC\x9D"
     "1"},
    {"a command", "a\n::error::b,c:d 100%", "a&#10;::error::b,c:d 100%", "a ::error::b,c:d 100%",
     "\"a\n::error::b,c:d 100%\"", "a%0A::error::b,c:d 100%25", "a%0A%3A%3Aerror%3A%3Ab%2Cc%3Ad 100%25"},
    {"what the runner would turn back", "%0A::", "%0A::", "%0A::", "%0A::", "%250A::", "%250A%3A%3A"},
    {"a carriage return", "a\rb", "a&#13;b", "a b", "\"a\rb\"", "a%0Db", "a%0Db"},
    {"a tab", "\ta", "&#9;a", " a", "'\ta", "\ta", "\ta"},
    {"a terminal's escape", "\033[31m\x7F", "?[31m?", "?\\[31m?", "?[31m?", "?[31m?", "?[31m?"},
    {"a turn of direction", "\xE2\x80\xAE", "?", "?", "?", "?", "?"},
    {"no UTF-8", "\xFF\xC3", "??", "??", "??", "??", "??"},
    {"no character of XML", "\xEF\xBF\xBF", "?", "?", "?", "?", "?"},
    {"a letter of two bytes", "\xC3\xA9", "\xC3\xA9", "\xC3\xA9", "\xC3\xA9", "\xC3\xA9", "\xC3\xA9"},
};

static void expect(const char *name, EscapeKind kind, const char *text, const char *expected) {
    char *written = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&written, &length);
    cr_assert(out != NULL);
    escape_write(kind, text, out);
    fclose(out);
    cr_expect_str_eq(written, expected, "%s, kind %d: %s", name, (int)kind, written);
    free(written);
}

Test(escape, kinds) {
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        expect(ROWS[i].name, ESCAPE_XML, ROWS[i].text, ROWS[i].xml);
        expect(ROWS[i].name, ESCAPE_MARKDOWN, ROWS[i].text, ROWS[i].markdown);
        expect(ROWS[i].name, ESCAPE_CSV, ROWS[i].text, ROWS[i].csv);
        expect(ROWS[i].name, ESCAPE_ANNOTATION, ROWS[i].text, ROWS[i].message);
        expect(ROWS[i].name, ESCAPE_ANNOTATION_PROPERTY, ROWS[i].text, ROWS[i].property);
    }
}
