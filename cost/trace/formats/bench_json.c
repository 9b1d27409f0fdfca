/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What nccl-tests write with -J: NVIDIA/nccl-tests at 0fdb00a3, src/util.cu. */
#include "cost/trace/formats/bench_log.h"

#include "base/json.h"
#include "base/util.h"

#include <math.h>
#include <string.h>

static const double RANKS_MOST = 1e7;

static double real_at(const cJSON *json, const char *path) {
    const cJSON *item = json_at(json, path);
    return cJSON_IsNumber(item) && isfinite(item->valuedouble) ? item->valuedouble : 0;
}

/* The largest array that was sent; out of place where it was, else in place. */
static void read_results(const cJSON *results, BenchResult *out) {
    const cJSON *item;
    cJSON_ArrayForEach(item, results) {
        double size = real_at(item, "size"), rate = real_at(item, "out_of_place.bus_bw");
        if (!(rate > 0)) rate = real_at(item, "in_place.bus_bw");
        if (!(rate > 0) || !(size >= out->size)) continue;
        out->size = size;
        out->rate = 1e9 * rate;
    }
}

/* Each process is listed once, with the first of its devices; without MPI there is one. */
static void read_ranks(const cJSON *config, BenchResult *out) {
    const cJSON *devices = cJSON_GetObjectItemCaseSensitive(config, "devices"), *item, *other;
    double each = max_real(1, real_at(config, "nthreads")) * max_real(1, real_at(config, "ngpus"));
    double ranks = each * (cJSON_IsArray(devices) ? cJSON_GetArraySize(devices) : 0);
    if (!(ranks >= 1) || ranks > RANKS_MOST) return;
    out->ranks = (int64_t)ranks;
    cJSON_ArrayForEach(item, devices) {
        const char *host = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, "hostname"));
        bool seen = false;
        cJSON_ArrayForEach(other, devices) {
            const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(other, "hostname"));
            if (other == item) break;
            seen = seen || (host && name && strcmp(host, name) == 0);
        }
        out->hosts += !seen;
    }
}

int bench_json_read(const char *text, size_t length, const char *name, BenchResult *out) {
    Error error = {0};
    cJSON *json = json_parse(text, length, name, &error);
    const cJSON *arguments = cJSON_GetObjectItemCaseSensitive(json, "args");
    const char *program = cJSON_GetStringValue(cJSON_GetArrayItem(arguments, 0));
    *out = (BenchResult){.kind = program ? bench_collective_of(program) : BENCH_NONE};
    if (out->kind == BENCH_NONE) out->kind = bench_collective_of(name);
    if (json) read_results(cJSON_GetObjectItemCaseSensitive(json, "results"), out);
    if (json) read_ranks(cJSON_GetObjectItemCaseSensitive(json, "config"), out);
    cJSON_Delete(json);
    return out->kind != BENCH_NONE && out->rate > 0 && isfinite(out->rate);
}
