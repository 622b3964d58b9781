"""A network of our own: loopback alone, whose packets the kernel drops when it is told to."""

import os
import shutil
import subprocess
import sys

INSIDE = "CHAOS_INSIDE"


def may_have_own_network() -> bool:
    """Whether the kernel gives us a network namespace, and nft can cut in it."""
    if not all(map(shutil.which, ("unshare", "ip", "nft"))):
        return False
    tried = ["unshare", "--net", "sh", "-c", "ip link set lo up && nft list tables"]
    return subprocess.run(tried, capture_output=True, check=False).returncode == 0


def enter_own_network() -> bool:
    """Begin this program anew in a network namespace; answers whether we are in one, False where there is none."""
    if os.environ.get(INSIDE):  # noqa: TID251 - a script's word to itself
        run("ip", "link", "set", "lo", "up")
        return True
    if not may_have_own_network():
        return False
    words = [sys.executable, "-m", "tools.cluster.chaos", *sys.argv[1:]]
    return os.execvpe("unshare", ["unshare", "--net", *words], {**os.environ, INSIDE: "1"})  # noqa: S606, S607, TID251


def cut(port: int) -> None:
    """Drop every packet from and to a port: who talks over it hears nothing, not even that the other is gone."""
    run("nft", "add", "table", "inet", "chaos")
    run("nft", "add chain inet chaos wire { type filter hook input priority 0 ; }")
    for side in ("sport", "dport"):
        run("nft", f"add rule inet chaos wire tcp {side} {port} drop")


def mend() -> None:
    """Let packets through again."""
    run("nft", "delete", "table", "inet", "chaos")


def run(*words: str) -> None:
    """Run a program of the system; it must succeed."""
    subprocess.run(words, check=True)
