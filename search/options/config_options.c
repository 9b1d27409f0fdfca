/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/options/report_options.h"

#include "base/file.h"
#include "base/util.h"
#include "models/config/model_json.h"
#include "search/launch/import.h"
#include "search/launch/launcher.h"
#include "search/launch/scheduler.h"

#include <stdio.h>
#include <string.h>

/* What the command line leaves open. False: memory is out. */
static bool fill(Options *words, Option option, const char *text, const ConfigFile *file, Error *error) {
    if (!text || words->text[option]) return true;
    words->text[option] = arena_text(file->arena, text);
    words->where[option] = arena_format(file->arena, "%s: %s", file->name, option_name(option));
    return (words->text[option] && words->where[option]) || error_memory(error);
}

/* By its launcher's name, or by its sizes. */
static bool fill_model(Options *words, const ImportedWork *work, ConfigFile *file, Error *error) {
    Zoo zoo;
    const Model *found = NULL;
    if (words->text[OPTION_MODEL]) return true;
    if (!zoo_names(file->arena, &zoo, error)) return false;
    if (work->model) found = zoo_find(&zoo, work->model);
    if (work->model && !found) found = zoo_of_repository(&zoo, work->model);
    int most = 0;
    bool by_sizes = !found && import_sizes_known(&work->sizes);
    const Model *made =
        !found && file->made ? zoo_find(&zoo, file->made) : NULL; /* of several of these sizes that one */
    if (made && (!by_sizes || import_sizes_match(&work->sizes, made)))
        return fill(words, OPTION_MODEL, made->name, file, error);
    for (int i = 0; i < zoo.count && by_sizes; i++) {
        int match = import_sizes_match(&work->sizes, &zoo.models[i]);
        if (match > most) found = &zoo.models[i], most = match;
    }
    if (found && by_sizes)
        config_note(file, "the model is taken as %s by its sizes; --model says otherwise", found->name);
    if (found) return fill(words, OPTION_MODEL, found->name, file, error);
    if (work->model)
        return error_set(error, ERROR_INPUT, file->name,
                         "its model \"%.60s\" is not known; say --model NAME, or a Hugging Face config.json",
                         work->model);
    return error_set(error, ERROR_INPUT, file->name, "%s; say --model NAME, or a Hugging Face config.json",
                     import_sizes_known(&work->sizes) ? "no known model has its sizes" : "does not say which model");
}

static bool fill_machine(Options *words, const ImportedWork *work, const ConfigFile *file, Error *error) {
    static const Option SIZES[] = {OPTION_PODS, OPTION_SLICE, OPTION_CHIPS, OPTION_NODES, OPTION_GPUS_PER_NODE};
    for (size_t i = 0; i < COUNT_OF(SIZES); i++)
        if (words->text[SIZES[i]]) return true;
    if (!fill(words, OPTION_CHIP, work->chip, file, error)) return false;
    return fill(words, OPTION_SLICE, work->slice, file, error) &&
           fill(words, OPTION_SLICES, work->slices, file, error) &&
           fill(words, OPTION_NODES, words->text[OPTION_CHIP] ? work->nodes : NULL, file, error) &&
           fill(words, OPTION_GPUS_PER_NODE, words->text[OPTION_CHIP] && work->nodes ? work->gpus_per_node : NULL, file,
                error);
}

static bool fill_work(Options *words, const ImportedWork *work, ConfigFile *file, Error *error) {
    if (!work->seq && !words->text[OPTION_SEQ])
        config_note(file, "does not say how long sequences are: the model's training; --seq says otherwise");
    return fill_model(words, work, file, error) && fill_machine(words, work, file, error) &&
           fill(words, OPTION_SEQ, work->seq, file, error) &&
           fill(words, OPTION_PRECISION, work->precision, file, error) &&
           fill(words, OPTION_STATE_DTYPES, work->state_dtypes, file, error) &&
           fill(words, OPTION_OPTIMIZER, work->optimizer, file, error) &&
           fill(words, OPTION_OFFLOAD, work->offload, file, error);
}

static bool fill_tuning(Options *words, const ImportedWork *work, const ConfigFile *file, Error *error) {
    bool ok = true;
    for (int i = 0; i < TUNING_LENGTHS && ok; i++)
        ok = fill(words, (Option)(OPTION_LORA + i), work->tuning[i], file, error);
    return ok;
}

/* The words that price the plan itself: what its launcher runs is in the space, however it is padded. */
static bool words_of_plan(const Options *open, const ImportedPlan *imported, const ConfigFile *file, Options *out,
                          Error *error) {
    *out = *open;
    out->text[OPTION_FOR] = "any";
    out->text[OPTION_NESTING] = NULL;
    out->software_of = open->text[OPTION_FOR]; /* priced as what runs it */
    bool offloads = imported->knobs.offload_optimizer || strstr(imported->remat, "offload");
    return fill(out, OPTION_OFFLOAD, offloads ? NULL : "none", file, error) &&
           fill(out, OPTION_NESTING, imported->nesting, file, error) && fill(out, OPTION_PADDING, "any", file, error) &&
           fill(out, OPTION_SCHEDULES, "all", file, error) &&
           fill(out, OPTION_REMAT, imported->remat[0] ? imported->remat : NULL, file, error);
}

/* What --state-dtypes says by default, said: gradients as the launcher's software keeps them, else in fp32 where
 * microbatches add up, but scattered in bf16 where each is sharded at once; moments and master of fp32. */
