# SPDX-License-Identifier: GPL-3.0-or-later
"""The graph of includes: cycles, levels, and a drawing of it by rooms (folders)."""
import pathlib

from source import Source, list_sources

NO_ROOMS = {"tests", "benchmarks", "docs", "examples", "cmake", "build"}


def components(edges):
    """Strongly connected components, each a list, those that are pointed to first (Tarjan)."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in edges[node]:
            if other not in edges:
                continue
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            at = stack.index(node)
            found.append(stack[at:])
            del stack[at:]

    for node in edges:
        if node not in index:
            visit(node)
    return found


def cycles(edges):
    """Components of more than one node, and nodes that point to themselves."""
    return [c for c in components(edges) if len(c) > 1 or c[0] in edges[c[0]]]


def levels(edges):
    """Level of each node: 1 where it points to none; members of a cycle share one."""
    level = {}
    for component in components(edges):
        below = [level[o] for n in component for o in edges[n] if o in level and o not in component]
        for node in component:
            level[node] = 1 + max(below, default=0)
    return level


def room_edges(root):
    """(room to the set of rooms that it includes, number of files)"""
    folders = sorted(p.name for p in pathlib.Path(root).iterdir()
                     if p.is_dir() and p.name not in NO_ROOMS and not p.name.startswith("."))
    sources = [Source(root, path) for path in list_sources(root, folders)]
    edges = {s.folder: set() for s in sources}
    for source in sources:
        edges[source.folder] |= {str(pathlib.PurePath(name).parent) for _, name, quoted in source.includes if quoted}
    return {room: (others - {room}) & set(edges) for room, others in edges.items()}, len(sources)


def draw(root):
    edges, files = room_edges(root)
    level = levels(edges)
    for room in sorted(edges, key=lambda r: (level[r], r)):
        print(f"{level[room]:3} {room:26} {' '.join(sorted(edges[room]))}")
    found = cycles(edges)
    for cycle in found:
        print("cycle:", " ".join(sorted(cycle)))
    print(f"{files} files, {len(edges)} rooms, {max(level.values())} levels, {sum(map(len, edges.values()))} arrows, "
          f"{len(found)} cycles between rooms ({sum(map(len, found))} rooms in them)")
