#include "dtls_internal.h"

#include <openssl/bn.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <string.h>

#if OPENSSL_VERSION_MAJOR != 3 || OPENSSL_VERSION_MINOR != 0
#error "The DTLS timer is driven in a way that only OpenSSL 3.0 allows: later lines hand out a copy of the due time."
#endif

static const char *const cipher_suites =
    "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:"
    "ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384:"
    "ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305";
static const char *const groups = "P-256:X25519";
static const char *const signatures =
    "ECDSA+SHA256:ECDSA+SHA384:ECDSA+SHA512:RSA-PSS+SHA256:RSA-PSS+SHA384:RSA-PSS+SHA512:"
    "RSA+SHA256:RSA+SHA384:RSA+SHA512";

// Nobody asks a clock about a certificate that a fingerprint names, so it is valid from a fixed day to the end of
// time as RFC 5280 section 4.1.2.5 writes it.
static const char *const first_day = "20000101000000Z";
static const char *const last_day = "99991231235959Z";

static bool set_random_serial(X509 *certificate) {
  BIGNUM *number = BN_new();
  // 127 bits: positive and at most 20 octets (RFC 5280 section 4.1.2.2); the top bit is set, so never zero.
  bool done = number && BN_rand(number, 127, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ANY) &&
              BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate));
  BN_free(number);
  return done;
}

static bool set_name(X509 *certificate) {
  X509_NAME *name = X509_get_subject_name(certificate);
  return X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *)"landline", -1, -1, 0) &&
         X509_set_issuer_name(certificate, name);
}

static bool add_padding(X509 *certificate, size_t count) {
  if (count == 0) return true;
  ASN1_OCTET_STRING *bytes = ASN1_OCTET_STRING_new();
  unsigned char *content = OPENSSL_zalloc(count);
  X509_EXTENSION *extension = NULL;
  bool done = bytes && content && ASN1_OCTET_STRING_set(bytes, content, (int)count) &&
              (extension = X509_EXTENSION_create_by_NID(NULL, NID_netscape_comment, 0, bytes)) &&
              X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
  OPENSSL_free(content);
  ASN1_OCTET_STRING_free(bytes);
  return done;
}

static X509 *self_signed(EVP_PKEY *key, size_t padding) {
  X509 *certificate = X509_new();
  if (certificate && X509_set_version(certificate, X509_VERSION_3) && set_random_serial(certificate) &&
      set_name(certificate) && ASN1_TIME_set_string(X509_getm_notBefore(certificate), first_day) &&
      ASN1_TIME_set_string(X509_getm_notAfter(certificate), last_day) && X509_set_pubkey(certificate, key) &&
      add_padding(certificate, padding) && X509_sign(certificate, key, EVP_sha256()))
    return certificate;
  X509_free(certificate);
  return NULL;
}

