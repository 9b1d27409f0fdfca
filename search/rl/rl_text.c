/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/text/prose.h"
#include "base/util.h"
#include "search/answer/plan_words.h"
#include "search/launch/launcher.h"
#include "search/rl/rl_files.h"
#include "search/rl/rl_report.h"
#include "search/serving/report/serving_report.h"

#include <math.h>
#include <string.h>

const char *rollout_words(const Rollout *rollout, char text[RL_WORDS_SIZE]) {
    ServingPool pool = {.on = rollout->layout->on};
    char way[POOL_TEXT_SIZE];
    int engine = rollout->layout->on.engine;
    snprintf(text, RL_WORDS_SIZE, "%s, %lld replica%s of %s", engine_at(engine)->title, (long long)rollout->replicas,
             rollout->replicas > 1 ? "s" : "", pool_notation(&pool, way));
    return text;
}

const char *trainer_words(const Trainer *trainer, char text[RL_WORDS_SIZE]) {
    char label[WORDS_SIZE];
    snprintf(text, RL_WORDS_SIZE, "%s, micro-batch %lld", plan_label(trainer->plan, label),
             (long long)trainer->plan->plan.knobs.microbatch_sequences);
    return text;
}

static const char *part_words(const RlStep *step, char text[RL_WORDS_SIZE]) {
    if (step->way == RL_COLOCATED)
        snprintf(text, RL_WORDS_SIZE, "colocated on all %lld chips", (long long)step->train_chips);
    else
        snprintf(text, RL_WORDS_SIZE, "%lld chips train, %lld generate", (long long)step->train_chips,
                 (long long)step->rollout_chips);
    return text;
}

const char *split_words(const RlStep *step, char text[RL_WORDS_SIZE]) {
    char lag[48] = "on policy", part[RL_WORDS_SIZE];
    if (step->lag > 0)
        snprintf(lag, sizeof lag, "%d step%s off policy%s", step->lag, step->lag > 1 ? "s" : "",
                 step->way == RL_SPLIT_PARTIAL ? ", partial" : "");
    snprintf(text, RL_WORDS_SIZE, "%.200s, %s", part_words(step, part), lag);
    return text;
}

/* ---- the best step ---- */

static const char *trainer_launcher(const Trainer *trainer) {
    LauncherSet set = trainer->plan->request->requested.launchers;
    for (int i = 0; i < launcher_count(); i++)
        if (set >> i & 1) return launcher_name(i);
    return "no launcher";
}

static void write_heading(const RlQuestion *question, TextOut out) {
    Prose line = {0};
    char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE], c[NUMBER_TEXT_SIZE];
    prose_add(&line,
              "%s of %s on %s of %s (%lld chips): %lld prompts of %s tokens, %lld answer%s each, mean %s, cut at %s:",
              question->algorithm->title, question->model.name, question->machine.text, question->chip.title,
              (long long)question->chips, (long long)question->prompts, grouped_text(question->prompt, a),
              (long long)question->samples, question->samples > 1 ? "s" : "", grouped_text(question->answers.mean, b),
              grouped_text(question->answers.longest, c));
    prose_write(out, "", "", line.text);
}

static void write_best(const RlQuestion *question, const RlStep *step, TextOut out) {
    Prose line = {0};
    char words[RL_WORDS_SIZE], a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE], c[NUMBER_TEXT_SIZE];
    double usd = rl_usd_per_step(question, step);
    prose_add(&line, "%s a step, %s: %s tokens an hour", step_text(step->seconds, a), split_words(step, words),
              number_short(rl_tokens_per_hour(question, step), b));
    if (usd >= 0) prose_add(&line, ", $%s a step", number_short(usd, c));
    prose_add(&line, ".");
    text_strong(out);
    prose_write(out, "", "  ", line.text);
    text_plain(out);
    line = (Prose){0};
    prose_add(&line, "Trainer: %s (%lld chips, %s, %s of HBM); %lld update%s of %lld packed sequences of %s tokens.",
              trainer_words(&step->trainer, words), (long long)step->train_chips, trainer_launcher(&step->trainer),
              number_bytes(memory_total(&step->trainer.plan->estimate.memory), b), (long long)step->trainer.updates,
              step->trainer.updates > 1 ? "s" : "", (long long)step->trainer.sequences,
              grouped_text((double)step->trainer.length, a));
    prose_write(out, "", "  ", line.text);
    line = (Prose){0};
    prose_add(&line, "Rollout: %s; up to %lld answers at once in each; %s a token",
              rollout_words(&step->rollout, words), (long long)min_whole(step->rollout.answers, step->rollout.slots),
              step_text(step->rollout.first_step_seconds, a));
    if (step->rollout.last_step_seconds != step->rollout.first_step_seconds)
        prose_add(&line, " with all in flight, %s for the last", step_text(step->rollout.last_step_seconds, b));
    prose_add(&line, ".");
    prose_write(out, "", "  ", line.text);
}

