#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs one whole training step of torchtitan as the script that `shardopt emit torchtitan` wrote configures it: on fake
tensors and a fake process group, so that neither memory nor GPUs are needed. Notes what is sent and what is alive. Runs in
the virtual environment of set_up.sh. See README.md.

    step_torchtitan.py SCRIPT.sh OUT.json [layers=N] [tower=none]

A GPU's fused kernels stand in the program as operators of their own (attention, norms, the gated delta net's convolution
and scan), which keep what the kernels keep; on a CPU torch would spell them out, and keep more. tower=none: a step on text
alone."""
import collections
import json
import os
import subprocess
import sys
import tempfile
import time
import types
import weakref

KINDS = {"_allgather_base_": "all_gather", "_reduce_scatter_base_": "reduce_scatter", "allreduce_": "all_reduce",
         "alltoall_base_": "all_to_all", "all_gather_into_tensor": "all_gather", "all_gather_into_tensor_out": "all_gather",
         "reduce_scatter_tensor": "reduce_scatter", "all_reduce": "all_reduce", "all_reduce_": "all_reduce",
         "all_to_all_single": "all_to_all", "send": "send", "allgather_into_tensor_coalesced_": "all_gather"}
LOOKED_AFTER = 32e6  # bytes that are made between two looks at what is alive: the peak is that exact
ROLES = {"dp_replicate": ["data"], "fsdp": None, "dp_shard": ["fsdp"], "cp": ["sequence"], "tp": ["tensor"],
         "pp": ["pipeline"], "ep": ["expert"], "efsdp": ["fsdp"], "batch": ["data", "fsdp"],
         "loss": ["data", "fsdp", "sequence"]}


def command_of(script):
    """The words that the script gives to torchrun, as bash reads them."""
    with tempfile.TemporaryDirectory() as folder:
        with open(script) as source, open(folder + "/script.sh", "w") as copy:
            copy.write(source.read().replace("\nexec ", "\n"))
        with open(folder + "/torchrun", "w") as file:
            file.write('#!/bin/bash\nprintf "%s\\0" "$PYTHONPATH" "$@" > "$WORDS"\n')
        os.chmod(folder + "/torchrun", 0o755)
        path = {"PATH": folder + ":" + os.environ["PATH"], "WORDS": folder + "/words", "MASTER_ADDR": "localhost"}
        subprocess.run(["bash", folder + "/script.sh"], check=True, env={**os.environ, **path})
        python_path, *words = open(folder + "/words").read().split("\0")[:-1]
    options = dict(zip(words, words[1:]))
    world = int(options["--nproc-per-node"]) * int(options["--nnodes"])
    return python_path.split(":")[0], world, words[words.index("torchtitan.train") + 1 :]


def fused_kernels():
    """Attention and norms as single operators; what autograd keeps for them is what FlashAttention and torch's fused norm
    keep: inputs, output and the log-sum-exp; input and the inverse of the root mean square."""
    import torch

    @torch.library.custom_op("whole_step::flash", mutates_args=())
    def flash(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return torch.empty_like(q), q.new_empty(q.shape[:-1], dtype=torch.float32)

    @flash.register_fake
    def _(q, k, v):
        return torch.empty_like(q), q.new_empty(q.shape[:-1], dtype=torch.float32)

    @torch.library.custom_op("whole_step::flash_backward", mutates_args=())
    def flash_backward(g: torch.Tensor, q: torch.Tensor, k: torch.Tensor,
                       v: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        return torch.empty_like(q), torch.empty_like(k), torch.empty_like(v)

    @flash_backward.register_fake
    def _(g, q, k, v):
        return torch.empty_like(q), torch.empty_like(k), torch.empty_like(v)

    def keep(ctx, inputs, output):
        ctx.save_for_backward(*inputs, *output)

    def flash_grad(ctx, grad, _):
        q, k, v, _, _ = ctx.saved_tensors
        return torch.ops.whole_step.flash_backward(grad, q, k, v)

    flash.register_autograd(flash_grad, setup_context=keep)

    @torch.library.custom_op("whole_step::norm", mutates_args=())
    def norm(x: torch.Tensor, weight: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return torch.empty_like(x), x.new_empty(x.shape[:-1], dtype=torch.float32)

    @norm.register_fake
    def _(x, weight):
        return torch.empty_like(x), x.new_empty(x.shape[:-1], dtype=torch.float32)

    def keep_norm(ctx, inputs, output):
        ctx.save_for_backward(*inputs, output[1])

    def norm_grad(ctx, grad, _):
        x, weight, _ = ctx.saved_tensors
        return torch.empty_like(x), torch.empty_like(weight)

    norm.register_autograd(norm_grad, setup_context=keep_norm)

    # fla-core 0.6.0: modules/conv (its input is kept), ops/gated_delta_rule/chunk.py: what save_for_backward() is given;
    # the norm with a gate is one kernel there and two elementwise chains here
    @torch.library.custom_op("whole_step::convolution", mutates_args=())
    def convolution(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        return torch.empty_like(x)

    convolution.register_fake(lambda x, weight: torch.empty_like(x))
    convolution.register_autograd(lambda ctx, grad: tuple(torch.empty_like(one) for one in ctx.saved_tensors),
                                  setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs))

    @torch.library.custom_op("whole_step::gated_norm", mutates_args=())
    def gated_norm(x: torch.Tensor, gate: torch.Tensor, weight: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return torch.empty_like(x), x.new_empty(x.shape[:-1], dtype=torch.float32)

    gated_norm.register_fake(lambda x, gate, weight: (torch.empty_like(x),
                                                      x.new_empty(x.shape[:-1], dtype=torch.float32)))
    gated_norm.register_autograd(lambda ctx, grad, _: tuple(torch.empty_like(one) for one in ctx.saved_tensors[:3]),
                                 setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs, output[1]))

    @torch.library.custom_op("whole_step::delta_rule", mutates_args=())
    def delta_rule(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, g: torch.Tensor,
                   beta: torch.Tensor) -> list[torch.Tensor]:
        return delta_parts(q, k, v, g)

    def delta_parts(q, k, v, g):
        """The output; q, k with norm 1 and its inverses; the sums of decays; the inverse of each chunk's triangle."""
        return [torch.empty_like(v), torch.empty_like(q), torch.empty_like(k), *(
            q.new_empty(q.shape[:-1], dtype=torch.float32) for _ in range(2)), torch.empty_like(g, dtype=torch.float32),
            q.new_empty((*q.shape[:-1], 64))]

    delta_rule.register_fake(lambda q, k, v, g, beta: delta_parts(q, k, v, g))
    delta_rule.register_autograd(delta_grad, setup_context=keep_delta)
    return torch.ops.whole_step


