/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `shardopt explain --plans`: plans of a file, priced one after the other under one request. */
#include "search/cli/commands/explain_plans.h"

#include "base/file.h"
#include "base/json.h"
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
        error_set(error, ERROR_INPUT, "", "is not in the space: degrees, batch or knobs do not go together, or no "
                                          "launcher takes them");
}

/* One line. False: memory is out, and so *error says; what is wrong with the plan is part of the answer. */
static bool write_plan(const Request *request, const char *plan, FILE *out, Error *error) {
    Arena arena = {0};
    Request *own = ARENA_NEW(&arena, Request, 1);
    cJSON *json = cJSON_CreateObject();
    SearchResult result = {0};
    Error wrong = {0};
    bool ok = own && json && json_add_text(json, "plan", plan);
    if (ok) *own = *request;
    if (ok && one_plan_require(own, plan, "plan", &wrong)) {
        own->space.offload_open = false;
        own->space.offload_gain = 0;
        own->control.uncounted = true;
        ok = one_plan_search(own, &(ReportPlan){0}, &arena, &result, error);
        if (ok && result.plan_count > 0)
            ok = report_add_line(json, result.request, &result.plans[0]);
        else if (ok)
            say_why(&result, &wrong);
    }
    ok = ok && (wrong.kind == ERROR_NONE || json_add_text(json, "error", wrong.text)) && json_print_line(out, json);
    cJSON_Delete(json);
    arena_free(&arena);
    return ok || (error->kind != ERROR_NONE ? false : error_memory(error));
}

bool explain_plans(const Request *request, const char *path, Arena *arena, FILE *out, Error *error) {
    char *text;
    size_t length;
    bool ok = true;
    Request *own = ARENA_NEW(arena, Request, 1);
    if (!own) return error_memory(error);
    if (!file_read(path, PLANS_BYTES_MAX, arena, &text, &length, error)) return false;
    *own = *request;
    own->control.caches = cache_pool_new(arena); /* layers of one plan are those of the next */
    for (char *line = text, *next; ok && *line; line = next) {
        next = line + strcspn(line, "\r\n");
        char *behind = next + strspn(next, "\r\n");
        *next = '\0', next = behind;
        if (line[strspn(line, " \t")] && line[0] != '#') ok = write_plan(own, line, out, error);
    }
    if (own->control.caches) cache_pool_close(own->control.caches);
    return ok;
}
