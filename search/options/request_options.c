/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From words to a request: every option read, every default filled in, every size that is multiplied later checked now.
 * */
#include "base/number.h"
#include "base/threads.h"
#include "base/util.h"
#include "mesh/host_link.h"
#include "models/config/model_json.h"
#include "models/parameters.h"
#include "search/launch/launcher.h"
#include "search/options/asked_words.h"
#include "search/options/failure_options.h"
#include "search/options/options.h"
#include "search/options/sizes.h"
#include "search/request/offload.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const int64_t BATCH_TOKENS_MAX = INT64_C(1000000000000000); /* 1e15 */
enum { SEQ_MAX = 1 << 30, SEQ_DEFAULT = 8192, TOP_MAX = 1000, TOKENS_PER_PARAMETER = 20 };
static const int64_t BATCH_DEFAULT = 4 << 20;

/* One set of words being resolved. */
typedef struct {
    const Options *options;
    Arena *arena;
    Request *request;
    Error *error;
} Resolving;

static const char *given(const Resolving *to, Option option) { return to->options->text[option]; }

static bool wrong(const Resolving *to, Option option, const char *what) {
    const char *where = to->options->where[option];
    return error_set(to->error, ERROR_INPUT, where ? where : "options", "%s", what);
}

/* Readers of one value: what is not given leaves *out, the default, as it is. */

static bool read_whole(const Resolving *to, Option option, int64_t low, int64_t high, int64_t *out) {
    return !given(to, option) || number_whole(given(to, option), to->options->where[option], low, high, out, to->error);
}

static bool read_share(const Resolving *to, Option option, double high, double *out) {
    return !given(to, option) || number_share(given(to, option), to->options->where[option], 0, high, out, to->error);
}

static bool read_choice(const Resolving *to, Option option, const char *(*name)(unsigned), unsigned count,
                        unsigned *out) {
    if (!given(to, option)) return true;
    char all[96] = "";
    for (unsigned i = 0; i < count; i++) {
        size_t length = strlen(all);
        if (strcmp(given(to, option), name(i)) == 0) {
            *out = i;
            return true;
        }
        snprintf(all + length, sizeof all - length, "%s%s", i == 0 ? "" : i + 1 < count ? ", " : " or ", name(i));
    }
    return error_set(to->error, ERROR_INPUT, to->options->where[option], "\"%.60s\" is not one of its values; give %s",
                     given(to, option), all);
}

static const char *padding_at(unsigned i) { return padding_rule_name((PaddingRule)i); }
static const char *helps_at(unsigned i) { return helps_name((Helps)i); }
static const char *objective_at(unsigned i) { return objective_name((Objective)i); }
static const char *precision_at(unsigned i) { return precision_name((Precision)i); }

static bool copy_argument(const Resolving *to, Option option, const char *text, char *out, size_t size) {
    if ((size_t)snprintf(out, size, "%s", text) < size) return true;
    return error_set(to->error, ERROR_INPUT, to->options->where[option], "is too long; give at most %zu bytes",
                     size - 1);
}

static bool read_model(const Resolving *to) {
    Request *request = to->request;
    const char *name = given(to, OPTION_MODEL);
    if (!name)
        return error_set(to->error, ERROR_INPUT, "--model",
                         "is missing; give a model of `shardopt models`, or a config.json");
    if (!copy_argument(to, OPTION_MODEL, name, request->asked.model, sizeof request->asked.model)) return false;
    const cJSON *json = to->options->model_json;
    if (json ? !model_from_json(json, name, false, &request->question.model, to->error)
             : !model_load(name, to->arena, &request->question.model, to->error))
        return false;
    request->space.roles = ROLES_DENSE;
    for (int i = 0; i < request->question.model.kind_count; i++)
        if (request->question.model.kinds[i].experts > 0) request->space.roles = ROLES_ALL;
    return true;
}

