/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The public entry: one command line, from its words to its exit code. */
#include "base/build.h"
#include "base/locale.h"
#include "base/memory_stream.h"
#include "base/util.h"
#include "search/shardopt.h"

#include "search/cli/commands.h"
#include "search/cli/meaning.h"
#include "search/cli/planning.h"
#include "search/cli/synonyms.h"
#include "search/cli/task.h"
#include "search/cli/typed_words.h"
#include "search/cli/what_if.h"
#include "search/options/machine_words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int command_run(const Command *command, int argc, char **argv, Streams streams, Error *error) {
    Arena arena = {0};
    int code = EXIT_DONE;
    const Command *other = command->other ? command->other(argc, argv) : NULL;
    if (other) command = other;
    if (command->run_words) return command->run_words(argc, argv, streams, error);
    CommandLine *line = ARENA_NEW(&arena, CommandLine, 1);
    bool ok = line ? command_line_read(command, argc, argv, &arena, line, error) : error_memory(error);
    if (ok && !command_line_answered(line, streams.out))
        code = command->option_count == OPTION_COUNT && line->text[OPTION_WHAT_IF] ? what_if_run(line, streams, error)
                                                                                   : command->run(line, streams, error);
    if (ok && error->kind == ERROR_NONE) command_advise(line, streams.err);
    if (error->kind != ERROR_NONE) code = exit_of_error(error);
    if (!ok && line && line->unknown && line->unknown->next) { /* the error has no room for all */
        unknown_print(line->unknown, streams.err);
        *error = (Error){0};
    }
    arena_free(&arena);
    return code;
}

/* `shardopt help`: of all, of one command, and what docs/ is made of: manual page, completions, tables of figures. */
static int help(int argc, char **argv, Streams streams, Error *error) {
    const char *of = argc > 2 ? argv[2] : NULL, *shell = argc > 3 ? argv[3] : "";
    if (!of)
        help_of_program(streams.out);
    else if (strcmp(of, "--man") == 0)
        manual_write(streams.out);
    else if (strcmp(of, "--completion") == 0 && strcmp(shell, "bash") == 0)
        completion_write_bash(streams.out);
    else if (strcmp(of, "--completion") == 0 && strcmp(shell, "zsh") == 0)
        completion_write_zsh(streams.out);
    else if (strcmp(of, "--completion") == 0 && strcmp(shell, "fish") == 0)
        completion_write_fish(streams.out);
    else if (strcmp(of, "--figures") == 0)
        return figures_write(streams.out) ? EXIT_DONE : (error_memory(error), exit_of_error(error));
    else {
        const WordRow *row = word_row("command", of);
        const Command *command = command_named(row && strcmp(row->cell[2], "-") != 0 ? row->cell[2] : of, error);
        if (command) help_of_command(command, streams.out);
    }
    return exit_of_error(error);
}

static int dispatch(int argc, char **argv, Streams streams, Error *error);

/* `finetune` that says not what is trained: all weights, as trainers do without adapters. */
static int tune_all(int argc, char **argv, Streams streams, Error *error) {
    for (int i = 2; i < argc; i++) { /* "1xM3Max": what is trained there is no matter */
        const char *times = strchr(argv[i], 'x'), *why = chip_not_planned(times ? times + 1 : argv[i]);
        if (why)
            return error_set(error, ERROR_INPUT, argv[i], "%s, and --lora, --qlora, --sft or --dpo", why), EXIT_USAGE;
    }
    char **words = calloc((size_t)argc + 2, sizeof *words);
    if (!words) return error_memory(error), EXIT_DEFECT;
    memcpy(words, argv, (size_t)argc * sizeof *words);
    words[argc] = (char *)"--sft";
    fprintf(streams.err, "shardopt: advice: all weights are trained (--sft); --lora or --qlora trains adapters\n");
    int code = dispatch(argc + 1, words, streams, error);
    free(words);
    return code;
}

