#include "dtls_internal.h"

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/srtp.h>
#include <openssl/sslerr.h>
#include <string.h>

// Applications' data is of no use to us: it is read into this many bytes at a time and forgotten.
enum { unwanted_room = 2048 };

// The duration libssl's own timer waits, in microseconds: longer than any handshake may last, so that it never fires.
static unsigned int never(SSL *ssl, unsigned int previous) {
  (void)ssl;
  (void)previous;
  return 3600000000u;
}

landline_dtls *landline_dtls_new(const landline_dtls_identity *identity, bool server, const char *profiles, size_t mtu,
                                 const landline_dtls_fingerprint *fingerprints, size_t fingerprint_count) {
  if (!identity || fingerprint_count > LANDLINE_DTLS_FINGERPRINTS_MAXIMUM) return NULL;
  ERR_clear_error();
  landline_dtls *dtls = OPENSSL_zalloc(sizeof *dtls);
  SSL *ssl = SSL_new(server ? identity->server : identity->client);
  BIO *bio = BIO_new(landline_dtls_bio_method());
  if (!dtls || !ssl || !bio || SSL_set_tlsext_use_srtp(ssl, profiles) != 0 || !SSL_set_mtu(ssl, (long)mtu) ||
      !SSL_set_app_data(ssl, dtls)) {
    BIO_free(bio);
    SSL_free(ssl);
    OPENSSL_free(dtls);
    ERR_clear_error();
    return NULL;
  }
  dtls->ssl = ssl;
  dtls->mtu = mtu;
  dtls->fingerprint_count = fingerprint_count;
  if (fingerprint_count > 0) memcpy(dtls->fingerprints, fingerprints, fingerprint_count * sizeof *fingerprints);
  BIO_set_data(bio, dtls);
  // One reference serves as both sides.
  SSL_set_bio(ssl, bio, bio);
  DTLS_set_timer_cb(ssl, never);
  if (server)
    SSL_set_accept_state(ssl);
  else
    SSL_set_connect_state(ssl);
  ERR_clear_error();
  return dtls;
}

void landline_dtls_free(landline_dtls *dtls) {
  if (!dtls) return;
  SSL_free(dtls->ssl);
  OPENSSL_clear_free(dtls, sizeof *dtls);
  ERR_clear_error();
}

static void begin(landline_dtls *dtls, const uint8_t *datagram, size_t count, landline_dtls_sink sink, void *context) {
  ERR_clear_error();
  dtls->input = datagram;
  dtls->input_count = datagram ? count : 0;
  dtls->sink = sink;
  dtls->context = context;
  // An established association holds no record buffers between two calls.
  if (dtls->established) SSL_alloc_buffers(dtls->ssl);
}

static landline_dtls_outcome end(landline_dtls *dtls, landline_dtls_outcome outcome) {
  if (outcome == LANDLINE_DTLS_FAILED) {
    unsigned long error = ERR_peek_error();
    dtls->out_of_time = ERR_GET_LIB(error) == ERR_LIB_SSL && ERR_GET_REASON(error) == SSL_R_READ_TIMEOUT_EXPIRED;
    dtls->error = ERR_reason_error_string(error);
  }
  dtls->input = NULL;
  dtls->input_count = 0;
  dtls->sink = NULL;
  dtls->context = NULL;
  if (dtls->established) SSL_free_buffers(dtls->ssl);
  // The queue belongs to the thread, and the next association must not find our errors in it.
  ERR_clear_error();
  return outcome;
}

static landline_dtls_outcome outcome_of(landline_dtls *dtls, int result) {
  switch (SSL_get_error(dtls->ssl, result)) {
    case SSL_ERROR_NONE:
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE: return dtls->established ? LANDLINE_DTLS_ESTABLISHED : LANDLINE_DTLS_WAITING;
    case SSL_ERROR_ZERO_RETURN: return LANDLINE_DTLS_CLOSED;
    default: return LANDLINE_DTLS_FAILED;
  }
}

// Takes alerts, and lets libssl answer a Finished that came again; each turn consumes a record, so a datagram bounds it.
static landline_dtls_outcome drain(landline_dtls *dtls) {
  unsigned char unwanted[unwanted_room];
  int result;
  do {
    result = SSL_read(dtls->ssl, unwanted, sizeof unwanted);
  } while (result > 0);
  return outcome_of(dtls, result);
}

landline_dtls_outcome landline_dtls_step(landline_dtls *dtls, const uint8_t *datagram, size_t count,
                                         landline_dtls_sink sink, void *context) {
  begin(dtls, datagram, count, sink, context);
  if (!dtls->established) {
    int result = SSL_do_handshake(dtls->ssl);
    if (result != 1) return end(dtls, outcome_of(dtls, result));
    dtls->established = true;
  }
  return end(dtls, drain(dtls));
}

landline_dtls_outcome landline_dtls_retransmit(landline_dtls *dtls, landline_dtls_sink sink, void *context) {
  begin(dtls, NULL, 0, sink, context);
  int result = 1;
  if (landline_dtls_awaits_answer(dtls)) {
    // Long ago: libssl now finds its timer due. (Zero would mean that no timer runs.)
    dtls->due->tv_sec = 1;
    dtls->due->tv_usec = 0;
    result = DTLSv1_handle_timeout(dtls->ssl);
  }
  if (result < 0) return end(dtls, LANDLINE_DTLS_FAILED);
  return end(dtls, dtls->established ? LANDLINE_DTLS_ESTABLISHED : LANDLINE_DTLS_WAITING);
}

void landline_dtls_close(landline_dtls *dtls, landline_dtls_sink sink, void *context) {
  if (!dtls->established || (SSL_get_shutdown(dtls->ssl) & SSL_SENT_SHUTDOWN)) return;
  begin(dtls, NULL, 0, sink, context);
  SSL_shutdown(dtls->ssl);
  end(dtls, LANDLINE_DTLS_CLOSED);
}

bool landline_dtls_awaits_answer(const landline_dtls *dtls) {
  return dtls->due && (dtls->due->tv_sec != 0 || dtls->due->tv_usec != 0);
}

uint64_t landline_dtls_flights(const landline_dtls *dtls) { return dtls->flights; }
bool landline_dtls_is_stranger(const landline_dtls *dtls) { return dtls->stranger; }
bool landline_dtls_is_out_of_time(const landline_dtls *dtls) { return dtls->out_of_time; }
const char *landline_dtls_error(const landline_dtls *dtls) { return dtls->error; }

unsigned long landline_dtls_profile(const landline_dtls *dtls) {
  SRTP_PROTECTION_PROFILE *profile = dtls->established ? SSL_get_selected_srtp_profile(dtls->ssl) : NULL;
  return profile ? profile->id : 0;
}

bool landline_dtls_export(landline_dtls *dtls, uint8_t *material, size_t count) {
  static const char label[] = "EXTRACTOR-dtls_srtp";
  ERR_clear_error();
  bool done = dtls->established &&
              SSL_export_keying_material(dtls->ssl, material, count, label, sizeof label - 1, NULL, 0, 0) == 1;
  ERR_clear_error();
  return done;
}

void landline_dtls_erase(void *secret, size_t count) { OPENSSL_cleanse(secret, count); }
