"""Small binaries for other processors, for tests of the scripts that make packages."""

import pathlib
import struct

# Machines of the ELF format.
ARM, X86_64, ARM64 = 40, 62, 183
PROGRAM, HEADER_BYTES = 2, 64


def write_header(path, machine):
    """A program without code and without libraries."""
    identification = b"\x7fELF" + bytes([2, 1, 1])
    sizes = (HEADER_BYTES, 0, 0, 0, 0, 0)
    path.write_bytes(struct.pack("<16sHHIQQQI6H", identification, PROGRAM, machine, 1, 0, 0, 0, 0, *sizes))
    return path


def write_relabeled_program(path, machine):
    """A program of this machine, with its needs, that says that it is for another one."""
    content = bytearray(pathlib.Path("/bin/true").read_bytes())
    content[18:20] = machine.to_bytes(2, "little")
    path.write_bytes(content)
    return path
