"""A WebRTC end point of aiortc on loopback without any gateway's protocol: the commands and events of webrtc_audio, with
ready, failed (reason) and closed.
"""

import argparse
import asyncio

from peer_protocol import serve
from webrtc_audio import Peer, add_options


async def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_options(parser)
    await serve(Peer(parser.parse_args()), keeps_time=True)


if __name__ == "__main__":
    asyncio.run(main())
