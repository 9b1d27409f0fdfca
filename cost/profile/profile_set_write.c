/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes a set as a file that people read and compare: two lines for each figure, with the shortest numbers. */
#include "base/json.h"
#include "base/util.h"
#include "cost/profile/profile_set.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { INDENT = 6 };

/* The shortest text that reads back the same, with a point whatever the locale writes. */
static void write_number(FILE *out, double value) {
    char text[32];
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    char *point = strchr(text, ',');
    if (point) *point = '.';
    fputs(text, out);
}

static void write_text(FILE *out, const char *before, const char *key, const char *text) {
    fprintf(out, "%s\"%s\": ", before, key);
    json_print_text(out, text);
}

static void write_real(FILE *out, const char *key, double value) {
    fprintf(out, ", \"%s\": ", key);
    write_number(out, value);
}

/* ",\n" and the blanks of a level. */
static void next_line(FILE *out, int blanks) { fprintf(out, ",\n%*s", blanks, ""); }

static void write_figure(FILE *out, const SetFigure *figure) {
    next_line(out, INDENT);
    fprintf(out, "\"%s\": {\"value\": ", figure->figure->key);
    write_number(out, figure->value);
    if (figure->sigma > 0) {
        write_real(out, "prior", figure->prior);
        if (figure->of[0]) write_text(out, ", ", "of", figure->of);
        if (figure->sigma != figure->figure->sigma) write_real(out, "sigma", figure->sigma);
    }
    if (figure->deviation > 0) {
        write_real(out, "deviation", figure->deviation);
        fprintf(out, ", \"runs\": %" PRId64 ", \"determined\": %s", figure->runs,
                figure->determined ? "true" : "false");
    }
    next_line(out, INDENT + 2);
    write_text(out, "", "source", figure->source);
    putc('}', out);
}

static void write_names(FILE *out, const char *key, const char *rows, size_t size, int count) {
    if (count == 0) return;
    next_line(out, INDENT);
    fprintf(out, "\"%s\": [", key);
    for (int i = 0; i < count; i++) {
        if (i > 0) fputs(", ", out);
        json_print_text(out, rows + size * (size_t)i);
    }
    putc(']', out);
}

static void write_line(FILE *out, const char *key, const char *text) {
    if (!text[0]) return;
    next_line(out, INDENT);
    write_text(out, "", key, text);
}

static void write_match(FILE *out, const StackMatch *match) {
    const struct {
        const char *key, *text;
    } TEXTS[] = {{"framework", match->framework}, {"like", match->like},
                 {"source", match->source},       {"date", match->date},
                 {"from", match->from},           {"before", match->before},
                 {"notes", match->notes},         {"not_notes", match->not_notes},
                 {"scaleup", match->scaleup},     {"chip", match->chip}};
    const char *before = "";
    putc('{', out);
    for (size_t i = 0; i < COUNT_OF(TEXTS); i++) {
        if (!TEXTS[i].text[0]) continue;
        write_text(out, before, TEXTS[i].key, TEXTS[i].text);
        before = ", ";
    }
    putc('}', out);
}

static void write_entry(FILE *out, const SetEntry *entry) {
    fputs("    ", out);
    json_print_text(out, entry->name);
    fprintf(out, ": {\n%*s", INDENT, "");
    write_text(out, "", "source", entry->source);
    write_line(out, "title", entry->title);
    write_names(out, "aliases", entry->aliases[0], sizeof entry->aliases[0], entry->alias_count);
    write_line(out, "kin", entry->parent);
    if (entry->untuned) {
        next_line(out, INDENT);
        fputs("\"untuned\": true", out);
    }
    write_line(out, "released", entry->released);
    write_names(out, "chips", entry->chips[0], sizeof entry->chips[0], entry->chip_count);
    write_names(out, "launchers", entry->launchers[0], sizeof entry->launchers[0], entry->launcher_count);
    if (entry->torus || entry->switched) {
        next_line(out, INDENT);
        fprintf(out, "\"scaleup\": [%s%s%s]", entry->torus ? "\"torus\"" : "",
                entry->torus && entry->switched ? ", " : "", entry->switched ? "\"switch\"" : "");
    }
    for (int i = 0; i < entry->match_count; i++) {
        if (i == 0) {
            next_line(out, INDENT);
            fputs("\"matches\": [", out);
        }
        if (i > 0) next_line(out, INDENT + 2);
        write_match(out, &entry->matches[i]);
        if (i == entry->match_count - 1) putc(']', out);
    }
    if (entry->tile_source) {
        next_line(out, INDENT);
        fprintf(out, "\"tile_padding\": {\"value\": %s", entry->tile_padding ? "true" : "false");
        next_line(out, INDENT + 2);
        write_text(out, "", "source", entry->tile_source);
        putc('}', out);
    }
    for (int i = 0; i < entry->figure_count; i++) write_figure(out, &entry->figures[i]);
    fputs("\n    }", out);
}

static void write_list(FILE *out, const char *key, const SetEntry *list, int count) {
    fprintf(out, ",\n  \"%s\": {\n", key);
    for (int i = 0; i < count; i++) {
        if (i > 0) fputs(",\n", out);
        write_entry(out, &list[i]);
    }
    fputs("\n  }", out);
}

bool profile_set_write(FILE *out, const ProfileSet *set) {
    write_text(out, "{\n  ", "name", set->name);
    write_text(out, ",\n  ", "date", set->date);
    write_text(out, ",\n  ", "source", set->source);
    if (set->runs_file[0]) write_text(out, ",\n  ", "runs_file", set->runs_file);
    if (set->runs_sha256[0]) write_text(out, ",\n  ", "runs_sha256", set->runs_sha256);
    if (set->runs > 0) fprintf(out, ",\n  \"runs\": %" PRId64, set->runs);
    write_list(out, "profiles", set->profiles, set->profile_count);
    write_list(out, "stacks", set->stacks, set->stack_count);
    fputs("\n}\n", out);
    return fflush(out) == 0 && !ferror(out);
}
