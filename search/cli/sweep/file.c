/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/cli/sweep/file.h"

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
#include <sys/uio.h>
#include <unistd.h>

static const size_t PART_BYTES_MAX = (size_t)1 << 30;
enum { WHERE_SIZE = 192 };

bool sweep_table_new(const SweepHeader *header, Arena *arena, SweepTable *out, Error *error) {
    *out = (SweepTable){.header = header,
                        .rows = ARENA_NEW(arena, SweepRow, (size_t)header->grid.points),
                        .origin = ARENA_NEW(arena, const char *, (size_t)header->grid.points),
                        .arena = arena};
    return (out->rows && out->origin) || error_memory(error);
}

void sweep_table_free(SweepTable *table) {
    if (table->rows) sweep_rows_free(table->rows, table->header->grid.points);
}

bool sweep_shard_has(const SweepHeader *header, int64_t point) { return point % header->shards == header->shard - 1; }

/* Takes one row; a point that is known already, or is not of the `shard`, is an error. */
static bool take(SweepTable *table, const SweepHeader *shard, SweepRow *row, const char *where, const char *origin,
                 Error *error) {
    long long point = row->point;
    if (!sweep_shard_has(shard, point))
        return error_set(error, ERROR_INPUT, where,
                         "has point %lld, which is not of shard %lld/%lld; give the file as it was written", point,
                         (long long)shard->shard, (long long)shard->shards);
    if (table->rows[point].json)
        return error_set(error, ERROR_INPUT, where, "has point %lld again, which is in %.80s; give each once", point,
                         table->origin[point]);
    table->rows[point] = *row;
    table->origin[point] = origin;
    return true;
}

/* ---- headers ---- */

static bool same_options(const SweepGrid *a, const SweepGrid *b) {
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
    if (!same_options(&header->grid, &to->grid))
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

/* ---- reading ---- */

static bool read_header(const char *path, const char *text, size_t length, Arena *arena, SweepHeader *out, size_t *used,
                        Error *error) {
    char where[WHERE_SIZE];
    const char *end = memchr(text, '\n', length);
    snprintf(where, sizeof where, "%.160s:1", path);
    if (!end) return error_set(error, ERROR_INPUT, path, "has no whole line; give a file of `shardopt sweep`");
    *used = (size_t)(end - text) + 1;
    return sweep_header_read(text, *used - 1, where, arena, out, error);
}

/* The lines behind the header, as far as they are whole: *used bytes of them. */
static bool read_rows(const char *path, const char *text, size_t length, SweepTable *table, const SweepHeader *shard,
                      size_t *used, Error *error) {
    const char *origin = arena_text(table->arena, path), *end;
    if (!origin) return error_memory(error);
    *used = 0;
    for (long line = 2; (end = memchr(text + *used, '\n', length - *used)) != NULL; line++) {
        char where[WHERE_SIZE];
        size_t size = (size_t)(end - text) - *used;
        snprintf(where, sizeof where, "%.160s:%ld", path, line);
        SweepRow row;
        if (!sweep_row_read(&table->header->grid, text + *used, size, where, &row, error)) return false;
        if (!take(table, shard, &row, where, origin, error)) return sweep_rows_free(&row, 1), false;
        *used += size + 1;
    }
    return true;
}

bool sweep_part_header(const char *path, Arena *arena, SweepHeader *out, Error *error) {
    Arena own = {0};
    char *text;
    size_t length, used;
    bool ok = file_read(path, PART_BYTES_MAX, &own, &text, &length, error) &&
              read_header(path, text, length, arena, out, &used, error);
    arena_free(&own);
    return ok;
}

bool sweep_part_read(const char *path, SweepTable *table, SweepHeader *out, Error *error) {
    Arena own = {0};
    char *text;
    size_t length, header = 0, rows = 0;
    bool ok = file_read(path, PART_BYTES_MAX, &own, &text, &length, error) &&
              read_header(path, text, length, table->arena, out, &header, error) &&
              belongs(out, table->header, path, error) &&
              read_rows(path, text + header, length - header, table, out, &rows, error);
    if (ok && header + rows < length)
        ok = error_set(error, ERROR_INPUT, path,
                       "ends in the middle of a line: its sweep was stopped; finish it with --resume");
    arena_free(&own);
    return ok;
}

/* ---- the file of --resume ---- */

static bool fail(Error *error, const char *path, const char *what) {
    return error_set(error, ERROR_IO, path, "%s: %s", what, strerror(errno));
}

static bool append(int descriptor, const char *line, size_t length) {
    struct iovec rest[2] = {{(void *)line, length}, {(void *)"\n", 1}};
    while (rest[1].iov_len > 0) {
        ssize_t written = writev(descriptor, rest, 2);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return false;
        for (int i = 0; i < 2; i++) {
            size_t part = (size_t)written < rest[i].iov_len ? (size_t)written : rest[i].iov_len;
            rest[i].iov_base = (char *)rest[i].iov_base + part;
            rest[i].iov_len -= part;
            written -= (ssize_t)part;
        }
    }
    return fsync(descriptor) == 0;
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

static bool take_up(const SweepResume *resume, const char *text, size_t length, SweepTable *table, Error *error) {
    SweepHeader found;
    size_t header = 0, rows = 0;
    const char *path = resume->path;
    if (!read_header(path, text, length, table->arena, &found, &header, error) ||
        !belongs(&found, table->header, path, error))
        return false;
    if (found.shard != table->header->shard)
        return error_set(error, ERROR_INPUT, path, "is of shard %lld/%lld, not %lld/%lld; give a file of its own",
                         (long long)found.shard, (long long)found.shards, (long long)table->header->shard,
                         (long long)table->header->shards);
    if (!read_rows(path, text + header, length - header, table, &found, &rows, error)) return false;
    return header + rows == length || ftruncate(resume->descriptor, (off_t)(header + rows)) == 0 ||
           fail(error, path, "cannot be written");
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
    char *text;
    size_t length;
    const char *header = sweep_header_line(table->header, table->arena);
    bool ok = header || error_memory(error);
    ok = ok && open_regular(path, out, error) && file_read(path, PART_BYTES_MAX, &own, &text, &length, error);
    if (ok && length <= strlen(header) && memcmp(text, header, length) == 0)
        ok = start(out, header, error);
    else if (ok)
        ok = take_up(out, text, length, table, error);
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

bool sweep_format_parse(const char *text, SweepFormat *out, Error *error) {
    int format = SWEEP_TEXT;
    bool ok = choice_read(text, "--format", "text json csv markdown html", &format, error);
    *out = (SweepFormat)format;
    return ok;
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
