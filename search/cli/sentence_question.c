/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Questions: words of a sentence as the words of a command. */
#include "base/util.h"
#include "search/cli/commands.h"
#include "search/cli/replaced.h"
#include "search/cli/synonyms.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* A question: one word of the shell's that holds several, one of the words with which they begin, or words without any
 * option, some of which say nothing by themselves. */
bool is_question(int argc, char **argv) {
    char first[16];
    bool options = false, filler = false, files = word_says("ask", "files", argv[1]);
    snprintf(first, sizeof first, "%.*s", (int)min_whole(15, (int64_t)strcspn(argv[1], " ")), argv[1]);
    bool is = word_says("ask", "begins", first) || strchr(argv[1], ' ');
    const WordRow *row = word_row("command", argv[1]);
    bool known = row != NULL;
    for (int i = 1; i < argc; i++) {
        options = options || argv[i][0] == '-' || strpbrk(argv[i], "=/");
        filler = filler || (i > 1 && replaced_is_filler(argv[i])) || word_says("ask", "begins", argv[i]);
    }
    known = known || command_is(argv[1]);
    if (row && strcmp(row->cell[2], "-") == 0) return false; /* what is not planned for */
    return is || (argc > 3 && !options && !files && (filler || !known));
}

/* What a question wants, by the words in it. */
enum { SERVES, TUNES, REINFORCES, TRAINS, CHEAPEST, MANY, GOAL, EXTREME, LENGTH, BATCH, MACHINES, ADAPTS, WANTS };
static const char *const WANTED[WANTS] = {"serves", "tunes",   "reinforces", "trains", "cheapest", "many",
                                          "goal",   "extreme", "length",     "batch",  "machines", "adapts"};

/* "tp=8", "pp=2" as one word, "tp8-pp2". */
static char *joined_degrees(Replaced *out, const char *first, const char *second) {
    char *all = arena_format(out->arena, "%s-%s", first, second), *to = all;
    for (const char *at = all; at && *at; at++)
        if (*at != '=') *to++ = *at;
    if (to) *to = '\0';
    return all;
}

/* "fsdp or tensor parallel": two ways to divide the work, as conditions, at the end of `words`. How many words they
 * are now. */
static int divide_words(Replaced *out, char **words, int count) {
    const WordRow *row[2] = {NULL, NULL};
    int at = count - 1;
    for (int side = 1; side >= 0 && at > 0; side--) {
        bool named = word_among("parallel parallelism", words[at]);
        at -= named && at > 1;
        for (int i = 0; i < WORD_ROW_COUNT; i++)
            if (strcmp(WORD_ROWS[i].cell[0], "division") == 0 && word_among(WORD_ROWS[i].cell[1], words[at]))
                row[side] = &WORD_ROWS[i];
        if (!row[side]) return count;
        at--;
        if (side == 1 && !(at > 1 && word_among("or vs versus", words[at--]))) return count;
    }
    if (!row[0] || row[0] == row[1]) return count;
    for (int side = 0; side < 2; side++)
        if (!(words[at + 1 + 2 * side] =
                  arena_format(out->arena, "%s%s", *row[side]->cell[2] == '-' ? "" : "--require=", row[side]->cell[2])))
            return -1;
    words[at + 2] = (char *)"vs";
    return at + 4;
}

/* The words without blanks and marks; "tp 8" is one. Returns how many; below 0: memory is out. */
static int split_words(Replaced *out, int argc, char **argv, char **words) {
    int count = 0;
    for (int i = 1; i < argc; i++) {
        char *text = arena_text(out->arena, argv[i]), *rest = NULL;
        for (char *word = text ? strtok_r(text, " ", &rest) : NULL; word; word = strtok_r(NULL, " ", &rest)) {
            for (size_t length = strlen(word); length > 1 && strchr("?!,;.:", word[length - 1]);) word[--length] = '\0';
            if (strcasecmp(word, "vs.") == 0 || strcasecmp(word, "versus") == 0) word = (char *)"vs";
            char *degree = count > 0 && isdigit((unsigned char)*word) && strlen(words[count - 1]) < 9
                               ? arena_format(out->arena, "%s%s", words[count - 1], word)
                               : NULL;
            bool joined = degree && replaced_degrees(out, degree);
            if (joined) word = degree, count--;
            if (count > 0 && replaced_degrees(out, words[count - 1]) && replaced_degrees(out, word)) /* "tp=8 pp=2" */
                word = joined_degrees(out, words[--count], word);
            if (!word) return -1;
            if (strspn(word, "-/&+,.") == strlen(word)) continue;
            if (count > 2 && word_among("second sec s", word) && strcasecmp(words[count - 1], "per") == 0 &&
                word_among("tokens token tok", words[count - 2])) /* "50 tokens per second" */
                words[count -= 2] = (char *)"tokens/s", word = words[count];
            if (count > 1 && word_among("or versus", words[count - 1]) && replaced_degrees(out, words[count - 2]) &&
                replaced_degrees(out, word))
                words[count - 1] = (char *)"vs";
            if (count > 1 && word_among("not of than", words[count - 1]) && replaced_degrees(out, word))
                words[count - 2] = (char *)"vs", count--; /* "tp8 and not tp4" */
            if (strcmp(word, "--serve") != 0) words[count++] = word;
            bool more = rest && strncasecmp(rest + strspn(rest, " "), "parallel", 8) == 0;
            if (count > 2 && !more && (count = divide_words(out, words - 1, count + 1) - 1) < 0) return -1;
        }
    }
    return count;
}

