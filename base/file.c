/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/file.h"
#include "base/build.h"
#include "base/data_index.h"

#include "base/util.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The build says where its sources are and where it installs; without it, only the other places are searched. */
enum { FILES_MAX = 1 << 16, TEMPORARY_TRIES = 100, INPUT_BYTES_MAX = 1 << 30 };

static bool fail(Error *error, const char *path, const char *what) {
    if (errno == ENOMEM) return error_memory(error);
    bool machine = errno == EIO || errno == EMFILE || errno == ENFILE;
    return error_set(error, machine ? ERROR_MACHINE : ERROR_IO, path, "%s: %s", what, strerror(errno));
}

bool file_names_json(const char *argument) {
    return strchr(argument, '/') || (text_ends_in(argument, ".json") && strcmp(argument, ".json") != 0);
}

const char *file_base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

bool file_is_folder(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

bool file_is_there(const char *path) {
    struct stat status;
    return stat(path, &status) == 0;
}

const char *file_of_name(const char *folder, const char *name, Arena *arena, Error *error) {
    const char *path = arena_format(arena, "%s/%s.json", folder, name);
    if (!path) return error_memory(error), NULL;
    return file_is_there(path) ? path : "";
}

/* Fills at most `size` bytes and puts together the pieces that read() gives. Returns false when errno says why. */
static bool read_up_to(int descriptor, char *to, size_t size, size_t *length) {
    *length = 0;
    while (*length < size) {
        ssize_t got = read(descriptor, to + *length, size - *length);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return false;
        if (got == 0) break;
        *length += (size_t)got;
    }
    return true;
}

static bool read_regular(int descriptor, const char *path, size_t limit, Arena *arena, char **text, size_t *length,
                         Error *error) {
    struct stat status;
    if (fstat(descriptor, &status) != 0) return fail(error, path, "cannot be read");
    if (!S_ISREG(status.st_mode))
        return error_set(error, ERROR_IO, path, "is %s; give a regular file",
                         S_ISDIR(status.st_mode) ? "a folder" : "a device, pipe or socket");
    if (status.st_size < 0 || (uintmax_t)status.st_size > limit)
        return error_set(error, ERROR_IO, path, "has %lld bytes; at most %zu are read", (long long)status.st_size,
                         limit);
    size_t size = (size_t)status.st_size;
    char *bytes = arena_alloc(arena, size + 1, 1), more;
    if (!bytes) return error_memory(error);
    size_t got, extra;
    if (!read_up_to(descriptor, bytes, size, &got) || !read_up_to(descriptor, &more, 1, &extra))
        return fail(error, path, "cannot be read");
    if (got != size || extra != 0)
        return error_set(error, ERROR_IO, path, "changed its size while it was read; try again when it is at rest");
    *text = bytes;
    *length = size;
    return true;
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

/* Standard input as something that can be read again: what comes through a pipe is copied to memory that takes its
 * place, since a report is read once to see what it is and once more for its plan. False: errno says why. */
static bool keep_input(void) {
    struct stat status;
    if (fstat(STDIN_FILENO, &status) != 0) return false;
    if (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode)) return true;
    int memory = memfd_create("stdin", MFD_CLOEXEC);
    char piece[1 << 16];
    size_t got = 0, all = 0;
    bool ok = memory >= 0;
    do {
        ok = ok && read_up_to(STDIN_FILENO, piece, sizeof piece, &got) && write_all(memory, piece, got);
        all += got;
    } while (ok && got == sizeof piece && all < INPUT_BYTES_MAX);
    ok = ok && dup2(memory, STDIN_FILENO) >= 0;
    if (memory >= 0) close(memory);
    return ok;
}

bool file_read(const char *path, size_t limit, Arena *arena, char **text, size_t *length, Error *error) {
    bool input = strcmp(path, "-") == 0;
    if (input && !keep_input()) return fail(error, "standard input", "cannot be read");
    /* The open does not block: a pipe without a writer must not hold the program; regular files do not notice. */
    int descriptor = open(input ? "/dev/stdin" : path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (descriptor < 0) return fail(error, path, "cannot be opened");
    bool ok = read_regular(descriptor, path, limit, arena, text, length, error);
    close(descriptor);
    return ok;
}

/* A terminal, a pipe and /dev/null are written directly: there is no file to rename onto. We append, because
 * /dev/stdout may be a file that the shell made with >>. */
static bool write_directly(const char *path, const char *text, size_t length, Error *error) {
    int descriptor = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY);
    if (descriptor < 0) return fail(error, path, "cannot be opened for writing");
    bool ok = write_all(descriptor, text, length);
    if (!ok) fail(error, path, "cannot be written");
    if (close(descriptor) != 0 && ok) ok = fail(error, path, "cannot be written");
    return ok;
}

/* The temporaries that are there now, for file_leave_nothing(): most often one. What is more than the list holds is not
 * removed when a signal ends the program. */
enum { TEMPORARIES_MAX = 8 };
enum { SLOT_FREE, SLOT_TAKEN, SLOT_HOLDS };
static struct {
    atomic_int state;
    char name[PATH_MAX];
} temporaries[TEMPORARIES_MAX];

static void temporary_note(const char *name) {
    for (int i = 0; i < TEMPORARIES_MAX; i++) {
        int expected = SLOT_FREE;
        if (!atomic_compare_exchange_strong(&temporaries[i].state, &expected, SLOT_TAKEN)) continue;
        snprintf(temporaries[i].name, sizeof temporaries[i].name, "%s", name);
        atomic_store(&temporaries[i].state, SLOT_HOLDS);
        return;
    }
}

static void temporary_forget(const char *name) {
    for (int i = 0; i < TEMPORARIES_MAX; i++)
        if (atomic_load(&temporaries[i].state) == SLOT_HOLDS && strcmp(temporaries[i].name, name) == 0)
            atomic_store(&temporaries[i].state, SLOT_FREE);
}

void file_leave_nothing(void) {
    for (int i = 0; i < TEMPORARIES_MAX; i++)
        if (atomic_load(&temporaries[i].state) == SLOT_HOLDS) unlink(temporaries[i].name);
}

/* Creates a file next to `path` that nobody else has, and writes its name to `name`. The umask decides its mode, unless
 * there is an old file, whose mode is kept. */
static int temporary_open(const char *folder, const struct stat *old, char *name, size_t size) {
    for (int i = 0; i < TEMPORARY_TRIES; i++) {
        int length = snprintf(name, size, "%s/.shardopt-%ld-%d.tmp", folder, (long)getpid(), i);
        if (length < 0 || (size_t)length >= size) {
            errno = ENAMETOOLONG;
            return -1;
        }
        int descriptor = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (descriptor >= 0 && old && fchmod(descriptor, old->st_mode & 0777) != 0)
            errno = 0; /* the mode is not ours to set */
        if (descriptor >= 0) temporary_note(name);
        if (descriptor >= 0 || errno != EEXIST) return descriptor;
    }
    return -1;
}

/* The rename is on the disk when its folder is; where a file system refuses that, there is nothing more to do. */
static void sync_folder(const char *folder) {
    int descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) return;
    fsync(descriptor);
    close(descriptor);
}