/* Whether --model is given, behind a command's word. */
static bool is_of_model(int argc, char **argv) {
    for (int i = 2; i < argc; i++)
        if (strncmp(argv[i], "--model", 7) == 0) return true;
    return false;
}

static int dispatch(int argc, char **argv, Streams streams, Error *error);

/* Answers one after the other are text: of two in a file the second is all that stays. False: *error says so. */
static bool are_text(int argc, char **argv, Error *error) {
    static const char WRITES[] = "-o --output --json --csv --html --certificate --format";
    for (int i = 1; i < argc; i++) {
        char name[16];
        snprintf(name, sizeof name, "%.*s", (int)min_whole(15, (int64_t)strcspn(argv[i], "=")), argv[i]);
        if (word_among(WRITES, name))
            return error_set(error, ERROR_INPUT, name,
                             "is of one answer, and this line has several; give them one by one");
    }
    return true;
}

/* A line of training; where none fits and no task is said, serving is answered too: `verb` is what says one, or "plan",
 * which some write for anything. */
static int plan_or_serve(int argc, char **argv, const char *verb, Streams streams, Error *error) {
    Error files = {0};
    int code = command_run(COMMANDS[0], argc, argv, streams, error);
    bool plain = code == EXIT_NO_PLAN && error->kind == ERROR_NONE && are_text(argc, argv, &files),
         plan = verb && strcmp(verb, "plan") == 0;
    for (int i = 1; i < argc && plain; i++) /* a line of our own options is of training, and says so by its exit code */
        plain = !word_among("-q --quiet", argv[i]) && (plan || strncmp(argv[i], "--model", 7) != 0);
    if (!plain || COMMANDS[0]->other(argc, argv) || words_say(argc, argv, WORDS_TRAIN)) return code;
    if (plan) fprintf(streams.err, "shardopt: advice: this is of training; `shardopt serve` is of serving\n");
    if (verb) return code;
    fprintf(streams.err, "shardopt: advice: no task is said, and no training fits: serving follows\n");
    fputc('\n', streams.out);
    return command_run(&COMMAND_INFERENCE, argc, argv, streams, error);
}

/* `... 256xh100 vs 128xb200`: the answer to each; `--tpu v5p-512 vs --gpus 256xb200` too. `vs`: where that word is. */
static int answer_both(int argc, char **argv, int vs, Streams streams, Error *error) {
    int before =
        vs > 2 && argv[vs - 2][0] == '-' && argv[vs - 1][0] != '-' && argv[vs + 1][0] == '-' && vs + 2 < argc ? 2 : 1;
    char **words = calloc((size_t)argc + 1, sizeof *words);
    int codes[2] = {EXIT_DEFECT, EXIT_DEFECT};
    if (!words) return error_memory(error), EXIT_DEFECT;
    if (!are_text(argc, argv, error)) return free(words), EXIT_USAGE;
    for (int side = 0; side < 2 && (side == 0 || error->kind == ERROR_NONE); side++) {
        int count = 0;
        for (int i = 0; i < argc; i++) {
            bool left = i >= vs - before && i<vs, right = i> vs && i <= vs + before;
            if (i != vs && !(side == 0 ? right : left)) words[count++] = argv[i];
        }
        words[count] = NULL;
        if (side == 1) fputc('\n', streams.out);
        codes[side] = dispatch(count, words, streams, error);
    }
    free(words);
    return codes[0] > codes[1] || error->kind != ERROR_NONE ? codes[0] : codes[1];
}

