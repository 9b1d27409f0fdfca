/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What perftest writes with --out_json: linux-rdma/perftest at 00b55b66, src/perftest_parameters.c and .h. Its keys had
 * no quotes until f9e82f7 (2024), and one of --qos has none yet, so that keys are looked for and no JSON is parsed. */
#include "cost/trace/formats/bench_log.h"

#include "base/util.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* perftest's units: 2^20 bytes per second, or 10^9 bits with --report_gbits. */
static const double UNITS[] = {1048576, 1e9 / 8};
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

bool bench_is_wire_json(const char *text) { return strstr(text, "BW_average") && strstr(text, "MsgSize"); }

/* The file does not say its unit: messages per second times their size do. */
int bench_wire_json_read(const char *text, BenchResult *out) {
    double size = number_of(text, "MsgSize"), average = number_of(text, "BW_average");
    double moved = 1e6 * number_of(text, "MsgRate") * size;
    double ways = strstr(text, "Bidirectional") ? 2 : 1; /* its figures are of both directions together */
    for (size_t i = 0; i < COUNT_OF(UNITS) && moved > 0; i++) {
        double rate = average * UNITS[i];
        if (!(fabs(rate / moved - 1) < NEAR) || !isfinite(rate)) continue;
        *out = (BenchResult){.kind = BENCH_WIRE, .rate = rate / ways, .size = size};
        return 1;
    }
    return 0;
}
