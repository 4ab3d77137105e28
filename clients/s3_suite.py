"""Media in a bucket: an S3-compatible server next to ours, and boto3 to inspect it."""

import os
import random
import socket
import sqlite3
import subprocess
import sys
import time
import unittest

import boto3
import requests
from requests_oauthlib import OAuth1Session

import locum_server
import tour_world

os.environ["OAUTHLIB_INSECURE_TRANSPORT"] = "1"
SECRET = "a secret that nothing shows"


class Bucket:
    """A server with one bucket, in memory."""

    def __init__(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.start()

    def start(self):
        command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(self.port)]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        locum_server.LEFT.add(self.process)
        end = time.monotonic() + 60
        while True:
            try:
                requests.get(self.url, timeout=5)
                break
            except requests.ConnectionError:
                if self.process.poll() is not None or time.monotonic() > end:
                    raise
                time.sleep(0.1)
        self.client = boto3.client(
            "s3", endpoint_url=self.url, region_name="eu-central-1",
            aws_access_key_id="me", aws_secret_access_key=SECRET,
        )
        self.client.create_bucket(
            Bucket="media", CreateBucketConfiguration={"LocationConstraint": "eu-central-1"}
        )

    def stop(self):
        self.process.terminate()
        self.process.wait(20)
        locum_server.LEFT.discard(self.process)

    def sizes(self):
        found = self.client.list_objects_v2(Bucket="media").get("Contents", [])
        return {one["Key"]: one["Size"] for one in found}

    def unfinished(self):
        return self.client.list_multipart_uploads(Bucket="media").get("Uploads", [])


