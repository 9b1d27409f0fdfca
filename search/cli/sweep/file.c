/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/cli/sweep/file.h"

#include "base/build.h"
#include "base/file.h"
#include "base/text/prose.h"
#include "search/options/machine_words.h"
#include "search/sweep/sweep.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const size_t PART_BYTES_MAX = (size_t)1 << 30;
enum { WHERE_SIZE = 192 };

bool sweep_table_new(const SweepHeader *header, Arena *arena, SweepTable *out, Error *error) {
    *out = (SweepTable){.header = header,
                        .rows = ARENA_NEW(arena, SweepRow, (size_t)header->grid.points),
                        .origin = ARENA_NEW(arena, const char *, (size_t)header->grid.points),
                        .part = ARENA_NEW(arena, const char *, (size_t)header->shards),
                        .arena = arena};
    return (out->rows && out->origin && out->part) || error_memory(error);
}

void sweep_table_free(SweepTable *table) {
    if (table->rows) sweep_rows_free(table->rows, table->header->grid.points);
}

bool sweep_shard_has(const SweepHeader *header, int64_t point) { return point % header->shards == header->shard - 1; }

/* ---- reading ---- */

/* A file in memory, as far as it is read. */
typedef struct {
    const char *path;
    char *text;
    size_t length, used;
    long line; /* the last one that was read, from 1 */
    char where[WHERE_SIZE];
} RowsFile;

static bool open_file(const char *path, Arena *arena, RowsFile *out, Error *error) {
    *out = (RowsFile){.path = path};
    return file_read(path, PART_BYTES_MAX, arena, &out->text, &out->length, error);
}

/* The next whole line, whose end is not of it; NULL: there is none. */
static const char *next_line(RowsFile *file, size_t *length) {
    const char *at = file->text + file->used, *end = memchr(at, '\n', file->length - file->used);
    if (!end) return NULL;
    *length = (size_t)(end - at);
    file->used += *length + 1;
    snprintf(file->where, sizeof file->where, "%.160s:%ld", file->path, ++file->line);
    return at;
}

static bool same_grid(const SweepGrid *a, const SweepGrid *b) {
    bool same = a->command == b->command && a->option_count == b->option_count;
    for (int i = 0; same && i < a->option_count; i++) {
        const SweepOption *x = &a->options[i], *y = &b->options[i];
        same = strcmp(x->option, y->option) == 0 && x->count == y->count;
        for (int v = 0; same && v < x->count; v++) same = strcmp(x->values[v], y->values[v]) == 0;
    }
    return same;
}

/* Whether rows under both headers may stand in one table. */
static bool belongs(const SweepHeader *header, const SweepHeader *to, const char *path, Error *error) {
    if (strcmp(header->version, to->version) != 0)
        return error_set(error, ERROR_INPUT, path, "was made by shardopt %.40s, not %.40s; give files of one version",
                         header->version, to->version);
    if (!same_grid(&header->grid, &to->grid))
        return error_set(error, ERROR_INPUT, path, "is of another grid; give files of one sweep");
    if (strcmp(header->data_sha256, to->data_sha256) != 0)
        return error_set(error, ERROR_INPUT, path,
                         "rests on other data files (%.12s, not %.12s); give files that were made with the same",
                         header->data_sha256, to->data_sha256);
    if (strcmp(header->files_sha256, to->files_sha256) != 0)
        return error_set(error, ERROR_INPUT, path,
                         "was made when a file that the grid names (model, profile or optimizer) was another; give "
                         "files that were made with the same");
    if (header->shards != to->shards)
        return error_set(error, ERROR_INPUT, path, "is one of %lld shards, not of %lld; give files of one sweep",
                         (long long)header->shards, (long long)to->shards);
    return true;
}

/* NULL: its rows do not belong into the table, as *error says. */
static const SweepHeader *read_header(RowsFile *file, const SweepTable *table, Error *error) {
    size_t length;
    const char *line = next_line(file, &length);
    SweepHeader *header = ARENA_NEW(table->arena, SweepHeader, 1);
    if (!header) return error_memory(error), NULL;
    if (!line) {
        error_set(error, ERROR_INPUT, file->path, "has no whole line; give a file of `shardopt sweep`");
        return NULL;
    }
    bool ok = sweep_header_read(line, length, file->where, table->arena, header, error) &&
              (!table->header || belongs(header, table->header, file->path, error));
    return ok ? header : NULL;
}

