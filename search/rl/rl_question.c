/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/rl/rl_question.h"

#include "base/file.h"
#include "base/number.h"
#include "base/util.h"
#include "models/config/model_json.h"
#include "models/parameters.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TOKENS_MAX = 1 << 24, PROMPTS_MAX = 1 << 20, SAMPLES_MAX = 4096, ANSWERS_MAX = 1 << 22 };

/* ---- lengths ---- */

enum { POINTS = 1000 };
static const double DEVIATIONS = 4.5;

/* The share of a normal distribution below `x` deviations, by Marsaglia's series ("Evaluating the Normal Distribution",
 * 2004), to 1e-15: the last digits of erfc() are each C library's own. */
static double normal_share(double x) {
    double sum = x;
    for (double term = x, odd = 3; fabs(term) > 1e-17 * fabs(sum); odd += 2) sum += term *= x * x / odd;
    return 0.5 + sum * exp(-x * x / 2) / sqrt(2 * 3.14159265358979323846);
}

/* Point `i` of those at even distances in ln(length): deviations from the mean, and the share up to its end. */
static double point_deviation(int i) { return DEVIATIONS * (2 * (i + 0.5) / POINTS - 1); }
static double point_share(int i) {
    return i + 1 == POINTS ? 1 : normal_share(DEVIATIONS * (2 * (i + 1.0) / POINTS - 1));
}

static double fill(Lengths *out, double middle, double most, double sigma) {
    double below = 0;
    out->mean = 0;
    for (int i = 0; i < out->count; i++) {
        double share = point_share(i), length = middle * exp(sigma * point_deviation(i));
        out->length[i] = min_real(most, max_real(1, length));
        out->share[i] = share;
        out->mean += out->length[i] * (share - below);
        below = share;
    }
    out->longest = out->length[out->count - 1];
    return out->mean;
}

bool answers_lognormal(double mean, double most, double sigma, Arena *arena, Lengths *out) {
    double low = mean * 1e-3, high = most * 1e3;
    *out = (Lengths){ARENA_NEW(arena, double, POINTS), ARENA_NEW(arena, double, POINTS), POINTS, 0, 0, NULL};
    if (!out->length || !out->share) return false;
    for (int i = 0; i < 100; i++) {
        double middle = sqrt(low * high);
        *(fill(out, middle, most, sigma) < mean ? &low : &high) = middle;
    }
    out->mean = mean; /* to the last digit, where most answers are cut */
    return true;
}

double length_at(const Lengths *lengths, double share) {
    int64_t low = 0, high = lengths->count - 1;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (lengths->share[middle] < share)
            low = middle + 1;
        else
            high = middle;
    }
    return lengths->length[low];
}

static bool read_lengths(const Words *words, RlQuestion *out) {
    const char *file = given(words, OPTION_LENGTHS);
    int64_t answer = 1024, prompt = 256, most = 0;
    char *text;
    size_t length;
    if (!words_whole(words, OPTION_ANSWER, 1, TOKENS_MAX, &answer) ||
        !words_whole(words, OPTION_MAX_ANSWER, 1, TOKENS_MAX, &most) ||
        !words_whole(words, OPTION_PROMPT, 1, TOKENS_MAX, &prompt))
        return false;
    out->prompt = (double)prompt;
    if (most > 0 && !given(words, OPTION_ANSWER)) answer = min_whole(answer, divide_up(most, 4));
    if (file) {
        if (given(words, OPTION_ANSWER))
            return words_wrong(words, OPTION_LENGTHS, "contradicts --answer; give one of them");
        return file_read(file, 64 << 20, words->arena, &text, &length, words->error) &&
               lengths_read(text, file, (double)most, words->arena, &out->answers, words->error);
    }
    if (most == 0) most = 4 * answer;
    if (most < answer)
        return words_wrong(words, OPTION_MAX_ANSWER,
                           "%lld is below the mean of %lld tokens; give the longest that an answer may be",
                           (long long)most, (long long)answer);
    out->cut = (double)most;
    return answers_lognormal((double)answer, (double)most, out->profile.answer_sigma, words->arena, &out->answers) ||
           error_memory(words->error);
}

