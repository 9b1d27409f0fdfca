#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# api_comments.sh HEADER: the header with its comments marked for Doxygen: the second is of the file, one at the start of
# a line describes what follows, one after code what it follows. Lines of dashes are titles of groups and are left out.
sed -e '/SPDX/d' -e 's|^/\* \(shardopt[.]h:\)|/** @file\n * \1|' -e '/^ *\/\* ---- .* ---- \*\//d' \
    -e 's|^\( *\)/\* |\1/** |' -e 's|^\( *[^ /].*[^ ]\)\( *\)/\* |\1\2/**< |' "$1"
