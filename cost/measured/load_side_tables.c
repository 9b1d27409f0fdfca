/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/measured/side_tables.h"

#include "base/file.h"
#include "base/number.h"
#include "base/util.h"
#include "cost/measured/tsv.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILE_MAX = 1 << 20, CHIPS_MOST = 1 << 30 };
static const double NODE_LOW = 50, NODE_HIGH = 1e5; /* Gb/s: a rate outside these is not a training cluster's */

/* ---- the files ---- */

/* A row below the heading into an element of the list. `where`: file and line. */
typedef bool Take(const TsvCell *cells, const char *where, void *element, Error *error);

typedef struct {
    const char *file, *first; /* of the data folder; the heading of its first column */
    int columns;
    const char *wanted; /* what an error says */
    int needed[3];      /* columns that are not empty; -1 ends them */
    size_t size;        /* of an element */
    Take *take;
} Form;

static bool take_excluded(const TsvCell *cells, const char *where, void *element, Error *error) {
    ExcludedKind *out = element;
    *out = (ExcludedKind){cells[0].text, cells[1].text, cells[2].text, 0, cells[4].text};
    return !cells[3].text[0] || number_whole(cells[3].text, where, 1, CHIPS_MOST, &out->chips_over, error);
}

static bool take_flagged(const TsvCell *cells, const char *where, void *element, Error *error) {
    (void)where, (void)error;
    *(FlaggedRun *)element = (FlaggedRun){cells[0].text, cells[1].text};
    return true;
}

static bool take_network(const TsvCell *cells, const char *where, void *element, Error *error) {
    Network *out = element;
    out->word = cells[0].text;
    return number_real(cells[1].text, where, NODE_LOW, NODE_HIGH, &out->gigabits, error);
}

static const Form EXCLUDED = {"aside.tsv",
                              "family",
                              5,
                              "five columns, family, notes, confidence, chips_over and reason,",
                              {0, 4, -1},
                              sizeof(ExcludedKind),
                              take_excluded},
                  FLAGGED = {"flagged.tsv",      "id",        2, "two columns, id and reason,", {0, -1},
                             sizeof(FlaggedRun), take_flagged},
                  NETWORKS = {
                      "networks.tsv",  "word",      3, "three columns, word, gigabits_per_node and source,", {0, 2, -1},
                      sizeof(Network), take_network};

static bool is_row(const Form *form, const TsvReader *reader, bool heading) {
    if (reader->count != form->columns || (heading && strcmp(reader->cells[0].text, form->first) != 0)) return false;
    for (int i = 0; form->needed[i] >= 0; i++)
        if (!reader->cells[form->needed[i]].text[0]) return false;
    return true;
}

/* Its path in the data folder; NULL where there is none, or (with an error) where memory is out. */
static const char *path_of(const Form *form, Arena *arena, Error *error) {
    Error missing = {0};
    const char *folder = file_data_folder("cost/measured/data", arena, &missing);
    const char *path = folder ? arena_format(arena, "%s/%s", folder, form->file) : NULL;
    if (folder ? !path : missing.kind == ERROR_MEMORY) error_memory(error);
    return path && access(path, F_OK) == 0 ? path : NULL;
}

static bool read_list(const Form *form, const char *path, Arena *arena, void **list, int64_t *count, Error *error) {
    char *text, where[192];
    size_t length, lines = 1;
    if (!path && !(path = path_of(form, arena, error))) return error->kind == ERROR_NONE;
    if (!file_read(path, FILE_MAX, arena, &text, &length, error)) return false;
    for (size_t i = 0; i < length; i++) lines += text[i] == '\n';
    TsvReader *reader = ARENA_NEW(arena, TsvReader, 1);
    char *elements = arena_alloc(arena, lines, form->size);
    if (!reader || !elements) return error_memory(error);
    *list = elements;
    *reader = tsv_start(path, text, length);
    TsvResult result;
    for (bool heading = true; (result = tsv_next(reader, error)) == TSV_ROW; heading = false) {
        snprintf(where, sizeof where, "%.170s:%lld", path, (long long)reader->cells[0].line);
        if (!is_row(form, reader, heading))
            return error_set(error, ERROR_INPUT, where, "give %s under this heading", form->wanted);
        if (!heading && !form->take(reader->cells, where, elements + form->size * (size_t)(*count)++, error))
            return false;
    }
    return result == TSV_END;
}

bool excluded_read(const char *path, Arena *arena, ExcludedKinds *out, Error *error) {
    *out = (ExcludedKinds){0};
    return read_list(&EXCLUDED, path, arena, (void **)&out->kinds, &out->count, error);
}

bool flagged_read(const char *path, Arena *arena, FlaggedRuns *out, Error *error) {
    *out = (FlaggedRuns){0};
    bool ok = read_list(&FLAGGED, path, arena, (void **)&out->runs, &out->count, error);
    if (ok && out->count > 0) qsort(out->runs, (size_t)out->count, sizeof *out->runs, order_text);
    return ok;
}

