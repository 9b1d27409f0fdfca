/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/serving/launch/serving_graph.h: one way to serve as what an orchestrator of Kubernetes reads: a
 * DynamoGraphDeployment of NVIDIA Dynamo, or values of llm-d's chart. Pure but for the stream. */
#pragma once

#include "search/serving/report/serving_report.h"

/* Whether there is an orchestrator of that name: "dynamo" or "llm-d". */
bool serving_graph_known(const char *name);

/* The one engine that it starts; NULL: several, or there is no such orchestrator. */
const Engine *serving_graph_engine(const char *name);

/* Writes for a known orchestrator. False: it does not start this engine, or a worker cannot be started as the script of
 * serving_script.h would (*error has the rule). */
bool serving_graph_write(const char *name, const ServingReport *report, const ServingPoint *point, FILE *out,
                         Error *error);
