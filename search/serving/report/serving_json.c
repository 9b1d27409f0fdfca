/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The answer as JSON: the contract's keys, and what else a program may want. */
#include "base/json.h"
#include "search/serving/report/serving_report.h"

#include <math.h>

static void add_step(cJSON *to, const StepCost *step) {
    cJSON *json = json_add_object(to, "step");
    json_add_real(json, "seconds", step->seconds);
    cJSON *terms = json_add_object(json, "terms_seconds");
    for (int term = 0; term < STEP_TERMS; term++)
        json_add_real(terms, step_term_name((StepTerm)term), step->terms[term]);
    json_add_text(json, "bound_by", held_by_name(step_held_by(step)));
}

static void add_memory(cJSON *to, const WorkerMemory *memory) {
    cJSON *json = json_add_object(to, "memory");
    json_add_real(json, "limit_bytes", memory->limit_bytes);
    json_add_real(json, "total_bytes", worker_memory_total(memory));
    json_add_real(json, "weights_bytes", memory->weights_bytes);
    json_add_real(json, "kv_bytes", memory->kv_bytes);
    json_add_real(json, "activations_bytes", memory->activations_bytes);
    json_add_real(json, "workspace_bytes", memory->workspace_bytes);
}

static void add_placement(cJSON *to, const ServingLayout *on) {
    static const struct {
        Role role;
        const char *name;
    } ROLES[] = {{ROLE_TENSOR, "tensor"}, {ROLE_EXPERT, "attention_data"}, {ROLE_PIPELINE, "pipeline"}};
    cJSON *list = json_add_array(to, "placement");
    for (int a = 0; a < on->submesh->mesh.axis_count; a++)
        for (size_t r = 0; r < sizeof ROLES / sizeof ROLES[0]; r++) {
            if (on->placement.factor[a][ROLES[r].role] <= 1) continue;
            cJSON *one = json_add_object(list, NULL);
            json_add_text(one, "axis", on->submesh->mesh.axes[a].name);
            json_add_text(one, "role", ROLES[r].name);
            json_add_whole(one, "factor", on->placement.factor[a][ROLES[r].role]);
        }
}

static void add_pool(cJSON *to, const ServingQuestion *question, const ServingPool *pool) {
    static const char *const PHASES[] = {"both", "prefill", "decode"};
    const WorkerLayout *layout = &pool->on.layout;
    cJSON *json = json_add_object(to, NULL), *axes;
    char words[ENGINE_LINE_SIZE];
    json_add_text(json, "phase", PHASES[pool->phase]);
    json_add_whole(json, "workers", pool->workers);
    if (question && pool_launch(question, pool, words)[0]) json_add_text(json, "words", words);
    axes = json_add_object(json, "axes");
    json_add_whole(axes, "tensor", layout->tensor);
    json_add_whole(axes, "pipeline", layout->pipeline);
    json_add_whole(axes, "attention_data", layout->attention_data);
    json_add_whole(axes, "expert", layout->expert);
    json_add_whole(axes, "expert_tensor", layout->expert_tensor);
    json_add_whole(axes, "kv_sequence", layout->kv_sequence);
    json_add_whole(axes, "kv_batch", layout->kv_batch);
    add_placement(json, &pool->on);
    json_add_whole(json_add_object(json, "knobs"), "stationary", layout->stationary);
    json_add_text(json, "precision", stored_name(layout->weights));
    json_add_text(json, "kv_dtype", stored_name(layout->cache));
    json_add_whole(json, "batch", pool->batch);
    json_add_whole(json, "tokens_per_step", pool->step_tokens);
    add_step(json, &pool->step);
    add_memory(json, &pool->memory);
}

static void add_launchers(cJSON *json, const ServingReport *report, const ServingPoint *point) {
    EngineSet takers = point_launchable_by(report->question, point);
    cJSON *list = json_add_array(json, "launchable_by");
    for (int e = 0; e < engine_count(); e++)
        if (takers >> e & 1) json_add_text(list, NULL, engine_at(e)->name);
}

