/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The words of the command line: which options there are, and which of them were given. */
#include "search/cli/options.h"

#include "base/util.h"

#include <popt.h>
#include <stdlib.h>
#include <string.h>

enum {
    ONE = COMMAND_EXPLAIN | COMMAND_EMIT | COMMAND_CHECK,
    BOTH = COMMAND_PLAN | COMMAND_EXPLAIN,
    ALL = BOTH | COMMAND_SWEEP | COMMAND_EMIT | COMMAND_CHECK
};

/* In the order of Option. `takes`: NULL for a flag; `help`: NULL for what is read only to say what there is instead;
 * `heading`: stands before it in the help. */
static const struct {
    const char *name;
    char letter;
    const char *takes;
    int use;
    bool asks;
    const char *heading, *help;
} OPTIONS[OPTION_COUNT] = {
    [OPTION_BASELINE] = {"baseline", 0, "FILE", COMMAND_CHECK, false, "The gate",
                         "the plans to hold against: a report of --format json, or an array of them"},
    [OPTION_TOLERANCE] = {"tolerance", 0, "SHARE", COMMAND_CHECK, false, NULL,
                          "worse by this is as good: 1%, or step=1%,mfu=1%,memory=5% (1%)"},
    [OPTION_UPDATE] = {"update", 0, NULL, COMMAND_CHECK, false, NULL, "make the plans of now the baseline"},
    [OPTION_WITHIN] = {"within", 0, "SHARE", COMMAND_CHECK, false, NULL,
                       "how much slower than the best the plan of --plan or --from may be (5%)"},
    [OPTION_MARKDOWN] = {"markdown", 0, "FILE", COMMAND_CHECK, false, NULL, "write the answer there too, as Markdown"},
    [OPTION_JUNIT] = {"junit", 0, "FILE", COMMAND_CHECK, false, NULL, "write the answer there too, as JUnit's XML"},
    [OPTION_MODEL] = {"model", 0, "NAME", ALL, true, "Model and machine",
                      "a model of `shardopt models`, a Hugging Face config.json, or its folder"},
    [OPTION_CHIP] = {"chip", 0, "NAME", ALL, true, NULL, "a chip of `shardopt chips` (v5p)"},
    [OPTION_PODS] = {"pods", 0, "N", ALL, true, NULL, "whole TPU pods joined by DCN (1)"},
    [OPTION_SLICE] = {"slice", 0, "SHAPE", ALL, true, NULL, "one TPU slice: 16x20x28, v5p-1024, v6e-16"},
    [OPTION_SLICES] = {"slices", 0, "N", ALL, true, NULL, "that many of --slice, joined by DCN (1)"},
    [OPTION_CHIPS] = {"chips", 0, "N", ALL, true, NULL, "a number of chips, in the vendor's default shape"},
    [OPTION_NODES] = {"nodes", 0, "N", ALL, true, NULL, "GPU hosts, or racks of an NVL72 (1)"},
    [OPTION_OVERSUBSCRIPTION] = {"oversubscription", 0, "RATIO", ALL, true, NULL,
                                 "of the GPU network's spine: 2 is half of full bisection (1)"},
    [OPTION_BATCH] = {"batch", 0, "TOKENS", ALL, true, "Work", "tokens of one step (the model's training, else 4Mi)"},
    [OPTION_SEQUENCES] = {"sequences", 0, "N", ALL, true, NULL, "the batch in sequences instead"},
    [OPTION_SEQ] = {"seq", 0, "LEN", ALL, true, NULL,
                    "tokens of a sequence (the model's training, else 8,192 or its longest)"},
    [OPTION_TOKENS] = {"tokens", 0, "N", ALL, true, NULL,
                       "tokens of the whole training: 15T (the model's, else 20 per parameter)"},
    [OPTION_REQUIRE] = {"require", 0, "CONDITIONS", ALL, true, "Space",
                        "only plans like \"tensor=4 pipeline<=8 schedule=1f1b\""},
    [OPTION_FOR] = {"for", 0, "LAUNCHER", ALL, true, NULL,
                    "only what maxtext, jax, megatron, torchtitan or deepspeed can launch"},
    [OPTION_MAX_IDLE] = {"max-idle", 0, "SHARE", ALL, true, NULL, "chips that may stay unused (10%)"},
    [OPTION_BATCH_TOLERANCE] = {"batch-tolerance", 0, "SHARE", ALL, true, NULL, "how far the batch may move (0)"},
    [OPTION_PADDING] = {"padding", 0, "RULE", ALL, true, NULL, "none, launchable or any (launchable)"},
    [OPTION_SCHEDULES] = {"schedules", 0, "LIST", ALL, true, NULL,
                          "launchable, all, or some of gpipe,1f1b,interleaved,circular,zb_h1,dualpipe (launchable)"},
    [OPTION_NESTING] = {"nesting", 0, "NAME", ALL, true, NULL,
                        "how roles nest: default, maxtext, jax, megatron, megatron-pp-dp, torchtitan; or all"},
    [OPTION_OBJECTIVE] = {"objective", 0, "WHAT", ALL, true, NULL,
                          "least time, chip-hours or cost, per requested token (time)"},
    [OPTION_TOP] = {"top", 0, "K", COMMAND_PLAN, true, NULL, "how many plans to show (5)"},
    [OPTION_VARIANTS] = {"variants", 0, NULL, COMMAND_PLAN, true, NULL,
                         "show every placement and knob setting as a plan of its own"},
    [OPTION_PRECISION] = {"precision", 0, "TYPE", ALL, true, "Physics",
                          "bf16, fp8, mxfp8, nvfp4 or int8, where the chip has it (bf16)"},
    [OPTION_OPTIMIZER] = {"optimizer", 0, "NAME", ALL, true, NULL,
                          "adamw, adafactor, muon, sgd, sgd-momentum, or a file (adamw)"},
    [OPTION_STATE_DTYPES] = {"state-dtypes", 0, "TYPES", ALL, true, NULL,
                             "like \"parameters=bf16 gradients=fp32 master=fp32 moments=bf16\""},
    [OPTION_REMAT] = {"remat", 0, "POLICY", ALL, true, NULL,
                      "auto, none, full, full:40, save_qkv_proj ..., \"qkv=saved\" (auto)"},
    [OPTION_HBM_RESERVE] = {"hbm-reserve", 0, "SHARE", ALL, true, NULL, "HBM kept back (8%)"},
    [OPTION_PROFILE] = {"profile", 0, "NAME", ALL, true, NULL,
                        "ideal, default, a name of cost/profiles, or a file (default: the chip's)"},
    [OPTION_STACK] = {"stack", 0, "NAME", ALL, true, NULL,
                      "the software: megatron-core, torch-fsdp, maxtext-tpu ... (the chip's best current)"},
    [OPTION_BRUTE_FORCE] = {"brute-force", 0, NULL, COMMAND_PLAN | COMMAND_SWEEP, true, "Search and output",
                            "cut nothing: evaluate every plan"},
    [OPTION_TIME_LIMIT] = {"time-limit", 0, "S", ALL, true, NULL,
                           "stop after so many seconds, with the gap that is left (exit code 4)"},
    [OPTION_THREADS] = {"threads", 0, "N", ALL, false, NULL, "threads to use; the answer is the same for any number"},
    [OPTION_PLAN] = {"plan", 0, "PLAN", ONE, false, NULL,
                     "the plan that is meant: \"data=2 fsdp=1024 tensor=4 microbatches=8\""},
    [OPTION_FROM] = {"from", 0, "REPORT", ONE, false, NULL, "a plan of a report written by --format json"},
    [OPTION_RANK] = {"rank", 0, "N", ONE, false, NULL, "which plan of --from (1)"},
    [OPTION_FROM_CONFIG] = {"from-config", 0, "FILE", ONE, false, NULL,
                            "the plan of a launch configuration: MaxText, torchtitan, Megatron, DeepSpeed, JAX"},
    [OPTION_CONFIG_FORMAT] = {"config-format", 0, "NAME", ONE, false, NULL,
                              "which of them --from-config is (found out by its keys)"},
    [OPTION_WHY_NOT] = {"why-not", 0, NULL, COMMAND_EXPLAIN, false, NULL,
                        "compare with the best plan, and say which change helps (always with --from-config)"},
    [OPTION_SHARD] = {"shard", 0, "K/N", COMMAND_SWEEP, false, NULL,
                      "only every N-th point, from the K-th: a part for `shardopt merge`"},
    [OPTION_RESUME] = {"resume", 0, "FILE", COMMAND_SWEEP, false, NULL,
                       "keep finished points there, and go on from those that are there"},
    [OPTION_CERTIFICATE] = {"certificate", 0, "FILE", COMMAND_PLAN, false, NULL,
                            "write there what became of every degree tuple, for others to check"},
    [OPTION_FORMAT] = {"format", 0, "FORMAT", BOTH | COMMAND_SWEEP | COMMAND_CHECK, false, NULL,
                       "text, json or markdown; html, csv; of a check junit (text)"},
    [OPTION_OUTPUT] = {"output", 'o', "FILE", ALL, false, NULL, "write the result there instead of to stdout"},
    [OPTION_TIMING] = {"timing", 0, NULL, BOTH | COMMAND_EMIT, false, NULL, "say on stderr how long it took"},
    [OPTION_VERBOSE] = {"verbose", 'v', NULL, BOTH | COMMAND_EMIT, false, NULL, "say on stderr what is searched"},
    [OPTION_QUIET] = {"quiet", 'q', NULL, ALL, false, NULL, "no warnings"},
    [OPTION_COLOR] = {"color", 0, "WHEN", BOTH, false, NULL, "auto, always or never (auto)"},
    [OPTION_VERSION] = {"version", 0, NULL, ALL, false, NULL, "print the version"},
    [OPTION_HELP] = {"help", 'h', NULL, ALL, false, NULL, "show this"},
};

