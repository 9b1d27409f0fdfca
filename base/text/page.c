/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/text/page.h"

#include "base/json.h"
#include "base/memory_stream.h"

#include <stdlib.h>
#include <string.h>

/* In JSON '<' stands in texts alone, where it may be escaped: no text ends the element or begins a comment. */
static void write_escaped(const char *document, FILE *out) {
    for (const char *at = document; *at;) {
        size_t plain = strcspn(at, "<");
        fwrite(at, 1, plain, out);
        at += plain;
        if (*at == '<') fputs("\\u003c", out), at++;
    }
}

bool page_write_text(const char *document, FILE *out, Error *error) {
    fputs((const char *)VIEW_HEAD, out);
    write_escaped(document, out);
    fputs((const char *)VIEW_TAIL, out);
    return !ferror(out) || error_stream(error, "report", "the page");
}

bool page_write(const cJSON *document, FILE *out, Error *error) {
    char *text = NULL;
    size_t length = 0;
    FILE *memory = memory_stream_open(&text, &length);
    if (!memory) return error_memory(error);
    bool ok = json_print_line(memory, document);
    ok = fclose(memory) == 0 && ok && text ? page_write_text(text, out, error) : error_memory(error);
    free(text);
    return ok;
}
