"""The Debian package: built, installed, started, upgraded, removed and purged in a copy of this system.

The copy is an overlay, so that nothing of this system changes. Where it cannot be mounted, which needs root, the package
is only built and read.
"""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import locum_server

PACKAGE = locum_server.ROOT / "scripts" / "package-debian"
PATIENCE = 300
CONFIG = "/etc/locum/locum.toml"
AS_USER = "setpriv --reuid=locum --regid=locum --init-groups"
# What the unit starts, without systemd, which no copy has.
START = f"""
{AS_USER} locum serve --config {CONFIG} > /tmp/log 2>&1 &
server=$!
for _ in $(seq 100); do
  {AS_USER} locum --config {CONFIG} health --ready > /tmp/health 2>&1 && break
  sleep 0.2
done
cat /tmp/health /tmp/log
{AS_USER} locum --config {CONFIG} health --ready
"""
STOP = "kill -TERM $server; wait $server"
SHOW_USER = f"{AS_USER} locum --config {CONFIG} --json user show @ada"


def run(*command, **more):
    done = subprocess.run(
        [str(word) for word in command], timeout=PATIENCE, text=True, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, **more,
    )
    if done.returncode:
        raise AssertionError(f"{' '.join(map(str, command))[:300]}: exit code {done.returncode}\n{done.stdout}")
    return done.stdout


class Copy:
    """This system as it is, with changes of its own."""

    def __init__(self, folder):
        self.root, self.upper = folder / "root", folder / "upper"
        for part in (self.root, self.upper, folder / "work"):
            part.mkdir()
        self.mount = (
            f"mount -t overlay overlay -o lowerdir=/,upperdir={self.upper},workdir={folder}/work {self.root}"
            f" && mount -t proc proc {self.root}/proc && mount --rbind /dev {self.root}/dev"
            f" && mount -t tmpfs tmpfs {self.root}/run && mount -t tmpfs tmpfs {self.root}/tmp"
        )

    def run(self, script):
        inside = f"set -e\n{script}"
        command = f'{self.mount} && exec chroot {self.root} /bin/sh -c "$1"'
        return run("unshare", "--mount", "--pid", "--fork", "sh", "-c", command, "sh", inside)

    def is_possible(self):
        try:
            return self.run("true") == ""
        except (AssertionError, OSError) as error:
            print(error)
            return False

    def has(self, path):
        return (self.upper / path.lstrip("/")).is_file()


# The package is the same for both databases.
@unittest.skipIf(os.environ.get("LOCUM_TEST_POSTGRES"), "the package is tested on SQLite")
@unittest.skipUnless(shutil.which("dpkg-deb"), "not Debian")
class DebianPackage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # In memory where there is some: an overlay cannot lie on an overlay, which a container may be.
        memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="locum-debian-", dir=memory))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.packages = [cls.build(version) for version in ("0.1.0", "0.1.1")]

    @classmethod
    def build(cls, version, output=None):
        arguments = ["--binary", locum_server.binary(), "--version", version, "--output", output or cls.folder, "--fast"]
        return pathlib.Path(run(PACKAGE, *arguments).strip())

    def test_contents(self):
        files = run("dpkg-deb", "--contents", self.packages[0])
        for path in ("usr/bin/locum", "usr/lib/systemd/system/locum.service", "usr/lib/systemd/system/locum.socket",
                     "usr/share/man/man1/locum.1.gz", "usr/share/man/man1/locum-dev.1.gz",
                     "usr/share/bash-completion/completions/locum", "usr/share/doc/locum/copyright"):
            self.assertIn(f" ./{path}\n", files)
        self.assertTrue(all(" root/root " in line for line in files.splitlines()), files)
        control = run("dpkg-deb", "--field", self.packages[0])
        self.assertRegex(control, r"Depends: .*libc6 \(>= 2\.\d+\)")
        self.assertEqual(run("dpkg-deb", "--field", self.packages[1], "Version"), "0.1.1\n")

    def test_same_binary_gives_the_same_package(self):
        again = self.build("0.1.0", self.folder / "again")
        self.assertEqual(again.read_bytes(), self.packages[0].read_bytes())

    def test_life_of_an_installation(self):
        folder = self.folder / "copy"
        folder.mkdir()
        copy = Copy(folder)
        if not copy.is_possible():
            self.skipTest("no overlay can be mounted here")
        (copy.upper / "opt").mkdir(parents=True)
        for package in self.packages:
            shutil.copy(package, copy.upper / "opt")
        old, new = (f"/opt/{package.name}" for package in self.packages)

        said = copy.run(f"dpkg -i {old}")
        self.assertIn("Set core.base_url", said)
        self.assertEqual(copy.run("stat -c '%U %a' /var/lib/locum /etc/locum/master.key"), "locum 700\nlocum 600\n")
        copy.run("man -w locum-serve >/dev/null 2>&1 || test -s /usr/share/man/man1/locum-serve.1.gz")
        copy.run("bash -n /usr/share/bash-completion/completions/locum")

        copy.run(f"sed -i 's|https://social.example|https://network.example|' {CONFIG}"
                 f" && locum --config {CONFIG} conf check")
        copy.run(f"{START}\n{AS_USER} locum --config {CONFIG} user create ada --password 'a long secret'\n{STOP}")

        said = copy.run(f"dpkg -i {new}")
        self.assertNotIn("Set core.base_url", said)
        self.assertIn("network.example", copy.run(f"cat {CONFIG}"), "the operator's file stays")
        self.assertIn('"ada"', copy.run(f"{START}\n{SHOW_USER}\n{STOP}"))

        copy.run("dpkg --remove locum")
        self.assertFalse(copy.has("/usr/bin/locum"))
        self.assertFalse(copy.has("/usr/lib/systemd/system/locum.service"))
        self.assertTrue(copy.has("/etc/locum/master.key") and copy.has(CONFIG))
        copy.run(f"dpkg -i {new}")
        self.assertIn('"ada"', copy.run(f"{START}\n{SHOW_USER}\n{STOP}"), "data stay after a removal")

        copy.run("dpkg --purge locum")
        copy.run(f"test ! -e /var/lib/locum && test ! -e /etc/locum/master.key && test ! -e {CONFIG}")


if __name__ == "__main__":
    locum_server.main()
