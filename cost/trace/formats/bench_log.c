/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/json.h"
#include "base/util.h"
#include "cost/trace/formats/formats.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what perftest writes with --out_json ----
 *
 * linux-rdma/perftest at 00b55b66, src/perftest_parameters.c and .h. Its keys had no quotes until f9e82f7 (2024), and
 * one of --qos has none yet, so that keys are looked for and no JSON is parsed. */

/* perftest's units: 2^20 bytes per second, or 10^9 bits with --report_gbits. */
static const double WIRE_UNITS[] = {1048576, 1e9 / 8};
/* The rate of messages has six decimals of a million; a unit is the right one if both rates are this near. */
static const double NEAR = 0.1;

/* The number behind a whole word and a colon; 0: there is none. */
static double number_of(const char *text, const char *key) {
    size_t length = strlen(key);
    for (const char *at = text; (at = strstr(at, key)) != NULL; at += length) {
        const char *after = at + length;
        if (at > text && (isalnum((unsigned char)at[-1]) || at[-1] == '_')) continue;
        after += *after == '"';
        after += strspn(after, " \t");
        if (*after != ':') continue;
        double value = strtod(after + 1, NULL);
        return isfinite(value) && value > 0 ? value : 0;
    }
    return 0;
}

static bool is_wire_json(const char *text) { return strstr(text, "BW_average") && strstr(text, "MsgSize"); }

/* The file does not say its unit: messages per second times their size do. */
static int wire_json_read(const char *text, BenchResult *out) {
    double size = number_of(text, "MsgSize"), average = number_of(text, "BW_average");
    double moved = 1e6 * number_of(text, "MsgRate") * size;
    double ways = strstr(text, "Bidirectional") ? 2 : 1; /* its figures are of both directions together */
    for (size_t i = 0; i < COUNT_OF(WIRE_UNITS) && moved > 0; i++) {
        double rate = average * WIRE_UNITS[i];
        if (!(fabs(rate / moved - 1) < NEAR) || !isfinite(rate)) continue;
        *out = (BenchResult){.kind = BENCH_WIRE, .rate = rate / ways, .size = size};
        return 1;
    }
    return 0;
}

/* ---- logs line by line ---- */

enum { LINE_MAX_BYTES = 512, COLUMNS_MAX = 24, HOSTS_MAX = 256 };

static const char *const KINDS[] = {"none",           "all_reduce", "all_gather",
                                    "reduce_scatter", "all_to_all", "host_to_device",
                                    "device_to_host", "matmul",     "wire"};

const char *bench_kind_name(BenchKind kind) { return KINDS[kind]; }

typedef struct {
    BenchKind collective; /* by the name of the log, or a command in it */
    int bus_column;       /* of the first `busbw` behind a header; -1: no header yet */
    BenchResult table;    /* of nccl-tests, so far */
    uint64_t hosts[HOSTS_MAX];
    int host_count;
    double wire_unit;  /* of perftest: bytes per second of what its columns count; 0: no header yet */
    bool both_ways;    /* its figures are of both directions together */
    BenchResult wire;  /* so far */
    BenchKind copying; /* of nvbandwidth: which matrix follows */
    double sum;
    int cells;
    BenchResult *out;
    int count;
} Log;

static BenchKind collective_of(const char *text) {
    static const struct {
        const char *word;
        BenchKind kind;
    } WORDS[] = {{"all_reduce", BENCH_ALL_REDUCE},         {"allreduce", BENCH_ALL_REDUCE},
                 {"all_gather", BENCH_ALL_GATHER},         {"allgather", BENCH_ALL_GATHER},
                 {"reduce_scatter", BENCH_REDUCE_SCATTER}, {"reducescatter", BENCH_REDUCE_SCATTER},
                 {"alltoall", BENCH_ALL_TO_ALL},           {"all_to_all", BENCH_ALL_TO_ALL}};
    for (size_t i = 0; i < COUNT_OF(WORDS); i++)
        if (text_has(text, WORDS[i].word)) return WORDS[i].kind;
    return BENCH_NONE;
}

static void add(Log *log, BenchResult result) {
    if (log->count < BENCH_RESULTS_MAX && isfinite(result.rate) && result.rate > 0) log->out[log->count++] = result;
}

