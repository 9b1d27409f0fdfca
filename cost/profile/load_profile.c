/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds the profile that --profile and --stack name. */
#include "base/file.h"
#include "base/json.h"
#include "base/util.h"
#include "cost/profile/doubt.h"
#include "cost/profile/profile_figure.h"
#include "cost/profile/profile_set.h"

#include <stdio.h>
#include <string.h>

const char *profile_path(const char *argument, Arena *arena, Error *error) {
    if (file_names_json(argument)) return argument;
    char **names;
    size_t count;
    const char *folder = file_data_folder("cost/profiles", arena, error), *own;
    if (!folder || !(own = file_of_name(folder, argument, arena, error))) return NULL;
    if (own[0]) return own;
    if (!file_list(folder, ".json", arena, &names, &count, error)) return NULL;
    const char **stems = ARENA_NEW(arena, const char *, count + 1);
    if (!stems) return error_memory(error), NULL;
    for (size_t i = 0; i < count; i++) {
        char *stem = arena_text(arena, names[i]);
        const char *path = arena_format(arena, "%s/%s", folder, names[i]);
        if (!stem || !path) return error_memory(error), NULL;
        stem[strlen(stem) - strlen(".json")] = '\0';
        if (name_matches(stem, argument)) return path;
        stems[i] = stem;
    }
    const char *nearest = name_nearest(argument, stems, count);
    error_set(error, ERROR_INPUT, "--profile", "there is no profile \"%.60s\"; %s%s", argument,
              nearest ? "did you mean " : "give default, ideal, a name in cost/profiles, or a file",
              nearest ? nearest : "");
    return NULL;
}

/* Suggests names and aliases, nearest first; the fallback names the best current stack. */
static bool no_stack(const ProfileSet *set, const char *stack, const Chip *chip, const SetEntry *best, Arena *arena,
                     Error *error) {
    size_t count = 0;
    const char **names = ARENA_NEW(arena, const char *, SET_ENTRIES_MAX *(SET_ALIASES_MAX + 1));
    if (!names) return error_memory(error);
    for (int i = 0; i < set->stack_count; i++) {
        names[count++] = set->stacks[i].name;
        for (int a = 0; a < set->stacks[i].alias_count; a++) names[count++] = set->stacks[i].aliases[a];
    }
    const char *nearest = name_nearest(stack, names, count);
    if (nearest)
        return error_set(error, ERROR_INPUT, "--stack", "there is no stack \"%.60s\"; did you mean %s", stack, nearest);
    return error_set(error, ERROR_INPUT, "--stack", "there is no stack \"%.60s\"; give one of `shardopt chips %s`%s%s",
                     stack, chip->name, best ? ", such as " : "", best ? best->name : "");
}

struct ProfileFile {
    bool is_set;
    ProfileSet set; /* or */
    Profile whole;  /* which has no stacks to choose from */
};

bool profile_file_open(const char *argument, Arena *arena, const ProfileFile **out, Error *error) {
    if (argument[0] == '\0')
        return error_set(error, ERROR_INPUT, "--profile", "is empty; give default, ideal, a name or a file");
    ProfileFile *file = ARENA_NEW(arena, ProfileFile, 1);
    const char *path = file ? profile_path(argument, arena, error) : (error_memory(error), NULL);
    cJSON *json = path ? json_read_file(path, error) : NULL;
    bool ok = json != NULL;
    if (ok) file->is_set = profile_set_is(json);
    ok = ok && (file->is_set ? profile_set_from_json(json, path, arena, &file->set, error)
                             : profile_from_json(json, path, &file->whole, error));
    cJSON_Delete(json);
    if (ok) *out = file;
    return ok;
}

static bool is_named(const char *text) { return text && text[0]; }

/* --stack as-is: what would be taken without it, as it comes. */
static bool is_as_is(const SoftwareAsk *ask) { return is_named(ask->stack) && strcmp(ask->stack, "as-is") == 0; }

/* The entries of a set that are requested. */
typedef struct {
    const SetEntry *chip, *software; /* software NULL: there is none */
} Entries;

static bool find_entries(const ProfileSet *set, const SoftwareAsk *ask, const Chip *chip, Arena *arena, Entries *out,
                         Error *error) {
    *out = (Entries){profile_set_chip(set, chip), profile_set_best_stack(set, chip)};
    if (!out->chip)
        return error_set(error, ERROR_INPUT, "--profile", "%s has no profile for %s; give ideal, or a file", set->name,
                         chip->name);
    const SetEntry *own = is_named(ask->launcher) ? profile_set_launcher_stack(set, ask->launcher, chip) : NULL;
    if (is_named(ask->stack) && !is_as_is(ask)) {
        own = profile_set_stack(set, ask->stack);
        if (!own) return no_stack(set, ask->stack, chip, out->software, arena, error);
    }
    if (own) out->software = own;
    const SetEntry *untuned = is_as_is(ask) && out->software ? profile_set_untuned(set, out->software) : NULL;
    if (untuned) out->software = untuned;
    return true;
}

