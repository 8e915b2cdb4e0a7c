#include "landline_sockets.h"

#include <malloc.h>

void landline_return_memory(void) { malloc_trim(0); }
