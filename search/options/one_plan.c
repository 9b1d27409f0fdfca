/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/options/one_plan.h"

#include "base/text/prose.h"
#include "base/util.h"
#include "mesh/host_link.h"
#include "search/request/request.h"

#include <math.h>
#include <string.h>

#define NO_EXPERTS "%s has no experts; leave %s out"

enum { FROM_TOP = 64 }; /* rows that one tuple of degrees can have: schedules, machines and batches */

/* A plan as --plan names it: degrees (0: not named), and conditions on knobs. */
typedef struct {
    int64_t degree[ROLE_COUNT];
    Requirement knobs[REQUIREMENTS_MAX]; /* and EP in either form */
    int knob_count;
} Named;

static bool read_plan(const char *text, const char *where, Named *named, Error *error) {
    Requirement list[REQUIREMENTS_MAX];
    int count = 0;
    *named = (Named){0};
    if (!requirements_parse(text, where, list, &count, error)) return false;
    for (int i = 0; i < count; i++) {
        bool role = list[i].knob == KNOB_NONE && !list[i].either;
        const char *name = list[i].either ? "ep" : role ? role_name(list[i].role) : knob_name(list[i].knob);
        if (list[i].op != REQUIRE_EQUAL)
            return error_set(error, ERROR_INPUT, where,
                             "%s has no one value; a plan is degrees and knobs like %s=4 (--require takes conditions)",
                             name, name);
        bool twice = role && named->degree[list[i].role];
        for (int j = 0; j < named->knob_count; j++) twice = twice || (!role && list[i].knob == named->knobs[j].knob);
        if (twice) return error_set(error, ERROR_INPUT, where, "%s is given more than once; give it once", name);
        if (role)
            named->degree[list[i].role] = list[i].degree;
        else
            named->knobs[named->knob_count++] = list[i];
    }
    return true;
}

/* Their product; -1: more than any machine has. */
static int64_t product(const int64_t named[ROLE_COUNT]) {
    int64_t all = 1;
    for (Role role = 0; role < ROLE_COUNT; role++) {
        all *= max_whole(1, named[role]);
        if (all > 4 * MACHINE_CHIPS_MAX) return -1;
    }
    return all;
}

/* What is not named is 1 when what is named uses the machine, or all of it but what may idle; else it is chosen best.
 * */
static bool complete_degrees(const Request *request, const char *where, int64_t named[ROLE_COUNT], Error *error) {
    int64_t devices = request->question.machine.mesh.devices, used = product(named);
    if (named[ROLE_EXPERT] > 1 && !(request->space.roles & 1u << ROLE_EXPERT))
        return error_set(error, ERROR_INPUT, where, NO_EXPERTS, request->question.model.name, "expert");
    if (used < 0 || used > devices)
        return error_set(
            error, ERROR_INPUT, where,
            "the degrees multiply to more than the %lld devices of %s; give smaller ones, or a larger machine",
            (long long)devices, request->question.machine.text);
    bool divides = devices % used == 0,
         idles = !divides && (double)used >= (1 - request->space.max_idle) * (double)devices;
    bool whole = used == devices || idles;
    if (!divides && !idles)
        return error_set(error, ERROR_INPUT, where,
                         "the degrees multiply to %lld, which does not divide the %lld devices of %s", (long long)used,
                         (long long)devices, request->question.machine.text);
    for (Role role = 0; role < ROLE_COUNT && whole; role++) named[role] = max_whole(1, named[role]);
    return true;
}

/* More replicas than sequences is the commonest reason why a plan on paper does not divide: what batch lacks, context
 * can give. */
static bool check_replicas(const Request *request, const char *where, const int64_t named[ROLE_COUNT], Error *error) {
    int64_t replicas =
        max_whole(1, named[ROLE_DATA]) * max_whole(1, named[ROLE_FSDP]) * max_whole(1, named[ROLE_EXPERT]);
    if (replicas <= request->question.work.sequences || request->space.padding == PADDING_ANY) return true;
    return error_set(
        error, ERROR_INPUT, where,
        "data x fsdp x expert = %lld replicas for %lld sequences; give a part of them to sequence, or --padding any",
        (long long)replicas, (long long)request->question.work.sequences);
}

static bool require_plan(Request *request, const char *where, const Named *named, Error *error) {
    char text[NOTATION_SIZE] = "";
    for (Role role = 0; role < ROLE_COUNT; role++) {
        size_t length = strlen(text);
        if (named->degree[role])
            snprintf(text + length, sizeof text - length, " %s=%lld", role_name(role), (long long)named->degree[role]);
    }
    if (text[0] &&
        !requirements_parse(text, where, request->space.requirements, &request->space.requirement_count, error))
        return false;
    for (int i = 0; i < named->knob_count; i++) {
        if (named->knobs[i].either && named->knobs[i].degree > 1 && !(request->space.roles & 1u << ROLE_EXPERT))
            return error_set(error, ERROR_INPUT, where, NO_EXPERTS, request->question.model.name, "EP");
        if (request->space.requirement_count == REQUIREMENTS_MAX)
            return error_set(error, ERROR_INPUT, where, "has too many conditions with those of --require; give fewer");
        request->space.requirements[request->space.requirement_count++] = named->knobs[i];
    }
    request_settle_offload(request);
    return true;
}

