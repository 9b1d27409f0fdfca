/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/cli/interrupt.h: Ctrl-C as a wish to end with what is known, and the environment that searches are handed. */
#pragma once

#include "search/request/environment.h"

#include <signal.h>

typedef struct {
    struct sigaction before;
    bool handled; /* SIGINT was not ignored */
} InterruptScope;

/* From here to interrupt_end() the first SIGINT is only noted; the second one ends the program with exit code 130.
 * Where SIGINT is ignored it stays so. */
void interrupt_begin(InterruptScope *scope);
void interrupt_end(const InterruptScope *scope);

/* Whether a SIGINT has come since the last interrupt_begin(): Environment.interrupted, GraphControl.interrupted. */
bool interrupt_came(void *context);

/* The environment of the command line: a monotonic clock, and SIGINT between interrupt_begin() and interrupt_end(). */
Environment cli_environment(void);
