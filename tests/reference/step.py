# SPDX-License-Identifier: GPL-3.0-or-later
"""The step: the formula, the pipeline played pass by pass, and the longer of both."""
from math import ceil, log2

from data import Record
from machine import CRITICAL, GROUPS, ONCE, collective_seconds
from stage import (PHASES, activations_of_layer, add_layout, add_state, host_rates, layers_of_chunk, once_a_step,
                   pace_of_stage, resources_of_stage, stage_load, stage_sums, weight_gradient_seconds)

def exposed_shares(world, shard, plan):
    """Overlap and the step: x_g of each group, inside the scale-up network and outside it."""
    q, ring = world.profile, plan.context in ("ring", "ulysses_ring")
    near = dict.fromkeys(GROUPS, q.fsdp_exposed)
    near["tensor"] = min(q.tensor_overlapped, q.tensor_exposed) if plan.tensor_overlap else q.tensor_exposed
    near["expert_tensor"] = q.tensor_exposed
    near["expert"] = min(q.expert_overlapped, q.expert_exposed) if plan.schedule == "dualpipe" else q.expert_exposed
    near["ulysses"] = q.sequence_exposed
    near["sequence"] = q.ring_attention_exposed if ring else q.sequence_exposed
    near["pipeline"] = q.pipeline_exposed * (0.5 if plan.schedule == "interleaved" and q.pipeline_exposed < 1 else 1)
    near["data"] = near["expert_data"] = q.data_exposed
    far = dict(near)
    far["tensor"] = far["expert_tensor"] = 1.0
    for group in ("weights", "expert_weights", "tensor_weights"):
        far[group] = max(q.fsdp_exposed, q.data_exposed)
    spanned = shard.f * shard.t * shard.s
    growth = q.fsdp_growth * log2(spanned / 64) if shard.f > 1 and spanned > 64 else 0.0
    for group in ("weights", "expert_weights"):
        near[group] = min(1.0, near[group] + growth)
        far[group] = min(1.0, far[group] + growth)
    return {group: far[group] if world.rates.far[group] else near[group] for group in GROUPS}

def bubble_of_schedule(plan, shard):
    """Pipelines: idle forwards, idle backwards and filled weight gradients, each over p - 1."""
    p, m, v = shard.p, shard.m, plan.v
    if p <= 1 or plan.schedule == "none":
        return 0.0, 0.0, 0.0
    if plan.schedule == "interleaved":
        r = m - p * (ceil(m / p) - 1)
        factor = (1 + (v - 1) * (p - r) / (p - 1)) / v
        return factor, factor, 0.0
    if plan.schedule == "circular":
        return 1 / v, 1 / v, 0.0
    if plan.schedule == "zb_h1":
        return 1.0, 1.0, 2.0
    if plan.schedule == "dualpipe":
        share = (p / 2 - 1) / (p - 1)
        return share, 2 * share, 3 * share
    return 1.0, 1.0, 0.0

def rule_of_stage(world, shard, plan, sums, pace):
    """Overlap and the step: all that neither layout nor placement changes."""
    rule = once_a_step(world, shard, plan, sums, pace)
    forward, backward, weights = bubble_of_schedule(plan, shard)
    rule.idle = (pace.others * forward, pace.others * backward)
    rule.saved = pace.others * weights * weight_gradient_seconds(world, shard, pace.layers) if weights else 0.0
    rule.x = exposed_shares(world, shard, plan)
    rule.ring = plan.context in ("ring", "ulysses_ring") and rule.x["sequence"] < 1
    rule.offload_rate = host_rates(world.chip, world.copying)[3] * world.profile.pcie_efficiency
    return rule

def group_seconds(world, rule, resources, group):
    """Overlap and the step: t_g of both phases; of what moves once a step, at its start and at its end."""
    phases = rule.once[group] if group in ONCE else resources.traffic[group]
    return [collective_seconds(world.rates.cost[group], *phases[phase]) for phase in PHASES]

