/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The files behind the names: models/zoo of the data folder, and what --model points at. */
#include "base/file.h"
#include "base/json.h"
#include "base/util.h"
#include "models/config/model_json.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool read_model(const char *path, bool zoo, Model *out, Error *error) {
    cJSON *json = json_read_python_file(path, error); /* as the library writes it */
    bool ok = json && model_from_json(json, path, zoo, out, error);
    cJSON_Delete(json);
    if (ok) out->path = path;
    return ok;
}

/* Numbers inside names count as numbers: llama2-7b stands before llama2-13b. */
static int by_name(const void *a, const void *b) {
    return strverscmp(((const Model *)a)->name, ((const Model *)b)->name);
}

static bool answers_to(const Model *model, const char *name) {
    if (name_matches(model->name, name)) return true;
    for (int i = 0; i < model->alias_count; i++)
        if (name_matches(model->aliases[i], name)) return true;
    return false;
}

/* Whether a file of the zoo answers to a name. */
static bool file_answers_to(const cJSON *json, const char *name) {
    const cJSON *alias;
    if (name_matches(json_text_at(json, "shardopt.name"), name)) return true;
    cJSON_ArrayForEach(alias, json_at(json, "shardopt.aliases")) {
        if (cJSON_IsString(alias) && name_matches(alias->valuestring, name)) return true;
    }
    return false;
}

/* One name, one model: an alias that two files claim would make the answer depend on their order. */
static bool check_names(const Zoo *zoo, Error *error) {
    for (int i = 0; i < zoo->count; i++) {
        for (int j = 0; j < zoo->count; j++) {
            const Model *model = &zoo->models[i], *other = &zoo->models[j];
            bool clash = i != j && answers_to(other, model->name);
            for (int k = 0; k < model->alias_count && !clash; k++)
                clash = i != j && answers_to(other, model->aliases[k]);
            if (clash)
                return error_set(error, ERROR_INPUT, "models/zoo", "%s and %s answer to one name; rename an alias",
                                 model->name, other->name);
        }
    }
    return true;
}

bool zoo_load(Arena *arena, Zoo *out, Error *error) {
    const char *folder = file_data_folder("models/zoo", arena, error);
    char **names;
    size_t count;
    if (!folder || !file_list(folder, ".json", arena, &names, &count, error)) return false;
    if (count > 10000) return error_set(error, ERROR_INPUT, folder, "holds %zu models; at most 10000 are read", count);
    Zoo zoo = {.models = ARENA_NEW(arena, Model, count), .count = (int)count};
    if (!zoo.models) return error_memory(error);
    for (size_t i = 0; i < count; i++) {
        const char *path = arena_format(arena, "%s/%s", folder, names[i]);
        if (!path) return error_memory(error);
        if (!read_model(path, true, &zoo.models[i], error)) return false;
    }
    qsort(zoo.models, count, sizeof *zoo.models, by_name);
    if (!check_names(&zoo, error)) return false;
    *out = zoo;
    return true;
}

bool zoo_complete(Model *model, Error *error) {
    const char *path = model->path;
    return !model->noted || read_model(path, true, model, error);
}

/* Reads every file for the model that answers to a name, and interprets no other: that is most of what a zoo takes. */
static bool zoo_search(const char *name, Arena *arena, Model *out, bool *found, Error *error) {
    const char *folder = file_data_folder("models/zoo", arena, error), *first = NULL;
    char **names;
    size_t count;
    *found = false;
    if (!folder || !file_list(folder, ".json", arena, &names, &count, error)) return false;
    for (size_t i = 0; i < count; i++) {
        const char *path = arena_format(arena, "%s/%s", folder, names[i]);
        if (!path) return error_memory(error);
        cJSON *json = json_read_python_file(path, error);
        bool is = json && file_answers_to(json, name),
             ok = json && (!is || first || model_from_json(json, path, true, out, error));
        cJSON_Delete(json);
        if (!ok) return false;
        if (is && first)
            return error_set(error, ERROR_INPUT, "models/zoo", "%s and %s answer to one name; rename an alias", first,
                             names[i]);
        if (!is) continue;
        first = names[i];
        out->path = path;
        *found = true;
    }
    return true;
}

