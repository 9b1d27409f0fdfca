/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `shardopt sweep`: lists to a grid, points to rows, one after the other or spread over ranks, rows to a table. */
#include "search/sweep/sweep.h"
#include "base/build.h"
#include "base/number.h"
#include "base/text/prose.h"
#include "search/cli/commands.h"
#include "search/cli/commands/kinds.h"
#include "search/cli/interrupt.h"
#include "search/cli/planning.h"
#include "search/cli/sweep/file.h"
#include "search/cli/sweep/grid.h"
#include "search/cli/sweep/spread.h"
#include "search/options/data_files.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A sweep as its words have it. */
typedef struct {
    const AnswerKind *kind;
    CommandLine line;
    Options options;
    SweepHeader header;
    SweepOutput output;
    const char *resume;
    bool sharded, answered; /* answered: --help or --version was all */
} Sweep;

/* ---- reading ---- */

/* "2/8" */
static bool read_shard(const char *text, SweepHeader *out, Error *error) {
    char first[24];
    const char *slash = strchr(text, '/');
    if (!slash || (size_t)(slash - text) >= sizeof first)
        return error_set(error, ERROR_INPUT, "--shard", "\"%.40s\" is no part of a sweep; give K/N, such as 2/8", text);
    snprintf(first, sizeof first, "%.*s", (int)(slash - text), text);
    return number_whole(slash + 1, "--shard", 1, SWEEP_POINTS_MAX, &out->shards, error) &&
           number_whole(first, "--shard", 1, out->shards, &out->shard, error);
}

static bool read_sweep(int argc, char **argv, Arena *arena, Sweep *out, Error *error) {
    const char *const *text = out->options.text;
    SweepHeader *header = &out->header;
    const AnswerKind *named = kind_of_word(argc > 1 ? argv[1] : NULL);
    int own = named != NULL; /* the word of the kind */
    out->kind = named ? named : kind_of_report(NULL);
    if (!command_line_read(own ? out->kind->sweep : &COMMAND_SWEEP, argc - own, argv + own, arena, &out->line, error))
        return false;
    options_of_line(&out->line, &out->options);
    out->answered = out->line.wants_help || out->line.wants_version;
    if (out->answered) return true;
    *header = (SweepHeader){.version = program_version(), .shard = 1, .shards = 1};
    out->sharded = text[OPTION_SHARD] != NULL;
    out->resume = text[OPTION_RESUME];
    const SweepOutputWords output = {text[OPTION_FORMAT], text[OPTION_OUTPUT], text[OPTION_QUIET],
                                     text[OPTION_DEADLINE], text[OPTION_BUDGET]};
    if (!sweep_output_read(&output, &out->output, error)) return false;
    if (out->sharded && sweep_goal_is(&out->output.goal))
        return error_set(error, ERROR_INPUT, text[OPTION_DEADLINE] ? "--deadline" : "--budget",
                         "is of the whole sweep; give it to `shardopt merge`");
    if (out->sharded && text[OPTION_FORMAT])
        return error_set(error, ERROR_INPUT, "--format",
                         "is of the whole sweep, and a part has its own; give it to "
                         "`shardopt merge`");
    if (out->resume && out->resume[0] == '\0')
        return error_set(error, ERROR_INPUT, "--resume", "is empty; give a file");
    if ((out->sharded && !read_shard(text[OPTION_SHARD], header, error)) ||
        !sweep_grid_from_options(out->line.command->options, &out->options, arena, &header->grid, error))
        return false;
    header->grid.command = sweep_command(out->kind->command);
    return sweep_output_fits(&header->grid, &out->output, error) &&
           file_data_sha256(header->data_sha256, arena, error) &&
           sweep_files_sha256(&header->grid, header->files_sha256, error);
}

/* ---- one point ---- */

/* What is wrong with a point is its row; what is wrong with the machine we run on ends the sweep. */
static bool of_the_point(const Error *failure) { return failure->kind == ERROR_INPUT || failure->kind == ERROR_IO; }

/* NULL: *failure says why not. */
static Options *words_of(const Sweep *sweep, int64_t point, Arena *arena, Error *failure) {
    Options *words = ARENA_NEW(arena, Options, 1);
    if (!words) return error_memory(failure), NULL;
    sweep_point_options(sweep->line.command->options, &sweep->options, &sweep->header.grid, point, words);
    return words;
}

static bool plan_point(const Sweep *sweep, int64_t point, SweepRow *row, Error *error) {
    const SweepGrid *grid = &sweep->header.grid;
    Arena arena = {0};
    Error failure = {0};
    PointAnswer answer = {0};
    const Options *words = words_of(sweep, point, &arena, &failure);
    const SweepPoint task = {grid, point, words, sweep->header.data_sha256,
                             sweep->sharded || sweep->resume || sweep->output.format == SWEEP_JSON};
    bool ok = words && sweep->kind->point(&task, &arena, &answer, &failure);
    if (!ok) point_answer_free(&answer);
    if (!ok && of_the_point(&failure)) ok = true, answer = sweep_answer_of_failure(&failure, &arena);
    if (ok)
        ok = sweep_row_new(grid, point, &answer, row, error);
    else
        *error = failure;
    arena_free(&arena);
    return ok;
}

