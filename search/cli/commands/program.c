/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `shardopt program FILE.mlir`: the shardings of any program. */
#include "base/clock.h"
#include "base/file.h"
#include "search/cli/interrupt.h"
#include "search/cli/planning.h"
#include "search/program/question.h"
#include "search/program/rules.h"
#include "search/program/write.h"

#include <math.h>
#include <stdio.h>

static double seconds_now(void *context) {
    (void)context;
    return clock_seconds();
}

enum { FORMAT_PYTHON = 2, FORMAT_DTENSOR }; /* behind text and json */

static bool write_answer(const ProgramQuestion *question, const ProgramAnswer *answer, int format,
                         const OutputChoice *choice, Streams streams, Error *error) {
    Draft draft;
    if (!draft_open(&draft, error)) return false;
    TextOut out = planning_text_out(draft.file, choice, streams);
    Arena arena = {0};
    bool ok = format == FORMAT_JSON ? program_write_json(question, answer, draft.file, error)
              : format >= FORMAT_PYTHON && answer->best >= 0
                  ? program_write_python(question, answer, format == FORMAT_DTENSOR, draft.file, error)
                  : program_write_text(question, answer, &arena, out, error);
    arena_free(&arena);
    return draft_write(&draft, ok, streams.out, choice->path, error);
}

/* A file next to the answer. */
static bool write_file(const ProgramQuestion *question, const ProgramAnswer *answer, const char *path,
                       bool (*write)(const ProgramQuestion *, const ProgramAnswer *, FILE *, Error *), Streams streams,
                       Error *error) {
    Draft draft;
    return draft_open(&draft, error) &&
           draft_write(&draft, write(question, answer, draft.file, error), streams.out, path, error);
}

/* The files first, so that the answer says of what is there. */
static bool write_files(const Options *options, const ProgramQuestion *question, const ProgramAnswer *answer,
                        Streams streams, Error *error) {
    const char *annotate = options->text[OPTION_ANNOTATE], *graph = options->text[OPTION_GRAPH];
    if (annotate && answer->best >= 0 && !write_file(question, answer, annotate, program_annotate, streams, error))
        return false;
    return !graph || write_file(question, answer, graph, program_graph_write, streams, error);
}

static void say_meshes(const ProgramAnswer *answer, FILE *err) {
    for (int i = 0; i < answer->meshes.count; i++) {
        const ProgramChoice *choice = &answer->choice[i];
        fprintf(err, "shardopt: mesh");
        for (int a = 0; a < choice->mesh.axes; a++) fprintf(err, " %c=%lld", 'x' + a, (long long)choice->mesh.size[a]);
        if (choice->found)
            fprintf(err, ": %.6g s, no less than %.6g s\n", choice->seconds, choice->bound);
        else if (choice->proof == GRAPH_INFEASIBLE)
            fprintf(err, ": nothing fits\n");
        else
            fprintf(err, ": nothing was found; no less than %.6g s\n", choice->bound);
    }
    fprintf(err, "shardopt: %lld nodes, %lld edges, %lld strategies\n", (long long)answer->nodes,
            (long long)answer->edges, (long long)answer->strategies);
}

static int exit_of_answer(const ProgramAnswer *answer) {
    if (answer->interrupted) return EXIT_INTERRUPTED;
    if (answer->best < 0 && answer->infeasible) return EXIT_NO_PLAN;
    return answer->proven ? EXIT_DONE : EXIT_LIMIT;
}

static int answer_program(const Options *options, const Program *program, int format, Streams streams, Arena *arena,
                          Error *error) {
    OutputChoice choice;
    ProgramQuestion *question = ARENA_NEW(arena, ProgramQuestion, 1);
    ProgramAnswer answer = {0};
    double start = clock_seconds();
    if (!question) return error_memory(error), EXIT_DEFECT;
    if (!output_from_options(options, &choice, error)) return EXIT_USAGE;
    if (!program_question(options, program, arena, question, error)) return EXIT_USAGE;
    question->control.seconds = seconds_now;
    question->control.interrupted = interrupt_came;
    bool ok = program_answer(question, arena, &answer, error);
    if (ok && choice.verbose) say_meshes(&answer, streams.err);
    if (ok && choice.timing) fprintf(streams.err, "shardopt: %.3f s\n", clock_seconds() - start);
    ok = ok && write_files(options, question, &answer, streams, error) &&
         write_answer(question, &answer, format, &choice, streams, error);
    flow_free(&answer.flow);
    return ok ? exit_of_answer(&answer) : exit_of_error(error);
}

static int run(const CommandLine *line, Streams streams, Error *error) {
    Options *options = ARENA_NEW(line->arena, Options, 1);
    InterruptScope scope;
    Program program = {0};
    const char *path;
    char *text;
    size_t length;
    char *rules = NULL;
    if (!options) return error_memory(error), EXIT_DEFECT;
    options_of_line(line, options);
    int format = FORMAT_TEXT;
    if (!line_choice(line, OPTION_FORMAT, &format, error) ||
        !line_one_file(line, "no program is named; give FILE.mlir, jax.jit(f).lower(...).as_text()", &path, error) ||
        (options->text[OPTION_RULES] &&
         !file_read(options->text[OPTION_RULES], PROGRAM_BYTES_MAX, line->arena, &rules, &length, error)) ||
        !file_read(path, PROGRAM_BYTES_MAX, line->arena, &text, &length, error))
        return EXIT_USAGE;
    options->text[OPTION_FORMAT] = NULL; /* has words of its own */
    interrupt_begin(&scope);
    bool is_read = program_read(text, length, path, &program, error);
    program.rules = rules;
    is_read = is_read && user_rules_match(&program, line->arena, error);
    int code = is_read ? answer_program(options, &program, format, streams, line->arena, error) : exit_of_error(error);
    interrupt_end(&scope);
    program_free(&program);
    return code;
}

const Command COMMAND_PROGRAM = {
    .name = "program",
    .summary = "any program, as StableHLO text: how to shard its tensors, with a proof",
    .usage = "program FILE.mlir --chip NAME [--slice SHAPE | --nodes N] [--annotate FILE] [OPTIONS]",
    .about =
        "The best sharding of every tensor of a program (StableHLO text: jax.jit(f).lower(...).as_text()) over one\n"
        "machine: arguments, and the tensors inside, for every mesh that the machine can be seen as.",
    .details = "Reads a program as StableHLO text, as JAX prints it, and finds the mesh of one to three axes and the "
               "sharding of every tensor that take the least time: matmuls and memory by the chip's profile, "
               "collectives at the machine's rates, within its memory. What each operation allows is a table "
               "(docs/program.md). --annotate writes the program with its shardings, which XLA compiles as it stands.",
    .options = PROGRAM_OPTIONS,
    .option_count = OPTION_COUNT,
    .takes_arguments = true,
    .argument_values = "@files",
    .footer = "Exit codes: 0 proven, 2 input is wrong, 3 nothing fits, 4 ended before the proof, 70 a defect, 130 "
              "interrupted\n(the best so far is printed).",
    .examples = "shardopt program step.mlir --chip v5e --slice 4x4 --annotate sharded.mlir\n",
    .run = run,
};
