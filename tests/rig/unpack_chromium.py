"""Unpack npm's @sparticuz/chromium where no package brings one: `python unpack_chromium.py PACKAGE PLACE`."""

import io
import sys
import tarfile
from pathlib import Path

import brotli

WRAPPER = """#!/bin/sh
here=$(dirname "$(readlink -f "$0")")
LD_LIBRARY_PATH="$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" exec "$here/headless_shell" "$@"
"""


def unpack(package: Path, place: Path) -> None:
    """Write the program, the libraries that it brings along, and a script that starts the one with the others."""
    place.mkdir(parents=True, exist_ok=True)
    program = place / "headless_shell"
    program.write_bytes(brotli.decompress((package / "bin" / "chromium.br").read_bytes()))
    for name in ("al2023", "swiftshader"):
        packed = brotli.decompress((package / "bin" / f"{name}.tar.br").read_bytes())
        with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
            archive.extractall(place, filter="data")
    start = place / "chromium"
    start.write_text(WRAPPER)
    for file in (program, start):
        file.chmod(0o755)


if __name__ == "__main__":
    unpack(Path(sys.argv[1]), Path(sys.argv[2]))