const char *option_name(Option option) { return OPTIONS[option].name; }

bool option_asks(Option option) { return OPTIONS[option].asks; }

void options_help(FILE *out, OptionUse use) {
    fprintf(out, "usage: shardopt %s\n",
            use == COMMAND_PLAN    ? "[plan] --model NAME [OPTIONS]"
            : use == COMMAND_SWEEP ? "sweep --model NAME[,NAME...] [OPTIONS]"
            : use == COMMAND_CHECK
                ? "check --baseline FILE [OPTIONS] | --plan PLAN --model NAME [OPTIONS] | --from-config FILE [OPTIONS]"
            : use == COMMAND_EMIT
                ? "emit FORMAT --from REPORT [--rank N] | --from-config FILE | --model NAME [--plan PLAN] [OPTIONS]"
                : "explain --model NAME --plan PLAN [OPTIONS] | --from REPORT [--rank N] | --from-config FILE "
                  "[OPTIONS]");
    if (use == COMMAND_SWEEP)
        fprintf(out,
                "\nThe best plan of every point of a grid. Options take lists with commas (--pods 1,2,4,8 or 1..8), "
                "those whose\nvalues have commas of their own (require, for, schedules, state-dtypes, remat) with "
                "semicolons. The first\noption below varies slowest.\n");
    if (use == COMMAND_CHECK)
        fprintf(out, "\nPlans every report of --baseline again, or prices one plan beside the best that there is now. "
                     "Fails (exit 1)\nwhere that is worse. With --baseline what is asked stands in its reports.\n");
    const char *heading = NULL;
    for (Option option = 0; option < OPTION_COUNT; option++) {
        if (OPTIONS[option].heading) heading = OPTIONS[option].heading;
        if (!(OPTIONS[option].use & (int)use) || !OPTIONS[option].help) continue;
        if (heading) fprintf(out, "\n%s\n", heading);
        heading = NULL;
        char left[64], letter[8] = "    ";
        if (OPTIONS[option].letter) snprintf(letter, sizeof letter, "-%c, ", OPTIONS[option].letter);
        snprintf(left, sizeof left, "%s--%s %s", letter, OPTIONS[option].name,
                 OPTIONS[option].takes ? OPTIONS[option].takes : "");
        fprintf(out, "  %-29s %s\n", left, OPTIONS[option].help);
    }
    fprintf(out,
            "\nNumbers take k M G T (powers of ten) and Ki Mi Gi Ti; shares also %%.\n"
            "Exit codes: 0 done, %s2 input is wrong, 3 no plan fits, 4 a limit ended the search, 70 a defect.\n",
            use == COMMAND_CHECK ? "1 something is worse, " : "");
}

