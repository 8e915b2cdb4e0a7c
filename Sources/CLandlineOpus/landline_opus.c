#include "landline_opus.h"

int landline_opus_set_bitrate(OpusEncoder *encoder, int bits_per_second) {
  return opus_encoder_ctl(encoder, OPUS_SET_BITRATE(bits_per_second));
}
