/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The one name that cost/trace/formats/nsight.h wants: missing.c says that such files are not read here. */
#pragma once
typedef struct sqlite3 sqlite3;
