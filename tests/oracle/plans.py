# SPDX-License-Identifier: GPL-3.0-or-later
"""The models and plans that are compared. Sizes of weights are powers of two and numbers of sequences multiples of
three, so that an array with a factor 3 holds tokens and any other holds weights: no name has to be believed."""
from dataclasses import dataclass, field, replace

DENSE = {"d_model": 1024, "heads": 16, "kv_heads": 8, "head_dim": 64, "d_ff": 4096, "experts": 0}
MIXTURE = {"d_model": 1024, "heads": 16, "kv_heads": 8, "head_dim": 64, "d_ff": 0, "experts": 8, "top_k": 2,
           "d_ff_expert": 2048}


def config(model, layers):
    """The model as shardopt reads it. The vocabulary is small: a stack of layers is what is compared."""
    kind = {key: value for key, value in model.items() if value} | {"count": layers, "norms": 2}
    said = {"name": "oracle", "family": "oracle", "source": "tests/oracle"}
    if model["experts"]:
        said["training"] = {"capacity_factor": 1, "source": "the layer in layer.py"}
    return {"model_type": "shardopt", "d_model": kind.pop("d_model"), "vocab": 64, "tied": False, "max_seq": 4096,
            "norm": "rms", "positions": "none", "layers": [kind], "shardopt": said}


@dataclass
class Plan:
    name: str
    axes: dict  # role: degree, outermost first
    sequences: int  # of one microbatch
    seq: int
    knobs: str  # of shardopt, beside the degrees
    residual: str  # how the residual stream has to lie in shardopt's layout, for this comparison
    model: dict = field(default_factory=lambda: DENSE)
    keep_gathered: bool = True  # weights that come together for forward are kept for backward
    stage_layers: int = 1  # of a pipeline
    gather_mlp: bool = False  # the MLP's weights come together over tensor too, and its tokens stay where they are

    # What is compared is the difference of two counts: of layers or, of a pipeline, of microbatches.
    @property
    def stages(self):
        return self.axes.get("pipeline", 1)

    def layers(self, count):
        return count if self.stages == 1 else self.stage_layers * self.stages

    def longer(self):
        return replace(self, stage_layers=self.stage_layers + 1)

    def all_sequences(self, count):
        return self.sequences * (1 if self.stages == 1 else count)

    def notation(self, count):
        degrees = " ".join(f"{role}={degree}" for role, degree in self.axes.items())
        return f"{degrees} microbatches={1 if self.stages == 1 else count} {self.knobs}"


GATHER = "context_method=all_gather sequence_parameters=sharded"
WHOLE = "tensor_overlap=false"
PLANS = [
    Plan("fsdp=8, gathered once", {"fsdp": 8}, 24, 256, "regather=false", "('fsdp', None, None)"),
    Plan("fsdp=8, gathered again", {"fsdp": 8}, 24, 256, "regather=true", "('fsdp', None, None)", keep_gathered=False),
    # 252 tokens are no multiple of 8: the stream stays whole on every chip.
    Plan("tensor=8, whole stream", {"tensor": 8}, 3, 252, WHOLE, "(None, None, None)"),
    Plan("tensor=8, split stream", {"tensor": 8}, 3, 256, WHOLE, "(None, 'tensor', None)"),
    Plan("fsdp=2 tensor=4, whole stream", {"fsdp": 2, "tensor": 4}, 6, 254, WHOLE + " regather=false",
         "('fsdp', None, None)"),
    Plan("fsdp=2 tensor=4, split stream", {"fsdp": 2, "tensor": 4}, 6, 256, WHOLE + " regather=false",
         "('fsdp', 'tensor', None)"),
    Plan("fsdp=2 tensor=4, MLP gathered once", {"fsdp": 2, "tensor": 4}, 24, 1024, WHOLE + " regather=false",
         "('fsdp', 'tensor', None)", gather_mlp=True),
    Plan("fsdp=2 tensor=4, MLP gathered again", {"fsdp": 2, "tensor": 4}, 24, 1024, WHOLE + " regather=true",
         "('fsdp', 'tensor', None)", keep_gathered=False, gather_mlp=True),
    Plan("sequence=8", {"sequence": 8}, 3, 2048, GATHER + " regather=false", "(None, 'sequence', None)"),
    Plan("fsdp=4 sequence=2", {"fsdp": 4, "sequence": 2}, 12, 1024, GATHER + " regather=false",
         "('fsdp', 'sequence', None)"),
    Plan("data=8", {"data": 8}, 24, 256, "zero_stage=0", "('data', None, None)"),
    Plan("data=2 fsdp=4", {"data": 2, "fsdp": 4}, 24, 256, "zero_stage=0 regather=false", "(('data', 'fsdp'), None, None)"),
    Plan("expert=8", {"expert": 8}, 24, 256, "regather=false", "('expert', None, None)", model=MIXTURE),
    Plan("fsdp=2 expert=4", {"fsdp": 2, "expert": 4}, 24, 256, "regather=false", "(('fsdp', 'expert'), None, None)",
         model=MIXTURE),
    Plan("pipeline=2 fsdp=4", {"pipeline": 2, "fsdp": 4}, 12, 256, "schedule=gpipe regather=true", "('fsdp', None, None)",
         keep_gathered=False, stage_layers=2),
    Plan("pipeline=4 tensor=2", {"pipeline": 4, "tensor": 2}, 3, 256, "schedule=gpipe " + WHOLE, "(None, 'tensor', None)"),
]
