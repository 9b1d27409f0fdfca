/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/cli/command.h"
#include "search/shardopt.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

/* Whatever was under way is left as it is: results are written beside and renamed, so there is nothing to put right. */
static void interrupted(int number) {
    (void)number;
    _exit(EXIT_INTERRUPTED);
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

int main(int argc, char **argv) {
    keep_memory();
    struct sigaction old;
    if (sigaction(SIGINT, NULL, &old) == 0 && old.sa_handler != SIG_IGN) signal(SIGINT, interrupted);
    signal(SIGPIPE, SIG_IGN); /* a reader that has gone is a failed write, which ends nothing */

    int code = shardopt_main(argc, argv, stdout, stderr);
    bool gone = output_reader_gone(stdout);
    if (fclose(stdout) == 0 || code != EXIT_DONE || gone) return code;
    fprintf(stderr, "shardopt: standard output: cannot be written: %s\n", strerror(errno));
    return EXIT_USAGE;
}