/* An answer calls a tool between two turns, one of twice the tokens twice as often. */
static bool read_tools(const Words *words, RlQuestion *out) {
    const char *time = given(words, OPTION_TOOL_TIME), *where = words_where(words, OPTION_TOOL_TIME);
    enum { MILLISECONDS = 1000 };
    double turns = 1, seconds;
    char *text;
    size_t length;
    Lengths calls;
    if (!words_real(words, OPTION_TURNS, 1, 1e4, &turns)) return false;
    if ((turns > 1) != (time != NULL))
        return words_wrong(words, time ? OPTION_TOOL_TIME : OPTION_TURNS, "needs %s as well",
                           time ? "--turns of 2 or more" : "--tool-time");
    if (!time) return true;
    if (isdigit((unsigned char)*time)) {
        if (!number_seconds(time, where, &seconds, words->error)) return false;
        if (!answers_lognormal(MILLISECONDS * seconds, 1e3 * MILLISECONDS * seconds, out->profile.answer_sigma,
                               words->arena, &calls))
            return error_memory(words->error);
    } else if (!file_read(time, 64 << 20, words->arena, &text, &length, words->error) ||
               !lengths_read(text, time, 0, words->arena, &calls, words->error)) {
        return false;
    }
    out->calls_left_out = calls.left_out;
    out->tool_seconds = (turns - 1) * calls.mean / MILLISECONDS;
    out->tool_longest = lengths_longest_of(&calls, (turns - 1) * (double)answers_generated(out)) / MILLISECONDS;
    return true;
}

/* ---- the algorithm ---- */

static bool read_share(const Words *words, Option option, const Model *policy, double *out) {
    Model other;
    if (!model_load(given(words, option), words->arena, &other, words->error)) return false;
    *out = (double)model_parameters(&other).active_matmul / (double)model_parameters(policy).active_matmul;
    return true;
}

static bool read_algorithm(const Words *words, RlQuestion *out) {
    const char *name = given(words, OPTION_ALGORITHM) ? given(words, OPTION_ALGORITHM) : "grpo";
    int at = 0;
    if (!choice_read(name, words_where(words, OPTION_ALGORITHM), RL_OPTIONS[OPTION_ALGORITHM].values, &at,
                     words->error))
        return false;
    const RlAlgorithm *algorithm = out->algorithm = &RL_ALGORITHM[at];
    if (algorithm->groups && out->samples < 2)
        return words_wrong(words, OPTION_SAMPLES, "%s compares the answers to a prompt; give 2 or more",
                           algorithm->title);
    if (algorithm->teacher && !given(words, OPTION_TEACHER))
        return words_wrong(words, OPTION_ALGORITHM, "%s needs a teacher; give --teacher MODEL as well",
                           algorithm->title);
    if (!algorithm->teacher && given(words, OPTION_TEACHER))
        return words_wrong(words, OPTION_TEACHER, "%s has no teacher; leave it out, or give --algorithm distillation",
                           algorithm->title);
    if (!algorithm->critic && given(words, OPTION_CRITIC))
        return words_wrong(words, OPTION_CRITIC, "%s has no critic; leave it out, or give --algorithm ppo",
                           algorithm->title);
    out->critic_share = algorithm->critic ? 1 : 0;
    int scorer = 0, owner = 0;
    if (given(words, OPTION_REWARD_ON) && !given(words, OPTION_REWARD))
        return words_wrong(words, OPTION_REWARD_ON, "needs a model that runs there; give --reward MODEL as well");
    if (!choice_read(given(words, OPTION_REWARD_ON), words_where(words, OPTION_REWARD_ON),
                     RL_OPTIONS[OPTION_REWARD_ON].values, &scorer, words->error) ||
        !choice_read(given(words, OPTION_LOGPROBS), words_where(words, OPTION_LOGPROBS),
                     RL_OPTIONS[OPTION_LOGPROBS].values, &owner, words->error))
        return false;
    out->reward_by_rollout = scorer == 1;
    out->logprobs_by_rollout = owner == 1;
    return (!given(words, OPTION_REWARD) || read_share(words, OPTION_REWARD, &out->model, &out->reward_share)) &&
           (!given(words, OPTION_TEACHER) || read_share(words, OPTION_TEACHER, &out->model, &out->teacher_share)) &&
           (!given(words, OPTION_CRITIC) || read_share(words, OPTION_CRITIC, &out->model, &out->critic_share));
}

/* A rank that engines serve. */
static bool read_adapters(const Words *words, RlQuestion *out) {
    enum { RANK_MOST = 512 };
    if (given(words, OPTION_TARGETS) && !given(words, OPTION_LORA))
        return words_wrong(words, OPTION_TARGETS, "are of adapters; give --lora as well");
    if (!given(words, OPTION_LORA)) return true;
    if (out->algorithm->critic)
        return words_wrong(words, OPTION_LORA, "%s trains a critic, whose adapters are not priced; leave it out",
                           out->algorithm->title);
    return words_whole(words, OPTION_LORA, 1, RANK_MOST, &out->rank);
}

