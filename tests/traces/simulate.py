# SPDX-License-Identifier: GPL-3.0-or-later
"""A trace made from a plan, of which every term is known.

events_of(plan, ...) lays the plan's terms out as kernels: in each step and chunk, computation with what hides beneath
it, then what is exposed, one after the other. Writers turn that into the files of profilers. Nothing here is shared
with the program that reads them.
"""
import bisect, gzip, json, random, sqlite3, struct

ROLES = ("tensor", "expert", "sequence", "fsdp", "data", "pipeline")
GROUPS = {"tensor": "TENSOR_MODEL_PARALLEL_GROUP", "expert": "EXPERT_MODEL_PARALLEL_GROUP",
          "sequence": "CONTEXT_PARALLEL_GROUP", "fsdp": "mesh_dp_shard", "data": "DATA_PARALLEL_GROUP",
          "pipeline": "PIPELINE_MODEL_PARALLEL_GROUP"}
KINDS = {"tensor": ("_allgather_base", "AllGather"), "expert": ("all_to_allv", "SendRecv"),
         "sequence": ("send", "SendRecv"), "fsdp": ("_allgather_base", "AllGather"),
         "data": ("_reduce_scatter_base", "ReduceScatter_Sum"), "pipeline": ("send", "SendRecv")}
NAMES = {"matmul": "nvjet_tst_192x192_64x4_2x1_v_bz_TNN",
         "attention": "void cutlass::device_kernel<flash::FlashAttnFwdSm90<flash::CollectiveMainloopFwdSm90<2>>>",
         "elementwise": "void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<c10::BFloat16>>",
         "optimizer": "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<FusedAdamMathFunctor<float>>",
         "waits": "Memcpy DtoH (Device -> Pinned)"}


class Step:
    """Terms of one step in seconds: `whole` and `exposed` of communication, `terms` of all else, `bytes` by role."""

    def __init__(self, plan):
        step = plan["step"]
        terms = {name: max(0.0, seconds) for name, seconds in step["terms_seconds"].items()}
        self.exposed = {role: terms.pop(role, 0) for role in ROLES}
        self.exposed["fsdp"] += terms.pop("weights", 0)
        self.whole = dict(step["communication_seconds"])
        self.bytes = dict(step["communication_bytes"])
        self.chips = {role: max([plan["axes"][role]] + [c["chips"] for c in plan["communication"] if c["role"] == role])
                      for role in ROLES}
        self.terms, self.world = terms, plan["chips_used"]

    def scaled(self, scale):
        """A link or a kind of kernel that is slower: of communication the share that is exposed stays."""
        for name, factor in scale.items():
            if name in ROLES:
                self.whole[name] *= factor
                self.exposed[name] *= factor
            else:
                self.terms[name] *= factor
        for role in ROLES:  # what finds nothing to hide beneath is exposed
            hidden = self.whole[role] - self.exposed[role]
            self.exposed[role] += max(0, hidden - self.computation())
        return self

    def seconds(self):
        return sum(self.terms.values()) + sum(self.exposed.values())

    def computation(self):
        return sum(self.terms[name] for name in ("matmul", "attention", "elementwise", "recompute"))


class Line:
    """What happens on one device: (kind, name, stream, start ns, duration ns, launch ns, role, bytes, phase)."""

    def __init__(self, jitter, seed):
        self.events, self.at, self.jitter, self.random = [], 0, jitter, random.Random(seed)

    def length(self, seconds):
        return round(seconds * 1e9 * (1 + self.jitter * self.random.uniform(-1, 1)))

    def put(self, kind, role, stream, start, duration, launch, size=0, phase=""):
        if duration > 0:
            self.events.append((kind, role, stream, start, duration, launch, size, phase))


def hidden_part(line, step, chunks, begin, early, sizes):
    """What hides beneath a chunk's computation, each role on its own stream."""
    for number, role in enumerate(ROLES):
        hidden = (step.whole[role] - step.exposed[role]) / chunks
        line.put("collective", role, 20 + number, begin, line.length(hidden), early, sizes[role] * share(step, role))


