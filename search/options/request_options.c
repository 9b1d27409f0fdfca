/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From words to a request: every option read, every default filled in, every size that is multiplied later checked now.
 * */
#include "base/file.h"
#include "base/number.h"
#include "base/threads.h"
#include "base/util.h"
#include "mesh/host_link.h"
#include "search/launch/launcher.h"
#include "search/options/machine_words.h"
#include "search/options/request_line.h"
#include "search/options/tuning_options.h"
#include "search/request/request.h"

#include <stdio.h>
#include <string.h>

static const int64_t BATCH_TOKENS_MAX = INT64_C(1000000000000000); /* 1e15 */
enum { SEQ_MAX = 1 << 30, SEQ_DEFAULT = 8192, TOP_MAX = 1000, TOKENS_PER_PARAMETER = 20 };
static const int64_t BATCH_DEFAULT = 4 << 20;

/* ---- the readers ---- */

static bool copy_argument(const Words *words, Option option, const char *text, char *out, size_t size) {
    if ((size_t)snprintf(out, size, "%s", text) < size) return true;
    return words_wrong(words, option, "is too long; give at most %zu bytes", size - 1);
}

static bool read_model(const Words *words, Request *request) {
    const char *name = given(words, OPTION_MODEL);
    const Model *model = &request->question.model;
    if (name && !copy_argument(words, OPTION_MODEL, name, request->requested.model, sizeof request->requested.model))
        return false;
    if (!model_from_words(words, &request->question.model)) return false;
    request->space.roles = ROLES_DENSE;
    for (int i = 0; i < model->kind_count; i++)
        if (model->kinds[i].experts > 0) request->space.roles = ROLES_ALL;
    return true;
}

static bool read_machine(const Words *words, Request *request) {
    Question *question = &request->question;
    RequestedMachine requested = {{0}, ""};
    if (!chip_from_words(words, &question->chip, &question->device) ||
        !machine_from_words(words, 0, &question->chip, &requested, &question->machine))
        return false;
    question->device.host_bytes.value = question->chip.host_bytes.value / (double)question->chip.devices_per_chip;
    request->requested.machine_request = requested.request;
    snprintf(request->requested.machine, sizeof request->requested.machine, "%s", requested.text);
    host_set_job(&question->chip, question->machine.mesh.chips);
    host_set_job(&question->device, question->machine.mesh.chips);
    return true;
}

/* Nothing is learned about positions beyond a learned table; everything else can be stretched, and that is said. */
static bool read_seq(const Words *words, Request *request) {
    const Model *model = &request->question.model;
    int64_t seq = model->training.seq;
    request->requested.seq_origin = given(words, OPTION_SEQ) ? FROM_OPTION : seq > 0 ? FROM_MODEL : FROM_DEFAULT;
    if (seq <= 0) seq = model->max_seq > 0 ? min_whole(SEQ_DEFAULT, model->max_seq) : SEQ_DEFAULT;
    if (request->question.tuning.what.on)
        seq = request->question.tuning.seq;
    else if (!words_whole(words, OPTION_SEQ, 1, SEQ_MAX, &seq))
        return false;
    if (seq > SEQ_MAX)
        return error_set(words->error, ERROR_INPUT, "--seq",
                         "the model's training has sequences of %lld tokens; give at most %d", (long long)seq, SEQ_MAX);
    int64_t longest = model->positions == POSITIONS_LEARNED && model->learned_positions > 0 ? model->learned_positions
                                                                                            : model->max_seq;
    request->requested.seq_beyond_model = longest > 0 && seq > longest;
    if (request->requested.seq_beyond_model && model->positions == POSITIONS_LEARNED)
        return words_wrong(words, OPTION_SEQ,
                           "%lld is beyond the %lld positions that %s has learned; give at most %lld", (long long)seq,
                           (long long)longest, model->name, (long long)longest);
    request->question.work.seq = seq;
    return true;
}

int64_t sequences_of(int64_t batch, int64_t seq) {
    return max_whole(1, batch / seq + (batch % seq >= seq - batch % seq));
}

