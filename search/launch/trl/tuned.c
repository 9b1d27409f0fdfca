/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/launch/trl/tuned.h"

#include "base/util.h"
#include "cost/plan/tuning.h"

#include <inttypes.h>
#include <string.h>

/* ---- what they refuse ---- */

#define REFUSES_ROLES "it trains with DDP and FSDP2: tensor, sequence, expert and pipeline are 1"

const char *tuned_refuses_degrees(const PlanFacts *facts) {
    REFUSE_UNLESS(facts->tensor == 1 && facts->sequence == 1 && facts->expert == 1 && facts->pipeline == 1,
                  REFUSES_ROLES);
    return NULL;
}

const char *tuned_refuses(const PlanFacts *facts) {
    REFUSE_UNLESS(!facts_folded(facts), REFUSES_ROLES);
    REFUSE_UNLESS(facts->plan->knobs.zero_stage == 0,
                  "ZeRO-1 and 2 are DeepSpeed's; accelerate has DDP and FSDP2 here");
    return NULL;
}

const char *tuned_refuses_work(const Request *request) {
    const Tuning *what = &request->question.tuning.what;
    REFUSE_UNLESS(
        what->rank > 0 || !(what->frozen & ~(unsigned)FROZEN_TOWERS),
        "its files have no words for --freeze; set requires_grad in a script of your own, and give --for any");
    REFUSE_UNLESS(state_as_torch_makes(request, what->on && !(what->rank > 0)), REFUSES_MOMENTS);
    REFUSE_UNLESS(request->question.precision == PRECISION_BF16, "it trains in bf16 here; give --precision bf16");
    return NULL;
}

bool tuned_offloads_optimizer(const PlanFacts *facts) {
    (void)facts;
    return false; /* FSDP2's CPUOffloadPolicy sends parameters too */
}

void tuned_remat(RematList *list, const Model *model) {
    (void)model;
    remat_list_add_none(list);
    remat_list_add_full(list, 0);
}

const char *tuned_cannot(const LaunchJob *job) {
    bool halves = job->request->question.tuning.pairs && job->knobs->microbatch_sequences % 2 != 0;
    return halves ? "a microbatch is no whole number of pairs; give another --sequences" : NULL;
}

/* transformers, training_args.py, OptimizerNames. */
OPTIMIZER_WORDS(TUNED_OPTIMIZERS, {"adamw_torch_fused", "adamw"}, {"adamw_torch", "adamw"}, {"adamw_hf", "adamw"},
                {"adamw_apex_fused", "adamw"}, {"paged_adamw_32bit", "adamw"}, {"adamw_bnb_8bit", "adamw8bit"},
                {"adamw_8bit", "adamw8bit"}, {"paged_adamw_8bit", "adamw8bit"}, {"lion_32bit", "lion"},
                {"paged_lion_32bit", "lion"}, {"lion_8bit", "lion8bit"}, {"paged_lion_8bit", "lion8bit"},
                {"adafactor", "adafactor"}, {"sgd", "sgd"});

void tuned_notes(const LaunchJob *job, EmitNotes *notes) {
    if (!job->request->question.tuning.what.on)
        emit_note(notes, "all weights are trained on packed sequences, as pre-training on a text would be");
    emit_note(notes, "put the model's repository and the data set where MODEL and DATA stand");
}

/* ---- a plan as people who run it say it ---- */

static const char *key_of(const LaunchJob *job, int term) {
    const LaunchKey *key = job->launcher->keys;
    while (key->key && key->term != term) key++;
    return key->key;
}

void tuned_plan_words(const LaunchJob *job, Prose *out) {
    LaunchTerms terms = tuned_terms(job);
    if (job->shards && job->data > 1)
        prose_add(out, "FSDP2 over %" PRId64 " in %" PRId64 " groups", job->fsdp, job->data);
    else if (job->shards)
        prose_add(out, "FSDP2 over %" PRId64, job->fsdp);
    else
        prose_add(out, job->world > 1 ? "DDP" : "one GPU");
    if (terms.of[TERM_ON_HOST]) prose_item(out, ", ", "parameters on the CPU");
    prose_item(out, ", ", "%s %" PRId64 ", %s %" PRId64, key_of(job, TERM_MICRO), terms.of[TERM_MICRO],
               key_of(job, TERM_MICROBATCHES), terms.of[TERM_MICROBATCHES]);
    prose_item(out, ", ", "%sgradient_checkpointing", terms.of[TERM_CHECKPOINTS] ? "" : "no ");
    if (terms.of[TERM_PLAIN] > 0 && job->request->question.tuning.what.rank == 0)
        prose_item(out, ", ", "weights and optimizer in bf16 alone");
}

