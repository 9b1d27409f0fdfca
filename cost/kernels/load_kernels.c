/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the files of cost/kernels, strictly: a key that is unknown, or a figure out of its range, is an error. */
#include "cost/kernels/kernel.h"

#include "base/file.h"
#include "base/json.h"
#include "base/util.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define AT(member) offsetof(Kernel, member)
static const struct {
    const char *key;
    size_t at;
} TEXTS[] = {
    {"chip", AT(chip)},           {"library", AT(library)},       {"kernel", AT(name)},
    {"precision", AT(precision)}, {"collective", AT(collective)}, {"phase", AT(phase)},
};
static const struct {
    const char *key;
    size_t at;
    double low, high;
} FIGURES[] = {
    {"ways", AT(ways), 2, 4096},
    {"nodes", AT(nodes), 1, 4096},
    {"share", AT(share), 1e-4, 1.2},
    {"k0", AT(k0), 0, 1e5},
    {"cast_bytes", AT(cast_bytes), 0, 100},
    {"length0", AT(length0), 0, 1e5},
    {"rows0", AT(rows0), 0, 1e5},
    {"width0", AT(width0), 0, 1e5},
    {"passes", AT(passes), 0, 100},
    {"matrices", AT(matrices), 2, 3},
    {"chunk_seconds", AT(chunk_seconds), 0, 1e-2},
    {"bytes_per_second", AT(bytes_per_second), 1e6, 1e14},
    {"start_seconds", AT(start_seconds), 0, 1e-1},
    {"median", AT(median), 0, 10},
    {"p90", AT(p90), 0, 100},
};
static const struct {
    const char *key;
    size_t at;
} COUNTS[] = {{"fitted", AT(fitted)}, {"judged", AT(judged)}};
#undef AT

typedef struct {
    const char *path;
    Arena *arena;
    Error *error;
} KernelFile;

/* {"64": 0.45, "128": 0.57}, widths rising. */
static bool read_widths(const KernelFile *file, const cJSON *json, Kernel *out) {
    const cJSON *item;
    cJSON_ArrayForEach(item, json) {
        double width = atof(item->string);
        if (out->widths == KERNEL_WIDTHS_MAX || !(width > (out->widths ? out->width[out->widths - 1] : 0)) ||
            !cJSON_IsNumber(item) || !(item->valuedouble > 0 && item->valuedouble <= 1.2))
            return error_set(file->error, ERROR_INPUT, file->path,
                             "share: give at most %d widths that rise, each with a share from 0 to 1.2",
                             KERNEL_WIDTHS_MAX);
        out->width[out->widths] = width;
        out->share_at[out->widths++] = item->valuedouble;
    }
    return true;
}

static bool read_item(const KernelFile *file, const cJSON *item, Kernel *out) {
    if (cJSON_IsObject(item) && strcmp(item->string, "share") == 0) return read_widths(file, item, out);
    for (size_t i = 0; i < COUNT_OF(TEXTS); i++) {
        if (strcmp(item->string, TEXTS[i].key) != 0 || !cJSON_IsString(item)) continue;
        const char *text = arena_text(file->arena, item->valuestring);
        *(const char **)((char *)out + TEXTS[i].at) = text;
        return text || error_memory(file->error);
    }
    for (size_t i = 0; i < COUNT_OF(FIGURES); i++) {
        if (strcmp(item->string, FIGURES[i].key) != 0 || !cJSON_IsNumber(item)) continue;
        if (!(item->valuedouble >= FIGURES[i].low && item->valuedouble <= FIGURES[i].high))
            return error_set(file->error, ERROR_INPUT, file->path, "%s: give a number from %g to %g", item->string,
                             FIGURES[i].low, FIGURES[i].high);
        *(double *)((char *)out + FIGURES[i].at) = item->valuedouble;
        return true;
    }
    for (size_t i = 0; i < COUNT_OF(COUNTS); i++)
        if (strcmp(item->string, COUNTS[i].key) == 0 && cJSON_IsNumber(item) && item->valuedouble >= 0 &&
            item->valuedouble <= 1e9)
            return *(int64_t *)((char *)out + COUNTS[i].at) = (int64_t)item->valuedouble, true;
    return error_set(file->error, ERROR_INPUT, file->path, "%.40s: is no key of a kernel", item->string);
}

