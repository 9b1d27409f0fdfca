/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/report/json/document.h: parts of the document that people read, in addition to the report's figures. Each
 * add gives false when memory is out. Internal to the JSON report. */
#pragma once

#include "search/report/around.h"

/* "around": how the answer moves with machine, batch, memory and figures, where that was searched. */
bool searches_add_json(cJSON *to, const Report *report);

/* "words": what the text report says of it, a line each; "commands": what to type next. */
bool words_add_json(cJSON *to, const Report *report);

/* "figures": every figure of the chip and of the profile, with its source. */
bool figures_add_json(cJSON *to, const Report *report);

/* "ops" of plan 1: what takes its time on a chip, and a measured kernel of each. It says *error itself. */
bool ops_add_json(cJSON *to, const Report *report, Error *error);
