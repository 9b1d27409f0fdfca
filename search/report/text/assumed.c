/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the answer rests on. */
#include "search/report/text/parts.h"

#include "base/util.h"
#include "mesh/host_link.h"
#include "mesh/slice.h"

#include <math.h>

static const char *origin_text(Origin origin, const char *fallback) {
    return origin == FROM_OPTION ? "as requested" : origin == FROM_MODEL ? "its published training" : fallback;
}

/* Whether an all_to_all of the plan is over the whole slice, as a twisted torus rewards. */
static bool crosses_whole_slice(const RankedPlan *ranked) {
    static const Role ROLES[] = {ROLE_EXPERT, ROLE_SEQUENCE};
    const Mesh *mesh = &ranked->machine.mesh;
    for (size_t r = 0; r < COUNT_OF(ROLES); r++) {
        bool whole = mesh->fabric.twisted_gain > 0;
        for (int a = 0; a < mesh->axis_count && whole; a++)
            whole =
                mesh->axes[a].level != LEVEL_ICI || ranked->plan.placement.factor[a][ROLES[r]] == mesh->axes[a].size;
        if (whole) return true;
    }
    return false;
}

int unverified_figures(const Request *request, const RankedPlan *ranked, Unverified out[UNVERIFIED_MAX]) {
    const Chip *chip = &request->question.chip;
    const Mesh *mesh = &ranked->machine.mesh;
    bool inside = false, outside = false, cores = false,
         offloads = ranked->estimate.time.pcie_seconds > 0 || ranked->plan.knobs.offload_optimizer,
         on_cpu = ranked->plan.knobs.offload_optimizer && request->question.host_update == HOST_UPDATE_ON_CPU;
    bool torus = !chip_has_domains(chip), pod = slice_compare(ranked->machine.slice, chip->pod) == 0;
    for (int a = 0; a < mesh->axis_count; a++) {
        bool core = torus && mesh->axes[a].kind == AXIS_MESH;
        AxisLevel level = mesh->axes[a].level;
        *(core ? &cores : level <= LEVEL_PCIE ? &inside : &outside) = true;
    }
    const Figure *twist = slice_twist(chip, ranked->machine.slice);
    const struct {
        const Figure *figure;
        const char *key, *words;
        bool used;
    } FIGURES[] = {
        {&chip->bf16_flops_per_second, "bf16_flops_per_second", "peak FLOP/s", true},
        {&chip->fp8_flops_per_second, "fp8_flops_per_second", "fp8 peak FLOP/s",
         request->question.precision == PRECISION_FP8 || request->question.precision == PRECISION_MXFP8},
        {&chip->fp4_flops_per_second, "fp4_flops_per_second", "fp4 peak FLOP/s",
         request->question.precision == PRECISION_NVFP4},
        {&chip->int8_ops_per_second, "int8_ops_per_second", "int8 peak OP/s",
         request->question.precision == PRECISION_INT8},
        {&chip->hbm_bytes, "hbm_bytes", "HBM size", true},
        {&chip->hbm_bytes_per_second, "hbm_bytes_per_second", "HBM bandwidth", true},
        {&chip->matrix_tile, "matrix_tile", "matrix tile", request->question.profile.tile_padding},
        {&chip->link_bytes_per_second, "link_bytes_per_second", "link bandwidth", inside},
        {&chip->hop_seconds, "hop_seconds", "link latency", inside || cores},
        {&chip->device_link_bytes_per_second, "device_link_bytes_per_second", "link between cores", cores},
        {&chip->scaleout_bytes_per_second, "scaleout_bytes_per_second", torus ? "DCN bandwidth" : "network bandwidth",
         outside},
        {&chip->scaleout_seconds, "scaleout_seconds", torus ? "DCN latency" : "network latency", outside},
        {&chip->ring_base_seconds, "ring_base_seconds", "fixed latency of collectives", inside || outside},
        {&chip->leaf_nodes, "leaf_nodes", "nodes under a leaf", mesh->fabric.oversubscription > 1},
        {twist ? twist : &chip->hbm_bytes, "twisted_gain", "gain of the twist", twist && crosses_whole_slice(ranked)},
        {&chip->pcie_bytes_per_second, "pcie_bytes_per_second", "PCIe bandwidth", offloads},
        {&chip->host_bytes, "host_bytes", "host memory", offloads},
        {&chip->host_copies_bytes_per_second, "host_copies_bytes_per_second", "host ceiling of copies", offloads},
        {&chip->host_memory_bytes_per_second, "host_memory_bytes_per_second", "host memory bandwidth", on_cpu},
        {&chip->nic_shares_pcie, "nic_shares_pcie", "lane that the NIC shares",
         ranked->estimate.time.host_lane_seconds > 0},
        {&chip->usd_per_chip_hour, "usd_per_chip_hour", "price", true},
    };
    _Static_assert(COUNT_OF(FIGURES) + 1 <= UNVERIFIED_MAX, "each figure, and the topology");
    int count = 0;
    for (size_t i = 0; i < COUNT_OF(FIGURES); i++)
        if (FIGURES[i].used && FIGURES[i].figure->value > 0 && !FIGURES[i].figure->verified)
            out[count++] = (Unverified){FIGURES[i].key, FIGURES[i].words};
    if (!chip->topology_verified)
        out[count++] = (Unverified){"topology", torus ? "slices and rings" : "links and hosts"};
    else if (torus && pod && !chip->pod_verified)
        out[count++] = (Unverified){"topology.pod", "shape of the pod"};
    return count;
}

