/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The best step against every split with every layout, put together by another hand; and laws of any machine. */
#include "search/rl/rl_answer.h"

#include "base/util.h"
#include "mesh/host_link.h"
#include "models/parameters.h"
#include "tests/sanitizer.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { PROBLEMS = 100 / PROBLEMS_SHARE, CHIPS_MOST = 32 };

/* More of them by RL_PROBLEMS: 500 take four minutes. Laws, which solve each a dozen times, have a tenth of them. */
static int problems(int usual) {
    const char *text = getenv("RL_PROBLEMS");
    return text ? atoi(text) : usual;
}

typedef struct {
    Arena arena;
    Options options;
    RlQuestion question;
    RlAnswer answer;
    Trainer trainers[CHIPS_MOST + 1]; /* by chips, as they were searched for */
    bool searched[CHIPS_MOST + 1];
} Case;

static void give(Case *to, Option option, const char *text) { to->options.text[option] = arena_text(&to->arena, text); }

static void give_whole(Case *to, Option option, long value) {
    char text[32];
    snprintf(text, sizeof text, "%ld", value);
    give(to, option, text);
}

#define PICK(...) ((const long[]){__VA_ARGS__}[rand() % (sizeof((const long[]){__VA_ARGS__}) / sizeof(long))])

/* A machine of up to 32 chips, of one host or several. */
static Case *random_case(void) {
    static const char *const MODELS[] = {"llama3.2-1b", "qwen2.5-0.5b", "llama3.1-8b", "qwen1.5-moe-a2.7b"};
    static const char *const ALGORITHMS[] = {"grpo", "dapo", "ppo", "reinforce++"};
    Case *out = calloc(1, sizeof *out);
    give(out, OPTION_MODEL, MODELS[rand() % 4]);
    give(out, OPTION_CHIP, rand() % 3 ? "h100" : "a100");
    give_whole(out, OPTION_CHIPS, PICK(2, 3, 4, 8, 16, 24, 32));
    give(out, OPTION_ALGORITHM, ALGORITHMS[rand() % 4]);
    give_whole(out, OPTION_PROMPTS, PICK(8, 16, 64));
    give_whole(out, OPTION_SAMPLES, PICK(2, 8, 16));
    give_whole(out, OPTION_PROMPT, PICK(100, 500));
    give_whole(out, OPTION_ANSWER, PICK(200, 800));
    give_whole(out, OPTION_MAX_ANSWER, PICK(800, 2048, 4096));
    int lag = rand() % 3;
    give_whole(out, OPTION_LAG, lag);
    if (lag > 0 && rand() % 3 == 0) give(out, OPTION_PARTIAL, rand() % 2 ? "yes" : "no");
    if (rand() % 4 == 0) give(out, OPTION_LOGPROBS, "rollout");
    if (rand() % 4 == 0) give(out, OPTION_REWARD, MODELS[rand() % 4]);
    if (out->options.text[OPTION_REWARD] && rand() % 2) give(out, OPTION_REWARD_ON, "rollout");
    bool critic = strcmp(out->options.text[OPTION_ALGORITHM], "ppo") == 0;
    if (!critic && strcmp(out->options.text[OPTION_PROMPTS], "16") == 0) give(out, OPTION_LORA, "16");
    if (rand() % 4 == 0) give(out, OPTION_TURNS, "3"), give(out, OPTION_TOOL_TIME, rand() % 2 ? "1" : "20");
    return out;
}

static void solve(Case *one) {
    Error error = {0};
    cr_assert(rl_question(&one->options, &one->arena, &one->question, &error), "%s: %s", error.where, error.text);
    cr_assert(rl_answer(&one->question, &one->arena, &one->answer, &error), "%s: %s", error.where, error.text);
}

/* The command line, for who looks into a failure. */
static const char *line_of(Case *one) {
    const char *text = "shardopt rl";
    for (int i = 0; i < OPTION_COUNT; i++)
        if (one->options.text[i])
            text = arena_format(&one->arena, "%s --%s %s", text, RL_OPTIONS[i].name, one->options.text[i]);
    return text;
}

static void drop(Case *one) {
    arena_free(&one->arena);
    free(one);
}

