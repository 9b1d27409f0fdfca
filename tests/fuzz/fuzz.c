/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The entry of every fuzzer, by the name in FUZZER; trees are changed as trees. libFuzzer: clang
 * -fsanitize=fuzzer,address,undefined; without clang, -DSHARDOPT_FUZZ_MAIN makes it a program that runs the files
 * given. */
#include "tests/fuzz/fuzz.h"

#include "base/file.h"
#include "base/util.h"

typedef struct {
    const char *name;
    void (*tree)(const cJSON *json);
    void (*bytes)(char *bytes, size_t size);
    bool ends; /* bytes have a NUL behind them */
} Fuzzer;

static const Fuzzer FUZZERS[] = {
    {.name = "baseline", .tree = fuzz_baseline},
    {.name = "chip", .tree = fuzz_chip},
    {.name = "kernel_names", .tree = fuzz_kernel_names},
    {.name = "optimizer", .tree = fuzz_optimizer},
    {.name = "profile", .tree = fuzz_profile},
    {.name = "profile_set", .tree = fuzz_profile_set},
    {.name = "report", .tree = fuzz_report},
    {.name = "serving_profile", .tree = fuzz_serving_profile},
    {.name = "bench_log", .bytes = fuzz_bench_log, .ends = true},
    {.name = "config", .bytes = fuzz_config},
    {.name = "config_import", .bytes = fuzz_config_import},
    {.name = "gzip", .bytes = fuzz_gzip},
    {.name = "json", .bytes = fuzz_json},
    {.name = "layout", .bytes = fuzz_layout},
    {.name = "program", .bytes = fuzz_program, .ends = true},
    {.name = "rl_config", .bytes = fuzz_rl_config},
    {.name = "runs", .bytes = fuzz_runs, .ends = true},
    {.name = "serving", .bytes = fuzz_serving, .ends = true},
    {.name = "serving_runs", .bytes = fuzz_serving_runs, .ends = true},
    {.name = "step_log", .bytes = fuzz_step_log},
    {.name = "sweep", .bytes = fuzz_sweep, .ends = true},
    {.name = "words", .bytes = fuzz_words, .ends = true},
    {.name = "chrome", .bytes = fuzz_chrome},
    {.name = "nsight", .bytes = fuzz_nsight},
    {.name = "xplane", .bytes = fuzz_xplane},
};

static const Fuzzer *fuzzer(void) {
    static const Fuzzer *found;
    const char *name = getenv("FUZZER");
    for (size_t i = 0; !found && name && i < COUNT_OF(FUZZERS); i++)
        if (strcmp(FUZZERS[i].name, name) == 0) found = &FUZZERS[i];
    if (!found) fprintf(stderr, "FUZZER=%s: there is no such fuzzer\n", name ? name : ""), exit(2);
    return found;
}

void fuzz_input(bool ok, const Error *error) {
    if (error->kind == ERROR_IO) abort();
    fuzz_check(ok, error);
}

void fuzz_check(bool ok, const Error *error) {
    bool said = error->kind == ERROR_INPUT || error->kind == ERROR_IO;
    if (ok != (error->kind == ERROR_NONE) ||
        (!ok && (!said || strchr(error->text, '\n') || strchr(error->where, '\n'))))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const Fuzzer *run = fuzzer();
    Error error = {0};
    char *bytes = malloc(size + (run->ends || size == 0));
    if (!bytes) return 0;
    if (size > 0) memcpy(bytes, data, size);
    if (run->ends) bytes[size] = '\0';
    if (run->tree) {
        cJSON *json = json_parse(bytes, size, "fuzz", &error);
        fuzz_check(json != NULL, &error);
        if (json) run->tree(json);
        cJSON_Delete(json);
    } else {
        run->bytes(bytes, size);
    }
    free(bytes);
    return 0;
}

#ifdef SHARDOPT_FUZZ_MAIN
int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        Arena arena = {0};
        Error error = {0};
        char *text;
        size_t length;
        if (file_read(argv[i], 64 << 20, &arena, &text, &length, &error))
            LLVMFuzzerTestOneInput((const uint8_t *)text, length);
        arena_free(&arena);
    }
    return 0;
}
#else

/* ---- what libFuzzer changes is a tree, not bytes: a value becomes an extreme one or another of the tree, a member
 * goes, comes twice or changes its name; every fourth input, and what is no JSON, is changed as bytes ---- */

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
    cJSON *json = seed % 4 == 0 || !fuzzer()->tree ? NULL : cJSON_ParseWithLength((const char *)data, size);
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