/* The temporary file next to the target that receives the bytes. */
typedef struct {
    char folder[PATH_MAX], name[PATH_MAX], target[PATH_MAX]; /* target: the path with every link followed */
} TemporaryFile;

/* Returns the descriptor of a new file next to temporary->target; -1 means that errno says why there is none. */
static int temporary_file_open(TemporaryFile *temporary, const struct stat *old) {
    const char *slash = strrchr(temporary->target, '/');
    int length = slash ? (int)(slash - temporary->target) : 1;
    snprintf(temporary->folder, sizeof temporary->folder, "%.*s", length, slash ? temporary->target : ".");
    if (temporary->folder[0] == '\0') snprintf(temporary->folder, sizeof temporary->folder, "/.");
    return temporary_open(temporary->folder, old, temporary->name, sizeof temporary->name);
}

/* Renames the file onto the target, or removes it. */
static bool temporary_file_end(const TemporaryFile *temporary, const char *path, bool ok, Error *error) {
    if (ok && rename(temporary->name, temporary->target) != 0) ok = fail(error, path, "cannot be written");
    if (!ok) unlink(temporary->name);
    temporary_forget(temporary->name);
    if (ok) sync_folder(temporary->folder);
    return ok;
}

static bool write_renamed(TemporaryFile *temporary, const char *path, const struct stat *old, const char *text,
                          size_t length, Error *error) {
    int descriptor = temporary_file_open(temporary, old);
    if (descriptor < 0) return fail(error, path, "cannot be written");
    bool ok = write_all(descriptor, text, length) && fsync(descriptor) == 0;
    if (!ok) fail(error, path, "cannot be written");
    if (close(descriptor) != 0 && ok) ok = fail(error, path, "cannot be written");
    return temporary_file_end(temporary, path, ok, error);
}

