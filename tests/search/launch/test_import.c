/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a configuration of each launcher is as a plan, by that launcher's own rules worked out by hand, and what
 * contradicts itself: which key the error names. */
#include "base/util.h"
#include "search/cli/request_text.h"
#include "search/launch/import.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static const char V5P[] = "plan --model 70b --slice 8x8x8 --seq 8192";
static const char TWO_SLICES[] = "plan --model 70b --slice 8x8x8 --slices 2 --seq 8192";
static const char V6E[] = "plan --model 8b --chip v6e --slice 16x16 --seq 8192";
static const char H100[] = "plan --model 70b --chip h100 --nodes 16 --seq 8192";
static const char MIXTRAL[] = "plan --model mixtral-8x7b --chip h100 --nodes 8 --seq 4096";
static const char DEEPSEEK[] = "plan --model deepseek-v3 --chip h100 --nodes 64 --seq 4096";
static const char LLAMA2[] = "plan --model llama2-7b --chip h100 --nodes 2 --seq 4096";    /* 32 heads and KV heads */
static const char FLAT[] = "plan --model gpt3-175b --chip a100-80g --nodes 16 --seq 2048"; /* 96 layers and heads */

/* `plan`: degrees above 1 and knobs that must be among those read; `remat`: whole. */
static const struct {
    const char *name, *request, *text;
    struct {
        const char *degrees, *knobs[5], *remat;
        int64_t sequences;
    } plan;
} PLANS[] = {
    /* MaxText: 512 devices, fsdp takes what tensor leaves; 1 sequence a device: 512, of 64 replicas 8 each */
    {"maxtext: -1 is what is left",
     V5P,
     "ici_tensor_parallelism: 8\nper_device_batch_size: 1\nremat_policy: minimal\n",
     {"fsdp=64 tensor=8", {"microbatches=1", "microbatch_sequences=8", "regather=true"}, "minimal", 512}},
    /* two slices: dcn_data is -1 unless given; 2 x 512 devices x 0.5 sequences, 4 passes, on 128 replicas: 4 each */
    {"maxtext: slices",
     TWO_SLICES,
     "ici_tensor_parallelism: 8\nper_device_batch_size: 0.5\ngradient_accumulation_steps: 4\n",
     {"data=2 fsdp=64 tensor=8", {"microbatches=4", "microbatch_sequences=4", "zero_stage=0"}, "full", 2048}},
    {"maxtext: fsdp across",
     TWO_SLICES,
     "dcn_data_parallelism: 1\ndcn_fsdp_parallelism: 2\nper_device_batch_size: 1\n",
     {"fsdp=1024", {"microbatches=1", "microbatch_sequences=1"}, "full", 1024}},
    {"maxtext: fsdp_transpose and tensor_sequence",
     V5P,
     "ici_fsdp_transpose_parallelism: 4\nici_tensor_sequence_parallelism: 2\nper_device_batch_size: 1\n",
     {"fsdp=256 tensor=2", {"microbatches=1", "microbatch_sequences=2"}, "full", 512}},
    /* queries are most of qkv: without them it is recomputed, with them alone it is kept; qkv_proj is all three */
    {"maxtext: keys and values kept",
     V5P,
     "ici_fsdp_parallelism: 512\nper_device_batch_size: 1\nremat_policy: custom\nkey_proj: device\nvalue_proj: "
     "device\n",
     {"fsdp=512", {"microbatches=1"}, "full", 512}},
    {"maxtext: queries kept",
     V5P,
     "ici_fsdp_parallelism: 512\nper_device_batch_size: 1\nremat_policy: custom\nquery_proj: offload\nkey_proj: "
     "device\n",
     {"fsdp=512", {"microbatches=1"}, "qkv=offloaded", 512}},
    {"maxtext: all of qkv kept, and a part named again",
     V5P,
     "ici_fsdp_parallelism: 512\nper_device_batch_size: 1\nremat_policy: custom\nqkv_proj: device\nkey_proj: device\n"
     "attention_out: device\nmlpwi_1: device\ndecoder_layer_input: offload\n",
     {"fsdp=512", {"microbatches=1"}, "qkv=saved context=saved gate_up=saved layer_input=offloaded", 512}},
    {"maxtext: context",
     V5P,
     "ici_context_parallelism: 4\ncontext_parallel_strategy: ring\nper_device_batch_size: 1\n",
     {"fsdp=128 sequence=4", {"context_method=ring", "microbatch_sequences=4"}, "full", 512}},
    /* 80 layers on 4 stages of 5: 4 repeats; 512 sequences in 8 microbatches on 128 replicas: half a sequence is
     * none */
    {"maxtext: a circular pipeline",
     V5P,
     "ici_pipeline_parallelism: 4\nnum_layers_per_pipeline_stage: 5\nnum_pipeline_microbatches: "
     "8\nper_device_batch_size: 2\n",
     {"fsdp=128 pipeline=4",
      {"schedule=circular", "virtual_stages=4", "microbatches=8", "microbatch_sequences=1"},
      "full",
      1024}},
    {"maxtext: custom remat",
     V5P,
     "remat_policy: custom\nper_device_batch_size: 1\ndecoder_layer_input: offload\nout_proj: device\nmlpwi_0: "
     "offload\n"
     "mlpwi_1: offload\ncontext: remat\n",
     {"fsdp=512", {"microbatches=1"}, "middle=saved gate_up=offloaded layer_input=offloaded", 512}},
    {"maxtext: words of a command",
     V6E,
     "python3 -m MaxText.train base.yml ici_fsdp_parallelism=256 per_device_batch_size=3 remat_policy=minimal_flash",
     {"fsdp=256", {"microbatch_sequences=3"}, "minimal_with_context", 768}},
    {"maxtext: no policy of its own has a name",
     V6E,
     "ici_fsdp_parallelism: 256\noptimizer_memory_host_offload: true\n",
     {"fsdp=256", {"microbatch_sequences=12", "offload_optimizer=true"}, "full", 3072}},
    /* torchtitan: 128 GPUs, tp 8: 16 shards, each with its local batch of 8 */
    {"torchtitan: the defaults",
     H100,
     "[training]\nseq_len = 8192\n[parallelism]\ntensor_parallel_degree = 8\n",
     {"fsdp=16 tensor=8",
      {"microbatches=1", "microbatch_sequences=8", "regather=true", "tensor_overlap=false"},
      "full:40",
      128}},
    {"torchtitan: replicas",
     H100,
     "[training]\nlocal_batch_size = 2\nglobal_batch_size = 256\n[parallelism]\ndata_parallel_replicate_degree = 4\n"
     "[activation_checkpoint]\nmode = 'none'\n",
     {"data=4 fsdp=32", {"microbatches=1", "microbatch_sequences=2", "zero_stage=0"}, "none", 256}},
    {"torchtitan: accumulation",
     H100,
     "[training]\nlocal_batch_size = 2\nglobal_batch_size = 1024\n[activation_checkpoint]\nmode = 'full'\n",
     {"fsdp=128", {"microbatches=4", "microbatch_sequences=2"}, "full", 1024}},
    /* pp 4: 128 / 4 / 8 = 4 shards; weights are kept with stages; two chunks on a rank */
    {"torchtitan: interleaved",
     H100,
     "[training]\nlocal_batch_size = 8\n[parallelism]\ntensor_parallel_degree = 8\npipeline_parallel_degree = 4\n"
     "pipeline_parallel_schedule = 'Interleaved1F1B'\n[activation_checkpoint]\nmode = 'selective'\n"
     "selective_ac_option = '4'\n",
     {"fsdp=4 tensor=8 pipeline=4",
      {"schedule=interleaved virtual_stages=2", "microbatches=8", "microbatch_sequences=1", "regather=false"},
      "full:5",
      32}},
    {"torchtitan: layers of a stage",
     H100, /* (80 + 2) / 10.25 -> 8 stages */
     "[training]\nlocal_batch_size = 8\n[parallelism]\npipeline_parallel_degree = 8\npipeline_parallel_schedule = "
     "'1F1B'\n"
     "pipeline_parallel_layers_per_stage = 11\npipeline_parallel_microbatch_size = 2\n",
     {"fsdp=16 pipeline=8",
      {"schedule=1f1b virtual_stages=1", "microbatches=4", "microbatch_sequences=2"},
      "full:5",
      128}},
    {"torchtitan: context",
     H100,
     "[training]\nlocal_batch_size = 1\n[parallelism]\ncontext_parallel_degree = 4\n",
     {"fsdp=32 sequence=4",
      {"context_method=all_gather sequence_parameters=sharded", "microbatches=1"},
      "full:40",
      32}},
    {"torchtitan: experts",
     MIXTRAL,
     "[training]\nlocal_batch_size = 1\n[parallelism]\nexpert_parallel_degree = 8\n",
     {"fsdp=8 expert=8", {"folded_expert=0"}, "full:16", 64}}, /* of dp_shard alone: an axis that shards all */
    {"torchtitan: experts on ranks of tensor too",
     MIXTRAL,
     "[training]\nlocal_batch_size = 1\n[parallelism]\ntensor_parallel_degree = 2\nexpert_parallel_degree = 8\n",
     {"fsdp=32 tensor=2", {"folded_expert=8 folded_expert_tensor=1"}, "full:16", 32}},
    {"torchtitan: a config function",
     H100,
     "cat > plan.py <<'PYTHON'\n    config.activation_checkpoint = SelectiveAC.Config()\n"
     "    config.parallelism.module_fqns_per_model_part = [\n        [\"layers.0\"],\n        [\"layers.1\"],\n"
     "        [\"layers.2\"],\n        [\"layers.3\"],\n        [\"layers.4\"],\n        [\"layers.5\"],\n    ]\n"
     "    return config  # [all]\nPYTHON\ntorchrun --nnodes 16 --nproc-per-node 8 -m torchtitan.train --module plan "
     "--config plan --training.local_batch_size 8 --parallelism.tensor_parallel_degree 8 "
     "--parallelism.pipeline_parallel_degree 2 --parallelism.pipeline_parallel_schedule Interleaved1F1B\n",
     {"fsdp=8 tensor=8 pipeline=2",
      {"schedule=interleaved virtual_stages=3", "microbatches=8"},
      "selective_by_op",
      64}},
    {"torchtitan: flags of HEAD",
     H100,
     "torchrun train.py --module llama3 --training.max_context_length 8192 "
     "--training.num_tokens_per_microbatch_per_dp_rank 16384 --training.num_tokens_per_train_step 4194304 "
     "--parallelism.tensor_parallel_degree 8",
     {"fsdp=16 tensor=8", {"microbatches=16", "microbatch_sequences=2"}, "full:40", 512}},
    /* Megatron: 128 / (8 x 4) = 4 ranks; 256 / 4 = 64 microbatches */
    {"megatron: interleaved",
     H100,
     "pretrain_gpt.py --tensor-model-parallel-size 8 --pipeline-model-parallel-size 4 --sequence-parallel "
     "--num-layers-per-virtual-pipeline-stage 5 --micro-batch-size 1 --global-batch-size 256 "
     "--use-distributed-optimizer",
     {"data=4 tensor=8 pipeline=4",
      {"zero_stage=1", "schedule=interleaved virtual_stages=4", "microbatches=64"},
      "none",
      256}},
    {"megatron: chunks of one layer",
     H100,
     "pretrain_gpt.py --tensor-model-parallel-size 8 --pipeline-model-parallel-size 4 --sequence-parallel "
     "--num-layers-per-virtual-pipeline-stage 1 --micro-batch-size 1 --global-batch-size 256 "
     "--use-distributed-optimizer",
     {"data=4 tensor=8 pipeline=4",
      {"zero_stage=1", "schedule=interleaved virtual_stages=20", "microbatches=64"},
      "none",
      256}},
    {"megatron: a whole stage, recomputed in part",
     H100,
     "pretrain_gpt.py --tensor-model-parallel-size 8 --pipeline-model-parallel-size 4 --micro-batch-size 2 "
     "--global-batch-size 256 --recompute-granularity full --recompute-method block --recompute-num-layers 7",
     {"data=4 tensor=8 pipeline=4",
      {"zero_stage=0", "schedule=1f1b virtual_stages=1", "microbatches=32 microbatch_sequences=2"},
      "full:7",
      256}},
    {"megatron: context",
     H100,
     "x.py --context-parallel-size 2 --tensor-model-parallel-size 4 --micro-batch-size 1 --global-batch-size 64 "
     "--use-distributed-optimizer --recompute-activations --tp-comm-overlap --cp-comm-type a2a",
     {"data=16 sequence=2 tensor=4",
      {"context_method=ulysses sequence_parameters=replicated", "zero_stage=1", "tensor_overlap=true"},
      "none",
      64}},
    {"megatron: a ring of Ulysses",
     H100,
     "x.py --context-parallel-size 4 --micro-batch-size 1 --global-batch-size 64 --cp-comm-type a2a+p2p "
     "--hierarchical-context-parallel-sizes 2 2",
     {"data=32 sequence=4", {"context_method=ulysses_ring ulysses=2"}, "none", 64}},
    {"megatron: its FSDP",
     H100,
     "pretrain_gpt.py --use-megatron-fsdp --num-distributed-optimizer-instances 4 --micro-batch-size 1 "
     "--global-batch-size 128 --recompute-granularity selective --recompute-modules layernorm moe_act",
     {"data=4 fsdp=32", {"zero_stage=0", "microbatches=1"}, "layernorm", 128}}, /* no experts: no moe_act */
    /* `mlp` is that of dense layers alone (transformer_layer.py), of which DeepSeek-V3 has 3 of 61 */
    {"megatron: the MLP of dense layers",
     DEEPSEEK,
     "x.py --expert-model-parallel-size 64 --micro-batch-size 1 --global-batch-size 512 --recompute-granularity "
     "selective --recompute-modules mlp",
     {"data=512", {"folded_expert=64"}, "none", 512}},
    {"megatron: non-linearities and norms of a mixture, whose MLPs read dispatched tokens",
     DEEPSEEK,
     "x.py --expert-model-parallel-size 64 --micro-batch-size 1 --global-batch-size 512 --recompute-granularity "
     "selective --recompute-modules layernorm moe_act mlp",
     {"data=512", {"folded_expert=64"}, "qkv=saved context=saved middle=saved mlp_input=saved gate_up=saved", 512}},
    {"megatron: inputs of modules on the host",
     MIXTRAL,
     "x.py --expert-model-parallel-size 8 --expert-tensor-parallel-size 1 --micro-batch-size 1 --global-batch-size 64 "
     "--fine-grained-activation-offloading --offload-modules core_attn attn_norm",
     {"data=64",
      {"folded_expert=8"},
      "layer_input=offloaded attention_input=saved qkv=offloaded context=saved middle=saved mlp_input=saved "
      "gate_up=saved product=saved",
      64}},
    /* a rack of 72 in part: 16 hosts of 4, one in nine idles */
    {"megatron: a part of a rack",
     "plan --model 70b --chip gb200 --nodes 1 --seq 8192",
     "torchrun --nnodes 16 --nproc_per_node 4 x.py --tensor-model-parallel-size 4 --micro-batch-size 1 "
     "--global-batch-size 64",
     {"data=16 tensor=4", {"microbatches=4"}, "none", 64}},
    {"megatron: experts",
     MIXTRAL,
     "pretrain_gpt.py --tensor-model-parallel-size 2 --sequence-parallel --expert-model-parallel-size 8 "
     "--expert-tensor-parallel-size 1 --micro-batch-size 1 --global-batch-size 256 --pipeline-model-parallel-size 2",
     {"data=16 tensor=2 pipeline=2", {"folded_expert=8 folded_expert_tensor=1", "microbatches=16"}, "none", 256}},
    {"megatron: a layout",
     FLAT, /* 96 layers in 1 + 3 x 5 stages on 8 */
     "pretrain_gpt.py --tensor-model-parallel-size 8 --pipeline-model-parallel-size 8 --sequence-parallel "
     "--pipeline-model-parallel-layout 'Ettttt|(tttttt|)*14tttttttL' --micro-batch-size 1 --global-batch-size 32",
     {"data=2 tensor=8 pipeline=8", {"schedule=interleaved virtual_stages=2", "microbatches=16"}, "none", 32}},
    {"deepspeed: what the program does, in our object",
     H100,
     "{\"train_batch_size\":512,\"train_micro_batch_size_per_gpu\":2,\"zero_optimization\":{\"stage\":3,"
     "\"stage3_max_live_parameters\":1e12},\"shardopt\":{\"checkpointed_layers\":0,\"num_nodes\":16,\"num_gpus\":8}}",
     {"fsdp=128", {"microbatches=2", "regather=false"}, "none", 512}},
    /* DeepSpeed: 128 ranks, 512 = 2 x 2 x 128 */
    {"deepspeed: ZeRO-3",
     H100,
     "{\"train_batch_size\":512,\"gradient_accumulation_steps\":2,\"zero_optimization\":{\"stage\":3}}",
     {"fsdp=128", {"microbatches=2", "microbatch_sequences=2"}, "", 512}},
    {"deepspeed: ZeRO-2, tensor",
     H100,
     "{\"train_micro_batch_size_per_gpu\":2,\"gradient_accumulation_steps\":4,\"zero_optimization\":{\"stage\":2,"
     "\"offload_optimizer\":{\"device\":\"cpu\"}},\"tensor_parallel\":{\"autotp_size\":8}}",
     {"data=16 tensor=8",
      {"zero_stage=2", "microbatches=4 microbatch_sequences=2", "offload_optimizer=true"},
      "",
      128}},
    {"deepspeed: MiCS",
     H100,
     "{\"train_batch_size\":256,\"train_micro_batch_size_per_gpu\":\"auto\",\"gradient_accumulation_steps\":1,"
     "\"zero_optimization\":{\"stage\":3,\"mics_shard_size\":8},\"activation_checkpointing\":{\"cpu_checkpointing\":"
     "true}}",
     {"data=16 fsdp=8", {"zero_stage=0", "microbatches=1 microbatch_sequences=2"}, "layer_input=offloaded", 256}},
    {"deepspeed: Ulysses",
     LLAMA2,
     "{\"train_batch_size\":8,\"train_micro_batch_size_per_gpu\":1,\"sequence_parallel_size\":4,\"zero_optimization\":{"
     "\"stage\":1}}",
     {"data=4 sequence=4",
      {"context_method=ulysses sequence_parameters=replicated", "zero_stage=1", "microbatches=2"},
      "",
      8}},
};