/* ---- by another hand ---- */

/* What a split ranks by: an odd part of one host of an even number of chips has to be quicker by the likely error. */
static double rank_of(const RlQuestion *question, int64_t train, double seconds) {
    bool host = question->chips <= question->chip.chips_per_host;
    return seconds *
           (host && question->chips % 2 == 0 && train > 1 && train % 2 ? 1 + question->profile.likely_error : 1);
}

static double own_rank(const Case *one) {
    const RlStep *step = &one->answer.best[one->answer.first];
    return one->answer.found ? rank_of(&one->question, step->train_chips, step->seconds) : INFINITY;
}

static const char *given_text(const Case *one, Option option) { return one->options.text[option]; }

static double best_rollout(Case *one, RolloutPool pool) {
    double best = INFINITY;
    for (int i = 0; i < one->answer.rollouts.count; i++)
        best = fmin(best, rollout_of(&one->answer.rollouts, &one->answer.rollouts.layouts[i], pool).seconds);
    return best;
}

static const Trainer *trainer_of(Case *one, int64_t chips) {
    Trainer *trainer = &one->trainers[chips];
    Error error = {0};
    if (!one->searched[chips])
        cr_assert(trainer_search(&one->question, chips, INFINITY, &one->arena, trainer, &error), "%s", error.text);
    one->searched[chips] = true;
    return trainer;
}

/* The step as docs/rl.md has it, for one split. */
static double step_of(Case *one, bool shared, int64_t train, int lag, bool partial) {
    const RlQuestion *question = &one->question;
    const RlProfile *figures = &question->profile;
    int64_t rollout = shared ? question->chips : question->chips - train;
    double generation = best_rollout(one, (RolloutPool){rollout, lag, shared, partial});
    Trainer trainer = *trainer_of(one, train);
    for (int64_t fewer = 1; question->unit == 1 && fewer < train; fewer++) { /* chips of one host may idle */
        const Trainer *other = trainer_of(one, fewer);
        if (other->fits && (!trainer.fits || other->seconds < trainer.seconds)) trainer = *other;
    }
    if (!trainer.fits || !(generation < INFINITY)) return INFINITY;
    bool scores = given_text(one, OPTION_REWARD) && !given_text(one, OPTION_REWARD_ON);
    double passes = !given_text(one, OPTION_LOGPROBS) + question->algorithm->reference + question->critic_share +
                    (scores ? question->reward_share : 0);
    if (given_text(one, OPTION_REWARD_ON))
        generation += trainer.forward_seconds * question->reward_share * (double)train / (double)rollout;
    double training = trainer.seconds * (1 + question->critic_share) + passes * trainer.forward_seconds;
    double hosts = fmax(1, (double)trainer.chips / (double)question->chip.chips_per_host);
    if (!given_text(one, OPTION_LOGPROBS)) training += trainer.adapter_seconds;
    double transfer = figures->transfer_seconds + trainer.sent_bytes / figures->transfer_bytes_per_second / sqrt(hosts);
    double copied = 2 * (trainer.moved_bytes + (shared ? trainer.state_bytes : 0)) / host_one_way_rate(&question->chip);
    double load = copied + (shared ? 2 * figures->load_seconds : 0);
    double busy = training + load + figures->other_share * (generation + training);
    return transfer + (lag > 0 && !shared ? fmax(generation, busy) : generation + busy);
}

