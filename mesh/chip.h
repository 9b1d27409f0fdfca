/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mesh/chip.h: one kind of accelerator, as the catalog states it. Rates are peaks and line rates; the profile says what
 * a machine really reaches (cost/profile/profile.h). */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum {
    CHIP_NAME_SIZE = 64,
    CHIP_ALIASES_MAX = 32,
    CHIP_SOURCE_SIZE = 384,
    CHIP_SHAPES_MAX = 128,
    HOST_BOARDS_MAX = 10
};

typedef enum {
    SCALEUP_TORUS_2D,
    SCALEUP_TORUS_3D,
    SCALEUP_SWITCH,
    SCALEUP_MESH,    /* a domain like a switch's, with direct links between all pairs instead */
    SCALEUP_PCIE,    /* boards in the slots of one host, which meet over PCIe alone, or in pairs under a bridge */
    SCALEUP_UNKNOWN, /* no figures are known: the chip is listed, never planned with */
} ScaleupKind;

/* One figure with its origin. An absent figure has the value 0 and an empty source. */
typedef struct {
    double value;
    char source[CHIP_SOURCE_SIZE];
    bool verified; /* false means that the catalog could not check it; reports that lean on it say so */
} Figure;

#define CHIP_PRICE_TYPED "--price"
#define CHIP_NETWORK_TYPED "--network " /* and what was typed */
#define CHIP_HOST_MEMORY_TYPED "--host-memory "

typedef struct {
    int64_t size[3]; /* 1 where the generation has fewer axes */
} SliceShape;

typedef struct {
    char name[CHIP_NAME_SIZE]; /* "tpu-v5p" */
    const char *path;          /* the file it was read from, in the catalog's arena; NULL means no file */
    char aliases[CHIP_ALIASES_MAX][CHIP_NAME_SIZE];
    int alias_count;
    char title[CHIP_NAME_SIZE]; /* for people: "TPU v5p" */

    Figure bf16_flops_per_second; /* dense */
    Figure fp8_flops_per_second;  /* 0 means that the chip has no fp8 matmuls */
    Figure int8_ops_per_second;
    Figure fp4_flops_per_second;    /* 0 means that the chip has no fp4 matmuls */
    Figure vector_flops_per_second; /* outside the matrix units; 0 means not known */
    Figure hbm_bytes;               /* as it is sold and as the book counts it */
    Figure hbm_usable_bytes;        /* what the driver gives to a program; 0 means not known: hbm_bytes */
    Figure hbm_bytes_per_second;
    /* The host and the link to it (mesh/host_link.h says what copies reach). */
    Figure host_bytes; /* memory of the host, per chip; 0 means not known, and nothing is offloaded; its source begins
                        * with CHIP_HOST_MEMORY_TYPED where a user said it */
    Figure pcie_bytes_per_second;        /* host link, one way, one chip alone; 0 means not known */
    Figure pcie_both_bytes_per_second;   /* both ways at once, added, one chip alone; 0: no more than one way */
    Figure host_copies_bytes_per_second; /* all copies of one host at once, either way, added; 0 means no ceiling */
    Figure host_memory_bytes_per_second; /* peak of the host's memory; 0 means not known */
    Figure nic_shares_pcie;   /* 1: the chip's network traffic uses the lane of its host link; 0: it does not */
    Figure usd_per_chip_hour; /* on demand; 0 means not known; its source is CHIP_PRICE_TYPED where a user said it */
    Figure usd_per_chip_hour_reserved; /* by a contract of a year or longer; 0 means not known */
    Figure board_watts;                /* what its board takes at most, by its maker; 0 means not known */
    Figure hours_per_failure;          /* of one chip, between failures that stop a job; 0 means not known */
    Figure matrix_tile; /* both weight dimensions are padded to a multiple of it: 128 or 256; 0 means not known */
    int64_t chips_per_host;
    /* Where a user said how many chips a host has (host_set_chips): those of the catalog's host, and --nodes counts
     * hosts, not racks. Of TPUs the chips of the VM that was named. 0: hosts are the catalog's. */
    int64_t usual_host_chips;
    bool coherent_host;       /* a link that keeps caches coherent joins chip and host (NVLink-C2C), not PCIe */
    int64_t chips_copying;    /* of a host, those of the job: host_set_job(); 0 means all of them */
    int64_t chips_per_vm;     /* TPUs: of a slice of more than one chip, as schedulers count; 0 means not known */
    int64_t devices_per_chip; /* 1; tpu7x: 2 */
    Figure device_link_bytes_per_second; /* between two devices of one chip, one way; only where there are two */

    ScaleupKind scaleup;
    Figure link_bytes_per_second; /* torus: one link, one way; switch, mesh: one link of links_per_chip;
                                   * PCIe: what a chip sends while all of the host do */
    int64_t links_per_chip;
    Figure hop_seconds;               /* torus: chip to neighbour; GPUs: one step inside the domain */
    int64_t domain_chips;             /* switch, mesh: chips of one NVLink (xGMI) domain; PCIe: of one host */
    int64_t bridged_chips;            /* PCIe: chips under one NVLink bridge; 0: boards have none */
    Figure bridge_bytes_per_second;   /* of such a bridge, one way per chip */
    Figure scaleout_bytes_per_second; /* per chip: DCN (TPU) or network (GPU), one way; its source begins with
                                       * CHIP_NETWORK_TYPED where a user said it */
    Figure scaleout_seconds;          /* latency of one message there; GPUs: of one step */
    /* GPUs: the times that NCCL's tuner adds (mesh/collective.h); 0 means that the chip does not use NCCL. All or none
     * are given. */
    Figure ring_base_seconds, tree_base_seconds, tree_hop_seconds, tree_scaleout_seconds;
    Figure leaf_nodes; /* GPUs: domains under the leaves of one scalable unit; 0 means not known */
    /* Of leaf uplinks, >= 1. It belongs to the installation, not to the catalog: the planner's user sets it; 0 means 1,
     * full bisection. */
    double oversubscription;

    /* Tori: the shapes that a slice can have. 3-D: whole cubes of 4x4x4, at most max_cubes, and the listed sub-cube
     * shapes; 2-D: the listed shapes. */
    SliceShape pod;                     /* the physical pod: v5p 16x20x28; zero sizes mean that there is none */
    int64_t max_job_chips;              /* largest schedulable slice; 0 means that it is the pod */
    int64_t max_cubes;                  /* 3-D */
    bool sorted_shapes;                 /* 3-D: only A <= B <= C is offered (v4: any order) */
    int64_t closed_size;                /* 2-D: an axis closes only at this size (16) */
    SliceShape shapes[CHIP_SHAPES_MAX]; /* listed shapes (2-D: all; 3-D: the sub-cube ones) */
    int shape_count;
    SliceShape defaults[CHIP_SHAPES_MAX]; /* the default shape of each chip count, where there is more than one shape */
    int default_count;
    char name_prefix[2][CHIP_NAME_SIZE]; /* vendor slice names: "v5p", "v5litepod" */
    int64_t cores_in_name;               /* the number that a vendor name counts per chip: v5p-1024 is 512 chips: 2 */
    bool twisted;                        /* k x k x 2k and k x 2k x 2k are twisted: */
    Figure twisted_gain_k_k_2k,
        twisted_gain_k_2k_2k; /* an all_to_all over the whole slice is this much faster; 0 means not known */
    bool own_software; /* engines there are its vendor's forks (CANN): no figure of those for CUDA or ROCm holds */
    char topology_source[CHIP_SOURCE_SIZE]; /* of all counts and shapes above */
    bool topology_verified;
    bool pod_verified; /* false means that only the pod could not be checked */
    /* The figures that nobody published, and where they were looked for; empty means that a plan has all it needs. A
     * chip may lack figures only if it says so; a plan that needs a missing figure is refused
     * (machine_from_request). */
    char unknown[CHIP_SOURCE_SIZE];
    char sixteen_bits[8]; /* "bf16", or "fp16" where matmuls of bf16 have no units: the figure is that of fp16 then */
} Chip;

