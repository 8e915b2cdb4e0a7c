#ifndef LANDLINE_OPUS_H
#define LANDLINE_OPUS_H

#include <opus/opus.h>

#include "landline_speech.h"

// opus_encoder_ctl takes variable arguments, which Swift cannot call. Each function returns OPUS_OK or a negative error.

/// How an encoder works; all of it may change between two frames, except what opus_encoder_init takes.
typedef struct {
  int bits_per_second;
  /// 0 to 10.
  int complexity;
  /// OPUS_BANDWIDTH_NARROWBAND and so on: the widest that may be chosen.
  int maximum_bandwidth;
  /// 0 or 1: copies of the frame before, in the packet.
  int in_band_fec;
  /// Percent of loss to prepare for.
  int expected_loss;
  /// 0 or 1: silence is hardly sent.
  int discontinuous;
  /// 0 or 1: all packets have one size.
  int constant_rate;
} landline_opus_settings;

int landline_opus_configure(OpusEncoder *encoder, const landline_opus_settings *settings);

/// The sound that leaves an encoder is this many samples behind what went in.
int landline_opus_lookahead(OpusEncoder *encoder, int *samples);

/// Forgets what was decoded before.
int landline_opus_decoder_reset(OpusDecoder *decoder);

#endif
