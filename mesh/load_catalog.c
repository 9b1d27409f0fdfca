/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the folder of chip files as one catalog, and finds chips by the names that people write. */
#include "base/data_index.h"
#include "base/file.h"
#include "base/json.h"
#include "base/util.h"
#include "mesh/chip_json.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define SEPARATORS "-_. "

enum { FOLDED_SIZE = 2 * CHIP_NAME_SIZE, CATALOG_CHIPS_MAX = 1024 };

/* Lower case without - _ . and blanks; a final "gb" after a digit is "g", so that 80gb is 80g. A name that is too long
 * is cut, and then matches nothing that the catalog can hold. */
static void fold(const char *name, char folded[FOLDED_SIZE]) {
    size_t length = 0;
    for (; *name && length < FOLDED_SIZE - 1; name++)
        if (!strchr(SEPARATORS, *name)) folded[length++] = (char)tolower((unsigned char)*name);
    folded[length] = '\0';
    if (length > 2 && isdigit((unsigned char)folded[length - 3]) && strcmp(folded + length - 2, "gb") == 0)
        folded[length - 1] = '\0';
}

static bool same_name(const char *own, const char *folded) {
    char name[FOLDED_SIZE];
    fold(own, name);
    return strcmp(name, folded) == 0 || (strncmp(name, "tpu", 3) == 0 && strcmp(name + 3, folded) == 0);
}

Chip chip_device(const Chip *chip) {
    Chip device = *chip;
    double parts = (double)max_whole(1, chip->devices_per_chip);
    device.bf16_flops_per_second.value /= parts;
    device.fp8_flops_per_second.value /= parts;
    device.int8_ops_per_second.value /= parts;
    device.fp4_flops_per_second.value /= parts;
    device.vector_flops_per_second.value /= parts;
    device.hbm_bytes.value /= parts;
    device.hbm_usable_bytes.value /= parts;
    device.hbm_bytes_per_second.value /= parts;
    device.host_bytes.value /= parts;
    device.pcie_bytes_per_second.value /= parts;
    device.pcie_both_bytes_per_second.value /= parts;
    device.host_copies_bytes_per_second.value /= parts;
    device.host_memory_bytes_per_second.value /= parts;
    return device;
}

/* Behind the vendor, which people put before a chip's name, or what a cloud puts before an instance's. */
static const char *without_vendor(const char *name) {
    static const char *const VENDORS[] = {"nvidia", "amd", "google", "intel", "aws", "ml", "standard"};
    for (size_t i = 0; i < COUNT_OF(VENDORS); i++) {
        size_t length = strlen(VENDORS[i]);
        if (strncasecmp(name, VENDORS[i], length) == 0 && strchr("-_ .", name[length])) return name + length;
    }
    return name;
}

static const Chip *find_named(const Catalog *catalog, const char *name) {
    char folded[FOLDED_SIZE];
    fold(name, folded);
    if (folded[0] == '\0') return NULL;
    for (int i = 0; i < catalog->count; i++) {
        const Chip *chip = &catalog->chips[i];
        if (same_name(chip->name, folded)) return chip;
        for (int j = 0; j < chip->alias_count; j++)
            if (same_name(chip->aliases[j], folded)) return chip;
    }
    return NULL;
}

static bool near(double a, double b) { return a > 0.98 * b && a < 1.02 * b; }

/* Whether a chip has that memory: on board, as sold or in GiB, or of a host that is coherent (the 480 of a GH200). */
static bool has_memory(const Chip *chip, double gigabytes) {
    return near(gigabytes, chip->hbm_bytes.value / 1e9) || near(gigabytes, chip->hbm_bytes.value / 0x1p30) ||
           near(gigabytes, chip->hbm_usable_bytes.value / 0x1p30) ||
           (chip->coherent_host && near(gigabytes, chip->host_bytes.value / 1e9));
}

/* The model in a product's name, "h100" of "H100-80GB-SXM5 HBM3"; false: there is none, or words of form or memory are
 * not this chip's (NULL: any). */