def keep_delta(ctx, inputs, output):
    q, k, v, g, beta = inputs
    ctx.shapes = [(one.shape, one.dtype) for one in inputs]
    ctx.save_for_backward(v, beta, *output[1:])


def delta_grad(ctx, grads):
    v = ctx.saved_tensors[0]
    return tuple(v.new_empty(shape, dtype=dtype) for shape, dtype in ctx.shapes)


def stand_in_for_packages():
    """torchtitan's Qwen3.5 imports fla, whose kernels want a GPU, and readers of images: modules with the names that it
    takes from there."""
    names = {"torchvision.io": (), "torchvision.transforms.v2.functional": (), "einops": (),
             "fla.modules.conv.triton.ops": ("CausalConv1dFunction",), "fla.ops.gated_delta_rule.chunk": (
                 "ChunkGatedDeltaRuleFunction",), "fla.ops.gated_delta_rule.fused_recurrent": ("FusedRecurrentFunction",),
             "fla.ops.gated_delta_rule": ("chunk_gated_delta_rule", "fused_recurrent_gated_delta_rule")}
    import torch
    import datasets  # asks which packages there are, before there are these

    for path, wanted in names.items():
        parts = path.split(".")
        for i in range(1, len(parts) + 1):
            sys.modules.setdefault(".".join(parts[:i]), types.ModuleType(".".join(parts[:i]))).__path__ = []
        for name in wanted:
            setattr(sys.modules[path], name, type(name, (torch.autograd.Function,), {}))


def use_delta_kernels(ops):
    """In place of what torchtitan's gated delta net calls on one chip's part."""
    import torch
    from torch.distributed.tensor import DTensor, Partial
    from torchtitan.models.qwen3_5 import model

    def here(one, partial=()):
        return one.to_local(grad_placements=partial) if isinstance(one, DTensor) and partial else \
            one.to_local() if isinstance(one, DTensor) else one

    def like(whole, part):
        return DTensor.from_local(part, whole.device_mesh, whole.placements, run_check=False) if \
            isinstance(whole, DTensor) else part

    def convolved(self, x, conv, *_):
        return like(x, ops.convolution(here(x), here(conv.weight)))

    def scale(self, x):
        return here(self.weight, [Partial()] * x.device_mesh.ndim if isinstance(x, DTensor) else ())

    def normed(self, x):
        return like(x, ops.norm(here(x), scale(self, x))[0])

    def gated(self, x, gate):
        return like(x, ops.gated_norm(here(x), here(gate), scale(self, x))[0])

    model.GatedDeltaNet._causal_conv = convolved
    model.OffsetRMSNorm.forward, model.RMSNormGated.forward = normed, gated
    model._fla_chunk_gated_delta_rule = lambda q, k, v, g, beta, **_: ops.delta_rule(q, k, v, g, beta)


