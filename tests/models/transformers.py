#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares what the program counts with what the classes of transformers hold and do: parameters in total, by part and
active, and forward FLOPs, of each row of ../shared/models/transformers.tsv (how it was counted: README.md there); and
the total of a type's default again where the file leaves out all keys that have a default.

    transformers.py SHARDOPT [-v] [NAME...]

Every difference is named in transformers.tsv beside this file, with its reason: a row's id, or its start (`lm-bart`:
all rows that start so), and the figures that differ. One that is not named fails; one that is named and right fails too.
Columns that the table does not keep apart are named with a plus (`attention+mlp`): each may differ, their sum may not.
"""
import collections, concurrent.futures, csv, json, os, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SHARED = os.path.join(HERE, "../../../shared/models")
FAMILIES = os.path.join(HERE, "../../models/families")
SEQ = 2048
TOTAL_WITHIN, PART_WITHIN, FLOPS_WITHIN = 1e-4, 5e-3, 1e-2
# The classes have biases and sinks in these columns; the program has them in one of their own.
WITH_BIASES = ("attention", "mlp", "experts", "router", "head", "linear", "cross_attention", "shared_experts")
PARTS = WITH_BIASES + ("embedding", "positions", "indexer", "norms", "ple", "ngram", "hyper", "mtp", "vision", "audio",
                       "projector", "other")


def rows_of(path):
    with open(path) as file:
        return list(csv.DictReader((line for line in file if not line.startswith("#")), delimiter="\t",
                                   quoting=csv.QUOTE_NONE))


def laid_over(under, over):
    """A row's config: what differs from its type's default, key by key."""
    whole = dict(under)
    for key, value in over.items():
        if value == "__absent__":
            whole.pop(key, None)
        elif isinstance(value, dict) and isinstance(whole.get(key), dict):
            whole[key] = laid_over(whole[key], value)
        else:
            whole[key] = value
    return whole


def families():
    types = {}
    for name in os.listdir(FAMILIES):
        if name.endswith(".json"):
            with open(os.path.join(FAMILIES, name)) as file:
                types.update(json.load(file))
    return types


def required(types, name):
    """The keys that the family wants a file of its own to say; all others have the class's default."""
    while name in types:
        if "required" in types[name]:
            return {"model_type", "architectures", *types[name]["required"]}
        name = types[name].get("like")
    return {"model_type", "architectures"}


def asked(program, path, config):
    with open(path, "w") as file:
        json.dump(config, file)
    done = subprocess.run([program, "models", path, "--format", "json"], capture_output=True, text=True)
    return json.loads(done.stdout) if done.returncode == 0 else done.stderr.strip() or f"exit code {done.returncode}"


def answer(program, folder, row, types):
    """What is said of the whole config, and, of a type's default, of one that leaves out what the class knows."""
    with open(os.path.join(SHARED, "configs", f"{row['task']}-{row['model_type']}.json")) as file:
        config = laid_over(json.load(file), json.loads(row["config"]))
    config["shardopt"] = {"name": row["id"], "family": row["model_type"], "source": "a row",
                          "training": {"seq": SEQ, "source": "a row"}}
    path = os.path.join(folder, row["id"] + ".json")
    whole, short = asked(program, path, config), None
    if row["variant"] == "default" and isinstance(whole, dict):
        kept = required(types, row["model_type"])
        short = asked(program, path, {key: value for key, value in config.items() if key in kept or isinstance(value, dict)})
    return whole, short


