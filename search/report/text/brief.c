/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The answer on one screen: verdict, plan 1 in its launcher's words, the plans that differ, where time and memory go,
 * how far to trust it, and what to type next. The rest is the long report's. */
#include "search/report/text/parts.h"

#include "base/memory_stream.h"
#include "base/text/table.h"
#include "base/util.h"
#include "cost/stage/stage_totals.h"
#include "search/answer/doubts.h"
#include "search/answer/search_end.h"
#include "search/report/text/brief_bars.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the verdict ---- */

/* Launchers of the request that cannot express the policy of --remat: what they take instead is known later, and stands
 * in the table. */
static void add_inexpressible(const Report *report, const RankedPlan *first, Prose *to) {
    const Request *request = first->request ? first->request : report->request;
    LauncherSet otherwise = request->space.launchers & first->launchable_by & ~first->exact;
    char names[LAUNCHER_NAMES_SIZE];
    if (!otherwise ||
        remat_is_expressible(request->question.domain, &request->question.model, &request->question.remat))
        return;
    prose_add(to, " But %s cannot express this --remat: the table has what it takes instead.",
              launcher_names(otherwise, ", ", " and ", names, sizeof names));
}

static void write_proof(const Report *report, const RankedPlan *first, TextOut out) {
    Prose text = {0};
    proof_words(report, &text);
    add_inexpressible(report, first, &text);
    prose_write(out, "  ", "  ", text.text);
}

static bool is_narrow(TextOut out) { return out.terminal.columns > 0 && out.terminal.columns < 110; }

/* A policy tensor by tensor is for the file. */
static void cut_words(Prose *line, bool narrow) {
    const size_t most = narrow ? 150 : 225;
    if (line->used <= most) {
        prose_add(line, ".");
        return;
    }
    size_t at = most;
    while (at > 0 && line->text[at] != ' ') at--;
    line->text[line->used = at] = '\0';
    prose_add(line, " ...");
}

static void write_words(const Report *report, const RankedPlan *first, bool whole, TextOut out) {
    const Launcher *launcher = launcher_of(report->request);
    Prose words = {0}, line = {0};
    launcher_words(launcher, report->request, first, &words);
    if (words.used > 0) {
        prose_add(&line, "In %s's words: %s", launcher->name, words.text);
        if (whole)
            prose_add(&line, ".");
        else
            cut_words(&line, is_narrow(out));
        prose_write(out, "", "  ", line.text);
    } else if (report->request->space.launchers == 0 && report->requested && report->requested->subproblem_count > 0) {
        prose_add(&line, "No plan of this chip's usual launchers %s: this layout is for no launcher.",
                  search_end_words(subproblems_end(&report->result)));
        prose_write(out, "", "  ", line.text);
    }
}

void answer_write(const Report *report, bool whole, TextOut out) {
    const RankedPlan *first = report->result.plans;
    if (report->result.plan_count == 0) {
        shortfall_write(report, out);
        nearest_write(report, out);
        return;
    }
    verdict_write(report->request, first, whole, out);
    if (report->requested) write_proof(report, first, out);
    write_words(report, first, whole, out);
}

static bool write_answer(const void *report, TextOut out) {
    answer_write(report, false, out);
    return true;
}

/* ---- the plans ---- */

/* The launchers of a cell whose price is known: those that would lay a plan out otherwise (~), or could not (!), have a
 * place in the long report, which explains them. */
static void priced_launchers(const RankedPlan *ranked, char cell[WORDS_SIZE]) {
    char all[WORDS_SIZE];
    cell[0] = '\0';
    launch_text(ranked, " ", all);
    for (char *word = all; *word;) {
        size_t length = strcspn(word, " "), used = strlen(cell);
        bool next = word[length] == ' ';
        if (word[length - 1] != '~' && word[length - 1] != '!')
            snprintf(cell + used, WORDS_SIZE - used, "%s%.*s", used ? " " : "", (int)length, word);
        word += length + next;
    }
    if (!cell[0]) strcpy(cell, "-");
}

