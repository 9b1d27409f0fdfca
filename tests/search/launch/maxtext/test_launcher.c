/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What MaxText's YAML says of the work: without a length it trains on 2048, and one expert is none. */
#include "tests/search/launch/works.h"

#include "base/util.h"

#define TRAINED "max_target_length: 8192\n"

static const WorkRow ROWS[] = {
    {TRAINED, "seq=8192", NULL},
    {"per_device_batch_size: 1\n", "seq=2048", NULL},
    {TRAINED "model_name: llama3.1-70b\n", "model=llama3.1-70b seq=8192", NULL},
    {TRAINED "model_name: deepseek3-671b\n", "model=deepseek-v3 seq=8192", NULL},
    {TRAINED "model_name: default\n", "seq=8192", NULL},
    {TRAINED "model_name: mine\n", "model=mine seq=8192", NULL},
    {TRAINED "base_num_decoder_layers: 16\nbase_emb_dim: 2048\nbase_num_query_heads: 32\nbase_num_kv_heads: 8\n"
             "base_mlp_dim: 7168\nvocab_size: 32000\n",
     "layers=16 d=2048 heads=32 kv=8 ff=7168 vocab=32000 seq=8192", NULL},
    {TRAINED "num_experts: 8\n", "experts=8 seq=8192", NULL},
    {TRAINED "num_experts: 1\n", "seq=8192", NULL},
    {TRAINED "base_num_decoder_layers: 16\nglobal_parameter_scale: 1\n", "layers=16 seq=8192", NULL},
    {TRAINED "base_num_decoder_layers: 16\nglobal_parameter_scale: 2\n", "seq=8192", NULL},
    {TRAINED "global_parameter_scale: 1025\n", NULL, "global_parameter_scale"},
    {TRAINED "global_parameter_scale: 0\n", NULL, "global_parameter_scale"},
    {TRAINED "quantization: fp8\n", "seq=8192 precision=fp8", NULL},
    {TRAINED "quantization: fp8_full\n", "seq=8192 precision=fp8", NULL},
    {TRAINED "quantization: te_mxfp8\n", "seq=8192 precision=mxfp8", NULL},
    {TRAINED "quantization: te_nvfp4\n", "seq=8192 precision=nvfp4", NULL},
    {TRAINED "quantization: int8\n", "seq=8192 precision=int8", NULL},
    {TRAINED "quantization: int4\n", "seq=8192", NULL},
    {TRAINED "opt_type: adamw\n", "seq=8192", NULL},
    {TRAINED "opt_type: adam_pax\n", "seq=8192", NULL},
    {TRAINED "opt_type: muon\n", "seq=8192 optimizer=muon", NULL},
    {TRAINED "opt_type: sgd\n", "seq=8192 optimizer=sgd", NULL},
    {TRAINED "opt_type: lion\n", "seq=8192", NULL},
    {TRAINED "mu_dtype: bfloat16\n", "seq=8192 state=m=bf16", NULL}, /* optax keeps nu like the weights */
    {TRAINED "weight_dtype: bfloat16\n", "seq=8192 state=gradients=bf16 master=none m=bf16 v=bf16", NULL},
    {TRAINED "compile_topology: v5p-256\n", "seq=8192 slice=v5p-256", NULL},
    {TRAINED "compile_topology: v5p-256\ncompile_topology_num_slices: 1\n", "seq=8192 slice=v5p-256", NULL},
    {TRAINED "compile_topology: v5p-256\ncompile_topology_num_slices: 2\n", "seq=8192 slices=2 slice=v5p-256", NULL},
    {TRAINED "compile_topology_num_slices: 2\n", "seq=8192", NULL},
    {"max_target_length: long\n", NULL, "max_target_length"},
};

Test(maxtext_import, works) { expect_works("maxtext", ROWS, COUNT_OF(ROWS)); }
