/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/serving/packing.h"

#include "base/util.h"

/* Domains of `size` devices: the axis inside, and how many of them there are. */
typedef struct {
    int64_t size, count;
} Domains;

static Domains domains_of(const Mesh *machine) {
    Domains domains = {1, 1};
    for (int a = 0; a < machine->axis_count; a++)
        *(axis_is_across(&machine->axes[a]) ? &domains.count : &domains.size) *= machine->axes[a].size;
    return domains;
}

/* Whole domains that a worker takes; 0: it shares one. */
static int64_t whole_domains(const WorkerBox *box, Domains domains) {
    return box->devices >= domains.size ? box->devices / domains.size : 0;
}

static int64_t in_domains(const WorkerBox *box, Domains domains, int64_t free) {
    int64_t whole = whole_domains(box, domains);
    return whole > 0 ? free / whole : free * (domains.size / box->devices);
}

/* Both share domains: by the number of domains that are filled, the most of the second beside x of the first. */
static bool fill_shared(const WorkerBox *first, const WorkerBox *second, Domains domains, int64_t x_max, int64_t *most,
                        Arena *arena) {
    int64_t *last = ARENA_NEW(arena, int64_t, (size_t)x_max + 1);
    if (!last) return false;
    for (int64_t x = 0; x <= x_max; x++) most[x] = x == 0 ? 0 : -1;
    for (int64_t domain = 0; domain < domains.count; domain++) {
        for (int64_t x = 0; x <= x_max; x++) last[x] = most[x];
        for (int64_t x = 0; x <= x_max; x++) {
            most[x] = -1;
            for (int64_t i = 0; i <= x && i * first->devices <= domains.size; i++)
                if (last[x - i] >= 0)
                    most[x] = max_whole(most[x], last[x - i] + (domains.size - i * first->devices) / second->devices);
        }
    }
    return true;
}

static void fill_domains(const WorkerBox *first, const WorkerBox *second, Domains domains, int64_t x_max,
                         int64_t *most) {
    int64_t whole = whole_domains(first, domains);
    for (int64_t x = 0; x <= x_max; x++) {
        int64_t taken = whole > 0 ? x * whole : divide_up(x, domains.size / first->devices);
        most[x] = taken <= domains.count ? in_domains(second, domains, domains.count - taken) : -1;
    }
}

/* One cut across one axis: the first pool has `own` of it, the second the rest. */
static void cut_torus(const Mesh *machine, const WorkerBox *first, const WorkerBox *second, int64_t x_max,
                      int64_t *most) {
    for (int64_t x = 0; x <= x_max; x++) most[x] = x == 0 ? second->copies : x <= first->copies ? 0 : -1;
    for (int a = 0; a < machine->axis_count; a++) {
        int64_t size = machine->axes[a].size;
        for (int64_t own = 1; own < size; own++) {
            int64_t x = first->copies / (size / first->size[a]) * (own / first->size[a]);
            int64_t y = second->copies / (size / second->size[a]) * ((size - own) / second->size[a]);
            for (int64_t i = 1; i <= min_whole(x, x_max); i++) most[i] = max_whole(most[i], y);
        }
    }
}

bool packing_most(const Mesh *machine, const WorkerBox *first, const WorkerBox *second, int64_t first_max, Arena *arena,
                  int64_t **most) {
    bool torus = false;
    Domains domains = domains_of(machine);
    for (int a = 0; a < machine->axis_count; a++)
        torus = torus || machine->axes[a].kind == AXIS_RING || machine->axes[a].kind == AXIS_LINE;
    *most = ARENA_NEW(arena, int64_t, (size_t)first_max + 1);
    if (!*most) return false;
    if (torus) return cut_torus(machine, first, second, first_max, *most), true;
    if (whole_domains(first, domains) || whole_domains(second, domains))
        return fill_domains(first, second, domains, first_max, *most), true;
    return fill_shared(first, second, domains, first_max, *most, arena);
}