/* Prefixes of launchers: "[1,0]<stdout>:" and "0: ". */
static char *after_prefix(char *line) {
    char *mark = strstr(line, "<stdout>:");
    if (mark) return mark + strlen("<stdout>:");
    char *digits = line + strspn(line, "0123456789");
    return digits > line && digits[0] == ':' && digits[1] == ' ' ? digits + 2 : line;
}

static int split(char *line, char *columns[COLUMNS_MAX]) {
    int count = 0;
    char *rest = NULL;
    for (char *word = strtok_r(line, " \t\r|", &rest); word && count < COLUMNS_MAX;
         word = strtok_r(NULL, " \t\r|", &rest))
        columns[count++] = word;
    return count;
}

/* "#  Rank  0 Group  0 Pid 1 on host device  0 [0x00] ...": ranks, and the hosts that they are on. */
static void count_rank(Log *log, const char *line) {
    char host[128];
    const char *on = strstr(line, " on ");
    if (!on || sscanf(on + 4, "%127s", host) != 1) return;
    uint64_t hash = 14695981039346656037u;
    for (const char *c = host; *c; c++) hash = (hash ^ (unsigned char)*c) * 1099511628211u;
    int i = 0;
    while (i < log->host_count && log->hosts[i] != hash) i++;
    if (i == log->host_count && i < HOSTS_MAX) log->hosts[log->host_count++] = hash;
    log->table.ranks++;
    log->table.hosts = log->host_count;
}

/* "# size count type redop root time algbw busbw ...": old tables lack columns, so that they are counted here. */
static void read_header(Log *log, char *line) {
    char *columns[COLUMNS_MAX];
    int count = split(line + strspn(line, "# "), columns);
    log->bus_column = -1;
    for (int i = 0; i < count && log->bus_column < 0; i++)
        if (strcmp(columns[i], "busbw") == 0) log->bus_column = i;
}

static void read_row(Log *log, char *line) {
    char *columns[COLUMNS_MAX], *end, *bus_end;
    int count = split(line, columns);
    if (log->bus_column < 0 || count <= log->bus_column) return;
    double size = strtod(columns[0], &end), rate = strtod(columns[log->bus_column], &bus_end) * 1e9;
    if (*end || *bus_end || !(size >= log->table.size) || !(rate > 0)) return;
    log->table.size = size;
    log->table.rate = rate;
}

/* "Running host_to_device_memcpy_ce." begins a matrix, "SUM ..." ends it; kernels and both ways at once are others. */
static void read_copies(Log *log, char *line) {
    char *columns[COLUMNS_MAX], *end;
    if (strncmp(line, "Running ", 8) == 0) {
        log->copying = strncmp(line + 8, "host_to_device_memcpy_ce.", 25) == 0   ? BENCH_HOST_TO_DEVICE
                       : strncmp(line + 8, "device_to_host_memcpy_ce.", 25) == 0 ? BENCH_DEVICE_TO_HOST
                                                                                 : BENCH_NONE;
        log->sum = log->cells = 0;
        return;
    }
    if (log->copying == BENCH_NONE) return;
    if (strncmp(line, "SUM ", 4) == 0) {
        if (log->cells > 0) add(log, (BenchResult){.kind = log->copying, .rate = 1e9 * log->sum / log->cells});
        log->copying = BENCH_NONE;
        return;
    }
    int count = split(line, columns);
    if (count < 2 || strspn(columns[0], "0123456789") != strlen(columns[0])) return;
    for (int i = 1; i < count; i++) {
        double value = strtod(columns[i], &end);
        if (*end || !strchr(columns[i], '.') || !(value > 0)) continue; /* N/A, and the heading's numbers */
        log->sum += value;
        log->cells++;
    }
}

/* " #bytes #iterations BW peak[Gb/sec] BW average[Gb/sec] MsgRate[Mpps]": perftest's megabytes are 2^20 bytes, by
 * whichever name. */
static bool read_wire_header(Log *log, const char *line) {
    static const struct {
        const char *unit;
        double bytes;
    } UNITS[] = {{"[Gb/sec]", 1e9 / 8}, {"[MiB/sec]", 1048576}, {"[MB/sec]", 1048576}};
    const char *average = strstr(line, "BW average");
    if (!average || !strstr(line, "#iterations")) return false;
    for (size_t i = 0; i < COUNT_OF(UNITS); i++)
        if (strncmp(average + strlen("BW average"), UNITS[i].unit, strlen(UNITS[i].unit)) == 0)
            log->wire_unit = UNITS[i].bytes;
    return true;
}

