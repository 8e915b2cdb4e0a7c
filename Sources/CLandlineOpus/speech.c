#include "landline_speech.h"

#include <string.h>

// One executable with no file beside it: the compiler puts the files in.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char connected[] = {
#embed "Speech/connected.opus"
};
static const unsigned char goodbye[] = {
#embed "Speech/goodbye.opus"
};
static const unsigned char press_zero[] = {
#embed "Speech/press-zero.opus"
};
static const unsigned char early[] = {
#embed "Speech/early.opus"
};
static const unsigned char echo[] = {
#embed "Speech/echo.opus"
};
static const unsigned char one_way[] = {
#embed "Speech/one-way.opus"
};
static const unsigned char cut[] = {
#embed "Speech/cut.opus"
};
static const unsigned char recorded[] = {
#embed "Speech/recorded.opus"
};
static const unsigned char loss[] = {
#embed "Speech/loss.opus"
};

static const struct {
  const char *name;
  const unsigned char *bytes;
  size_t count;
} prompts[] = {
    {"connected", connected, sizeof connected}, {"goodbye", goodbye, sizeof goodbye},
    {"press-zero", press_zero, sizeof press_zero}, {"early", early, sizeof early},
    {"echo", echo, sizeof echo}, {"one-way", one_way, sizeof one_way},
    {"cut", cut, sizeof cut}, {"loss", loss, sizeof loss},
    {"recorded", recorded, sizeof recorded},
};

const unsigned char *landline_speech(const char *name, size_t *count) {
  for (size_t index = 0; index < sizeof prompts / sizeof prompts[0]; index++) {
    if (strcmp(prompts[index].name, name) == 0) {
      *count = prompts[index].count;
      return prompts[index].bytes;
    }
  }
  *count = 0;
  return NULL;
}
