# SPDX-License-Identifier: GPL-3.0-or-later
"""What launchers cannot be told, where they put ranks, and what they can recompute: the tables of docs/launch.md once
more, for a checker that shares no code with the program. A launcher that is not here is one without rules: more plans
are tried then, never fewer."""
import itertools
from math import gcd

from data import ACTIVATIONS
from mixers import parts_of_mixer
from model import has_mlp, mixes_tokens

ORDERS = {"maxtext": ("expert", "tensor", "sequence", "fsdp", "data", "pipeline"),
          "jax": ("tensor", "sequence", "fsdp", "expert", "data", "pipeline"),
          "megatron-pp-dp": ("tensor", "sequence", "expert", "pipeline", "fsdp", "data")}
RANKS = ("tensor", "sequence", "expert", "fsdp", "data", "pipeline")
NCCL = {"megatron", "torchtitan", "deepspeed", "trl", "axolotl", "llama-factory"}
TUNERS = {"trl", "axolotl", "llama-factory"}
PADS = {"megatron": {"stages", "vocab"}, "torchtitan": {"stages"}, "deepspeed": {"stages"}}
SCHEDULES = {"maxtext": {"gpipe", "circular"}, "megatron": {"1f1b", "interleaved"}, "deepspeed": {"1f1b"},
             "torchtitan": {"gpipe", "1f1b", "interleaved", "circular"},
             "jax": {"gpipe", "1f1b", "interleaved", "circular"}}

def whole_heads(model, kind):
    """What tensor has to divide so that each chip has whole heads of everything."""
    heads = gcd(kind.heads or 0, kind.cross_heads or 0)
    for part in parts_of_mixer(model, kind):
        if part.split != "local":
            heads = gcd(heads, part.units)
    return heads

def most_heads(model, kind):
    """The most ways of tensor: each chip has a head of everything."""
    units = [kind.heads, kind.cross_heads] + [part.units for part in parts_of_mixer(model, kind)
                                              if part.split != "local"]
    return min((one for one in units if one), default=1 << 62)

def heads_divide(model, ways, ulysses=1, copies=False):
    for kind in model.kinds:
        if whole_heads(model, kind) % (ways * ulysses):
            return False
        if kind.attention == "latent" or not kind.kv_heads or kind.kv_heads % (ways * ulysses) == 0:
            continue
        if ulysses > 1 or not copies or ways % kind.kv_heads:
            return False
    return True

def takes_degrees(launcher, model, seq, axes):
    """Whether some plan of these degrees may be told to the launcher."""
    t, x, s, f, d, p = (axes[role] for role in ("tensor", "expert", "sequence", "fsdp", "data", "pipeline"))
    if launcher in TUNERS:
        return t == x == s == p == 1
    if launcher not in SCHEDULES:
        return True
    copies = launcher in ("megatron", "deepspeed", "jax")
    if not heads_divide(model, t, 1, copies):
        return False
    if launcher == "maxtext":
        D = model.d_model
        return (p == 1 or len(model.kinds) == 1) and seq % s == 0 and D % f == 0 and D // f % (s * x) == 0
    if launcher == "megatron":
        return (p == 1 or f * x == 1) and (s == 1 or seq % (2 * s) == 0) and seq % s == 0 and seq // s % t == 0 \
            and x == 1
    if launcher == "torchtitan":
        return (s == 1 or not any(kind.mixer for kind in model.kinds)) and seq % t == 0 and seq // t % (2 * s) == 0 and not (model.tied and p > 1)
    if launcher == "deepspeed":
        return (s == 1 or t == p == 1) and x == 1 and (f == 1 or (p == 1 and t == 1 and d == 1))
    return seq % s == 0

