/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/text/prose.h"
#include "base/text/table.h"
#include "base/util.h"
#include "search/answer/plan_words.h"
#include "search/launch/launcher.h"
#include "search/report/text/brief_bars.h"
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
        snprintf(text, RL_WORDS_SIZE, "colocated on all %lld GPUs", (long long)step->train_chips);
    else
        snprintf(text, RL_WORDS_SIZE, "%lld GPUs train, %lld generate", (long long)step->train_chips,
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
    char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE], c[NUMBER_TEXT_SIZE], machine[WORDS_SIZE];
    const char *precision = question->options->text[OPTION_PRECISION];
    char adapters[48] = "";
    if (question->rank > 0) snprintf(adapters, sizeof adapters, ", LoRA of rank %lld", (long long)question->rank);
    prose_add(&line,
              "%s of %s on %s (%lld GPUs), %s%s, %lld prompts of %s tokens, %lld answer%s each, mean %s, cut at %s:",
              question->algorithm->title, question->model.name,
              machine_of(&question->chip, question->machine.text, 0, machine), (long long)question->chips,
              precision ? precision : "bf16", adapters, (long long)question->prompts, grouped_text(question->prompt, a),
              (long long)question->samples, question->samples > 1 ? "s" : "", grouped_text(question->answers.mean, b),
              grouped_text(max_real(question->cut, question->answers.longest), c));
    text_strong(out);
    prose_write(out, "", "", line.text);
    text_plain(out);
}

const char *rollout_degrees(const Rollout *rollout, char text[RL_WORDS_SIZE]) {
    ServingPool pool = {.on = rollout->layout->on};
    char way[POOL_TEXT_SIZE];
    snprintf(text, RL_WORDS_SIZE, "%lld x %s", (long long)rollout->replicas, pool_degrees(&pool, way));
    return text;
}

static void write_best(const RlQuestion *question, const RlAnswer *answer, TextOut out) {
    const RlStep *step = &answer->best[answer->first];
    Prose line = {0};
    char words[RL_WORDS_SIZE], a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE], c[NUMBER_TEXT_SIZE];
    double usd = rl_usd_per_step(question, step), error = 1 + question->profile.likely_error;
    prose_add(&line, "%s per step (likely %s to %s), %s tokens an hour", step_text(step->seconds, a),
              number_time(step->seconds / error, b), number_time(step->seconds * error, c),
              number_short(rl_tokens_per_hour(question, step), words));
    if (usd >= 0) prose_add(&line, ", $%s a step", number_short(usd, c));
    prose_add(&line, ": %s.", split_words(step, words));
    prose_write(out, "Answer: ", "  ", line.text);
}

void rl_launch_words(const RlStep *step, Prose *to) {
    char words[RL_WORDS_SIZE], a[NUMBER_TEXT_SIZE];
    const Trainer *trainer = &step->trainer;
    const Rollout *rollout = &step->rollout;
    prose_add(to, "trainer %s, micro-batch %lld, %lld update%s of %lld packed sequences of %s",
              plan_degrees(trainer->plan, words), (long long)trainer->plan->plan.knobs.microbatch_sequences,
              (long long)trainer->updates, trainer->updates > 1 ? "s" : "", (long long)trainer->sequences,
              grouped_text((double)trainer->length, a));
    prose_add(to, "; rollout %s, up to %lld answers in flight in each", rollout_degrees(rollout, words),
              (long long)min_whole(rollout->answers, rollout->slots));
}

/* Both sides in the words of who runs them. */
static void write_words(const RlStep *step, TextOut out) {
    Prose line = {0};
    char first[NUMBER_TEXT_SIZE], last[NUMBER_TEXT_SIZE];
    const Rollout *rollout = &step->rollout;
    prose_add(&line, "In %s's and %s's words: ", trainer_launcher(&step->trainer),
              engine_at(rollout->layout->on.engine)->title);
    rl_launch_words(step, &line);
    prose_add(&line, ", %s a token", step_text(rollout->first_step_seconds, first));
    if (rollout->last_step_seconds != rollout->first_step_seconds)
        prose_add(&line, " (%s for the last)", step_text(rollout->last_step_seconds, last));
    prose_add(&line, ".");
    prose_write(out, "", "  ", line.text);
}

