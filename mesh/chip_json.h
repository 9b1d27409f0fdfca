/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mesh/chip_json.h: a Chip from its catalog file: each figure {"value": number, "source": text, "verified": bool}. */
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "mesh/chip.h"

#include <cjson/cJSON.h>

bool chip_from_json(const cJSON *json, const char *where, Chip *out, Error *error);

typedef struct {
    Chip *chips; /* sorted by name */
    int count;
} Catalog;

/* Reads mesh/catalog of the data folder, from the build's notes where there are some (base/data_index.h). */
bool catalog_load(Arena *arena, Catalog *out, Error *error);

/* The same from the files. */
bool catalog_read(Arena *arena, Catalog *out, Error *error);

/* A chip's file ("h100.json"), with the figures of the chip that it is "like"; chip_from_json() reads it. The notes on
 * a chip are this in one line. NULL: *error says why. */
cJSON *chip_document(const char *folder, const char *file, Arena *arena, Error *error);

/* Finds a chip by name or alias: case and -_. are ignored, a leading "tpu-" may be left out, "80g" = "80gb". NULL means
 * that there is no such chip. */
const Chip *catalog_find(const Catalog *catalog, const char *name);

/* The chip of a cloud's instance that is no host of it, an alias such as "g5.12xlarge:4", and how many it has. */
const Chip *catalog_instance(const Catalog *catalog, const char *name, int *chips);

/* The figures of a chip in a table, so that `chips` and loaders walk the same list. */
typedef struct {
    const char *key;  /* "hbm_bytes" */
    const char *unit; /* "B", "B/s", "FLOP/s", "s", "USD/h", "" */
    size_t offset;    /* of the Figure in Chip */
    double low, high;
    bool required;
} ChipFigure;
extern const ChipFigure CHIP_FIGURES[];
extern const int CHIP_FIGURE_COUNT;
