/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The manual page: roff made from the rows of the commands, and from the texts below for what is of no command. */
#include "base/build.h"
#include "base/util.h"
#include "search/cli/commands.h"
#include "search/options/options.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

/* What the manual page says that belongs to no command. Texts are written as those of
 * CommandOption.details. */

typedef struct {
    const char *heading; /* "EXIT STATUS"; the heading of the row before means the same section; NULL ends a list */
    const char *tag;     /* NULL means a plain paragraph */
    const char *text;
} ManualSection;

/* Lines that a test runs (tests/install/examples.sh), each with a newline, and what they are for. */
typedef struct {
    const char *text; /* NULL ends the list */
    const char *lines;
} ManualExample;

static const char *const MANUAL_OPTIONS =
    "Numbers take k M G T (powers of ten) and Ki Mi Gi Ti (powers of two); shares also take %. An option is given "
    "once. In parentheses: the default, which the report states too.";

static const char *const MANUAL_MACHINE =
    "One of --pods, --slice, --chips and --nodes; --nodes with --chips, or with --gpus-per-node, are hosts of so many.";

static const ManualSection MANUAL_BEFORE[] = {
    {"DESCRIPTION", NULL,
     "Given a model, a machine and a batch, `shardopt` prints the plans that train it fastest, what each step costs, "
     "what bounds it and how much memory it takes, and proves that no plan it left out is better: every "
     "factorization of the machine into the roles data, fsdp, sequence, tensor, expert and pipeline, with every "
     "setting of the knobs, is evaluated or cut by a bound that is below its cost.\nThe result goes to standard "
     "output alone; warnings go to standard error. The same input gives the same bytes, for any number of threads; "
     "only --time-limit may change that."},
    {NULL, NULL, NULL},
};

static const ManualSection MANUAL_AFTER[] = {
    {"REPORT", NULL,
     "Degrees above 1, then the schedule, v chunks a stage and m microbatches. expert=64(folded) are experts on "
     "ranks of data, sequence and tensor. A likely range is where nine of ten measured steps of that chip would lie, "
     "by runs that the fit of its profile had not seen; the two bounds next to it have all communication hidden, and "
     "none. What the keys of `--format json` mean is in json.md, next to this page in the sources and in "
     "PREFIX/share/doc/shardopt."},
    {"EXIT STATUS", "`0`", "Done."},
    {"EXIT STATUS", "`1`",
     "A check failed: a limit of `validate` does not hold, `check` found something worse, or `diff --exit-code` a "
     "difference."},
    {"EXIT STATUS", "`2`", "The usage or the input is wrong: one line on standard error, nothing on standard output."},
    {"EXIT STATUS", "`3`", "No plan fits; the report says how far off. Of a sweep: at no point."},
    {"EXIT STATUS", "`4`",
     "A limit ended the search before the proof; the report has the best so far and its gap. Of a sweep: at some "
     "point. It is 0 else, whatever single points came to; of a part it is 0 or 4."},
    {"EXIT STATUS", "`70`", "A defect of the program, or memory is out."},
    {"EXIT STATUS", "`130`", "Interrupted. `plan`, `explain` and `layout` print the best so far with its gap."},
    {"ENVIRONMENT", "`SHARDOPT_DATA`",
     "The folder that holds models/zoo, mesh/catalog, cost/profiles and cost/optimizers; when it is set, data are "
     "looked for only there."},
    {"ENVIRONMENT", "`GITHUB_ACTIONS`",
     "Where it is set, `check` writes annotations to standard error too: at most ten errors, and ten notices of what "
     "is better."},
    {"ENVIRONMENT", "`OMP_NUM_THREADS`", "Threads to use where --threads is not given."},
    {"FILES", "PREFIX/share/shardopt/models/zoo/*.json",
     "Models: a Hugging Face config.json each, with an object \"shardopt\" for names, sources and training defaults. "
     "With \"model_type\": \"shardopt\" a file describes its layers itself, by kind: count, heads, kv_heads, "
     "head_dim, window, d_ff, experts, top_k, d_ff_expert, d_ff_shared and so on."},
    {"FILES", "PREFIX/share/shardopt/mesh/catalog/*.json", "Chips: every figure with its unit and source."},
    {"FILES", "PREFIX/share/shardopt/cost/measured/data/*.tsv",
     "Measured runs, published by others: one run a line, columns by name, tab-separated; README.md next to them says "
     "how. "
     "flagged.tsv: which of them are odd."},
    {"FILES", "PREFIX/share/shardopt/cost/profiles/*.json",
     "Profiles: which share of these figures a machine and its software reach."},
    {"FILES", "PREFIX/share/shardopt/cost/optimizers/*.json",
     "Optimizers: which moments they keep of which parameters, and whether updates are made orthogonal."},
    {"FILES", NULL,
     "They are looked for next to the program (../share/shardopt from its folder), then in the source folder it was "
     "built from, then where it was to be installed. New files need no recompilation."},
    {NULL, NULL, NULL},
};