/* Passes forward are one part, and what takes next to nothing counts as other. Pools apart work at the same time. */
static void phase_parts(const RlStep *step, Parts *out) {
    static const double LITTLE = 0.01;
    static const struct {
        const char *shared, *apart;
    } NAMES[RL_PHASES] = {[RL_GENERATION] = {"generation", "generation (rollout)"},
                          [RL_TRANSFER] = {"weight sync", "weight sync (both)"},
                          [RL_LOGPROBS] = {"log-probs, scores", "log-probs (trainer)"},
                          [RL_TRAINING] = {"training", "training (trainer)"},
                          [RL_CRITIC] = {"training of critic", "critic (trainer)"},
                          [RL_LOAD] = {"loading, offloading", "loading (trainer)"},
                          [RL_OTHER] = {"rewards, data, other", "rewards (trainer)"}};
    double rows[RL_PHASES] = {0};
    bool scores = step->rollout_side > step->phases[RL_GENERATION];
    for (int phase = 0; phase < RL_PHASES; phase++) {
        bool little = phase == RL_LOAD && step->phases[phase] < LITTLE * step->seconds;
        int row = phase == RL_REWARD && scores ? RL_GENERATION : !NAMES[phase].apart ? RL_LOGPROBS : phase;
        rows[little ? RL_OTHER : row] += step->phases[phase];
    }
    *out = (Parts){.whole = step->seconds};
    snprintf(out->title, sizeof out->title, "Where a step goes%s", rl_way_lags(step->way) ? ", two pools at once" : "");
    for (int phase = 0; phase < RL_PHASES; phase++)
        parts_add(out, step->way == RL_COLOCATED ? NAMES[phase].shared : NAMES[phase].apart, rows[phase]);
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
    double generation = step->rollout_side, busy = step->train_side;
    bool rollout = generation > busy;
    if (step->rollout.partial)
        prose_add(&line, "Partial: answers that are not done go on with new weights; none waits for the longest. ");
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
    prose_write(out, "  ", "  ", line.text);
}

/* ---- the others ---- */

const char *trainer_degrees(const Trainer *trainer, char text[RL_WORDS_SIZE]) {
    plan_degrees(trainer->plan, text);
    text[strcspn(text, ",")] = '\0';
    return text;
}

const char *split_short(const RlStep *step, char text[RL_WORDS_SIZE]) {
    if (step->way == RL_COLOCATED)
        snprintf(text, RL_WORDS_SIZE, "colocated");
    else if (step->lag == 0)
        snprintf(text, RL_WORDS_SIZE, "%lld train, %lld generate", (long long)step->train_chips,
                 (long long)step->rollout_chips);
    else
        snprintf(text, RL_WORDS_SIZE, "%lld train, %lld generate, lag %d%s", (long long)step->train_chips,
                 (long long)step->rollout_chips, step->lag, step->way == RL_SPLIT_PARTIAL ? ", partial" : "");
    return text;
}

static void add_row(Table *table, int rank, const RlStep *step, double best, const char *note) {
    char words[RL_WORDS_SIZE], text[NUMBER_TEXT_SIZE];
    table_cell(table, "%d ", rank);
    table_cell(table, "%s", split_short(step, words));
    table_cell(table, "%s", trainer_degrees(&step->trainer, words));
    table_cell(table, "%s", rollout_degrees(&step->rollout, words));
    table_cell(table, "%s", step_text(step->seconds, words));
    table_cell(table, "%s", rank > 1 ? change_text(step->seconds / best - 1, text) : "");
    table_cell(table, "%s", note);
}

