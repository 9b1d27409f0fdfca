/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A plan as a YAML file over MaxText's base.yml. Keys, enums and rules: configs/base.yml and configs/types.py of the
 * release 0.2.5 (PyPI), which read these files in tests/launch. */
#include "base/util.h"
#include "cost/state/remat.h"
#include "search/answer/plan_words.h"
#include "search/launch/maxtext/maxtext.h"
#include "search/launch/rules.h"
#include "search/launch/scheduler.h"

#include <math.h>
#include <string.h>

static const char WHERE[] = "emit maxtext";

/* ---- batch ---- */

/* MaxText multiplies per_device_batch_size by the devices and cuts the rest off, and wants whole tokens a device, all
 * in double: a number that comes out right. Negative: there is none. */
static double per_device_batch(int64_t sequences, int64_t devices, int64_t seq) {
    double share = (double)sequences / (double)devices;
    for (int up = 0; up < 2; up++) {
        if ((int64_t)((double)devices * share) == sequences && fmod(share * (double)seq, 1) == 0) return share;
        share = nextafter(share, INFINITY);
    }
    return -1;
}

/* Microbatches of a pipeline go in together; without one they are accumulated one after the other. */
static bool write_batch(const LaunchJob *job, FILE *out, Error *error) {
    const RankedPlan *ranked = job->ranked;
    const Knobs *knobs = &ranked->plan.knobs;
    int64_t stages = ranked->plan.degrees.of[ROLE_PIPELINE], devices = ranked->machine.mesh.devices;
    int64_t passes = stages > 1 ? 1 : knobs->microbatches;
    int64_t sequences =
        knobs->microbatch_sequences * degrees_replicas(&ranked->plan.degrees) * (stages > 1 ? knobs->microbatches : 1);
    double share = per_device_batch(sequences, devices, ranked->work.seq);
    if (share < 0)
        return error_set(error, ERROR_INPUT, WHERE,
                         "no per_device_batch_size makes %lld sequences on %lld devices and whole tokens on each; "
                         "give another --batch",
                         (long long)sequences, (long long)devices);
    LaunchTerms terms = launch_terms(job);
    terms.of[TERM_PASSES] = passes;
    terms.of[TERM_OF_STAGE] = stage_layers(&ranked->plan) / max_whole(1, knobs->virtual_stages);
    keys_write(MAXTEXT_KEYS, "b", &terms, KEYS_YAML, out);
    fprintf(out, "per_device_batch_size: %.17g  # %lld sequences in one pass over all devices\n", share,
            (long long)sequences);
    keys_write(MAXTEXT_KEYS, stages == 1 ? "g" : "gp", &terms, KEYS_YAML, out);
    if (stages == 1) return true;
    fprintf(out, "scan_layers: false  # base.yml: the iterations of the pipeline are scanned instead\n");
    return true;
}

/* ---- activations ---- */

static void note_remat(const Request *request, const RankedPlan *ranked, EmitNotes *notes) {
    char text[REMAT_TEXT_SIZE], mixed[EMIT_NOTE_SIZE / 2] = "", unnamed[64] = "";
    const Layout *layout = &ranked->plan.layout;
    if (maxtext_remat_words(&request->question.model, layout, text)) return;
    for (Activation a = 0; a < ACTIVATION_COUNT; a++) {
        const int64_t *layers = layout->layers[a];
        if (!activation_exists(&request->question.model, a)) continue;
        int64_t all = layers[STATE_SAVED] + layers[STATE_RECOMPUTED] + layers[STATE_OFFLOADED] + layers[STATE_PARTLY];
        ActivationState state = layout_least(layout, a);
        char *list = maxtext_tensors(a)[0] ? mixed : unnamed;
        size_t room = maxtext_tensors(a)[0] ? sizeof mixed : sizeof unnamed, length = strlen(list);
        if (maxtext_tensors(a)[0] && layers[state] < all)
            snprintf(list + length, room - length, "%s%s in %lld of %lld", length ? ", " : "", activation_name(a),
                     (long long)layers[state], (long long)all);
        else if (!maxtext_tensors(a)[0] && layers[STATE_RECOMPUTED] < all)
            snprintf(list + length, room - length, "%s%s", length ? ", " : "", activation_name(a));
    }
    if (mixed[0])
        emit_note(
            notes,
            "one remat policy for all layers: what the plan recomputes or offloads in some (%s) is so in all here",
            mixed);
    if (unnamed[0])
        emit_note(notes, "remat policies have no name for %s: recomputed in all layers, which the plan kept in some",
                  unnamed);
    RematRule written = {.required = true};
    for (Activation a = 0; a < ACTIVATION_COUNT; a++)
        written.state[a] =
            maxtext_tensors(a)[0] && layout->layers[a][STATE_PARTLY] == 0 ? layout_least(layout, a) : STATE_RECOMPUTED;
    emit_note(notes,
              "no more HBM, but slower than predicted: `shardopt explain` with --remat \"%s\" prices what is "
              "written here",
              remat_text(&written, text));
}

