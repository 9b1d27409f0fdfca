/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What Megatron-LM's arguments say of the work, by training/arguments.py. */
#include "tests/search/launch/works.h"

#include "base/util.h"

static const WorkRow ROWS[] = {
    {"x.py --num-layers 80 --hidden-size 8192 --ffn-hidden-size 28672 --num-attention-heads 64 "
     "--group-query-attention --num-query-groups 8 --seq-length 8192 --max-position-embeddings 131072",
     "layers=80 d=8192 heads=64 kv=8 ff=28672 max=131072 seq=8192", NULL},
    /* without groups each head has keys of its own; with them and no number nobody says how many */
    {"x.py --num-attention-heads 64", "heads=64 kv=64", NULL},
    {"x.py --num-attention-heads 64 --group-query-attention", "heads=64", NULL},
    {"x.py --num-attention-heads 64 --num-query-groups 4", "heads=64 kv=4", NULL},
    /* of a mixture whose experts have a width of their own, dense layers may be none */
    {"x.py --ffn-hidden-size 100 --num-experts 8", "ff=100 experts=8", NULL},
    {"x.py --ffn-hidden-size 100 --num-experts 8 --moe-ffn-hidden-size 50", "experts=8", NULL},
    {"x.py --ffn-hidden-size 100 --moe-ffn-hidden-size 50", "ff=100", NULL},
    {"x.py --num-layers 1 --vocab-size 128256", "layers=1 vocab=128256", NULL},
    {"x.py --num-layers 1 --vocab-size 2147483648", "layers=1 vocab=2147483648", NULL},
    {"x.py --num-layers 1 --vocab-size 2147483649", "layers=1", NULL},
    {"x.py --num-layers 1 --vocab-size -1", "layers=1", NULL},
    {"x.py --num-layers 1 --fp8-format hybrid", "layers=1 precision=fp8 state=parameters=bf16", NULL},
    {"x.py --num-layers 1 --fp8-format hybrid --fp8-recipe mxfp8", "layers=1 precision=mxfp8 state=parameters=bf16",
     NULL},
    {"x.py --num-layers 1 --fp8-format hybrid --fp8-param-gather", "layers=1 precision=fp8", NULL},
    {"x.py --num-layers 1 --fp8-format hybrid --grad-reduce-in-bf16",
     "layers=1 precision=fp8 state=parameters=bf16 gradients=bf16", NULL},
    {"x.py --num-layers 1 --fp8-recipe mxfp8", "layers=1", NULL},
    {"x.py --num-layers 1 --fp4-format e2m1", "layers=1 precision=nvfp4", NULL},
    {"x.py --num-layers 1 --grad-reduce-in-bf16", "layers=1 state=gradients=bf16", NULL},
    {"x.py --num-layers 1 --accumulate-allreduce-grads-in-fp32", "layers=1 state=gradients=fp32", NULL},
    {"x.py --num-layers 1 --bf16", "layers=1 state=gradients=fp32", NULL}, /* arguments.py: what bf16 implies */
    {"x.py --num-layers 1 --bf16 --grad-reduce-in-bf16", "layers=1 state=gradients=bf16", NULL},
    {"x.py --num-layers 1 --grad-reduce-in-bf16 --accumulate-allreduce-grads-in-fp32", "layers=1 state=gradients=bf16",
     NULL},
    {"x.py --num-layers 1 --optimizer adam", "layers=1", NULL},
    {"x.py --num-layers 1 --optimizer sgd", "layers=1 optimizer=sgd-momentum", NULL},
    {"x.py --num-layers 1 --optimizer dist_muon", "layers=1 optimizer=muon", NULL},
    {"x.py --num-layers 1 --optimizer lion", "layers=1 optimizer=lion", NULL},
    {"x.py --num-layers 1 --optimizer soap", "layers=1", NULL},
    {"x.py --num-layers 1 --bf16 --main-params-dtype fp16 --exp-avg-dtype bf16 --exp-avg-sq-dtype fp8",
     "layers=1 state=gradients=fp32 master=fp16 m=bf16 v=fp8", NULL},
    {"torchrun --nnodes 16 --nproc_per_node 8 x.py --num-layers 1", "layers=1 nodes=16", NULL},
    {"x.py --num-layers 1048576", "layers=1048576", NULL},
    {"x.py --num-layers 1048577", NULL, "num-layers"},
    {"x.py --num-layers 0", NULL, "num-layers"},
    {"x.py --num-layers 1 --num-experts 0", NULL, "num-experts"},
};

Test(megatron_import, works) { expect_works("megatron", ROWS, COUNT_OF(ROWS)); }