/* The best of each kind of step, and what NeMo RL's own recipes take. */
static bool write_plans(const RlQuestion *question, const RlAnswer *answer, const Recipes *recipes, TextOut out) {
    const RlStep *best = &answer->best[answer->first];
    Arena arena = {0};
    Table table = table_new(&arena, "Plans", ">|plan|trainer|rollout|>step|>more|note");
    table_wrap(&table, 1, 40);
    table_wrap(&table, 2, 34);
    table_may_drop(&table, 6);
    add_row(&table, 1, best, best->seconds, "best");
    unsigned left = ((1u << RL_WAYS) - 1) & ~(1u << answer->first);
    for (int rank = 2; rank <= RL_WAYS; rank++) {
        int next = RL_WAYS;
        for (int way = 0; way < RL_WAYS; way++)
            if (left >> way & 1 && answer->best[way].fits &&
                (next == RL_WAYS || answer->best[way].seconds < answer->best[next].seconds))
                next = way;
        if (next == RL_WAYS) break;
        const RlStep *step = &answer->best[next];
        bool near = step->seconds / best->seconds - 1 < question->profile.likely_error;
        add_row(&table, rank, step, best->seconds, near ? "too near to tell" : "");
        left &= ~(1u << next);
    }
    bool ok = table_write_text(&table, " ", out);
    arena_free(&arena);
    Prose line = {0};
    for (int i = 0; i < recipes->count; i++) {
        const RlStep *step = &recipes->of[i].step;
        char words[RL_WORDS_SIZE], text[NUMBER_TEXT_SIZE];
        prose_item(&line, "; ", "NeMo RL's %s ", recipes->of[i].name);
        if (step->fits)
            prose_add(&line, "takes %s here (%s)", step_text(step->seconds, words),
                      change_text(step->seconds / best->seconds - 1, text));
        else
            prose_add(&line, "has no room");
    }
    if (line.used > 0) prose_write(out, "    ", "    ", line.text);
    return ok;
}

static void write_failures(const RlAnswer *answer, TextOut out) {
    char a[64], b[64], c[NUMBER_TEXT_SIZE];
    const RlStep *best = &answer->best[answer->first];
    if (!(answer->goodput > 0)) return;
    Prose line = {0};
    prose_add(&line, "A failure every %s: %s goodput, so that a step takes %s in mean.",
              duration_text(answer->mtbf_seconds, a), share_text(answer->goodput, b),
              step_text(best->seconds / answer->goodput, c));
    prose_write(out, "  ", "  ", line.text);
}

static void write_proof(const RlAnswer *answer, TextOut out) {
    const RlStep *best = &answer->best[answer->first];
    const RlLine *odd = NULL; /* rl_answer() ranks it behind */
    for (int i = 0; i < answer->line_count; i++)
        if (answer->lines[i].seconds < (odd ? odd->seconds : best->seconds * (1 - 1e-9))) odd = &answer->lines[i];
    Prose line = {0};
    if (answer->open) {
        prose_write(out, "  ", "  ", "Run plan 1: not proven: the search was interrupted.");
        return;
    }
    prose_add(&line, "Run plan 1: proven the best of %d split%s in this cost model", answer->line_count,
              answer->line_count == 1 ? "" : "s");
    if (odd)
        prose_add(&line, "; with %lld GPUs that train, an odd part of a host, %.1f%% faster",
                  (long long)odd->train_chips, 100 * (1 - odd->seconds / best->seconds));
    prose_add(&line, ".");
    prose_write(out, "  ", "  ", line.text);
}

static void write_confidence(const RlQuestion *question, TextOut out) {
    Prose line = {0};
    prose_add(&line, "published steps differ by %.0f%% in the median from this model's; what is nearer is a tie.",
              100 * question->profile.likely_error);
    prose_write(out, "Confidence: ", "  ", line.text);
}

