/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/measured/networks.h"

#include "base/file.h"
#include "base/number.h"
#include "base/util.h"
#include "cost/measured/tsv.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MAX = 1 << 20 };
static const double NODE_LOW = 50, NODE_HIGH = 1e5; /* Gb/s: a rate outside these is not a training cluster's */

/* ---- the file ---- */

static bool read_row(const char *path, const TsvReader *reader, bool heading, Network *out, Error *error) {
    const TsvCell *cells = reader->cells;
    char where[192];
    snprintf(where, sizeof where, "%.170s:%lld", path, (long long)cells[0].line);
    if (reader->count != 3 || !cells[0].text[0] || !cells[2].text[0] || (heading && strcmp(cells[0].text, "word") != 0))
        return error_set(error, ERROR_INPUT, where,
                         "give three columns, word, gigabits_per_node and source, under this heading");
    out->word = cells[0].text;
    return heading || number_real(cells[1].text, where, NODE_LOW, NODE_HIGH, &out->gigabits, error);
}

bool networks_read(const char *path, Arena *arena, Networks *out, Error *error) {
    char *text;
    size_t length, lines = 1;
    *out = (Networks){0};
    if (!file_read(path, FILE_MAX, arena, &text, &length, error)) return false;
    for (size_t i = 0; i < length; i++) lines += text[i] == '\n';
    TsvReader *reader = ARENA_NEW(arena, TsvReader, 1);
    out->networks = ARENA_NEW(arena, Network, lines);
    if (!reader || !out->networks) return error_memory(error);
    *reader = tsv_start(path, text, length);
    TsvResult result;
    for (bool heading = true; (result = tsv_next(reader, error)) == TSV_ROW; heading = false) {
        if (!read_row(path, reader, heading, &out->networks[out->count], error)) return false;
        out->count += !heading;
    }
    return result == TSV_END;
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

/* Whether the item around `at` is the network for storage and people, beside an InfiniBand for compute. */
static bool is_beside(const char *note, const char *at) {
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
        if (unit > 0 && !is_beside(note, at)) {
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
