/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/rl/rl_compare.h: what a configuration runs, next to the best with one of its choices free, and with all. */
#pragma once

#include "base/text/terminal.h"
#include "search/rl/rl_files.h"

/* `options` as rl_import() filled them. *fits: what is run fits. */
bool rl_compare(const Options *options, const RlFramework *framework, Arena *arena, TextOut out, bool *fits,
                Error *error);
