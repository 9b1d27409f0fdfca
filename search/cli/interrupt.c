/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/cli/interrupt.h"

#include "base/clock.h"
#include "base/file.h"
#include "search/cli/command.h"

#include <unistd.h>

static volatile sig_atomic_t interrupts;

/* The first interrupt ends the search, and the best so far is printed; the second one ends the program. */
static void on_interrupt(int number) {
    (void)number;
    if (interrupts++ == 0) return;
    file_leave_nothing();
    _exit(EXIT_INTERRUPTED);
}

void interrupt_begin(InterruptScope *scope) {
    struct sigaction own = {.sa_handler = on_interrupt, .sa_flags = SA_RESTART};
    interrupts = 0;
    scope->handled = sigaction(SIGINT, NULL, &scope->before) == 0 && scope->before.sa_handler != SIG_IGN &&
                     sigaction(SIGINT, &own, NULL) == 0;
}

void interrupt_end(const InterruptScope *scope) {
    if (scope->handled) sigaction(SIGINT, &scope->before, NULL);
}

bool interrupt_came(void *context) {
    (void)context;
    return interrupts > 0;
}

Environment cli_environment(void) { return (Environment){.seconds = clock_hook, .interrupted = interrupt_came}; }
