/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/options/machine_rows.h: the model and the machine of every question, one row each: an option that is added
 * here, and read in machine_words.c, is one of all commands that have a machine. */
#pragma once

#include "search/options/options.h"

#define MACHINE_OPTION_ROWS(USE)                                                                                       \
    [OPTION_MODEL] = INPUT_ROW(                                                                                        \
        "model", "NAME", USE, .heading = "Model",                                                                      \
        .help = "a model of `shardopt models`, a Hugging Face config.json, or its folder",                             \
        .details = "A name of `shardopt models` (case and the characters - _ . do not matter; 8b, 70b and 405b are "   \
                   "Llama 3.1), a Hugging Face config.json, or its folder.",                                           \
        .values = "@models"),                                                                                          \
    SIZE_OPTION_ROWS(USE)

/* The machine alone. */
#define SIZE_OPTION_ROWS(USE)                                                                                          \
    [OPTION_CHIP] = INPUT_ROW(                                                                                         \
        "chip", "NAME", USE, .heading = "Machine",                                                                     \
        .help = "a chip of `shardopt chips`, or a cloud's instance (v5p of pods and slices)",                          \
        .details = "A name of `shardopt chips`, or a cloud's instance: a3-highgpu-4g, or h100:4, has hosts of 4. "     \
                   "Without it --pods and --slice are of v5p.",                                                        \
        .values = "@chips"),                                                                                           \
    [OPTION_PODS] = INPUT_ROW("pods", "N", USE, .help = "whole TPU pods joined by DCN",                                \
                              .details = "Whole physical TPU pods, joined by DCN."),                                   \
    [OPTION_SLICE] = INPUT_ROW(                                                                                        \
        "slice", "SHAPE", USE, .help = "one TPU slice: 16x20x28, v5p-1024, v6e-16",                                    \
        .details = "A TPU slice: 16x20x28, or a vendor's name, which implies the chip: v5p-1024 (512 chips), v6e-16, " \
                   "v5litepod-256."),                                                                                  \
    [OPTION_SLICES] = INPUT_ROW("slices", "N", USE, .help = "the number of slices of --slice, joined by DCN (1)"),     \
    [OPTION_CHIPS] = INPUT_ROW("chips", "N", USE, .help = "the number of chips, in the vendor's default shape"),       \
    [OPTION_NODES] = INPUT_ROW("nodes", "N", USE, .help = "GPU hosts, or racks of an NVL72"),                          \
    [OPTION_GPUS_PER_NODE] = INPUT_ROW(                                                                                \
        "gpus-per-node", "N", USE,                                                                                     \
        .help = "GPUs of each of --nodes, with their share of its network (the usual host)",                           \
        .details = "GPUs of each of --nodes: 8 hosts of 4 are --nodes 8 --gpus-per-node 4, or --nodes 8 --chips 32. "  \
                   "They are joined as those of a usual host, and have their share of its network cards, of its "      \
                   "memory and of what copies get of that."),                                                          \
    [OPTION_OVERSUBSCRIPTION] = INPUT_ROW(                                                                             \
        "oversubscription", "RATIO", USE,                                                                              \
        .help = "oversubscription of the GPU network's spine: 2 is half of full bisection (1)",                        \
        .details = "Of the GPU network above its leaves: what the nodes of a leaf can send over what its uplinks "     \
                   "take (1, full bisection). The chip's file says how many nodes share a leaf (leaf_nodes)."),        \
    [OPTION_NETWORK] = INPUT_ROW(                                                                                      \
        "network", "RATE", USE, .help = "what a host reaches others at: 100Gbps, 8x400Gbps, 50GB/s (the catalog's)",   \
        .details = "The rate, one way, at which a host reaches other hosts, by whatever network: 100Gbps, 3.2Tbps, "   \
                   "50GB/s, or 8x400Gbps for as many network cards. Its chips share it in equal parts, in place of "   \
                   "the catalog's network or DCN; the latency stays the catalog's."),                                  \
    [OPTION_HOST_MEMORY] = INPUT_ROW(                                                                                  \
        "host-memory", "BYTES", USE, .help = "memory of a host, which limits offloading: 1.5T, 600GB (the catalog's)", \
        .details = "The memory of each host, in place of the catalog's: 1.5T, 600GB, 512Gi. Its chips share it in "    \
                   "equal parts; plans put on it what the profile allows of it (half)."),                              \
    [OPTION_PRICE] =                                                                                                   \
        INPUT_ROW("price", "USD", USE, .help = "dollars of a chip for an hour (the catalog's, on demand)",             \
                  .details = "What an hour of one chip costs, in dollars: 1.80. All dollars of "                       \
                             "the answer are at this price, in place of the catalog's.")

/* Of sweeps of both. */
#define SWEEP_OPTION_ROWS                                                                                              \
    [OPTION_SHARD] = OPTION_ROW(                                                                                       \
        "shard", "K/N", USE_SWEEP, .heading = "Sweep",                                                                 \
        .help = "only every N-th point, from the K-th: a part for `shardopt merge`",                                   \
        .details = "Only every N-th point, from the K-th (1 to N): a part, of JSON lines. In a job array of Slurm: "   \
                   "sweep ... --shard $SLURM_ARRAY_TASK_ID/8 -o part$SLURM_ARRAY_TASK_ID, then merge part*."),         \
    [OPTION_RESUME] = OPTION_ROW(                                                                                      \
        "resume", "FILE", USE_SWEEP,                                                                                   \
        .help = "keep finished points in this file, and continue from those already in it",                            \
        .details = "Each finished point is a line of this file, on the disk before the next begins; a sweep that was " \
                   "stopped goes on from there, at the cost of the point it was at. A file of another grid, version "  \
                   "or data is an error, and stays as it is. A point that is in the file as not proven, or with an "   \
                   "error, is finished: give another file to plan it again.",                                          \
        .values = "@files", .writes = true)