/* The sequences of a step that --require names: a microbatch's, times microbatches, times replicas, which are all
 * devices that the other degrees leave. Pre-training, whose batch is the model's, names both. 0: it names none. */
static int64_t required_sequences(const Words *words, const Request *request) {
    Requirement list[REQUIREMENTS_MAX];
    Error later = {0}; /* what is wrong is read_space's to say */
    int64_t devices = request->question.machine.mesh.devices, sequences = 0;
    int64_t microbatches = request->question.tuning.what.on ? 1 : 0;
    int count = 0;
    if (!given(words, OPTION_REQUIRE) || !requirements_parse(given(words, OPTION_REQUIRE), "", list, &count, &later))
        return 0;
    for (const Requirement *one = list; one < list + count; one++) {
        if (one->op != REQUIRE_EQUAL) continue;
        if (one->knob == KNOB_MICROBATCH_SEQUENCES) sequences = one->degree;
        if (one->knob == KNOB_MICROBATCHES) microbatches = one->degree;
        bool cuts = one->role == ROLE_TENSOR || one->role == ROLE_SEQUENCE || one->role == ROLE_PIPELINE;
        if (one->knob == KNOB_NONE && cuts) devices /= one->degree;
    }
    double all = (double)sequences * (double)microbatches * (double)devices;
    return all <= (double)(BATCH_TOKENS_MAX / request->question.work.seq) ? (int64_t)all : 0;
}

static bool read_batch(const Words *words, Request *request) {
    int64_t batch = request->question.model.training.batch_tokens, sequences = 0, seq = request->question.work.seq;
    char tokens[NUMBER_TEXT_SIZE], length[NUMBER_TEXT_SIZE];
    bool requested = given(words, OPTION_BATCH) || given(words, OPTION_SEQUENCES);
    if (given(words, OPTION_BATCH) && given(words, OPTION_SEQUENCES))
        return words_wrong(words, OPTION_SEQUENCES, "is a second batch, next to --batch; give one of them");
    request->requested.batch_origin = requested ? FROM_OPTION : batch > 0 ? FROM_MODEL : FROM_DEFAULT;
    if (batch <= 0) batch = BATCH_DEFAULT;
    if (request->question.tuning.what.on) batch = request->question.tuning.sequences * seq;
    if (!words_whole(words, OPTION_BATCH, 1, BATCH_TOKENS_MAX, &batch) ||
        !words_sequences(words, request->question.machine.mesh.devices, BATCH_TOKENS_MAX / seq, &sequences))
        return false;
    if (!requested && (sequences = required_sequences(words, request)) > 0)
        request->requested.batch_origin = FROM_OPTION;
    if (given(words, OPTION_BATCH) && batch < seq) /* most often a number of sequences */
        return words_wrong(words, OPTION_BATCH,
                           "%s tokens are less than one sequence of %s; for so many sequences give --sequences %lld",
                           number_grouped(batch, tokens), number_grouped(seq, length), (long long)batch);
    if (sequences == 0)
        sequences = sequences_of(batch, seq);
    else
        batch = sequences * seq;
    request->question.work.sequences = sequences;
    return request->requested.batch_tokens = (double)batch, true;
}

static bool read_tokens(const Words *words, Request *request) {
    double tokens = request->question.model.training.tokens;
    request->requested.tokens_origin = given(words, OPTION_TOKENS) ? FROM_OPTION
                                       : tokens > 0                ? FROM_MODEL
                                                                   : FROM_DEFAULT;
    if (!(tokens > 0)) tokens = TOKENS_PER_PARAMETER * (double)model_parameters(&request->question.model).total;
    const FineTuning *tuning = &request->question.tuning;
    if (tuning->what.on) tokens = tuning->samples * tuning->epochs * tuning->sample_tokens;
    request->question.training_tokens = tokens;
    return words_real(words, OPTION_TOKENS, 1, 1e21, &request->question.training_tokens);
}

static const int64_t PRODUCT_MAX = INT64_C(1) << 62;

