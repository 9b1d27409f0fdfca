/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/launch/emit.h"
#include "base/build.h"

#include "base/json.h"
#include "base/util.h"
#include "search/answer/plan_words.h"
#include "search/launch/rules.h"

#include <stdarg.h>
#include <string.h>

/* To make a format one that can be asked for, add a row. */
static const EmitFormat FORMATS[] = {
    {"maxtext", LAUNCHER_MAXTEXT, emit_maxtext, emit_maxtext_notes, "a YAML file for MaxText's trainer"},
    {"torchtitan", LAUNCHER_TORCHTITAN, emit_torchtitan, emit_torchtitan_notes,
     "a bash script that runs torchtitan 0.3"},
    {"torchtitan-toml", LAUNCHER_TORCHTITAN, emit_torchtitan_toml, emit_torchtitan_toml_notes,
     "a TOML file for torchtitan up to 0.2"},
    {"megatron", LAUNCHER_MEGATRON, emit_megatron, emit_megatron_notes, "a bash script that runs Megatron-LM"},
    {"jax", LAUNCHER_JAX, emit_jax, emit_jax_notes, "a Python module: mesh, PartitionSpecs, remat, schedule"},
    {"deepspeed", LAUNCHER_DEEPSPEED, emit_deepspeed, emit_deepspeed_notes, "a JSON file for DeepSpeed"},
};

const EmitFormat *emit_format_named(const char *name) {
    for (size_t i = 0; i < COUNT_OF(FORMATS); i++)
        if (strcmp(FORMATS[i].name, name) == 0) return &FORMATS[i];
    return NULL;
}

const EmitFormat *emit_format_at(int index) {
    return index >= 0 && (size_t)index < COUNT_OF(FORMATS) ? &FORMATS[index] : NULL;
}

const LaunchAnswer *emit_launch_answer(const RankedPlan *ranked, Launcher launcher) {
    for (int i = 0; i < ranked->launch_count; i++)
        if (ranked->launch[i].launcher == launcher) return &ranked->launch[i];
    return NULL;
}

StateDtypes emit_state_dtypes(const Request *request, const RankedPlan *ranked) {
    CostContext setting = request_cost_context(request);
    StateDtypes dtypes = cost_context_state(&setting)->dtypes;
    if (dtypes.gradients == DTYPE_DEFAULT)
        dtypes.gradients = ranked->plan.knobs.microbatches > 1 ? DTYPE_FP32 : DTYPE_BF16;
    return dtypes;
}

bool emit_allowed(const EmitFormat *format, const Request *request, const RankedPlan *ranked, Error *error) {
    char where[64], step[NUMBER_TEXT_SIZE], more[NUMBER_TEXT_SIZE], own[128] = "";
    snprintf(where, sizeof where, "emit %s", format->name);
    const char *refusal = launch_refusal(format->launcher, &request->question.model, &ranked->work, &ranked->plan,
                                         ranked->padding, &ranked->machine.mesh);
    if (refusal)
        return error_set(error, ERROR_INPUT, where, "%s does not take this plan: %s; plan with --for %s", format->name,
                         refusal, launcher_name(format->launcher));
    const LaunchAnswer *answer = emit_launch_answer(ranked, format->launcher);
    if (!answer || answer->kind != LAUNCH_IMPOSSIBLE) return true;
    double seconds = ranked->estimate.time.seconds;
    if (answer->default_seconds >= 0)
        snprintf(own, sizeof own, " (in its own placement the step takes %s, %s)",
                 step_text(answer->default_seconds, step), change_text(answer->default_seconds / seconds - 1, more));
    return error_set(error, ERROR_INPUT, where,
                     "%s cannot put the roles where this plan has them%s; plan with --for %s", format->name, own,
                     launcher_name(format->launcher));
}

void emit_note(EmitNotes *notes, const char *format, ...) {
    char text[EMIT_NOTE_SIZE];
    va_list arguments;
    if (notes->count == EMIT_NOTES_MAX) return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    clean_text(text, notes->text[notes->count++], EMIT_NOTE_SIZE); /* a name in it must not end the comment's line */
}

void emit_header(const Request *request, const RankedPlan *ranked, const EmitNotes *notes, const char *prefix,
                 FILE *out) {
    char notation[NOTATION_SIZE], name[PROSE_NAME_SIZE], step[NUMBER_TEXT_SIZE], share[NUMBER_TEXT_SIZE];
    char used[NUMBER_TEXT_SIZE], limit[NUMBER_TEXT_SIZE], batch[NUMBER_TEXT_SIZE], seq[NUMBER_TEXT_SIZE];
    const Estimate *estimate = &ranked->estimate;
    fprintf(out, "%sWritten by shardopt %s: %s on %s of %s.\n", prefix, program_version(),
            clean_name(request->question.model.name, name), ranked->machine.text, request->question.chip.title);
    fprintf(out, "%sPlan: %s, %s sequences of %s tokens a step.\n", prefix,
            plan_notation(&ranked->plan.degrees, &ranked->plan.knobs, false, notation),
            number_grouped(ranked->work.sequences, batch), number_grouped(ranked->work.seq, seq));
    fprintf(out, "%sPredicted: %s per step, %s MFU, %s of %s HBM (profile %s).\n", prefix,
            step_text(estimate->time.seconds, step), share_text(estimate->mfu, share),
            number_bytes(memory_total(&estimate->memory), used), number_bytes(estimate->memory_limit_bytes, limit),
            clean_name(request->question.profile.name, name));
    for (int i = 0; notes && i < notes->count; i++) fprintf(out, "%sNOTE: %s.\n", prefix, notes->text[i]);
}

void emit_quoted(const char *text, FILE *out) { json_print_text(out, text); }
