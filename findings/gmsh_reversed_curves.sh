#!/usr/bin/env bash
# A curve that stands reversed in a physical group of Gmsh (tag -2) is in the group, but few files say so. One model, a
# rope of three curves (2 + 3 + 1 lines), of which the second is reversed in the group "rope", and in "middle", too:
#
#   msh 4.1, read by meshio: the set "rope" has 3 lines of 6, without a word (its entity has the group -7, not 7)
#   MED, by Gmsh: "rope" has 3 lines of 6; the others are in a group called G_1D_-7
#   msh 2.2, by Gmsh: the 3 lines of the second curve are there twice, once for each group, in opposite directions
#   the same model, saved with Mesh.SaveAll while one curve is in no group: meshio refuses the msh 4.1
#
# Seen with gmsh 4.15.2, meshio 5.3.5, h5py 3.16.0, numpy 2.3.5, Python 3.11, Debian 12 (gmsh needs libGLU.so.1 and
# libraries of X11):
#   msh 4.1 by meshio: rope 3 middle 3 of 6 lines
#   MED: rope 3 middle 3 G_1D_-7 3 of 6 lines
#   msh 2.2: 9 lines for 6
#   msh 4.1 saved with all: Incompatible cell data 'gmsh:physical'. 7 cell blocks, but 'gmsh:physical' has 4 blocks.
#
# Who gives a rope its tension, section or mass by such a group gives it to half of the rope, or twice.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3.11 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet gmsh==4.15.2 meshio==5.3.5 h5py==3.16.0 numpy==2.3.5
cat > "$work/rope.py" <<'PY'
import gmsh
import meshio

gmsh.initialize()
gmsh.option.setNumber("General.Terminal", 0)


def rope(is_last_in_it):
    gmsh.clear()
    points = [gmsh.model.geo.addPoint(x, 0.0, 0.0) for x in range(4)]
    ends = ((0, 1, 2), (2, 1, 3), (2, 3, 1))
    curves = []
    for first, last, lines in ends:
        curves.append(gmsh.model.geo.addLine(points[first], points[last]))
        gmsh.model.geo.mesh.setTransfiniteCurve(curves[-1], lines + 1)
    gmsh.model.geo.synchronize()
    one, two, three = curves
    gmsh.model.addPhysicalGroup(1, [one, -two, *([three] if is_last_in_it else [])], 7, "rope")
    gmsh.model.addPhysicalGroup(1, [two], 8, "middle")
    gmsh.model.addPhysicalGroup(0, [points[0], points[3]], 9, "ends")
    gmsh.model.mesh.generate(1)


def lines_of(mesh):
    return sum(len(block.data) for block in mesh.cells if block.type == "line")


rope(True)
for version, name in ((4.1, "new.msh"), (2.2, "old.msh"), (4.1, "rope.med")):
    gmsh.option.setNumber("Mesh.MshFileVersion", version)
    gmsh.write(name)
new, old, med = (meshio.read(name) for name in ("new.msh", "old.msh", "rope.med"))
sizes = {name: sum(len(rows) for rows in new.cell_sets[name]) for name in ("rope", "middle")}
print("msh 4.1 by meshio:", *(f"{name} {size}" for name, size in sizes.items()), "of", lines_of(new), "lines")
families = {name: 0 for name in ("rope", "middle", "G_1D_-7")}
for block, tags in zip(med.cells, med.cell_data["cell_tags"]):
    for number, names in med.cell_tags.items():
        for name in set(names) & set(families) if block.type == "line" else ():
            families[name] += int((tags == number).sum())
print("MED:", *(f"{name} {size}" for name, size in families.items()), "of", lines_of(med), "lines")
print("msh 2.2:", lines_of(old), "lines for 6")
rope(False)
gmsh.option.setNumber("Mesh.MshFileVersion", 4.1)
gmsh.option.setNumber("Mesh.SaveAll", 1)
gmsh.write("all.msh")
try:
    meshio.read("all.msh")
    print("msh 4.1 saved with all: read")
except ValueError as error:
    print("msh 4.1 saved with all:", error)
PY
(cd "$work" && ./venv/bin/python rope.py > seen 2> told) || { cat "$work/told"; exit 1; }
sed -i '/^$/d' "$work/seen"
cat "$work/seen"
diff "$work/seen" - <<'SEEN'
msh 4.1 by meshio: rope 3 middle 3 of 6 lines
MED: rope 3 middle 3 G_1D_-7 3 of 6 lines
msh 2.2: 9 lines for 6
msh 4.1 saved with all: Incompatible cell data 'gmsh:physical'. 7 cell blocks, but 'gmsh:physical' has 4 blocks.
SEEN
echo "as described"