/* The widest thing that a token has: batch tokens times it is the largest count of elements there is. */
static int64_t widest(const Model *model) {
    int64_t width = max_whole(model->d_model, model->vocab);
    for (int i = 0; i < model->kind_count; i++) {
        const LayerKind *kind = &model->kinds[i];
        width = max_whole(width, max_whole(kind->d_ff, max_whole(kind->d_ff_expert, kind->d_ff_shared)));
        width =
            max_whole(width, max_whole(kind->heads, 1) * max_whole(max_whole(kind->head_dim, kind->v_head_dim),
                                                                   kind->qk_nope_head_dim + kind->qk_rope_head_dim));
    }
    return max_whole(1, width);
}

/* Whether every two sizes that are multiplied later stay below 2^62. */
static bool check_sizes(const Words *words, const Request *request) {
    const Work *work = &request->question.work;
    Count elements;
    int64_t width = max_whole(widest(&request->question.model), work->seq);
    if (count_multiply((Count)work->sequences * (Count)work->seq, (Count)width, &elements) &&
        elements <= (Count)PRODUCT_MAX)
        return true;
    return words_wrong(words, given(words, OPTION_SEQUENCES) ? OPTION_SEQUENCES : OPTION_BATCH,
                       "%lld sequences of %lld tokens are too many for a model %lld wide; give at most %lld tokens",
                       (long long)work->sequences, (long long)work->seq, (long long)width,
                       (long long)(PRODUCT_MAX / width));
}

static bool read_failures(const Words *words, Request *request) {
    const char *mtbf = given(words, OPTION_MTBF), *restart = given(words, OPTION_RESTART);
    FailureRequest *out = &request->question.failing;
    *out = (FailureRequest){.restart_seconds = -1, .never = mtbf && strcmp(mtbf, "none") == 0};
    if (mtbf && !out->never &&
        !number_duration(mtbf, words_where(words, OPTION_MTBF), &out->mtbf_seconds, words->error))
        return false;
    if (restart && !number_duration(restart, words_where(words, OPTION_RESTART), &out->restart_seconds, words->error))
        return false;
    if (out->mtbf_seconds > 0 && out->mtbf_seconds < 60)
        return words_wrong(words, OPTION_MTBF, "%s between failures: such a job never ends; give 1m or more", mtbf);
    return words_real(words, OPTION_STORAGE, 1e6, 1e15, &out->storage_bytes_per_second);
}

/* The order of roles: a launcher's own where plans are for it alone, since in another it could not place all that it
 * can. */
static bool read_nesting(const Words *words, Request *request, Subproblem *subproblem) {
    const char *name = "default";
    for (int launcher = 0; launcher < launcher_count(); launcher++)
        if (subproblem->launchers == 1u << launcher) name = launcher_nesting(launcher);
    if (given(words, OPTION_NESTING)) name = given(words, OPTION_NESTING);
    char all[128] = "";
    for (int i = 0; nesting_name(i); i++) {
        size_t length = strlen(all);
        snprintf(all + length, sizeof all - length, "%s%s",
                 i == 0                ? ""
                 : nesting_name(i + 1) ? ", "
                                       : " or ",
                 nesting_name(i));
        if (strcmp(name, nesting_name(i)) == 0) subproblem->nesting_name = nesting_name(i);
    }
    request->space.nesting_all = strcmp(name, "all") == 0;
    if (request->space.nesting_all) {
        subproblem->nesting_name = "all";
        subproblem->nesting = nesting_canonical();
        return true;
    }
    if (!subproblem->nesting_name)
        return words_wrong(words, OPTION_NESTING, "\"%.60s\" is no order of roles; give all, or %s", name, all);
    return nesting_named(subproblem->nesting_name, &subproblem->nesting);
}

