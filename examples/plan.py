#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The best plan of a request, from Python by ctypes; nothing but the shared library (cmake -DBUILD_SHARED_LIBS=ON).

    SHARDOPT_LIBRARY=build/libshardopt.so python3 examples/plan.py 8b v5e 4x4
"""
import ctypes, ctypes.util, json, os, sys


class Error(ctypes.Structure):
    _fields_ = [("code", ctypes.c_int), ("where", ctypes.c_char * 192), ("text", ctypes.c_char * 384)]

    def __str__(self):
        return f"{self.where.decode()}: {self.text.decode()}"


def load():
    library = ctypes.CDLL(os.environ.get("SHARDOPT_LIBRARY") or ctypes.util.find_library("shardopt") or "libshardopt.so")
    pointer, text = ctypes.c_void_p, ctypes.c_char_p
    library.shardopt_request_new.restype = pointer
    library.shardopt_request_free.argtypes = [pointer]
    library.shardopt_request_set.argtypes = [pointer, text, text, ctypes.POINTER(Error)]
    library.shardopt_search.argtypes = [pointer, pointer, ctypes.POINTER(pointer), ctypes.POINTER(Error)]
    library.shardopt_report_write.argtypes = [pointer, text, ctypes.POINTER(pointer), ctypes.POINTER(ctypes.c_size_t),
                                              ctypes.POINTER(Error)]
    library.shardopt_report_free.argtypes = [pointer]
    library.shardopt_free.argtypes = [pointer]
    return library


def plan(**options):
    """The JSON report of a search. `options` are those of `shardopt plan`, with _ for -."""
    library, error, report, text = load(), Error(), ctypes.c_void_p(), ctypes.c_void_p()
    request = library.shardopt_request_new()
    try:
        for name, value in options.items():
            if library.shardopt_request_set(request, name.replace("_", "-").encode(), str(value).encode(), error):
                raise ValueError(str(error))
        library.shardopt_search(request, None, ctypes.byref(report), ctypes.byref(error))
        if not report:
            raise ValueError(str(error))
        if library.shardopt_report_write(report, b"json", ctypes.byref(text), None, ctypes.byref(error)):
            raise RuntimeError(str(error))
        return json.loads(ctypes.string_at(text.value))
    finally:
        library.shardopt_free(text)
        library.shardopt_report_free(report)
        library.shardopt_request_free(request)


if __name__ == "__main__":
    model, chip, slice_ = sys.argv[1:4]
    report = plan(model=model, chip=chip, slice=slice_, batch="256Ki")
    if not report["plans"]:
        sys.exit("no plan fits")
    best, proof = report["plans"][0], report["search"]["proof"]
    print(f"{best['notation']}: {best['step']['seconds']:.4g} s a step, {'proven' if proof == 'optimal' else 'not proven'}")
