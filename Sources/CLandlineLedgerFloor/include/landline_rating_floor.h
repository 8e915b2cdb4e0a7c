// The least that a longest-prefix match can cost: sorted interval starts, an index on the first five digits, a binary
// search. No window of effectiveness, no price, no name.
#ifndef LANDLINE_RATING_FLOOR_H
#define LANDLINE_RATING_FLOOR_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct landline_rating_floor;

/// Builds the intervals of prefixes.
///
/// @param keys ascending and different: the digits padded with zeros to fifteen, times sixteen, plus how many there are.
/// @return to be freed with ``landline_rating_floor_free``; NULL when memory is short.
struct landline_rating_floor *landline_rating_floor_make(const uint64_t *keys, size_t count);

void landline_rating_floor_free(struct landline_rating_floor *floor);

/// Looks numbers up, one after the other.
///
/// @param numbers keys of whole numbers, made like those of prefixes.
/// @return the sum, modulo 2^64, of the keys of the longest prefixes found.
uint64_t landline_rating_floor_sum(const struct landline_rating_floor *floor, const uint64_t *numbers, size_t count);

#ifdef __cplusplus
}
#endif

#endif
