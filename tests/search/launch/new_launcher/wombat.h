/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tests/search/launch/new_launcher/wombat.h: an invented launcher, and the sentence with which it refuses stages. */
#pragma once

#include "search/launch/launcher.h"

#define WOMBAT_REFUSES_STAGES "a wombat digs one burrow: no pipeline stages"

extern const Launcher WOMBAT_LAUNCHER;
