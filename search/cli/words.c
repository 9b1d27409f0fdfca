/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The one door: each word of a line is an option of the command, a name of names.tsv, a model or a machine, or an
 * error. */
#include "base/file.h"
#include "base/util.h"
#include "search/cli/commands.h"
#include "search/cli/names.h"
#include "search/options/options.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* The words as they become, and what becomes one option in the end: conditions of plans, and of RL's engines. */
typedef struct {
    const Command *command;
    const char *kind;
    Arena *arena;
    char **words;
    int count;
    const char *conditions, *engines, *required, *model, *machine, *left;
    bool ignores, pairs, degrees, hosts, lora; /* hosts, lora: the line has their number, and --lora */
    Error *error;
} Door;

/* An option as it is typed: `name` of `length` letters; its value, which may be the next word (`follows`), or NULL. */
typedef struct {
    const char *word, *name, *value;
    size_t length;
    bool follows;
} Typed;

static bool has_text(const Door *door, const void *text) { return text || error_memory(door->error); }

static bool keep(Door *door, const char *word) {
    door->words[door->count++] = (char *)word;
    return has_text(door, word);
}

static bool put(Door *door, const char *option, const char *value) {
    return keep(door, arena_format(door->arena, "--%s=%s", option, value));
}

static bool has(const Door *door, const char *option) {
    return command_option(door->command, option, strlen(option)) >= 0;
}

/* True if the word is a value, no option: "-4" and "-" are values, which their readers judge. */
static bool is_value(const char *word) {
    return word && (word[0] != '-' || !word[1] || isdigit((unsigned char)word[1]));
}
static bool is_one_of(const char *words, const Typed *typed) {
    return typed->value && word_among(words, typed->value, strlen(typed->value));
}
static bool is_off(const Typed *typed) { return is_one_of("false False FALSE no off 0", typed); }
static bool is_switch(const Typed *typed) { return is_off(typed) || is_one_of("true True TRUE yes on 1", typed); }

/* ---- values ---- */

/* A value in our words: of a list each item that is none of the option's own values and has a synonym. */
static const char *value_in_words(const Door *door, const CommandOption *option, const char *value) {
    const char *all = "";
    for (const char *at = value; all; at++) {
        size_t length = strcspn(at, ",");
        const char *meant = at, *own = option->values ? option->values : "";
        bool valid = word_among(own, at, length);
        if (!valid) meant = value_meant(option->name, at, length);
        for (; valid && *own; own += strspn(own, " ")) { /* "BF16" */
            size_t letters = strcspn(own, " ");
            if (letters == length && strncasecmp(own, at, length) == 0) meant = own;
            own += letters;
        }
        all =
            arena_format(door->arena, "%s%s%.*s", all, at == value ? "" : ",",
                         (int)(meant == at || (valid && meant) || !meant ? length : strlen(meant)), meant ? meant : at);
        at += length;
        if (!*at) return all;
    }
    return all;
}

/* Adds to conditions; of a sweep a list of values, "1,2", stands in each of their alternatives. */
static bool add_condition(Door *door, const char **all, const char *role, const char *op, const char *values) {
    const char *before = *all ? *all : "", *sum = NULL;
    bool lists = (door->command->use & USE_SWEEP) != 0;
    do {
        size_t old = strcspn(before, ";");
        for (const char *at = values; at; at = lists && strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
            sum = arena_format(door->arena, "%s%s%.*s%s%s%s%.*s", sum ? sum : "", sum ? ";" : "", (int)old, before,
                               old ? " " : "", role, op, (int)(lists ? strcspn(at, ",") : strlen(at)), at);
            if (!has_text(door, sum)) return false;
        }
        before += old;
    } while (*before++);
    *all = sum;
    return true;
}

