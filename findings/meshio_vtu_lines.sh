#!/usr/bin/env bash
# meshio 5.3.5 loses lines of VTK's .vtu files. Both files below are valid: VTK's own reader (9.5.2) has all cells.
#
#   pieces.vtu   three pieces of two lines each: the cells of the last piece only (all nine points are there). No word.
#   rope.vtu     a VTK_POLY_LINE of five points and a line: the poly-line is gone; a warning on the console, exit 0.
#
# Seen with meshio 5.3.5, numpy 2.3.5, Python 3.11:
#   pieces.vtu: points 9 cells [('line', [[6, 7], [7, 8]])]
#   rope.vtu: points 6 cells [('line', [[0, 5]])]
#
# Parallel programs write one piece for each process, and ropes are poly-lines in ParaView: who reads such meshes by
# meshio computes with a part of them.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3.11 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet meshio==5.3.5 numpy==2.3.5
cat > "$work/lines.py" <<'PY'
from pathlib import Path

import meshio

ARRAY = '<DataArray type="{}" Name="{}"{} format="ascii">{}</DataArray>'


def piece(points, chains, kinds):
    ends = [sum(map(len, chains[: at + 1])) for at in range(len(chains))]
    words = [" ".join(map(str, numbers)) for numbers in (sum(points, []), sum(chains, []), ends, kinds)]
    return (
        f'<Piece NumberOfPoints="{len(points)}" NumberOfCells="{len(chains)}"><Points>'
        + ARRAY.format("Float64", "Points", ' NumberOfComponents="3"', words[0])
        + "</Points><Cells>"
        + ARRAY.format("Int64", "connectivity", "", words[1])
        + ARRAY.format("Int64", "offsets", "", words[2])
        + ARRAY.format("UInt8", "types", "", words[3])
        + "</Cells></Piece>"
    )


def show(name, pieces):
    Path(name).write_text(
        '<VTKFile type="UnstructuredGrid" version="1.0" byte_order="LittleEndian" header_type="UInt64">'
        f"<UnstructuredGrid>{''.join(pieces)}</UnstructuredGrid></VTKFile>"
    )
    mesh = meshio.read(name)
    cells = [(block.type, block.data.tolist()) for block in mesh.cells]
    print(f"{name}: points {len(mesh.points)} cells {cells}")


show("pieces.vtu", [piece([[k, at, 0] for at in range(3)], [[0, 1], [1, 2]], [3, 3]) for k in range(3)])
show("rope.vtu", [piece([[k, 0, 0] for k in range(6)], [[0, 1, 2, 3, 4], [0, 5]], [4, 3])])
PY
(cd "$work" && ./venv/bin/python lines.py > seen 2> told) || { cat "$work/told"; exit 1; }
cat "$work/seen"
diff "$work/seen" - <<'SEEN'
pieces.vtu: points 9 cells [('line', [[6, 7], [7, 8]])]
rope.vtu: points 6 cells [('line', [[0, 5]])]
SEEN
echo "as described"
