/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/cli/views/validate_limits.h"

#include "base/number.h"
#include "base/text/prose.h"

#include <math.h>
#include <string.h>

static const struct {
    const char *name;
    bool share; /* else a number */
    double high;
} LIMITS[GATE_COUNT] = {
    [GATE_MEDIAN] = {"median", true, 1000},
    [GATE_P90] = {"p90", true, 1000},
    [GATE_WORST] = {"worst", true, 1000},
    [GATE_BIAS] = {"bias", true, 1000},
    [GATE_SKIPPED] = {"skipped", true, 1},
    [GATE_MEMORY_MEDIAN] = {"memory-median", true, 1000},
    [GATE_MEMORY_P90] = {"memory-p90", true, 1000},
    [GATE_MEMORY_FITTING] = {"memory-fitting", false, 1e9},
    [GATE_TAU] = {"tau", true, 1},
    [GATE_TAU_ALL] = {"tau-all", true, 1},
    [GATE_BEST] = {"best", true, 1},
};

static bool is_least(int limit) { return limit >= GATE_TAU; }

/* "median=4%" */
static bool parse_one(const char *word, const char *where, bool least, ValidationLimits *gate, Error *error) {
    const char *equals = strchr(word, '='), *value = equals ? equals + 1 : word;
    int limit = least ? GATE_TAU : GATE_MEDIAN;
    if (equals) {
        size_t length = (size_t)(equals - word);
        for (limit = 0; limit < GATE_COUNT; limit++)
            if (is_least(limit) == least && strlen(LIMITS[limit].name) == length &&
                memcmp(LIMITS[limit].name, word, length) == 0)
                break;
        if (limit == GATE_COUNT)
            return error_set(error, ERROR_INPUT, where, "%.40s is no limit; give %s", word,
                             least ? "tau=0.8, tau-all=0.6 or best=90%"
                                   : "median=4%, p90, worst, bias, skipped, memory-median, memory-p90 or "
                                     "memory-fitting=0");
    }
    if (gate->set[limit])
        return error_set(error, ERROR_INPUT, where, "%s is given twice; give it once", LIMITS[limit].name);
    gate->set[limit] = true;
    if (!LIMITS[limit].share) return number_real(value, where, 0, LIMITS[limit].high, &gate->limit[limit], error);
    if (!number_share(value, where, 0, LIMITS[limit].high, &gate->limit[limit], error)) return false;
    if (gate->limit[limit] > 1 && !strchr(value, '%')) /* a gate of 400% would never close */
        return error_set(error, ERROR_INPUT, where, "%s is %.30s; give a share such as 0.04, or %.30s%%",
                         LIMITS[limit].name, value, value);
    return true;
}

bool gate_parse(const char *text, const char *where, bool least, ValidationLimits *gate, Error *error) {
    for (const char *at = text;;) {
        char word[80];
        size_t length = strcspn(at, ",");
        if (length >= sizeof word)
            return error_set(error, ERROR_INPUT, where, "%.40s is no limit; give NAME=SHARE,...", at);
        memcpy(word, at, length);
        word[length] = '\0';
        if (!length) return error_set(error, ERROR_INPUT, where, "has an empty limit; give NAME=SHARE,...");
        if (!parse_one(word, where, least, gate, error)) return false;
        if (!at[length]) return true;
        at += length + 1;
    }
}

/* One line; `of` names whose figure it is. */
static int broken(ValidationLimit limit, const ValidationLimits *gate, const char *of, double value, FILE *err) {
    char name[PROSE_NAME_SIZE];
    const char *option = is_least((int)limit) ? "--min-ranking" : "--max-error";
    fprintf(err, "shardopt: %s: %s%s%s is ", option, LIMITS[limit].name, of[0] ? " of " : "", clean_name(of, name));
    if (isnan(value))
        fprintf(err, "not known: the table has no such runs\n");
    else if (limit == GATE_MEMORY_FITTING || limit == GATE_TAU || limit == GATE_TAU_ALL)
        fprintf(err, "%.4g; the limit is %.4g\n", value, gate->limit[limit]);
    else
        fprintf(err, "%.4g%%; the limit is %.4g%%\n", 100 * value, 100 * gate->limit[limit]);
    return 1;
}

static double value_of(ValidationLimit limit, const Validation *v) {
    const ErrorStats *rows = &v->score.all.rows, *memory = &v->score.memory;
    switch (limit) {
    case GATE_MEDIAN:
        return rows->count ? rows->median : NAN;
    case GATE_P90:
        return rows->count ? rows->p90 : NAN;
    case GATE_WORST:
        return rows->count ? rows->worst : NAN;
    case GATE_SKIPPED:
        return v->count ? (double)v->skipped / (double)v->count : NAN;
    case GATE_MEMORY_MEDIAN:
        return memory->count ? memory->median : NAN;
    case GATE_MEMORY_P90:
        return memory->count ? memory->p90 : NAN;
    case GATE_MEMORY_FITTING:
        return (double)v->called_fitting;
    case GATE_TAU:
        return v->ranking_elsewhere.pairs ? v->ranking_elsewhere.tau : NAN;
    case GATE_TAU_ALL:
        return v->ranking.pairs ? v->ranking.tau : NAN;
    case GATE_BEST:
        return v->ranking.groups ? (double)v->ranking.best_groups / (double)v->ranking.groups : NAN;
    case GATE_BIAS:
    case GATE_COUNT:
        break;
    }
    return NAN;
}

int gate_check(const ValidationLimits *gate, const Validation *v, FILE *err) {
    int failures = 0;
    for (ValidationLimit limit = 0; limit < GATE_COUNT; limit++) {
        if (!gate->set[limit]) continue;
        if (limit == GATE_BIAS) {
            for (int64_t i = 0; i < v->score.by_count[BY_SOURCE]; i++) {
                const ScoreGroup *group = &v->score.by[BY_SOURCE][i];
                if (!(fabs(group->rows.bias) <= gate->limit[limit]))
                    failures += broken(limit, gate, group->name, group->rows.bias, err);
            }
            continue;
        }
        double value = value_of(limit, v);
        bool holds = is_least((int)limit) ? value >= gate->limit[limit] : value <= gate->limit[limit];
        if (!holds) failures += broken(limit, gate, "", value, err);
    }
    return failures;
}

int gate_check_errors(const ValidationLimits *gate, const ErrorStats *stats, FILE *err) {
    const double values[GATE_COUNT] = {[GATE_MEDIAN] = stats->median,
                                       [GATE_P90] = stats->p90,
                                       [GATE_WORST] = stats->worst,
                                       [GATE_BIAS] = fabs(stats->bias)};
    int failures = 0;
    for (ValidationLimit limit = 0; limit < GATE_COUNT; limit++) {
        bool known = limit <= GATE_BIAS && stats->count > 0;
        if (gate->set[limit] && !(known && values[limit] <= gate->limit[limit]))
            failures += broken(limit, gate, "", known ? values[limit] : NAN, err);
    }
    return failures;
}