bool profile_file_pick(const ProfileFile *file, const SoftwareAsk *ask, const Chip *chip, Arena *arena, Profile *out,
                       Error *error) {
    Entries entries;
    if (file->is_set) {
        if (!find_entries(&file->set, ask, chip, arena, &entries, error)) return false;
        profile_compose(&file->set, entries.chip, entries.software, out);
        if (entries.software)
            snprintf(out->source, sizeof out->source, "%.250s. Software: %.240s", entries.chip->source,
                     entries.software->source);
        return true;
    }
    if (is_named(ask->stack))
        return error_set(error, ERROR_INPUT, "--stack",
                         "profile %.60s is one whole, without stacks; leave --stack out, or give a set such as "
                         "--profile default",
                         file->whole.name);
    *out = file->whole;
    return true;
}

bool profile_file_doubts(const ProfileFile *file, const SoftwareAsk *ask, const Chip *chip, Arena *arena,
                         const ProfileDoubts **out, Error *error) {
    Entries entries;
    *out = NULL;
    if (!file->is_set) return true;
    ProfileDoubts *doubts = ARENA_NEW(arena, ProfileDoubts, 1);
    if (!doubts) return error_memory(error);
    if (!find_entries(&file->set, ask, chip, arena, &entries, error)) return false;
    profile_doubts(&file->set, entries.chip, entries.software, doubts);
    *out = doubts;
    return true;
}

bool profile_file_is_for(const ProfileFile *file, const SoftwareAsk *ask, const Chip *chip) {
    if (!file->is_set) return true;
    const ProfileSet *set = &file->set;
    const SetEntry *best = profile_set_best_stack(set, chip);
    if (is_named(ask->stack) && !is_as_is(ask)) {
        const SetEntry *stack = profile_set_stack(set, ask->stack);
        return stack && stack_lists_launcher(set_stack_launchers(set, stack), ask->launcher);
    }
    if (best && best->launcher_count > 0 && !stack_lists_launcher(best, ask->launcher)) return false;
    return profile_set_launcher_stack(set, ask->launcher, chip) != NULL;
}

bool profile_load(const char *argument, const char *stack, const Chip *chip, Arena *arena, Profile *out, Error *error) {
    const ProfileFile *file = NULL;
    return profile_file_open(argument, arena, &file, error) &&
           profile_file_pick(file, &(SoftwareAsk){.stack = stack}, chip, arena, out, error);
}

/* ---- one whole profile as a set ---- */

static void split(const Profile *profile, FigureOwner owner, SetEntry *out) {
    int count;
    const ProfileFigure *figures = profile_figures(&count);
    snprintf(out->name, sizeof out->name, "%s", profile->name);
    snprintf(out->source, sizeof out->source, "%s", profile->source);
    out->torus = out->switched = true;
    out->match_count = 1; /* it matches every run: it requires nothing */
    for (int i = 0; i < count; i++) {
        if (figures[i].owner != owner) continue;
        double value = figure_value_of(profile, &figures[i]);
        out->figures[out->figure_count++] = (SetFigure){
            .figure = &figures[i], .value = value, .prior = value, .of_at = {-1, -1}, .source = out->source};
    }
}

static bool set_of_one(const Profile *profile, const char *path, Arena *arena, ProfileSet *out, Error *error) {
    ProfileSet set = {.profile_count = 1, .stack_count = 1};
    set.profiles = ARENA_NEW(arena, SetEntry, 1);
    set.stacks = ARENA_NEW(arena, SetEntry, 1);
    if (!set.profiles || !set.stacks) return error_memory(error);
    snprintf(set.name, sizeof set.name, "%s", profile->name);
    snprintf(set.source, sizeof set.source, "%s", profile->source);
    split(profile, FIGURE_OF_CHIP, set.profiles);
    split(profile, FIGURE_OF_STACK, set.stacks);
    set.profiles->tile_padding = profile->tile_padding;
    set.profiles->tile_source = set.profiles->source;
    if (!profile_set_resolve(&set, path, error)) return false;
    *out = set;
    return true;
}

bool profile_set_load(const char *argument, Arena *arena, ProfileSet *out, Error *error) {
    if (argument[0] == '\0')
        return error_set(error, ERROR_INPUT, "--profile", "is empty; give default, ideal, a name or a file");
    const char *path = profile_path(argument, arena, error);
    cJSON *json = path ? json_read_file(path, error) : NULL;
    Profile profile;
    bool ok = json && (profile_set_is(json) ? profile_set_from_json(json, path, arena, out, error)
                                            : profile_from_json(json, path, &profile, error) &&
                                                  set_of_one(&profile, path, arena, out, error));
    cJSON_Delete(json);
    return ok;
}
