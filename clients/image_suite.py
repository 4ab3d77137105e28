"""The container image of scripts/package-image, without a container runtime, and the files of packaging/compose.

As root, it unpacks the image and runs the server in it, as the image's user and with nothing else of this machine.
"""

import contextlib
import functools
import gzip
import hashlib
import io
import json
import os
import pathlib
import re
import shutil
import signal
import ssl
import subprocess
import tarfile
import tempfile
import time
import unittest
import urllib.request

import yaml

import elf_files
import locum_server

COMPOSE = locum_server.ROOT / "packaging" / "compose"
VERSION = "0.1.0"
PATIENCE = 60
# Resolved by the image's C library, from its /etc/hosts.
HOST = "locum.example"


def temporary_folder():
    folder = pathlib.Path(tempfile.mkdtemp(prefix="locum-image-"))
    unittest.addModuleCleanup(shutil.rmtree, folder, ignore_errors=True)
    return folder


@functools.cache
def image():
    return build(locum_server.binary(), temporary_folder())


def build(binary, output, **more):
    script = locum_server.ROOT / "scripts" / "package-image"
    command = [script, "--fast", "--binary", binary, "--version", VERSION, "--output", output]
    done = subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE, text=True, **more)
    return pathlib.Path(done.stdout.strip())


def digest(content):
    return "sha256:" + hashlib.sha256(content).hexdigest()


class Archive:
    """The files of an image's archive."""

    def __init__(self, path):
        with tarfile.open(path) as archive:
            self.files = {entry.name: archive.extractfile(entry).read() for entry in archive if entry.isfile()}
        self.index = json.loads(self.files["index.json"])
        self.manifest = json.loads(self.blob(self.index["manifests"][0]))
        self.config = json.loads(self.blob(self.manifest["config"]))
        self.layer = gzip.decompress(self.blob(self.manifest["layers"][0]))

    def blob(self, descriptor):
        return self.files["blobs/" + descriptor["digest"].replace(":", "/")]


