"""Files of the table of a sweep: ``sweep.csv``, ``sweep.npy``, ``sweep.parquet``.

CSV grows row by row while a sweep runs (``study/table.py``). The others are written when it is complete, in blocks of
rows: NPY as a structured array whose fields are the columns, texts as fixed-width Unicode; Parquet (extra ``parquet``)
with nulls where there is no number.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fem.arrays import Columns
from fem.commands.files import beside
from fem.errors import CommandError, lacks, proposal

CSV, NPY, PARQUET = "csv", "npy", "parquet"
FORMATS = (CSV, NPY, PARQUET)
CASES = tuple(f"load_cases.{form}" for form in FORMATS)
"""Tables of load cases."""
TEXTS = ("verdict", "case", "quantity", "kind", "source")
"""Columns of tables of CSV that hold no numbers."""
PIECE, LARGE = 1 << 18, 1 << 22
"""Bytes of a file that are read at once: what is made of them stays in the cache; few waits for Python's lock."""
Head = Mapping[str, np.dtype[Any]]
"""Columns with their types: whole numbers, numbers, texts."""
Blocks = Iterable[Mapping[str, NDArray[Any]]]
"""Rows, block by block, as columns."""


def table_name(form: str) -> str:
    """Name of the file of a format."""
    return f"sweep.{form}"


def check_format(form: str, has_folder: bool = True) -> None:
    """CommandError: there is no such format, nothing is written, or the package that writes it is not installed."""
    if form not in FORMATS:
        raise CommandError(f"there is no format {form}; {proposal(form, FORMATS)}")
    if form != CSV and not has_folder:
        raise CommandError(f"format={form!r} needs output, a folder: without one no file is written")
    if form == PARQUET:
        parquet()


def parquet() -> Any:
    """``pyarrow.parquet``. CommandError: it is not installed."""
    try:
        import pyarrow.parquet
    except ImportError:
        raise CommandError(f"tables in Parquet need pyarrow: {lacks('pyarrow', PARQUET)}") from None
    return pyarrow.parquet


def checksum(path: Path) -> str:
    """Of a whole file."""
    found = blake2b(digest_size=16)
    with path.open("rb") as file:
        while piece := file.read(LARGE):
            found.update(piece)
    return found.hexdigest()


def line_pieces(path: Path) -> Iterator[bytes]:
    """A file in pieces of whole lines; half a line at its end is left out."""
    rest = b""
    with path.open("rb") as file:
        while piece := file.read(PIECE):
            whole, mark, rest = (rest + piece).rpartition(b"\n")
            if mark:
                yield whole + mark


def write_columns_as(form: str, path: Path, head: Head, rows: int, blocks: Blocks) -> None:
    """Write a table in blocks. OSError names the file."""
    WRITERS[form](path, head, rows, blocks)


def write_npy(path: Path, head: Head, rows: int, blocks: Blocks) -> None:
    kinds = np.dtype(list(head.items()))
    version = None if all(map(str.isascii, head)) else (3, 0)
    with beside(path) as part:
        start = np.lib.format.open_memmap(part, "w+", kinds, (rows,), version=version).offset
        with part.open("r+b") as file:
            file.seek(start)
            for block in blocks:
                table = np.empty(len(next(iter(block.values()))), kinds)
                for name, column in block.items():
                    table[name] = column
                file.write(table.tobytes())


def write_parquet(path: Path, head: Head, rows: int, blocks: Blocks) -> None:
    writer_of = parquet().ParquetWriter
    import pyarrow as arrow

    types = {"i": arrow.int64(), "f": arrow.float64(), "U": arrow.string()}
    schema = arrow.schema([(name, types[kind.kind]) for name, kind in head.items()])
    with beside(path) as part, writer_of(part, schema) as writer:
        for block in blocks:
            arrays = [arrow.array(column, types[head[name].kind], from_pandas=True) for name, column in block.items()]
            writer.write_table(arrow.Table.from_arrays(arrays, schema=schema))


def read_npy(path: Path) -> Columns:
    table = np.load(path, mmap_mode="r", allow_pickle=False)
    return Columns({name: np.ascontiguousarray(table[name]) for name in table.dtype.names or ()})


def read_parquet(path: Path) -> Columns:
    table = parquet().read_table(path)
    return Columns({name: table.column(name).to_numpy() for name in table.column_names})


def read_csv(path: Path, texts: Sequence[str] = TEXTS) -> Columns:
    """Columns of numbers as such, empty cells NaN; ``texts``: names of others."""
    with path.open(newline="", errors="replace") as file:
        head, *rows = csv.reader(file)
    cells = list(zip(*(row for row in rows if len(row) == len(head)), strict=True)) or [()] * len(head)
    return Columns({name: column_of(name in texts, column) for name, column in zip(head, cells, strict=True)})


def column_of(is_text: bool, cells: Sequence[str]) -> NDArray[Any]:
    """Texts, whole numbers or numbers. ValueError: they are none."""
    if is_text:
        return np.array(cells, object)
    if cells and all(cell.lstrip("-").isdigit() for cell in cells):
        return np.array(list(map(int, cells)))
    return np.array([float(cell or "nan") for cell in cells])


WRITERS: dict[str, Callable[[Path, Head, int, Blocks], None]] = {NPY: write_npy, PARQUET: write_parquet}
READERS: dict[str, Callable[[Path], Columns]] = {NPY: read_npy, PARQUET: read_parquet}


def table_in(folder: Path) -> Path:
    """The table in a folder of a sweep: ``sweep.csv``, as new as any other, where there are several or none."""
    return next((path for form in FORMATS if (path := folder / table_name(form)).is_file()), folder / table_name(CSV))


def read_columns(path: Path, texts: Sequence[str] = TEXTS) -> Columns:
    """A table in any of the formats; ``texts``: columns of CSV that hold no numbers. CommandError: it is none."""
    try:
        return read_csv(path, texts) if path.suffix[1:] == CSV else READERS[path.suffix[1:]](path)
    except (OSError, ValueError) as error:  # of pyarrow, too
        raise CommandError(f"{path} cannot be read as a table of fem: {error}") from None