/* ---- the queue of this process ---- */

typedef struct {
    const Sweep *sweep;
    SweepTable table;
    SweepResume resume; /* descriptor below 0: none */
    int64_t *order;     /* of the points; NULL: as they come */
    int64_t next;
    int64_t done, wanted;
    FILE *progress; /* NULL: nobody looks */
} SearchLog;

static int64_t next_point(void *of) {
    SearchLog *search_log = of;
    const SweepHeader *header = &search_log->sweep->header;
    if (interrupt_came(NULL)) return -1;
    while (search_log->next < header->grid.points) {
        int64_t point = search_log->order ? search_log->order[search_log->next] : search_log->next;
        search_log->next++;
        if (sweep_shard_has(header, point) && !search_log->table.rows[point].json) return point;
    }
    return -1;
}

typedef struct {
    int64_t chips, point;
} Size;

static int by_size(const void *a, const void *b) {
    const Size *x = a, *y = b;
    if (x->chips != y->chips) return x->chips > y->chips ? -1 : 1;
    return (x->point > y->point) - (x->point < y->point);
}

/* What no point can do with is an error of the sweep: that of the first. `all`: looks at every point, and has those on
 * most chips planned first, since they take longest, and ranks would wait for one that was begun last. */
static bool look_at_points(SearchLog *search_log, bool all, Arena *arena, Error *error) {
    const Sweep *sweep = search_log->sweep;
    int64_t points = sweep->header.grid.points;
    bool some = false;
    Error first = {0};
    Size *sizes = ARENA_NEW(arena, Size, (size_t)points);
    if (!sizes) return error_memory(error);
    for (int64_t point = 0; point < points && (all || !some); point++) {
        Arena own = {0};
        Error failure = {0};
        const Options *words = words_of(sweep, point, &own, &failure);
        sizes[point] = (Size){words ? sweep->kind->point_chips(words, &own, &failure) : 0, point};
        arena_free(&own);
        some = some || sizes[point].chips > 0;
        if (!some && !of_the_point(&failure)) return *error = failure, false;
        if (point == 0) first = failure;
    }
    if (!some) return *error = first, false;
    if (!all) return true;
    search_log->order = ARENA_NEW(arena, int64_t, (size_t)points);
    if (!search_log->order) return error_memory(error);
    qsort(sizes, (size_t)points, sizeof *sizes, by_size);
    for (int64_t i = 0; i < points; i++) search_log->order[i] = sizes[i].point;
    return true;
}

static void show_progress(const SearchLog *search_log, const SweepRow *row) {
    char point[256], clean[256], step[NUMBER_TEXT_SIZE] = "";
    if (!search_log->progress) return;
    sweep_point_text(&search_log->sweep->header.grid, row->point, point, sizeof point);
    double seconds = sweep_figure(row, search_log->sweep->header.grid.command ? "seconds" : "step_seconds");
    if (seconds >= 0) step_text(seconds, step);
    fprintf(search_log->progress, "shardopt: %lld of %lld: %s: %s%s%s\n", (long long)search_log->done,
            (long long)search_log->wanted, clean_text(point, clean, sizeof clean), point_state_words(row->state),
            step[0] ? ", " : "", step);
}

/* A point that was cut short is planned again: its row is not kept on the disk. Takes the row. */
static bool keep_row(SearchLog *search_log, SweepRow *row, Error *error) {
    if (search_log->resume.descriptor >= 0 && !interrupt_came(NULL) &&
        !sweep_resume_append(&search_log->resume, row->line, row->length, error))
        return sweep_rows_free(row, 1), false;
    search_log->table.rows[row->point] = *row;
    search_log->done++;
    show_progress(search_log, row);
    return true;
}

/* The row of another rank. */
static bool take_line(void *of, const char *line, size_t length, Error *error) {
    SearchLog *search_log = of;
    SweepRow row;
    return sweep_row_read(&search_log->sweep->header.grid, line, length, "sweep", &row, error) &&
           keep_row(search_log, &row, error);
}

/* The part file of --shard, in the points' order. */
static bool write_part(const SearchLog *search_log, FILE *out, Error *error) {
    const Sweep *sweep = search_log->sweep;
    const char *header = sweep_header_line(&sweep->header, search_log->table.arena);
    Draft draft;
    if (!header) return error_memory(error);
    if (!draft_open(&draft, error)) return false;
    fprintf(draft.file, "%s\n", header);
    for (int64_t i = 0; i < sweep->header.grid.points; i++) {
        const SweepRow *row = &search_log->table.rows[i];
        if (!row->json) continue;
        fwrite(row->line, 1, row->length, draft.file);
        fputc('\n', draft.file);
    }
    return draft_write(&draft, true, out, sweep->output.path, error);
}