static bool read_space(const Words *words, Request *request) {
    int padding = PADDING_LAUNCHABLE, objective = OBJECTIVE_TIME, rank = 0;
    int sensitivity = given(words, OPTION_VERBOSE) ? SENSITIVITY_FAST : SENSITIVITY_ROWS;
    int64_t top = 5;
    request->space.max_idle = 0.12; /* a rack of 72 with 64 in use */
    if (given(words, OPTION_REQUIRE) &&
        !requirements_parse(given(words, OPTION_REQUIRE), words_where(words, OPTION_REQUIRE),
                            request->space.requirements, &request->space.requirement_count, words->error))
        return false;
    const char *required = given(words, OPTION_REQUIRE);
    bool pairs = request->question.tuning.pairs && !(required && strstr(required, "microbatch_sequences"));
    if (pairs && !requirements_parse("microbatch_sequences>=2", "--task", request->space.requirements,
                                     &request->space.requirement_count, words->error))
        return false; /* a pair is not parted */
    for (int i = 0; i < request->space.requirement_count; i++)
        if (request->space.requirements[i].role == ROLE_EXPERT &&
            request->space.requirements[i].op != REQUIRE_AT_MOST && request->space.requirements[i].degree > 1 &&
            !(request->space.roles & 1u << ROLE_EXPERT))
            return words_wrong(words, OPTION_REQUIRE, "%s has no experts; leave expert out",
                               request->question.model.name);
    request->space.schedules = SCHEDULES_LAUNCHABLE;
    if (given(words, OPTION_SCHEDULES) &&
        !schedules_parse(given(words, OPTION_SCHEDULES), words_where(words, OPTION_SCHEDULES),
                         &request->space.schedules, words->error))
        return false;
    for (int i = 0; i < request->space.requirement_count; i++) {
        const Requirement *condition = &request->space.requirements[i];
        if (condition->knob == KNOB_SCHEDULE && condition->op == REQUIRE_EQUAL && condition->degree != SCHEDULE_NONE &&
            !(request->space.schedules >> condition->degree & 1))
            return words_wrong(words, OPTION_REQUIRE, "schedule=%s is none of --schedules %s; add --schedules %s",
                               schedule_name((Schedule)condition->degree),
                               given(words, OPTION_SCHEDULES) ? given(words, OPTION_SCHEDULES) : "launchable",
                               schedule_name((Schedule)condition->degree));
    }
    if (!words_share(words, OPTION_MAX_IDLE, 0.9, &request->space.max_idle) ||
        !words_share(words, OPTION_BATCH_TOLERANCE, 0.5, &request->space.batch_tolerance) ||
        !words_choice(words, OPTION_PADDING, &padding) || !words_choice(words, OPTION_OBJECTIVE, &objective) ||
        !words_choice(words, OPTION_SENSITIVITY, &sensitivity) || !words_choice(words, OPTION_RANK_BY, &rank) ||
        !words_whole(words, OPTION_TOP, 1, TOP_MAX, &top))
        return false;
    if (objective == OBJECTIVE_COST && !(request->question.chip.usd_per_chip_hour.value > 0))
        return words_wrong(words, OPTION_OBJECTIVE,
                           "cost: the catalog has no price of this chip; give time or chip-hours");
    request->space.padding = (PaddingRule)padding;
    request->question.objective = (Objective)objective;
    request->control.top = (int)top;
    request->control.sensitivity = (SensitivityMode)sensitivity;
    request->control.variants = given(words, OPTION_VARIANTS);
    request->control.by_time = rank == 1;
    /* with variants, plans that are nearly alike are what was requested */
    request->control.tie = request->control.variants || request->control.by_time ? 0 : TIE;
    request->control.different =
        !given(words, OPTION_TOP) && !given(words, OPTION_VARIANTS) && !given(words, OPTION_BRUTE_FORCE);
    return true;
}

/* What is kept of each parameter; where nobody says it, in `dtypes`. */
static bool read_state(const Words *words, Request *request, StateDtypes *dtypes, TrainingState *out) {
    const char *name = given(words, OPTION_OPTIMIZER) ? given(words, OPTION_OPTIMIZER) : "adamw";
    const char *where = given(words, OPTION_OPTIMIZER) ? words_where(words, OPTION_OPTIMIZER) : "--optimizer";
    Optimizer optimizer;
    if (!optimizer_load(name, where, words->arena, &optimizer, words->error) ||
        !copy_argument(words, OPTION_OPTIMIZER, file_names_json(name) ? name : optimizer.name,
                       request->requested.optimizer, sizeof request->requested.optimizer))
        return false;
    request->question.work.emerging = strncmp(optimizer.name, "adam", 4) != 0 && strncmp(optimizer.name, "sgd", 3) != 0;
    if (optimizer.eight_bits) dtypes->first = dtypes->second = DTYPE_DEFAULT; /* no launcher's habit */
    const char *text = given(words, OPTION_STATE_DTYPES), *at = text ? words_where(words, OPTION_STATE_DTYPES) : NULL;
    if (text && !state_dtypes_parse(text, at, dtypes, words->error)) return false;
    *out = training_state(&request->question.model, &optimizer, dtypes);
    return true;
}

