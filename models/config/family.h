/* SPDX-License-Identifier: GPL-3.0-or-later */
/* models/config/family.h: families of models are data, models/families/NAME.json, built into the program; this reads a
 * config by them. How a family is written: models/families/README.md. */
#pragma once

#include "models/config/family_index.h"
#include "models/config/reader.h"

/* Reads config->root as a model of the type; false: *config->error says why not. A text model inside a wrapper that no
 * family has is read by its prefix. */
bool family_read(const Config *config, const char *type, Model *model);
