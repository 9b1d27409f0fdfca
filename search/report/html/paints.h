/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/report/html/paints.h: the paint that stands for a role or a term in every picture. */
#pragma once

#include "base/text/svg.h"
#include "mesh/factorization.h"

Paint paint_of_role(Role role);

/* Of a term of a step, by its name: "matmul"; PAINT_OTHER where there is none. */
Paint paint_of_term(const char *term);