static SSL_CTX *context(const SSL_METHOD *method, X509 *certificate, EVP_PKEY *key) {
  SSL_CTX *made = SSL_CTX_new(method);
  if (!made) return NULL;
  // The machine's configuration file has a say in what SSL_CTX_new returns: all that matters is set here.
  SSL_CTX_set_security_level(made, 2);
  SSL_CTX_set_options(made, SSL_OP_NO_QUERY_MTU | SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                SSL_OP_CIPHER_SERVER_PREFERENCE);
  SSL_CTX_clear_options(made, SSL_OP_COOKIE_EXCHANGE | SSL_OP_ALLOW_UNSAFE_LEGACY_RENEGOTIATION |
                                  SSL_OP_LEGACY_SERVER_CONNECT | SSL_OP_NO_EXTENDED_MASTER_SECRET);
  SSL_CTX_set_session_cache_mode(made, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_max_cert_list(made, LANDLINE_DTLS_CERTIFICATES_MAXIMUM);
  SSL_CTX_set_verify(made, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
  SSL_CTX_set_cert_verify_callback(made, landline_dtls_verify, NULL);
  static const unsigned char session_context[] = "landline";
  if (SSL_CTX_set_min_proto_version(made, DTLS1_2_VERSION) && SSL_CTX_set_max_proto_version(made, DTLS1_2_VERSION) &&
      SSL_CTX_set_cipher_list(made, cipher_suites) && SSL_CTX_set1_groups_list(made, groups) &&
      SSL_CTX_set1_sigalgs_list(made, signatures) && SSL_CTX_set1_client_sigalgs_list(made, signatures) &&
      SSL_CTX_set_session_id_context(made, session_context, sizeof session_context - 1) &&
      (!certificate || (SSL_CTX_use_certificate(made, certificate) && SSL_CTX_use_PrivateKey(made, key))))
    return made;
  SSL_CTX_free(made);
  return NULL;
}

landline_dtls_identity *landline_dtls_identity_new(bool shown, size_t padding) {
  // The library found at run time may be a later one than the headers.
  if (OPENSSL_version_major() != 3 || OPENSSL_version_minor() != 0) return NULL;
  ERR_clear_error();
  landline_dtls_identity *identity = OPENSSL_zalloc(sizeof *identity);
  EVP_PKEY *key = EVP_EC_gen("P-256");
  X509 *certificate = key ? self_signed(key, padding) : NULL;
  bool done = false;
  if (identity && certificate && landline_dtls_bio_method()) {
    identity->server = context(DTLS_server_method(), certificate, key);
    identity->client = context(DTLS_client_method(), shown ? certificate : NULL, key);
    unsigned int count = 0;
    done = identity->server && identity->client && X509_digest(certificate, EVP_sha256(), identity->digest, &count) &&
           count == sizeof identity->digest;
  }
  X509_free(certificate);
  EVP_PKEY_free(key);
  if (!done) {
    landline_dtls_identity_free(identity);
    identity = NULL;
  }
  ERR_clear_error();
  return identity;
}

void landline_dtls_identity_free(landline_dtls_identity *identity) {
  if (!identity) return;
  SSL_CTX_free(identity->server);
  SSL_CTX_free(identity->client);
  OPENSSL_free(identity);
}

bool landline_dtls_identity_fingerprint(const landline_dtls_identity *identity, uint8_t digest[32]) {
  if (!identity) return false;
  memcpy(digest, identity->digest, sizeof identity->digest);
  return true;
}

static const EVP_MD *hash_of_length(size_t count) {
  switch (count) {
    case 32: return EVP_sha256();
    case 48: return EVP_sha384();
    case 64: return EVP_sha512();
    default: return NULL;
  }
}

static bool matches(const X509 *certificate, const landline_dtls_fingerprint *fingerprints, size_t count) {
  bool found = false;
  for (size_t index = 0; index < count; index += 1) {
    const EVP_MD *hash = hash_of_length(fingerprints[index].count);
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned int length = 0;
    if (!hash || !X509_digest(certificate, hash, digest, &length) || length != fingerprints[index].count) continue;
    if (CRYPTO_memcmp(digest, fingerprints[index].bytes, length) == 0) found = true;
  }
  return found;
}

int landline_dtls_verify(X509_STORE_CTX *store, void *unused) {
  (void)unused;
  SSL *ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx());
  landline_dtls *dtls = ssl ? SSL_get_app_data(ssl) : NULL;
  X509 *certificate = X509_STORE_CTX_get0_cert(store);
  if (dtls && certificate) {
    // Who signed it does not matter: the description that named the fingerprint is the authority (RFC 8122 section 6.2).
    if (!matches(certificate, dtls->fingerprints, dtls->fingerprint_count)) {
      dtls->stranger = true;
    } else {
      EVP_PKEY *key = X509_get0_pubkey(certificate);
      if (key && EVP_PKEY_get_bits(key) <= LANDLINE_DTLS_KEY_BITS_MAXIMUM) {
        X509_STORE_CTX_set_error(store, X509_V_OK);
        return 1;
      }
    }
  }
  // Becomes the alert bad_certificate.
  X509_STORE_CTX_set_error(store, X509_V_ERR_CERT_REJECTED);
  return 0;
}

bool landline_dtls_certificate_matches(const uint8_t *der, size_t count,
                                       const landline_dtls_fingerprint *fingerprints, size_t fingerprint_count) {
  if (count > LANDLINE_DTLS_CERTIFICATES_MAXIMUM) return false;
  X509 *certificate = d2i_X509(NULL, &der, (long)count);
  bool found = certificate && matches(certificate, fingerprints, fingerprint_count);
  X509_free(certificate);
  ERR_clear_error();
  return found;
}