/* On a narrow screen: of more than two launchers the one that priced the row, or the first, and how many more. */
static void few_launchers(const RankedPlan *ranked, char cell[WORDS_SIZE]) {
    const Launcher *own = ranked->request ? launcher_of(ranked->request) : NULL;
    char all[WORDS_SIZE];
    int count = 1, length;
    snprintf(all, sizeof all, "%s", cell);
    for (const char *blank = all; (blank = strchr(blank, ' ')) != NULL; blank++) count++;
    if (count <= 2) return;
    const char *at = own ? strstr(all, own->name) : NULL;
    if (!at) at = all;
    length = (int)strcspn(at, " ");
    snprintf(cell, WORDS_SIZE, "%.*s +%d", length, at, count - 1);
}

/* Why a row is there, in a word or two, then what else it changes. */
static void note_words(const Report *report, int rank, char cell[WORDS_SIZE]) {
    static const char *const WORDS[ROW_KIND_COUNT] = {[ROW_FASTEST] = "fastest",
                                                      [ROW_SUREST] = "to run: lowest risk",
                                                      [ROW_ODD] = "faster, seldom run",
                                                      [ROW_WITH_PIPELINE] = "with a pipeline",
                                                      [ROW_WITHOUT_PIPELINE] = "without a pipeline",
                                                      [ROW_HEADROOM] = "15% HBM free",
                                                      [ROW_USUAL] = "FSDP and DP only",
                                                      [ROW_IN_HBM] = "nothing on the host",
                                                      [ROW_ON_HOST] = "optimizer on the host"};
    const RankedPlan *ranked = &report->result.plans[rank - 1];
    Prose moves = {0}, words = {0};
    for (int kind = 0; kind < ROW_KIND_COUNT; kind++) {
        const Launcher *own = ranked->request ? launcher_of(ranked->request) : NULL;
        if (!(ranked->row_kinds >> kind & 1)) continue;
        if (kind == ROW_FASTEST && ranked->row_kinds >> ROW_ODD & 1) continue;
        if (kind == ROW_SUREST && ranked->row_kinds >> ROW_FASTEST & 1) continue; /* no slower than the fastest */
        if (kind == ROW_OF_LAUNCHER)
            prose_item(&words, ", ", "%s's best", own ? own->name : "another");
        else
            prose_item(&words, ", ", "%s",
                       kind == ROW_SUREST && report->result.odd ? "to run"
                       : kind == ROW_FASTEST && ranked->seconds > report->result.plans[0].seconds * (1 + 1e-9)
                           ? "first in rank"
                           : WORDS[kind]);
    }
    int64_t all = report->request->question.machine.mesh.chips, used = ranked->machine.mesh.chips;
    if (words.used > 0 && used < all && used != report->result.plans[0].machine.mesh.chips)
        prose_item(&words, ", ", "%lld %ss idle", (long long)(all - used), chip_noun(&report->request->question.chip));
    if (words.used > 0) row_gap_words(report, rank, &words);
    if (words.used == 0) plan_moves(report, rank, &moves);
    snprintf(cell, WORDS_SIZE, "%.300s",
             words.used   ? words.text
             : moves.used ? moves.text
             : rank == 1  ? "fastest"
                          : "");
}

/* How the table of plans is laid out on a terminal: how many of them, and lines that a plan may take; 0: as many as it
 * takes. */
typedef struct {
    const Report *report;
    int plans, plan_lines;
} RowForm;

static int plan_columns(bool narrow) { return narrow ? 34 : 44; }