static bool unknown_chip(const Resolving *to, const Catalog *catalog) {
    const char **names = ARENA_NEW(to->arena, const char *, 2 * (size_t)catalog->count);
    if (!names) return error_memory(to->error);
    for (int i = 0; i < catalog->count; i++) { /* v5p is also what tpu-v5p is called */
        const char *full = catalog->chips[i].name;
        names[2 * i] = full;
        names[2 * i + 1] = strncmp(full, "tpu-", 4) == 0 ? full + 4 : full;
    }
    const char *nearest = name_nearest(given(to, OPTION_CHIP), names, 2 * (size_t)catalog->count);
    return error_set(to->error, ERROR_INPUT, to->options->where[OPTION_CHIP], "there is no chip \"%.60s\"; %s%s",
                     given(to, OPTION_CHIP), nearest ? "nearest: " : "`shardopt chips` lists them",
                     nearest ? nearest : "");
}

/* A vendor's slice name says which chip it is. */
static bool read_chip(const Resolving *to) {
    const char *name = given(to, OPTION_CHIP), *slice = given(to, OPTION_SLICE);
    Catalog catalog;
    if (!catalog_load(to->arena, &catalog, to->error)) return false;
    const Chip *implied = slice ? machine_chip_of_slice(&catalog, slice) : NULL;
    const Chip *chip = name ? catalog_find(&catalog, name) : implied ? implied : catalog_find(&catalog, "v5p");
    if (name && !chip) return unknown_chip(to, &catalog);
    if (!chip) return error_set(to->error, ERROR_INPUT, "mesh/catalog", "has no tpu-v5p, the default; give --chip");
    if (name && implied && implied != chip)
        return error_set(to->error, ERROR_INPUT, to->options->where[OPTION_CHIP],
                         "%s contradicts the slice %.60s, which is of %s; give one of them", chip->name, slice,
                         implied->name);
    to->request->question.chip = *chip;
    to->request->question.device = chip_device(chip);
    return true;
}

/* What leaves a leaf of the network over what its nodes can send: the installation's, which the chip carries along. */
static bool read_oversubscription(const Resolving *to) {
    Request *request = to->request;
    double ratio = 1;
    if (!given(to, OPTION_OVERSUBSCRIPTION)) return true;
    if (!number_real(given(to, OPTION_OVERSUBSCRIPTION), to->options->where[OPTION_OVERSUBSCRIPTION], 1, 64, &ratio,
                     to->error))
        return false;
    if (!chip_has_domains(&request->question.chip))
        return error_set(to->error, ERROR_INPUT, to->options->where[OPTION_OVERSUBSCRIPTION],
                         "is of a GPU network, and %s has none; leave it out", request->question.chip.title);
    request->question.chip.oversubscription = ratio;
    return true;
}

/* Half a node is no machine: the nearest that are. */
static bool check_whole_nodes(const Resolving *to) {
    double nodes = 1;
    Error unread = {0}; /* what is no number at all is the reader's to say */
    if (!given(to, OPTION_NODES) || !number_real(given(to, OPTION_NODES), "", 0, 1e9, &nodes, &unread)) return true;
    if (nodes == floor(nodes)) return true;
    char nearest[48] = "1";
    if (nodes > 1) snprintf(nearest, sizeof nearest, "%.0f or %.0f", floor(nodes), ceil(nodes));
    return error_set(to->error, ERROR_INPUT, to->options->where[OPTION_NODES],
                     "%.40s is not a whole number of nodes; nearest: %s", given(to, OPTION_NODES), nearest);
}

