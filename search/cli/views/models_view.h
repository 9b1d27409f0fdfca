/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/cli/views/models_view.h: models as people and scripts see them. What is computed once for both views, and the
 * views.
 * */
#pragma once

#include "base/text/terminal.h"
#include "models/config/model_json.h"
#include "models/mixer.h"
#include "models/parameters.h"

#include <stdio.h>

enum { MODELS_CONVENTIONS = 5, MODELS_PARTS = 25 };

typedef struct {
    FlopConvention convention;
    const char *key, *label;
} ModelsConvention;
extern const ModelsConvention MODELS_CONVENTION[MODELS_CONVENTIONS];

/* The rows of Parameters, in order; `key` for scripts, `label` for people. */
typedef struct {
    const char *key, *label;
    size_t offset;
} ModelsPart;
extern const ModelsPart MODELS_PART[MODELS_PARTS];
int64_t models_part(const Parameters *parameters, size_t part);

/* Whether most models have none of it, so that people see it only where there is some. */
bool models_part_is_rare(size_t part);

/* The mixer's name in a layer without attention; else "mha", "gqa", "mqa" (one key and value head for all) or "mla". */
const char *models_attention(const LayerKind *kind);
/* "rotary", "learned", "alibi" or "none". */
const char *models_positions(const Model *model);
/* The kind with the most experts, the first without any. */
const LayerKind *models_widest_mixture(const Model *model);
/* The narrowest window of all layers and how many layers have one; 0: none has. */
int64_t models_window(const Model *model, int64_t *layers);
/* The sequence that FLOPs are reported for: that of the training where it is public. */
int64_t models_usual_seq(const Model *model);

/* How far our count is from the published one, in percent; 0 where none is known. */
double models_distance_percent(int64_t counted, int64_t published);
/* Over this the zoo file says why; both counts are given. */
static const double MODELS_NEAR_PERCENT = 2;
bool models_is_far(const Model *model);

/* The list of the zoo, and one model in full. False: memory is out. */
bool models_write_table(TextOut out, const Zoo *zoo);
void models_write_text(FILE *out, const Model *model);
/* One model in full, or, `one` NULL, the list. False: memory is out. */
bool models_write_json(FILE *out, const Zoo *zoo, const Model *one);
