/* SPDX-License-Identifier: GPL-3.0-or-later */
/* base/build.h: how this program was built. build.c is the only file that CMake gives definitions to, so that every
 * other object is the same in every folder. All texts are static. */
#pragma once

const char *program_version(void);  /* "0.1.0": project(VERSION) of CMakeLists.txt */
const char *program_compiler(void); /* "gcc 12.2.0": the same digits need the same arithmetic */
const char *program_flags(void);    /* the compiler's flags */

/* The folders in which data is looked for after SHARDOPT_DATA: the folder of the sources ("" in a release, which knows
 * no folder of the machine that built it), and the folder where data is installed. */
const char *program_source_data(void);
const char *program_install_data(void);

/* What the build noted of the data in the folder of the sources (base/data_index.h); "" in a release. */
const char *program_source_index(void);
