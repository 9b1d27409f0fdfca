/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/text/html.h"

#include "base/escape.h"
#include "base/text/page_script.h"
#include "base/text/svg.h"

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
    ".cards dd{font-size:1.15rem}h1{font-size:1.4rem}}\n"
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
