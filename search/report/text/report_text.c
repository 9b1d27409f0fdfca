/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/answer/doubts.h"
#include "search/report/report.h"

#include "base/text/terminal.h"
#include "base/util.h"
#include "mesh/host_link.h"
#include "search/report/plan_fields.h"
#include "search/report/text/parts.h"

#include <string.h>

/* Between these the probability that a plan fits is worth words. */
static const double FITS_HARDLY = 0.01, FITS_SURELY = 0.985;

/* What failures leave of it, where there are enough of them to speak of. */
static void write_failing(const Request *request, const RankedPlan *ranked, TextOut out) {
    static const double NEVER = 30 * 86400.0;
    char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE], c[NUMBER_TEXT_SIZE];
    Failing failing = failing_of(request, ranked);
    Prose text = {0};
    if (!(failing.mtbf_seconds > 0)) return;
    bool rare = failing.mtbf_seconds > NEVER && !(request->question.failing.mtbf_seconds > 0);
    if (rare) return;
    prose_add(&text, "A failure every %s, a checkpoint every %s: %s goodput, ", duration_text(failing.mtbf_seconds, a),
              duration_text(failing.interval_seconds, b), share_text(failing.goodput, c));
    prose_add(&text, "%s", duration_text(failing.seconds, a));
    if (failing.usd >= 0) prose_add(&text, ", $%s", number_short(failing.usd, a));
    if (failing.spares > 0 && failing.idle_hosts > 0)
        prose_add(&text, "; %s spare host%s idle", number_grouped(failing.idle_hosts, a),
                  failing.idle_hosts > 1 ? "s" : "");
    else if (failing.spares > 0)
        prose_add(&text, "; keep %s spare host%s", number_grouped(failing.spares, a), failing.spares > 1 ? "s" : "");
    prose_add(&text, ".");
    prose_write(out, "", "", text.text);
}

void title_write(const Request *request, const RankedPlan *ranked, bool batch, TextOut out) {
    char name[PROSE_NAME_SIZE], machine[WORDS_SIZE], a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE];
    int64_t used = ranked->machine.mesh.chips, requested = request->question.machine.mesh.chips;
    Prose text = {0};
    prose_add(&text, "%s on %s", clean_name(request->question.model.name, name), machine_text(request, machine));
    const char *chip = chip_noun(&request->question.chip);
    if (used != requested)
        prose_add(&text, " (%s: %s of %s %ss)", ranked->machine.text, number_grouped(used, a),
                  number_grouped(requested, b), chip);
    else
        prose_add(&text, " (%s %s%s)", number_grouped(used, a), chip, used > 1 ? "s" : "");
    if (batch)
        prose_add(&text, ", %s x %s tokens", number_grouped(ranked->work.sequences, a),
                  number_grouped(ranked->work.seq, b));
    prose_add(&text, ":");
    text_strong(out);
    prose_write(out, "", "", text.text);
    text_plain(out);
}

void fits_words(const Request *request, const RankedPlan *ranked, Prose *to) {
    double fits = plan_fits_chance(request, ranked);
    if (fits > 0 && fits < FITS_HARDLY)
        prose_add(to, " (fits with less than 1%% probability)");
    else if (fits > 0 && fits < FITS_SURELY)
        prose_add(to, " (fits with %.0f%% probability)", 100 * fits);
}

void verdict_write(const Request *request, const RankedPlan *ranked, TextOut out) {
    const Estimate *estimate = &ranked->estimate;
    const StepTime *time = &estimate->time;
    char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE];
    Prose text = {0};
    title_write(request, ranked, false, out);
    prose_add(&text, "%s per step (", step_text(time->seconds, a));
    double low, high;
    if (plan_likely(request, ranked, &low, &high))
        prose_add(&text, "likely %s to %s; ", number_time(low, a), number_time(high, b));
    prose_add(&text, "%s if all communication overlaps, %s if none does), ", number_time(time->lower_seconds, a),
              number_time(time->serial_seconds, b));
    prose_add(&text, "%s MFU, ", share_text(estimate->mfu, a));
    prose_add(&text, "%s of %s HBM", number_bytes(memory_total(&estimate->memory), a),
              number_bytes(estimate->memory_limit_bytes, b));
    fits_words(request, ranked, &text);
    PlanRecord record;
    plan_record(request, ranked, 1, &record);
    fields_words(PLAN_FIELDS, &record, &text);
    prose_add(&text, ", bound by %s (%s next, %.0f%% away).", bound_text(estimate->bound_by, &ranked->machine.mesh),
              bound_text(estimate->bound_next, &ranked->machine.mesh), 100 * (1 - estimate->bound_next_share));
    prose_write(out, "", "", text.text);

    Training training = training_of(request, ranked);
    text = (Prose){0};
    prose_add(&text, "%s tokens take %s", number_short(training.tokens, a), duration_text(training.seconds, b));
    prose_add(&text, ", %s chip-hours", number_short(training.chip_hours, a));
    if (training.usd >= 0)
        prose_add(&text, ", $%s", number_short(training.usd, a));
    else
        prose_add(&text, " (no price is known)");
    prose_add(&text, ".");
    prose_write(out, "", "", text.text);
    write_failing(request, ranked, out);
}

