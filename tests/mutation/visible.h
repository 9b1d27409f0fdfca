/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Read before each source in the build of mutate.py: a function of a library that is loaded first can then take the
 * place of one of ours. */
#pragma GCC visibility push(default)
