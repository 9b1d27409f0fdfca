/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/serving/launch/serving_script.h: one way to serve as a script that starts it: each worker on its devices, the
 * program before them, the numbers to expect, and the load test that would confirm them. Pure but for the stream. */
#pragma once

#include "search/serving/places.h"
#include "search/serving/report/serving_report.h"

/* False: the engine cannot start this point (*error has the rule), or memory is out. */
bool serving_script_write(const ServingReport *report, const ServingPoint *point, FILE *out, Error *error);

/* A function of the shell that starts a worker of the pool on one of its hosts: "prompts", "decode" or "both", of the
 * worker's number, which of its hosts this is, which of HOSTS is its first, and the port. It uses HOSTS, NODE_RANK and
 * MODEL. Returns its name; NULL: the engine cannot start it (*error has the rule). */
const char *serving_script_worker(const ServingQuestion *question, const ServingPool *pool, FILE *out, Error *error);

/* serving_graph.c: one way to serve as what an orchestrator of Kubernetes reads: a DynamoGraphDeployment of NVIDIA
 * Dynamo, or values of llm-d's chart. Pure but for the stream. */

/* Whether there is an orchestrator of that name: "dynamo" or "llm-d". */
bool serving_graph_known(const char *name);

/* The one engine that it starts; NULL: several, or there is no such orchestrator. */
const Engine *serving_graph_engine(const char *name);

/* Writes for a known orchestrator. False: it does not start this engine, or a worker cannot be started as the script of
 * serving_script.h would (*error has the rule). */
bool serving_graph_write(const char *name, const ServingReport *report, const ServingPoint *point, FILE *out,
                         Error *error);
