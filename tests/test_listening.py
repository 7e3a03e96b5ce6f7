"""No command listens without a secret: another user of this machine, who knows every port, is told and given nothing.

The other user has another uid where the tests run as root. What is sent is harmless.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from ast import literal_eval
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from fem.cli import main
from fem.study.cluster import LOCAL, connected
from tests.sweeping.swings import write_swing
from tests.waiting import PATIENCE, wait_for

psutil = pytest.importorskip("psutil")
STRANGER = """
import encodings.idna, os, socket, ssl, sys

if hasattr(os, "getuid") and os.getuid() == 0:
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
plain = lambda it: it
anyone = ssl.create_default_context()
anyone.check_hostname, anyone.verify_mode = False, ssl.CERT_NONE
for port in map(int, sys.argv[1:]):
    for wrapped in (plain, anyone.wrap_socket):
        found = b""
        try:
            with wrapped(socket.create_connection(("127.0.0.1", port), 10.0)) as there:
                there.sendall(b"GET / HTTP/1.0\\r\\nHost: localhost\\r\\n\\r\\n")
                while more := there.recv(4096):
                    found += more
        except OSError:  # refused
            pass
        print(found[:12])
"""


def ports() -> list[int]:
    """At which this process and those that it has started listen."""
    this = psutil.Process()
    found = this.net_connections("inet")
    for each in this.children(recursive=True):
        with suppress(psutil.NoSuchProcess):  # some end while they are looked at
            found += each.net_connections("inet")
    return [place.laddr.port for place in found if place.status == psutil.CONN_LISTEN]


def told_to_a_stranger(asked: list[int]) -> list[bytes]:
    """The first bytes of each answer: to plain text, then inside TLS without a certificate."""
    command = [sys.executable, "-c", STRANGER, *map(str, asked)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=PATIENCE)
    return [literal_eval(line) for line in done.stdout.splitlines()]


@contextmanager
def cluster() -> Iterator[None]:
    pytest.importorskip("distributed")
    pytest.importorskip("cryptography")
    with connected(LOCAL, 1) as (team, count):
        assert count == 1 and list(team.client.run(os.getpid).values()) != [os.getpid()]  # we have the key
        yield


@contextmanager
def page() -> Iterator[None]:
    pytest.importorskip("nicegui")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "fem", "app", "--no-open", "--port", str(port)]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    environment["PYTHONPATH"] = str(Path(__file__).resolve().parents[1])
    app = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(lambda: app.poll() is not None or port in ports())
        yield
    finally:
        app.terminate()
        app.wait(PATIENCE)


@pytest.mark.long_cases("cluster-3")
@pytest.mark.parametrize(("command", "least"), [(cluster, 3), pytest.param(page, 1, marks=pytest.mark.long)])
def test_a_stranger_is_told_nothing(command, least):
    """Of the cluster: scheduler, keeper of the worker and worker, and no pages. An alert of TLS begins with byte 21."""
    before = ports()
    with command():
        asked = sorted({*ports()} - {*before})
        answers = told_to_a_stranger(asked)
    assert len(asked) == least and len(answers) == 2 * least
    assert all(answer[:1] in (b"", b"\x15") or answer == b"HTTP/1.1 403" for answer in answers), answers


@pytest.mark.parametrize(("missing", "said"), [("cryptography", "needs a key"), ("distributed", "needs Dask")])
def test_without_a_key_there_is_no_cluster(monkeypatch, tmp_path, capsys, missing, said):
    pytest.importorskip("distributed")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, missing, None)
    write_swing(tmp_path)
    before = ports()
    assert main(["sweep", "swing.inp", "--vary", "length=1,2", "--scheduler", "local", "--quiet"]) == 2
    assert said in capsys.readouterr().err and ports() == before
