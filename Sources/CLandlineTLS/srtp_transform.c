// The states of SHA-1 are kept and copied, which only the older interface allows: it costs half of EVP_MAC per packet.
#define OPENSSL_SUPPRESS_DEPRECATED

#include "srtp_transform.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/modes.h>
#include <openssl/sha.h>
#include <string.h>

enum { BLOCK = 16, GCM_SALT = 12, CM_SALT = 14, GCM_TAG = 16, RTCP_TAG = 10, MAC_KEY = 20, RTCP_HEADER = 8 };

struct session {
  // ECB with the session key: it makes the key stream of both modes. Setting the IV of an EVP counter mode or GCM
  // context costs more than the encryption of a packet of sound.
  EVP_CIPHER_CTX *codebook;
  uint8_t salt[BLOCK];
  size_t tag_count;
  SHA_CTX inner, outer;
  GCM128_CONTEXT *gcm;
  // A block function has no way to say so itself.
  int has_failed;
};

struct landline_srtp {
  int is_gcm;
  struct session sessions[2];
};

static const EVP_CIPHER *electronic_codebook(size_t key_count) {
  switch (key_count) {
  case 16: return EVP_aes_128_ecb();
  case 24: return EVP_aes_192_ecb();
  case 32: return EVP_aes_256_ecb();
  default: return NULL;
  }
}

static EVP_CIPHER_CTX *codebook_context(const uint8_t *key, size_t key_count) {
  const EVP_CIPHER *cipher = electronic_codebook(key_count);
  EVP_CIPHER_CTX *context = cipher ? EVP_CIPHER_CTX_new() : NULL;
  if (!context) return NULL;
  if (EVP_EncryptInit_ex(context, cipher, NULL, key, NULL) != 1 || EVP_CIPHER_CTX_set_padding(context, 0) != 1) {
    EVP_CIPHER_CTX_free(context);
    return NULL;
  }
  return context;
}

// `count` bytes of AES counter mode key stream; the last two bytes of `counter` are the block number, from 0
// (RFC 3711 section 4.1.1). `out` has room for whole blocks.
static int key_stream(EVP_CIPHER_CTX *codebook, const uint8_t counter[BLOCK], uint8_t *out, size_t count) {
  size_t blocks = (count + BLOCK - 1) / BLOCK;
  int written = 0;
  for (size_t block = 0; block < blocks; block++) {
    memcpy(out + block * BLOCK, counter, BLOCK - 2);
    out[block * BLOCK + BLOCK - 2] = (uint8_t)(block >> 8);
    out[block * BLOCK + BLOCK - 1] = (uint8_t)block;
  }
  if (blocks == 0) return 1;
  return EVP_EncryptUpdate(codebook, out, &written, out, (int)(blocks * BLOCK)) == 1 &&
         (size_t)written == blocks * BLOCK;
}

static int derive(EVP_CIPHER_CTX *codebook, const uint8_t *salt, size_t salt_count, uint8_t label, uint8_t *out,
                  size_t count) {
  uint8_t counter[BLOCK] = {0}, stream[3 * BLOCK];
  if (count > sizeof stream) return 0;
  memcpy(counter, salt, salt_count);
  counter[7] ^= label;
  if (!key_stream(codebook, counter, stream, count)) return 0;
  memcpy(out, stream, count);
  OPENSSL_cleanse(stream, sizeof stream);
  return 1;
}

int landline_srtp_derive(const uint8_t *key, size_t key_count, const uint8_t *salt, size_t salt_count, uint8_t label,
                         uint8_t *out, size_t count) {
  if (salt_count != CM_SALT && salt_count != GCM_SALT) return 0;
  EVP_CIPHER_CTX *codebook = codebook_context(key, key_count);
  if (!codebook) return 0;
  int done = derive(codebook, salt, salt_count, label, out, count);
  EVP_CIPHER_CTX_free(codebook);
  return done;
}

static int set_mac_key(struct session *session, const uint8_t key[MAC_KEY]) {
  uint8_t pad[SHA_CBLOCK];
  memset(pad, 0x36, sizeof pad);
  for (size_t i = 0; i < MAC_KEY; i++) pad[i] ^= key[i];
  int done = SHA1_Init(&session->inner) == 1 && SHA1_Update(&session->inner, pad, sizeof pad) == 1;
  for (size_t i = 0; i < sizeof pad; i++) pad[i] ^= 0x36 ^ 0x5C;
  done = done && SHA1_Init(&session->outer) == 1 && SHA1_Update(&session->outer, pad, sizeof pad) == 1;
  OPENSSL_cleanse(pad, sizeof pad);
  return done;
}

