/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which chips hold which worker of the best point, as a map of the machine, and how a worker of each pool is cut: the
 * degrees on its axes, and the experts over its group. */
#include "base/util.h"
#include "search/report/html/chip_map.h"
#include "search/serving/places.h"
#include "search/serving/report/serving_report.h"

static const double TOP = 22;

MeshRoles pool_roles(const ServingPool *pool) {
    static const char *const WORDS[ROLE_COUNT] = {[ROLE_EXPERT] = "attn DP"};
    return (MeshRoles){&pool->on.submesh->mesh, &pool->on.placement, nesting_canonical(), WORDS};
}

static bool cuts_experts(const WorkerLayout *layout) { return layout->expert * layout->expert_tensor > 1; }

static void experts_words(const WorkerLayout *layout, const char *before, Prose *out) {
    prose_add(out, "%sexperts %lld ways", before, (long long)layout->expert);
    if (layout->expert_tensor > 1) prose_add(out, ", each cut in %lld", (long long)layout->expert_tensor);
}

const char *pool_cut(const ServingPool *pool, Prose *out) {
    MeshRoles roles = pool_roles(pool);
    const WorkerLayout *layout = &pool->on.layout;
    for (int a = 0; a < roles.mesh->axis_count; a++) {
        prose_add(out, "%s%s: ", out->used ? "; " : "", roles.mesh->axes[a].name);
        mesh_roles_list(&roles, a, out);
    }
    if (cuts_experts(layout)) experts_words(layout, "; ", out);
    if (!out->used) prose_add(out, "one device");
    return out->text;
}

double pool_rows_height(const ServingPool *pool) {
    MeshRoles roles = pool_roles(pool);
    return TOP + mesh_roles_height(&roles) + (cuts_experts(&pool->on.layout) ? TOP : 0);
}

void pool_rows_draw(Svg *svg, const ServingPool *pool, const char *heading, double y) {
    MeshRoles roles = pool_roles(pool);
    const WorkerLayout *layout = &pool->on.layout;
    svg_text(svg, 4, y + 12, "start", "head", "%s%s", heading, roles.mesh->axis_count ? "" : ": one device");
    if (cuts_experts(layout)) {
        Prose words = {.used = 0};
        experts_words(layout, "the same chips: ", &words);
        svg_text(svg, 4, y + 12 + TOP, "start", NULL, "%s", words.text);
        y += TOP;
    }
    mesh_roles_draw(svg, &roles, y + TOP);
}

static const struct {
    const char *name, *heading;
    Paint paint;
} PHASES[] = {{"worker", "Within a worker", PAINT_MATMUL},
              {"prefill worker", "Within a prefill worker", PAINT_FORWARD},
              {"decode worker", "Within a decode worker", PAINT_BACKWARD}};

static void add_words(const ServingReport *report, const ServingPoint *best, Prose *words) {
    for (int i = 0; i < best->pool_count; i++) {
        const ServingPool *pool = &best->pools[i];
        char way[POOL_TEXT_SIZE];
        prose_add(words, "%s%lld %s%s of %s", i ? ", " : "", (long long)pool->workers, PHASES[pool->phase].name,
                  pool->workers > 1 ? "s" : "", pool_notation(pool, way));
    }
    prose_add(words, "; %lld of %lld chips are used. Each cell is a chip, with the number of what holds it.",
              (long long)best->chips_used, (long long)report->question->machine.mesh.chips);
}

static bool draw(const ServingReport *report, const ChipMap *map, FILE *out, Prose *words) {
    const ServingPoint *best = &report->answer->best;
    double height = chip_map_height(map) + 14, y = 10;
    add_words(report, best, words);
    for (int i = 0; i < best->pool_count; i++) height += pool_rows_height(&best->pools[i]);
    Svg svg = svg_open(out, "mesh-svg", SVG_PANEL, height, "The machine: which chips hold which worker", words->text);
    chip_map_draw(&svg, map, y);
    y += chip_map_height(map);
    for (int i = 0; i < best->pool_count; i++) {
        pool_rows_draw(&svg, &best->pools[i], PHASES[best->pools[i].phase].heading, y);
        y += pool_rows_height(&best->pools[i]);
    }
    svg_close(&svg);
    return true;
}

bool picture_places(const ServingReport *report, Arena *arena, FILE *out, Prose *words, Table *table) {
    const ServingQuestion *question = report->question;
    const ServingPoint *best = &report->answer->best;
    const Mesh *mesh = &question->machine.mesh;
    int32_t *holder = ARENA_NEW(arena, int32_t, (size_t)mesh->devices);
    ChipMap map = {.mesh = mesh, .host = devices_of_host(question), .group = {holder, NULL}};
    Prose cuts[2] = {{.used = 0}, {.used = 0}};
    if (!holder) return table->failed = true;
    for (int64_t d = 0; d < mesh->devices; d++) holder[d] = -1;
    if (!report->answer->has_best || !workers_hold(question, best, 0, arena, holder)) return false;
    for (map.kind_count = 0; map.kind_count < best->pool_count; map.kind_count++) {
        const ServingPool *pool = &best->pools[map.kind_count];
        map.kinds[map.kind_count] = (ChipKind){PHASES[pool->phase].name, pool_cut(pool, &cuts[map.kind_count]),
                                               PHASES[pool->phase].paint, pool->workers};
    }
    *table = table_new(arena, "Which chips hold what", CHIP_MAP_COLUMNS);
    if (!chip_map_list(&map, arena, table)) return table->failed = true;
    return draw(report, &map, out, words);
}
