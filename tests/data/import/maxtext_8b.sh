#!/bin/bash
# 8B on a v6e slice, as XPK starts it
export LIBTPU_INIT_ARGS="--xla_tpu_enable_data_parallel_all_reduce_opt=true"
RUN=${1:-eight}
python3 -m MaxText.train MaxText/configs/base.yml run_name=$RUN \
    model_name=llama3.1-8b per_device_batch_size=2 max_target_length=8192 \
    ici_fsdp_parallelism=256 remat_policy=save_qkv_proj dataset_type=synthetic steps=30