static void store32(uint8_t *out, uint32_t value) {
  out[0] = (uint8_t)(value >> 24);
  out[1] = (uint8_t)(value >> 16);
  out[2] = (uint8_t)(value >> 8);
  out[3] = (uint8_t)value;
}

static void exclusive_or(uint8_t *out, const uint8_t *in, const uint8_t *stream, size_t count) {
  size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    uint64_t data, mask;
    memcpy(&data, in + i, 8);
    memcpy(&mask, stream + i, 8);
    data ^= mask;
    memcpy(out + i, &data, 8);
  }
  for (; i < count; i++) out[i] = in[i] ^ stream[i];
}

static void encrypt_block(const uint8_t in[BLOCK], uint8_t out[BLOCK], const void *key) {
  struct session *session = (struct session *)key;
  int written = 0;
  if (EVP_EncryptUpdate(session->codebook, out, &written, in, BLOCK) != 1 || written != BLOCK) session->has_failed = 1;
}

// Whole blocks of GCM's counter mode; the last four bytes of `counter` are the first block's number.
static void encrypt_blocks(const uint8_t *in, uint8_t *out, size_t blocks, const void *key,
                           const uint8_t counter[BLOCK]) {
  struct session *session = (struct session *)key;
  uint32_t number =
      (uint32_t)counter[12] << 24 | (uint32_t)counter[13] << 16 | (uint32_t)counter[14] << 8 | counter[15];
  uint8_t stream[LANDLINE_SRTP_MAXIMUM_PACKET];
  int written = 0;
  if (blocks > sizeof stream / BLOCK) {
    session->has_failed = 1;
    return;
  }
  for (size_t block = 0; block < blocks; block++) {
    memcpy(stream + block * BLOCK, counter, 12);
    store32(stream + block * BLOCK + 12, number + (uint32_t)block);
  }
  if (EVP_EncryptUpdate(session->codebook, stream, &written, stream, (int)(blocks * BLOCK)) != 1 ||
      (size_t)written != blocks * BLOCK) {
    session->has_failed = 1;
    return;
  }
  exclusive_or(out, in, stream, blocks * BLOCK);
}

static int set_gcm_key(struct session *session, const uint8_t *key, size_t key_count) {
  session->codebook = key_count == 24 ? NULL : codebook_context(key, key_count);
  session->tag_count = GCM_TAG;
  if (!session->codebook) return 0;
  session->gcm = CRYPTO_gcm128_new(session, encrypt_block);
  return session->gcm != NULL && !session->has_failed;
}

landline_srtp *landline_srtp_new(const uint8_t *key, size_t key_count, const uint8_t *salt, size_t salt_count,
                                 int is_gcm, size_t rtp_tag_count) {
  if (salt_count != (is_gcm ? GCM_SALT : CM_SALT)) return NULL;
  if (!is_gcm && rtp_tag_count != 4 && rtp_tag_count != RTCP_TAG) return NULL;
  EVP_CIPHER_CTX *codebook = codebook_context(key, key_count);
  landline_srtp *context = codebook ? OPENSSL_zalloc(sizeof *context) : NULL;
  if (!context) {
    EVP_CIPHER_CTX_free(codebook);
    return NULL;
  }
  context->is_gcm = is_gcm != 0;
  uint8_t session_key[32], mac_key[MAC_KEY];
  int done = 1;
  for (uint8_t kind = 0; kind < 2 && done; kind++) {
    struct session *session = &context->sessions[kind];
    uint8_t label = (uint8_t)(kind * 3);
    done = derive(codebook, salt, salt_count, label, session_key, key_count) &&
           derive(codebook, salt, salt_count, label + 2, session->salt, salt_count);
    if (!done) break;
    if (is_gcm) {
      done = set_gcm_key(session, session_key, key_count);
    } else {
      session->tag_count = kind == LANDLINE_SRTP_RTP ? rtp_tag_count : RTCP_TAG;
      session->codebook = codebook_context(session_key, key_count);
      done = session->codebook && derive(codebook, salt, salt_count, label + 1, mac_key, MAC_KEY) &&
             set_mac_key(session, mac_key);
    }
  }
  OPENSSL_cleanse(session_key, sizeof session_key);
  OPENSSL_cleanse(mac_key, sizeof mac_key);
  EVP_CIPHER_CTX_free(codebook);
  if (done) return context;
  landline_srtp_free(context);
  return NULL;
}