/* "h100:8" is eight in all, and with nodes eight on each, as SkyPilot and Slurm have it. */
static bool put_machine(Door *door, const char *where, const TypedMachine *machine) {
    if (door->machine)
        return error_set(door->error, ERROR_INPUT, where, "is a second machine, next to %.60s; give one",
                         door->machine);
    door->machine = where;
    if (door->hosts && machine->chips[0] && strchr(where, ':')) { /* Slurm's and SkyPilot's: so many of each host */
        const char *each = arena_format(door->arena, "%s:%s", machine->chip, machine->chips);
        return has_text(door, each) && put(door, "chip", each);
    }
    return (!machine->chip[0] || put(door, "chip", machine->chip)) &&
           (!machine->chips[0] || put(door, machine->hosts ? "nodes" : "chips", machine->chips)) &&
           (!machine->slice[0] || put(door, "slice", machine->slice));
}

/* "TP8-PP2" and "tp=8,pp=2" with blanks, as plans are read. NULL: memory is out. */
static const char *spaced(const Door *door, const char *plan) {
    char *text = arena_text(door->arena, plan);
    for (char *at = text; at && *at; at++)
        if ((*at == '-' || *at == ',') && at > text && isdigit((unsigned char)at[-1]) && isalpha((unsigned char)at[1]))
            *at = ' ';
    return text;
}

static bool put_value(Door *door, const CommandOption *option, const char *value) {
    TypedMachine machine;
    const char *name = option->name;
    bool is_machine = strcmp(name, "chip") == 0 || strcmp(name, "chips") == 0;
    if (strcmp(name, "require") == 0) {
        if (door->required) return error_set(door->error, ERROR_INPUT, "--require", "is given twice; give it once");
        door->required = value;
        return has_text(door, door->conditions = door->conditions
                                                     ? arena_format(door->arena, "%s %s", value, door->conditions)
                                                     : value);
    }
    if (strcmp(name, "rollout") == 0 && strcmp(door->kind, "rl") == 0)
        return has_text(door, door->engines =
                                  door->engines ? arena_format(door->arena, "%s %s", door->engines, value) : value);
    if (is_machine && !strchr(value, ',') && value[strspn(value, "0123456789")] && word_is_machine(value, &machine) &&
        (machine.chips[0] || machine.slice[0]))
        return put_machine(door, value, &machine);
    if (strcmp(name, "plan") == 0 || strcmp(name, "train-plan") == 0) value = spaced(door, value);
    if (!has_text(door, value)) return false;
    value = option->takes ? value_in_words(door, option, value) : value;
    if (strcmp(name, "model") == 0) door->model = value;
    return has_text(door, value) && put(door, name, value);
}

/* ---- options ---- */

/* An option of the command's own. *used: the next word is its value. */
static bool read_own(Door *door, const CommandOption *option, const Typed *typed, bool *used) {
    bool inside = typed->value && !typed->follows;
    *used = typed->follows && (option->takes || is_switch(typed));
    if (!option->takes) {
        if (inside && !is_switch(typed))
            return error_set(door->error, ERROR_INPUT, typed->word, "takes true or false, or no value");
        return is_off(typed) || keep(door, arena_format(door->arena, "--%s", option->name));
    }
    if (typed->value) return put_value(door, option, typed->value);
    if (strcmp(option->name, "lora") == 0 || strcmp(option->name, "qlora") == 0) /* the rank may be --lora's */
        return put(door, option->name, option->name[0] == 'q' && door->lora ? "nf4" : "16");
    return error_set(door->error, ERROR_INPUT, typed->word, "needs a value: write --%s %s", option->name,
                     option->takes);
}

/* A switch: "--precision fp8|--precision bf16", "pipeline=1"; the part behind the bar is what false means. */
static bool read_switch(Door *door, const NameRow *row, const Typed *typed, bool *used) {
    const char *meaning = row->meaning, *other = strchr(meaning, '|');
    *used = typed->follows && is_switch(typed);
    if (typed->value && !typed->follows && !is_switch(typed))
        return error_set(door->error, ERROR_INPUT, typed->word, "takes true or false; it is %.*s here",
                         (int)strcspn(meaning, "|"), meaning);
    if (typed->follows && text_ends_in(typed->value, ".json"))
        return error_set(door->error, ERROR_INPUT, typed->word,
                         "%.80s is a launcher's file; it is priced by: shardopt explain --from-config %.80s",
                         typed->value, typed->value);
    if (is_off(typed) && !other)
        return error_set(door->error, ERROR_INPUT, typed->word, "false does not say what else; it stands for %s%s",
                         meaning, meaning[0] == '-' ? ", which takes other values" : "; leave it out");
    const char *one = is_off(typed) ? other + 1 : meaning;
    const char *text = arena_format(door->arena, "%.*s", (int)strcspn(one, "|"), one),
               *space = text ? strchr(text, ' ') : NULL;
    if (!has_text(door, text)) return false;
    if (text[0] != '-') return add_condition(door, &door->conditions, text, "", "");
    int number = command_option(door->command, text + 2, (size_t)(space - text) - 2);
    return number < 0 ? option_unknown(door->command, typed->word, door->error)
                      : put_value(door, &door->command->options[number], space + 1);
}

