/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/trace/kernel_names.h: what names in a trace mean: kernels, host ranges, collectives and groups of ranks. The
 * rules are data with sources (cost/trace/names/kernels.json); the first rule of a list that fits wins. */
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "cost/trace/terms.h"

#include <cjson/cJSON.h>

/* A rule fits a name that begins with one of `begins` or holds one of `holds`, holds one of `also` where that is not
 * empty, and holds none of `unless`. Lists end with NULL. */
typedef struct {
    int meaning; /* a KernelClass, RangeKind, CollectiveKind or TraceTerm, by its list */
    bool ignore_case;
    const char *const *begins, *const *holds, *const *also, *const *unless;
} NameRule;

typedef struct {
    const NameRule *rules;
    int count;
} NameRules;

typedef struct {
    NameRules kernels, operations, ranges, collectives, groups;
} KernelNames;

/* Reads strictly; every rule has a source. All of it lies in the arena. */
bool kernel_names_from_json(const cJSON *json, const char *where, Arena *arena, KernelNames *out, Error *error);

/* Loads cost/trace/names/kernels.json into the arena. */
bool kernel_names_load(Arena *arena, KernelNames *out, Error *error);

/* The meaning of a name by the first rule that fits; 0 (TERM_COUNT for groups) when there is none. */
KernelClass kernel_class(const KernelNames *names, const char *name);
/* The same of an operation of XLA: "category|name|path". */
KernelClass operation_class(const KernelNames *names, const char *text);
RangeKind range_kind(const KernelNames *names, const char *name);
CollectiveKind collective_kind(const KernelNames *names, const char *name);
TraceTerm group_term(const KernelNames *names, const char *description);