/* Whether the chip is a GPU, whose hosts form domains joined by a network; otherwise its slices are tori joined by
 * DCN. */
static inline bool chip_has_domains(const Chip *chip) {
    return chip->scaleup == SCALEUP_SWITCH || chip->scaleup == SCALEUP_MESH || chip->scaleup == SCALEUP_PCIE;
}

/* Makes HBM what the driver gives to a program, where the catalog knows that: 84.9 GB of an H100 that is sold as 80 GB,
 * 16.9 of a v5e that has 17.2. */
static inline void chip_use_driver_memory(Chip *chip) {
    if (chip->hbm_usable_bytes.value > 0) chip->hbm_bytes = chip->hbm_usable_bytes;
}

/* The text behind `option` where a user typed the figure; NULL: it is the catalog's. */
static inline const char *figure_typed(const Figure *figure, const char *option) {
    size_t length = strlen(option);
    return strncmp(figure->source, option, length) == 0 ? figure->source + length : NULL;
}

/* The rate of its hosts' network as a user said it, "8x400Gbps", and their memory, "1.5T"; NULL: the catalog's. */
static inline const char *chip_network_typed(const Chip *chip) {
    return figure_typed(&chip->scaleout_bytes_per_second, CHIP_NETWORK_TYPED);
}
static inline const char *chip_host_memory_typed(const Chip *chip) {
    return figure_typed(&chip->host_bytes, CHIP_HOST_MEMORY_TYPED);
}

/* The share of one of its devices: rates and memory of a chip in equal parts (tpu7x: two). Links belong to the mesh. */
Chip chip_device(const Chip *chip);

/* "torus_2d" "torus_3d" "switch" "mesh" "pcie" "unknown": as the catalog spells it. */
const char *scaleup_name(ScaleupKind kind);