/* The row to explain: the first, or that of a report's plan, whose degrees every row has. */
static int find_row(const SearchResult *result, const ReportPlan *from) {
    for (int i = 0; from && i < result->plan_count; i++) {
        const RankedPlan *row = &result->plans[i];
        if (row->plan.knobs.schedule == from->knobs.schedule && row->machine.mesh.chips == from->chips_used &&
            (from->sequences == 0 || row->work.sequences == from->sequences))
            return i;
    }
    return 0;
}

static void require(Request *request, Requirement required) {
    request->space.requirements[request->space.requirement_count++] = required;
}

bool one_plan_pin(const ReportPlan *plan, const char *where, Request *request, Error *error) {
    _Static_assert(ROLE_COUNT + KNOB_COUNT <= REQUIREMENTS_MAX, "a whole plan can be required");
    request->space.requirement_count = 0; /* the plan meets them, and its degrees and knobs say more */
    for (Role role = 0; role < ROLE_COUNT; role++)
        require(request, (Requirement){.role = role, .degree = plan->degrees.of[role]});
    for (Knob knob = KNOB_NONE + 1; knob < KNOB_COUNT; knob++) {
        int64_t setting = knob_setting(knob, &plan->knobs);
        if (!(plan->said >> knob & 1)) continue;
        if (!knob_takes(knob, setting))
            return error_set(error, ERROR_INPUT, where, "%s: %lld is out of range; give a smaller number",
                             knob_name(knob), (long long)setting);
        require(request, (Requirement){.knob = knob, .degree = setting});
    }
    memcpy(request->space.pins, plan->pins, sizeof request->space.pins);
    request->space.pin_count = plan->pin_count;
    request->space.split_given = plan->said >> KNOB_STAGES & 1; /* a profile may part layers evenly that it did not */
    request->control.variants = false;
    request->control.top = FROM_TOP;
    request->control.tie = 0;
    return true;
}

static bool one_of_three(const Options *options, const char *command, Error *error) {
    int given = (options->text[OPTION_PLAN] != NULL) + (options->text[OPTION_PLANS] != NULL) +
                (options->text[OPTION_FROM] != NULL) + (options->text[OPTION_FROM_CONFIG] != NULL);
    if (given != 1)
        return error_set(error, ERROR_INPUT, command,
                         "%s; give --plan \"fsdp=64 tensor=4\", --plans FILE, --from REPORT or --from-config FILE",
                         given > 1 ? "has two plans" : "has no plan");
    if (options->text[OPTION_RANK] && !options->text[OPTION_FROM])
        return error_set(error, ERROR_INPUT, "--rank", "belongs to --from; leave it out");
    if (options->text[OPTION_CONFIG_FORMAT] && !options->text[OPTION_FROM_CONFIG])
        return error_set(error, ERROR_INPUT, "--config-format", "belongs to --from-config; leave it out");
    return true;
}

bool one_plan_require(Request *request, const char *plan, const char *where, Error *error) {
    Named named;
    if (!read_plan(plan, where, &named, error) || !complete_degrees(request, where, named.degree, error) ||
        !check_replicas(request, where, named.degree, error) || !require_plan(request, where, &named, error))
        return false;
    request->control.variants = false;
    request->control.top = 1;
    return true;
}

bool one_plan_request(const Options *options, const char *command, Arena *arena, Request *request, ReportPlan *from,
                      Error *error) {
    const char *plan = options->text[OPTION_PLAN], *where = options->where[OPTION_PLAN];
    bool report = options->text[OPTION_FROM] != NULL;
    Options words;
    if (!one_of_three(options, command, error)) return false;
    if (options->text[OPTION_PLANS]) return request_from_options(options, arena, request, error);
    if (!plan && !(report ? options_from_report(options, arena, &words, from, error)
                          : options_from_config(options, arena, NULL, &words, from, error)))
        return false;
    if (!plan && from->remat[0]) words.text[OPTION_REMAT] = from->remat;
    if (!plan)
        return request_from_options(&words, arena, request, error) &&
               one_plan_pin(from, options->text[report ? OPTION_FROM : OPTION_FROM_CONFIG], request, error) &&
               (report || (request_settle_offload(request), true));
    return request_from_options(options, arena, request, error) && one_plan_require(request, plan, where, error);
}

/* Whether words of --require name every role: those of a plan, which `explain` wrote into its report. */
static bool requires_plan(const char *words) {
    for (Role role = 0; role < ROLE_COUNT && words; role++) {
        char name[24];
        snprintf(name, sizeof name, "%s=", role_name(role));
        if (!strstr(words, name)) return false;
    }
    return words != NULL;
}

