/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which chips train, which generate, what else runs on them, and how the trainer and a replica are cut. */
#include "base/util.h"
#include "search/report/html/chip_map.h"
#include "search/rl/rl_report.h"
#include "search/serving/places.h"
#include "search/serving/report/serving_report.h"

/* What a pool does besides, by the phases of its steps: "train, reference". */
static const char *tasks(const RlQuestion *question, const RlStep *step, bool train, Prose *out) {
    static const struct {
        RlPhase phase;
        const char *words;
    } TASKS[] = {{RL_LOGPROBS, "log-probs"},
                 {RL_REFERENCE, "reference"},
                 {RL_TEACHER, "teacher"},
                 {RL_VALUES, "critic"},
                 {RL_REWARD, "reward"}};
    prose_add(out, train ? "train" : "generate");
    if (!train && question->logprobs_by_rollout) prose_add(out, ", log-probs");
    for (size_t i = 0; i < COUNT_OF(TASKS); i++) {
        bool there = TASKS[i].phase == RL_REWARD && question->reward_by_rollout;
        if (step->phases[TASKS[i].phase] > 0 && there != train) prose_add(out, ", %s", TASKS[i].words);
    }
    return out->text;
}

static int32_t *nobody(const Mesh *mesh, Arena *arena) {
    int32_t *holder = ARENA_NEW(arena, int32_t, (size_t)mesh->devices);
    for (int64_t d = 0; holder && d < mesh->devices; d++) holder[d] = -1;
    return holder;
}

/* The machine, the trainer on its first chips; and where another kind of chip generates, that one: maps[1]. False:
 * replicas have no room as they lie, or memory is out. */
static bool lay_out(const RlQuestion *question, const RlStep *step, Arena *arena, ChipMap maps[2]) {
    const ServingQuestion *serving = &question->serving.question;
    bool apart = question->rollout_only > 0, shares = step->way == RL_COLOCATED;
    const Mesh *mesh = &question->machine.mesh, *other = &serving->machine.mesh;
    int64_t per_chip = mesh->devices / max_whole(1, mesh->chips), host = max_whole(1, question->chip.chips_per_host);
    int64_t own = min_whole(step->train_chips * per_chip, mesh->devices);
    int32_t *train = nobody(mesh, arena), *rollout = shares || apart ? nobody(other, arena) : train;
    ServingPoint point = {.pool_count = 1};
    if (!train || !rollout) return false;
    for (int64_t d = 0; d < own; d++) train[d] = 0;
    point.pools[0] = (ServingPool){.on = step->rollout.layout->on, .workers = step->rollout.replicas};
    if (!workers_hold(serving, &point, !apart, arena, rollout)) return false;
    for (int64_t d = step->trainer.plan->machine.mesh.devices; d < own; d++) train[d] = -1; /* these idle */
    maps[0] = (ChipMap){.mesh = mesh, .host = host * per_chip, .group = {train, shares ? rollout : NULL}};
    maps[1] = (ChipMap){.mesh = other, .host = devices_of_host(serving), .group = {rollout, NULL}};
    return true;
}

static void draw(const RlStep *step, const ChipMap *maps, int count, FILE *out, const char *words) {
    enum { HEADING = 22 };
    ServingPool pool = {.on = step->rollout.layout->on};
    MeshRoles roles = ranked_roles(step->trainer.plan);
    double y = 10, height = y + HEADING + mesh_roles_height(&roles) + pool_rows_height(&pool) + 4;
    for (int i = 0; i < count; i++) height += chip_map_height(&maps[i]) + HEADING * i;
    Svg svg = svg_open(out, "mesh-svg", SVG_PANEL, height, "The machine: which chips do what", words);
    for (int i = 0; i < count; i++) {
        if (i > 0) svg_text(&svg, 4, y + 12, "start", "head", "Chips that generate"), y += HEADING;
        chip_map_draw(&svg, &maps[i], y);
        y += chip_map_height(&maps[i]);
    }
    svg_text(&svg, 4, y + 12, "start", "head", "Within the trainer");
    mesh_roles_draw(&svg, &roles, y + HEADING);
    pool_rows_draw(&svg, &pool, "Within a replica that generates", y + HEADING + mesh_roles_height(&roles));
    svg_close(&svg);
}

bool rl_draw_map(const RlQuestion *question, const RlStep *step, Arena *arena, FILE *out, Prose *words, Table *table) {
    bool apart = question->rollout_only > 0;
    ServingPool pool = {.on = step->rollout.layout->on};
    ChipMap maps[2];
    Prose train = {.used = 0}, rollout = {.used = 0}, cut = {.used = 0};
    char way[RL_WORDS_SIZE], split[RL_WORDS_SIZE];
    if (!lay_out(question, step, arena, maps)) return false;
    ChipKind kinds[] = {
        {tasks(question, step, true, &train), trainer_words(&step->trainer, way), PAINT_BACKWARD, 1},
        {tasks(question, step, false, &rollout), pool_cut(&pool, &cut), PAINT_MATMUL, step->rollout.replicas}};
    prose_add(words, "%s. The trainer's chips: %s; those of %lld replica%s: %s.", split_words(step, split),
              kinds[0].name, (long long)step->rollout.replicas, step->rollout.replicas > 1 ? "s" : "", kinds[1].name);
    prose_add(words, step->way == RL_COLOCATED ? " A cell is a chip: above it trains, below it generates."
                                               : " Each cell is a chip.");
    *table = table_new(arena, "Which chips do what", CHIP_MAP_COLUMNS);
    maps[0].kinds[0] = kinds[0], maps[0].kinds[1] = maps[1].kinds[0] = kinds[1];
    maps[0].kind_count = apart ? 1 : 2, maps[1].kind_count = 1;
    for (int i = 0; i <= apart; i++)
        if (!chip_map_list(&maps[i], arena, table)) return table->failed = true;
    draw(step, maps, apart ? 2 : 1, out, words->text);
    return true;
}
