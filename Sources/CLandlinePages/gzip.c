#include "landline_pages.h"

#include <zlib.h>

// deflateInit2: a window of 32 KiB, with gzip's head and tail.
enum { window_bits = 15 + 16, memory_level = 9 };

size_t landline_gzip(const unsigned char *bytes, size_t count, unsigned char *output, size_t capacity) {
  if (count > (uInt)-1 || capacity > (uInt)-1) return 0;
  z_stream stream = {0};
  if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, window_bits, memory_level, Z_DEFAULT_STRATEGY) != Z_OK) {
    return 0;
  }
  stream.next_in = (z_const Bytef *)bytes;
  stream.avail_in = (uInt)count;
  stream.next_out = output;
  stream.avail_out = (uInt)capacity;
  size_t written = deflate(&stream, Z_FINISH) == Z_STREAM_END ? capacity - stream.avail_out : 0;
  deflateEnd(&stream);
  return written;
}
