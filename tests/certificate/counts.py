# SPDX-License-Identifier: GPL-3.0-or-later
"""How many plans a space has, by the rules in `search.certificate.space`: tuples of degrees, placements, knobs, batches."""
import math
from functools import lru_cache

ROLES = ("tensor", "expert", "sequence", "fsdp", "data", "pipeline")

@lru_cache(None)
def primes(n):
    out, p = {}, 2
    while n > 1:
        while n % p == 0:
            out[p], n = out.get(p, 0) + 1, n // p
        p += 1 if p * p <= n else max(1, n - p)
    return out

def compositions(n, parts):
    if parts == 1:
        yield (n,)
        return
    for first in range(n + 1):
        for rest in compositions(n - first, parts - 1):
            yield (first,) + rest

@lru_cache(None)
def matrices(rows, columns):
    """How many matrices of whole numbers >= 0 have these row and column sums. Rows are sorted: their order is no matter."""
    if not rows:
        return int(not any(columns))
    return sum(matrices(rows[1:], tuple(c - x for c, x in zip(columns, row)))
               for row in compositions(rows[0], len(columns)) if all(x <= c for x, c in zip(row, columns)))

def degree_tuples(roles, meshes):
    """(degrees, placements on each of the meshes) of all tuples of degrees of machines with as many devices; a mesh is
    the sizes of its axes. A prime's exponents over roles are one choice, whose matrices of exponents over the axes are
    counted once; degrees and placements are products over the primes. Roles that take no part are 1."""
    found = [((1,) * len(ROLES), (1,) * len(meshes))]
    at = [ROLES.index(role) for role in roles]
    for p, exponent in primes(math.prod(meshes[0])).items():
        choices = []
        for powers in compositions(exponent, len(roles)):
            factors = [1] * len(ROLES)
            for i, power in zip(at, powers):
                factors[i] = p ** power
            rows = tuple(sorted(filter(None, powers)))
            choices.append((factors, [matrices(rows, tuple(primes(size).get(p, 0) for size in sizes)) for sizes in meshes]))
        found = [(tuple(a * b for a, b in zip(degrees, factors)), tuple(a * b for a, b in zip(ways, more)))
                 for degrees, ways in found for factors, more in choices]
    return found

@lru_cache(None)
def quotients(n):
    """How many values ceil(n / x) has."""
    return len({-(-n // x) for x in range(1, n + 1)}) if n < 4096 else 2 * math.isqrt(n - 1) - (
        (n - 1) // math.isqrt(n - 1) == math.isqrt(n - 1)) + 1

@lru_cache(None)
def contexts(s, heads):
    return 1 if s == 1 else 3 + sum(1 for u in range(2, s) if heads % u == 0 and s % u == 0)

@lru_cache(None)
def pipelines(p, layers, schedules):
    """Schedules with their chunks, times splits of the layers. Embedding and logits may be in a layer's place each: one
    more split, and chunks of one place."""
    if p == 1:
        return 1
    chunked = sum(name in ("interleaved", "circular") for name in schedules)
    slots = int(p > 2 and (layers + 2) % p == 0 and (layers + 2) // p > max(1, layers // p))
    return (len(schedules) - chunked + chunked * (quotients(max(1, layers // p)) + slots - 1)) * (2 + slots)

@lru_cache(None)
def grids(ranks, t, experts):
    return 1 + sum(1 for ways in range(1, min(experts, ranks) + 1) if ranks % ways == 0
                   for width in {1, t} if ranks // ways % width == 0 and not (ways == 1 and width == t))

def other_knobs(degrees, switched, knobs):
    """Knob settings beside microbatches."""
    t, e, s, f, d, p = degrees
    folds = grids(t * s * f * d, t, knobs["experts"]) if switched and e == 1 else 1
    replicate = 2 if s > 1 else 1
    shares, gathers = d > 1 or replicate > 1 or folds > 1, e * s * f > 1 or folds > 1
    return (contexts(s, knobs["heads"]) * replicate * folds * pipelines(p, knobs["layers"], tuple(knobs["schedules"])) *
            (2 if knobs["tensor_overlap"] and t > 1 else 1) * (3 if shares else 1) * (2 if gathers else 1) *
            (2 if knobs["optimizer_offload"] else 1))

def batches(sequences, tolerance, replicas):
    """(least, most, how many) of the batches that a tuple may train with beside the one asked for."""
    if tolerance <= 0:
        return 0, 0, 0
    low = max(1, math.ceil(sequences * (1 - tolerance) - 1e-9))
    high = math.floor(sequences * (1 + tolerance) + 1e-9)
    some = [b for b in range(-(-low // replicas) * replicas, high + 1, replicas) if b != sequences]
    return (some[0], some[-1], len(some)) if some else (0, 0, 0)

def of_line(low, high, count, replicas, asked):
    """The batches of a line."""
    return [low] if count == 1 else [b for b in range(low, high + 1, replicas) if b != asked]
