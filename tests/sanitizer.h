/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tests/sanitizer.h: how many random problems, and rows that stand alone, a test tries. What a sanitizer looks for
 * turns up in a few, and takes five times as long: a third of them under one. */
#pragma once

#ifdef __SANITIZE_ADDRESS__
enum { PROBLEMS_SHARE = 3 };
#else
enum { PROBLEMS_SHARE = 1 };
#endif