/* What no option said. */
static void write_assumed(const RlQuestion *question, const RlStep *best, TextOut out) {
    const char *const *text = question->options->text;
    char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE];
    Prose line = {0};
    host_share_words(&question->chip, &line);
    if (!text[OPTION_PROMPTS]) prose_item(&line, ", ", "%lld prompts", (long long)question->prompts);
    if (!text[OPTION_SAMPLES] && question->samples > 1)
        prose_item(&line, ", ", "%lld answers each", (long long)question->samples);
    if (!text[OPTION_PROMPT]) prose_item(&line, ", ", "prompts of %s tokens", grouped_text(question->prompt, a));
    if (!text[OPTION_ANSWER] && !text[OPTION_LENGTHS])
        prose_item(&line, ", ", "answers of %s", grouped_text(question->answers.mean, a));
    if (!text[OPTION_MAX_ANSWER] && !text[OPTION_LENGTHS])
        prose_item(&line, ", ", "cut at %s", grouped_text(question->answers.longest, a));
    if (!text[OPTION_LAG]) prose_item(&line, ", ", "lag 1 allowed");
    prose_item(&line, ", ", "engines take %.0f%% of HBM", 100 * question->engine_memory[best->way == RL_COLOCATED]);
    prose_add(&line, "; %s of %s HBM usable to train.",
              number_bytes(best->trainer.plan->estimate.memory_limit_bytes, a),
              number_bytes(best->trainer.plan->request->question.chip.hbm_bytes.value, b));
    prose_write(out, "Assumed: ", "  ", line.text);
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
    if (question->rank == 0)
        prose_add(&line, " --emit %s", nemo ? RL_FRAMEWORK[0].name : RL_FRAMEWORK[1].name),
            fprintf(out.file, "Next: %s\n", line.text);
}

typedef struct {
    const RlQuestion *question;
    const RlAnswer *answer;
    const Recipes *recipes;
} Screen;

static bool write_answer(const void *context, TextOut out) {
    const Screen *screen = context;
    const RlStep *best = &screen->answer->best[screen->answer->first];
    write_heading(screen->question, out);
    write_best(screen->question, screen->answer, out);
    write_limits(screen->question, best, out);
    write_failures(screen->answer, out);
    write_proof(screen->answer, out);
    write_words(best, out);
    return write_plans(screen->question, screen->answer, screen->recipes, out);
}

static bool write_end(const void *context, TextOut out) {
    const Screen *screen = context;
    write_confidence(screen->question, out);
    write_assumed(screen->question, &screen->answer->best[screen->answer->first], out);
    write_next(screen->question, out);
    return true;
}

const char *rl_lack_words(const RlAnswer *answer) {
    return answer->rollouts.count == 0 ? "no engine has room for the weights and one answer; give more chips"
                                       : "no plan that trains fits on what is left; give more hosts";
}

bool rl_write_text(const RlQuestion *question, const RlAnswer *answer, const Recipes *recipes, TextOut out,
                   Error *error) {
    if (!answer->found) {
        write_heading(question, out);
        prose_write(out, "Answer: no split fits: ", "  ", rl_lack_words(answer));
        return !ferror(out.file) || error_stream(error, "text", "output");
    }
    const Screen screen = {question, answer, recipes};
    const RlStep *best = &answer->best[answer->first];
    Parts time, memory;
    if (!write_answer(&screen, out)) return error_memory(error);
    phase_parts(best, &time);
    plan_memory_parts(best->trainer.plan, &memory);
    snprintf(memory.title, sizeof memory.title, "Where HBM goes, trainer at its peak");
    int used = lines_of(write_answer, &screen, out) + lines_of(write_end, &screen, out);
    if (used >= LINES_UNKNOWN) return error_memory(error);
    brief_bars_write(&time, &memory, bar_rows(used), out);
    write_end(&screen, out);
    return !ferror(out.file) || error_stream(error, "text", "output");
}

void rl_write_left_out(const RlQuestion *question, FILE *out) {
    const char *files[] = {question->answers.left_out, question->calls_left_out};
    for (int i = 0; i < 2; i++)
        if (files[i]) fprintf(out, "shardopt: warning: %s\n", files[i]);
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
