#include "landline_rating_floor.h"

#include <stdlib.h>

enum { bucket_count = 100000, maximum_depth = 16 };

/// Numbers of fifteen digits that share their first five.
static const uint64_t bucket_size = 10000000000;

struct landline_rating_floor {
  size_t count;
  uint64_t *starts;
  /// Key of the prefix that owns the interval; 0 for none.
  uint64_t *owners;
  uint32_t buckets[bucket_count + 1];
};

struct open_prefix {
  uint64_t end;
  uint64_t key;
};

static void emit(struct landline_rating_floor *floor, uint64_t start, uint64_t owner) {
  if (floor->count > 0 && floor->starts[floor->count - 1] == start) {
    floor->owners[floor->count - 1] = owner;
    return;
  }
  floor->starts[floor->count] = start;
  floor->owners[floor->count] = owner;
  floor->count += 1;
}

static void fill_buckets(struct landline_rating_floor *floor) {
  size_t place = 0;
  for (uint64_t bucket = 0; bucket <= bucket_count; bucket++) {
    while (place < floor->count && floor->starts[place] < bucket * bucket_size) place++;
    floor->buckets[bucket] = (uint32_t)place;
  }
}

struct landline_rating_floor *landline_rating_floor_make(const uint64_t *keys, size_t count) {
  struct landline_rating_floor *floor = calloc(1, sizeof *floor);
  if (!floor) return NULL;
  // Each prefix begins one interval and ends at most one.
  floor->starts = malloc((2 * count + 1) * sizeof *floor->starts);
  floor->owners = malloc((2 * count + 1) * sizeof *floor->owners);
  if (!floor->starts || !floor->owners) {
    landline_rating_floor_free(floor);
    return NULL;
  }
  struct open_prefix open[maximum_depth];
  int depth = 0;
  for (size_t index = 0; index <= count; index++) {
    uint64_t start = index < count ? keys[index] >> 4 : UINT64_MAX;
    while (depth > 0 && open[depth - 1].end <= start) {
      depth -= 1;
      emit(floor, open[depth].end, depth > 0 ? open[depth - 1].key : 0);
    }
    if (index == count) break;
    uint64_t width = 1;
    for (uint64_t digits = keys[index] & 15; digits < 15; digits++) width *= 10;
    open[depth++] = (struct open_prefix){.end = start + width, .key = keys[index]};
    emit(floor, start, keys[index]);
  }
  fill_buckets(floor);
  return floor;
}

void landline_rating_floor_free(struct landline_rating_floor *floor) {
  if (!floor) return;
  free(floor->starts);
  free(floor->owners);
  free(floor);
}

uint64_t landline_rating_floor_sum(const struct landline_rating_floor *floor, const uint64_t *numbers, size_t count) {
  uint64_t sum = 0;
  for (size_t index = 0; index < count; index++) {
    uint64_t number = numbers[index] >> 4;
    uint64_t bucket = number / bucket_size;
    size_t low = floor->buckets[bucket];
    size_t high = floor->buckets[bucket + 1];
    while (low < high) {
      size_t middle = (low + high) / 2;
      if (floor->starts[middle] <= number)
        low = middle + 1;
      else
        high = middle;
    }
    if (low > 0) sum += floor->owners[low - 1];
  }
  return sum;
}