static void add_row(Table *table, const RowForm *form, int rank, bool narrow) {
    const Report *report = form->report;
    const RankedPlan *ranked = &report->result.plans[rank - 1];
    char words[WORDS_SIZE], text[NUMBER_TEXT_SIZE];
    table_cell(table, "%d%s", rank, ranked->tied && rank > 1 ? "~" : " ");
    plan_degrees(ranked, words);
    if (form->plan_lines > 0) text_cut(words, sizeof words, plan_columns(narrow), form->plan_lines);
    table_cell(table, "%s", words);
    table_cell(table, "%s", step_text(ranked->estimate.time.seconds, text));
    table_cell(table, "%s", share_text(ranked->estimate.mfu, text));
    table_cell(table, "%s", number_bytes(memory_total(&ranked->estimate.memory), text));
    priced_launchers(ranked, words);
    if (narrow) few_launchers(ranked, words);
    table_cell(table, "%s", words);
    note_words(report, rank, words);
    table_cell(table, "%s", words);
}

static bool write_plans(const RowForm *form, TextOut out) {
    enum { PLAN = 1, MFU = 3, HBM = 4, FOR = 5, NOTE = 6 };
    bool narrow = is_narrow(out);
    Arena arena = {0};
    Table table = table_new(&arena, NULL, ">|plan|>step|>MFU|>HBM|launchers|note");
    table_wrap(&table, PLAN, plan_columns(narrow));
    table_wrap(&table, FOR, narrow ? 16 : 26);
    table_wrap(&table, NOTE, narrow ? 18 : 30);
    table_may_drop(&table, MFU);
    table_may_drop(&table, HBM);
    table_may_drop(&table, NOTE);
    for (int i = 0; i < form->plans; i++) add_row(&table, form, i + 1, narrow);
    bool ok = table_write_text(&table, " ", out);
    arena_free(&arena);
    return ok;
}

/* The legend of the table, and what layouts that no launcher can express would gain. */
static void write_note(const RowForm *form, TextOut out) {
    const Report *report = form->report;
    const SearchResult *result = &report->result;
    char step[NUMBER_TEXT_SIZE];
    bool tied = false, otherwise = false;
    int more = result->plan_count - form->plans;
    Prose note = {0};
    for (int i = 0; i < form->plans; i++) {
        char cell[WORDS_SIZE];
        priced_launchers(&result->plans[i], cell);
        if (is_narrow(out)) few_launchers(&result->plans[i], cell);
        otherwise = otherwise || strchr(cell, '%');
        tied = tied || (i > 0 && result->plans[i].tied);
    }
    if (more > 0) prose_item(&note, " ", "%d more: -v.", more);
    if (tied) prose_item(&note, " ", "~ ties with plan 1.");
    if (otherwise) prose_item(&note, " ", "+1%%: as that launcher lays it out.");
    host_words(report, &note);
    bool faster = report->has_free && report->free.ranked_seconds < result->plans[0].ranked_seconds;
    double gain = faster ? report->free.estimate.time.seconds / result->plans[0].estimate.time.seconds - 1 : 0;
    if (gain <= -0.0005)
        prose_item(&note, " ", "Without a launcher's limits (--for any): %s%s (%+.1f%%).",
                   step_text(report->free.estimate.time.seconds, step), report->free_or_less ? " or less" : "",
                   100 * gain);
    if (note.used > 0) prose_write(out, "    ", "    ", note.text);
}

/* ---- the end ---- */

/* How near what was measured comes, and how the model does there. */
static void add_measured(const Report *report, bool whole, Prose *to) {
    const MeasuredRun *run = report->measured;
    char chips[NUMBER_TEXT_SIZE], rate[NUMBER_TEXT_SIZE], name[PROSE_NAME_SIZE];
    if (!run) {
        prose_add(to, "no measured run is near");
        return;
    }
    prose_add(to, "nearest measured run: ");
    if (strcmp(run->model, report->request->question.model.name) != 0)
        prose_add(to, "%s, ", clean_name(run->model, name));
    prose_add(to, "%s on %s %s, %s", clean_name(run->framework, name), number_grouped(run->chips, chips), run->chip,
              rate_text(run->measured * run->flops_per_token, "FLOP", rate));
    double off = 100 * (run->predicted / run->measured - 1);
    if (fabs(off) < 0.5)
        prose_add(to, " (as predicted)");
    else
        prose_add(to, " (predicted %.0f%% %s)", fabs(off), off > 0 ? "more" : "less");
    double claim = report_claim(report, report->result.plans);
    if (claim > 0) prose_add(to, ", beyond which plan 1 claims %.0f%%", 100 * claim);
    if (!whole) return;
    prose_add(to, "; run %s: ", clean_name(run->id, name));
    prose_add(to, "%s, ", clean_name(run->plan, name));
    prose_add(to, "%s, sequences of %s", run->precision, number_grouped(run->seq, chips));
}

