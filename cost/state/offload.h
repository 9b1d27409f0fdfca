/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/state/offload.h: what may lie in the memory of the host, and who updates the state that lies there. */
#pragma once

#include "base/error.h"

/* What plans may send to the host. */
typedef enum { OFFLOAD_ALL, OFFLOAD_ACTIVATIONS, OFFLOAD_OPTIMIZER, OFFLOAD_NONE, OFFLOAD_COUNT } Offload;

static inline bool offload_takes_optimizer(Offload offload) {
    return offload == OFFLOAD_ALL || offload == OFFLOAD_OPTIMIZER;
}
static inline bool offload_takes_activations(Offload offload) {
    return offload == OFFLOAD_ALL || offload == OFFLOAD_ACTIVATIONS;
}

const char *offload_name(Offload offload); /* "all" "activations" "optimizer" "none" */
/* The way back; false: *error says which names there are. */
bool offload_parse(const char *text, const char *where, Offload *out, Error *error);

/* Who updates the optimizer's state that lies on the host. */
typedef enum {
    HOST_UPDATE_STREAMS, /* the chip: state passes through HBM, both ways at once, a layer at a time */
    HOST_UPDATE_ON_CPU   /* the host's CPUs: gradients are copied down, weights up */
} HostUpdate;
