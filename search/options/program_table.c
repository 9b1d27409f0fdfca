/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The options of `shardopt program`, one row each. */
#include "search/options/machine_rows.h"

const CommandOption PROGRAM_OPTIONS[OPTION_COUNT] = {
    SIZE_OPTION_ROWS(0),
    [OPTION_AXES] = INPUT_ROW("axes", "N", 0, .heading = "Conditions",
                              .help = "factorizations of the machine into at most so many axes, 1 to 3 (2)"),
    [OPTION_FIX] = INPUT_ROW(
        "fix", "LIST", 0, .help = "arguments with a sharding of their own: \"0=x,- 7=-,xy\"",
        .details = "Arguments that have to be sharded so, with blanks between them: the number of an argument (from "
                   "0), and for each dimension the axes that cut it, x y z, or - for none: `0=x,- 7=-,xy`. Axes are x, "
                   "y, z from the largest."),
    [OPTION_FIX_BATCH] = INPUT_ROW(
        "fix-batch", "AXES", 0, .help = "the batch is cut along these axes, as it comes: x, or xy",
        .details =
            "The batch comes as a data loader gives it: what is not donated is cut by its first dimension along "
            "these axes (x, y, z from the largest), but for arguments of --fix. A mesh that lacks one of them is "
            "left out."),
    [OPTION_RULES] = INPUT_ROW(
        "rules", "FILE", 0,
        .help = "how custom_calls can be sharded, a line each: \"attend b h - -, b h - - -> b h - -\"",
        .details =
            "A line for each custom_call of yours, by its target or kernel_name: for each operand a word for each "
            "dimension (or * for none), and behind -> those of the results. Dimensions of one word are sharded "
            "together, - stays whole; a word that no result has leaves partial sums.",
        .values = "@files"),
    [OPTION_PROFILE] = INPUT_ROW("profile", "NAME", 0, .heading = "Physics",
                                 .help = "ideal, default, or a file of cost/profiles (default: the chip's)",
                                 .values = "default ideal"),
    [OPTION_STACK] = INPUT_ROW("stack", "NAME", 0, .help = "the software of that file (the chip's best current)"),
    [OPTION_HBM_RESERVE] = INPUT_ROW("hbm-reserve", "SHARE", 0, .help = "fraction of HBM to keep free (10%)"),
    [OPTION_TIME_LIMIT] = OPTION_ROW(
        "time-limit", "S", 0, .heading = "Output",
        .help = "for each mesh, search until then (without: an amount of work)",
        .details = "For each mesh, search until then; without, an amount of work, so that the answer is the same on "
                   "every machine."),
    [OPTION_ANNOTATE] = OPTION_ROW(
        "annotate", "FILE", 0, .help = "write the program with its shardings: arguments, and constraints inside",
        .details = "Write the text with the mesh (sdy.mesh), the shardings of arguments and of the results that take "
                   "their place, and a constraint on every tensor that was given one. XLA compiles it as it stands.",
        .values = "@files", .writes = true),
    [OPTION_GRAPH] =
        OPTION_ROW("graph", "FILE", 0, .help = "write the graph of shardings, for `shardopt layout` (google/iopddl)",
                   .values = "@files", .writes = true),
    [OPTION_FORMAT] = OPTION_ROW(
        "format", "FORMAT", 0, .help = "text, json, python (JAX) or dtensor (text)",
        .details =
            "How the answer is written: text or json; python, the mesh, in_shardings of all arguments and, where "
            "the text has locations (debug_info=True), with_sharding_constraint by line of the source; dtensor, the "
            "same as PyTorch's placements (text).",
        .values = "text json python dtensor"),
    [OPTION_OUTPUT] = {OPTION_ROW_OUTPUT},
    [OPTION_THREADS] = {OPTION_ROW_THREADS},
    [OPTION_TIMING] = OPTION_ROW("timing", NULL, 0, .help = "print on stderr how long it took"),
    [OPTION_VERBOSE] = OPTION_ROW("verbose", NULL, 0, .letter = 'v', .help = "say what became of every mesh"),
    [OPTION_QUIET] = OPTION_ROW("quiet", NULL, 0, .letter = 'q', .help = "no warnings"),
};