static bool says_default(const char *words, const Request *request, int launcher, const ImportedPlan *imported) {
    StateDtypes dtypes = {0};
    Error error = {0};
    bool passes = import_says(imported, KNOB_MICROBATCHES);
    if (!words || !passes || !state_dtypes_parse(words, "state-dtypes", &dtypes, &error)) return false;
    double own = request->space.launchers == 1u << launcher ? request->question.profile.gradient_bytes : 0;
    for (int i = 0; i < request->subproblem_count; i++)
        if (request->subproblems[i].launchers == 1u << launcher) own = request->subproblems[i].profile.gradient_bytes;
    bool once = imported->knobs.microbatches == 1;
    bool sequence = import_says(imported, KNOB_SEQUENCE_PARAMETERS) && !imported->knobs.methods.sequence_replicates;
    bool sharded = imported->degrees.of[ROLE_FSDP] > 1 || sequence;
    bool moments = (dtypes.first == DTYPE_DEFAULT || dtypes.first == DTYPE_FP32) &&
                   (dtypes.second == DTYPE_DEFAULT || dtypes.second == DTYPE_FP32);
    return moments && dtypes.parameters == DTYPE_DEFAULT && dtypes.master == DTYPE_DEFAULT &&
           (dtypes.gradients == DTYPE_DEFAULT || (own > 0 && dtype_bytes(dtypes.gradients) == own) ||
            (own <= 0 && dtypes.gradients == DTYPE_BF16 && (once || sharded)) ||
            (own <= 0 && dtypes.gradients == DTYPE_FP32 && !once));
}

/* Of racks a file counts hosts, and --nodes racks, of which it may use some in part: its devices say the machine. */
static bool count_in_chips(Options *words, const ImportedWork *work, const ConfigFile *file, Request *request,
                           Error *error) {
    const Chip *chip = &request->question.chip;
    if (work->devices == 0 || chip->domain_chips <= chip->chips_per_host || words->text[OPTION_CHIPS]) return true;
    words->text[OPTION_NODES] = NULL;
    const char *chips = arena_format(file->arena, "%lld", (long long)work->devices);
    return fill(words, OPTION_CHIPS, chips, file, error) && request_from_options(words, file->arena, request, error);
}

static bool read_config(ConfigFile *file, int launcher, const Options *given, Options *open, Options *of_plan,
                        ReportPlan *plan, Error *error) {
    ImportedWork work;
    ImportedPlan imported;
    char sequences[24];
    Request *request = ARENA_NEW(file->arena, Request, 1);
    *open = *given;
    if (!request) return error_memory(error);
    if (!import_work(launcher, file, &work, error) || !fill_work(open, &work, file, error) ||
        !fill_tuning(open, &work, file, error) || !request_from_options(open, file->arena, request, error) ||
        (!given->text[OPTION_NODES] && open->text[OPTION_NODES] &&
         !count_in_chips(open, &work, file, request, error)) ||
        !import_machine(file, &work, request, error))
        return false;
    if (given->text[OPTION_MODEL] && import_sizes_known(&work.sizes) &&
        !import_sizes_match(&work.sizes, &request->question.model))
        config_note(file, "its sizes are not those of %s: priced as --model says", request->question.model.name);
    if (!import_plan(launcher, file, request, &imported, error) ||
        !import_place(launcher, file, request, &imported, error))
        return false;
    memcpy(plan->pins, imported.pins, sizeof plan->pins);
    plan->pin_count = imported.pin_count;
    if (!given->text[OPTION_STATE_DTYPES] &&
        says_default(open->text[OPTION_STATE_DTYPES], request, launcher, &imported))
        open->text[OPTION_STATE_DTYPES] = NULL;
    snprintf(sequences, sizeof sequences, "%lld", (long long)imported.sequences);
    if (!open->text[OPTION_BATCH] && !fill(open, OPTION_SEQUENCES, sequences, file, error)) return false;
    if (!fill(open, OPTION_FOR, launcher_name(launcher), file, error)) return false;
    plan->known = true;
    plan->degrees = imported.degrees;
    plan->knobs = imported.knobs;
    plan->said = imported.said;
    plan->chips_used = request->question.machine.mesh.chips;
    plan->sequences = imported.sequences;
    for (Role role = 0; role < ROLE_COUNT; role++) plan->lines[role] = role_key_line(file, role);
    return words_of_plan(open, &imported, file, of_plan, error);
}

bool options_from_config(const Options *given, Arena *arena, Options *open, Options *of_plan, ReportPlan *plan,
                         Error *error) {
    const char *name = given->text[OPTION_FROM_CONFIG];
    char *text;
    size_t length;
    int launcher;
    Options unwanted;
    ConfigFile *file = ARENA_NEW(arena, ConfigFile, 1);
    if (!file) return error_memory(error);
    if (!file_read(name, CONFIG_BYTES_MAX, arena, &text, &length, error)) return false;
    scheduler_unwrap(text, &length);
    if (!import_read(name, text, length, given->text[OPTION_CONFIG_FORMAT], arena, file, &launcher, error) ||
        !read_config(file, launcher, given, open ? open : &unwanted, of_plan, plan, error))
        return false;
    const char **notes = ARENA_NEW(arena, const char *, (size_t)max_whole(1, file->note_count));
    for (int i = 0; i < file->note_count && notes; i++) {
        notes[i] = arena_format(arena, "%s: %s", name, file->notes[i]);
        if (!notes[i]) notes = NULL;
    }
    if (!notes) return error_memory(error);
    plan->notes = notes;
    plan->note_count = file->note_count;
    return true;
}
