/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/launch/maxtext/model.h: a model in MaxText's words. */
#pragma once

#include "models/model.h"

#include <stdio.h>

/* Writes model_name, or for a model that MaxText has no name for but whose layers it has, the sizes of the default
 * model; false: it has neither. `muon`: *muon says whether MaxText's muon knows the layers. */
bool maxtext_write_model(const Model *model, bool *muon, FILE *out);

/* The zoo's name of a model_name; NULL: it is none that is known. */
const char *maxtext_model_ours(const char *model_name);
