/* SPDX-License-Identifier: GPL-3.0-or-later */
/* base/data_hash.h: one name for the whole data folder, so that two reports can be told to rest on the same facts. */
#ifndef SHARDOPT_BASE_DATA_HASH_H
#define SHARDOPT_BASE_DATA_HASH_H

#include "base/arena.h"
#include "base/error.h"
#include "base/sha256.h"

/* SHA-256 over every .json file of models/zoo, mesh/catalog, cost/profiles and cost/optimizers, found as
 * file_data_folder() finds them: of the lines "<SHA-256 of the file>  <folder>/<name>\n", sorted by name (bytes). So it
 * can be had with coreutils, from the data folder:
 * LC_ALL=C sha256sum cost/optimizers/?*.json cost/profiles/?*.json mesh/catalog/?*.json models/zoo/?*.json | sha256sum
 */
bool file_data_sha256(char hex[SHA256_HEX_SIZE], Arena *arena, Error *error);

#endif
