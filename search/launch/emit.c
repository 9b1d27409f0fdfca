/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/launch/emit.h"
#include "base/build.h"

#include "base/json.h"
#include "base/util.h"
#include "search/answer/plan_words.h"

#include <stdarg.h>
#include <string.h>

const EmitFormat *emit_format_at(int index) {
    for (int i = 0; i < launcher_count(); i++)
        for (int f = 0; f < LAUNCHER_FORMATS_MAX && launcher_at(i)->formats[f].name; f++)
            if (index-- == 0) return &launcher_at(i)->formats[f];
    return NULL;
}

const EmitFormat *emit_format_named(const char *name) {
    const EmitFormat *format;
    const char *plain = launcher_plain_name(name);
    for (int i = 0; (format = emit_format_at(i)) != NULL && !name_matches(format->name, plain);) i++;
    return format;
}

int emit_format_launcher(const EmitFormat *format) {
    int launcher = 0;
    while (format < launcher_at(launcher)->formats || format >= launcher_at(launcher)->formats + LAUNCHER_FORMATS_MAX)
        launcher++;
    return launcher;
}

StateDtypes emit_state_dtypes(const Request *request, const RankedPlan *ranked) {
    CostContext setting = request_cost_context(request);
    StateDtypes dtypes = cost_context_state(&setting)->dtypes;
    if (dtypes.gradients == DTYPE_DEFAULT)
        dtypes.gradients =
            ranked->plan.knobs.microbatches > 1 || cost_context_fp32_gradients(&setting) ? DTYPE_FP32 : DTYPE_BF16;
    return dtypes;
}

bool emit_allowed(const EmitFormat *format, const Request *request, const RankedPlan *ranked, Error *error) {
    char where[64], step[NUMBER_TEXT_SIZE], more[NUMBER_TEXT_SIZE], own[128] = "";
    snprintf(where, sizeof where, "emit %s", format->name);
    int launcher = emit_format_launcher(format);
    const char *refusal = launch_refusal(launcher, &request->question.model, &ranked->work, &ranked->plan,
                                         ranked->padding, &ranked->machine.mesh);
    if (refusal)
        return error_set(error, ERROR_INPUT, where, "%s does not take this plan: %s; plan with --for %s", format->name,
                         refusal, launcher_name(launcher));
    const LaunchAnswer *answer = emit_launch_answer(ranked, launcher_at(launcher));
    if (!answer || answer->kind != LAUNCH_IMPOSSIBLE) return true;
    double seconds = ranked->estimate.time.seconds;
    if (answer->default_seconds >= 0)
        snprintf(own, sizeof own, " (in its own placement the step takes %s, %s)",
                 step_text(answer->default_seconds, step), change_text(answer->default_seconds / seconds - 1, more));
    return error_set(error, ERROR_INPUT, where,
                     "%s cannot put the roles where this plan has them%s; plan with --for %s", format->name, own,
                     launcher_name(launcher));
}

bool emit_write(const EmitFormat *format, const Request *request, const RankedPlan *ranked, EmitNotes *notes, FILE *out,
                Error *error) {
    const Launcher *launcher = launcher_at(emit_format_launcher(format));
    char where[48];
    LaunchJob job;
    if (!launch_job(request, ranked, launcher, &job, error)) return false;
    const char *refusal = format->cannot ? format->cannot(&job) : NULL;
    snprintf(where, sizeof where, "emit %s", format->name);
    if (refusal)
        return error_set(error, ERROR_INPUT, where, "%s does not take this plan: %s",
                         format->title ? format->title : launcher->name, refusal);
    format->notes(&job, notes);
    return format->write(&job, notes, out, error);
}

void launcher_words(const Launcher *launcher, const Request *request, const RankedPlan *ranked, Prose *out) {
    LaunchJob job;
    Error ignored = {0};
    if (launcher && launcher->plan_words && launch_job(request, ranked, launcher, &job, &ignored))
        launcher->plan_words(&job, out);
}

void emit_note(EmitNotes *notes, const char *format, ...) {
    char text[EMIT_NOTE_SIZE];
    va_list arguments;
    if (notes->count == EMIT_NOTES_MAX) {
        snprintf(notes->text[EMIT_NOTES_MAX - 1], EMIT_NOTE_SIZE, "More differs from the plan than these notes say.");
        return;
    }
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    clean_text(text, notes->text[notes->count++], EMIT_NOTE_SIZE); /* a name in it must not end the comment's line */
}

void emit_header(const LaunchJob *job, const EmitNotes *notes, FILE *out) {
    char notation[NOTATION_SIZE], name[PROSE_NAME_SIZE], step[NUMBER_TEXT_SIZE], share[NUMBER_TEXT_SIZE];
    char used[NUMBER_TEXT_SIZE], limit[NUMBER_TEXT_SIZE], batch[NUMBER_TEXT_SIZE], seq[NUMBER_TEXT_SIZE];
    const Question *question = &job->request->question;
    const RankedPlan *ranked = job->ranked;
    const Estimate *estimate = &ranked->estimate;
    char machine[PROSE_NAME_SIZE], chip[PROSE_NAME_SIZE]; /* texts of a file must not end the comment's line */
    fprintf(out, "# Written by shardopt %s: %s on %s of %s.\n", program_version(),
            clean_name(question->model.name, name), clean_name(ranked->machine.text, machine),
            clean_name(question->chip.title, chip));
    fprintf(out, "# Plan: %s, %s sequences of %s tokens a step.\n",
            plan_notation(&ranked->plan.degrees, &ranked->plan.knobs, false, notation),
            number_grouped(ranked->work.sequences, batch), number_grouped(ranked->work.seq, seq));
    fprintf(out, "# Predicted: %s per step, %s MFU, %s of %s HBM (profile %s).\n",
            step_text(estimate->time.seconds, step), share_text(estimate->mfu, share),
            number_bytes(memory_total(&estimate->memory), used), number_bytes(estimate->memory_limit_bytes, limit),
            clean_name(question->profile.name, name));
    for (int i = 0; i < notes->count; i++) fprintf(out, "# NOTE: %s.\n", notes->text[i]);
}

void emit_quoted(const char *text, FILE *out) { json_print_text(out, text); }