static bool model_in(const Chip *chip, const char *name, char model[FOLDED_SIZE]) {
    enum { ANY, SOCKET, SLOT };
    static const struct {
        const char *begins;
        int form;
    } WORDS[] = {{"sxm", SOCKET},  {"oam", SOCKET},   {"pcie", SLOT},  {"hbm", ANY},  {"gddr", ANY}, {"tesla", ANY},
                 {"geforce", ANY}, {"instinct", ANY}, {"tensor", ANY}, {"core", ANY}, {"gpu", ANY}};
    bool fits = true;
    char words[FOLDED_SIZE];
    size_t used = 0;
    for (name += strspn(name, SEPARATORS); *name; name += strspn(name, SEPARATORS)) {
        size_t length = strcspn(name, SEPARATORS), digits = strspn(name, "0123456789"), w = 0;
        bool memory =
            digits > 0 && digits < length && tolower((unsigned char)name[digits]) == 'g' &&
            (length == digits + 1 || (length == digits + 2 && tolower((unsigned char)name[digits + 1]) == 'b'));
        while (w < COUNT_OF(WORDS) && strncasecmp(name, WORDS[w].begins, strlen(WORDS[w].begins)) != 0) w++;
        if (memory)
            fits = fits && (!chip || has_memory(chip, strtod(name, NULL)));
        else if (w < COUNT_OF(WORDS))
            fits =
                fits && (!chip || WORDS[w].form == ANY || (WORDS[w].form == SLOT) == (chip->scaleup == SCALEUP_PCIE));
        else
            used += (size_t)snprintf(words + used, sizeof words - used, "%.*s", (int)length, name);
        if (used >= sizeof words) return false;
        name += length;
    }
    words[used] = '\0';
    fold(words, model);
    return fits && used > 0;
}

/* Finds a chip by a product's name with its form and memory in any order; of several the one that the model's name
 * alone means. */
static const Chip *find_described(const Catalog *catalog, const char *name) {
    char model[FOLDED_SIZE], own[FOLDED_SIZE];
    const Chip *usual = model_in(NULL, name, model) ? find_named(catalog, model) : NULL;
    if (usual && model_in(usual, name, own)) return usual;
    for (int i = 0; i < catalog->count; i++) {
        const Chip *chip = &catalog->chips[i];
        if (model_in(NULL, chip->name, own) && strcmp(own, model) == 0 && model_in(chip, name, own)) return chip;
    }
    return NULL;
}

const Chip *catalog_find(const Catalog *catalog, const char *name) {
    const Chip *found = find_named(catalog, name);
    if (!found) found = find_named(catalog, name = without_vendor(name));
    if (!found) found = find_described(catalog, name);
    int chips;
    return found ? found : catalog_instance(catalog, name, &chips);
}

const Chip *catalog_instance(const Catalog *catalog, const char *name, int *chips) {
    char folded[FOLDED_SIZE], own[CHIP_NAME_SIZE];
    fold(without_vendor(name), folded);
    if (find_named(catalog, without_vendor(name))) return NULL; /* a chip itself */
    for (int i = 0; i < catalog->count; i++)
        for (int j = 0; j < catalog->chips[i].alias_count; j++) {
            snprintf(own, sizeof own, "%s", catalog->chips[i].aliases[j]);
            char *colon = strchr(own, ':');
            if (!colon) continue;
            *colon = '\0';
            *chips = atoi(colon + 1);
            if (*chips > 0 && same_name(own, folded)) return &catalog->chips[i];
        }
    return NULL;
}

static int by_name(const void *a, const void *b) { return strcmp(((const Chip *)a)->name, ((const Chip *)b)->name); }

/* If two chips shared a name, its meaning would depend on the order of the files. */
static bool names_are_unique(const Catalog *catalog, const char *folder, Error *error) {
    for (int i = 0; i < catalog->count; i++) {
        const Chip *chip = &catalog->chips[i];
        for (int j = -1; j < chip->alias_count; j++) {
            const char *name = j < 0 ? chip->name : chip->aliases[j];
            const Chip *found = catalog_find(catalog, name);
            if (found == chip) continue;
            return error_set(error, ERROR_INPUT, folder, "%s and %s both answer to %s; give each chip names of its own",
                             found ? found->name : "?", chip->name, name);
        }
    }
    return true;
}

