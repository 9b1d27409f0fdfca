/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Words that nobody knows: all of a line in one error, each with what to type. */
#include "base/util.h"
#include "search/cli/commands.h"
#include "search/cli/replaced.h"
#include "search/cli/synonyms.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Whether a word is that option with a slip of letters, or its beginning, and not another word that looks like it. */
static bool is_slip(const char *word, const char *option) {
    int distance = name_distance(word, option);
    size_t length = strlen(word);
    if (distance == 0 || (length > 2 && strncasecmp(word, option, length) == 0)) return true;
    return length > 3 && (distance == 1 || (word[0] == option[0] && distance <= (length < 12 ? 2 : 3)));
}

static const char *nearest_own(const Command *command, const char *name) {
    const char *names[OPTIONS_MAX + 1];
    size_t count = 0;
    for (int i = 0; i < command->option_count; i++)
        if (command_has_option(command, i)) names[count++] = command->options[i].name;
    names[count++] = "help";
    return name_nearest(name, names, count);
}

/* Whether the meaning leads somewhere: to an option, or to a condition. */
static bool leads(const Meaning *meaning) {
    return meaning->own >= 0 || !word_among("pass switch note note= answer", meaning->what);
}

/* What another command calls it: "--prompt of `shardopt inference`"; NULL: none does. */
static const char *of_other(const Command *command, const char *name, Arena *arena) {
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        Meaning meaning;
        const Command *other = COMMANDS[i];
        Place place = {.command = other, .value = "1"};
        if (other == command || !word_among("inference plan sweep rl", other->name) ||
            !meaning_of(name, &place, &meaning) || meaning.any || !leads(&meaning))
            continue;
        const char *what = meaning.own >= 0       ? other->options[meaning.own].name
                           : *meaning.what == '-' ? meaning.what + 2
                                                  : NULL;
        if (what)
            return arena_format(arena, "it is --%.*s of `shardopt %s`", (int)strcspn(what, " "), what, other->name);
    }
    return NULL;
}

const char *unknown_answer(const Command *command, const char *word, Arena *arena) {
    char name[64], slip[160];
    const char *start = word + strspn(word, "-"), *said = NULL, *other;
    snprintf(name, sizeof name, "%.*s", (int)min_whole((int64_t)strcspn(start, "="), 63), start);
    Meaning meaning;
    Place place = {.command = command, .value = strchr(start, '=') ? strchr(start, '=') + 1 : "1"};
    if (meaning_of(name, &place, &meaning) && meaning.own < 0 && strcmp(meaning.what, "answer") == 0)
        said = meaning.said;
    const char *own = nearest_own(command, name), *near = NULL;
    if (said && !(own && name_distance(name, own) <= 1)) return said; /* a letter is amiss, it is no other word */
    if (own && is_slip(name, own)) return arena_format(arena, "did you mean --%s", own);
    if ((other = of_other(command, name, arena))) return other;
    if (meaning_of_slip(name, slip, sizeof slip)) {
        place.value = "1";
        if (meaning_of(slip, &place, &meaning) && leads(&meaning))
            return arena_format(arena, "did you mean --%s", slip);
        if ((other = of_other(command, slip, arena))) return other;
    }
    near = meaning_near(name, command);
    if (near) return arena_format(arena, *near == '-' ? "nearest: %s" : "nearest: --require %s", near);
    return arena_format(arena, "leave it out, or see shardopt %s --help", command->name);
}

int replaced_refuse(Replaced *out, const char *word, const char *answer) {
    Unknown *unknown = ARENA_NEW(out->arena, Unknown, 1);
    if (!unknown || !answer) return 0;
    *unknown = (Unknown){.word = word, .answer = answer};
    *out->last = unknown;
    out->last = &unknown->next;
    return out->any = true, 1;
}

int replaced_unknown(Replaced *out, const char *word) {
    const char *answer = unknown_answer(out->command, word, out->arena);
    answer = answer ? arena_format(out->arena, "is not an option; %s", answer) : NULL;
    char *name = arena_format(out->arena, "%.*s", (int)strcspn(word, "="), word);
    return name ? replaced_refuse(out, name, answer) : 0;
}

bool unknown_words(const Unknown *unknown, Error *error) {
    char text[sizeof error->text];
    size_t used = (size_t)snprintf(text, sizeof text, "%s", unknown->answer);
    for (const Unknown *at = unknown->next; at && used < sizeof text; at = at->next)
        used += (size_t)snprintf(text + used, sizeof text - used, "; %s: %s", at->word, at->answer);
    return error_set(error, ERROR_INPUT, unknown->word, "%s", text);
}

void unknown_print(const Unknown *unknown, FILE *err) {
    for (const char *before = "shardopt: "; unknown; unknown = unknown->next, before = "; ") {
        Error error = {0};
        error_set(&error, ERROR_INPUT, unknown->word, "%s", unknown->answer);
        fprintf(err, "%s%s: %s%s", before, error.where, error.text, unknown->next ? "" : "\n");
    }
}
