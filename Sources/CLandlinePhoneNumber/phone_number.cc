#include "landline_phone_number.h"
