#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The judge of `shardopt program`: compiles StableHLO text for a TPU topology with libtpu (no TPU is needed), and says
what a chip of the compiled program sends by kind of collective, its FLOPs and its peak memory.

    program.py FILE.mlir [--topology v5e:4x4]              an annotated program, as it stands
    program.py FILE.mlir --arguments SHARDINGS.json ...    a plain one with shardings of its arguments alone:
                                                           {"mesh": [4, 4], "arguments": [[["x"], []], ...]}
    program.py FILE.mlir --reference fsdp|data ...         the same, made here: state (donated arguments) by its longest
                                                           dimension that divides, or whole; the rest by its first
    program.py --check SHARDOPT FILE.mlir...               the test: what `shardopt program` makes of each, on 4x4 of v5e,
                                                           sends no more than FSDP and than an expert's rules, and
                                                           holds no more than is said
    program.py --agree SHARDOPT                            the test: a Llama layer as a program and as a model that shardopt
                                                           knows, sharded over 8 H100s by each, send the same bytes
    program.py --check SHARDOPT --topology v5p:2x2x4 ...   the same on another slice (of 16 chips)
    program.py --limits SHARDOPT FILE.mlir...              what is said where a chip has 0.6 and 0.4 of what the answer
                                                           without a limit may hold, as rows of docs/program.md: what is
                                                           sure to fit does, compiled with nothing in VMEM

