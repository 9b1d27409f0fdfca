/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/report/text/parts.h: sections of the text report, which `explain` shares. Each writes whole lines. Internal to
 * the report. */
#pragma once

#include "base/text/terminal.h"
#include "search/answer/plan_words.h"
#include "search/report/plan_fields.h"
#include "search/report/report.h"

/* The stages of a pipeline in time, a line each (the first and the last four); nothing of one stage. False: memory is
 * out. */
bool timeline_write(const Request *request, const RankedPlan *ranked, TextOut out);

/* The verdict on one plan: model, machine, time, MFU, HBM, bound; then days, chip-hours, dollars. `whole`: with the
 * step where all overlaps and where nothing does, and what failures leave. */
void verdict_write(const Request *request, const RankedPlan *ranked, bool whole, TextOut out);

/* The answer, the same in all texts: the verdict on plan 1, what is proven of it, and the plan in its launcher's words,
 * `whole` not cut; or that nothing fits, and what comes nearest. */
void answer_write(const Report *report, bool whole, TextOut out);
/* How near what was measured comes, and what is risky: `whole`, all of it. */
void confidence_write(const Report *report, bool whole, TextOut out);
/* The command to type next. */
void next_write(const Report *report, TextOut out);

/* "Where a step goes" alongside "HBM per chip": bars. */
void bars_write(const char *title, const Request *request, const RankedPlan *ranked, TextOut out);

/* Which plan to run, what is proven of it, and what is faster; and, where the host was looked at, what it gains, or
 * would cost. */
void proof_words(const Report *report, Prose *to);
void host_words(const Report *report, Prose *to);

/* "Assumed:" for the plan that is explained, and "Searched:". */
void assumed_write(const Request *request, const RankedPlan *ranked, TextOut out);
void searched_write(const Report *report, TextOut out);
const char *conditions_words(const Report *report); /* whose conditions exclude plans */

/* The tables of plans and of ways out. False: memory is out. */
bool plans_write(const Report *report, TextOut out);
bool alternatives_write(const Report *report, TextOut out);

/* What a plan moves away from (other machine, batch, padding; with --variants and --nesting all also its knobs and its
 * order); nothing: empty. And a way out as words: its name, what moves, step, price, plan, launchers. */
void plan_moves(const Report *report, int rank, Prose *to);
enum { ALTERNATIVE_CELLS = 6 };
void alternative_words(const Report *report, Alternative way, char cells[ALTERNATIVE_CELLS][WORDS_SIZE]);

/* "What would help most", nothing where nothing was requested; and without a plan how far off the nearest is. */
void sensitivities_write(const Report *report, TextOut out);
void shortfall_write(const Report *report, TextOut out);
void nearest_write(const Report *report, TextOut out);
void ways_out_write(const Report *report, const char *before, TextOut out); /* `before`: ten columns */

/* Why the answer is not proven, with what is known of the rest. */
void gap_words(const Report *report, Prose *to);

/* Where not all rows are proven, of each below the first "proven" or "gap 3.1%". */
void row_gap_words(const Report *report, int rank, Prose *to);

/* Whether an interrupt came after the proof, to the searches around it. */
bool interrupted_later(const Report *report);

/* How probable it is, "<1%" and ">99%" at the ends. */
const char *chance_text(double chance, char text[NUMBER_TEXT_SIZE]);

/* Where launchers would put the roles of a plan: in a cell ("jax maxtext+0.1%": MaxText would place it otherwise, and
 * so much slower); in a sentence behind `heading`, nothing where no launcher takes the plan; and `launch` of the JSON
 * report. */
char *launch_text(const RankedPlan *ranked, const char *between, char text[WORDS_SIZE]);
void launch_write(const char *heading, const RankedPlan *ranked, TextOut out);
bool launch_add_json(const RankedPlan *ranked, cJSON *to);

/* The command that writes plan 1's launch file, "shardopt emit megatron --model 70b ... -o train.sh". Nothing
 * where the request's words are too long, or no launcher has a format. By --rank time the plan is another
 * than emit's first: it is taken from a report. */
void emit_command(const Report *report, Prose *to);

/* Of the JSON report: rows of memory under `key`; `memory_moments`, the rows at each moment that can peak; and
 * `memory_detail`, what each row is made of at the peak, what the reserve has to hold, and the host. */
bool memory_add_json(cJSON *to, const char *key, const MemoryRows *rows, double limit, double reserve);
bool memory_add_moments(cJSON *to, const Request *request, const RankedPlan *ranked);
bool memory_add_detail(cJSON *to, const Request *request, const RankedPlan *ranked);

/* Of the JSON report, over a step: `communication_bytes`, by role, and `communication`, by group of chips. Bytes are of
 * the whole array that a group of n chips gathers or scatters, counted once for each pass (an all_gather and a
 * reduce_scatter are one pass, an all_reduce is both), of which one chip sends (n - 1)/n; of an all_to_all what all n
 * send together, of which one sends (n - 1)/n^2 to others; of a pipeline and of a ring of keys and values what one chip
 * passes on. */
bool traffic_add_roles(const Estimate *estimate, cJSON *to);
bool traffic_add_groups(const RankedPlan *ranked, cJSON *to);

/* `launchers`, `free_layout` and `headroom`, each where there is something to say. False: memory is out. */
bool around_add_json(cJSON *to, const Report *report);

/* `nearest_run`, where one is near. */
bool measured_add_json(cJSON *to, const Report *report);
