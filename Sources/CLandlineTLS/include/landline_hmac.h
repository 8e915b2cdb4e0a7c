#ifndef LANDLINE_HMAC_H
#define LANDLINE_HMAC_H

#include <stdbool.h>
#include <stddef.h>

/// HMAC-SHA1 with one key, set up once and used for any number of messages. Belongs to one thread.
typedef struct landline_hmac landline_hmac;

/// NULL without memory, or when libcrypto has no such algorithm.
landline_hmac *landline_hmac_new(const void *key, size_t count);

/// Writes the 20 bytes of the code of one message.
bool landline_hmac_code(landline_hmac *hmac, const void *message, size_t count, unsigned char code[20]);

void landline_hmac_free(landline_hmac *hmac);

#endif
