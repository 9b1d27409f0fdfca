/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/launch/deepspeed/deepspeed.h: DeepSpeed. Internal to its folder. */
#pragma once

#include "search/launch/emit.h"
#include "search/launch/import.h"

EmitWriter deepspeed_write;
EmitNoter deepspeed_notes;
EmitRefusal deepspeed_cannot;
ImportWork deepspeed_work;
ImportPlan deepspeed_plan;
