/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/options/machine_words.h"

#include "base/number.h"
#include "base/util.h"
#include "models/config/model_json.h"
#include "models/parameters.h"
#include "search/options/host_words.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* ---- model and chip ---- */

bool model_from_words(const Words *words, Model *out) {
    const char *name = given(words, OPTION_MODEL);
    const cJSON *json = words->options->model_json;
    if (!name)
        return words_wrong(words, OPTION_MODEL, "is missing; give a model of `shardopt models`, or a config.json");
    bool ok = json ? model_from_json(json, name, false, out, words->error)
                   : model_load(name, words->arena, out, words->error);
    return ok && model_priceable(out, words_where(words, OPTION_MODEL), words->error);
}

const char *chip_not_planned(const char *name) {
    static const char *const APPLE[] = {"m1", "m2", "m3", "m4", "m5", "apple", "mac"};
    static const char *const KINDS[] = {"", "max", "pro", "ultra", "-max", "-pro", "-ultra", "mini", "book", "studio"};
    for (size_t i = 0; i < COUNT_OF(APPLE); i++)
        for (size_t k = 0; k < COUNT_OF(KINDS); k++) {
            size_t length = strlen(APPLE[i]);
            if (strncasecmp(name, APPLE[i], length) == 0 && strcasecmp(name + length, KINDS[k]) == 0)
                return "Apple's chips are not planned for; give one of `shardopt chips`, say --gpu 4090";
        }
    return NULL;
}

bool unknown_chip(const Catalog *catalog, const char *name, const char *where, Arena *arena, Error *error) {
    const char **names = ARENA_NEW(arena, const char *, 2 * (size_t)catalog->count),
               *other_maker = chip_not_planned(name);
    if (other_maker) return error_set(error, ERROR_INPUT, where, "\"%.60s\": %s", name, other_maker);
    if (!names) return error_memory(error);
    for (int i = 0; i < catalog->count; i++) { /* v5p is also what tpu-v5p is called */
        const char *full = catalog->chips[i].name;
        names[2 * i] = full;
        names[2 * i + 1] = strncmp(full, "tpu-", 4) == 0 ? full + 4 : full;
    }
    if (strchr(name, '+'))
        return error_set(error, ERROR_INPUT, where, "\"%.60s\": a machine has chips of one kind; give one", name);
    const char *nearest = name_nearest(name, names, 2 * (size_t)catalog->count), *other = NULL;
    for (int i = 0; i < catalog->count && nearest && !other; i++) /* mi300 is as near to mi300a as to mi300x */
        if (names[2 * i + 1] != nearest && name_distance(name, names[2 * i + 1]) == name_distance(name, nearest))
            other = names[2 * i + 1];
    return error_set(error, ERROR_INPUT, where, "there is no chip \"%.60s\"; %s%s%s%s", name,
                     nearest ? "nearest: " : "`shardopt chips` lists them", nearest ? nearest : "", other ? " or " : "",
                     other ? other : "");
}

/* One price, whoever sells: nothing is known of a contract then. */
static bool read_price(const Words *words, Chip *chip) {
    const char *text = given(words, OPTION_PRICE);
    double usd = 0;
    if (!text) return true;
    if (!number_real(text + (*text == '$'), words_where(words, OPTION_PRICE), 0.001, 10000, &usd, words->error))
        return false;
    chip->usd_per_chip_hour = (Figure){.value = usd, .source = CHIP_PRICE_TYPED, .verified = true};
    chip->usd_per_chip_hour_reserved = (Figure){.value = 0};
    return true;
}

