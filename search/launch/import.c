/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/launch/import.h"

#include "base/util.h"
#include "mesh/host_link.h"
#include "search/launch/placement.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

bool import_state(ConfigFile *file, const StateDtypes *state, ImportedWork *out, Error *error) {
    char text[STATE_TEXT_SIZE];
    if (strcmp(state_dtypes_text(state, text), "default") == 0) return true;
    out->state_dtypes = arena_text(file->arena, text);
    return out->state_dtypes || error_memory(error);
}

static void read_optimizer(const Launcher *launcher, ConfigFile *file, ImportedWork *out) {
    const char *word = launcher->optimizers ? config_text(file, launcher->optimizer_key, NULL) : NULL;
    const OptimizerWord *row = launcher->optimizers;
    while (word && row->word && strcasecmp(row->word, word) != 0) row++;
    if (word && !row->word)
        config_note(file, "%s=%.40s is priced as AdamW", launcher->optimizer_key, word);
    else if (word && strcmp(row->ours, "adamw") != 0)
        out->optimizer = row->ours;
}

bool import_work(int launcher, ConfigFile *file, ImportedWork *out, Error *error) {
    int64_t nodes, each; /* as torchrun is given them */
    *out = (ImportedWork){0};
    if (!launcher_at(launcher)->import_work(file, out, error) ||
        !config_whole(file, "(nodes)", 1, 1 << 20, 0, &nodes, error) ||
        !config_whole(file, "(devices of a node)", 1, 1 << 20, 0, &each, error))
        return false;
    read_optimizer(launcher_at(launcher), file, out);
    if (out->devices == 0) out->devices = nodes * each;
    return (out->nodes || config_number_text(file, "(nodes)", &out->nodes, error)) &&
           (out->gpus_per_node || config_number_text(file, "(devices of a node)", &out->gpus_per_node, error));
}

bool import_machine(ConfigFile *file, const ImportedWork *work, Request *request, Error *error) {
    const Chip *chip = &request->question.chip;
    const Mesh *mesh = &request->question.machine.mesh;
    double least = (1 - request->space.max_idle) * (double)mesh->devices - 1e-9;
    bool part = work->devices < mesh->devices && (double)work->devices >= least && chip_has_domains(chip);
    int64_t chips = part ? work->devices * mesh->chips / mesh->devices : 0;
    if (work->devices == 0 || work->devices == mesh->devices) return true;
    if (!part || chips % max_whole(1, chip->chips_per_host) != 0)
        return config_wrong(file, NULL, "nnodes", error,
                            "%" PRId64 " processes are not the %" PRId64 " devices of %s; name the machine it runs on",
                            work->devices, mesh->devices, request->question.machine.text);
    machine_of_gpus(chip, chips, &request->question.machine);
    return true;
}

bool import_plan(int launcher, ConfigFile *file, const Request *request, ImportedPlan *out, Error *error) {
    *out = (ImportedPlan){0};
    for (int role = 0; role < ROLE_COUNT; role++) out->degrees.of[role] = out->across[role] = 1;
    if (!launcher_at(launcher)->import_plan(file, request, out, error)) return false;
    bool guarded = false;
    for (int64_t i = 0; i < file->count; i++) guarded = guarded || (file->entries[i].guarded && file->entries[i].taken);
    if (guarded)
        config_note(file, "some keys stand behind a condition that the file does not decide: taken as if it held");
    config_note_left(file);
    return true;
}

void import_knob(ImportedPlan *plan, Knob knob, int64_t setting) {
    knob_set(knob, setting, &plan->knobs);
    plan->said |= (KnobSet)1 << knob;
}

bool import_says(const ImportedPlan *plan, Knob knob) { return plan->said >> knob & 1; }