static bool read_step(const Words *words, RlQuestion *out) {
    out->prompts = 64, out->samples = 16, out->kept = 1;
    if (!words_whole(words, OPTION_PROMPTS, 1, PROMPTS_MAX, &out->prompts) ||
        !words_whole(words, OPTION_SAMPLES, 1, SAMPLES_MAX, &out->samples) ||
        !words_share(words, OPTION_KEPT, 1, &out->kept))
        return false;
    if (out->kept < 0.01) return words_wrong(words, OPTION_KEPT, "keeps next to nothing; give 1%% or more");
    int64_t all = out->prompts * out->samples;
    if (all > ANSWERS_MAX)
        return words_wrong(words, OPTION_PROMPTS, "%lld answers a step are more than %d; give fewer", (long long)all,
                           (int)ANSWERS_MAX);
    out->train_batch = all;
    return words_whole(words, OPTION_TRAIN_BATCH, 1, all, &out->train_batch) && read_algorithm(words, out) &&
           read_adapters(words, out);
}

/* ---- the machine and its split ---- */

static bool read_machine(const Words *words, Options *own, RlQuestion *out) {
    Chip device;
    if (!chip_from_words(words, &out->chip, &device) ||
        !machine_from_words(words, 0, &out->chip, &out->requested, &out->machine))
        return false;
    if (!chip_has_domains(&out->chip))
        return words_wrong(
            words, OPTION_CHIP,
            "%s is no GPU, and a torus has no hosts to part: RL is planned on GPUs; give, say, --chip h100 --nodes 8",
            out->chip.title);
    if (out->chip.usual_host_chips) { /* an instance's hosts, or --chips over --nodes, are said from here on */
        own->text[OPTION_CHIP] = out->chip.name;
        own->text[OPTION_GPUS_PER_NODE] = arena_format(words->arena, "%lld", (long long)out->chip.chips_per_host);
        if (!own->text[OPTION_GPUS_PER_NODE]) return error_memory(words->error);
    }
    if (out->requested.request.nodes > 0) own->text[OPTION_CHIPS] = NULL;
    int64_t host = max_whole(1, out->chip.chips_per_host);
    out->chips = out->machine.mesh.chips;
    out->unit = out->chips > host ? host : 1;
    out->hosts = out->chips / out->unit;
    return true;
}

static bool read_ways(const Words *words, RlQuestion *out) {
    int64_t lag = 1;
    if (!words_whole(words, OPTION_LAG, 0, RL_LAG_MAX, &lag) ||
        !words_whole(words, OPTION_TRAIN_NODES, 1, 1 << 20, &out->train_hosts))
        return false;
    out->lag = (int)lag;
    int partial = RL_EITHER;
    if (!choice_read(given(words, OPTION_PARTIAL), words_where(words, OPTION_PARTIAL),
                     RL_OPTIONS[OPTION_PARTIAL].values, &partial, words->error))
        return false;
    out->partial = (RlPartial)partial;
    if (out->partial == RL_PARTIAL && lag == 0)
        return words_wrong(words, OPTION_PARTIAL, "trains on tokens of older weights; give --lag 1 or more");
    out->engine_memory[0] = out->profile.memory_apart, out->engine_memory[1] = out->profile.memory_colocated;
    for (int shared = 0; shared < 2; shared++)
        if (!words_share(words, OPTION_ROLLOUT_MEMORY, 1, &out->engine_memory[shared])) return false;
    out->only_colocated = given(words, OPTION_COLOCATED) != NULL;
    out->brute_force = given(words, OPTION_BRUTE_FORCE) != NULL;
    if (out->rollout_only) {
        if (out->only_colocated || out->train_hosts)
            return words_wrong(words, OPTION_ROLLOUT_CHIP, "has hosts of its own; leave out --%s",
                               out->only_colocated ? "colocated" : "train-nodes");
    } else if (given(words, OPTION_ROLLOUT_NODES)) {
        return words_wrong(words, OPTION_ROLLOUT_NODES, "needs --rollout-chip as well");
    }
    if (out->only_colocated && out->train_hosts)
        return words_wrong(words, OPTION_TRAIN_NODES, "contradicts --colocated; give one of them");
    if (out->train_hosts >= out->hosts)
        return words_wrong(words, OPTION_TRAIN_NODES, "%lld of %lld %s leave none that generates; give fewer",
                           (long long)out->train_hosts, (long long)out->hosts, out->unit > 1 ? "hosts" : "chips");
    int objective = RL_TIME;
    if (!choice_read(given(words, OPTION_OBJECTIVE), words_where(words, OPTION_OBJECTIVE),
                     RL_OPTIONS[OPTION_OBJECTIVE].values, &objective, words->error))
        return false;
    const Chip *chips[] = {&out->chip, &out->serving.question.chip};
    for (int i = 0; i < 2 && objective == RL_COST; i++)
        if (!(chips[i]->usd_per_chip_hour.value > 0))
            return words_wrong(words, OPTION_OBJECTIVE, "needs a price, and the catalog has none of %s; give time",
                               chips[i]->title);
    return true;
}