/* ---- written ---- */

bool tuned_shards(const LaunchJob *job) { return job->shards || job->request->question.tuning.what.on_host; }

bool tuned_has_towers(const LaunchJob *job) { return job->model->tower_count > 0; }

LaunchTerms tuned_terms(const LaunchJob *job) {
    const FineTuning *tuning = &job->request->question.tuning;
    const Tuning *what = &tuning->what;
    LaunchTerms terms = launch_terms(job);
    int64_t *of = terms.of, adapted = what->rank > 0,
            bits = what->stored_bytes > 0 ? what->stored_bytes < 1 ? 4 : 8 : 0;
    if (tuning->pairs) of[TERM_MICRO] = max_whole(1, of[TERM_MICRO] / 2);
    of[TERM_PAIRS] = tuning->pairs;
    of[TERM_PACKED] = !tuning->pairs && tuning->packing == PACKING_PACKED;
    of[TERM_FREE] = !tuning->pairs && tuning->packing == PACKING_FREE;
    if (what->on) of[TERM_SEQ] = tuning->longest;
    of[TERM_CHECKPOINTS] = job_dropped_most(job) > 0;
    of[TERM_KEEPS] = !of[TERM_CHECKPOINTS];
    /* torch makes moments like weights; under autocast FSDP2 makes sharded weights fp32 */
    of[TERM_PLAIN] = job->request->question.state_dtypes.master == DTYPE_NONE;
    of[TERM_MIXED] = !of[TERM_PLAIN];
    of[TERM_ADAPTER] = bits == 4 ? ADAPTER_QLORA : adapted ? ADAPTER_LORA : ADAPTER_NONE;
    if (adapted) {
        of[TERM_RANK] = (int64_t)what->rank;
        of[TERM_ALPHA] = 2 * of[TERM_RANK];
        if (what->targets == TARGETS_ALL) of[TERM_EVERY] = 1;
    }
    if (bits > 0) of[TERM_BITS] = bits, of[bits == 4 ? TERM_FOUR_BITS : TERM_EIGHT_BITS] = 1;
    if (bits == 4) of[TERM_DOUBLE] = what->stored_bytes < tuning_format_bytes("nf4-single");
    of[TERM_ON_HOST] = what->on_host;
    of[TERM_FSDP] = what->on_host ? SHARDS_ON_HOST : SHARDS_ALL;
    /* one rank alone would quantise: axolotl 0.19 utils/schemas/validation.py, check_fsdp2_cpu_ram_efficient_loading */
    of[TERM_LOADS_ONCE] = bits == 0;
    if (tuned_has_towers(job)) {
        of[TERM_TOWERS] = what->frozen >> FROZEN_VISION & 1;
        of[TERM_PROJECTOR] = what->frozen >> FROZEN_PROJECTOR & 1;
    }
    of[TERM_SHARDS] = job->fsdp;
    return terms;
}

void tuned_write_targets(const LaunchJob *job, const char *between, FILE *out) {
    const char *before = "";
    unsigned targets = job->request->question.tuning.what.targets;
    for (int i = 0; i < TARGET_COUNT; i++) {
        if (!(targets >> i & 1)) continue;
        fprintf(out, "%s%s", before, tuning_target_name((Target)i));
        before = between;
    }
}

const char *tuned_model(const LaunchJob *job) {
    const char *requested = job->request->requested.model;
    return strchr(requested, '/') ? requested : job->model->name;
}

/* ---- read ---- */

bool tuned_read(const LaunchKey *keys, ConfigFile *file, LaunchTerms *out, Error *error) {
    if (!keys_read(keys, NULL, file, out, error)) return false;
    for (const LaunchKey *key = keys; key->key; key++)
        if (out->of[key->term] == TERM_UNKNOWN) return keys_unknown(keys, key->term, file, error);
    return true;
}

/* "q_proj,v_proj" of any spelling of a list, or of a pattern: ".*language_model.*(q_proj|v_proj)". */
static const char *targets_text(ConfigFile *file, const char *targets) {
    const char *items[TARGET_COUNT], *names = strchr(targets, '(');
    if (names) {
        char *words = arena_format(file->arena, "%.*s", (int)strcspn(names + 1, ")"), names + 1);
        for (char *c = words; c && *c; c++)
            if (*c == '|') *c = ',';
        return words;
    }
    int count = config_list(file, targets, items, TARGET_COUNT);
    const char *text = count > 0 ? items[0] : targets;
    for (int i = 1; i < count && i < TARGET_COUNT; i++) text = arena_format(file->arena, "%s,%s", text, items[i]);
    return text;
}