/* A question in words, or one word that holds them, as the words of a command. */
static int answer_question(int argc, char **argv, Streams streams, Error *error) {
    Arena arena = {0};
    char *command = NULL, **words = question_words(&argc, argv, &arena, &command);
    if (!words) {
        arena_free(&arena);
        return error_memory(error), exit_of_error(error);
    }
    int vs = 0, code = EXIT_USAGE;
    for (int i = 2; i + 2 < argc && strcmp(command, "sweep") != 0; i++)
        if (strcmp(words[i], "vs") == 0) vs = i;
    const Command *named = vs ? NULL : command_named(command, error);
    char **both = vs ? ARENA_NEW(&arena, char *, (size_t)argc + 2) : NULL; /* each is of this command */
    if (vs && !both) error_memory(error);
    if (both) {
        both[0] = words[0], both[1] = strcmp(command, "plan") == 0 ? (char *)"best" : command; /* no task is said */
        memcpy(both + 2, words + 1, (size_t)(argc - 1) * sizeof *words);
        code = answer_both(argc + 1, both, vs + 1, streams, error);
    }
    if (named == COMMANDS[0]) code = plan_or_serve(argc, words, NULL, streams, error);
    if (named && named != COMMANDS[0]) code = command_run(named, argc, words, streams, error);
    arena_free(&arena);
    return code;
}

/* Of which command one option's name is, alone; NULL: of any. */
static const Command *command_of_word(const char *word, const char *next) {
    const char *name = word + strspn(word, "-"), *value = strchr(name, '='), *kind = meaning_kind(name);
    Meaning meaning;
    Place place = {.command = COMMANDS[0], .value = value ? value + 1 : next};
    if (strncmp(name, "actor_rollout_ref.", 18) == 0 || strncmp(name, "rl.", 3) == 0) return &COMMAND_RL;
    if ((word[0] != '-' && !value) || meaning_own(COMMANDS[0], name) >= 0) return NULL;
    if (place.value && place.value[0] == '$' && strcasestr(place.value, "tok")) return &COMMAND_INFERENCE;
    if (place.value && word_among("objective goal optimize target minimize", name) &&
        strcasestr(place.value, "latency"))
        return &COMMAND_INFERENCE;
    if (kind) return strcmp(kind, "rl") == 0 ? &COMMAND_RL : &COMMAND_INFERENCE;
    if (!meaning_of(name, &place, &meaning) || meaning.own >= 0 || strcmp(meaning.what, "answer") != 0) return NULL;
    return !meaning.said                                            ? NULL
           : strncmp(meaning.said, "`shardopt inference`", 20) == 0 ? &COMMAND_INFERENCE
           : strncmp(meaning.said, "`shardopt rl ", 13) == 0        ? &COMMAND_RL
                                                                    : NULL;
}

/* What a line without a command is of: of RL or serving where words are of them alone: rows "of". */
static const Command *command_of_words(int argc, char **argv) {
    const Command *found = NULL;
    for (int i = 1; i < argc && found != &COMMAND_RL; i++) {
        const Command *of = command_of_word(argv[i], i + 1 < argc ? argv[i + 1] : NULL);
        found = of ? of : found;
    }
    return !found || (found == &COMMAND_INFERENCE && words_say(argc, argv, WORDS_TUNE)) ? COMMANDS[0] : found;
}

/* Whether a line compares: several numbers of one option, "--gpus 64,128", several chips, or --compare. */
static bool compares(int argc, char **argv) {
    static const char LISTED[] =
        "gpus chips nodes pods batch sequences seq gbs num-gpus num-nodes gpu chip concurrency "
        "prompt answer max-answer isl osl model compare hw hardware response max-response network rollout-len "
        "samples prompts";
    for (int i = 1; i < argc; i++) {
        bool list = i > 1 && argv[i - 1][0] == '-' && strchr(argv[i], ',') &&
                    word_among(LISTED, argv[i - 1] + strspn(argv[i - 1], "-"));
        if (list || strcmp(argv[i], "--compare") == 0) return true;
    }
    return false;
}

static const char MANY[] = "--question=many";

/* A sweep over a command's questions; without a list, over numbers of chips. */
static int sweep_of(const Command *command, const char *question, int argc, char **argv, Streams streams,
                    Error *error) {
    char **words = calloc((size_t)argc + 3, sizeof *words);
    if (!words) return error_memory(error), EXIT_DEFECT;
    memcpy(words + 2, argv + 1, (size_t)(argc - 1) * sizeof *words);
    words[0] = argv[0], words[1] = (char *)command->name;
    bool many = !compares(argc, argv);
    if (many) words[argc + 1] = (char *)question;
    int code = command_run(&COMMAND_SWEEP, argc + 1 + many, words, streams, error);
    free(words);
    return code;
}

