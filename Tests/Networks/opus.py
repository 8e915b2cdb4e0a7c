"""libopus as an app uses it: copies of the packet before (FEC) in what is sent, and concealment of what never came.

aiortc's own encoder makes no copies and its decoder conceals nothing; browsers and phones do both.
"""

import ctypes
import ctypes.util

import numpy

RATE = 48000
APPLICATION_VOIP = 2048
NARROW_BAND, WIDE_BAND, FULL_BAND = 1101, 1103, 1105
SET_BITRATE, SET_MAX_BANDWIDTH, SET_COMPLEXITY, SET_INBAND_FEC, SET_PACKET_LOSS = 4002, 4004, 4010, 4012, 4014
# As libwebrtc on a desktop.
COMPLEXITY = 9
MOST_BYTES = 1275
MOST_SAMPLES = 5760

LIBRARY = ctypes.CDLL(ctypes.util.find_library("opus"))
LIBRARY.opus_encoder_create.restype = LIBRARY.opus_decoder_create.restype = ctypes.c_void_p
LIBRARY.opus_encoder_destroy.argtypes = LIBRARY.opus_decoder_destroy.argtypes = [ctypes.c_void_p]
LIBRARY.opus_encode.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_int]
LIBRARY.opus_decode.argtypes = [
    ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_int]
LIBRARY.opus_packet_get_nb_samples.argtypes = [ctypes.c_char_p, ctypes.c_int, ctypes.c_int]


def checked(status):
    if status < 0:
        raise ValueError(f"libopus says {status}")
    return status


class Encoder:
    """Mono sound of 48 kHz."""

    def __init__(self, bits, bandwidth=NARROW_BAND, fec=True):
        self._state = LIBRARY.opus_encoder_create(RATE, 1, APPLICATION_VOIP, None)
        self._set(SET_COMPLEXITY, COMPLEXITY)
        self._set(SET_BITRATE, bits)
        self._set(SET_MAX_BANDWIDTH, bandwidth)
        self._set(SET_INBAND_FEC, int(fec))

    def __del__(self):
        LIBRARY.opus_encoder_destroy(self._state)

    def _set(self, request, value):
        checked(LIBRARY.opus_encoder_ctl(ctypes.c_void_p(self._state), request, ctypes.c_int(value)))

    def expect(self, percent):
        """So many packets of a hundred are lost on the way."""
        self._set(SET_PACKET_LOSS, percent)

    def encode(self, samples):
        """The packet of 16-bit samples."""
        room = ctypes.create_string_buffer(MOST_BYTES)
        count = checked(LIBRARY.opus_encode(self._state, samples.tobytes(), len(samples), room, MOST_BYTES))
        return room.raw[:count]


class Decoder:
    """To mono sound of a rate of one's choice."""

    def __init__(self, rate):
        self.rate = rate
        self._state = LIBRARY.opus_decoder_create(rate, 1, None)

    def __del__(self):
        LIBRARY.opus_decoder_destroy(self._state)

    def length(self, packet):
        """Samples in it."""
        return checked(LIBRARY.opus_packet_get_nb_samples(packet, len(packet), self.rate))

    def _decode(self, packet, count, fec):
        room = ctypes.create_string_buffer(2 * MOST_SAMPLES)
        size = 0 if packet is None else len(packet)
        got = checked(LIBRARY.opus_decode(self._state, packet, size, room, count, int(fec)))
        return numpy.frombuffer(room.raw[: 2 * got], numpy.int16)

    def decode(self, packet):
        return self._decode(packet, MOST_SAMPLES * self.rate // RATE, False)

    def copy(self, following, count):
        """The lost samples before this packet, from the copy in it; concealed where it holds none."""
        return self._decode(following, count, True)

    def conceal(self, count):
        return self._decode(None, count, False)
