/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/report/data_file.h: the name of a file that an answer rests on, by what the file says. */
#pragma once

#include "base/sha256.h"

/* A file that an answer rests on. */
typedef struct {
    const char *file; /* "models/zoo/gpt2.json": from the data folder on; else as the user named it; NULL: not known */
    char sha256[SHA256_HEX_SIZE];
} DataFile;

/* The files of data that a plan is priced with. */
typedef enum { DATA_MODEL, DATA_CHIP, DATA_PROFILE, DATA_OPTIMIZER, DATA_COUNT } DataPart;
const char *data_part_name(DataPart part); /* "model" "chip" "profile" "optimizer" */
