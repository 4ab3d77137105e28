"""The Debian package: built, installed, started, upgraded, removed and purged in a copy of this system.

The copy is an overlay, so that nothing of this system changes. Where it cannot be mounted, which needs root, the package
is only built and read. LOCUM_DEBIAN_ROOT names the folder of another system to copy, such as one that debootstrap made.
"""

import os
import pathlib
import re
import shutil
import socket
import subprocess
import tempfile
import time
import unittest

import elf_files
import locum_server
from form_browser import FormBrowser
from mail_catcher import MailCatcher

PACKAGE = locum_server.ROOT / "scripts" / "package-debian"
MANUAL = locum_server.ROOT / "docs" / "book" / "src" / "network" / "thousand-people.md"
PATIENCE = 300
LOWER = os.environ.get("LOCUM_DEBIAN_ROOT", "/")
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
            f"mount -t overlay overlay -o lowerdir={LOWER},upperdir={self.upper},workdir={folder}/work {self.root}"
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


class RunningCopy(Copy):
    """A copy in which processes go on running between scripts."""

    def __enter__(self):
        command = f"{self.mount} && echo ready && exec chroot {self.root} /bin/sh -c 'while sleep 1; do :; done'"
        self.process = subprocess.Popen(
            ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", command], stdout=subprocess.PIPE
        )
        assert self.process.stdout.readline() == b"ready\n"
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def run(self, script):
        namespaces = f"/proc/{self.process.pid}/ns"
        enter = ["nsenter", f"--mount={namespaces}/mnt", f"--pid={namespaces}/pid_for_children"]
        return run(*enter, "chroot", self.root, "/bin/sh", "-c", f"set -e\n{script}")


def manual_block(section, language):
    """The first block of code in a section of the manual."""
    text = re.search(rf"^## {section}.*?(?=^## |\Z)", MANUAL.read_text(), re.DOTALL | re.MULTILINE).group()
    return re.search(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE).group(1)


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


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

    def test_package_for_arm64_says_so_and_has_the_pages_of_the_native_binary(self):
        binary = elf_files.write_relabeled_program(self.folder / "arm64", elf_files.ARM64)
        arguments = ["--binary", binary, "--native", locum_server.binary(), "--version", "0.1.0", "--fast"]
        package = pathlib.Path(run(PACKAGE, *arguments, "--output", self.folder).strip())
        self.assertEqual(package.name, "locum_0.1.0_arm64.deb")
        self.assertEqual(run("dpkg-deb", "--field", package, "Architecture"), "arm64\n")
        unpacked = self.folder / "unpacked"
        run("dpkg-deb", "--extract", package, unpacked)
        self.assertEqual((unpacked / "usr" / "bin" / "locum").read_bytes(), binary.read_bytes())
        self.assertTrue((unpacked / "usr/share/man/man1/locum-dev.1.gz").exists())

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

    def test_network_from_the_package_to_the_first_follow(self):
        folder = self.folder / "network"
        folder.mkdir()
        if not Copy(folder).is_possible():
            self.skipTest("no overlay can be mounted here")
        shutil.rmtree(folder)
        folder.mkdir()
        copy = RunningCopy(folder)
        (copy.upper / "opt").mkdir(parents=True)
        shutil.copy(self.packages[0], copy.upper / "opt")
        with copy, MailCatcher() as mail:
            Network(copy, mail, self).go_through_the_manual(self.packages[0].name)


