/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What benchmarks print, by their own sources: each rate is the figure in the text times its unit. */
#include "cost/trace/formats/formats.h"

#include "base/util.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static BenchResult results[BENCH_RESULTS_MAX];

static int read(const char *text, const char *name) {
    memset(results, 0, sizeof results);
    return bench_log_read(text, strlen(text), name, results);
}

#define RANK(rank, host) "#  Rank  " rank " Group  0 Pid   1000 on " host " device  0 [0x1b] NVIDIA H100 80GB HBM3\n"
#define HEAD                                                                                                           \
    "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw\n"
#define OLD                                                                                                            \
    "#       size         count      type   redop     time   algbw   busbw  error     time   algbw   busbw  error\n"
#define COPY(way, rows)                                                                                                \
    "Running " way ".\nmemcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)\n           0         1\n" rows "\nSUM " way \
    " 1.00\n"
#define WIRE(way, unit, rows)                                                                                          \
    "                    RDMA_Write " way "BW Test\n #bytes     #iterations    BW peak[" unit "]    BW average[" unit  \
    "]   MsgRate[Mpps]\n" rows
#define MATRICES(more) "The best outcome was 800.0TFLOPS @ 1x1x1\nmean:   600.0 TFLOPS\n" more "max:    800.0 TFLOPS\n"

/* `rate`: the figure that counts, times its unit. nccl-tests' bus bandwidths are in 10^9 bytes a second, nvbandwidth's
 * too; perftest's are 10^9 bits or 2^20 bytes. */
