#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes tests/data/launch/crds.json: the schemas of JobSet, LeaderWorkerSet and RayJob out of their repositories, without
descriptions, and of a pod what our jobs use (the three have the same pod).

    tests/launch/crds.py FOLDER >tests/data/launch/crds.json    # FOLDER/lws, jobset, kuberay: clones
"""
import json
import os
import subprocess
import sys

import yaml

CRDS = {"JobSet": ("jobset", "config/components/crd/bases/jobset.x-k8s.io_jobsets.yaml"),
        "LeaderWorkerSet": ("lws", "config/crd/bases/leaderworkerset.x-k8s.io_leaderworkersets.yaml"),
        "RayJob": ("kuberay", "ray-operator/config/crd/bases/ray.io_rayjobs.yaml")}
POD = {"containers", "restartPolicy", "volumes"}
CONTAINER = {"name", "image", "env", "resources", "volumeMounts", "command", "args", "ports"}
VOLUME = {"name", "emptyDir", "configMap"}


def plain(node):
    if isinstance(node, list):
        return [plain(item) for item in node]
    if not isinstance(node, dict):
        return node
    kept = {key: plain(value) for key, value in node.items() if not (key == "description" and isinstance(value, str))}
    properties = kept.get("properties", {})
    if "containers" in properties and "tolerations" in properties:
        pods.append(kept)
        return {"$ref": "#/Pod"}
    return kept


def only(node, names):
    node["properties"] = {key: value for key, value in node["properties"].items() if key in names}


pods, out = [], {"source": {}}
for kind, (folder, path) in CRDS.items():
    git = ["git", "-C", os.path.join(sys.argv[1], folder)]
    commit = subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout.strip()
    text = subprocess.run([*git, "show", f"HEAD:{path}"], capture_output=True, text=True, check=True).stdout
    version = next(version for version in yaml.safe_load(text)["spec"]["versions"] if version["storage"])
    out["source"][kind] = f"{path} of {folder} at {commit}, {version['name']}; Apache License 2.0"
    out[kind] = plain(version["schema"]["openAPIV3Schema"])
    out[kind]["properties"].get("status", {}).pop("properties", None)
pod = pods[0]
if any(other != pod for other in pods):
    sys.exit("the pods differ")
only(pod, POD)
only(pod["properties"]["containers"]["items"], CONTAINER)
only(pod["properties"]["volumes"]["items"], VOLUME)
out["Pod"] = pod
print("{" + ",\n".join(f"{json.dumps(key)}: {json.dumps(value, separators=(',', ':'))}" for key, value in out.items()) + "}")