/* `compare` of two machines, of two plans, or of lists. */
static int compare(int argc, char **argv, Streams streams, Error *error) {
    if (!compares(argc, argv)) {
        error_set(
            error, ERROR_INPUT, "compare",
            "is of two reports; `shardopt sweep --model M --chip h100,b200 --chips N` compares machines, `shardopt "
            "explain --model M --plan \"tensor=8 fsdp=32\"` prices a plan");
        return EXIT_USAGE;
    }
    const Command *command = command_of_words(argc - 1, argv + 1);
    return command == COMMANDS[0] ? command_run(&COMMAND_SWEEP, argc - 1, argv + 1, streams, error)
                                  : sweep_of(command, MANY, argc - 1, argv + 1, streams, error);
}

/* Whether a line of `explain` names neither a plan nor a report; its degrees would be a plan. A `check` without one is
 * an error: a gate that lacks its baseline must not pass. */
static bool names_no_plan(int argc, char **argv) {
    for (int i = 2; i < argc; i++)
        if (strncmp(argv[i], "--plan", 6) == 0 || strncmp(argv[i], "--from", 6) == 0 ||
            strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0 || operand_is_file(argv[i]))
            return false;
    return argc > 2 && !words_say(argc - 1, argv + 1, WORDS_DIVIDE);
}

/* Whether a line of serving or RL has lists, or a load whose machine it wants. */
static bool is_of_several(const Command *command, int argc, char **argv) {
    bool serves = command == &COMMAND_INFERENCE;
    return ((serves || command == &COMMAND_RL) && compares(argc, argv)) ||
           (serves && words_need_machines(command, argc, argv));
}

/* A line of options, or of `plan` and what else people call it (`verb`); of serving or RL where its words are. */
static int answer_plan(int argc, char **argv, const char *verb, Streams streams, Error *error) {
    /* What wants a machine, where the line has none; what says no task. */
    static const char MACHINES[] = "memory mem vram recommend suggest sizing",
                      NEUTRAL[] = "optimize best find search estimate cost size "
                                  "oom roofline shard parallelize run calc calculate predict auto cheapest fastest";
    int own = verb != NULL;
    const Command *command = command_of_words(argc - own, argv + own);
    if (command == COMMANDS[0] && compares(argc, argv)) command = &COMMAND_SWEEP;
    bool wants = verb && word_among(MACHINES, verb), neutral = wants || (verb && word_among(NEUTRAL, verb));
    bool machines = command == COMMANDS[0] && wants && !words_say(argc - 1, argv + 1, WORDS_MACHINE);
    const char *question = machines && word_among("recommend suggest", verb) ? "--question=cheapest" : MANY;
    if (machines || is_of_several(command, argc - own, argv + own))
        return sweep_of(command, question, argc - own, argv + own, streams, error);
    if (command == COMMANDS[0]) return plan_or_serve(argc - own, argv + own, neutral ? NULL : verb, streams, error);
    return command_run(command, argc - own, argv + own, streams, error);
}

