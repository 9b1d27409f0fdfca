/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names: of launchers, of sets of them, and of the orders in which they nest roles. */
#include "search/launch/launcher.h"

#include "base/util.h"

#include <string.h>

const char *launcher_name(int launcher) { return launcher_at(launcher)->name; }

LauncherSet launchers_all(void) { return ~(LauncherSet)0 >> (LAUNCHERS_MAX - launcher_count()); }

char *launcher_names(LauncherSet set, const char *between, const char *last, char *text, size_t size) {
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < launcher_count() && used < size; i++) {
        if (!(set >> i & 1)) continue;
        const char *comes = used == 0 ? "" : (set >> i) >> 1 ? between : last;
        used += (size_t)snprintf(text + used, size - used, "%s%s", comes, launcher_name(i));
    }
    return text;
}

char *request_launchers(const Request *request, char text[LAUNCHER_NAMES_SIZE]) {
    bool any = request->requested.launchers == 0 || request->space.launchers == 0;
    if (!any) return launcher_names(request->requested.launchers, ",", ",", text, LAUNCHER_NAMES_SIZE);
    snprintf(text, LAUNCHER_NAMES_SIZE, "any");
    return text;
}

char *launchers_text(LauncherSet set, const char *between, char *text, size_t size) {
    LauncherSet all = launchers_made_for(false); /* that train all weights: the others are no part of most answers */
    if (set != 0 && (set & all) != all) return launcher_names(set, between, between, text, size);
    snprintf(text, size, "%s launcher%s", set ? "all" : "no", set ? "s" : "");
    return text;
}

const char *launcher_plain_name(const char *word) {
    static const char *const NAMES[][2] = {
        {"megatron-lm", "megatron"},     {"megatron-core", "megatron"}, {"mcore", "megatron"}, {"nemo", "megatron"},
        {"megatron-bridge", "megatron"}, {"fsdp2", "torchtitan"},       {"zero", "deepspeed"}, {"zero-3", "deepspeed"}};
    for (size_t i = 0; i < COUNT_OF(NAMES); i++)
        if (name_matches(word, NAMES[i][0])) return NAMES[i][1];
    return word;
}

/* NULL: none is near. */
static const char *nearest_launcher(const char *word) {
    const char *names[32];
    size_t count = 0;
    for (int i = 0; i < launcher_count() && count < COUNT_OF(names); i++) names[count++] = launcher_name(i);
    return name_nearest(word, names, count);
}

bool launchers_parse(const char *text, const char *where, LauncherSet *out, Error *error) {
    char word[LAUNCHER_NAME_SIZE], all[LAUNCHER_NAMES_SIZE];
    LauncherSet set = 0;
    if (name_matches(text, "any")) return *out = 0, true;
    for (;;) {
        size_t length = strcspn(text, ",");
        snprintf(word, sizeof word, "%.*s", (int)min_whole((int64_t)length, (int64_t)sizeof word - 1), text);
        const char *name = launcher_plain_name(word);
        int found = 0;
        while (found < launcher_count() && (length >= sizeof word || !name_matches(name, launcher_name(found))))
            found++;
        if (found == launcher_count()) {
            const char *near = nearest_launcher(word);
            return error_set(error, ERROR_INPUT, where, "\"%s\" is not a launcher; %s%s%sgive any, %s", word,
                             near ? "did you mean " : "", near ? near : "", near ? "? " : "",
                             launcher_names(launchers_all(), ", ", " or ", all, sizeof all));
        }
        set |= 1u << found;
        text += length;
        if (*text == '\0') break;
        text++;
    }
    *out = set;
    return true;
}

LauncherSet launchers_usual(const Chip *chip, const Model *model) {
    LauncherSet set = 0;
    for (int i = 0; i < launcher_count(); i++) {
        const Launcher *launcher = launcher_at(i);
        bool usual = chip_has_domains(chip) ? launcher->usual_on_gpus : launcher->usual_on_tpus;
        if (usual && (!launcher->has_model || launcher->has_model(model))) set |= 1u << i;
    }
    return set;
}

LauncherSet launchers_made_for(bool tuning) {
    LauncherSet set = 0;
    for (int i = 0; i < launcher_count(); i++)
        if (launcher_at(i)->fine_tunes == tuning) set |= 1u << i;
    return set;
}

LauncherSet launchers_usual_in_tuning(void) {
    LauncherSet set = 0;
    for (int i = 0; i < launcher_count(); i++)
        if (launcher_at(i)->usual_in_tuning) set |= 1u << i;
    return set;
}

HostUpdate launchers_host_update(LauncherSet launchers) {
    for (int i = 0; i < launcher_count(); i++)
        if ((launchers >> i & 1) && launcher_at(i)->host_update == HOST_UPDATE_ON_CPU) return HOST_UPDATE_ON_CPU;
    return HOST_UPDATE_STREAMS;
}

const char *launcher_nesting(int launcher) { return launcher_at(launcher)->nestings[0].name; }

/* The one of that number, launcher by launcher; NULL after the last. */
static const NamedNesting *nesting_at(int number) {
    for (int i = 0; i < launcher_count(); i++)
        for (int n = 0; n < LAUNCHER_NESTINGS_MAX && launcher_at(i)->nestings[n].name; n++)
            if (number-- == 0) return &launcher_at(i)->nestings[n];
    return NULL;
}

/* Launchers that nest roles alike share a name, which counts where it stands first. */
static bool first_of_its_name(int number) {
    const char *name = nesting_at(number)->name;
    for (int i = 0; i < number; i++)
        if (strcmp(nesting_at(i)->name, name) == 0) return false;
    return true;
}

const char *nesting_name(int index) {
    const NamedNesting *nesting = NULL;
    if (index == 0) return "default";
    for (int i = 0; index > 0 && (nesting = nesting_at(i)) != NULL; i++) index -= first_of_its_name(i);
    return nesting && index == 0 ? nesting->name : NULL;
}

bool nesting_named(const char *name, Nesting *out) {
    const NamedNesting *nesting;
    if (strcmp(name, "default") == 0) return *out = nesting_canonical(), true;
    for (int i = 0; (nesting = nesting_at(i)) != NULL; i++)
        if (strcmp(name, nesting->name) == 0) return *out = nesting->order, true;
    return false;
}