/* Reads the model that answers to a name. *found: it is there. */
static bool zoo_read(const char *name, Arena *arena, Model *out, bool *found, Error *error) {
    Zoo noted;
    if (!zoo_noted(arena, &noted, error)) return false;
    if (noted.count == 0) return zoo_search(name, arena, out, found, error);
    const Model *model = zoo_find(&noted, name);
    *found = model != NULL;
    if (model) *out = *model;
    return !model || zoo_complete(out, error);
}

const Model *zoo_find(const Zoo *zoo, const char *name) {
    for (int i = 0; i < zoo->count; i++)
        if (answers_to(&zoo->models[i], name)) return &zoo->models[i];
    return NULL;
}

/* The characters of a part of a name: up to a hyphen or the like, and (`finely`) to where letters go over into a
 * number. */
static size_t part_length(const char *at, bool finely) {
    size_t length = strcspn(at, "-_. ");
    for (size_t i = 1; finely && i < length; i++)
        if (!isdigit((unsigned char)at[i - 1]) && isdigit((unsigned char)at[i])) return i;
    return length;
}

/* Whether every part of a name is in a model's name or in one of its aliases. */
static bool has_all_parts(const char *known, const char *name, bool finely) {
    char part[64];
    bool any = false;
    for (const char *at = name; *at;) {
        size_t length = part_length(at, finely);
        if (length >= sizeof part) return false;
        snprintf(part, sizeof part, "%.*s", (int)length, at);
        if (length > 0 && !strcasestr(known, part)) return false;
        any = any || length > 0;
        at += length;
        at += strspn(at, "-_. ");
    }
    return any;
}

bool zoo_filter(const Zoo *zoo, const char *name, Arena *arena, Zoo *out, Error *error) {
    *out = (Zoo){.models = ARENA_NEW(arena, Model, (size_t)zoo->count + 1)};
    if (!out->models) return error_memory(error);
    for (int finely = 0; finely < 2 && out->count == 0; finely++) /* "llama-70b", else "llama70b" */
        for (int i = 0; i < zoo->count; i++) {
            const Model *model = &zoo->models[i];
            bool has = has_all_parts(model->name, name, finely);
            for (int k = 0; k < model->alias_count && !has; k++) has = has_all_parts(model->aliases[k], name, finely);
            if (has) out->models[out->count++] = *model;
        }
    return true;
}

/* The parts of a repository's name that say how weights were trained or lie, and as what they are stored: those of
 * NVIDIA's FP4 are nvfp4, of AWQ and of GPTQ without a number int4 (the tools' usual 4 bits), of bitsandbytes nf4. */
static const struct {
    const char *part, *stored;
} PARTS[] = {
    {"-Instruct", NULL},  {"-hf", NULL},        {"-Base", NULL},       {"-it", NULL},       {"-Chat", NULL},
    {"-Embedding", NULL}, {"-Reranker", NULL},  {"-Reward", NULL},     {"-DPO", NULL},      {"-SFT", NULL},
    {"-Thinking", NULL},  {"-unsloth", NULL},   {"-quantized", NULL},  {"-BF16", "bf16"},   {"-FP8", "fp8"},
    {"-dynamic", NULL},   {"-KV", NULL},        {"-Int8", "int8"},     {".w8a8", "int8"},   {"-W8A8", "int8"},
    {"-MXFP4", "mxfp4"},  {"-FP4-v2", "nvfp4"}, {"-FP4", "nvfp4"},     {"-NVFP4", "nvfp4"}, {"-GPTQ", "int4"},
    {"-Int4", "int4"},    {"-AWQ", "int4"},     {".w4a16", "int4"},    {"-W4A16", "int4"},  {"-bnb-4bit", "nf4"},
    {"-4bit", "nf4"},     {"-GGUF", "GGUF"},    {"-qat-q4_0", "GGUF"},
};

/* Where such a part stands in a name: at its end, or before another part; NULL: nowhere. */
static char *part_in(char *name, const char *part) {
    for (char *at = strcasestr(name + 1, part); *name && at; at = strcasestr(at + 1, part))
        if (strchr("-.", at[strlen(part)])) return at; /* the end too */
    return NULL;
}

/* The date or the version of a release, "-2507" or "-v0.2", at the end of a name; NULL: it has none. */
static char *date_in(char *name) {
    char *last = strrchr(name, '-');
    if (!last || last == name) return NULL;
    bool version =
        tolower((unsigned char)last[1]) == 'v' && last[2] && last[2 + strspn(last + 2, "0123456789.")] == '\0';
    return version || (strlen(last) == 5 && strspn(last + 1, "0123456789") == 4) ? last : NULL;
}

