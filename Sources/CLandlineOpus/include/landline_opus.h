#ifndef LANDLINE_OPUS_H
#define LANDLINE_OPUS_H

#include <opus/opus.h>

/// opus_encoder_ctl takes variable arguments, which Swift cannot call.
int landline_opus_set_bitrate(OpusEncoder *encoder, int bits_per_second);

#endif
