// Door to the system's libcrypto: message digests. One importer: LandlineDigest.
#ifndef CLANDLINE_CRYPTO_SHIM_H
#define CLANDLINE_CRYPTO_SHIM_H

#include <openssl/evp.h>

#endif