static bool read_machine(const Resolving *to) {
    static const Option SIZES[] = {OPTION_PODS, OPTION_SLICE, OPTION_CHIPS, OPTION_NODES};
    Request *request = to->request;
    MachineRequest *asked = &request->asked.machine_request;
    Option size = OPTION_COUNT;
    for (size_t i = 0; i < COUNT_OF(SIZES); i++) {
        if (!given(to, SIZES[i])) continue;
        if (size != OPTION_COUNT)
            return error_set(to->error, ERROR_INPUT, to->options->where[SIZES[i]],
                             "is a second machine beside %s; give one of them", to->options->where[size]);
        size = SIZES[i];
    }
    if (given(to, OPTION_SLICES) && size != OPTION_SLICE)
        return wrong(to, OPTION_SLICES, "has no slice to count; give --slice as well");
    if (!read_whole(to, OPTION_PODS, 1, MACHINE_CHIPS_MAX, &asked->pods) ||
        !read_whole(to, OPTION_SLICES, 1, MACHINE_CHIPS_MAX, &asked->slices) ||
        !read_whole(to, OPTION_CHIPS, 1, MACHINE_CHIPS_MAX, &asked->chips) || !check_whole_nodes(to) ||
        !read_whole(to, OPTION_NODES, 1, MACHINE_CHIPS_MAX, &asked->nodes) || !read_oversubscription(to))
        return false;
    asked->slice = given(to, OPTION_SLICE);
    char *text = request->asked.machine;
    size_t room = sizeof request->asked.machine;
    if (size == OPTION_COUNT)
        snprintf(text, room, "%s", chip_has_domains(&request->question.chip) ? "--nodes 1" : "--pods 1");
    else if (size == OPTION_SLICE)
        snprintf(text, room, asked->slices > 0 ? "--slice %.40s --slices %lld" : "--slice %.40s", asked->slice,
                 (long long)asked->slices);
    else
        snprintf(text, room, "--%s %lld", option_name(size), (long long)(asked->pods + asked->chips + asked->nodes));
    if (!machine_from_request(&request->question.chip, asked, &request->question.machine, to->error))
        return given(to, OPTION_CHIP) ? false : default_chip_named(&request->question.chip, to->error);
    host_set_job(&request->question.chip, request->question.machine.mesh.chips);
    host_set_job(&request->question.device, request->question.machine.mesh.chips);
    return true;
}

/* Nothing is learned about positions beyond a learned table; everything else can be stretched, and that is said. */
static bool read_seq(const Resolving *to) {
    Request *request = to->request;
    const Model *model = &request->question.model;
    int64_t seq = model->training.seq;
    request->asked.seq_origin = given(to, OPTION_SEQ) ? FROM_OPTION : seq > 0 ? FROM_MODEL : FROM_DEFAULT;
    if (seq <= 0) seq = model->max_seq > 0 ? min_whole(SEQ_DEFAULT, model->max_seq) : SEQ_DEFAULT;
    if (!read_whole(to, OPTION_SEQ, 1, SEQ_MAX, &seq)) return false;
    if (seq > SEQ_MAX)
        return error_set(to->error, ERROR_INPUT, "--seq",
                         "the model's training has sequences of %lld tokens; give at most %d", (long long)seq, SEQ_MAX);
    int64_t longest = model->positions == POSITIONS_LEARNED && model->learned_positions > 0 ? model->learned_positions
                                                                                            : model->max_seq;
    request->asked.seq_beyond_model = longest > 0 && seq > longest;
    if (request->asked.seq_beyond_model && model->positions == POSITIONS_LEARNED)
        return error_set(to->error, ERROR_INPUT, given(to, OPTION_SEQ) ? to->options->where[OPTION_SEQ] : "--seq",
                         "%lld is beyond the %lld positions that %s has learned; give at most %lld", (long long)seq,
                         (long long)longest, model->name, (long long)longest);
    request->question.work.seq = seq;
    return true;
}

