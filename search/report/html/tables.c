/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/report/html/pictures.h"

#include "base/memory_stream.h"
#include "base/util.h"
#include "cost/profile/profile_figure.h"
#include "mesh/chip_json.h"
#include "search/launch/launcher.h"
#include "search/report/text/parts.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- texts of the text report ---- */

/* A memory stream's lines as one, blanks single. */
static const char *one_line(FILE *memory, char **text, Arena *arena) {
    char *kept = NULL;
    if (fclose(memory) == 0 && *text) kept = arena_text(arena, *text);
    free(*text);
    if (!kept) return NULL;
    char *to = kept;
    for (const char *from = kept; *from; from++) {
        bool blank = *from == ' ' || *from == '\n';
        if (blank && (to == kept || to[-1] == ' ')) continue;
        *to++ = blank ? ' ' : *from;
    }
    while (to > kept && to[-1] == ' ') to--;
    *to = '\0';
    return kept;
}

typedef void TextWriter(const PageView *view, TextOut out);

static const char *text_of(const PageView *view, TextWriter *write) {
    char *text = NULL;
    size_t length = 0;
    FILE *memory = memory_stream_open(&text, &length);
    if (!memory) return NULL;
    write(view, (TextOut){.file = memory});
    return one_line(memory, &text, view->arena);
}

static void write_verdict(const PageView *view, TextOut out) {
    if (view_first(view))
        verdict_write(view->report->request, view_first(view), out);
    else
        shortfall_write(view->report, out);
}
static void write_assumed(const PageView *view, TextOut out) {
    assumed_write(view->report->request, view_first(view), out);
}
static void write_searched(const PageView *view, TextOut out) { searched_write(view->report, out); }
static void write_helps(const PageView *view, TextOut out) { sensitivities_write(view->report, out); }

const char *verdict_text(const PageView *view) { return text_of(view, write_verdict); }
const char *assumed_text(const PageView *view) { return text_of(view, write_assumed); }
const char *searched_text(const PageView *view) { return text_of(view, write_searched); }
const char *sensitivities_text(const PageView *view) { return text_of(view, write_helps); }

const char *title_text(const PageView *view) {
    const Request *request = view->report->request;
    char name[PROSE_NAME_SIZE], machine[WORDS_SIZE];
    return arena_format(view->arena, "%s on %s", clean_name(request->question.model.name, name),
                        machine_text(request, machine));
}

const char *compare_to_best_text(const PageView *view, int rank) {
    const SearchResult *result = &view->report->result;
    Prose text = {0};
    char label[WORDS_SIZE];
    prose_add(&text, "Plan %d, %s: ", rank, plan_label(&result->plans[rank - 1], label));
    report_why_not(&result->plans[0], &result->plans[rank - 1], &text);
    return arena_text(view->arena, text.text);
}

/* ---- plans ---- */

Table plans_table(const PageView *view) {
    const SearchResult *result = &view->report->result;
    bool named = view_is_named(view); /* alone, without a rank */
    Table table = table_new(view->arena, "The best plans, one for each set of degrees and schedule",
                            named ? "plan|>step|>MFU|>HBM|>exposed|>bubble|bound by|launched by"
                                  : ">rank|plan|>step|>behind|>MFU|>HBM|>exposed|>bubble|bound by|launched by");
    for (int i = 0; i < result->plan_count; i++) {
        const RankedPlan *ranked = &result->plans[i];
        const Estimate *estimate = &ranked->estimate;
        const StepTime *time = &estimate->time;
        char label[WORDS_SIZE], launchers[WORDS_SIZE], text[NUMBER_TEXT_SIZE];
        bool stages = ranked->plan.degrees.of[ROLE_PIPELINE] > 1;
        double behind = ranked->ranked_seconds / result->plans[0].ranked_seconds - 1;
        Prose moves = {0};
        plan_moves(view->report, i + 1, &moves);
        if (!named) table_cell(&table, "%d", i + 1);
        table_cell(&table, "%s%s%.*s", plan_label(ranked, label), moves.used ? ", " : "", WORDS_SIZE, moves.text);
        table_cell(&table, "%s", step_text(time->seconds, text));
        if (!named && i == 0) table_cell(&table, "%s", "");
        if (!named && i > 0) table_cell(&table, "%+.1f%%%s", 100 * behind, ranked->tied ? " (tied)" : "");
        table_cell(&table, "%s", share_text(estimate->mfu, text));
        table_cell(&table, "%s", number_bytes(memory_total(&estimate->memory), text));
        table_cell(&table, "%s", share_text(time->exposed_seconds / time->seconds, text));
        table_cell(&table, "%s", stages ? share_text(time->bubble_seconds / time->seconds, text) : "");
        table_cell(&table, "%s", bound_text(estimate->bound_by, &ranked->machine.mesh));
        table_cell(&table, "%s", launch_text(ranked, " ", launchers));
    }
    return table;
}