static void read_wire(Log *log, const char *line) {
    double size, rounds, peak, average;
    if (sscanf(line, "%lf %lf %lf %lf", &size, &rounds, &peak, &average) != 4 || !(average > 0)) return;
    if (!(size >= log->wire.size)) return;
    log->wire =
        (BenchResult){.kind = BENCH_WIRE, .rate = average * log->wire_unit / (log->both_ways ? 2 : 1), .size = size};
}

/* "median: 712.3 TFLOPS @ 8192x28672x8192": the median of a sweep; its best is no rate to plan with. */
static bool read_matmul(Log *log, const char *line) {
    const char *unit = strstr(line, "TFLOPS"), *median = strcasestr(line, "median");
    double rate;
    if (!unit || !median || sscanf(median + 6, "%*[^0-9]%lf", &rate) != 1) return false;
    add(log, (BenchResult){.kind = BENCH_MATMUL, .rate = 1e12 * rate});
    return true;
}

static void read_line(Log *log, char *own) {
    char *line = after_prefix(own);
    char *text = line + strspn(line, " \t");
    if (log->collective == BENCH_NONE && strstr(text, "_perf")) log->collective = collective_of(text);
    if (read_matmul(log, text) || read_wire_header(log, text)) return;
    if (strstr(text, "Bidirectional BW Test")) log->both_ways = true;
    if (log->wire_unit > 0 && text[0] >= '0' && text[0] <= '9') {
        read_wire(log, text);
        return;
    }
    if (text[0] == '#') {
        if (strstr(text, "Rank ") && strstr(text, " on ")) count_rank(log, text);
        if (strstr(text, "busbw")) read_header(log, text);
        return;
    }
    if (log->bus_column >= 0 && text[0] >= '0' && text[0] <= '9')
        read_row(log, text);
    else
        read_copies(log, text);
}

/* What nccl-tests write with -J: NVIDIA/nccl-tests at 0fdb00a3, src/util.cu. */

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

static int nccl_json_read(const char *text, size_t length, const char *name, BenchResult *out) {
    Error error = {0};
    cJSON *json = json_parse(text, length, name, &error);
    const cJSON *arguments = cJSON_GetObjectItemCaseSensitive(json, "args");
    const char *program = cJSON_GetStringValue(cJSON_GetArrayItem(arguments, 0));
    *out = (BenchResult){.kind = program ? collective_of(program) : BENCH_NONE};
    if (out->kind == BENCH_NONE) out->kind = collective_of(name);
    if (json) read_results(cJSON_GetObjectItemCaseSensitive(json, "results"), out);
    if (json) read_ranks(cJSON_GetObjectItemCaseSensitive(json, "config"), out);
    cJSON_Delete(json);
    return out->kind != BENCH_NONE && out->rate > 0 && isfinite(out->rate);
}

int bench_log_read(const char *text, size_t length, const char *name, BenchResult out[BENCH_RESULTS_MAX]) {
    const char *slash = strrchr(name, '/');
    bool json = text[strspn(text, " \t\r\n")] == '{';
    if (json && is_wire_json(text)) return wire_json_read(text, out);
    if (json) return nccl_json_read(text, length, slash ? slash + 1 : name, out);
    Log log = {.bus_column = -1, .out = out, .collective = collective_of(slash ? slash + 1 : name)};
    for (const char *at = text, *end = text + length; at < end;) {
        char line[LINE_MAX_BYTES];
        const char *next = memchr(at, '\n', (size_t)(end - at));
        size_t size = (size_t)((next ? next : end) - at);
        size_t kept = size < sizeof line - 1 ? size : sizeof line - 1;
        memcpy(line, at, kept);
        line[kept] = '\0';
        read_line(&log, line);
        at += size + 1;
    }
    log.table.kind = log.collective;
    if (log.collective != BENCH_NONE) add(&log, log.table);
    if (log.wire.kind == BENCH_WIRE) add(&log, log.wire);
    return log.count;
}
