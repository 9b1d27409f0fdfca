/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/program/write.h: an answer as text, as JSON, as Python, and as the program with its shardings. */
#pragma once

#include "base/text/terminal.h"
#include "search/program/answer.h"

/* Each returns false with an error where memory is out or the stream fails. `arena` is for what is put together. */
bool program_write_text(const ProgramQuestion *question, const ProgramAnswer *answer, Arena *arena, TextOut out,
                        Error *error);
bool program_write_json(const ProgramQuestion *question, const ProgramAnswer *answer, FILE *out, Error *error);

/* The text as it was read, with the order of devices (a comment; chips are numbered along the machine's innermost
 * axis first), a mesh of them (sdy.mesh), a sharding for every argument and for every result that takes the place of
 * one, and a constraint (sdy.sharding_constraint) on every tensor that the answer gives one. A constraint takes the
 * tensor's name, which its operation gives up, so that nothing else changes. An operation of a function that is
 * called with several shardings keeps its freedom. What was
 * broadcast and has to move is broadcast once more behind the move. The answer has a best. */
bool program_annotate(const ProgramQuestion *question, const ProgramAnswer *answer, FILE *out, Error *error);

/* Python: the mesh, the shardings of all arguments, and of the tensors inside by the line of the source that made them,
 * where the text names lines; as JAX takes them, or (`torch`) as placements of DTensor. The answer has a best. */
bool program_write_python(const ProgramQuestion *question, const ProgramAnswer *answer, bool torch, FILE *out,
                          Error *error);

/* "('x', None)": a sharding as PartitionSpec takes it, or ("[{"x"}, {}]") as Shardy has it. Into `text`, returned. */
enum { SPEC_TEXT_SIZE = 16 * PROGRAM_RANK_MAX };
const char *spec_text(const LogicalMesh *mesh, int rank, Spec spec, bool shardy, char text[SPEC_TEXT_SIZE]);
