#include "landline_heap.h"

#include <malloc.h>

int64_t landline_heap_bytes(void) {
  struct mallinfo2 heap = mallinfo2();
  // Large blocks are mapped apart from the arena.
  return (int64_t)(heap.uordblks + heap.hblkhd);
}