/* A point that is known already, or is not of the `shard`, is an error. */
static bool fits(const SweepTable *table, const SweepHeader *shard, int64_t point, const char *where, Error *error) {
    if (!sweep_shard_has(shard, point))
        return error_set(error, ERROR_INPUT, where,
                         "has point %lld, which is not of shard %lld/%lld; give the file as it was written",
                         (long long)point, (long long)shard->shard, (long long)shard->shards);
    return !table->rows[point].json ||
           error_set(error, ERROR_INPUT, where, "has point %lld again, which is in %.80s; give each once",
                     (long long)point, table->origin[point]);
}

/* The lines behind the header, as far as they are whole. */
static bool read_rows(RowsFile *file, const SweepHeader *shard, SweepTable *table, Error *error) {
    const char *origin = arena_text(table->arena, file->path), *line;
    size_t length;
    if (!origin) return error_memory(error);
    while ((line = next_line(file, &length)) != NULL) {
        SweepRow row;
        if (!sweep_row_read(&table->header->grid, line, length, file->where, &row, error)) return false;
        if (!fits(table, shard, row.point, file->where, error)) return sweep_rows_free(&row, 1), false;
        table->rows[row.point] = row;
        table->origin[row.point] = origin;
    }
    return true;
}

/* ---- parts ---- */

static bool take_part(RowsFile *file, SweepTable *table, Error *error) {
    const SweepHeader *header = read_header(file, table, error);
    if (!header) return false;
    if (!table->header && strcmp(header->version, program_version()) != 0)
        return error_set(error, ERROR_INPUT, file->path,
                         "was made by shardopt %.40s, and this is %s; merge with the version that made it",
                         header->version, program_version());
    if ((!table->header && !sweep_table_new(header, table->arena, table, error)) ||
        !read_rows(file, header, table, error))
        return false;
    if (file->used < file->length)
        return error_set(error, ERROR_INPUT, file->path,
                         "ends in the middle of a line: its sweep was stopped; finish it with --resume");
    const char **part = &table->part[header->shard - 1];
    if (*part)
        return error_set(error, ERROR_INPUT, file->path,
                         "is shard %lld/%lld again, which %.80s is already; give each once", (long long)header->shard,
                         (long long)header->shards, *part);
    *part = file->path;
    return true;
}

bool sweep_part_read(const char *path, SweepTable *table, Error *error) {
    Arena own = {0};
    RowsFile file;
    bool ok = open_file(path, &own, &file, error) && take_part(&file, table, error);
    arena_free(&own);
    return ok;
}

bool sweep_table_is_whole(const SweepTable *table, Error *error) {
    const SweepHeader *header = table->header;
    int64_t point = 0;
    while (point < header->grid.points && table->rows[point].json) point++;
    if (point == header->grid.points) return true;
    int64_t shard = point % header->shards;
    if (!table->part[shard])
        return error_set(error, ERROR_INPUT, "merge", "shard %lld/%lld is missing; give its part as well",
                         (long long)shard + 1, (long long)header->shards);
    return error_set(error, ERROR_INPUT, table->part[shard],
                     "has no point %lld: its sweep is not finished; finish it with --resume", (long long)point);
}

/* ---- the file of --resume ---- */

static bool fail(Error *error, const char *path, const char *what) {
    return error_set(error, ERROR_IO, path, "%s: %s", what, strerror(errno));
}

static bool write_all(int descriptor, const char *text, size_t length) {
    while (length > 0) {
        ssize_t written = write(descriptor, text, length);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return false;
        text += written;
        length -= (size_t)written;
    }
    return true;
}

static bool append(int descriptor, const char *line, size_t length) {
    return write_all(descriptor, line, length) && write_all(descriptor, "\n", 1) && fsync(descriptor) == 0;
}

/* A new file is on the disk when its folder is; where a file system refuses that there is nothing more to do. */
static void sync_folder_of(const char *path) {
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
    int descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) return;
    fsync(descriptor);
    close(descriptor);
}

/* Fresh, or stopped within its first line: the header is written anew. */
static bool start(const SweepResume *resume, const char *header, Error *error) {
    if (ftruncate(resume->descriptor, 0) != 0 || !append(resume->descriptor, header, strlen(header)))
        return fail(error, resume->path, "cannot be written");
    sync_folder_of(resume->path);
    return true;
}

static bool take_up(const SweepResume *resume, RowsFile *file, SweepTable *table, Error *error) {
    const SweepHeader *to = table->header, *found = read_header(file, table, error);
    if (!found) return false;
    if (found->shard != to->shard)
        return error_set(error, ERROR_INPUT, file->path, "is of shard %lld/%lld, not %lld/%lld; give a file of its own",
                         (long long)found->shard, (long long)found->shards, (long long)to->shard,
                         (long long)to->shards);
    if (!read_rows(file, found, table, error)) return false;
    return file->used == file->length || ftruncate(resume->descriptor, (off_t)file->used) == 0 ||
           fail(error, file->path, "cannot be written");
}

