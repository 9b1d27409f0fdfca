/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What torchtitan's TOML and options say of the work: its Llama 3 is 3.1; without a length it trains on 2048. */
#include "tests/search/launch/works.h"

#include "base/util.h"

#define TRAINED "[training]\nseq_len = 8192\n"

static const WorkRow ROWS[] = {
    {TRAINED, "seq=8192", NULL},
    {"[training]\nlocal_batch_size = 1\n", "seq=2048", NULL},
    {"[training]\nmax_context_length = 4096\n", "seq=4096", NULL},
    {TRAINED "max_context_length = 4096\n", "seq=8192", NULL},
    {TRAINED "[model]\nname = \"llama3\"\nflavor = \"70B\"\n", "model=llama3.1-70B seq=8192", NULL},
    {TRAINED "[model]\nname = \"llama4\"\nflavor = \"17Bx16E\"\n", "model=llama4-scout-17b-16e seq=8192", NULL},
    {TRAINED "[model]\nname = \"llama4\"\nflavor = \"17bx128e\"\n", "model=llama4-maverick-17b-128e seq=8192", NULL},
    {TRAINED "[model]\nname = \"deepseek_v3\"\nflavor = \"671B\"\n", "model=deepseek-v3 seq=8192", NULL},
    {TRAINED "[model]\nname = \"deepseek_v3\"\nflavor = \"16B\"\n", "model=deepseek-v2-lite seq=8192", NULL},
    {TRAINED "[model]\nname = \"qwen3\"\nflavor = \"32B\"\n", "model=qwen3-32B seq=8192", NULL},
    {TRAINED "[model]\nname = \"llama3\"\n", "seq=8192", NULL},
    {TRAINED "[model]\nconverters = [\"float8\"]\n", "seq=8192 precision=fp8", NULL},
    {TRAINED "[model]\nconverters = [\"mx\"]\n", "seq=8192 precision=mxfp8", NULL},
    {TRAINED "[model]\nconverters = []\n", "seq=8192", NULL},
    {TRAINED "mixed_precision_reduce = \"bfloat16\"\n", "seq=8192 state=gradients=bf16", NULL},
    {TRAINED "mixed_precision_reduce = \"float32\"\n", "seq=8192 state=gradients=fp32", NULL},
    {TRAINED "dtype = \"bfloat16\"\n", "seq=8192 state=master=none m=bf16 v=bf16", NULL},
    {TRAINED "[optimizer]\nname = \"AdamW\"\n", "seq=8192", NULL},
    {TRAINED "[optimizer]\nname = \"Adam\"\n", "seq=8192", NULL},
    {TRAINED "[optimizer]\nname = \"Muon\"\n", "seq=8192 optimizer=muon", NULL},
    {TRAINED "[optimizer]\nname = \"Lion\"\n", "seq=8192", NULL},
    {"[training]\nseq_len = \"long\"\n", NULL, "seq_len"},
};

Test(torchtitan_import, works) { expect_works("torchtitan", ROWS, COUNT_OF(ROWS)); }
