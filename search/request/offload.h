/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/request/offload.h: what may go to the host, as --offload says it, or by default. */
#pragma once

#include "search/request/request.h"

/* Settles what may go to the host where nobody said so: everything on TPUs and where the link to the host is coherent;
 * over PCIe, whose copies no published recipe finds worth while, only what --require or --remat ask for, and the rest
 * where nothing fits without (SpaceRules.offload_open). To be called when a condition was added. */
void request_settle_offload(Request *request);

/* Takes what --offload says, "auto" and NULL for the default. False: *error says how that contradicts --require,
 * --remat or the machine; `where` names the option. */
bool request_offload(const char *text, const char *where, Request *request, Error *error);
