#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes the Python wheel: python/shardopt, the static program and its data. packaging/wheel.sh runs it.

usage: wheel.py PREFIX DIST    PREFIX is what static.sh made; VERSION, MACHINE and SOURCE_DATE_EPOCH in the environment

The program is static, so the wheel's tag asks for no C library: manylinux_2_17 stands for the oldest kernel that glibc's
start-up code is made for by far (3.2), and the same wheel is for musl's systems.
"""

import base64
import hashlib
import io
import os
import pathlib
import sys
import time
import zipfile

SOURCE = pathlib.Path(__file__).resolve().parent.parent
VERSION, MACHINE = os.environ["VERSION"], os.environ["MACHINE"]
PLATFORMS = [f"{name}_{MACHINE}" for name in ("manylinux_2_17", "manylinux2014", "musllinux_1_1")]
INFO = f"shardopt-{VERSION}.dist-info"
METADATA = f"""\
Metadata-Version: 2.1
Name: shardopt
Version: {VERSION}
Summary: Finds, and proves, the best way to shard the training of a transformer over TPUs or GPUs
License: GPL-3.0-or-later
Requires-Python: >=3.9
Provides-Extra: frame
Requires-Dist: pandas>=1.5; extra == "frame"
Classifier: Environment :: Console
Classifier: License :: OSI Approved :: GNU General Public License v3 or later (GPLv3+)
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: C
Classifier: Programming Language :: Python :: 3
Classifier: Typing :: Typed
Description-Content-Type: text/markdown

"""
WHEEL = "".join(
    ["Wheel-Version: 1.0\nGenerator: shardopt packaging/wheel.py\nRoot-Is-Purelib: false\n"]
    + [f"Tag: py3-none-{platform}\n" for platform in PLATFORMS]
)


def files_of(prefix):
    """Each file of the wheel: its name there, its bytes, whether it runs."""
    for path in sorted((SOURCE / "python/shardopt").iterdir()):
        if path.suffix in (".py", ".typed"):
            yield f"shardopt/{path.name}", path.read_bytes(), False
    for path in sorted(p for p in prefix.rglob("*") if p.is_file()):
        name = path.relative_to(prefix).as_posix()
        if name.startswith(("bin/", "share/shardopt/")):
            yield f"shardopt/_prefix/{name}", path.read_bytes(), name.startswith("bin/")
        elif name.startswith("share/doc/shardopt/licenses/"):
            yield f"{INFO}/licenses/{path.name}", path.read_bytes(), False
        elif name.endswith("built-with.tsv"):
            yield f"{INFO}/built-with.tsv", path.read_bytes(), False
        else:
            yield f"shardopt-{VERSION}.data/data/{name}", path.read_bytes(), False
    page = (SOURCE / "docs/embedding.md").read_bytes()
    yield f"{INFO}/METADATA", METADATA.encode() + page, False
    yield f"{INFO}/WHEEL", WHEEL.encode(), False
    yield f"{INFO}/entry_points.txt", b"[console_scripts]\nshardopt = shardopt.__main__:main\n", False


def main(prefix, dist):
    date = time.gmtime(max(int(os.environ["SOURCE_DATE_EPOCH"]), 315532800))[:6]  # a zip knows nothing before 1980
    record = io.StringIO()
    wheel = pathlib.Path(dist) / f"shardopt-{VERSION}-py3-none-{'.'.join(PLATFORMS)}.whl"
    wheel.parent.mkdir(parents=True, exist_ok=True)

    def add(archive, name, content, runs):
        entry = zipfile.ZipInfo(name, date)
        entry.compress_type = zipfile.ZIP_DEFLATED
        entry.create_system = 3  # Unix, whose modes the next line has
        entry.external_attr = (0o100755 if runs else 0o100644) << 16
        archive.writestr(entry, content)

    with zipfile.ZipFile(wheel, "w", compresslevel=9) as archive:
        for name, content, runs in files_of(pathlib.Path(prefix)):
            add(archive, name, content, runs)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            record.write(f"{name},sha256={digest},{len(content)}\n")
        record.write(f"{INFO}/RECORD,,\n")
        add(archive, f"{INFO}/RECORD", record.getvalue().encode(), False)
    print(f"made {wheel}", file=sys.stderr)


if __name__ == "__main__":
    main(*sys.argv[1:])
