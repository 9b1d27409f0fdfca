/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Why no plan fits, and what comes nearest. */
#include "search/report/text/parts.h"

#include "base/util.h"
#include "mesh/host_link.h"

/* The least that activations can take. */
static const char *activations_words(const Request *request) {
    return offload_takes_activations(request->question.offload) && host_is_known(&request->question.chip)
               ? "every activation recomputed or offloaded"
               : "every activation recomputed";
}

/* How far off the plan is that lacks least. */
static void write_shortfall(const Report *report, TextOut out) {
    const Request *request = report->request;
    const Shortfall *shortfall = &report->result.shortfall;
    const MemoryRows *rows = &shortfall->memory;
    char need[NUMBER_TEXT_SIZE], keeps[NUMBER_TEXT_SIZE], all[NUMBER_TEXT_SIZE], notation[NOTATION_SIZE],
        title[PROSE_NAME_SIZE];
    double state = rows->parameters_bytes + rows->gradients_bytes + rows->optimizer_bytes;
    Prose text = {0};
    if (state > shortfall->limit_bytes)
        prose_add(&text, "No plan fits: parameters, gradients and optimizer alone need %s per chip",
                  number_bytes(state, need));
    else if (memory_total(rows) <= 0) /* cut before knobs: by what no knob changes */
        prose_add(&text, "No plan fits: %s need %s per chip",
                  offload_takes_optimizer(request->question.offload) && host_is_known(&request->question.chip)
                      ? "weights and gradients alone, the optimizer's state being offloaded,"
                      : "weights, gradients and optimizer state alone",
                  number_bytes(shortfall->needed_bytes, need));
    else
        prose_add(&text, "No plan fits: with %s, a plan needs at least %s per chip",
                  request->question.remat.required ? "activations as --remat requires" : activations_words(request),
                  number_bytes(shortfall->needed_bytes, need));
    prose_add(&text, " (%s), but ", degrees_notation(&shortfall->plan.degrees, true, notation));
    prose_add(&text, "plans may use only %s of the %s of a %s.", number_bytes(shortfall->limit_bytes, keeps),
              number_bytes(request_cost_context(request).chip->hbm_bytes.value, all),
              clean_name(request->question.chip.title, title));
    prose_write(out, "", "", text.text);
}

void nearest_write(const Report *report, TextOut out) {
    char step[NUMBER_TEXT_SIZE], hbm[NUMBER_TEXT_SIZE], title[PROSE_NAME_SIZE], label[WORDS_SIZE],
        chips[NUMBER_TEXT_SIZE];
    if (!report->result.shortfall.known) return;
    clean_name(report->request->question.chip.title, title);
    for (int i = 0; i < report->nearest_count; i++) {
        const RankedPlan *ranked = &report->nearest[i];
        Prose text = {0};
        prose_add(&text, "%s of %s, %s chips: %s, %s per step, %s", ranked->machine.text, title,
                  number_grouped(ranked->machine.mesh.chips, chips),
                  number_bytes(memory_total(&ranked->estimate.memory), hbm),
                  step_text(ranked->estimate.time.seconds, step), plan_label(ranked, label));
        prose_write(out, i == 0 ? "Nearest machine that fits: " : "                     then: ",
                    "                           ", text.text);
    }
    ways_out_write(report, "Ways out: ", out);
}

void ways_out_write(const Report *report, const char *before, TextOut out) {
    char hbm[NUMBER_TEXT_SIZE], step[NUMBER_TEXT_SIZE], chips[NUMBER_TEXT_SIZE], label[WORDS_SIZE];
    for (int i = 0; i < report->way_out_count; i++) {
        const RankedPlan *ranked = &report->ways_out[i].best;
        Prose text = {0};
        prose_add(&text, "%s: %s, %s per step of %s tokens, %s", report->ways_out[i].words,
                  number_bytes(memory_total(&ranked->estimate.memory), hbm),
                  step_text(ranked->estimate.time.seconds, step),
                  number_grouped(ranked->work.sequences * ranked->work.seq, chips), plan_label(ranked, label));
        prose_write(out, i == 0 ? before : "          ", "            ", text.text);
    }
}

/* "tensor 8 x pipeline 3 = 24 does not divide 32 chips": the degrees that a line names; false: they divide them. */
static bool write_indivisible(const Report *report, TextOut out) {
    const SpaceRules *space = &report->request->space;
    int64_t product = 1, chips = report->request->question.machine.mesh.chips;
    Prose degrees = {0};
    int count = 0;
    for (int i = 0; i < space->requirement_count; i++) {
        const Requirement *one = &space->requirements[i];
        if (one->knob != KNOB_NONE || one->either || one->op != REQUIRE_EQUAL || one->degree < 2) continue;
        prose_item(&degrees, " x ", "%s %lld", role_name(one->role), (long long)one->degree);
        product = min_whole(product, INT64_C(1) << 40) * one->degree;
        count++;
    }
    if (chips < 1 || chips % product == 0) return false;
    char all[NUMBER_TEXT_SIZE], of[NUMBER_TEXT_SIZE];
    Prose text = {0};
    prose_add(&text, "No plan fits: %s%s%s does not divide %s chips.", degrees.text, count > 1 ? " = " : "",
              count > 1 ? number_grouped(product, all) : "", number_grouped(chips, of));
    prose_write(out, "", "", text.text);
    return true;
}

/* Nothing is left though memory is not what lacks. */
static void write_all_cut(const Report *report, TextOut out) {
    if (write_indivisible(report, out)) return;
    const Certificate *certificate = &report->result.certificate;
    char all[COUNT_TEXT_SIZE], count[COUNT_TEXT_SIZE];
    Prose text = {0};
    prose_add(&text, "No plan fits: of all %s plans,", count_text(certificate->plans_covered, true, all));
    if (certificate->plans_pruned[PRUNED_REQUIRE] > 0)
        prose_add(&text, " %s are excluded by %s, and",
                  count_text(certificate->plans_pruned[PRUNED_REQUIRE], true, count), conditions_words(report));
    prose_add(&text, " %s have sizes that do not divide or would need padding that no launcher accepts.",
              count_text(certificate->plans_pruned[PRUNED_INDIVISIBLE], true, count));
    prose_write(out, "", "", text.text);
}

void shortfall_write(const Report *report, TextOut out) {
    if (report->result.interrupted)
        prose_write(out, "", "", "No plan was found before the search was interrupted.");
    else if (report->result.certificate.proof == PROOF_GAP)
        prose_write(out, "", "", "No plan was found before the limit ended the search; raise --time-limit.");
    else if (report->result.shortfall.known)
        write_shortfall(report, out);
    else
        write_all_cut(report, out);
    if (report->result.shortfall.known && report->nearest_count == 0)
        fputs("No machine with up to 64 times as many chips has a plan that fits.\n", out.file);
}
