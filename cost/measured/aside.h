/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/measured/aside.h: kinds of published runs that are replayed but neither fitted nor scored, because what they
 * measure is not the plan (cost/measured/data/aside.tsv: a family, what its runs say, and the reason). */
#pragma once

#include "cost/measured/run.h"

/* A run is of the kind if everything holds that the row gives: "" and 0 hold always. */
typedef struct {
    const char *family;     /* of the run's id */
    const char *notes;      /* stands in its notes */
    const char *confidence; /* its own */
    int64_t chips_over;     /* it has more chips */
    const char *reason;
} AsideKind;

typedef struct {
    AsideKind *kinds;
    int count;
} AsideKinds;

/* Reads the file of the data folder; the list is empty where the folder, which may be a user's own, has none. */
bool aside_load(Arena *arena, AsideKinds *out, Error *error);
/* The same for any file: five columns under their heading. */
bool aside_read(const char *path, Arena *arena, AsideKinds *out, Error *error);
/* Why a run is set aside; NULL means that it is not. */
const char *aside_reason(const AsideKinds *kinds, const Run *run);
