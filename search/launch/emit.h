/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/launch/emit.h: a plan as the configuration of a launcher, and what writers have in common. Pure but for the
 * stream a writer is given.
 *
 * A format writes a plan that its launcher takes (launchable_by) and can place where it was costed; what the framework
 * cannot express is an error, what it does in another way that costs little or less memory is a note. */
#pragma once

#include "search/launch/launcher.h"

#include <stdio.h>

/* What the framework does otherwise than was costed: a sentence each, for a comment in the file and a warning. */
enum { EMIT_NOTES_MAX = 16, EMIT_NOTE_SIZE = 256 };
struct EmitNotes {
    char text[EMIT_NOTES_MAX][EMIT_NOTE_SIZE];
    int count;
};

/* NULL: there is none of that name, or of that launcher ("megatron-lm"). */
const EmitFormat *emit_format_named(const char *name);
/* From 0 on, launcher by launcher; NULL after the last. */
const EmitFormat *emit_format_at(int index);
int emit_format_launcher(const EmitFormat *format); /* whose it is, in the list of launchers */

/* Whether the format's launcher takes the plan and puts its roles where they were costed. False: *error says in one
 * line which rule says no. */
bool emit_allowed(const EmitFormat *format, const Request *request, const RankedPlan *ranked, Error *error);

/* Writes the plan, which emit_allowed() lets through; `notes` gets what the framework does otherwise. False: *error
 * says which rule of the framework the plan breaks, and what was written is of no use. */
bool emit_write(const EmitFormat *format, const Request *request, const RankedPlan *ranked, EmitNotes *notes, FILE *out,
                Error *error);

/* ---- the plan as writers get it ---- */

/* Ranks that torchrun numbers host by host, a batch in whole microbatches, stages as counts of layers. */
struct LaunchJob {
    const Request *request;
    const RankedPlan *ranked;
    const Model *model;
    const Knobs *knobs;
    const Launcher *launcher;
    const char *option; /* that its placement needs, as the launcher spells it; NULL: none */
    bool host_order;    /* its hosts have to come in the order that job_write_hosts() gives */

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
};

/* False, with the reason in *error: the GPUs are not whole hosts, or the batch is not whole microbatches (of launchers
 * on GPUs alone). */
bool launch_job(const Request *request, const RankedPlan *ranked, const Launcher *launcher, LaunchJob *out,
                Error *error);

/* Layers of a chunk, from 0 in the order of the model; chunk c is on stage c % pipeline. */
int64_t job_chunk_layers(const LaunchJob *job, int64_t chunk);

/* Of how many layers of the fullest stage an activation is not kept: recomputed or offloaded. Those that the model has
 * not: 0. */
int64_t job_dropped(const LaunchJob *job, Activation activation);
int64_t job_dropped_most(const LaunchJob *job); /* of any activation but the layer's input */
/* How many layers have to give up the residual in the middle, which is as large as a layer's input, so that the inputs
 * that the plan has on the host can stay without taking more memory; more than job->layers: that cannot be had. */
int64_t job_layers_for_inputs(const LaunchJob *job);

/* What the plan does with activations, in words: "qkv recomputed in 40 of 80 layers, middle offloaded in all 80"; "all
 * kept". Returns `text`. */
enum { ACTIVATIONS_TEXT_SIZE = 640 };
const char *job_activations(const LaunchJob *job, char text[ACTIVATIONS_TEXT_SIZE]);

/* Of a script: variables for torchrun, and hosts in their order where that matters. Then
 * job_write_torchrun(): "torchrun --nproc-per-node ... \" without what is run. */
void job_write_hosts(const LaunchJob *job, FILE *out);
void job_write_torchrun(const LaunchJob *job, FILE *out);

/* NVLink domains, and the rank among them that one gets which is the `domain`th along the network: its hosts' ranks
 * follow each other. Where host_order is false, any order will do. */
int64_t job_domains(const LaunchJob *job);
int64_t job_domain_rank(const LaunchJob *job, int64_t domain);

/* ---- what writers have in common ---- */

/* Adds a note, printf; one too many is left out. */
void emit_note(EmitNotes *notes, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Comment lines: program, model, machine, plan, what is predicted; then the notes. */
void emit_header(const LaunchJob *job, const EmitNotes *notes, FILE *out);

/* A text in double quotes, with JSON's escapes, which Python, YAML and TOML read the same: no text can end it early or
 * reach what stands behind it. */
void emit_quoted(const char *text, FILE *out);

/* Number formats of what training keeps, those of gradients settled too. */
StateDtypes emit_state_dtypes(const Request *request, const RankedPlan *ranked);

/* How the launcher was found to place the plan; NULL: it does not take it. */
const LaunchAnswer *emit_launch_answer(const RankedPlan *ranked, const Launcher *launcher);
