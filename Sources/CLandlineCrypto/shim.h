// Door to the system's libcrypto: message digests, signatures, certificates. One importer: LandlineDigest.
#ifndef CLANDLINE_CRYPTO_SHIM_H
#define CLANDLINE_CRYPTO_SHIM_H

#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

// libcrypto's own exit handler frees what threads that are still ending may be using: a process that exits needs none.
// Before anything else is asked of libcrypto; 1 on success (OPENSSL_init_crypto(3)).
static inline int landline_crypto_init(void) {
  return OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL);
}

// Functions of its own for what libcrypto only offers as macros.

static inline X509_STORE_CTX *landline_chain_new(X509_STORE *anchors, X509 *leaf, X509 **others, int count,
                                                 STACK_OF(X509) **held) {
  X509_STORE_CTX *context = X509_STORE_CTX_new();
  *held = sk_X509_new_null();
  if (context == NULL || *held == NULL) goto failed;
  for (int index = 0; index < count; index++) {
    if (sk_X509_push(*held, others[index]) <= 0) goto failed;
  }
  if (X509_STORE_CTX_init(context, anchors, leaf, *held) == 1) return context;
failed:
  X509_STORE_CTX_free(context);
  sk_X509_free(*held);
  *held = NULL;
  return NULL;
}

static inline void landline_chain_free(X509_STORE_CTX *context, STACK_OF(X509) *held) {
  X509_STORE_CTX_free(context);
  sk_X509_free(held);
}

// Whether a key lies on the curve P-256 and is written with its name.
static inline int landline_key_is_p256(const EVP_PKEY *key) {
  char name[32];
  size_t length = 0;
  if (key == NULL || EVP_PKEY_get_base_id(key) != EVP_PKEY_EC) return 0;
  if (EVP_PKEY_get_group_name(key, name, sizeof name, &length) != 1) return 0;
  return OBJ_sn2nid(name) == NID_X9_62_prime256v1;
}

#endif
