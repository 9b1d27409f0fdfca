/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What would help most: one thing of the request changes, and the whole search runs again. */
#include "search/report/side_searches.h"

#include "base/util.h"
#include "mesh/slice.h"
#include "search/answer/tie.h"

#include <stdlib.h>
#include <string.h>

static const double MORE = 1.1;

typedef struct {
    Request *changed;
    char *text; /* what it is called; of Sensitivity */
    size_t size;
} Change;

/* What links of a level carry, in the catalog (idle shapes are made of it) and in the machine. */
bool request_scale_links(Request *request, bool scale_up, double factor) {
    Chip *chip = &request->question.chip;
    Mesh *mesh = &request->question.machine.mesh;
    bool domains = chip_has_domains(chip), any = false;
    AxisLevel level = scale_up  ? (chip->scaleup == SCALEUP_PCIE ? LEVEL_PCIE
                                   : domains                     ? LEVEL_NVLINK
                                                                 : LEVEL_ICI)
                      : domains ? LEVEL_NETWORK
                                : LEVEL_DCN;
    for (int a = 0; a < mesh->axis_count; a++) any = any || mesh->axes[a].level == level;
    if (!any) return false;
    if (scale_up) {
        chip->link_bytes_per_second.value *= factor;
        chip->device_link_bytes_per_second.value *= factor;
    } else {
        chip->scaleout_bytes_per_second.value *= factor;
    }
    for (int a = 0; a < mesh->axis_count; a++)
        if (mesh->axes[a].level == level) mesh->axes[a].bytes_per_second *= factor;
    return true;
}

static bool scale_up(const Change *change) {
    const Chip *chip = &change->changed->question.chip;
    snprintf(change->text, change->size, "%s +10%%",
             !chip_has_domains(chip)         ? "ICI"
             : chip->scaleup == SCALEUP_MESH ? "xGMI"
             : chip->scaleup == SCALEUP_PCIE ? "PCIe"
                                             : "NVLink");
    return request_scale_links(change->changed, true, MORE);
}

static bool scale_out(const Change *change) {
    snprintf(change->text, change->size, "%s +10%%",
             chip_has_domains(&change->changed->question.chip) ? "network" : "DCN");
    return request_scale_links(change->changed, false, MORE);
}

static bool more_hbm(const Change *change) {
    change->changed->question.chip.hbm_bytes.value *= MORE;
    snprintf(change->text, change->size, "HBM +10%%");
    return true;
}

static bool faster_hbm(const Change *change) {
    change->changed->question.chip.hbm_bytes_per_second.value *= MORE;
    snprintf(change->text, change->size, "HBM bandwidth +10%%");
    return true;
}

static bool set_batch(const Change *change, int64_t sequences) {
    Request *request = change->changed;
    char number[NUMBER_TEXT_SIZE];
    request->question.work.sequences = sequences;
    request->requested.batch_tokens = (double)sequences * (double)request->question.work.seq;
    snprintf(change->text, change->size, "batch of %s sequences", number_grouped(sequences, number));
    return true;
}

static bool double_batch(const Change *change) {
    const Work *work = &change->changed->question.work;
    return work->sequences <= (INT64_C(1) << 62) / work->seq / 2 && set_batch(change, 2 * work->sequences);
}

/* One more of what the machine is made of; a single slice has only the next size of slice. */
static bool one_more(const Change *change) {
    Request *request = change->changed;
    const Chip *chip = &request->question.chip;
    Machine *machine = &request->question.machine;
    if (chip_has_domains(chip)) {
        int64_t part = machine->nodes > 0 ? machine->mesh.chips / machine->nodes : 0;
        if (part < chip->chips_per_host || !machine_may_scale_out(chip)) return false;
        machine_of_gpus(chip, machine->mesh.chips + part, machine);
        snprintf(change->text, change->size, "one more node");
        return true;
    }
    if (request->requested.machine_request.pods > 0 || machine->slices > 1) {
        if (!machine_may_scale_out(chip)) return false;
        machine_of_slice(chip, machine->slice, machine->slices + 1, machine);
        snprintf(change->text, change->size, "one more %s",
                 request->requested.machine_request.pods > 0 ? "pod" : "slice");
        return true;
    }
    SliceShape shape;
    char shape_text[SLICE_TEXT_SIZE];
    int64_t chips = 2 * machine->mesh.chips; /* < 2^33 */
    if ((chip->max_job_chips > 0 && chips > chip->max_job_chips) || !slice_default(chip, chips, &shape)) return false;
    machine_of_slice(chip, shape, 1, machine);
    snprintf(change->text, change->size, "twice the chips, %.40s", slice_text(chip, shape, shape_text));
    return true;
}

