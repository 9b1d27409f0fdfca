/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/report/html/mesh_roles.h: which role lies on which axis: each axis as a row of its chips, in it the roles as
 * they nest, the outermost on top. A block is a member of its group; blocks of one group are next to each other as the
 * axis has them. */
#pragma once

#include "base/text/prose.h"
#include "base/text/svg.h"
#include "search/answer/ranked_plan.h"

/* In a picture of SVG_PANEL. */
typedef struct {
    const Mesh *mesh;
    const Placement *placement;
    Nesting nesting;
    const char *const *words; /* by role, where it is called otherwise than role_name() says; NULL: nowhere */
} MeshRoles;
MeshRoles ranked_roles(const RankedPlan *ranked); /* points into the plan */
double mesh_roles_height(const MeshRoles *roles);
void mesh_roles_draw(Svg *svg, const MeshRoles *roles, double y);
void mesh_roles_list(const MeshRoles *roles, int axis, Prose *out); /* "tensor 4 (1 apart)"; nothing: no role */
