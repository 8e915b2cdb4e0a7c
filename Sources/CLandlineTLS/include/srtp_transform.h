#ifndef LANDLINE_SRTP_TRANSFORM_H
#define LANDLINE_SRTP_TRANSFORM_H

#include <stddef.h>
#include <stdint.h>

/// The session keys of one master key (RFC 3711 section 4.3, RFC 6188, RFC 7714), with the cipher
/// contexts that use them. It knows neither streams nor replays: the caller gives the index of each packet.
typedef struct landline_srtp landline_srtp;

/// Which of the two sets of session keys.
enum { LANDLINE_SRTP_RTP = 0, LANDLINE_SRTP_RTCP = 1 };

/// Most bytes of a packet that one call works on.
enum { LANDLINE_SRTP_MAXIMUM_PACKET = 2048 };

/// `key_count` is 16, 24 (counter mode only) or 32; `salt_count` 14 for counter mode, 12 for GCM. `rtp_tag_count` is the
/// tag of SRTP packets in counter mode, 4 or 10; it is not looked at for GCM. NULL when something is out of range or the
/// library refuses.
landline_srtp *landline_srtp_new(const uint8_t *key, size_t key_count, const uint8_t *salt, size_t salt_count,
                                 int is_gcm, size_t rtp_tag_count);

/// Session keys and salt as they are, without derivation; GCM only. For the packets of RFC 7714 sections 16 and 17.
landline_srtp *landline_srtp_new_from_session_key(const uint8_t *key, size_t key_count, const uint8_t *salt,
                                                  size_t salt_count);

void landline_srtp_free(landline_srtp *context);

/// Key derivation alone: `count` bytes (at most 32) of the key named by `label`. 1 or 0.
int landline_srtp_derive(const uint8_t *key, size_t key_count, const uint8_t *salt, size_t salt_count, uint8_t label,
                         uint8_t *out, size_t count);

/// Encrypts `packet[header ..< count]` in place for SRTP and writes the tag at `tag_at`, which is not before `count`.
/// `index` is ROC and sequence number together, 48 bits. `room` is what may be written. 1 or 0.
int landline_srtp_seal_rtp(landline_srtp *context, uint8_t *packet, size_t room, size_t header, size_t count,
                           size_t tag_at, uint32_t source, uint64_t index);

/// Checks the tag that stands at `tag_at`, then decrypts `packet[header ..< count]` in place. 1 or 0; at 0 the packet is
/// as it was.
int landline_srtp_open_rtp(landline_srtp *context, uint8_t *packet, size_t room, size_t header, size_t count,
                           size_t tag_at, uint32_t source, uint64_t index);

/// As for RTP, for SRTCP. `word_at` is where the E flag and index stand; the caller wrote them.
int landline_srtp_seal_rtcp(landline_srtp *context, uint8_t *packet, size_t room, size_t count, size_t word_at,
                            size_t tag_at, uint32_t source, uint32_t index);
int landline_srtp_open_rtcp(landline_srtp *context, uint8_t *packet, size_t room, size_t count, size_t word_at,
                            size_t tag_at, uint32_t source, uint32_t index);

#endif
