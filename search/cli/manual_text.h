/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/cli/manual_text.h: what the manual page says that belongs to no command. Texts are written as those of
 * CommandOption.details. */
#pragma once

typedef struct {
    const char *heading; /* "EXIT STATUS"; the heading of the row before means the same section; NULL ends a list */
    const char *tag;     /* NULL means a plain paragraph */
    const char *text;
} ManualSection;

/* Lines that a test runs (tests/install/examples.sh), each with a newline, and what they are for. */
typedef struct {
    const char *text; /* NULL ends the list */
    const char *lines;
} ManualExample;

extern const char *const MANUAL_OPTIONS, *const MANUAL_MACHINE;
extern const ManualSection MANUAL_BEFORE[], MANUAL_AFTER[], MANUAL_END[];
extern const ManualExample MANUAL_EXAMPLES[];
