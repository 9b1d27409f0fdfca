/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/trace/refit.h"

#include "base/util.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a careful measurement leaves of a figure's uncertainty, in ln. */
static const double MEASURED_DEVIATION = 0.02;
/* Effects below this share of the step are not worth a line. */
static const double EFFECT_LEAST = 0.001;

/* Figures by what measures them; what stands in none is seen in a traced run alone. */
static const struct {
    const char *name, *command, *figures[8];
    bool nvlink, network; /* the machine must have it */
} KINDS[] = {
    {"collectives over NVLink",
     "all_gather_perf -b 8M -e 8G -f 2 -g 8 > nvlink_all_gather.log",
     {"nvlink_efficiency"},
     true,
     false},
    {"collectives over the network",
     "mpirun -N 8 --hostfile hosts all_gather_perf -b 8M -e 8G -f 2 -g 1 > network_all_gather.log",
     {"network_efficiency", "network_factor"},
     false,
     true},
    {"matmuls of the model's shapes, bf16",
     "python mamf-finder.py --m 8192 --n_range 0 32768 2048 --k 8192 --output_file matmul.log",
     {"matrix_efficiency", "compute_factor", "matmul_traffic"},
     false,
     false},
    {"copies between host and chip",
     "nvbandwidth -t host_to_device_memcpy_ce device_to_host_memcpy_ce > copies.log",
     {"pcie_efficiency"},
     false,
     false},
};

static bool is_of(const char *const *figures, const char *key) {
    for (int i = 0; figures[i]; i++)
        if (strcmp(figures[i], key) == 0) return true;
    return false;
}

static bool in_any(const char *key) {
    for (size_t k = 0; k < COUNT_OF(KINDS); k++)
        if (is_of(KINDS[k].figures, key)) return true;
    return false;
}

static int by_effect(const void *a, const void *b) {
    const DoubtEffect *x = a, *y = b;
    double dx = fabs(x->effect), dy = fabs(y->effect);
    if (dx != dy) return dx > dy ? -1 : 1;
    return x->of->figure < y->of->figure ? -1 : x->of->figure > y->of->figure;
}

/* The square of what remains of an effect once its figure is measured. */
static double remaining_square(const DoubtEffect *effect) {
    double share = min_real(1, MEASURED_DEVIATION / effect->of->deviation);
    return effect->effect * effect->effect * share * share;
}

/* Adds a measurement, if it pins anything down. `kind` below 0 is the traced run, which shows every figure. */
static void add(const DoubtEffect *effects, int count, double all, int kind, Measurements *out) {
    Measurement own = {"the plan itself, 20 steps under the profiler",
                       "shardopt trace TRACES --from REPORT --refit mine.json",
                       {0},
                       all};
    int figures = 0;
    if (kind >= 0) own.name = KINDS[kind].name, own.command = KINDS[kind].command;
    for (int i = 0; i < count; i++) {
        const char *key = effects[i].of->figure->key;
        if (kind >= 0 ? !is_of(KINDS[kind].figures, key) : in_any(key)) continue;
        if (fabs(effects[i].effect) < EFFECT_LEAST) continue;
        own.deviation += remaining_square(&effects[i]) - effects[i].effect * effects[i].effect;
        if (figures < MEASURED_FIGURES_MAX - 1) own.figures[figures++] = key;
    }
    own.deviation = sqrt(max_real(0, own.deviation));
    if (figures > 0) out->of[out->count++] = own;
}

static int by_deviation(const void *a, const void *b) {
    const Measurement *x = a, *y = b;
    if (x->deviation != y->deviation) return x->deviation < y->deviation ? -1 : 1;
    return strcmp(x->name, y->name);
}

void measurements_list(const DoubtEffect *effects, int count, double own_error, const Cluster *cluster,
                       Measurements *out) {
    DoubtEffect sorted[SET_FIGURES_MAX];
    double all = own_error * own_error, rest = all;
    *out = (Measurements){.count = 0};
    if (count > 0) memcpy(sorted, effects, (size_t)count * sizeof *effects);
    qsort(sorted, (size_t)count, sizeof *sorted, by_effect);
    for (int i = 0; i < count; i++) {
        all += sorted[i].effect * sorted[i].effect;
        rest +=
            fabs(sorted[i].effect) < EFFECT_LEAST ? sorted[i].effect * sorted[i].effect : remaining_square(&sorted[i]);
    }
    for (size_t k = 0; k < COUNT_OF(KINDS); k++) {
        if (KINDS[k].nvlink && !(cluster->nvlink_bytes_per_second > 0)) continue;
        if (KINDS[k].network && !(cluster->network_bytes_per_second > 0)) continue;
        add(sorted, count, all, (int)k, out);
    }
    add(sorted, count, all, -1, out);
    qsort(out->of, (size_t)out->count, sizeof *out->of, by_deviation);
    out->deviation = sqrt(all);
    out->after = sqrt(rest);
}

/* The bus bandwidth of nccl-tests is what one chip's link carries in a ring; over hosts it is what all links of a host
 * carry together. All-reduces are taken as they are, above the wire where switches add up. */
static MeasuredFigure link_figure(const BenchResult *result, const Cluster *cluster) {
    if (result->ranks == 0) return (MeasuredFigure){0}; /* within a host, or between hosts? */
    if (result->hosts > 1) {
        int64_t chips = max_whole(1, result->ranks / result->hosts);
        double rate = (double)chips * cluster->network_bytes_per_second;
        return rate > 0 ? (MeasuredFigure){"network_efficiency", result->rate / rate, false} : (MeasuredFigure){0};
    }
    if (!(cluster->nvlink_bytes_per_second > 0)) return (MeasuredFigure){0};
    return (MeasuredFigure){"nvlink_efficiency", result->rate / cluster->nvlink_bytes_per_second, false};
}

MeasuredFigure measured_figure(const BenchResult *result, const Cluster *cluster) {
    switch (result->kind) {
    case BENCH_ALL_GATHER:
    case BENCH_REDUCE_SCATTER:
    case BENCH_ALL_REDUCE:
        return link_figure(result, cluster);
    case BENCH_HOST_TO_DEVICE:
        if (cluster->pcie_bytes_per_second > 0)
            return (MeasuredFigure){"pcie_efficiency", result->rate / cluster->pcie_bytes_per_second, false};
        break;
    case BENCH_MATMUL:
        if (cluster->peak_flops > 0)
            return (MeasuredFigure){"matrix_efficiency", result->rate / cluster->peak_flops, false};
        break;
    case BENCH_WIRE:
        if (cluster->network_bytes_per_second > 0)
            return (MeasuredFigure){"network_efficiency", result->rate / cluster->network_bytes_per_second, true};
        break;
    default:
        break;
    }
    return (MeasuredFigure){0};
}
