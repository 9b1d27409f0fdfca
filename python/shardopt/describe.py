# SPDX-License-Identifier: GPL-3.0-or-later
"""python -m shardopt.describe MODEL_OR_FOLDER -o model.json: a model file for shardopt, of a model that it does not know.

Builds the class of the transformers that is installed on the meta device, so that nothing is allocated, walks its layers,
recognises attention, mixtures and mixers by the names and shapes of their parameters, and writes them in shardopt's native
format. Parameters are exact: what was not recognised is taken as plain matrices and vectors, and named on stderr."""

import argparse
import collections
import json
import math
import re
import sys
from typing import Any, Counter, Dict, List, Optional, Sequence, Tuple

Shape = Tuple[int, ...]
Kind = Dict[str, Any]


def numbers(shape: Sequence[int]) -> int:
    return math.prod(shape)


def first(config: Any, *names: str, default: int = 0) -> int:
    """The first of the keys that the config has, as a number."""
    for name in names:
        value = getattr(config, name, None)
        if isinstance(value, (int, float)) and not isinstance(value, bool) and value:
            return int(value)
    return default


class Layer:
    """The parameters of one layer by their names inside it; each is taken by what recognises it."""

    def __init__(self, parameters: Dict[str, Shape]) -> None:
        self.left = dict(parameters)

    def find(self, pattern: str) -> List[str]:
        return [name for name in self.left if re.search(pattern, name)]

    def take(self, pattern: str) -> List[Shape]:
        """Shapes of all that match, which then are taken."""
        return [self.left.pop(name) for name in self.find(pattern)]


ATTENTION = r"(^|\.)(self_attn|attn|attention|self_attention|mixer|temporal_block)\."