def share(step, role):
    return 1 - step.exposed[role] / step.whole[role] if step.whole[role] > 0 else 0


def exposed_part(line, step, chunks, early, sizes):
    for number, role in enumerate(ROLES):
        length = line.length(step.exposed[role] / chunks)
        line.put("collective", role, 20 + number, line.at, length, early, sizes[role] * (1 - share(step, role)))
        line.at += length
    length = line.length(step.terms.get("waits", 0) / chunks)
    line.put("copy", "waits", 11, line.at, length, early)
    line.at += length


def events_of(plan, scale=None, steps=6, chunks=24, jitter=0.02, seed=1):
    """The events, and the host's ranges of steps. Step 0 is slower, as the first profiled one is."""
    step, line, ranges = Step(plan).scaled(scale or {}), Line(jitter, seed), []
    sizes = {role: step.bytes[role] / chunks for role in ROLES}
    for number in range(steps):
        start = busy = line.at
        for chunk in range(chunks):
            # The host runs ahead: a bubble is none of its making.
            early, begin = busy - 1000, line.at
            for name in ("matmul", "attention", "elementwise", "recompute"):
                phase = "recompute" if name == "recompute" else ""
                length = line.length(step.terms[name] / chunks * (1.5 if number == 0 else 1))
                line.put("kernel", "matmul" if phase else name, 7, line.at, length, early, phase=phase)
                line.at += length
            hidden_part(line, step, chunks, begin, early, sizes)
            exposed_part(line, step, chunks, early, sizes)
            busy = line.at
            line.at += line.length(step.terms["bubble"] / chunks)
        length = line.length(step.terms["optimizer"])
        line.put("kernel", "optimizer", 7, line.at, length, busy - 1000, phase="optimizer")
        line.at += length
        ranges.append((number, start - 2000, line.at - 2000))
        line.at += line.length(step.terms["other"])  # the host's gap: what comes next is launched in the next range
    return line.events, ranges


# ---- a pipeline, stage by stage ----

def orders_1f1b(stages, microbatches):
    """The passes of each stage in order: Narayanan et al. 2021, figure 4, top."""
    for stage in range(stages):
        warm, ahead, back = min(stages - 1 - stage, microbatches), 0, 0
        order = []
        while back < microbatches:
            if ahead < microbatches and ahead <= back + warm:
                order.append(("F", ahead))
                ahead += 1
            else:
                order.append(("B", back))
                back += 1
        yield order


def play(orders, seconds, transfer):
    """When each pass of each stage could begin its message, its compute, and end: {(stage, kind, number): ...}."""
    done, at, free = {}, [0] * len(orders), [0.0] * len(orders)
    while any(at[s] < len(order) for s, order in enumerate(orders)):
        for s, order in enumerate(orders):
            while at[s] < len(order):
                kind, number = order[at[s]]
                source = (s - 1, "F", number) if kind == "F" else (s + 1, "B", number)
                outside = not 0 <= source[0] < len(orders)
                if not outside and source not in done:
                    break
                begin = free[s] if outside else max(free[s], done[source][2]) + transfer
                done[s, kind, number] = (free[s], begin, begin + seconds[s, kind])
                free[s] = begin + seconds[s, kind]
                at[s] += 1
    return done, max(free)


