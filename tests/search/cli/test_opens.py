# SPDX-License-Identifier: GPL-3.0-or-later
"""How many files an answer opens, by the notes that the build took of the data (names.tsv); and that whatever is done to the
data after them is seen: the hash that an answer states is that of the files as they are, which `sha256sum` is asked for."""
import hashlib, json, os, pathlib, shutil, subprocess, time, unittest

from program import PROGRAM, Case

SOURCES = pathlib.Path(__file__).resolve().parents[3]
NOTES = pathlib.Path(PROGRAM).resolve().parent / "names.tsv"
HASHED = ("cost/optimizers", "cost/profiles", "mesh/catalog", "models/zoo")
SMALL = "--model gpt2 --chip h100 --gpus 1 --top 1"

# What a command may open after it has started. `rl` and `sweep` ask for many plans, and read a few files for each.
LINES = [(SMALL, 25), ("--model 405b --pods 8 --top 1", 25), ("--model meta-llama/Llama-3.1-8B --chip h100 --nodes 1 --top 1", 25),
         ("inference --model 8b --chip h100 --nodes 1", 25), ("explain --from report.json", 25), ("emit megatron --from report.json", 25),
         ("check --baseline report.json", 25), ("models 405b", 5), ("models llama 405b", 10), ("chips h100", 10),
         ("diff report.json report.json", 5), ("rl --model 8b --chip h100 --nodes 2", 60),
         ("sweep --model 8b --chip h100 --nodes 1,2", 40)]


def hash_of(data):
    """As docs/json.md says that data_sha256 can be had with coreutils."""
    lines = [f"{hashlib.sha256((data / f / n).read_bytes()).hexdigest()}  {f}/{n}\n" for f in HASHED
             for n in sorted(os.listdir(data / f)) if n.endswith(".json") and not n.startswith(".")]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


@unittest.skipIf(os.environ.get("SANITIZED"), "what is preloaded comes before a sanitizer's own")
class Opens(Case):
    def opens(self, words, **environment):
        """How many files a line opens, and what it says."""
        count = os.path.join(self.folder, "count")
        done = subprocess.run([self.program, *words.split()], cwd=self.folder, capture_output=True, text=True, timeout=600,
                              stdin=subprocess.DEVNULL, env={**os.environ, "LD_PRELOAD": self.shim, "FAULT_CALL": "open",
                                                             "FAULT_NTH": "0", "FAULT_COUNT": count, **environment})
        self.assertEqual(done.returncode, 0, f"{words}: {done.stderr}")
        return int(pathlib.Path(count).read_text()), done.stdout

    def setUp(self):
        super().setUp()
        self.shim = os.path.join(self.folder, "shim.so")
        compiler = os.environ.get("CC", "cc")
        made = subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", self.shim, SOURCES / "tests/faults/shim.c", "-ldl"])
        self.assertEqual(made.returncode, 0)
        if not NOTES.exists():
            self.skipTest("a build for another machine has no notes")
        os.environ.pop("SHARDOPT_DATA", None)

    def install(self):
        """A program and its data, the notes last, as `cmake --install` puts them."""
        prefix = pathlib.Path(self.folder, "prefix")
        share = prefix / "share/shardopt"
        (prefix / "bin").mkdir(parents=True)
        self.program = shutil.copy(os.path.realpath(PROGRAM), prefix / "bin/shardopt")
        for folder in ("models/zoo", "models/unplanned", "mesh/catalog", "cost"):
            shutil.copytree(SOURCES / folder, share / folder, copy_function=shutil.copy2)
        time.sleep(0.02)  # a clock of files has ticks
        shutil.copy2(NOTES, share / "names.tsv")
        time.sleep(0.02)
        return share

    def test_counts(self):
        self.program = os.path.realpath(PROGRAM)
        self.opens("--model 8b --chip h100 --nodes 2 --top 1 --format json -o report.json")
        for words, most in LINES:
            count, _ = self.opens(words)
            self.assertLessEqual(count, most, words)

    def answer(self, words=SMALL):
        count, out = self.opens(words + " --format json")
        return count, json.loads(out)

    def check_hash(self, share, what):
        count, report = self.answer()
        self.assertEqual(report["program"]["data_sha256"], hash_of(share), what)
        return count, report

    def test_changes_are_seen(self):
        def edited(path, old, new):
            text = path.read_text()
            self.assertIn(old, text)
            path.write_text(text.replace(old, new))

        def same_size_and_time(share):
            path = share / "models/zoo/gpt2.json"
            was = path.stat()
            edited(path, '"n_layer": 12', '"n_layer": 24')
            os.utime(path, ns=(was.st_atime_ns, was.st_mtime_ns))

        def older_file_renamed_onto_it(share):
            path, other = share / "mesh/catalog/h100.json", share / "h100.json"
            shutil.copy2(path, other)
            edited(other, "80", "81")
            os.utime(other, ns=(0, path.stat().st_mtime_ns))
            other.rename(path)

        def added_with_the_folders_time_set_back(share):
            folder = share / "models/zoo"
            was = folder.stat()
            model = json.loads((folder / "gpt2.json").read_text())
            model["shardopt"].update(name="gpt2-of-mine", aliases=[])
            (folder / "gpt2-of-mine.json").write_text(json.dumps(model))
            os.utime(folder, ns=(was.st_atime_ns, was.st_mtime_ns))

        for change in (same_size_and_time, older_file_renamed_onto_it,
                       lambda share: (share / "models/zoo/bloom-176b.json").unlink(),
                       lambda share: edited(share / "cost/optimizers/lion.json", "Lion", "lioN")):
            share = self.install()
            self.assertLess(self.check_hash(share, "as installed")[0], 26)
            change(share)
            _, report = self.check_hash(share, change.__name__)
            if change is same_size_and_time:
                self.assertGreater(report["model"]["parameters"], 2e8)
            shutil.rmtree(share.parents[1])
        share = self.install()
        added_with_the_folders_time_set_back(share)
        self.assertIn("gpt2-of-mine", self.opens("models gpt2-of-mine")[1])
        self.check_hash(share, "a file added")

    def test_notes_that_are_no_good(self):
        """Another version's, cut short, of another kind: the files are read, and the answer is the same."""
        share = self.install()
        notes = share / "names.tsv"
        whole = notes.read_text()
        expected = self.answer()[1]
        for i, text in enumerate(("", "# shardopt 0.0.0, data\n# end\n", whole[:len(whole) // 2], whole.replace("\t", " "),
                                  "\n".join(line.rsplit("\t", 1)[0] for line in whole.splitlines()) + "\n")):
            notes.write_text(text)
            self.assertTrue(self.answer()[1] == expected, f"text {i}")

    def test_another_folder_is_read(self):
        """SHARDOPT_DATA: notes in it are nobody's, since a copy of a changed folder has the times of the copy."""
        share = self.install()
        other = pathlib.Path(self.folder, "other")
        shutil.copytree(share, other, copy_function=shutil.copy)
        path = other / "models/zoo/gpt2.json"
        path.write_text(path.read_text().replace('"n_layer": 12', '"n_layer": 24'))
        time.sleep(0.02)
        shutil.copy(share / "names.tsv", other)
        _, out = self.opens(SMALL + " --format json", SHARDOPT_DATA=str(other))
        self.assertEqual(json.loads(out)["program"]["data_sha256"], hash_of(other))


if __name__ == "__main__":
    unittest.main()