/* A batch is a whole number of sequences: the nearest, at least one. */
static bool read_batch(const Resolving *to) {
    Request *request = to->request;
    int64_t batch = request->question.model.training.batch_tokens, sequences = 0, seq = request->question.work.seq;
    bool asked = given(to, OPTION_BATCH) || given(to, OPTION_SEQUENCES);
    if (given(to, OPTION_BATCH) && given(to, OPTION_SEQUENCES))
        return wrong(to, OPTION_SEQUENCES, "is a second batch beside --batch; give one of them");
    request->asked.batch_origin = asked ? FROM_OPTION : batch > 0 ? FROM_MODEL : FROM_DEFAULT;
    if (batch <= 0) batch = BATCH_DEFAULT;
    if (!read_whole(to, OPTION_BATCH, 1, BATCH_TOKENS_MAX, &batch) ||
        !read_whole(to, OPTION_SEQUENCES, 1, BATCH_TOKENS_MAX / seq, &sequences))
        return false;
    if (given(to, OPTION_BATCH) && batch < seq) return batch_below_one(to->options, batch, seq, to->error);
    if (sequences == 0)
        sequences = max_whole(1, batch / seq + (batch % seq >= seq - batch % seq));
    else
        batch = sequences * seq;
    request->question.work.sequences = sequences;
    request->asked.requested_batch_tokens = (double)batch;
    return true;
}

static bool read_tokens(const Resolving *to) {
    Request *request = to->request;
    double tokens = request->question.model.training.tokens;
    request->asked.tokens_origin = given(to, OPTION_TOKENS) ? FROM_OPTION : tokens > 0 ? FROM_MODEL : FROM_DEFAULT;
    if (!(tokens > 0)) tokens = TOKENS_PER_PARAMETER * (double)model_parameters(&request->question.model).total;
    request->question.training_tokens = tokens;
    return !given(to, OPTION_TOKENS) || number_real(given(to, OPTION_TOKENS), to->options->where[OPTION_TOKENS], 1,
                                                    1e21, &request->question.training_tokens, to->error);
}

/* The order of roles: a launcher's own where plans are for it alone, since in another it could not place all that it
 * can. */
static bool read_nesting(const Resolving *to, Contender *contender) {
    Request *request = to->request;
    const char *name = "default";
    for (int launcher = 0; launcher < launcher_count(); launcher++)
        if (contender->launchers == 1u << launcher) name = launcher_nesting(launcher);
    if (given(to, OPTION_NESTING)) name = given(to, OPTION_NESTING);
    char all[128] = "";
    for (int i = 0; nesting_name(i); i++) {
        size_t length = strlen(all);
        snprintf(all + length, sizeof all - length, "%s%s",
                 i == 0                ? ""
                 : nesting_name(i + 1) ? ", "
                                       : " or ",
                 nesting_name(i));
        if (strcmp(name, nesting_name(i)) == 0) contender->nesting_name = nesting_name(i);
    }
    request->space.nesting_all = strcmp(name, "all") == 0;
    if (request->space.nesting_all) {
        contender->nesting_name = "all";
        contender->nesting = nesting_canonical();
        return true;
    }
    if (!contender->nesting_name)
        return error_set(to->error, ERROR_INPUT, to->options->where[OPTION_NESTING],
                         "\"%.60s\" is no order of roles; give all, or %s", name, all);
    return nesting_named(contender->nesting_name, &contender->nesting);
}