def use_fused_kernels(hybrid):
    import torch
    import torchtitan.distributed.activation_checkpoint as checkpoints
    from torch.distributed.tensor import DTensor, Partial
    from torchtitan.models.common import attention

    ops = fused_kernels()

    def forward(self, q_BLNH, k_BLNH, v_BLNH, *, attention_masks=None, **_):  # torchtitan's own names, by which it shards
        return ops.flash(q_BLNH, k_BLNH, v_BLNH)[0]

    for name in ("FlexAttention", "VarlenAttention", "ScaledDotProductAttention"):
        if hasattr(attention, name):
            getattr(attention, name).forward = forward
    saved = checkpoints._get_default_save_ops
    checkpoints._get_default_save_ops = lambda: saved() | {ops.flash.default}
    def normed(self, x):
        if not isinstance(x, DTensor):
            weight = self.weight.to_local() if isinstance(self.weight, DTensor) else self.weight
            return ops.norm(x, weight)[0]
        # every chip has some tokens, or some heads: its part of the weights' gradient is a partial sum
        partial = [Partial()] * x.device_mesh.ndim
        weight = self.weight
        weight = weight.to_local(grad_placements=partial) if isinstance(weight, DTensor) else weight
        return DTensor.from_local(ops.norm(x.to_local(), weight)[0], x.device_mesh, x.placements, run_check=False)

    torch.nn.RMSNorm.forward = normed
    if hybrid:
        use_delta_kernels(ops)


class Watch:
    """What is sent, and what is alive: the storages of every tensor that an operator makes, as long as they are held."""

    def __init__(self, degrees, groups, context_ways):
        self.rows, self.alive, self.phase = collections.defaultdict(lambda: [0, 0]), {}, "init"
        self.now = self.peak = self.made = 0
        self.at = {}
        self.degrees, self.groups, self.context_ways = degrees, groups, context_ways

    def mode(self):
        from torch.utils._python_dispatch import TorchDispatchMode

        watch = self

        class Mode(TorchDispatchMode):
            def __torch_dispatch__(self, function, types, arguments=(), named=None):
                return watch.seen(function, arguments, named or {})

        return Mode()

    def seen(self, function, arguments, named):
        import torch

        namespace, name = function._schema.name.split("::")
        if namespace in ("c10d", "_c10d_functional", "_c10d_functional_autograd") and name in KINDS:
            self.note(KINDS[name], namespace, arguments)
        if namespace == "cplib":  # an operator of context parallelism, whose collectives are inside
            whole = "backward" in name
            size = sum(one.numel() * one.element_size() for one in arguments[:2]) * (1 if whole else self.context_ways)
            self.add("reduce_scatter" if whole else "all_gather", ["sequence"], self.context_ways, arguments[0].dtype, size)
        result = function(*arguments, **named)
        torch.utils._pytree.tree_map_only(torch.Tensor, self.hold, result)
        return result

    def note(self, kind, namespace, arguments):
        import torch
        import torch.distributed as dist

        tensors = [one for one in torch.utils._pytree.tree_leaves(arguments) if isinstance(one, torch.Tensor)]
        name = next((one for one in arguments if isinstance(one, str) and one in self.groups), None)
        for one in arguments if name is None else ():
            try:
                name = dist.ProcessGroup.unbox(one).group_name
                break
            except (TypeError, RuntimeError, AttributeError):
                continue
        n = dist.distributed_c10d._resolve_process_group(name).size() if name else 1
        size = max(one.numel() * one.element_size() for one in tensors)
        if namespace != "c10d" and kind == "all_gather":
            size *= n
        if kind == "all_to_all":
            size = tensors[-1].numel() * tensors[-1].element_size() * n
        role = self.groups.get(name, str(name))
        self.add(kind, self.roles_of(role), n, tensors[0].dtype, size)

    def roles_of(self, name):
        roles = ROLES.get(name)
        if name == "fsdp":
            roles = ["fsdp", "sequence"]
        roles = [role for role in roles or [] if self.degrees.get(role, 1) > 1]
        return roles or ["data"]

    def add(self, kind, roles, n, dtype, size):
        """`size` is of the whole array; noted is what one of n chips sends."""
        if n <= 1 and kind != "send":
            return
        share = {"all_reduce": 2 * (n - 1) / n, "all_to_all": (n - 1) / n / n, "send": 1}.get(kind, (n - 1) / n)
        row = self.rows[kind, tuple(roles), n, str(dtype)[6:], self.phase]
        row[0] += size * share
        row[1] += 1

    def hold(self, tensor):
        if type(tensor).__name__ == "DTensor":  # whose operators run on parts that are not seen here
            tensor = tensor._local_tensor
        storage = tensor.untyped_storage()
        key, size = storage._cdata, storage.nbytes()
        if key in self.alive and self.alive[key]() is not None:
            return
        self.alive[key] = weakref.ref(storage, lambda _, key=key: self.alive.pop(key, None))
        self.made += size
        if self.made > LOOKED_AFTER:
            self.look()

    def look(self):
        """FSDP frees gathered weights by resizing their storage, so that sizes are asked for anew."""
        self.made = 0
        self.now = sum(storage.nbytes() for one in list(self.alive.values()) if (storage := one()) is not None)
        self.peak = max(self.peak, self.now)
        self.at[self.phase] = max(self.at.get(self.phase, 0), self.now)


