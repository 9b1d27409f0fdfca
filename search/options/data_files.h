/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/options/data_files.h: the data that a report rests on, by name and by hash: of one file, and of the whole data
 * folder, so that two reports can be seen to rest on the same data. */
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "search/report/report.h"

enum { DATA_FOLDER_COUNT = 4 };
extern const char *const DATA_FOLDERS[DATA_FOLDER_COUNT]; /* sorted, so that the names of all files are */

/* SHA-256 over every .json file of models/zoo, mesh/catalog, cost/profiles and cost/optimizers, found as
 * file_data_folder() finds them: of the lines "<SHA-256 of the file>  <folder>/<name>\n", sorted by name (bytes). So it
 * can be had with coreutils, from the data folder:
 * LC_ALL=C sha256sum cost/optimizers/?*.json cost/profiles/?*.json mesh/catalog/?*.json models/zoo/?*.json | sha256sum
 * Files that are as the build saw them are not read for it (base/data_index.h). */
bool file_data_sha256(char hex[SHA256_HEX_SIZE], Arena *arena, Error *error);

/* SHA-256 of the bytes of a regular file of at most JSON_BYTES_MAX. */
bool file_sha256(const char *path, char hex[SHA256_HEX_SIZE], Error *error);

/* The name of `path` and its SHA-256; `folder` ("models/zoo") is where files of its kind lie in the data folder. In the
 * arena. */
bool data_file(const char *path, const char *folder, Arena *arena, DataFile *out, Error *error);

/* Fills `data` of a report whose request is resolved. Names live in the arena. */
bool data_files_name(Report *report, Arena *arena, Error *error);

/* That, and the hash of the whole data folder. */
bool data_files_name_all(Report *report, Arena *arena, Error *error);

/* What a report says of the measured run that is nearest to it. */

/* Sets report->measured from cost/measured/data/train.jsonl; leaves it NULL where no run is near, where no plan was
 * found and where the profile is not the default set, which is what measured runs say something about. */
bool measured_run_add(Report *report, Arena *arena, Error *error);