Test(rl_answer, every_split_with_every_layout, .timeout = 3000) {
    srand(38);
    int found = 0, cut = 0, count = problems(PROBLEMS);
    for (int problem = 0; problem < count; problem++) {
        Case *one = random_case();
        solve(one);
        const RlQuestion *question = &one->question;
        double best = INFINITY;
        for (int64_t parts = 1; parts <= question->hosts; parts++) {
            int64_t train = parts * question->unit;
            if (parts == question->hosts) best = fmin(best, step_of(one, true, train, 0, false));
            if (parts == question->hosts) continue;
            best = fmin(best, rank_of(question, train, step_of(one, false, train, 0, false)));
            const char *partial = given_text(one, OPTION_PARTIAL);
            for (int open = 0; open < 2 && question->lag > 0; open++)
                if (!partial || (partial[0] == 'y') == open)
                    best = fmin(best, rank_of(question, train, step_of(one, false, train, question->lag, open)));
        }
        double own = own_rank(one);
        cr_assert((isinf(own) && isinf(best)) || fabs(own / best - 1) < 1e-9, "%s: %.9g s, every split %.9g s",
                  line_of(one), own, best);
        found += one->answer.found;
        for (int i = 0; i < one->answer.line_count; i++)
            cut += one->answer.lines[i].fate == RL_CUT_FLOOR || one->answer.lines[i].fate == RL_CUT_ROLLOUT ||
                   one->answer.lines[i].fate == RL_CUT_TRAINER;
        drop(one);
    }
    cr_assert_gt(found, count * 9 / 10);
    cr_assert_gt(cut, count, "bounds cut next to nothing: %d", cut);
}

/* Batches in flight together: a step lasts a share of the longest answer's, or what the slots need for its tokens. */
Test(rl_answer, batches_overlap) {
    static const char *const WORDS[][2] = {{"llama3.1-8b", "2048"}, {"llama3.1-8b", "100"}};
    for (int c = 0; c < 2; c++) {
        Case *one = calloc(1, sizeof *one);
        give(one, OPTION_MODEL, WORDS[c][0]);
        give(one, OPTION_CHIP, "h100");
        give(one, OPTION_CHIPS, "8");
        give(one, OPTION_ANSWER, c ? "4000" : "300");
        give(one, OPTION_MAX_ANSWER, "4000");
        give(one, OPTION_PROMPTS, WORDS[c][1]);
        solve(one);
        RolloutSpace *space = &one->answer.rollouts;
        int overlapped = 0;
        for (int i = 0; i < space->count; i++) {
            Rollout batch = rollout_of(space, &space->layouts[i], (RolloutPool){8, 1, false, false});
            Rollout four = rollout_of(space, &space->layouts[i], (RolloutPool){8, 4, false, false});
            double tokens = (double)answers_generated(&one->question) * one->question.answers.mean;
            if (!(batch.seconds < INFINITY)) continue;
            double wanted = fmax(batch.steps / four.lag, tokens / (double)(four.replicas * four.slots));
            cr_assert_leq(four.seconds, batch.seconds);
            if (four.lag > 1) cr_assert_float_eq(four.steps, wanted, 1e-9 * wanted);
            overlapped += four.lag > 1;
        }
        cr_assert_gt(overlapped, 0);
        drop(one);
    }
}

/* ---- laws ---- */

static Case *copy_of(const Case *base) {
    Case *one = calloc(1, sizeof *one);
    for (int i = 0; i < OPTION_COUNT; i++)
        if (base->options.text[i]) give(one, (Option)i, base->options.text[i]);
    return one;
}

static double rank_with(const Case *base, Option option, const char *text) {
    Case *one = copy_of(base);
    if (text) give(one, option, text);
    solve(one);
    double rank = own_rank(one);
    drop(one);
    return rank;
}

static void never_longer(Case *base, Option option, const char *text) {
    double before = rank_with(base, option, NULL), after = rank_with(base, option, text);
    cr_assert_leq(after, before * (1 + 1e-9), "--%s %s: %g s become %g s: %s", option_name(option), text, before, after,
                  line_of(base));
}

Test(rl_answer, more_never_takes_longer, .timeout = 3000) {
    srand(39);
    int count = max_whole(1, problems(PROBLEMS) / 10);
    for (int problem = 0; problem < count; problem++) {
        Case *base = random_case();
        char text[32];
        long chips = strtol(base->options.text[OPTION_CHIPS], NULL, 10), lag = base->options.text[OPTION_LAG][0] - '0';
        snprintf(text, sizeof text, "%ld", chips < 8 ? chips + 1 : chips + 8);
        never_longer(base, OPTION_CHIPS, text);
        snprintf(text, sizeof text, "%ld", lag + 1);
        never_longer(base, OPTION_LAG, text);
        give(base, OPTION_CHIP, "h100");
        never_longer(base, OPTION_CHIP, "h200");
        give(base, OPTION_LENGTHS, SHARDOPT_TEST_DATA "/rl/answers.txt");
        base->options.text[OPTION_ANSWER] = NULL;
        give(base, OPTION_MAX_ANSWER, "4096");
        never_longer(base, OPTION_MAX_ANSWER, "1000"); /* the same answers, cut sooner */
        drop(base);
    }
}