def main():
    script, out, *more = sys.argv[1:]
    more = dict(word.split("=") for word in more)
    layers = more.get("layers")
    folder, world, words = command_of(script)
    sys.path.insert(0, folder)
    import torch
    import torch.distributed as dist
    import torchtitan.distributed.parallel_dims as parallel_dims
    import torchtitan.tools.utils as tools
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.testing._internal.distributed.fake_pg import FakeStore
    from torchtitan.config import ConfigManager
    from torchtitan.distributed import utils

    stand_in_for_packages()
    tools.device_type, tools.device_module, parallel_dims.device_type = "cpu", torch.cpu, "cpu"
    config = ConfigManager().parse_args(words)
    config.compile.enable = False
    config.parallelism.spmd_backend = "partial_dtensor"
    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=world)
    torch.autograd.set_multithreading_enabled(False)
    dims = parallel_dims.ParallelDims.from_config(config.parallelism, world)
    dims.build_mesh()
    utils.set_spmd_backend(config.parallelism.spmd_backend)
    hybrid = config.model_spec.name == "qwen3_5"
    use_fused_kernels(hybrid)
    groups = {}
    for name in ROLES:
        try:
            mesh = dims.get_optional_mesh(name)
        except (KeyError, ValueError, RuntimeError):
            mesh = None
        if mesh is not None and mesh.ndim == 1:
            groups.setdefault(mesh.get_group().group_name, name)
    degrees = {"data": dims.dp_replicate, "fsdp": dims.dp_shard, "sequence": dims.cp, "tensor": dims.tp, "pipeline": dims.pp,
               "expert": dims.ep}
    watch = Watch(degrees, groups, dims.cp)
    start = time.time()
    spec = config.model_spec
    spec.model.update_from_config(config=config)
    if layers:
        spec.model.layers = spec.model.layers[: int(layers)]
    with torch.device("meta"):
        model = spec.model.build()
    if more.get("tower") == "none":
        model.vision_encoder = None
    loss = config.loss.build(compile_config=config.compile)
    model = spec.parallelize_fn(model, parallel_dims=dims, training=config.training, parallelism=config.parallelism,
                                compile_config=config.compile, ac_config=config.activation_checkpoint, dump_folder=".")
    with FakeTensorMode(allow_non_fake_inputs=True), watch.mode():
        model.to_empty(device="cpu")
        model.train()
        if hasattr(loss, "set_lm_head"):
            loss.set_lm_head(model.lm_head)
            model._skip_lm_head = True
        optimizer = torch.optim.AdamW(model.parameters(), foreach=True)
        sequences, length = config.training.local_batch_size, config.training.seq_len // dims.cp
        # the moments are there from the second step on
        for parameter in model.parameters():
            parameter.grad = torch.zeros_like(parameter)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        watch.rows.clear()
        watch.look()
        watch.peak, watch.at, state = watch.now, {}, watch.now
        accumulated = max(1, config.training.global_batch_size // (sequences * dims.dp_replicate * dims.dp_shard)) \
            if config.training.global_batch_size > 0 else 1
        with utils.get_spmd_context(parallel_dims=dims)():
            for _ in range(accumulated):
                tokens = torch.zeros(sequences, length, dtype=torch.int64)
                positions = torch.zeros(sequences, length, dtype=torch.int32)
                watch.phase = "forward"
                images = {"special_tokens": collections.defaultdict(int)} if hybrid else {}
                hidden = model(tokens, positions=positions, attention_masks=None, **images)
                watch.phase = "loss"
                value, _ = loss(hidden, torch.zeros_like(tokens), torch.tensor(float(sequences * length)))
                del hidden
                watch.phase = "backward"
                value.backward()
            watch.phase = "clip"
            utils.clip_grad_norm_(list(model.parameters()), 1.0, foreach=True, ep_enabled=dims.ep_enabled)
            watch.phase = "update"
            optimizer.step()
    rows = [dict(zip(("kind", "roles", "chips", "dtype", "phase"), key), ring=False, sent=sent, times=times)
            for key, (sent, times) in sorted(watch.rows.items())]
    said = {"mesh": degrees, "seconds": round(time.time() - start, 1), "arguments_bytes": state, "peak_bytes": watch.peak,
            "alive_bytes": watch.at, "rows": rows}
    with open(out, "w") as file:
        json.dump(said, file)


if __name__ == "__main__":
    main()
