#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The best plan of a request, from Python by ctypes; nothing but the shared library (cmake -DBUILD_SHARED_LIBS=ON).

    SHARDOPT_LIBRARY=build/libshardopt.so python3 examples/plan.py 8b v5e 4x4
"""
import ctypes, ctypes.util, json, os, sys

library = ctypes.CDLL(os.environ.get("SHARDOPT_LIBRARY") or ctypes.util.find_library("shardopt") or "libshardopt.so")
library.shardopt_call.argtypes = [ctypes.c_int, ctypes.POINTER(ctypes.c_char_p), ctypes.POINTER(ctypes.c_void_p),
                                  ctypes.POINTER(ctypes.c_void_p)]
library.shardopt_free.argtypes = [ctypes.c_void_p]


def shardopt(*words):
    """Exit code, result and messages of one command line."""
    argv = (ctypes.c_char_p * (len(words) + 2))(b"shardopt", *(word.encode() for word in words), None)
    result, messages = ctypes.c_void_p(), ctypes.c_void_p()
    code = library.shardopt_call(len(words) + 1, argv, ctypes.byref(result), ctypes.byref(messages))
    texts = [ctypes.string_at(text.value).decode() if text.value else "" for text in (result, messages)]
    for text in (result, messages):
        library.shardopt_free(text)
    return code, *texts


if __name__ == "__main__":
    model, chip, slice_ = sys.argv[1:4]
    code, report, messages = shardopt("--model", model, "--chip", chip, "--slice", slice_, "--batch", "256Ki",
                                      "--format", "json")
    plans = json.loads(report)["plans"] if report else []
    if not plans:
        sys.exit(messages or f"no plan fits (exit code {code})")
    print(f"{plans[0]['notation']}: {plans[0]['step']['seconds']:.4g} s a step, {'proven' if code == 0 else 'not proven'}")