def exposed_of(rule, group, seconds, attention):
    """Overlap and the step: x t; of a ring max(x t, t - (1 - x) attention)."""
    x = rule.x[group]
    return max(x * seconds, seconds - (1 - x) * attention) if group == "sequence" and rule.ring else x * seconds

def step_of_stage(world, shard, plan, rule, resources):
    """Overlap and the step: the formula, priced as one stage."""
    m, rates = shard.m, world.rates
    C = [resources.compute[phase] + resources.attention[phase] for phase in PHASES]
    A, B = (m - 1) * (C[0] + C[1]) + C[0], C[1]
    time = Record(compute=A + B, groups={}, exposed={})
    critical, background = [0.0, 0.0], 0.0
    busy = [[0.0, 0.0] for _ in range(rates.axis_count)]
    whole_busy = [0.0] * rates.axis_count
    for group in GROUPS:
        t, x = group_seconds(world, rule, resources, group), rule.x[group]
        a = t[0] if group in ONCE else (m - 1) * (t[0] + t[1]) + t[0]
        time.groups[group] = a + t[1]
        if group in CRITICAL:
            own = [exposed_of(rule, group, t[phase], resources.attention[phase]) for phase in PHASES]
            critical = [critical[phase] + own[phase] for phase in PHASES]
            time.exposed[group] = m * (own[0] + own[1])
        else:
            background += x * (a + t[1])
            time.exposed[group] = x * (a + t[1])
        for i in rates.axes[group]:
            busy[i][0] += (1 - x) * a
            busy[i][1] += (1 - x) * t[1]
            whole_busy[i] += a + t[1]
    A, B = max([A] + [own[0] for own in busy]), max([B] + [own[1] for own in busy])
    P = m * resources.offload / rule.offload_rate if resources.offload > 0 else 0.0
    main = m * (critical[0] + critical[1]) + background + A + B
    lane = 0.0
    if P > 0:
        lane = sum(time.groups[group] for group in GROUPS if rates.axes[group] & rates.lane)
        main = max(main + world.profile.host_exposed * P, P + lane)
    time.bubble = sum(rule.idle[phase] * (C[phase] + critical[phase]) for phase in PHASES) - rule.saved
    time.optimizer, time.other, time.pcie = rule.optimizer, rule.other, P
    time.seconds = main + time.bubble + rule.optimizer + rule.other
    time.communication = main - time.compute
    time.waits = max(0.0, time.communication - sum(time.exposed.values()))
    fixed = time.bubble + rule.optimizer + rule.other
    longest = max([time.compute, P + lane] + whole_busy)
    time.lower = min(longest + fixed, time.seconds)
    time.upper = max(time.compute + sum(time.groups.values()) + P + fixed, time.seconds)
    return time

def price_step(world, shard, plan, layout, sums):
    """Pipelines: the whole step is priced as the fullest stage and as the last, and is the longer of both."""
    costs, best, copied = activations_of_layer(world, shard, plan, layout), None, sums
    if layout.kv_gathered:  # what moves once a step counts keys and values as copied
        copied = stage_sums(world, shard, plan, Record(**{**vars(layout), "kv_gathered": False, "kv_copied": True}))
    by_flops = shard.p > 1 and stage_is_longer_last(world, shard)
    for last in ([by_flops, not by_flops] if shard.p > 1 else [False]):
        pace = pace_of_stage(world, shard, last)
        rule = rule_of_stage(world, shard, plan, copied, pace)
        resources = resources_of_stage(world, shard, plan, layout, sums, pace)
        add_layout(costs, layout, resources)
        time = step_of_stage(world, shard, plan, rule, resources)
        time.pace, time.resources, time.rule = pace, resources, rule
        if best is None or time.seconds > best.seconds:
            best = time
    best.costs = costs
    best.formula = best.played = best.seconds
    if shard.p > 1:
        best.played = played_seconds(world, shard, plan, layout, sums, costs)
        more = best.played - best.formula if best.played > best.formula * 1.01 else 0.0
        best.seconds += more
        best.bubble += more
        best.lower += more
        best.upper += more
    return best

