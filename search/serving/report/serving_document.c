/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of the answer's document that people read: its words, the points that are shown, one request and one step
 * in time, throughput against batch and context, and which chips hold which worker of the best point. */
#include "base/json.h"
#include "base/memory_stream.h"
#include "base/text/page.h"
#include "base/util.h"
#include "search/answer/plan_words.h"
#include "search/serving/places.h"
#include "search/serving/report/serving_report.h"

#include <math.h>
#include <stdlib.h>

static bool add_words(cJSON *to, const ServingReport *report, Error *error) {
    const ServingQuestion *q = report->question;
    const ServingProfile *profile = &q->profiles[NO_ENGINE];
    char title[WORDS_SIZE + 256], name[PROSE_NAME_SIZE], machine[WORDS_SIZE], clean[SERVING_SOURCE_SIZE], *text = NULL;
    size_t length = 0;
    FILE *memory = memory_stream_open(&text, &length);
    if (!memory) return error_memory(error);
    snprintf(title, sizeof title, "%s on %s", clean_name(q->model.name, name),
             machine_of(&q->chip, q->machine.text, 0, machine));
    bool ok = serving_write_text(report, (TextOut){.file = memory}, error);
    ok = fclose(memory) == 0 && ok && text;
    cJSON *json = ok ? json_add_object(to, "words") : NULL;
    ok = json_add_text(json, "title", title) && json_add_text(json, "text", text) &&
         json_add_text(json, "profile_source", clean_text(profile->source, clean, sizeof clean));
    if (ok && report->answer->has_best) {
        const ServingPoint *best = &report->answer->best;
        double factor = report->answer->likely_factor;
        ok = json_add_text(json, "engine", point_engine(best)) &&
             (!(factor > 1) || json_add_real(json, "likely_factor", factor)) &&
             (!(q->chip.usd_per_chip_hour.value > 0) ||
              json_add_real(json, "usd_per_chip_hour", q->chip.usd_per_chip_hour.value));
    }
    free(text);
    return ok || error_memory(error);
}

static bool add_shown(cJSON *to, const ServingReport *report) {
    cJSON *list = json_add_array(to, "shown");
    bool ok = list != NULL;
    for (int i = 0; i < report_points(report) && ok; i++) {
        const char *kind;
        const ServingPoint *point = report_point(report, i, &kind);
        cJSON *json = json_add_object(list, NULL);
        ok = json_add_text(json, "kind", kind) && json_add_text(json, "engine", point_engine(point));
        if (ok) serving_add_point(json, "point", report, point, -1);
        cJSON *pools = ok ? json_add_array(json, "pools") : NULL;
        for (int p = 0; p < point->pool_count && pools; p++) {
            char way[POOL_TEXT_SIZE];
            ok = json_add_text(pools, NULL, pool_notation(&point->pools[p], way)) && ok;
        }
    }
    return ok;
}

/* ---- in time ---- */

static bool add_times(cJSON *to, const ServingReport *report) {
    const ServingQuestion *question = report->question;
    const ServingPoint *best = &report->answer->best;
    if (!report->answer->has_best) return true;
    FirstTokenParts parts = point_first_token_parts(question, best);
    cJSON *json = json_add_object(to, "request_seconds");
    return json_add_real(json, "queue", parts.queue) && json_add_real(json, "prefill", parts.prompt) &&
           json_add_real(json, "cache_moves", parts.transfer) &&
           json_add_real(json, best->pool_count > 1 ? "handing_over" : "host", parts.hand_over) &&
           json_add_real(json, "decode", (question->request.output - 1) * best->tpot_seconds);
}

/* ---- against batch and context ---- */

enum { CONTEXTS = 4, BATCHES_MAX = 17 };