char **question_words(int *argc, char **argv, Arena *arena, char **command) {
    Replaced out = {.command = COMMANDS[0], .arena = arena};
    size_t room = 8;
    for (int i = 1; i < *argc; i++) room += strlen(argv[i]) / 2 + 1;
    char **words = ARENA_NEW(arena, char *, room), name[64];
    bool wants[WANTS] = {false};
    int chips = 0, of = -1; /* of what the most or the least is wanted */
    int count = words ? split_words(&out, *argc, argv, words + 1) + 1 : 0;
    if (count == 0) return NULL;
    for (int i = 1; i < count; i++) {
        const char *model = NULL;
        bool subject = false;
        int of_model = word_says("ask", "nothing", words[i]) ? 0 : replaced_model(&out, words + i, count - i, &model);
        for (int want = 0; want < WANTS; want++) {
            bool says = word_says("ask", WANTED[want], words[i] + (words[i][0] == '-' ? strspn(words[i], "-") : 0));
            if (want >= LENGTH && want <= MACHINES && says) subject = wants[EXTREME] && of < 0 && (of = want, true);
            wants[want] = wants[want] || says;
        }
        if (wants[EXTREME] && of < 0 && !subject && strcasecmp(words[i], "model") == 0) of = WANTS;
        if (of_model > 1 || (of_model == 1 && isalpha((unsigned char)*words[i]))) {
            i += of_model - 1;
            continue;
        }
        size_t digits = strspn(words[i], "0123456789.");
        bool large = digits > 0 && strchr("TBtb", words[i][digits]) && words[i][digits] && !words[i][digits + 1];
        wants[TRAINS] = wants[TRAINS] || (large && i + 1 < count && strncasecmp(words[i + 1], "token", 5) == 0);
        wants[GOAL] = wants[GOAL] || (words[i][0] == '$' && strpbrk(words[i], "kKmM")); /* "$2M" */
        wants[CHEAPEST] = wants[CHEAPEST] || strncmp(words[i], "--objective=cost", 16) == 0;
        int taken = replaced_chip_words(&out, words + i, count - i, name);
        chips += taken > 0, i += taken > 1 ? taken - 1 : 0;
    }
    bool first = command_is(words[1]) && !word_among("plan explain rl inference", words[1]);
    if (wants[MACHINES] && chips == 0 && word_among("suggest recommend which", words[1])) wants[CHEAPEST] = true;
    if (wants[REINFORCES] && !wants[SERVES]) wants[TUNES] = false;
    bool serves = wants[SERVES] && !wants[TRAINS] && !wants[TUNES] && !wants[REINFORCES];
    if (of < 0 && wants[EXTREME] && chips > 0) of = MACHINES; /* "minimum h100s" */
    bool longest = of == LENGTH;
    serves = serves || (longest && !wants[TRAINS] && !wants[TUNES]);
    bool batches = of == BATCH && !serves, many = wants[MANY] || of == MACHINES;
    bool sweeps = !wants[REINFORCES] && (wants[CHEAPEST] || many || longest || batches || chips > 1 || wants[GOAL]);
    words[0] = (char *)"--question";
    if (first)
        *command = words[1], memmove(words + 1, words + 2, (size_t)(--count - 1) * sizeof *words);
    else
        *command = wants[REINFORCES] ? "rl" : sweeps ? "sweep" : serves ? "inference" : "plan";
    if (sweeps && serves && !first) {
        memmove(words + 2, words + 1, (size_t)(count++ - 1) * sizeof *words);
        words[1] = (char *)"inference";
    }
    if (longest)
        words[count++] = serves ? "--prompt=4096,8192,16384,32768,65536,131072,262144,524288,1048576"
                                : "--seq=4096,8192,16384,32768,65536,131072,262144,524288,1048576";
    if (batches) words[count++] = "--batch=524288,1048576,2097152,4194304,8388608,16777216,33554432";
    if (wants[TUNES] && !wants[ADAPTS]) words[count++] = "--lora";
    words[count++] = arena_format(arena, "--question=%s%s%s", wants[CHEAPEST] ? "cheapest " : "", many ? "many " : "",
                                  wants[TUNES] ? "tunes " : "");
    *argc = count;
    return words;
}