typedef struct {
    Arena arena;
    ConfigFile file;
    Request *request;
    ImportedWork work;
    ImportedPlan plan;
    int launcher;
} Imported;

static bool import(const char *request, const char *text, Imported *out, Error *error) {
    memset(out, 0, sizeof *out);
    *error = (Error){0};
    out->request = ARENA_NEW(&out->arena, Request, 1);
    cr_assert(out->request && request_from_text(request, &out->arena, out->request), "%s", request);
    return import_read("f", text, strlen(text), NULL, &out->arena, &out->file, &out->launcher, error) &&
           import_work(out->launcher, &out->file, &out->work, error) &&
           import_machine(&out->file, &out->work, out->request, error) &&
           import_plan(out->launcher, &out->file, out->request, &out->plan, error);
}

/* That the plan has these settings, as --plan has them. */
static void expect_knobs(const ImportedPlan *plan, const char *knobs, const char *name) {
    Requirement list[REQUIREMENTS_MAX];
    int count = 0;
    Error error = {0};
    char is[KNOB_TEXT_SIZE];
    cr_assert(requirements_parse(knobs, "knobs", list, &count, &error), "%s: %s", name, error.text);
    for (int i = 0; i < count; i++) {
        int64_t setting = knob_setting(list[i].knob, &plan->knobs);
        cr_expect(import_says(plan, list[i].knob) && setting == list[i].degree, "%s: not %s, but %s", name, knobs,
                  knob_text(list[i].knob, setting, is));
    }
}

