#ifndef LANDLINE_DTLS_INTERNAL_H
#define LANDLINE_DTLS_INTERNAL_H

#include "landline_dtls.h"

#include <openssl/ssl.h>
#include <sys/time.h>

struct landline_dtls_identity {
  SSL_CTX *server;
  SSL_CTX *client;
  uint8_t digest[32];
};

struct landline_dtls {
  SSL *ssl;
  // The datagram being read, until libssl took it; never kept beyond the call that brought it.
  const uint8_t *input;
  size_t input_count;
  landline_dtls_sink sink;
  void *context;
  // Where libssl 3.0 keeps the time at which it would repeat its flight; lives as long as `ssl`.
  struct timeval *due;
  uint64_t flights;
  size_t mtu;
  bool established;
  bool stranger;
  bool out_of_time;
  const char *error;
  size_t fingerprint_count;
  landline_dtls_fingerprint fingerprints[LANDLINE_DTLS_FINGERPRINTS_MAXIMUM];
};

/// The kind of BIO whose reads and writes are whole datagrams of a `landline_dtls`; NULL without memory.
BIO_METHOD *landline_dtls_bio_method(void);
/// libssl's question whether the peer's certificate will do.
int landline_dtls_verify(X509_STORE_CTX *store, void *unused);

#endif
