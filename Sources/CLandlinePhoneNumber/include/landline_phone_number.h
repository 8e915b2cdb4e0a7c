// A C door to libphonenumber: one function, one fixed-size answer, no exception and no memory to free.
#ifndef LANDLINE_PHONE_NUMBER_H
#define LANDLINE_PHONE_NUMBER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Longest text taken, in bytes; longer ones are answered with LANDLINE_PHONE_NUMBER_UNPARSED.
#define LANDLINE_PHONE_NUMBER_MAXIMUM_TEXT 64
// Room for a region code and its final zero byte: two letters, or 001 for a code that belongs to no region.
#define LANDLINE_PHONE_NUMBER_REGION_SIZE 4

enum landline_phone_number_status {
  LANDLINE_PHONE_NUMBER_PARSED = 0,
  // Not a number, or under no country code that the library knows.
  LANDLINE_PHONE_NUMBER_UNPARSED = 1,
  // The library failed, for want of memory for example.
  LANDLINE_PHONE_NUMBER_FAILED = 2
};

enum landline_phone_number_possibility {
  LANDLINE_PHONE_NUMBER_POSSIBLE = 0,
  LANDLINE_PHONE_NUMBER_POSSIBLE_LOCALLY = 1,
  LANDLINE_PHONE_NUMBER_TOO_SHORT = 2,
  LANDLINE_PHONE_NUMBER_TOO_LONG = 3,
  LANDLINE_PHONE_NUMBER_INVALID_LENGTH = 4,
  LANDLINE_PHONE_NUMBER_INVALID_COUNTRY_CODE = 5
};

enum landline_phone_number_type {
  LANDLINE_PHONE_NUMBER_UNKNOWN = 0,
  LANDLINE_PHONE_NUMBER_FIXED_LINE = 1,
  LANDLINE_PHONE_NUMBER_MOBILE = 2,
  LANDLINE_PHONE_NUMBER_FIXED_LINE_OR_MOBILE = 3,
  LANDLINE_PHONE_NUMBER_TOLL_FREE = 4,
  LANDLINE_PHONE_NUMBER_PREMIUM_RATE = 5,
  LANDLINE_PHONE_NUMBER_SHARED_COST = 6,
  LANDLINE_PHONE_NUMBER_VOIP = 7,
  LANDLINE_PHONE_NUMBER_PERSONAL_NUMBER = 8,
  LANDLINE_PHONE_NUMBER_PAGER = 9,
  LANDLINE_PHONE_NUMBER_UAN = 10,
  LANDLINE_PHONE_NUMBER_VOICEMAIL = 11
};

struct landline_phone_number {
  int32_t status;
  int32_t country_code;
  int32_t possibility;
  int32_t is_valid;
  int32_t type;
  // Empty when the library names no region.
  char region[LANDLINE_PHONE_NUMBER_REGION_SIZE];
};

// Reads an E.164 text with its +. Safe from any thread. The library's tables are built at the first call.
struct landline_phone_number landline_phone_number_examine(const char *text, size_t length);

// 1 once landline_phone_number_examine has asked the library for the first time, else 0.
int32_t landline_phone_number_is_loaded(void);

#ifdef __cplusplus
}
#endif

#endif
