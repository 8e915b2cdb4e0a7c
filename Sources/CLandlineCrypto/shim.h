// Door to the system's libcrypto: message digests. One importer: LandlineDigest.
#ifndef CLANDLINE_CRYPTO_SHIM_H
#define CLANDLINE_CRYPTO_SHIM_H

#include <openssl/crypto.h>
#include <openssl/evp.h>

// libcrypto's own exit handler frees what threads that are still ending may be using: a process that exits needs none.
// Before anything else is asked of libcrypto; 1 on success (OPENSSL_init_crypto(3)).
static inline int landline_crypto_init(void) {
  return OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL);
}

#endif
