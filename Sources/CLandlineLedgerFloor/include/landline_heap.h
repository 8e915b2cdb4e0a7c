#ifndef LANDLINE_HEAP_H
#define LANDLINE_HEAP_H

#include <stdint.h>

/// Bytes of the C heap that are in use (mallinfo2(3)).
int64_t landline_heap_bytes(void);

#endif