The others print one line of JSON. Bytes are what one chip sends: (n - 1)/n of an all_gather's result and of a reduce_scatter's
operand, twice that of an all_reduce, (n - 1)/n of an all_to_all's operand, all of a permute's; a collective counts once
for each channel, though an asynchronous one stands in several fusions of the text, and times the trips of its loops.
"""
import argparse, glob, json, math, os, re, shutil, subprocess, sys, tempfile, time

os.environ.update(TPU_SKIP_MDS_QUERY="1", JAX_PLATFORMS="cpu", TF_CPP_MIN_LOG_LEVEL="3", ALLOW_MULTIPLE_LIBTPU_LOAD="1",
                  TPU_ACCELERATOR_TYPE="v5litepod-16", TPU_WORKER_HOSTNAMES="localhost")
WIDTH = dict(pred=1, s8=1, u8=1, s16=2, u16=2, bf16=2, f16=2, s32=4, u32=4, f32=4, s64=8, u64=8, f64=8)
KINDS = ("all-gather", "all-reduce", "reduce-scatter", "all-to-all", "collective-permute", "ragged-all-to-all")


def type_bytes(text):
    return sum(WIDTH[kind] * math.prod(int(n) for n in dims.split(",") if n)
               for kind, dims in re.findall(r"\b([a-z]+\d*)\[([\d,]*)\]", text) if kind in WIDTH)


class Module:
    """Computations of an HLO text: lists of (name, type, opcode, rest)."""

    def __init__(self, text):
        self.of, self.entry, name = {}, None, None
        for line in text.splitlines():
            head = re.match(r"(ENTRY )?%?([\w.\-]+) \(.*\{\s*$", line)
            if head:
                name = head[2]
                self.of[name] = []
                self.entry = name if head[1] else self.entry
            found = re.match(r"\s+(?:ROOT )?%?([\w.\-]+) = (.*)$", line)
            if found and name and not head:
                rest = found[2]
                end = self.close(rest) if rest[0] == "(" else rest.index(" ")
                opcode = re.match(r"\s*([\w\-]+)\(", rest[end:])
                if opcode:
                    self.of[name].append((found[1], rest[:end], opcode[1], rest[end:]))

    @staticmethod
    def close(text):
        depth = 0
        for i, c in enumerate(text):
            depth += (c == "(") - (c == ")")
            if depth == 0:
                return i + 1
        raise ValueError("brackets do not match: " + text[:100])

    def trips(self, rest):
        known = re.search(r'known_trip_count":\{"n":"(\d+)"', rest)
        if known:
            return int(known[1])
        condition = re.search(r"condition=%?([\w.\-]+)", rest)[1]
        most = [int(n) for _, t, op, r in self.of[condition] if op == "constant" for n in re.findall(r"constant\((\d+)\)", r)]
        return max(most, default=1)

    def times(self):
        """How often each computation runs."""
        times, order, seen = {self.entry: 1}, [], set()

        def visit(name):
            if name in seen:
                return
            seen.add(name)
            for _, _, _, rest in self.of[name]:
                for list_ in re.findall(r"(?:calls|to_apply|body|branch_computations)=(\{[^}]*\}|%?[\w.\-]+)", rest):
                    for other in re.findall(r"[\w.\-]+", list_):
                        if other in self.of:
                            visit(other)
            order.append(name)

        visit(self.entry)
        for name in reversed(order):
            for _, _, opcode, rest in self.of[name]:
                more = self.trips(rest) if opcode == "while" else 1
                for list_ in re.findall(r"(?:calls|to_apply|body|branch_computations)=(\{[^}]*\}|%?[\w.\-]+)", rest):
                    for other in re.findall(r"[\w.\-]+", list_):
                        if other in self.of:
                            times[other] = times.get(other, 0) + times[name] * more
        return times


def group_size(rest, devices):
    found = re.search(r"replica_groups=\{\{([\d,]*)\}", rest)
    if found:
        return len(found[1].split(","))
    found = re.search(r"replica_groups=\[(\d+),(\d+)\]", rest)
    if found:
        return int(found[2])
    found = re.search(r"replica_groups=mesh\[([^\]]*)\] ?\{([^}]*)\}", rest)
    if found:
        sizes = dict(re.findall(r"'([^']+)'=(\d+)", found[1]))
        return math.prod(int(sizes[axis]) for axis in re.findall(r"'([^']+)'", found[2]))
    return devices


def sent(text, devices):
    """{kind: bytes that a chip sends}."""
    module, once = Module(text), {}
    for computation, times in module.times().items():
        types = {name: type_ for name, type_, _, _ in module.of[computation]}
        for name, type_, opcode, rest in module.of[computation]:
            kind = opcode.removesuffix("-start")
            if kind not in KINDS:
                continue
            operands = rest[: rest.index(")") + 1]
            bytes_ = sum(type_bytes(types.get(one, "")) for one in re.findall(r"%([\w.\-]+)", operands))
            n = group_size(rest, devices)
            if kind == "all-reduce" and "all-reduce-scatter" in computation:
                kind = "reduce-scatter"  # the fused form: only a part of the sum leaves
            share = {"all-gather": n - 1, "all-reduce": 2 * (n - 1) / n, "collective-permute": 1}.get(kind, (n - 1) / n)
            channel = re.search(r"channel_id=(\d+)", rest)
            key = (kind, channel[1] if channel else (computation, name))
            once[key] = max(once.get(key, 0), bytes_ * share * times)
    rows = {}
    for (kind, _), bytes_ in once.items():
        rows[kind.replace("-", "_")] = rows.get(kind.replace("-", "_"), 0) + bytes_
    return rows


# ---- shardings of arguments alone ----

def split_arguments(head):
    """`%arg0: tensor<4x8xf32> {...}, ...`, cut at the commas between them."""
    parts, depth, begin = [], 0, 0
    for i, c in enumerate(head):
        depth += (c in "({[<") - (c in ")}]>" and head[i - 1] != "-")
        if depth < 0:
            return parts + [head[begin:i]], i
        if c == "," and depth == 0:
            parts.append(head[begin:i])
            begin = i + 1
    raise ValueError("no end of the arguments")


def reference(kind, arguments, chips):
    """Shardings over one axis of all chips, as people give them without thinking further."""
    out = []
    for one in arguments:
        sizes = [int(n) for n in re.search(r"tensor<((?:\d+x)*)", one)[1].split("x") if n]
        state, cut = "tf.aliasing_output" in one, None
        divides = [d for d in range(len(sizes)) if sizes[d] % chips == 0]
        if state and kind == "fsdp" and divides and math.prod(sizes) >= 4096:
            cut = max(divides, key=lambda d: sizes[d])
        if not state and 0 in divides:
            cut = 0
        out.append([["x"] if d == cut else [] for d in range(len(sizes))])
    return dict(mesh=[chips], arguments=out)


# What people who know the model would write in ten minutes: the axis "x" is all chips. By file: rank of an argument that
# is state, and the dimension that is cut, from the end; others are whole.
COLUMNS = {2: -1, 3: -2}  # of the MLPs, and heads
EXPERTS = {
    "mixture": {3: -3, 2: -1},      # experts over all chips, tables by column
    "recommender": {3: -1},         # embedding tables by column, the rest data parallel
    "convolutions": {4: -1},        # channels out
    "scan_remat": {3: -1, 4: -1},   # columns of every matrix
    "llama": {2: -1, 3: -1, 4: -1},  # MaxText's tensor parallelism over everything
    "gpt2": {2: -1, 3: -2, 4: -2},  # the same as COLUMNS
    "decode": {5: -4},              # caches by sequence of the batch, the rest by its first dimension
}


def expert(name, arguments, chips):
    out = []
    for one in arguments:
        sizes = [int(n) for n in re.search(r"tensor<((?:\d+x)*)", one)[1].split("x") if n]
        cut = EXPERTS.get(name, COLUMNS).get(len(sizes)) if "tf.aliasing_output" in one else (-len(sizes) if sizes else None)
        cut = None if cut is None or sizes[cut] % chips else cut % len(sizes)
        out.append([["x"] if d == cut else [] for d in range(len(sizes))])
    return dict(mesh=[chips], arguments=out)


def with_arguments(text, shardings):
    """The program with a mesh, these shardings of its arguments, and the same ones of the results that alias them."""
    names = "xyz"
    mesh = ", ".join(f'"{names[i]}"={n}' for i, n in enumerate(shardings["mesh"]))
    text = re.sub(r"(mhlo.num_partitions = )\d+", lambda m: m[1] + str(math.prod(shardings["mesh"])), text, count=1)
    begin = text.index("func.func public @main(") + len("func.func public @main(")
    arguments, end = split_arguments(text[begin:])
    written = lambda cut: "sdy.sharding = #sdy.sharding<@mesh, [" + ", ".join(
        "{" + ", ".join(f'"{a}"' for a in axes) + "}" for axes in cut) + "]>"
    put = lambda one, cut: (re.sub(r"\{(?=[^{}]*\}\s*$)", "{" + written(cut) + ", ", one, count=1) if "{" in one
                            else one.rstrip() + " {" + written(cut) + "}")
    aliases = {int(m[1]): cut for one, cut in zip(arguments, shardings["arguments"])
               if (m := re.search(r"tf.aliasing_output = (\d+)", one))}
    head = ",".join(put(one, cut) for one, cut in zip(arguments, shardings["arguments"]))
    rest = text[begin + end:]
    results = re.match(r"\) -> \(", rest)
    if results:
        outs, stop = split_arguments(rest[results.end():])
        outs = [put(one, aliases[i]) if i in aliases else one for i, one in enumerate(outs)]
        rest = ") -> (" + ",".join(outs) + rest[results.end() + stop:]
    module = text.index("{\n") + 2
    return text[:module] + f"  sdy.mesh @mesh = <[{mesh}]>\n" + text[module:begin] + head + rest


# ---- compiling ----

def compile_text(text, topology, dump=None, vmem=True):
    import jax
    import numpy as np
    from jax._src import compiler
    from jax._src.interpreters import mlir
    from jax._src.lib import _jax
    from jax.experimental import topologies
    from jaxlib.mlir import ir
    described = topologies.get_topology_desc(platform="tpu", topology_name=topology)
    devices = sorted(described.devices, key=lambda d: (tuple(reversed(d.coords)), getattr(d, "core_on_chip", 0)))
    order = re.search(r"^ *// devices: ([\d ]+)$", text, re.M)  # as the program's mesh has them
    if order:
        devices = [devices[int(i)] for i in order[1].split()]
    # Without rings in place of collectives next to matmuls, so that what is sent is counted under its own name.
    overrides = {"xla_jf_spmd_threshold_for_windowed_einsum_mib": "1000000"}
    overrides |= {} if vmem else {"xla_vf_vmem_memory_space_assignment": "false"}
    overrides |= {"xla_dump_to": dump, "xla_dump_hlo_as_text": True} if dump else {}
    options = compiler.get_compile_options(1, len(devices), device_assignment=np.array([[d.id for d in devices]]),
                                           env_options_overrides=overrides)
    options.executable_build_options.use_shardy_partitioner = True
    with mlir.make_ir_context():
        module = ir.Module.parse(text)
        return compiler.backend_compile_and_load(devices[0].client, module, _jax.DeviceList(tuple(devices)), options, []), len(devices)


def arguments_of(text):
    begin = text.index("func.func public @main(") + len("func.func public @main(")
    return split_arguments(text[begin:])[0]


def measure(text, topology, hlo=None, vmem=True):
    start = time.time()
    with tempfile.TemporaryDirectory() as dump:
        compiled, devices = compile_text(text, topology, dump, vmem)
        # Not compiled.hlo_modules(): jaxlib 0.10.2 cannot read some of v6e's asynchronous operations.
        dumped = max(glob.glob(os.path.join(dump, "*after_optimizations.txt")), key=os.path.getsize)
        written = open(dumped).read()
    if hlo:
        open(hlo, "w").write(written)
    rows = sent(written, devices)
    memory, cost = compiled.get_compiled_memory_stats(), compiled.cost_analysis()
    cost = cost[0] if isinstance(cost, list) else cost
    # What the runtime takes of HBM; peak_memory_in_bytes also counts what lies in VMEM.
    held = (memory.argument_size_in_bytes + memory.output_size_in_bytes - memory.alias_size_in_bytes
            + memory.temp_size_in_bytes)
    return dict(sent_mb=round(sum(rows.values()) / 1e6, 2), kinds={k: round(v / 1e6, 2) for k, v in sorted(rows.items())},
                gflops=round(cost.get("flops", 0) / 1e9, 2), peak_mb=round(held / 1e6, 1),
                temporary_mb=round(memory.temp_size_in_bytes / 1e6, 1), all_mb=round(memory.peak_memory_in_bytes / 1e6, 1),
                arguments_mb=round(memory.argument_size_in_bytes / 1e6, 1), seconds=round(time.time() - start, 1))


def ask(shardopt, path, topology, limit=None):
    """What shardopt says, and the annotated text (None: nothing fits); `limit`: bytes that a chip has."""
    with tempfile.TemporaryDirectory() as folder:
        annotated, environment, words = os.path.join(folder, "sharded.mlir"), dict(os.environ), []
        chip, slice_ = topology.split(":")
        if limit:  # a tenth of another chip: a catalog takes no less than 1 GB
            root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
            for part in ("models", "cost"):
                os.symlink(os.path.join(root, part), os.path.join(folder, part))
            shutil.copytree(os.path.join(root, "mesh", "catalog"), os.path.join(folder, "mesh", "catalog"))
            file = os.path.join(folder, "mesh", "catalog", f"tpu-{chip}.json")
            figures = json.load(open(file))
            figures["hbm_bytes"]["value"] = figures["hbm_usable_bytes"]["value"] = 10 * limit
            json.dump(figures, open(file, "w"))
            environment["SHARDOPT_DATA"], words = folder, ["--hbm-reserve", "90%"]
        ran = subprocess.run([shardopt, "program", path, "--chip", chip, "--slice", slice_, "--format", "json", "--annotate",
                              annotated, *words], env=environment, capture_output=True, text=True)
        if ran.returncode not in (0, 3, 4):
            raise ValueError(ran.stderr)
        return json.loads(ran.stdout), open(annotated).read() if os.path.exists(annotated) else None


def limits(shardopt, files, topology):
    failed = 0
    for path in files:
        name = os.path.basename(path).removesuffix(".mlir")
        free = ask(shardopt, path, topology)[0]["best"]
        for share in (0.6, 0.4):
            limit = share * free["peak_most_bytes"]
            if limit < 1e8:
                continue  # a catalog has no such chip
            said, text = ask(shardopt, path, topology, limit)
            best = said.get("best")
            word = "none" if not best else "may" if said["may_exceed"] else "sure"
            row = [name, f"{share} of {free['peak_most_bytes'] / 1e6:,.0f}: {limit / 1e6:,.0f}", word]
            if best:
                held = measure(text, topology, vmem=False)
                bound = min(max(one["bound_seconds"], 0) for one in said["meshes"])
                gap = "" if said["proven"] else f", no less than {bound * 1e3:.3f}"
                row += [f"{best['seconds'] * 1e3:.3f}{gap} ({free['seconds'] * 1e3:.3f} without)",
                        f"{best['peak_bytes'] / 1e6:,.0f} to {best['peak_most_bytes'] / 1e6:,.0f}, {held['peak_mb']:,.0f}",
                        f"{sum(best['sent_bytes'].values()) / 1e6:,.1f}, {held['sent_mb']:,.1f}"]
                over = word == "sure" and held["peak_mb"] * 1e6 > limit
                failed += over
                row[2] += " FAIL" if over else ""
            else:
                row += [", ".join(sorted({one["proof"] for one in said["meshes"]})), "", ""]
            print("| " + " | ".join(row) + " |", flush=True)
    return 1 if failed else 0


def check(shardopt, files, topology, chips=16):
    """Each program compiled as shardopt shards it, as FSDP does and by an expert's rules; what was said of it."""
    failed = 0
    for path in files:
        name = os.path.basename(path).removesuffix(".mlir")
        text = open(path).read()
        said, annotated = ask(shardopt, path, topology)
        ours = measure(annotated, topology)
        arguments = arguments_of(text)
        others = {"fsdp": reference("fsdp", arguments, chips), "expert": expert(name, arguments, chips)}
        others = {how: measure(with_arguments(text, cuts), topology) for how, cuts in others.items()}
        predicted = sum(said["best"]["sent_bytes"].values()) / 1e6
        print(f"{name}: sends {ours['sent_mb']} MB, said {predicted:.2f}; "
              + "; ".join(f"{how} {one['sent_mb']} MB" for how, one in others.items())
              + f"; {ours['gflops']} GFLOP, said {said['best']['matrix_flops'] / 1e9:.2f}; "
              f"holds {ours['peak_mb']} MB, said {said['best']['peak_bytes'] / 1e6:.1f} to "
              f"{said['best']['peak_most_bytes'] / 1e6:.1f}")
        faults = [f"sends more than {how}" for how, one in others.items() if ours["sent_mb"] > one["sent_mb"]]
        if abs(ours["sent_mb"] / predicted - 1) > 0.15:
            faults.append("sends not within 15% of what was said")
        if ours["peak_mb"] * 1e6 > said["best"]["peak_most_bytes"]:
            faults.append(f"holds {ours['peak_mb']} MB where {said['best']['peak_most_bytes'] / 1e6:.1f} are said to be the most")
        if faults:
            print(f"FAIL {name}: {', '.join(faults)}")
        failed += bool(faults)
    return 1 if failed else 0


