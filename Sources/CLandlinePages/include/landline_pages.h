#ifndef LANDLINE_PAGES_H
#define LANDLINE_PAGES_H

#include <stddef.h>

/// The bytes of a file of the web pages; NULL for a name that is none. They live as long as the process.
const unsigned char *landline_page(const char *name, size_t *count);

/// The name of the file with this number, from 0; NULL after the last.
const char *landline_page_name(size_t number);

/// The bytes of a document of the repository, by its path there: the guides, the example configuration, the description of
/// the apps' protocol; NULL for a path that was not built in. They live as long as the process.
const unsigned char *landline_document(const char *name, size_t *count);

/// Compresses bytes as gzip does (RFC 1952), as small as it can.
///
/// Returns how many bytes were written to output; 0 where its capacity is not enough.
size_t landline_gzip(const unsigned char *bytes, size_t count, unsigned char *output, size_t capacity);

#endif
