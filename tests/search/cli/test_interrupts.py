# SPDX-License-Identifier: GPL-3.0-or-later
"""Control-C, limits of time, any number of threads: what is said then, and what is in the files."""
import json, os, random, signal, subprocess, time, unittest

from program import PROGRAM, Case

SECONDS = 20 if os.environ.get("SANITIZED") else 1  # at most, from the signal to the end; sanitizers are slow


class Interrupts(Case):
    def interrupted(self, words, after, times=1, until=None):
        """What is printed by a line that gets control-C after so many seconds, or as soon as a file has a text."""
        with subprocess.Popen([PROGRAM, *words.split()], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True) as child:
            if until:
                while until not in child.stderr.readline():
                    pass
            time.sleep(after)
            begin = time.monotonic()
            for _ in range(times):
                child.send_signal(signal.SIGINT)
            out, _ = child.communicate(timeout=600)
        self.assertEqual(child.returncode, 130)
        self.assertLess(time.monotonic() - begin, SECONDS)
        return out

    def test_a_search_says_that_it_was_interrupted(self):
        for after in (0.1, 1, 3):
            self.assertIn("interrupted", self.interrupted("--model deepseek-v3 --chip h100 --nodes 256 -v", after))

    def test_the_second_does_not_wait_for_the_report(self):
        self.interrupted("--model deepseek-v3 --chip h100 --nodes 256 -v", 0.5, 2)

    def test_a_sweep_has_the_points_that_it_planned(self):
        out = self.interrupted("sweep --model 8b,deepseek-v3 --chip h100 --nodes 1,1024 --schedules all --padding any "
                               "--format json", 2)
        self.assertEqual(len(json.loads(out)), 4)
        self.assertIn("interrupted before this point", out)
        self.assertIn('"ok"', out)

    def test_a_graph_too_hard_to_be_proven_in_a_moment(self):
        """600 nodes on a torus with random costs: the same for any number of threads; a limit of time and control-C end it
        with the best that is known (stopped as soon as it says that it has a solution, however slow the machine is)."""
        draw, n, k = random.Random(5), 600, 12
        costs = lambda count, many: [[draw.randrange(100) for _ in range(many)] for _ in range(count)]
        pairs = [pair for i in range(n) for pair in ([i, (i + 1) % n], [i, (i + 25) % n])]
        graph = {"problem": {"nodes": {"intervals": [[i, i + 30] for i in range(n)], "costs": costs(n, k), "usages": costs(n, k)},
                             "edges": {"nodes": pairs, "costs": costs(2 * n, k * k)}, "usage_limit": 900}}
        with open(os.path.join(self.folder, "hard.json"), "w", encoding="utf-8") as file:
            json.dump(graph, file)
        line = "layout hard.json --effort 0.002 --format json --threads {0} --solution {0}"
        one, seven = self.run_line(line.format(1)), self.run_line(line.format(7))
        self.assertEqual((one[0], seven[0]), (4, 4), one[2])
        self.assertEqual(one[1], seven[1])
        with open(os.path.join(self.folder, "1"), "rb") as a, open(os.path.join(self.folder, "7"), "rb") as b:
            self.assertEqual(a.read(), b.read())
        code, out, _ = self.run_line("layout hard.json --time-limit 1.5s --threads 1")
        self.assertEqual(code, 4)
        self.assertIn("cost   ", out)
        self.assertIn("nodes", self.interrupted("layout hard.json --threads 1 --verbose", 0, until="gap"))


if __name__ == "__main__":
    unittest.main()