Table alternatives_table(const PageView *view) {
    Table table = table_new(view->arena,
                            "Alternatives where sizes do not divide, each with its best plan; the price is per token",
                            "way|what changes|>step|>price|plan|launched by");
    bool any = view_first(view) != NULL; /* without a plan only what is a way out is one */
    for (int i = 0; i < ALTERNATIVE_COUNT; i++) any = any || view->report->alternatives[i].found;
    for (int i = 0; i < ALTERNATIVE_COUNT && any; i++) {
        char words[ALTERNATIVE_CELLS][WORDS_SIZE];
        if (!view->report->alternatives[i].tried) continue;
        alternative_words(view->report, (Alternative)i, words);
        const char *cells[] = {words[0], words[1], words[2], words[3], words[4], words[5]};
        table_row(&table, cells);
    }
    return table;
}

/* "ICI bandwidth 12% higher (4 more figures would do)" */
static void miss_words(const NearMiss *miss, char text[WORDS_SIZE]) {
    if (!miss->name) {
        snprintf(text, WORDS_SIZE, "no single figure between half and twice its value");
        return;
    }
    int used = snprintf(text, WORDS_SIZE, "%s %.3g%% %s", miss->name, 100 * fabs(miss->factor - 1),
                        miss->factor > 1 ? "higher" : "lower");
    if (miss->others > 0)
        snprintf(text + used, WORDS_SIZE - (size_t)used, " (%d other change%s would do)", miss->others,
                 miss->others == 1 ? "" : "s");
}

Table misses_table(const PageView *view) {
    const SearchResult *result = &view->report->result;
    Table table =
        table_new(view->arena, "Plans that lose, and the smallest change of one figure that would make each win",
                  ">rank|plan|>behind|would win with|why it is slower");
    for (int i = 0; view->facts && i < view->facts->miss_count; i++) {
        const RankedPlan *ranked = &result->plans[i + 1];
        char rank[16], label[WORDS_SIZE], behind[NUMBER_TEXT_SIZE], words[WORDS_SIZE];
        Prose why = {0};
        snprintf(rank, sizeof rank, "%d", i + 2);
        snprintf(behind, sizeof behind, "%+.2f%%",
                 100 * (ranked->ranked_seconds / result->plans[0].ranked_seconds - 1));
        miss_words(&view->facts->misses[i], words);
        report_why_not(&result->plans[0], ranked, &why);
        const char *cells[] = {rank, plan_label(ranked, label), behind, words, why.text};
        table_row(&table, cells);
    }
    return table;
}

Table closest_table(const PageView *view) {
    const SearchResult *result = &view->report->result;
    const Certificate *certificate = &result->certificate;
    Table table =
        table_new(view->arena, "Degrees that were cut as a whole, lowest bounds first: none of their plans is faster",
                  "degrees|machine|>bound|>above plan 1");
    for (int i = 0; i < certificate->closest_count && result->plan_count > 0 && result->machines; i++) {
        const CutTuple *cut = &certificate->closest[i];
        char notation[NOTATION_SIZE], bound[NUMBER_TEXT_SIZE], above[NUMBER_TEXT_SIZE];
        snprintf(above, sizeof above, "%+.2f%%", 100 * (cut->bound / result->plans[0].ranked_seconds - 1));
        const char *cells[] = {degrees_notation(&cut->degrees, true, notation),
                               result->machines[cut->machine].machine.text, step_text(cut->bound, bound), above};
        table_row(&table, cells);
    }
    return table;
}

