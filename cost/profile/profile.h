/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/profile/profile.h: the share of the catalog's rates that a machine and its software reach. `ideal` takes every
 * rate whole, fuses all elementwise work and has no overheads: the book's model. A profile changes efficiencies only;
 * figures stay the catalog's. Some of its figures belong to the chip (the rates of its units, memory and links), the
 * others to the software that runs on it (kernels, overlap, overheads): cost/profile/profile_figure.h lists them
 * all. */
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "mesh/chip.h"
#include "mesh/mesh.h"
#include "models/model.h"

#include <stdbool.h>

/* The precision of the blocks' matmuls. Attention, the router and the logits stay bf16, as in
 * every published recipe. */

typedef enum {
    PRECISION_BF16,
    PRECISION_FP8,   /* one scale for each tensor or row: delayed or current scaling */
    PRECISION_MXFP8, /* one scale for each block of 32 */
    PRECISION_NVFP4, /* 4 bits, one scale for each block of 16 */
    PRECISION_INT8,
    PRECISION_COUNT
} Precision;

const char *precision_name(Precision precision); /* "bf16" "fp8" "mxfp8" "nvfp4" "int8" */

/* Dense peak, FLOP/s; 0 means that the chip has no such matmuls. */
double precision_peak(const Chip *chip, Precision precision);

/* Bytes of one operand. */
double precision_bytes(Precision precision);

enum { PROFILE_NAME_SIZE = 64, PROFILE_SOURCE_SIZE = 512 };

/* Whether software is priced as tuned or as a first run has it; of some no run distinguishes the two. */
typedef enum { EFFORT_UNKNOWN, EFFORT_TUNED, EFFORT_AS_IS } Effort;

