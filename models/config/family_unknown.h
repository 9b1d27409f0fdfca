/* SPDX-License-Identifier: GPL-3.0-or-later */
/* models/config/family_unknown.h: keys that look like sizes and that the families of a config do not name. Internal to
 * the reader of families. */
#pragma once

#include "models/config/family_scope.h"

/* Adds to model->left_out what was passed over of the config and of the objects inside it that were read. A family
 * names a key by reading it or in its list "ignored". */
void family_unknown(const Scope *scope, Model *model);