landline_srtp *landline_srtp_new_from_session_key(const uint8_t *key, size_t key_count, const uint8_t *salt,
                                                  size_t salt_count) {
  landline_srtp *context = salt_count == GCM_SALT ? OPENSSL_zalloc(sizeof *context) : NULL;
  if (!context) return NULL;
  context->is_gcm = 1;
  for (int kind = 0; kind < 2; kind++) {
    memcpy(context->sessions[kind].salt, salt, salt_count);
    if (!set_gcm_key(&context->sessions[kind], key, key_count)) {
      landline_srtp_free(context);
      return NULL;
    }
  }
  return context;
}

void landline_srtp_free(landline_srtp *context) {
  if (!context) return;
  for (int kind = 0; kind < 2; kind++) {
    EVP_CIPHER_CTX_free(context->sessions[kind].codebook);
    CRYPTO_gcm128_release(context->sessions[kind].gcm);
  }
  OPENSSL_clear_free(context, sizeof *context);
}

// Everything lies inside `room`, the tag after what it covers.
static int is_inside(size_t room, size_t header, size_t count, size_t tag_at, size_t tag_count) {
  return room <= LANDLINE_SRTP_MAXIMUM_PACKET && header <= count && count <= tag_at && tag_at <= room &&
         tag_count <= room - tag_at;
}

// Counter mode (RFC 3711 section 4.1.1): IV = salt * 2^16 XOR SSRC * 2^64 XOR index * 2^16.
static int count_through(struct session *session, uint8_t *bytes, size_t count, uint32_t source, uint64_t index) {
  uint8_t counter[BLOCK], stream[LANDLINE_SRTP_MAXIMUM_PACKET];
  if (count > sizeof stream) return 0;
  memcpy(counter, session->salt, BLOCK);
  for (int i = 0; i < 4; i++) counter[4 + i] ^= (uint8_t)(source >> (24 - 8 * i));
  for (int i = 0; i < 6; i++) counter[8 + i] ^= (uint8_t)(index >> (40 - 8 * i));
  if (!key_stream(session->codebook, counter, stream, count)) return 0;
  exclusive_or(bytes, bytes, stream, count);
  return 1;
}

// HMAC-SHA1 over `bytes` and, for SRTP, the roll-over counter behind them (RFC 3711 section 4.2).
static int authenticate(const struct session *session, const uint8_t *bytes, size_t count, const uint8_t *rollover,
                        uint8_t tag[SHA_DIGEST_LENGTH]) {
  SHA_CTX state = session->inner;
  if (SHA1_Update(&state, bytes, count) != 1) return 0;
  if (rollover && SHA1_Update(&state, rollover, 4) != 1) return 0;
  if (SHA1_Final(tag, &state) != 1) return 0;
  state = session->outer;
  return SHA1_Update(&state, tag, SHA_DIGEST_LENGTH) == 1 && SHA1_Final(tag, &state) == 1;
}

// RFC 7714 sections 8.1 and 9.1: SSRC, then roll-over counter and sequence number, or zeros and the SRTCP index. What is
// authenticated but not encrypted is the header and, for SRTCP, the word of the index.
static int gcm_start(struct session *session, uint32_t source, uint64_t index, const uint8_t *head, size_t head_count,
                     const uint8_t *word) {
  uint8_t nonce[GCM_SALT];
  memcpy(nonce, session->salt, GCM_SALT);
  for (int i = 0; i < 4; i++) nonce[2 + i] ^= (uint8_t)(source >> (24 - 8 * i));
  for (int i = 0; i < 6; i++) nonce[6 + i] ^= (uint8_t)(index >> (40 - 8 * i));
  session->has_failed = 0;
  CRYPTO_gcm128_setiv(session->gcm, nonce, GCM_SALT);
  return CRYPTO_gcm128_aad(session->gcm, head, head_count) == 0 &&
         (!word || CRYPTO_gcm128_aad(session->gcm, word, 4) == 0);
}

static int gcm_seal(struct session *session, uint8_t *bytes, size_t count, uint8_t *tag) {
  if (CRYPTO_gcm128_encrypt_ctr32(session->gcm, bytes, bytes, count, encrypt_blocks) != 0) return 0;
  CRYPTO_gcm128_tag(session->gcm, tag, GCM_TAG);
  return !session->has_failed;
}