static bool read_space(const Resolving *to) {
    Request *request = to->request;
    unsigned padding = PADDING_LAUNCHABLE, objective = OBJECTIVE_TIME, helps = HELPS_FAST;
    int64_t top = 5;
    request->space.max_idle = 0.1;
    if (given(to, OPTION_REQUIRE) &&
        !requirements_parse(given(to, OPTION_REQUIRE), to->options->where[OPTION_REQUIRE], request->space.requirements,
                            &request->space.requirement_count, to->error))
        return false;
    for (int i = 0; i < request->space.requirement_count; i++)
        if (request->space.requirements[i].role == ROLE_EXPERT &&
            request->space.requirements[i].op != REQUIRE_AT_MOST && request->space.requirements[i].degree > 1 &&
            !(request->space.roles & 1u << ROLE_EXPERT))
            return error_set(to->error, ERROR_INPUT, to->options->where[OPTION_REQUIRE],
                             "%s has no experts; leave expert out", request->question.model.name);
    request->space.schedules = SCHEDULES_LAUNCHABLE;
    if (given(to, OPTION_SCHEDULES) &&
        !schedules_parse(given(to, OPTION_SCHEDULES), to->options->where[OPTION_SCHEDULES], &request->space.schedules,
                         to->error))
        return false;
    if (!read_share(to, OPTION_MAX_IDLE, 0.9, &request->space.max_idle) ||
        !read_share(to, OPTION_BATCH_TOLERANCE, 0.5, &request->space.batch_tolerance) ||
        !read_choice(to, OPTION_PADDING, padding_at, 3, &padding) ||
        !read_choice(to, OPTION_OBJECTIVE, objective_at, OBJECTIVE_COUNT, &objective) ||
        !read_choice(to, OPTION_HELPS, helps_at, HELPS_COUNT, &helps) || !read_whole(to, OPTION_TOP, 1, TOP_MAX, &top))
        return false;
    if (objective == OBJECTIVE_COST && !(request->question.chip.usd_per_chip_hour.value > 0))
        return wrong(to, OPTION_OBJECTIVE, "cost: the catalog has no price of this chip; give time or chip-hours");
    request->space.padding = (PaddingRule)padding;
    request->question.objective = (Objective)objective;
    request->control.top = (int)top;
    request->control.helps = (Helps)helps;
    request->control.variants = given(to, OPTION_VARIANTS);
    request->control.tie = request->control.variants ? 0 : TIE; /* near twins are what was asked for */
    request->control.different =
        !given(to, OPTION_TOP) && !given(to, OPTION_VARIANTS) && !given(to, OPTION_BRUTE_FORCE);
    return true;
}

/* What is kept of each parameter. */
static bool read_state(const Resolving *to) {
    Request *request = to->request;
    const char *name = given(to, OPTION_OPTIMIZER) ? given(to, OPTION_OPTIMIZER) : "adamw";
    const char *where = given(to, OPTION_OPTIMIZER) ? to->options->where[OPTION_OPTIMIZER] : "--optimizer";
    Optimizer optimizer;
    if (!copy_argument(to, OPTION_OPTIMIZER, name, request->asked.optimizer, sizeof request->asked.optimizer) ||
        !optimizer_load(name, where, to->arena, &optimizer, to->error))
        return false;
    if (given(to, OPTION_STATE_DTYPES) &&
        !state_dtypes_parse(given(to, OPTION_STATE_DTYPES), to->options->where[OPTION_STATE_DTYPES],
                            &request->question.state_dtypes, to->error))
        return false;
    request->question.state = training_state(&request->question.model, &optimizer, &request->question.state_dtypes);
    return true;
}

/* A required policy; what it offloads needs a host. */
static bool read_remat(const Resolving *to) {
    Request *request = to->request;
    if (!given(to, OPTION_REMAT)) return true;
    if (!remat_parse(given(to, OPTION_REMAT), to->options->where[OPTION_REMAT], &request->question.remat, to->error))
        return false;
    bool offloads = false;
    for (int a = 0; a < ACTIVATION_COUNT; a++)
        offloads = offloads || request->question.remat.state[a] == STATE_OFFLOADED;
    if (!offloads || host_is_known(&request->question.chip)) return true;
    return error_set(to->error, ERROR_INPUT, to->options->where[OPTION_REMAT],
                     "%.60s offloads, and the catalog knows no host memory of %s; give a policy that does not",
                     given(to, OPTION_REMAT), request->question.chip.title);
}

static bool read_stack(const Resolving *to) {
    const char *stack = given(to, OPTION_STACK);
    if (!stack) return true;
    if (stack[0] == '\0') return wrong(to, OPTION_STACK, "is empty; give a name such as megatron-core");
    return copy_argument(to, OPTION_STACK, stack, to->request->asked.stack, sizeof to->request->asked.stack);
}

