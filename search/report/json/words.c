/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/report/json/document.h"

#include "base/json.h"
#include "cost/profile/profile_figure.h"
#include "mesh/chip_json.h"
#include "search/launch/launcher.h"
#include "search/report/plan_fields.h"
#include "search/report/text/parts.h"
#include "search/report/text/sentences.h"

#include <string.h>

/* "tensor=8 on all 4 of x (a ring)": where the roles of plan 1 lie, from the inside. */
static void placement_words(const RankedPlan *ranked, Prose *words) {
    const Mesh *mesh = &ranked->machine.mesh;
    const ExpertGrid *grid = &ranked->plan.knobs.methods.grid;
    prose_add(words, "%s: ", ranked->machine.text);
    bool first = true;
    for (int i = 0; i < ROLE_COUNT; i++) {
        Role role = ranked->nesting.order[i];
        if (ranked->plan.degrees.of[role] <= 1) continue;
        Footprint footprint = nesting_footprint(mesh, &ranked->nesting, &ranked->plan.placement, 1u << role);
        prose_add(words, "%s%s=%lld on ", first ? "" : "; ", role_name(role), (long long)ranked->plan.degrees.of[role]);
        footprint_words(mesh, &footprint, words);
        first = false;
    }
    if (grid->expert > 0) prose_add(words, "; experts are folded onto these ranks, %lld ways", (long long)grid->expert);
    if (grid->expert > 0 && grid->expert_tensor > 1)
        prose_add(words, ", each over %lld", (long long)grid->expert_tensor);
    prose_add(words, ".");
}

static bool add_ways(cJSON *to, const Report *report) {
    static const char *const KEYS[ALTERNATIVE_CELLS] = {"way", "change", "step", "price", "plan", "launchers"};
    bool any = report->result.plan_count > 0; /* without a plan only what is a way out is one */
    for (int i = 0; i < ALTERNATIVE_COUNT; i++) any = any || report->alternatives[i].found;
    cJSON *list = json_add_array(to, "alternatives");
    bool ok = list != NULL;
    for (int i = 0; i < ALTERNATIVE_COUNT && ok && any; i++) {
        char words[ALTERNATIVE_CELLS][WORDS_SIZE];
        if (!report->alternatives[i].tried) continue;
        alternative_words(report, (Alternative)i, words);
        cJSON *json = json_add_object(list, NULL);
        for (int cell = 0; cell < ALTERNATIVE_CELLS && ok; cell++) ok = json_add_text(json, KEYS[cell], words[cell]);
    }
    return ok;
}

/* The plan as --plan takes it: its degrees, and the knobs that are not at their first setting. Sequences of a
 * microbatch follow from the number of microbatches. */
static void plan_option(const RankedPlan *ranked, Prose *to) {
    const Degrees *degrees = &ranked->plan.degrees;
    const Knobs *knobs = &ranked->plan.knobs;
    char text[KNOB_TEXT_SIZE];
    for (Role role = 0; role < ROLE_COUNT; role++)
        if (degrees->of[role] > 1) prose_item(to, " ", "%s=%lld", role_name(role), (long long)degrees->of[role]);
    for (Knob knob = KNOB_NONE + 1; knob < KNOB_COUNT; knob++) {
        int64_t setting = knob_setting(knob, knobs), first = knob_takes(knob, 0) ? 0 : 1;
        bool follows = knob == KNOB_MICROBATCH_SEQUENCES ||
                       (knob == KNOB_CONTEXT_METHOD && degrees->of[ROLE_SEQUENCE] == 1) ||
                       (knob == KNOB_SCHEDULE && degrees->of[ROLE_PIPELINE] == 1);
        if (setting == first || follows) continue;
        prose_item(to, " ", "%s=%s", knob_name(knob), knob_text(knob, setting, text));
    }
}

/* The plan, the command that writes its launch configuration, and the one that made this document. */
static bool add_commands(cJSON *to, const Report *report) {
    const Request *request = report->request;
    const char *requested = request->requested.words;
    bool named = !report->requested;
    Prose plan = {0}, emit = {0}, again = {0};
    cJSON *json = json_add_object(to, "commands");
    plan_option(&report->result.plans[0], &plan);
    if (!json_add_text(json, "plan", plan.text)) return false;
    if (!requested[0]) return true;
    prose_add(&again, named ? "shardopt explain %s" : "shardopt plan %s", requested);
    if (request->requested.choices[0]) prose_add(&again, " %s", request->requested.choices);
    if (named) prose_add(&again, " --plan '%s'", plan.text);
    if (!json_add_text(json, "again", again.text)) return false;
    if (!named) emit_command(report, &emit);
    return emit.used == 0 || json_add_text(json, "emit", emit.text);
}

/* What a step moves to and from its hosts, overlapped or not; 0: nothing. */
static double host_copies(const RankedPlan *ranked) {
    Term terms[TERMS_MAX];
    double seconds = 0;
    for (int i = step_terms(&ranked->estimate, &ranked->plan.degrees, terms) - 1; i >= 0; i--)
        if (strstr(terms[i].name, "waits")) seconds += terms[i].whole_seconds;
    return seconds;
}

