/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/options/data_files.h: the data files behind a report, by name and hash. */
#pragma once

#include "search/report/report.h"

/* Fills `data` of a report whose request is resolved. Names live in the arena. */
bool data_files_name(Report *report, Arena *arena, Error *error);

/* That, and the hash of the whole data folder. */
bool data_files_name_all(Report *report, Arena *arena, Error *error);
