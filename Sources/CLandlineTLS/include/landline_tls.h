#ifndef LANDLINE_TLS_H
#define LANDLINE_TLS_H

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include "srtp_transform.h"

/// The version of the library in use, as OpenSSL_version_num gives it.
unsigned long landline_tls_version(void);

#endif