def takes_knobs(launcher, model, work, plan, padding, tpu):
    """Whether the launcher can be told a plan whose degrees it takes."""
    a, m, seq = plan.axes, plan.m, work.seq
    t, x, s, f, d, p = (a[role] for role in ("tensor", "expert", "sequence", "fsdp", "data", "pipeline"))
    shards = s > 1 and not plan.sequence_replicates
    if launcher is None:
        return True
    if padding - PADS.get(launcher, set()):
        return False
    if p > 1 and plan.schedule not in SCHEDULES.get(launcher, {plan.schedule}):
        return False
    even = model.layers % (p * max(1, plan.v)) == 0 and plan.stages != "slots"
    if launcher in TUNERS:
        return not plan.grid and plan.zero == 0 and not plan.offload_optimizer
    if launcher == "maxtext":
        if not even or (p > 1 and m % p) or plan.grid or plan.zero > 1 or (plan.zero and f > 1) or not plan.regather:
            return False
        inside = t * s * p
        passes = m % inside if p > 1 else 1
        if plan.b % inside * (seq % inside) % inside * passes % inside:
            return False
        if s == 1:
            return True
        windows = any(kind.window or kind.sinks for kind in model.kinds)
        if plan.sequence_replicates:
            return False
        if "ulysses" in plan.context:
            latent = any(kind.attention == "latent" for kind in model.kinds)
            return tpu and not windows and not latent and heads_divide(model, t, plan.ulysses)
        if s % 2 or seq % (2 * s):
            return False
        return plan.context != "ring" or (seq // s % s == 0 and not windows)
    if launcher == "megatron":
        sharded = f * x > 1 or shards
        if (p > 1 and (sharded or plan.zero > 1)) or (sharded and plan.zero > 1) or not plan.regather:
            return False
        if plan.ulysses > 1 and not heads_divide(model, t, plan.ulysses):
            return False
        if s > 1 and plan.context != "all_gather" and any(kind.index_top_k for kind in model.kinds):
            return False
        return (f == 1 or s == 1 or shards) and not (plan.offload_optimizer and not (f > 1 or shards or plan.zero))
    if launcher == "torchtitan":
        if plan.schedule == "interleaved" and m % max(1, m // p):
            return False
        if s > 1 and (plan.context != "all_gather" or not shards):
            return False
        if plan.grid and (plan.grid.expert_tensor > 1 or f * s * t % plan.grid.expert):
            return False
        return plan.zero == 0 and (plan.grid or x == 1 or t * s == 1) and not (plan.offload_optimizer and f * s == 1)
    if launcher == "deepspeed":
        sharded = f > 1 or shards
        if s > 1 and (plan.context != "ulysses" or not heads_divide(model, t, plan.ulysses) or (f > 1 and not shards)):
            return False
        if plan.grid and not (t == p == s == 1 and not sharded and plan.grid.expert_tensor <= 1):
            return False
        if plan.tensor_overlap or (p > 1 and (sharded or plan.zero > 1)) or (sharded and (t > 1 or d > 1)):
            return False
        return not (plan.offload_optimizer and not (sharded or plan.zero))
    return even if launcher == "jax" else True

def exists(model, name):
    """Whether any layer has such an activation."""
    hidden = [has_mlp(kind) for kind in model.kinds]
    mixes = [mixes_tokens(kind) for kind in model.kinds]
    if name == "layer_input":
        return True
    if name == "attention_input":
        return any(mix and kind.norms > 0 for mix, kind in zip(mixes, model.kinds))
    if name == "mlp_input":
        return any((hid and kind.norms > (1 if mix else 0)) or kind.experts
                   for hid, mix, kind in zip(hidden, mixes, model.kinds))
    if name in ("gate_up", "product"):
        return any(hidden)
    return any(mix and (hid or name != "middle") for mix, hid in zip(mixes, hidden))

def policy(*again, **states):
    return {name: states.get(name, "recomputed" if name in again else "saved") for name in ACTIVATIONS}

FULL, PRODUCTS = ACTIVATIONS[1:], ("attention_input", "mlp_input", "product")
NAMED = {"none": policy(), "selective": policy(), "full": policy(*FULL),
         "minimal_with_context": policy(*PRODUCTS), "minimal": policy(*PRODUCTS, "context"),
         "save_dot_with_context_except_mlp": policy(*PRODUCTS, "gate_up"),
         "save_dot_except_mlp": policy(*PRODUCTS, "gate_up", "context"),
         "save_dot_except_mlpwi": policy(*PRODUCTS, "gate_up", "context"),
         "save_qkv_proj": policy(*PRODUCTS, "context", "middle", "gate_up"),
         "save_out_proj": policy(*PRODUCTS, "qkv", "context", "gate_up"),
         "minimal_offloaded": policy(*PRODUCTS, "context", qkv="offloaded", middle="offloaded", gate_up="offloaded"),
         "qkv_proj_offloaded": policy(*PRODUCTS, "context", "middle", "gate_up", qkv="offloaded"),
         "layernorm": policy("attention_input", "mlp_input"), "moe_act": policy("product"),
         "mlp": policy("gate_up", "product"),
         "selective_by_op": policy("attention_input", "product", middle="partly", mlp_input="partly",
                                   gate_up="partly")}

def megatron_modules(model, name):
    experts, dense = any(k.experts for k in model.kinds), any(k.d_ff and not k.experts for k in model.kinds)
    if name == "attention_input" or (name == "mlp_input" and not experts):
        return {"layernorm"}
    if name == "gate_up" and not experts:
        return {"mlp"}
    if name == "product":
        return ({"moe_act"} if experts else set()) | ({"mlp"} if dense or not experts else set())
    return {"layers"}

def rules_of(launcher, model, remat):
    """What a launcher can be told to recompute and offload: (states, of how many layers; 0: all). None: anything."""
    if remat and remat != "auto":
        name, _, some = remat.partition(":")
        if name in NAMED:
            return [(NAMED[name], int(some or 0))]
        given = dict(word.split("=") for word in remat.replace(",", " ").split() if "=" in word)
        return [({one: given.get(one, "saved" if one == "layer_input" else "recomputed") for one in ACTIVATIONS}, 0)]
    if launcher in TUNERS or launcher == "deepspeed":
        return [(NAMED["none"], 0), (NAMED["full"], 0)]
    if launcher == "torchtitan":
        return [(NAMED[name], 0) for name in ("none", "selective_by_op", "full")]
    if launcher == "maxtext":
        named = [one for one in ("layer_input", "qkv", "context", "middle", "gate_up") if exists(model, one)]
        states = [("saved", "recomputed", "offloaded") if one != "layer_input" else ("saved", "offloaded")
                  for one in named]
        return [(policy(*FULL, **dict(zip(named, choice))), 0) for choice in itertools.product(*states)]
    if launcher == "megatron":
        rules = [(NAMED["none"], 0)] + [(NAMED["full"], count) for count in range(1, model.layers + 1)]
        for modules in ({"layernorm"}, {"moe_act", "mlp"}, {"layernorm", "moe_act", "mlp"}):
            rules.append((policy(*(one for one in ACTIVATIONS if megatron_modules(model, one) <= modules)), 0))
        if all(kind.experts or not has_mlp(kind) for kind in model.kinds):
            for bits in range(1, 256):
                sent = {one for i, one in enumerate(ACTIVATIONS) if bits >> i & 1}
                if "product" not in sent and not ("context" in sent and "qkv" not in sent):
                    rules.append(({one: "offloaded" if one in sent else "saved" for one in ACTIVATIONS}, 0))
        return rules
    return None

# ---- where ranks lie ----

def ranks_in_order(mesh, axes, order):
    """Rank 0, 1, ...: each role in turn fills the innermost axis, then the next. None: a group would begin in the
    middle of what another fills."""
    placement, at, room = {one.name: [] for one in mesh.axes}, 0, mesh.axes[0].size if mesh.axes else 1
    for role in order:
        left = axes[role]
        while left > 1:
            while room == 1 and at + 1 < len(mesh.axes):
                at += 1
                room = mesh.axes[at].size
            taken = min(left, room)
            if taken == 1 or left % taken or room % taken:
                return None
            placement[mesh.axes[at].name].append((role, taken))
            left //= taken
            room //= taken
    return placement

def every_placement(mesh, axes, order):
    """Each way to write the axes as factors of the roles, in one order of nesting."""
    def of_axis(size, left, roles):
        if not roles:
            if size == 1:
                yield (), left
            return
        role = roles[0]
        for factor in range(1, min(size, left[role]) + 1):
            if size % factor == 0 and left[role] % factor == 0:
                for rest, after in of_axis(size // factor, {**left, role: left[role] // factor}, roles[1:]):
                    yield (((role, factor),) + rest if factor > 1 else rest), after

    def walk(at, left):
        if at == len(mesh.axes):
            yield {}
            return
        for mine, after in of_axis(mesh.axes[at].size, left, order):
            for rest in walk(at + 1, after):
                yield {mesh.axes[at].name: list(mine), **rest}
    return walk(0, dict(axes))

def device_mesh(sizes, wanted):
    """JAX's create_device_mesh: `wanted` from the most intense role on takes whole axes, three at most, in the order of
    combinations; where one cannot, all are split: whole axes first, then axes that are in use. Factors by role and
    axis; None: it refuses."""
    used, whole = set(), []
    for size in wanted:
        found = None
        for take in (3, 2, 1):
            for axes in itertools.combinations(range(len(sizes)), take):
                product = 1
                for one in axes:
                    product *= sizes[one]
                if product == size and not used & set(axes):
                    found = axes
                    break
            if found:
                break
        if not found and size > 1:
            break
        used |= set(found or ())
        whole.append([sizes[i] if i in (found or ()) else 1 for i in range(len(sizes))])
    else:
        return whole
    taken, split = [1] * len(sizes), []
    for size in wanted:
        best = None
        ways = [[f for f in range(1, sizes[i] // taken[i] + 1) if sizes[i] // taken[i] % f == 0]
                for i in range(len(sizes))]
        for factors in itertools.product(*ways):
            product = covered = shared = 1
            for i, factor in enumerate(factors):
                product *= factor
                covered *= factor if factor == sizes[i] else 1
                shared *= factor if taken[i] > 1 else 1
            if product == size:
                count = sum(f == sizes[i] and f > 1 for i, f in enumerate(factors))
                key = (covered, count, shared, factors)
                best = max(best, key) if best else key
        if best is None:
            return None
        split.append(list(best[3]))
        taken = [a * b for a, b in zip(taken, best[3])]
    return split

def divisions(axes, slices, roles):
    """How degrees divide over slices: what of each role crosses."""
    if not roles:
        if slices == 1:
            yield {}
        return
    for factor in range(1, min(slices, axes[roles[0]]) + 1):
        if slices % factor == 0 and axes[roles[0]] % factor == 0:
            for rest in divisions(axes, slices // factor, roles[1:]):
                yield {roles[0]: factor, **rest}

BY_HAND = {("tpu-v5e", (2, 2)), ("tpu-v6e", (2, 2)), ("tpu-v5e", (2, 4)), ("tpu-v6e", (2, 4)), ("tpu-v5p", (2, 2, 2))}

def placements_of(launcher, mesh, axes, nesting, chip):
    """The placements that a launcher makes; more of them where its rule is not known here: the small slices that JAX
    numbers by hand, and those of 256 chips, of which MaxText has meshes of its own."""
    order = ORDERS.get(nesting) or RANKS
    ici = [one for one in mesh.axes if one.level == "ici"]
    torus = any(one.level in ("ici", "dcn") for one in mesh.axes)
    if launcher in NCCL and not torus:
        ways = [ranks_in_order(mesh, axes, RANKS)]
        ways += [ranks_in_order(mesh, axes, ORDERS["megatron-pp-dp"])] if launcher == "megatron" else []
        return [way for way in ways if way is not None]  # one chip has no axes
    sizes = [one.size for one in ici]
    chips = 1
    for size in sizes:
        chips *= size
    if launcher != "maxtext" or not torus or (chip, tuple(sizes)) in BY_HAND or chips == 256 or ici[0].name == "core":
        return every_placement(mesh, axes, order)
    listed = []
    for across in divisions(axes, mesh.chips // chips, list(order)):
        factors = device_mesh(sizes, [axes[role] // across[role] for role in order])
        if factors:
            placement = {one.name: [(role, row[i]) for role, row in zip(order, factors) if row[i] > 1]
                         for i, one in enumerate(ici)}
            placement["dcn"] = [(role, across[role]) for role in order if across[role] > 1]
            listed += traded(ici, placement)
    return listed

def traded(axes, placement):
    """Equal axes may trade places: which of them heads exchange on first is another placement."""
    made = []
    for order in itertools.permutations(range(len(axes))):
        if all(axes[i].size == axes[k].size and axes[i].kind == axes[k].kind for i, k in enumerate(order)):
            one = {**placement, **{axes[i].name: placement[axes[k].name] for i, k in enumerate(order)}}
            if one not in made:
                made.append(one)
    return made