static const ManualExample MANUAL_EXAMPLES[] = {
    {"The worked problem of eight TPU v5p pods:", "shardopt --model 405b --pods 8\n"},
    {"GPUs, with another batch, only what Megatron can launch:",
     "shardopt --model 70b --chip h100 --nodes 64 --batch 4Mi --seq 8192 --for megatron\n"},
    {"A report for scripts, and then one of its plans in full; a configuration of MaxText, and that read back:",
     "shardopt --model mixtral-8x22b --chip v5e --slice 16x16 --format json -o report.json\n"
     "shardopt explain --from report.json --rank 2\n"
     "shardopt emit maxtext --model 8b --chip v5e --slice 16x16 --batch 1Mi -o run.yml\n"
     "shardopt explain --from-config run.yml --chip v5e --slice 16x16\n"},
    {"The best plan that MaxText can launch, and one that is named, for JAX:",
     "shardopt emit maxtext --model 8b --chip v5e --slice 4x4 --batch 256Ki -o plan.yml\n"
     "shardopt emit jax --model 8b --chip v5e --slice 4x4 --batch 256Ki --plan fsdp=16 -o plan.py\n"},
    {NULL, NULL},
};

static const ManualSection MANUAL_END[] = {
    {"COPYING", NULL, "GPL-3.0-or-later. Linking the library binds a program to it, because GLPK is inside."},
    {NULL, NULL, NULL},
};

enum { LINE_MAX = 118, WORD_MAX = 256 };

/* ---- text to roff ---- */

/* One word of roff being built; what does not fit is left out, which the test of the page would show. */
typedef struct {
    char text[WORD_MAX];
    size_t length;
} Word;

static void add(Word *word, const char *text, size_t length) {
    if (word->length + length >= sizeof word->text) return;
    memcpy(word->text + word->length, text, length);
    word->length += length;
    word->text[word->length] = '\0';
}

static void add_escaped(Word *word, const char *text, size_t length) {
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '-' || text[i] == '\\') add(word, "\\", 1);
        if (text[i] == '\\')
            add(word, "e", 1);
        else
            add(word, &text[i], 1);
    }
}

static void add_in(Word *word, char font, const char *text, size_t length) {
    char begin[4] = {'\\', 'f', font, '\0'};
    add(word, begin, 3);
    add_escaped(word, text, length);
    add(word, "\\fR", 3);
}

/* How many characters at `text` are an option as it is typed, "--max-idle"; 0 when it is none. */
static size_t option_length(const char *text) {
    if (strncmp(text, "--", 2) != 0 || !islower((unsigned char)text[2])) return 0;
    size_t length = 2;
    while (islower((unsigned char)text[length]) || text[length] == '-') length++;
    return length;
}

/* The next word of a text into *word: options, and what stands between `...`, are bold. `quoted` goes on from word to
 * word. Returns where the word ends. */
static const char *next_word(const char *text, bool *quoted, Word *word) {
    *word = (Word){.length = 0};
    if (*text == '.' || *text == '\'') add(word, "\\&", 2);
    if (*quoted) add(word, "\\fB", 3);
    while (*text && *text != ' ' && *text != '\n') {
        size_t option = *quoted ? 0 : option_length(text);
        if (*text == '`') {
            *quoted = !*quoted;
            add(word, *quoted ? "\\fB" : "\\fR", 3);
            text++;
        } else if (option > 0) {
            add_in(word, 'B', text, option);
            text += option;
        } else {
            add_escaped(word, text++, 1);
        }
    }
    if (*quoted) add(word, "\\fR", 3);
    return text;
}

