/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/cli/command.h"
#include "shardopt.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/* Whatever was under way is left as it is: results are written beside and renamed, so there is nothing to put right. */
static void interrupted(int number) {
    (void)number;
    _exit(EXIT_INTERRUPTED);
}

int main(int argc, char **argv) {
    struct sigaction old;
    if (sigaction(SIGINT, NULL, &old) == 0 && old.sa_handler != SIG_IGN) signal(SIGINT, interrupted);
    signal(SIGPIPE, SIG_IGN); /* a reader that has gone is a failed write, and said */

    int code = shardopt_main(argc, argv, stdout, stderr);
    if (fclose(stdout) == 0 || code != EXIT_DONE) return code;
    fprintf(stderr, "shardopt: standard output: cannot be written: %s\n", strerror(errno));
    return EXIT_USAGE;
}
