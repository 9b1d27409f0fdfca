/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `shardopt rl`: a step of reinforcement learning on one cluster. */
#include "base/clock.h"
#include "base/file.h"
#include "search/cli/interrupt.h"
#include "search/cli/planning.h"
#include "search/options/machine_words.h"
#include "search/rl/rl_compare.h"
#include "search/rl/rl_report.h"

#include <string.h>

static bool write_answer(const RlQuestion *question, const RlAnswer *answer, const OutputChoice *choice,
                         Streams streams, Arena *arena, Error *error) {
    Draft draft;
    Recipes recipes = {0};
    bool brief = choice->format == FORMAT_BRIEF;
    if ((answer->found && !brief && !recipes_price(question, arena, &recipes, error)) || !draft_open(&draft, error))
        return false;
    TextOut out = planning_text_out(draft.file, choice, streams);
    bool ok = brief || choice->format == FORMAT_JSON
                  ? rl_write_json(question, answer, brief ? NULL : &recipes, draft.file, error)
              : choice->format == FORMAT_HTML ? rl_write_html(question, answer, &recipes, draft.file, error)
                                              : rl_write_text(question, answer, &recipes, out, error);
    return draft_write(&draft, ok, streams.out, choice->path, error);
}

static bool write_file(const RlQuestion *question, const RlAnswer *answer, const char *path, Streams streams,
                       Arena *arena, Error *error) {
    Draft draft;
    const RlFramework *framework = rl_framework_named(question->options->text[OPTION_EMIT]);
    if (!answer->found)
        return error_set(error, ERROR_INPUT, "--emit", "no split fits; `shardopt rl` with the same options says why");
    const RlStep *step = rl_step_for(answer, framework);
    return draft_open(&draft, error) &&
           draft_write(&draft, rl_emit(question, step, framework, arena, draft.file, error), streams.out, path, error);
}

/* What is run today, with the options of its file, and what it takes with one of its choices free. */
static int compare(const CommandLine *line, Options *options, const OutputChoice *choice, Streams streams,
                   Error *error) {
    Draft draft;
    RlConfig config = {0};
    char *text;
    bool fits = false;
    if (choice->format != FORMAT_TEXT || options->text[OPTION_EMIT])
        return error_set(error, ERROR_INPUT, "--from-config", "is answered as text; leave --format and --emit out"),
               EXIT_USAGE;
    if (!line_file(line, OPTION_FROM_CONFIG, &config.path, error) ||
        !file_read(config.path, CONFIG_BYTES_MAX, line->arena, &text, &config.length, error))
        return EXIT_USAGE;
    config.text = text;
    if (!rl_import(&config, line->arena, options, error)) return EXIT_USAGE;
    if (!line->text[OPTION_ANSWER] && !line->text[OPTION_LENGTHS] && !choice->quiet)
        fprintf(streams.err,
                "shardopt: warning: %.100s does not say how long answers are: %s tokens in mean, a quarter of the "
                "longest; give --answer\n",
                config.path, options->text[OPTION_ANSWER]);
    if (!draft_open(&draft, error)) return EXIT_DEFECT;
    TextOut out = planning_text_out(draft.file, choice, streams);
    bool ok = rl_compare(options, config.framework, line->arena, out, &fits, error);
    if (!draft_write(&draft, ok, streams.out, choice->path, error)) return exit_of_error(error);
    return fits ? EXIT_DONE : EXIT_NO_PLAN;
}

static int run(const CommandLine *line, Streams streams, Error *error) {
    Options *options = ARENA_NEW(line->arena, Options, 1);
    RlQuestion *question = ARENA_NEW(line->arena, RlQuestion, 1);
    RlAnswer *answer = ARENA_NEW(line->arena, RlAnswer, 1);
    OutputChoice choice;
    InterruptScope scope;
    double start = clock_seconds();
    if (!options || !question || !answer) return error_memory(error), EXIT_DEFECT;
    options_of_line(line, options);
    int format;
    if (!choice_read(options->text[OPTION_FORMAT], "--format", "text json html brief", &format, error) ||
        !output_from_options(options, &choice, error))
        return EXIT_USAGE;
    interrupt_begin(&scope);
    options->environment = cli_environment();
    if (line->text[OPTION_FROM_CONFIG]) {
        int code = compare(line, options, &choice, streams, error);
        interrupt_end(&scope);
        return code;
    }
    const RlFramework *emits = options->text[OPTION_EMIT] ? rl_framework_named(options->text[OPTION_EMIT]) : NULL;
    if (emits && emits->trainer && !options->text[OPTION_FOR] && !options->text[OPTION_LORA])
        options->text[OPTION_FOR] = emits->trainer;
    bool ok = rl_question(options, line->arena, question, error) && rl_answer(question, line->arena, answer, error);
    Error lacks = {0};
    if (ok && emits && answer->found && !options->text[OPTION_ROLLOUT] &&
        rl_refuses(question, rl_step_for(answer, emits), emits, &lacks)) {
        /* The best of the engines that it has words for, if it is they that it lacks. */
        options->text[OPTION_ROLLOUT] = "attention_data=1";
        ok = rl_question(options, line->arena, question, error) && rl_answer(question, line->arena, answer, error);
    }
    bool interrupted = interrupt_came(NULL);
    interrupt_end(&scope);
    if (ok && !choice.quiet) rl_write_left_out(question, streams.err);
    if (ok && choice.verbose) rl_write_certificate(answer, streams.err);
    if (ok && choice.timing) fprintf(streams.err, "shardopt: %.3f s\n", clock_seconds() - start);
    if (ok)
        ok = options->text[OPTION_EMIT] ? write_file(question, answer, choice.path, streams, line->arena, error)
                                        : write_answer(question, answer, &choice, streams, line->arena, error);
    if (ok && line->text[OPTION_FRONT]) ok = rl_write_front(question, line->arena, streams.err, error);
    if (!ok) return exit_of_error(error);
    return interrupted ? EXIT_INTERRUPTED : answer->found ? EXIT_DONE : EXIT_NO_PLAN;
}

const Command COMMAND_RL = {
    .name = "rl",
    .summary = "reinforcement learning: colocated or split, the engine that generates, the plan that trains",
    .usage = "rl --model NAME --chip NAME [--nodes N | --chips N] [--prompts N] [--samples N] [OPTIONS]",
    .about = "The best way to run GRPO, PPO and others on one cluster: training and generation on the same chips or\n"
             "on parts of their own, and for each the best plan and the best engine, proven.",
    .details = "A step generates answers, computes log-probabilities, trains, and sends the weights over. Generation "
               "is priced with the answers in flight falling to the longest one; the plan that trains is that of "
               "`shardopt plan` on its part of the machine.",
    .options = RL_OPTIONS,
    .option_count = OPTION_COUNT,
    .use = USE_RL,
    .footer = "Numbers take k M G T (powers of ten) and Ki Mi Gi Ti; shares also %.\n"
              "Exit codes: 0 done, 2 input is wrong, 3 nothing fits, 70 a defect, 130 interrupted.",
    .examples =
        "shardopt rl --model 8b --chip h100 --nodes 1 --prompts 64 --samples 32 --answer 700 --max-answer 4096\n",
    .run = run,
};
