/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The verdict on one plan, which all texts share: what it is for, its step, the whole training. */
#include "search/report/text/parts.h"

#include "base/util.h"
#include "cost/stage/stage_totals.h"
#include "mesh/host_link.h"
#include "search/answer/doubts.h"

#include <string.h>

/* Between these the probability that a plan fits is worth words. */
static const double FITS_HARDLY = 0.01, FITS_SURELY = 0.985;

static void write_title(const Request *request, const RankedPlan *ranked, TextOut out) {
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
    prose_add(&text, ", %s x %s tokens:", number_grouped(ranked->work.sequences, a),
              number_grouped(ranked->work.seq, b));
    text_strong(out);
    prose_write(out, "", "", text.text);
    text_plain(out);
}

static void fits_words(const Request *request, const RankedPlan *ranked, Prose *to) {
    double fits = plan_fits_chance(request, ranked);
    if (fits > 0 && fits < FITS_HARDLY)
        prose_add(to, " (fits with less than 1%% probability)");
    else if (fits > 0 && fits < FITS_SURELY)
        prose_add(to, " (fits with %.0f%% probability)", 100 * fits);
}

static void write_answer(const Request *request, const RankedPlan *first, bool whole, TextOut out) {
    const Estimate *estimate = &first->estimate;
    char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE];
    double low, high, peak = request_cost_context(request).precision_flops_per_second;
    Prose text = {0};
    const char *chip = chip_noun(&request->question.chip);
    write_title(request, first, out);
    prose_add(&text, "%s per step", step_text(estimate->time.seconds, a));
    bool likely = plan_likely(request, first, &low, &high);
    if (likely) prose_add(&text, " (likely %s to %s", number_time(low, a), number_time(high, b));
    if (whole)
        prose_add(&text, "%s%s if all communication overlaps, %s if none does", likely ? "; " : " (",
                  number_time(estimate->time.lower_seconds, a), number_time(estimate->time.serial_seconds, b));
    if (likely || whole) prose_add(&text, ")");
    prose_add(&text, ", %s per %s (%s %s MFU), ", rate_text(estimate->mfu * peak, "FLOP", a), chip,
              share_text(estimate->mfu, b), precision_name(request->question.precision));
    prose_add(&text, "%s tokens/s per %s, ", number_grouped((int64_t)(estimate->tokens_per_second_per_chip + 0.5), b),
              chip);
    prose_add(&text, "%s of %s HBM", number_bytes(memory_total(&estimate->memory), a),
              number_bytes(estimate->memory_limit_bytes, b));
    fits_words(request, first, &text);
    double there = plan_host_bytes(first->request ? first->request : request, first);
    if (there > 0) {
        CostContext setting = ranked_cost_context(request, first);
        double devices = host_chips(setting.chip) * (double)request->question.chip.devices_per_chip;
        prose_add(&text, "; %s of %s usable on each host", number_bytes(devices * there, a),
                  number_bytes(devices * offload_room(&setting), b));
    }
    if (whole) {
        PlanRecord record;
        plan_record(request, first, 1, &record);
        fields_words(PLAN_FIELDS, &record, &text);
    }
    prose_add(&text, "; bound by %s (next %s, busy %.0f%% as long).",
              bound_text(estimate->bound_by, &first->machine.mesh),
              bound_text(estimate->bound_next, &first->machine.mesh), 100 * estimate->bound_next_share);
    prose_write(out, "Answer: ", "  ", text.text);
}

