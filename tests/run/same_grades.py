#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares two folders of results that one seed gave, but for what goes by the clock.

    same_grades.py RESULTS OTHER [CONSTRAINT]     that the cells of OTHER were graded under
"""
import json
import pathlib
import sys


def cells_in(folder):
    return {
        str(file.parent.relative_to(folder)): file.parent
        for file in sorted(pathlib.Path(folder).rglob("observation.json"))
    }


def seen_in(cell):
    """Verdicts, and the inputs that the solution was asked with; no times, no place."""
    observation = json.loads((cell / "observation.json").read_text())
    receipt = json.loads((cell / "receipt.json").read_text())
    traces = {trace["id"]: trace for trace in receipt["closing"]["checks"]}
    seen = {
        "seed": observation["seed"],
        "built": observation["build"]["ok"],
        "solution": observation["provenance"]["submission_digest"],
        "grader": observation["provenance"]["grader_digest"],
    }
    for check in observation["checks"]:
        if check["section"] == "performance" or traces[check["id"]]["timed"]:
            continue
        seen[check["id"]] = [check["verdict"], check["earned"], traces[check["id"]]["opening"]]
    return seen, observation["provenance"].get("constraint", "")


def main(one, other, constraint=""):
    left, right = cells_in(one), cells_in(other)
    differing = sorted(left.keys() ^ right.keys())
    for name in sorted(left.keys() & right.keys()):
        seen, _ = seen_in(left[name])
        there, place = seen_in(right[name])
        differing += [f"{name}: {key}" for key in sorted(seen.keys() | there.keys())
                      if seen.get(key) != there.get(key)]
        if place != constraint:
            differing.append(f"{name}: constraint '{place}'")
    for line in differing:
        print(line)
    print(f"{len(left)} and {len(right)} cells, {len(differing)} differences")
    return 1 if differing or not left else 0


sys.exit(main(*sys.argv[1:]))
