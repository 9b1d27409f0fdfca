# SPDX-License-Identifier: GPL-3.0-or-later
"""The builds of mutate.py: the library as a shared one whose functions can be replaced, the same once more with a call
in every block (trace.c), and the tests, linked with the first."""
import concurrent.futures, hashlib, json, os, pathlib, re, shlex, shutil, subprocess, threading
from changes import HERE, SOURCE, TEXTS

MEMORY = 4 << 30
# The loader asks which clone of a function to take before our own calls are bound.
TRACED = ["-g1", "-fsanitize-coverage=trace-pc", "-Dtarget_clones(...)=unused"]
# As the preset dev has it, under which CI runs the tests in C, in two halves: ASan has to be in all of a process.
CHECKED = ["-fsanitize=undefined", "-fno-sanitize-recover=all"]
GUARDED = ["-fsanitize=address", *CHECKED]
ASAN = subprocess.run(["gcc", "-print-file-name=libasan.so"], capture_output=True, text=True).stdout.strip()


def hash_of(data):
    return hashlib.sha256(data if isinstance(data, bytes) else data.encode()).hexdigest()


def run(words, cpu_seconds, wall_seconds, environment, cwd=None):
    """(exit status, processor seconds of it and its children); ASan, which reserves all addresses, limits itself"""
    most = [] if ASAN in environment.get("LD_PRELOAD", "") else [f"--as={MEMORY}"]
    environment = {"ASAN_OPTIONS": f"hard_rss_limit_mb={MEMORY >> 20}:detect_odr_violation=0", **environment}
    limits = ["prlimit", f"--cpu={cpu_seconds:.0f}", *most, "--core=0"]
    process = subprocess.Popen(limits + [str(w) for w in words], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, env=dict(os.environ, **environment), start_new_session=True, cwd=cwd)
    late = threading.Timer(wall_seconds, lambda: os.killpg(process.pid, 9))
    late.start()
    _, status, used = os.wait4(process.pid, 0)
    late.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, used.ru_utime + used.ru_stime