/* A choice that is more work never makes the step shorter, one that is less never longer, on any machine. */
Test(rl_answer, choices_move_as_they_should, .timeout = 3000) {
    static const struct {
        Option option, other;
        const char *text, *with, *more; /* more: NULL: it is less work than without it */
    } CHOICES[] = {
        {OPTION_TOOL_TIME, OPTION_TURNS, "2", "4", "8"},
        {OPTION_TURNS, OPTION_TOOL_TIME, "2", "3", "6"},
        {OPTION_REWARD, OPTION_COUNT, "llama3.2-1b", NULL, "llama3.1-8b"},
        {OPTION_LOGPROBS, OPTION_COUNT, "rollout", NULL, "trainer"},
        {OPTION_ROLLOUT_NODES, OPTION_ROLLOUT_CHIP, "2", "h100", NULL},
        {OPTION_ROLLOUT_CHIP, OPTION_ROLLOUT_NODES, "h200", "1", NULL},
        {OPTION_PARTIAL, OPTION_COUNT, "auto", NULL, "no"},
        {OPTION_PARTIAL, OPTION_COUNT, "auto", NULL, "yes"},
    };
    srand(40);
    int count = max_whole(1, problems(PROBLEMS) / 10);
    for (int problem = 0; problem < count; problem++) {
        Case *base = random_case();
        static const Option OPEN[] = {OPTION_PARTIAL, OPTION_LOGPROBS,  OPTION_REWARD,
                                      OPTION_TURNS,   OPTION_TOOL_TIME, OPTION_REWARD_ON};
        for (size_t i = 0; i < COUNT_OF(OPEN); i++) base->options.text[OPEN[i]] = NULL;
        give(base, OPTION_LAG, "1");
        for (size_t i = 0; i < COUNT_OF(CHOICES); i++) {
            Case *one = copy_of(base);
            if (CHOICES[i].other != OPTION_COUNT) give(one, CHOICES[i].other, CHOICES[i].with);
            if (CHOICES[i].option == OPTION_ROLLOUT_NODES) give(one, CHOICES[i].option, "1");
            if (CHOICES[i].option == OPTION_ROLLOUT_CHIP) give(one, CHOICES[i].option, "h100");
            if (CHOICES[i].more) give(one, CHOICES[i].option, CHOICES[i].more); /* then what is less: */
            never_longer(one, CHOICES[i].option, CHOICES[i].text);
            drop(one);
        }
        drop(base);
    }
}

Test(rl_answer, lognormal_lengths_have_their_mean_and_spread) {
    Arena arena = {0};
    Lengths lengths;
    cr_assert(answers_lognormal(1000, 1e6, 0.8, &arena, &lengths)); /* hardly any is cut */
    double mean = 0, below = 0, median = 0;
    for (int64_t i = 0; i < lengths.count; i++) {
        mean += lengths.length[i] * (lengths.share[i] - below);
        if (below < 0.5 && lengths.share[i] >= 0.5) median = lengths.length[i];
        below = lengths.share[i];
    }
    cr_assert_float_eq(mean, 1000, 1e-3);
    cr_assert_float_eq(median, 1000 * exp(-0.32), 5); /* mean = median x exp(sigma^2 / 2) */
    cr_assert(answers_lognormal(3000, 4000, 0.8, &arena, &lengths));
    cr_assert_eq(lengths.longest, 4000);
    cr_assert(answers_lognormal(2, 100, 0.8, &arena, &lengths)); /* an answer has a token */
    cr_assert_eq(lengths.length[0], 1);
    cr_assert(answers_lognormal(4000, 4000, 0.8, &arena, &lengths)); /* all are cut */
    cr_assert_float_eq(lengths.length[0], 4000, 400);
    arena_free(&arena);
}
