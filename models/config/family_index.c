/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/config/family.h"

#include "base/util.h"

#include <stdlib.h>
#include <string.h>

static int by_type(const void *name, const void *row) { return strcmp(name, ((const FamilyType *)row)->type); }

const FamilyType *family_of_type(const char *type) {
    return bsearch(type, FAMILY_TYPES, (size_t)FAMILY_TYPE_COUNT, sizeof *FAMILY_TYPES, by_type);
}

bool family_wraps(const FamilyType *type) {
    for (; type; type = type->like ? family_of_type(type->like) : NULL)
        if (type->wraps) return true;
    return false;
}

static bool is(const char *own, const char *class_name) { return own && strcmp(own, class_name) == 0; }

const FamilyType *family_of_class(const char *class_name) {
    for (int i = 0; i < FAMILY_TYPE_COUNT; i++)
        if (is(FAMILY_TYPES[i].class_name, class_name)) return &FAMILY_TYPES[i];
    return NULL;
}

bool family_has_class(const FamilyType *type, const char *class_name) {
    return (!type->class_name && !type->text_class) || is(type->class_name, class_name) ||
           is(type->text_class, class_name);
}

const char *family_nearest(const char *type) {
    const char *nearest = NULL;
    int best = (int)strlen(type) / 3 + 1;
    for (int i = 0; i < FAMILY_TYPE_COUNT; i++) {
        int distance = name_distance(type, FAMILY_TYPES[i].type);
        if (distance >= best) continue;
        best = distance;
        nearest = FAMILY_TYPES[i].type;
    }
    return nearest;
}