/* What launchers that fine-tune keep: a checkpoint in bf16 is trained as it lies, torch makes moments and gradients
 * like it, and there is no master. Adapters are kept as any training keeps its weights. */
static StateDtypes state_of_launchers(const Request *request, LauncherSet launchers) {
    const Tuning *what = &request->question.tuning.what;
    bool lies = what->on && !(what->rank > 0) && !(launchers & launchers_made_for(false));
    return lies
               ? (StateDtypes){.gradients = DTYPE_BF16, .master = DTYPE_NONE, .first = DTYPE_BF16, .second = DTYPE_BF16}
               : (StateDtypes){0};
}

/* A required policy; what it offloads needs a host. */
static bool read_remat(const Words *words, Request *request) {
    const Model *model = &request->question.model;
    if (!given(words, OPTION_REMAT)) return true;
    if (!remat_parse(given(words, OPTION_REMAT), words_where(words, OPTION_REMAT), &request->question.remat,
                     words->error))
        return false;
    if (request->question.remat.layers > model->layers)
        return words_wrong(words, OPTION_REMAT, "%s has %lld layers", model->name, (long long)model->layers);
    bool offloads = false;
    for (int a = 0; a < ACTIVATION_COUNT; a++)
        offloads = offloads || request->question.remat.state[a] == STATE_OFFLOADED;
    if (!offloads || host_is_known(&request->question.chip)) return true;
    return words_wrong(words, OPTION_REMAT,
                       "%.60s offloads, and the catalog knows no host memory of %s; give a policy that does not",
                       given(words, OPTION_REMAT), request->question.chip.title);
}

static bool read_stack(const Words *words, Request *request) {
    const char *stack = given(words, OPTION_STACK);
    if (!stack) return true;
    if (stack[0] == '\0') return words_wrong(words, OPTION_STACK, "is empty; give a name such as megatron-core");
    return copy_argument(words, OPTION_STACK, stack, request->requested.stack, sizeof request->requested.stack);
}

/* --offload parameters: of fine-tuning, where frozen weights have no other state. */
static bool read_offload(const Words *words, Request *request) {
    const char *text = given(words, OPTION_OFFLOAD), *where = words_where(words, OPTION_OFFLOAD);
    Question *question = &request->question;
    if (!text || strcmp(text, "parameters") != 0) return request_offload(text, where, request, words->error);
    if (!question->tuning.what.on)
        return words_wrong(words, OPTION_OFFLOAD,
                           "parameters: only where a model is fine-tuned; give --lora or --sft too");
    if (!host_is_known(&question->chip))
        return words_wrong(words, OPTION_OFFLOAD, "parameters: the catalog knows no host memory of %s; leave it out",
                           question->chip.title);
    if (!request_has_host_room(request))
        return words_wrong(words, OPTION_OFFLOAD, "parameters: %s has no room for them in half of its hosts' memory",
                           question->machine.text);
    question->tuning.what.on_host = question->state.tuning.on_host = true;
    return request_offload("none", where, request, words->error);
}

static bool read_physics(const Words *words, Request *request) {
    const char *profile = given(words, OPTION_PROFILE) ? given(words, OPTION_PROFILE) : "default";
    int precision = PRECISION_BF16;
    if (!words_choice(words, OPTION_PRECISION, &precision) ||
        !read_state(words, request, &request->requested.state_dtypes, &request->question.state) ||
        !read_remat(words, request) || !read_offload(words, request) ||
        !words_share(words, OPTION_HBM_RESERVE, RESERVE_MOST, &request->question.hbm_reserve) ||
        !copy_argument(words, OPTION_PROFILE, profile, request->requested.profile, sizeof request->requested.profile) ||
        !read_stack(words, request))
        return false;
    request->question.precision = (Precision)precision;
    request->requested.hbm_reserve = request->question.hbm_reserve;
    request->requested.reserve_origin = given(words, OPTION_HBM_RESERVE) ? FROM_OPTION : FROM_DEFAULT;
    if (!(precision_peak(&request->question.chip, request->question.precision) > 0))
        return words_wrong(
            words, OPTION_PRECISION, "%s has no %s; give bf16, or what `shardopt chips %s` shows a peak of",
            request->question.chip.name, precision_name(request->question.precision), request->question.chip.name);
    return true;
}