static bool (*const CHANGES[HELP_COUNT])(const Change *change) = {
    [HELP_ONE_MORE] = one_more,   [HELP_BATCH] = double_batch, [HELP_SCALE_UP] = scale_up,
    [HELP_SCALE_OUT] = scale_out, [HELP_HBM] = more_hbm,       [HELP_BANDWIDTH] = faster_hbm};

/* Most helpful first; what leaves nothing that fits last. */
static int by_help(const void *left, const void *right) {
    const Sensitivity *a = left, *b = right;
    if (a->found != b->found) return a->found ? -1 : 1;
    if (a->relative != b->relative) return a->relative < b->relative ? -1 : 1;
    return strcmp(a->text, b->text);
}

static double seconds_per_token(const RankedPlan *ranked) {
    return ranked->estimate.time.seconds / ((double)ranked->work.sequences * (double)ranked->work.seq);
}

/* All are searches of machines like plan 1's own, with its order of roles: idle shapes and all orders would cost dozens
 * of times as much, and seldom overtake it. */
void request_fix_machine(const RankedPlan *best, Request *changed) {
    changed->question.machine = best->machine;
    changed->space.max_idle = 0;
    changed->space.nesting = best->nesting;
    changed->space.nesting_all = false;
}

/* The questions, each with what it is called and the change that it is of. Returns how many. */
static int list_questions(const Report *report, SideSearch questions[SENSITIVITIES_MAX],
                          Sensitivity list[SENSITIVITIES_MAX]) {
    int count = 0;
    _Static_assert(COUNT_OF(CHANGES) <= SENSITIVITIES_MAX, "one question for each change");
    for (size_t i = 0; i < COUNT_OF(CHANGES); i++) {
        Request *changed = &questions[count].changed;
        Sensitivity *help = &list[count];
        request_copy(report->request, changed);
        request_fix_machine(&report->result.plans[0], changed);
        *help = (Sensitivity){.help = (Help)i};
        if (!CHANGES[i](&(Change){changed, help->text, sizeof help->text})) continue;
        changed->question.device = chip_device(&changed->question.chip);
        questions[count++].no_slower = true;
    }
    return count;
}

/* The answer to a change, if it is one: what would only slow the step is no help; one more that the sizes cannot use
 * need not be used. */
static bool add_help(Report *report, Sensitivity *help, const SideAnswer *answer, Arena *arena, Error *error) {
    if (answer->cut_short || (!answer->found && help->help != HELP_ONE_MORE)) return true;
    help->found = true;
    if (answer->found) {
        RankedPlan *best = ARENA_NEW(arena, RankedPlan, 1);
        if (!best) return error_memory(error);
        *best = answer->best;
        help->best = best;
        help->relative = seconds_per_token(best) / seconds_per_token(search_fastest(&report->result)) - 1;
    }
    report->sensitivities[report->sensitivity_count++] = *help;
    return true;
}

bool report_make_sensitivities(Report *report, Arena *arena, Error *error) {
    Sensitivity list[SENSITIVITIES_MAX];
    SideSearch *questions = side_searches_new(SENSITIVITIES_MAX, error);
    if (!questions) return false;
    int count = list_questions(report, questions, list);
    bool ok = report_ask_all(report, questions, count, error);
    for (int i = 0; ok && i < count; i++) ok = add_help(report, &list[i], &questions[i].answer, arena, error);
    free(questions);
    qsort(report->sensitivities, (size_t)report->sensitivity_count, sizeof(Sensitivity), by_help);
    return ok;
}
