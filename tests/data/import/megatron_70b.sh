#!/bin/bash
# Llama 3 70B, 64 nodes of 8 H100
set -e
export CUDA_DEVICE_MAX_CONNECTIONS=1
GPUS_PER_NODE=8
NNODES=${SLURM_NNODES:-"64"}
WORLD_SIZE=$(($GPUS_PER_NODE*$NNODES))
TP=8
PP=4
CHECKPOINTS=$1   # given by the queue
FP8=no

DISTRIBUTED=(--nproc_per_node $GPUS_PER_NODE --nnodes $NNODES --master_addr ${MASTER_ADDR:-localhost})
MODEL=(
    --num-layers 80
    --hidden-size 8192
    --ffn-hidden-size 28672
    --num-attention-heads 64
    --group-query-attention
    --num-query-groups 8
    --vocab-size 128256
    --seq-length 8192
    --max-position-embeddings 8192
    --swiglu --normalization RMSNorm --position-embedding-type rope
    --untie-embeddings-and-output-weights
)
PARALLEL=(
    --tensor-model-parallel-size $TP
    --pipeline-model-parallel-size $PP
    --num-layers-per-virtual-pipeline-stage 5
    --sequence-parallel
    --use-distributed-optimizer
    --overlap-grad-reduce --overlap-param-gather
)
TRAINING=(
    --micro-batch-size 1
    --global-batch-size $((WORLD_SIZE / (TP * PP) * 16))
    --train-iters 1000 --lr 1.5e-4 --bf16
    "--recompute-granularity selective"
    # --recompute-activations
)
if [[ "$FP8" == "yes" ]]; then
    TRAINING+=(--fp8-format hybrid)
else
    TRAINING+=(--grad-reduce-in-bf16)
fi
torchrun "${DISTRIBUTED[@]}" pretrain_gpt.py \
    "${MODEL[@]}" "${PARALLEL[@]}" "${TRAINING[@]}" \
    --save $CHECKPOINTS --save-interval 500 2>&1 | tee run.log