/* Of each plan: what it moves away from, and why it is slower than plan 1. */
static bool add_plans(cJSON *to, const Report *report) {
    const SearchResult *result = &report->result;
    cJSON *list = json_add_array(to, "plans");
    bool ok = list != NULL;
    for (int i = 0; i < result->plan_count && ok; i++) {
        char label[WORDS_SIZE];
        Prose moves = {0}, slower = {0};
        cJSON *json = json_add_object(list, NULL);
        plan_moves(report, i + 1, &moves);
        if (i > 0) report_why_not(&result->plans[0], &result->plans[i], &slower);
        ok = json_add_text(json, "plan", plan_label(&result->plans[i], label)) &&
             json_add_text(json, "moves", moves.text) && json_add_text(json, "slower", slower.text) &&
             json_add_real(json, "host_copies_seconds", host_copies(&result->plans[i])) &&
             json_add_text(json, "launchers", launch_text(&result->plans[i], " ", label)) &&
             json_add_text(json, "limited_by",
                           bound_text(result->plans[i].estimate.bound_by, &result->plans[i].machine.mesh)) &&
             json_add_text(json, "limited_next",
                           bound_text(result->plans[i].estimate.bound_next, &result->plans[i].machine.mesh)) &&
             json_add_real(json, "limited_next_share", result->plans[i].estimate.bound_next_share);
    }
    return ok;
}

/* As the pictures of sums say it. */
static bool add_peak(cJSON *to, const RankedPlan *ranked) {
    bool stages = ranked->plan.degrees.of[ROLE_PIPELINE] > 1;
    return json_add_text(to, "peak", moment_text(ranked->estimate.moment, stages));
}

bool words_add_json(cJSON *to, const Report *report) {
    static const char *const KEYS[SENTENCE_COUNT] = {[SENTENCE_VERDICT] = "answer",
                                                     [SENTENCE_CONFIDENCE] = "confidence",
                                                     [SENTENCE_ASSUMED] = "assumptions",
                                                     [SENTENCE_SEARCHED] = "search",
                                                     [SENTENCE_SENSITIVITY] = "sensitivity"};
    Arena arena = {0};
    cJSON *json = json_add_object(to, "words");
    const char *title = title_sentence(report, &arena);
    bool ok = title && json_add_text(json, "title", title) &&
              json_add_text(json, "command", report->requested ? "plan" : "explain");
    for (int i = 0; i < SENTENCE_COUNT && ok; i++) {
        const char *text = sentence_of(report, (Sentence)i, &arena);
        ok = text && json_add_text(json, KEYS[i], text);
    }
    if (ok && report->result.plan_count > 0) {
        const RankedPlan *first = &report->result.plans[0];
        Prose placement = {0};
        placement_words(first, &placement);
        ok = json_add_text(json, "placement", placement.text) && add_peak(json, first) && add_plans(json, report) &&
             add_commands(to, report);
    }
    arena_free(&arena);
    return ok && add_ways(json, report);
}

static bool add_chip(cJSON *to, const Chip *chip) {
    cJSON *list = json_add_array(to, "chip");
    bool ok = list != NULL;
    for (int i = 0; i < CHIP_FIGURE_COUNT && ok; i++) {
        const Figure *figure = (const Figure *)((const char *)chip + CHIP_FIGURES[i].offset);
        if (figure->source[0] == '\0') continue;
        cJSON *json = json_add_object(list, NULL);
        ok = json_add_text(json, "name", CHIP_FIGURES[i].key) && json_add_real(json, "value", figure->value) &&
             json_add_text(json, "unit", CHIP_FIGURES[i].unit) && json_add_text(json, "source", figure->source) &&
             json_add_bool(json, "verified", figure->verified);
    }
    return ok;
}

bool figures_add_json(cJSON *to, const Report *report) {
    const Profile *profile = &report->request->question.profile;
    int count;
    const ProfileFigure *figures = profile_figures(&count);
    char clean[PROFILE_SOURCE_SIZE];
    cJSON *json = json_add_object(to, "figures");
    bool ok = json && add_chip(json, &report->request->question.chip) &&
              json_add_text(json, "profile_source", clean_text(profile->source, clean, sizeof clean));
    cJSON *list = ok ? json_add_array(json, "profile") : NULL;
    ok = list != NULL;
    for (int i = 0; i < count && ok; i++) {
        cJSON *one = json_add_object(list, NULL);
        ok = json_add_text(one, "name", figures[i].key) &&
             json_add_real(one, "value", figure_value_of(profile, &figures[i])) &&
             json_add_text(one, "meaning", figures[i].meaning) &&
             json_add_text(one, "of", figures[i].owner == FIGURE_OF_CHIP ? "chip" : "software");
    }
    return ok;
}
