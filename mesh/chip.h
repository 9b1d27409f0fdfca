/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mesh/chip.h: one kind of accelerator, as the catalog states it. Rates are peaks and line rates; what a machine really
 * reaches is the profile's (cost/profile/profile.h). */
#ifndef SHARDOPT_MESH_CHIP_H
#define SHARDOPT_MESH_CHIP_H

#include <stdbool.h>
#include <stdint.h>

enum { CHIP_NAME_SIZE = 64, CHIP_ALIASES_MAX = 8, CHIP_SOURCE_SIZE = 384, CHIP_SHAPES_MAX = 128 };

typedef enum {
    SCALEUP_TORUS_2D,
    SCALEUP_TORUS_3D,
    SCALEUP_SWITCH,
    SCALEUP_MESH,    /* a domain like a switch's, with direct links between all pairs instead */
    SCALEUP_UNKNOWN, /* no figures: listed, never planned with */
} ScaleupKind;

/* One figure with its origin. Absent: value 0 and an empty source. */
typedef struct {
    double value;
    char source[CHIP_SOURCE_SIZE];
    bool verified; /* false: the catalog could not check it, and reports that lean on it say so */
} Figure;

typedef struct {
    int64_t size[3]; /* 1 where the generation has fewer axes */
} SliceShape;

typedef struct {
    char name[CHIP_NAME_SIZE]; /* "tpu-v5p" */
    const char *path;          /* the file it was read from, in the catalog's arena; NULL: none */
    char aliases[CHIP_ALIASES_MAX][CHIP_NAME_SIZE];
    int alias_count;
    char title[CHIP_NAME_SIZE]; /* for people: "TPU v5p" */

    Figure bf16_flops_per_second; /* dense */
    Figure fp8_flops_per_second;  /* 0: none */
    Figure int8_ops_per_second;
    Figure fp4_flops_per_second;    /* 0: none */
    Figure vector_flops_per_second; /* outside the matrix units; 0: not known */
    Figure hbm_bytes;
    Figure hbm_bytes_per_second;
    Figure pcie_bytes_per_second; /* host link, one way, per chip; 0: not known */
    Figure host_bytes;            /* memory of the host, per chip; 0: not known, and nothing is offloaded */
    Figure usd_per_chip_hour;     /* 0: not known */
    Figure matrix_tile;           /* both weight dimensions are padded to a multiple of it: 128 or 256; 0: not known */
    int64_t chips_per_host;
    int64_t chips_per_vm;                /* TPUs: of a slice of more than one chip, as schedulers count; 0: not known */
    int64_t devices_per_chip;            /* 1; tpu7x: 2 */
    Figure device_link_bytes_per_second; /* between two devices of one chip, one way; only where there are two */

    ScaleupKind scaleup;
    Figure link_bytes_per_second; /* torus: one link, one way; switch, mesh: one link of links_per_chip */
    int64_t links_per_chip;
    Figure hop_seconds;               /* torus: chip to neighbour; GPUs: one step inside the domain */
    int64_t domain_chips;             /* switch, mesh: chips of one NVLink (xGMI) domain */
    Figure scaleout_bytes_per_second; /* per chip: DCN (TPU) or network (GPU), one way */
    Figure scaleout_seconds;          /* latency of one message there; GPUs: of one step */
    /* GPUs: what NCCL's tuner adds (mesh/collective.h); 0: not NCCL. All or none. */
    Figure ring_base_seconds, tree_base_seconds, tree_hop_seconds, tree_scaleout_seconds;
    Figure leaf_nodes; /* GPUs: domains under the leaves of one scalable unit; 0: not known */
    /* Of leaf uplinks, >= 1. Of the installation, not of the catalog: whoever plans sets it; 0: 1, full bisection. */
    double oversubscription;

    /* Tori: what a slice can be. 3-D: whole cubes of 4x4x4, at most max_cubes, plus the sub-cube shapes listed; 2-D:
     * listed. */
    SliceShape pod;                     /* the physical pod: v5p 16x20x28; zero sizes: none */
    int64_t max_job_chips;              /* largest schedulable slice; 0: as the pod */
    int64_t max_cubes;                  /* 3-D */
    bool sorted_shapes;                 /* 3-D: only A <= B <= C is offered (v4: any order) */
    int64_t closed_size;                /* 2-D: an axis closes only at this size (16) */
    SliceShape shapes[CHIP_SHAPES_MAX]; /* listed shapes (2-D: all; 3-D: the sub-cube ones) */
    int shape_count;
    SliceShape defaults[CHIP_SHAPES_MAX]; /* the default shape of each chip count, where there is more than one shape */
    int default_count;
    char name_prefix[2][CHIP_NAME_SIZE]; /* vendor slice names: "v5p", "v5litepod" */
    int64_t cores_in_name; /* what the number of a vendor name counts per chip: v5p-1024 is 512 chips: 2 */
    bool twisted;          /* k x k x 2k and k x 2k x 2k are twisted: */
    Figure twisted_gain_k_k_2k,
        twisted_gain_k_2k_2k;               /* all_to_all over the whole slice is so much faster; 0: not known */
    char topology_source[CHIP_SOURCE_SIZE]; /* of all counts and shapes above */
    bool topology_verified;
    bool pod_verified; /* false: the pod alone could not be checked */
    /* What nobody published, and where it was looked for; empty: all that a plan needs is here. A chip may lack figures
     * only if it says so; a plan that needs one of them is refused (machine_from_request). */
    char unknown[CHIP_SOURCE_SIZE];
} Chip;

/* GPUs: hosts in domains, joined by a network; else slices of a torus, joined by DCN. */
static inline bool chip_has_domains(const Chip *chip) {
    return chip->scaleup == SCALEUP_SWITCH || chip->scaleup == SCALEUP_MESH;
}

/* What one of its devices has: rates and memory of a chip in equal parts (tpu7x: two). Links are the mesh's. */
Chip chip_device(const Chip *chip);

/* "torus_2d" "torus_3d" "switch" "mesh" "unknown": as the catalog spells it. */
const char *scaleup_name(ScaleupKind kind);

#endif
