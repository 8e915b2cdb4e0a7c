"""Reads a sealed recording of Landline by the description of its form in SealedFile.swift, with the library `cryptography`.

usage: sealed_recording.py FILE KEYFILE OUTPUT   writes the sound of all whole segments; ends with 1 where something is not as
                                                 it was written, or the key is not there
"""

import hashlib
import hmac
import sys

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

HEAD = 32


def keys(path):
    with open(path, encoding="ascii") as file:
        return [bytes.fromhex(line) for line in file.read().split()]


def sound(data, known):
    """The sound of a file, and whether it was closed."""
    head = data[:HEAD]
    if len(head) < HEAD or head[:4] != b"LLR1" or head[28] not in (1, 2) or head[30:] != b"\0\0":
        raise ValueError("no head")
    key = next((key for key in known if hashlib.sha256(key).digest()[:8] == head[20:28]), None)
    if key is None:
        raise ValueError("unknown key")
    cipher = AESGCM(hmac.new(key, b"landline recording 1" + head[4:20], hashlib.sha256).digest())
    place, number, closed, found = HEAD, 0, False, b""
    while not closed and place + 21 <= len(data):
        count, last = int.from_bytes(data[place:place + 4], "little"), data[place + 4]
        if place + 21 + count > len(data):
            break
        found += cipher.decrypt(
            number.to_bytes(12, "little"), data[place + 5:place + 21 + count],
            head + number.to_bytes(8, "little") + bytes([last]))
        place, number, closed = place + 21 + count, number + 1, last == 1
    if closed and place != len(data):
        raise ValueError("something behind the last segment")
    return found, closed


def main(file, key_file, output):
    with open(file, "rb") as opened:
        data = opened.read()
    try:
        found, closed = sound(data, keys(key_file))
    except (ValueError, InvalidTag) as error:
        print(f"refused: {error!r}")
        return 1
    with open(output, "wb") as opened:
        opened.write(found)
    print(f"{len(found)} bytes of sound, {'closed' if closed else 'cut off'}")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
