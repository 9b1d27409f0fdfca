/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/text/terminal.h"

static void write_code(TextOut out, const char *code) {
    if (out.terminal.color) fputs(code, out.file);
}
void text_strong(TextOut out) { write_code(out, "\033[1m"); }
void text_bar(TextOut out) { write_code(out, "\033[36m"); }
void text_plain(TextOut out) { write_code(out, "\033[0m"); }
