#include "landline_osip.h"

void landline_osip_prepare(void) { parser_init(); }
