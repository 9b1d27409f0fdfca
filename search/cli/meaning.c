/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/cli/meaning.h"

#include "base/util.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { PARTS_MAX = 12, PART_SIZE = 24, CALLS_MAX = 4 };

/* The parts of a name, and what rows call each besides. */
typedef struct {
    char text[PARTS_MAX][PART_SIZE];
    const char *calls[PARTS_MAX][CALLS_MAX];
    int count;
} Parts;

static bool is_kind(const WordRow *row, const char *kind) { return strcmp(row->cell[0], kind) == 0; }

/* Whether it is the pattern: itself, or what begins so where it ends with a star. */
static bool matches(const char *pattern, size_t length, const char *word) {
    bool star = length > 0 && pattern[length - 1] == '*';
    return strncasecmp(pattern, word, length - star) == 0 && (star || word[length] == '\0');
}

bool word_like(const char *patterns, const char *word) {
    for (const char *at = patterns; *at; at += strspn(at, " ")) {
        size_t length = strcspn(at, " ");
        if (matches(at, length, word)) return true;
        at += length;
    }
    return false;
}

const WordRow *word_row(const char *kind, const char *word) {
    for (int i = 0; i < WORD_ROW_COUNT; i++)
        if (is_kind(&WORD_ROWS[i], kind) && matches(WORD_ROWS[i].cell[1], strlen(WORD_ROWS[i].cell[1]), word))
            return &WORD_ROWS[i];
    return NULL;
}

bool word_says(const char *kind, const char *of, const char *word) {
    const WordRow *row = word_row(kind, of);
    return row && word_among(row->cell[2], word);
}

const char *word_value(const char *option, const char *value, const char *values) {
    for (int i = 0; i < WORD_ROW_COUNT; i++) {
        const char *const *cell = WORD_ROWS[i].cell;
        if (is_kind(&WORD_ROWS[i], "value") && strcmp(cell[1], option) == 0 &&
            matches(cell[2], strlen(cell[2]), value) && (!values || *values == '@' || word_among(values, cell[3])))
            return cell[3];
    }
    return NULL;
}

bool word_among(const char *words, const char *word) {
    for (const char *at = words; *at; at += strspn(at, " ")) {
        size_t length = strcspn(at, " ");
        if (strlen(word) == length && strncasecmp(at, word, length) == 0) return true;
        at += length;
    }
    return false;
}

int command_option(const Command *command, const char *name, size_t length) {
    for (int i = 0; i < command->option_count; i++)
        if (command_has_option(command, i) && strlen(command->options[i].name) == length &&
            strncmp(command->options[i].name, name, length) == 0)
            return i;
    return -1;
}

static bool has_option(const Command *command, const char *name) {
    return command_option(command, name, strlen(name)) >= 0;
}

const char *command_kind(const Command *command) {
    return has_option(command, "lag")        ? "rl"
           : has_option(command, "kv-dtype") ? "serving"
           : has_option(command, "remat")    ? "training"
                                             : "";
}

/* ---- parts ---- */

/* Whether a part is called so, in the plural too. */
static bool is_called(const char *part, const char *name, size_t length) {
    if (length == 1) return part[0] == name[0] && !part[1]; /* -n and -N are not one */
    if (strncasecmp(part, name, length) != 0) return false;
    return part[length] == '\0' || (length > 1 && tolower((unsigned char)part[length]) == 's' && !part[length + 1]);
}

static bool is_called_any(const char *part, const char *names) {
    for (const char *at = names; *at; at += strspn(at, " |[]!")) {
        size_t length = strcspn(at, " |[]!");
        if (length > 0 && is_called(part, at, length)) return true;
        at += length;
    }
    return false;
}

/* Whether the part of this number is what a row calls so, under any of its names. */
static bool is_part(const Parts *parts, int part, const char *name, size_t length) {
    if (is_called(parts->text[part], name, length)) return true;
    for (int i = 0; i < CALLS_MAX && parts->calls[part][i]; i++)
        if (strncmp(parts->calls[part][i], name, length) == 0 && !parts->calls[part][i][length]) return true;
    return false;
}

static int by_text(const void *a, const void *b) { return strcmp(a, *(const char *const *)b); }