/* Passes forward are one row, and what takes next to nothing counts as other. */
static void write_phases(const RlStep *step, TextOut out) {
    static const double LITTLE = 0.01;
    static const bool PASS[RL_PHASES] = {
        [RL_LOGPROBS] = true, [RL_REFERENCE] = true, [RL_TEACHER] = true, [RL_VALUES] = true, [RL_REWARD] = true};
    double rows[RL_PHASES] = {0};
    for (int phase = 0; phase < RL_PHASES; phase++) {
        bool little = phase == RL_LOAD && step->phases[phase] < LITTLE * step->seconds;
        rows[PASS[phase] ? RL_LOGPROBS : little ? RL_OTHER : phase] += step->phases[phase];
    }
    fprintf(out.file, "%-30s %9s  share  pool\n", "Phase", "seconds");
    for (int phase = 0; phase < RL_PHASES; phase++) {
        if (!(rows[phase] > 0)) continue;
        const char *pool = step->way == RL_COLOCATED ? "all"
                           : phase == RL_GENERATION  ? "rollout"
                           : phase == RL_TRANSFER    ? "both"
                                                     : "trainer";
        fprintf(out.file, "%-30s %9.2f  %4.0f%%  %s\n",
                phase == RL_LOGPROBS ? "forward: log-probs and scores" : rl_phase_words((RlPhase)phase), rows[phase],
                100 * rows[phase] / step->seconds, pool);
    }
}

/* The share of the answers that are cut at the longest. */
static double cut_share(const Lengths *lengths) {
    int64_t i = lengths->count - 1;
    while (i > 0 && lengths->length[i - 1] >= lengths->longest) i--;
    return 1 - (i > 0 ? lengths->share[i - 1] : 0);
}

static void write_limits(const RlQuestion *question, const RlStep *step, TextOut out) {
    Prose line = {0};
    char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE];
    double generation = step->phases[RL_GENERATION], busy = step->train_side;
    bool rollout = generation > busy;
    if (step->rollout.partial)
        prose_add(&line,
                  "Partial: answers that are not done go on with the new weights, and none waits for the longest. ");
    else if (step->rollout.lag > 1)
        prose_add(&line, "Answers of up to %d steps are in flight together, so that none waits for the longest. ",
                  step->rollout.lag);
    else if (step->rollout.tail_seconds > 0)
        prose_add(&line,
                  "The last tenth of the answers takes %s of it, %.0f%% of the step; the longest has %s tokens. ",
                  step_text(step->rollout.tail_seconds, a), 100 * step->rollout.tail_seconds / step->seconds,
                  grouped_text(lengths_longest_of(&question->answers, (double)answers_generated(question)), b));
    else
        prose_add(&line, "%.0f%% of the answers are cut at %s tokens and end together. ",
                  100 * cut_share(&question->answers), grouped_text(question->answers.longest, a));
    prose_add(&line, "%s limits: ", rollout ? "Generation" : "Training");
    if (rl_way_lags(step->way))
        prose_add(&line, "%s waits %.0f%% of the step.", rollout ? "the trainer" : "the rollout pool",
                  100 * fabs(generation - busy) / step->seconds);
    else
        prose_add(&line, "%.0f%% of the step.", 100 * max_real(generation, busy) / step->seconds);
    prose_write(out, "", "  ", line.text);
}

/* ---- the others ---- */

static void write_others(const RlQuestion *question, const RlAnswer *answer, TextOut out) {
    const RlStep *best = &answer->best[answer->first];
    for (int way = 0; way < RL_WAYS; way++) {
        const RlStep *step = &answer->best[way];
        Prose line = {0};
        char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE], words[RL_WORDS_SIZE];
        if (way == (int)answer->first || !step->fits) continue;
        double more = step->seconds / best->seconds - 1;
        prose_add(&line, "Instead %s (%s%s): %s; ", step_text(step->seconds, a), change_text(more, b),
                  more < question->profile.likely_error ? ", too near to tell" : "", split_words(step, words));
        prose_add(&line, "%s.", rollout_words(&step->rollout, words));
        prose_write(out, "", "  ", line.text);
    }
}