/* Mixtures differ by half and more between a tuned recipe, whose routing is made even, and the same as it comes. */
static void add_effort(const Request *request, Prose *to) {
    Effort effort = request->question.profile.effort;
    if (effort == EFFORT_UNKNOWN && strcmp(request->requested.stack, "as-is") == 0)
        prose_add(to, "; no run distinguishes this software as it comes from tuned");
    else if (effort != EFFORT_UNKNOWN && model_layers_with(&request->question.model, true) > 0)
        prose_add(to, "; %s",
                  effort == EFFORT_TUNED ? "tuned, with even routing (as it comes: --as-is)"
                                         : "as it comes, not tuned");
}

void confidence_write(const Report *report, bool whole, TextOut out) {
    Risk risks[RISKS_MAX];
    Prose line = {0};
    int count = plan_risks(&report->result.plans[0], risks);
    add_measured(report, whole, &line);
    add_effort(report->request, &line);
    for (int i = 0; i < (whole ? count : min_whole(count, 1)); i++)
        prose_item(&line, i ? "; " : ". Risks: ", "%s", risks[i].text);
    prose_add(&line, ".");
    prose_write(out, "Confidence: ", "  ", line.text);
}

/* What no option said: sizes, lengths, precision, state, and what of HBM plans may use. */
static void write_assumed(const Report *report, TextOut out) {
    const Request *request = report->request;
    const Requested *said = &request->requested;
    CostContext setting = request_cost_context(request);
    const TrainingState *state = cost_context_state(&setting);
    const bool tunes = request->question.tuning.what.on;
    char a[NUMBER_TEXT_SIZE], b[NUMBER_TEXT_SIZE];
    Prose line = {0};
    host_share_words(&request->question.chip, &line);
    if (said->batch_origin != FROM_OPTION)
        prose_item(&line, ", ", "batch %s%s", number_grouped(request->question.work.sequences, a),
                   said->batch_origin == FROM_MODEL && !tunes ? " (published)" : "");
    if (said->seq_origin != FROM_OPTION && !tunes)
        prose_item(&line, ", ", "length %s%s", number_grouped(request->question.work.seq, a),
                   said->seq_origin == FROM_MODEL ? " (published)" : "");
    if (said->tokens_origin != FROM_OPTION && !tunes)
        prose_item(&line, ", ", "%s tokens%s", number_short(request->question.training_tokens, a),
                   said->tokens_origin == FROM_MODEL ? " (published)" : " (20 a parameter)");
    if (tunes && !said->tuning[TUNING_SAMPLES][0] && said->tokens_origin != FROM_OPTION)
        prose_item(&line, ", ", "%s samples of %s tokens", number_short(request->question.tuning.samples, a),
                   number_grouped((int64_t)request->question.tuning.sample_tokens, b));
    bool fp16 = request->question.precision == PRECISION_BF16 && request->question.chip.sixteen_bits[0] == 'f';
    prose_item(&line, ", ", "%s%s, %s", precision_name(request->question.precision), fp16 ? " (by fp16)" : "",
               state->optimizer);
    if (state->moments) prose_add(&line, " in %s", dtype_name(state->dtypes.first));
    prose_add(&line, "; %s of %s HBM usable", number_bytes(report->result.plans[0].estimate.memory_limit_bytes, a),
              number_bytes(setting.chip->hbm_bytes.value, b));
    prose_add(&line, " (--hbm-reserve %s).", share_text(request->question.hbm_reserve, a));
    prose_write(out, "Assumed: ", "  ", line.text);
}

