"""The wheel, the npm packages and the crate, installed into empty folders as users do, with the suites of packaging.

What is downloaded is kept in the cache folder.
"""

import filecmp
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest

import locum_server

CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "locum" / "packages"
PACKAGING = locum_server.ROOT / "packaging"
VERSION = "0.1.0"
PATIENCE = 600


def run(*command, cwd=None, **environment):
    command = [str(word) for word in command]
    done = subprocess.run(
        command, cwd=cwd, env={**os.environ, **environment}, timeout=PATIENCE, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )
    print(done.stdout, flush=True)
    if done.returncode:
        raise AssertionError(f"{' '.join(command)}: exit code {done.returncode}\n{done.stdout}")
    return done.stdout


def fill_cache(folder, wanted, download):
    """Downloads once for each version of the file that says what is wanted."""
    kept = folder / wanted.name
    if not kept.exists() or not filecmp.cmp(kept, wanted, shallow=False):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        download()
        shutil.copy(wanted, kept)


# Worlds need SQLite.
@unittest.skipIf(os.environ.get("LOCUM_TEST_POSTGRES"), "the packages run on SQLite")
class Packages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="locum-packages-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        # What users get has no debug information.
        cls.binary = cls.folder / "locum"
        run("strip", "-o", cls.binary, locum_server.binary())

    def build(self, script):
        output = self.folder / script
        arguments = ["--binary", self.binary, "--version", VERSION, "--output", output]
        run(locum_server.ROOT / "scripts" / script, *arguments, **self.offline())
        return sorted(output.iterdir())

    def offline(self):
        return {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(CACHE / "python")}

    def test_wheel_serves_the_python_suites(self):
        wanted = PACKAGING / "python" / "tests" / "requirements.txt"
        pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check"]
        fill_cache(CACHE / "python", wanted, lambda: run(*pip, "--wheel-dir", CACHE / "python", "-r", wanted))
        (wheel,) = self.build("package-python")
        environment = self.folder / "venv"
        run(sys.executable, "-m", "venv", environment)
        python = environment / "bin" / "python"
        install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        run(*install, wheel, "-r", wanted, **self.offline())
        tests = shutil.copytree(PACKAGING / "python" / "tests", self.folder / "tests")
        run(environment / "bin" / "locum", "--version", cwd=tests, LOCUM_BINARY="")
        run(python, "-m", "pytest", "-q", "-n", "2", "--durations=5", tests, cwd=tests, LOCUM_BINARY="")

    def test_npm_packages_serve_the_node_suites(self):
        wanted = PACKAGING / "npm" / "tests" / "package.json"
        cache = CACHE / "npm"
        npm = ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
        npm += ["--cache", cache / "cache"]

        def download():
            (cache / "folder").mkdir()
            shutil.copy(wanted, cache / "folder")
            run(*npm, cwd=cache / "folder")

        fill_cache(cache, wanted, download)
        tarballs = self.build("package-npm")
        tests = shutil.copytree(wanted.parent, self.folder / "npm", ignore=shutil.ignore_patterns("node_modules"))
        shutil.copy(cache / "folder" / "package-lock.json", tests)
        run(*npm, "--no-save", "--prefer-offline", *tarballs, cwd=tests)
        run("npm", "test", cwd=tests, LOCUM_BINARY="")

    def test_npm_packages_of_two_architectures_name_what_they_are_for(self):
        stubs = []
        for machine in (62, 183):
            stubs.append(self.folder / f"stub-{machine}")
            stubs[-1].write_bytes(b"\x7fELF" + bytes(14) + machine.to_bytes(2, "little"))
        script, output = locum_server.ROOT / "scripts" / "package-npm", self.folder / "two"
        binaries = [word for stub in stubs for word in ("--binary", stub)]
        run(script, *binaries, "--version", VERSION, "--output", output)
        described = {}
        for path in output.iterdir():
            with tarfile.open(path) as package:
                description = json.load(package.extractfile("package/package.json"))
                described[description["name"]] = description
                if "cpu" in description:
                    stub = stubs[description["cpu"] == ["arm64"]]
                    self.assertEqual(package.extractfile("package/bin/locum").read(), stub.read_bytes())
        platforms = {"locum-linux-arm64": VERSION, "locum-linux-x64": VERSION}
        self.assertEqual(described["locum"]["optionalDependencies"], platforms)
        self.assertEqual({name: described[name]["cpu"] for name in platforms},
                         {"locum-linux-arm64": ["arm64"], "locum-linux-x64": ["x64"]})

    def test_binary_of_another_machine_is_refused(self):
        binary = self.folder / "other"
        binary.write_bytes(b"\x7fELF" + bytes(14) + (40).to_bytes(2, "little"))
        for kind in ("npm", "python", "debian", "image"):
            script = locum_server.ROOT / "scripts" / f"package-{kind}"
            with self.subTest(kind=kind), self.assertRaisesRegex(AssertionError, "is not a binary for Linux on x86_64 or aarch64"):
                run(script, "--binary", binary, "--version", VERSION, "--output", self.folder)

    def test_crate_serves_a_project_of_its_own(self):
        project = self.folder / "bot"
        (project / "tests").mkdir(parents=True)
        (project / "src").mkdir()
        (project / "src" / "lib.rs").touch()
        crate = PACKAGING / "rust"
        (project / "Cargo.toml").write_text(
            '[package]\nname = "bot"\nversion = "0.1.0"\nedition = "2024"\n\n[dev-dependencies]\n'
            f'locum-testing = {{ path = "{crate}" }}\nserde_json = "1"\nureq = {{ version = "3", default-features = false }}\n'
        )
        shutil.copy(locum_server.ROOT / "Cargo.lock", project)
        shutil.copy(crate / "tests" / "server.rs", project / "tests")
        target = CACHE.parent / "rust-testing"
        run("cargo", "test", "--quiet", "--offline", "--target-dir", target, cwd=project, LOCUM_BINARY=str(self.binary))


if __name__ == "__main__":
    locum_server.main()