/* A text of the rows, filled to lines; a newline in it begins a paragraph, by `between`. */
static void write_text(FILE *out, const char *text, const char *between) {
    size_t used = 0;
    bool quoted = false;
    while (*text) {
        Word word;
        text = next_word(text, &quoted, &word);
        bool breaks = used > 0 && used + 1 + word.length > LINE_MAX;
        if (used > 0) fputc(breaks ? '\n' : ' ', out);
        used = (breaks || used == 0 ? 0 : used + 1) + word.length;
        fputs(word.text, out);
        if (*text == '\n') {
            fprintf(out, "\n%s", between);
            used = 0;
        }
        if (*text) text++;
    }
    fputc('\n', out);
}

/* A usage: names of values are in capitals, and slanted; what is typed is bold. */
static void write_usage(FILE *out, const char *text, size_t length) {
    Word line = {.length = 0};
    add_in(&line, 'B', "shardopt", 8);
    add(&line, " ", 1);
    for (size_t i = 0, end; i < length; i = end) {
        end = i + 1;
        bool typed = isalnum((unsigned char)text[i]) || text[i] == '-';
        while (typed && end < length && (isalnum((unsigned char)text[end]) || strchr("-./", text[end])) &&
               strncmp(text + end, "...", 3) != 0)
            end++;
        if (typed)
            add_in(&line, isupper((unsigned char)text[i]) ? 'I' : 'B', text + i, end - i);
        else
            add(&line, text + i, 1);
    }
    fprintf(out, "%s\n", line.text);
}

/* ---- the parts ---- */

static void write_synopsis(FILE *out) {
    fputs(".SH SYNOPSIS\n", out);
    for (int i = 0; i < COMMAND_COUNT; i++)
        for (const char *form = COMMANDS[i]->usage; *form;) {
            size_t length = strcspn(form, "\n");
            if (i > 0 || form != COMMANDS[i]->usage) fputs(".br\n", out);
            write_usage(out, form, length);
            form += length + (form[length] == '\n');
        }
}

static void write_commands(FILE *out) {
    fputs(".SH COMMANDS\n", out);
    for (int i = 0; i < COMMAND_COUNT; i++) {
        fprintf(out, ".TP\n.B %s\n", COMMANDS[i]->name);
        write_text(out, COMMANDS[i]->details, ".IP\n");
    }
    fputs(".TP\n.BR help \" [\" \\fICOMMAND\\fR ]\n", out);
    write_text(out, "Options of a command, as its --help prints them.", ".IP\n");
}

static void write_tag(FILE *out, const CommandOption *row) {
    Word tag = {.length = 0};
    char letter[3] = {'-', row->letter, '\0'}, name[64];
    if (row->letter) add_in(&tag, 'B', letter, 2);
    if (row->letter) add(&tag, ", ", 2);
    add_in(&tag, 'B', name, (size_t)snprintf(name, sizeof name, "--%s", row->name));
    if (row->takes) add(&tag, " ", 1);
    if (row->takes) add_in(&tag, 'I', row->takes, strlen(row->takes));
    fprintf(out, ".TP\n%s\n", tag.text);
}

/* Whether a text begins with one of the words of `values`, which is typed as it is and keeps its small letter. */
static bool begins_with_value(const char *text, const char *values) {
    size_t length = strcspn(text, " ,");
    for (const char *word = values; word && *word;) {
        size_t own = strcspn(word, " ");
        if (own == length && strncmp(word, text, length) == 0) return true;
        word += own + (word[own] == ' ');
    }
    return false;
}

/* The line of help as a sentence, where a row has no more to say. */
static void write_row_text(FILE *out, const CommandOption *row) {
    char sentence[256];
    snprintf(sentence, sizeof sentence, "%s.", row->help);
    if (!begins_with_value(sentence, row->values)) sentence[0] = (char)toupper((unsigned char)sentence[0]);
    write_text(out, row->details ? row->details : sentence, ".IP\n");
}

