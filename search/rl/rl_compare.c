/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/rl/rl_compare.h"

#include "base/text/prose.h"
#include "base/util.h"
#include "search/rl/rl_report.h"

/* Which choices of the file are kept. */
typedef struct {
    const char *words;
    Option free[8]; /* ends with OPTION_COUNT */
} Change;

#define ALL                                                                                                            \
    {                                                                                                                  \
        OPTION_COLOCATED, OPTION_TRAIN_NODES, OPTION_TRAIN_PLAN, OPTION_ROLLOUT, OPTION_REMAT, OPTION_PARTIAL,         \
            OPTION_ROLLOUT_MEMORY, OPTION_COUNT                                                                        \
    }

static const Change CHANGES[] = {
    {"What it runs", {OPTION_COUNT}},
    {"Another engine layout", {OPTION_ROLLOUT, OPTION_COUNT}},
    {"Another plan that trains", {OPTION_TRAIN_PLAN, OPTION_REMAT, OPTION_COUNT}},
    {"Another split", {OPTION_COLOCATED, OPTION_TRAIN_NODES, OPTION_TRAIN_PLAN, OPTION_REMAT, OPTION_COUNT}},
    {"All of it, on policy", ALL},
    {"All of it, off policy", ALL},
};
enum { ON_POLICY = 4 };

/* One answer, and its question. */
static bool answer_of(const Options *options, const Change *change, Arena *arena, RlQuestion *question,
                      RlAnswer *answer, Error *error) {
    Options *own = ARENA_NEW(arena, Options, 1);
    if (!own) return error_memory(error);
    *own = *options;
    for (int i = 0; change->free[i] != OPTION_COUNT; i++) own->text[change->free[i]] = NULL;
    if (change == &CHANGES[ON_POLICY]) own->text[OPTION_LAG] = "0";
    if (change == &CHANGES[ON_POLICY + 1] && (!own->text[OPTION_LAG] || own->text[OPTION_LAG][0] == '0'))
        own->text[OPTION_LAG] = "1";
    return rl_question(own, arena, question, error) && rl_answer(question, arena, answer, error);
}

static void write_line(const char *words, const RlStep *step, double today, TextOut out) {
    Prose line = {0};
    char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE], text[RL_WORDS_SIZE];
    prose_add(&line, "%s: %s a step", words, step_text(step->seconds, a));
    if (today > 0 && today != step->seconds) prose_add(&line, " (%s)", change_text(step->seconds / today - 1, b));
    prose_add(&line, "; %s", split_words(step, text));
    prose_add(&line, "; %s", trainer_words(&step->trainer, text));
    prose_add(&line, "; %s.", rollout_words(&step->rollout, text));
    prose_write(out, "", "  ", line.text);
}

bool rl_compare(const Options *options, const RlFramework *framework, Arena *arena, TextOut out, bool *fits,
                Error *error) {
    RlAnswer *answer = ARENA_NEW(arena, RlAnswer, 1);
    RlQuestion *question = ARENA_NEW(arena, RlQuestion, 1);
    double today = 0;
    if (!answer || !question) return error_memory(error);
    fprintf(out.file, "A configuration of %s:\n", framework->title);
    for (size_t i = 0; i < COUNT_OF(CHANGES); i++) {
        if (!answer_of(options, &CHANGES[i], arena, question, answer, error)) return false;
        if (i == 0) *fits = answer->found;
        if (i == 0) rl_write_left_out(question, out.file);
        if (!answer->found) {
            fprintf(out.file, "%s: it does not fit.\n", CHANGES[i].words);
            continue;
        }
        RlWay way = answer->first;
        if (i == 0) today = answer->best[way].seconds;
        write_line(CHANGES[i].words, &answer->best[way], today, out);
    }
    return true;
}