def stage_is_longer_last(world, shard):
    """Pipelines: whether FLOPs make the last stage the longer."""
    return stage_load(world, shard, shard.last, True) > stage_load(world, shard, shard.layers, False)

# ---- the played step ----
# A pass is (kind, microbatch, chunk, other microbatch, other chunk); kinds: F forward, B whole backward, I gradient of
# the input alone, W the rest of it, D a forward alongside the whole backward of another microbatch.

def chunk_order(k, group, microbatches, chunks):
    """The played step: the k-th chunk pass of a rank, microbatches in groups that go through all chunks."""
    if chunks == 1:
        return k, 0
    first = k // (group * chunks) * group
    rest, size = k - first * chunks, min(group, microbatches - first)
    return first + rest % size, rest // size

def forwards_first(ranks, microbatches, chunks, group):
    """The played step: GPipe and circular: all forwards, then all backwards from the last forward on."""
    order = [chunk_order(k, group, microbatches, chunks) for k in range(microbatches * chunks)]
    passes = [("F", i, c) for i, c in order] + [("B", i, c) for i, c in reversed(order)]
    return [list(passes) for _ in range(ranks)]

def one_forward_one_backward(ranks, microbatches, chunks):
    """The played step: warm-up forwards, then one forward and one backward in turn."""
    lists, total = [], microbatches * chunks
    for rank in range(ranks):
        warm = 2 * (ranks - rank - 1) + (chunks - 1) * ranks if chunks > 1 else ranks - rank - 1
        passes = []
        for k in range(total + warm):
            if k < total:
                passes.append(("F", *chunk_order(k, ranks, microbatches, chunks)))
            if k >= warm:
                i, c = chunk_order(k - warm, ranks, microbatches, chunks)
                passes.append(("B", i, chunks - 1 - c))
        lists.append(passes)
    return lists

def zero_bubble_h1(ranks, microbatches):
    """The played step: weight gradients wait, on rank r for r microbatches, and fill the end."""
    lists = []
    for rank in range(ranks):
        warm, passes = ranks - rank - 1, []
        for k in range(microbatches + warm):
            if k < microbatches:
                passes.append(("F", k, 0))
            if k >= warm:
                passes.append(("I", k - warm, 0))
                if k - warm >= rank:
                    passes.append(("W", k - warm - rank, 0))
        passes += [("W", i, 0) for i in range(max(0, microbatches - rank), microbatches)]
        lists.append(passes)
    return lists

def dual_pipe(ranks, microbatches):
    """The played step: the eight phases of DualPipe on each rank; chunk 0 runs from rank 0, chunk 1 from the last."""
    lists = []
    for rank in range(ranks):
        passes, waiting, forwards, backwards = [], [], [0, 0], [0, 0]
        half, each = ranks // 2, microbatches // 2
        second = rank >= half
        near = min(rank, ranks - 1 - rank)
        far = half - near - 1

        def way(own):
            return 1 - own if second else own

        def forward(own):
            passes.append(("F", forwards[way(own)], way(own)))
            forwards[way(own)] += 1

        def backward(own, split):
            number = backwards[way(own)]
            passes.append(("I" if split else "B", number, way(own)))
            backwards[way(own)] += 1
            if split:
                waiting.append(("W", number, way(own)))

        def both(ahead, back):
            passes.append(("D", forwards[way(ahead)], way(ahead), backwards[way(back)], way(back)))
            forwards[way(ahead)] += 1
            backwards[way(back)] += 1
        for _ in range(2 * far):
            forward(0)
        for _ in range(near + 1):
            forward(0)
            forward(1)
        for _ in range(far):
            backward(1, True)
            passes.append(waiting.pop(0))
            forward(1)
        for i in range(each - ranks + near + 1):
            if i == 0 and far == 0:  # the two ranks in the middle begin one after the other
                forward(0)
                backward(1, False)
            else:
                both(0, 1)
            both(1, 0)
        for _ in range(far):
            backward(1, False)
            both(1, 0)
        split = False
        for i in range(near + 1):
            if i == (near + 1) // 2 and near % 2 == 1:
                split = True
            backward(1, split)
            if i == (near + 1) // 2 and near % 2 == 0:
                split = True
            backward(0, split)
        for _ in range(far):
            passes.append(waiting.pop(0))
            backward(0, True)
        for _ in range(near + 1):
            passes.append(waiting.pop(0))
        lists.append(passes)
    return lists