typedef struct {
    char name[PROFILE_NAME_SIZE];  /* "ideal", "h100" */
    char stack[PROFILE_NAME_SIZE]; /* the software: "megatron-core-0.15"; "" means that the profile names none */
    Effort effort;
    char source[PROFILE_SOURCE_SIZE];

    /* ---- the chip ---- */
    bool tile_padding;        /* pad the weight dimensions of a matmul to the chip's matrix tile */
    double matrix_efficiency; /* of the dense bf16 peak, large matmuls */
    double fp8_efficiency, mxfp8_efficiency, nvfp4_efficiency, int8_efficiency; /* of the dense peak of each */
    /* time x (1 + this * (peak / hbm) * (1/M + 1/N + 1/K)): operand traffic that is not hidden */
    double matmul_traffic;
    double grouped_efficiency;       /* of grouped (expert) matmuls, times matrix_efficiency */
    double biased_expert_efficiency; /* a further factor where experts have biases and a clamped activation (gpt-oss) */
    double attention_efficiency;     /* of the dense bf16 peak, flash forward */
    double attention_backward_rate;  /* the rate of its backward over that of its forward */
    double hbm_efficiency;
    double ici_efficiency, nvlink_efficiency, network_efficiency, dcn_efficiency; /* of the link rates */
    double pcie_efficiency;                                                       /* of the rates of mesh/host_link.h */
    double host_memory_share;      /* share of the host's memory that offloaded activations may take */
    double host_update_efficiency; /* of the peak of the host's memory, that an update on its CPUs reaches */
    /* HBM of a communicator's buffers, for every role of more than one chip; and of the connections that all_to_all
     * opens in addition. --hbm-reserve has to hold both. */
    double communicator_bytes, all_to_all_bytes;
    /* scans in chunks, and recurrences on vector units, of the dense bf16 peak */
    double scan_efficiency, vector_efficiency;
    double transposed_low_copy; /* 1: fp8 matmuls need weights in both layouts, hence two copies (Hopper); 0: one
                                 * copy */
    double jitter;      /* step x (1 + this * log2(chips / 8)): the slowest of many chips; no effect below 8 chips */
    double slice_loss;  /* step x (1 + this * log2(slices)): tori over DCN */
    double fsdp_growth; /* exposed share of FSDP's traffic more per doubling of the ranks that it spans */
    double likely_low, likely_high; /* of a predicted step: measured / predicted lies between them; 0 means not
                                     * known (ideal) */
    double restart_seconds;         /* from a failure until steps run again */
    double checkpoint_seconds;      /* that training waits for a checkpoint in addition to its copy to the host */
    double repair_seconds;          /* until a failed host is back */
    double storage_bytes_per_second, storage_chip_bytes_per_second; /* of checkpoints: of a job, and for each chip */
    double hbm_error; /* scale of the logistic distribution of ln(measured / predicted HBM): 80% of the
                                     * runs lie within 2.2 times this; 0 means not known (ideal) */
    /* standard deviation of ln(measured / predicted) of one plan against others of the same model and machine, beyond
     * what the figures' own deviations explain; 0 means not known (ideal) */
    double plan_error;
    bool ranks_by_time; /* --rank time: what is odd about a plan costs no rank (search/answer/odd.h) */
    /* the same of all plans of one software together, against those of another */
    double stack_error;

    /* ---- the software ---- */
    double network_factor;   /* rate of the network between domains, times network_efficiency */
    double compute_factor;   /* rate of all matmuls, times the efficiencies above: kernels, fusions, stalls */
    double attention_factor; /* rate of attention, times attention_efficiency */
    double grouped_factor;   /* rate of grouped matmuls, times grouped_efficiency */
    /* 1: scores are written to HBM and attention is matmuls and a softmax over whole squares; 0: flash */
    double unfused_attention;
    double score_traffic;            /* share of the traffic of unfused scores that fusion leaves */
    double unaligned_attention_rate; /* unfused: rate over the plain rate where the head's width is not a multiple
                                      * of 8 */
    double elementwise_traffic;      /* share of elementwise operand traffic that fusion leaves */
    double cast_traffic;             /* share of the traffic of casts to and from 8 or 4 bits that fusion leaves */
    double expert_imbalance;         /* busiest expert over the mean: >= 1 */
    /* per byte of routed tokens and layer, all four passages together: permutation, and copies that do not use a
     * link */
    double dispatch_seconds_per_byte;
    double dispatch_per_node; /* 1: one copy of a token to each domain that needs it; 0: one to each of its experts */
    double expert_layer_seconds; /* per layer with experts and microbatch: launches, waits for the host */
    double scan_expert_seconds;  /* the same of models with mixers or joined keys, if longer: no whole graphs */
    /* Shares of a role's communication that are exposed however much work could hide it, 0 to 1. In `ideal` critical
     * communication has 1, the rest 0. */
    double tensor_exposed, expert_exposed, sequence_exposed, pipeline_exposed;
    double fsdp_exposed, data_exposed;
    double host_exposed; /* of the time of offloaded activations */
    /* The same where chunked matmuls hide tensor collectives, and where the schedule hides dispatch; the value of the
     * plain share means that the machine has no such overlap. */
    double tensor_overlapped, expert_overlapped;
    /* The share of a small matmul's operand traffic that each chunk of a chunked matmul has; it is below 1 where
     * weights stay in a cache between chunks. */
    double chunk_traffic;
    double ring_attention_exposed; /* sequence by ring: the share that its attention does not hide; 1 means all */
    /* 1: full recomputation is a whole forward, with its last matmul and collective (torch checkpoints a layer's call);
     * 0: a compiler leaves out the ops that no gradient needs (XLA) */
    double recompute_whole;
    double layer_seconds;         /* per layer and microbatch, forward + backward */
    double microbatch_seconds;    /* per microbatch and stage */
    double sequence_seconds;      /* per sequence of a replica: a loss taken one by one, of search/rl; in no file: 0 */
    double step_overhead_seconds; /* per step */
    /* The host launches one kernel after the other: the least time of a layer's compute in a microbatch, forward and
     * backward, however little there is to compute; and what each further tensor rank adds to that in a pipeline that
     * leaves the domain. 0 where whole steps are launched at once (graphs, XLA). */
    double host_layer_seconds, host_tensor_seconds;
    double
        stage_message_seconds; /* per microbatch and chunk of a stage of a pipeline: messages waited for one by one */
    double
        ring_step_seconds; /* of each step of a ring that leaves the domain, one a rank, in addition to the catalog's */
    /* Pieces of a layer's gradients that are all_reduced one after the other; 1: a bucket for each layer */
    double reduced_tensors;
    /* 1: ZeRO gathers what it has updated after the step's last microbatch, in the master's dtype, alongside its
     * reductions; 0: the copy for compute, which the next step's first microbatch hides */
    double gathers_after_update;
    double optimizer_traffic; /* HBM traffic of the update over one pass: unscaling, norms, clipping and copies are
                               * separate passes */
    double rank_seconds;      /* per chip that shares the optimizer's state, per step: serial broadcasts */

    /* Bytes of a gradient that is reduced and kept, whether or not it is accumulated, where the user names no dtype: 4
     * (fp32: Megatron-LM, and FSDP2 under torchtitan, whose mixed_precision_reduce is float32 alone) or 2 (bf16:
     * Megatron-Bridge's recipes); 0: as StateDtypes says */
    double gradient_bytes;
    double shards_seldom; /* 1: hardly any measured run of this software shards weights over ranks */

    /* 1: a ring of keys and values goes all the way round, so that they come home, and their gradients travel in fp32
     * (MaxText's ring attention) */
    double ring_returns;
    /* 1: the embedding's table stays in its shards: a look-up exchanges activations over the chips that share it, an
     * all_to_all each way (GSPMD, with tensor = 1); 0: fsdp gathers the table as it does other weights */
    double embedding_exchanged;
    /* 1: the residual stream is split over tensor wherever it divides (MaxText); 0: the layout decides */
    double stream_split;
    /* 1: gradients over a group that is the whole slice are all_reduced whole, and each chip then cuts out its part; 0:
     * they are scattered (XLA on TPUs, which fuses the two only for a part of a slice) */
    double slice_all_reduce;
    /* Such a group of at most so many chips, and at least 4: matmuls of layers and logits pass their weights and
     * gradients round a ring, of n + 1 parts where n - 1 are needed (XLA's windowed einsum); 0: none does */
    double ring_ways;
    /* 1: in a pipeline a stage of sharded parameters sums gradients whole, and reduces them after its last microbatch;
     * weights that are kept are gathered once a step (torch.distributed.pipelining with FSDP2); 0: with every
     * microbatch */
    double stages_stay_whole;
    /* 1: experts' outputs come back a second time where their layer is recomputed, since the gradient of the router
     * reads them (MaxText's combine); 0: routing weights are applied before */
    double combines_again;

    /* ---- what the software keeps in HBM; all zeros mean that it keeps only what the plan needs ---- */
    /* 1: the fp32 master is the only copy of a parameter, cast where it is gathered or multiplied (FSDP, MaxText); 0:
     * the copy for compute is kept next to it (Megatron, DeepSpeed) */
    double casts_master;
    /* 1: below bf16, linear layers keep their inputs for backward, and their weights for the step, in the low precision
     * (Transformer Engine); 0: they keep them in bf16 and cast them again when needed (XLA) */
    double low_copies;
    double low_parameters; /* 1: in addition, in fp8 there is no copy of weights next to those, unless it is requested
                            * (--state-dtypes parameters=bf16: Megatron without its --fp8-param-gather) or the optimizer
                            * is on the CPU */
    double logit_bytes;    /* bytes of a logit, its gradient and the loss's intermediate values, at their most */
    /* 1: inputs of tensor-parallel blocks that lie along the sequence are kept as they lie and gathered again in
     * backward, alongside its first matmul (Korthikanti et al. 2022, section 4.2.2); 0: they are kept gathered */
    double inputs_kept_apart;
    /* 1: gathered keys and values stay for backward, which sends their gradients alone; 0: backward gathers them
     * again */
    double keys_kept;
    /* 1: where tokens are not dropped, experts' tensors have room for the worst routing: the tokens of all chips of an
     * expert group on one (XLA, whose sizes are fixed) */
    double receives_worst_case;
    /* The numbers of a head in HBM are padded to a multiple of this (a TPU's vector has 128 lanes); 1: they are not */
    double lanes;
    /* Where tensor splits the stream along the sequence, whole streams that backward has in addition to an input
     * gathered again: the gathered gradient of a block's output, those of the inputs of gate and of up, and their sum
     * before it is scattered, are 4 (eager autograd, which makes one matmul after the other) */
    double tensor_streams;
    double logit_chunks; /* the loss is computed in so many pieces of the tokens, one after the other: >= 1 */
    /* 1: weights are gathered matrix by matrix: those of one matmul at work and of the next; next to logits only their
     * table (XLA); 0: layer by layer, one at work and the next (torch's FSDP) */
    double gathers_matrices;
    /* 1: a step is one compiled program of loops over layers, iterations of a pipeline and microbatches (MaxText under
     * XLA). Weights are cast before a loop, the gradients of all layers are arrays of it, and the gradient of the
     * table waits for the loop's end with the logits' own, all in bf16. A pipeline's loop keeps what each of its
     * iterations began with, sends twice in each, and leaves embedding and logits to all stages. */
    double whole_program;
    double stage_outputs_kept; /* 1: the tensors that a stage has sent on stay with it until backward; 0: they are
                                * freed */
    /* 1: each replica has the whole fp32 master though ZeRO shards the moments (DeepSpeed's first BF16_Optimizer) */
    double whole_master;
    double update_scratch_bytes; /* per parameter that a chip updates: flat copies of gradients, which stay allocated */
    double update_copies; /* of the second moment, that an update makes and frees (torch: the root of all tensors) */
    /* Bytes of a layer that are kept for its backward, over those of a plan's own tensors: op by op a norm keeps fp32
     * copies, a gated activation its factors, and PEFT an fp32 copy of each adapter's input. >= 1 but for software that
     * keeps less */
    double kept_factor;
    double mlp_kept;        /* the same of what is as wide as an MLP; 0: as kept_factor */
    double dispatched_kept; /* more tensors of all dispatched tokens in bf16 that a layer with experts keeps */
    double frozen_bytes; /* of a weight that is neither trained nor quantised, as it lies; 0: as the copy for compute */
    double bucket_bytes; /* on a chip with replicas: the buckets through which gradients are reduced */
    /* Next to the allocated bytes: the share of them that the allocator holds without use; the context of the
     * device, kernels and libraries. The reserve holds both. */
    double fragmentation_share, context_bytes;
    /* Of HBM, the share that a plan has to leave free where --hbm-reserve says nothing else: above it the compiler
     * recomputes and gathers on its own account */
    double least_reserve;

    /* ---- made of both, by profile_in_precision() ---- */
    Precision precision;
    double linear_efficiency; /* of the blocks' matmuls, over the bf16 peak: it may exceed 1 */
    double routed_copies;     /* copies of a token where dispatch_per_node, else 0: profile_for_model() */
    double linear_peak_ratio; /* peak of the precision over the bf16 peak; 1 in bf16 */
} Profile;

