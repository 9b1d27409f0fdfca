/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/rl/recipes.h"

#include "base/file.h"
#include "base/util.h"
#include "cost/measured/tsv.h"

#include <stdlib.h>
#include <string.h>

enum { RECIPE, MODEL, CHIP, CHIPS, TRAIN_CHIPS, LAG, PARTIAL, PLAN, ROLLOUT, REMAT, MEMORY, COLUMNS };

static bool is_for(const RlQuestion *question, const TsvCell *cells) {
    return strcmp(cells[MODEL].text, question->model.name) == 0 && strcmp(cells[CHIP].text, question->chip.name) == 0 &&
           atoll(cells[CHIPS].text) == question->chips && atoi(cells[LAG].text) <= question->lag;
}

static bool price(const RlQuestion *question, const TsvCell *cells, Arena *arena, Recipe *out, Error *error) {
    Options *options = ARENA_NEW(arena, Options, 1);
    RlQuestion *own = ARENA_NEW(arena, RlQuestion, 1);
    RlAnswer *answer = ARENA_NEW(arena, RlAnswer, 1);
    if (!options || !own || !answer) return error_memory(error);
    *options = *question->options;
    long long train = atoll(cells[TRAIN_CHIPS].text);
    const struct {
        Option option;
        const char *text;
    } SET[] = {{OPTION_TRAIN_PLAN, arena_text(arena, cells[PLAN].text)},
               {OPTION_ROLLOUT, arena_text(arena, cells[ROLLOUT].text)},
               {OPTION_REMAT, arena_text(arena, cells[REMAT].text)},
               {OPTION_ROLLOUT_MEMORY, arena_text(arena, cells[MEMORY].text)},
               {OPTION_LAG, arena_text(arena, cells[LAG].text)},
               {OPTION_TRAIN_NODES, arena_format(arena, "%lld", train / (long long)question->unit)}};
    for (size_t i = 0; i < COUNT_OF(SET); i++) {
        if (!SET[i].text) return error_memory(error);
        options->text[SET[i].option] = SET[i].text;
    }
    options->text[OPTION_PARTIAL] = strcmp(cells[PARTIAL].text, "yes") == 0 ? "yes" : "no";
    options->text[OPTION_VERBOSE] = NULL;
    if (train == 0) options->text[OPTION_TRAIN_NODES] = NULL, options->text[OPTION_COLOCATED] = "";
    out->name = arena_text(arena, cells[RECIPE].text);
    Error lacks = {0};
    if (!rl_question(options, arena, own, &lacks) || !rl_answer(own, arena, answer, &lacks))
        return out->name && !error_of_machine(&lacks) ? true : (*error = lacks, false);
    if (answer->found) out->step = answer->best[answer->first];
    return out->name || error_memory(error);
}

bool recipes_price(const RlQuestion *question, Arena *arena, Recipes *out, Error *error) {
    static const Option FIXED[] = {OPTION_TRAIN_PLAN,  OPTION_ROLLOUT,      OPTION_COLOCATED,
                                   OPTION_TRAIN_NODES, OPTION_ROLLOUT_CHIP, OPTION_FOR};
    char *text;
    size_t length;
    *out = (Recipes){0};
    for (size_t i = 0; i < COUNT_OF(FIXED); i++)
        if (question->options->text[FIXED[i]]) return true;
    const char *folder = file_data_folder("cost/rl/profiles", arena, error);
    const char *path = folder ? arena_format(arena, "%s/recipes.tsv", folder) : NULL;
    if (folder && !path) return error_memory(error);
    TsvReader *reader = ARENA_NEW(arena, TsvReader, 1);
    if (!reader) return error_memory(error);
    if (!path || !file_read(path, 1 << 20, arena, &text, &length, error)) return false;
    *reader = tsv_start(path, text, length);
    TsvResult row;
    while ((row = tsv_next(reader, error)) == TSV_ROW)
        if (reader->count == COLUMNS && out->count < RECIPES_MAX && is_for(question, reader->cells) &&
            !price(question, reader->cells, arena, &out->of[out->count++], error))
            return false;
    return row == TSV_END;
}