static void write_remat(const LaunchJob *job, FILE *out) {
    const Request *request = job->request;
    const RankedPlan *ranked = job->ranked;
    static const char *const OTHERS[] = {"mlpwo", "moe_mlpwo", "kv_proj", "mla_q", "mla_kv", "attention_out"};
    char text[REMAT_TEXT_SIZE];
    const char *words = maxtext_remat_words(&request->question.model, &ranked->plan.layout, text);
    if (words && !strstr(words, "custom")) {
        maxtext_write_pairs(words, out);
    } else {
        fprintf(out, "remat_policy: custom\n");
        for (Activation a = 0; a < ACTIVATION_COUNT; a++) {
            const char *const *tensors = maxtext_tensors(a);
            ActivationState state = activation_exists(&request->question.model, a)
                                        ? layout_least(&ranked->plan.layout, a)
                                        : STATE_RECOMPUTED;
            for (int i = 0; i < MAXTEXT_TENSORS_MAX && tensors[i]; i++)
                fprintf(out, "%s: %s\n", tensors[i], maxtext_state(state));
        }
        for (size_t i = 0; i < COUNT_OF(OTHERS); i++) fprintf(out, "%s: remat\n", OTHERS[i]);
    }
    LaunchTerms terms = launch_terms(job);
    terms.of[TERM_PARAMETERS_ON_HOST] = false;
    keys_write(MAXTEXT_KEYS, "o", &terms, KEYS_YAML, out);
}

/* ---- attention ---- */

/* types.py: rings and exchanges of heads on TPUs run on the Tokamax splash kernel; what is exchanged need not be
 * balanced. On GPUs context parallelism is Transformer Engine's. */
static bool write_context(const LaunchJob *job, bool tpu, const MaxtextDivision *division, FILE *out, Error *error) {
    ContextMethod context = job->knobs->methods.context;
    bool exchanges = context == CONTEXT_ULYSSES || context == CONTEXT_ULYSSES_RING;
    if (exchanges && division->across[ROLE_SEQUENCE] > 1)
        return error_set(error, ERROR_INPUT, WHERE,
                         "ulysses and usp stay inside a slice (dcn_context_parallelism 1), and this plan has %lld of "
                         "sequence on DCN; require another context_method",
                         (long long)division->across[ROLE_SEQUENCE]);
    fprintf(out, "attention: %s\n", tpu ? "flash" : "cudnn_flash_te");
    if (!tpu) fprintf(out, "max_segments_per_seq: 32\n");
    if (context == CONTEXT_NONE) return true;
    LaunchTerms terms = launch_terms(job);
    terms.of[TERM_BALANCED] = context != CONTEXT_ULYSSES;
    keys_write(MAXTEXT_KEYS, "c", &terms, KEYS_YAML, out);
    if (tpu && (exchanges || context == CONTEXT_RING)) fprintf(out, "use_tokamax_splash: true\n");
    return true;
}

/* ---- numbers ---- */

static Dtype weight_dtype(const StateDtypes *dtypes) {
    return dtypes->master != DTYPE_NONE && dtypes->master != DTYPE_DEFAULT ? dtypes->master : dtypes->parameters;
}

static Dtype moment_dtype(const StateDtypes *dtypes) {
    bool same = dtypes->first == DTYPE_NONE || dtypes->first == DTYPE_DEFAULT;
    return same ? weight_dtype(dtypes) : dtypes->first;
}

static void write_numbers(const Request *request, const RankedPlan *ranked, FILE *out) {
    StateDtypes dtypes = emit_state_dtypes(request, ranked);
    LaunchTerms terms = {{[TERM_WEIGHTS] = weight_dtype(&dtypes),
                          [TERM_GRADIENTS] = dtypes.gradients,
                          [TERM_MOMENTS] = moment_dtype(&dtypes)}};
    fprintf(out, "dtype: bfloat16\n");
    keys_write(MAXTEXT_KEYS, "n", &terms, KEYS_YAML, out);
}

/* Qwix on TPUs; Transformer Engine on NVIDIA's GPUs. NULL: it has none. Its `nanoo_fp8` of AMD's GPUs is not taken: it
 * excludes gradient accumulation (types.py). */