Test(launchers, plans) {
    for (size_t i = 0; i < COUNT_OF(PLANS); i++) {
        static Imported imported;
        Error error;
        char notation[NOTATION_SIZE];
        bool ok = import(PLANS[i].request, PLANS[i].text, &imported, &error);
        cr_expect(ok, "%s: %s: %s", PLANS[i].name, error.where, error.text);
        if (ok) {
            degrees_notation(&imported.plan.degrees, true, notation);
            cr_expect_str_eq(notation, PLANS[i].plan.degrees, "%s: %s", PLANS[i].name, notation);
            cr_expect_str_eq(imported.plan.remat, PLANS[i].plan.remat, "%s: %s", PLANS[i].name, imported.plan.remat);
            cr_expect_eq(imported.plan.sequences, PLANS[i].plan.sequences, "%s: %d", PLANS[i].name,
                         (int)imported.plan.sequences);
            for (size_t k = 0; k < COUNT_OF(PLANS[i].plan.knobs) && PLANS[i].plan.knobs[k]; k++)
                expect_knobs(&imported.plan, PLANS[i].plan.knobs[k], PLANS[i].name);
        }
        arena_free(&imported.arena);
    }
}

/* What each framework raises on, by its key; and degrees that are no machine's. */
static const struct {
    const char *name, *request, *text, *key;
} WRONG[] = {
    {"two -1", V5P, "ici_tensor_parallelism: -1\n", "ici_tensor_parallelism"},
    {"too few devices", V5P, "ici_fsdp_parallelism: 64\nici_tensor_parallelism: 4\n", "ici_*_parallelism"},
    {"too many slices", V5P, "ici_fsdp_parallelism: 512\ndcn_data_parallelism: 2\n", "dcn_*_parallelism"},
    {"no divisor", V5P, "ici_tensor_parallelism: 3\n", "ici_*_parallelism"},
    {"KV heads", V5P, "ici_tensor_parallelism: 16\n", "ici_tensor_parallelism"},
    {"a number of its own kind", V5P, "ici_tensor_parallelism: eight\n", "f:1:1: ici_tensor_parallelism"},
    {"huge", V5P, "ici_tensor_parallelism: 9223372036854775807\n", "ici_tensor_parallelism"},
    {"layers of stages", V5P, "ici_pipeline_parallelism: 4\nnum_layers_per_pipeline_stage: 3\n",
     "num_layers_per_pipeline_stage"},
    {"microbatches by stages", V5P,
     "ici_pipeline_parallelism: 4\nnum_pipeline_microbatches: 6\nnum_layers_per_pipeline_stage: 20\n",
     "num_pipeline_microbatches"},
    {"a policy", V5P, "ici_fsdp_parallelism: 512\nremat_policy: most\n", "remat_policy"},
    {"a strategy", V5P, "ici_context_parallelism: 2\ncontext_parallel_strategy: star\n", "context_parallel_strategy"},
    {"experts of a dense model", V5P, "ici_expert_parallelism: 2\n", "ici_expert_parallelism"},
    {"decoding", V5P, "ici_autoregressive_parallelism: 2\n", "ici_autoregressive_parallelism"},
    {"half a batch", V5P, "ici_fsdp_parallelism: 512\nper_device_batch_size: 0.5\n", "per_device_batch_size"},
    {"torchtitan: devices", H100, "[parallelism]\ntensor_parallel_degree = 8\ndata_parallel_shard_degree = 4\n",
     "parallelism"},
    {"torchtitan: KV heads", H100, "[parallelism]\ntensor_parallel_degree = 16\n",
     "parallelism.tensor_parallel_degree"},
    {"torchtitan: on a TPU", V5P, "[parallelism]\ntensor_parallel_degree = 8\n", "f"},
    {"torchtitan: sequence", "plan --model 70b --chip h100 --nodes 16 --seq 8184",
     "[parallelism]\ntensor_parallel_degree = 8\n", "training.seq_len"},
    {"torchtitan: a schedule", H100, "[parallelism]\npipeline_parallel_degree = 4\npipeline_parallel_schedule = 'x'\n",
     "parallelism.pipeline_parallel_schedule"},
    {"torchtitan: global batch", H100,
     "[training]\nglobal_batch_size = 1000\n[parallelism]\ntensor_parallel_degree = 8\n", "training.global_batch_size"},
    {"torchtitan: experts", MIXTRAL, "[parallelism]\nexpert_parallel_degree = 3\n",
     "parallelism.expert_parallel_degree"},
    {"torchtitan: a mode", H100, "[activation_checkpoint]\nmode = 'some'\n", "activation_checkpoint.mode"},
    {"megatron: world", H100,
     "x.py --tensor-model-parallel-size 8 --pipeline-model-parallel-size 5 --micro-batch-size 1",
     "tensor x pipeline x context"},
    {"megatron: heads", FLAT, "x.py --tensor-model-parallel-size 64 --micro-batch-size 1",
     "tensor-model-parallel-size"},
    {"megatron: layers", FLAT, "x.py --pipeline-model-parallel-size 64 --micro-batch-size 1",
     "pipeline-model-parallel-size"},
    {"megatron: virtual layers", FLAT,
     "x.py --pipeline-model-parallel-size 8 --num-layers-per-virtual-pipeline-stage 5 --micro-batch-size 1",
     "num-layers-per-virtual-pipeline-stage"},
    {"megatron: batch", H100, "x.py --micro-batch-size 3 --global-batch-size 256", "global-batch-size"},
    {"megatron: no micro-batch", H100, "x.py --tensor-model-parallel-size 8", "micro-batch-size"},
    {"megatron: sequence", "plan --model 70b --chip h100 --nodes 16 --seq 8190",
     "x.py --context-parallel-size 4 --micro-batch-size 1", "seq-length"},
    {"megatron: full wants a method", H100, "x.py --micro-batch-size 1 --recompute-granularity full",
     "recompute-granularity"},
    {"megatron: mixtures and tensor", MIXTRAL, "x.py --tensor-model-parallel-size 2 --micro-batch-size 1",
     "sequence-parallel"},
    {"megatron: experts", MIXTRAL, "x.py --expert-model-parallel-size 16 --micro-batch-size 1",
     "expert-model-parallel-size"},
    {"megatron: machine", H100, "torchrun --nnodes 4 --nproc_per_node 8 x.py --micro-batch-size 1", "nnodes"},
    {"megatron: a part that is too small", "plan --model 70b --chip gb200 --nodes 1 --seq 8192",
     "torchrun --nnodes 15 --nproc_per_node 4 x.py --micro-batch-size 1", "nnodes"},
    {"megatron: a switch", H100, "x.py --micro-batch-size 1 --sequence-parallel=maybe", "sequence-parallel"},
    {"jax: another machine", V5P,
     "x\nMESH_AXES = {'fsdp': 64}\nROLES = {'fsdp': ('fsdp',)}\nSEQUENCES = 512\nMICROBATCH_SEQUENCES = 1\n",
     "MESH_AXES"},
    {"jax: huge axes", V5P, "x\nMESH_AXES = {'fsdp': 99999999999999999999}\nROLES = {'fsdp': ('fsdp',)}\n",
     "MESH_AXES"},
    {"deepspeed: batch", H100, "{\"train_batch_size\":500,\"train_micro_batch_size_per_gpu\":2}", "train_batch_size"},
    {"deepspeed: three of them", H100,
     "{\"train_batch_size\":512,\"train_micro_batch_size_per_gpu\":2,\"gradient_accumulation_steps\":3}",
     "train_batch_size"},
    {"deepspeed: nothing", H100, "{\"zero_optimization\":{\"stage\":3}}", "train_batch_size"},
    {"deepspeed: a stage", H100, "{\"train_batch_size\":512,\"zero_optimization\":{\"stage\":4}}",
     "zero_optimization.stage"},
    {"of nobody", H100, "a: 1\n", "f"},
    {"empty", H100, "", "f"},
};

