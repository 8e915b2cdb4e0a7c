#include "landline_tls.h"

unsigned long landline_tls_version(void) { return OpenSSL_version_num(); }