/* Follows the links at the end of a path to what is no link, whether that is there or not. False: errno says why. */
static bool follow(const char *path, char target[PATH_MAX]) {
    enum { LINKS_MAX = 40 };
    char link[PATH_MAX];
    if (strlen(path) >= PATH_MAX) return errno = ENAMETOOLONG, false;
    strcpy(target, path);
    for (int i = 0; i < LINKS_MAX; i++) {
        ssize_t length = readlink(target, link, sizeof link - 1);
        if (length < 0) return errno == EINVAL || errno == ENOENT; /* no link, or nothing */
        link[length] = '\0';
        const char *slash = strrchr(target, '/');
        size_t folder = link[0] == '/' || !slash ? 0 : (size_t)(slash - target) + 1;
        if (folder + (size_t)length >= PATH_MAX) return errno = ENAMETOOLONG, false;
        memcpy(target + folder, link, (size_t)length + 1);
    }
    return errno = ELOOP, false;
}

/* What distinguishes a file from others: itself, or the folder that it will be in. */
static bool stat_folder(const char *target, struct stat *out) {
    char folder[PATH_MAX];
    const char *slash = strrchr(target, '/');
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - target) + 1 : 1, slash ? target : ".");
    return stat(folder, out) == 0;
}

bool file_same(const char *a, const char *b) {
    char targets[2][PATH_MAX];
    struct stat status[2];
    if (!follow(a, targets[0]) || !follow(b, targets[1])) return false;
    bool there[2] = {stat(targets[0], &status[0]) == 0, stat(targets[1], &status[1]) == 0};
    if (there[0] != there[1]) return false;
    if (there[0] && !S_ISREG(status[0].st_mode)) return false; /* a terminal, a pipe: nothing is lost in it */
    if (!there[0]) {
        const char *slash[2] = {strrchr(targets[0], '/'), strrchr(targets[1], '/')};
        if (strcmp(slash[0] ? slash[0] + 1 : targets[0], slash[1] ? slash[1] + 1 : targets[1]) != 0) return false;
        if (!stat_folder(targets[0], &status[0]) || !stat_folder(targets[1], &status[1])) return false;
    }
    return status[0].st_dev == status[1].st_dev && status[0].st_ino == status[1].st_ino;
}

/* Finds where a path leads and whether that can be written. If *exists, *old describes the file that is there; *direct
 * means that the target cannot be renamed onto. */