static void write_why(const SearchResult *result, TextOut out) {
    Why why;
    Prose text = {0};
    report_why(&result->plans[0], &why);
    fputs("\nWhy plan 1:\n", out.file);
    for (int i = 0; i < why.count; i++) prose_write(out, "  - ", "    ", why.text[i]);
    if (result->fastest && result->plan_count == 1) {
        char label[WORDS_SIZE], change[NUMBER_TEXT_SIZE];
        prose_add(&text, "Why not %s (%s): ", plan_label(result->fastest, label),
                  change_text(result->fastest->ranked_seconds / result->plans[0].ranked_seconds - 1, change));
        report_why_not(&result->plans[0], result->fastest, &text);
        prose_write(out, "", "  ", text.text);
    }
    for (int i = 1; i < result->plan_count && i < 3; i++) {
        char label[WORDS_SIZE];
        double behind = result->plans[i].ranked_seconds / result->plans[0].ranked_seconds - 1;
        text = (Prose){0};
        prose_add(&text, "Why not plan %d, %s", i + 1, plan_label(&result->plans[i], label));
        if (behind >= 0.0005 || behind < 0) prose_add(&text, " (%+.1f%%)", 100 * behind);
        prose_add(&text, ": ");
        report_why_not(&result->plans[0], &result->plans[i], &text);
        prose_write(out, "", "  ", text.text);
    }
}

void sensitivities_write(const Report *report, TextOut out) {
    char change[NUMBER_TEXT_SIZE];
    Prose some = {0}, none = {0}, line = {0};
    for (int i = 0; i < report->sensitivity_count; i++) {
        const Sensitivity *help = &report->sensitivities[i];
        if (!help->found)
            prose_item(&some, " · ", "%s does not fit", help->text);
        else if (strcmp(change_text(help->relative, change), "none") == 0)
            prose_item(&none, ", ", "%s", help->text);
        else
            prose_item(&some, " · ", "%s %s", help->text, change);
    }
    if (none.used > 0) prose_item(&some, " · ", "no change from %s", none.text);
    if (some.used == 0) return;
    prose_add(
        &line,
        "What would help most (the change in time per token, each from a new search on machines like plan 1's): %s",
        some.text);
    fputc('\n', out.file);
    prose_write(out, "", "  ", line.text);
}

static void write_left_out(const Report *report, TextOut out) {
    Prose line = {0};
    if (report->left_out == 0 || report->request->control.sensitivity == SENSITIVITY_ROWS) return;
    prose_add(
        &line,
        "%d search%s around this plan %s left out, since %s more work than the plan itself (--sensitivity all makes "
        "%s).",
        report->left_out, report->left_out > 1 ? "es" : "", report->left_out > 1 ? "were" : "was",
        report->left_out > 1 ? "each takes" : "it takes", report->left_out > 1 ? "them" : "it");
    fputc('\n', out.file);
    prose_write(out, "", "  ", line.text);
}

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

/* ---- by stages ---- */

static bool write_answer(const Report *report, TextOut out) {
    if (report->result.plan_count > 0) {
        verdict_write(report->request, &report->result.plans[0], out);
        launching_write(report, out);
    } else {
        shortfall_write(report, out);
        nearest_write(report, out);
    }
    return true;
}

static bool write_rows(const Report *report, TextOut out) {
    const SearchResult *result = &report->result;
    if (result->plan_count == 0) return true;
    fputc('\n', out.file);
    bool ok = plans_write(report, out);
    launch_write("Placing plan 1: ", &result->plans[0], out);
    around_write(report, out);
    fputc('\n', out.file);
    bars_write("Where a step of plan 1 goes", report->request, &result->plans[0], out);
    write_why(result, out);
    return ok;
}

static bool write_rest(const Report *report, TextOut out) {
    const RankedPlan *first = report->result.plan_count > 0 ? &report->result.plans[0] : NULL;
    if (first) {
        sensitivities_write(report, out);
        write_left_out(report, out);
    }
    fputc('\n', out.file);
    assumed_write(report->request, first, out);
    searched_write(report, out);
    return true;
}

bool report_write_text_stage(const Report *report, ReportStage stage, TextOut out, Error *error) {
    static bool (*const WRITE[STAGE_COUNT])(const Report *report, TextOut out) = {[STAGE_PLAN] = write_answer,
                                                                                  [STAGE_ROWS] = write_rows,
                                                                                  [STAGE_WAYS] = alternatives_write,
                                                                                  [STAGE_WHOLE] = write_rest};
    if (!WRITE[stage](report, out)) return error_memory(error);
    return !ferror(out.file) || error_stream(error, "report", "the text");
}

bool report_write_text(const Report *report, TextOut out, Error *error) {
    for (ReportStage stage = STAGE_PLAN; stage < STAGE_COUNT; stage++)
        if (!report_write_text_stage(report, stage, out, error)) return false;
    return true;
}