static bool read_physics(const Resolving *to) {
    Request *request = to->request;
    const char *profile = given(to, OPTION_PROFILE) ? given(to, OPTION_PROFILE) : "default";
    unsigned precision = PRECISION_BF16;
    if (!read_choice(to, OPTION_PRECISION, precision_at, PRECISION_COUNT, &precision) || !read_state(to) ||
        !read_remat(to) ||
        !request_offload(given(to, OPTION_OFFLOAD), to->options->where[OPTION_OFFLOAD], request, to->error) ||
        !read_share(to, OPTION_HBM_RESERVE, RESERVE_MOST, &request->question.hbm_reserve) ||
        !copy_argument(to, OPTION_PROFILE, profile, request->asked.profile, sizeof request->asked.profile) ||
        !read_stack(to))
        return false;
    request->question.precision = (Precision)precision;
    request->asked.hbm_reserve = request->question.hbm_reserve;
    request->asked.reserve_origin = given(to, OPTION_HBM_RESERVE) ? FROM_OPTION : FROM_DEFAULT;
    if (!(precision_peak(&request->question.chip, request->question.precision) > 0))
        return error_set(to->error, ERROR_INPUT, to->options->where[OPTION_PRECISION],
                         "%s has no %s; give bf16, or what `shardopt chips %s` shows a peak of",
                         request->question.chip.name, precision_name(request->question.precision),
                         request->question.chip.name);
    return true;
}

static bool read_search(const Resolving *to) {
    Request *request = to->request;
    int64_t threads = 0;
    if (!read_whole(to, OPTION_THREADS, 1, THREADS_MAX, &threads)) return false;
    request->control.gap = TIE;
    if (given(to, OPTION_GAP) &&
        !number_share(given(to, OPTION_GAP), to->options->where[OPTION_GAP], 0, 1, &request->control.gap, to->error))
        return false;
    if (given(to, OPTION_TIME_LIMIT) &&
        !number_seconds(given(to, OPTION_TIME_LIMIT), to->options->where[OPTION_TIME_LIMIT],
                        &request->control.time_limit_seconds, to->error))
        return false;
    double memory = 0;
    if (given(to, OPTION_MEMORY_LIMIT) &&
        !number_real(given(to, OPTION_MEMORY_LIMIT), to->options->where[OPTION_MEMORY_LIMIT], (double)MEMORY_LEAST,
                     1e15, &memory, to->error))
        return false;
    request->control.memory_limit_bytes = (int64_t)memory;
    request->control.threads = (int)threads;
    request->control.brute_force = given(to, OPTION_BRUTE_FORCE);
    return true;
}

/* ---- who launches ---- */

/* Whether an option asks for what no launcher does, so that the usual ones would have no plan. */
static bool asks_beyond_launchers(const Resolving *to) {
    const Request *request = to->request;
    return given(to, OPTION_NESTING) || request->space.padding == PADDING_ANY ||
           (request->space.schedules & ~(unsigned)SCHEDULES_LAUNCHABLE) || strcmp(request->asked.profile, "ideal") == 0;
}

/* --for; else the usual launchers of the chip, as far as there is software for them. */
static bool read_launchers(const Resolving *to, const ProfileFile *file) {
    Request *request = to->request;
    Asked *asked = &request->asked;
    const Chip *chip = &request->question.chip;
    char names[LAUNCHER_NAMES_SIZE];
    asked->launchers_origin = given(to, OPTION_FOR) ? FROM_OPTION : FROM_DEFAULT;
    asked->nesting_said = given(to, OPTION_NESTING) != NULL;
    if (given(to, OPTION_FOR)) {
        if (!launchers_parse(given(to, OPTION_FOR), to->options->where[OPTION_FOR], &asked->launchers, to->error))
            return false;
        bool none = asked->launchers == 0;
        if (!chip_has_domains(chip)) asked->launchers &= launchers_on_tpus();
        if (none || asked->launchers) return true;
        return error_set(to->error, ERROR_INPUT, to->options->where[OPTION_FOR], "%s runs on GPUs, not on %s; give %s",
                         given(to, OPTION_FOR), chip->title,
                         launcher_names(launchers_on_tpus(), ", ", " or ", names, sizeof names));
    }
    if (asks_beyond_launchers(to)) return true;
    LauncherSet usual = launchers_usual(chip);
    for (int i = 0; i < launcher_count(); i++)
        if (usual >> i & 1 && profile_file_is_for(file, &(SoftwareAsk){asked->stack, launcher_name(i)}, chip))
            asked->launchers |= 1u << i;
    return true;
}

