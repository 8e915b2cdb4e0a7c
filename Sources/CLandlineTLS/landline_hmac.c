#include "landline_hmac.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>

// The struct is only a name for libcrypto's context.
static EVP_MAC_CTX *context(landline_hmac *hmac) { return (EVP_MAC_CTX *)hmac; }

landline_hmac *landline_hmac_new(const void *key, size_t count) {
  EVP_MAC *algorithm = EVP_MAC_fetch(NULL, "HMAC", NULL);
  // The context holds its algorithm on its own.
  EVP_MAC_CTX *made = algorithm ? EVP_MAC_CTX_new(algorithm) : NULL;
  EVP_MAC_free(algorithm);
  char digest[] = "SHA1";
  OSSL_PARAM parameters[] = {OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
                             OSSL_PARAM_construct_end()};
  if (made && EVP_MAC_init(made, key, count, parameters)) return (landline_hmac *)made;
  EVP_MAC_CTX_free(made);
  return NULL;
}

bool landline_hmac_code(landline_hmac *hmac, const void *message, size_t count, unsigned char code[20]) {
  size_t written = 0;
  // Without a key it begins again with the one it has.
  return EVP_MAC_init(context(hmac), NULL, 0, NULL) && EVP_MAC_update(context(hmac), message, count) &&
         EVP_MAC_final(context(hmac), code, &written, 20) && written == 20;
}

void landline_hmac_free(landline_hmac *hmac) { EVP_MAC_CTX_free(context(hmac)); }
