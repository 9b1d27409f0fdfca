/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `shardopt explain --plans`: plans of a file, priced under one request. */
#include "search/cli/commands/explain_plans.h"

#include "base/file.h"
#include "base/json.h"
#include "base/threads.h"
#include "search/engine/explore/cache_pool.h"
#include "search/options/one_plan.h"

#include <stdio.h>
#include <string.h>

enum { PLANS_BYTES_MAX = 1 << 28 };

/* Why a plan that can be named is none. */
static void say_why(const SearchResult *result, Error *error) {
    const Shortfall *shortfall = &result->shortfall;
    char bytes[NUMBER_TEXT_SIZE];
    if (shortfall->known && shortfall->needed_bytes > shortfall->limit_bytes)
        error_set(error, ERROR_INPUT, "", "lacks %s of HBM per chip",
                  number_bytes(shortfall->needed_bytes - shortfall->limit_bytes, bytes));
    else
        error_set(error, ERROR_INPUT, "",
                  "is not in the space: degrees, batch or knobs do not go together, or no "
                  "launcher takes them");
}

/* A plan of the file, and the line of JSON about it. */
typedef struct {
    const char *text;
    cJSON *json;
    Error error; /* memory is out; what is wrong with the plan is part of the answer */
} PricedPlan;

static bool price_plan(const Request *request, Arena *arena, PricedPlan *plan) {
    Request *own = ARENA_NEW(arena, Request, 1);
    SearchResult result = {0};
    Error wrong = {0};
    plan->json = cJSON_CreateObject();
    bool ok = own && plan->json && json_add_text(plan->json, "plan", plan->text);
    if (ok) *own = *request;
    if (ok && one_plan_require(own, plan->text, "plan", &wrong)) {
        request_settle_offload(own);
        own->control.uncounted = true;
        own->control.threads = 1;
        ok = one_plan_search(own, &(ReportPlan){0}, arena, &result, &plan->error);
        if (ok && result.plan_count > 0)
            ok = report_add_line(plan->json, result.request, &result.plans[0]);
        else if (ok)
            say_why(&result, &wrong);
    }
    return ok && (wrong.kind == ERROR_NONE || json_add_text(plan->json, "error", wrong.text));
}

/* Prices plans on as many threads as may be, and writes them in their order. */
static bool write_plans(const Request *request, PricedPlan *plans, int count, FILE *out, Error *error) {
    bool ok = true;
#pragma omp parallel for schedule(dynamic, 4) num_threads(threads_usable(request->control.threads))
    for (int i = 0; i < count; i++) {
        Arena arena = {0};
        if (!price_plan(request, &arena, &plans[i]) && plans[i].error.kind == ERROR_NONE) error_memory(&plans[i].error);
        arena_free(&arena);
    }
    for (int i = 0; i < count; i++) {
        if (ok && plans[i].error.kind != ERROR_NONE) *error = plans[i].error, ok = false;
        if (ok && !json_print_line(out, plans[i].json)) ok = error_memory(error);
        cJSON_Delete(plans[i].json);
    }
    return ok;
}

bool explain_plans(const Request *request, const char *path, Arena *arena, FILE *out, Error *error) {
    enum { TOGETHER = 512 };
    char *text;
    size_t length;
    bool ok = true;
    Request *own = ARENA_NEW(arena, Request, 1);
    PricedPlan *plans = ARENA_NEW(arena, PricedPlan, TOGETHER);
    if (!own || !plans) return error_memory(error);
    if (!file_read(path, PLANS_BYTES_MAX, arena, &text, &length, error)) return false;
    *own = *request;
    own->control.caches = cache_pool_new(arena); /* layers of one plan are those of the next */
    for (char *line = text, *next; ok && *line;) {
        int count = 0;
        for (; *line && count < TOGETHER; line = next) {
            next = line + strcspn(line, "\r\n");
            char *behind = next + strspn(next, "\r\n");
            *next = '\0', next = behind;
            if (line[strspn(line, " \t")] && line[0] != '#') plans[count++] = (PricedPlan){.text = line};
        }
        ok = write_plans(own, plans, count, out, error);
    }
    if (own->control.caches) cache_pool_close(own->control.caches);
    return ok;
}