Table nearest_table(const PageView *view) {
    Table table = table_new(view->arena, "The nearest machines that fit", "machine|>chips|>HBM|>step|plan");
    for (int i = 0; i < view->report->nearest_count; i++) {
        const RankedPlan *ranked = &view->report->nearest[i];
        char chips[NUMBER_TEXT_SIZE], hbm[NUMBER_TEXT_SIZE], step[NUMBER_TEXT_SIZE], label[WORDS_SIZE];
        const char *cells[] = {ranked->machine.text, number_grouped(ranked->machine.mesh.chips, chips),
                               number_bytes(memory_total(&ranked->estimate.memory), hbm),
                               step_text(ranked->estimate.time.seconds, step), plan_label(ranked, label)};
        table_row(&table, cells);
    }
    return table;
}

/* ---- what it rests on ---- */

static const char *figure_words(double value, const char *unit, char text[WORDS_SIZE]) {
    char number[NUMBER_TEXT_SIZE];
    if (strcmp(unit, "B") == 0)
        snprintf(text, WORDS_SIZE, "%s", number_bytes(value, number));
    else if (strcmp(unit, "B/s") == 0)
        snprintf(text, WORDS_SIZE, "%s", rate_text(value, "B", number));
    else if (strcmp(unit, "FLOP/s") == 0 || strcmp(unit, "OP/s") == 0)
        snprintf(text, WORDS_SIZE, "%s", rate_text(value, unit[0] == 'F' ? "FLOP" : "OP", number));
    else if (strcmp(unit, "s") == 0)
        snprintf(text, WORDS_SIZE, "%s", number_time(value, number));
    else
        snprintf(text, WORDS_SIZE, "%.6g%s%s", value, unit[0] ? " " : "", unit);
    return text;
}

Table chip_table(const PageView *view) {
    const Chip *chip = &view->report->request->question.chip;
    Table table = table_new(view->arena, "Figures of the chip", "figure|>value|source|checked");
    for (int i = 0; i < CHIP_FIGURE_COUNT; i++) {
        const Figure *figure = (const Figure *)((const char *)chip + CHIP_FIGURES[i].offset);
        char words[WORDS_SIZE];
        if (figure->source[0] == '\0') continue;
        const char *cells[] = {CHIP_FIGURES[i].key, figure_words(figure->value, CHIP_FIGURES[i].unit, words),
                               figure->source, figure->verified ? "yes" : "no"};
        table_row(&table, cells);
    }
    return table;
}

Table profile_table(const PageView *view) {
    const Profile *profile = &view->report->request->question.profile;
    Table table = table_new(view->arena, "Figures of the profile, as used on this machine", "figure|>value|meaning|of");
    int count;
    const ProfileFigure *figures = profile_figures(&count);
    for (int i = 0; i < count; i++) {
        char value[NUMBER_TEXT_SIZE];
        snprintf(value, sizeof value, "%.4g", figure_value_of(profile, &figures[i]));
        const char *cells[] = {figures[i].key, value, figures[i].meaning,
                               figures[i].owner == FIGURE_OF_CHIP ? "chip" : "software"};
        table_row(&table, cells);
    }
    return table;
}

Table request_table(const PageView *view) {
    Table table =
        table_new(view->arena, "Every option in force that can change the answer, defaults included", "option|value");
    char launchers[LAUNCHER_NAMES_SIZE];
    cJSON *json = cJSON_CreateObject();
    const cJSON *value;
    request_launchers(view->report->request, launchers);
    if (!json || !request_add_json(view->report->request, launchers, json)) table.failed = true;
    cJSON_ArrayForEach(value, json) {
        char number[NUMBER_TEXT_SIZE], key[64];
        snprintf(key, sizeof key, "--%s", value->string);
        for (char *at = key; *at; at++)
            if (*at == '_') *at = '-';
        bool raw = cJSON_IsRaw(value), real = raw && strpbrk(value->valuestring, ".e") != NULL;
        snprintf(number, sizeof number, "%.15g", real ? strtod(value->valuestring, NULL) : value->valuedouble);
        const char *cells[] = {key, real || cJSON_IsNumber(value)  ? number
                                    : raw || cJSON_IsString(value) ? value->valuestring
                                    : cJSON_IsBool(value)          ? cJSON_IsTrue(value) ? "yes" : "no"
                                                                   : ""};
        table_row(&table, cells);
    }
    cJSON_Delete(json);
    return table;
}
