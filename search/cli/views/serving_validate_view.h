/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/cli/views/serving_validate_view.h: the errors of replayed serving runs, as text, Markdown and JSON. */
#pragma once

#include "base/text/terminal.h"
#include "search/serving/measured/serving_score.h"

typedef struct {
    const ServingOutcome *outcomes;
    const ServingScore *score;
    const char *path, *profile;
} ServingValidateView;

bool serving_validate_text(TextOut out, const ServingValidateView *view, Error *error);
bool serving_validate_markdown(TextOut out, const ServingValidateView *view, Error *error);
bool serving_validate_json(TextOut out, const ServingValidateView *view, Error *error);