/* Takes one of them from a name, and says what is stored (else `stored` stays). False: it has none. */
static bool drop_part(char *name, const char **stored) {
    for (size_t i = 0; i < COUNT_OF(PARTS); i++) {
        char *at = part_in(name, PARTS[i].part);
        if (!at) continue;
        if (PARTS[i].stored && !*stored) *stored = PARTS[i].stored;
        const char *rest = at + strlen(PARTS[i].part);
        memmove(at, rest, strlen(rest) + 1);
        return true;
    }
    char *date = date_in(name);
    return date ? (*date = '\0', true) : false;
}

enum { REPOSITORY_SIZE = 96 };

/* The name in a repository's, "organisation/Name", which may be left out: false: it is a path, or too long. */
static bool name_in(const char *argument, char name[REPOSITORY_SIZE]) {
    const char *slash = strchr(argument, '/');
    const char *from = slash ? slash + 1 : argument;
    if (slash == argument || argument[0] == '.' || strchr(from, '/') || strlen(from) >= REPOSITORY_SIZE) return false;
    snprintf(name, REPOSITORY_SIZE, "%s", from);
    return true;
}

/* The model of a name, or of what remains without parts that say how it was trained. */
static const Model *of_parts(const Zoo *zoo, const char *whole) {
    const char *stored = NULL;
    char name[REPOSITORY_SIZE];
    snprintf(name, sizeof name, "%s", whole);
    do {
        const Model *found = zoo_find(zoo, name);
        if (found) return found;
    } while (drop_part(name, &stored));
    return NULL;
}

const Model *zoo_of_name(const Zoo *zoo, const char *argument) {
    char name[REPOSITORY_SIZE];
    if (!name_in(argument, name)) return NULL;
    const Model *found = of_parts(zoo, name);
    for (const char *at = name; !found && (at = strchr(at, '-'));)
        if (isalpha((unsigned char)*++at) && strpbrk(at, "0123456789")) found = of_parts(zoo, at);
    return found;
}

const Model *zoo_of_repository(const Zoo *zoo, const char *argument) {
    char name[REPOSITORY_SIZE];
    if (strchr(argument, '/')) return zoo_of_name(zoo, argument);
    return name_in(argument, name) ? of_parts(zoo, name) : NULL;
}

/* The model with whose name a name begins, "Phi-3-mini" of "Phi-3-mini-4k"; NULL: there is none. */
static const Model *begun_with(const Zoo *zoo, const char *name) {
    const Model *found = NULL;
    char begun[REPOSITORY_SIZE];
    snprintf(begun, sizeof begun, "%s", name);
    for (char *hyphen; !found && (hyphen = strrchr(begun, '-')) && strchr(begun, '-') != hyphen;)
        *hyphen = '\0', found = zoo_find(zoo, begun);
    return found;
}

const char *repository_stores(const char *argument) {
    const char *stored = NULL;
    char name[REPOSITORY_SIZE];
    if (!name_in(argument, name)) return NULL;
    while (drop_part(name, &stored)) continue;
    return stored;
}

/* The billions in a name, 70 of "llama-70b"; 0: it says none. */
static double billions_in(const char *name) {
    for (const char *at = name; *at; at++) {
        char *end;
        if (!isdigit((unsigned char)*at) || (at > name && (isalnum((unsigned char)at[-1]) || at[-1] == '.'))) continue;
        double billions = strtod(at, &end);
        if (tolower((unsigned char)*end) == 'b' && !isalnum((unsigned char)end[1])) return billions;
    }
    return 0;
}

/* Whether one of the parts of a name ("Qwen", "2", "5", "32b") is this one. */
static bool has_part(const char *name, const char *part, size_t length) {
    for (const char *at = name; *at; at += strspn(at, "-_. ")) {
        size_t own = part_length(at, true);
        if (own == length && strncasecmp(at, part, length) == 0) return true;
        at += own;
    }
    return false;
}

static int parts_shared(const char *name, const char *known) {
    int shared = 0;
    for (const char *at = name; *at; at += strspn(at, "-_. ")) {
        size_t length = part_length(at, true);
        shared += has_part(known, at, length);
        at += length;
    }
    return shared;
}