static const struct {
    const char *what, *name, *text;
    BenchKind kind;
    double rate, size;
    int64_t ranks, hosts;
} ROWS[] = {
    {"two hosts, the largest size, by the log's name", "/logs/all_gather.log",
     RANK("0", "a") RANK("1", "a") RANK("2", "b") HEAD
     "     8388608       2097152     float    none      -1      69.9  120.00  120.00    N/A      69.9  120.00  125.00\n"
     "  1073741824     268435456     float    none      -1    3652.2  294.00  298.00    N/A    3652.2  294.00  299.00\n"
     "     1048576        262144     float    none      -1      69.9   20.00   30.00    N/A      69.9  120.00  "
     "120.00\n",
     BENCH_ALL_GATHER, 298e9, 1073741824, 3, 2},
    {"a folder's name says nothing of the log", "all_gather/all_reduce", HEAD "8 2 float none -1 1 2 3 N/A 1 2 4\n",
     BENCH_ALL_REDUCE, 3e9, 8, 0, 0},
    {"an old table has no root; the command says which", "x.log",
     "$ mpirun ./build/reduce_scatter_perf -b 8M\n" OLD "  8 2 float sum 1.0 2.5 3.5 0e+00 1.0 2.5 4.5 0e+00\n",
     BENCH_REDUCE_SCATTER, 3.5e9, 8, 0, 0},
    {"prefixes of launchers", "alltoall",
     "[1,0]<stdout>:" HEAD "[1,0]<stdout>: 8 2 float none -1 1 2 3 N/A 1 2 4\n0: 16 4 float none -1 1 2 7 N/A 1 2 4\n",
     BENCH_ALL_TO_ALL, 7e9, 16, 0, 0},
    {"the same size twice: the last", "all_gather", HEAD "8 2 f n -1 1 2 3 N/A\n8 2 f n -1 1 2 5 N/A\n",
     BENCH_ALL_GATHER, 5e9, 8, 0, 0},
    {"no number is no row", "all_gather", HEAD "8 2 f n -1 1 2 3 N/A\n16 2 f n -1 1 2 5x N/A\n32y 2 f n -1 1 2 5\n",
     BENCH_ALL_GATHER, 3e9, 8, 0, 0},
    {"a row that is cut short says nothing, and leaves the one before it", "all_gather",
     HEAD "8 2 float none -1 1 2 3 N/A\n16 2 float none -1 1 2\n", BENCH_ALL_GATHER, 3e9, 8, 0, 0},
    {"ranks are those of a line with both words", "all_gather",
     RANK("0", "a") "# Collective test on b\n# Rank 7 of nobody\n" HEAD "8 2 float none -1 1 2 3 N/A\n",
     BENCH_ALL_GATHER, 3e9, 8, 1, 1},
    {"copies: the mean over pairs", "copies.log",
     COPY("host_to_device_memcpy_ce", " 0     50.0     52.0\n 1     54.5      N/A\n"), BENCH_HOST_TO_DEVICE,
     (50 + 52 + 54.5) / 3 * 1e9, 0, 0, 0},
    {"the other way", "copies.log", COPY("device_to_host_memcpy_ce", " 0     40.5\n"), BENCH_DEVICE_TO_HOST, 40.5e9, 0,
     0, 0},
    {"megabytes are 2^20 bytes", "w", WIRE("", "MB/sec", " 65536 5000 9.0 8.5 0.7\n 1048576 5000 9000.0 8000.5 0.7\n"),
     BENCH_WIRE, 8000.5 * 1048576, 1048576, 0, 0},
    {"by the other name", "w", WIRE("", "MiB/sec", " 65536 5000 9.0 8.5 0.7\n"), BENCH_WIRE, 8.5 * 1048576, 65536, 0,
     0},
    {"bits", "w", WIRE("", "Gb/sec", " 65536 5000 370.0 360.0 0.7\n 2 5000 9.0 8.5 0.7\n"), BENCH_WIRE, 360e9 / 8,
     65536, 0, 0},
    {"both ways together", "w", WIRE("Bidirectional ", "Gb/sec", " 65536 5000 720.0 700.0 0.7\n"), BENCH_WIRE,
     350e9 / 8, 65536, 0, 0},
    {"the median of matmuls", "matmul.log", MATRICES("median: 712.5 TFLOPS @ 8192x28672x8192\n"), BENCH_MATMUL,
     712.5e12, 0, 0, 0},
    {"nccl-tests' JSON: out of place where it was", "j",
     "{\"args\": [\"./all_reduce_perf\"], \"config\": {\"nthreads\": 2, \"ngpus\": 4, \"devices\": [{\"hostname\": "
     "\"a\"}, {\"hostname\": \"b\"}, {\"hostname\": \"a\"}]}, \"results\": [{\"size\": 8, \"out_of_place\": "
     "{\"bus_bw\": 90.5}, \"in_place\": {\"bus_bw\": 91.5}}, {\"size\": 4, \"out_of_place\": {\"bus_bw\": 99.0}}]}",
     BENCH_ALL_REDUCE, 90.5e9, 8, 24, 2},
    {"in place alone; the log's name", "y/all_gather.json",
     "\n {\"results\": [{\"size\": 8, \"out_of_place\": null, \"in_place\": {\"bus_bw\": 1.5}}]}", BENCH_ALL_GATHER,
     1.5e9, 8, 0, 0},
    /* 98.5e9 / 8 bytes a second are 0.187874 million messages of 65,536 */
    {"perftest's JSON in bits", "p", "{\"MsgSize\": 65536, \"BW_average\": 98.5, \"MsgRate\": 0.187874}", BENCH_WIRE,
     98.5e9 / 8, 65536, 0, 0},
    /* 11,000.5 x 2^20 bytes are 0.011000 million of 2^20 */
    {"in megabytes, old keys", "p", "{\nMsgSize: 1048576,\nBW_average: 11000.5,\nMsgRate: 0.011000\n}", BENCH_WIRE,
     11000.5 * 1048576, 1048576, 0, 0},
    {"both ways together", "p",
     "{\"test\": \"RDMA_Write_Bidirectional_BW_Test\", \"MsgSize\": 65536, \"BW_average\": 98.5, \"MsgRate\": "
     "0.187874}",
     BENCH_WIRE, 98.5e9 / 16, 65536, 0, 0},
    {"the rates are a twentieth apart", "p", "{\"MsgSize\": 1000, \"BW_average\": 8.0, \"MsgRate\": 1.05}", BENCH_WIRE,
     1e9, 1000, 0, 0},
};

Test(bench_log, rates_by_their_units) {
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        cr_assert_eq(read(ROWS[i].text, ROWS[i].name), 1, "%s", ROWS[i].what);
        cr_expect_eq(results[0].kind, ROWS[i].kind, "%s: %s", ROWS[i].what, bench_kind_name(results[0].kind));
        cr_expect_float_eq(results[0].rate / ROWS[i].rate, 1, 1e-12, "%s: %.17g", ROWS[i].what, results[0].rate);
        cr_expect_eq(results[0].size, ROWS[i].size, "%s", ROWS[i].what);
        cr_expect_eq(results[0].ranks, ROWS[i].ranks, "%s: %d", ROWS[i].what, (int)results[0].ranks);
        cr_expect_eq(results[0].hosts, ROWS[i].hosts, "%s: %d", ROWS[i].what, (int)results[0].hosts);
    }
}

