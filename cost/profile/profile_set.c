/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/profile/profile_set.h"

#include "base/util.h"

#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* ---- who gives a figure ---- */

static int entry_named(const SetEntry *list, int count, const char *name, size_t length) {
    for (int i = 0; i < count; i++)
        if (strlen(list[i].name) == length && memcmp(list[i].name, name, length) == 0) return i;
    return -1;
}

typedef struct {
    const char *file, *name; /* "default.json" "profiles" */
    SetEntry *entries;
    int count;
} SetList;

/* "FILE:profiles.h100": the place that an entry's errors name. A path that is too long keeps its end. */
static const char *entry_where(const SetList *list, const SetEntry *entry, char where[SET_WHERE_SIZE]) {
    return set_where(list->file, list->name, entry->name, where);
}

/* Takes the parent's figures and replaces those that the entry gives itself. The parent stands before the entry, so its
 * own figures are resolved. */
static bool resolve_entry(const SetList *to, int number, Error *error) {
    SetEntry *list = to->entries, *entry = &list[number];
    char where[SET_WHERE_SIZE];
    int count;
    const ProfileFigure *figures = profile_figures(&count);
    assert(count <= SET_FIGURES_MAX);
    entry->parent_at = entry->parent[0] ? entry_named(list, number, entry->parent, strlen(entry->parent)) : -1;
    if (entry->parent[0] && entry->parent_at < 0)
        return error_set(error, ERROR_INPUT, entry_where(to, entry, where),
                         "\"kin\": \"%.60s\" is not above it; give the name of an entry above", entry->parent);
    for (int i = 0; i < SET_FIGURES_MAX; i++)
        entry->at[i] = entry->parent_at >= 0 ? list[entry->parent_at].at[i] : (SetAt){-1, -1};
    if (!entry->tile_source) entry->tile_padding = entry->parent_at >= 0 && list[entry->parent_at].tile_padding;
    for (int i = 0; i < entry->figure_count; i++) {
        ptrdiff_t at = entry->figures[i].figure - figures;
        entry->at[at] = (SetAt){(int16_t)number, (int16_t)i};
    }
    return true;
}

/* "h100" or "h100.fp8_efficiency": entries' names may hold dots, keys of figures may not. */
static bool resolve_of(const SetList *to, const SetEntry *entry, SetFigure *figure, Error *error) {
    int figures_count;
    const ProfileFigure *figures = profile_figures(&figures_count), *wanted = figure->figure;
    char where[SET_WHERE_SIZE];
    figure->of_at = (SetAt){-1, -1};
    if (!figure->of[0]) return true;
    int at = entry_named(to->entries, to->count, figure->of, strlen(figure->of));
    const char *dot = strrchr(figure->of, '.');
    if (at < 0 && dot && profile_figure(dot + 1)) {
        wanted = profile_figure(dot + 1);
        at = entry_named(to->entries, to->count, figure->of, (size_t)(dot - figure->of));
    }
    if (at >= 0) figure->of_at = to->entries[at].at[wanted - figures];
    return figure->of_at.entry >= 0 ||
           error_set(error, ERROR_INPUT, entry_where(to, entry, where),
                     "%s.of: nothing gives \"%.60s\"; give an entry that has the figure, or ENTRY.FIGURE",
                     figure->figure->key, figure->of);
}

/* A prior that leans on itself, directly or through others, would have no value. */
static bool of_ends(const SetEntry *list, const SetFigure *figure) {
    for (int steps = 0; steps <= SET_ENTRIES_MAX * SET_FIGURES_MAX; steps++) {
        if (figure->of_at.entry < 0) return true;
        figure = &list[figure->of_at.entry].figures[figure->of_at.figure];
    }
    return false;
}

static bool resolve_list(const SetList *to, Error *error) {
    char where[SET_WHERE_SIZE];
    SetEntry *list = to->entries;
    for (int i = 0; i < to->count; i++)
        if (!resolve_entry(to, i, error)) return false;
    for (int i = 0; i < to->count; i++)
        for (int f = 0; f < list[i].figure_count; f++)
            if (!resolve_of(to, &list[i], &list[i].figures[f], error)) return false;
    for (int i = 0; i < to->count; i++)
        for (int f = 0; f < list[i].figure_count; f++)
            if (!of_ends(list, &list[i].figures[f]))
                return error_set(error, ERROR_INPUT, entry_where(to, &list[i], where),
                                 "%s.of: leads back to itself; give a prior that leans on others",
                                 list[i].figures[f].figure->key);
    return true;
}

const char *set_where(const char *file, const char *list, const char *entry, char where[SET_WHERE_SIZE]) {
    enum { FILE_MOST = 48 };
    size_t length = strlen(file);
    bool cut = length > FILE_MOST;
    snprintf(where, SET_WHERE_SIZE, "%s%s:%s%s%.50s", cut ? "..." : "", cut ? file + length - FILE_MOST : file, list,
             entry[0] ? "." : "", entry);
    return where;
}

bool profile_set_resolve(ProfileSet *set, const char *file, Error *error) {
    return resolve_list(&(SetList){file, "profiles", set->profiles, set->profile_count}, error) &&
           resolve_list(&(SetList){file, "stacks", set->stacks, set->stack_count}, error);
}