LLAMA = dict(architectures=["LlamaForCausalLM"], model_type="llama", hidden_size=1024, intermediate_size=2816, head_dim=128,
             num_attention_heads=8, num_key_value_heads=8, vocab_size=8192, max_position_embeddings=512, tie_word_embeddings=False,
             hidden_act="silu", rms_norm_eps=1e-6, torch_dtype="bfloat16")  # program_models.py's


def agree(shardopt):
    """One layer is the difference of two numbers of layers; embedding and logits drop out."""
    try:
        import jax  # noqa: F401
    except ImportError:
        print("SKIPPED: JAX is not installed: pip install jax")
        return 77
    ask = lambda *words: json.loads(subprocess.run([shardopt, *words, "--chip", "h100", "--nodes", "1", "--format", "json"],
                                                   check=True, capture_output=True).stdout)
    models = os.path.join(os.path.dirname(os.path.abspath(__file__)), "program_models.py")
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, models, folder, "layer", "layers"], check=True)
        sent, passes = [], []
        for layers, name in ((1, "layer"), (2, "layers")):
            config = os.path.join(folder, "config.json")
            json.dump(LLAMA | dict(num_hidden_layers=layers), open(config, "w"))
            sent.append(ask("program", os.path.join(folder, name + ".mlir"), "--axes", "1")["best"]["sent_bytes"])
            plan = ask("plan", "--model", config, "--for", "jax", "--seq", "512", "--batch", "16384")["plans"][0]
            passes.append(sum(one["bytes"] for one in plan["communication"]))
    of_layer = {kind: sent[1].get(kind, 0) - sent[0].get(kind, 0) for kind in sent[1]}
    planned = (passes[1] - passes[0]) * 7 / 8
    print(f"a layer sends {sum(of_layer.values()) / 1e6:.3f} MB as a program ({of_layer}), {planned / 1e6:.3f} MB as planned")
    halves = all(abs(of_layer[kind] / (planned / 2) - 1) < 0.001 for kind in ("all_gather", "reduce_scatter"))
    return 0 if halves and abs(sum(of_layer.values()) / planned - 1) < 0.001 else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", nargs="*")
    parser.add_argument("--topology", default="v5e:4x4")
    parser.add_argument("--arguments")
    parser.add_argument("--reference", choices=["fsdp", "data"])
    parser.add_argument("--hlo", help="write the compiled text there")
    parser.add_argument("--check", metavar="SHARDOPT")
    parser.add_argument("--limits", metavar="SHARDOPT")
    parser.add_argument("--agree", metavar="SHARDOPT")
    options = parser.parse_args()
    if options.agree:
        sys.exit(agree(options.agree))
    if options.check or options.limits:
        try:
            import jax, libtpu  # noqa: F401
        except ImportError:
            print("SKIPPED: JAX with libtpu is not installed: pip install jax libtpu")
            sys.exit(77)
        sys.exit((check if options.check else limits)(options.check or options.limits, options.file, options.topology))
    text = open(options.file[0]).read()
    chips = math.prod(int(n) for n in re.findall(r"\d+", options.topology.split(":")[1]))
    if options.arguments:
        text = with_arguments(text, json.load(open(options.arguments)))
    if options.reference:
        text = with_arguments(text, reference(options.reference, arguments_of(text), chips))
    how = options.reference or options.arguments or "annotated"
    print(json.dumps(dict(file=os.path.basename(options.file[0]), how=how) | measure(text, options.topology, options.hlo)))


if __name__ == "__main__":
    main()