void serving_add_point(cJSON *to, const char *key, const ServingReport *report, const ServingPoint *point, int rank) {
    cJSON *json = json_add_object(to, key), *pools;
    const Field *next = POINT_FIELDS;
    PointRecord record;
    point_record(report, point, rank, &record);
    fields_add_json(json, &next, "ttft_seconds", &record);
    pools = json_add_array(json, "pools");
    for (int i = 0; i < point->pool_count; i++) add_pool(pools, rank == 0 ? report->question : NULL, &point->pools[i]);
    fields_add_json(json, &next, NULL, &record);
    add_launchers(json, report, point);
}

static void add_types(cJSON *to, const char *key, const StoredType *types, int count) {
    char text[64] = "";
    size_t used = 0;
    for (int i = 0; i < count; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i ? "," : "", stored_name(types[i]));
    json_add_text(to, key, text);
}

static void add_request(cJSON *json, const ServingReport *report) {
    const ServingQuestion *q = report->question;
    cJSON *request = json_add_object(json, "request");
    char words[256] = "";
    size_t used = 0;
    json_add_text(request, "command", "inference");
    json_add_text(request, "model", report->model);
    json_add_text(request, "chip", q->chip.name);
    json_add_text(request, "machine", report->machine);
    json_add_real(request, "prompt", q->request.prompt);
    json_add_real(request, "output", q->request.output);
    if (report->lengths) json_add_text(request, "lengths", report->lengths);
    json_add_real(request, "cached", q->request.cached);
    if (q->ttft_limit_seconds > 0) json_add_real(request, "ttft", q->ttft_limit_seconds);
    if (q->tpot_limit_seconds > 0) json_add_real(request, "tpot", q->tpot_limit_seconds);
    if (q->rate > 0) json_add_real(request, "rate", q->rate);
    if (q->concurrency > 0) json_add_whole(request, "concurrency", q->concurrency);
    if (q->requests > 0) json_add_whole(request, "requests", q->requests);
    if (q->speculation.drafts > 0) {
        cJSON *speculate = json_add_object(request, "speculate");
        json_add_whole(speculate, "drafts", q->speculation.drafts);
        json_add_real(speculate, "acceptance", q->speculation.acceptance);
    }
    if (q->adapters.count > 0) {
        cJSON *adapters = json_add_object(request, "adapters");
        json_add_whole(adapters, "count", q->adapters.count);
        json_add_whole(adapters, "rank", q->adapters.rank);
    }
    if (q->prefixes.count > 0) {
        cJSON *prefixes = json_add_object(request, "prefixes");
        json_add_real(prefixes, "count", q->prefixes.count);
        json_add_real(prefixes, "host_bytes", q->prefixes.host_bytes);
    }
    for (int e = 0; e < engine_count() && !q->any_engine; e++)
        if (q->engines >> e & 1)
            used += (size_t)snprintf(words + used, sizeof words - used, "%s%s", used ? "," : "", engine_at(e)->name);
    json_add_text(request, "engine", q->any_engine ? "any" : words);
    cJSON *modes = json_add_array(request, "modes");
    for (int mode = 0; mode < SERVE_MODE_COUNT; mode++)
        if (q->modes >> mode & 1) json_add_text(modes, NULL, serving_mode_name((ServingMode)mode));
    add_types(request, "precision", q->weights, q->weights_count);
    add_types(request, "kv_dtype", q->caches, q->caches_count);
    json_add_text(request, "objective", serving_objective_name(q->objective));
    cJSON *require = json_add_array(request, "require");
    for (int i = 0; i < q->requirement_count; i++) {
        static const char *const SIGNS[] = {"<=", "=", ">="};
        snprintf(words, sizeof words, "%s%s%lld", layout_word_name(q->requirements[i].word),
                 SIGNS[q->requirements[i].sign + 1], (long long)q->requirements[i].value);
        json_add_text(require, NULL, words);
    }
    json_add_text(request, "profile", report->profile);
    cJSON *options = json_add_object(request, "options");
    for (int i = 0; i < report->said_count; i++) {
        const ServingSaid *said = &report->said[i];
        json_add_text(options, said->key ? said->key : said->option, said->value);
    }
}

