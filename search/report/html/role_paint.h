/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/report/html/role_paint.h: the paint that stands for a role in every picture. */
#pragma once

#include "base/text/svg.h"
#include "mesh/factorization.h"

Paint paint_of_role(Role role);
