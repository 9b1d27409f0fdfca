/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/measured/fit_own.h"

#include <stdio.h>
#include <string.h>

/* This text is recognised by its address: a set that was read has texts of its own. */
static const char OWN[] = "calibrate: by runs of this entry alone; believed to be its kin's";

/* Gives the entry all figures that it takes from its parent and that may move, in the order of the table. */
static void own_figures(const SetEntry *list, SetEntry *entry) {
    int count, merged = 0, next = 0;
    const ProfileFigure *kinds = profile_figures(&count);
    SetFigure figures[SET_FIGURES_MAX];
    for (int k = 0; k < count; k++) {
        const SetFigure *taken = set_entry_figure(list, entry, &kinds[k]);
        if (next < entry->figure_count && entry->figures[next].figure == &kinds[k]) {
            figures[merged++] = entry->figures[next++];
        } else if (taken && taken->sigma > 0) {
            SetFigure *own = &figures[merged++];
            *own = *taken;
            own->prior = 1;
            snprintf(own->of, sizeof own->of, "%s", entry->parent);
            own->runs = 0;
            own->determined = false;
            own->source = OWN;
        }
    }
    memcpy(entry->figures, figures, (size_t)merged * sizeof *figures);
    entry->figure_count = merged;
}

bool fit_own_figures(ProfileSet *set, const FitRun *runs, int32_t count, Error *error) {
    for (int of_stack = 0; of_stack <= 1; of_stack++) {
        SetEntry *list = of_stack ? set->stacks : set->profiles;
        /* The last entry comes first: the figures that an entry takes must still be where the set says. */
        for (int e = (of_stack ? set->stack_count : set->profile_count) - 1; e >= 0; e--) {
            bool used = false;
            for (int32_t i = 0; i < count; i++) used = used || (of_stack ? runs[i].stack : runs[i].chip) == &list[e];
            if (used && list[e].parent[0]) own_figures(list, &list[e]);
        }
    }
    return profile_set_resolve(set, "calibrate", error);
}

bool fit_drop_own(ProfileSet *set, Error *error) {
    for (int of_stack = 0; of_stack <= 1; of_stack++) {
        SetEntry *list = of_stack ? set->stacks : set->profiles;
        for (int e = 0; e < (of_stack ? set->stack_count : set->profile_count); e++) {
            int kept = 0;
            for (int f = 0; f < list[e].figure_count; f++) {
                const SetFigure *figure = &list[e].figures[f];
                if (figure->source != OWN || figure->determined) list[e].figures[kept++] = *figure;
            }
            list[e].figure_count = kept;
        }
    }
    return profile_set_resolve(set, "calibrate", error);
}