/* The software, the layouts and the order of roles of one launcher, or (0) of none in particular. */
static bool read_contender(const Resolving *to, const ProfileFile *file, LauncherSet launchers, Contender *out) {
    const Question *question = &to->request->question;
    SoftwareAsk ask = {.stack = to->request->asked.stack, .launcher = to->options->software_of};
    for (int i = 0; i < launcher_count(); i++)
        if (launchers == 1u << i) ask.launcher = launcher_name(i);
    LauncherSet updating = launchers;
    for (int i = 0; i < launcher_count() && !launchers && ask.launcher; i++)
        if (strcmp(launcher_name(i), ask.launcher) == 0) updating = 1u << i;
    *out = (Contender){.launchers = launchers, .host_update = launchers_host_update(updating)};
    if (!profile_file_pick(file, &ask, &question->chip, to->arena, &out->profile, to->error) ||
        !profile_file_doubts(file, &ask, &question->chip, to->arena, &out->doubts, to->error) ||
        !launch_remat(updating, &question->model, to->arena, &out->offer, to->error) || !read_nesting(to, out))
        return false;
    out->profile = profile_of_work(&out->profile, &question->chip, question->precision, &question->model,
                                   (double)question->machine.mesh.chips, (double)question->machine.slices);
    return true;
}

/* One contender for each launcher, and, where nobody said who launches, a free layout as the last resort. The request
 * becomes that of the first; a single one needs no list. */
static bool read_contenders(const Resolving *to) {
    Request *request = to->request;
    const ProfileFile *file = NULL;
    Contender *list = ARENA_NEW(to->arena, Contender, CONTENDERS_MAX);
    int count = 0;
    if (!list) return error_memory(to->error);
    if (strcmp(request->asked.profile, "ideal") != 0) { /* that one is the book's, and so is its HBM */
        chip_use_driver_memory(&request->question.chip);
        chip_use_driver_memory(&request->question.device);
    }
    if (!profile_file_open(request->asked.profile, to->arena, &file, to->error) || !read_launchers(to, file))
        return false;
    for (int i = 0; i < launcher_count(); i++)
        if (request->asked.launchers >> i & 1 && !read_contender(to, file, 1u << i, &list[count++])) return false;
    bool resort = request->asked.launchers_origin == FROM_DEFAULT || count == 0;
    if (resort && !read_contender(to, file, 0, &list[count++])) return false;
    list[count - 1].last_resort = resort && count > 1;
    request_for(request, &list[0], request);
    if (count > 1) {
        request->contenders = list;
        request->contender_count = count;
    }
    return true;
}

bool request_from_options(const Options *options, Arena *arena, Request *out, Error *error) {
    memset(out, 0, sizeof *out);
    out->control.world = options->world;
    Resolving to = {options, arena, out, error};
    asked_words_keep(options, &out->asked);
    /* In this order because each leans on the ones before: defaults are the model's and the chip's. */
    return read_model(&to) && read_chip(&to) && read_machine(&to) && read_seq(&to) && read_batch(&to) &&
           read_tokens(&to) && failures_from_options(options, &out->question.failing, error) &&
           sizes_check(options, &out->question, error) && read_space(&to) && read_physics(&to) && read_search(&to) &&
           read_contenders(&to);
}
