/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/profile/profile_set.h"

#include "base/file.h"
#include "base/json.h"
#include "base/util.h"

#include <string.h>

enum { RUNS_MOST = 1000000000 };

/* The reader's position. */
typedef struct {
    const char *file, *list; /* "default.json" "profiles" */
    FigureOwner owner;       /* the owner of the list's figures */
    Arena *arena;
    Error *error;
    char where[SET_WHERE_SIZE]; /* of the entry that is read */
} Reading;

static bool wrong(Reading *at, const char *key, const char *what) {
    return error_set(at->error, ERROR_INPUT, at->where, "%.80s: %s", key, what);
}

static const char *kept_text(Reading *at, const char *text) {
    const char *kept = arena_text(at->arena, text);
    if (!kept) error_memory(at->error);
    return kept;
}

/* Checks that every key of `object` is one of these, or, with `figures`, the key of a figure. */
static bool known_keys(Reading *at, const cJSON *object, const char *under, const char *const *keys, size_t count,
                       bool figures) {
    const cJSON *item;
    cJSON_ArrayForEach(item, object) {
        bool known = figures && profile_figure(item->string);
        for (size_t i = 0; i < count && !known; i++) known = strcmp(item->string, keys[i]) == 0;
        if (!known)
            return error_set(at->error, ERROR_INPUT, at->where,
                             "%s%s%.64s: is no key here; see cost/profiles/default.json", under, under[0] ? "." : "",
                             item->string);
    }
    return true;
}

/* The source that every figure has. */
static bool read_source(Reading *at, const cJSON *json, const char *key, const char **out) {
    const cJSON *source = cJSON_GetObjectItemCaseSensitive(json, "source");
    if (!cJSON_IsString(source) || source->valuestring[0] == '\0')
        return wrong(at, key, "has no source; give {\"value\", \"source\": text}");
    if (strlen(source->valuestring) >= PROFILE_SOURCE_SIZE) return wrong(at, key, "source: is longer than 511 bytes");
    *out = kept_text(at, source->valuestring);
    return *out != NULL;
}

/* A key of a figure, with the range of its number. */
typedef struct {
    const char *key;
    double low, high;
    bool open; /* `low` itself is out of the range */
} NumberKey;

/* Reads a number in (or, with `open`, above) `low` to `high`; *given says whether it is there. */
static bool read_number(Reading *at, const cJSON *json, const ProfileFigure *figure, NumberKey number, double *out,
                        bool *given) {
    const char *key = number.key;
    double low = number.low, high = number.high;
    bool open = number.open;
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(json, key);
    *given = value != NULL;
    if (!value) return true;
    if (cJSON_IsNumber(value) && value->valuedouble <= high &&
        (open ? value->valuedouble > low : value->valuedouble >= low)) {
        *out = value->valuedouble;
        return true;
    }
    return error_set(at->error, ERROR_INPUT, at->where, "%s.%s: is out of range; give a number %s %g to %g",
                     figure->key, key, open ? "above" : "from", low, high);
}

/* "prior", "of", "sigma". */
static bool read_prior(Reading *at, const cJSON *json, SetFigure *out) {
    const ProfileFigure *figure = out->figure;
    bool has_prior, has_sigma, has_of = cJSON_GetObjectItemCaseSensitive(json, "of") != NULL;
    double sigma = figure->sigma, prior = out->value;
    if (!read_number(at, json, figure, (NumberKey){"prior", 0, has_of ? 100 : figure->high, true}, &prior,
                     &has_prior) ||
        !read_number(at, json, figure, (NumberKey){"sigma", 0, 10, true}, &sigma, &has_sigma) ||
        !json_text_or(json, "of", "", at->where, out->of, sizeof out->of, at->error))
        return false;
    if (!has_prior && (has_sigma || has_of))
        return wrong(at, figure->key, "has sigma or of, but no prior; give \"prior\"");
    if (has_of && !out->of[0]) return wrong(at, figure->key, "of: is empty; give an entry's name");
    if (has_prior && !(sigma > 0)) return wrong(at, figure->key, "no fit moves it; leave prior out, or give a sigma");
    if (has_prior && !(out->value > 0)) return wrong(at, figure->key, "has a prior, so its value is above 0");
    out->prior = prior;
    out->sigma = has_prior ? sigma : 0;
    return true;
}

