/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/json.h"
#include "base/text/prose.h"
#include "search/trace/comparison.h"

static void add_rows(cJSON *json, const Comparison *compared) {
    cJSON *terms = json_add_array(json, "terms");
    for (int i = 0; i < compared->row_count; i++) {
        const ComparisonRow *row = &compared->rows[i];
        cJSON *item = json_add_object(terms, NULL);
        bool planned = compared->plan != NULL;
        json_add_text(item, "term", term_name(row->term));
        json_add_real(item, "measured_seconds", row->measured);
        if (planned) json_add_real(item, "predicted_seconds", row->predicted);
        if (planned && row->predicted > 0) json_add_real(item, "ratio", row->measured / row->predicted);
        json_add_real(item, "exposed_measured_seconds", row->exposed_measured);
        if (planned) json_add_real(item, "exposed_predicted_seconds", row->exposed_predicted);
        if (row->transfer >= 0) json_add_real(item, "transfer_seconds", row->transfer);
        if (row->bytes > 0) json_add_real(item, "bytes", row->bytes);
        double measured, predicted;
        if (!comparison_rates(compared, row, &measured, &predicted)) continue;
        json_add_real(item, "bytes_per_second", measured);
        json_add_real(item, "predicted_bytes_per_second", predicted);
    }
}

static void add_times(cJSON *to, const char *key, const StageTimes *times) {
    cJSON *item = json_add_object(to, key);
    json_add_real(item, "compute_seconds", times->compute);
    json_add_real(item, "communication_seconds", times->communication);
    json_add_real(item, "bubble_seconds", times->bubble);
    json_add_real(item, "other_seconds", times->other);
}

static void add_stages(cJSON *json, const Comparison *compared) {
    cJSON *stages = compared->stage_count > 0 ? json_add_array(json, "stages") : NULL;
    for (int i = 0; i < compared->stage_count; i++) {
        cJSON *item = json_add_object(stages, NULL);
        json_add_whole(item, "stage", compared->stages[i].stage + 1);
        json_add_whole(item, "ranks", compared->stages[i].ranks);
        add_times(item, "measured", &compared->stages[i].measured);
        add_times(item, "predicted", &compared->stages[i].predicted);
    }
}

static void add_texts(cJSON *json, const char *key, const char *const *texts, int count) {
    cJSON *array = json_add_array(json, key);
    for (int i = 0; i < count; i++) json_add_text(array, NULL, texts[i]);
}

static void add_unplaced(cJSON *json, const Comparison *compared) {
    cJSON *array = json_add_array(json, "unplaced");
    for (int r = 0; r < compared->rank_count; r++) {
        const RankTrace *rank = &compared->ranks[r];
        if (r > 0 && rank->file == compared->ranks[r - 1].file) continue;
        for (int i = 0; i < rank->unplaced_count; i++) {
            char name[1024];
            cJSON *item = json_add_object(array, NULL);
            json_add_text(item, "name", clean_text(rank->unplaced[i].name, name, sizeof name));
            json_add_real(item, "seconds", rank->unplaced[i].seconds);
            json_add_whole(item, "count", rank->unplaced[i].count);
            json_add_whole(item, "rank", rank->rank >= 0 ? rank->rank : r);
        }
    }
}

/* What the device's mean step adds up to: an instant belongs to computation if any runs, else to collectives, else to
 * copies, else it is idle. */
static void add_exposed(cJSON *item, const RankTrace *rank) {
    double compute = 0, exposed = 0, idle = 0;
    cJSON *terms = json_add_object(item, "terms_seconds");
    for (TraceTerm term = 0; term < TERM_COUNT; term++) {
        *(term_is_compute(term) ? &compute : term_is_collective(term) ? &exposed : &idle) += rank->exposed[term];
        if (rank->exposed[term] > 0) json_add_real(terms, term_name(term), rank->exposed[term]);
    }
    json_add_real(item, "compute_seconds", compute);
    json_add_real(item, "exposed_communication_seconds", exposed);
    json_add_real(item, "idle_seconds", idle);
}

