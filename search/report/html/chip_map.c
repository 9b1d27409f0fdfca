/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/report/html/chip_map.h"

#include "base/number.h"
#include "base/text/prose.h"
#include "base/util.h"

static const double LEFT = 72, RIGHT = 374, GAP = 6, HIGHEST = 24, LEGEND = 20;
enum { CELLS_MAX = 1024, LINES_MAX = 16, WIDE_MAX = 18, LISTED_MAX = 32 };
static const double TALLEST = 400; /* pixels of all lines */

/* Blocks of rows x columns cells, so many in a line: hosts or domains, of a torus planes. */
typedef struct {
    int64_t columns, rows, cells, blocks, across, lines;
    int64_t shown; /* lines; the first and the last of them */
    double wide, high;
    bool torus;
    const char *word; /* of a block; NULL: there is one, and it has no name */
} Grid;

static bool is_torus_axis(const Axis *axis) { return axis->kind == AXIS_RING || axis->kind == AXIS_LINE; }

/* The two innermost axes of a torus, the cores of a chip next to each other; a domain is folded where it is wide. */
static Grid grid_of(const ChipMap *map) {
    const Mesh *mesh = map->mesh;
    Grid grid = {.columns = 1, .rows = 1, .cells = 1};
    int a = 0;
    for (; a < mesh->axis_count && !axis_is_across(&mesh->axes[a]); a++) grid.cells *= mesh->axes[a].size;
    grid.word = grid.cells > map->host ? "domain" : "node";
    for (a = 0; a < mesh->axis_count && !is_torus_axis(&mesh->axes[a]); a++) grid.columns *= mesh->axes[a].size;
    if (a == mesh->axis_count) {
        if (grid.cells == 1) grid.cells = mesh->devices, grid.word = NULL;
        grid.columns = min_whole(grid.cells, WIDE_MAX);
        grid.rows = divide_up(grid.cells, grid.columns);
    } else {
        grid.torus = true;
        grid.columns *= mesh->axes[a++].size;
        if (a < mesh->axis_count && is_torus_axis(&mesh->axes[a])) grid.rows = mesh->axes[a++].size;
        grid.cells = grid.columns * grid.rows;
        grid.word = a == mesh->axis_count ? NULL : a + 1 == mesh->axis_count ? mesh->axes[a].name : "plane";
    }
    grid.blocks = mesh->devices / grid.cells;
    return grid;
}

/* With room for its name. */
static double line_height(const Grid *grid) { return max_real(16, (double)grid->rows * grid->high + GAP); }

/* The largest cells with which all lines have room, else the smallest. */
static Grid fit(const ChipMap *map) {
    Grid grid = grid_of(map);
    for (double cell = 34; cell >= 3; cell--) {
        grid.wide = cell, grid.high = min_real(cell, HIGHEST);
        grid.across = (int64_t)((RIGHT - LEFT + GAP) / ((double)grid.columns * cell + GAP));
        if (grid.blocks <= LINES_MAX && !grid.torus) grid.across = min_whole(grid.across, 1);
        if (grid.across == 0) continue;
        grid.lines = divide_up(grid.blocks, grid.across);
        if ((double)grid.lines * line_height(&grid) <= TALLEST) break;
    }
    double tall = line_height(&grid);
    int64_t most = max_whole(2, min_whole((int64_t)(TALLEST / tall), CELLS_MAX / (grid.cells * grid.across)));
    grid.shown = min_whole(grid.lines, most);
    return grid;
}

static const ChipKind *kind_of(const ChipMap *map, int32_t group, int64_t *number) {
    const ChipKind *kind = map->kinds;
    for (*number = group; *number >= kind->count && kind + 1 < map->kinds + map->kind_count; kind++)
        *number -= kind->count;
    return kind;
}

/* Its name, and its number from 1 on where there are several. */
static const char *group_text(const ChipMap *map, int32_t group, char text[96]) {
    int64_t number;
    const ChipKind *kind = kind_of(map, group, &number);
    snprintf(text, 96, kind->count > 1 ? "%s %lld" : "%s", kind->name, (long long)number + 1);
    return text;
}

/* ---- drawing ---- */

