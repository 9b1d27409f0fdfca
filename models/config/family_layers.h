/* SPDX-License-Identifier: GPL-3.0-or-later */
/* models/config/family_layers.h: the layers of a model, by its family. Internal to the reader of families. */
#pragma once

#include "models/config/family_scope.h"

/* Adds the decoder's layers, or the encoder's, to the kinds of the model. False: *error says why not. */
bool family_layers(Scope *scope, int64_t layers, int64_t max_seq, bool encoder, Model *model);
/* "matrices" and "vectors" of a layer, "model_matrices" and "model_vectors" of the model: by column. */
bool family_extra(Scope *scope, const char *matrices, const char *vectors, ExtraParameters *extra);