bool one_plan_open(const Options *options, Arena *arena, Request *request, Error *error) {
    Options words = *options, plan;
    ReportPlan from = {0};
    if (options->text[OPTION_FROM]) {
        if (!options_from_report(options, arena, &words, &from, error)) return false;
        if (requires_plan(words.text[OPTION_REQUIRE])) words.text[OPTION_REQUIRE] = NULL;
    } else if (options->text[OPTION_FROM_CONFIG]) {
        if (!options_from_config(options, arena, &words, &plan, &from, error)) return false;
    }
    return request_from_options(&words, arena, request, error);
}

bool one_plan_search(const Request *request, const ReportPlan *from, Arena *arena, SearchResult *result, Error *error) {
    if (!search_run(request, arena, result, error)) return false;
    if (result->plan_count == 0) return true;
    result->plans += find_row(result, from->known ? from : NULL);
    result->plan_count = 1;
    return true;
}

void one_plan_notes(const ReportPlan *from, FILE *err) {
    for (int i = 0; i < from->note_count; i++) fprintf(err, "shardopt: warning: %s\n", from->notes[i]);
}

void one_plan_compare(const SearchResult *result, const ReportPlan *from, FILE *err) {
    char then[NUMBER_TEXT_SIZE], now[NUMBER_TEXT_SIZE];
    one_plan_notes(from, err);
    if (from->seconds <= 0 || result->plan_count == 0) return;
    double seconds = result->plans[0].estimate.time.seconds;
    if (fabs(seconds - from->seconds) <= 1e-9 * from->seconds) return;
    fprintf(err,
            "shardopt: warning: the plan took %s in the report and takes %s now: the program or its data changed\n",
            step_text(from->seconds, then), step_text(seconds, now));
}

static const double HBM_SHARE_MOST = 64;

/* A plan that is named is priced whether it fits or not: where it lacks HBM as if that were there, little by little, so
 * that it is laid out to need the least. What people run fits, whatever the model thinks; what they name does not, and
 * the answer says so. */
static bool price_regardless(const NamedPlan *named, Report *report, double *lacking, Error *error) {
    const Shortfall *shortfall = &report->result.shortfall;
    Request *request = named->request;
    SearchResult again;
    *lacking = 0;
    if (report->result.plan_count > 0 || !shortfall->known) return true;
    if (!(shortfall->needed_bytes > shortfall->limit_bytes)) return true;
    double limit = shortfall->limit_bytes, share = (1 + 1e-6) * shortfall->needed_bytes / limit;
    double chip = request->question.chip.hbm_bytes.value, device = request->question.device.hbm_bytes.value;
    again.plan_count = 0;
    while (again.plan_count == 0 && share < HBM_SHARE_MOST) {
        request->question.chip.hbm_bytes.value = chip * share;
        request->question.device.hbm_bytes.value = device * share;
        if (!one_plan_search(request, named->from, named->arena, &again, error)) return false;
        if (again.interrupted) break;
        share *= share < 2 ? 1.02 : 1.2;
    }
    request->question.chip.hbm_bytes.value = chip;
    request->question.device.hbm_bytes.value = device;
    if (again.plan_count == 0) return true;             /* it is not HBM alone */
    Request *own = ARENA_NEW(named->arena, Request, 1); /* what answered, with the HBM that there is */
    if (!own) return error_memory(error);
    *own = *again.request;
    own->question.chip.hbm_bytes.value = chip;
    own->question.device.hbm_bytes.value = device;
    report->result = again;
    report->result.request = own;
    if (report->result.plans[0].request) report->result.plans[0].request = own;
    report->result.plans[0].estimate.memory_limit_bytes = limit;
    report->result.exceeds_hbm = !named->options->text[OPTION_FROM_CONFIG];
    *lacking = max_real(0, memory_total(&again.plans[0].estimate.memory) - limit);
    return true;
}

/* What the plan takes with everything on the host that may go there; 0: it does not fit so either. */
static bool price_on_host(const NamedPlan *named, double *seconds, Error *error) {
    Request *there = ARENA_NEW(named->arena, Request, 1);
    SearchResult result;
    if (!there) return error_memory(error);
    *there = *named->request;
    there->question.offload = OFFLOAD_ALL;
    if (!one_plan_search(there, named->from, named->arena, &result, error)) return false;
    *seconds = result.plan_count > 0 ? result.plans[0].estimate.time.seconds : 0;
    return true;
}

bool named_plan_price(const NamedPlan *named, Report *report, NamedPrice *out, Error *error) {
    Request *request = named->request;
    bool host_is_there = host_is_known(&request->question.chip) && !request->requested.offload &&
                         request->question.offload != OFFLOAD_ALL;
    *out = (NamedPrice){0, 0};
    if (!one_plan_search(request, named->from, named->arena, &report->result, error) ||
        !price_regardless(named, report, &out->lacking_bytes, error))
        return false;
    bool prices_on_host = host_is_there && !report->result.interrupted && out->lacking_bytes > 0;
    return !prices_on_host || price_on_host(named, &out->host_seconds, error);
}
