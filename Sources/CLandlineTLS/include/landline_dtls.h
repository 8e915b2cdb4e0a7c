#ifndef LANDLINE_DTLS_H
#define LANDLINE_DTLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// A certificate, its key, and what libssl needs to play either role with it. Made once, then only read: any number of
/// threads may make associations of one identity.
typedef struct landline_dtls_identity landline_dtls_identity;

/// One DTLS 1.2 association. Belongs to one thread at a time.
typedef struct landline_dtls landline_dtls;

enum {
  /// Bytes of the certificate message of a peer at most: a chain of one RSA-4096 certificate has 1.5 kB.
  LANDLINE_DTLS_CERTIFICATES_MAXIMUM = 8192,
  /// Fingerprints of one peer at most.
  LANDLINE_DTLS_FINGERPRINTS_MAXIMUM = 16,
  /// Bits of a peer's RSA key at most: checking a signature costs time with the square of them.
  LANDLINE_DTLS_KEY_BITS_MAXIMUM = 8192,
};

/// The digest of a certificate; its length names the hash: 32 SHA-256, 48 SHA-384, 64 SHA-512.
typedef struct {
  uint8_t count;
  uint8_t bytes[64];
} landline_dtls_fingerprint;

typedef enum {
  LANDLINE_DTLS_WAITING = 0,
  LANDLINE_DTLS_ESTABLISHED = 1,
  LANDLINE_DTLS_FAILED = 2,
  LANDLINE_DTLS_CLOSED = 3,
} landline_dtls_outcome;

/// Takes one datagram to be sent. The bytes are gone after the call.
typedef void (*landline_dtls_sink)(void *context, const uint8_t *datagram, size_t count);

/// NULL where libssl is not of the 3.0 line (its timer is driven through a pointer that only this line hands out), or
/// where it refuses. `shown` false: as client, shows no certificate. `padding`: bytes that make the certificate longer.
landline_dtls_identity *landline_dtls_identity_new(bool shown, size_t padding);
void landline_dtls_identity_free(landline_dtls_identity *identity);
/// The SHA-256 digest of the certificate.
bool landline_dtls_identity_fingerprint(const landline_dtls_identity *identity, uint8_t digest[32]);

/// Whether a certificate in DER has one of these fingerprints.
bool landline_dtls_certificate_matches(const uint8_t *der, size_t count,
                                       const landline_dtls_fingerprint *fingerprints, size_t fingerprint_count);

/// `profiles`: SRTP profiles in libssl's names, best first, parted by colons. `mtu`: bytes of a datagram at most.
landline_dtls *landline_dtls_new(const landline_dtls_identity *identity, bool server, const char *profiles, size_t mtu,
                                 const landline_dtls_fingerprint *fingerprints, size_t fingerprint_count);
void landline_dtls_free(landline_dtls *dtls);

/// Reads one datagram, or begins with none; what it causes goes into the sink.
landline_dtls_outcome landline_dtls_step(landline_dtls *dtls, const uint8_t *datagram, size_t count,
                                         landline_dtls_sink sink, void *context);
/// Sends the flight that waits for an answer once more, whatever the clock of the machine says.
landline_dtls_outcome landline_dtls_retransmit(landline_dtls *dtls, landline_dtls_sink sink, void *context);
/// Sends close_notify, once.
void landline_dtls_close(landline_dtls *dtls, landline_dtls_sink sink, void *context);

/// Whether a flight waits for its answer.
bool landline_dtls_awaits_answer(const landline_dtls *dtls);
/// Grows whenever a flight is sent.
uint64_t landline_dtls_flights(const landline_dtls *dtls);
/// Whether the peer's certificate has none of the fingerprints.
bool landline_dtls_is_stranger(const landline_dtls *dtls);
/// Whether libssl gave up repeating.
bool landline_dtls_is_out_of_time(const landline_dtls *dtls);
/// The reason of the last error in libssl's words, a text that stays; NULL where there was none.
const char *landline_dtls_error(const landline_dtls *dtls);
/// The number of the agreed SRTP profile (RFC 5764 section 4.1.2, RFC 7714 section 14.2), 0 for none.
unsigned long landline_dtls_profile(const landline_dtls *dtls);
/// The keying material for SRTP (RFC 5764 section 4.2).
bool landline_dtls_export(landline_dtls *dtls, uint8_t *material, size_t count);
/// Overwrites a secret so that no optimiser leaves it out.
void landline_dtls_erase(void *secret, size_t count);

#endif