class Build:
    def __init__(self, folder, jobs):
        self.folder, self.jobs = pathlib.Path(folder).resolve(), jobs
        self.library = self.folder / "libshardopt.so"
        self.traced = self.folder / "traced/libshardopt.so"
        self.guarded = self.folder / "guarded/libshardopt.so"
        self.programs = self.folder / "mutation"
        self.program = self.folder / "shardopt"
        self.wrapped = self.folder / "wrapped/shardopt"  # what scripts run: only the program itself has the library in front
        flags = f"-O1 -include {HERE / 'visible.h'}"
        self.cache = ["ccache"] if shutil.which("ccache") else []
        subprocess.run(["cmake", "-S", SOURCE, "-B", self.folder, "-DCMAKE_BUILD_TYPE=None", f"-DCMAKE_C_FLAGS={flags}",
                        "-DBUILD_SHARED_LIBS=ON", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"] +
                       [f"-DCMAKE_C_COMPILER_LAUNCHER={c}" for c in self.cache], check=True, stdout=subprocess.DEVNULL)
        subprocess.run(["cmake", "--build", self.folder, "--parallel", str(jobs), "--target", "shardopt_shared"],
                       check=True, stdout=subprocess.DEVNULL)
        self.programs.mkdir(exist_ok=True)
        self.compile = {}  # the command for a source
        for entry in json.loads((self.folder / "compile_commands.json").read_text()):
            file = pathlib.Path(entry["file"])
            root = self.folder if file.is_relative_to(self.folder) else SOURCE  # some sources are made by the build
            if file.is_relative_to(root):
                self.compile[str(file.relative_to(root))] = [w for w in shlex.split(entry["command"])
                                                               if not w.endswith("ccache") and w != "-Werror"]
        self.headers = max(p.stat().st_mtime for p in SOURCE.rglob("*.h") if ".git" not in p.parts)
        self.plain = {}  # the object of a source as it is
        self.build_whole(self.traced, TRACED, "-O2", "-fPIC", "-c", HERE / "trace.c")
        self.build_whole(self.guarded, GUARDED)

    def object(self, source, target, of, *more):
        """Compiles a file by the command `of` a source."""
        words = list(self.compile[of])
        words[words.index("-o") + 1] = str(target)
        words[words.index("-c") + 1] = str(source)
        cache = [] if TRACED[0] in more else self.cache  # one that is told to may name another folder's sources
        return subprocess.run(cache + words + ["-w", "-g0", *more], cwd=self.folder, capture_output=True).returncode == 0

    def older(self, target, *sources):
        return not target.exists() or target.stat().st_mtime < max([self.headers] + [s.stat().st_mtime for s in sources])

    def build_whole(self, library, flags, *more):
        """The library with further flags, and with what these words compile: with a call in every block, and lines by which
        blocks are found in it; or with ASan."""
        folder = library.parent
        folder.mkdir(exist_ok=True)
        words = shlex.split((self.folder / "CMakeFiles/shardopt_shared.dir/link.txt").read_text())
        objects, work = [folder / "more.o"] if more else [], []
        if more:
            subprocess.run(["gcc", *more, "-o", objects[0]], check=True)
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            for word in [w for w in words if w.endswith(".c.o")]:
                source = re.sub(r"^.*?shardopt_objects\.dir/(.*)\.o$", r"\1", word)
                objects.append(folder / (source.replace("/", "+") + ".o"))
                path = SOURCE / source if (SOURCE / source).exists() else self.folder / source
                if self.older(objects[-1], path):
                    work.append(pool.submit(self.object, path, objects[-1], source, *flags))
        if not all(w.result() for w in work):
            raise SystemExit(f"{library} does not compile")
        if work or not library.exists():
            rest = [w for w in words if not w.endswith(".c.o") and not w.endswith("ccache")]
            at = rest.index("-o")  # before the libraries
            rest[at:at + 2] = [f for f in flags if f == "-fsanitize=address"] + ["-o", library] + sorted(objects)
            subprocess.run(rest, cwd=self.folder, check=True)

    def shared(self, objects, library, flags=CHECKED):
        subprocess.run(["gcc", "-shared", "-Wl,-z,lazy", "-Wl,--no-as-needed", "-o", library, *objects, self.library,
                        f"-Wl,-rpath,{self.folder}", "-fopenmp", *flags[:1]], check=True)
        return library

    def guarded_of(self, path, source, at):
        """What LD_PRELOAD loads in front of a program for a source under ASan and UBSan, as all of the library then is."""
        self.object(source, at / "guarded.o", str(path), *GUARDED)
        return f"{ASAN} {self.shared([at / 'guarded.o'], at / 'libguarded.so', GUARDED)} {self.guarded}"

    def libraries_of(self, path, text, at):
        """A text in place of a source as two libraries, (plain, with checks); None: it is no C any more; (): it is the same
        machine code as before."""
        source, plain, checked = at / pathlib.Path(path).name, at / "plain.o", at / "checked.o"
        source.write_text(text)
        if not self.object(source, plain, str(path), f"-ffile-prefix-map={at}=."):
            return None
        if path in self.plain and self.plain[path] == plain.read_bytes():
            return ()
        self.object(source, checked, str(path), *CHECKED)
        return self.shared([plain], at / "libplain.so"), self.shared([checked], at / "libchecked.so")

    def libraries_as_is(self, path):
        """The same of a source as it is: what a test has to pass with."""
        at = self.folder / "as_is" / str(path).replace("/", "+")
        if path not in self.plain:
            at.mkdir(parents=True, exist_ok=True)
            self.libraries_of(path, TEXTS[path], at)
            self.plain[path] = (at / "plain.o").read_bytes()
        return at / "libplain.so", at / "libchecked.so"

    def link(self, target, sources, program):
        """Compiles and links a target of cmake with the shared library; False: it cannot be."""
        if not self.older(program, *sources):
            return True
        words = shlex.split((self.folder / f"CMakeFiles/{target}.dir/link.txt").read_text())
        words = [w for w in words if not w.endswith("ccache") and w != "-fno-lto"]
        words[words.index("-o") + 1] = str(program)
        at = next(i for i, w in enumerate(words) if w.endswith("libshardopt.a"))
        words[at:at + 1] = [str(self.library), f"-Wl,-rpath,{self.folder}", "-Wl,-z,lazy"]
        for i, word in enumerate(words):
            if word.endswith(".c.o"):
                source = re.sub(r"^CMakeFiles/[^/]*\.dir/(.*)\.o$", r"\1", word)
                words[i] = str(self.programs / f"{target}.{i}.o")
                if not self.object(SOURCE / source, words[i], source):
                    return False
        return subprocess.run(words, cwd=self.folder, capture_output=True).returncode == 0

    def link_program(self):
        """The program, and a script in its place that has a changed library loaded before it alone."""
        if not self.link("shardopt", [SOURCE / "search/cli/main.c"], self.program):
            raise SystemExit("the program does not link")
        self.wrapped.parent.mkdir(exist_ok=True)
        self.wrapped.write_text(f'#!/bin/sh\nLD_PRELOAD=$SHARDOPT_IN_FRONT exec {shlex.quote(str(self.program))} "$@"\n')
        self.wrapped.chmod(0o755)
