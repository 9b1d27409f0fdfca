/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/build.h"

#if defined(__clang__)
#define COMPILER "clang " __clang_version__
#elif defined(__GNUC__)
#define COMPILER "gcc " __VERSION__
#else
#define COMPILER "not known"
#endif

const char *program_version(void) { return SHARDOPT_VERSION; }
const char *program_compiler(void) { return COMPILER; }
const char *program_flags(void) { return SHARDOPT_FLAGS; }
const char *program_source_data(void) { return SHARDOPT_SOURCE_DATA; }
const char *program_install_data(void) { return SHARDOPT_INSTALL_DATA; }
const char *program_source_index(void) { return SHARDOPT_SOURCE_INDEX; }