/* Whether any row has this part, in the plural too. */
static bool is_known(const char *part) {
    char small[PART_SIZE];
    size_t length = 0;
    for (; part[length] && length + 1 < sizeof small; length++)
        small[length] = (char)tolower((unsigned char)part[length]);
    small[length] = '\0';
    for (int cut = 0; cut < 2; cut++) {
        if (bsearch(small, WORD_PARTS, (size_t)WORD_PART_COUNT, sizeof *WORD_PARTS, by_text)) return true;
        if (length < 3 || small[length - 1] != 's') return false;
        small[length - 1] = '\0';
    }
    return false;
}

static void add_part(Parts *parts, const char *text, size_t length) {
    if (parts->count < PARTS_MAX) snprintf(parts->text[parts->count++], PART_SIZE, "%.*s", (int)length, text);
}

/* What rows call the parts: the rows of their kind stand first. */
static void name_parts(Parts *parts) {
    for (int i = 0; i < parts->count; i++)
        for (int row = 0, calls = 0; is_kind(&WORD_ROWS[row], "part") && calls < CALLS_MAX; row++)
            if (is_called_any(parts->text[i], WORD_ROWS[row].cell[2]))
                parts->calls[i][calls++] = WORD_ROWS[row].cell[1];
}

/* Adds a part, or the known ones that it is made of ("numgpus"): the first is as long as it may be. */
static void add_known(Parts *parts, const char *text, size_t length) {
    char piece[PART_SIZE];
    snprintf(piece, sizeof piece, "%.*s", (int)length, text);
    for (size_t first = is_known(piece) || length >= PART_SIZE ? 0 : length - 1; first > 0 && length > 3; first--) {
        if ((first == 1 && tolower((unsigned char)*text) != 'n') || length - first < 2) continue;
        snprintf(piece, sizeof piece, "%.*s", (int)first, text);
        if (!is_known(piece)) continue;
        snprintf(piece, sizeof piece, "%.*s", (int)(length - first), text + first);
        Parts rest;
        rest.count = 0;
        if (!is_known(piece) && length - first > 4) add_known(&rest, text + first, length - first);
        if (!is_known(piece) && rest.count < 2) continue;
        char small = (char)tolower((unsigned char)*text); /* NGPU */
        add_part(parts, first == 1 ? &small : text, first);
        if (rest.count == 0) add_part(parts, piece, length - first);
        for (int i = 0; i < rest.count; i++) add_part(parts, rest.text[i], strlen(rest.text[i]));
        return;
    }
    add_part(parts, text, length);
}

/* Parts stand between - _ . and where a capital follows a small letter. */
static Parts parts_of(const char *name) {
    Parts parts = {.count = 0};
    for (const char *at = name; *at && *at != '=';) {
        size_t length = strcspn(at, "-_.=/:");
        for (size_t i = 1; i < length; i++)
            if (islower((unsigned char)at[i - 1]) && isupper((unsigned char)at[i])) length = i;
        if (length > 0) add_known(&parts, at, length);
        at += length + (at[length] != '\0' && strchr("-_./:", at[length]) != NULL);
    }
    name_parts(&parts);
    return parts;
}

/* ---- rows ---- */

/* Takes one part for alternatives "a|b" which end at a blank; below 0: there is none. */
static int part_among(const Parts *parts, unsigned taken, const char *names) {
    for (int i = 0; i < parts->count; i++)
        for (const char *at = names; !(taken & 1u << i); at++) {
            size_t length = strcspn(at, " |]");
            if (is_part(parts, i, at, length)) return i;
            at += length;
            if (*at != '|') break;
        }
    return -1;
}

/* How many parts a row requires that the name has; below 0: it is not the row's. `near`: it may have any others. */
static int row_parts(const char *row, const Parts *parts, bool near, bool *any) {
    unsigned taken = 0, all = (1u << parts->count) - 1;
    int required = 0;
    const char *at = row + (*row == '!'), *optional = strchr(row, '[');
    for (; *at && *at != '['; at += strspn(at, " "), required++) {
        int found = part_among(parts, taken, at);
        if (found < 0) return -1;
        taken |= 1u << found;
        at += strcspn(at, " [");
    }
    *any = optional && optional[1] == '*';
    if (*any || near) return required;
    for (at = row + (*row == '!'); *at; at += strspn(at, " []")) { /* what it requires may stand twice */
        for (int found; (found = part_among(parts, taken, at)) >= 0;) taken |= 1u << found;
        at += strcspn(at, " []");
    }
    return taken == all ? required : -1;
}

