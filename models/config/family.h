/* SPDX-License-Identifier: GPL-3.0-or-later */
/* models/config/family.h: families of models are data, models/families/NAME.json, built into the program; this reads a
 * config by them. How a family is written: models/families/README.md. */
#pragma once

#include "models/config/reader.h"

/* The texts of models/families, made by cmake/Families.cmake; the list ends with NULL. */
extern const char *const FAMILY_TEXTS[];

/* Whether a family reads the type. */
bool family_has(const char *type);
/* Whether the type's language model is in an object of its own. */
bool family_wraps(const char *type);
/* The type of a class ("LlamaForCausalLM"), copied to out; false: no family has it. */
bool family_of_class(const char *class_name, char *out, size_t size);
/* Whether the class is one of the type's own. */
bool family_has_class(const char *type, const char *class_name);
/* The type whose name is nearest, copied to out; false: none is near. */
bool family_nearest(const char *type, char *out, size_t size);

/* Reads config->root as a model of the type; false: *config->error says why not. A text model inside a wrapper that no
 * family has is read by its prefix. */
bool family_read(const Config *config, const char *type, Model *model);
