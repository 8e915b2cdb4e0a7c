#ifndef LANDLINE_OSIP_H
#define LANDLINE_OSIP_H

// libosip2's headers do not include what they need.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#include <osip2/osip.h>
#include <osip2/osip_fifo.h>
#include <osipparser2/osip_parser.h>

#include "message_access.h"
#include "transactions.h"

/// Runs libosip2's global initialisers once: parser tables, a silent trace. Call before anything else.
void landline_osip_prepare(void);

#endif
