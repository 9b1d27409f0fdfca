/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/measured/labels.h: the words by which an error table distinguishes runs: their publisher, their software, and
 * their kind of plan. They come from the columns alone, so that a row that cannot be replayed has them too. */
#pragma once

#include "cost/measured/run.h"

enum { RUN_LABEL_SIZE = 48 };

/* The source is the first word of the id without a release number that is part of it ("nemo24.07-..." is nemo24), and
 * with one that stands after it, where the published workload changes from round to round ("mlperf-v5.0-..." is
 * mlperf-v5.0). An id without "-" names no source: then the column does, or the source is empty (""), lest each of a
 * user's runs be a source of its own. */
const char *run_source(const Run *run, char text[RUN_LABEL_SIZE]);

/* The framework without vendor, release and the text in brackets or after "/" and "+": "NVIDIA NeMo Framework Release
 * 24.04" is NeMo. */
const char *run_framework(const Run *run, char text[RUN_LABEL_SIZE]);

/* Whether parameters are sharded over data-parallel ranks: "256 (zero3)", "zero3 over 384", "HSDP". */
bool run_is_sharded(const Run *run);

typedef enum {
    KIND_DENSE_FSDP,
    KIND_DENSE_FSDP_FULL, /* with full recomputation */
    KIND_DENSE_PIPELINE,
    KIND_DENSE_PIPELINE_FULL,
    KIND_DENSE_PIPELINE_CONTEXT,
    KIND_DENSE_CONTEXT,
    KIND_DENSE_TENSOR,
    KIND_DENSE_REPLICATED, /* parameters are whole on every chip: ZeRO-1 at most */
    KIND_MOE_PIPELINE,
    KIND_MOE_FLAT, /* without a pipeline */
    KIND_MOE_TPU,
    KIND_COUNT
} RunKind;
RunKind run_kind(const Run *run);
const char *run_kind_name(RunKind kind); /* "dense FSDP + full recomputation" */
