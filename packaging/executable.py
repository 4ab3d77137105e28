"""What the scripts that make packages have to know of a binary."""

import dataclasses
import functools
import pathlib
import re
import subprocess
import sys


@dataclasses.dataclass(frozen=True)
class Architecture:
    # The names by which Debian and containers, Python, and Node know it.
    debian: str
    python: str
    node: str


# By the machine in the header of an ELF file.
ARCHITECTURES = {62: Architecture("amd64", "x86_64", "x64"), 183: Architecture("arm64", "aarch64", "arm64")}


def output_of(*command):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True).stdout


class Executable:
    """A binary for Linux, not necessarily for this machine."""

    def __init__(self, path):
        self.path = pathlib.Path(path).resolve()
        with open(self.path, "rb") as file:
            head = file.read(20)
        self.architecture = ARCHITECTURES.get(int.from_bytes(head[18:20], "little"))
        if head[:4] != b"\x7fELF" or not self.architecture:
            known = " or ".join(architecture.python for architecture in ARCHITECTURES.values())
            sys.exit(f"{path} is not a binary for Linux on {known}")

    @functools.cached_property
    def libc(self):
        """The version of glibc that it needs: `(2, 17)`."""
        versions = re.findall(r"Name: GLIBC_(\d+)\.(\d+)", output_of("readelf", "--version-info", self.path))
        if not versions:
            sys.exit(f"{self.path} does not use glibc")
        return max((int(major), int(minor)) for major, minor in versions)

    def strip(self, target):
        """Writes it without symbols, if it has any, and returns the path of what has none."""
        if ".symtab" not in output_of("readelf", "--wide", "--section-headers", self.path):
            return self.path
        output_of("strip", "-o", target, self.path)
        return target

    def libraries(self):
        """The paths of its loader and of its libraries, which are the same on this machine and on its own."""
        loader = re.search(r"interpreter: (\S+)\]", output_of("readelf", "--wide", "--program-headers", self.path))
        if not loader:
            return []
        folder, name = loader.group(1).rsplit("/", 1)
        found, open_names = {name: self._find(name, [folder])}, needed_libraries(self.path)
        while open_names:
            name = open_names.pop()
            if name not in found:
                found[name] = self._find(name, [f"/lib/{self.architecture.python}-linux-gnu", "/lib64"])
                open_names |= needed_libraries(found[name])
        return sorted(found.values())

    def _find(self, name, folders):
        for folder in folders:
            library = pathlib.Path(folder, name)
            if library.exists() and Executable(library).architecture == self.architecture:
                return library
        sys.exit(f"{name} for {self.architecture.python} is missing on this machine: install libc6:{self.architecture.debian}")


def needed_libraries(path):
    return set(re.findall(r"\(NEEDED\)\s+Shared library: \[(\S+)\]", output_of("readelf", "--dynamic", path)))