/* The profile with the blocks' matmuls in a precision, which the chip must have (precision_peak). Rates of matmuls are
 * written over the bf16 peak everywhere, so that their efficiency includes the ratio of the two peaks. */
Profile profile_in_precision(const Profile *profile, const Chip *chip, Precision precision);

/* The profile of a machine of this many chips and slices: jitter and slices lower all its rates and raise all its
 * seconds. */
Profile profile_at_scale(const Profile *profile, double chips, double slices);

/* The profile of one machine, converted to another with this many chips and slices. */
Profile profile_rescaled(const Profile *profile, double chips, double slices, double to_chips, double to_slices);

/* All three: the profile with which a model is priced, in a precision, on this many chips and slices. */
Profile profile_of_work(const Profile *profile, const Chip *chip, Precision precision, const Model *model, double chips,
                        double slices);

/* The mesh with link rates times their efficiencies. */
Mesh profile_mesh(const Profile *profile, const Mesh *mesh);

/* Loads the profile that --profile and --stack name: a file in cost/profiles ("default", "ideal"), or a path. The file
 * is a set of profiles and stacks (cost/profile/profile_set.h), of which the chip's own or its parent's is taken, or
 * one whole profile, which has no stack. `stack` NULL or "" means the best current stack of the chip,
 * "as-is" that one as it comes. */
