/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/cli/thousands.h"

#include "base/text/prose.h"
#include "base/util.h"
#include "search/launch/launcher.h"
#include "search/options/sizes.h"

#include <math.h>
#include <string.h>

/* "--seq: 8k is 8,000; 8,192 is 8Ki; --batch: ..."; false: nothing was typed so. */
static bool name_sizes(const Request *request, Prose *to) {
    const Asked *asked = &request->asked;
    char words[SIZE_WORDS_SIZE];
    if (size_in_thousands(asked->typed_seq, words)) prose_item(to, "; ", "--seq: %s", words);
    if (size_in_thousands(asked->typed_batch, words)) prose_item(to, "; ", "--batch: %s", words);
    return to->used > 0;
}

void thousands_warn(const Request *request, const OutputChoice *choice, FILE *err) {
    Prose text = {0};
    if (!choice->quiet && name_sizes(request, &text))
        fprintf(err, "shardopt: warning: %s; planned as typed\n", text.text);
}

/* "8Ki" in place of "8k". */
static void replace(Options *words, Option option, const char *typed, char text[24]) {
    char unused[SIZE_WORDS_SIZE];
    if (!size_in_thousands(typed, unused)) return;
    size_t digits = strspn(typed, "0123456789");
    snprintf(text, 24, "%.*s%ci", (int)min_whole((int64_t)digits, 20), typed,
             typed[digits] == 'k' ? 'K' : typed[digits]);
    words->text[option] = text;
}

static double seconds_per_token(const RankedPlan *ranked) {
    return ranked->estimate.time.seconds / ((double)ranked->work.sequences * (double)ranked->work.seq);
}

/* How much longer a token takes as typed, as a share; 0: nobody knows. */
static bool ask_cost(const Options *options, const Report *report, double *cost, Error *error) {
    static const int64_t WORK_LEAST = 600000; /* as for the searches around a plan */
    char seq[24], batch[24];
    Arena arena = {0};
    SearchResult result = {0};
    Options words = *options;
    const Request *answered = report->request;
    Request *changed = ARENA_NEW(&arena, Request, 1);
    replace(&words, OPTION_SEQ, answered->asked.typed_seq, seq);
    replace(&words, OPTION_BATCH, answered->asked.typed_batch, batch);
    if (answered->space.launchers) { /* the contender that won */
        char *name = ARENA_NEW(&arena, char, LAUNCHER_NAMES_SIZE);
        if (!name) return arena_free(&arena), error_memory(error);
        words.text[OPTION_FOR] = launcher_names(answered->space.launchers, ",", ",", name, LAUNCHER_NAMES_SIZE);
        words.where[OPTION_FOR] = "--for";
    }
    bool ok = changed ? request_from_options(&words, &arena, changed, error) : error_memory(error);
    if (ok) {
        changed->control.top = 1;
        changed->control.different = changed->control.variants = false;
        changed->control.work_limit = max_whole(WORK_LEAST, report->result.work);
        ok = search_run(changed, &arena, &result, error);
    }
    if (ok && result.plan_count > 0 && result.certificate.proof == PROOF_OPTIMAL)
        *cost = seconds_per_token(&report->result.plans[0]) / seconds_per_token(&result.plans[0]) - 1;
    arena_free(&arena);
    return ok;
}

bool thousands_warn_after(const Options *options, const Report *report, const OutputChoice *choice, FILE *err,
                          Error *error) {
    Prose text = {0};
    double cost = 0;
    if (choice->quiet || !name_sizes(report->asked, &text)) return true;
    bool alone = report->result.plan_count == 0 || report->asked->control.helps == HELPS_NONE ||
                 report->result.certificate.proof != PROOF_OPTIMAL;
    if (!alone && !ask_cost(options, report, &cost, error)) return false;
    prose_add(&text, "; planned as typed");
    if (fabs(cost) >= 0.0005)
        prose_add(&text, ", where a token takes %.1f%% %s time than with %s", 100 * fabs(cost),
                  cost > 0 ? "more" : "less", "powers of two");
    else if (!alone)
        prose_add(&text, ", which costs nothing here");
    fprintf(err, "shardopt: warning: %s\n", text.text);
    return true;
}