static bool open_regular(const char *path, SweepResume *out, Error *error) {
    struct stat status;
    *out = (SweepResume){
        .descriptor = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0666), .path = path};
    if (out->descriptor < 0 || fstat(out->descriptor, &status) != 0) return fail(error, path, "cannot be opened");
    if (!S_ISREG(status.st_mode))
        return error_set(error, ERROR_IO, path, "is a device, pipe or socket; give a regular file");
    /* Where a file system has no locks there is nothing to wait for. */
    if (flock(out->descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return error_set(error, ERROR_IO, path, "is in use by another sweep; wait for its end, or give another file");
    return true;
}

bool sweep_resume_open(const char *path, SweepTable *table, SweepResume *out, Error *error) {
    Arena own = {0};
    RowsFile file;
    const char *header = sweep_header_line(table->header, table->arena);
    bool ok = header || error_memory(error);
    ok = ok && open_regular(path, out, error) && open_file(path, &own, &file, error);
    if (ok && file.length <= strlen(header) && memcmp(file.text, header, file.length) == 0)
        ok = start(out, header, error);
    else if (ok)
        ok = take_up(out, &file, table, error);
    arena_free(&own);
    if (!ok) sweep_resume_close(out);
    return ok;
}

bool sweep_resume_append(const SweepResume *resume, const char *line, size_t length, Error *error) {
    return append(resume->descriptor, line, length) || fail(error, resume->path, "cannot be written");
}

void sweep_resume_close(SweepResume *resume) {
    if (resume->descriptor >= 0) close(resume->descriptor);
    resume->descriptor = -1;
}

/* ---- what `sweep` and `merge` have in common ---- */

bool sweep_output_read(const SweepOutputWords *words, SweepOutput *out, Error *error) {
    int format = SWEEP_TEXT;
    *out = (SweepOutput){.path = words->output, .quiet = words->quiet != NULL};
    if (!choice_read(words->format, "--format", "text json csv markdown html", &format, error) ||
        !sweep_goal_read(words->deadline, words->budget, &out->goal, error))
        return false;
    out->format = (SweepFormat)format;
    return !out->path || out->path[0] || error_set(error, ERROR_INPUT, "--output", "is empty; give a file");
}

static void warn(const SweepGrid *grid, const SweepRow *rows, FILE *err) {
    char clean[PROSE_SIZE];
    for (int64_t i = 0; i < grid->points; i++) {
        const char *warning = sweep_says(&rows[i], "warning");
        int64_t before = 0;
        if (!warning[0]) continue;
        while (before < i && strcmp(sweep_says(&rows[before], "warning"), warning) != 0) before++;
        if (before == i) fprintf(err, "shardopt: warning: %s\n", clean_text(warning, clean, sizeof clean));
    }
}

bool sweep_output_fits(const SweepGrid *grid, const SweepOutput *output, Error *error) {
    if (!grid->command) return true;
    return !sweep_goal_is(&output->goal) ||
           error_set(error, ERROR_INPUT, output->goal.deadline_seconds > 0 ? "--deadline" : "--budget",
                     "is of a training; leave it out");
}

bool sweep_answer(const SweepGrid *grid, const SweepRow *rows, const SweepOutput *output, Streams streams,
                  Error *error) {
    Draft draft;
    if (!output->quiet) warn(grid, rows, streams.err);
    if (!draft_open(&draft, error)) return false;
    bool ok = sweep_write(grid, rows, &output->goal, output->format,
                          (TextOut){draft.file, output_terminal(streams, output->path)}, error);
    return draft_write(&draft, ok, streams.out, output->path, error) && sweep_rows_agree(grid, rows, error);
}

int sweep_exit(const SweepGrid *grid, const SweepRow *rows, const SweepGoal *goal) {
    bool any = false;
    for (int64_t i = 0; i < grid->points; i++) {
        if (rows[i].state == POINT_NOT_PROVEN) return EXIT_LIMIT;
        any = any || sweep_has_plan(&rows[i]);
    }
    if (any && sweep_goal_is(goal)) {
        SweepChoice choice;
        sweep_choose(grid, rows, goal, &choice);
        any = choice.reach > 0;
    }
    return any ? EXIT_DONE : EXIT_NO_PLAN;
}
