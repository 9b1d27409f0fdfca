/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/cli/task.h"

#include "base/number.h"
#include "base/util.h"
#include "search/cli/commands.h"
#include "search/cli/meaning.h"
#include "search/cli/planning.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char NO_GATE[] = "check is a gate of training plans and of baselines; this line is planned, and gates nothing";

/* What a line is of, and what is to be done with it. */
typedef enum { OF_TRAINING, OF_TUNING, OF_SERVING, OF_RL } Subject;

typedef struct {
    Arena *arena;
    char **words;
    int count, room;
    Subject subject;
    const char *way;    /* "--lora=16", "--algorithm=grpo"; NULL: not said */
    const char *format; /* of a launch script; "": the usual one; NULL: none is wanted */
    const char *verb;   /* "check", "sweep", as an option says; NULL: none does */
    const char *advice;
    bool any, tpu, sweeps, machine; /* tpu: it names one; machine: it names any */
} Task;

static bool add(Task *task, const char *word) {
    if (!word || task->count >= task->room) return false;
    task->words[task->count++] = (char *)word;
    return true;
}

static const WordRow *row_of(const char *kind, const char *word) {
    for (int i = 0; i < WORD_ROW_COUNT; i++)
        if (strcmp(WORD_ROWS[i].cell[0], kind) == 0 && word_among(WORD_ROWS[i].cell[1], word)) return &WORD_ROWS[i];
    return NULL;
}

/* Takes a word that says a task: "serve", "grpo", "lora". False: it says none. */
static bool take_task(Task *task, const char *word) {
    const WordRow *row = word_row("command", word);
    const char *command = row ? row->cell[2] : word, *option = row ? row->cell[3] : NULL;
    if (!word_among("plan inference rl", command)) return false;
    bool tunes = word_among("finetune fine-tune finetuning fine-tuning ft tune tuning", word);
    if (strcmp(command, "inference") == 0) task->subject = OF_SERVING;
    if (strcmp(command, "rl") == 0) task->subject = OF_RL;
    if (strcmp(command, "plan") == 0 && (tunes || (option && *option))) task->subject = OF_TUNING;
    if (option && *option) task->way = option;
    return task->any = true;
}

/* Takes the format of a launch script; what is none is a file's name, and the script is the usual one. */
static bool take_format(Task *task, const char *word) {
    const WordRow *row = row_of("format", word);
    task->any = true;
    task->format = row && strcmp(row->cell[2], "-") != 0 ? row->cell[2] : "";
    if (row && row->cell[4]) task->advice = row->cell[4];
    if (task->subject == OF_TRAINING && word_among("trl axolotl llama-factory", task->format))
        task->subject = OF_TUNING;
    if (row && row->cell[3] && *row->cell[3] && !add(task, row->cell[3])) return false;
    if (row && strcmp(task->format, "rl") == 0) task->format = arena_text(task->arena, word), task->subject = OF_RL;
    return row || !strpbrk(word, "./") || add(task, arena_format(task->arena, "--output=%s", word));
}

/* "8..32", "4k..1m", "1:16", "8-64": from one to the other, each twice the one before. NULL: it is no such range, or
 * memory is out. */
static char *range_of(Task *task, const char *value) {
    int64_t first, last;
    char least[24];
    Error none = {0};
    size_t dots = strspn(value, "0123456789");
    dots += strspn(value + dots, "kKmM");
    size_t mark = strspn(value + dots, ".:-");
    if (dots == 0 || dots >= sizeof least || mark == 0 || !isdigit((unsigned char)value[dots + mark])) return NULL;
    if (mark == 1 && value[dots] == '.') return NULL; /* "1.5" */
    snprintf(least, sizeof least, "%.*s", (int)dots, value);
    if (!number_tokens(least, "", 1, (int64_t)1 << 40, &first, &none) ||
        !number_tokens(value + dots + mark, "", 1, (int64_t)1 << 40, &last, &none) || last <= first)
        return NULL;
    char *list = arena_format(task->arena, "%lld", (long long)first);
    for (int64_t at = 2 * first; list && at < 2 * last; at *= 2)
        list = arena_format(task->arena, "%s,%lld", list, (long long)(at < last ? at : last));
    return list;
}