@unittest.skipIf(os.environ.get("LOCUM_TEST_POSTGRES"), "files know nothing of the database")
class Suite(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.bucket = Bucket()
        cls.addClassCleanup(cls.bucket.stop)
        cls.server = None
        held = os.path.join(os.environ.get("TMPDIR", "/tmp"), f"locum-s3-{os.getpid()}")
        with open(os.open(held, os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
            file.write(SECRET)
        cls.addClassCleanup(os.remove, held)
        cls.keys = [
            f"media.s3_endpoint={cls.bucket.url}", "media.s3_region=eu-central-1",
            "media.s3_access_key=me", f"media.s3_secret_key_file={held}",
        ]
        cls.server = locum_server.Server(*cls.sets("s3://media/below/here"))
        cls.addClassCleanup(cls.server.close)
        cls.wait_for_settling()
        cls.who = tour_world.person(cls.server, "keeper")
        cls.session = OAuth1Session(
            cls.server.env["API_KEY"], cls.server.env["API_SECRET"],
            cls.who.access_token, cls.who.access_token_secret,
        )

    @classmethod
    def sets(cls, url):
        return [word for key in [f"media.s3_url={url}", *cls.keys] for word in ("--set", key)]

    def tearDown(self):
        self.assertEqual(self.bucket.unfinished(), [])

    def url(self, path):
        return self.server.url + path

    def photo(self, file):
        data = {"media_category": "tweet_image"}
        return self.session.post(self.url("/2/media/upload"), data=data, files={"media": ("a.png", file)})

    def begin(self, size):
        asked = {"media_category": "tweet_video", "media_type": "video/mp4", "total_bytes": size}
        made = self.session.post(self.url("/2/media/upload/initialize"), json=asked)
        self.assertEqual(made.status_code, 200, made.text)
        return made.json()["data"]["id"]

    def append(self, id, place, segment):
        return self.session.post(
            self.url(f"/2/media/upload/{id}/append"), data={"segment_index": str(place)},
            files={"media": ("b", segment)},
        )

    def film(self, file):
        """Uploads in segments; returns the id and the final state."""
        id = self.begin(len(file))
        step = 4_000_000
        for place, start in enumerate(range(0, len(file), step)):
            sent = self.append(id, place, file[start:start + step])
            self.assertEqual(sent.status_code, 200, sent.text)
            self.assertIn(f"below/here/uploads/{id}/{place}", self.bucket.sizes())
        done = self.session.post(self.url(f"/2/media/upload/{id}/finalize"))
        self.assertEqual(done.status_code, 200, done.text)
        end = time.monotonic() + 60
        while time.monotonic() < end:
            told = self.session.get(self.url("/2/media/upload"), params={"command": "STATUS", "media_id": id})
            told = told.json()
            if told["data"]["processing_info"]["state"] in ("succeeded", "failed"):
                return id, told
            time.sleep(0.2)
        self.fail(told)

    def post(self, media):
        made = self.session.post(self.url("/2/tweets"), json={"text": f"See {media}", "media": {"media_ids": [media]}})
        self.assertEqual(made.status_code, 201, made.text)
        id = made.json()["data"]["id"]
        read = self.session.get(self.url(f"/2/tweets/{id}"), params={
            "expansions": "attachments.media_keys", "media.fields": "url,variants",
        })
        return id, read.json()["includes"]["media"][0]

    @classmethod
    def files(cls):
        found = [path for path in (cls.server.data / "media").rglob("*") if path.is_file()]
        return [path for path in found if path.name != "locum-network"]

    @classmethod
    def wait_for_settling(cls):
        """Waits until the demo picture has been moved from the directory to the bucket."""
        end = time.monotonic() + 60
        while cls.files() and time.monotonic() < end:
            time.sleep(0.05)

    def local(self):
        """Files that remain in the directory."""
        return self.files()

    def test_what_lies_in_the_folder_moves_to_the_bucket(self):
        self.assertEqual(self.files(), [], "the demo world's picture")
        file = tour_world.png(70, 30)
        shown = self.post(self.photo(file).json()["data"]["id"])[1]
        path = shown["url"].split("/media/")[1]
        [key] = [key for key in self.bucket.sizes() if key.endswith(f"/{path}")]
        # As before a bucket was configured.
        self.server.stop()
        kept = self.bucket.client.get_object(Bucket="media", Key=key)["Body"].read()
        self.bucket.client.delete_object(Bucket="media", Key=key)
        place = self.server.data / "media" / key.removeprefix("below/here/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(kept)
        self.server.start()
        self.assertEqual(requests.get(self.url(f"/media/{path}")).content, kept)
        self.wait_for_settling()
        self.assertEqual(self.bucket.sizes().get(key), len(kept))
        self.assertEqual(requests.get(self.url(f"/media/{path}")).content, kept)

    def test_a_picture_goes_to_the_bucket_and_comes_from_it(self):
        before = self.bucket.sizes()
        made = self.photo(tour_world.png(900, 700))
        self.assertEqual(made.status_code, 200, made.text)
        post, shown = self.post(made.json()["data"]["id"])
        new = {name: size for name, size in self.bucket.sizes().items() if name not in before}
        self.assertGreater(len(new), 1, "smaller sizes")
        self.assertTrue(all(name.startswith("below/here/") for name in new), new)
        self.assertEqual(self.local(), [])
        whole = requests.get(shown["url"])
        self.assertEqual((whole.status_code, whole.headers["content-type"]), (200, "image/png"))
        self.assertIn(len(whole.content), new.values())
        small = requests.get(shown["url"], params={"name": "small"})
        self.assertIn(len(small.content), new.values())
        self.assertLess(len(small.content), len(whole.content))
        # It exists after a restart, and is deleted with its post after the retention period.
        self.server.stop()
        self.server.start()
        path = shown["url"].split("/media/")[1]
        self.assertEqual(requests.get(self.url(f"/media/{path}")).content, whole.content)
        gone = self.session.delete(self.url(f"/2/tweets/{post}"))
        self.assertEqual(gone.status_code, 200, gone.text)
        self.server.stop()
        with sqlite3.connect(self.server.data / "locum.db") as database:
            database.execute("UPDATE media SET expires_at = 1 WHERE expires_at IS NOT NULL")
        database.close()
        self.server.start()
        end = time.monotonic() + 20
        while set(new) & set(self.bucket.sizes()) and time.monotonic() < end:
            time.sleep(0.1)
        self.assertEqual(set(new) & set(self.bucket.sizes()), set())
        self.assertEqual(requests.get(self.url(f"/media/{path}")).status_code, 404)

    def test_a_video_of_several_parts_is_read_in_ranges(self):
        file = tour_world.mp4(18_000_000)
        media, told = self.film(file)
        self.assertEqual(told["data"]["processing_info"]["state"], "succeeded", told)
        address = self.post(media)[1]["variants"][0]["url"]
        self.assertIn(len(file), self.bucket.sizes().values())
        self.assertEqual(self.local(), [])
        for asked, start, end in [
            ("bytes=0-99", 0, 100), ("bytes=8388600-8388700", 8388600, 8388701),
            ("bytes=-7", len(file) - 7, len(file)), ("bytes=17000000-", 17000000, len(file)),
        ]:
            part = requests.get(address, headers={"range": asked})
            self.assertEqual(part.status_code, 206)
            self.assertEqual(part.headers["content-range"], f"bytes {start}-{end - 1}/{len(file)}")
            self.assertEqual(part.content, file[start:end], asked)
        self.assertEqual(requests.get(address, headers={"range": f"bytes={len(file)}-"}).status_code, 416)
        self.assertEqual(requests.get(address).content, file)

    def test_while_the_server_is_away_nothing_is_half_stored(self):
        shown = self.post(self.photo(tour_world.png(50, 40)).json()["data"]["id"])[1]
        self.bucket.stop()
        try:
            self.assertEqual(self.photo(tour_world.png(60, 40)).status_code, 503)
            self.assertEqual(requests.get(shown["url"]).status_code, 503)
            file = tour_world.mp4(30_000)
            self.assertEqual(self.append(self.begin(len(file)), 0, file).status_code, 503)
            self.assertEqual(self.local(), [])
        finally:
            self.bucket.start()
        self.assertEqual(self.bucket.sizes(), {})
        self.assertEqual(self.photo(tour_world.png(60, 40)).status_code, 200)
        self.assertGreater(len(self.bucket.sizes()), 0)

    def doctor(self, url):
        command = [locum_server.binary(), "doctor", "--json", *self.server.place, *self.sets(url)]
        done = subprocess.run(command, cwd=self.server.folder, capture_output=True, text=True)
        self.assertNotIn(SECRET, done.stdout + done.stderr)
        row = done.stdout.partition('"media"')[0].rpartition("{")[2] + done.stdout.partition('"media"')[2]
        return row.partition("}")[0]

    def test_a_bucket_that_is_not_there_is_told_before_anything_is_uploaded(self):
        self.assertIn("good", self.doctor("s3://media/below/here"))
        self.assertIn("bad", self.doctor("s3://another"))
        command = [
            locum_server.binary(), "dev", "--port", "0", "--control-port", "0",
            "--data-dir", str(self.server.folder / "other"), *self.sets("s3://another"),
        ]
        done = subprocess.run(command, cwd=self.server.folder, capture_output=True, text=True, timeout=60)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("media.s3_url", done.stderr)
        self.assertNotIn(SECRET, done.stdout + done.stderr)


if __name__ == "__main__":
    locum_server.main()
