/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/request/offload.h"

#include "mesh/host_link.h"

#include <string.h>

/* What the optimizer on the host has to gain before it is worth what it asks of the host: few measured runs have it. */
static const double OPTIMIZER_GAIN = 0.05;

/* What --require and --remat put on the host. */
static void required_there(const Request *request, bool *optimizer, bool *activations) {
    const RematRule *remat = &request->question.remat;
    *optimizer = *activations = false;
    for (int i = 0; i < request->space.requirement_count; i++) {
        const Requirement *required = &request->space.requirements[i];
        *optimizer = *optimizer || (required->knob == KNOB_OFFLOAD_OPTIMIZER && required->degree != 0);
    }
    for (int a = 0; a < ACTIVATION_COUNT && remat->required; a++)
        *activations = *activations || remat->state[a] == STATE_OFFLOADED;
}

void request_settle_offload(Request *request) {
    const Chip *chip = &request->question.chip;
    bool optimizer, activations, roomy = !chip_has_domains(chip) || chip->coherent_host;
    if (request->asked.offload) return;
    required_there(request, &optimizer, &activations);
    activations = activations || roomy;
    bool all = optimizer && activations;
    request->question.offload = all           ? OFFLOAD_ALL
                                : optimizer   ? OFFLOAD_OPTIMIZER
                                : activations ? OFFLOAD_ACTIVATIONS
                                              : OFFLOAD_NONE;
    request->space.offload_open = !all && host_is_known(chip);
    request->space.offload_gain = roomy && request->space.offload_open ? OPTIMIZER_GAIN : 0;
}

bool request_offload(const char *text, const char *where, Request *request, Error *error) {
    request_settle_offload(request);
    if (!text || strcmp(text, "auto") == 0) return true;
    Offload asked;
    bool optimizer, activations;
    required_there(request, &optimizer, &activations);
    if (!offload_parse(text, where, &asked, error)) return false;
    if (optimizer && !offload_takes_optimizer(asked))
        return error_set(error, ERROR_INPUT, where, "%s, and --require has the optimizer's state on the host", text);
    if (activations && !offload_takes_activations(asked))
        return error_set(error, ERROR_INPUT, where, "%s, and --remat offloads activations", text);
    if (asked != OFFLOAD_NONE && !host_is_known(&request->question.chip))
        return error_set(error, ERROR_INPUT, where, "the catalog knows no host memory of %s; give none",
                         request->question.chip.title);
    request->question.offload = asked;
    request->asked.offload = true;
    request->space.offload_open = false;
    request->space.offload_gain = 0;
    return true;
}