/* The machine as a pool that generates. Engines take pages as answers grow: of answers that begin together those that
 * go on are fewest where they are longest, of others the mean one in flight is half done; the prompt is shared. */
static bool read_serving(const Words *words, RlQuestion *out) {
    Options *options = ARENA_NEW(words->arena, Options, 1);
    const Options *own = words->options;
    if (!options) return error_memory(words->error);
    *options = *own;
    for (int i = 0; i < OPTION_COUNT; i++)
        if (!SERVING_OPTIONS[i].name) options->text[i] = NULL;
    options->text[OPTION_LENGTHS] = options->text[OPTION_ANSWER] = options->text[OPTION_PROMPT] = NULL;
    options->text[OPTION_OBJECTIVE] = options->text[OPTION_BRUTE_FORCE] = NULL;
    options->text[OPTION_PRECISION] =
        given(words, OPTION_ROLLOUT_PRECISION) ? given(words, OPTION_ROLLOUT_PRECISION) : "bf16";
    options->where[OPTION_PRECISION] = "--rollout-precision";
    options->text[OPTION_REQUIRE] = given(words, OPTION_ROLLOUT);
    options->where[OPTION_REQUIRE] = "--rollout";
    options->text[OPTION_MODE] = "aggregated";
    if (!options->text[OPTION_ENGINE]) options->text[OPTION_ENGINE] = "vllm";
    if (out->rank > 0 && !(options->text[OPTION_ADAPTERS] = arena_format(words->arena, "1:%lld", (long long)out->rank)))
        return error_memory(words->error);
    if (given(words, OPTION_ROLLOUT_CHIP)) {
        options->text[OPTION_CHIP] = given(words, OPTION_ROLLOUT_CHIP);
        options->where[OPTION_CHIP] = "--rollout-chip";
        options->text[OPTION_NODES] = given(words, OPTION_ROLLOUT_NODES) ? given(words, OPTION_ROLLOUT_NODES) : "1";
        options->where[OPTION_NODES] = "--rollout-nodes";
        options->text[OPTION_CHIPS] = options->text[OPTION_GPUS_PER_NODE] = NULL;
    }
    if (!serving_question(options, words->arena, &out->serving, words->error)) return false;
    ServingQuestion *question = &out->serving.question;
    if (given(words, OPTION_ROLLOUT_CHIP)) out->rollout_only = question->machine.mesh.chips;
    const Lengths *answers = &out->answers;
    double squares = 0, below = 0, together = 0;
    for (int64_t i = 0; i < answers->count; i++) {
        squares += answers->length[i] * answers->length[i] * (answers->share[i] - below);
        together = max_real(together, answers->length[i] * (1 - below));
        below = answers->share[i];
    }
    question_lengths(question, out->prompt, answers->mean);
    question->longest = out->prompt + answers->longest;
    question->peak_tokens = out->prompt / (double)out->samples + max_real(together, squares / answers->mean / 2);
    if (out->rank == 0)
        out->weight_bytes = (double)model_parameters(&out->model).total * stored_bytes(question->weights[0]);
    return true;
}

/* Options whose table here has other values than that of the question which they become a part of. */
static bool check_choices(const Words *words) {
    static const Option CHOICES[] = {OPTION_FOR,      OPTION_ENGINE, OPTION_PRECISION, OPTION_ROLLOUT_PRECISION,
                                     OPTION_KV_DTYPE, OPTION_EMIT};
    int ignored;
    for (size_t i = 0; i < COUNT_OF(CHOICES); i++)
        if (!choice_read(given(words, CHOICES[i]), words_where(words, CHOICES[i]), RL_OPTIONS[CHOICES[i]].values,
                         &ignored, words->error))
            return false;
    return true;
}

bool rl_question(const Options *options, Arena *arena, RlQuestion *out, Error *error) {
    Options *own = ARENA_NEW(arena, Options, 1);
    const Words words = {own, arena, error};
    memset(out, 0, sizeof *out);
    if (!own) return error_memory(error);
    *own = *options;
    out->options = own;
    return check_choices(&words) && rl_profile_load(arena, &out->profile, error) &&
           model_from_words(&words, &out->model) && read_machine(&words, own, out) && read_lengths(&words, out) &&
           read_step(&words, out) && read_tools(&words, out) && read_serving(&words, out) && read_ways(&words, out);
}