/* Powers of two as far as there is room, and the last batch of all. */
static bool add_curve(cJSON *list, const ServingQuestion *requested, const ServingPool *pool, double prompt) {
    ServingMode mode = pool->phase == PHASE_BOTH ? SERVE_AGGREGATED : SERVE_DECODE;
    ServingQuestion question = *requested;
    PricedLayout layout;
    WorkerLinks links;
    question.rate = 0;
    question.concurrency = 0;
    question_lengths(&question, prompt, requested->request.output);
    layout_links(&question, &pool->on, &links);
    price_layout(&question, &pool->on, &links, &layout);
    int64_t room = layout_room(&layout.memory, mode == SERVE_AGGREGATED ? question.budgets[0] : 1);
    double chips = (double)pool->on.submesh->devices / max_real(1, (double)question.chip.devices_per_chip);
    cJSON *json = json_add_object(list, NULL), *batches = json_add_array(json, "batch"),
          *rates = json_add_array(json, "tokens_per_second_per_chip"), *times = json_add_array(json, "tpot_seconds");
    bool ok = json_add_real(json, "prompt", prompt) && times;
    int count = 0;
    for (int64_t batch = 1; room > 0 && count < BATCHES_MAX && ok; batch *= 2, count++) {
        ServingPoint point;
        int64_t tried = min_whole(batch, room);
        point_of_batch(&question, &layout, tried, mode, &point);
        ok = json_add_whole(batches, NULL, tried) &&
             json_add_real(rates, NULL, (double)tried * point.per_user / chips) &&
             json_add_real(times, NULL, point.tpot_seconds);
        if (tried == room) break;
    }
    return ok;
}

/* One worker in the layout of the best point, steady. */
static bool add_throughput(cJSON *to, const ServingReport *report) {
    static const double FACTORS[CONTEXTS] = {0.25, 1, 4, 16};
    const ServingAnswer *answer = report->answer;
    if (answer->front.count == 0 || report->question->modes == 1u << SERVE_PREFILL) return true;
    const ServingPoint *point = answer->has_best ? &answer->best : &answer->front.points[answer->front.count - 1];
    const ServingPool *pool = &point->pools[point->pool_count - 1];
    char way[POOL_TEXT_SIZE];
    cJSON *json = json_add_object(to, "throughput");
    bool ok = json_add_text(json, "worker", pool_notation(pool, way));
    cJSON *list = json_add_array(json, "curves");
    for (int c = 0; c < CONTEXTS && ok && list; c++)
        ok = add_curve(list, report->question, pool, max_real(1, floor(report->question->request.prompt * FACTORS[c])));
    return ok && list;
}

/* ---- which chips hold what ---- */

MeshRoles pool_roles(const ServingPool *pool) {
    static const char *const WORDS[ROLE_COUNT] = {[ROLE_EXPERT] = "attention_data"};
    return (MeshRoles){&pool->on.submesh->mesh, &pool->on.placement, nesting_canonical(), WORDS};
}

const char *pool_experts(const ServingPool *pool, Prose *out) {
    const WorkerLayout *layout = &pool->on.layout;
    if (layout->expert * layout->expert_tensor <= 1) return out->text;
    prose_add(out, "experts %lld ways", (long long)layout->expert);
    if (layout->expert_tensor > 1) prose_add(out, ", each cut in %lld", (long long)layout->expert_tensor);
    return out->text;
}

const char *pool_cut(const ServingPool *pool, Prose *out) {
    MeshRoles roles = pool_roles(pool);
    Prose experts = {.used = 0};
    for (int a = 0; a < roles.mesh->axis_count; a++) {
        prose_add(out, "%s%s: ", out->used ? "; " : "", roles.mesh->axes[a].name);
        mesh_roles_list(&roles, a, out);
    }
    if (pool_experts(pool, &experts)[0]) prose_add(out, "; %s", experts.text);
    if (!out->used) prose_add(out, "one device");
    return out->text;
}

static const struct {
    const char *name, *heading, *of;
} PHASES[] = {{"worker", "Within a worker", "matmul"},
              {"prefill worker", "Within a prefill worker", "forward"},
              {"decode worker", "Within a decode worker", "backward"}};

