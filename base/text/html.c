/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/text/html.h"

#include "base/escape.h"
#include "base/memory_stream.h"
#include "base/sha256.h"
#include "base/text/svg.h"

#include <string.h>

static const char STYLE[] =
    ":root{color-scheme:light dark;--ink:#1c2128;--dim:#57606a;--paper:#ffffff;--card:#f5f7f9;--rule:#d8dee4;"
    "--link:#0b5cad}\n"
    "@media screen and (prefers-color-scheme:dark){:root{--ink:#e4e6ea;--dim:#b3b9c2;--paper:#16181c;--card:#1f2329;"
    "--rule:#3a4048;--link:#7cb8f5}}\n"
    "*{box-sizing:border-box}\n"
    "body{font:16px/1.55 system-ui,-apple-system,'Segoe UI',sans-serif;margin:0;color:var(--ink);"
    "background:var(--paper)}\n"
    "main,header,footer{max-width:60rem;margin:0 auto;padding:0 1.25rem}\nheader{padding-top:2rem}\n"
    "h1{font-size:1.75rem;line-height:1.2;margin:0 0 .4rem;text-wrap:balance}\n"
    "h2{font-size:1.3rem;margin:2.6rem 0 .5rem;padding-top:.8rem;border-top:1px solid var(--rule)}\n"
    "h3{font-size:1.02rem;margin:1.4rem 0 .3rem}\np{margin:.5rem 0;max-width:48rem;overflow-wrap:anywhere}\n"
    ".lead{font-size:1.05rem;color:var(--dim);margin:0}\na{color:var(--link)}\n"
    ":focus-visible{outline:3px solid var(--link);outline-offset:2px}\n"
    ".skip{position:absolute;left:-99rem}.skip:focus{position:static;display:inline-block;padding:.4rem .8rem}\n"
    "nav ol{list-style:none;display:flex;flex-wrap:wrap;gap:.2rem 1.1rem;padding:0;margin:1rem 0 0;font-size:.92rem}\n"
    ".cards{display:flex;flex-wrap:wrap;gap:.7rem;margin:1rem 0}\n"
    ".cards div{flex:1 1 12rem;background:var(--card);border:1px solid var(--rule);border-radius:.5rem;padding:.6rem "
    ".8rem}\n"
    ".cards dt{font-size:.82rem;color:var(--dim)}.cards dd{margin:0;font-size:1.35rem;font-weight:600;"
    "line-height:1.3}.cards dd small{display:block;font-size:.8rem;font-weight:400;color:var(--dim)}\n"
    "figure{margin:.8rem 0}figure .wide{display:flex;flex-wrap:wrap;align-items:flex-start;gap:1rem 1.5rem}\n"
    "figure .pic{flex:1 1 22rem;min-width:0;max-width:30rem;height:auto}"
    "figure .pic.long{flex:1 0 52rem;max-width:none}.wide .pic .bg{fill:none}\n"
    /* Shadows at the sides say that there is more to scroll to. */
    ".wide{overflow-x:auto;background:linear-gradient(to right,var(--paper) 40%,transparent) 0/2.5rem 100%,"
    "linear-gradient(to left,var(--paper) 40%,transparent) 100%/2.5rem 100%,"
    "linear-gradient(to right,var(--rule),transparent) 0/.8rem 100%,"
    "linear-gradient(to left,var(--rule),transparent) 100%/.8rem 100%;background-repeat:no-repeat;"
    "background-attachment:local,local,scroll,scroll}\n"
    "@media screen and (max-width:53rem){figure:has(.long)::before{content:'Scroll sideways for the rest of the "
    "picture.';font-size:.8rem;color:var(--dim)}}\n"
    "@media (max-width:30rem){main,header,footer{padding:0 .8rem}.cards{gap:.5rem}.cards div{flex-basis:calc(50% - "
    ".25rem)}"
    ".cards dd{font-size:1.15rem}h1{font-size:1.4rem}td:not(.n){min-width:6.5rem}}\n"
    "table{border-collapse:collapse;font-size:.88rem;margin:.4rem 0}\n"
    "h2+.wide>table>caption{position:absolute;left:-99rem}" /* the heading has said it */
    "caption{text-align:left;color:var(--dim);padding:.2rem 0;font-size:.85rem}\n"
    "th,td{padding:.28rem .8rem .28rem 0;text-align:left;vertical-align:top;border-bottom:1px solid var(--rule)}\n"
    "tbody th{font-weight:400}thead th{font-weight:600;white-space:nowrap}\n"
    ".n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}\n"
    "th button{font:inherit;color:inherit;background:none;border:0;padding:0;cursor:pointer}"
    "th[aria-sort=ascending] button::after{content:' \\2191'}th[aria-sort=descending] button::after{content:' "
    "\\2193'}th:not([aria-sort]) button:hover{text-decoration:underline}"
    ".filter{display:block;font-size:.88rem;color:var(--dim);margin:.4rem 0}.filter input{font:inherit;width:14rem;"
    "max-width:60vw;color:var(--ink);background:var(--card);border:1px solid var(--rule);border-radius:.3rem;"
    "padding:.1rem .4rem}\n"
    "details{margin:.4rem 0}summary{cursor:pointer;color:var(--link);font-size:.92rem}\n"
    "pre{overflow-x:auto}@media print{pre{white-space:pre-wrap}}\n"
    "code{font-size:.9em}ul{padding-left:1.2rem;max-width:48rem}li{margin:.25rem 0}\n"
    "footer{color:var(--dim);font-size:.85rem;padding-bottom:2.5rem;margin-top:2.5rem;border-top:1px solid "
    "var(--rule)}\n"
    "@media "
    "print{body{font-size:10.5pt}nav,.filter,.skip,.skip:focus,details.data{display:none}h2,h3,section>p{break-after:"
    "avoid}"
    "figure,tr,.cards div{break-inside:avoid}figure .pic{flex-basis:17rem}figure "
    ".pic.long{flex-basis:100%;min-width:0}.wide{background:none}.many tbody "
    "tr:nth-child(n+21):nth-last-child(n+21){display:none}.many caption{position:static;left:0}.many "
    "caption::after{content:'. On paper: the first and the last 20 rows.'}main,header,footer{max-width:none;padding:0}"
    "details::details-content{content-visibility:visible;height:auto}.wide{overflow:visible}a{color:inherit}}\n";