/* "--sweep seq=4k,8k", "--grid 'tp=1,2 mbs=1,2'": each a list of an option's. */
static bool take_grid(Task *task, const char *value) {
    task->any = true, task->verb = "sweep";
    for (const char *at = value; *at; at += strspn(at, " ;")) {
        size_t length = strcspn(at, " ;"), name = strcspn(at, "=:");
        if (name > 0 && name < length) {
            char *text = arena_format(task->arena, "%.*s", (int)(length - name - 1), at + name + 1);
            char *range = text ? range_of(task, text) : NULL;
            if (!text || !add(task, arena_format(task->arena, "--%.*s", (int)name, at)) ||
                !add(task, range ? range : text))
                return false;
        }
        at += length;
    }
    return true;
}

static bool is_bare(const char *value) { return !value || value[0] == '-' || strcasecmp(value, "true") == 0; }

/* Whether the option's values are lists in a sweep. */
static bool is_listed(const char *name) {
    return word_among("gpus chips nodes pods batch sequences seq gbs num-gpus num-nodes seq-len concurrency prompt "
                      "answer max-answer max-response response rollout-len max-len slices",
                      name);
}

/* An option that says what the line is for. How many words it took; 0: it is none; below 0: memory is out. */
static int read_option(Task *task, char **words, int left) {
    static const char TASKS[] = "task mode workload phase stage job purpose usecase use-case post-train post-training "
                                "train-mode training-mode training t type-of-run",
                      FLAGS[] = "serve serving inference infer deploy train training pretrain pretraining finetune "
                                "fine-tune finetuning fine-tuning ft tune rl rlhf rlvr",
                      SCRIPTS[] = "emit export write-config write-script print-cmd print-command launch-script script "
                                  "generate-script emit-config print-flags print-config show-cmd write",
                      GRIDS[] = "sweep grid vary scan";
    char name[32];
    const char *start = words[0] + strspn(words[0], "-"), *inside = strchr(start, '=');
    const char *value = inside ? inside + 1 : left > 1 ? words[1] : NULL;
    int read = inside ? 1 : 2, bare = is_bare(value) ? inside || (value && value[0] != '-') ? read : 1 : 0;
    if (words[0][0] != '-') return 0;
    snprintf(name, sizeof name, "%.*s", (int)min_whole(31, (int64_t)strcspn(start, "=")), start);
    for (char *at = name; *at; at++) *at = *at == '_' ? '-' : *at;
    bool own = strcmp(name, "task") == 0 && value && word_among("sft dpo", value);
    if (word_among(TASKS, name) && value && !own) return take_task(task, value) ? read : 0;
    const WordRow *method =
        value && word_among("method recipe algo trainer stage type", name) ? word_row("command", value) : NULL;
    if (method && strcmp(method->cell[2], "rl") == 0) return take_task(task, value) ? read : 0;
    if (word_among(FLAGS, name) && (bare || !inside)) {
        const WordRow *row = bare ? NULL : word_row("command", value);
        bool model = word_among("pretrain train", name) && !bare && !row; /* "--pretrain meta-llama/..." */
        if (model && isdigit((unsigned char)*value))
            return (task->any = add(task, "--tokens") && add(task, value)) ? read : -1;
        if (model) return 0;
        take_task(task, name);
        return row && take_task(task, value) ? read : bare ? bare : 1;
    }
    if (word_among(SCRIPTS, name) && !task->sweeps)
        return !take_format(task, bare ? "" : value) ? -1 : bare ? bare : read;
    if (word_among(GRIDS, name) && !bare && strpbrk(value, "=:")) return take_grid(task, value) ? read : -1;
    if (strcmp(name, "compare") == 0 && !bare && strchr(value, ',')) /* chips */
        return (task->any = add(task, "--chip") && add(task, value)) ? read : -1;
    if (word_among("check explain", name) && bare)
        return task->verb = strcmp(name, "check") == 0 ? "check" : "explain", task->any = true, bare;
    char *range = value && is_listed(name) && !task->sweeps ? range_of(task, value) : NULL;
    if (range) return (task->any = add(task, arena_format(task->arena, "--%s", name)) && add(task, range)) ? read : -1;
    return 0;
}