static bool add_places(cJSON *to, const ServingReport *report, Arena *arena) {
    const ServingQuestion *question = report->question;
    const ServingPoint *best = &report->answer->best;
    const Mesh *mesh = &question->machine.mesh;
    int32_t *holder = ARENA_NEW(arena, int32_t, (size_t)mesh->devices);
    ChipMap map = {.name = "the machine", .mesh = mesh, .host = devices_of_host(question), .group = {holder, NULL}};
    Prose cuts[2] = {{.used = 0}, {.used = 0}};
    if (!holder) return false;
    for (int64_t d = 0; d < mesh->devices; d++) holder[d] = -1;
    if (!report->answer->has_best || !workers_hold(question, best, 0, arena, holder)) return true;
    for (map.kind_count = 0; map.kind_count < best->pool_count; map.kind_count++) {
        const ServingPool *pool = &best->pools[map.kind_count];
        map.kinds[map.kind_count] = (ChipKind){PHASES[pool->phase].name, pool_cut(pool, &cuts[map.kind_count]),
                                               PHASES[pool->phase].of, pool->workers};
    }
    cJSON *json = json_add_object(to, "places"), *maps = json_add_array(json, "maps");
    bool ok = maps && chip_map_add_json(maps, &map);
    cJSON *within = ok ? json_add_array(json, "within") : NULL;
    for (int i = 0; i < best->pool_count && ok; i++) {
        MeshRoles roles = pool_roles(&best->pools[i]);
        Prose experts = {.used = 0};
        ok = within && mesh_roles_add_json(within, PHASES[best->pools[i].phase].heading,
                                           pool_experts(&best->pools[i], &experts), &roles);
    }
    return ok;
}

cJSON *serving_document(const ServingReport *report, Error *error) {
    Arena arena = {0};
    cJSON *json = serving_json(report);
    bool ok = json && add_shown(json, report) && add_times(json, report) && add_throughput(json, report) &&
              add_places(json, report, &arena);
    ok = ok ? add_words(json, report, error) : error_memory(error);
    arena_free(&arena);
    if (ok) return json;
    cJSON_Delete(json);
    return NULL;
}

/* What a decision needs. */
static const char *const BRIEF[] = {"search.proof",
                                    "search.gap",
                                    "best_point.notation",
                                    "best_point.engine",
                                    "best_point.chips_used",
                                    "best_point.pools.workers",
                                    "best_point.pools.words",
                                    "best_point.ttft_seconds",
                                    "best_point.tpot_seconds",
                                    "best_point.likely",
                                    "best_point.tokens_per_second",
                                    "best_point.tokens_per_second_per_user",
                                    "best_point.tokens_per_second_per_chip",
                                    "best_point.concurrency",
                                    "best_point.cost_usd_per_million_output_tokens",
                                    "best_with_margin",
                                    "nearest.notation",
                                    "nearest.ttft_seconds",
                                    "nearest.tpot_seconds",
                                    NULL};

bool serving_write_json(const ServingReport *report, bool brief, FILE *out, Error *error) {
    cJSON *json = brief ? serving_json(report) : serving_document(report, error);
    if (!json) return error->kind != ERROR_NONE ? false : error_memory(error);
    bool ok = (brief ? json_print_kept(out, json, BRIEF, 3) : json_print(out, json));
    cJSON_Delete(json);
    return ok || error_memory(error);
}

/* Of the fronts a page shows their rates; pools are those of the points that are shown. */
static void leave_out_pools(cJSON *front) {
    cJSON *point;
    cJSON_ArrayForEach(point, front) cJSON_DeleteItemFromObjectCaseSensitive(point, "pools");
}

bool serving_write_html(const ServingReport *report, FILE *out, Error *error) {
    cJSON *json = serving_document(report, error);
    if (!json) return false;
    leave_out_pools(cJSON_GetObjectItemCaseSensitive(json, "front"));
    leave_out_pools(cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(json, "physical"), "front"));
    bool ok = page_write(json, out, error);
    cJSON_Delete(json);
    return ok;
}