/* `shardopt --model 8b ...` is `shardopt plan --model 8b ...`, and so is `shardopt 8b ...`. */
static int dispatch(int argc, char **argv, Streams streams, Error *error) {
    if (argc < 2) {
        help_of_program(streams.err);
        return EXIT_USAGE;
    }
    const char *word = argv[1];
    if (strcmp(word, "help") == 0) return help(argc, argv, streams, error);
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) return help(1, argv, streams, error);
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0 || strcmp(word, "version") == 0) {
        fprintf(streams.out, "shardopt %s\n", program_version());
        return EXIT_DONE;
    }
    const WordRow *row = word_row("command", word);
    if ((strncmp(word, "fine", 4) == 0 || strcmp(word, "ft") == 0) && row && !words_say(argc - 1, argv + 1, WORDS_TUNE))
        return tune_all(argc, argv, streams, error);
    if (word_says("ask", "longest", word)) argv[1] = (char *)"longest context"; /* a question */
    if (is_question(argc, argv)) return answer_question(argc, argv, streams, error);
    bool of_model = is_of_model(argc, argv);
    bool second = argc > 2 && (word_row("command", argv[2]) || word_among("plan inference rl sweep", argv[2]));
    if (second && word_among("check explain trl", word)) { /* "check finetune", "explain inference", "trl grpo" */
        word = (++argv, --argc, argv[1]);
        row = word_row("command", word);
    } else if (strcmp(word, "explain") == 0 && names_no_plan(argc, argv)) { /* why the best is the best */
        return command_run(COMMANDS[0], argc - 1, argv + 1, streams, error);
    }
    if (strcmp(word, "compare") == 0 && of_model) return compare(argc, argv, streams, error);
    if (row && strcmp(row->cell[2], "-") == 0)
        return error_set(error, ERROR_INPUT, word, "%s", row->cell[4]), EXIT_USAGE;
    if (row && row->cell[4]) fprintf(streams.err, "shardopt: advice: %s\n", row->cell[4]);
    if (row && row->cell[3] && row->cell[3][0]) { /* its option takes the word's place */
        argv[1] = (char *)row->cell[3];
        return command_run(command_named(row->cell[2], error), argc, argv, streams, error);
    }
    if (strcmp(word, "list") == 0 && argc > 2 && (strcmp(argv[2], "gpus") == 0 || strcmp(argv[2], "chips") == 0))
        return command_run(command_named("chips", error), argc - 2, argv + 2, streams, error);
    if (strcmp(word, "list") == 0 && argc > 2 && strcmp(argv[2], "models") == 0) argc--;
    if (strcmp(word, "fit") == 0 && (of_model || (argc > 2 && word_is_model(argv[2]))))
        word = words_say(argc - 1, argv + 1, WORDS_TRAIN) ? "plan" : "inference";
    else if (row)
        word = row->cell[2];
    if (word[0] == '-' || strchr(word, '=') || strcmp(word, "plan") == 0)
        return answer_plan(argc, argv, word[0] != '-' && !strchr(word, '=') ? argv[1] : NULL, streams, error);
    const Command *command = command_named(word, error);
    if (is_of_several(command, argc - 1, argv + 1)) return sweep_of(command, MANY, argc - 1, argv + 1, streams, error);
    const Command *of =
        command && of_model && word_among("check explain", word) ? command_of_words(argc - 1, argv + 1) : COMMANDS[0];
    if (of != COMMANDS[0] && strcmp(word, "check") == 0) fprintf(streams.err, "shardopt: advice: %s\n", NO_GATE);
    if (of != COMMANDS[0]) command = of;
    if (!command && word_is_model(word)) {
        *error = (Error){0};
        return plan_or_serve(argc, argv, NULL, streams, error);
    }
    return command ? command_run(command, argc - 1, argv + 1, streams, error) : EXIT_USAGE;
}

/* The items of a list of whole machines, "h100:512,b200:256", or of ways to train, "full,lora", in the arena. How many;
 * 0: it is no such list. */
enum { ITEMS_MAX = 8 };
static int items_of(const char *list, Arena *arena, char *items[ITEMS_MAX]) {
    int count = 0, machines = 0, ways = 0;
    char *text = strchr(list, ',') && !strpbrk(list, "{[ ") ? arena_text(arena, list) : NULL, *rest = NULL, name[64],
         number[64];
    for (char *item = text ? strtok_r(text, ",", &rest) : NULL; item; item = strtok_r(NULL, ",", &rest)) {
        if (count == ITEMS_MAX) return 0;
        const WordRow *way = word_row("command", item);
        machines += typed_chips(item, name, number, sizeof name) || typed_slice(item);
        ways += way && strcmp(way->cell[2], "plan") == 0 && way->cell[3] && strncmp(way->cell[3], "--for", 5) != 0;
        items[count++] = item;
    }
    return count > 1 && (machines == count || ways == count) ? count : 0;
}

