#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""shardopt.jax and shardopt.lower where JAX is installed: a step that is sharded over sixteen devices of the CPU gives what
the plain one gives, its state comes out as the answer says, the program that runs is the annotated one, and the example
in examples/ runs where flax is there too."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=16"
os.environ["JAX_PLATFORMS"] = "cpu"
try:
    import jax
    import jax.numpy as jnp
    import numpy
except ImportError:
    print("SKIPPED: JAX is not installed")
    sys.exit(77)

import shardopt
from shardopt.jax import shard

ROOT = pathlib.Path(__file__).resolve().parents[2]


def step(state, batch):
    weights, moments = state

    def loss(weights):
        hidden = jax.nn.relu(batch["x"] @ weights["in"])
        return jnp.mean((hidden @ weights["out"] - batch["y"]) ** 2)

    value, gradient = jax.value_and_grad(loss)(weights)
    moments = jax.tree.map(lambda m, g: 0.9 * m + g, moments, gradient)
    return (jax.tree.map(lambda w, m: w - 0.1 * m, weights, moments), moments), value


def inputs():
    draw = lambda seed, *shape: jax.random.normal(jax.random.key(seed), shape) * 0.1
    weights = {"in": draw(0, 256, 1024), "out": draw(1, 1024, 256)}
    return (weights, jax.tree.map(jnp.zeros_like, weights)), {"x": draw(2, 512, 256), "y": draw(3, 512, 256)}


class Jax(unittest.TestCase):
    def test_gives_what_the_plain_step_gives(self):
        state, batch = inputs()
        want = [jax.jit(step)(state, batch)]
        want.append(jax.jit(step)(want[0][0], batch))
        sharded = shard(step, state, batch, donate_argnums=0, chip="v5e", slice="4x4")
        state, batch = sharded.put(state, batch)
        for expected in want:
            state, loss = sharded(state, batch)
            for a, b in zip(jax.tree.leaves(expected), jax.tree.leaves((state, loss))):
                numpy.testing.assert_allclose(a, b, rtol=2e-5, atol=1e-6)

    def test_state_comes_out_as_the_answer_says(self):
        arguments = inputs()
        sharded = shard(step, *arguments, donate_argnums=0, chip="v5e", slice="4x4")
        self.assertTrue(sharded.answer["proven"])
        cuts = [tuple(tuple(axes) for axes in one["sharding"]) for one in sharded.answer["arguments"]]
        self.assertTrue(any(any(cut) for cut in cuts), cuts)
        out, _ = sharded(*sharded.put(*arguments))
        leaves, wanted = jax.tree.leaves(out), jax.tree.leaves(sharded.shardings)
        self.assertEqual(len(leaves), 4)
        for leaf, sharding in zip(leaves, wanted):
            self.assertTrue(leaf.sharding.is_equivalent_to(sharding, leaf.ndim), f"{leaf.sharding} {sharding}")

    def test_constraints_inside_are_there(self):
        arguments = inputs()
        sharded = shard(step, *arguments, donate_argnums=0, chip="v5e", slice="4x4")
        inside = sharded.text.count("sdy.sharding_constraint")
        self.assertGreater(inside, 3)
        self.assertGreaterEqual(sharded.lower(*arguments).as_text().count("sdy.sharding_constraint"), inside)

    def test_machine_of_another_size(self):
        with self.assertRaisesRegex(ValueError, "8 devices, here are 16"):
            shard(step, *inputs(), chip="v5e", slice="2x4")
        with self.assertRaises(shardopt.InputError):
            shard(step, *inputs(), chip="v99", slice="4x4")

    def test_lower(self):
        with tempfile.TemporaryDirectory() as folder:
            script = os.path.join(folder, "mine.py")
            pathlib.Path(script).write_text("import jax\ns = jax.ShapeDtypeStruct((64, 64), 'float32')\nbuild = lambda: "
                                            "(lambda w, x: (w - x @ w, x), (s, s), (0,))\nwrong = lambda: 3\n")
            run = lambda word: subprocess.run([sys.executable, "-m", "shardopt.lower", word], capture_output=True, text=True)
            made = run(script + ":build")
            self.assertEqual((made.returncode, made.stderr), (0, ""))
            self.assertIn("tf.aliasing_output = 0", made.stdout)
            path = os.path.join(folder, "step.mlir")
            pathlib.Path(path).write_text(made.stdout)
            self.assertEqual(shardopt.run(["program", path, "--chip", "v5e", "--slice", "4x4"])[0], 0)
            for word in (script + ":wrong", script + ":absent", script, "nowhere.py:f"):
                bad = run(word)
                self.assertEqual((bad.returncode, bad.stdout, bad.stderr.count("\n")), (2, "", 1), bad.stderr)

    def test_example(self):
        try:
            import flax, optax  # noqa: F401
        except ImportError:
            self.skipTest("flax or optax is not installed")
        ran = subprocess.run([sys.executable, ROOT / "examples/flax_step.py"], capture_output=True, text=True)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        losses = [float(line.split()[1]) for line in ran.stdout.splitlines() if line.startswith("loss ")]
        self.assertEqual(losses, sorted(losses, reverse=True))
        self.assertEqual(len(losses), 3)


if __name__ == "__main__":
    unittest.main()