bool import_batch(ConfigFile *file, const Request *request, const char *key, int64_t sequences, int64_t micro,
                  ImportedPlan *plan, Error *error) {
    int64_t replicas = degrees_replicas(&plan->degrees);
    bool requested = request->requested.batch_origin == FROM_OPTION;
    plan->sequences = requested ? request->question.work.sequences : sequences;
    if (plan->sequences % replicas != 0 || plan->sequences / replicas % micro != 0)
        return config_wrong(file, NULL, requested ? "the batch requested" : key, error,
                            "%" PRId64 " sequences are no whole microbatches of %" PRId64 " on %" PRId64
                            " replicas; give a multiple of %" PRId64,
                            plan->sequences, micro, replicas, micro * replicas);
    import_knob(plan, KNOB_MICROBATCHES, plan->sequences / replicas / micro);
    import_knob(plan, KNOB_MICROBATCH_SEQUENCES, micro);
    return true;
}

void import_offload(ConfigFile *file, const Request *request, bool offloads, ImportedPlan *plan) {
    bool offered = host_is_known(&request->question.chip);
    if (offloads && !offered)
        config_note(file,
                    "the optimizer's state lies on the host, whose memory the catalog does not know for %s: priced "
                    "in HBM",
                    request->question.chip.title);
    import_knob(plan, KNOB_OFFLOAD_OPTIMIZER, offloads && offered);
}

void import_overlap(ConfigFile *file, const Request *request, bool overlaps, ImportedPlan *plan) {
    if (plan->degrees.of[ROLE_TENSOR] <= 1) return;
    bool offered = request->question.profile.tensor_overlapped < request->question.profile.tensor_exposed;
    if (overlaps && !offered)
        config_note(file, "overlapped tensor collectives are in no measured run of %s: priced without",
                    request->question.chip.title);
    import_knob(plan, KNOB_TENSOR_OVERLAP, overlaps && offered);
}

bool import_check_heads(ConfigFile *file, const Request *request, const char *key, int64_t tensor, bool copies,
                        Error *error) {
    for (int i = 0; i < request->question.model.kind_count; i++) {
        const LayerKind *kind = &request->question.model.kinds[i];
        int64_t kv = kind->attention == ATTENTION_LATENT ? 0 : kind->kv_heads;
        if (kind->heads % tensor != 0)
            return config_wrong(file, NULL, key, error, "%" PRId64 " does not divide the %" PRId64 " heads of %s",
                                tensor, kind->heads, request->question.model.name);
        if (kv > 0 && kv % tensor != 0 && !(copies && tensor % kv == 0))
            return config_wrong(file, NULL, key, error, "%" PRId64 " does not divide the %" PRId64 " KV heads of %s",
                                tensor, kv, request->question.model.name);
    }
    return true;
}

bool import_check_seq(ConfigFile *file, const Request *request, const char *key, int64_t by, Error *error) {
    if (request->question.work.seq % by == 0) return true;
    return config_wrong(file, NULL, key, error,
                        "a sequence of %" PRId64 " tokens is no multiple of %" PRId64
                        ", as it has to be with these degrees",
                        request->question.work.seq, by);
}

bool import_left_over(ConfigFile *file, const Request *request, const char *key, const ImportedPlan *plan,
                      int64_t *left, Error *error) {
    int64_t devices = request->question.machine.mesh.devices, used = 1;
    for (int role = 0; role < ROLE_COUNT; role++)
        if (__builtin_mul_overflow(used, plan->degrees.of[role], &used)) used = INT64_MAX / 2;
    if (used <= devices && devices % used == 0) {
        *left = devices / used;
        return true;
    }
    return config_wrong(file, NULL, key, error,
                        "the degrees multiply to %" PRId64 ", which does not divide the %" PRId64
                        " devices of %s; name the machine it runs on",
                        used, devices, request->question.machine.text);
}

int64_t import_experts(const Request *request) {
    int64_t experts = 0;
    for (int i = 0; i < request->question.model.kind_count; i++)
        experts = max_whole(experts, request->question.model.kinds[i].experts);
    return experts;
}

bool import_check_gpus(ConfigFile *file, const Request *request, const char *launcher, Error *error) {
    if (chip_has_domains(&request->question.chip)) return true;
    return error_set(error, ERROR_INPUT, file->name,
                     "%s runs on GPUs, not on %s; name the machine: --chip h100 --nodes 16", launcher,
                     request->question.chip.title);
}