// Into another place first: what does not authenticate is left as it was.
static int gcm_open(struct session *session, uint8_t *bytes, size_t count, const uint8_t *tag) {
  uint8_t plain[LANDLINE_SRTP_MAXIMUM_PACKET];
  if (count > sizeof plain) return 0;
  if (CRYPTO_gcm128_decrypt_ctr32(session->gcm, bytes, plain, count, encrypt_blocks) != 0) return 0;
  if (CRYPTO_gcm128_finish(session->gcm, tag, GCM_TAG) != 0 || session->has_failed) return 0;
  memcpy(bytes, plain, count);
  return 1;
}

int landline_srtp_seal_rtp(landline_srtp *context, uint8_t *packet, size_t room, size_t header, size_t count,
                           size_t tag_at, uint32_t source, uint64_t index) {
  struct session *session = &context->sessions[LANDLINE_SRTP_RTP];
  if (!is_inside(room, header, count, tag_at, session->tag_count)) return 0;
  if (context->is_gcm) {
    return gcm_start(session, source, index, packet, header, NULL) &&
           gcm_seal(session, packet + header, count - header, packet + tag_at);
  }
  uint8_t rollover[4], tag[SHA_DIGEST_LENGTH];
  store32(rollover, (uint32_t)(index >> 16));
  if (!count_through(session, packet + header, count - header, source, index)) return 0;
  if (!authenticate(session, packet, count, rollover, tag)) return 0;
  memcpy(packet + tag_at, tag, session->tag_count);
  return 1;
}

int landline_srtp_open_rtp(landline_srtp *context, uint8_t *packet, size_t room, size_t header, size_t count,
                           size_t tag_at, uint32_t source, uint64_t index) {
  struct session *session = &context->sessions[LANDLINE_SRTP_RTP];
  if (!is_inside(room, header, count, tag_at, session->tag_count)) return 0;
  if (context->is_gcm) {
    return gcm_start(session, source, index, packet, header, NULL) &&
           gcm_open(session, packet + header, count - header, packet + tag_at);
  }
  uint8_t rollover[4], tag[SHA_DIGEST_LENGTH];
  store32(rollover, (uint32_t)(index >> 16));
  if (!authenticate(session, packet, count, rollover, tag)) return 0;
  if (CRYPTO_memcmp(tag, packet + tag_at, session->tag_count) != 0) return 0;
  return count_through(session, packet + header, count - header, source, index);
}

int landline_srtp_seal_rtcp(landline_srtp *context, uint8_t *packet, size_t room, size_t count, size_t word_at,
                            size_t tag_at, uint32_t source, uint32_t index) {
  struct session *session = &context->sessions[LANDLINE_SRTP_RTCP];
  if (!is_inside(room, RTCP_HEADER, count, tag_at, session->tag_count)) return 0;
  if (!is_inside(room, RTCP_HEADER, count, word_at, 4)) return 0;
  uint8_t *bytes = packet + RTCP_HEADER;
  if (context->is_gcm) {
    return gcm_start(session, source, index, packet, RTCP_HEADER, packet + word_at) &&
           gcm_seal(session, bytes, count - RTCP_HEADER, packet + tag_at);
  }
  // The word stands right behind what is encrypted, so one run covers both.
  uint8_t tag[SHA_DIGEST_LENGTH];
  if (word_at != count) return 0;
  if (!count_through(session, bytes, count - RTCP_HEADER, source, index)) return 0;
  if (!authenticate(session, packet, count + 4, NULL, tag)) return 0;
  memcpy(packet + tag_at, tag, session->tag_count);
  return 1;
}

int landline_srtp_open_rtcp(landline_srtp *context, uint8_t *packet, size_t room, size_t count, size_t word_at,
                            size_t tag_at, uint32_t source, uint32_t index) {
  struct session *session = &context->sessions[LANDLINE_SRTP_RTCP];
  if (!is_inside(room, RTCP_HEADER, count, tag_at, session->tag_count)) return 0;
  if (!is_inside(room, RTCP_HEADER, count, word_at, 4)) return 0;
  uint8_t *bytes = packet + RTCP_HEADER;
  if (context->is_gcm) {
    return gcm_start(session, source, index, packet, RTCP_HEADER, packet + word_at) &&
           gcm_open(session, bytes, count - RTCP_HEADER, packet + tag_at);
  }
  uint8_t tag[SHA_DIGEST_LENGTH];
  if (word_at != count) return 0;
  if (!authenticate(session, packet, count + 4, NULL, tag)) return 0;
  if (CRYPTO_memcmp(tag, packet + tag_at, session->tag_count) != 0) return 0;
  return count_through(session, bytes, count - RTCP_HEADER, source, index);
}