/* Reads the results of a fit: all of them or nothing. */
static bool read_fit(Reading *at, const cJSON *json, SetFigure *out) {
    const cJSON *determined = cJSON_GetObjectItemCaseSensitive(json, "determined");
    bool has_deviation, has_runs = cJSON_GetObjectItemCaseSensitive(json, "runs") != NULL;
    if (!read_number(at, json, out->figure, (NumberKey){"deviation", 0, 100, true}, &out->deviation, &has_deviation))
        return false;
    if (has_deviation != has_runs || has_runs != (determined != NULL))
        return wrong(at, out->figure->key, "deviation, runs and determined go together; give all or none");
    if (!has_deviation) return true;
    if (!(out->sigma > 0)) return wrong(at, out->figure->key, "was fitted, so it has a prior; give \"prior\"");
    if (!cJSON_IsBool(determined)) return wrong(at, out->figure->key, "determined: give true or false");
    out->determined = cJSON_IsTrue(determined);
    double runs = 0;
    if (!read_number(at, json, out->figure, (NumberKey){"runs", 0, RUNS_MOST, false}, &runs, &has_runs)) return false;
    out->runs = (int64_t)runs;
    return (double)out->runs == runs || wrong(at, out->figure->key, "runs: give a whole number");
}

static bool read_figure(Reading *at, const cJSON *json, const ProfileFigure *figure, SetFigure *out) {
    static const char *const KEYS[] = {"value", "prior", "of", "sigma", "deviation", "runs", "determined", "source"};
    bool has_value;
    *out = (SetFigure){.figure = figure, .of_at = {-1, -1}};
    if (figure->owner != at->owner)
        return wrong(at, figure->key,
                     at->owner == FIGURE_OF_CHIP ? "is software's; give it in a stack"
                                                 : "is a chip's; give it in a profile");
    if (!cJSON_IsObject(json)) return wrong(at, figure->key, "is no figure; give {\"value\", \"source\": text}");
    if (!known_keys(at, json, figure->key, KEYS, COUNT_OF(KEYS), false) ||
        !read_source(at, json, figure->key, &out->source) ||
        !read_number(at, json, figure, (NumberKey){"value", figure->low, figure->high, false}, &out->value, &has_value))
        return false;
    if (!has_value) return wrong(at, figure->key, "has no value; give {\"value\", \"source\": text}");
    return read_prior(at, json, out) && read_fit(at, json, out);
}

static bool read_figures(Reading *at, const cJSON *json, SetEntry *entry) {
    int count;
    const ProfileFigure *figures = profile_figures(&count);
    for (int i = 0; i < count; i++) {
        const cJSON *figure = cJSON_GetObjectItemCaseSensitive(json, figures[i].key);
        if (figure && !read_figure(at, figure, &figures[i], &entry->figures[entry->figure_count++])) return false;
    }
    return true;
}

static bool read_tile(Reading *at, const cJSON *json, SetEntry *entry) {
    static const char *const KEYS[] = {"value", "source"};
    const cJSON *tile = cJSON_GetObjectItemCaseSensitive(json, "tile_padding");
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(tile, "value");
    if (!tile) return true;
    if (!cJSON_IsObject(tile) || !cJSON_IsBool(value))
        return wrong(at, "tile_padding", "give {\"value\": true or false, \"source\": text}");
    entry->tile_padding = cJSON_IsTrue(value);
    return known_keys(at, tile, "tile_padding", KEYS, COUNT_OF(KEYS), false) &&
           read_source(at, tile, "tile_padding", &entry->tile_source);
}

/* Where names go: `most` rows of `size` bytes. */
typedef struct {
    char *rows;
    size_t size;
    int most, *count;
} TextRows;

/* Reads an array of texts of at most `size` - 1 bytes into rows of that size; an absent array is empty. */
static bool read_texts(Reading *at, const cJSON *json, const char *key, TextRows out) {
    const cJSON *array = cJSON_GetObjectItemCaseSensitive(json, key), *item;
    *out.count = 0;
    if (!array) return true;
    if (!cJSON_IsArray(array) || cJSON_GetArraySize(array) > out.most || cJSON_GetArraySize(array) == 0)
        return error_set(at->error, ERROR_INPUT, at->where, "%s: give an array of 1 to %d names", key, out.most);
    cJSON_ArrayForEach(item, array) {
        if (!cJSON_IsString(item) || item->valuestring[0] == '\0' || strlen(item->valuestring) >= out.size)
            return error_set(at->error, ERROR_INPUT, at->where, "%s: each is a name of 1 to %zu bytes", key,
                             out.size - 1);
        strcpy(out.rows + out.size * (size_t)(*out.count)++, item->valuestring);
    }
    return true;
}