Test(launchers, contradictions) {
    for (size_t i = 0; i < COUNT_OF(WRONG); i++) {
        static Imported imported;
        Error error;
        bool ok = import(WRONG[i].request, WRONG[i].text, &imported, &error);
        cr_expect(!ok && error.kind == ERROR_INPUT, "%s", WRONG[i].name);
        if (!ok) cr_expect(strstr(error.where, WRONG[i].key), "%s: %s: %s", WRONG[i].name, error.where, error.text);
        arena_free(&imported.arena);
    }
}

/* Every beginning of every configuration above, and each with one of its digits made a 9 or many, is a plan or an
 * error. */
Test(launchers, any_beginning) {
    static Imported imported;
    for (size_t i = 0; i < COUNT_OF(PLANS); i++) {
        Error error;
        char text[2048];
        size_t length = strlen(PLANS[i].text);
        import(PLANS[i].request, PLANS[i].text, &imported, &error);
        for (size_t at = 0; at <= length; at++) {
            Arena arena = {0};
            ConfigFile file;
            ImportedWork work;
            ImportedPlan plan;
            int launcher;
            bool digit = at < length && PLANS[i].text[at] >= '0' && PLANS[i].text[at] <= '9';
            snprintf(text, sizeof text, "%.*s%s%s", (int)at, PLANS[i].text, digit ? "9999999999" : "",
                     digit ? PLANS[i].text + at + 1 : "");
            error = (Error){0};
            bool ok = import_read("f", text, strlen(text), NULL, &arena, &file, &launcher, &error) &&
                      import_work(launcher, &file, &work, &error) &&
                      import_machine(&file, &work, imported.request, &error) &&
                      import_plan(launcher, &file, imported.request, &plan, &error) &&
                      import_place(launcher, &file, imported.request, &plan, &error);
            cr_expect_eq(ok, error.kind == ERROR_NONE, "%s", text);
            arena_free(&arena);
        }
        arena_free(&imported.arena);
    }
}