typedef struct {
    Svg *svg;
    const ChipMap *map;
    const Grid *grid;
    int layer;
} Layer;

static int32_t group_at(const Layer *on, int64_t block, int64_t row, int64_t column) {
    int64_t cell = row * on->grid->columns + column;
    return row < on->grid->rows && column < on->grid->columns && cell < on->grid->cells
               ? on->map->group[on->layer][block * on->grid->cells + cell]
               : -1;
}

typedef struct {
    int64_t block, row, column, count;
    double x, y;
} Run;

/* Cells of one group next to each other: one box where a cell is narrow. The second kind stands lower, so that kinds
 * differ without colour. */
static void draw_run(const Layer *on, const Run *run) {
    int64_t block = run->block, row = run->row, column = run->column, count = run->count;
    double x = run->x, y = run->y;
    const Grid *grid = on->grid;
    int32_t group = group_at(on, block, row, column);
    int64_t number;
    char tip[96], text[24];
    const ChipKind *kind = kind_of(on->map, group, &number);
    double gap = min_real(2, grid->wide / 5), layers = on->map->group[1] ? 2 : 1;
    double more = min_real(3, grid->wide / 4), high = grid->high / layers;
    double end = group_at(on, block, row + 1, column) == group ? gap / 2 : min_real(3, high / 4);
    double less = kind > on->map->kinds && layers == 1 ? high / 4 : 0;
    bool narrow = grid->wide < 8;
    y += high * on->layer;
    group_text(on->map, group, tip);
    for (int64_t i = 0; i < (narrow ? 1 : count); i++) {
        double wide = narrow ? (double)count * grid->wide : grid->wide;
        double space = i + 1 == count || narrow ? max_real(gap, more) : gap;
        svg_bar(on->svg, x + (double)i * wide, y + less, wide - space, high - less - end, kind->paint,
                i == 0 ? tip : NULL);
    }
    snprintf(text, sizeof text, "%lld", (long long)number + 1);
    double room = svg_text_width(text) + 6 < grid->wide ? grid->wide : (double)count * grid->wide;
    bool begins = row == 0 || group_at(on, block, row - 1, column) != group;
    if (begins && kind->count > 1 && high - less - end >= 12 && room > svg_text_width(text) + 6)
        svg_text(on->svg, x + room / 2 - 1, y + less + (high - less - end) / 2 + 4, "middle", "small onbar", "%s",
                 text);
}

static void draw_idle(const Layer *on, double x, double y) {
    const Grid *grid = on->grid;
    fprintf(on->svg->out, "<path class=\"axis\" d=\"M%.1f %.1fh%.1fv%.1fh%.1fz\"/>\n", x + 0.5, y + 0.5, grid->wide - 3,
            grid->high - 3, 3 - grid->wide);
}

static void draw_block(const Layer *on, int64_t block, double left, double top) {
    const Grid *grid = on->grid;
    for (int64_t row = 0; row < grid->rows; row++)
        for (int64_t column = 0, count; column < grid->columns; column += count) {
            int32_t group = group_at(on, block, row, column);
            double x = left + (double)column * grid->wide, y = top + (double)row * grid->high;
            for (count = 1; group >= 0 && column + count < grid->columns; count++)
                if (group_at(on, block, row, column + count) != group) break;
            if (group >= 0)
                draw_run(on, &(Run){block, row, column, count, x, y});
            else if (row * grid->columns + column < grid->cells && on->layer == 0)
                draw_idle(on, x, y);
        }
}

static void draw_line(const Layer *on, int64_t line, double y) {
    const Grid *grid = on->grid;
    int64_t first = line * grid->across, end = min_whole(first + grid->across, grid->blocks);
    if (grid->word && grid->across == 1 && on->layer == 0)
        svg_text(on->svg, LEFT - 8, y + 12, "end", NULL, "%s %lld", grid->word, (long long)first);
    else if (grid->word && on->layer == 0)
        svg_text(on->svg, LEFT - 8, y + 12, "end", NULL, "%s%lld-%lld", grid->word[1] ? "" : grid->word,
                 (long long)first, (long long)end - 1);
    for (int64_t block = first; block < end; block++)
        draw_block(on, block, LEFT + (double)(block - first) * ((double)grid->columns * grid->wide + GAP), y);
}

