"""Who is let in: token, cookie, places that ask; only regular files; nothing outlives the program."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import signal
import subprocess
import sys
import time

import pytest

if importlib.util.find_spec("nicegui") is None:  # its import takes seconds, which no other process need spend
    pytest.skip("the page needs the extra app", allow_module_level=True)

from fem.app.deck_text import MOST_TEXT, as_text, read_deck_text
from fem.app.door import Door, Key
from fem.app.solver import Readers, Workplace, last_row, progress_of
from fem.runs.own import read_record
from tests.app.test_runs import write
from tests.waiting import run_apart, wait_for

HOST = "127.0.0.1:8080"
OWN = f"http://{HOST}"


async def inside(scope, receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"inside"})


def ask(key, path="/", query="", kind="http", method="GET", **headers):
    """The first two messages of an answer."""
    sent = []

    async def send(message):
        sent.append(message)

    async def receive():
        return {"type": f"{kind}.connect"}

    named = {"host": HOST} | {name.replace("_", "-"): value for name, value in headers.items()}
    raw = [(name.encode(), value.encode("latin-1", "replace")) for name, value in named.items()]
    scope = {"type": kind, "method": method, "path": path, "query_string": query.encode(), "headers": raw}
    run_apart(Door(inside, key)(scope, receive, send))
    return sent


def cookie_of(key):
    headers = dict(ask(key, query=f"token={key.token}")[0]["headers"])
    return headers[b"set-cookie"].decode()


@pytest.fixture
def key():
    return Key(8080)


SOCKET = "/_nicegui_ws/socket.io/"


@pytest.mark.parametrize("path", ["/", SOCKET, "/scenes/1", "/_nicegui/auto/static/nicegui.js", "/favicon.ico"])
@pytest.mark.parametrize("query", ["", "token=", "token=wrong", "EIO=4&transport=polling"])
def test_nothing_is_told_to_whoever_does_not_know_the_token(key, path, query):
    start, body = ask(key, path, query)
    assert start["status"] == 403 and b"inside" not in body["body"]
    (closed,) = ask(key, path, query, kind="websocket", origin=OWN)
    assert (closed["type"], closed["code"]) == ("websocket.close", 1008)


def test_the_token_opens_the_page_alone(key):
    assert ask(key, SOCKET, f"token={key.token}")[0]["status"] == 403
    assert ask(key, "/", f"token={key.token}", method="POST")[0]["status"] == 403


def test_the_token_is_traded_for_a_cookie_that_scripts_and_other_sites_do_not_get(key):
    cookie = cookie_of(key)
    assert "HttpOnly" in cookie and "samesite=strict" in cookie.lower() and key.token not in cookie
    value = cookie.split(";")[0]
    assert ask(key, cookie=value)[1]["body"] == b"inside"
    assert ask(key, SOCKET, kind="websocket", cookie=value, origin=OWN)[1]["body"] == b"inside"
    other = Key(8080)
    assert other.token != key.token and ask(other, cookie=value)[0]["status"] == 403


def test_pages_of_other_places_are_refused_though_the_browser_sends_the_cookie(key):
    """Cookies do not know ports: a page of another port of this computer is of the same site."""
    value = cookie_of(key).split(";")[0]
    for origin in ("http://127.0.0.1:9999", "http://elsewhere.example", "null"):
        assert ask(key, SOCKET, kind="websocket", cookie=value, origin=origin)[0]["code"] == 1008
        assert ask(key, SOCKET, method="POST", cookie=value, origin=origin)[0]["status"] == 403
    for said, status in (("same-site", 403), ("cross-site", 403), ("same-origin", 200), ("none", 200)):
        assert ask(key, "/scenes/1", cookie=value, sec_fetch_site=said)[0]["status"] == status


FOREIGN_COOKIES = (
    "a[0]=1", "{}=2", 'pref={"a":1}', "x=a b", "x", "", "=", "a=b=c", "été=1", "a=é", "@a=1", "a=(1,2)", 'q="unclosed',
    "$x=1",
    "a/b=1", "a:b=1", "expires=Wed, 09 Jun 2027 10:18:14 GMT", "path=/", "comment", "httponly", "fem-app-8080=", "a=\\",
)  # fmt: skip


@pytest.mark.parametrize("other", FOREIGN_COOKIES)
def test_cookies_of_other_programs_lock_nobody_out(key, other):
    """Browsers send those of all ports of this computer, in any order; in HTTP/2 in several headers."""
    value = cookie_of(key).split(";")[0]
    for header in (f"{other}; {value}", f"{value}; {other}", f"x=1;{other};{value};y=2"):
        found = ask(key, cookie=header.encode().decode("latin-1"))
        assert found[1]["body"] == b"inside", header
    assert not key.is_among([other]) and key.is_among([other, value])


def test_large_bodies_are_refused_before_they_are_read(key):
    value = cookie_of(key).split(";")[0]
    for length, status in ((str(MOST_TEXT), 200), ("1" + 9 * "0", 413), ("9" * 30, 413), ("²", 413), ("", 413)):
        found = ask(key, "/upload", method="POST", cookie=value, origin=OWN, content_length=length)
        assert found[0]["status"] == status, length
    found = ask(key, "/upload", method="POST", cookie=value, origin=OWN, transfer_encoding="chunked")
    assert found[0]["status"] == 413
    with pytest.raises(ValueError, match="larger than 2 MB"):
        as_text(b"*" * (MOST_TEXT + 1), "upload.inp")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes")
def test_pipes_are_not_waited_for(tmp_path):
    from fem.app.outcome import _state_of

    for name in ("deck.inp", "run.json", "increments.csv"):
        os.mkfifo(tmp_path / name)
    with pytest.raises(OSError, match="not a regular file"):
        read_deck_text(tmp_path / "deck.inp")
    assert read_record(tmp_path / "run.json") == {} == last_row(tmp_path / "increments.csv")
    assert progress_of(tmp_path) is None
    assert _state_of([tmp_path], [None])[0] == [None]


def test_decks_that_are_no_text_are_refused(tmp_path):
    (tmp_path / "large.inp").write_bytes(b"*" * (MOST_TEXT + 1))
    (tmp_path / "odd.inp").write_bytes(b"*NODE\xff")
    for name, said in (("large.inp", "larger than 2 MB"), ("odd.inp", "not a text file")):
        with pytest.raises(ValueError, match=said):
            read_deck_text(tmp_path / name)


STARTS = """
import sys
from pathlib import Path
from fem.app.solver import Workplace
place = Workplace()
run = place.solve(Path(sys.argv[1]), Path(sys.argv[2]))
print(run.number, flush=True)
run.wait(1000)
"""


def is_there(number):
    """A process goes on, or nobody has asked how it ended."""
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_a_killed_program_takes_its_solver_along(tmp_path):
    """Nobody can ask it then; what it has computed is written all the same."""
    command = [sys.executable, "-c", STARTS, str(write(tmp_path, when=1000.0)), str(tmp_path / "results")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=os.environ | {"TMPDIR": str(tmp_path)}) as program:
        solver = int(program.stdout.readline())
        wait_for(lambda: getattr(progress_of(tmp_path / "results"), "increment", 0) > 0)
        program.send_signal(signal.SIGKILL)
        program.wait()
        wait_for(lambda: progress_of(tmp_path / "results").verdict == "interrupted")
    assert (tmp_path / "results" / "increments.csv").read_bytes().endswith(b"\n")
    wait_for(lambda: not is_there(solver) or "Z" in state_of(solver))  # its next parent may not ask how it ended


def state_of(number):
    return subprocess.run(["ps", "-o", "stat=", "-p", str(number)], capture_output=True, text=True).stdout


@pytest.mark.skipif(os.name == "nt", reason="processes that have ended")
def test_processes_that_have_ended_leave_nothing(tmp_path):
    """Though nobody looks at the run any more."""
    place = Workplace()
    try:
        solver = place.command(["--version"], tmp_path).number
        wait_for(lambda: not is_there(solver))
    finally:
        place.close()


def test_a_reader_ends_when_what_it_reads_is_not_wanted_any_more(monkeypatch, tmp_path):
    """It is killed in the middle; the next question goes to another."""

    async def change_of_mind():
        readers = Readers()
        try:
            assert await readers.read([], [], False) is None  # it is there, and waits
            (first,) = readers._all
            process = first._process
            number = process.pid
            os.kill(number, signal.SIGSTOP)  # as long in its tables as can be
            task = asyncio.create_task(readers.read([tmp_path], [], False))
            await asyncio.sleep(0.05)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert not is_there(number) and not readers._all
            begun = time.monotonic()
            assert await readers.read([], [], False) is None
            assert time.monotonic() - begun < 60.0
        finally:
            readers.close()

    if os.name == "nt":
        pytest.skip("signals")
    run_apart(change_of_mind())