enum { LIKES_MAX = 4 };

/* Reads a chip's file; figures and a topology that it lacks, but for prices, are those of the chip that it is "like".
 * NULL: *error says why. */
static cJSON *read_chip(const char *path, const char *folder, int likes, Arena *arena, Error *error) {
    cJSON *json = json_read_file(path, error), *like = cJSON_DetachItemFromObjectCaseSensitive(json, "like"), *item;
    if (!like) return json;
    const char *other = NULL;
    if (!cJSON_IsString(like) || likes == LIKES_MAX)
        error_set(error, ERROR_INPUT, path, "like: give the name of another chip's file, without .json");
    else if (!(other = arena_format(arena, "%s/%s.json", folder, like->valuestring)))
        error_memory(error);
    cJSON_Delete(like);
    cJSON *base = other ? read_chip(other, folder, likes + 1, arena, error) : NULL;
    while (base && (item = cJSON_DetachItemFromArray(base, 0))) {
        bool taken =
            cJSON_IsObject(item) && strncmp(item->string, "usd_", 4) != 0 && !cJSON_HasObjectItem(json, item->string);
        if (!taken || !cJSON_AddItemToArray(json, item)) cJSON_Delete(item);
    }
    if (!base) cJSON_Delete(json), json = NULL;
    cJSON_Delete(base);
    return json;
}

cJSON *chip_document(const char *folder, const char *file, Arena *arena, Error *error) {
    const char *path = arena_format(arena, "%s/%s", folder, file);
    return path ? read_chip(path, folder, 0, arena, error) : (error_memory(error), NULL);
}

static bool take_chip(const cJSON *json, const char *folder, const char *file, Arena *arena, Chip *out, Error *error) {
    if (!json || !chip_from_json(json, file, out, error)) return false;
    out->path = arena_format(arena, "%s/%s", folder, file);
    return out->path || error_memory(error);
}

bool catalog_read(Arena *arena, Catalog *out, Error *error) {
    const char *folder = file_data_folder("mesh/catalog", arena, error);
    char **files = NULL;
    size_t count = 0;
    if (!folder || !file_list(folder, ".json", arena, &files, &count, error)) return false;
    if (count == 0 || count > CATALOG_CHIPS_MAX)
        return error_set(error, ERROR_INPUT, folder, "%zu chips; give 1 to %d .json files", count, CATALOG_CHIPS_MAX);
    Catalog catalog = {.chips = ARENA_NEW(arena, Chip, count), .count = (int)count};
    if (!catalog.chips) return error_memory(error);
    for (size_t i = 0; i < count; i++) {
        cJSON *json = chip_document(folder, files[i], arena, error);
        bool ok = take_chip(json, folder, files[i], arena, &catalog.chips[i], error);
        cJSON_Delete(json);
        if (!ok) return false;
    }
    qsort(catalog.chips, count, sizeof(Chip), by_name);
    if (!names_are_unique(&catalog, folder, error)) return false;
    *out = catalog;
    return true;
}

/* From notes, which the build took of a catalog that catalog_read() had taken. */
static bool read_notes(const DataIndex *index, Arena *arena, Catalog *out, Error *error) {
    Catalog catalog = {.chips = ARENA_NEW(arena, Chip, index->count), .count = (int)index->count};
    if (!catalog.chips) return error_memory(error);
    for (size_t i = 0; i < index->count; i++) {
        const IndexRow *row = &index->rows[i];
        cJSON *json = json_parse(row->facts, strlen(row->facts), row->file, error);
        bool ok = take_chip(json, index->folder, row->file, arena, &catalog.chips[i], error);
        cJSON_Delete(json);
        if (!ok) return false;
    }
    qsort(catalog.chips, index->count, sizeof(Chip), by_name);
    *out = catalog;
    return true;
}

bool catalog_load(Arena *arena, Catalog *out, Error *error) {
    DataIndex index;
    Error none = {0};
    if (!data_index_read("mesh/catalog", arena, &index, error)) return false;
    if (index.count > 0 && read_notes(&index, arena, out, &none)) return true;
    if (error_of_machine(&none)) return *error = none, false;
    return catalog_read(arena, out, error);
}