def stages_of(plan, shares, microbatches, steps=5, slow=None):
    """Events and ranges of each stage of a 1F1B pipeline whose stages compute `shares` of the plan's terms, and the
    seconds that each has: a receiver's kernel lasts from when it is launched to when its message is there."""
    step, stages, terms = Step(plan), len(shares), {}
    work = ("matmul", "attention", "elementwise")
    parts = {"F": {t: step.terms[t] / 3 / microbatches for t in work},
             "B": {t: step.terms[t] * 2 / 3 / microbatches for t in work}}
    sent = step.exposed["tensor"] / 2 / microbatches
    own = [share * (slow or {}).get(s, 1) for s, share in enumerate(shares)]
    seconds = {(s, kind): own[s] * (sum(parts[kind].values()) + sent) for s in range(stages) for kind in "FB"}
    transfer = step.exposed["pipeline"] / 2 / microbatches
    orders = list(orders_1f1b(stages, microbatches))
    done, end = play(orders, seconds, transfer)
    whole = end + step.terms["optimizer"] + step.terms["other"]
    ns = lambda value: round(value * 1e9)
    for s in range(stages):
        line, ranges, messages = Line(0, 1), [], sum(1 for kind, n in orders[s] if 0 <= s + (-1 if kind == "F" else 1)
                                                     < stages)
        for number in range(steps):
            base = number * whole
            free_at = done[(s, *orders[s][-1])][2]
            for kind, n in orders[s]:
                free, begin, _ = (base + t for t in done[s, kind, n])
                # The host runs ahead, but not over the end of a step.
                launch = ns(free) - 1000 if free > base else ns(base)
                line.put("collective", "pipeline", 25, ns(free), ns(begin) - ns(free), launch, 1 << 24)
                for term, length in [*parts[kind].items(), ("tensor", sent)]:
                    what = "collective" if term == "tensor" else "kernel"
                    line.put(what, term, 20 if term == "tensor" else 7, ns(begin), ns(begin + own[s] * length) - ns(begin),
                             launch, 1 << 20 if term == "tensor" else 0)
                    begin += own[s] * length
            line.put("kernel", "optimizer", 7, ns(base + end), ns(step.terms["optimizer"]), ns(base + free_at) - 1000,
                     phase="optimizer")
            ranges.append((number, ns(base) - 2000, ns(base + whole) - 4000))
        compute = own[s] * sum(step.terms[t] for t in work) + step.terms["optimizer"]
        terms[s] = {"step": whole, "compute": compute, "bubble": end - compute + step.terms["optimizer"] -
                    own[s] * step.exposed["tensor"] - messages * transfer}
        yield line.events, ranges, terms[s]


# ---- PyTorch ----

BASE_NS = 217 * 7889238 * 1000000000


def kineto(events, ranges, step, rank=None, world=None, chip="NVIDIA H100 80GB HBM3", clock_ns=0):
    """Kineto's JSON, as text, with what must not be printed: environment, command line and token."""
    world = world or step.world
    rank = world - 1 if rank is None else rank  # the last stage of a pipeline, which the plan's terms are of
    us = lambda ns: "%.3f" % (4458676416788.0 + (ns + clock_ns) / 1000)
    out = ['{"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "%s", "totalGlobalMem": 85028765696}],'
           '"HF_TOKEN": "hf_planted_secret", "command_line": "python train.py --api-key planted_secret",'
           '"traceEvents": [' % chip]
    rows = ['{"ph":"M","name":"thread_name","pid":4711,"tid":99,"ts":0,"args":{"name":"thread 99 (pt_autograd_0)"}}']
    row = lambda cat, name, pid, tid, start, length, args: rows.append(
        '{"ph":"X","cat":"%s","name":"%s","pid":%s,"tid":%s,"ts":%s,"dur":%.3f,"args":%s}'
        % (cat, name, pid, tid, us(start), length / 1000, json.dumps(args)))
    for number, begin, end in ranges:
        row("user_annotation", "ProfilerStep#%d" % number, 4711, 4711, begin, end - begin, {"External id": number})
    for number, (kind, role, stream, start, length, launch, size, phase) in enumerate(events, 1):
        thread = 99 if phase == "recompute" else 4711
        if phase == "recompute":
            row("cpu_op", "autograd::engine::evaluate_function: MmBackward0", 4711, 99, launch - 400, 900, {})
            row("python_function", "torch/utils/checkpoint.py(1100): unpack_hook", 4711, 99, launch - 200, 400, {})
        row("cuda_runtime", "cudaLaunchKernel", 4711, thread, launch, 200, {"correlation": number, "cbid": 211})
        args = {"External id": number, "device": 0, "stream": stream, "correlation": number}
        if kind == "collective":
            name, kernel = KINDS[role]
            # One rank's share of an all-to-all; else the whole array. Elements of one byte.
            elements = round(size / (step.chips[role] if name.startswith("all_to_all") else 1))
            args.update({"Collective name": name, "In msg nelems": elements, "Out msg nelems": elements,
                         "dtype": "Byte", "Group size": step.chips[role], "Process Group Name": role,
                         "Process Group Description": GROUPS[role]})
            row("kernel", "ncclDevKernel_%s(ncclDevKernelArgsStorage<4096ul>)" % kernel, 0, stream, start, length, args)
        else:
            row("gpu_memcpy" if kind == "copy" else "kernel", NAMES[role], 0, stream, start, length, args)
    out.append(",\n".join(rows))
    out.append('],"distributedInfo": {"backend": "nccl", "rank": %d, "world_size": %d},"baseTimeNanoseconds": %d}'
               % (rank, world, BASE_NS))
    return "".join(out)


