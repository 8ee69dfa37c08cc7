#!/usr/bin/env python3
"""Asks Apache Otava about the series of change_study: `with_otava.py FILE.csv`. Needs `pip install apache-otava`.

Prints the same columns as the study. Otava runs with its defaults: windows of 50 runs, p-value 0.001, and no least
magnitude.
"""

import csv
import sys
from itertools import groupby

from otava.analysis import compute_change_points

SOON, NEAR, FEWEST = 5, 2, 6


def changes(series):
    return [change.index for change in compute_change_points(series)[0]]


def is_found(series, at):
    return any(abs(index - at) <= NEAR for index in changes(series))


def percent(found, rows):
    return f"{100 * sum(found) / len(rows):.1f} %"


def main(name):
    with open(name, newline="") as file:
        rows = [(row[:3], int(row[4]), [float(value) for value in row[5:]]) for row in csv.reader(file)]
    for (between, within, shift), group in groupby(rows, key=lambda row: row[0]):
        group = list(group)
        called = percent([bool(changes(values)) for _, _, values in group], group)
        if float(shift) == 0:
            looks = [any(changes(values[:n]) for n in range(FEWEST, len(values) + 1)) for _, _, values in group]
            cells = [called, percent(looks, group), "–", "–"]
        else:
            soon = [any(is_found(values[:n], at) for n in range(at + 1, at + SOON + 1)) for _, at, values in group]
            end = [is_found(values, at) for _, at, values in group]
            cells = [called, "–", percent(soon, group), percent(end, group)]
        print("|", " | ".join([f"{100 * float(x):.1f} %" for x in (between, within, shift)] + cells), "|", flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