/* What nobody takes is said once, with its line; what changes nothing is not. */
Test(launchers, what_is_left) {
    static Imported imported;
    Error error;
    cr_assert(import(V5P, "ici_fsdp_parallelism: 512\nper_device_batch_size: 1\nrun_name: x\nnew_sharding_trick: 3\n",
                     &imported, &error),
              "%s: %s", error.where, error.text);
    int said = 0;
    for (int i = 0; i < imported.file.note_count; i++)
        said += strstr(imported.file.notes[i], "new_sharding_trick (line 4)") != NULL &&
                !strstr(imported.file.notes[i], "run_name");
    cr_expect_eq(said, 1);
    arena_free(&imported.arena);
}

/* Ranks in Megatron's order fill a node of 8 with tensor first; JAX refuses to split axes that it was not told to. */
Test(launchers, placement) {
    static Imported imported;
    Error error;
    const Pin *pins = imported.plan.pins;
    cr_assert(import(H100, "x.py --tensor-model-parallel-size 4 --micro-batch-size 1", &imported, &error), "%s",
              error.text);
    cr_assert(import_place(imported.launcher, &imported.file, imported.request, &imported.plan, &error));
    cr_expect_str_eq(imported.plan.nesting, "megatron");
    cr_assert_eq(imported.plan.pin_count, 3); /* 4 x 2 in a node, 16 over the network */
    cr_expect(pins[0].role == ROLE_TENSOR && pins[0].factor == 4 && strcmp(pins[0].axis, "nvlink") == 0);
    cr_expect(pins[1].role == ROLE_DATA && pins[1].factor == 2 && strcmp(pins[1].axis, "nvlink") == 0);
    cr_expect(pins[2].role == ROLE_DATA && pins[2].factor == 16 && strcmp(pins[2].axis, "network") == 0);
    arena_free(&imported.arena);

    cr_assert(import(V6E, "ici_fsdp_parallelism: 64\nici_tensor_parallelism: 4\nper_device_batch_size: 1\n", &imported,
                     &error));
    cr_expect(!import_place(imported.launcher, &imported.file, imported.request, &imported.plan, &error));
    cr_expect(strstr(error.where, "allow_split_physical_axes"), "%s", error.where);
    arena_free(&imported.arena);
    cr_assert(import(V6E,
                     "ici_fsdp_parallelism: 64\nici_tensor_parallelism: 4\nper_device_batch_size: 1\n"
                     "allow_split_physical_axes: true\n",
                     &imported, &error));
    error = (Error){0};
    cr_assert(import_place(imported.launcher, &imported.file, imported.request, &imported.plan, &error));
    int64_t product = 1;
    for (int i = 0; i < imported.plan.pin_count; i++) product *= pins[i].factor;
    cr_expect_eq(product, 256);
    arena_free(&imported.arena);
}
