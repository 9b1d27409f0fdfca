/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/report/html/role_paint.h: the paint that stands for a role in every picture. */
#ifndef SHARDOPT_SEARCH_REPORT_HTML_ROLE_PAINT_H
#define SHARDOPT_SEARCH_REPORT_HTML_ROLE_PAINT_H

#include "base/text/svg.h"
#include "mesh/factorization.h"

Paint paint_of_role(Role role);

#endif
