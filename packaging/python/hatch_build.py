"""Puts the binary into the wheel. `scripts/package-python` sets the variables; without them, the wheel has none."""

from __future__ import annotations

import os
import pathlib
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]


class BinaryHook(BuildHookInterface[Any]):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        binary = os.environ.get("LOCUM_PACKAGE_BINARY")
        if binary:
            build_data["pure_python"] = False
            build_data["tag"] = f"py3-none-{os.environ['LOCUM_PACKAGE_PLATFORM']}"
            build_data["force_include"][binary] = "locum/bin/locum"
        for license_file in REPOSITORY.glob("LICENSE-*"):
            build_data["extra_metadata"][str(license_file)] = license_file.name