bool profile_load(const char *argument, const char *stack, const Chip *chip, Arena *arena, Profile *out, Error *error);
/* The same in two steps, for a caller that queries one file for several launchers. */
typedef struct ProfileFile ProfileFile;
struct ProfileDoubts;
bool profile_file_open(const char *argument, Arena *arena, const ProfileFile **out, Error *error);
/* `launcher` NULL or "" means the best current stack of the chip; else what that launcher runs there, or the best where
 * the file knows none of it. A `stack` that is named counts whoever launches. */
typedef struct {
    const char *stack, *launcher;
} SoftwareAsk;
bool profile_file_pick(const ProfileFile *file, const SoftwareAsk *ask, const Chip *chip, Arena *arena, Profile *out,
                       Error *error);
/* The doubts about that profile (cost/profile/doubt.h), in the arena; NULL where the file is one whole profile, which
 * says nothing of them. */
bool profile_file_doubts(const ProfileFile *file, const SoftwareAsk *ask, const Chip *chip, Arena *arena,
                         const struct ProfileDoubts **out, Error *error);
/* Whether a launcher is one that the software of the chip is for: a stack that is named has it in its list; else the
 * file knows what it runs there, and the chip's best stack has no list of its own without it. A whole profile is for
 * every launcher. */
bool profile_file_is_for(const ProfileFile *file, const SoftwareAsk *ask, const Chip *chip);
/* The file that such an argument names, in the arena; NULL means that there is no file of that name. */
const char *profile_path(const char *argument, Arena *arena, Error *error);