static void write_text(const char *text, FILE *out) { escape_write(ESCAPE_HTML, text, out); }

void html_open(FILE *out, const char *title, const char *lead) {
    char hash[PAGE_SCRIPT_HASH_SIZE];
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
          "script-src '",
          out);
    fputs(page_script_hash(hash), out);
    fputs("'\">\n"
          "<meta name=\"generator\" content=\"shardopt\">\n<title>",
          out);
    write_text(title, out);
    fputs("</title>\n<style>\n", out);
    fputs(STYLE, out);
    svg_style(out);
    fputs("</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#main\">Skip to the content</a>\n<header>\n<h1>", out);
    write_text(title, out);
    fputs("</h1>\n", out);
    if (lead) {
        fputs("<p class=\"lead\">", out);
        write_text(lead, out);
        fputs("</p>\n", out);
    }
    fputs("</header>\n<main id=\"main\" tabindex=\"-1\">\n", out);
}

void html_close(FILE *out) {
    fputs("</main>\n", out);
    page_script_write(out);
    fputs("</body>\n</html>\n", out);
}

void html_contents(FILE *out, const HtmlLink *links, int count) {
    fputs("<nav aria-label=\"Sections\"><ol>\n", out);
    for (int i = 0; i < count; i++) {
        fprintf(out, "<li><a href=\"#%s\">", links[i].id);
        write_text(links[i].heading, out);
        fputs("</a></li>\n", out);
    }
    fputs("</ol></nav>\n", out);
}

void html_section_open(FILE *out, const char *id, const char *heading) {
    fprintf(out, "<section id=\"%s\" aria-labelledby=\"%s-h\" tabindex=\"-1\">\n<h2 id=\"%s-h\">", id, id, id);
    write_text(heading, out);
    fputs("</h2>\n", out);
}

void html_section_close(FILE *out) { fputs("</section>\n", out); }

void html_heading(FILE *out, const char *heading) {
    fputs("<h3>", out);
    write_text(heading, out);
    fputs("</h3>\n", out);
}

void html_figure_open(FILE *out, const char *name) {
    fputs("<figure>\n<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Picture: ", out);
    write_text(name, out);
    fputs("\">\n", out);
}

void html_figure_close(FILE *out) { fputs("</div>\n</figure>\n", out); }

void html_paragraph(FILE *out, const char *text) {
    if (!text || text[0] == '\0') return;
    fputs("<p>", out);
    write_text(text, out);
    fputs("</p>\n", out);
}

void html_list(FILE *out, const char *tag, const char *const *texts, int64_t count) {
    fprintf(out, "<%s>\n", tag);
    for (int64_t i = 0; i < count; i++) {
        fputs("<li>", out);
        write_text(texts[i], out);
        fputs("</li>\n", out);
    }
    fprintf(out, "</%s>\n", tag);
}

void html_again(FILE *out, const char *command) {
    html_section_open(out, "again", "This page again");
    fputs("<p><code>", out);
    write_text(command, out);
    fputs("</code></p>\n", out);
    html_section_close(out);
}

void html_card(FILE *out, const char *name, const char *value, const char *more) {
    fputs("<div><dt>", out);
    write_text(name, out);
    fputs("</dt><dd>", out);
    write_text(value, out);
    if (more[0]) {
        fputs(" <small>", out);
        write_text(more, out);
        fputs("</small>", out);
    }
    fputs("</dd></div>\n", out);
}

/* Cells are read as text and never as markup. A number sorts by its value in one unit of its kind ("910 ms" before
 * "1.2 s", "$716 k" before "$1.9 M"), a column of words by its letters, numbers within them by value; cells with
 * nothing to sort by are last either way. Written without the two characters that markup would have to escape. */