/* Whether it shards: any key of FSDP says so. */
static bool has_fsdp(const ConfigFile *file) {
    bool has = false;
    for (int64_t i = 0; i < file->count; i++) has = has || strstr(file->entries[i].key, "fsdp");
    return has;
}

bool tuned_work(ConfigFile *file, const LaunchTerms *terms, const char *model, const char *targets, ImportedWork *out,
                Error *error) {
    const int64_t *of = terms->of;
    int64_t bits = of[TERM_BITS] ? of[TERM_BITS] : of[TERM_FOUR_BITS] ? 4 : of[TERM_EIGHT_BITS] ? 8 : 0;
    bool adapted = of[TERM_ADAPTER] != ADAPTER_NONE;
    const char **words = out->tuning;
    if (config_has(file, "deepspeed"))
        return config_wrong(file, NULL, "deepspeed", error, "is not read here; give fsdp_config, or plan without it");
    out->model = model;
    /* under autocast accelerate makes sharded weights fp32, and torch makes moments like weights */
    if (!adapted && of[TERM_MIXED] && !of[TERM_PLAIN] && has_fsdp(file)) out->state_dtypes = "master=fp32 moments=fp32";
    if (of[TERM_SEQ] > 0) out->seq = arena_format(file->arena, "%" PRId64, of[TERM_SEQ]);
    if (adapted)
        words[bits > 0 ? TUNING_QLORA : TUNING_LORA] = arena_format(file->arena, "%" PRId64 "%s", of[TERM_RANK],
                                                                    bits == 8                       ? ",int8"
                                                                    : bits == 4 && !of[TERM_DOUBLE] ? ",nf4-single"
                                                                                                    : "");
    bool all = !targets || of[TERM_EVERY] || strcmp(targets, "all") == 0 || strcmp(targets, "all-linear") == 0;
    if (adapted && !all) words[TUNING_TARGETS] = targets_text(file, targets);
    if (!adapted && (of[TERM_TOWERS] || of[TERM_PROJECTOR]))
        words[TUNING_FREEZE] = !of[TERM_PROJECTOR] ? "vision" : of[TERM_TOWERS] ? "vision,projector" : "projector";
    words[TUNING_TASK] = of[TERM_PAIRS] ? "dpo" : adapted ? NULL : "sft";
    if (of[TERM_PACKED] || of[TERM_FREE]) words[TUNING_PACKING] = of[TERM_PACKED] ? "packed" : "padding-free";
    if (of[TERM_ON_HOST] || of[TERM_FSDP] == SHARDS_ON_HOST) out->offload = "parameters";
    return config_number_text(file, config_has(file, "num_epochs") ? "num_epochs" : "num_train_epochs",
                              &words[TUNING_EPOCHS], error);
}

bool tuned_plan(ConfigFile *file, const LaunchTerms *terms, const Request *request, ImportedPlan *plan, Error *error) {
    const int64_t *of = terms->of;
    int64_t world = request->question.machine.mesh.devices, micro = of[TERM_MICRO];
    bool shards = has_fsdp(file), sized = of[TERM_SHARDS] > 0; /* sized: ranks of a group are said, and not groups */
    int64_t ways = sized ? of[TERM_SHARDS] : max_whole(1, of[ROLE_DATA]), groups = sized ? world / ways : ways;
    if (!import_check_gpus(file, request, "Hugging Face's Trainer", error)) return false;
    if (shards && world % ways != 0)
        return config_wrong(file, NULL, sized ? "dp_shard_size" : "dp_replicate_size", error,
                            "does not divide the %" PRId64 " GPUs of %s", world, request->question.machine.text);
    plan->degrees.of[ROLE_DATA] = shards ? groups : world;
    plan->degrees.of[ROLE_FSDP] = shards ? world / groups : 1;
    if (plan->degrees.of[ROLE_DATA] > 1) import_knob(plan, KNOB_ZERO_STAGE, 0);
    if (plan->degrees.of[ROLE_FSDP] > 1) import_knob(plan, KNOB_REGATHER, of[TERM_REGATHER]);
    if (import_experts(request) > 0) import_knob(plan, KNOB_FOLDED_EXPERT, 0);
    if (request->question.tuning.pairs) micro *= 2;
    snprintf(plan->remat, sizeof plan->remat, "%s", of[TERM_CHECKPOINTS] ? "full" : "none");
    return import_batch(file, request, "gradient_accumulation_steps", micro * of[TERM_MICROBATCHES] * world, micro,
                        plan, error);
}