/* Texts that hold no result. */
Test(bench_log, nothing_is_made_up) {
    static const struct {
        const char *what, *name, *text;
    } NONE[] = {
        {"an empty log", "all_gather.log", ""},
        {"a row before its header", "all_gather.log", "8 2 float none -1 1 2 3\n" HEAD},
        {"a row that ends before the rate", "all_gather.log", HEAD "8 2 float none -1 1 2\n"},
        {"a rate of zero", "all_gather.log", HEAD "8 2 float none -1 1 2 0 N/A\n"},
        {"of no collective", "x.log", HEAD "8 2 float none -1 1 2 3 N/A\n"},
        {"both ways at once", "c", COPY("host_to_device_bidirectional_memcpy_ce", " 0 50.0\n")},
        {"a matrix without cells", "c", COPY("host_to_device_memcpy_ce", " 0 N/A\n")},
        {"a matrix that does not end", "c", "Running host_to_device_memcpy_ce.\n 0 50.0\n"},
        {"the mean is not the median", "m", MATRICES("")},
        {"a unit that perftest does not have", "w", WIRE("", "Mpps", " 65536 5000 9.0 8.5 0.7\n")},
        {"an average of zero", "w", WIRE("", "Gb/sec", " 65536 5000 9.0 0 0.7\n")},
        {"rates that are a seventh apart", "p", "{\"MsgSize\": 1000, \"BW_average\": 8.0, \"MsgRate\": 1.17}"},
        {"or on the other side", "p", "{\"MsgSize\": 1000, \"BW_average\": 8.0, \"MsgRate\": 0.89}"},
        {"no messages", "p", "{\"MsgSize\": 1000, \"BW_average\": 8.0, \"MsgRate\": 0}"},
        {"another's word", "p", "{\"MsgSize\": 1000, \"BW_average\": 8.0, \"xMsgRate\": 1.0}"},
        {"JSON of no collective", "j", "{\"results\": [{\"size\": 8, \"in_place\": {\"bus_bw\": 1.5}}]}"},
        {"JSON without rates", "all_gather.json", "{\"results\": [{\"size\": 8}]}"},
    };
    for (size_t i = 0; i < COUNT_OF(NONE); i++) cr_expect_eq(read(NONE[i].text, NONE[i].name), 0, "%s", NONE[i].what);
}

/* What a log holds of several kinds, in their order; a matrix ends with its sum, so that the next begins at nothing. */
Test(bench_log, several_of_a_log) {
    int count =
        read(COPY("host_to_device_memcpy_ce", " 0 10.0\n") COPY("device_to_host_memcpy_ce", " 0 20.0\n 1 30.0\n")
                 MATRICES("median: 7 TFLOPS\n") RANK("0", "a") HEAD "8 2 float none -1 1 2 3 N/A\n",
             "all_gather.log");
    static const BenchResult EXPECTED[] = {{BENCH_HOST_TO_DEVICE, 10e9, 0, 0, 0},
                                           {BENCH_DEVICE_TO_HOST, 25e9, 0, 0, 0},
                                           {BENCH_MATMUL, 7e12, 0, 0, 0},
                                           {BENCH_ALL_GATHER, 3e9, 8, 1, 1}};
    cr_assert_eq(count, (int)COUNT_OF(EXPECTED));
    for (int i = 0; i < count; i++) {
        cr_expect_eq(results[i].kind, EXPECTED[i].kind, "%d", i);
        cr_expect_float_eq(results[i].rate, EXPECTED[i].rate, 1, "%d", i);
        cr_expect_eq(results[i].ranks, EXPECTED[i].ranks, "%d", i);
        cr_expect_eq(results[i].hosts, EXPECTED[i].hosts, "%d", i);
    }
}

/* No more than there is room for: matrices of another 20 sweeps. */
Test(bench_log, as_many_as_there_is_room_for) {
    char text[2048] = "";
    for (int i = 1; i <= BENCH_RESULTS_MAX + 4; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "median: %d TFLOPS\n", i);
    cr_assert_eq(read(text, "m"), BENCH_RESULTS_MAX);
    for (int i = 0; i < BENCH_RESULTS_MAX; i++) cr_expect_float_eq(results[i].rate, 1e12 * (i + 1), 1);
}
