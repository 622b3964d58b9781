"""A reader process: takes tasks from its connection, answers each, and never outlives a page that is too hard.

The kernel keeps the limits, so that they hold inside a regular expression or a C library too: a timer of processor time
and one of clock time end the process, and memory beyond the limit is refused.
"""

import os
import resource
import signal
import socket
import time
from collections.abc import Callable, Mapping
from io import BufferedReader
from typing import Any, cast

import msgspec
from msgspec.structs import replace

from tidemill.core.failure import Failure
from tidemill.core.outcome import Fail
from tidemill.core.vertical import Vertical
from tidemill.engine.readers.limits import ReaderLimits
from tidemill.engine.readers.messages import (
    ANSWER_HEADER,
    TASK_HEADER,
    TaskKind,
    decode_call,
    decode_task,
    encode_answer,
    encode_result,
)
from tidemill.pipeline.page_reading import UNWRITABLE, PageTask, ReadResult, read_page, unwritable
from tidemill.pipeline.reader_functions.function import ReaderFunction, run_function

BUFFER = 1 << 18
CHECKED_EVERY = 50
"""Pages between two looks at the reader's own memory."""
MEGABYTE = 1 << 20

Functions = Mapping[str, ReaderFunction[Any, Any]]


def serve(
    connection: socket.socket, verticals: Mapping[str, Vertical], functions: Functions, limits: ReaderLimits
) -> None:
    """Answer tasks until the connection ends, the reader is worn out, or a page ends it."""
    for limit in (signal.SIGPROF, signal.SIGALRM):
        signal.signal(limit, signal.SIG_DFL)
    refuse_memory_above(limits.memory_megabytes)
    with connection, connection.makefile("rb", buffering=BUFFER) as tasks:
        pages = 0
        while (task := next_task(cast("BufferedReader", tasks))) is not None:
            answer = bounded_answer(task, verticals, functions, limits)
            signal.setitimer(signal.ITIMER_REAL, 0)
            connection.sendall(ANSWER_HEADER.pack(len(answer)) + answer)
            pages += 1
            if is_worn_out(pages, limits):
                connection.sendall(ANSWER_HEADER.pack(0))
                return


def next_task(tasks: BufferedReader) -> tuple[TaskKind, bytes] | None:
    """Wait for the next task, still encoded, and start its time; None at the end."""
    header = tasks.read(TASK_HEADER.size)
    if len(header) < TASK_HEADER.size:
        return None
    kind, length, cpu, wall = TASK_HEADER.unpack(header)
    payload = tasks.read(length)
    if len(payload) < length:
        return None
    signal.setitimer(signal.ITIMER_PROF, cpu)
    signal.setitimer(signal.ITIMER_REAL, wall)
    return TaskKind(kind), payload


def bounded_answer(
    task: tuple[TaskKind, bytes], verticals: Mapping[str, Vertical], functions: Functions, limits: ReaderLimits
) -> bytes:
    """Return the encoded result, or the encoded reason why there is none."""
    kind, payload = task
    encode: Callable[[Any], bytes] = encode_result if kind is TaskKind.PAGE else encode_answer
    try:
        if kind is TaskKind.PAGE:
            answer = encode(timed_reading(decode_task(payload), verticals))
        else:
            answer = encode(called(payload, verticals, functions))
    except UNWRITABLE as error:
        return encode(unwritable(error))
    except MemoryError:
        return encode(Fail(Failure.PAGE_TOO_HARD, "what was read of it takes more memory than a page may"))
    if len(answer) > limits.output_megabytes * MEGABYTE:
        detail = f"{len(answer) // MEGABYTE} MB came of reading it, and {limits.output_megabytes} may"
        return encode(Fail(Failure.PAGE_TOO_HARD, detail))
    return answer


def called(payload: bytes, verticals: Mapping[str, Vertical], functions: Functions) -> Any:
    """Return what a function answers."""
    call = decode_call(payload)
    function = functions[call.name]
    return run_function(function, msgspec.json.decode(call.asked, type=function.asked), verticals)


def timed_reading(task: PageTask, verticals: Mapping[str, Vertical]) -> ReadResult:
    """Read a page and note how long that took."""
    began = time.perf_counter()
    result = read_page(task, verticals)
    return result if isinstance(result, Fail) else replace(result, seconds=time.perf_counter() - began)


def is_worn_out(pages: int, limits: ReaderLimits) -> bool:
    """Return whether a fresh reader should take over: after so many pages, or with so much memory held."""
    if pages >= limits.pages:
        return True
    return pages % CHECKED_EVERY == 0 and held_megabytes() > limits.idle_megabytes


def refuse_memory_above(megabytes: int) -> None:
    """Let reading take so much beside what the process has mapped already."""
    limit = mapped_bytes() + megabytes * MEGABYTE
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    if hard == resource.RLIM_INFINITY or limit < hard:
        resource.setrlimit(resource.RLIMIT_AS, (limit, hard))


def mapped_bytes() -> int:
    """Return the address space that this process has mapped; a guess where the kernel does not tell."""
    return _pages_of_memory(0) * resource.getpagesize() or 256 * MEGABYTE


def held_megabytes() -> int:
    """Return the memory that this process holds; the most it ever held where the kernel does not tell."""
    held = _pages_of_memory(1) * resource.getpagesize()
    return (held or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024) // MEGABYTE


def _pages_of_memory(column: int) -> int:
    try:
        with open("/proc/self/statm", "rb") as told:  # noqa: PTH123 - no Path in a process that counts its bytes
            return int(told.read().split()[column])
    except OSError:
        return 0


def be_nice(steps: int) -> None:
    """Let other processes go first."""
    os.nice(steps)
