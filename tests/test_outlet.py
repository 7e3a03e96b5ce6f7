"""The writer's thread: everything in order, bounded, errors in the run, files closed whatever happens."""

from __future__ import annotations

import threading

import pytest

from fem.runs.record import Event, SilentSink
from fem.runs.write import WAITING, Writer
from tests.waiting import PATIENCE

EVENT = Event(1, 1, 0.0, 0, "slack")


class Slow(SilentSink):
    """Keeps what it hears; waits until it may go on; fails at a given message."""

    def __init__(self, fails_at: int = -1) -> None:
        self.heard: list[str] = []
        self.may_go_on = threading.Event()
        self.fails_at = fails_at
        self.thread = ""

    def notice(self, text: str) -> None:
        self.may_go_on.wait(PATIENCE)
        if len(self.heard) == self.fails_at:
            raise OSError(28, "No space left on device")
        self.heard.append(text)
        self.thread = threading.current_thread().name

    def event(self, event: Event) -> None:
        self.heard.append(event.event)

    def close(self) -> None:
        self.heard.append("closed")


def test_messages_come_in_order_in_another_thread() -> None:
    sink = Slow()
    writer = Writer([sink])
    for number in range(WAITING):
        writer.notice(str(number))
    sink.may_go_on.set()
    writer.event(EVENT)
    writer.close()
    assert sink.heard == [*map(str, range(WAITING)), "slack", "closed"]
    assert sink.thread == "fem writer"


def test_the_solver_waits_when_too_much_waits() -> None:
    sink = Slow()
    writer = Writer([sink])
    sent: list[int] = []

    def send() -> None:
        for number in range(3 * WAITING):
            writer.notice(str(number))
            sent.append(number)

    sender = threading.Thread(target=send)
    sender.start()
    sender.join(0.2)
    assert sender.is_alive() and len(sent) <= WAITING + 1
    sink.may_go_on.set()
    sender.join(PATIENCE)
    writer.close()
    assert len(sink.heard) == 3 * WAITING + 1


def test_an_error_is_raised_in_the_run_and_files_are_closed() -> None:
    sink = Slow(fails_at=1)
    sink.may_go_on.set()
    writer = Writer([sink])
    with pytest.raises(OSError, match="No space left"):
        for number in range(100):
            writer.notice(str(number))
        writer.close()
    with pytest.raises(OSError, match="No space left"):
        writer.close()
    assert sink.heard == ["0", "closed"]


class Leaves(Slow):
    """A sink whose function of the user ends the program, as ``sys.exit`` does."""

    def notice(self, text: str) -> None:
        raise SystemExit(text)


def test_a_function_that_ends_the_program_does_not_leave_the_solver_waiting() -> None:
    sink = Leaves()
    writer = Writer([sink])
    raised: list[BaseException] = []

    def send() -> None:
        try:
            for number in range(3 * WAITING):
                writer.notice(str(number))
            writer.close()
        except SystemExit as error:
            raised.append(error)

    sender = threading.Thread(target=send, daemon=True)
    sender.start()
    sender.join(PATIENCE)
    assert not sender.is_alive() and [each.args for each in raised] == [("0",)]
    with pytest.raises(SystemExit):
        writer.close()
    assert sink.heard == ["closed"]
