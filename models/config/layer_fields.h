/* SPDX-License-Identifier: GPL-3.0-or-later */
/* models/config/layer_fields.h: the fields of LayerKind by the keys of the native format, which are those of families.
 * To read one more, add a line in layer_fields.c. */
#pragma once

#include "models/model.h"

#include <stddef.h>

/* When a layer has the field. */
typedef enum {
    LAYER_ALWAYS,
    LAYER_ATTENTION,
    LAYER_WINDOW_GROUP,
    LAYER_DENSE,
    LAYER_MIXTURE,
    LAYER_EXPERTS
} LayerGroup;

/* A fallback of FIELD_REQUIRED: the key must be there; FIELD_UNLESS_MIXER: it may be left out of a layer with
 * a mixer. */
enum { FIELD_REQUIRED = -1, FIELD_UNLESS_MIXER = -2 };

typedef struct {
    const char *key;
    size_t offset;
    LayerGroup group;
    int64_t low, fallback;   /* of the native format */
    int64_t family_fallback; /* of families, which say all that they have */
} LayerWhole;

typedef struct {
    const char *key;
    size_t offset;
    LayerGroup group;
    bool fallback;
} LayerFlag;

enum { LAYER_WHOLES_MAX = 40, LAYER_FLAGS_MAX = 20 };
extern const LayerWhole LAYER_WHOLES[];
extern const LayerFlag LAYER_FLAGS[];
extern const int LAYER_WHOLE_COUNT, LAYER_FLAG_COUNT;