static double legend(Svg *svg, const ChipMap *map, double y) {
    SvgLegend at = {4, RIGHT, 4, y};
    for (int i = 0; i < map->kind_count; i++) svg_legend_add_bar(svg, &at, map->kinds[i].paint, map->kinds[i].name);
    return at.y - y + LEGEND;
}

/* A line that says what is left out has the height of a text. */
static double lines_height(const Grid *grid) {
    return (double)grid->shown * line_height(grid) + (grid->shown < grid->lines ? LEGEND : 0);
}

double chip_map_height(const ChipMap *map) {
    Grid grid = fit(map);
    return lines_height(&grid) + legend(NULL, map, 0) + 4;
}

void chip_map_draw(Svg *svg, const ChipMap *map, double top) {
    Grid grid = fit(map);
    double tall = line_height(&grid), y = top;
    for (int64_t i = 0; i < grid.shown; i++, y += tall) {
        bool cut = grid.shown < grid.lines && i == grid.shown / 2;
        int64_t line = i < grid.shown / 2 || grid.shown == grid.lines ? i : grid.lines - grid.shown + i;
        if (cut) {
            svg_text(svg, LEFT, y + 12, "start", "dim", "... %s %lld to %lld left out", grid.word ? grid.word : "row",
                     (long long)(i * grid.across), (long long)(line * grid.across) - 1);
            y += LEGEND;
        }
        for (int layer = 0; layer < 2 && map->group[layer]; layer++)
            draw_line(&(Layer){svg, map, &grid, layer}, line, y);
    }
    legend(svg, map, y + 12);
}

/* ---- the same as a table ---- */

typedef struct {
    int64_t low[MESH_AXES_MAX], high[MESH_AXES_MAX], devices;
} Extent;

static void extend(Extent *extent, const Mesh *mesh, int64_t device) {
    for (int a = 0; a < mesh->axis_count; device /= mesh->axes[a++].size) {
        int64_t at = device % mesh->axes[a].size;
        extent->low[a] = extent->devices ? min_whole(extent->low[a], at) : at;
        extent->high[a] = max_whole(extent->high[a], at);
    }
    extent->devices++;
}

static void list_group(const ChipMap *map, int32_t group, const Extent *extent, Table *table) {
    int64_t number;
    Prose where = {0};
    char name[96];
    for (int a = 0; a < map->mesh->axis_count; a++) {
        const char *axis = map->mesh->axes[a].name;
        prose_item(&where, ", ", extent->low[a] < extent->high[a] ? "%s %lld to %lld" : "%s %lld", axis,
                   (long long)extent->low[a], (long long)extent->high[a]);
    }
    table_cell(table, "%s", group_text(map, group, name));
    table_cell(table, "%lld", (long long)extent->devices);
    table_cell(table, "%s", where.used ? where.text : "all of it");
    table_cell(table, "%s", kind_of(map, group, &number)->how);
}

bool chip_map_list(const ChipMap *map, Arena *arena, Table *table) {
    int64_t groups = 0, first = 0;
    for (int i = 0; i < map->kind_count; i++) groups += map->kinds[i].count;
    Extent *extents = ARENA_NEW(arena, Extent, (size_t)groups + 1);
    if (!extents) return false;
    for (int layer = 0; layer < 2 && map->group[layer]; layer++)
        for (int64_t d = 0; d < map->mesh->devices; d++)
            if (map->group[layer][d] >= 0) extend(&extents[map->group[layer][d]], map->mesh, d);
    for (int i = 0; i < map->kind_count; first += map->kinds[i++].count) {
        const ChipKind *kind = &map->kinds[i];
        for (int64_t n = 0; n < min_whole(kind->count, LISTED_MAX); n++)
            list_group(map, (int32_t)(first + n), &extents[first + n], table);
        if (kind->count <= LISTED_MAX) continue;
        table_cell(table, "%lld more of %s", (long long)(kind->count - LISTED_MAX), kind->name);
        table_cell(table, "%lld", (long long)((kind->count - LISTED_MAX) * extents[first].devices));
        table_cell(table, "likewise");
        table_cell(table, "%s", kind->how);
    }
    return true;
}