/* Nothing is said where it is the catalog's own. */
static bool read_network(const Words *words, Chip *chip) {
    const char *text = given(words, OPTION_NETWORK);
    Figure *rate = &chip->scaleout_bytes_per_second;
    double host = 0, chips = (double)max_whole(1, chip->chips_per_host);
    if (!text) return true;
    if (!number_network(text, words_where(words, OPTION_NETWORK), &host, words->error)) return false;
    if (!(rate->value > 0))
        return words_wrong(words, OPTION_NETWORK,
                           "the catalog has no network of %s that it could replace; leave it out", chip->title);
    if (fabs(host / chips / rate->value - 1) < 1e-9) return true;
    *rate = (Figure){.value = host / chips, .verified = true};
    snprintf(rate->source, sizeof rate->source, CHIP_NETWORK_TYPED "%s", text);
    return true;
}

/* "a3-highgpu-4g", or "h100:4": a chip, and of how many hosts are. */
static const Chip *instance_named(const Words *words, const Catalog *catalog, const char *name, int64_t *each) {
    const char *colon = strrchr(name, ':');
    Error none = {0};
    int chips = 0;
    const Chip *chip = catalog_instance(catalog, name, &chips);
    *each = chips;
    if (chip || !colon || !number_whole(colon + 1, "", 1, MACHINE_CHIPS_MAX, each, &none)) return chip;
    const char *own = arena_format(words->arena, "%.*s", (int)(colon - name), name);
    return own ? catalog_find(catalog, own) : NULL;
}

/* Pods and plain shapes of slices are of v5p where nobody says whose; nothing else has a default. */
bool chip_from_words(const Words *words, Chip *out, Chip *device) {
    const char *name = given(words, OPTION_CHIP), *slice = given(words, OPTION_SLICE);
    int64_t each = 0;
    Catalog catalog;
    if (!catalog_load(words->arena, &catalog, words->error)) return false;
    const Chip *implied = slice ? machine_chip_of_slice(&catalog, slice) : NULL;
    if (!name && !implied && !slice && !given(words, OPTION_PODS))
        return words_wrong(words, OPTION_CHIP,
                           "is missing; give a machine, such as --chip h100 --nodes 8 or --slice v5p-128");
    if (!name && !implied) name = CHIP_OF_PODS;
    const Chip *chip = name ? instance_named(words, &catalog, name, &each) : implied;
    if (!chip) chip = catalog_find(&catalog, name);
    if (!chip) return unknown_chip(&catalog, name, words_where(words, OPTION_CHIP), words->arena, words->error);
    if (name && implied && implied != chip)
        return words_wrong(words, OPTION_CHIP, "%s contradicts the slice %.60s, which is of %s; give one of them",
                           chip->name, slice, implied->name);
    *out = *chip;
    if (!hosts_from_words(words, each, out)) return false;
    *device = chip_device(out);
    return read_price(words, out) && read_network(words, out);
}

/* ---- machine ---- */

/* What leaves a leaf of the network over what its nodes can send: the installation's, which the chip carries along. */
static bool read_oversubscription(const Words *words, Chip *chip) {
    double ratio = 1;
    if (!given(words, OPTION_OVERSUBSCRIPTION)) return true;
    if (!words_real(words, OPTION_OVERSUBSCRIPTION, 1, 64, &ratio)) return false;
    if (!chip_has_domains(chip))
        return words_wrong(words, OPTION_OVERSUBSCRIPTION, "is of a GPU network, and %s has none; leave it out",
                           chip->title);
    chip->oversubscription = ratio;
    return true;
}

/* The one option that says how large it is; OPTION_COUNT: none does. */
static bool read_size(const Words *words, const Chip *chip, Option *out) {
    static const Option SIZES[] = {OPTION_PODS, OPTION_SLICE, OPTION_CHIPS, OPTION_NODES};
    *out = OPTION_COUNT;
    for (size_t i = 0; i < COUNT_OF(SIZES); i++) {
        if (!given(words, SIZES[i])) continue;
        if (*out == OPTION_CHIPS && SIZES[i] == OPTION_NODES && chip_has_domains(chip)) *out = OPTION_COUNT;
        if (*out != OPTION_COUNT)
            return words_wrong(words, SIZES[i], "is a second machine, next to %s; give one of them",
                               words_where(words, *out));
        *out = SIZES[i];
    }
    return !given(words, OPTION_SLICES) || *out == OPTION_SLICE ||
           words_wrong(words, OPTION_SLICES, "has no slice to count; give --slice as well");
}