# ---- XProf: protocol buffers, written here by hand ----

def varint(value):
    out = b""
    while value > 127:
        out, value = out + bytes([value & 127 | 128]), value >> 7
    return out + bytes([value])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


STATISTICS = {1: "hlo_category", 2: "tf_op", 3: "device_type_string"}
CATEGORIES = {"matmul": "convolution fusion", "attention": "custom-call", "elementwise": "loop fusion",
              "optimizer": "loop fusion"}
OPS = {"_allgather_base": "all-gather", "all_to_allv": "all-to-all", "send": "collective-permute",
       "_reduce_scatter_base": "reduce-scatter"}


def operation(number, name, shown, category, path):
    statistics = field(5, field(1, 1) + field(5, category)) + field(5, field(1, 2) + field(5, path))
    return field(4, field(1, number) + field(2, field(1, number) + field(2, name) + field(4, shown) + statistics))


def operations(events, step):
    """What XLA would say of each event: the line, the HLO text, the short name, the category and the path."""
    busy = sorted((e[3], e[3] + e[4]) for e in events if e[0] == "kernel")
    for kind, role, stream, start, length, launch, size, phase in events:
        line, path = "XLA Ops", "jit(step)/jvp(model)/" + role
        shown, category = role + ".1", CATEGORIES.get(role, "")
        name = "%%%s = f32[8]{0} fusion(f32[8]{0} %%x)" % shown
        if phase == "recompute":
            path = "jit(step)/transpose(jvp(model))/checkpoint/rematted_computation/" + role
        if phase == "optimizer":
            path = "jit(step)/apply_gradients/add"
        if role == "attention":
            shown = "splash_mha_fwd.3"
        if kind == "collective":
            # What hides beneath computation runs beside it; what is exposed is the wait of its -done.
            hidden = any(a <= start < b for a, b in busy[max(0, bisect.bisect(busy, (start,)) - 2):][:4])
            line, category = ("Async XLA Ops" if hidden else "XLA Ops"), OPS[KINDS[role][0]]
            shown = "%s-%s.%d" % (category, "start" if hidden else "done", stream)
            name = ("%%%s = f32[%d]{0} %s-done(f32[8]{0} %%x), channel_id=1, replica_groups=[4,%d]<=[%d], dimensions={0}"
                    % (shown, max(1, size // 4), category, step.chips[role], 4 * step.chips[role]))
        if kind == "copy":
            shown, category = "copy-done.1", "copy-done"
            name = "%copy-done.1 = f32[8]{0} copy-done((f32[8]{0}, f32[8]{0:T(8)S(5)}) %copy-start)"
        yield line, (name, shown, category, path), start, length


def xplane(events, ranges, step, chip="TPU v5"):
    """One device: operations, what runs beside them, and steps. The maps stand behind the lines that use them."""
    numbers, table, lines = {}, b"", {"XLA Ops": b"", "Async XLA Ops": b"", "Steps": b""}
    for line, key, start, length in operations(events, step):
        if key not in numbers:
            numbers[key] = len(numbers) + 1
            table += operation(numbers[key], *key)
        lines[line] += field(4, field(1, numbers[key]) + field(2, start * 1000) + field(3, length * 1000))
    for number, begin, end in ranges:
        lines["Steps"] += field(4, field(1, 1) + field(2, (begin + 2000) * 1000) + field(3, (end - begin) * 1000))
    plane = field(2, "/device:TPU:0")
    for number, (name, own) in enumerate(lines.items()):
        plane += field(3, field(1, number) + own + field(2, name) + field(3, 0))
    plane += table + b"".join(field(5, field(1, n) + field(2, field(1, n) + field(2, s))) for n, s in STATISTICS.items())
    plane += field(6, field(1, 3) + field(5, chip))
    host = field(2, "/host:CPU") + field(6, field(1, 1) + field(5, "planted_secret"))
    return field(1, host) + field(1, plane) + field(4, "planted_secret")


def xprof_json(events, ranges, step):
    """The JSON that XProf makes of an XSpace (tsl trace_events_to_json.cc): names first, no categories, arguments are
    texts, an empty event at the end."""
    tids = {"Steps": 1, "XLA Ops": 3, "Async XLA Ops": 4}
    name = lambda pid, tid, what, text: json.dumps({"ph": "M", "pid": pid, **({"tid": tid} if tid else {}),
                                                    "name": what, "args": {"name": text}})
    rows = [name(3, 0, "process_name", "/device:TPU:0"), name(701, 0, "process_name", "/host:CPU")]
    rows += [name(3, tid, "thread_name", line) for line, tid in tids.items()]
    rows += [name(3, 2, "thread_name", "XLA Modules"), name(701, 9, "thread_name", "python planted_secret")]
    row = lambda pid, tid, start, length, own, args: rows.append(
        '{"ph":"X","pid":%d,"tid":%d,"ts":%.6f,"dur":%.6f,"name":%s%s}'
        % (pid, tid, start / 1000, length / 1000, json.dumps(own), ',"args":' + json.dumps(args) if args else ""))
    row(701, 9, 0, 5000, "train.py", {"command": "planted_secret"})
    for line, (text, shown, category, path), start, length in operations(events, step):
        row(3, tids[line], start, length, shown, {"hlo_category": category, "long_name": text, "tf_op": path})
    for number, begin, end in ranges:
        row(3, tids["Steps"], begin + 2000, end - begin, str(number), {"group_id": str(number)})
        row(3, 2, begin + 2000, end - begin, "jit_step", {"run_id": "1"})
    return ('{"displayTimeUnit":"ns","metadata":{"highres-ticks":true},"traceEvents":[' + ",\n".join(rows + ["{}"]) +
            "]}")


# ---- Nsight Systems: its SQLite export ----

# NCCL's calls: schema, and its figures by name, type and offset (NVIDIA/nccl src/include/nvtx_payload_schemas.h, as
# tables of a real export have them); sizes are of one rank's message.
SCHEMAS = {"init": (16777218, 24, (("No. of ranks", 5, 8), ("Rank", 5, 12), ("CUDA device", 5, 16))),
           "AllGather": (16777220, 16, (("Message size [bytes]", 22, 8),)),
           "ReduceScatter": (16777223, 24, (("Message size [bytes]", 22, 8), ("Reduction operation", 16777232, 16))),
           "Send": (16777225, 24, (("Message size [bytes]", 22, 8), ("Peer rank", 5, 16)))}


def payload(schema, communicator, *figures):
    number, size, fields = SCHEMAS[schema]
    body = struct.pack("<Q", communicator)
    for (_, kind, offset), value in zip(fields, figures):
        body = body.ljust(offset, b"\0") + struct.pack("<Q" if kind == 22 else "<i", value)
    return struct.pack("<QQQQ", 1, number, size, 32 + size) + body.ljust(size, b"\0")


def nccl_calls(role, launch, size, chips, first):
    """The ranges around a collective's launch, each (start, end, name, domain, payload): plain calls alone, messages in
    a group that launches at its end; what PyTorch calls it is around all of it."""
    kind, communicator, n = KINDS[role][1].split("_")[0], 7000 + ROLES.index(role), chips[role]
    if first:
        yield launch - 900, launch - 890, "ncclCommInitRankConfig", 1, payload("init", communicator, n, 0, 0)
    if kind != "SendRecv":
        yield launch - 20, launch + 80, "nccl" + kind, 1, payload(kind, communicator, round(size / n), 0)
        return
    each = size / n / n if role == "expert" else size
    yield launch - 700, launch + 100, "nccl:" + KINDS[role][0], 0, None
    yield launch - 600, launch - 590, "ncclGroupStart", 1, None
    for peer in range(n if role == "expert" else 1):
        for at, name in ((0, "ncclSend"), (2, "ncclRecv")):
            at += launch - 580 + 4 * peer
            yield at, at + 1, name, 1, payload("Send", communicator, round(each), peer)
    yield launch - 50, launch + 90, "ncclGroupEnd", 1, None


def nsight(path, events, ranges, step=None):
    """With a step, NCCL says what it sends, each collective from a thread of its own."""
    base = sqlite3.connect(path)
    base.executescript("""
        CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT NOT NULL);
        CREATE TABLE TARGET_INFO_SYSTEM_ENV (name TEXT, value TEXT);
        CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER,
            correlationId INTEGER, globalPid INTEGER, demangledName INTEGER);
        CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER,
            correlationId INTEGER, globalPid INTEGER, bytes INTEGER, copyKind INTEGER);
        CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, globalTid INTEGER, correlationId INTEGER);
        CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT, textId INTEGER,
            globalTid INTEGER, domainId INTEGER, binaryData TEXT);
        INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES ('HF_TOKEN', 'planted_secret');""")
    process, strings = 4711 << 24, {}
    for number, begin, end in ranges:
        base.execute("INSERT INTO NVTX_EVENTS VALUES (?,?,59,?,NULL,?,0,NULL)", (begin, end, "ProfilerStep#%d" % number,
                                                                               process | 1))
    if step:
        base.execute("""CREATE TABLE NVTX_PAYLOAD_SCHEMA_ENTRIES (domainId INTEGER, schemaId INTEGER, idx INTEGER,
            flags INTEGER, type INTEGER, name TEXT, description TEXT, arrayOrUnionDetail INTEGER, offset INTEGER)""")
        for schema, _, fields in SCHEMAS.values():
            for at, (name, kind, offset) in enumerate((("NCCL communicator ID", 18, None), *fields)):
                base.execute("INSERT INTO NVTX_PAYLOAD_SCHEMA_ENTRIES VALUES (1,?,?,NULL,?,?,NULL,NULL,?)",
                             (schema, at, kind, name, offset))
    seen, threads = set(), {}
    for number, (kind, role, stream, start, length, launch, size, phase) in enumerate(events, 1):
        thread = process | (2 if phase == "recompute" else 1)
        if phase == "recompute":
            base.execute("INSERT INTO NVTX_EVENTS VALUES (?,?,59,?,NULL,?,0,NULL)",
                         (launch - 200, launch + 200, "CheckpointFunctionBackward", thread))
        if step and kind == "collective":
            threads[launch] = threads.get(launch, 0) + 1  # of one launch time
            thread = process | (100 + threads[launch])
            for call in nccl_calls(role, launch, size, step.chips, role not in seen):
                base.execute("INSERT INTO NVTX_EVENTS VALUES (?,?,59,?,NULL,?,?,?)", (*call[:3], thread, *call[3:]))
            seen.add(role)
        base.execute("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?,?,?,?)", (launch, launch + 200, thread, number))
        if kind == "copy":
            base.execute("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (?,?,0,?,?,?,1,2)",
                         (start, start + length, stream, number, process))
            continue
        name = NAMES[role] if kind == "kernel" else "ncclDevKernel_%s(ncclDevComm*)" % KINDS[role][1]
        text = strings.setdefault(name, len(strings) + 1)
        base.execute("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?,?,0,?,?,?,?)",
                     (start, start + length, stream, number, process, text))
    base.executemany("INSERT INTO StringIds VALUES (?,?)", [(n, s) for s, n in strings.items()])
    base.commit()
    base.close()


def write(path, text):
    data = text if isinstance(text, bytes) else text.encode()
    with (gzip.open(path, "wb", compresslevel=1) if str(path).endswith(".gz") else open(path, "wb")) as file:
        file.write(data)
