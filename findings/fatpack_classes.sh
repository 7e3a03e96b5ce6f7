#!/usr/bin/env bash
# fatpack 0.7.8 rounds a series to 64 classes between its least and greatest value before it counts (k=64, the default).
# Of the example of ASTM E1049 (figure 6: ranges 3, 4, 4, 6, 8, 8, 9) find_rainflow_ranges returns ranges that no values
# of the series have, and every range as a whole cycle. rainflow 3.2.0 has the numbers of the standard.
#
# With classes, one high peak changes what all small cycles do: a swell of ranges up to 2 with ripples, with one value of
# 5 or of 20 in its middle. Sum of range^3 of the ranges below 1, seen with these versions, numpy 2.3.5, Python 3.11:
#   rainflow 7.1, 7.1      fatpack 7.5, 10.7
#
# What the small cycles of a record with one large event (a snap, a spike) do is then off, here by half.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3.11 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet rainflow==3.2.0 fatpack==0.7.8 numpy==2.3.5
cat > "$work/count.py" <<'PY'
import fatpack
import numpy as np
import rainflow

example = np.array([-2.0, 1.0, -3.0, 5.0, -1.0, 3.0, -4.0, 4.0, -2.0])


def small(ranges, counts):
    ranges, counts = np.asarray(ranges), np.asarray(counts)
    return float((counts * ranges**3)[ranges < 1.0].sum())


def of_rainflow(values):
    return zip(*((size, count) for size, _, count, _, _ in rainflow.extract_cycles(values)))


print("rainflow:", sorted((float(size), count) for size, count in zip(*of_rainflow(example))))
print("fatpack:", sorted(map(float, fatpack.find_rainflow_ranges(example))))
time = np.arange(20000) * 0.05
swell = np.sin(2 * np.pi * time / 8) * (1 + 0.3 * np.sin(2 * np.pi * time / 97)) + 0.3 * np.sin(2 * np.pi * time / 1.7)
for peak in (5.0, 20.0):
    values = swell.copy()
    values[10000] = peak
    ranges = fatpack.find_rainflow_ranges(values)
    print(f"peak {peak:g}: rainflow {small(*of_rainflow(values)):.1f} fatpack {small(ranges, np.ones(len(ranges))):.1f}")
PY
"$work/venv/bin/python" "$work/count.py" > "$work/seen"
cat "$work/seen"
diff "$work/seen" - <<'SEEN'
rainflow: [(3.0, 0.5), (4.0, 0.5), (4.0, 1.0), (6.0, 0.5), (8.0, 0.5), (8.0, 0.5), (9.0, 0.5)]
fatpack: [3.09375, 4.078125, 7.03125, 9.0]
peak 5: rainflow 7.1 fatpack 7.5
peak 20: rainflow 7.1 fatpack 10.7
SEEN
echo "as described"