/* The commands that share a table and have the row, when they are not all that plan: "Commands: plan, sweep." */
static void write_owners(FILE *out, const CommandOption *row, const CommandOption *table) {
    const char *owners[COMMAND_COUNT];
    int count = 0;
    for (int i = 0; i < COMMAND_COUNT; i++)
        if (COMMANDS[i]->options == table && (row->use & COMMANDS[i]->use)) owners[count++] = COMMANDS[i]->name;
    if ((row->use & USE_ALL_PLANNING) == USE_ALL_PLANNING || count == 0) return;
    fputs(count == 1 ? "Command: " : "Commands: ", out);
    for (int i = 0; i < count; i++) fprintf(out, "%s\\fB%s\\fR", i == 0 ? "" : ", ", owners[i]);
    fputs(".\n", out);
}

static void write_shared_options(FILE *out, const Command *first) {
    int rows[OPTIONS_MAX];
    const char *headings[OPTIONS_MAX], *heading = "";
    int count = command_sections(first, rows, headings);
    for (int i = 0; i < count; i++) {
        const CommandOption *row = &first->options[rows[i]];
        if (strcmp(heading, headings[i]) != 0) fprintf(out, ".SS %s\n", headings[i]);
        heading = headings[i];
        if (strcmp(row->name, "model") == 0) write_text(out, MANUAL_MACHINE, ".PP\n");
        write_tag(out, row);
        write_row_text(out, row);
        write_owners(out, row, first->options);
    }
    fputs(".TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR\n", out);
    write_text(out, "Print the options of the command, and nothing else. Every command has it.", ".IP\n");
    fputs(".TP\n\\fB\\-\\-ignore\\-unknown\\fR\n", out);
    write_text(
        out,
        "Of a pasted line: leave out options of other programs on which no answer depends (learning rates, paths, "
        "logs), and say which. Without it they are errors.",
        ".IP\n");
}

/* What a command has in addition to the options that were described: a table of its own, and notes. */
static void write_own_options(FILE *out, const Command *command, const CommandOption *shared) {
    bool own = command->options != shared;
    if (own || command->notes) fprintf(out, ".SS Of %s\n", command->name);
    for (int i = 0; own && i < command->option_count; i++) {
        if (!command->options[i].name) continue;
        write_tag(out, &command->options[i]);
        write_row_text(out, &command->options[i]);
    }
    for (const CommandNote *note = command->notes; note && note->tag; note++) {
        fputs(".TP\n", out);
        write_text(out, note->tag, "");
        write_text(out, note->text, ".IP\n");
    }
}

static void write_sections(FILE *out, const ManualSection *section) {
    const char *heading = "";
    for (; section->heading; section++) {
        if (strcmp(heading, section->heading) != 0) fprintf(out, ".SH %s\n", section->heading);
        heading = section->heading;
        if (section->tag) fputs(".TP\n", out);
        if (section->tag) write_text(out, section->tag, "");
        write_text(out, section->text, section->tag ? ".IP\n" : ".PP\n");
    }
}

/* Lines that are typed. Both words of a pair stand in the page as they are, but for escapes. */
static void write_examples(FILE *out) {
    fputs(".SH EXAMPLES\n", out);
    for (const ManualExample *example = MANUAL_EXAMPLES; example->text; example++) {
        if (example != MANUAL_EXAMPLES) fputs(".PP\n", out);
        write_text(out, example->text, ".PP\n");
        fputs(".PP\n.RS\n.nf\n", out);
        for (const char *at = example->lines; *at; at++) fprintf(out, "%s%c", *at == '-' ? "\\" : "", *at);
        fputs(".fi\n.RE\n", out);
    }
}

void manual_write(FILE *out) {
    const CommandOption *shared = COMMANDS[0]->options;
    fprintf(out,
            ".\\\" SPDX-License-Identifier: GPL-3.0-or-later\n"
            ".\\\" Made by `shardopt help --man` from the tables of search/cli: change those, then print it again.\n"
            ".TH SHARDOPT 1 \"2025\" \"shardopt %s\" \"User Commands\"\n"
            ".SH NAME\nshardopt \\- find, and prove, the best way to shard a transformer over a machine\n",
            program_version());
    write_synopsis(out);
    write_sections(out, MANUAL_BEFORE);
    write_commands(out);
    fputs(".SH OPTIONS\n", out);
    write_text(out, MANUAL_OPTIONS, ".PP\n");
    write_shared_options(out, COMMANDS[0]);
    for (int i = 0; i < COMMAND_COUNT; i++) write_own_options(out, COMMANDS[i], shared);
    write_sections(out, MANUAL_AFTER);
    write_examples(out);
    write_sections(out, MANUAL_END);
}