/* An option on which no answer depends, or which is near nothing that is known: left out where the line says so. */
static bool leave(Door *door, const NameRow *row, const Typed *typed, bool *used) {
    *used = typed->follows;
    if (row->note && is_off(typed) && strncmp(row->note, "it is on", 8) == 0)
        return error_set(door->error, ERROR_INPUT, typed->word,
                         "is on where it saves memory; a plan without has no price");
    if (!door->ignores)
        return error_set(door->error, ERROR_INPUT, typed->word, "%s",
                         row->note ? row->note : "no plan depends on it; --ignore-unknown leaves it out");
    return has_text(door, door->left = arena_format(door->arena, "%s%s%s", door->left ? door->left : "",
                                                    door->left ? ", " : "", typed->word));
}

/* A name of other programs that takes a value. */
static bool read_valued(Door *door, const NameRow *row, const Typed *typed) {
    const char *meaning = row->meaning, *value = typed->value, *place = strstr(meaning, "{}");
    if (!value) return error_set(door->error, ERROR_INPUT, typed->word, "needs a value: write %s VALUE", typed->word);
    if (door->pairs && strpbrk(value, "0123456789") && value[strspn(value, "0123456789")] == '\0' &&
        strlen(value) < 9 && (strcmp(meaning, "microbatch_sequences") == 0 || strcmp(meaning, "--sequences") == 0)) {
        long pairs = 0; /* other programs count pairs, of two sequences each */
        sscanf(value, "%ld", &pairs);
        value = arena_format(door->arena, "%ld", 2 * pairs);
        if (!has_text(door, value)) return false;
    }
    if (meaning[0] != '-') {
        bool most = text_ends_in(meaning, "<");
        const char *role = arena_format(door->arena, "%.*s", (int)strcspn(meaning, "<"), meaning);
        door->degrees = door->degrees || !most;
        return has_text(door, role) && add_condition(door, &door->conditions, role, most ? "<=" : "=", value);
    }
    const char *space = strchr(meaning, ' ');
    if (place) value = arena_format(door->arena, "%.*s%s%s", (int)(place - space) - 1, space + 1, value, place + 2);
    int number = command_option(door->command, meaning + 2, strcspn(meaning + 2, " "));
    if (!has_text(door, value)) return false;
    return number < 0 ? option_unknown(door->command, typed->word, door->error)
                      : put_value(door, &door->command->options[number], value);
}

/* What another program has and this command has not: its row says what to type. */
static bool refuse(Door *door, const char *word, const NameRow *row) {
    bool whole = strncmp(row->note, "is ", 3) == 0;
    return error_set(door->error, ERROR_INPUT, word, "%s%s%s%s", whole ? "" : "is not an option of ",
                     whole ? "" : door->command->name, whole ? "" : "; ", row->note);
}