bool import_sizes_known(const ImportedSizes *sizes) { return sizes->layers > 0 && sizes->d_model > 0; }

static bool same_or_silent(int64_t said, int64_t is) { return said == 0 || said == is; }

int import_sizes_match(const ImportedSizes *sizes, const Model *model) {
    bool heads = false, kv = false, wide = false, experts = sizes->experts == 0;
    for (int i = 0; i < model->kind_count; i++) {
        const LayerKind *kind = &model->kinds[i];
        heads = heads || same_or_silent(sizes->heads, kind->heads);
        kv = kv || same_or_silent(sizes->kv_heads, kind->kv_heads);
        wide = wide || same_or_silent(sizes->d_ff, kind->d_ff) || sizes->d_ff == kind->d_ff_expert;
        experts = experts || sizes->experts == kind->experts;
        if (sizes->experts == 0 && kind->experts > 0) return 0;
    }
    /* launchers pad the vocabulary, and say it or not */
    bool words = sizes->vocab == 0 || (sizes->vocab >= model->vocab && sizes->vocab <= model->vocab + 4096) ||
                 (model->vocab >= sizes->vocab && model->vocab <= sizes->vocab + 4096);
    if (sizes->layers != model->layers || sizes->d_model != model->d_model || !heads || !kv || !wide || !experts ||
        !words)
        return 0;
    return 1 + 2 * (sizes->vocab == model->vocab) + (sizes->max_seq == model->max_seq);
}

/* ---- where a launcher puts the roles of a configuration that says nothing more than degrees ---- */

/* What launch_ways() takes: degrees inside a slice, on whichever axis, and those over DCN where they are set. */
static Placement expressible_placement(const Mesh *mesh, const ImportedPlan *plan) {
    Placement placement;
    int inner = -1, outer = -1;
    for (int a = 0; a < MESH_AXES_MAX; a++)
        for (int role = 0; role < ROLE_COUNT; role++) placement.factor[a][role] = 1;
    for (int a = 0; a < mesh->axis_count; a++) {
        if (axis_is_across(&mesh->axes[a]))
            outer = outer < 0 ? a : outer;
        else
            inner = inner < 0 ? a : inner;
    }
    if (inner < 0) inner = max_whole(0, outer);
    for (int role = 0; role < ROLE_COUNT; role++) {
        int64_t across = outer >= 0 && plan->expressible_across ? plan->across[role] : 1;
        placement.factor[inner][role] = (int32_t)(plan->degrees.of[role] / across);
        if (across > 1) placement.factor[outer][role] = (int32_t)across;
    }
    return placement;
}

/* The way whose option the file gives; NULL: none is like that. */
static const LaunchWay *with_option(const LaunchWays *ways, const char *option) {
    for (int i = 0; i < ways->count; i++) {
        const char *needs = ways->way[i].option;
        if (option ? needs && strcmp(needs, option) == 0 : !needs) return &ways->way[i];
    }
    return NULL;
}

bool import_place(int launcher, ConfigFile *file, const Request *request, ImportedPlan *plan, Error *error) {
    const Mesh *mesh = &request->question.machine.mesh;
    Placement placement = expressible_placement(mesh, plan);
    LaunchAsk ask = {mesh, request->question.chip.name, &placement};
    LaunchWays ways;
    if (!plan->nesting) plan->nesting = launcher_nesting(launcher);
    if (plan->placed) return true;
    launch_ways(launcher, &ask, &ways);
    const LaunchWay *way = with_option(&ways, plan->option);
    if (launcher_at(launcher)->import_way &&
        !launcher_at(launcher)->import_way(file, request, plan, &ways, &way, error))
        return false;
    if (way)
        plan->pin_count = pins_of_placement(mesh, &way->placement, plan->pins);
    else
        config_note(file, "%s: its roles are placed as is best",
                    ways.unpriced ? ways.unpriced : "its placement is not known");
    return true;
}
