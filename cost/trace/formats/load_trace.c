/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/file.h"
#include "base/util.h"
#include "cost/trace/formats/formats.h"

#include <stdlib.h>
#include <string.h>

int64_t trace_rank_of_name(const char *path) {
    static const char *const BEFORE[] = {"rank", "worker", "kineto"};
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    for (size_t i = 0; i < COUNT_OF(BEFORE); i++) {
        const char *at = strcasestr(name, BEFORE[i]);
        if (!at) continue;
        at += strlen(BEFORE[i]);
        at += strspn(at, "-_.=");
        size_t digits = strspn(at, "0123456789");
        if (digits > 0 && digits < 10) return strtoll(at, NULL, 10);
    }
    return -1;
}

static const char *const SUFFIXES[] = {".json", ".json.gz", ".sqlite", ".xplane.pb"};

/* XProf writes the same trace twice: the JSON is made of the XSpace alongside it, and cut. */
static bool is_made_of_another(const char *name, char *const *names, size_t count) {
    static const char JSON[] = ".trace.json.gz", SPACE[] = ".xplane.pb";
    if (!text_ends_in(name, JSON)) return false;
    size_t length = strlen(name) - strlen(JSON);
    for (size_t i = 0; i < count; i++)
        if (strlen(names[i]) == length + strlen(SPACE) && memcmp(names[i], name, length) == 0 &&
            text_ends_in(names[i], SPACE))
            return true;
    return false;
}

bool trace_folder_list(const char *folder, Arena *arena, const char ***paths, size_t *count, Error *error) {
    char **names;
    size_t found;
    *count = 0;
    if (!file_list(folder, "", arena, &names, &found, error)) return false;
    *paths = ARENA_NEW(arena, const char *, found + 1);
    if (!*paths) return error_memory(error);
    for (size_t i = 0; i < found; i++) {
        bool known = false;
        for (size_t s = 0; s < COUNT_OF(SUFFIXES); s++) known = known || text_ends_in(names[i], SUFFIXES[s]);
        if (!known || is_made_of_another(names[i], names, found)) continue;
        if (!((*paths)[*count] = arena_format(arena, "%s/%s", folder, names[i]))) return error_memory(error);
        ++*count;
    }
    return *count > 0 || error_set(error, ERROR_INPUT, folder,
                                   "holds no traces (files that end in .json, .json.gz, .sqlite, .xplane.pb)");
}

/* A source whose first bytes were looked at, and are given again. */
enum { HEAD = 15 };
typedef struct {
    ByteSource source;
    const char *head;
    size_t left;
} Peeked;

static ptrdiff_t read_peeked(void *context, char *bytes, size_t room) {
    Peeked *peeked = context;
    if (peeked->left == 0) return peeked->source.read(peeked->source.context, bytes, room);
    size_t count = peeked->left < room ? peeked->left : room;
    memcpy(bytes, peeked->head, count);
    peeked->head += count;
    peeked->left -= count;
    return (ptrdiff_t)count;
}

/* Opens a file, and gets its first HEAD bytes, with zeroes after those that there are. */
static bool peek(const char *path, Peeked *out, char head[HEAD + 1], Error *error) {
    *out = (Peeked){.head = head};
    memset(head, 0, HEAD + 1);
    if (!byte_source_open(path, &out->source, error)) return false;
    while (out->left < HEAD) {
        ptrdiff_t got = out->source.read(out->source.context, head + out->left, HEAD - out->left);
        if (got <= 0) break;
        out->left += (size_t)got;
    }
    return true;
}

/* The first plane of an XSpace, and no JSON that begins with a new line. */
static bool is_binary(const char *head) { return head[0] == '\n' && head[1] && !strchr(" \n\r\t{[", head[1]); }

bool trace_file_is_log(const char *path, bool *is_log, Error *error) {
    char head[HEAD + 1];
    Peeked source;
    *is_log = false;
    if (strcmp(path, "-") == 0) return true; /* a stream is read once: it is a trace */
    if (!peek(path, &source, head, error)) return false;
    byte_source_close(&source.source);
    *is_log = step_log_begins(head) && memcmp(head, "SQLite format 3", HEAD) != 0 && !text_ends_in(path, ".pb");
    return true;
}

bool trace_log_read(const char *path, StepLog *out, Error *error) {
    ByteSource source;
    if (!byte_source_open(path, &source, error)) return false;
    bool ok = step_log_read(source, path, out, error);
    byte_source_close(&source);
    return ok;
}

bool trace_file_read(const char *path, Recording *out, Error *error) {
    bool ok = false;
    char head[HEAD + 1];
    Peeked source;
    if (!peek(path, &source, head, error)) return false;
    if (memcmp(head, "SQLite format 3", HEAD) == 0)
        ok = nsight_read_file(path, out, error);
    else if (text_ends_in(path, ".pb") || is_binary(head)) {
        out->rank = trace_rank_of_name(path); /* devices are handed over while it is read */
        ok = xplane_read((ByteSource){read_peeked, &source}, path, out, error);
    } else
        ok = chrome_read((ByteSource){read_peeked, &source}, path, out, error);
    byte_source_close(&source.source);
    if (ok && out->rank < 0) out->rank = trace_rank_of_name(path);
    return ok;
}