def differences(row, answered, short, joined):
    """Figure: what is said of it, for each that is wrong. Joined: columns whose sum is compared."""
    if isinstance(answered, str):
        return {"read": answered}
    counted, wrong = answered["parts"], {}
    counted["head"] = counted["unembedding"]
    biases = counted["biases"]

    def compare(figure, is_, should, within):
        if abs(is_ - should) > within * should:
            wrong[figure] = f"{is_:.0f}, should be {should:.0f} ({is_ - should:+.0f})"

    for names in joined:
        parts = names.split("+")
        lacking = sum(int(row[part]) - counted[part] for part in parts)
        if not 0 <= lacking <= biases:
            compare(names, sum(counted[part] for part in parts), sum(int(row[part]) for part in parts), PART_WITHIN)
    compare("total", counted["total"], int(row["total"]), TOTAL_WITHIN)
    compare("language", counted["language"], int(row["language"]), TOTAL_WITHIN)
    compare("active", counted["active"], int(row["active"]), PART_WITHIN)
    for part in PARTS:
        lacking = int(row[part]) - counted[part]
        if part in WITH_BIASES and 0 < lacking <= biases:
            biases -= lacking
        else:
            compare(part, counted[part], int(row[part]), PART_WITHIN)
    if isinstance(short, str):
        wrong["defaults"] = f"refused: {short}"
    elif short:
        compare("defaults", short["parts"]["total"], counted["total"], TOTAL_WITHIN)
    if row[f"flops_{SEQ}"]: # the program's are of a forward and a backward pass, for one token
        flops = answered["flops_per_token"]
        assert flops["seq"] == SEQ
        compare("flops", flops["eager"] / 3 * SEQ, float(row[f"flops_{SEQ}"]), FLOPS_WITHIN)
    return wrong


def main():
    words = sys.argv[2:]
    verbose, names = "-v" in words, [word for word in words if word != "-v"]
    if not os.path.exists(os.path.join(SHARED, "transformers.tsv")):
        print("skipped: ../shared/models/transformers.tsv, the counts of transformers, is not there")
        return 77
    csv.field_size_limit(1 << 30)
    rows = [row for row in rows_of(os.path.join(SHARED, "transformers.tsv"))
            if not names or any(row["id"].startswith(name) for name in names)]
    exceptions = rows_of(os.path.join(HERE, "transformers.tsv"))
    errors, right, reasons = [], collections.Counter(), collections.Counter()
    types = families()
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as workers:
        answers = list(workers.map(lambda row: answer(sys.argv[1], folder, row, types), rows))
    matched = set()
    for row, answered in zip(rows, answers):
        own = [number for number, exception in enumerate(exceptions)
               if (row["id"] + "-").startswith(exception["row"] + "-")]
        matched.update(own)
        named = [(figure, exceptions[number]) for number in own for figure in exceptions[number]["figures"].split(",")]
        joined = [figure for figure, _ in named if "+" in figure]
        wrong, excused = differences(row, *answered, joined), {}
        for figures, exception in named:
            for figure in figures.split("+"):
                excused[figure] = exception["reason"]
                if not wrong.keys() & set(figures.split("+")):
                    errors.append(f"{row['id']}: {figure} is right now; take it out of transformers.tsv: "
                                  f"{exception['row']}, {exception['figures']}")
        for figure, said in wrong.items():
            if figure not in excused:
                errors.append(f"{row['id']}: {figure} is {said}" if figure != "read" else f"{row['id']}: {said}")
            elif verbose:
                print(f"excused: {row['id']}: {figure} is {said} ({excused[figure]})")
        reasons.update({excused[figure] for figure in wrong if figure in excused})
        read = "read" not in wrong
        right["read"] += read
        right["total"] += read and "total" not in wrong
        right["all parts"] += read and not any(part in wrong for part in PARTS)
        right["all parts, joined columns as one"] += read and not any(
            part in wrong for part in PARTS if part not in "+".join(joined).split("+"))
        right["active"] += read and "active" not in wrong
        right["FLOPs"] += bool(row[f"flops_{SEQ}"]) and read and "flops" not in wrong
        right["defaults"] += bool(answered[1]) and "defaults" not in wrong
        right["everything"] += not wrong
    if not names:
        errors += [f"transformers.tsv: {exception['row']} is no row" for number, exception in enumerate(exceptions)
                   if number not in matched]
    for error in errors:
        print("FAIL:", error)
    some = {"FLOPs": sum(bool(row[f"flops_{SEQ}"]) for row in rows),
            "defaults": sum(row["variant"] == "default" for row in rows)}
    print(f"{len(rows)} rows: " + ", ".join(
        f"{what} {right[what]}" + (f" of {some[what]}" if what in some else "")
        for what in ("read", "total", "all parts", "all parts, joined columns as one", "active", "FLOPs", "defaults", "everything")))
    for reason, count in reasons.most_common():
        print(f"{count:4d} excused: {reason}")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