static bool unknown_option(const char *word, OptionUse use, Error *error) {
    const char *names[OPTION_COUNT];
    char name[64];
    size_t count = 0;
    for (Option option = 0; option < OPTION_COUNT; option++)
        if (OPTIONS[option].use & (int)use) names[count++] = OPTIONS[option].name;
    const char *start = word + strspn(word, "-");
    snprintf(name, sizeof name, "%.*s", (int)min_whole((int64_t)strcspn(start, "="), 63), start);
    const char *nearest = name_nearest(name, names, count);
    return error_set(error, ERROR_INPUT, word, "is not an option; %s%s", nearest ? "did you mean --" : "see --help",
                     nearest ? nearest : "");
}

static bool popt_failure(poptContext context, int code, OptionUse use, Error *error) {
    const char *word = poptBadOption(context, POPT_BADOPTION_NOALIAS);
    if (!word) word = "command line";
    if (code == POPT_ERROR_BADOPT) return unknown_option(word, use, error);
    if (code == POPT_ERROR_NOARG) return error_set(error, ERROR_INPUT, word, "has no value; give one behind it");
    if (code == POPT_ERROR_MALLOC) return error_memory(error);
    return error_set(error, ERROR_INPUT, word, "cannot be read (%s); see --help", poptStrerror(code));
}

