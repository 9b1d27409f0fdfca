/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/cli/commands/laboratory.h"

#include "base/file.h"
#include "base/util.h"
#include "search/cli/command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NO_PYTHON = 127, PIECE = 1 << 16 };

/* In the child: only calls that are safe after a fork of a program with threads. */
static _Noreturn void become_python(int out, char **argv, pid_t parent) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent || dup2(out, STDOUT_FILENO) < 0) _exit(EXIT_DEFECT);
    signal(SIGINT, SIG_DFL);
    execvp(argv[0], argv);
    _exit(errno == ENOENT || errno == EACCES || errno == ENOTDIR ? NO_PYTHON : EXIT_DEFECT);
}

/* Appends what comes until the other end is closed. */
static bool read_to_end(int in, Arena *arena, LaboratoryAnswer *out, Error *error) {
    size_t room = PIECE;
    out->text = ARENA_NEW(arena, char, room);
    while (out->text) {
        ssize_t got = read(in, out->text + out->length, room - out->length - 1);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return error_set(error, ERROR_MACHINE, "python3", "cannot be read: %s", strerror(errno));
        if (got == 0) return true;
        out->length += (size_t)got;
        if (room - out->length > 1) continue;
        char *larger = ARENA_NEW(arena, char, 2 * room);
        if (larger) memcpy(larger, out->text, out->length);
        out->text = larger;
        room *= 2;
    }
    return error_memory(error);
}

static bool read_status(int status, LaboratoryAnswer *out, Error *error) {
    out->code = WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_DEFECT;
    if (out->code == EXIT_DONE || out->code == EXIT_USAGE) return true;
    if (out->code == LABORATORY_NEEDS || out->code == NO_PYTHON)
        return error_set(error, ERROR_INPUT, "calibrate",
                         "needs Python with numpy and scipy: apt install python3-scipy, or pip install scipy");
    if (WIFSIGNALED(status))
        return error_set(error, ERROR_INTERNAL, "python3", "was ended by signal %d", WTERMSIG(status));
    return error_set(error, ERROR_INTERNAL, "python3", "failed with exit code %d", out->code);
}

/* `python3 -B SCRIPT --shardopt PROGRAM WORDS...`; -B: the data folder stays as it is. NULL: memory is out, or the
 * path of the program is not known. */
static char **argv_of(const char *script, const char *const *words, Arena *arena, Error *error) {
    char **argv = ARENA_NEW(arena, char *, LABORATORY_WORDS_MAX + 6);
    const char *program = file_own_program(arena);
    if (!argv || !program) return error_memory(error), NULL;
    const char *first[] = {"python3", "-B", script, "--shardopt", program};
    size_t count = 0;
    for (; count < COUNT_OF(first); count++) argv[count] = arena_text(arena, first[count]);
    for (; *words; words++) argv[count++] = arena_text(arena, *words);
    for (size_t i = 0; i < count; i++)
        if (!argv[i]) return error_memory(error), NULL;
    return argv;
}

bool laboratory_run(const char *script, const char *const *words, Arena *arena, LaboratoryAnswer *out, Error *error) {
    int ends[2], status = 0;
    *out = (LaboratoryAnswer){0};
    char **argv = argv_of(script, words, arena, error);
    if (!argv) return false;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return error_set(error, ERROR_MACHINE, "python3", "cannot be started: %s", strerror(errno));
    pid_t parent = getpid(), child = fork();
    if (child == 0) become_python(ends[1], argv, parent);
    close(ends[1]);
    bool ok = child > 0 || error_set(error, ERROR_MACHINE, "python3", "cannot be started: %s", strerror(errno));
    ok = ok && read_to_end(ends[0], arena, out, error);
    close(ends[0]); /* where reading failed, the child ends by the closed pipe */
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    return ok && read_status(status, out, error);
}