static bool answer(const SearchLog *search_log, Streams streams, int *code, Error *error) {
    const Sweep *sweep = search_log->sweep;
    const SweepRow *rows = search_log->table.rows;
    const SweepGrid *grid = &sweep->header.grid;
    if (!sweep->sharded) {
        *code = sweep_exit(grid, rows, &sweep->output.goal);
        return sweep_answer(grid, rows, &sweep->output, streams, error);
    }
    *code = EXIT_DONE;
    for (int64_t i = 0; i < grid->points; i++)
        if (rows[i].json && rows[i].state == POINT_NOT_PROVEN) *code = EXIT_LIMIT;
    return write_part(search_log, streams.out, error);
}

/* ---- ranks ---- */

static bool start_search_log(SearchLog *search_log, SweepCrew crew, Streams streams, Arena *arena, Error *error) {
    enum { SIZED_MAX = 1000 }; /* some milliseconds each */
    const Sweep *sweep = search_log->sweep;
    const SweepHeader *header = &sweep->header;
    if (!look_at_points(search_log, crew.ranks > 1 && header->grid.points <= SIZED_MAX, arena, error) ||
        !sweep_table_new(header, arena, &search_log->table, error))
        return false;
    if (sweep->resume && !sweep_resume_open(sweep->resume, &search_log->table, &search_log->resume, error))
        return false;
    for (int64_t i = 0; i < header->grid.points; i++) {
        search_log->wanted += sweep_shard_has(header, i);
        search_log->done += search_log->table.rows[i].json != NULL;
    }
    int descriptor = fileno(streams.err);
    if (!sweep->output.quiet && descriptor >= 0 && isatty(descriptor)) search_log->progress = streams.err;
    return true;
}

/* After an interrupt the table has the points that were planned, and says of the others that they were not. */
static bool fill_unplanned(SearchLog *search_log, Error *error) {
    const SweepGrid *grid = &search_log->sweep->header.grid;
    bool ok = true;
    for (int64_t point = 0; point < grid->points && ok; point++) {
        PointAnswer answer = {.state = POINT_ERROR, .message = "sweep: interrupted before this point"};
        SweepRow *row = &search_log->table.rows[point];
        ok = row->json || sweep_row_new(grid, point, &answer, row, error);
    }
    return ok;
}

/* This process plans all. The first interrupt ends it with what there is; a part of a sweep is worth nothing unless it
 * is whole, so that a sharded one ends at once. */
static bool plan_alone(SearchLog *search_log, bool *interrupted, Error *error) {
    const Sweep *sweep = search_log->sweep;
    InterruptScope scope;
    bool ok = true;
    if (!sweep->sharded) interrupt_begin(&scope);
    for (int64_t point; ok && (point = next_point(search_log)) >= 0;) {
        SweepRow row;
        ok = plan_point(sweep, point, &row, error) && keep_row(search_log, &row, error);
    }
    if (sweep->sharded) return ok;
    *interrupted = interrupt_came(NULL);
    interrupt_end(&scope);
    return ok && (!*interrupted || fill_unplanned(search_log, error));
}

/* Rank 0, or the only process: keeps the queue, and prints. */
static int lead(SweepCrew crew, int argc, char **argv, Arena *arena, Streams streams, Error *error) {
    Sweep *sweep = ARENA_NEW(arena, Sweep, 1);
    SearchLog search_log = {.sweep = sweep, .resume = {.descriptor = -1}};
    int code = EXIT_DONE;
    bool interrupted = false;
    bool ok = sweep ? read_sweep(argc, argv, arena, sweep, error) : error_memory(error);
    if (ok && sweep->answered) command_line_answered(&sweep->line, streams.out);
    ok = ok && (sweep->answered || start_search_log(&search_log, crew, streams, arena, error));
    SweepLog own = {&search_log, next_point, take_line};
    bool works = ok && !sweep->answered;
    const char *mark = works ? sweep_header_line(&sweep->header, arena) : "";
    if (!mark) works = ok = error_memory(error);
    if (crew.ranks > 1)
        ok = spread_serve(crew, works ? &own : NULL, mark, error) && ok;
    else if (works)
        ok = plan_alone(&search_log, &interrupted, error);
    if (works && ok) ok = answer(&search_log, streams, &code, error);
    if (ok) command_advise(&sweep->line, streams.err);
    if (interrupted) code = EXIT_INTERRUPTED;
    sweep_resume_close(&search_log.resume);
    sweep_table_free(&search_log.table);
    return ok ? code : exit_of_error(error);
}