bool networks_read(const char *path, Arena *arena, Networks *out, Error *error) {
    *out = (Networks){0};
    return read_list(&NETWORKS, path, arena, (void **)&out->networks, &out->count, error);
}

const char *excluded_reason(const ExcludedKinds *kinds, const Run *run) {
    for (int64_t i = 0; i < kinds->count; i++) {
        const ExcludedKind *kind = &kinds->kinds[i];
        if (strcmp(kind->family, run->family) == 0 && (!kind->notes[0] || text_has(run->notes, kind->notes)) &&
            (!kind->confidence[0] || strcmp(kind->confidence, run->confidence) == 0) && run->chips > kind->chips_over)
            return kind->reason;
    }
    return NULL;
}

const FlaggedRun *flagged_find(const FlaggedRuns *flagged, const char *id) {
    const FlaggedRun wanted = {id, NULL};
    if (flagged->count == 0) return NULL;
    return bsearch(&wanted, flagged->runs, (size_t)flagged->count, sizeof wanted, order_text);
}

/* ---- the note ---- */

static const char *skip_blanks(const char *at) {
    while (*at == ' ') at++;
    return at;
}

/* Gb/s of a unit, and where it ends; 0 means that it is not a rate. */
static double unit_gigabits(const char *at, const char **end) {
    static const struct {
        const char *unit;
        double gigabits;
    } UNITS[] = {{"Gb/s", 1}, {"Gb/S", 1}, {"Gbps", 1}, {"Gbit/s", 1}, {"Tb/s", 1000}, {"Tbps", 1000}};
    for (size_t i = 0; i < COUNT_OF(UNITS); i++)
        if (strncmp(at, UNITS[i].unit, strlen(UNITS[i].unit)) == 0) {
            *end = at + strlen(UNITS[i].unit);
            return UNITS[i].gigabits;
        }
    return 0;
}

/* "8x ConnectX-7 IB NDR 400Gb/s": the number before the first rate of this item; NULL means that it has none. */
static const char *number_of_item(const char *at) {
    const char *rate = strstr(at, "Gb/s"), *stop = strpbrk(at, ",;+");
    if (!rate || (stop && stop < rate)) return NULL;
    while (rate > at && (isdigit((unsigned char)rate[-1]) || rate[-1] == ' ')) rate--;
    return rate;
}

/* Whether the item around `at` is the network for storage and people, where InfiniBand is for compute. */
static bool is_secondary(const char *note, const char *at) {
    const char *start = at;
    while (start > note && !strchr(",;+", start[-1])) start--;
    const char *ethernet = strstr(start, "Ethernet");
    return ethernet && ethernet < start + strcspn(start, ",;+") && text_has(note, "InfiniBand");
}

/* Whether a rate belongs to one chip or NIC: "400 Gb/s RoCE per GPU". */
static bool is_of_chip(const char *behind) {
    static const char *const WORDS[] = {"per GPU", "per chip", "per NIC", "per accelerator", "/GPU"};
    size_t item = strcspn(behind, ",;+");
    for (size_t i = 0; i < COUNT_OF(WORDS); i++) {
        const char *at = strstr(behind, WORDS[i]);
        if (at && at < behind + item) return true;
    }
    return false;
}

/* The highest rate of a node in the note. */
static double number_gigabits(const char *note, double chips) {
    const char *compute = strstr(note, "Compute:"), *behind;
    double most = 0;
    for (const char *at = compute ? compute : note; *at; at++) {
        if (!isdigit((unsigned char)*at) || (at > note && (isalnum((unsigned char)at[-1]) || at[-1] == '.'))) continue;
        char *end;
        double value = strtod(at, &end), count = 1;
        const char *of_item = end[0] == 'x' && end[1] == ' ' ? number_of_item(end) : NULL;
        if (end[0] == 'x' && isdigit((unsigned char)end[1])) of_item = end + 1;
        if (of_item) {
            count = value;
            value = strtod(of_item, &end);
        }
        double unit = unit_gigabits(skip_blanks(end), &behind);
        if (unit > 0 && !is_secondary(note, at)) {
            if (count == 1 && is_of_chip(behind)) count = chips;
            if (count <= 64 && count * value * unit > most) most = count * value * unit;
        }
        at = end > at ? end - 1 : at;
    }
    return most;
}

double network_gigabits(const Networks *networks, const char *note, double chips) {
    /* other figures in Gb/s are of storage, or of links inside a node */
    static const char *const OF_NETWORK[] = {"per node", "per GPU", "ConnectX", "EFA", "RoCE", "InfiniBand"};
    bool network = false;
    for (int i = 0; i < networks->count; i++)
        if (text_has(note, networks->networks[i].word)) return networks->networks[i].gigabits;
    for (size_t i = 0; i < COUNT_OF(OF_NETWORK); i++) network = network || text_has(note, OF_NETWORK[i]);
    if (!network || (strstr(note, "Storage") && !strstr(note, "Compute:"))) return 0;
    double gigabits = number_gigabits(note, chips);
    return gigabits >= NODE_LOW && gigabits <= NODE_HIGH ? gigabits : 0;
}
