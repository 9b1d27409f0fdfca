/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/launch/gpu_job.h: a plan as launchers of GPU clusters see it: ranks that torchrun numbers host by host, a
 * batch in whole microbatches, stages as counts of layers. What Megatron, torchtitan and DeepSpeed need alike. */
#pragma once

#include "search/launch/emit.h"

typedef struct {
    const Request *request;
    const RankedPlan *ranked;
    const Model *model;
    const Knobs *knobs;
    const Launcher *launcher;
    const char *option; /* that its placement needs, as the launcher spells it; NULL: none */
    bool host_order;    /* its hosts have to come in the order that gpu_job_write_hosts() gives */

    int64_t tensor, sequence, fsdp, data,
        pipeline;                   /* degrees; fsdp: those of an expert axis, which shard too, included */
    int64_t expert, expert_tensor;  /* ways of the experts and of each one's width; 1: not split */
    int64_t world, hosts, per_host; /* GPUs */
    int64_t replicas;               /* groups of ranks with sequences of their own: data x fsdp */
    int64_t batch;                  /* sequences of a step: replicas x microbatches x their sequences */
    int64_t virtual_stages, chunks; /* chunks of layers: pipeline x virtual stages */
    bool even;                      /* all chunks have as many layers */
    bool shards;                    /* parameters are sharded: fsdp, or sequence that shards */
    int64_t layers;                 /* of the fullest stage: what a layout counts */
    int64_t steps;                  /* of the whole training */
} GpuJob;

/* False, with the reason in *error: the GPUs are not whole hosts, or the batch is not whole microbatches. The plan is
 * one that emit_allowed() lets through. */
bool gpu_job(const Request *request, const RankedPlan *ranked, const Launcher *launcher, GpuJob *out, Error *error);

/* Layers of a chunk, from 0 in the order of the model; chunk c is on stage c % pipeline. */
int64_t gpu_job_chunk_layers(const GpuJob *job, int64_t chunk);

/* Of how many layers of the fullest stage an activation is not kept: recomputed or offloaded. Those that the model has
 * not: 0. */
int64_t gpu_job_dropped(const GpuJob *job, Activation activation);
int64_t gpu_job_dropped_most(const GpuJob *job); /* of any activation but the layer's input */
/* How many layers have to give up the residual in the middle, which is as large as a layer's input, so that the inputs
 * that the plan has on the host can stay without taking more memory; more than job->layers: that cannot be had. */
int64_t gpu_job_layers_for_inputs(const GpuJob *job);

/* What the plan does with activations, in words: "qkv recomputed in 40 of 80 layers, middle offloaded in all 80"; "all
 * kept". Returns `text`. */
enum { ACTIVATIONS_TEXT_SIZE = 640 };
const char *gpu_job_activations(const GpuJob *job, char text[ACTIVATIONS_TEXT_SIZE]);

/* Of a script: variables for torchrun, and hosts in their order where that matters. Then
 * gpu_job_write_torchrun(): "torchrun --nproc-per-node ... \" without what is run. */
void gpu_job_write_hosts(const GpuJob *job, FILE *out);
void gpu_job_write_torchrun(const GpuJob *job, FILE *out);

/* NVLink domains, and the rank among them that one gets which is the `domain`th along the network: its hosts' ranks
 * follow each other. Where host_order is false, any order will do. */
int64_t gpu_job_domains(const GpuJob *job);
int64_t gpu_job_domain_rank(const GpuJob *job, int64_t domain);
