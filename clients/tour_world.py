"""Shared parts of the tours: users, small media files and a time range."""

import dataclasses
import datetime
import random
import struct
import zlib


@dataclasses.dataclass
class Person:
    id: str
    username: str
    access_token: str
    access_token_secret: str
    user_token: str


def person(server, username, *more):
    """A new account with an OAuth 1.0a and an OAuth 2.0 token of the demo app."""
    made = server.cli("user", "create", username, "--password", "a long password", *more)
    mint = ["token", "mint", "--app", server.env["API_KEY"], "--user", made["id"]]
    first, second = server.cli(*mint, "--oauth1"), server.cli(*mint)
    return Person(made["id"], username, first["access_token"], first["access_token_secret"], second["token"])


def png(width, height):
    """An image of noise, which does not compress."""
    noise = random.Random(width * height)
    rows = b"".join(b"\0" + noise.randbytes(3 * width) for _ in range(height))

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows, 1)) + chunk(b"IEND", b"")


def gif():
    """A GIF with two frames of one pixel."""
    head = b"GIF89a\1\0\1\0\x80\0\0" + b"\0\0\0" + b"\xff\xff\xff"
    frame = b"\x21\xf9\4\0\x0a\0\0\0" + b"\x2c\0\0\0\0\1\0\1\0\0\2\2%b\1\0"
    return head + frame % b"\x44" + frame % b"\x4c" + b"\x3b"


def boxed(name, *parts):
    body = b"".join(parts)
    return struct.pack(">I", len(body) + 8) + name + body


def words(*numbers):
    return struct.pack(f">{len(numbers)}I", *numbers)


def mp4(size, length=2000, frames=60, width=64, height=48):
    """A video with one track of noise."""
    ftyp = boxed(b"ftyp", b"isom\0\0\2\0isomavc1mp41")
    mdat = boxed(b"mdat", random.Random(size).randbytes(size))
    matrix = (0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000)
    mvhd = words(0, 0, 0, 1000, length, 0x10000, 0x01000000, 0, 0, *matrix, 0, 0, 0, 0, 0, 0, 2)
    tkhd = words(3, 0, 0, 1, 0, length, 0, 0, 0, 0, *matrix, width << 16, height << 16)
    entry = b"\0\0\0\0\0\0\0\1" + bytes(16) + struct.pack(">HH", width, height)
    entry += words(0x480000, 0x480000, 0) + b"\0\1" + bytes(32) + b"\0\x18\xff\xff"
    stbl = boxed(
        b"stbl",
        boxed(b"stsd", words(0, 1), boxed(b"mp4v", entry)),
        boxed(b"stts", words(0, 1, frames, length // frames)),
        boxed(b"stsc", words(0, 1, 1, frames, 1)),
        boxed(b"stsz", words(0, size // frames, frames)),
        boxed(b"stco", words(0, 1, len(ftyp) + 8)),
    )
    mdia = boxed(
        b"mdia",
        boxed(b"mdhd", words(0, 0, 0, 1000, length), b"\x55\xc4\0\0"),
        boxed(b"hdlr", words(0, 0), b"vide", words(0, 0, 0), b"\0"),
        boxed(b"minf", boxed(b"vmhd", words(1, 0, 0)), stbl),
    )
    return ftyp + mdat + boxed(b"moov", boxed(b"mvhd", mvhd), boxed(b"trak", boxed(b"tkhd", tkhd), mdia))


def window():
    """A time range from yesterday until soon, for metrics."""
    now, form = datetime.datetime.now(datetime.timezone.utc), "%Y-%m-%dT%H:%M:%SZ"
    return {
        "start_time": (now - datetime.timedelta(days=1)).strftime(form),
        "end_time": (now + datetime.timedelta(hours=1)).strftime(form),
    }