/* Whether a name has the letters with which a model's begins, as a word. */
static bool is_of_family(const char *name, const char *known) {
    size_t letters = strcspn(known, "-0123456789.");
    for (const char *at = name; *at; at++)
        if ((at == name || !isalpha((unsigned char)at[-1])) && strncasecmp(at, known, letters) == 0 &&
            !isalpha((unsigned char)at[letters]))
            return letters > 1;
    return false;
}

/* The model that is nearest in meaning to a name: what it begins with, "Phi-3-mini" of "Phi-3-mini-4k", else one of a
 * family that it names and of its size, within a tenth, with most parts in common. NULL: none is. */
static const Model *nearest_in_meaning(const Zoo *zoo, const char *name) {
    const Model *nearest = NULL;
    double billions = billions_in(name);
    int most = 0;
    nearest = begun_with(zoo, name);
    if (nearest) return nearest;
    for (int i = 0; i < zoo->count && billions > 0; i++) {
        const Model *model = &zoo->models[i];
        double has = billions_in(model->name);
        if (!is_of_family(name, model->name) || has < 0.9 * billions || has > 1.1 * billions) continue;
        int shared = parts_shared(name, model->name);
        if (shared < most || shared == 0) continue; /* of several the newest */
        most = shared, nearest = model;
    }
    return nearest;
}

/* Of a repository that is no model of the zoo: what to type. */
static bool repository_unknown(const Zoo *zoo, const char *argument, Error *error) {
    const Model *nearest = nearest_in_meaning(zoo, strrchr(argument, '/') + 1);
    return error_set(error, ERROR_INPUT, "--model",
                     "%.80s is neither here nor a model of the zoo; `hf download %.80s config.json --local-dir .`, and "
                     "give --model config.json%s%s",
                     argument, argument, nearest ? "; nearest in the zoo: " : "", nearest ? nearest->name : "");
}

/* Whether an argument looks like a repository's name, "organisation/Name", and no path. */
static bool is_repository(const char *argument) {
    const char *slash = strchr(argument, '/');
    return slash && slash > argument && isalnum((unsigned char)argument[0]) && isalnum((unsigned char)slash[1]) &&
           !strchr(slash + 1, '/') && !text_ends_in(argument, ".json");
}

/* The letters with which a name begins, its family: 4 of "qwn3"... of "qwen3-8b", 5 of "llama-4-behemoth". */
static size_t family_letters(const char *name) { return strcspn(name, "-_. 0123456789"); }

/* Whether a model is of the family that a name begins with, so many letters amiss; without letters, "3b", of a model
 * that has all its parts. */
static bool is_of_named_family(const Model *model, const char *name, int amiss) {
    char own[64], known[64];
    size_t letters = family_letters(name);
    if (letters == 0) {
        for (const char *at = name; *at; at += strspn(at, "-_ ")) {
            size_t length = strcspn(at, "-_ ");
            const char *in = model->name;
            for (; *in; in += strspn(in, "-_ ")) {
                if (strcspn(in, "-_ ") == length && strncasecmp(in, at, length) == 0) break;
                in += strcspn(in, "-_ ");
            }
            if (!*in || length == 0) return false;
            at += length;
        }
        return *name != '\0';
    }
    snprintf(own, sizeof own, "%.*s", (int)letters, name);
    snprintf(known, sizeof known, "%.*s", (int)family_letters(model->name), model->name);
    return letters > 1 && name_distance(own, known) <= amiss;
}

typedef struct {
    int rank, shared, distance;
    const char *name;
} NearModel;

/* Most parts in common first, then fewest letters to change, then the newest. */
static int by_nearness(const void *a, const void *b) {
    const NearModel *x = a, *y = b;
    if (x->shared != y->shared) return x->shared > y->shared ? -1 : 1;
    if (x->distance != y->distance) return x->distance < y->distance ? -1 : 1;
    return x->rank > y->rank ? -1 : 1;
}

