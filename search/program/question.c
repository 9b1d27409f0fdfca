/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/program/question.h"

#include "base/util.h"
#include "search/options/machine_words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double RESERVE = 0.1;
static const double EFFORT = 0.25; /* of one mesh: some ten seconds of a core where nothing is proven before */

/* "7=-,xy" at `*at`, which is moved behind it. */
static bool read_fixed(const Words *words, const Program *program, const char **at, FixedArgument *out) {
    char *behind;
    *out = (FixedArgument){0};
    long number = strtol(*at, &behind, 10);
    size_t length = strcspn(*at, " ");
    if (behind == *at || *behind != '=')
        return words_wrong(words, OPTION_FIX, "\"%.*s\" is no argument and sharding; give one like 0=x,-",
                           (int)min_whole((int64_t)length, 40), *at);
    if (number < 0 || number >= program->entries)
        return words_wrong(words, OPTION_FIX, "argument %ld: the program has %lld, counted from 0", number,
                           (long long)program->entries);
    out->argument = (int)number;
    const ProgramRegion *entry = &program->region[program->function[program->main].region];
    const TensorType *type = &program->value[entry->argument + number].type;
    const char *cut = behind + 1, *end = *at + length;
    while (cut <= end && out->dimensions < PROGRAM_RANK_MAX) {
        size_t letters = strcspn(cut, ", ");
        bool none = letters == 1 && *cut == '-';
        if (!none && strspn(cut, "xyz") < letters)
            return words_wrong(words, OPTION_FIX, "\"%.*s\" are no axes; give x, y, z or -",
                               (int)min_whole((int64_t)letters, 40), cut);
        out->cut[out->dimensions++] = (Piece){cut, none ? 0 : (int)letters};
        cut += letters + 1;
    }
    if (out->dimensions != type->rank || cut <= end)
        return words_wrong(words, OPTION_FIX, "argument %ld has %d dimensions: give as many, with commas between",
                           number, type->rank);
    *at = end + strspn(end, " ");
    return true;
}

/* What is no state comes as a data loader has it: cut by its first dimension along these axes. */
static bool fix_batch(const Words *words, const Program *program, FixedArgument *fixed, ProgramQuestion *out) {
    const char *axes = given(words, OPTION_FIX_BATCH);
    const ProgramRegion *entry = &program->region[program->function[program->main].region];
    if (!axes) return true;
    if (*axes == '\0' || strspn(axes, "xyz") < strlen(axes))
        return words_wrong(words, OPTION_FIX_BATCH, "\"%.40s\" are no axes; give x, y or z, or several", axes);
    if (!program_has_batch(program))
        return words_wrong(words, OPTION_FIX_BATCH,
                           "there is no batch: donate the state, and what is not donated is "
                           "one if it is equally long; else give --fix");
    int user = out->fixed_count;
    for (int i = 0; i < entry->arguments; i++) {
        int rank = program->value[entry->argument + i].type.rank;
        bool is_free = rank > 0 && program->entry[i].aliases < 0;
        for (int k = 0; k < user; k++) is_free = is_free && fixed[k].argument != i;
        if (!is_free) continue;
        fixed[out->fixed_count] = (FixedArgument){.argument = i, .dimensions = rank};
        fixed[out->fixed_count++].cut[0] = (Piece){axes, (int)strlen(axes)};
    }
    return true;
}

static bool read_all_fixed(const Words *words, const Program *program, ProgramQuestion *out) {
    const char *at = given(words, OPTION_FIX);
    FixedArgument *fixed = ARENA_NEW(words->arena, FixedArgument, FIXED_MAX + (size_t)program->entries);
    if (!fixed) return error_memory(words->error);
    out->fixed = fixed;
    at = at ? at + strspn(at, " ") : "";
    while (*at) {
        if (out->fixed_count == FIXED_MAX) return words_wrong(words, OPTION_FIX, "names more than %d", FIXED_MAX);
        if (!read_fixed(words, program, &at, &fixed[out->fixed_count++])) return false;
    }
    return fix_batch(words, program, fixed, out);
}

static bool read_machine(const Words *words, ProgramQuestion *out) {
    const Options *options = words->options;
    ProgramMachine *priced = &out->priced;
    Chip *device = ARENA_NEW(words->arena, Chip, 1);
    RequestedMachine requested = {0};
    double reserve = RESERVE;
    if (!device) return error_memory(words->error);
    if (!chip_from_words(words, &out->chip, device) ||
        !machine_from_words(words, 0, &out->chip, &requested, &out->machine) ||
        !words_share(words, OPTION_HBM_RESERVE, RESERVE_MOST, &reserve))
        return false;
    const char *profile = options->text[OPTION_PROFILE];
    if (!profile_load(profile ? profile : "default", options->text[OPTION_STACK], &out->chip, words->arena,
                      &priced->profile, words->error))
        return false;
    const Mesh *mesh = &out->machine.mesh;
    priced->profile =
        profile_at_scale(&priced->profile, (double)mesh->chips, (double)max_whole(out->machine.slices, 1));
    chip_use_driver_memory(device);
    priced->chip = device;
    priced->mesh = profile_mesh(&priced->profile, mesh);
    priced->flops_per_second = device->bf16_flops_per_second.value * priced->profile.matrix_efficiency;
    priced->hbm_bytes_per_second = device->hbm_bytes_per_second.value * priced->profile.hbm_efficiency;
    priced->hbm_bytes = device->hbm_bytes.value * (1 - reserve);
    return true;
}

bool program_question(const Options *options, const Program *program, Arena *arena, ProgramQuestion *out,
                      Error *error) {
    const Words words = {options, arena, error};
    int64_t axes = 2, threads = 0;
    *out = (ProgramQuestion){.program = program, .control = {.time_limit = INFINITY, .effort = EFFORT}};
    if (!words_whole(&words, OPTION_AXES, 1, LOGICAL_MAX, &axes) ||
        !words_seconds(&words, OPTION_TIME_LIMIT, &out->control.time_limit) ||
        !words_whole(&words, OPTION_THREADS, 1, 4096, &threads) || !read_machine(&words, out))
        return false;
    out->axes = (int)axes;
    out->control.threads = (int)threads;
    return read_all_fixed(&words, program, out);
}
