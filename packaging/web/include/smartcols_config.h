/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What util-linux's configure finds of emscripten's C library. */
#pragma once
#define HAVE_WIDECHAR 1
#define HAVE_ERR_H 1
#define HAVE_ERRNO_H 1
#define HAVE_DIRENT_H 1
#define HAVE_LANGINFO_H 1
#define HAVE_NL_LANGINFO 1
#define HAVE_LOCALE_H 1
#define HAVE_SETLOCALE 1
#define HAVE_STRNLEN 1
#define HAVE_STRNDUP 1
#define HAVE_STPNCPY 1
#define HAVE_OPEN_MEMSTREAM 1
#define HAVE_FSYNC 1
#define HAVE_NANOSLEEP 1
#define HAVE_UNISTD_H 1
#define HAVE_STDINT_H 1
#define HAVE_PROGRAM_INVOCATION_SHORT_NAME 1
#define PACKAGE_STRING "util-linux 2.38.1"
#define PACKAGE_VERSION "2.38.1"
#define LIBSMARTCOLS_VERSION "2.38.1"
/* Of ttyutils.h it calls one function, which says how wide a terminal is: there is none. */
#define UTIL_LINUX_TTYUTILS_H
static inline int get_terminal_dimension(int *columns, int *lines) { return *columns = *lines = 0; }
