#include "landline_pages.h"

#include <string.h>

// One executable with no file beside it: the compiler puts the files in.
#pragma clang diagnostic ignored "-Wc23-extensions"

// One line for each file of Pages.
#define FILES(FILE) \
  FILE(index_html, "index.html") \
  FILE(landline_js, "landline.js") \
  FILE(landline_d_ts, "landline.d.ts") \
  FILE(icon_svg, "icon.svg") \
  FILE(pages_css, "pages.css") \
  FILE(phone_js, "phone.js") \
  FILE(phone_call_js, "phone-call.js") \
  FILE(phone_code_js, "phone-code.js") \
  FILE(phone_dial_js, "phone-dial.js") \
  FILE(phone_sound_js, "phone-sound.js") \
  FILE(phone_users_js, "phone-users.js") \
  FILE(shell_js, "shell.js") \
  FILE(theme_js, "theme.js") \
  FILE(account_html, "account.html") \
  FILE(account_js, "account.js") \
  FILE(call_html, "call.html") \
  FILE(call_js, "call.js") \
  FILE(docs_css, "docs.css") \
  FILE(conferences_html, "conferences.html") \
  FILE(conferences_js, "conferences.js") \
  FILE(calls_html, "calls.html") \
  FILE(calls_js, "calls.js") \
  FILE(figures_css, "figures.css") \
  FILE(ladder_js, "ladder.js") \
  FILE(lists_js, "lists.js") \
  FILE(numbers_html, "numbers.html") \
  FILE(numbers_js, "numbers.js") \
  FILE(plots_js, "plots.js") \
  FILE(trunks_html, "trunks.html") \
  FILE(trunks_js, "trunks.js")

static const unsigned char index_html[] = {
#embed "Pages/index.html"
};
static const unsigned char landline_js[] = {
#embed "Pages/landline.js"
};
static const unsigned char landline_d_ts[] = {
#embed "Pages/landline.d.ts"
};
static const unsigned char icon_svg[] = {
#embed "Pages/icon.svg"
};
static const unsigned char pages_css[] = {
#embed "Pages/pages.css"
};
static const unsigned char phone_js[] = {
#embed "Pages/phone.js"
};
static const unsigned char phone_call_js[] = {
#embed "Pages/phone-call.js"
};
static const unsigned char phone_code_js[] = {
#embed "Pages/phone-code.js"
};
static const unsigned char phone_dial_js[] = {
#embed "Pages/phone-dial.js"
};
static const unsigned char phone_sound_js[] = {
#embed "Pages/phone-sound.js"
};
static const unsigned char phone_users_js[] = {
#embed "Pages/phone-users.js"
};
static const unsigned char shell_js[] = {
#embed "Pages/shell.js"
};
static const unsigned char theme_js[] = {
#embed "Pages/theme.js"
};
static const unsigned char account_html[] = {
#embed "Pages/account.html"
};
static const unsigned char account_js[] = {
#embed "Pages/account.js"
};
static const unsigned char call_html[] = {
#embed "Pages/call.html"
};
static const unsigned char call_js[] = {
#embed "Pages/call.js"
};
static const unsigned char conferences_html[] = {
#embed "Pages/conferences.html"
};
static const unsigned char conferences_js[] = {
#embed "Pages/conferences.js"
};
static const unsigned char docs_css[] = {
#embed "Pages/docs.css"
};
static const unsigned char calls_html[] = {
#embed "Pages/calls.html"
};
static const unsigned char calls_js[] = {
#embed "Pages/calls.js"
};
static const unsigned char figures_css[] = {
#embed "Pages/figures.css"
};
static const unsigned char ladder_js[] = {
#embed "Pages/ladder.js"
};
static const unsigned char lists_js[] = {
#embed "Pages/lists.js"
};
static const unsigned char numbers_html[] = {
#embed "Pages/numbers.html"
};
static const unsigned char numbers_js[] = {
#embed "Pages/numbers.js"
};
static const unsigned char plots_js[] = {
#embed "Pages/plots.js"
};
static const unsigned char trunks_html[] = {
#embed "Pages/trunks.html"
};
static const unsigned char trunks_js[] = {
#embed "Pages/trunks.js"
};

#define ROW(variable, name) {name, variable, sizeof variable},
static const struct {
  const char *name;
  const unsigned char *bytes;
  size_t count;
} pages[] = {FILES(ROW)};

const unsigned char *landline_page(const char *name, size_t *count) {
  for (size_t index = 0; index < sizeof pages / sizeof pages[0]; index++) {
    if (strcmp(pages[index].name, name) == 0) {
      *count = pages[index].count;
      return pages[index].bytes;
    }
  }
  *count = 0;
  return NULL;
}

const char *landline_page_name(size_t number) {
  return number < sizeof pages / sizeof pages[0] ? pages[number].name : NULL;
}
