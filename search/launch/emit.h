/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/launch/emit.h: a plan as the configuration of a launcher. Pure but for the stream a writer is given.
 *
 * A format writes a plan that its launcher takes (launchable_by) and can place where it was costed; what the framework
 * cannot express is an error, what it does in another way that costs little or less memory is a note. */
#pragma once

#include "search/launch/launcher.h"

#include <stdio.h>

/* What the framework does otherwise than was costed: a sentence each, for a comment in the file and a warning. */
enum { EMIT_NOTES_MAX = 16, EMIT_NOTE_SIZE = 256 };
struct EmitNotes {
    char text[EMIT_NOTES_MAX][EMIT_NOTE_SIZE];
    int count;
};

/* NULL: there is none of that name, or of that launcher ("megatron-lm"). */
const EmitFormat *emit_format_named(const char *name);
/* From 0 on, launcher by launcher; NULL after the last. */
const EmitFormat *emit_format_at(int index);
int emit_format_launcher(const EmitFormat *format); /* whose it is, in the list of launchers */

/* Whether the format's launcher takes the plan and puts its roles where they were costed. False: *error says in one
 * line which rule says no. */
bool emit_allowed(const EmitFormat *format, const Request *request, const RankedPlan *ranked, Error *error);

/* ---- what writers have in common ---- */

/* Adds a note, printf; one too many is left out. */
void emit_note(EmitNotes *notes, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Comment lines, each behind `prefix` ("# "): program, model, machine, plan, what is predicted; then the notes. */
void emit_header(const Request *request, const RankedPlan *ranked, const EmitNotes *notes, const char *prefix,
                 FILE *out);

/* A text in double quotes, with JSON's escapes, which Python, YAML and TOML read the same: no text can end it early or
 * reach what stands behind it. */
void emit_quoted(const char *text, FILE *out);

/* Number formats of what training keeps, those of gradients settled too. */
StateDtypes emit_state_dtypes(const Request *request, const RankedPlan *ranked);

/* How the launcher was found to place the plan; NULL: it does not take it. */
const LaunchAnswer *emit_launch_answer(const RankedPlan *ranked, const Launcher *launcher);
