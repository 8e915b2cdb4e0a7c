"""Runs another Python program whose sockets, where it binds them to any address, are those of a host that is no trunk's:
`from_stranger.py PROGRAM ARGUMENT…`."""

import runpy
import socket
import sys

bind = socket.socket.bind


def bind_at_stranger(self, address):
    host = "127.0.0.2" if self.family == socket.AF_INET and address[0] in ("", "0.0.0.0", "127.0.0.1") else address[0]
    return bind(self, (host, *address[1:]))


socket.socket.bind = bind_at_stranger
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
