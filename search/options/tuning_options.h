/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/options/tuning_options.h: the options of fine-tuning. */
#pragma once

#include "search/options/machine_words.h"

/* Reads them into question.tuning, with the lengths and the batch that fine-tuning has where nobody says any. Model and
 * machine have been read. Without one of them the question stays that of training all weights, as it was. */
bool tuning_from_words(const Words *words, Request *request);