const SetFigure *set_entry_figure(const SetEntry *list, const SetEntry *entry, const ProfileFigure *figure) {
    int count;
    SetAt at = entry->at[figure - profile_figures(&count)];
    return at.entry < 0 ? NULL : &list[at.entry].figures[at.figure];
}

double set_figure_prior(const SetEntry *list, const SetFigure *figure) {
    if (figure->of_at.entry < 0) return figure->prior;
    return figure->prior * list[figure->of_at.entry].figures[figure->of_at.figure].value;
}

void profile_compose(const ProfileSet *set, const SetEntry *chip, const SetEntry *stack, Profile *out) {
    int count;
    const ProfileFigure *figures = profile_figures(&count);
    memset(out, 0, sizeof *out); /* what no file has is 0 */
    for (int i = 0; i < count; i++) {
        bool of_chip = figures[i].owner == FIGURE_OF_CHIP;
        const SetEntry *entry = of_chip ? chip : stack, *list = of_chip ? set->profiles : set->stacks;
        SetAt at = entry ? entry->at[i] : (SetAt){-1, -1};
        *figure_of(out, &figures[i]) = at.entry < 0 ? figures[i].ideal : list[at.entry].figures[at.figure].value;
    }
    memcpy(out->name, chip->name, sizeof out->name);
    if (stack) {
        memcpy(out->stack, stack->name, sizeof out->stack);
        out->effort = stack->untuned ? EFFORT_AS_IS : profile_set_untuned(set, stack) ? EFFORT_TUNED : EFFORT_UNKNOWN;
    }
    memcpy(out->source, chip->source, sizeof out->source);
    out->tile_padding = chip->tile_padding;
    out->precision = PRECISION_BF16;
    out->linear_efficiency = out->matrix_efficiency;
    out->linear_peak_ratio = 1;
    out->routed_copies = 0;
}

/* ---- which entry ---- */

static bool names_chip(const SetEntry *entry, const Chip *chip) {
    for (int i = 0; i < entry->chip_count; i++)
        if (name_matches(entry->chips[i], chip->name)) return true;
    return false;
}

static bool joined_like(const SetEntry *entry, const Chip *chip) {
    return chip_has_domains(chip) ? entry->switched : entry->torus;
}

const SetEntry *profile_set_chip(const ProfileSet *set, const Chip *chip) {
    for (int i = 0; i < set->profile_count; i++)
        if (names_chip(&set->profiles[i], chip)) return &set->profiles[i];
    for (int i = 0; i < set->profile_count; i++)
        if (joined_like(&set->profiles[i], chip)) return &set->profiles[i];
    return NULL;
}

const SetEntry *profile_set_stack(const ProfileSet *set, const char *name) {
    for (int i = 0; i < set->stack_count; i++)
        if (name_matches(set->stacks[i].name, name)) return &set->stacks[i];
    for (int i = 0; i < set->stack_count; i++)
        for (int a = 0; a < set->stacks[i].alias_count; a++)
            if (name_matches(set->stacks[i].aliases[a], name)) return &set->stacks[i];
    return NULL;
}

const SetEntry *profile_set_untuned(const ProfileSet *set, const SetEntry *stack) {
    for (int i = set->stack_count - 1; i >= 0; i--)
        if (set->stacks[i].untuned && &set->stacks[set->stacks[i].parent_at] == stack) return &set->stacks[i];
    return NULL;
}

const SetEntry *profile_set_best_stack(const ProfileSet *set, const Chip *chip) {
    for (int i = set->stack_count - 1; i >= 0; i--)
        if (names_chip(&set->stacks[i], chip)) return &set->stacks[i];
    for (int i = set->stack_count - 1; i >= 0; i--)
        if (joined_like(&set->stacks[i], chip)) return &set->stacks[i];
    return NULL;
}

bool set_stack_fits(const ProfileSet *set, const SetEntry *stack, const Chip *chip) {
    while (stack->chip_count == 0 && !stack->torus && !stack->switched && stack->parent_at >= 0)
        stack = &set->stacks[stack->parent_at];
    return stack->chip_count > 0 ? names_chip(stack, chip) : joined_like(stack, chip);
}

const SetEntry *set_stack_launchers(const ProfileSet *set, const SetEntry *stack) {
    while (stack && stack->launcher_count == 0) stack = stack->parent_at >= 0 ? &set->stacks[stack->parent_at] : NULL;
    return stack;
}

bool stack_lists_launcher(const SetEntry *listing, const char *launcher) {
    for (int i = 0; listing && i < listing->launcher_count; i++)
        if (name_matches(listing->launchers[i], launcher)) return true;
    return false;
}

const SetEntry *profile_set_launcher_stack(const ProfileSet *set, const char *launcher, const Chip *chip) {
    const SetEntry *best = profile_set_best_stack(set, chip);
    if (best && stack_lists_launcher(set_stack_launchers(set, best), launcher)) return best;
    for (int i = set->stack_count - 1; i >= 0; i--)
        if (stack_lists_launcher(&set->stacks[i], launcher) && set_stack_fits(set, &set->stacks[i], chip))
            return &set->stacks[i];
    return NULL;
}