/* A line that compares whole machines, or ways to train: the answer to each. Below 0: it is none. */
static int answer_each(int argc, char **argv, Arena *arena, Streams streams, Error *error) {
    int code = -1;
    for (int i = 2; i < argc; i++) {
        char *items[ITEMS_MAX], *inside = argv[i][0] == '-' ? strchr(argv[i], '=') : NULL;
        int count = argv[i - 1][0] == '-' || inside ? items_of(inside ? inside + 1 : argv[i], arena, items) : 0;
        bool ways = count > 0 && word_row("command", items[0]);
        if (count > 0 && !are_text(argc, argv, error)) return EXIT_USAGE;
        for (int k = 0; k < count && error->kind == ERROR_NONE; k++) {
            char **words = ARENA_NEW(arena, char *, (size_t)argc + 1);
            if (!words) return error_memory(error), EXIT_DEFECT;
            memcpy(words, argv, (size_t)argc * sizeof *words);
            words[i] = inside ? arena_format(arena, "%.*s=%s", (int)(inside - argv[i]), argv[i], items[k]) : items[k];
            if (!words[i]) return error_memory(error), EXIT_DEFECT;
            if (ways && !inside) words[i - 1] = (char *)"--method";
            if (word_among("compare diff sweep", words[1])) words[1] = (char *)"plan";
            if (k > 0) fputc('\n', streams.out);
            int answer = dispatch(argc, words, streams, error);
            code = answer > code ? answer : code;
        }
        if (count > 0) return code;
    }
    return -1;
}

/* A line whose options may say what it is for. */
static int answer_line(int argc, char **argv, Streams streams, Error *error) {
    Arena arena = {0};
    const char *advice;
    char **words = task_words(&argc, argv, &arena, &advice);
    if (!words) error_memory(error);
    if (advice) fprintf(streams.err, "shardopt: advice: %s\n", advice);
    int vs = 0, code = words ? -1 : EXIT_DEFECT;
    for (int i = 3; words && i + 1 < argc; i++)
        if (strcmp(words[i], "vs") == 0 && !strchr(words[1], ' ')) vs = i;
    if (words && vs && word_among("compare diff", words[1])) words[1] = (char *)"plan";
    if (words)
        code = vs ? answer_both(argc, words, vs, streams, error) : answer_each(argc, words, &arena, streams, error);
    if (code < 0) code = dispatch(argc, words, streams, error);
    arena_free(&arena);
    return code;
}

int shardopt_main(int argc, char **argv, FILE *out, FILE *err) {
    IN_LOCALE_C;
    Error error = {0};
    int code = answer_line(argc, argv, (Streams){out, err, terminal_of_stream(out)}, &error);
    errno = 0;
    bool unwritten = ferror(out) != 0; /* by what is not written in one piece: help, tables */
    unwritten = fflush(out) != 0 || unwritten;
    if (unwritten && error.kind == ERROR_NONE && !output_reader_gone(out)) output_failed(&error);
    if (error.kind != ERROR_NONE) {
        fprintf(err, "shardopt: %s: %s\n", error.where, error.text);
        code = exit_of_error(&error);
    }
    fflush(err);
    return code;
}

int shardopt_call(int argc, char **argv, char **result, char **messages) {
    size_t lengths[2] = {0};
    char *texts[2] = {NULL, NULL};
    FILE *out = memory_stream_open(&texts[0], &lengths[0]), *err = memory_stream_open(&texts[1], &lengths[1]);
    int code = out && err ? shardopt_main(argc, argv, out, err) : EXIT_DEFECT;
    bool whole = out && err;
    whole = (!out || fclose(out) == 0) && whole;
    whole = (!err || fclose(err) == 0) && whole;
    for (int i = 0; i < 2; i++) {
        char **to = i == 0 ? result : messages;
        if (to) *to = whole ? texts[i] : NULL;
        if (!to || !whole) free(texts[i]);
    }
    return whole ? code : EXIT_DEFECT;
}
