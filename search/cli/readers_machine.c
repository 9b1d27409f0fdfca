/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Words of machines whose value decides more than a row of meanings.tsv can say. */
#include "base/number.h"
#include "base/util.h"
#include "search/cli/replaced.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* `--gpus-per-node 8`: --nodes counts hosts of so many. */
static int read_host(Replaced *out, Typed typed) {
    int64_t number;
    Error not_whole = {0};
    if (!typed.value || !number_whole(typed.value, "", 1, 1024, &number, &not_whole)) return -1;
    return out->any = true, out->instance = (int)number, typed.read;
}

/* `--count 16`: instances of a cloud, or chips. */
static int read_count(Replaced *out, Typed typed) {
    const char *chips = replaced_option(out, "--chips"); /* of a board, "--hgx a100-8 --num 96" */
    bool hosts = out->cloud || (chips && atol(chips) > 0 && atol(chips) <= 16);
    out->counted = out->counted || hosts;
    return replaced_add(out, "--%s=%s", hosts ? "nodes" : "chips", typed.value) ? typed.read : 0;
}

/* The name of a cluster, or a machine. */
static int read_cluster(Replaced *out, Typed typed) {
    bool ok = true;
    if (typed.value && (replaced_machine(out, typed.value, out->sized, &ok) || !ok ||
                        (strchr(typed.value, ' ') && replaced_machine_text(out, typed.value, &ok))))
        return ok ? typed.read : 0;
    return replaced_leave(out, &out->passed, "--cluster") ? typed.read : 0;
}

/* `--vram 24`: of two boards of a chip the one with so much; a chip of so much where the line names none. */
static int read_vram(Replaced *out, Typed typed) {
    double gigabytes = typed.value ? strtod(typed.value, NULL) : 0;
    if (!(gigabytes > 0)) return -1;
    out->any = true;
    return (out->vram = arena_format(out->arena, "%g", gigabytes)) ? typed.read : 0;
}

/* `--ib ndr400`, `--network "100 Gbps ethernet"`: what a host reaches others with, read as --network reads it; of
 * InfiniBand's names, and where a number stands alone, Gb/s of each of its NICs. */
static int read_network(Replaced *out, Typed typed) {
    const char *value = typed.value ? typed.value : "", *from = value + strcspn(value, "0123456789");
    size_t number = strspn(from, "0123456789.x"), length = number + strspn(from + number, " ");
    length += strcspn(from + length, " -_,");
    bool alone = number > 0 && from[number] == '\0',
         each = from > value && !strchr(from, 'x') && !strcasestr(value, "eth");
    double rate = 0;
    Error none = {0};
    char *text = arena_format(out->arena, "%.*s%s", (int)length, from, alone ? "Gbps" : "");
    if (!text) return 0;
    bool read = replaced_has(out, "network") && number_network(text, "", &rate, &none);
    double gigabits = rate * 8 / 1e9;
    each = each || (strcasestr(typed.word, "ib") && !strchr(from, 'x') && gigabits <= 800);
    if (!read || (each && gigabits > 1600))
        return replaced_advise(out, "a chip is planned with its own network; --network 400Gbps says that of a host")
                   ? value[0] && value[0] != '-' ? typed.read : 1
                   : 0;
    out->network = gigabits, out->network_is_of_nic = each;
    return out->any = true, typed.read;
}

/* `--interconnect pcie`: of two boards of a chip the one without NVLink. */
static int read_board(Replaced *out, Typed typed) {
    return out->pcie = out->any = true, typed.value && strncasecmp(typed.value, "pcie", 4) == 0 ? typed.read : 1;
}

/* Kubernetes' "nvidia.com/gpu=4" and "nvidia.com/gpu.product=NVIDIA-H100-80GB-HBM3". */
static int read_resource(Replaced *out, Typed typed) {
    const char *value = typed.value ? strchr(typed.value, '=') : NULL;
    bool ok = true;
    if (!value)
        return replaced_leave(out, &out->passed, typed.word) ? typed.value && *typed.value != '-' ? typed.read : 1 : 0;
    if (isdigit((unsigned char)value[1])) return replaced_add(out, "--chips=%s", value + 1) ? typed.read : 0;
    char *text = arena_format(out->arena, "%s", value + 1);
    for (char *at = text; at && *at; at++) *at = *at == '-' ? ' ' : *at;
    return text && (replaced_machine_text(out, text, &ok) || replaced_leave(out, &out->passed, typed.word)) && ok
               ? typed.read
               : 0;
}

/* Dollars an hour of an instance, or of a chip. */
static int read_price(Replaced *out, Typed typed) {
    enum { DEAREST_CHIP = 20 };
    double price = typed.value ? strtod(typed.value + (*typed.value == '$'), NULL) : 0;
    if (!(price > 0)) return -1;
    if (!out->cloud && price <= DEAREST_CHIP) return replaced_add(out, "--price=%g", price) ? typed.read : 0;
    return out->any = true, out->hourly = price, typed.read;
}

/* "-n 4 -g 8": hosts, and the GPUs of each; -n or -g alone are GPUs. */
int replaced_pair(Replaced *out, Typed typed, bool hosts) {
    out->counted = true;
    if (out->pair == 3)
        return hosts ? replaced_add(out, "--nodes=%s", typed.value) ? typed.read : 0 : read_host(out, typed);
    return hosts ? read_count(out, typed) : replaced_add(out, "--chips=%s", typed.value) ? typed.read : 0;
}

/* Replicas of a cloud's instances: one on each. */
static int read_replicas(Replaced *out, Typed typed) {
    const char *copies = arena_format(out->arena, "copies=%s", typed.value);
    out->any = true;
    if (!copies || !replaced_condition(out, copies)) return 0;
    if (!out->cloud || replaced_option(out, "--nodes") || replaced_option(out, "--chips")) return typed.read;
    out->sized = true;
    return replaced_add(out, "--nodes=%s", typed.value) &&
                   replaced_advise(out, "%s replicas are planned on as many instances", typed.value)
               ? typed.read
               : 0;
}

int replaced_machine_reader(Replaced *out, const char *reader, Typed typed) {
    static const struct {
        const char *name;
        int (*read)(Replaced *out, Typed typed);
    } READERS[] = {{"@host", read_host},   {"@count", read_count},       {"@cluster", read_cluster},
                   {"@vram", read_vram},   {"@network", read_network},   {"@resource", read_resource},
                   {"@price", read_price}, {"@replicas", read_replicas}, {"@board", read_board}};
    for (size_t i = 0; i < COUNT_OF(READERS); i++)
        if (strcmp(reader, READERS[i].name) == 0) return READERS[i].read(out, typed);
    return -1;
}
