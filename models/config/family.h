/* SPDX-License-Identifier: GPL-3.0-or-later */
/* models/config/family.h: families of models are data, models/families/NAME.json, built into the program; this reads a
 * config by them. How a family is written: models/families/README.md. */
#pragma once

#include "models/config/reader.h"

/* Reads config->root as a model of the type; false: *config->error says why not. A text model inside a wrapper that no
 * family has is read by its prefix. */
bool family_read(const Config *config, const char *type, Model *model);

/* The types that the families read, found by name and by class. */

typedef struct {
    const char *type;
    const char *class_name, *text_class; /* of the whole, and of its language model alone; NULL: none of its own */
    const char *like;                    /* the type whose family it shares; NULL: none */
    bool wraps;                          /* its language model is in an object of its own */
    const char *json;                    /* the family */
} FamilyType;

/* Made by cmake/Families.cmake, sorted by type. */
extern const FamilyType FAMILY_TYPES[];
extern const int FAMILY_TYPE_COUNT;

/* NULL: no family reads the type. */
const FamilyType *family_of_type(const char *type);
/* Whether the type, or the one that it is like, keeps its language model in an object of its own. */
bool family_wraps(const FamilyType *type);
/* The type of a class ("LlamaForCausalLM"); NULL: no family has it. */
const FamilyType *family_of_class(const char *class_name);
/* Whether the class is one of the type's; a type without a class of its own has any. */
bool family_has_class(const FamilyType *type, const char *class_name);
/* The type whose name is nearest; NULL: none is near. */
const char *family_nearest(const char *type);
