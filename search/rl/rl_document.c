/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of the answer's document that people read: its words, the best step in time, the HBM of a trainer,
 * and which chips train, which generate, what else runs on them. */
#include "base/json.h"
#include "base/memory_stream.h"
#include "base/text/page.h"
#include "base/util.h"
#include "search/answer/plan_words.h"
#include "search/report/json/timeline.h"
#include "search/report/text/parts.h"
#include "search/rl/rl_report.h"
#include "search/serving/places.h"
#include "search/serving/report/serving_report.h"

#include <stdlib.h>

static bool add_words(cJSON *to, const RlQuestion *question, const RlAnswer *answer, const Recipes *recipes,
                      Error *error) {
    char title[WORDS_SIZE + 256], name[PROSE_NAME_SIZE], machine[WORDS_SIZE], split[RL_WORDS_SIZE], *text = NULL;
    size_t length = 0;
    FILE *memory = memory_stream_open(&text, &length);
    if (!memory) return error_memory(error);
    snprintf(title, sizeof title, "%s of %s on %s", question->algorithm->title, clean_name(question->model.name, name),
             machine_of(&question->chip, question->machine.text, 0, machine));
    bool ok = rl_write_text(question, answer, recipes, (TextOut){.file = memory}, error);
    ok = fclose(memory) == 0 && ok && text;
    cJSON *json = ok ? json_add_object(to, "words") : NULL;
    ok = json_add_text(json, "title", title) && json_add_text(json, "text", text) &&
         json_add_real(json, "likely_error", question->profile.likely_error) &&
         (!(question->chip.usd_per_chip_hour.value > 0) ||
          json_add_real(json, "usd_per_chip_hour", question->chip.usd_per_chip_hour.value)) &&
         (!answer->found || json_add_text(json, "split", split_words(&answer->best[answer->first], split)));
    free(text);
    return ok || error_memory(error);
}

/* ---- a step in time ---- */

typedef struct {
    BarRows bars;
    double at; /* where the next bar begins: seconds */
} Lane;

static void next(Lane *on, const char *name, double seconds, const char *of) {
    if (!(seconds > 0)) return;
    bars_add(&on->bars, name, of, on->at, on->at + seconds, 0);
    on->at += seconds;
}

static void add_generation(Lane *on, const RlStep *step) {
    double tail = min_real(step->rollout.tail_seconds, step->phases[RL_GENERATION]);
    next(on, "generation", step->phases[RL_GENERATION] - tail, "matmul");
    next(on, "last tenth", tail, "attention");
    next(on, rl_phase_words(RL_REWARD), step->rollout_side - step->phases[RL_GENERATION], "forward");
}

static void add_training(Lane *on, const RlStep *step) {
    for (int phase = 0; phase < RL_PHASES; phase++) {
        bool train = phase == RL_TRAINING || phase == RL_CRITIC, moves = phase == RL_LOAD || phase == RL_OTHER;
        bool there = phase == RL_REWARD && step->rollout_side > step->phases[RL_GENERATION];
        if (phase == RL_GENERATION || phase == RL_TRANSFER || there) continue;
        next(on, rl_phase_words((RlPhase)phase), step->phases[phase], train ? "backward" : moves ? "other" : "forward");
    }
}

/* Until both pools take the weights. */
static void add_end(Lane *on, const RlStep *step) {
    double from = step->seconds - step->phases[RL_TRANSFER];
    next(on, "waits", from - on->at > 1e-9 * from ? from - on->at : 0, "waits");
    next(on, rl_phase_words(RL_TRANSFER), step->phases[RL_TRANSFER], "pipeline");
}

static bool add_timeline(cJSON *to, const RlStep *step) {
    bool shared = step->way == RL_COLOCATED, lags = rl_way_lags(step->way);
    cJSON *json = json_add_object(to, "timeline");
    Lane on = {bars_begin(json), 0};
    bars_row(&on.bars, shared ? "all chips" : "rollout");
    add_generation(&on, step);
    double generated = on.at;
    if (!shared) {
        add_end(&on, step);
        bars_row(&on.bars, "trainer");
        on.at = 0;
        if (!lags) next(&on, "waits", generated, "waits");
    }
    add_training(&on, step);
    add_end(&on, step);
    return on.bars.ok && json_add_real(json, "step_seconds", step->seconds) && json_add_bool(json, "overlaps", lags);
}