static bool read_untuned(Reading *at, const cJSON *json, SetEntry *entry) {
    const cJSON *untuned = cJSON_GetObjectItemCaseSensitive(json, "untuned");
    entry->untuned = cJSON_IsTrue(untuned);
    if (untuned && !cJSON_IsBool(untuned)) return wrong(at, "untuned", "give true or false");
    return !entry->untuned || entry->parent[0] ||
           wrong(at, "untuned", "give the name of the tuned software as \"kin\"");
}

static bool read_scaleup(Reading *at, const cJSON *json, SetEntry *entry) {
    char words[2][CHIP_NAME_SIZE];
    int count;
    if (!read_texts(at, json, "scaleup", (TextRows){words[0], sizeof words[0], 2, &count})) return false;
    for (int i = 0; i < count; i++) {
        bool *flag = strcmp(words[i], "torus") == 0    ? &entry->torus
                     : strcmp(words[i], "switch") == 0 ? &entry->switched
                                                       : NULL;
        if (!flag || *flag) return wrong(at, "scaleup", "give [\"torus\"], [\"switch\"] or [\"torus\", \"switch\"]");
        *flag = true;
    }
    return true;
}

/* The texts of a match, in the file's order. */
static const struct {
    const char *key;
    size_t offset, size;
} MATCH_TEXTS[] = {
#define TEXT(key)                                                                                                      \
    { #key, offsetof(StackMatch, key), sizeof((StackMatch *)NULL)->key }
    TEXT(framework), TEXT(like),  TEXT(source),    TEXT(date),    TEXT(from),
    TEXT(before),    TEXT(notes), TEXT(not_notes), TEXT(scaleup), TEXT(chip),
#undef TEXT
};

static bool read_match(Reading *at, const cJSON *json, StackMatch *out) {
    const cJSON *item;
    if (!cJSON_IsObject(json) || !json->child) return wrong(at, "matches", "each is an object with a text or more");
    cJSON_ArrayForEach(item, json) {
        size_t i = 0;
        while (i < COUNT_OF(MATCH_TEXTS) && strcmp(MATCH_TEXTS[i].key, item->string) != 0) i++;
        if (i == COUNT_OF(MATCH_TEXTS))
            return error_set(at->error, ERROR_INPUT, at->where, "matches.%.64s: is no column of a run to match",
                             item->string);
        if (!cJSON_IsString(item) || item->valuestring[0] == '\0' || strlen(item->valuestring) >= MATCH_TEXTS[i].size)
            return error_set(at->error, ERROR_INPUT, at->where, "matches.%s: give a text of 1 to %zu bytes",
                             item->string, MATCH_TEXTS[i].size - 1);
        strcpy((char *)out + MATCH_TEXTS[i].offset, item->valuestring);
    }
    bool from = !out->from[0] || strchr("0123456789", out->from[0]);
    bool before = !out->before[0] || strchr("0123456789", out->before[0]);
    if (!from || !before) return wrong(at, "matches", "from, before: give a release such as \"26.04\"");
    return !out->scaleup[0] || strcmp(out->scaleup, "torus") == 0 || strcmp(out->scaleup, "switch") == 0 ||
           wrong(at, "matches.scaleup", "give torus or switch");
}

static bool read_matches(Reading *at, const cJSON *json, SetEntry *entry) {
    const cJSON *array = cJSON_GetObjectItemCaseSensitive(json, "matches"), *item;
    if (!array) return true;
    if (!cJSON_IsArray(array) || cJSON_GetArraySize(array) > SET_MATCHES_MAX || cJSON_GetArraySize(array) == 0)
        return error_set(at->error, ERROR_INPUT, at->where, "matches: give an array of 1 to %d objects",
                         SET_MATCHES_MAX);
    cJSON_ArrayForEach(item, array) {
        if (!read_match(at, item, &entry->matches[entry->match_count++])) return false;
    }
    return true;
}

static bool read_entry(Reading *at, const cJSON *json, SetEntry *entry) {
    static const char *const CHIP_KEYS[] = {"title", "kin", "source", "chips", "scaleup", "tile_padding"};
    static const char *const STACK_KEYS[] = {"title", "aliases",   "kin",     "released", "source",
                                             "chips", "launchers", "scaleup", "matches",  "untuned"};
    bool chip = at->owner == FIGURE_OF_CHIP;
    set_where(at->file, at->list, json->string, at->where);
    if (json->string[0] == '\0' || strlen(json->string) >= sizeof entry->name)
        return wrong(at, "name", "give an entry's name of 1 to 63 bytes");
    strcpy(entry->name, json->string);
    if (!cJSON_IsObject(json)) return wrong(at, "entry", "is no object; see cost/profiles/default.json");
    if (!known_keys(at, json, "", chip ? CHIP_KEYS : STACK_KEYS, chip ? COUNT_OF(CHIP_KEYS) : COUNT_OF(STACK_KEYS),
                    true) ||
        !json_text_or(json, "title", "", at->where, entry->title, sizeof entry->title, at->error) ||
        !read_texts(at, json, "aliases",
                    (TextRows){entry->aliases[0], sizeof entry->aliases[0], SET_ALIASES_MAX, &entry->alias_count}) ||
        !json_text_or(json, "kin", "", at->where, entry->parent, sizeof entry->parent, at->error) ||
        !json_text_or(json, "released", "", at->where, entry->released, sizeof entry->released, at->error) ||
        !json_text(json, "source", at->where, entry->source, sizeof entry->source, at->error) ||
        !read_untuned(at, json, entry) ||
        !read_texts(at, json, "chips",
                    (TextRows){entry->chips[0], sizeof entry->chips[0], SET_CHIPS_MAX, &entry->chip_count}) ||
        !read_texts(
            at, json, "launchers",
            (TextRows){entry->launchers[0], sizeof entry->launchers[0], SET_LAUNCHERS_MAX, &entry->launcher_count}) ||
        !read_scaleup(at, json, entry) || !read_tile(at, json, entry) || !read_matches(at, json, entry) ||
        !read_figures(at, json, entry))
        return false;
    return entry->source[0] || wrong(at, "source", "is empty; say what its figures lean on");
}

static bool is_called(const SetEntry *entry, const char *name) {
    if (name_matches(entry->name, name)) return true;
    for (int i = 0; i < entry->alias_count; i++)
        if (name_matches(entry->aliases[i], name)) return true;
    return false;
}

/* Checks that no name stands twice, aliases included, and that no chip has two profiles. */
static bool check_names(Reading *at, const SetEntry *list, int number) {
    const SetEntry *entry = &list[number];
    for (int i = 0; i < number; i++) {
        bool twice = is_called(&list[i], entry->name);
        for (int a = 0; a < entry->alias_count && !twice; a++) twice = is_called(&list[i], entry->aliases[a]);
        if (twice)
            return error_set(at->error, ERROR_INPUT, at->where,
                             "name: it or an alias is that of \"%.60s\" too; give another", list[i].name);
        for (int c = 0; at->owner == FIGURE_OF_CHIP && c < entry->chip_count; c++)
            for (int o = 0; o < list[i].chip_count; o++)
                if (name_matches(list[i].chips[o], entry->chips[c]))
                    return error_set(at->error, ERROR_INPUT, at->where,
                                     "chips: \"%.60s\" has the profile \"%.60s\" already", entry->chips[c],
                                     list[i].name);
    }
    return true;
}

static bool read_list(Reading *at, const cJSON *json, SetEntry **out, int *out_count) {
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(json, at->list), *item;
    int count = 0;
    set_where(at->file, at->list, "", at->where);
    if (!cJSON_IsObject(list) || cJSON_GetArraySize(list) < 1 || cJSON_GetArraySize(list) > SET_ENTRIES_MAX)
        return error_set(at->error, ERROR_INPUT, at->where, "give an object of 1 to %d entries by their names",
                         SET_ENTRIES_MAX);
    SetEntry *entries = ARENA_NEW(at->arena, SetEntry, (size_t)cJSON_GetArraySize(list));
    if (!entries) return error_memory(at->error);
    cJSON_ArrayForEach(item, list) {
        if (!read_entry(at, item, &entries[count]) || !check_names(at, entries, count)) return false;
        count++;
    }
    *out = entries;
    *out_count = count;
    return true;
}

/* Checks that the likely range of each chip, its own or inherited, lies around 1 or is not known. */
static bool check_likely(const ProfileSet *set, Reading *at) {
    const ProfileFigure *low = profile_figure("likely_low"), *high = profile_figure("likely_high");
    for (int i = 0; i < set->profile_count; i++) {
        const SetFigure *from = set_entry_figure(set->profiles, &set->profiles[i], low);
        const SetFigure *to = set_entry_figure(set->profiles, &set->profiles[i], high);
        double a = from ? from->value : 0, b = to ? to->value : 0;
        if ((a > 0) == (b > 0) && (b == 0 || b >= 1)) continue;
        set_where(at->file, "profiles", set->profiles[i].name, at->where);
        return wrong(at, "likely_low, likely_high", "are no range around 1; give both, e.g. 0.85 and 1.2, or neither");
    }
    return true;
}

static bool check_priors(const SetEntry *list, int count, const char *name, Reading *at) {
    for (int i = 0; i < count; i++)
        for (int f = 0; f < list[i].figure_count; f++) {
            const SetFigure *figure = &list[i].figures[f];
            if (!(figure->sigma > 0) || set_figure_prior(list, figure) > 0) continue;
            set_where(at->file, name, list[i].name, at->where);
            return wrong(at, figure->figure->key, "of: is 0 there, and a prior is above 0");
        }
    return true;
}

bool profile_set_is(const cJSON *json) {
    return cJSON_GetObjectItemCaseSensitive(json, "profiles") || cJSON_GetObjectItemCaseSensitive(json, "stacks");
}

bool profile_set_from_json(const cJSON *json, const char *file, Arena *arena, ProfileSet *out, Error *error) {
    static const char *const KEYS[] = {"name",        "date", "source",   "runs_file",
                                       "runs_sha256", "runs", "profiles", "stacks"};
    ProfileSet set = {0};
    Reading at = {.file = file, .list = "profiles", .owner = FIGURE_OF_CHIP, .arena = arena, .error = error};
    snprintf(at.where, sizeof at.where, "%s", file);
    if (!cJSON_IsObject(json)) return error_set(error, ERROR_INPUT, file, "a set of profiles is an object");
    if (!json_is_plain(json, file, error) || !known_keys(&at, json, "", KEYS, COUNT_OF(KEYS), false) ||
        !json_text(json, "name", file, set.name, sizeof set.name, error) ||
        !json_text(json, "date", file, set.date, sizeof set.date, error) ||
        !json_text(json, "source", file, set.source, sizeof set.source, error) ||
        !json_text_or(json, "runs_file", "", file, set.runs_file, sizeof set.runs_file, error) ||
        !json_text_or(json, "runs_sha256", "", file, set.runs_sha256, sizeof set.runs_sha256, error) ||
        !json_whole_or(json, "runs", 0, RUNS_MOST, 0, file, &set.runs, error))
        return false;
    if (!set.name[0] || !set.source[0])
        return error_set(error, ERROR_INPUT, file, "name, source: are empty; give both");
    if (!read_list(&at, json, &set.profiles, &set.profile_count)) return false;
    at.list = "stacks";
    at.owner = FIGURE_OF_STACK;
    if (!read_list(&at, json, &set.stacks, &set.stack_count) || !profile_set_resolve(&set, file, error) ||
        !check_priors(set.profiles, set.profile_count, "profiles", &at) ||
        !check_priors(set.stacks, set.stack_count, "stacks", &at) || !check_likely(&set, &at))
        return false;
    *out = set; /* written only when all of it is right */
    return true;
}

bool profile_set_read(const char *path, Arena *arena, ProfileSet *out, Error *error) {
    cJSON *json = json_read_file(path, error);
    bool ok = json && profile_set_from_json(json, path, arena, out, error);
    cJSON_Delete(json);
    return ok;
}

bool profile_set_default(Arena *arena, ProfileSet *out, Error *error) {
    const char *folder = file_data_folder("cost/profiles", arena, error);
    const char *path = folder ? arena_format(arena, "%s/default.json", folder) : NULL;
    if (!path) return folder ? error_memory(error) : false;
    return profile_set_read(path, arena, out, error);
}
