/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/serving/worker.h: one copy of the model on its chips: how it is cut, and where its groups lie. */
#pragma once

#include "cost/serving/serving_profile.h"
#include "mesh/collective.h"
#include "mesh/factorization.h"
#include "models/model.h"

/* A worker has tensor x attention_data x pipeline devices. */
typedef struct {
    int64_t tensor;         /* ways by heads and by hidden widths */
    int64_t attention_data; /* groups of `tensor` that each attend for their own sequences, and share experts (or, in a
                             * dense model, its MLPs) */
    int64_t pipeline;
    int64_t expert, expert_tensor; /* expert x expert_tensor = tensor x attention_data; 1 and 1 without experts */
    int64_t kv_sequence, kv_batch; /* ways in which the cache is cut beyond its heads, of the copies that are there */
    int64_t stationary;            /* ways by d_model of MLPs that are cut in two dimensions; 1: in one */
    StoredType weights, cache;
} WorkerLayout;

static inline int64_t worker_group(const WorkerLayout *layout) { return layout->tensor * layout->attention_data; }
static inline int64_t worker_devices(const WorkerLayout *layout) { return worker_group(layout) * layout->pipeline; }

/* What a message costs: measured, or the larger of a floor and the bytes over a share of the links. */
typedef struct {
    CollectiveCost cost;
    const MessageTable *table; /* NULL: not measured. It lives as long as the profile. */
    double floor_seconds, share;
    bool some; /* false: a group of one, which sends nothing */
} MessageCost;

double message_seconds(const MessageCost *message, double bytes);

/* Of a table at rising bytes: the first time below it, straight lines between points, and proportional beyond it. */
double table_seconds(const MessageTable *table, double bytes);

typedef struct {
    MessageCost reduce;   /* all_reduce over tensor */
    MessageCost gather;   /* all_gather over tensor, which is also what a reduce_scatter costs */
    MessageCost shuffle;  /* all_to_all over tensor */
    MessageCost collect;  /* all_gather over tensor x attention_data */
    MessageCost dispatch; /* all_to_all of routed tokens over tensor x attention_data */
    MessageCost pass;     /* to the next stage */
    bool wide;            /* tensor x attention_data leaves the domain */
    bool balanced;        /* it leaves the host, where engines copy the hottest experts: the caller says so */
} WorkerLinks;

/* `mesh` is the worker's own, with as many devices as the layout; `placement` says where tensor, attention_data
 * (ROLE_EXPERT) and pipeline lie on it. `routed` is the model's experts per token, 0 without experts. */
void worker_links(const Mesh *mesh, const Placement *placement, int64_t routed, const ServingProfile *profile,
                  WorkerLinks *out);
