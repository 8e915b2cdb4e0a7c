#include "landline_osip.h"

#include <pthread.h>
#include <stdarg.h>

static void no_trace(const char *file, int line, osip_trace_level_t level, const char *format, va_list arguments) {
  (void)file;
  (void)line;
  (void)level;
  (void)format;
  (void)arguments;
}

static void prepare(void) {
  parser_init();
  // The first trace call of each level writes a table that all threads read, unless a function stands in it.
  osip_trace_initialize_func(TRACE_LEVEL0, no_trace);
  // The first context runs the parser's initialisers again.
  osip_t *first = NULL;
  if (osip_init(&first) == OSIP_SUCCESS) osip_release(first);
}

void landline_osip_prepare(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, prepare);
}