static bool resolve(const char *path, char target[PATH_MAX], struct stat *old, bool *exists, bool *direct,
                    Error *error) {
    *exists = stat(path, old) == 0;
    if (!*exists && errno != ENOENT) return fail(error, path, "cannot be written");
    if (strlen(path) == 0 || strlen(path) >= PATH_MAX)
        return error_set(error, ERROR_IO, path, "is no path; give a name of 1 to %d bytes", PATH_MAX - 1);
    if (*exists && S_ISDIR(old->st_mode))
        return error_set(error, ERROR_IO, path, "is a folder; give the name of a file");
    bool is_stream = strncmp(path, "/dev/", 5) == 0 || strncmp(path, "/proc/", 6) == 0;
    *direct = *exists && (is_stream || !S_ISREG(old->st_mode));
    if (*direct) return true;
    if (*exists ? !realpath(path, target) : !follow(path, target)) return fail(error, path, "cannot be written");
    /* A rename needs only the permission of the folder; a write-protected file must be refused all the same. */
    return !*exists || access(target, W_OK) == 0 || fail(error, path, "cannot be written");
}

bool file_write(const char *path, const char *text, size_t length, Error *error) {
    struct stat status;
    TemporaryFile temporary;
    bool exists, direct;
    if (!resolve(path, temporary.target, &status, &exists, &direct, error)) return false;
    if (direct) return write_directly(path, text, length, error);
    return write_renamed(&temporary, path, exists ? &status : NULL, text, length, error);
}

struct FileStream {
    FILE *out;
    bool direct;
    char path[PATH_MAX]; /* the path as errors name it */
    TemporaryFile temporary;
};

FileStream *file_stream_open(const char *path, Error *error) {
    struct stat status;
    bool exists;
    int descriptor;
    FileStream *stream = calloc(1, sizeof *stream);
    if (!stream) return error_memory(error), NULL;
    if (!resolve(path, stream->temporary.target, &status, &exists, &stream->direct, error)) goto failed;
    snprintf(stream->path, sizeof stream->path, "%s", path);
    descriptor = stream->direct ? open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY)
                                : temporary_file_open(&stream->temporary, exists ? &status : NULL);
    stream->out = descriptor < 0 ? NULL : fdopen(descriptor, "w");
    if (stream->out) return stream;
    fail(error, path, "cannot be written");
    if (descriptor >= 0) close(descriptor);
    if (descriptor >= 0 && !stream->direct) unlink(stream->temporary.name), temporary_forget(stream->temporary.name);
failed:
    free(stream);
    return NULL;
}

FILE *file_stream_out(FileStream *stream) { return stream->out; }

bool file_stream_close(FileStream *stream, bool keep, Error *error) {
    bool ok = keep && !ferror(stream->out) && fflush(stream->out) == 0;
    ok = ok && (stream->direct || fsync(fileno(stream->out)) == 0);
    if (keep && !ok) fail(error, stream->path, "cannot be written");
    if (fclose(stream->out) != 0 && ok) ok = fail(error, stream->path, "cannot be written");
    if (!stream->direct) ok = temporary_file_end(&stream->temporary, stream->path, ok, error);
    free(stream);
    return ok;
}

/* Returns base/name if it is a folder, else NULL. */
static const char *folder_in(const char *base, const char *name, Arena *arena, bool *memory_out) {
    if (!base || base[0] == '\0') return NULL;
    const char *folder = arena_format(arena, "%s/%s", base, name);
    if (!folder) *memory_out = true;
    return folder && file_is_folder(folder) ? folder : NULL;
}

const char *file_own_program(Arena *arena) {
    char program[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length > 0) return arena_format(arena, "%.*s", (int)length, program);
    const char *started = (const char *)getauxval(AT_EXECFN); /* a root without /proc still has that */
    return started ? arena_text(arena, started) : NULL;
}

/* Returns PREFIX/share/shardopt for a program that runs as PREFIX/bin/shardopt; NULL means that the program cannot be
 * found. */
static const char *share_beside_program(Arena *arena) {
    const char *program = file_own_program(arena), *slash = program ? strrchr(program, '/') : NULL;
    return slash ? arena_format(arena, "%.*s/../share/shardopt", (int)(slash - program), program) : NULL;
}

