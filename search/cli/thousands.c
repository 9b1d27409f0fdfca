/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/cli/thousands.h"

#include "base/number.h"
#include "base/text/prose.h"
#include "base/util.h"
#include "search/launch/launcher.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE_WORDS_SIZE = 128 };

/* What is said of a length or a batch that was typed in thousands: "8k is 8,000; 8,192 is 8Ki"; *powers: the power of
 * two. NULL, and *powers as it is: nothing. */
static const char *size_in_thousands(const char *text, char words[SIZE_WORDS_SIZE], int64_t *powers) {
    static const struct {
        char suffix;
        int64_t thousands, powers;
    } SCALES[] = {{'k', 1000, 1 << 10}, {'M', 1000000, 1 << 20}, {'G', 1000000000, 1 << 30}};
    char *end = NULL, decimal[NUMBER_TEXT_SIZE], binary[NUMBER_TEXT_SIZE];
    if (!text || !isdigit((unsigned char)text[0])) return NULL;
    long value = strtol(text, &end, 10);
    if (value <= 0 || value > 1000000 || end[0] == '\0' || end[1] != '\0') return NULL;
    for (size_t i = 0; i < COUNT_OF(SCALES); i++) {
        if (end[0] != SCALES[i].suffix) continue;
        *powers = value * SCALES[i].powers;
        snprintf(words, SIZE_WORDS_SIZE, "%s is %s; %s is %ld%ci", text,
                 number_grouped(value * SCALES[i].thousands, decimal), number_grouped(*powers, binary), value,
                 SCALES[i].suffix == 'k' ? 'K' : SCALES[i].suffix);
        return words;
    }
    return NULL;
}

/* "--seq: 8k is 8,000; 8,192 is 8Ki; --batch: ..."; false: nothing was typed so. */
static bool name_sizes(const Request *request, Prose *to) {
    const Asked *asked = &request->asked;
    char words[SIZE_WORDS_SIZE];
    int64_t powers;
    if (size_in_thousands(asked->typed_seq, words, &powers)) prose_item(to, "; ", "--seq: %s", words);
    if (size_in_thousands(asked->typed_batch, words, &powers)) prose_item(to, "; ", "--batch: %s", words);
    return to->used > 0;
}

void thousands_warn(const Request *request, const OutputChoice *choice, FILE *err) {
    Prose text = {0};
    if (!choice->quiet && name_sizes(request, &text))
        fprintf(err, "shardopt: warning: %s; planned as typed\n", text.text);
}

static double seconds_per_token(const RankedPlan *ranked) {
    return ranked->estimate.time.seconds / ((double)ranked->work.sequences * (double)ranked->work.seq);
}

/* The work with powers of two, a batch as whole sequences as the options have it. */
static Work in_powers(const Request *request) {
    const Asked *asked = &request->asked;
    char words[SIZE_WORDS_SIZE];
    Work work = request->question.work;
    int64_t batch = (int64_t)asked->requested_batch_tokens;
    bool in_sequences = asked->batch_origin == FROM_OPTION && !asked->typed_batch[0];
    size_in_thousands(asked->typed_seq, words, &work.seq);
    size_in_thousands(asked->typed_batch, words, &batch);
    if (!in_sequences) work.sequences = sequences_of(batch, work.seq);
    return work;
}

/* How much longer a token takes as typed, as a share; 0: nobody knows. */
static bool ask_cost(const Report *report, double *cost, Error *error) {
    static const int64_t WORK_LEAST = 600000; /* as for the searches around a plan */
    Arena arena = {0};
    SearchResult result = {0};
    Request *changed = ARENA_NEW(&arena, Request, 1);
    if (!changed) return arena_free(&arena), error_memory(error);
    *changed = *report->request; /* of the launcher that won */
    changed->subproblems = NULL;
    changed->subproblem_count = 0;
    changed->question.work = in_powers(report->request);
    changed->control.top = 1;
    changed->control.different = changed->control.variants = false;
    changed->control.work_limit = max_whole(WORK_LEAST, report->result.work);
    bool ok = search_run(changed, &arena, &result, error);
    if (ok && result.plan_count > 0 && result.certificate.proof == PROOF_OPTIMAL)
        *cost = seconds_per_token(&report->result.plans[0]) / seconds_per_token(&result.plans[0]) - 1;
    arena_free(&arena);
    return ok;
}

bool thousands_warn_after(const Report *report, const OutputChoice *choice, FILE *err, Error *error) {
    Prose text = {0};
    double cost = 0;
    if (choice->quiet || !name_sizes(report->asked, &text)) return true;
    bool alone = report->result.plan_count == 0 || report->asked->control.sensitivity == SENSITIVITY_NONE ||
                 report->result.certificate.proof != PROOF_OPTIMAL;
    if (!alone && !ask_cost(report, &cost, error)) return false;
    prose_add(&text, "; planned as typed");
    if (fabs(cost) >= 0.0005)
        prose_add(&text, ", where a token takes %.1f%% %s time than with %s", 100 * fabs(cost),
                  cost > 0 ? "more" : "less", "powers of two");
    else if (!alone)
        prose_add(&text, ", which costs nothing here");
    fprintf(err, "shardopt: warning: %s\n", text.text);
    return true;
}
