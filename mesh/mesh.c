/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "mesh/mesh.h"

const char *axis_kind_name(AxisKind kind) {
    switch (kind) {
    case AXIS_RING:
        return "ring";
    case AXIS_LINE:
        return "line";
    case AXIS_SWITCH:
        return "switch";
    case AXIS_MESH:
        return "mesh";
    }
    return "?";
}

const char *axis_level_name(AxisLevel level) {
    switch (level) {
    case LEVEL_ICI:
        return "ici";
    case LEVEL_NVLINK:
        return "nvlink";
    case LEVEL_NETWORK:
        return "network";
    case LEVEL_DCN:
        return "dcn";
    }
    return "?";
}
