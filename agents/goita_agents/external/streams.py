"""Runs a program and exchanges lines with it; no call waits longer than its deadline.

The program's three streams are non-blocking pipes. Standard error is read along with the others,
and only its last lines are kept. POSIX only, because it needs process groups.
"""

from __future__ import annotations

import contextlib
import errno
import os
import selectors
import signal
import subprocess
import time
from collections import deque
from collections.abc import Sequence
from typing import IO, Final, cast

from goita_agents.external.protocol import MAX_LINE, printable
from goita_agents.faults import BotError

STDERR_LINES: Final = 20  # Last lines of standard error that are kept.
STDERR_WIDTH: Final = 500  # Bytes of each of them that are kept.

NO_INTERPRETER: Final = "; add a first line such as #!/usr/bin/env python3"
"""Advice for a program that the system cannot start as it is."""

_CHUNK: Final = 65536  # Bytes read at a time.


class Process:
    """A program in a separate process group."""

    def __init__(self, command: Sequence[str]) -> None:
        try:
            self._selector = selectors.DefaultSelector()
            self._popen = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,
            )
        except OSError as error:
            hint = NO_INTERPRETER if error.errno == errno.ENOEXEC else ""
            raise BotError("died", f"it does not start: {error.strerror}{hint}") from error
        self.pid: Final = self._popen.pid
        streams = self._popen.stdin, self._popen.stdout, self._popen.stderr
        self._stdin, self._stdout, self._stderr = cast("tuple[IO[bytes], ...]", streams)
        for stream in (self._stdin, self._stdout, self._stderr):
            os.set_blocking(stream.fileno(), False)
        self._selector.register(self._stdout, selectors.EVENT_READ)
        self._selector.register(self._stderr, selectors.EVENT_READ)
        self._out = bytearray()
        self._in = bytearray()
        self._ended = self._parting = self._stopped = False
        self._last: deque[bytes] = deque(maxlen=STDERR_LINES)
        self._partial = b""

    # ------------------------------------------------------------------------------------- talking

    def send(self, text: str) -> None:
        """Sends text; the part that does not fit into the pipe is sent while reading."""
        if self._stdin.closed or not text:
            return
        waiting = bool(self._out)
        self._out += text.encode()
        if not waiting:
            self._write()
            if self._out:
                self._selector.register(self._stdin, selectors.EVENT_WRITE)

    def read_line(self, deadline: float = 0.0) -> bytes:
        """Returns the next line.

        Args:
            deadline: time of ``time.monotonic`` until which it waits; 0: it does not wait.

        Raises:
            BotError: if no line has come by then ("late"), the program has ended ("died"), or a
                line is too long ("flood").
        """
        while (end := self._in.find(b"\n")) < 0:
            if self._ended:
                raise BotError("died", self._how_it_ended())
            remaining = deadline - time.monotonic()
            # After the deadline it looks once more: this process may have been delayed.
            has_output = self._pump(max(remaining, 0.0))
            if len(self._in) > MAX_LINE and b"\n" not in self._in:
                break
            if remaining <= 0 and not has_output:
                raise BotError("late", "expected an answer in time, got none")
        if not 0 <= end <= MAX_LINE:
            raise BotError("flood", f"expected lines of {MAX_LINE} bytes at most, got a longer one")
        line = bytes(self._in[:end])
        del self._in[: end + 1]
        return line

    def stderr(self) -> tuple[str, ...]:
        if not self._stopped:
            self._read_stderr(4)
        lines = [*self._last, *([self._partial] if self._partial else [])]
        texts = (printable(line.decode(errors="replace").rstrip()) for line in lines)
        return tuple(texts)[-STDERR_LINES:]

    # ------------------------------------------------------------------------------------- stopping

    def part(self, text: str) -> None:
        """Sends a last text and closes the input as soon as it is written."""
        if not self._stopped:
            self._parting = True
            self.send(text)
            if not self._out:
                self._close_stdin()

    def stop(self, patience: float = 0.0) -> None:
        """Ends the program and its whole process group; may be called twice.

        Args:
            patience: seconds to wait for it to end, and again after SIGTERM; 0: kill it at once.
        """
        if self._stopped:
            return
        self._stopped = True
        if patience and not self._exits_within(patience):
            self._kill(signal.SIGTERM)
            self._exits_within(patience)
        # Until the program is waited for, its number is not given to another process group.
        self._kill(signal.SIGKILL)
        self._popen.wait()
        while len(self._in) < _CHUNK and self._pump(0):
            pass  # reads its last output
        self._ended = True
        self._read_stderr(4)
        self._close_stdin()
        self._selector.close()
        self._stdout.close()
        self._stderr.close()

    def _kill(self, kill_signal: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, kill_signal)

    def _exits_within(self, patience: float) -> bool:
        """Waits for the program to end, and reads its output meanwhile."""
        deadline = time.monotonic() + patience
        while self._exit_status() is None:
            remaining = deadline - time.monotonic()
            if remaining <= 0:
                return False
            self._pump(min(remaining, 0.005))
            del self._in[_CHUNK:]
        return True

    def _exit_status(self) -> os.waitid_result | None:
        """Returns how the program ended, if it did, and keeps its number in use."""
        return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)

    def _how_it_ended(self) -> str:
        if self._stopped:
            return "expected an answer, but the program was ended"
        if not self._exits_within(0.2):
            return "expected an answer, but the program closed its output"
        status = self._exit_status()
        if status is not None and status.si_code != os.CLD_EXITED:
            return f"expected an answer, but signal {status.si_status} ended the program"
        code = "?" if status is None else status.si_status
        return f"expected an answer, but the program ended with exit code {code}"

    # ---------------------------------------------------------------------------------- the streams

    def _pump(self, timeout: float) -> bool:
        """Moves data of the streams that are ready; returns whether output came."""
        has_output = False
        for key, _ in self._selector.select(timeout):
            if key.fileobj is self._stdout:
                has_output = True
                data = self._stdout.read(_CHUNK)
                self._in += data or b""
                if data == b"":
                    self._ended = True
                    self._selector.unregister(self._stdout)
            elif key.fileobj is self._stderr:
                self._read_stderr(1)
            else:
                self._write()
                if not self._out and self._parting:
                    self._close_stdin()
                elif not self._out and not self._stdin.closed:
                    self._selector.unregister(self._stdin)
        return has_output

    def _write(self) -> None:
        try:
            written = self._stdin.write(self._out) or 0
        except OSError:  # nobody reads any more; the output shows what became of the program
            self._close_stdin()
        else:
            del self._out[:written]

    def _close_stdin(self) -> None:
        if not self._stdin.closed:
            if self._stdin in self._selector.get_map():
                self._selector.unregister(self._stdin)
            self._out.clear()
            self._stdin.close()

    def _read_stderr(self, chunks: int) -> None:
        for _ in range(chunks):
            data = self._stderr.read(_CHUNK)
            if not data:
                if data == b"" and self._stderr in self._selector.get_map():
                    self._selector.unregister(self._stderr)
                return
            *lines, partial = (self._partial + data).split(b"\n")
            self._last.extend(line[:STDERR_WIDTH] for line in lines[-STDERR_LINES:])
            self._partial = partial[:STDERR_WIDTH]
