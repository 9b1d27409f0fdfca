/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/build.h"
#include "base/json.h"
#include "cost/plan/plan.h"
#include "search/rl/rl_report.h"
#include "search/serving/report/serving_report.h"

#include <math.h>

static bool add_request(const RlQuestion *question, cJSON *to) {
    cJSON *request = json_add_object(to, "request"), *options = json_add_object(request, "options");
    bool ok = json_add_text(request, "command", "rl");
    for (int i = 0; i < OPTION_COUNT && ok; i++)
        if (RL_OPTIONS[i].is_input && question->options->text[i])
            ok = json_add_text(options, RL_OPTIONS[i].key ? RL_OPTIONS[i].key : RL_OPTIONS[i].name,
                               question->options->text[i]);
    return ok;
}

static bool add_work(const RlQuestion *question, cJSON *to) {
    cJSON *work = json_add_object(to, "work");
    return json_add_text(work, "algorithm", question->algorithm->name) &&
           json_add_text(work, "model", question->model.name) && json_add_text(work, "chip", question->chip.name) &&
           json_add_whole(work, "chips", question->chips) &&
           json_add_whole(work, "answers_generated", answers_generated(question)) &&
           json_add_whole(work, "answers_trained", question->prompts * question->samples) &&
           json_add_real(work, "tokens_trained", tokens_trained(question)) &&
           json_add_real(work, "mean_answer_tokens", question->answers.mean) &&
           json_add_real(work, "longest_answer_tokens",
                         lengths_longest_of(&question->answers, (double)answers_generated(question)));
}

static bool add_trainer(const Trainer *trainer, cJSON *to) {
    char text[NOTATION_SIZE];
    const Plan *plan = &trainer->plan->plan;
    cJSON *json = json_add_object(to, "trainer");
    return json_add_text(json, "notation", plan_notation(&plan->degrees, &plan->knobs, true, text)) &&
           json_add_whole(json, "chips", trainer->chips) && json_add_whole(json, "updates", trainer->updates) &&
           json_add_whole(json, "packed_sequences", trainer->sequences) &&
           json_add_whole(json, "packed_tokens", trainer->length) &&
           json_add_real(json, "update_seconds", trainer->step_seconds) && json_add_real(json, "gap", trainer->gap);
}

/* The answers of one batch in flight, from its first token to the last. */
static bool add_curve(const RlStep *step, cJSON *to) {
    cJSON *list = json_add_array(to, "in_flight");
    bool ok = list != NULL;
    for (int i = 0; i < step->curve->count && ok; i++) {
        const InFlightSegment *part = &step->curve->of[i];
        cJSON *one = json_add_object(list, NULL);
        ok = json_add_real(one, "steps", part->steps) && json_add_real(one, "answers", part->answers) &&
             json_add_real(one, "tokens_so_far", part->generated) &&
             json_add_real(one, "step_seconds", step->step_seconds[i]);
    }
    return ok;
}

static bool add_rollout(const RlStep *step, cJSON *to) {
    const Rollout *rollout = &step->rollout;
    char text[POOL_TEXT_SIZE];
    ServingPool pool = {.on = rollout->layout->on};
    cJSON *json = json_add_object(to, "rollout");
    return json_add_text(json, "engine", engine_at(pool.on.engine)->name) &&
           json_add_text(json, "notation", pool_notation(&pool, text)) &&
           json_add_whole(json, "replicas", rollout->replicas) && json_add_whole(json, "answers", rollout->answers) &&
           json_add_whole(json, "slots", rollout->slots) && json_add_whole(json, "batches", rollout->lag) &&
           json_add_real(json, "decode_steps", rollout->steps) &&
           json_add_real(json, "prompt_seconds", rollout->prompt_seconds) &&
           json_add_real(json, "tail_seconds", rollout->tail_seconds) &&
           json_add_real(json, "first_token_seconds", rollout->first_step_seconds) &&
           json_add_real(json, "last_token_seconds", rollout->last_step_seconds) && add_curve(step, json);
}

static bool add_step(const RlQuestion *question, const RlStep *step, cJSON *to) {
    cJSON *json = json_add_object(to, NULL), *phases;
    double usd = rl_usd_per_step(question, step);
    Prose words = {0};
    rl_launch_words(step, &words);
    bool ok = json_add_text(json, "way", rl_way_name(step->way)) &&
              json_add_whole(json, "train_chips", step->train_chips) &&
              json_add_whole(json, "rollout_chips", step->rollout_chips) && json_add_whole(json, "lag", step->lag) &&
              json_add_text(json, "words", words.text) && json_add_real(json, "seconds", step->seconds) &&
              json_add_real(json, "tokens_per_hour", rl_tokens_per_hour(question, step)) &&
              json_add_real(json, "usd", usd >= 0 ? usd : NAN) && (phases = json_add_object(json, "phases")) != NULL;
    for (int phase = 0; phase < RL_PHASES && ok; phase++)
        ok = json_add_real(phases, rl_phase_name((RlPhase)phase), step->phases[phase]);
    return ok && add_trainer(&step->trainer, json) && add_rollout(step, json);
}

static bool add_certificate(const RlAnswer *answer, cJSON *to) {
    cJSON *json = json_add_object(to, "certificate"), *lines = NULL;
    bool ok = json_add_whole(json, "layouts", answer->rollouts.count) &&
              json_add_text(json, "proof", answer->open ? "gap" : "optimal") &&
              json_add_whole(json, "searches", answer->searches) &&
              json_add_whole(json, "trainer_searches", answer->trainer_searches) &&
              (lines = json_add_array(json, "splits")) != NULL;
    for (int i = 0; i < answer->line_count && ok; i++) {
        const RlLine *line = &answer->lines[i];
        cJSON *one = json_add_object(lines, NULL);
        ok = json_add_text(one, "way", rl_way_name(line->way)) &&
             json_add_whole(one, "train_chips", line->train_chips) && json_add_real(one, "floor", line->floor) &&
             json_add_real(one, "seconds", line->seconds) && json_add_text(one, "what", rl_fate_name(line->fate));
    }
    return ok;
}

static bool add_recipes(const Recipes *recipes, cJSON *to) {
    cJSON *list = json_add_array(to, "recipes");
    bool ok = list != NULL;
    for (int i = 0; i < recipes->count && ok; i++) {
        const RlStep *step = &recipes->of[i].step;
        cJSON *one = json_add_object(list, NULL);
        ok = json_add_text(one, "name", recipes->of[i].name) &&
             json_add_real(one, "seconds", step->fits ? step->seconds : NAN);
    }
    return ok;
}

cJSON *rl_json(const RlQuestion *question, const RlAnswer *answer, const Recipes *recipes) {
    cJSON *json = cJSON_CreateObject(), *steps = NULL;
    bool ok = json && json_add_whole(json, "format_version", 1) && json_add_text(json, "program", program_version()) &&
              add_request(question, json) && add_work(question, json) && (steps = json_add_array(json, "steps"));
    if (ok && answer->found) ok = add_step(question, &answer->best[answer->first], steps);
    for (int way = 0; way < RL_WAYS && ok; way++)
        if (answer->best[way].fits && way != (int)answer->first) ok = add_step(question, &answer->best[way], steps);
    ok = ok && (!recipes || add_recipes(recipes, json)) &&
         (!(answer->goodput > 0) || json_add_real(json, "goodput", answer->goodput)) && add_certificate(answer, json);
    if (!ok) return cJSON_Delete(json), NULL;
    json_settle(json);
    return json;
}
