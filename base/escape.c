/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/escape.h"

#include "base/utf8.h"

#include <stdbool.h>
#include <string.h>

static const char *markup_entity(char byte) {
    switch (byte) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

/* Attribute values are normalized: a line break in one would come back as a blank (XML 1.0, 3.3.3). */
static const char *xml_entity(char byte) {
    return byte == '\t' ? "&#9;" : byte == '\n' ? "&#10;" : byte == '\r' ? "&#13;" : markup_entity(byte);
}

static const char *markdown_entity(char byte) {
    static const char *const ESCAPED[] = {"\\\\", "\\`", "\\*", "\\_", "\\{", "\\}", "\\[",
                                          "\\]",  "\\#", "\\|", "\\~", "\\$", "\\!"};
    for (size_t i = 0; i < sizeof ESCAPED / sizeof ESCAPED[0]; i++)
        if (ESCAPED[i][1] == byte) return ESCAPED[i];
    return byte == '<'                                    ? "&lt;"
           : byte == '>'                                  ? "&gt;"
           : byte == '&'                                  ? "&amp;"
           : byte == '\t' || byte == '\n' || byte == '\r' ? " "
                                                          : NULL;
}

static const char *csv_entity(char byte) {
    return byte == '"' ? "\"\"" : byte == '\t' || byte == '\n' || byte == '\r' ? "" : NULL;
}

/* The characters that the runner turns back: toolkit/packages/core, command.ts, escapeData and escapeProperty. */
static const char *annotation_entity(char byte) {
    return byte == '%' ? "%25" : byte == '\r' ? "%0D" : byte == '\n' ? "%0A" : byte == '\t' ? "" : NULL;
}

static const char *property_entity(char byte) {
    return byte == ':' ? "%3A" : byte == ',' ? "%2C" : annotation_entity(byte);
}

/* The text that stands for an ASCII character. NULL means that the character is not special; "" means that it is
 * allowed though it is a control character. */
static const char *entity(EscapeKind kind, char byte) {
    switch (kind) {
    case ESCAPE_XML:
        return xml_entity(byte);
    case ESCAPE_MARKDOWN:
        return markdown_entity(byte);
    case ESCAPE_CSV:
        return csv_entity(byte);
    case ESCAPE_ANNOTATION:
        return annotation_entity(byte);
    case ESCAPE_ANNOTATION_PROPERTY:
        return property_entity(byte);
    }
    return NULL;
}

/* Spreadsheets take a cell that begins with one of these characters for a formula, some of them after blanks too; in
 * East Asian locales they accept the wide forms as well (U+FF0B, U+FF0D, U+FF1D, U+FF20). */
static bool is_formula(const char *text) {
    static const char *const WIDE[] = {"\xEF\xBC\x8B", "\xEF\xBC\x8D", "\xEF\xBC\x9D", "\xEF\xBC\xA0"};
    if (text[0] && strchr("\t\r\n", text[0])) return true;
    text += strspn(text, " ");
    if (text[0] && strchr("=+-@", text[0])) return true;
    for (size_t i = 0; i < sizeof WIDE / sizeof WIDE[0]; i++)
        if (strncmp(text, WIDE[i], 3) == 0) return true;
    return false;
}

static void write_characters(EscapeKind kind, const char *text, FILE *out) {
    size_t left = strlen(text);
    while (left > 0) {
        size_t size = utf8_size(text, left);
        const char *other = size == 1 ? entity(kind, *text) : NULL;
        if (other && *other)
            fputs(other, out);
        else if (size == 0 || (!other && utf8_is_harmful(text, size)))
            fputc('?', out);
        else
            fwrite(text, 1, size, out);
        text += size ? size : 1;
        left -= size ? size : 1;
    }
}

void escape_write(EscapeKind kind, const char *text, FILE *out) {
    bool quoted = kind == ESCAPE_CSV && strpbrk(text, ",\"\r\n");
    if (quoted) fputc('"', out);
    if (kind == ESCAPE_CSV && is_formula(text)) fputc('\'', out);
    write_characters(kind, text, out);
    if (quoted) fputc('"', out);
}
