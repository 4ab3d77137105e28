"""Where the server's binary is, and the command `locum`."""

from __future__ import annotations

import os
import pathlib
import sys

VARIABLE = "LOCUM_BINARY"
PACKAGED = pathlib.Path(__file__).resolve().parent / "bin" / "locum"


def find_binary() -> str:
    """LOCUM_BINARY if it is set, else the binary of this package."""
    named = os.environ.get(VARIABLE)
    if named:
        return os.path.abspath(named)
    if PACKAGED.exists():
        return str(PACKAGED)
    raise FileNotFoundError(f"this package has no binary for this platform: name one in {VARIABLE}")


def main() -> None:
    try:
        binary = find_binary()
    except FileNotFoundError as error:
        sys.exit(f"locum: {error}")
    # Without the variable: it may name this command.
    os.environ.pop(VARIABLE, None)
    try:
        os.execv(binary, [binary, *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"locum: {binary}: {error}")