static void add_mesh(cJSON *json, const ServingQuestion *q) {
    cJSON *mesh = json_add_object(json, "mesh"), *axes;
    json_add_text(mesh, "chip", q->chip.name);
    json_add_whole(mesh, "chips", q->machine.mesh.chips);
    json_add_whole(mesh, "devices", q->machine.mesh.devices);
    axes = json_add_array(mesh, "axes");
    for (int a = 0; a < q->machine.mesh.axis_count; a++) {
        const Axis *axis = &q->machine.mesh.axes[a];
        cJSON *one = json_add_object(axes, NULL);
        json_add_text(one, "name", axis->name);
        json_add_whole(one, "size", axis->size);
        json_add_text(one, "kind", axis_kind_name(axis->kind));
        json_add_real(one, "bytes_per_second", axis->bytes_per_second);
        json_add_real(one, "latency_seconds", axis->latency_seconds);
    }
}

static void add_search(cJSON *json, const char *key, const ServingCount *count) {
    cJSON *search = json_add_object(json, key), *excluded, *cut;
    json_add_count(search, "layouts", count->space.layouts);
    excluded = json_add_object(search, "layouts_left_out");
    for (int i = 0; i < EXCLUDED_COUNT; i++)
        json_add_count(excluded, exclusion_name((Exclusion)i), count->space.excluded[i]);
    json_add_count(search, "points_covered", count->covered);
    json_add_count(search, "points_evaluated", count->evaluated);
    cut = json_add_object(search, "points_pruned");
    for (int i = 0; i < CUT_COUNT; i++)
        if (count->cut[i] > 0) json_add_count(cut, cut_reason_name((CutReason)i), count->cut[i]);
    json_add_count(search, "pairs_combined", count->pairs);
    json_add_text(search, "proof", count->complete ? "optimal" : "gap");
}

/* How far the best so far can be from the best of all. */
static void add_gap(cJSON *search, const ServingAnswer *answer) {
    if (answer->count.complete) {
        json_add_real(search, "gap", 0);
        return;
    }
    json_add_real(search, "gap", answer->gap < INFINITY ? answer->gap : NAN);
    json_add_real(search, "best_bound_tokens_per_second_per_chip", answer->upper_bound.per_chip);
    json_add_real(search, "best_bound_tokens_per_second_per_user", answer->upper_bound.per_user);
}

static void add_physical(cJSON *json, const ServingReport *report) {
    const ServingAnswer *answer = report->answer;
    if (answer->physical.count == 0) return;
    cJSON *physical = json_add_object(json, "physical"), *points;
    add_search(physical, "search", &answer->physical_count);
    points = json_add_array(physical, "front");
    for (int i = 0; i < answer->physical.count && (report->top == 0 || i < report->top); i++)
        serving_add_point(points, NULL, report, &answer->physical.points[i], i + 1);
}

static void add_nearest_run(cJSON *json, const ServingNearest *run) {
    if (!run->id) return;
    cJSON *one = json_add_object(json, "measured");
    json_add_text(one, "id", run->id);
    json_add_text(one, "source", run->source);
    json_add_text(one, "model", run->model);
    json_add_text(one, "engine", run->engine);
    json_add_text(one, "layout", run->layout);
    json_add_whole(one, "chips", run->chips);
    json_add_real(one, "prompt", run->prompt);
    json_add_real(one, "output", run->output);
    json_add_real(one, "concurrency", run->concurrency);
    json_add_real(one, "tpot_measured_seconds", run->tpot_seconds > 0 ? run->tpot_seconds : NAN);
    json_add_real(one, "output_tokens_per_second_measured", run->rate > 0 ? run->rate : NAN);
    json_add_real(one, "output_tokens_per_second_predicted", run->predicted_rate > 0 ? run->predicted_rate : NAN);
    json_add_bool(one, "drafts_unknown", run->drafts_unknown);
    json_add_real(one, "tpot_predicted_seconds", run->predicted_seconds > 0 ? run->predicted_seconds : NAN);
}

