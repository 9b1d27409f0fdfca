/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/report/html/mesh_roles.h"
#include "search/report/html/paints.h"

#include "base/util.h"

static const double LEFT = 96, RIGHT = 374, LEVEL = 30, GAP = 34, THIN = 3;

typedef struct {
    Role role;
    int64_t factor, stride;
} Level;

static const char *role_word(const MeshRoles *roles, Role role) {
    return roles->words && roles->words[role] ? roles->words[role] : role_name(role);
}

/* Roles of an axis from the outside. */
static int list_levels(const MeshRoles *roles, int axis, Level levels[ROLE_COUNT]) {
    int count = 0;
    int64_t stride = 1;
    for (int i = 0; i < ROLE_COUNT; i++) {
        Role role = roles->nesting.order[i];
        int64_t factor = roles->placement->factor[axis][role];
        if (factor <= 1) continue;
        for (int j = count; j > 0; j--) levels[j] = levels[j - 1];
        levels[0] = (Level){role, factor, stride};
        count++;
        stride *= factor;
    }
    return count;
}

static void draw_level(Svg *svg, const Axis *axis, const char *word, const Level *level, double y) {
    double chip = (RIGHT - LEFT) / (double)axis->size, cell = chip * (double)level->stride;
    int64_t cells = axis->size / level->stride;
    char text[96], tip[128];
    Paint paint = paint_of_role(level->role);
    snprintf(text, sizeof text, "%s ×%lld", word, (long long)level->factor);
    snprintf(tip, sizeof tip, "%s: %lld of %s, %lld apart", word, (long long)level->factor, axis->name,
             (long long)level->stride);
    if (cell < THIN) {
        svg_bar(svg, LEFT, y, RIGHT - LEFT, LEVEL - 6, paint, tip);
    } else {
        double gap = min_real(2, cell / 5);
        for (int64_t i = 0; i < cells; i++) {
            /* a wider gap where a group ends */
            double more = (i + 1) % level->factor == 0 && i + 1 < cells ? min_real(4, cell / 4) : 0;
            svg_bar(svg, LEFT + cell * (double)i, y, cell - gap - more, LEVEL - 6, paint, i == 0 ? tip : NULL);
        }
    }
    svg_text(svg, LEFT - 10, y + 16, "end", NULL, "%s", text);
}

static void draw_kind(Svg *svg, const Axis *axis, double y) {
    double middle = y + 8;
    if (axis->kind == AXIS_RING)
        fprintf(svg->out, "<path class=\"axis\" d=\"M%.1f %.1fv6h%.1fv-6\"/>\n", LEFT, middle - 3, RIGHT - LEFT);
    else if (axis->kind == AXIS_LINE)
        svg_line(svg, LEFT, middle, RIGHT, middle, "axis");
    else
        fprintf(svg->out, "<path class=\"axis thick\" d=\"M%.1f %.1fh%.1f\"/>\n", LEFT, middle, RIGHT - LEFT);
}

static const char *kind_words(const Axis *axis) {
    switch (axis->kind) {
    case AXIS_RING:
        return "a ring";
    case AXIS_LINE:
        return "a line";
    case AXIS_MESH:
        return "direct links";
    default:
        return "a switch";
    }
}

void mesh_roles_list(const MeshRoles *roles, int axis, Prose *out) {
    Level levels[ROLE_COUNT];
    for (int i = list_levels(roles, axis, levels) - 1; i >= 0; i--)
        prose_item(out, ", ", "%s %lld (%lld apart)", role_word(roles, levels[i].role), (long long)levels[i].factor,
                   (long long)levels[i].stride);
}

double mesh_roles_height(const MeshRoles *roles) {
    double height = 0;
    Level levels[ROLE_COUNT];
    for (int a = 0; a < roles->mesh->axis_count; a++)
        height += GAP + 18 + LEVEL * (double)max_whole(1, list_levels(roles, a, levels));
    return height;
}

void mesh_roles_draw(Svg *svg, const MeshRoles *roles, double y) {
    for (int a = 0; a < roles->mesh->axis_count; a++) {
        const Axis *axis = &roles->mesh->axes[a];
        char rate[NUMBER_TEXT_SIZE];
        Level levels[ROLE_COUNT];
        int count = list_levels(roles, a, levels);
        svg_text(svg, LEFT - 10, y + 12, "end", "head", "%s", axis->name);
        svg_text(svg, RIGHT, y + 12, "end", "dim", "%lld in %s, %s one way", (long long)axis->size, kind_words(axis),
                 rate_text(axis->bytes_per_second, "B", rate));
        draw_kind(svg, axis, y + 16);
        y += GAP;
        for (int i = 0; i < count; i++)
            draw_level(svg, axis, role_word(roles, levels[i].role), &levels[i], y + LEVEL * i);
        if (count == 0) svg_text(svg, LEFT, y + 16, "start", "dim", "no role");
        y += LEVEL * (double)max_whole(1, count) + 18;
    }
}

MeshRoles ranked_roles(const RankedPlan *ranked) {
    return (MeshRoles){&ranked->machine.mesh, &ranked->plan.placement, ranked->nesting, NULL};
}