# The database is not part of the image.
@unittest.skipIf(os.environ.get("LOCUM_TEST_POSTGRES"), "the same on both databases")
class Image(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.archive = Archive(image())

    def test_blobs_have_the_digests_sizes_and_types_that_name_them(self):
        archive = self.archive
        self.assertEqual(json.loads(archive.files["oci-layout"]), {"imageLayoutVersion": "1.0.0"})
        descriptors = [*archive.index["manifests"], archive.manifest["config"], *archive.manifest["layers"]]
        for descriptor in descriptors:
            content = archive.blob(descriptor)
            self.assertEqual((descriptor["digest"], descriptor["size"]), (digest(content), len(content)))
        kinds = ["manifest.v1+json", "config.v1+json", "layer.v1.tar+gzip"]
        expected = [f"application/vnd.oci.image.{kind}" for kind in kinds]
        self.assertEqual([descriptor["mediaType"] for descriptor in descriptors], expected)
        blobs = [name for name in archive.files if name.startswith("blobs/")]
        self.assertEqual(len(blobs), len(descriptors))

    def test_uncompressed_layer_has_the_digest_in_the_configuration(self):
        rootfs = self.archive.config["rootfs"]
        self.assertEqual(rootfs, {"type": "layers", "diff_ids": [digest(self.archive.layer)]})

    def test_manifest_for_docker_names_the_same_blobs(self):
        (image,) = json.loads(self.archive.files["manifest.json"])
        self.assertEqual(image["RepoTags"], [f"localhost/locum:{VERSION}"])
        self.assertEqual(json.loads(self.archive.files[image["Config"]]), self.archive.config)
        self.assertEqual([gzip.decompress(self.archive.files[name]) for name in image["Layers"]], [self.archive.layer])

    def test_stripped_binary_makes_the_same_bytes(self):
        folder = temporary_folder()
        binary = folder / "locum"
        subprocess.run(["strip", "-o", binary, locum_server.binary()], check=True)
        self.assertEqual(digest(build(binary, folder).read_bytes()), digest(image().read_bytes()))

    def test_image_for_arm64_says_so(self):
        folder = temporary_folder()
        path = build(elf_files.write_header(folder / "locum", elf_files.ARM64), folder)
        self.assertEqual(path.name, f"locum-{VERSION}-linux-arm64.oci.tar")
        archive = Archive(path)
        self.assertEqual(archive.config["architecture"], "arm64")
        self.assertEqual(archive.index["manifests"][0]["platform"], {"architecture": "arm64", "os": "linux"})

    def test_image_for_arm64_gets_no_libraries_of_another_processor(self):
        folder = temporary_folder()
        binary = elf_files.write_relabeled_program(folder / "locum", elf_files.ARM64)
        with self.assertRaises(subprocess.CalledProcessError) as refused:
            build(binary, folder, stderr=subprocess.PIPE)
        self.assertIn("is missing on this machine: install libc6:arm64", refused.exception.stderr)

    def test_files_are_sorted_and_only_the_data_directory_is_the_users(self):
        with tarfile.open(fileobj=io.BytesIO(self.archive.layer)) as layer:
            entries = layer.getmembers()
        names = [entry.name for entry in entries]
        self.assertEqual(names, sorted(set(names)))
        self.assertEqual(len({entry.mtime for entry in entries}), 1)
        owned = [(entry.name, oct(entry.mode)) for entry in entries if entry.uid]
        self.assertEqual(owned, [("var/lib/locum", "0o700")])
        writable = [(entry.name, oct(entry.mode)) for entry in entries if not entry.uid and entry.mode & 0o022]
        self.assertEqual(writable, [("tmp", "0o1777")])


@unittest.skipIf(os.environ.get("LOCUM_TEST_POSTGRES"), "the same on both databases")
@unittest.skipIf(os.geteuid(), "changing the root folder needs root")
class Container(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = temporary_folder()
        archive = Archive(image())
        cls.settings = archive.config["config"]
        cls.root = cls.folder / "root"
        cls.root.mkdir(mode=0o755)
        unpack = ["tar", "--extract", "--preserve-permissions", "--numeric-owner", "--directory", cls.root]
        subprocess.run(unpack, input=archive.layer, check=True)
        (cls.root / "etc" / "hosts").write_text(f"127.0.0.1 {HOST} localhost\n")
        (cls.root / "etc" / "resolv.conf").touch()

    def command(self, *arguments):
        user, group = self.settings["User"].split(":")
        command = ["unshare", f"--root={self.root}", f"--wd={self.settings['WorkingDir']}"]
        return [*command, f"--setgid={group}", f"--setuid={user}", *arguments]

    def environment(self):
        return dict(variable.split("=", 1) for variable in self.settings["Env"])

    def locum(self, *arguments):
        command = self.command(*self.settings["Entrypoint"], *arguments)
        return subprocess.run(command, env=self.environment(), timeout=PATIENCE, text=True, capture_output=True)

    @contextlib.contextmanager
    def server(self):
        """The image's command, on other ports."""
        words = [word.replace(":8080", ":0") for word in self.settings["Cmd"]]
        ports = ["--control-port", "0", "--ads-sandbox-port", "0"]
        command = self.command(*self.settings["Entrypoint"], *words, *ports)
        with open(self.folder / "log", "wb") as log:
            process = subprocess.Popen(command, env=self.environment(), stdout=log, stderr=log)
        locum_server.LEFT.add(process)
        try:
            self.wait_for_health(process)
            yield process
        finally:
            process.kill()
            process.wait()
            locum_server.LEFT.discard(process)

    def wait_for_health(self, process):
        test = self.settings["Healthcheck"]["Test"]
        self.assertEqual(test[:2], ["CMD", *self.settings["Entrypoint"]])
        end = time.monotonic() + PATIENCE
        while self.locum(*test[2:], "--ready").returncode:
            if process.poll() is not None or time.monotonic() > end:
                self.fail((self.folder / "log").read_text())
            time.sleep(0.1)

    def data(self, name):
        return (self.root / "var/lib/locum" / name).read_text()

    def test_server_is_healthy_answers_and_stops_on_its_signal(self):
        with self.server() as process:
            addresses = json.loads(self.data("server.json"))
            self.assertEqual(self.request_user(addresses["base_url"])["data"]["username"], "ada")
            health = self.locum(*self.settings["Healthcheck"]["Test"][2:])
            self.assertEqual(health.returncode, 0, health.stderr)
            port = addresses["control"].rpartition(":")[2]
            by_name = self.locum("health", "--url", f"http://{HOST}:{port}")
            self.assertEqual(by_name.returncode, 0, by_name.stderr)
            process.send_signal(signal.Signals[self.settings["StopSignal"]])
            self.assertEqual(process.wait(PATIENCE), 0, (self.folder / "log").read_text())
        self.assertNotEqual(self.locum("health").returncode, 0)

    def request_user(self, url):
        (token,) = re.findall(r"^LOCUM_USER_TOKEN=(.*)$", self.data("dev.env"), re.M)
        request = urllib.request.Request(f"{url}/2/users/me", headers={"Authorization": f"Bearer {token}"})
        with urllib.request.urlopen(request, timeout=PATIENCE) as response:
            return json.load(response)

    def test_image_has_certificate_authorities(self):
        context = ssl.create_default_context(cafile=self.root / "etc/ssl/certs/ca-certificates.crt")
        self.assertGreater(len(context.get_ca_certs()), 50)

    def test_configuration_of_the_compose_file_is_valid(self):
        shutil.copy(COMPOSE / "locum.toml", self.root / "etc/locum")
        self.addCleanup(os.remove, self.root / "etc/locum/locum.toml")
        secrets = self.root / "run" / "secrets"
        secrets.mkdir(parents=True)
        self.addCleanup(shutil.rmtree, secrets)
        values = {
            "database_url": "postgres://locum:secret@database/locum",
            "s3_secret_key": "a secret",
            "smtp_url": "smtp://mail:1025",
        }
        for name, value in values.items():
            (secrets / name).write_text(value)
        # As `make-secrets` does.
        key = ["init", "--base-url", "https://social.example", "--master-key", secrets / "master_key"]
        subprocess.run([locum_server.binary(), *key], check=True, stdout=subprocess.DEVNULL)
        certificate = ["-keyout", secrets / "tls_key", "-out", secrets / "tls_certificate", "-subj", "/CN=social.example"]
        request = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "30", *certificate]
        subprocess.run(request, check=True, capture_output=True)
        self.assertEqual(sorted(os.listdir(secrets)), sorted(serve_service()["secrets"]))
        user, group = map(int, self.settings["User"].split(":"))
        for name in ("master_key", "tls_key"):
            (secrets / name).chmod(0o600)
            os.chown(secrets / name, user, group)
        # The data directory of the image is that of a development server after the other test.
        place = ["--data-dir", "/tmp/network", "--set", "core.base_url=https://social.example"]
        checked = self.locum("conf", "check", "--json", *place)
        self.assertEqual(checked.returncode, 0, checked.stderr)
        self.assertEqual(json.loads(checked.stdout)["mode"], "serve")


def compose(name):
    return yaml.safe_load((COMPOSE / name).read_text())


def serve_service():
    return compose("serve.yaml")["services"]["locum"]


@unittest.skipIf(os.environ.get("LOCUM_TEST_POSTGRES"), "the same on both databases")
class Compose(unittest.TestCase):
    def test_services_use_what_the_files_define(self):
        for name in ("dev.yaml", "serve.yaml"):
            project = compose(name)
            for service in project["services"].values():
                self.assertRegex(service["image"], r":[\w.${}-]+$", "an image without a version")
                self.expect_defined(project, service)

    def expect_defined(self, project, service):
        volumes = {volume.split(":")[0] for volume in service.get("volumes", [])}
        self.assertLessEqual({volume for volume in volumes if "/" not in volume}, set(project.get("volumes", {})))
        for volume in volumes:
            self.assertTrue("/" not in volume or (COMPOSE / volume).exists(), volume)
        self.assertLessEqual(set(service.get("secrets", [])), set(project.get("secrets", {})))
        self.assertLessEqual(set(service.get("networks", [])), {"default", *project.get("networks", {})})
        for dependency, condition in service.get("depends_on", {}).items():
            self.assertEqual(condition, {"condition": "service_healthy"})
            self.assertIn("healthcheck", project["services"][dependency])

    def test_development_server_has_every_emulated_host_as_alias(self):
        keys = (locum_server.ROOT / "docs" / "configuration.md").read_text()
        (hosts,) = re.findall(r"^\| `emulate\.hosts` \| list of host names \| `([^`]*)`", keys, re.M)
        aliases = compose("dev.yaml")["services"]["locum"]["networks"]["default"]["aliases"]
        self.assertEqual(sorted(aliases), sorted(hosts.split(",")))

    def test_every_secret_is_made_used_and_read(self):
        project = compose("serve.yaml")
        script = (COMPOSE / "make-secrets").read_text()
        used = {secret for service in project["services"].values() for secret in service.get("secrets", [])}
        self.assertEqual(used, set(project["secrets"]))
        for name, secret in project["secrets"].items():
            self.assertEqual(secret, {"file": f"./secrets/{name}"})
            self.assertIn(name, script)
        configuration = (COMPOSE / "locum.toml").read_text()
        read = set(re.findall(r'"/run/secrets/(\w+)"', configuration))
        self.assertEqual(read, set(serve_service()["secrets"]))


if __name__ == "__main__":
    locum_server.main()