def lists_of_passes(schedule, ranks, microbatches, chunks):
    """The played step: the passes of each rank in the order of its schedule."""
    if schedule in ("gpipe", "circular"):
        return forwards_first(ranks, microbatches, chunks, microbatches)
    if schedule == "zb_h1":
        return zero_bubble_h1(ranks, microbatches)
    if schedule == "dualpipe":
        return dual_pipe(ranks, microbatches)
    return one_forward_one_backward(ranks, microbatches, chunks)

def run_passes(lists, chunks, two_ways, seconds, arrives):
    """The played step: every pass as soon as what it needs is there; None where the lists wait for each other."""
    ranks = len(lists)
    forward, backward = {}, {}

    def moved(rank, chunk, ahead):
        """Where a microbatch goes next (ahead 1) or was before (-1)."""
        rank += -ahead if two_ways and chunk == 1 else ahead
        if 0 <= rank < ranks:
            return rank, chunk
        if two_ways or not 0 <= chunk + ahead < chunks:
            return None
        return (0 if ahead > 0 else ranks - 1), chunk + ahead

    def forward_ready(rank, microbatch, chunk):
        source = moved(rank, chunk, -1)
        return 0.0 if source is None else forward.get((*source, microbatch))

    def backward_ready(rank, microbatch, chunk):
        own, target = forward.get((rank, chunk, microbatch)), moved(rank, chunk, 1)
        if own is None or target is None:
            return own
        other = backward.get((*target, microbatch))
        return None if other is None else max(own, other)

    def ready(rank, one):
        kind = one[0]
        if kind == "F":
            return forward_ready(rank, one[1], one[2])
        if kind in "BI":
            return backward_ready(rank, one[1], one[2])
        if kind == "W":
            return backward.get((rank, one[2], one[1]))
        first, second = forward_ready(rank, one[1], one[2]), backward_ready(rank, one[3], one[4])
        return None if first is None or second is None else max(first, second)

    def lasts(rank, one):
        F, B, W = seconds[rank][one[2]]
        return {"F": F, "B": B, "I": B - W, "W": W, "D": F + seconds[rank][one[4]][1] if one[0] == "D" else 0}[one[0]]
    done, free = [0] * ranks, [0.0] * ranks
    begins, ends = [[] for _ in lists], [[] for _ in lists]
    moving = True
    while moving:
        moving = False
        for rank, passes in enumerate(lists):
            while done[rank] < len(passes):
                one = passes[done[rank]]
                start = ready(rank, one)
                if start is None:
                    break
                begin = max(start, free[rank])
                end = begin + lasts(rank, one)
                if one[0] in "FD" and one[1] == 0:
                    end = max(end, arrives[rank][one[2]])
                if one[0] in "FD":
                    forward[rank, one[2], one[1]] = end
                if one[0] in "BI":
                    backward[rank, one[2], one[1]] = end
                if one[0] == "D":
                    backward[rank, one[4], one[3]] = end
                begins[rank].append(begin)
                ends[rank].append(end)
                free[rank], moving = end, True
                done[rank] += 1
    if any(count < len(passes) for count, passes in zip(done, lists)):
        return None
    return begins, ends

def pass_cost(world, rule, resources, phase):
    """The played step: compute + exposed traffic + max(0, hidden traffic of the busiest axis - compute)."""
    compute = resources.compute[phase] + resources.attention[phase]
    exchange, busy = 0.0, [0.0] * world.rates.axis_count
    for group in resources.traffic:
        t = collective_seconds(world.rates.cost[group], *resources.traffic[group][phase])
        exchange += exposed_of(rule, group, t, resources.attention[phase]) if group in CRITICAL else rule.x[group] * t
        for i in world.rates.axes[group]:
            busy[i] += (1 - rule.x[group]) * t
    if resources.offload > 0:
        exchange += world.profile.host_exposed * resources.offload / 2 / rule.offload_rate
    exchange += max(0.0, max(busy, default=0.0) - compute)
    return Record(length=compute + exchange, busy=busy)