static bool read_search(const Words *words, Request *request) {
    int64_t threads = 0;
    if (!words_whole(words, OPTION_THREADS, 1, THREADS_MAX, &threads)) return false;
    request->control.gap = GAP_USUAL;
    double memory = 0;
    if (!words_share(words, OPTION_GAP, 1, &request->control.gap) ||
        !words_seconds(words, OPTION_TIME_LIMIT, &request->control.time_limit_seconds) ||
        !words_real(words, OPTION_MEMORY_LIMIT, (double)MEMORY_LEAST, 1e15, &memory))
        return false;
    request->requested.time_limit_seconds = request->control.time_limit_seconds;
    request->control.memory_limit_bytes = (int64_t)memory;
    request->control.threads = (int)threads;
    request->control.brute_force = given(words, OPTION_BRUTE_FORCE);
    return true;
}

/* ---- who launches ---- */

/* Whether an option requires what no launcher does, so that the usual ones would have no plan. */
static bool asks_beyond_launchers(const Words *words, const Request *request) {
    return given(words, OPTION_NESTING) || request->space.padding == PADDING_ANY ||
           (request->space.schedules & ~(unsigned)SCHEDULES_LAUNCHABLE) ||
           strcmp(request->requested.profile, "ideal") == 0;
}

/* --for; else the usual launchers of the chip, as far as there is software for them. */
static bool read_launchers(const Words *words, Request *request, const ProfileFile *file) {
    Requested *requested = &request->requested;
    const Chip *chip = &request->question.chip;
    char names[LAUNCHER_NAMES_SIZE];
    LauncherSet unable = request->space.unable = launchers_refusing_work(request);
    requested->launchers_origin = given(words, OPTION_FOR) ? FROM_OPTION : FROM_DEFAULT;
    requested->nesting_said = given(words, OPTION_NESTING) != NULL;
    if (given(words, OPTION_FOR)) {
        if (!launchers_parse(given(words, OPTION_FOR), words_where(words, OPTION_FOR), &requested->launchers,
                             words->error))
            return false;
        LauncherSet named = requested->launchers;
        if (!chip_has_domains(chip)) requested->launchers &= launchers_on_tpus();
        for (int i = 0; i < launcher_count() && request->question.tuning.what.on; i++)
            if (requested->launchers == 1u << i && unable >> i & 1)
                return words_wrong(words, OPTION_FOR, "%s takes no plan of this: %s", launcher_name(i),
                                   launch_refusal_of_work(i, request));
        if (requested->launchers & ~unable) requested->launchers &= ~unable; /* else no plan is found, and said why */
        if (named == 0 || requested->launchers) return true;
        return words_wrong(words, OPTION_FOR, "%s runs on GPUs, not on %s; give %s", given(words, OPTION_FOR),
                           chip->title, launcher_names(launchers_on_tpus(), ", ", " or ", names, sizeof names));
    }
    if (asks_beyond_launchers(words, request)) return true;
    LauncherSet usual = launchers_usual(chip, &request->question.model) & ~unable;
    if (request->question.tuning.what.on) { /* they run wherever PyTorch does, alongside the chip's own software */
        requested->launchers = launchers_usual_in_tuning() & ~unable;
        if (!requested->launchers) requested->launchers = launchers_made_for(true) & ~unable;
        if (!chip_has_domains(chip)) requested->launchers = 0;
        return true;
    }
    for (int i = 0; i < launcher_count(); i++)
        if (usual >> i & 1 && profile_file_is_for(file, &(SoftwareAsk){requested->stack, launcher_name(i)}, chip))
            requested->launchers |= 1u << i;
    return true;
}

