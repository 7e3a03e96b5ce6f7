"""Tables that users hand in: one reader, which says what is wrong with a file that is no text in UTF-8."""

from __future__ import annotations

import pytest

from fem.cli import main
from fem.commands.files import table_lines, table_rows
from fem.errors import CommandError
from tests.sweeping.swings import write_swing

LINE = "line --last 9,0,5 --section dove --output line.inp"
COMMANDS = (
    "sweep swing.inp --cases {file}",
    "fit swing.inp {file} --vary length=1:2",
    "fit swing.inp --cases {file} --vary length=1:2",
    LINE + " --sag 0.5 --record {file}",
    LINE + " --sag-tension {file}",
)
HEAD = "time,length,sway,temperature [C],Größe\n"


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("content", [HEAD.encode("latin-1"), HEAD.encode("utf-16"), None])
def test_other_encodings_are_said_with_their_line(tmp_path, monkeypatch, capsys, command, content):
    """Latin-1 and UTF-16, as spreadsheets save; a folder in place of a file."""
    monkeypatch.chdir(tmp_path)
    write_swing(tmp_path)
    table = tmp_path / "table.csv"
    table.mkdir() if content is None else table.write_bytes(content)
    assert main(command.format(file=table.name).split()) == 2
    said = capsys.readouterr().err
    where = "table.csv cannot be read" if content is None else "table.csv:1: not text in UTF-8"
    assert where in said and "Traceback" not in said


def test_lines_keep_their_numbers(tmp_path):
    """A mark at the beginning, ends of lines of any system, blank lines, quotes."""
    table = tmp_path / "table.csv"
    table.write_bytes(b'\xef\xbb\xbf\r\n"a, b",c\r\n\r\n , \r\n1,2\r3,4')
    assert table_lines(table) == [(2, '"a, b",c'), (4, " , "), (5, "1,2"), (6, "3,4")]
    assert table_rows(table) == [(2, ["a, b", "c"]), (5, ["1", "2"]), (6, ["3", "4"])]
    table.write_bytes(b"1," + b"9" * 200_000)
    with pytest.raises(CommandError, match="no table of cells"):
        table_rows(table)
    table.write_bytes(b"a,b\n1,2\n3,\xb5\n")
    with pytest.raises(CommandError, match=r"table.csv:3: not text in UTF-8 \(byte 0xb5\)"):
        table_lines(table)
