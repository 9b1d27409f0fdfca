/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/launch/maxtext/maxtext.h: MaxText. Internal to its folder, and for tests. */
#pragma once

#include "search/launch/keys.h"

EmitWriter maxtext_write;
EmitNoter maxtext_notes;
const char *maxtext_refuses_work(const Request *request);

/* Passes one after the other; layers of a stage in one repeat; Dtypes; whether a sequence's parts are as heavy. */
enum { TERM_HEAD_DIM = TERM_OWN, TERM_TOP_K, TERM_PASSES, TERM_OF_STAGE, TERM_WEIGHTS, TERM_GRADIENTS, TERM_MOMENTS };
enum { TERM_BALANCED = TERM_MOMENTS + 1, TERM_PARAMETERS_ON_HOST };
extern const LaunchKey MAXTEXT_KEYS[];
extern const KeyWord MAXTEXT_DTYPES[];
extern const OptimizerWord MAXTEXT_OPTIMIZERS[];

void maxtext_remat_rules(RematList *list, const Model *model);
const char *maxtext_remat_words(const Model *model, const Layout *layout, char text[REMAT_TEXT_SIZE]);
/* Its names for the tensors of an activation, NULL after the last (or after MAXTEXT_TENSORS_MAX); none: it has no word
 * for it. */
enum { MAXTEXT_TENSORS_MAX = 6 };
const char *const *maxtext_tensors(Activation activation);
const char *maxtext_state(ActivationState state); /* "device" "remat" "offload" */

/* ---- a model in its words ---- */

/* Whether MaxText has a name for a model, or its layers; and whether its muon knows these layers. */
bool maxtext_has_model(const Model *model);
bool maxtext_has_muon(const Model *model);

/* Writes model_name, or for a model that MaxText has no name for but whose layers it has, the sizes of the default
 * model. */
void maxtext_write_model(const Model *model, FILE *out);

/* The zoo's name of a model_name; NULL: it is none that is known. */
const char *maxtext_model_ours(const char *model_name);

/* ---- the degrees of a plan as its two networks ---- */

/* What of a role lies inside a slice or node, and what across. */
typedef struct {
    int64_t inside[ROLE_COUNT], across[ROLE_COUNT];
} MaxtextDivision;
MaxtextDivision maxtext_division(const RankedPlan *ranked);

/* Every ici_* and dcn_* degree, and how physical axes may be split. False: two axes of the mesh for one role (usp)
 * would land elsewhere than it was costed. */
bool maxtext_write_mesh(const LaunchJob *job, bool tpu, FILE *out, Error *error);

/* The way back: degrees, and what of them is across slices or domains; *ulysses: the ways that exchange heads (usp). */
bool maxtext_read_mesh(ConfigFile *file, const Request *request, int64_t *ulysses, ImportedPlan *plan, Error *error);

/* "a=b c=d" as keys, a line each. */
void maxtext_write_pairs(const char *pairs, FILE *out);