static void add_device(cJSON *array, const Comparison *compared, int number) {
    static const char *const BY[] = {"annotations", "period", "whole"};
    const RankTrace *rank = &compared->ranks[number];
    const DeviceTotals *whole = &rank->whole;
    char name[PROSE_NAME_SIZE];
    cJSON *item = json_add_object(array, NULL), *file;
    json_add_text(item, "file", rank->file);
    if (rank->rank >= 0) json_add_whole(item, "rank", rank->rank);
    json_add_whole(item, "device", rank->device);
    if (rank->chip[0]) json_add_text(item, "chip", clean_name(rank->chip, name));
    json_add_text(item, "steps_by", BY[rank->steps_by]);
    json_add_whole(item, "steps", rank->steps);
    json_add_whole(item, "steps_used", rank->steps_used);
    if (rank->world_size > 0) json_add_whole(item, "world_size", rank->world_size);
    json_add_real(item, "step_mean_seconds", rank->step_mean);
    json_add_real(item, "step_median_seconds", rank->step_median);
    json_add_real(item, "step_least_seconds", rank->step_least);
    json_add_real(item, "step_most_seconds", rank->step_most);
    if (rank->peak_bytes >= 0) json_add_whole(item, "peak_bytes", rank->peak_bytes);
    if (compared->match.known) json_add_real(item, "waited_seconds", compared->match.waited[number]);
    if (compared->match.known) json_add_real(item, "caused_wait_seconds", compared->match.caused[number]);
    add_exposed(item, rank);
    file = json_add_object(item, "whole_file");
    json_add_whole(file, "kernels", whole->kernels);
    json_add_whole(file, "collectives", whole->collectives);
    json_add_real(file, "span_seconds", whole->span);
    json_add_real(file, "compute_seconds", whole->compute);
    json_add_real(file, "communication_seconds", whole->communication);
    json_add_real(file, "overlap_seconds", whole->overlap);
    json_add_real(file, "exposed_communication_seconds", whole->exposed_communication);
    json_add_real(file, "copy_seconds", whole->copy);
    json_add_real(file, "exposed_copy_seconds", whole->exposed_copy);
    json_add_real(file, "busy_seconds", whole->busy);
    json_add_real(file, "idle_seconds", whole->idle);
}

static void add_match(cJSON *json, const Comparison *compared) {
    const RankMatch *match = &compared->match;
    cJSON *item = json_add_object(json, "matched");
    json_add_bool(item, "known", match->known);
    if (!match->known) {
        json_add_text(item, "why_not", match->why_not);
        return;
    }
    json_add_whole(item, "collectives", match->matched);
    json_add_real(item, "transfer_seconds", compared->transfer);
    json_add_real(item, "mean_seconds", compared->lasted);
    if (match->straggler >= 0) {
        const RankTrace *late = &compared->ranks[match->straggler];
        json_add_whole(item, "slowest_rank", late->rank >= 0 ? late->rank : late->device);
    }
    json_add_real(item, "ends_apart_median_seconds", match->end_median);
    json_add_real(item, "ends_apart_most_seconds", match->end_most);
}

cJSON *comparison_json(const Comparison *compared) {
    cJSON *json = cJSON_CreateObject();
    if (!json) return NULL;
    double steps = 0;
    for (int r = 0; r < compared->rank_count; r++) steps += compared->ranks[r].steps_used;
    json_add_whole(json, "format_version", 1);
    json_add_whole(json, "steps", (int64_t)(steps / compared->rank_count));
    json_add_whole(json, "ranks", compared->rank_count);
    json_add_real(json, "placed_share", compared->placed_share);
    json_add_real(json, "step_seconds", compared->step_measured);
    if (compared->plan) {
        if (compared->plan->memory_bytes > 0) json_add_real(json, "predicted_peak_bytes", compared->plan->memory_bytes);
        json_add_real(json, "predicted_step_seconds", compared->plan->step);
        json_add_text(json, "plan", compared->plan->notation);
        json_add_whole(json, "plan_rank", compared->plan->rank);
    }
    add_rows(json, compared);
    add_stages(json, compared);
    add_texts(json, "differences", compared->differences, compared->difference_count);
    add_unplaced(json, compared);
    add_texts(json, "notes", compared->notes, compared->note_count);
    add_match(json, compared);
    cJSON *devices = json_add_array(json, "devices");
    for (int r = 0; r < compared->rank_count; r++) add_device(devices, compared, r);
    if (comparison_add_words(compared, json) && comparison_add_timeline(compared, json)) return json;
    cJSON_Delete(json);
    return NULL;
}