static const char SCRIPT[] =
    "'use strict';\n"
    "(() => {\n"
    "const units = {ns: 1e-9, us: 1e-6, ms: 1e-3, s: 1, minutes: 60, hours: 3600, days: 86400, years: 31557600,\n"
    "  '%': 1e-2, k: 1e3, K: 1e3, M: 1e6, G: 1e9, B: 1, T: 1e12, P: 1e15};\n"
    "const scale = unit => {\n"
    "  const word = unit.split('/')[0];\n"
    "  if (word === '') return 1;\n"
    "  if (word in units) return units[word];\n"
    "  const prefix = /^[kMGTP](?=[A-Za-z]{1,})/.exec(word);\n"
    "  return prefix ? units[prefix[0]] : 1;\n"
    "};\n"
    "const number = text => {\n"
    "  if (text === 'none') return 0;\n"
    "  const found = /^[$~]?([+-]?[\\d,]*\\.?\\d+(?:e[+-]?\\d+)?)\\s?(\\S*)/.exec(text);\n"
    "  return found ? Number(found[1].replaceAll(',', '')) * scale(found[2]) : NaN;\n"
    "};\n"
    "const cell = (row, column) => row.cells[column].textContent.trim();\n"
    "const sort = (table, column, down) => {\n"
    "  const body = table.tBodies[0], rows = [...body.rows];\n"
    "  const some = rows.filter(row => cell(row, column) !== '');\n"
    "  const known = some.filter(row => !isNaN(number(cell(row, column))));\n"
    "  const numbers = 2 * known.length > some.length, full = numbers ? known : some;\n"
    "  const order = numbers ? (a, b) => number(cell(a, column)) - number(cell(b, column))\n"
    "    : (a, b) => cell(a, column).localeCompare(cell(b, column), 'en', {numeric: true});\n"
    "  full.sort((a, b) => down ? order(b, a) : order(a, b));\n"
    "  body.append(...full, ...rows.filter(row => !full.includes(row)));\n"
    "};\n"
    "const sortable = table => [...table.tHead.rows[0].cells].forEach((head, column, all) => {\n"
    "  if (head.textContent === '') return;\n"
    "  const button = document.createElement('button');\n"
    "  button.type = 'button';\n"
    "  button.append(...head.childNodes);\n"
    "  head.append(button);\n"
    "  button.addEventListener('click', () => {\n"
    "    const down = head.getAttribute('aria-sort') === 'ascending';\n"
    "    all.forEach(other => other.removeAttribute('aria-sort'));\n"
    "    head.setAttribute('aria-sort', down ? 'descending' : 'ascending');\n"
    "    sort(table, column, down);\n"
    "  });\n"
    "});\n"
    "const filterable = table => {\n"
    "  const label = document.createElement('label'), field = document.createElement('input');\n"
    "  const count = document.createElement('output'), rows = [...table.tBodies[0].rows];\n"
    "  label.className = 'filter';\n"
    "  field.type = 'search';\n"
    "  label.append('Rows with ', field, ' ', count);\n"
    "  table.parentElement.before(label);\n"
    "  field.addEventListener('input', () => {\n"
    "    const words = field.value.toLowerCase().split(/\\s+/);\n"
    "    let shown = 0;\n"
    "    rows.forEach(row => {\n"
    "      const text = row.textContent.toLowerCase();\n"
    "      row.hidden = !words.every(word => text.includes(word));\n"
    "      shown += row.hidden ? 0 : 1;\n"
    "    });\n"
    "    count.value = field.value === '' ? '' : `${shown} of ${rows.length}`;\n"
    "  });\n"
    "};\n"
    "document.querySelectorAll('main table').forEach(table => {\n"
    "  const rows = table.tHead ? table.tBodies[0].rows.length : 0;\n"
    "  if (rows > 2) sortable(table);\n"
    "  if (rows > 11) filterable(table);\n"
    "});\n"
    "})();\n";

void page_script_write(FILE *out) {
    fputs("<script>", out);
    fputs(SCRIPT, out);
    fputs("</script>\n", out);
}

static unsigned nibble(char digit) { return (unsigned)(digit <= '9' ? digit - '0' : digit - 'a' + 10); }

/* The digest comes as hexadecimal digits: three of them are two of Base64's. 64 digits are 21 threes and one more,
 * which makes two digits, the second of filling alone. */
const char *page_script_hash(char text[PAGE_SCRIPT_HASH_SIZE]) {
    static const char DIGITS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char hex[SHA256_HEX_SIZE + 2];
    Sha256 hash = sha256_start();
    sha256_add(&hash, SCRIPT, strlen(SCRIPT));
    sha256_hex(&hash, hex);
    hex[SHA256_HEX_SIZE - 1] = hex[SHA256_HEX_SIZE] = '0';
    char *to = text + sprintf(text, "sha256-");
    for (int i = 0; i < SHA256_HEX_SIZE - 1; i += 3) {
        unsigned bits = nibble(hex[i]) << 8 | nibble(hex[i + 1]) << 4 | nibble(hex[i + 2]);
        *to++ = DIGITS[bits >> 6];
        *to++ = DIGITS[bits & 63];
    }
    to[-1] = '='; /* only filling was in it */
    *to = '\0';
    return text;
}

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
