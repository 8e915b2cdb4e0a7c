#ifndef LANDLINE_TLS_H
#define LANDLINE_TLS_H

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include "srtp_transform.h"

#endif