static bool read_option(Door *door, char **argv, int left, bool *used) {
    const char *word = argv[0], *inside = strchr(word, '='), *name = word + 2;
    Typed typed = {word, name, inside ? inside + 1 : NULL, inside ? (size_t)(inside - name) : strlen(name), false};
    typed.word = arena_format(door->arena, "%.*s", (int)typed.length + 2, word);
    if (!has_text(door, typed.word)) return false;
    if (!inside && left > 1 && is_value(argv[1])) typed.value = argv[1], typed.follows = true;
    if (strcmp(word, "--ignore-unknown") == 0) return true;
    if (strcmp(word, "--help") == 0) return keep(door, word);
    int number = command_option(door->command, name, typed.length);
    /* `--output TOKENS` of serving is older than its `-o, --output FILE`: a number is no file */
    if (typed.length == 6 && strncmp(name, "output", 6) == 0 && strcmp(door->kind, "inference") == 0 && typed.value &&
        typed.value[0] && typed.value[strspn(typed.value, "0123456789")] == '\0')
        number = command_option(door->command, "answer", 6);
    if (number >= 0) return read_own(door, &door->command->options[number], &typed, used);
    const NameRow *row = name_row(door->kind, name, typed.length);
    static const NameRow FAR_FROM_ALL = {.meaning = "left"};
    if (!row && door->ignores && option_is_far(door->command, word)) row = &FAR_FROM_ALL;
    if (!row ||
        (row->meaning[0] == '-' &&
         command_option(door->command, row->meaning + 2, strcspn(row->meaning + 2, " ")) < 0) ||
        (strcmp(door->kind, "any") != 0 && strchr("abcdefghijklmnopqrstuvwxyz", row->meaning[0]) &&
         !has(door, "require") && !word_among("left no", row->meaning, strlen(row->meaning))))
        return option_unknown(door->command, word, door->error);
    if (strcmp(row->meaning, "no") == 0) return refuse(door, typed.word, row);
    if (strcmp(row->meaning, "left") == 0) return leave(door, row, &typed, used);
    bool fixed = row->meaning[0] == '-' ? strchr(row->meaning, ' ') && !strstr(row->meaning, "{}")
                                        : strchr(row->meaning, '=') != NULL;
    if (fixed) return read_switch(door, row, &typed, used);
    *used = typed.follows;
    return read_valued(door, row, &typed);
}

/* "-o FILE", "-vq": letters of the command's own; "-k 5" is one of names.tsv, "-tp 8" of no one. */
static bool read_letters(Door *door, char **argv, int left, bool *used) {
    const char *word = argv[0];
    for (int i = 0; i < door->command->option_count; i++) {
        const CommandOption *option = &door->command->options[i];
        if (!command_has_option(door->command, i) || !option->letter || option->letter != word[1]) continue;
        *used = option->takes && !word[2] && left > 1;
        return keep(door, word) && (!*used || keep(door, argv[1]));
    }
    if (strcmp(word, "-h") == 0) return keep(door, word);
    const NameRow *row = word[2] ? NULL : name_row(door->kind, word + 1, 1);
    if (!row || strcmp(row->meaning, "no") == 0)
        return row ? refuse(door, word, row) : option_unknown(door->command, word, door->error);
    char *longer = arena_format(door->arena, "-%s", word);
    return has_text(door, longer) && read_option(door, (char *[]){longer, left > 1 ? argv[1] : NULL, NULL}, left, used);
}

/* ---- words without an option ---- */

/* True if a word is a file's name: it is there, or ends as files do; "llama-3.1-70b" ends as models do. */
static bool is_of_file(const char *word) {
    const char *dot = strrchr(word, '.'), *slash = strrchr(word, '/');
    return strcmp(word, "-") == 0 || file_is_there(word) || word[0] == '/' ||
           (dot && dot > slash && isalpha((unsigned char)dot[1]));
}

static bool read_word(Door *door, int argc, char **argv, const char *word) {
    const Command *command = door->command;
    TypedMachine machine;
    bool several = command->takes_arguments, plans = word_among("explain emit", command->name, strlen(command->name));
    if ((several && !plans) ||
        (plans && (is_of_file(word) ||
                   word_among(command->argument_values ? command->argument_values : "", word, strlen(word)))))
        return keep(door, word);
    if (!has(door, "model") || !*word || strpbrk(word, " \n"))
        return word_stray(command, argc, argv, word, door->error);
    if (word_is_machine(word, &machine)) return put_machine(door, word, &machine);
    bool json = text_ends_in(word, ".json") && strchr("pc", command->name[0]); /* a report? */
    if (!json && word_is_model(word)) {
        if (door->model)
            return error_set(door->error, ERROR_INPUT, word, "is a second model, next to %.60s; give one", door->model);
        return put_value(door, &command->options[command_option(command, "model", 5)], word);
    }
    return several ? keep(door, word) : word_stray(command, argc, argv, word, door->error);
}

