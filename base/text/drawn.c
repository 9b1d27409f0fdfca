/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/text/drawn.h"
#include "base/memory_stream.h"

#include "base/text/html.h"

FILE *drawn_open(Drawn *drawn) { return memory_stream_open(&drawn->svg, &drawn->length); }

bool drawn_close(Drawn *drawn, FILE *svg, bool any) {
    drawn->drawn = any;
    return fclose(svg) == 0 && (!any || !drawn->table.failed);
}

void drawn_section(const Drawn *drawn, const char *id, const char *heading, FILE *out) {
    html_section_open(out, id, heading);
    html_paragraph(out, drawn->words.text);
    html_figure_open(out, heading);
    fwrite(drawn->svg, 1, drawn->length, out);
    html_figure_close(out);
    fputs("<details class=\"data\"><summary>The figures as a table</summary>\n", out);
    table_write_html(&drawn->table, out);
    fputs("</details>\n", out);
    html_section_close(out);
}
