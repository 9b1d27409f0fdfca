#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Holds what the program writes against docs/schema, by PyPI's jsonschema: check.py SHARDOPT. Exit 77 without it.

Every answer has to satisfy its schema. Then each is spoiled, one place at a time, and the schema has to notice: a field
that nobody knows in each closed object, a field taken away, a text in place of a number, a word that there is not."""

import json
import pathlib
import sys
import tempfile

import outputs

try:
    import jsonschema
    import referencing
except ImportError:
    print("SKIPPED: there is no jsonschema (pip install jsonschema)")
    sys.exit(77)

SCHEMAS = outputs.ROOT / "docs/schema"
# Objects that have no fixed keys: of these a key more is no fault. By the last part of their place.
FREE = {"plans_pruned", "points_pruned", "layouts_left_out", "varies", "terms_seconds", "remat_options", "options", "host",
        "change", "counts", "likely", "orders", "sent_bytes", "collective_seconds"}
FREE_INSIDE = {"memory_detail", "by"}
FREE_AT = {"diff": {"request", "plan", "search", "figures", "terms_seconds", "memory_bytes"}}


def validators():
    found = {path.name: json.loads(path.read_text(encoding="utf-8")) for path in SCHEMAS.glob("*.schema.json")}
    for schema in found.values():
        jsonschema.Draft202012Validator.check_schema(schema)
    resources = [(name, referencing.Resource.from_contents(schema)) for name, schema in found.items()]
    registry = referencing.Registry().with_resources(resources)
    return {name.split(".")[0]: jsonschema.Draft202012Validator(schema, registry=registry) for name, schema in found.items()}


def objects(value, place=()):
    """Each object of a document and where it stands."""
    if isinstance(value, dict):
        yield place, value
        for key, part in value.items():
            yield from objects(part, place + (key,))
    elif isinstance(value, list):
        for number, part in enumerate(value[:2]):
            yield from objects(part, place + (number,))


def is_free(schema, place):
    names = [key for key in place if isinstance(key, str)]
    return bool(names) and (names[-1] in FREE or (len(names) > 1 and names[-2] in FREE_INSIDE)
                            or names[-1].startswith("by_") or bool(set(names[:1]) & FREE_AT.get(schema, set())))


def on_the_way(value, place):
    """Of an answer what stands on the way to a place, as of a list that one entry: so that what is spoiled there is soon
    found, or soon missed. The object at the place is the answer's own."""
    if not place:
        return value
    key, rest = place[0], place[1:]
    return [on_the_way(value[key], rest)] if isinstance(value, list) else {**value, key: on_the_way(value[key], rest)}


def planted(validator, schema, answer):
    """How many faults were planted, and those that were not noticed."""
    count, missed, seen = 0, [], set()
    parts = validator.evolve(schema={**validator.schema, "required": []})  # of an answer's parts, one at a time
    for place, value in list(objects(answer)):
        kind = tuple("[]" if isinstance(key, int) else key for key in place)
        if kind in seen or is_free(schema, place):
            continue
        seen.add(kind)
        whole = on_the_way(answer, place)
        if isinstance(whole, dict) and place:
            whole = {place[0]: whole[place[0]]}
        part = parts if place else validator
        if not part.is_valid(whole):
            missed.append(f"what is not spoiled: {'.'.join(kind)}")
        number = next((k for k, v in value.items() if isinstance(v, (int, float)) and not isinstance(v, bool)), None)
        for what, key, new in (("a field more", "planted", 1), ("a text for a number", number, {"planted": 1})):
            if key is None:
                continue
            before = dict(value)
            value[key] = new
            count += 1
            if part.is_valid(whole):
                missed.append(f"{what}: {'.'.join(kind)}.{key}")
            value.clear()
            value.update(before)
    return count, missed


def small(answer, schema, place=()):
    """The same with the first entries of each long list and of each object that are rows under names, for the others are alike."""
    if isinstance(answer, list):
        return [small(part, schema, place) for part in answer[:2]]
    if not isinstance(answer, dict):
        return answer
    rows = is_free(schema, place) and all(isinstance(part, dict) for part in answer.values())
    kept = list(answer.items())[: 2 if rows else None]
    return {key: small(part, schema, place + (key,)) for key, part in kept}


def main(program):
    failures, faults, held, done = 0, 0, 0, set()
    check = validators()
    with tempfile.TemporaryDirectory() as folder:
        for schema, draft, line, answer in outputs.outputs(program, folder):
            errors = sorted(check[schema].iter_errors(answer), key=lambda e: list(map(str, e.absolute_path)))
            for error in errors[:6]:
                deepest = min(error.context, key=lambda e: len(str(e.message)), default=error) if error.context else error
                print("FAIL", schema, line, "/".join(map(str, error.absolute_path)), deepest.message[:200])
            failures += len(errors)
            held += not draft
            print("ok" if not errors else "FAIL", schema + ":", line.split(" -o ")[0])
            if not errors and schema not in done:
                done.add(schema)
                count, missed = planted(check[schema], schema, small(answer, schema))
                faults += count
                failures += len(missed)
                for what in missed:
                    print("FAIL", schema, "does not notice", what)
    for spoil in (lambda r: r["plans"][0].pop("notation"), lambda r: r["plans"][0]["placement"][0].update(role="spam"),
                  lambda r: r.update(format_version=2), lambda r: r["plans"][0].update(mfu=-1)):
        with tempfile.TemporaryDirectory() as folder:
            report = next(outputs.outputs(program, folder))[3]
            spoil(report)
            faults += 1
            if check["report"].is_valid(report):
                failures += 1
                print("FAIL a spoiled report is valid")
    unused = set(check) - done
    if unused:
        failures += 1
        print("FAIL schemas that no output was held against:", *unused)
    print(f"{len(outputs.ROWS)} answers ({held} of them not used in writing the schemas), {faults} planted faults, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
