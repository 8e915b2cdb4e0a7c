#include "landline_ledger_floor.h"