/* The words of the command itself, before the others. */
static bool add_command(Task *task, const char *first) {
    const WordRow *row = first ? word_row("command", first) : NULL;
    const char *named = row ? row->cell[2] : first;
    const char *verb = task->verb ? task->verb : named ? named : "plan";
    if (task->format) verb = "emit";
    bool plain = word_among("plan check explain inference rl validate diff", verb);
    if (row && row->cell[3] && *row->cell[3] && !task->way) task->way = row->cell[3];
    if (strcmp(verb, "check") == 0 && (task->subject == OF_SERVING || task->subject == OF_RL)) task->advice = NO_GATE;
    switch (task->subject) {
    case OF_SERVING:
        if (strcmp(verb, "sweep") == 0) return add(task, "sweep") && add(task, "inference");
        if (strcmp(verb, "emit") == 0)
            return add(task, "emit") && add(task, task->format && *task->format ? task->format : "vllm");
        return add(task, plain ? "inference" : verb);
    case OF_RL:
        if (strcmp(verb, "sweep") == 0) return add(task, "sweep") && add(task, "rl");
        return add(task, "rl") && (strcmp(verb, "emit") != 0 ||
                                   add(task, arena_format(task->arena, "--emit=%s",
                                                          task->format && *task->format ? task->format : "verl")));
    case OF_TUNING:
    case OF_TRAINING:
        if (strcmp(verb, "emit") == 0)
            return add(task, "emit") && add(task, task->format && *task->format ? task->format
                                                  : task->subject == OF_TUNING  ? "trl"
                                                  : task->tpu || !task->machine ? "maxtext"
                                                                                : "megatron");
        if (task->subject == OF_TUNING && strcmp(verb, "plan") == 0)
            return add(task, first && word_among("recommend suggest", first) ? first : "finetune");
        return add(task, verb);
    }
    return false;
}

/* The format of `emit`, wherever it stands: "emit --framework megatron", "emit slurm". Its place; 0: it has none. */
static int format_at(Task *task, int argc, char **argv) {
    for (int i = 2; i < argc; i++) {
        const char *word = argv[i] + strspn(argv[i], "-"), *value = strchr(word, '=');
        bool named = argv[i - 1][0] != '-' || i == 2 ||
                     word_among("--format --framework --for --launcher --engine -f", argv[i - 1]);
        if (named && row_of("format", value ? value + 1 : word))
            return take_format(task, value ? value + 1 : word) ? i : -1;
    }
    return 0;
}

static bool is_command(const char *word) { return command_is(word) || (word[0] != '-' && word_row("command", word)); }

/* The way of a task, unless the line says it: "--lora 8 --mode lora"; the rank of adapters may be another word. */
static bool add_way(Task *task, char **words, int count) {
    static const char SAID[] = "--sft --dpo --lora --qlora --freeze --task --full --from --from-config";
    bool said = false;
    for (int i = 0; i < count; i++) {
        char *name = arena_format(task->arena, "%.*s", (int)strcspn(words[i], "="), words[i]);
        bool report = operand_is_file(words[i]) && (i == 0 || words[i - 1][0] != '-'); /* has its own request */
        said = said || !name || report || word_among(SAID, name);
    }
    if (task->subject == OF_TUNING && task->format && !task->way && !said) task->way = "--task=sft";
    size_t length = task->way ? strcspn(task->way, "=") : 0;
    if (length > 4 && strncmp(task->way + length - 4, "lora", 4) == 0)
        task->way = arena_format(task->arena, "%.*s", (int)length, task->way);
    for (int i = 0; i < count && length > 0; i++)
        if (strncmp(words[i], task->way, length) == 0 && (!words[i][length] || words[i][length] == '=')) length = 0;
    return task->way && length > 0;
}

