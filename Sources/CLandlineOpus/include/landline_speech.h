#ifndef LANDLINE_SPEECH_H
#define LANDLINE_SPEECH_H

#include <stddef.h>

/// The Ogg Opus file of a prompt, without ".opus"; it stays where it is. NULL when there is none of the name.
const unsigned char *landline_speech(const char *name, size_t *count);

#endif