static bool read_kernel(const KernelFile *file, const cJSON *json, KernelOp op, Kernel *out) {
    *out = (Kernel){.op = op};
    for (size_t i = 0; i < COUNT_OF(TEXTS); i++) *(const char **)((char *)out + TEXTS[i].at) = "";
    const cJSON *item;
    cJSON_ArrayForEach(item, json) {
        if (!read_item(file, item, out)) return false;
    }
    bool rated = op == KERNEL_DISPATCH ? out->bytes_per_second > 0 : out->share > 0 || out->widths > 0;
    if (!out->chip[0] || !out->library[0] || !rated || (op == KERNEL_COLLECTIVE && !(out->ways > 1)))
        return error_set(file->error, ERROR_INPUT, file->path, "a kernel lacks its chip, its library or its rate");
    return true;
}

static bool read_op(const char *folder, KernelOp op, Arena *arena, KernelTable *out, Error *error) {
    const char *path = arena_format(arena, "%s/%s.json", folder, kernel_op_name(op));
    if (!path) return error_memory(error);
    cJSON *json = json_read_file(path, error);
    if (!json) return false;
    const cJSON *kernels = cJSON_GetObjectItemCaseSensitive(json, "kernels"), *item;
    const KernelFile file = {path, arena, error};
    int64_t count = out->count + cJSON_GetArraySize(kernels);
    Kernel *all = ARENA_NEW(arena, Kernel, (size_t)count + 1);
    bool ok = all || error_memory(error);
    if (ok && out->count > 0) memcpy(all, out->kernels, (size_t)out->count * sizeof *all);
    cJSON_ArrayForEach(item, kernels) {
        ok = ok && read_kernel(&file, item, op, &all[out->count]);
        out->count += ok;
    }
    cJSON_Delete(json);
    out->kernels = all;
    return ok;
}

static bool read_sisters(const char *folder, Arena *arena, KernelTable *out, Error *error) {
    const char *path = arena_format(arena, "%s/sisters.json", folder);
    cJSON *json = path ? json_read_file(path, error) : NULL;
    if (!json) return path ? false : error_memory(error);
    const cJSON *sisters = cJSON_GetObjectItemCaseSensitive(json, "sisters"), *item;
    out->sisters = arena_alloc(arena, (size_t)cJSON_GetArraySize(sisters) + 1, sizeof *out->sisters);
    bool ok = out->sisters || error_memory(error);
    cJSON_ArrayForEach(item, sisters) {
        const char *chip = json_text_at(item, "chip"), *of = json_text_at(item, "of");
        if (!ok) break;
        ok = (chip && of) || error_set(error, ERROR_INPUT, path, "a sister lacks its chip or whose she is");
        if (!ok) break;
        out->sisters[out->sister_count].chip = arena_text(arena, chip);
        out->sisters[out->sister_count].of = arena_text(arena, of);
        ok = (out->sisters[out->sister_count].chip && out->sisters[out->sister_count].of) || error_memory(error);
        out->sister_count++;
    }
    cJSON_Delete(json);
    return ok;
}

bool kernels_load(unsigned ops, Arena *arena, KernelTable *out, Error *error) {
    const char *folder = file_data_folder("cost/kernels", arena, error);
    *out = (KernelTable){0};
    if (!folder) return false;
    for (KernelOp op = 0; op < KERNEL_OP_COUNT; op++)
        if ((ops >> op & 1) && !read_op(folder, op, arena, out, error)) return false;
    return read_sisters(folder, arena, out, error);
}