/* The software, the layouts and the order of roles of one launcher, or (0) of none in particular. */
static bool read_subproblem(const Words *words, Request *request, const ProfileFile *file, LauncherSet launchers,
                            Subproblem *out) {
    const Question *question = &request->question;
    SoftwareAsk ask = {.stack = request->requested.stack, .launcher = words->options->software_of};
    for (int i = 0; i < launcher_count(); i++)
        if (launchers == 1u << i) ask.launcher = launcher_name(i);
    LauncherSet updating = launchers;
    for (int i = 0; i < launcher_count() && !launchers && ask.launcher; i++)
        if (strcmp(launcher_name(i), ask.launcher) == 0) updating = 1u << i;
    *out = (Subproblem){.launchers = launchers,
                        .host_update = launchers_host_update(updating),
                        .state_dtypes = state_of_launchers(request, updating)};
    if (!read_state(words, request, &out->state_dtypes, &out->state) ||
        !profile_file_pick(file, &ask, &question->chip, words->arena, &out->profile, words->error) ||
        !profile_file_doubts(file, &ask, &question->chip, words->arena, &out->doubts, words->error) ||
        !launch_remat(updating, &question->model, words->arena, &out->domain, words->error) ||
        !read_nesting(words, request, out))
        return false;
    out->profile = profile_of_work(&out->profile, &question->chip, question->precision, &question->model,
                                   (double)question->machine.mesh.chips, (double)question->machine.slices);
    out->profile.ranks_by_time = request->control.by_time;
    return true;
}

/* Each of the subproblems once more with the parameters on the host, where fine-tuning may put them there. */
static int add_on_host(const Request *request, Subproblem *list, int count) {
    const Tuning *what = &request->question.tuning.what;
    if (!what->on || what->on_host || request->requested.offload || !request_has_host_room(request)) return count;
    for (int i = 0; i < count; i++) {
        list[count + i] = list[i];
        list[count + i].parameters_on_host = true;
    }
    return 2 * count;
}

/* One subproblem for each launcher, and, where nobody said who launches, a free layout as the fallback. The request
 * becomes that of the first; a single one needs no list. */
static bool read_subproblems(const Words *words, Request *request) {
    const ProfileFile *file = NULL;
    Subproblem *list = ARENA_NEW(words->arena, Subproblem, CONTENDERS_MAX);
    int count = 0;
    if (!list) return error_memory(words->error);
    if (strcmp(request->requested.profile, "ideal") != 0) { /* that one is the book's, and so is its HBM */
        chip_use_driver_memory(&request->question.chip);
        chip_use_driver_memory(&request->question.device);
    }
    if (!profile_file_open(request->requested.profile, words->arena, &file, words->error) ||
        !read_launchers(words, request, file))
        return false;
    for (int i = 0; i < launcher_count(); i++)
        if (request->requested.launchers >> i & 1 && !read_subproblem(words, request, file, 1u << i, &list[count++]))
            return false;
    bool fallback = request->requested.launchers_origin == FROM_DEFAULT || count == 0;
    if (fallback && !read_subproblem(words, request, file, 0, &list[count++])) return false;
    list[count - 1].fallback = fallback && count > 1;
    count = add_on_host(request, list, count);
    request_for(request, &list[0], request);
    if (count > 1) {
        request->subproblems = list;
        request->subproblem_count = count;
    }
    return true;
}

bool request_from_options(const Options *options, Arena *arena, Request *out, Error *error) {
    memset(out, 0, sizeof *out);
    out->control.environment = options->environment;
    const Words words = {options, arena, error};
    request_keep_line(options, &out->requested);
    /* In this order because each leans on the ones before: defaults are the model's and the chip's. */
    return read_model(&words, out) && read_machine(&words, out) && tuning_from_words(&words, out) &&
           read_seq(&words, out) && read_batch(&words, out) && read_tokens(&words, out) && read_failures(&words, out) &&
           check_sizes(&words, out) && read_space(&words, out) && read_physics(&words, out) &&
           read_search(&words, out) && read_subproblems(&words, out);
}
