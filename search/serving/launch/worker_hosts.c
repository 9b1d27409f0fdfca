/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/serving/launch/worker_hosts.h"

#include "base/util.h"

int64_t devices_of_host(const ServingQuestion *question) {
    int64_t each = max_whole(1, question->chip.devices_per_chip);
    return min_whole(max_whole(1, question->chip.chips_per_host) * each, question->machine.mesh.devices);
}

/* Devices that fast links join. */
static int64_t devices_of_domain(const ServingQuestion *question) {
    const Mesh *mesh = &question->machine.mesh;
    int64_t devices = 1;
    for (int a = 0; a < mesh->axis_count; a++)
        if (!axis_is_across(&mesh->axes[a])) devices *= mesh->axes[a].size;
    return devices;
}

typedef struct {
    int64_t host, domain, domains; /* devices of a host and of a domain; how many domains there are */
    int64_t *used;                 /* devices of each domain that are taken, from its first on */
} Hosts;

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
    int64_t count = 0, before[2] = {0, 0};
    for (int p = 0; p < point->pool_count; p++) {
        before[p] = count;
        count += point->pools[p].workers;
    }
    Hosts hosts = {.host = devices_of_host(question), .domain = devices_of_domain(question)};
    hosts.domains = divide_up(question->machine.mesh.devices, hosts.domain);
    hosts.used = ARENA_NEW(arena, int64_t, hosts.domains);
    *out = (WorkerPlaces){.workers = ARENA_NEW(arena, WorkerPlace, count), .count = count};
    if (!hosts.used || !out->workers) return error_memory(error);
    bool second_first =
        point->pool_count == 2 && point->pools[1].on.submesh->devices > point->pools[0].on.submesh->devices;
    for (int i = 0; i < point->pool_count; i++) {
        int pool = second_first ? 1 - i : i;
        if (!place_pool(point, pool, where, &hosts, &out->workers[before[pool]], error)) return false;
    }
    for (int64_t i = 0; i < count; i++)
        out->hosts = max_whole(out->hosts, out->workers[i].host + out->workers[i].hosts);
    return true;
}