def attention(layer: Layer, kind: Kind, d_model: int, config: Any) -> None:
    heads = first(config, "num_attention_heads", "n_head", "n_heads", "num_heads")
    if layer.find(ATTENTION + r"kv_a_proj_with_mqa\.weight$"):
        nope, rope, wide = (first(config, key) for key in ("qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim"))
        kind.update(heads=heads, kv_lora_rank=first(config, "kv_lora_rank"), qk_nope_head_dim=nope, qk_rope_head_dim=rope,
                    v_head_dim=wide)
        if layer.take(ATTENTION + r"q_a_proj\.weight$"):
            kind["q_lora_rank"] = first(config, "q_lora_rank")
        layer.take(ATTENTION + r"(kv_a_proj_with_mqa|kv_b_proj|q_b_proj|q_proj|o_proj)\.weight$")
        return
    query, key, value, out = (layer.find(ATTENTION + rf"(\w+\.)?{letter}_proj\.weight$") for letter in "qkvo")
    out = out or layer.find(ATTENTION + r"(out_proj|dense)\.weight$")
    if not (query and key and value and out and heads):
        return
    width = layer.left[out[0]][-1]
    columns = layer.left[query[0]][0]
    head_dim = width // heads
    if columns not in (width, 2 * width) or layer.left[key[0]] != layer.left[value[0]]:
        return
    kind.update(heads=heads, head_dim=head_dim, kv_heads=max(1, layer.left[key[0]][0] // head_dim))
    if columns == 2 * width:
        kind["out_gate"] = width
    for name in (query[0], key[0], value[0], out[0]):
        del layer.left[name]
    gate = layer.find(ATTENTION + r"(g_proj|gate_proj|gate)\.weight$")
    if gate and not kind.get("out_gate") and layer.left[gate[0]] in ((width, d_model), (heads, d_model)):
        kind["out_gate"] = layer.left.pop(gate[0])[0]
    norms = layer.take(ATTENTION + r"(q|k|query|key)_(layer)?norm\.weight$")
    kind["qk_norm_parameters"] = sum(map(numbers, norms))


def mamba2(layer: Layer, kind: Kind, d_model: int, config: Any) -> None:
    if not (layer.find(r"\.A_log$") and layer.find(r"\.dt_bias$") and layer.find(r"in_proj\.weight$")):
        return
    decay = layer.left[layer.find(r"\.A_log$")[0]]
    projection = layer.left[layer.find(r"in_proj\.weight$")[0]]
    convolution = layer.left[layer.find(r"conv1d\.weight$")[0]]
    out = layer.find(r"out_proj\.weight$")
    if len(decay) != 1 or not out:
        return
    width, heads = layer.left[out[0]][1], decay[0]
    state = first(config, "ssm_state_size", "state_size", "mamba_d_state")
    if not state or projection[0] != width + convolution[0] + heads:
        return
    kind["mamba2"] = {"heads": heads, "head_dim": width // heads, "groups": (convolution[0] - width) // (2 * state),
                      "state": state, "conv_kernel": convolution[-1], "conv_bias": len(layer.take(r"conv1d\.bias$")),
                      "norm": len(layer.take(r"(mamba|mixer)\.norm\.weight$"))}
    layer.take(r"(\.A_log|\.dt_bias|\.D|in_proj\.weight|conv1d\.weight|out_proj\.weight)$")


def delta_net(layer: Layer, kind: Kind, d_model: int, config: Any) -> None:
    keys = {key: first(config, f"linear_{key}") for key in
            ("num_key_heads", "num_value_heads", "key_head_dim", "value_head_dim", "conv_kernel_dim")}
    if not layer.find(r"linear_attn\.A_log$") or not all(keys.values()):
        return
    kind["gated_delta_net"] = {"key_heads": keys["num_key_heads"], "value_heads": keys["num_value_heads"],
                               "key_dim": keys["key_head_dim"], "value_dim": keys["value_head_dim"],
                               "conv_kernel": keys["conv_kernel_dim"]}
    layer.take(r"linear_attn\.")


def feed_forward(layer: Layer, kind: Kind, d_model: int, config: Any) -> None:
    up = layer.find(r"(^|\.)experts\.gate_up_proj(\.weight)?$") or layer.find(r"(^|\.)experts\.up_proj(\.weight)?$")
    down = layer.find(r"(^|\.)experts\.down_proj(\.weight)?$")
    router = layer.find(r"(^|\.)(gate|router)(\.\w+)?\.weight$")
    if up and down and len(layer.left[up[0]]) == 3:
        experts, hidden = layer.left[down[0]][0], numbers(layer.left[down[0]][1:]) // d_model
        kind.update(experts=experts, d_ff_expert=hidden, gated="gate_up" in up[0],
                    top_k=first(config, "num_experts_per_tok", "moe_topk", "top_k_experts", "moe_k", default=1))
        for name in [*up, *down, *[r for r in router if layer.left[r] == (experts, d_model)]]:
            del layer.left[name]
    shared = layer.take(r"shared_experts?\.\w+\.weight$") if kind.get("experts") else []
    if shared:
        kind["d_ff_shared"] = sum(map(numbers, shared)) // ((3 if kind["gated"] else 2) * d_model)
        if layer.find(r"shared_expert_gate\.weight$"):
            layer.take(r"shared_expert_gate\.weight$")
            kind["shared_gate"] = True
    up = layer.find(r"(mlp|feed_forward|ffn)\.(\w+\.)?(up_proj|w3|fc1|fc_in|c_fc|dense_h_to_4h|gate_up_proj)\.weight$")
    down = layer.find(r"(mlp|feed_forward|ffn)\.(\w+\.)?(down_proj|w2|fc2|fc_out|c_proj|dense_4h_to_h)\.weight$")
    gate = layer.find(r"(mlp|feed_forward|ffn)\.(\w+\.)?(gate_proj|w1)\.weight$")
    if len(up) == 1 and len(down) == 1 and numbers(layer.left[down[0]]) % d_model == 0:
        kind["d_ff"] = numbers(layer.left[down[0]]) // d_model
        kind["gated"] = bool(gate) or "gate_up" in up[0]
        for name in [*up, *down, *gate]:
            del layer.left[name]


def describe_layer(parameters: Dict[str, Shape], d_model: int, config: Any, unknown: Counter[str]) -> Kind:
    layer = Layer(parameters)
    kind: Kind = {"gated": True}
    for recognise in (delta_net, mamba2, attention, feed_forward):
        recognise(layer, kind, d_model, config)
    norms = [name for name, shape in layer.left.items() if shape == (d_model,) and "norm" in name and name.endswith("weight")]
    kind["norms"] = len(norms)
    for name in norms:
        del layer.left[name]
    matrices = sum(numbers(shape) for shape in layer.left.values() if len(shape) > 1)
    vectors = sum(numbers(shape) for shape in layer.left.values() if len(shape) < 2)
    if matrices:
        kind["matrices"] = {"other": matrices}
    if vectors:
        kind["vectors"] = {"other": vectors}
    for name, shape in layer.left.items():
        if len(shape) > 1:
            unknown[name] += numbers(shape)
    if not kind.get("heads") and not ({"mamba2", "gated_delta_net"} & kind.keys()):
        kind["none"] = {}
    return kind


def describe(model: Any, config: Any) -> Tuple[Kind, Counter[str]]:
    """The native file of a module, and what was not recognised: parameters by name."""
    import torch

    text = config.get_text_config() if hasattr(config, "get_text_config") else config
    d_model = first(text, "hidden_size", "n_embd", "d_model")
    lists = [(name, module) for name, module in model.named_modules()
             if isinstance(module, torch.nn.ModuleList) and len(module) == first(text, "num_hidden_layers", "n_layer", "n_layers")
             and not re.search("vision|visual|audio|encoder", name)]
    if not lists or not d_model:
        raise SystemExit("shardopt.describe: no list of decoder layers was found; write the layers by hand (CONTRIBUTING.md)")
    prefix, layers = lists[0]
    unknown: Counter[str] = collections.Counter()
    kinds: List[Kind] = []
    seen = set()
    for layer in layers:
        parameters = {}
        for name, parameter in layer.named_parameters():
            if id(parameter) not in seen:
                seen.add(id(parameter))
                parameters[name] = tuple(parameter.shape)
        kind = describe_layer(parameters, d_model, text, unknown)
        for known in kinds:
            if {**known, "count": 1} == {**kind, "count": 1}:
                known["count"] += 1
                break
        else:
            kinds.append({"count": 1, **kind})
    embedding = model.get_input_embeddings().weight
    head = model.get_output_embeddings().weight if model.get_output_embeddings() is not None else embedding
    result = {"model_type": "shardopt", "d_model": d_model, "vocab": embedding.shape[0], "tied": head is embedding,
              "max_seq": first(text, "max_position_embeddings", "n_positions", default=1 << 20), "layers": kinds}
    rest: Counter[str] = collections.Counter()
    for name, parameter in model.named_parameters():
        if id(parameter) in seen or parameter is embedding or (parameter is head and parameter.shape == embedding.shape):
            continue
        column = ("vision" if re.search("vision|visual", name) else "audio" if "audio" in name
                  else "projector" if re.search("project|connector|merger", name) else "other")
        rest[column] += numbers(parameter.shape)
    rest["other"] -= d_model  # the last norm, which the format has
    if rest["other"] < 0:
        result["last_norm"] = False
        rest["other"] += d_model
    result["vectors"] = {column: count for column, count in rest.items() if count}
    return result, unknown


def main(arguments: Optional[Sequence[str]] = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m shardopt.describe", description=__doc__.split("\n\n")[0])
    parser.add_argument("model", metavar="MODEL_OR_FOLDER", help="a folder with config.json, or a name on the hub")
    parser.add_argument("-o", "--output", metavar="FILE", required=True, help="the model file to write")
    parser.add_argument("--trust-remote-code", action="store_true", help="run the code that comes with the model")
    asked = parser.parse_args(arguments)
    try:
        import torch
        import transformers
    except ImportError as missing:
        raise SystemExit(f"shardopt.describe: {missing.name} is not installed; pip install torch transformers") from None
    config = transformers.AutoConfig.from_pretrained(asked.model, trust_remote_code=asked.trust_remote_code)
    classes = [getattr(transformers, name) for name in ("AutoModelForCausalLM", "AutoModelForImageTextToText") if
               hasattr(transformers, name)]
    failed = None
    for auto in classes:
        try:
            with torch.device("meta"):
                model = auto.from_config(config, trust_remote_code=asked.trust_remote_code)
            break
        except (ValueError, AttributeError, ImportError) as error:
            failed = error
    else:
        raise SystemExit(f"shardopt.describe: {asked.model} cannot be built: {failed}")
    model.tie_weights()
    result, unknown = describe(model, config)
    with open(asked.output, "w", encoding="utf-8") as file:
        json.dump(result, file, indent=1)
        file.write("\n")
    for name, count in unknown.most_common():
        print(f"shardopt.describe: {name}: not recognised, {count:,} parameters taken as plain matrices", file=sys.stderr)
    total = sum(parameter.numel() for parameter in {id(p): p for p in model.parameters()}.values())
    print(f"{asked.output}: {total:,} parameters, {sum(unknown.values()):,} of them not recognised", file=sys.stderr)


if __name__ == "__main__":
    main()
