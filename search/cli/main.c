/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/file.h"
#include "search/cli/command.h"
#include "search/shardopt.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

/* Results are written to a new file and renamed: nothing is to be put right but the file that was not yet renamed. */
static void interrupted(int number) {
    (void)number;
    file_leave_nothing();
    _exit(EXIT_INTERRUPTED);
}

/* Ends as the signal would have ended us, so that whoever sent it sees that. */
static void terminated(int number) {
    file_leave_nothing();
    signal(number, SIG_DFL);
    raise(number);
}

static void handle(int number, void (*handler)(int)) {
    struct sigaction old;
    if (sigaction(number, NULL, &old) != 0 || old.sa_handler == SIG_IGN) return;
    sigaction(number, &(struct sigaction){.sa_handler = handler, .sa_flags = SA_NODEFER}, NULL);
}

/* Services and the like start programs with descriptors closed. The first file that we open would be our standard
 * output then, and what is printed would stand in it. A closed one is taken by /dev/null, so that reading and
 * writing fail as before. */
static bool take_descriptors(void) {
    for (int i = 0; i <= STDERR_FILENO; i++)
        if (fcntl(i, F_GETFD) == -1 && errno == EBADF &&
            open("/dev/null", i == STDIN_FILENO ? O_WRONLY : O_RDONLY) != i)
            return false;
    return true;
}

/* libgomp and popt end the program themselves where they get no memory or no thread, with the exit code that says of a
 * gate that it failed. */
static bool returned;
static void left_by_a_library(void) {
    if (returned) return;
    file_leave_nothing();
    _exit(EXIT_DEFECT);
}

/* Searches take and give back tables of some megabytes for every degree tuple: from the heap, not from the kernel each
 * time (15% of the run). */
static void keep_memory(void) {
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    mallopt(M_TOP_PAD, 16 << 20);
#endif
}

/* kB that OMP_STACKSIZE says: digits, and b, k (which is meant where nothing stands), m or g. */
static unsigned long long said_kilobytes(const char *text) {
    unsigned long long size = 0;
    while (*text == ' ') text++;
    for (; *text >= '0' && *text <= '9' && size < 1ull << 40; text++) size = 10 * size + (unsigned)(*text - '0');
    int unit = *text | ' ';
    return unit == 'b' ? size >> 10 : unit == 'm' ? size << 10 : unit == 'g' ? size << 20 : size;
}

/* A thread of a search needs some 130 kB of stack. An environment that gives less is corrected before libgomp
 * reads it, which it does when it is loaded: only what .preinit_array names is earlier. */
static void enough_stack(int argc, char **argv, char **environment) {
    static char least[] = "OMP_STACKSIZE=512k", least_of_gnu[] = "GOMP_STACKSIZE=512k";
    (void)argc, (void)argv;
    for (char **at = environment; *at; at++) {
        char *mine = strncmp(*at, least, 14) == 0 ? least : strncmp(*at, least_of_gnu, 15) == 0 ? least_of_gnu : NULL;
        if (mine && said_kilobytes(strchr(*at, '=') + 1) < 512) *at = mine;
    }
}
__attribute__((section(".preinit_array"), used)) static void (*const BEFORE_LIBRARIES)(int, char **,
                                                                                       char **) = enough_stack;

int main(int argc, char **argv) {
    if (!take_descriptors()) return EXIT_DEFECT;
    keep_memory();
    handle(SIGINT, interrupted);
    handle(SIGTERM, terminated);
    handle(SIGHUP, terminated);
    handle(SIGXFSZ, SIG_IGN); /* beyond `ulimit -f` a write fails then, as on a full disk */
    signal(SIGPIPE, SIG_IGN); /* a reader that has gone is a failed write, which ends nothing */
    if (atexit(left_by_a_library) != 0) return EXIT_DEFECT;

    int code = shardopt_main(argc, argv, stdout, stderr);
    bool gone = output_reader_gone(stdout);
    returned = true;
    if (fclose(stdout) == 0 || code != EXIT_DONE || gone) return code;
    fprintf(stderr, "shardopt: standard output: cannot be written: %s\n", strerror(errno));
    return EXIT_USAGE;
}
