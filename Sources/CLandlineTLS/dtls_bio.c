#include "dtls_internal.h"

#include <openssl/bio.h>
#include <pthread.h>
#include <string.h>

static int datagram_read(BIO *bio, char *room, int count) {
  landline_dtls *dtls = BIO_get_data(bio);
  BIO_clear_retry_flags(bio);
  if (!dtls || !dtls->input || count <= 0) {
    BIO_set_retry_read(bio);
    return -1;
  }
  // As a socket does: one read takes one datagram, and what does not fit is lost.
  size_t taken = dtls->input_count < (size_t)count ? dtls->input_count : (size_t)count;
  memcpy(room, dtls->input, taken);
  dtls->input = NULL;
  dtls->input_count = 0;
  return (int)taken;
}

static int datagram_write(BIO *bio, const char *bytes, int count) {
  landline_dtls *dtls = BIO_get_data(bio);
  BIO_clear_retry_flags(bio);
  if (!dtls || count <= 0) return -1;
  // A datagram without a way out is a lost one: the handshake repeats it.
  if (dtls->sink) dtls->sink(dtls->context, (const uint8_t *)bytes, (size_t)count);
  return count;
}

static long datagram_control(BIO *bio, int command, long number, void *pointer) {
  (void)number;
  landline_dtls *dtls = BIO_get_data(bio);
  if (!dtls) return 0;
  switch (command) {
    case BIO_CTRL_FLUSH: return 1;
    case BIO_CTRL_PENDING: return (long)dtls->input_count;
    case BIO_CTRL_DGRAM_QUERY_MTU:
    case BIO_CTRL_DGRAM_GET_FALLBACK_MTU: return (long)dtls->mtu;
    case BIO_CTRL_DGRAM_SET_NEXT_TIMEOUT:
      dtls->due = pointer;
      if (landline_dtls_awaits_answer(dtls)) dtls->flights += 1;
      return 1;
    default: return 0;
  }
}

static int datagram_create(BIO *bio) {
  BIO_set_init(bio, 1);
  return 1;
}

static int datagram_destroy(BIO *bio) {
  BIO_set_data(bio, NULL);
  return 1;
}

static BIO_METHOD *method;

static void make_method(void) {
  int number = BIO_get_new_index();
  if (number == -1) return;
  BIO_METHOD *made = BIO_meth_new(number | BIO_TYPE_SOURCE_SINK, "datagrams in memory");
  if (made && BIO_meth_set_read(made, datagram_read) && BIO_meth_set_write(made, datagram_write) &&
      BIO_meth_set_ctrl(made, datagram_control) && BIO_meth_set_create(made, datagram_create) &&
      BIO_meth_set_destroy(made, datagram_destroy)) {
    method = made;
  } else {
    BIO_meth_free(made);
  }
}

BIO_METHOD *landline_dtls_bio_method(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, make_method);
  return method;
}
