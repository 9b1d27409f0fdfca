/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A machine in one word: a chip's name, so many of it, or a cloud's name of a slice. */
#include "mesh/chip_json.h"
#include "mesh/machine.h"
#include "search/cli/names.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static const char DIGITS[] = "0123456789";

/* "8xH200", "8*h200", "h100x64", "h100:8", "gpu:h100:8" (Slurm): the name and the number, from 1. */
static bool chips_of(const char *word, TypedMachine *out) {
    if (strncasecmp(word, "gpu:", 4) == 0) word += 4;
    size_t length = strlen(word), first = strspn(word, DIGITS), last = length;
    while (last > 0 && isdigit((unsigned char)word[last - 1])) last--;
    bool before = first > 0 && word[first] && strchr("xX*", word[first]),
         after = last > 1 && last < length && strchr("xX*:", word[last - 1]);
    if (!before && !after) return false;
    const char *number = before ? word : word + last, *name = before ? word + first + 1 : word;
    size_t digits = before ? first : length - last, letters = before ? length - first - 1 : last - 1;
    if (*number == '0' || digits > 9 || letters >= sizeof out->chip || !letters) return false;
    snprintf(out->chip, sizeof out->chip, "%.*s", (int)letters, name);
    snprintf(out->chips, sizeof out->chips, "%.*s", (int)digits, number);
    return true;
}

bool word_is_machine(const char *word, TypedMachine *out) {
    Arena arena = {0};
    Catalog catalog;
    Error unread = {0}; /* the command's to say */
    bool is = catalog_load(&arena, &catalog, &unread);
    *out = (TypedMachine){.chip = ""};
    if (is && catalog_find(&catalog, word) && strlen(word) < sizeof out->chip) {
        snprintf(out->chip, sizeof out->chip, "%s", word);
    } else if (is && strlen(word) < sizeof out->slice && machine_chip_of_slice(&catalog, word)) {
        snprintf(out->slice, sizeof out->slice, "%s", word);
    } else {
        /* "8xh10" is a machine of a chip that is not there; "rtx4090x" and "2x4" are none */
        int each;
        is = is && chips_of(word, out) && ((isdigit((unsigned char)*word) && isalpha((unsigned char)out->chip[0])) ||
                                           catalog_find(&catalog, out->chip));
        out->hosts = is && catalog_instance(&catalog, out->chip, &each);
    }
    arena_free(&arena);
    return is;
}
