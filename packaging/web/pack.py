#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Puts the page together: one file with the program, its data, the styles and the scripts inside.

    pack.py SOURCE PROGRAM.js PROGRAM.wasm OUT [COPYRIGHT]...

What is made has the same bytes each time.
"""
import base64
import gzip
import hashlib
import json
import pathlib
import re
import sys

# What cmake/Install.cmake puts in share/shardopt and the program reads.
DATA = ("models/zoo/*.json", "models/unplanned/*.json", "mesh/catalog/*.json", "cost/**/*.json", "cost/[!m]*/**/*.tsv", "cost/[!m]*/**/*.jsonl",
        "cost/measured/data/*")


def packed(source: pathlib.Path, wasm: pathlib.Path, notices: list[pathlib.Path]) -> str:
    names = {path: path.parent.parent.name if path.parent.name == "debian" else path.parent.name for path in notices}
    terms = "\n\n".join(f"==== {name} ====\n{path.read_text()}" for path, name in {source / "LICENSE": "shardopt", **names}.items())
    files = [("shardopt.wasm", wasm.read_bytes()), ("notices", terms.encode())]
    for path in sorted(path for pattern in DATA for path in source.glob(pattern)):
        files.append((f"/share/shardopt/{path.relative_to(source)}", path.read_bytes()))
    head = json.dumps([(name, len(text)) for name, text in files])
    whole = head.encode() + b"\n" + b"".join(text for _, text in files)
    return base64.b64encode(gzip.compress(whole, 9, mtime=0)).decode()


def script(text: str) -> str:
    return text.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def viewed(source: pathlib.Path) -> tuple[str, str]:
    """The style and the script of view/, of the files that the program's pages have, but the start of those pages."""
    lists = re.findall(r"set\(files (.*)\)", (source / "cmake/View.cmake").read_text())
    style, drawing = ([name for name in names.split() if name != "start.js"] for names in lists)
    return tuple("".join((source / "view" / name).read_text() + "\n" for name in names) for names in (style, drawing))


def main() -> None:
    source, program, wasm, out, *notices = map(pathlib.Path, sys.argv[1:])
    web = source / "packaging/web"
    style, drawing = viewed(source)
    code = script(f"const view = (() => {{\n{drawing}return {{ show }};\n}})();\n" + (web / "page.js").read_text())
    parts = {
        "VIEW_STYLE": style,
        "STYLE": (web / "page.css").read_text(),
        "SCRIPT": code,
        "HASH": base64.b64encode(hashlib.sha256(code.encode()).digest()).decode(),
        "PROGRAM": script(program.read_text()),
        "WORKER": script((web / "worker.js").read_text()),
        "PACK": packed(source, wasm, notices),
    }
    page = (web / "page.html").read_text()
    for name, text in parts.items():
        page = page.replace(f"@{name}@", text)
    out.write_text(page)


if __name__ == "__main__":
    main()