/* "1024", "4M", "1,2", "2x8": nothing but a count. */
static bool is_number(const char *value) {
    size_t digits = value[0] == '-' ? 1 : 0;
    const char *dot = strchr(value, '.');
    if (!isdigit((unsigned char)value[digits]) || (dot && strchr(dot + 1, '.'))) return false; /* "0.0.0.0" */
    digits += strspn(value + digits, "0123456789.,x");
    size_t unit = strspn(value + digits, "kKMGTBi%");
    return unit <= 2 && (value[digits + unit] == '\0' || value[digits + unit] == '-');
}

/* Whether a value is a word's: the option has one, and the next word is no option. */
static bool is_value(const char *value) { return value && (value[0] != '-' || isdigit((unsigned char)value[1])); }

static bool is_times(const char *value) {
    size_t digits = strspn(value, "0123456789.");
    return digits > 0 && strcasecmp(value + digits, "x") == 0;
}

/* Whether one of the words of `where` holds. */
static bool holds(const char *where, size_t length, const Place *place) {
    const char *value = is_value(place->value) ? place->value : NULL, *kind = command_kind(place->command);
    bool number = value && is_number(value) && !place->is_chip;
    char word[16];
    if (*where == '=') {
        for (const char *at = where + 1; value && at < where + length; at++) {
            size_t one = strcspn(at, "|");
            if (at + one > where + length) one = (size_t)(where + length - at);
            if (matches(at, one, value)) return true;
            at += one;
        }
        return false;
    }
    snprintf(word, sizeof word, "%.*s", (int)length, where);
    return strcmp(word, "number") == 0   ? number
           : strcmp(word, "word") == 0   ? value && !number
           : strcmp(word, "bare") == 0   ? !number
           : strcmp(word, "times") == 0  ? value && is_times(value)
           : strcmp(word, "tuned") == 0  ? place->tuned && strcmp(kind, "training") == 0
           : strcmp(word, "valued") == 0 ? true
                                         : strcmp(word, kind) == 0;
}

/* Whether the command can take what the row says, here. */
static bool may_stand(const WordRow *row, const Place *place, bool whatever) {
    const char *what = row->cell[2], *where = row->cell[3] ? row->cell[3] : "";
    bool option = strncmp(what, "--", 2) == 0, word = isalpha((unsigned char)*what) && !strpbrk(what, "<>=");
    bool leaves = word && word_among("pass switch note note= answer", what);
    const char *needs = option ? what + 2 : leaves || strcmp(what, "note=") == 0 || *what == '@' ? "model" : "require";
    if (command_option(place->command, needs, strcspn(needs, " ")) < 0) return false;
    for (const char *at = where; *at && !whatever; at += strspn(at, " ")) {
        size_t length = strcspn(at, " ");
        if (!holds(at, length, place)) return false;
        at += length;
    }
    return true;
}

static int words_in(const char *text) {
    int count = 0;
    for (const char *at = text ? text : ""; *at; at += strspn(at, " "), count++) at += strcspn(at, " ");
    return count;
}

/* The best row: `any`, one that takes other parts too; `first`, one that is read before. */
static bool best_row(const Parts *parts, const Place *place, bool any, bool first, Meaning *out) {
    int most = 0;
    for (int i = 0; i < WORD_ROW_COUNT; i++) {
        const WordRow *row = &WORD_ROWS[i];
        bool takes_any = false;
        if (!is_kind(row, "name") || (*row->cell[1] == '!') != first) continue;
        int required = row_parts(row->cell[1], parts, false, &takes_any);
        int rank = 8 * required + (takes_any ? 0 : words_in(row->cell[3])); /* of two the one that is of fewer places */
        if (required <= 0 || rank <= most || (takes_any != any && !first) || !may_stand(row, place, false)) continue;
        most = rank;
        *out = (Meaning){.what = row->cell[2],
                         .where = row->cell[3] ? row->cell[3] : "",
                         .said = row->cell[4] && row->cell[4][0] ? row->cell[4] : NULL,
                         .own = -1,
                         .any = takes_any};
    }
    return most > 0;
}

