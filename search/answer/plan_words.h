/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/answer/plan_words.h: what the text report, the JSON report and `explain` say in the same words. Internal to
 * the report. */
#pragma once

#include "base/text/prose.h"
#include "cost/stage/memory_detail.h"
#include "search/answer/ranked_plan.h"

enum { WORDS_SIZE = 320 };

/* The setting that a plan was priced with: the request's, with the plan's own batch. */
CostContext ranked_cost_context(const Request *request, const RankedPlan *ranked);

/* Parameters that are trained, and *all with those that are frozen; below 0: the model is no shard of one chip. */
double plan_trained(const Request *request, const RankedPlan *ranked, double *all);

/* "data=8 fsdp=256 tensor=16 1f1b m=32": degrees above 1, then the schedule where there are stages. */
char *plan_label(const RankedPlan *ranked, char text[WORDS_SIZE]);
/* The same in the field's words, for a first answer: "TP8 CP4 PP16 VPP4, 1,024 microbatches", "one GPU". */
char *plan_degrees(const RankedPlan *ranked, char text[WORDS_SIZE]);
/* A degree in the field's words: "TP", "DP"; and what they call a chip of this kind: "GPU", or "chip". */
const char *chip_noun(const Chip *chip);
/* "stages, vocab", "nothing". */
const char *padding_text(PaddingSet set, char text[WORDS_SIZE]);
/* "8 pods of TPU v5p", "64 nodes of 8 H100 SXM5 80GB". */
const char *machine_text(const Request *request, char text[WORDS_SIZE]);
/* Of hosts whose size was typed:  "hosts of 4 with 4/8 of a usual host's network cards (200 GB/s,
 * --network)"; else nothing. */
void host_share_words(const Chip *chip, Prose *to);
/* The same of a chip and the text of a machine; pods: 0 where it is not so many whole ones. */
const char *machine_of(const Chip *chip, const char *shape, int64_t pods, char text[WORDS_SIZE]);
/* "at the logits": the moment at which memory peaks. */
const char *moment_text(Moment moment, bool stages);
/* "compute", "HBM", "ICI", "NVLink": bound_name() as a sentence writes it. */
const char *bound_text(BoundBy bound, const Mesh *mesh); /* direct links are xGMI, not NVLink */
/* "4 of x (a line), 8 of y (a ring, every 2nd)"; nothing for one chip. */
void footprint_words(const Mesh *mesh, const Footprint *footprint, Prose *to);

/* The step as a sum: terms[i].seconds add up to step.seconds. */
enum { TERMS_MAX = 16 };
typedef struct {
    const char *name;
    double seconds;       /* its part of the step */
    double whole_seconds; /* of communication: all of it, overlapped or not; otherwise 0 */
} Term;
int step_terms(const Estimate *estimate, const Degrees *degrees, Term terms[TERMS_MAX]);

/* The terms of two plans side by side, by name; those of the first per token of the second's batch. */
typedef struct {
    const char *name;
    double first, second;
} TermPair;
int term_pairs(const RankedPlan *first, const RankedPlan *second, TermPair pairs[2 * TERMS_MAX]);
const char *term_phrase(const char *name); /* what a term is called inside a sentence: "exposed data communication" */

/* Seconds over a step of the communication reported under a role, and how much of it is certainly exposed. */
double role_seconds(const StepTime *time, Role role, double *exposed);

/* What a group sends in one microbatch; over data what it sends in a step, at its start (PHASE_FORWARD) and at its end.
 * Bytes as in cost/plan/ops.h: of the whole array, once for each pass. */
Traffic group_traffic(const Estimate *estimate, Group group, Phase phase);

/* The probability, 0 to 1, that the plan fits: that what its device is shown to hold (memory_on_device()) stays within
 * HBM, by the errors of the memory model on measured runs (Profile.hbm_error). 0 means not known. */
double plan_fits_chance(const Request *request, const RankedPlan *ranked);

/* Sentences that say why this plan is as it is. They follow from the estimate alone. */
enum { WHY_MAX = 16, WHY_SIZE = 512 };
typedef struct {
    char text[WHY_MAX][WHY_SIZE];
    int count;
} Why;
void report_why(const RankedPlan *ranked, Why *out);

/* Writes one sentence that says why `other` is slower than `first`: it names the term that grew most. */
void report_why_not(const RankedPlan *first, const RankedPlan *other, Prose *out);