/* The command line is one line, to be copied. */
void next_write(const Report *report, TextOut out) {
    Prose command = {0};
    emit_command(report, &command);
    if (command.used > 0) fprintf(out.file, "Next: %s\n", command.text);
}

static bool write_end(const void *context, TextOut out) {
    const Report *report = context;
    if (interrupted_later(report))
        prose_write(out, "", "  ", "Interrupted after the proof: some rows of other kinds may be missing.");
    if (report->result.plan_count == 0) {
        fputs("More: -v (what is assumed, what was searched).\n", out.file);
        return true;
    }
    confidence_write(report, false, out);
    write_assumed(report, out);
    next_write(report, out);
    return true;
}

/* ---- the whole ---- */

static bool write_table(const void *context, TextOut out) {
    const RowForm *form = context;
    bool ok = write_plans(form, out);
    write_note(form, out);
    if (form->report->result.plan_count > 0) ways_out_write(form->report, "In HBM:   ", out);
    return ok;
}

/* A shorter table: plans take two lines at most, then the last ones are left out, then plans take one line. False:
 * there is none. */
static bool shorten(RowForm *form) {
    enum { MANY = 4, LEAST = 2 };
    if (form->plan_lines == 0) return form->plan_lines = 2, true;
    if (form->plans > MANY || (form->plan_lines == 1 && form->plans > LEAST)) return form->plans--, true;
    return form->plan_lines == 2 && (form->plan_lines = 1, true);
}

/* Bars take the lines that the rest leaves, and where it leaves few, no blank line stands before them, nor before the
 * table. Where it leaves too few, the table is shorter. */
static bool write_rows(const void *context, TextOut out) {
    const Report *report = context;
    enum { HEADING = 1, BLANK = 1, ROWS_LEAST = 4 };
    if (report->result.plan_count == 0) return true;
    RowForm form = {report, report->result.plan_count, 0};
    int room = BRIEF_LINES - lines_of(write_answer, report, out) - lines_of(write_end, report, out) - HEADING;
    int left = room - lines_of(write_table, &form, out);
    while (left < ROWS_LEAST && left > -LINES_UNKNOWN / 2 && shorten(&form))
        left = room - lines_of(write_table, &form, out);
    while (left < 1 && left > -LINES_UNKNOWN / 2 && form.plans > 1) { /* a long answer: one bar, and one plan */
        form.plans--;
        left = room - lines_of(write_table, &form, out);
    }
    if (left <= -LINES_UNKNOWN / 2) return false;
    if (left > ROWS_LEAST) fputc('\n', out.file), left -= BLANK;
    if (!write_table(&form, out)) return false;
    if (left - BLANK >= ROWS_LEAST) fputc('\n', out.file), left -= BLANK;
    Parts time, memory;
    plan_time_parts(report->result.plans, &time), plan_memory_parts(report->result.plans, &memory);
    brief_bars_write(&time, &memory, bar_rows(BRIEF_LINES - HEADING - left), out);
    return true;
}

static bool write_ways(const void *report, TextOut out) { /* ways out matter most where nothing fits */
    return ((const Report *)report)->result.plan_count > 0 || alternatives_write(report, out);
}

bool report_write_brief_stage(const Report *report, ReportStage stage, TextOut out, Error *error) {
    static bool (*const WRITE[STAGE_COUNT])(const void *report, TextOut out) = {
        [STAGE_PLAN] = write_answer, [STAGE_ROWS] = write_rows, [STAGE_WAYS] = write_ways, [STAGE_WHOLE] = write_end};
    if (!WRITE[stage](report, out)) return error_memory(error);
    return !ferror(out.file) || error_set(error, ERROR_IO, "report", "the text could not be written");
}