static bool is_same_folder(const char *a, const char *b) {
    struct stat status[2];
    return a && b && a[0] && b[0] && stat(a, &status[0]) == 0 && stat(b, &status[1]) == 0 &&
           status[0].st_dev == status[1].st_dev && status[0].st_ino == status[1].st_ino;
}

const char *file_data_index(const char *folder, const char *name, Arena *arena) {
    const char *base = arena_format(arena, "%.*s", (int)(strlen(folder) - strlen(name) - 1), folder);
    if (!base) return NULL;
    if (is_same_folder(base, program_source_data())) return program_source_index();
    bool own = is_same_folder(base, share_beside_program(arena)) || is_same_folder(base, program_install_data());
    return own ? arena_format(arena, "%s/" INDEX_FILE, base) : "";
}

const char *file_data_folder(const char *name, Arena *arena, Error *error) {
    const char *chosen = getenv("SHARDOPT_DATA");
    bool is_chosen = chosen && chosen[0] != '\0', memory_out = false;
    /* A program that is installed with its data uses that data, even where the tree it was built from still stands. */
    const char *bases[] = {is_chosen ? chosen : share_beside_program(arena), program_source_data(),
                           program_install_data()};
    const char *folder = NULL;
    for (size_t i = 0; i < (is_chosen ? 1 : COUNT_OF(bases)) && !folder && !memory_out; i++)
        folder = folder_in(bases[i], name, arena, &memory_out);
    if (memory_out) return error_memory(error), NULL;
    if (!folder && is_chosen)
        error_set(error, ERROR_IO, "SHARDOPT_DATA", "%s has no folder %s; name the folder that holds shardopt's data",
                  chosen, name);
    else if (!folder)
        error_set(error, ERROR_IO, name,
                  "no such data folder next to the program, in %s%s%s; set SHARDOPT_DATA to the folder that holds it",
                  program_source_data(), program_source_data()[0] ? " or " : "", program_install_data());
    return folder;
}

static bool is_regular_in(DIR *folder, const char *name) {
    struct stat status;
    return fstatat(dirfd(folder), name, &status, 0) == 0 && S_ISREG(status.st_mode);
}

/* Collects the names into `list`, which grows in the arena; the waste is small for a folder of files. */
static bool collect(DIR *stream, const char *folder, const char *suffix, Arena *arena, char ***list, size_t *count,
                    Error *error) {
    size_t room = 64;
    *count = 0;
    *list = ARENA_NEW(arena, char *, room);
    if (!*list) return error_memory(error);
    for (;;) {
        errno = 0;
        const struct dirent *entry = readdir(stream);
        if (!entry) return errno == 0 || fail(error, folder, "cannot be listed");
        if (entry->d_name[0] == '.' || !text_ends_in(entry->d_name, suffix) || !is_regular_in(stream, entry->d_name))
            continue;
        if (*count == FILES_MAX) return error_set(error, ERROR_IO, folder, "has more than %d files", FILES_MAX);
        if (*count == room) {
            char **larger = ARENA_NEW(arena, char *, 2 * room);
            if (!larger) return error_memory(error);
            memcpy(larger, *list, room * sizeof *larger);
            *list = larger;
            room *= 2;
        }
        char *name = arena_text(arena, entry->d_name);
        if (!name) return error_memory(error);
        (*list)[(*count)++] = name;
    }
}

bool file_list(const char *folder, const char *suffix, Arena *arena, char ***names, size_t *count, Error *error) {
    DIR *stream = opendir(folder);
    if (!stream) return fail(error, folder, "cannot be listed");
    char **list = NULL;
    size_t found = 0;
    bool ok = collect(stream, folder, suffix, arena, &list, &found, error);
    closedir(stream);
    if (!ok) return false;
    qsort(list, found, sizeof *list, order_text);
    *names = list;
    *count = found;
    return true;
}
