/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a row names, found: its model, its chip, its engine's profile, its types. */
#include "base/util.h"
#include "models/config/model_json.h"
#include "search/serving/measured/serving_replay.h"

#include <string.h>

static ReplayModel *find_model(ServingReplay *with, const char *name, Error *error) {
    for (ReplayModel *one = with->models; one; one = one->next)
        if (strcmp(one->name, name) == 0) return one;
    if (!with->zoo) {
        with->zoo = ARENA_NEW(with->arena, Zoo, 1);
        if (!with->zoo) return error_memory(error), NULL;
        if (!zoo_names(with->arena, with->zoo, error)) return NULL;
    }
    ReplayModel *made = ARENA_NEW(with->arena, ReplayModel, 1);
    if (!made) return error_memory(error), NULL;
    const Model *found = name[0] ? zoo_find(with->zoo, name) : NULL;
    *made = (ReplayModel){.name = name, .known = found != NULL, .next = with->models};
    if (found) made->model = *found;
    for (int i = 0; made->known && i < made->model.kind_count; i++) made->known = made->model.kinds[i].heads >= 1;
    with->models = made;
    return made;
}

const ReplayModel *served_model(ServingReplay *with, const char *name, bool whole, Error *error) {
    ReplayModel *found = find_model(with, name, error);
    return found && (!whole || !found->known || zoo_complete(&found->model, error)) ? found : NULL;
}

int served_engine(const char *name) { return engine_named(name); }

/* The figures of a place by the profile at hand. */
static bool read_place(const ServingReplay *with, ReplayPlace *place, Error *error) {
    const Chip *found = catalog_find(with->catalog, place->chip_name);
    const char *engine = engine_at(place->engine)->name;
    if (!found) return true;
    place->chip = *found;
    if (!serving_profile_from_json(with->profile, with->where, found, engine, &place->profile, error) ||
        (place->older &&
         !serving_profile_use_older(with->profile, with->where, found, place->older, &place->profile, error)))
        return false;
    if (place->profile.driver_memory > 0) chip_use_driver_memory(&place->chip);
    place->device = chip_device(&place->chip);
    return true;
}

bool served_places_use(ServingReplay *with, const cJSON *profile, const char *where, Error *error) {
    with->profile = profile;
    with->where = where;
    for (ReplayPlace *one = with->places; one; one = one->next) {
        if (one->older) one->older = serving_older_versions(profile, engine_at(one->engine)->name, one->version);
        if (!read_place(with, one, error)) return false;
    }
    return true;
}

ReplayPlace *served_place(ServingReplay *with, const ServingRun *run, int engine, Error *error) {
    const char *chip = run->chip, *name = engine_at(engine)->name;
    const cJSON *older = serving_older_versions(with->profile, name, run->version);
    for (ReplayPlace *one = with->places; one; one = one->next)
        if (one->engine == engine && one->older == older && strcmp(one->chip_name, chip) == 0) return one;
    if (!with->catalog) {
        with->catalog = ARENA_NEW(with->arena, Catalog, 1);
        if (!with->catalog) return error_memory(error), NULL;
        if (!catalog_load(with->arena, with->catalog, error)) return NULL;
    }
    ReplayPlace *made = ARENA_NEW(with->arena, ReplayPlace, 1);
    if (!made) return error_memory(error), NULL;
    *made = (ReplayPlace){
        .chip_name = chip, .engine = engine, .version = run->version, .older = older, .next = with->places};
    made->known = catalog_find(with->catalog, chip) != NULL;
    if (!read_place(with, made, error)) return NULL;
    with->places = made;
    return made;
}

StoredType served_weights(ServingReplay *with, const ServingRun *run) {
    if (run->weights > 0) return (StoredType)(run->weights - 1);
    return serving_published_weights(with->profile, run->model, run->model);
}

/* TensorRT-LLM's own checkpoints of narrow weights have a narrow cache; other engines keep 16 bits unless
 * configured. */
StoredType served_cache(const ServingRun *run, StoredType weights, int engine) {
    if (run->cache > 0) return (StoredType)(run->cache - 1);
    bool narrow = weights == STORED_FP8 || weights == STORED_NVFP4;
    return narrow && strcmp(engine_at(engine)->name, "tensorrt-llm") == 0 ? STORED_FP8 : STORED_BF16;
}
