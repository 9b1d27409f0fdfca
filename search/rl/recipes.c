/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/rl/recipes.h"

#include "base/file.h"
#include "base/json.h"
#include "base/util.h"

#include <string.h>

/* What a recipe fixes: its keys are the options' names. */
static const Option FIXED[] = {OPTION_PARTIAL, OPTION_TRAIN_PLAN, OPTION_ROLLOUT, OPTION_REMAT, OPTION_ROLLOUT_MEMORY};

static bool is_for(const RlQuestion *question, const cJSON *recipe) {
    return strcmp(json_text_at(recipe, "model"), question->model.name) == 0 &&
           strcmp(json_text_at(recipe, "chip"), question->chip.name) == 0 &&
           json_real_at(recipe, "chips", 0) == (double)question->chips &&
           json_real_at(recipe, "lag", 0) <= question->lag;
}

static bool price(const RlQuestion *question, const cJSON *recipe, Arena *arena, Recipe *out, Error *error) {
    Options *options = ARENA_NEW(arena, Options, 1);
    RlQuestion *own = ARENA_NEW(arena, RlQuestion, 1);
    RlAnswer *answer = ARENA_NEW(arena, RlAnswer, 1);
    if (!options || !own || !answer) return error_memory(error);
    *options = *question->options;
    double train = json_real_at(recipe, "train_chips", 0);
    for (size_t i = 0; i < COUNT_OF(FIXED); i++)
        if (!(options->text[FIXED[i]] = arena_text(arena, json_text_at(recipe, RL_OPTIONS[FIXED[i]].name))))
            return error_memory(error);
    options->text[OPTION_LAG] = arena_format(arena, "%.0f", json_real_at(recipe, "lag", 0));
    options->text[OPTION_TRAIN_NODES] = train > 0 ? arena_format(arena, "%.0f", train / (double)question->unit) : NULL;
    options->text[OPTION_COLOCATED] = train > 0 ? NULL : "";
    options->text[OPTION_VERBOSE] = NULL;
    out->name = arena_text(arena, json_text_at(recipe, "recipe"));
    if (!out->name || !options->text[OPTION_LAG] || (train > 0 && !options->text[OPTION_TRAIN_NODES]))
        return error_memory(error);
    Error lacks = {0}; /* what it fixes may not be for these lengths */
    if (!rl_question(options, arena, own, &lacks) || !rl_answer(own, arena, answer, &lacks))
        return error_of_machine(&lacks) ? (*error = lacks, false) : true;
    if (answer->found) out->step = answer->best[answer->first];
    return true;
}

bool recipes_price(const RlQuestion *question, Arena *arena, Recipes *out, Error *error) {
    static const Option GIVEN[] = {OPTION_TRAIN_PLAN,   OPTION_ROLLOUT, OPTION_COLOCATED, OPTION_TRAIN_NODES,
                                   OPTION_ROLLOUT_CHIP, OPTION_FOR,     OPTION_LORA};
    *out = (Recipes){0};
    for (size_t i = 0; i < COUNT_OF(GIVEN); i++)
        if (question->options->text[GIVEN[i]]) return true;
    const char *folder = file_data_folder("cost/rl/profiles", arena, error);
    const char *path = folder ? arena_format(arena, "%s/recipes.json", folder) : NULL;
    if (folder && !path) return error_memory(error);
    cJSON *json = path ? json_read_file(path, error) : NULL;
    bool ok = json != NULL;
    const cJSON *recipe;
    cJSON_ArrayForEach(recipe, json_at(json, "recipes")) if (ok && out->count < RECIPES_MAX && is_for(question, recipe))
        ok = price(question, recipe, arena, &out->of[out->count++], error);
    cJSON_Delete(json);
    return ok;
}