static void write_recipes(const Recipes *recipes, const RlStep *best, TextOut out) {
    for (int i = 0; i < recipes->count; i++) {
        const RlStep *step = &recipes->of[i].step;
        Prose line = {0};
        char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE], words[RL_WORDS_SIZE];
        prose_add(&line, "As NeMo RL's %s ", recipes->of[i].name);
        if (!step->fits)
            prose_add(&line, "it has no room.");
        else
            prose_add(&line, "%s (%s): %s.", step_text(step->seconds, a),
                      change_text(step->seconds / best->seconds - 1, b), part_words(step, words));
        prose_write(out, "", "  ", line.text);
    }
}

static void write_failures(const RlAnswer *answer, TextOut out) {
    char a[64], b[64], c[NUMBER_TEXT_SIZE];
    const RlStep *best = &answer->best[answer->first];
    if (!(answer->goodput > 0)) return;
    fprintf(out.file, "A failure every %s: %s goodput, so that a step takes %s in mean.\n",
            duration_text(answer->mtbf_seconds, a), share_text(answer->goodput, b),
            step_text(best->seconds / answer->goodput, c));
}

static void write_proof(const RlAnswer *answer, TextOut out) {
    int cut = 0;
    for (int i = 0; i < answer->line_count; i++) {
        RlFate fate = answer->lines[i].fate;
        cut += fate == RL_CUT_FLOOR || fate == RL_CUT_ROLLOUT;
    }
    Prose line = {0};
    prose_add(&line,
              "Proven by this model: best of %d splits; %d cut by bounds, %d searches of plans, %d engine layouts.",
              answer->line_count, cut, answer->trainer_searches, answer->rollouts.count);
    prose_write(out, "", "  ", line.text);
}

static void write_next(const RlQuestion *question, TextOut out) {
    Prose line = {0};
    prose_add(&line, "shardopt rl");
    for (int i = 0; i < OPTION_COUNT; i++) {
        const char *text = question->options->text[i];
        if (!text || !RL_OPTIONS[i].name || !RL_OPTIONS[i].is_input) continue;
        prose_add(&line, " --%s", RL_OPTIONS[i].name);
        if (*text) prose_add(&line, strpbrk(text, " ;|&<>") ? " \"%s\"" : " %s", text);
    }
    bool nemo = RL_FRAMEWORK[0].estimators[question->algorithm - RL_ALGORITHM] != NULL;
    fprintf(out.file, "Next: %s --emit %s\n", line.text, nemo ? RL_FRAMEWORK[0].name : RL_FRAMEWORK[1].name);
}

bool rl_write_text(const RlQuestion *question, const RlAnswer *answer, const Recipes *recipes, TextOut out,
                   Error *error) {
    write_heading(question, out);
    if (!answer->found) {
        fprintf(out.file, "No split fits: %s\n",
                answer->rollouts.count == 0 ? "no engine has room for the weights and one answer; give more chips"
                                            : "no plan that trains fits on what is left; give more hosts");
        return !ferror(out.file) || error_stream(error, "text", "output");
    }
    const RlStep *best = &answer->best[answer->first];
    write_best(question, best, out);
    write_phases(best, out);
    write_limits(question, best, out);
    write_others(question, answer, out);
    write_recipes(recipes, best, out);
    write_failures(answer, out);
    write_proof(answer, out);
    write_next(question, out);
    return !ferror(out.file) || error_stream(error, "text", "output");
}

void rl_write_certificate(const RlAnswer *answer, FILE *out) {
    fprintf(out, "way\ttrain_chips\tfloor_s\tstep_s\twhat\n");
    for (int i = 0; i < answer->line_count; i++) {
        const RlLine *line = &answer->lines[i];
        fprintf(out, "%s\t%lld\t%.4g\t", rl_way_name(line->way), (long long)line->train_chips, line->floor);
        if (line->seconds < INFINITY) fprintf(out, "%.4g", line->seconds);
        fprintf(out, "\t%s\n", rl_fate_name(line->fate));
    }
}