/* A size, or an instance, has to say how many chips there are: nothing is planned that nobody typed. */
static bool no_size(const Words *words, const Chip *chip) {
    char example[96];
    bool flat = chip->scaleup == SCALEUP_TORUS_2D, racks = chip->domain_chips > chip->chips_per_host;
    if (chip_has_domains(chip))
        snprintf(example, sizeof example, "--nodes 1 (a %s of %lld) or --chips %lld", racks ? "rack" : "host",
                 (long long)chip->domain_chips, (long long)max_whole(1, chip->chips_per_host / 2));
    else
        snprintf(example, sizeof example, "--chips %d or --slice %s-%lld", flat ? 32 : 128, chip->name_prefix[0],
                 (long long)(flat ? 32 : 128) * chip->cores_in_name);
    return words_wrong(words, OPTION_CHIP, "how many of %s? give %s", chip->name, example);
}

/* Adds to the error of a machine whose chip nobody named that it is the default; always false. */
static bool name_default_chip(const Chip *chip, Error *error) {
    size_t used = strlen(error->text);
    if (error->kind == ERROR_INPUT && used < sizeof error->text)
        snprintf(error->text + used, sizeof error->text - used,
                 " (no --chip was given, and %.40s is the default; for GPUs give, say, --chip h100)", chip->name);
    return false;
}

bool machine_from_words(const Words *words, int64_t chips, Chip *chip, RequestedMachine *requested, Machine *out) {
    MachineRequest *request = &requested->request;
    char *text = requested->text;
    size_t room = sizeof requested->text;
    Option size;
    if (!read_size(words, chip, &size) || !words_whole(words, OPTION_PODS, 1, MACHINE_CHIPS_MAX, &request->pods) ||
        !words_whole(words, OPTION_SLICES, 1, MACHINE_CHIPS_MAX, &request->slices) ||
        !words_whole(words, OPTION_CHIPS, 1, MACHINE_CHIPS_MAX, &request->chips) ||
        !words_whole(words, OPTION_NODES, 1, MACHINE_CHIPS_MAX, &request->nodes) || !read_oversubscription(words, chip))
        return false;
    request->slice = given(words, OPTION_SLICE);
    if (size == OPTION_NODES) request->chips = 0; /* of so many hosts: the chip has it */
    if (size == OPTION_COUNT && chips > 0) size = OPTION_CHIPS, request->chips = chips;
    if (size == OPTION_COUNT && chip->usual_host_chips) size = OPTION_NODES, request->nodes = 1;
    if (size == OPTION_COUNT && chip->scaleup != SCALEUP_UNKNOWN) return no_size(words, chip);
    if (size == OPTION_NODES && !chip_has_domains(chip) && chip->usual_host_chips) { /* VMs of TPUs */
        int64_t each = chip->usual_host_chips;
        size = OPTION_CHIPS, request->chips = min_whole(MACHINE_CHIPS_MAX, request->nodes * each), request->nodes = 0;
    }
    int used = size == OPTION_SLICE
                   ? snprintf(text, room, request->slices > 0 ? "--slice %.40s --slices %lld" : "--slice %.40s",
                              request->slice, (long long)request->slices)
                   : snprintf(text, room, "--%s %lld", size == OPTION_COUNT ? "chips" : option_name(size),
                              (long long)(request->pods + request->chips + request->nodes));
    if (chip_has_domains(chip) && chip->usual_host_chips)
        snprintf(text + used, room - (size_t)used, " --gpus-per-node %lld", (long long)chip->chips_per_host);
    if (machine_from_request(chip, request, out, words->error)) return host_memory_from_words(words, out, chip);
    bool named = given(words, OPTION_CHIP) || (request->slice && !isdigit((unsigned char)request->slice[0]));
    return named ? false : name_default_chip(chip, words->error);
}