char **task_words(int *argc, char **argv, Arena *arena, const char **advice) {
    Task task = {.arena = arena, .room = 4 * *argc + 16};
    *advice = NULL;
    if (*argc > 2 && word_among("ask question q", argv[1])) argv++, (*argc)--;
    if (*argc < 2 || strchr(argv[1], ' ')) return argv; /* a question */
    task.words = ARENA_NEW(arena, char *, (size_t)task.room + 1);
    if (!task.words) return NULL;
    const char *first = is_command(argv[1]) ? argv[1] : NULL;
    int begins = first ? 2 : 1;
    if (!first && *argc > 2 && argv[1][0] != '-' && !strchr(argv[1], '=') && is_command(argv[2]) &&
        (strpbrk(argv[1], "0123456789-/") && !is_command(argv[1]))) { /* "gpt-oss-120b finetune 8xh200" */
        char **swapped = ARENA_NEW(arena, char *, (size_t)*argc + 1);
        if (!swapped) return NULL;
        memcpy(swapped, argv, (size_t)*argc * sizeof *swapped);
        first = argv[2], swapped[1] = argv[2], swapped[2] = argv[1], argv = swapped, begins = 2;
    }
    const WordRow *row = first ? word_row("command", first) : NULL;
    bool emits = first && (strcmp(first, "emit") == 0 || (row && strcmp(row->cell[2], "emit") == 0)) && *argc > 2;
    if (first) take_task(&task, first), task.any = false;
    task.sweeps = first && strcmp(first, "sweep") == 0;
    bool trainer = false;
    int at = emits ? format_at(&task, *argc, argv) : 0;
    for (int i = begins; at >= 0 && i < *argc; i++) {
        bool of_format = at > 0 && (i == at || (i == at - 1 && i > 1 && argv[i][0] == '-' && argv[at][0] != '-'));
        task.tpu = task.tpu || strcasestr(argv[i], "tpu") || strncasecmp(argv[i], "--slice", 7) == 0 ||
                   strncasecmp(argv[i], "--pods", 6) == 0;
        task.machine = task.machine || strcasestr(argv[i], "gpu") || strncmp(argv[i], "--chip", 6) == 0 ||
                       strcasestr(argv[i], "node") || strcasestr(argv[i], "instance") ||
                       strncmp(argv[i], "--hw", 4) == 0;
        if (of_format) continue;
        trainer = trainer || strstr(argv[i], "model_name_or_path");
        int read = read_option(&task, argv + i, *argc - i);
        if (read < 0 || (read == 0 && !add(&task, argv[i]))) return NULL;
        i += read > 0 ? read - 1 : 0;
    }
    if (at < 0) return NULL;
    if (trainer && !first && task.subject == OF_TRAINING && !task.verb) /* as TRL and the Trainer of HF call it */
        task.subject = OF_TUNING, task.any = true;
    if (!task.any) return argv;
    int options = task.count, own = 0;
    if (!add_command(&task, first)) return NULL;
    char **out = ARENA_NEW(arena, char *, (size_t)task.room + 2);
    if (!out) return NULL;
    out[own++] = argv[0];
    for (int i = options; i < task.count; i++) out[own++] = task.words[i];
    for (int i = 0; i < options; i++) out[own++] = task.words[i];
    if (add_way(&task, out, own)) out[own++] = (char *)task.way;
    *advice = task.advice;
    *argc = own;
    return out;
}