def combined(pieces):
    """The played step: resources of a chunk as multiples of pieces."""
    to = Record(compute=[0.0, 0.0], attention=[0.0, 0.0], offload=0.0, traffic={})
    for times, piece in pieces:
        for phase in PHASES:
            to.compute[phase] += times * piece.compute[phase]
            to.attention[phase] += times * piece.attention[phase]
        to.offload += times * piece.offload
        for group, phases in piece.traffic.items():
            own = to.traffic.setdefault(group, [[0.0, 0.0], [0.0, 0.0]])
            for phase in PHASES:
                for i in (0, 1):
                    own[phase][i] += times * phases[phase][i]
    return to

class Staging:
    """The played step: what all plays of one plan share."""

    def __init__(self, world, shard, plan, layout, sums, costs):
        self.world, self.shard, self.plan, self.layout, self.costs = world, shard, plan, layout, costs
        self.p, self.two_ways = int(shard.p), plan.schedule == "dualpipe"
        self.chunks = 1 if self.two_ways else max(1, plan.v)
        self.first, self.last = (rule_of_stage(world, shard, plan, sums, pace_of_stage(world, shard, last))
                                 for last in (False, True))

        def stage(layers=0.0, embedding=False, logits=False):
            return resources_of_stage(world, shard, plan, layout, sums,
                                      Record(layers=layers, embedding=embedding, logits=logits))
        self.once = stage()
        self.layer = combined([(1, stage(layers=1.0)), (-1, self.once)])
        self.embedding = combined([(1, stage(embedding=True)), (-1, self.once)])
        self.logits = combined([(1, stage(logits=True)), (-1, self.once)])
        self.made = {}

    def rule(self, rank):
        return self.last if rank == self.p - 1 else self.first

    def layers_at(self, stage, chunk):
        return layers_of_chunk(self.world.model, self.shard, self.chunks, stage, 0 if self.two_ways else chunk)

    def layout_of_layer(self, layers):
        """The played step: a stage with fewer layers than the layout is of remakes as many, if it has them."""
        if layers not in self.made:
            to = combined([(0, self.once)])
            for name, states in self.layout.states.items():
                for state, count in states.items():
                    if state != "saved" and self.costs[name].exists and layers > 0:
                        add_state(self.costs[name], state, min(layers, count) / layers, to)
            self.made[layers] = to
        return self.made[layers]

    def chunk_costs(self, rank, chunk):
        """The played step: the passes of one chunk."""
        stage = self.p - 1 - rank if self.two_ways and chunk == 1 else rank
        layers = self.layers_at(stage, chunk)
        of_stage = sum(self.layers_at(stage, c) for c in range(self.chunks))
        pieces = [(1 / self.chunks, self.once), (layers, self.layer)]
        if layers > 0:
            pieces.append((layers, self.layout_of_layer(of_stage)))
        if stage == 0 and (self.two_ways or chunk == 0):
            pieces.append((1, self.embedding))
        if stage == self.p - 1 and (self.two_ways or chunk == self.chunks - 1):
            pieces.append((1, self.logits))
        resources = combined(pieces)
        forward, backward = (pass_cost(self.world, self.first, resources, phase) for phase in PHASES)
        weights = min(weight_gradient_seconds(self.world, self.shard, layers), backward.length / 2)
        return forward, backward, (forward.length, backward.length, weights)

    def replicas(self, rank, axis):
        """The played step: hidden seconds of what moves once a step on an axis: at its start, and of gradients."""
        start = end = 0.0
        for group in ONCE:
            if axis in self.world.rates.axes[group]:
                begin, behind = self.rule(rank).once_unsplit[group]
                hidden, cost = 1 - self.first.x[group], self.world.rates.cost[group]
                start += hidden * collective_seconds(cost, *begin)
                end += hidden * collective_seconds(cost, *behind)
        return (0.0 if self.plan.zero == 2 else start), end

    def once_exposed(self, rank):
        return sum(self.first.x[group] * t for group in ONCE
                   for t in group_seconds(self.world, self.rule(rank), None, group))

