/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/cli/typed_words.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static const char DIGITS[] = "0123456789";

static bool is_count(const char *text, size_t length) {
    return length > 0 && length <= 9 && text[0] != '0' && strspn(text, DIGITS) >= length;
}

bool typed_chips(const char *word, char *name, char *count, size_t size) {
    if (strncasecmp(word, "gpu:", 4) == 0) word += 4;
    size_t length = strlen(word), first = strspn(word, DIGITS);
    bool before = first > 0 && (word[first] == 'x' || word[first] == 'X' || word[first] == '*');
    const char *last = word + length;
    while (last > word && isdigit((unsigned char)last[-1])) last--;
    bool after = last > word + 1 && strchr("xX*:", last[-1]) && isalpha((unsigned char)word[0]);
    if (length >= size || (!before && !after)) return false;
    const char *number = before ? word : last, *from = before ? word + first + 1 : word;
    size_t digits = before ? first : strlen(last), rest = before ? length - first - 1 : (size_t)(last - word) - 1;
    if (!is_count(number, digits) || rest == 0 || !isalpha((unsigned char)from[0])) return false;
    snprintf(name, size, "%.*s", (int)rest, from);
    snprintf(count, size, "%.*s", (int)digits, number);
    return true;
}

bool typed_slice(const char *word) {
    bool tpu = strncasecmp(word, "tpu", 3) == 0;
    const char *dash = strrchr(word, '-');
    if (!tpu && tolower((unsigned char)word[0]) != 'v') return false;
    return dash && !strchr(word, '=') && strcspn(word, DIGITS) < (size_t)(dash - word) &&
           is_count(dash + 1, strlen(dash + 1));
}