/* What of a plan is likelier than the rest to turn out otherwise than it is priced. */
enum { RISKS_MAX = 8, RISK_TEXT_SIZE = 160 };
typedef struct {
    const char *key; /* "hbm_full" "host_link_busy" "link_busy" "short_pipeline" "far_role" "optimizer_on_host"
                      * "unmeasured" */
    char text[RISK_TEXT_SIZE];
} Risk;
int plan_risks(const RankedPlan *ranked, Risk risks[RISKS_MAX]);

/* How each tensor is sharded: one row per tensor and state. */
enum { LAYOUT_ROWS_MAX = 48, SHARDING_TEXT_SIZE = 224 };
typedef struct {
    const char *tensor;                /* "attention qkv weights" */
    char sharding[SHARDING_TEXT_SIZE]; /* as a PartitionSpec: "('fsdp', 'tensor')" */
    const char *state;                 /* saved recomputed offloaded */
    int64_t layers;
} LayoutRow;
int layout_rows(const Model *model, const Plan *plan, LayoutRow rows[LAYOUT_ROWS_MAX]);

/* What a choice of the layout is worth compared with the default (cost/stage/sharding.h; every activation saved), with
 * all else of the plan unchanged. If there are two choices or more, the last entry compares the whole layout with the
 * default. */
typedef struct {
    const char *of; /* "residual stream", "gate_up" */
    const char *chosen, *instead;
    int64_t layers;       /* of the fullest stage, of an activation; else 0 */
    bool bound_to_others; /* it cannot be taken back alone, so that the following fields mean nothing */
    double seconds;       /* what it adds to a step; below 0 it saves time */
    double freed_bytes;   /* what it frees of HBM, at the peak of each; below 0 it takes HBM */
    bool fits_without;
} LayoutEffect;
enum { LAYOUT_EFFECTS_MAX = 5 + (STATE_COUNT - 1) * ACTIVATION_COUNT + 1 };
int layout_effects(const Request *request, const RankedPlan *ranked, LayoutEffect out[LAYOUT_EFFECTS_MAX]);

/* Cost of the training with this plan. Every allocated chip is paid for, idle or not. */
typedef struct {
    double tokens, steps, seconds, chip_hours;
    double usd;                /* on demand; negative means that no price is known */
    double reserved_usd;       /* at the price of a contract; likewise */
    double samples_per_second; /* of fine-tuning: pairs, where a sample is one; negative: it is none */
} Training;
Training training_of(const Request *request, const RankedPlan *ranked);

/* The same training with the failures that stop it. */
typedef struct {
    double mtbf_seconds;     /* of the job; 0 means that nothing fails, or that it is not known: the rest is 0 then */
    double checkpoint_bytes; /* master weights and moments of the whole model */
    double write_seconds;    /* until they are in storage */
    double blocking_seconds; /* that training waits: they are copied to the host, and written alongside the steps */
    double restart_seconds;
    double interval_seconds;                       /* between checkpoints, the best */
    double goodput;                                /* the share of time that steps take which count */
    double seconds, chip_hours, usd, reserved_usd; /* of the training so; a price as in Training */
    int64_t hosts, idle_hosts;                     /* that the plan uses, and that are left alongside it: spares */
    int64_t spares;                                /* hosts that make it whole 95% of the time */
    double whole;                                  /* the share of time that it is whole with the idle ones */
} Failing;
enum { SPARES_PERCENT = 95 };
Failing failing_of(const Request *request, const RankedPlan *ranked);

/* Layers of the fullest stage. */
int64_t stage_layers(const Plan *plan);

/* Figures of the catalog that a plan depends on and that nobody could check. */
typedef struct {
    const char *key, *words; /* "hop_seconds", "link latency" */
} Unverified;
enum { UNVERIFIED_MAX = 24 };
int unverified_figures(const Request *request, const RankedPlan *ranked, Unverified out[UNVERIFIED_MAX]);

/* The parts of a plan's memory at its peak: memory_parts() of its own batch. */
int peak_parts(const Request *request, const RankedPlan *ranked, MemoryPart parts[MEMORY_PARTS_MAX], double *in_flight);
/* What the plan keeps on the host, of one device. */
double plan_host_bytes(const Request *request, const RankedPlan *ranked);
