/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/serving/places.h"

#include "base/util.h"

typedef struct {
    int64_t host, domain, domains; /* devices of a host and of a domain; how many domains there are */
    int64_t *used;                 /* devices of each domain that are taken, from its first on */
} Hosts;

/* Of a machine that is free; used NULL: memory is out. */
static Hosts hosts_of(const ServingQuestion *question, Arena *arena) {
    Hosts hosts = {.host = devices_of_host(question), .domain = devices_of_domain(question)};
    hosts.domains = divide_up(question->machine.mesh.devices, hosts.domain);
    hosts.used = ARENA_NEW(arena, int64_t, (size_t)hosts.domains);
    return hosts;
}

/* The pool that is placed as number i. */
static int larger_first(const ServingPoint *point, int i) {
    bool second = point->pool_count == 2 && point->pools[1].on.submesh->devices > point->pools[0].on.submesh->devices;
    return second ? 1 - i : i;
}

/* The first device of the worker among all; -1: there is no room. A worker within a host does not straddle two. */
static int64_t take(Hosts *hosts, int64_t devices) {
    if (devices > hosts->domain) {
        int64_t whole = devices / hosts->domain;
        for (int64_t d = 0; d + whole <= hosts->domains; d++) {
            int64_t free = 0;
            while (free < whole && hosts->used[d + free] == 0) free++;
            if (free < whole) continue;
            for (int64_t i = 0; i < whole; i++) hosts->used[d + i] = hosts->domain;
            return d * hosts->domain;
        }
        return -1;
    }
    for (int64_t d = 0; d < hosts->domains; d++) {
        int64_t first = hosts->used[d], left = hosts->host - first % hosts->host;
        if (devices > left && left < hosts->host) first += left;
        if (first + devices > hosts->domain) continue;
        hosts->used[d] = first + devices;
        return d * hosts->domain + first;
    }
    return -1;
}

static bool place_pool(const ServingPoint *point, int pool, const char *where, Hosts *hosts, WorkerPlace *out,
                       Error *error) {
    int64_t devices = point->pools[pool].on.submesh->devices, host = hosts->host;
    bool whole = devices <= host || devices % host == 0;
    if (!whole || (devices > hosts->domain && devices % hosts->domain != 0))
        return error_set(error, ERROR_INPUT, where,
                         "workers of %lld devices are not whole hosts of %lld; give --require with degrees whose "
                         "product is",
                         (long long)devices, (long long)host);
    for (int64_t i = 0; i < point->pools[pool].workers; i++) {
        int64_t first = take(hosts, devices);
        if (first < 0)
            return error_set(error, ERROR_INPUT, where,
                             "%lld workers of %lld devices do not lie side by side on these hosts of %lld; give "
                             "--require with degrees that divide a host",
                             (long long)point->pools[pool].workers, (long long)devices, (long long)host);
        out[i] = (WorkerPlace){.pool = pool,
                               .host = first / host,
                               .hosts = divide_up(devices, host),
                               .first = first % host,
                               .count = min_whole(devices, host)};
    }
    return true;
}

bool workers_place(const ServingQuestion *question, const ServingPoint *point, const char *where, Arena *arena,
                   WorkerPlaces *out, Error *error) {
    const int64_t before[] = {0, point->pools[0].workers};
    int64_t count = before[1] + (point->pool_count > 1 ? point->pools[1].workers : 0);
    Hosts hosts = hosts_of(question, arena);
    *out = (WorkerPlaces){.workers = ARENA_NEW(arena, WorkerPlace, count), .count = count};
    if (!hosts.used || !out->workers) return error_memory(error);
    for (int i = 0; i < point->pool_count; i++) {
        int pool = larger_first(point, i);
        if (!place_pool(point, pool, where, &hosts, &out->workers[before[pool]], error)) return false;
    }
    for (int64_t i = 0; i < count; i++)
        out->hosts = max_whole(out->hosts, out->workers[i].host + out->workers[i].hosts);
    return true;
}

/* ---- by device ---- */

static bool hold_ranges(Hosts *hosts, int64_t devices, int64_t workers, int32_t from, int32_t *holder) {
    if (devices > hosts->domain && devices % hosts->domain != 0) return false;
    for (int64_t w = 0; w < workers; w++) {
        int64_t first = take(hosts, devices);
        if (first < 0) return false;
        for (int64_t d = 0; d < devices; d++) holder[first + d] = (int32_t)(from + w);
    }
    return true;
}

/* Where the cell number `cell` of a box lies from its first on. */
static int64_t box_cell(const Mesh *mesh, const int64_t *size, int64_t cell) {
    int64_t at = 0, stride = 1;
    for (int a = 0; a < mesh->axis_count; stride *= mesh->axes[a++].size) {
        at += cell % size[a] * stride;
        cell /= size[a];
    }
    return at;
}

/* Boxes at multiples of their own sizes, those along `outer` last. */
static bool hold_boxes(const Mesh *mesh, const SubMesh *box, int64_t workers, int outer, int32_t from,
                       int32_t *holder) {
    int64_t worker = 0;
    for (int64_t place = 0; place < box->copies && worker < workers; place++) {
        int64_t rest = place, first = 0, stride[MESH_AXES_MAX], cell = 0;
        for (int a = 0; a < mesh->axis_count; a++) stride[a] = a ? stride[a - 1] * mesh->axes[a - 1].size : 1;
        for (int turn = 0; turn < mesh->axis_count; turn++) {
            int a = turn + 1 == mesh->axis_count ? outer : turn < outer ? turn : turn + 1;
            int64_t count = mesh->axes[a].size / box->size[a];
            first += rest % count * box->size[a] * stride[a];
            rest /= count;
        }
        while (cell < box->devices && holder[first + box_cell(mesh, box->size, cell)] < 0) cell++;
        if (cell < box->devices) continue;
        for (cell = 0; cell < box->devices; cell++)
            holder[first + box_cell(mesh, box->size, cell)] = (int32_t)(from + worker);
        worker++;
    }
    return worker == workers;
}

static bool has_torus(const Mesh *mesh) {
    for (int a = 0; a < mesh->axis_count; a++)
        if (mesh->axes[a].kind == AXIS_RING || mesh->axes[a].kind == AXIS_LINE) return true;
    return false;
}

bool workers_hold(const ServingQuestion *question, const ServingPoint *point, int32_t from, Arena *arena,
                  int32_t *holder) {
    const Mesh *mesh = &question->machine.mesh;
    bool torus = has_torus(mesh), done = false;
    for (int outer = torus ? mesh->axis_count - 1 : 0; outer >= 0 && !done; outer--) {
        Hosts hosts = hosts_of(question, arena);
        if (!hosts.used) return false;
        for (int64_t d = 0; d < mesh->devices; d++) {
            if (holder[d] >= from) holder[d] = -1; /* of the try before */
            if (holder[d] >= 0) hosts.used[d / hosts.domain] = d % hosts.domain + 1;
        }
        done = true;
        for (int i = 0; i < point->pool_count && done; i++) {
            int pool = larger_first(point, i);
            const SubMesh *box = point->pools[pool].on.submesh;
            int64_t workers = point->pools[pool].workers;
            int32_t number = from + (int32_t)(pool == 1 ? point->pools[0].workers : 0);
            done = torus ? hold_boxes(mesh, box, workers, outer, number, holder)
                         : hold_ranges(&hosts, box->devices, workers, number, holder);
        }
    }
    return done;
}
