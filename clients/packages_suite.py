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
import tempfile
import unittest
import zipfile

import elf_files
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

    def build(self, script, *binaries):
        output = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        named = [word for binary in binaries for word in ("--binary", binary)]
        arguments = [*named, "--version", VERSION, "--output", output]
        run(locum_server.ROOT / "scripts" / script, *arguments, **self.offline())
        return sorted(output.iterdir())

    def offline(self):
        return {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(CACHE / "python")}

    def build_wheel(self, binary):
        wanted = PACKAGING / "python" / "tests" / "requirements.txt"
        pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check"]
        fill_cache(CACHE / "python", wanted, lambda: run(*pip, "--wheel-dir", CACHE / "python", "-r", wanted))
        (wheel,) = self.build("package-python", binary)
        return wheel

    def test_wheel_serves_the_python_suites(self):
        wheel = self.build_wheel(self.binary)
        wanted = PACKAGING / "python" / "tests" / "requirements.txt"
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
        tarballs = self.build("package-npm", self.binary)
        tests = shutil.copytree(wanted.parent, self.folder / "npm", ignore=shutil.ignore_patterns("node_modules"))
        shutil.copy(cache / "folder" / "package-lock.json", tests)
        run(*npm, "--no-save", "--prefer-offline", *tarballs, cwd=tests)
        run("npm", "test", cwd=tests, LOCUM_BINARY="")

    def test_wheel_for_arm64_is_named_after_it(self):
        binary = elf_files.write_relabeled_program(self.folder / "arm64", elf_files.ARM64)
        wheel = self.build_wheel(binary)
        self.assertRegex(wheel.name, r"-py3-none-manylinux_2_\d+_aarch64\.whl$")
        with zipfile.ZipFile(wheel) as files:
            self.assertEqual(files.read("locum/bin/locum"), binary.read_bytes())

    def unpack_npm_packages(self):
        """Those of two binaries without code, as npm would install them on a machine that were both."""
        machines = {"x64": elf_files.X86_64, "arm64": elf_files.ARM64}
        binaries = [elf_files.write_header(self.folder / name, machine) for name, machine in machines.items()]
        modules = pathlib.Path(tempfile.mkdtemp(dir=self.folder)) / "node_modules"
        for path in self.build("package-npm", *binaries):
            folder = modules / path.name.removesuffix(f"-{VERSION}.tgz")
            folder.mkdir(parents=True)
            run("tar", "--extract", "--file", path, "--directory", folder, "--strip-components", "1")
        return modules

    def test_npm_packages_of_two_architectures_name_what_they_are_for(self):
        modules = self.unpack_npm_packages()
        described = {path.name: json.loads((path / "package.json").read_text()) for path in modules.iterdir()}
        platforms = {"locum-linux-arm64": "arm64", "locum-linux-x64": "x64"}
        self.assertEqual(set(described), {"locum", *platforms})
        self.assertEqual(described["locum"]["optionalDependencies"], dict.fromkeys(platforms, VERSION))
        for name, cpu in platforms.items():
            self.assertEqual((described[name]["name"], described[name]["cpu"]), (name, [cpu]))
            packed = modules / name / "bin" / "locum"
            self.assertEqual(packed.read_bytes(), (self.folder / cpu).read_bytes())

    def test_npm_command_uses_the_binary_of_its_processor_and_says_which_there_are(self):
        modules = self.unpack_npm_packages()

        def find_binary(platform, processor):
            script = f"""
                Object.defineProperty(process, "platform", {{ value: "{platform}" }});
                Object.defineProperty(process, "arch", {{ value: "{processor}" }});
                console.log(require("./locum/lib/binary.js").findBinary());
            """
            return run("node", "-e", script, cwd=modules, LOCUM_BINARY="").strip()

        for processor in ("arm64", "x64"):
            found = find_binary("linux", processor)
            self.assertEqual(found, str((modules / f"locum-linux-{processor}" / "bin" / "locum").resolve()))
        expected = r"locum-darwin-arm64 is not installed \(there are locum-linux-x64, locum-linux-arm64\)"
        with self.assertRaisesRegex(AssertionError, expected):
            find_binary("darwin", "arm64")

    def test_binary_of_another_machine_is_refused(self):
        binary = elf_files.write_header(self.folder / "arm", elf_files.ARM)
        for kind in ("npm", "python", "debian", "image"):
            expected = "is not a binary for Linux on x86_64 or aarch64"
            with self.subTest(kind=kind), self.assertRaisesRegex(AssertionError, expected):
                self.build(f"package-{kind}", binary)

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