static void add_published(cJSON *json, const ServingReport *report) {
    cJSON *list = report->published_count > 0 ? json_add_array(json, "published") : NULL;
    for (int i = 0; i < report->published_count; i++) {
        const ServingPublished *from = &report->published[i];
        cJSON *one = json_add_object(list, NULL);
        bool priced = from->per_chip > 0;
        json_add_text(one, "id", from->id);
        json_add_text(one, "source", from->source);
        json_add_text(one, "engine", from->engine);
        json_add_text(one, "layout", from->layout);
        json_add_whole(one, "chips", from->chips);
        json_add_bool(one, "fits", from->fits);
        json_add_real(one, "tokens_per_second_per_chip", priced ? from->per_chip : NAN);
        json_add_real(one, "tpot_seconds", priced ? from->tpot_seconds : NAN);
        json_add_real(one, "ttft_seconds", priced ? from->ttft_seconds : NAN);
        json_add_real(one, "concurrency", priced ? from->concurrency : NAN);
    }
}

static void add_day(cJSON *json, const ServingDay *day) {
    char text[POINT_TEXT_SIZE];
    if (!day || day->count == 0) return;
    cJSON *own = json_add_object(json, "day");
    json_add_text(own, "notation", day->point ? point_notation(day->point, text) : "");
    json_add_whole(own, "replica_chips", day->replica_chips);
    json_add_real(own, "replica_requests_per_second", day->replica_rate);
    json_add_real(own, "chip_hours", day->chip_hours);
    json_add_real(own, "peak_chip_hours", day->peak_chip_hours);
    cJSON *hours = json_add_array(own, "hours");
    for (int i = 0; i < day->count; i++) {
        cJSON *hour = json_add_object(hours, NULL);
        json_add_text(hour, "hour", day->hours[i].label);
        json_add_real(hour, "requests_per_second", day->hours[i].rate);
        json_add_whole(hour, "replicas", day->hours[i].replicas);
    }
}

cJSON *serving_json(const ServingReport *report) {
    const ServingAnswer *answer = report->answer;
    const ServingQuestion *q = report->question;
    cJSON *json = cJSON_CreateObject(), *program, *model, *front;
    if (!json) return NULL;
    json_add_whole(json, "format_version", 1);
    program = json_add_object(json, "program");
    json_add_text(program, "version", report->version);
    json_add_text(program, "data_sha256", report->data_sha256);
    json_add_text(program, "profile", q->profiles[NO_ENGINE].name);
    json_add_text(program, "profile_sha256", report->profile_sha256);
    add_request(json, report);
    model = json_add_object(json, "model");
    json_add_text(model, "name", q->model.name);
    add_mesh(json, q);
    add_search(json, "search", &answer->count);
    add_gap(cJSON_GetObjectItemCaseSensitive(json, "search"), answer);
    front = json_add_array(json, "front");
    for (int i = 0; i < answer->front.count && (report->top == 0 || i < report->top); i++)
        serving_add_point(front, NULL, report, &answer->front.points[i], i + 1);
    int best = answer_best_rank(q, answer);
    if (best > 0)
        json_add_whole(json, "best", best);
    else
        cJSON_AddNullToObject(json, "best");
    if (answer->has_best) serving_add_point(json, "best_point", report, &answer->best, 0);
    json_add_bool(json, "best_with_margin", answer->with_margin);
    if (answer->has_nearest) serving_add_point(json, "nearest", report, &answer->nearest, 0);
    if (answer->has_usual) serving_add_point(json, "usual", report, &answer->usual, 0);
    add_day(json, report->day);
    add_nearest_run(json, &report->nearest);
    add_published(json, report);
    add_physical(json, report);
    return json;
}