/* Any other rank plans what it is given, and says nothing: rank 0 has read the same words. */
static int follow(int argc, char **argv, Arena *arena) {
    Error error = {0};
    Sweep *sweep = ARENA_NEW(arena, Sweep, 1);
    const char *mark = NULL;
    bool ok = sweep ? read_sweep(argc, argv, arena, sweep, &error) : error_memory(&error);
    if (ok) mark = sweep->answered ? "" : sweep_header_line(&sweep->header, arena);
    if (ok && !mark) ok = error_memory(&error);
    if (ok) {
        SweepLog remote = spread_remote(mark);
        for (int64_t point; ok && (point = remote.next(remote.of)) >= 0;) {
            SweepRow row;
            ok = plan_point(sweep, point, &row, &error);
            if (!ok) break;
            ok = remote.deliver(remote.of, row.line, row.length, &error);
            sweep_rows_free(&row, 1);
        }
    }
    if (!ok) spread_fail(&error);
    return EXIT_DONE;
}

/* The words are read on every rank, and answered on one. */
static int run_words(int argc, char **argv, Streams streams, Error *error) {
    Arena arena = {0};
    SweepCrew crew = spread_start();
    if (crew.launched) streams.terminal = (Terminal){0};
    int code = crew.rank == 0 ? lead(crew, argc, argv, &arena, streams, error) : follow(argc, argv, &arena);
    spread_end(crew);
    arena_free(&arena);
    return code;
}

/* What the manual says in addition to the options. */
static const CommandNote NOTES[] = {
    {"LISTS",
     "Values stand between commas: --model 8b,70b --pods 1,2,4,8; numbers of pods, slices, chips, nodes and "
     "sequences may be ranges (1..8). Conditions of --require, launchers of --for, --schedules, --state-dtypes, "
     "--remat, --qlora, --targets and --freeze have commas of their own: there lists have semicolons. At most 10,000 "
     "points. Rows come in the order "
     "of the options of `sweep --help`, the first the slowest, wherever they stand on the command line. --time-limit "
     "is of each point; --top and --variants are not of a sweep."},
    {"--format FORMAT",
     "text, json, csv, markdown or html (text). html is one page: a figure by axes of choice as lines, bars or a map, "
     "the front of time and cost, the table, and of at most 300 points their reports. JSON: an array, one line for "
     "each point, with the report of `plan`. CSV: a cell that a spreadsheet would compute gets an apostrophe in "
     "front."},
    {"MPI",
     "Where the program was built with -DSHARDOPT_MPI=ON, mpirun -n 4 shardopt sweep ... spreads the points over the "
     "ranks: rank 0 hands them out, those on most chips first, and prints, the others plan, each with its own "
     "--threads. Every rank has the same files and words. A rank that dies ends the job (so does mpirun); --resume "
     "goes on without the points that ranks were at."},
    {0},
};

const Command COMMAND_SWEEP = {
    .name = "sweep",
    .summary = "the best plan of every point of a grid: lists in any option, one row each",
    .usage = "sweep --model NAME[,NAME...] [--shard K/N] [--resume FILE] [OPTIONS]\n"
             "sweep inference --model NAME[,NAME...] [OPTIONS of `inference`]\n"
             "sweep rl --model NAME[,NAME...] [OPTIONS of `rl`]",
    .about =
        "The best plan of every point of a grid. Options take lists with commas (--pods 1,2,4,8 or 1..8), those whose\n"
        "values have commas of their own (require, for, schedules, state-dtypes, remat, qlora, targets, freeze)\n"
        "with semicolons. The first option below varies slowest.",
    .details = "Plans over a grid: every option of `plan` that changes the answer takes a list, and each point of "
               "their product gets a row: what varies, the best plan, its step, MFU, HBM, tokens a second, "
               "chip-hours and cost, and whether the plan is proven, no plan fits (with the nearest machine that has "
               "one), or the point is no request (with the error). What is wrong at every point is an error of the "
               "sweep.",
    .options = PLANNING_OPTIONS,
    .option_count = OPTION_COUNT,
    .use = USE_SWEEP,
    .footer = PLANNING_FOOTER(""),
    .notes = NOTES,
    .examples = "shardopt sweep --model 70b --chip h100,v5p,b200 --chips 512,1024,2048 --deadline 60d --budget 20M\n"
                "shardopt sweep --model 8b --chip v5e,v6e --chips 16,64 --batch 1Mi\n"
                "shardopt sweep --model 8b --chip v5e,v6e --chips 16,64 --batch 1Mi --shard 1/2 -o part.1\n"
                "shardopt sweep --model 8b --chip v5e,v6e --chips 16,64 --batch 1Mi --shard 2/2 -o part.2\n",
    .run_words = run_words,
};
