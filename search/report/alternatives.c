/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The alternatives where sizes do not divide, and the nearest machines where no plan fits. */
#include "search/report/side_searches.h"

#include "base/util.h"
#include "mesh/host_link.h"
#include "mesh/slice.h"
#include "search/launch/launcher.h"

#include <stdlib.h>

enum { TWINS_TRIED = 4, NEAREST_WANTED = 2 };
static const int64_t NEAREST_GROWTH = 64, HBM_ENOUGH = 1000000;

static void change_for_way(const Request *request, Alternative way, Request *changed) {
    request_copy(request, changed);
    changed->space.max_idle = way == ALTERNATIVE_IDLE ? request->space.max_idle : 0;
    changed->space.batch_tolerance =
        way == ALTERNATIVE_BATCH ? max_real(request->space.batch_tolerance, ALTERNATIVE_TOLERANCE) : 0;
    changed->space.padding = way == ALTERNATIVE_PADDED                                 ? PADDING_ANY
                             : way == ALTERNATIVE_BATCH || way == ALTERNATIVE_OFF_SIZE ? PADDING_LAUNCHABLE
                                                                                       : PADDING_NONE;
}

/* The best plan of a space is also the best of every part of the space that contains it. */
static bool answered_already(const Request *changed, const Report *report) {
    const Request *requested = report->request;
    if (report->result.plan_count == 0) return false;
    const RankedPlan *best = &report->result.plans[0];
    bool within = changed->space.max_idle <= requested->space.max_idle &&
                  changed->space.batch_tolerance <= requested->space.batch_tolerance &&
                  changed->space.padding <= requested->space.padding;
    return within &&
           (changed->space.max_idle == requested->space.max_idle ||
            best->machine.mesh.chips == requested->question.machine.mesh.chips) &&
           (changed->space.batch_tolerance == requested->space.batch_tolerance ||
            best->work.sequences == requested->question.work.sequences) &&
           (changed->space.padding == requested->space.padding || best->padding == 0);
}

/* Every batch within the tolerance multiplies the expert grids and schedules of a GPU cluster. More batches than this
 * take minutes, which a user may ask for (--batch-tolerance) but a report may not spend. */
enum { MIXTURE_BATCHES_MOST = 256 };
static bool too_many_batches(const Request *changed) {
    bool mixture = changed->space.roles >> ROLE_EXPERT & 1;
    double batches = 2 * changed->space.batch_tolerance * (double)changed->question.work.sequences;
    return mixture && chip_has_domains(&changed->question.chip) && batches > MIXTURE_BATCHES_MOST;
}

static void take(AlternativeResult *way, const SideAnswer *answer) {
    way->cut_short = way->cut_short || answer->cut_short;
    way->left_out = way->left_out || answer->left_out;
    if (!answer->found || (way->found && way->best.ranked_seconds <= answer->best.ranked_seconds)) return;
    way->found = true;
    way->best = answer->best;
}

static int64_t perimeter(const Machine *machine) {
    return machine->slice.size[0] + machine->slice.size[1] + machine->slice.size[2];
}

/* Longer axes mean fewer links across, so the most cubic equivalents contain the best one. Machines with the same
 * number of chips have the same degrees, and whether degrees fit does not depend on the shape: if the machine itself
 * has no plan, no equivalent has one. */
static bool try_equal_machines(Report *report, Request *changed, Error *error) {
    const Request *request = report->request;
    AlternativeResult *way = &report->alternatives[ALTERNATIVE_OFF_SIZE];
    SideAnswer own;
    change_for_way(request, ALTERNATIVE_OFF_SIZE, changed);
    if (!report_ask(report, changed, &own, error)) return false;
    way->tried = true;
    way->cut_short = own.cut_short;
    if (!own.found) return true;
    Arena arena = {0};
    MachineList list = {0};
    bool ok = machines_alike(&request->question.chip, &request->question.machine, &arena, &list, error);
    Machine *equivalents = list.machines;
    for (int tried = 0; ok && tried < TWINS_TRIED && tried < list.count; tried++) {
        int least = tried;
        for (int i = tried + 1; i < list.count; i++)
            if (perimeter(&equivalents[i]) < perimeter(&equivalents[least])) least = i;
        Machine alias = equivalents[least];
        equivalents[least] = equivalents[tried];
        SideAnswer answer;
        change_for_way(request, ALTERNATIVE_OFF_SIZE, changed);
        changed->question.machine = alias;
        ok = report_ask(report, changed, &answer, error);
        if (ok) take(way, &answer);
    }
    arena_free(&arena);
    return ok;
}

/* Strictly as requested is a part of the same with chips left idle: where the best of that uses them all, it is the
 * best here too. */