def reductions_end(at, lists, begins, costs, rank, axis):
    """The played step: when an axis has moved a rank's own traffic and, from a chunk's last backward on, gradients."""
    end = at.replicas(rank, axis)[1]
    if not end > 0:
        return 0.0
    chunks = len(costs[rank])
    loop = at.plan.schedule in ("gpipe", "circular")
    whole = {}
    for i, one in enumerate(lists[rank]):
        if one[0] not in "FI":
            whole[one[4] if one[0] == "D" else one[2]] = i
    first = len(lists[rank]) - 1 if loop else min(whole.get(chunk, 0) for chunk in range(chunks))
    until = 0.0
    for i in range(first, len(lists[rank])):
        one = lists[rank][i]
        forward, backward, _ = costs[rank][one[2]]
        moves = forward.busy[axis] if one[0] in "FD" else 0.0 if one[0] == "W" else backward.busy[axis]
        if loop:
            moves += end if i == len(lists[rank]) - 1 else 0.0
        else:
            moves += sum(end / chunks for chunk in range(chunks) if whole.get(chunk, 0) == i)
        until = max(until, begins[rank][i]) + moves
    return until

def play(at, microbatches):
    """The played step: one play of some microbatches, until passes and reductions of all ranks are over."""
    chunks = 2 if at.two_ways else at.chunks
    costs = [[at.chunk_costs(rank, chunk) for chunk in range(chunks)] for rank in range(at.p)]
    seconds = [[cost[2] for cost in row] for row in costs]
    arrives = [[0.0] * chunks for _ in range(at.p)]
    axes = range(at.world.rates.axis_count)
    for rank in range(at.p):
        for axis in axes:
            start = at.replicas(rank, axis)[0]
            for chunk in range(chunks):
                if start > 0:
                    arrives[rank][chunk] = max(arrives[rank][chunk], start * (chunk + 1) / chunks +
                                               costs[rank][chunk][0].busy[axis])
    lists = lists_of_passes(at.plan.schedule, at.p, microbatches, at.chunks)
    played = run_passes(lists, chunks, at.two_ways, seconds, arrives)
    if played is None:  # a last group of fewer microbatches than stages can wait for itself
        lists = forwards_first(at.p, microbatches, at.chunks, at.p)
        played = run_passes(lists, chunks, False, seconds, arrives)
    begins, ends = played
    over = 0.0
    for rank in range(at.p):
        own = max([ends[rank][-1]] + [reductions_end(at, lists, begins, costs, rank, axis) for axis in axes])
        over = max(over, own + at.once_exposed(rank))
    return over, seconds

def played_seconds(world, shard, plan, layout, sums, costs):
    """The played step: all microbatches, or a few rounds that go on as the last one went; with what is once a step."""
    at = Staging(world, shard, plan, layout, sums, costs)
    m, round_size = int(plan.m), (2 if at.two_ways else 1) * at.p
    most, least = 2048 // at.p // max(1, plan.v) // 2, 4 * round_size + int(plan.m) % round_size
    some = m
    if m > most and m > least + round_size:
        some = least if least > most else least + (most - least) // round_size * round_size
    end, seconds = play(at, some)
    if some < m:
        less, _ = play(at, some - round_size)
        end += (m - some) / round_size * (end - less)
    longest = other = 0.0
    for rank, row in enumerate(seconds):
        rule = at.rule(rank)
        busy = sum(F + B for F, B, _ in row) * m / (2 if at.two_ways else 1) + rule.other
        if busy > longest:
            longest, other = busy, rule.other
    return end + max(at.first.optimizer, at.last.optimizer) + other
