#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Repeats launches of the simulator on a GPU and compares all memory, byte by byte.

    GAUNTLET_RECORD_LAUNCHES=FOLDER build/release/bin/test_simt      # on any machine
    tests/simt/replay_on_gpu.py FOLDER [--json FILE]                 # on one with a GPU

Of NVIDIA it takes the driver (libcuda.so.1) and nothing else: it is the driver that assembles the
PTX. A process that a launch kills is begun again behind it.

A test is printed with the number of its launches that gave the same bytes, and each launch that did
not with the numbers that are farthest apart. What PTX leaves to the device differs: `.approx`, what
calls it, and NaNs' bits, which are not looked at where an instruction stands alone.
"""

import argparse
import collections
import concurrent.futures
import ctypes
import json
import math
import pathlib
import re
import struct
import subprocess
import sys

MARK = "@replay "  # before our own lines: kernels print as well


class GpuError(Exception):
    pass


class Gpu:
    """The calls of the CUDA driver that a launch takes."""

    def __init__(self):
        self.driver = ctypes.CDLL("libcuda.so.1")
        self.call("cuInit", 0)
        device = ctypes.c_int()
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        context = ctypes.c_void_p()
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)
        name = ctypes.create_string_buffer(100)
        self.call("cuDeviceGetName", name, 100, device)
        version = ctypes.c_int()
        self.call("cuDriverGetVersion", ctypes.byref(version))
        self.name = (
            f"{name.value.decode()}, CUDA {version.value // 1000}.{version.value % 1000 // 10}"
        )

    def call(self, function, *arguments):
        code = getattr(self.driver, function)(*arguments)
        if code != 0:
            text = ctypes.c_char_p()
            self.driver.cuGetErrorName(code, ctypes.byref(text))
            raise GpuError(f"{function}: {(text.value or b'unknown').decode()}")

    def module(self, ptx):
        module = ctypes.c_void_p()
        log = ctypes.create_string_buffer(4096)
        options = (ctypes.c_int * 2)(5, 6)  # CU_JIT_ERROR_LOG_BUFFER and its size
        values = (ctypes.c_void_p * 2)(ctypes.addressof(log), 4096)
        try:
            self.call("cuModuleLoadDataEx", ctypes.byref(module), ptx + b"\0", 2, options, values)
        except GpuError as error:
            raise GpuError(f"{error}: {log.value.decode(errors='replace').strip()}") from None
        return module

    def variable(self, module, name):
        address, size = ctypes.c_uint64(), ctypes.c_size_t()
        self.call(
            "cuModuleGetGlobal_v2", ctypes.byref(address), ctypes.byref(size), module, name.encode()
        )
        return address.value

    def allocate(self, size):
        address = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(max(size, 1)))
        return address.value

    def write(self, address, data):
        if data:
            self.call("cuMemcpyHtoD_v2", ctypes.c_uint64(address), data, ctypes.c_size_t(len(data)))

    def read(self, address, size):
        data = ctypes.create_string_buffer(max(size, 1))
        if size:
            self.call("cuMemcpyDtoH_v2", data, ctypes.c_uint64(address), ctypes.c_size_t(size))
        return data.raw[:size]


def repeat(gpu, record, ptx, before):
    """Memory after the launch, region by region."""
    module = gpu.module(ptx)
    function = ctypes.c_void_p()
    gpu.call("cuModuleGetFunction", ctypes.byref(function), module, record["kernel"].encode())
    places, at = [], 0
    for region in record["regions"]:
        place = (
            gpu.variable(module, region["name"])
            if region["variable"]
            else gpu.allocate(region["bytes"])
        )
        gpu.write(place, before[at : at + region["bytes"]])
        at += region["bytes"]
        places.append(place)

    def moved(value):
        for region, place in zip(record["regions"], places):
            if region["address"] <= value <= region["address"] + region["bytes"]:
                return place + value - region["address"]
        return value

    parameters = bytearray(record["parameters"])
    for offset in range(0, len(parameters) - 7, 8):
        value = struct.unpack_from("<Q", parameters, offset)[0]
        struct.pack_into("<Q", parameters, offset, moved(value))
    held = ctypes.create_string_buffer(bytes(parameters), max(len(parameters), 1))
    size = ctypes.c_size_t(len(parameters))
    # CU_LAUNCH_PARAM_BUFFER_POINTER, _BUFFER_SIZE, _END
    extra = (ctypes.c_void_p * 5)(1, ctypes.addressof(held), 2, ctypes.addressof(size), 0)
    if record["dynamic_shared"] > 48 * 1024:
        gpu.call("cuFuncSetAttribute", function, 8, record["dynamic_shared"])
    gpu.call(
        "cuLaunchKernel",
        function,
        *record["grid"],
        *record["block"],
        record["dynamic_shared"],
        None,
        None,
        extra if parameters else None,
    )
    gpu.call("cuCtxSynchronize")
    return [gpu.read(place, region["bytes"]) for region, place in zip(record["regions"], places)]


def instruction_of(ptx):
    """The one instruction that a kernel of instruction_kernels_test.cpp is about."""
    for line in ptx.decode().splitlines():
        word = line.split(" ")[0]
        if (
            word
            and "." in word
            and not re.match(
                r"\.|ld\.|st\.|mov\.u32 %r39|mul\.wide\.u32 %d39|add\.u64 %d38|"
                r"setp\.ne\.u32 %p\d+, %r38|selp\.u32 %r38",
                line,
            )
        ):
            return line.rstrip(";")
    return ""


def result_kind(instruction):
    """Of what an instruction writes: bytes of a number, and whether it is a float."""
    words = instruction.split(" ")[0].split(".")
    names = [word for word in words[1:] if re.fullmatch(r"[subf]\d+(x2)?|bf16(x2)?|pred", word)]
    name = names[0] if words[0] == "cvt" else names[-1] if names else "b64"
    if words[0] in ("setp", "testp"):
        return 8, ""
    return {
        "f16": (2, "f16"),
        "f16x2": (2, "f16"),
        "bf16": (2, "bf16"),
        "bf16x2": (2, "bf16"),
        "f32": (4, "f32"),
        "f64": (8, "f64"),
    }.get(name, (8, ""))


def number(data, kind):
    if kind == "bf16":
        data, kind = b"\0\0" + data, "f32"
    return struct.unpack({"f16": "<e", "f32": "<f", "f64": "<d"}[kind], data)[0]


def distance(a, b, kind):
    """In units in the last place of the larger; none between two NaNs, infinite to what is none."""
    x, y = number(a, kind), number(b, kind)
    if math.isnan(x) and math.isnan(y) or x == y:
        return 0
    if not math.isfinite(x) or not math.isfinite(y):
        return math.inf
    digits, least = {"f16": (11, -24), "bf16": (8, -133), "f32": (24, -149), "f64": (53, -1074)}[
        kind
    ]
    return abs(x - y) / 2.0 ** max(math.frexp(max(abs(x), abs(y)))[1] - digits, least)


def compared(record, ptx, before, wanted, got):
    """What is said of a launch: nothing where all bytes are equal, but for the bits of NaNs that a
    single instruction makes: those PTX leaves open, and the simulator makes one NaN only."""
    at, faults = 0, []
    single = record["test"].startswith("an instruction")
    instruction = instruction_of(ptx) if single else ""
    size, kind = result_kind(instruction) if single else (4, "f32")
    sources, start = [], 0
    for region in record["regions"]:
        if region["name"] == "source":
            sources.append(before[start : start + region["bytes"]])
        start += region["bytes"]
    for region, other in zip(record["regions"], got):
        one = wanted[at : at + region["bytes"]]
        at += region["bytes"]
        unlike = [
            n
            for n in range(0, len(other) - size + 1, size)
            if one[n : n + size] != other[n : n + size]
        ]
        far = {
            n: distance(one[n : n + size], other[n : n + size], kind) if kind else math.inf
            for n in unlike
        }
        if single:
            unlike = [n for n in unlike if far[n] != 0]
        if not unlike:
            continue
        worst = max(unlike, key=lambda n: far[n])
        cell = worst - worst % 8
        faults.append(
            {
                "region": region["name"],
                "numbers": len(unlike),
                "of": len(other) // (8 if single else size),
                "ulp": far[worst] if kind else None,
                "simulated": one[worst : worst + size][::-1].hex(),
                "gpu": other[worst : worst + size][::-1].hex(),
                "sources": [source[cell : cell + 8][::-1].hex() for source in sources],
            }
        )
    return {"instruction": instruction, "faults": faults}


def one_process(folder, names):
    """Prints a line of JSON for each launch. The parent starts it again behind one that dies."""
    gpu = Gpu()
    print(MARK + json.dumps({"gpu": gpu.name}), flush=True)
    for name in names:
        base = pathlib.Path(folder) / name
        record = json.loads(base.with_suffix(".json").read_text())
        memory = base.with_suffix(".bin").read_bytes()
        half = sum(region["bytes"] for region in record["regions"])
        ptx = base.with_suffix(".ptx").read_bytes()
        said = {"name": name, "test": record["test"]}
        try:
            got = repeat(gpu, record, ptx, memory[:half])
            said |= compared(record, ptx, memory[:half], memory[half:], got)
        except GpuError as error:
            said["error"] = str(error)
            if record["test"].startswith("an instruction"):
                said["instruction"] = instruction_of(ptx)
        print("\n" + MARK + json.dumps(said), flush=True)


def all_of(folder, names):
    results, gpu = [], ""
    while names:
        child = subprocess.run(
            [sys.executable, __file__, folder, "--only", *names],
            capture_output=True,
            text=True,
            timeout=300,
        )
        lines = [
            json.loads(line[len(MARK) :])
            for line in child.stdout.splitlines()
            if line.startswith(MARK)
        ]
        if not lines:
            sys.exit(f"no GPU to be used: {child.stderr.strip().splitlines()[-1]}")
        gpu = lines[0]["gpu"]
        results += lines[1:]
        done = len(lines) - 1
        if done < len(names):
            results.append(
                {
                    "name": names[done],
                    "test": "?",
                    "error": f"the process died: {child.stderr[-300:]}",
                }
            )
            done += 1
        names = names[done:]
    return gpu, results


def main():
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    arguments.add_argument("folder")
    arguments.add_argument("--json", help="write all results there")
    arguments.add_argument("--only", nargs="*", help=argparse.SUPPRESS)
    asked = arguments.parse_args()
    if asked.only is not None:
        one_process(asked.folder, asked.only)
        return
    names = sorted(path.stem for path in pathlib.Path(asked.folder).glob("*.json"))
    if not names:
        sys.exit(
            f"{asked.folder} holds no launches; record some: "
            f"GAUNTLET_RECORD_LAUNCHES={asked.folder} test_simt"
        )
    shares = [names[n::8] for n in range(8)]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        done = list(
            pool.map(
                lambda share: all_of(asked.folder, share), [share for share in shares if share]
            )
        )
    results = sorted(
        (result for _, some in done for result in some), key=lambda result: result["name"]
    )
    if asked.json:
        pathlib.Path(asked.json).write_text(
            json.dumps({"gpu": done[0][0], "results": results}, indent=1)
        )
    print(done[0][0])
    tests = collections.defaultdict(lambda: [0, 0])
    for result in results:
        same = "error" not in result and not result["faults"]
        tests[result["test"]][0 if same else 1] += 1
    for test, (same, different) in sorted(tests.items()):
        print(f"{same:5} same {different:5} different  {test}")
    for result in results:
        if "error" in result:
            print(
                f"{result['name']} {result.get('instruction', result['test'])}: {result['error']}"
            )
        for fault in result.get("faults", []):
            ulp = (
                ""
                if fault["ulp"] is None
                else f", at most {fault['ulp']:.3g} units in the last place apart"
            )
            print(
                f"{result['name']} {result['instruction'] or result['test']}: "
                f"{fault['numbers']} of {fault['of']} "
                f"numbers of {fault['region']}{ulp}; "
                f"simulated {fault['simulated']}, GPU {fault['gpu']}"
                f"{', of ' if fault['sources'] else ''}{' '.join(fault['sources'])}"
            )


main()