static bool take_option(Option option, const char *value, Arena *arena, Options *out, Error *error) {
    const char *where = arena_format(arena, "--%s", OPTIONS[option].name);
    const char *text = arena_text(arena, value ? value : "");
    if (!where || !text) return error_memory(error);
    if (out->text[option]) return error_set(error, ERROR_INPUT, where, "is given twice; give it once");
    out->text[option] = text;
    out->where[option] = where;
    return true;
}

static bool take_all(poptContext context, OptionUse use, Arena *arena, Options *out, Error *error) {
    int code;
    while ((code = poptGetNextOpt(context)) > 0) {
        char *value = poptGetOptArg(context);
        bool ok = take_option((Option)(code - 1), value, arena, out, error);
        free(value);
        if (!ok) return false;
    }
    if (code < -1) return popt_failure(context, code, use, error);
    const char *stray = poptGetArg(context);
    return !stray || error_set(error, ERROR_INPUT, stray[0] ? stray : "\"\"",
                               "is not expected here; options begin with --, see --help");
}

bool options_parse(int argc, char **argv, OptionUse use, Arena *arena, Options *out, Error *error) {
    struct poptOption table[OPTION_COUNT + 1];
    memset(table, 0, sizeof table);
    size_t count = 0;
    for (Option option = 0; option < OPTION_COUNT; option++) {
        if (!(OPTIONS[option].use & (int)use)) continue;
        table[count++] = (struct poptOption){.longName = OPTIONS[option].name,
                                             .shortName = OPTIONS[option].letter,
                                             .argInfo = OPTIONS[option].takes ? POPT_ARG_STRING : POPT_ARG_NONE,
                                             .val = (int)option + 1};
    }
    Options options = {0};
    poptContext context = poptGetContext("shardopt", argc, (const char **)argv, table, 0);
    if (!context) return error_memory(error);
    bool ok = take_all(context, use, arena, &options, error);
    poptFreeContext(context);
    if (ok) *out = options;
    return ok;
}

/* The value of an option as one of `names`; `fallback` when it is not given. */
static bool choose(const Options *options, Option option, const char *const *names, int count, int fallback,
                   const char *right, int *out, Error *error) {
    *out = fallback;
    if (!options->text[option]) return true;
    for (int i = 0; i < count; i++) {
        *out = i;
        if (strcmp(options->text[option], names[i]) == 0) return true;
    }
    return error_set(error, ERROR_INPUT, options->where[option], "\"%.40s\" is not available; give %s",
                     options->text[option], right);
}

bool output_from_options(const Options *options, OutputChoice *out, Error *error) {
    static const char *const FORMATS[FORMAT_COUNT] = {"text", "json", "markdown", "html", "csv"};
    static const char *const COLORS[] = {[COLOR_AUTO] = "auto", [COLOR_ALWAYS] = "always", [COLOR_NEVER] = "never"};
    int format, color;
    if (!choose(options, OPTION_FORMAT, FORMATS, FORMAT_COUNT, 0, "text, json, markdown, html or csv", &format, error))
        return false;
    if (!choose(options, OPTION_COLOR, COLORS, 3, 0, "auto, always or never", &color, error)) return false;
    if (options->text[OPTION_VERBOSE] && options->text[OPTION_QUIET])
        return error_set(error, ERROR_INPUT, "--verbose", "contradicts --quiet; give one of them");
    if (options->text[OPTION_OUTPUT] && options->text[OPTION_OUTPUT][0] == '\0')
        return error_set(error, ERROR_INPUT, "--output", "is empty; give a file");
    const char *certificate = options->text[OPTION_CERTIFICATE], *output = options->text[OPTION_OUTPUT];
    if (certificate && (certificate[0] == '\0' || strcmp(certificate, "-") == 0))
        return error_set(error, ERROR_INPUT, "--certificate", "is no file; give the name of one");
    if (certificate && output && strcmp(certificate, output) == 0)
        return error_set(error, ERROR_INPUT, "--certificate", "is the file of --output; give another one");
    *out = (OutputChoice){.format = (OutputFormat)format,
                          .color = (OutputColor)color,
                          .timing = options->text[OPTION_TIMING],
                          .verbose = options->text[OPTION_VERBOSE],
                          .quiet = options->text[OPTION_QUIET],
                          .path = options->text[OPTION_OUTPUT],
                          .certificate = options->text[OPTION_CERTIFICATE]};
    return true;
}