/* Figures of the catalog that the plan leans on and nobody could check. */
static void add_unverified(const Request *request, const RankedPlan *ranked, Prose *to) {
    Unverified figures[UNVERIFIED_MAX];
    int count = unverified_figures(request, ranked, figures);
    Prose list = {0};
    for (int i = 0; i < count; i++) prose_item(&list, ", ", "%s", figures[i].words);
    if (count > 0) prose_add(to, " The plan depends on unverified figures (see `shardopt chips`): %s.", list.text);
}

static void add_profile(const Request *request, Prose *to) {
    const Profile *profile = &request->question.profile;
    char name[PROSE_NAME_SIZE];
    prose_add(to, "; profile %s", clean_name(profile->name, name));
    if (profile->stack[0])
        prose_add(to, ", software %s%s", clean_name(profile->stack, name),
                  request->requested.stack[0] ? "" : ", the best current software known for it");
    if (profile->likely_low > 0 && profile->likely_high > 0)
        prose_add(to,
                  " (measured steps are likely %.2f to %.2f times the predicted, or more where a plan leans on figures "
                  "that no run moved)",
                  profile->likely_low, profile->likely_high);
    else
        prose_add(to, " (peak rates without overheads, so that there is no likely range)");
}

void assumed_write(const Request *request, const RankedPlan *ranked, TextOut out) {
    CostContext setting = request_cost_context(request);
    char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE], c[NUMBER_TEXT_SIZE], words[STATE_WORDS_SIZE];
    const Work *work = &request->question.work;
    double tokens = (double)work->sequences * (double)work->seq, price = request->question.chip.usd_per_chip_hour.value;
    Prose text = {0};
    prose_add(&text, "Assumed: batch of %s tokens (%s), ", number_grouped((int64_t)tokens, a),
              origin_text(request->requested.batch_origin, "the default"));
    prose_add(&text, "%s sequences of %s (%s)", number_grouped(work->sequences, a), number_grouped(work->seq, b),
              origin_text(request->requested.seq_origin, "the default"));
    if (request->requested.batch_tokens > 0 && fabs(request->requested.batch_tokens - tokens) >= 1)
        prose_add(&text, ", rounded from %s tokens", number_grouped((int64_t)request->requested.batch_tokens, a));
    if (request->requested.seq_beyond_model)
        prose_add(&text, ", longer than the model's %s", number_grouped(request->question.model.max_seq, a));
    prose_add(&text, "; training of %s tokens (%s)", number_short(request->question.training_tokens, a),
              origin_text(request->requested.tokens_origin, "20 per parameter"));
    TrainingState state = *cost_context_state(&setting);
    state.dtypes.gradients = cost_context_gradient_dtype(&setting);
    prose_add(&text, "; %s matmuls, %s", precision_name(request->question.precision),
              training_state_words(&state, words));
    if (ranked && cost_context_copy_bytes(&setting, &ranked->plan.knobs) == 0)
        prose_add(&text, ", weights cast from the master where they are used");
    bool of_driver = setting.chip->hbm_usable_bytes.value == setting.chip->hbm_bytes.value;
    prose_add(&text, "; %s of %sHBM (%s) reserved", share_text(request->question.hbm_reserve, b),
              of_driver ? "the driver's " : "",
              number_bytes(request->question.hbm_reserve * setting.chip->hbm_bytes.value, a));
    if (request->question.offload == OFFLOAD_NONE && host_is_known(&request->question.chip))
        prose_add(&text, "; nothing on the host (--offload all allows it)");
    add_profile(request, &text);
    prose_add(
        &text,
        "; MFU counts 6 x parameters plus causal attention for useful tokens only, over %s dense %s per chip used",
        rate_text(setting.precision_flops_per_second, "FLOP", a), precision_name(request->question.precision));
    if (ranked)
        prose_add(&text, " (full attention would make it %s)", share_text(ranked->estimate.mfu_full_attention, c));
    if (price > 0) prose_add(&text, "; $%.2f per chip-hour, idle chips included", price);
    prose_add(&text, ".");
    if (ranked) add_unverified(request, ranked, &text);
    if (request->question.machine.note[0]) prose_add(&text, " Note: %s.", request->question.machine.note);
    prose_write(out, "", "", text.text);
}
