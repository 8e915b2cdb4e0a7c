#include "landline_opus.h"

int landline_opus_configure(OpusEncoder *encoder, const landline_opus_settings *settings) {
  int result = opus_encoder_ctl(encoder, OPUS_SET_BITRATE(settings->bits_per_second));
  if (result == OPUS_OK) result = opus_encoder_ctl(encoder, OPUS_SET_COMPLEXITY(settings->complexity));
  if (result == OPUS_OK) result = opus_encoder_ctl(encoder, OPUS_SET_SIGNAL(OPUS_SIGNAL_VOICE));
  if (result == OPUS_OK) result = opus_encoder_ctl(encoder, OPUS_SET_MAX_BANDWIDTH(settings->maximum_bandwidth));
  if (result == OPUS_OK) result = opus_encoder_ctl(encoder, OPUS_SET_INBAND_FEC(settings->in_band_fec));
  if (result == OPUS_OK) result = opus_encoder_ctl(encoder, OPUS_SET_PACKET_LOSS_PERC(settings->expected_loss));
  if (result == OPUS_OK) result = opus_encoder_ctl(encoder, OPUS_SET_DTX(settings->discontinuous));
  if (result == OPUS_OK) result = opus_encoder_ctl(encoder, OPUS_SET_VBR(!settings->constant_rate));
  return result;
}

int landline_opus_lookahead(OpusEncoder *encoder, int *samples) {
  return opus_encoder_ctl(encoder, OPUS_GET_LOOKAHEAD(samples));
}

int landline_opus_decoder_reset(OpusDecoder *decoder) { return opus_decoder_ctl(decoder, OPUS_RESET_STATE); }
