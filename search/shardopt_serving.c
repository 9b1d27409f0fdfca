/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The public door to serving. Nothing here is shared between two calls. */
#include "base/arena.h"
#include "base/clock.h"
#include "base/locale.h"
#include "base/memory_stream.h"
#include "base/util.h"
#include "search/serving/options/served.h"
#include "search/shardopt_inside.h"

struct shardopt_serving_request {
    char *text[OPTION_COUNT]; /* NULL means not set */
};

struct shardopt_front {
    Arena arena;
    Served served;
    shardopt_hooks hooks;
};

shardopt_serving_request *shardopt_serving_request_new(void) { return calloc(1, sizeof(shardopt_serving_request)); }

void shardopt_serving_request_free(shardopt_serving_request *request) {
    if (!request) return;
    for (int i = 0; i < OPTION_COUNT; i++) free(request->text[i]);
    free(request);
}

/* Options that ask, and the two that say how the search is run. */
static bool is_settable(int option) {
    return SERVING_OPTIONS[option].is_input || option == OPTION_TIME_LIMIT || option == OPTION_BRUTE_FORCE;
}

int shardopt_serving_request_set(shardopt_serving_request *request, const char *option, const char *value,
                                 shardopt_error *error) {
    Error own = {0};
    int at = option_named(SERVING_OPTIONS, option);
    if (at >= 0 && is_settable(at)) {
        if (!inside_replace(&request->text[at], value, value ? strlen(value) : 0)) return inside_fail_memory(error);
        return inside_fail(&own, error);
    }
    error_set(&own, ERROR_INPUT, option, "is no option of a serving request; `shardopt inference --help` lists them");
    return inside_fail(&own, error);
}

/* ---- the search ---- */

static bool hook_interrupted(void *of) {
    const shardopt_front *front = of;
    return front->hooks.interrupted && front->hooks.interrupted(front->hooks.context);
}

static bool search(const shardopt_serving_request *request, shardopt_front *to, Error *error) {
    Options options = {.environment = {to, clock_hook, hook_interrupted, NULL}};
    for (int i = 0; i < OPTION_COUNT; i++) {
        options.where[i] = SERVING_OPTIONS[i].name;
        if (!request->text[i]) continue;
        options.text[i] = arena_text(&to->arena, request->text[i]); /* the front outlives the request */
        if (!options.text[i]) return error_memory(error);
    }
    return serve(&options, &to->arena, &to->served, error);
}

int shardopt_serve(const shardopt_serving_request *request, const shardopt_hooks *hooks, shardopt_front **front,
                   shardopt_error *error) {
    IN_LOCALE_C;
    Error own = {0};
    shardopt_front *made = calloc(1, sizeof *made);
    *front = NULL;
    if (!made) return inside_fail_memory(error);
    if (hooks) made->hooks = *hooks;
    if (!search(request, made, &own)) {
        shardopt_front_free(made);
        return inside_fail(&own, error);
    }
    inside_fail(&own, error);
    *front = made;
    return hook_interrupted(made) ? SHARDOPT_INTERRUPTED : served_code(&made->served);
}

void shardopt_front_free(shardopt_front *front) {
    if (!front) return;
    served_free(&front->served);
    arena_free(&front->arena);
    free(front);
}

/* ---- reading ---- */

int shardopt_front_count(const shardopt_front *front) { return front->served.answer.front.count; }

int shardopt_front_best(const shardopt_front *front) {
    return answer_best_rank(&front->served.request.question, &front->served.answer);
}

bool shardopt_front_point(const shardopt_front *front, int rank, shardopt_point *point) {
    IN_LOCALE_C;
    if (rank < 1 || rank > shardopt_front_count(front)) return false;
    const ServingPoint *from = &front->served.answer.front.points[rank - 1];
    const ServingPool *pool = &from->pools[from->pool_count - 1];
    char way[POINT_TEXT_SIZE];
    *point = (shardopt_point){.two_pools = from->pool_count == 2,
                              .chips_used = from->chips_used,
                              .prefill_workers = from->pool_count == 2 ? from->pools[0].workers : 0,
                              .workers = pool->workers,
                              .batch = pool->batch,
                              .seconds_per_token = from->tpot_seconds,
                              .first_token_seconds = from->ttft_seconds,
                              .tokens_per_second = from->tokens_per_second,
                              .tokens_per_second_per_user = from->per_user,
                              .tokens_per_second_per_chip = from->per_chip,
                              .hbm_bytes = worker_memory_total(&pool->memory),
                              .hbm_limit_bytes = pool->memory.limit_bytes};
    snprintf(point->notation, sizeof point->notation, "%s", point_notation(from, way));
    snprintf(point->engine, sizeof point->engine, "%s", point_engine(from));
    return true;
}

int shardopt_front_write(const shardopt_front *front, const char *format, char **text, size_t *length,
                         shardopt_error *error) {
    IN_LOCALE_C;
    static const char *const FORMATS[SERVED_FORMATS] = {"text", "json", "markdown", "html", "csv", "brief"};
    Error own = {0};
    int at = 0;
    size_t size = 0;
    *text = NULL;
    while (at < SERVED_FORMATS && strcmp(FORMATS[at], format) != 0) at++;
    if (at == SERVED_FORMATS) {
        error_set(&own, ERROR_INPUT, "format", "\"%.40s\" is no format; give text, json, markdown, html, csv or brief",
                  format);
        return inside_fail(&own, error);
    }
    FILE *memory = memory_stream_open(text, &size);
    if (!memory) return inside_fail_memory(error);
    bool ok = serving_write_as(&front->served.report, (ServedFormat)at, (TextOut){.file = memory}, &own);
    if (fclose(memory) != 0 && ok) ok = error_memory(&own);
    if (length) *length = size;
    if (ok) return inside_fail(&own, error);
    free(*text);
    *text = NULL;
    return inside_fail(&own, error);
}