static bool answered_by_idle(const Report *report, Alternative way) {
    const AlternativeResult *idle = &report->alternatives[ALTERNATIVE_IDLE];
    return way == ALTERNATIVE_AS_ASKED && idle->tried && !idle->cut_short &&
           (!idle->found || idle->best.machine.mesh.chips == report->request->question.machine.mesh.chips);
}

/* Begins one way out. Returns whether it has to be searched; `changed` is the request of it then. */
static bool begin_way(Report *report, Alternative number, Request *changed) {
    const Request *request = report->request;
    AlternativeResult *way = &report->alternatives[number];
    if (number == ALTERNATIVE_IDLE && request->space.max_idle <= 0) return false;
    way->tried = true;
    change_for_way(request, number, changed);
    if (answered_already(changed, report)) {
        way->found = true;
        way->best = report->result.plans[0];
        return false;
    }
    if (answered_by_idle(report, number)) {
        way->found = report->alternatives[ALTERNATIVE_IDLE].found;
        way->best = report->alternatives[ALTERNATIVE_IDLE].best;
        return false;
    }
    way->skipped = too_many_batches(changed);
    return !way->skipped;
}

/* There are so many batches that one which is slower than plan 1 is not worth the search. */
static bool only_faster(const Report *report, Alternative way) {
    return way == ALTERNATIVE_BATCH && report->result.plan_count > 0;
}

/* Asks some of the ways out side by side. */
static bool ask_ways(Report *report, const Alternative *ways, int count, Error *error) {
    AlternativeResult *requested[ALTERNATIVE_COUNT];
    int asked_count = 0;
    SideSearch *questions = side_searches_new(count, error);
    if (!questions) return false;
    for (int i = 0; i < count; i++) {
        if (!begin_way(report, ways[i], &questions[asked_count].changed)) continue;
        questions[asked_count].patient = ways[i] != ALTERNATIVE_BATCH;
        questions[asked_count].no_slower = only_faster(report, ways[i]);
        requested[asked_count++] = &report->alternatives[ways[i]];
    }
    bool ok = report_ask_all(report, questions, asked_count, error);
    for (int i = 0; ok && i < asked_count; i++) {
        take(requested[i], &questions[i].answer);
        requested[i]->none_faster = questions[i].no_slower && !requested[i]->found && !requested[i]->cut_short;
    }
    free(questions);
    return ok;
}

bool report_make_alternatives(Report *report, Request *scratch, Error *error) {
    static const Alternative FIRST[] = {ALTERNATIVE_IDLE, ALTERNATIVE_PADDED, ALTERNATIVE_BATCH},
                             THEN[] = {ALTERNATIVE_AS_ASKED};
    return ask_ways(report, FIRST, COUNT_OF(FIRST), error) && ask_ways(report, THEN, COUNT_OF(THEN), error) &&
           (chip_has_domains(&report->request->question.chip) || try_equal_machines(report, scratch, error));
}

/* Finds the next machine of the same chip with `factor` times the chips of the request: one slice as long as one is
 * offered, then slices of the largest size. False means that there is none. */
static bool larger_machine(const Request *request, int64_t factor, Machine *out) {
    const Chip *chip = &request->question.chip;
    int64_t requested = request->question.machine.mesh.chips;
    if (requested > MACHINE_CHIPS_MAX / factor) return false;
    int64_t chips = requested * factor;
    if (chip_has_domains(chip)) {
        int64_t host = chip->chips_per_host;
        if (chips > machine_host_most(chip)) chips = divide_up(chips, host) * host; /* three boards, then two hosts */
        if (chips > MACHINE_CHIPS_MAX || (chips > chip->domain_chips && !machine_may_scale_out(chip))) return false;
        machine_of_gpus(chip, chips, out);
        return true;
    }
    SliceShape shape = request->question.machine.slice;
    int64_t slices = request->question.machine.slices;
    if (slices > 1) {
        machine_of_slice(chip, shape, slices * factor, out);
        return true;
    }
    bool one = (chip->max_job_chips == 0 || chips <= chip->max_job_chips) && slice_default(chip, chips, &shape);
    if (one) {
        machine_of_slice(chip, shape, 1, out);
        return true;
    }
    if (!machine_may_scale_out(chip)) return false;
    /* Halves of what was wanted until a slice has that size. */
    for (int64_t part = chips / 2, count = 2; part >= 1; part /= 2, count *= 2) {
        bool fits_job = chip->max_job_chips == 0 || part <= chip->max_job_chips ||
                        part <= slice_chips(request->question.machine.slice);
        if (part * count != chips || !fits_job) continue;
        shape = request->question.machine.slice;
        if (part != slice_chips(shape) && !slice_default(chip, part, &shape)) continue;
        machine_of_slice(chip, shape, count, out);
        return true;
    }
    return false;
}