static const char *quantization(const Request *request) {
    bool tpu = !chip_has_domains(&request->question.chip);
    bool amd = !tpu && request->question.chip.scaleup == SCALEUP_MESH;
    const char *words[PRECISION_COUNT] = {[PRECISION_BF16] = "",
                                          [PRECISION_FP8] = tpu   ? "fp8_full"
                                                            : amd ? NULL
                                                                  : "te_fp8_currentscaling",
                                          [PRECISION_MXFP8] = tpu || amd ? NULL : "te_mxfp8",
                                          [PRECISION_NVFP4] = tpu || amd ? NULL : "te_nvfp4",
                                          [PRECISION_INT8] = "int8"};
    return words[request->question.precision];
}

static void write_quantization(const Request *request, bool tpu, FILE *out) {
    Precision precision = request->question.precision;
    if (precision == PRECISION_BF16) return;
    fprintf(out, "quantization: %s\n", quantization(request));
    if (tpu || precision == PRECISION_INT8) fprintf(out, "use_qwix_quantization: true\n");
}

OPTIMIZER_WORDS(MAXTEXT_OPTIMIZERS, {"adamw", "adamw"}, {"adam_pax", "adamw"}, {"muon", "muon"}, {"sgd", "sgd"});

static void write_optimizer(const LaunchJob *job, FILE *out) {
    fprintf(out, "opt_type: %s\n", launcher_optimizer(job->launcher, job->request));
    LaunchTerms terms = launch_terms(job);
    keys_write(MAXTEXT_KEYS, "z", &terms, KEYS_YAML, out);
}

const char *maxtext_refuses_work(const Request *request) {
    const StateDtypes *dtypes = &request->question.state.dtypes;
    bool muon = strcmp(request->requested.optimizer, "muon") == 0;
    Dtype all[] = {weight_dtype(dtypes), dtypes->gradients, moment_dtype(dtypes)};
    REFUSE_UNLESS(maxtext_has_model(&request->question.model), "it has neither a model of this name nor its layers");
    REFUSE_UNLESS(quantization(request), "it has no such matmuls on this chip; plan with --precision bf16");
    REFUSE_UNLESS(!muon || maxtext_has_muon(&request->question.model), "its muon does not know this model's layers");
    for (size_t i = 0; i < COUNT_OF(all); i++)
        REFUSE_UNLESS(all[i] == DTYPE_DEFAULT || key_word(MAXTEXT_DTYPES, all[i]),
                      "weights, gradients and moments are bf16, fp16 or fp32 there");
    REFUSE_UNLESS(dtypes->second == weight_dtype(dtypes) || strcmp(request->requested.optimizer, "sgd") == 0,
                  "it keeps the second moment in weight_dtype: give m= alone, or master=none with moments=bf16");
    return NULL;
}

/* Experts are dropless (megablox) unless the model is trained with a capacity, which is the dense path. */
static void write_mixture(const Model *model, FILE *out) {
    if (model_layers_with(model, true) == 0) return;
    bool dropless = model->training.capacity_factor <= 0;
    fprintf(out, "sparse_matmul: %s\nmegablox: %s\n", dropless ? "true" : "false", dropless ? "true" : "false");
    fprintf(out, "capacity_factor: %.17g\n", dropless ? -1.0 : model->training.capacity_factor);
}

/* ---- the file ---- */

void maxtext_notes(const LaunchJob *job, EmitNotes *notes) {
    const Request *request = job->request;
    const RankedPlan *ranked = job->ranked;
    const Plan *plan = &ranked->plan;
    bool tensor = plan->degrees.of[ROLE_TENSOR] > 1;
    note_remat(request, ranked, notes);
    if (tensor && plan->layout.sharding.residual == RESIDUAL_REPLICATED)
        emit_note(notes, "the residual stream is split over tensor along d_model, the plan had it whole: as much "
                         "traffic, less HBM");
    if (tensor && plan->layout.sharding.mlp == MLP_GATHERED)
        emit_note(notes, "the MLP stays split over tensor, the plan gathered its weights: plan with --for maxtext and "
                         "compare");
    if (tensor && (plan->layout.sharding.embedding == TABLE_D_MODEL || plan->layout.sharding.logits == TABLE_D_MODEL))
        emit_note(notes, "embedding and logits are split over tensor by vocabulary, the plan split d_model in one");
    if (plan->knobs.methods.tensor_overlap)
        emit_note(notes,
                  "chunks of matmuls alongside their collectives over tensor are XLA's choice, which no key here "
                  "makes");
    if (ranked->machine.mesh.devices / ranked->machine.mesh.chips > 1)
        emit_note(notes, "each chip is %lld devices: degrees multiply to devices",
                  (long long)(ranked->machine.mesh.devices / ranked->machine.mesh.chips));
}

