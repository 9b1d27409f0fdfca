/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/util.h"
#include "search/rl/rl_report.h"

typedef struct {
    const RlQuestion *question;
    Arena *arena;
    FILE *out;
    Error *error;
} Front;

/* One line: the best step with one option set. What cannot be requested so has none. */
static bool add_line(const Front *front, Option option, int64_t value) {
    const RlQuestion *question = front->question;
    Arena *arena = front->arena;
    FILE *out = front->out;
    Error *error = front->error;
    const char *what = option_name(option);
    Options *options = ARENA_NEW(arena, Options, 1);
    RlQuestion *own = ARENA_NEW(arena, RlQuestion, 1);
    RlAnswer *answer = ARENA_NEW(arena, RlAnswer, 1);
    Error refused = {0};
    char words[RL_WORDS_SIZE];
    if (!options || !own || !answer) return error_memory(error);
    *options = *question->options;
    options->text[OPTION_VERBOSE] = NULL;
    if (option == OPTION_LAG && value == 0) options->text[OPTION_PARTIAL] = NULL;
    if (option != OPTION_LAG) options->text[OPTION_CHIPS] = options->text[OPTION_NODES] = NULL;
    options->text[option] = arena_format(arena, "%lld", (long long)value);
    if (!options->text[option]) return error_memory(error);
    if (!rl_question(options, arena, own, &refused) || !rl_answer(own, arena, answer, &refused))
        return error_of_machine(&refused) ? (*error = refused, false) : true;
    if (!answer->found) return fprintf(out, "%s\t%lld\t\t\t\tnothing fits\n", what, (long long)value) > 0;
    const RlStep *step = &answer->best[answer->first];
    double usd = rl_usd_per_step(own, step);
    fprintf(out, "%s\t%lld\t%.4g\t%.4g\t", what, (long long)value, step->seconds, rl_tokens_per_hour(own, step));
    if (usd >= 0) fprintf(out, "%.4g", usd);
    return fprintf(out, "\t%s\n", split_words(step, words)) > 0;
}

bool rl_write_front(const RlQuestion *question, Arena *arena, FILE *out, Error *error) {
    static const int LAGS[] = {0, 1, 2, 4, RL_LAG_MAX};
    Option size = question->options->text[OPTION_CHIPS] || question->unit == 1 ? OPTION_CHIPS : OPTION_NODES;
    int64_t all = size == OPTION_CHIPS ? question->chips : question->hosts;
    const Front front = {question, arena, out, error};
    fputs("with\tvalue\tstep_s\ttokens_per_hour\tusd_per_step\tbest\n", out);
    for (size_t i = 0; i < COUNT_OF(LAGS); i++)
        if (!add_line(&front, OPTION_LAG, LAGS[i])) return false;
    for (int64_t part = 4; part >= 1; part /= 2)
        if (all % part == 0 && (size == OPTION_NODES || part == 1 || question->chips / part >= 2))
            if (!add_line(&front, size, all / part)) return false;
    return add_line(&front, size, 2 * all);
}
