/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/shardopt.h: the library, seen from outside. It is the program's own commands, in memory: words go in, a report
 * comes out (the JSON report is the stable interface; its format_version says when it is not). Linking it binds:
 * GPL-3.0-or-later, as GLPK inside it is.
 *
 *     char *words[] = {"shardopt", "--model", "405b", "--pods", "8", "--format", "json", NULL};
 *     int code = shardopt_main(7, words, out, err);
 *
 * Compile with `pkg-config --cflags --libs shardopt`, or in CMake find_package(shardopt) and shardopt::shardopt. */
#ifndef SHARDOPT_H
#define SHARDOPT_H

#include <stdio.h>

#if defined(__GNUC__)
#define SHARDOPT_API __attribute__((visibility("default")))
#else
#define SHARDOPT_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* "0.1.0". Static: not to be freed. */
SHARDOPT_API const char *shardopt_version(void);

/* Runs one command line, argv[0] being the program's name, and returns its exit code: 0 done; 1 a gate failed; 2 the
 * words or a file are wrong; 3 no plan fits; 4 a limit ended the search before its proof; 70 a defect, or memory is out.
 * The result goes to `out` alone; one line on what went wrong, and warnings, to `err`. Both are flushed and stay the
 * caller's. Data files are found by SHARDOPT_DATA, or where the library was built from or installed to. Not for two
 * threads at a time: the search itself uses all cores, and popt and GLPK have state of their own. */
SHARDOPT_API int shardopt_main(int argc, char **argv, FILE *out, FILE *err);

/* The same into memory, for callers that have no FILE, such as Python by ctypes: *result and *messages become texts that
 * end with 0, for the caller to give to shardopt_free(); NULL pointers: not wanted. Where memory is out both are NULL,
 * and the exit code is 70. The JSON report of `--format json` is the interface that stays: docs/json.md.
 *
 *     char *report, *messages, *words[] = {"shardopt", "--model", "8b", "--slice", "4x4x4", "--format", "json", NULL};
 *     int code = shardopt_call(7, words, &report, &messages);
 *     ...
 *     shardopt_free(report), shardopt_free(messages); */
SHARDOPT_API int shardopt_call(int argc, char **argv, char **result, char **messages);
SHARDOPT_API void shardopt_free(char *text); /* NULL is no text */

#ifdef __cplusplus
}
#endif

#endif
