"""A disk of a few megabytes that only this process sees: for filling up, and for turning read-only."""

import ctypes
import os
from pathlib import Path

CLONE_NEWNS = 0x0002_0000
CLONE_NEWUSER = 0x1000_0000
MS_RDONLY, MS_REMOUNT, MS_REC, MS_PRIVATE = 0x1, 0x20, 0x4000, 0x4_0000


def mount_small_disk(folder: Path, megabytes: int) -> None:
    """Put a file system in memory at `folder`, in a namespace of this process's own; raises OSError where forbidden."""
    user, group = os.geteuid(), os.getegid()
    system = ctypes.CDLL(None, use_errno=True)
    _checked(system.unshare(CLONE_NEWUSER | CLONE_NEWNS))
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"0 {user} 1")
    Path("/proc/self/gid_map").write_text(f"0 {group} 1")
    _checked(system.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None))
    _checked(system.mount(b"tmpfs", bytes(folder), b"tmpfs", 0, f"size={megabytes}m".encode()))


def remount(folder: Path, *, read_only: bool) -> None:
    """Mount that file system anew; Linux refuses to make it read-only while a file on it is open for writing."""
    flags = MS_REMOUNT | (MS_RDONLY if read_only else 0)
    _checked(ctypes.CDLL(None, use_errno=True).mount(b"none", bytes(folder), None, flags, None))


def _checked(answer: int) -> None:
    if answer != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
