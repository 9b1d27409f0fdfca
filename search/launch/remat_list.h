/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/launch/remat_list.h: how a launcher lists what it can be told to recompute and to offload. Pure. */
#pragma once

#include "search/launch/launcher.h"

/* One more rule. `layers`: as RematRule has it. */
void remat_list_add(RematList *list, const ActivationState state[ACTIVATION_COUNT], int64_t layers);
void remat_list_add_none(RematList *list);                 /* everything is saved */
void remat_list_add_full(RematList *list, int64_t layers); /* everything is recomputed from the layer's input */