int meaning_own(const Command *command, const char *name) {
    char plain[64];
    size_t length = strcspn(name, "=");
    if (length >= sizeof plain) return -1;
    for (size_t i = 0; i <= length; i++) plain[i] = name[i] == '_' ? '-' : name[i];
    plain[length] = '\0';
    return command_option(command, plain, length);
}

/* A name without what its program begins names with. */
static const char *without_prefix(const char *name) {
    for (int i = 0; i < WORD_ROW_COUNT; i++) {
        const char *prefix = WORD_ROWS[i].cell[1];
        if (is_kind(&WORD_ROWS[i], "prefix") && strncmp(name, prefix, strlen(prefix)) == 0)
            return name + strlen(prefix);
    }
    return name;
}

bool meaning_of(const char *name, const Place *place, Meaning *out) {
    name = without_prefix(name);
    *out = (Meaning){.what = "", .where = "", .own = meaning_own(place->command, name)};
    if (out->own >= 0) return true;
    Parts whole = parts_of(name);
    if (whole.count == 0 || strcspn(name, "=") > 160) return false;
    if (best_row(&whole, place, false, true, out)) return true;
    for (const char *at = name; at; at = memchr(at, '.', strcspn(at, "="))) {
        at += *at == '.';
        Parts parts = parts_of(at);
        out->own = meaning_own(place->command, at); /* "multi_turn.format" is not how an answer is written */
        if (out->own >= 0 && place->command->options[out->own].is_input) return true;
        if (parts.count > 0 && best_row(&parts, place, false, false, out)) return true;
    }
    out->own = -1;
    if (!best_row(&whole, place, true, false, out)) return false;
    /* Nothing is left out for the sake of one part, "no-such-option": the others have to be known too. */
    bool known = true;
    for (int i = 0; i < whole.count; i++) known = known && is_known(whole.text[i]);
    return known || !word_among("pass switch note note=", out->what);
}

const char *meaning_kind(const char *name) {
    Parts parts = parts_of(name);
    bool any;
    for (int i = 0; i < WORD_ROW_COUNT; i++)
        if (is_kind(&WORD_ROWS[i], "of") && row_parts(WORD_ROWS[i].cell[1], &parts, true, &any) > 0)
            return WORD_ROWS[i].cell[2];
    return NULL;
}

bool meaning_is(const Meaning *meaning, const char *what) {
    size_t length = strlen(what);
    return strncmp(meaning->what, what, length) == 0 && (meaning->what[length] == '\0' || meaning->what[length] == ' ');
}

const char *meaning_near(const char *name, const Command *command) {
    Parts parts = parts_of(name);
    const char *near = NULL;
    bool any;
    int most = 1; /* one part is too little */
    for (int i = 0; i < WORD_ROW_COUNT; i++) {
        const WordRow *row = &WORD_ROWS[i];
        bool takes = is_kind(row, "name") && !islower((unsigned char)row->cell[2][0]) && row->cell[2][0] != '@';
        int required = takes ? row_parts(row->cell[1], &parts, true, &any) : -1;
        if (required > most && may_stand(row, &(Place){.command = command}, true)) most = required, near = row->cell[2];
    }
    return near;
}

bool meaning_of_slip(const char *name, char *out, size_t size) {
    Parts parts = parts_of(name);
    size_t used = 0;
    bool slip = false;
    out[0] = '\0';
    for (int i = 0; i < parts.count && used < size; i++) {
        const char *part = parts.text[i];
        int least = strlen(part) > 5 ? 3 : strlen(part) > 3 ? 2 : 0;
        char best[PART_SIZE];
        snprintf(best, sizeof best, "%s", part);
        for (int k = 0; k < WORD_PART_COUNT && least > 0 && !is_known(part); k++) {
            const char *known = WORD_PARTS[k];
            int distance = strlen(known) > 3 && known[0] == part[0] ? name_distance(part, known) : least;
            if (distance < least) least = distance, slip = true, snprintf(best, sizeof best, "%s", known);
        }
        used += (size_t)snprintf(out + used, size - used, "%s%s", used ? "-" : "", best);
    }
    return slip && used < size;
}