/* Flags of public recipes that make reduce_scatters of a whole slice's gradients, on a chip whose SparseCores run
 * collectives (AI-Hypercomputer/tpu-recipes, training/ironwood, llama3.1-405b/8k-bf16-tpu7x-4x8x8; compiled with them:
 * docs/data/whole_steps.md). Where they are what was priced, the file says so. */
static void write_flags(const Request *request, FILE *out) {
    static const char *const FLAGS[] = {
        "--xla_tpu_enable_sparse_core_reduce_scatter_v2=true",
        "--xla_tpu_enable_sparse_core_collective_offload_reduce_scatter=true",
        "--xla_tpu_enable_sparse_core_collective_offload_all_reduce=true",
        "--xla_tpu_enable_sparse_core_collective_offload_all_gather=true",
        "--xla_tpu_enable_sparse_core_collective_offload_2d_all_gather=true",
        "--xla_tpu_enable_sparse_core_collective_offload_3d_all_gather=true",
        "--xla_tpu_use_single_sparse_core_for_all_gather_offload=true",
        "--xla_tpu_enable_all_gather_offload_tracing=true",
        "--xla_tpu_use_tc_device_shape_on_sc=true",
        "--xla_sc_disable_megacore_partitioning=true",
        "--xla_tpu_enable_async_collective_fusion_fuse_all_gather=false",
        "--xla_enable_async_all_gather=true",
        "--xla_tpu_prefer_async_allgather_to_allreduce=true",
    };
    const Profile *profile = &request->question.profile;
    if (chip_has_domains(&request->question.chip) || !(profile->whole_program > 0.5) || profile->slice_all_reduce > 0.5)
        return;
    fprintf(out, "# Priced with these flags: export LIBTPU_INIT_ARGS=\"\\\n");
    for (size_t i = 0; i < COUNT_OF(FLAGS); i++)
        fprintf(out, "#   %s%s\n", FLAGS[i], i + 1 < COUNT_OF(FLAGS) ? " \\" : "\"");
}

static void write_launch_line(const Request *request, const RankedPlan *ranked, FILE *out) {
    const Chip *chip = &request->question.chip;
    const Machine *machine = &ranked->machine;
    char name[PROSE_NAME_SIZE], type[TPU_TYPE_SIZE]; /* texts of a file must not end the comment's line */
    fprintf(out, "# Keys as in MaxText 0.2.5. Run: python3 -m maxtext.trainers.pre_train.train THIS_FILE.yml \\\n"
                 "#   run_name=... base_output_directory=gs://... dataset_path=...\n");
    if (chip_has_domains(chip)) {
        fprintf(out, "# Machine: %s, one process a node.\n", clean_name(machine->text, name));
        return;
    }
    fprintf(out, "# XPK: --tpu-type=%s --num-slices=%lld\n", scheduler_tpu_type(chip, machine, type),
            (long long)machine->slices);
}

bool maxtext_write(const LaunchJob *job, const EmitNotes *notes, FILE *out, Error *error) {
    const Request *request = job->request;
    const RankedPlan *ranked = job->ranked;
    bool tpu = !chip_has_domains(&request->question.chip);
    MaxtextDivision division = maxtext_division(ranked);
    emit_header(job, notes, out);
    write_launch_line(request, ranked, out);
    write_flags(request, out);
    fprintf(out, "base_config: \"base.yml\"\nhardware: \"%s\"\n\n", tpu ? "tpu" : "gpu");
    maxtext_write_model(&request->question.model, out);
    fprintf(out, "\n# Mesh: degrees inside a %s, then across; allow_split_physical_axes where a ring is shared.\n",
            tpu ? "slice" : "node");
    if (!maxtext_write_mesh(job, tpu, out, error)) return false;
    fprintf(out, "\n# Batch\n");
    if (!write_batch(job, out, error)) return false;
    fprintf(out, "\n# Numbers and state\n");
    write_numbers(request, ranked, out);
    write_quantization(request, tpu, out);
    write_optimizer(job, out);
    fprintf(out, "\n# Attention and experts\n");
    if (!write_context(job, tpu, &division, out, error)) return false;
    write_mixture(&request->question.model, out);
    fprintf(out, "\n# Activations\n");
    write_remat(job, out);
    return true;
}