/* If memory is not the obstacle, the nearest are the alternatives, the fastest first. */
static void nearest_of_ways(Report *report) {
    for (int i = 0; i < ALTERNATIVE_COUNT; i++) {
        if (!report->alternatives[i].found) continue;
        const RankedPlan *best = &report->alternatives[i].best;
        int at = report->nearest_count, most = (int)COUNT_OF(report->nearest);
        while (at > 0 && report->nearest[at - 1].ranked_seconds > best->ranked_seconds) at--;
        if (at == most) continue;
        if (report->nearest_count < most) report->nearest_count++;
        for (int j = report->nearest_count - 1; j > at; j--) report->nearest[j] = report->nearest[j - 1];
        report->nearest[at] = *best;
    }
}

/* ---- fine-tuning ---- */

static bool lora_of(Request *request) {
    Tuning *what = &request->question.tuning.what;
    if (what->rank > 0) return false;
    what->rank = TUNING_RANK, what->targets = TARGETS_ALL, what->frozen = FROZEN_ALL, what->reference_model = false;
    return true;
}

static bool qlora_of(Request *request) {
    Tuning *what = &request->question.tuning.what;
    lora_of(request);
    if (what->stored_bytes > 0) return false;
    what->stored_bytes = TUNING_STORED_BYTES;
    return true;
}

static bool half_as_long(Request *request) {
    FineTuning *tuning = &request->question.tuning;
    if (request->question.work.seq < 512) return false;
    request->question.work.seq /= 2, tuning->seq /= 2, tuning->sample_tokens /= 2;
    return true;
}

static bool one_more_gpu(Request *request) {
    const Chip *chip = &request->question.chip;
    int64_t chips = request->question.machine.mesh.chips + 1;
    if (!chip_has_domains(chip) || chips > machine_host_most(chip)) return false;
    machine_of_gpus(chip, chips, &request->question.machine);
    request->question.work.sequences = divide_up(request->question.work.sequences, chips) * chips;
    return true;
}

/* A search of its own, in HBM alone and for all who may launch it: where nothing fits, the fallback has answered. */
static void copy_tuning(const Report *report, Request *scratch) {
    request_copy(report->request->question.tuning.what.on ? report->requested : report->request, scratch);
    scratch->control.each = scratch->control.different = false;
    scratch->space.max_idle = 0;
}

bool report_make_ways_out(Report *report, Request *scratch, Error *error) {
    static const struct {
        const char *words;
        bool (*change)(Request *request);
    } WAYS[] = {{"--lora", lora_of}, {"--qlora", qlora_of}, {"--max-length", half_as_long}, {"--gpus", one_more_gpu}};
    for (size_t i = 0; i < COUNT_OF(WAYS) && report->way_out_count < (int)COUNT_OF(report->ways_out); i++) {
        SideAnswer answer;
        copy_tuning(report, scratch);
        if (!WAYS[i].change(scratch)) continue;
        scratch->question.state.tuning = scratch->question.tuning.what;
        scratch->space.unable = launchers_refusing_work(scratch);
        if (!report_ask(report, scratch, &answer, error)) return false;
        if (!answer.found) continue;
        char *words = report->ways_out[report->way_out_count].words;
        size_t size = sizeof report->ways_out[0].words;
        if (WAYS[i].change == half_as_long)
            snprintf(words, size, "%s %lld", WAYS[i].words, (long long)scratch->question.work.seq);
        else if (WAYS[i].change == one_more_gpu)
            snprintf(words, size, "%s %lld", WAYS[i].words, (long long)scratch->question.machine.mesh.chips);
        else
            snprintf(words, size, "%s", WAYS[i].words);
        report->ways_out[report->way_out_count++].best = answer.best;
    }
    return true;
}

bool report_make_nearest(Report *report, Request *scratch, Error *error) {
    const Request *request = report->request;
    if (report->result.certificate.proof != PROOF_OPTIMAL) return true;
    if (report->result.shortfall.known && request->space.requirement_count > 0) {
        SideAnswer answer; /* what no memory would admit does not lack memory */
        copy_tuning(report, scratch);
        scratch->question.chip.hbm_bytes.value *= (double)HBM_ENOUGH;
        if (!report_ask(report, scratch, &answer, error)) return false;
        report->result.shortfall.known = answer.found;
    }
    if (!report->result.shortfall.known) {
        nearest_of_ways(report);
        return true;
    }
    for (int64_t factor = 2; factor <= NEAREST_GROWTH && report->nearest_count < NEAREST_WANTED; factor *= 2) {
        SideAnswer answer;
        copy_tuning(report, scratch);
        if (!larger_machine(request, factor, &scratch->question.machine)) break;
        if (!report_ask(report, scratch, &answer, error)) return false;
        if (answer.found) report->nearest[report->nearest_count++] = answer.best;
    }
    return !request->question.tuning.what.on || report_make_ways_out(report, scratch, error);
}