/* ---- which chips do what ---- */

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
    maps[0] = (ChipMap){
        .name = "the machine", .mesh = mesh, .host = host * per_chip, .group = {train, shares ? rollout : NULL}};
    maps[1] = (ChipMap){
        .name = "chips that generate", .mesh = other, .host = devices_of_host(serving), .group = {rollout, NULL}};
    return true;
}

static bool add_places(cJSON *to, const RlQuestion *question, const RlStep *step, Arena *arena) {
    bool apart = question->rollout_only > 0;
    ServingPool pool = {.on = step->rollout.layout->on};
    ChipMap maps[2];
    Prose train = {.used = 0}, rollout = {.used = 0}, cut = {.used = 0}, experts = {.used = 0};
    char way[RL_WORDS_SIZE];
    if (!lay_out(question, step, arena, maps)) return true;
    ChipKind kinds[] = {
        {tasks(question, step, true, &train), trainer_words(&step->trainer, way), "backward", 1},
        {tasks(question, step, false, &rollout), pool_cut(&pool, &cut), "matmul", step->rollout.replicas}};
    maps[0].kinds[0] = kinds[0], maps[0].kinds[1] = maps[1].kinds[0] = kinds[1];
    maps[0].kind_count = apart ? 1 : 2, maps[1].kind_count = 1;
    cJSON *json = json_add_object(to, "places"), *list = json_add_array(json, "maps");
    bool ok = list != NULL;
    for (int i = 0; i <= apart && ok; i++) ok = chip_map_add_json(list, &maps[i]);
    cJSON *within = ok ? json_add_array(json, "within") : NULL;
    MeshRoles trainer = ranked_roles(step->trainer.plan), replica = pool_roles(&pool);
    return within && mesh_roles_add_json(within, "Within the trainer", "", &trainer) &&
           mesh_roles_add_json(within, "Within a replica that generates", pool_experts(&pool, &experts), &replica);
}

/* ---- all of it ---- */

static bool add_best(cJSON *to, const RlQuestion *question, const RlStep *step, Arena *arena) {
    const Estimate *trainer = &step->trainer.plan->estimate;
    return add_timeline(to, step) &&
           memory_add_json(to, "trainer_memory", &trainer->memory, trainer->memory_limit_bytes, 0) &&
           add_places(to, question, step, arena);
}

cJSON *rl_document(const RlQuestion *question, const RlAnswer *answer, const Recipes *recipes, Error *error) {
    Arena arena = {0};
    cJSON *json = rl_json(question, answer, recipes);
    bool ok = json && (!answer->found || add_best(json, question, &answer->best[answer->first], &arena));
    ok = ok ? add_words(json, question, answer, recipes, error) : error_memory(error);
    arena_free(&arena);
    if (ok) return json;
    cJSON_Delete(json);
    return NULL;
}

/* What a decision needs, of the best of three ways. */
static const char *const BRIEF[] = {"steps.way",
                                    "steps.train_chips",
                                    "steps.rollout_chips",
                                    "steps.lag",
                                    "steps.words",
                                    "steps.seconds",
                                    "steps.tokens_per_hour",
                                    "steps.usd",
                                    "steps.trainer.notation",
                                    "steps.rollout.engine",
                                    "steps.rollout.notation",
                                    "steps.rollout.replicas",
                                    "goodput",
                                    NULL};

bool rl_write_json(const RlQuestion *question, const RlAnswer *answer, const Recipes *recipes, FILE *out,
                   Error *error) {
    cJSON *json = recipes ? rl_document(question, answer, recipes, error) : rl_json(question, answer, NULL);
    bool ok = !json ? error->kind == ERROR_NONE && error_memory(error)
                    : (recipes ? json_print(out, json) : json_print_kept(out, json, BRIEF, 3));
    cJSON_Delete(json);
    return ok;
}

bool rl_write_html(const RlQuestion *question, const RlAnswer *answer, const Recipes *recipes, FILE *out,
                   Error *error) {
    cJSON *json = rl_document(question, answer, recipes, error);
    bool ok = json && page_write(json, out, error);
    cJSON_Delete(json);
    return ok;
}
