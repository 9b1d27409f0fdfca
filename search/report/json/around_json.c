/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/report/json/document.h"

#include "base/json.h"

/* A search that was left out has no point. */
static bool add_point(cJSON *json, const AroundPoint *point) {
    return json_add_bool(json, "found", point->found) && json_add_bool(json, "cut_short", point->cut_short) &&
           (!point->found ||
            (json_add_text(json, "plan", point->plan) && json_add_text(json, "machine", point->machine) &&
             json_add_whole(json, "chips", point->chips) && json_add_real(json, "tokens", point->tokens) &&
             json_add_real(json, "step_seconds", point->step_seconds) && json_add_real(json, "mfu", point->mfu) &&
             json_add_real(json, "memory_bytes", point->memory_bytes) &&
             json_add_real(json, "training_seconds", point->training_seconds)));
}

static bool add_points(cJSON *to, const Around *around) {
    cJSON *memory = json_add_array(to, "less_memory");
    bool ok = memory != NULL;
    for (int i = 0; i < AROUND_LIMITS && ok; i++) {
        if (!around->memory[i].requested) continue;
        cJSON *json = json_add_object(memory, NULL);
        ok = json_add_real(json, "limit_bytes", around->memory[i].limit_bytes) && add_point(json, &around->memory[i]);
    }
    cJSON *sizes = ok ? json_add_array(to, "scaling") : NULL;
    ok = sizes != NULL;
    for (int i = 0; i < AROUND_SIZES * AROUND_BATCHES && ok; i++) {
        const AroundPoint *point = &around->size[i % AROUND_SIZES][i / AROUND_SIZES];
        if (!point->requested) continue;
        cJSON *json = json_add_object(sizes, NULL);
        ok = json_add_real(json, "machine_factor", around->size_factor[i % AROUND_SIZES]) &&
             json_add_real(json, "batch_factor", around->batch_factor[i / AROUND_SIZES]) && add_point(json, point);
    }
    return ok;
}

/* What a move of a figure rests on, best first. */
static const char *basis_of(const AroundFigure *figure, int move) {
    return figure->at[move].searched ? "search" : figure->at[move].shown ? "plans" : "plan_1";
}

static bool add_figures(cJSON *to, const Around *around) {
    cJSON *list = json_add_array(to, "figures");
    bool ok = list != NULL;
    for (int i = 0; i < around->figure_count && ok; i++) {
        const AroundFigure *figure = &around->figures[i];
        cJSON *json = json_add_object(list, NULL);
        ok = json_add_text(json, "name", figure->name) &&
             json_add_text(json, "of", figure->hardware ? "hardware" : "profile");
        cJSON *moves = ok ? json_add_array(json, "moves") : NULL;
        for (int move = 0; move < AROUND_MOVES && ok; move++) {
            bool searched = figure->at[move].searched, found = figure->at[move].found || figure->at[move].shown;
            cJSON *one = json_add_object(moves, NULL);
            ok = json_add_real(one, "factor", AROUND_MOVE[move]) &&
                 json_add_text(one, "basis", basis_of(figure, move)) &&
                 json_add_bool(one, "plan_1_fits", figure->at[move].fits) &&
                 json_add_real(one, "plan_1_relative", figure->at[move].repriced) &&
                 (!searched || json_add_bool(one, "found", figure->at[move].found)) &&
                 (!found || (json_add_real(one, "relative", figure->at[move].relative) &&
                             json_add_bool(one, "changed", figure->at[move].changed) &&
                             json_add_text(one, "winner", figure->at[move].winner)));
        }
    }
    return ok;
}

static bool add_misses(cJSON *to, const Around *around) {
    cJSON *list = json_add_array(to, "near_misses");
    bool ok = list != NULL;
    for (int i = 0; i < around->miss_count && ok; i++) {
        const NearMiss *miss = &around->misses[i];
        cJSON *json = json_add_object(list, NULL);
        ok = json_add_whole(json, "rank", miss->rank) && json_add_text(json, "figure", miss->name) &&
             (!miss->name ||
              (json_add_real(json, "factor", miss->factor) && json_add_whole(json, "other_figures", miss->others)));
    }
    return ok;
}

bool searches_add_json(cJSON *to, const Report *report) {
    static const char *const NAMES[AROUND_PARTS] = {
        [AROUND_MEMORY] = "less_memory", [AROUND_SCALING] = "scaling", [AROUND_SENSITIVITY] = "figures"};
    const Around *around = report->around;
    if (!around || report->result.plan_count == 0) return true;
    cJSON *json = json_add_object(to, "around");
    bool ok = json_add_bool(json, "thin", around->thin) && json_add_bool(json, "cut_short", around->cut_short);
    cJSON *left_out = ok ? json_add_object(json, "searches_left_out") : NULL;
    ok = left_out != NULL;
    for (int part = 0; part < AROUND_PARTS && ok; part++)
        ok = json_add_whole(left_out, NAMES[part], around->left_out[part]);
    return ok && add_points(json, around) && add_figures(json, around) && add_misses(json, around);
}