class Network:
    """The steps of the manual's page, as its reader takes them."""

    def __init__(self, copy, mail, case):
        self.copy, self.mail, self.case, self.port = copy, mail, case, free_port()

    def locum(self, script):
        """Runs commands as the manual says, as the user and with the configuration file."""
        return self.copy.run(f'locum() {{ runuser -u locum -- /usr/bin/locum --config {CONFIG} "$@"; }}\n{script}')

    def start(self):
        self.copy.run(f"runuser -u locum -- locum serve --config {CONFIG} > /tmp/log 2>&1 & echo $! > /tmp/pid")
        self.locum("for _ in $(seq 150); do locum health --ready > /dev/null 2>&1 && exit; sleep 0.2; done; cat /tmp/log; false")

    def stop(self):
        self.copy.run("kill -TERM $(cat /tmp/pid); while kill -0 $(cat /tmp/pid) 2> /dev/null; do sleep 0.1; done")

    def visitor(self):
        return FormBrowser("https://social.example", self.port)

    def sign_in(self, username, password):
        visitor = self.visitor()
        visitor.submit(visitor.get("/login"), "/login", login=username, password=password)
        return visitor

    def go_through_the_manual(self, package):
        self.install(package)
        self.start()
        password = self.create_owner()
        bob, carol = self.admit_bob(), self.invite_carol()
        self.follow(bob, carol)
        self.lose_and_restore(carol)
        self.case.assertIn("Rule 1", self.visitor().get("/rules"))
        self.sign_in("ada", password).get("/admin")

    def install(self, package):
        self.copy.run(f"cd /opt && apt-get install --yes ./{package}")
        settings = manual_block("3", "toml") + manual_block("4", "toml")
        copy = self.copy
        copy.run(f"cat >> {CONFIG} <<'END'\n{settings}\nEND")
        copy.run(f"sed -i 's|127.0.0.1:8080|127.0.0.1:{self.port}|' {CONFIG}")
        copy.run(f"echo smtp://127.0.0.1:{self.mail.port} > /etc/locum/smtp_url")
        copy.run("chown root:locum /etc/locum/smtp_url && chmod 640 /etc/locum/smtp_url")
        # A copy has no systemd.
        copy.run("".join(line for line in manual_block("4", "sh").splitlines(True) if "systemctl" not in line))
        self.locum("locum conf check")

    def create_owner(self):
        link = re.search(r"https://social\.example/setup\S+", self.copy.run("cat /tmp/log")).group()
        ada, password = self.visitor(), "five red tram stops"
        new = {"name": "Ada", "username": "ada", "email": "ada@example.org", "password": password}
        ada.submit(ada.get(link), "/setup", **new)
        ada.get("/admin")
        self.copy.run("echo 'Rule 1: be kind.' > /rules.md")
        self.locum(f"cd /\n{manual_block('6', 'sh')}")
        return password

    def command(self, words):
        """The command of the manual that begins with these words."""
        return re.search(rf"^(?:.*`)?({words}[^`#\n]*)", MANUAL.read_text(), re.MULTILINE).group(1).strip()

    def admit_bob(self):
        self.locum(self.command("locum site set registrations"))
        bob = self.visitor()
        new = {"name": "Bob", "username": "bob", "email": "bob@example.org", "password": "three blue tram stops"}
        bob.submit(bob.get("/join"), "/join", expected=200, **new)
        applications = self.locum(self.command("locum mod applications"))
        application = re.search(r"\d+", applications).group()
        self.locum(self.command("locum mod admit").replace("APPLICATION", application))
        return self.sign_in("bob", new["password"])

    def invite_carol(self):
        self.locum(self.command("locum invite"))
        link = re.search(r"https://social\.example/\S+", self.mail.wait_for("carol@example.org")).group()
        carol = self.visitor()
        new = {"name": "Carol", "username": "carol", "email": "carol@example.org", "password": "four green tram stops"}
        carol.submit(carol.get(link), "/join", **new)
        return carol

    def follow(self, bob, carol):
        carol.press(carol.get("/bob"), "follow")
        self.case.assertIn("Unfollow", carol.get("/bob"))
        bob.submit(bob.get("/home"), "/compose", text="The first post of all")
        self.case.assertIn("The first post of all", carol.get("/home"))
        end = time.monotonic() + PATIENCE
        while "Carol" not in bob.get("/notifications") and time.monotonic() < end:
            time.sleep(0.2)
        self.case.assertIn("Carol", bob.get("/notifications"))

    def lose_and_restore(self, carol):
        self.locum("locum backup /backups/social/")
        self.locum(self.command("locum restore"))
        self.stop()
        self.copy.run("find /var/lib/locum -mindepth 1 -delete")
        self.locum(self.command("locum restore").replace(" --verify", ""))
        self.start()
        self.case.assertIn("The first post of all", carol.get("/home"))


if __name__ == "__main__":
    locum_server.main()