/* ---- the line ---- */

static const char TUNES[] = "--lora --qlora --task --freeze --targets";

bool words_tune(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        const char *name = argv[i] + strspn(argv[i], "-");
        const NameRow *row = name > argv[i] ? name_row("plan", name, strcspn(name, "=")) : NULL;
        if (word_among(TUNES, argv[i], strcspn(argv[i], "=")) ||
            (row && word_among(TUNES, row->meaning, strcspn(row->meaning, " "))))
            return true;
    }
    return false;
}

/* What the whole line says, which the reading of single words depends on. */
static void look_ahead(Door *door, int argc, char **argv) {
    if (strcmp(door->kind, "plan") == 0 && words_tune(argc, argv)) door->kind = "tune";
    for (int i = 1; i < argc; i++) {
        const char *name = argv[i] + strspn(argv[i], "-");
        const NameRow *row = name > argv[i] ? name_row(door->kind, name, strcspn(name, "=")) : NULL;
        door->hosts =
            door->hosts || strncmp(argv[i], "--nodes", 7) == 0 || (row && strcmp(row->meaning, "--nodes") == 0);
        door->ignores = door->ignores || strcmp(argv[i], "--ignore-unknown") == 0;
        door->lora = door->lora || word_among("--lora", argv[i], strcspn(argv[i], "=")) ||
                     (row && strcmp(row->meaning, "--lora") == 0);
        door->pairs = door->pairs || strcmp(argv[i], "--dpo") == 0 || strcmp(argv[i], "--task=dpo") == 0 ||
                      (strcmp(argv[i], "--task") == 0 && i + 1 < argc && strcmp(argv[i + 1], "dpo") == 0);
    }
}

/* True if degrees are the plan itself: `explain --tp 8 --pp 2`. */
static bool is_plan(const Door *door) {
    static const char PLANS[] = "--plan --plans --baseline --from --from-config";
    bool named = !word_among("explain check", door->command->name, strlen(door->command->name)) || door->required;
    for (int i = 1; i < door->count; i++)
        named = named || word_among(PLANS, door->words[i], strcspn(door->words[i], "=")) ||
                (door->words[i][0] != '-' && door->command->takes_arguments);
    return door->degrees && !named && has(door, "plan");
}

bool words_read(CommandLine *line, int *argc, char ***argv, Error *error) {
    Door door = {.command = line->command, .kind = command_kind(line->command), .arena = line->arena, .error = error};
    door.words = ARENA_NEW(line->arena, char *, 2 * (size_t)*argc + 8);
    if (!door.words) return error_memory(error);
    look_ahead(&door, *argc, *argv);
    keep(&door, (*argv)[0]);
    for (int i = 1; i < *argc; i++) {
        char *word = (*argv)[i];
        bool used = false;
        if (strcmp(word, "--") == 0) {
            for (; i < *argc; i++) keep(&door, (*argv)[i]);
            break;
        }
        if (isalpha((unsigned char)word[0]) && strchr(word, '=') && has(&door, "model")) /* Hydra's and MaxText's */
            word = arena_format(door.arena, "--%s", word);
        if (!has_text(&door, word)) return false;
        char *one[] = {word, i + 1 < *argc ? (*argv)[i + 1] : NULL, NULL};
        bool ok = word[0] != '-' || !word[1] ? read_word(&door, *argc, *argv, word)
                  : word[1] == '-'           ? read_option(&door, one, *argc - i, &used)
                                             : read_letters(&door, one, *argc - i, &used);
        if (!ok) return false;
        i += used;
    }
    if (door.conditions && !put(&door, is_plan(&door) ? "plan" : "require", door.conditions)) return false;
    if (door.engines && !put(&door, "rollout", door.engines)) return false;
    if (door.left) line->advice = arena_format(line->arena, "left out, as no plan depends on them: %s", door.left);
    *argc = door.count;
    *argv = door.words;
    return !door.left || has_text(&door, line->advice);
}