/* "LoRA of rank 16 on all-linear, frozen weights in 0.52 bytes: 42 M of 8.07 G parameters are trained." */
static void tuning_words(const Request *request, const RankedPlan *first, Prose *to) {
    const Tuning *what = &request->question.tuning.what;
    char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE], share[NUMBER_TEXT_SIZE];
    double all, trained = plan_trained(request, first, &all);
    if (trained < 0) return;
    const char *targets =
        request->requested.tuning[TUNING_TARGETS][0] ? request->requested.tuning[TUNING_TARGETS] : "all-linear";
    if (what->rank > 0)
        prose_add(to, "%s of rank %g on %s: ", what->stored_bytes > 0 ? "QLoRA" : "LoRA", what->rank, targets);
    else
        prose_add(to, what->frozen ? "Fine-tuning of a part: " : "Fine-tuning: ");
    if (what->frozen)
        prose_add(to, "%s of %s parameters are trained (%s); MFU counts all, frozen ones take two thirds of it",
                  number_short(trained, a), number_short(all, b), share_text(trained / all, share));
    else
        prose_add(to, "all %s parameters are trained", number_short(all, a));
    if (what->stored_bytes > 0) prose_add(to, ", frozen matrices lie in %.3g bytes a number", what->stored_bytes);
    if (request->question.tuning.pairs)
        prose_add(to, "; DPO: pairs, the reference is %s",
                  what->reference_model ? "a copy of the weights" : "the model with adapters off");
    prose_add(to, ".");
    if (request->question.model.tower_count > 0)
        prose_add(to, " Its tower is held and %s; what it computes of images is not counted.",
                  what->frozen >> FROZEN_VISION & 1 ? "frozen" : "trained");
    if (what->on_host && !request->requested.offload)
        prose_add(to, " Parameters lie in the host's memory (--offload parameters).");
}

/* "Samples of 412 tokens in the mean, 2,048 at most, padded: 1,204 computed for each." */
static void lengths_words(const FineTuning *tuning, double computed, Prose *to) {
    static const char *const WORDS[] = {"packed", "padded to the longest of a microbatch", "padding-free"};
    char mean[NUMBER_TEXT_SIZE], longest[NUMBER_TEXT_SIZE], all[NUMBER_TEXT_SIZE];
    if (!tuning->lengths) return;
    prose_add(to, "Samples of %s tokens in the mean, %s at most, %s: %s computed for each%s. ",
              number_grouped((int64_t)(tuning->lengths->mean + 0.5), mean),
              number_grouped((int64_t)tuning->lengths->longest, longest), WORDS[tuning->packing],
              number_grouped((int64_t)(computed + 0.5), all),
              tuning->packing == PACKING_PACKED ? "" : ", with what ranks wait for the slowest");
}

/* Whether there are enough failures to speak of. */
static bool fails(const Request *request, const Failing *failing) {
    static const double NEVER = 30 * 86400.0;
    bool requested = request->question.failing.mtbf_seconds > 0;
    return failing->mtbf_seconds > 0 && (failing->mtbf_seconds <= NEVER || requested);
}

/* What failures leave of it, where there are enough of them to speak of. */
static void write_failing(const Request *request, const RankedPlan *ranked, TextOut out) {
    char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE], c[NUMBER_TEXT_SIZE];
    Failing failing = failing_of(request, ranked);
    Prose text = {0};
    if (!fails(request, &failing)) return;
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
    prose_write(out, "  ", "  ", text.text);
}

/* What the training takes; with its failures where there are some. */
static void write_training(const Request *request, const RankedPlan *first, TextOut out) {
    char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE];
    Training training = training_of(request, first);
    Failing failing = failing_of(request, first);
    Prose text = {0};
    const FineTuning *tuning = &request->question.tuning;
    if (tuning->what.on) {
        tuning_words(request, first, &text);
        prose_write(out, "  ", "  ", text.text);
        text = (Prose){0};
        lengths_words(tuning, training.tokens / (tuning->samples * tuning->epochs), &text);
        prose_add(&text, "%.3g %s/s; %s %s, %.4g epoch%s: %s", training.samples_per_second,
                  tuning->pairs ? "pairs" : "samples", number_short(tuning->samples, a),
                  tuning->pairs ? "pairs" : "samples", tuning->epochs, tuning->epochs == 1 ? "" : "s",
                  duration_text(training.seconds, b));
    } else {
        prose_add(&text, "%s tokens: %s", number_short(training.tokens, a), duration_text(training.seconds, b));
    }
    if (fails(request, &failing) && strcmp(duration_text(failing.seconds, a), b) != 0)
        prose_add(&text, " (%s with failures)", a);
    prose_add(&text, ", %s %s-hours", number_short(training.chip_hours, a), chip_noun(&request->question.chip));
    if (training.usd >= 0) prose_add(&text, ", $%s", number_short(training.usd, a));
    prose_add(&text, ".");
    prose_write(out, "  ", "  ", text.text);
}

void verdict_write(const Request *request, const RankedPlan *first, bool whole, TextOut out) {
    write_answer(request, first, whole, out);
    write_training(request, first, out);
    if (whole) write_failing(request, first, out);
}
