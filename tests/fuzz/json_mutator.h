/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tests/fuzz/json_mutator.h: what libFuzzer changes is a tree, not bytes: a value becomes an extreme one or another of
 * the tree, a member goes, comes twice or changes its name. Every fourth input, and what is no JSON, is changed as
 * bytes. Included by one file of a fuzzer. */
#pragma once

#include "base/json.h"
#include "base/util.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifndef SHARDOPT_FUZZ_MAIN
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);

static cJSON *mutator_node(cJSON *json, int *left) {
    cJSON *item, *found = NULL;
    if ((*left)-- == 0) return json;
    cJSON_ArrayForEach(item, json) if ((found = mutator_node(item, left)) != NULL) return found;
    return NULL;
}

static int mutator_count(const cJSON *json) {
    const cJSON *item;
    int count = 1;
    cJSON_ArrayForEach(item, json) count += mutator_count(item);
    return count;
}

static cJSON *mutator_value(unsigned draw) {
    static const double NUMBERS[] = {0, -1, 1, 0.5, 1e300, 1e-300, 2147483648.0, 9007199254740993.0, 7, 65536};
    static const char *const TEXTS[] = {"", "a\nb", "\033[31m", "4x4", "1e309", "none", "\xE2\x80\xAE", "0"};
    switch (draw % 8) {
    case 0:
        return cJSON_CreateNull();
    case 1:
        return cJSON_CreateBool(draw / 8 % 2);
    case 2:
        return cJSON_CreateArray();
    case 3:
        return cJSON_CreateObject();
    case 4:
        return cJSON_CreateString(TEXTS[draw / 8 % COUNT_OF(TEXTS)]);
    default:
        return cJSON_CreateNumber(NUMBERS[draw / 8 % COUNT_OF(NUMBERS)]);
    }
}

static void mutator_change(cJSON *root, unsigned draw) {
    int left = (int)(draw / 16 % (unsigned)mutator_count(root));
    cJSON *at = mutator_node(root, &left), *item = at ? at->child : NULL;
    int count = at ? cJSON_GetArraySize(at) : 0;
    if (count == 0) return;
    for (unsigned i = draw / 4096 % (unsigned)count; i > 0; i--) item = item->next;
    int other = (int)(draw / 256 % (unsigned)mutator_count(root));
    cJSON *copy = draw % 8 == 0   ? cJSON_Duplicate(mutator_node(root, &other), true)
                  : draw % 8 == 1 ? cJSON_Duplicate(item, true)
                                  : mutator_value(draw / 8);
    const bool named = cJSON_IsObject(at);
    bool taken = false;
    if (draw % 8 == 2) {
        cJSON_Delete(cJSON_DetachItemViaPointer(at, item));
    } else if (draw % 8 == 1) {
        taken = named ? cJSON_AddItemToObject(at, "another", copy) : cJSON_AddItemToArray(at, copy);
    } else if (named) {
        char key[128];
        snprintf(key, sizeof key, "%s", item->string);
        taken = cJSON_ReplaceItemInObjectCaseSensitive(at, key, copy);
    } else {
        taken = cJSON_ReplaceItemViaPointer(at, item, copy);
    }
    if (!taken) cJSON_Delete(copy); /* a name that is cut, or that stands there twice */
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed) {
    cJSON *json = seed % 4 == 0 ? NULL : cJSON_ParseWithLength((const char *)data, size);
    if (!json) return LLVMFuzzerMutate(data, size, most);
    for (unsigned i = 0; i <= seed / 4 % 3; i++) mutator_change(json, seed / 16 * 2654435761u + i * 40503u);
    char *text = cJSON_PrintUnformatted(json);
    size_t length = text ? strlen(text) : 0;
    cJSON_Delete(json);
    if (length == 0 || length > most)
        length = LLVMFuzzerMutate(data, size, most);
    else
        memcpy(data, text, length);
    free(text);
    return length;
}

#endif

/* The bytes as a tree; NULL where they are none. Either way with one line of an error or without one. */
static inline cJSON *fuzz_tree(const uint8_t *data, size_t size, Error *error) {
    char *text = malloc(size ? size : 1); /* its own allocation, so that a sanitizer sees its end */
    if (!text) abort();
    if (size > 0) memcpy(text, data, size);
    cJSON *json = json_parse(text, size, "fuzz", error);
    free(text);
    return json;
}

/* A reader says yes, or no with one line. */
static inline void fuzz_check(bool ok, const Error *error) {
    bool said = error->kind == ERROR_INPUT || error->kind == ERROR_IO;
    if (ok != (error->kind == ERROR_NONE) ||
        (!ok && (!said || strchr(error->text, '\n') || strchr(error->where, '\n'))))
        abort();
}