/* A name that nobody knows: the models of its family, nearest first, and none of another. */
static bool name_unknown(const Zoo *zoo, const char *name, Arena *arena, Error *error) {
    enum { SHOWN = 7 };
    NearModel *near = ARENA_NEW(arena, NearModel, (size_t)zoo->count + 1);
    if (!near) return error_memory(error);
    int count = 0, letters = (int)family_letters(name), amiss = letters > 4 ? 2 : letters > 2;
    for (int i = 0; i < zoo->count && amiss == 2; i++) /* two letters only of what begins like nobody */
        if (is_of_named_family(&zoo->models[i], name, 0)) amiss = 1;
    for (int i = 0; i < zoo->count; i++)
        if (is_of_named_family(&zoo->models[i], name, amiss))
            near[count++] = (NearModel){i, parts_shared(name, zoo->models[i].name),
                                        name_distance(name, zoo->models[i].name), zoo->models[i].name};
    qsort(near, (size_t)count, sizeof *near, by_nearness);
    char several[168] = "";
    size_t nearest = count ? family_letters(near[0].name) : 0;
    for (int i = 0; i < count && i < SHOWN; i++) {
        if (amiss == 2 && (family_letters(near[i].name) != nearest ||
                           strncasecmp(near[i].name, near[0].name, nearest) != 0))
            continue;
        size_t used = strlen(several);
        snprintf(several + used, sizeof several - used, "%s%s", used ? ", " : "", near[i].name);
    }
    return error_set(error, ERROR_INPUT, "--model", "\"%.40s\" is neither a model of the zoo nor a file; %s%s%s", name,
                     count ? "nearest: " : "`shardopt models` lists them", count ? several : "",
                     count ? "; a config.json will do too" : ", and a config.json or its folder will do too");
}

/* A config.json as the argument itself. */
static bool read_inline(const char *text, Model *out, Error *error) {
    cJSON *json = json_parse(text, strlen(text), "--model", error);
    bool ok = json && model_from_json(json, "--model", false, out, error);
    cJSON_Delete(json);
    if (ok) snprintf(out->name, sizeof out->name, "model-of-these-sizes");
    return ok;
}

/* Says of a name that is known, but no decoder of text, what it is; false: it is none of those, or an error: !*ok. */
static bool is_unplanned(const char *argument, Arena *arena, bool *ok, Error *error) {
    Error none; /* a data folder of someone's own need not have the list */
    const char *folder = file_data_folder("models/unplanned", arena, &none), *slash = strrchr(argument, '/');
    const char *name = slash ? slash + 1 : argument;
    if (!folder) return *ok = true, false;
    const char *path = arena_format(arena, "%s/names.json", folder);
    cJSON *rows = path ? json_read_file(path, error) : NULL;
    if (!path) error_memory(error);
    const cJSON *row, *begins;
    bool found = false;
    *ok = rows != NULL;
    cJSON_ArrayForEach(row, rows) cJSON_ArrayForEach(begins, json_at(row, "begins")) {
        size_t length = cJSON_IsString(begins) ? strlen(begins->valuestring) : 0;
        if (found || length == 0 || strncasecmp(name, begins->valuestring, length) != 0 ||
            isalpha((unsigned char)name[length]))
            continue;
        found = true;
        error_set(error, ERROR_INPUT, "--model", "%.80s is %s", name, json_text_at(row, "is"));
    }
    cJSON_Delete(rows);
    return found;
}

bool model_load(const char *argument, Arena *arena, Model *out, Error *error) {
    bool is_path = file_names_json(argument), found = false;
    if (*argument == '{') return read_inline(argument, out, error);
    if (*argument == '\0')
        return error_set(error, ERROR_INPUT, "--model", "is empty; give a name, a config.json or its folder");
    if (!is_path && !zoo_read(argument, arena, out, &found, error)) return false;
    if (found) return true;            /* a name of the zoo wins over a file that happens to be called so */
    if (access(argument, F_OK) != 0) { /* a file or a folder here wins over a repository elsewhere */
        Zoo zoo;
        bool ok;
        if (is_unplanned(argument, arena, &ok, error) || !ok || !zoo_names(arena, &zoo, error)) return false;
        const Model *of_repository = zoo_of_name(&zoo, argument);
        if (of_repository) return *out = *of_repository, zoo_complete(out, error);
        if (!is_path) return name_unknown(&zoo, argument, arena, error);
        if (is_repository(argument)) return repository_unknown(&zoo, argument, error);
    }
    const char *path = file_is_folder(argument) ? arena_format(arena, "%s/config.json", argument) : argument;
    if (!path) return error_memory(error);
    return read_model(path, false, out, error);
}
