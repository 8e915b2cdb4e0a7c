#include "landline_phone_number.h"

#include <atomic>
#include <cstring>
#include <string>

#include <phonenumbers/phonenumberutil.h>

namespace {

using i18n::phonenumbers::PhoneNumber;
using i18n::phonenumbers::PhoneNumberUtil;

std::atomic<bool> loaded{false};

int32_t possibility_of(PhoneNumberUtil::ValidationResult result) {
  switch (result) {
    case PhoneNumberUtil::IS_POSSIBLE: return LANDLINE_PHONE_NUMBER_POSSIBLE;
    case PhoneNumberUtil::IS_POSSIBLE_LOCAL_ONLY: return LANDLINE_PHONE_NUMBER_POSSIBLE_LOCALLY;
    case PhoneNumberUtil::TOO_SHORT: return LANDLINE_PHONE_NUMBER_TOO_SHORT;
    case PhoneNumberUtil::TOO_LONG: return LANDLINE_PHONE_NUMBER_TOO_LONG;
    case PhoneNumberUtil::INVALID_LENGTH: return LANDLINE_PHONE_NUMBER_INVALID_LENGTH;
    case PhoneNumberUtil::INVALID_COUNTRY_CODE: return LANDLINE_PHONE_NUMBER_INVALID_COUNTRY_CODE;
  }
  return LANDLINE_PHONE_NUMBER_INVALID_LENGTH;
}

int32_t type_of(PhoneNumberUtil::PhoneNumberType type) {
  switch (type) {
    case PhoneNumberUtil::FIXED_LINE: return LANDLINE_PHONE_NUMBER_FIXED_LINE;
    case PhoneNumberUtil::MOBILE: return LANDLINE_PHONE_NUMBER_MOBILE;
    case PhoneNumberUtil::FIXED_LINE_OR_MOBILE: return LANDLINE_PHONE_NUMBER_FIXED_LINE_OR_MOBILE;
    case PhoneNumberUtil::TOLL_FREE: return LANDLINE_PHONE_NUMBER_TOLL_FREE;
    case PhoneNumberUtil::PREMIUM_RATE: return LANDLINE_PHONE_NUMBER_PREMIUM_RATE;
    case PhoneNumberUtil::SHARED_COST: return LANDLINE_PHONE_NUMBER_SHARED_COST;
    case PhoneNumberUtil::VOIP: return LANDLINE_PHONE_NUMBER_VOIP;
    case PhoneNumberUtil::PERSONAL_NUMBER: return LANDLINE_PHONE_NUMBER_PERSONAL_NUMBER;
    case PhoneNumberUtil::PAGER: return LANDLINE_PHONE_NUMBER_PAGER;
    case PhoneNumberUtil::UAN: return LANDLINE_PHONE_NUMBER_UAN;
    case PhoneNumberUtil::VOICEMAIL: return LANDLINE_PHONE_NUMBER_VOICEMAIL;
    case PhoneNumberUtil::UNKNOWN: return LANDLINE_PHONE_NUMBER_UNKNOWN;
  }
  return LANDLINE_PHONE_NUMBER_UNKNOWN;
}

}  // namespace

extern "C" struct landline_phone_number landline_phone_number_examine(const char *text, size_t length) {
  landline_phone_number answer{};
  answer.status = LANDLINE_PHONE_NUMBER_UNPARSED;
  if (text == nullptr || length > LANDLINE_PHONE_NUMBER_MAXIMUM_TEXT) return answer;
  try {
    loaded.store(true, std::memory_order_relaxed);
    const PhoneNumberUtil &library = *PhoneNumberUtil::GetInstance();
    PhoneNumber number;
    // ZZ is no region: only a number with its + and country code can be read.
    if (library.Parse(std::string(text, length), "ZZ", &number) != PhoneNumberUtil::NO_PARSING_ERROR) return answer;
    answer.country_code = number.country_code();
    answer.possibility = possibility_of(library.IsPossibleNumberWithReason(number));
    answer.is_valid = library.IsValidNumber(number) ? 1 : 0;
    answer.type = type_of(library.GetNumberType(number));
    std::string region;
    library.GetRegionCodeForNumber(number, &region);
    // The library writes ZZ for a number of no region.
    if (region.size() < sizeof answer.region && region != "ZZ") {
      std::memcpy(answer.region, region.data(), region.size());
    }
    answer.status = LANDLINE_PHONE_NUMBER_PARSED;
  } catch (...) {
    answer = landline_phone_number{};
    answer.status = LANDLINE_PHONE_NUMBER_FAILED;
  }
  return answer;
}

extern "C" int32_t landline_phone_number_is_loaded(void) { return loaded.load(std::memory_order_relaxed) ? 1 : 0; }
