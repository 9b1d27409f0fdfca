/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What DeepSpeed's JSON says of the work. Gradients that are accumulated in fp32 and reduced in the type of parameters
 * are how they are by default. */
#include "tests/search/launch/works.h"

#include "base/util.h"

#define BATCH "{\"train_batch_size\": 8"

static const WorkRow ROWS[] = {
    {BATCH "}", "", NULL},
    {BATCH ", \"shardopt\": {\"seq_length\": 4096, \"model\": \"8b\"}}", "model=8b seq=4096", NULL},
    {BATCH ", \"optimizer\": {\"type\": \"AdamW\"}}", "", NULL},
    {BATCH ", \"optimizer\": {\"type\": \"SGD\"}}", "optimizer=sgd", NULL},
    {BATCH ", \"optimizer\": {\"type\": \"Muon\"}}", "optimizer=muon", NULL},
    {BATCH ", \"optimizer\": {\"type\": \"Lamb\"}}", "", NULL},
    {BATCH ", \"optimizer\": {\"type\": \"Lion\"}}", "optimizer=lion", NULL},
    {BATCH ", \"bf16\": {\"enabled\": true, \"bf16_master_weights_and_grads\": true}}", "state=master=bf16", NULL},
    {BATCH ", \"bf16\": {\"bf16_master_weights_and_grads\": true, \"bf16_optimizer_states\": true}}",
     "state=master=bf16 m=bf16 v=bf16", NULL},
    {BATCH ", \"data_types\": {\"grad_accum_dtype\": \"bf16\"}}", "state=gradients=bf16", NULL},
    {BATCH ", \"data_types\": {\"grad_accum_dtype\": \"fp32\"}}", "state=gradients=fp32", NULL},
    {BATCH ", \"gradient_accumulation_steps\": 1, \"data_types\": {\"grad_accum_dtype\": \"fp32\"}}",
     "state=gradients=fp32", NULL},
    {BATCH ", \"gradient_accumulation_steps\": 4, \"data_types\": {\"grad_accum_dtype\": \"fp32\"}}", "", NULL},
    {BATCH ", \"gradient_accumulation_steps\": 4, \"data_types\": {\"grad_accum_dtype\": \"bf16\"}}",
     "state=gradients=bf16", NULL},
};

Test(deepspeed_import, works) { expect_works("deepspeed", ROWS, COUNT_OF(ROWS)); }
