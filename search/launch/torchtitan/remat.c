/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What torchtitan can be told to recompute: nothing, selective (op by op), full. Source: activation_checkpoint
 * (b5bcd76c). */
#include "search/launch/remat_list.h"
#include "search/launch/torchtitan/torchtitan.h"

#include <string.h>

const char *torchtitan_remat_words(const Model *model, const Layout *layout, char text[REMAT_TEXT_SIZE]) {
    int64_t layers;
    const char *policy = remat_policy(model, layout, &layers);
    if (!policy || layers > 0) return NULL;
    if (strcmp(policy, "none") == 0) return strcpy(text, "no activation_checkpoint");
    if (strcmp(policy, "selective_by_op") == 0) return strcpy(text, "activation_checkpoint=SelectiveAC");
    return strcmp(policy, "full") == 0 ? strcpy(text, "activation_checkpoint=FullAC") : NULL;
}

void torchtitan_remat_rules(RematList *list, const Model *model) {
    (void)model;
    ActivationState selective[ACTIVATION_COUNT];
    for (Activation a = 0; a < ACTIVATION_COUNT; a++) selective[a] = remat_selective_by_op(a);
    remat_list_add_none(list);
    remat_list_add(list, selective, 0);
    remat_list_add_full(list, 0);
}
