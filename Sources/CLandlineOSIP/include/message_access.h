#ifndef LANDLINE_MESSAGE_ACCESS_H
#define LANDLINE_MESSAGE_ACCESS_H

#include <stddef.h>

#include <sys/time.h>

#include <osipparser2/osip_parser.h>

/// Text that libosip2 owns, as long as its message lives; no bytes (NULL) where there is none.
typedef struct landline_text {
  const char *bytes;
  size_t count;
} landline_text;

/// What libosip2 read of a URI, with its escapes resolved, and of the tag of the field around it.
typedef struct landline_address {
  landline_text scheme;
  landline_text user;
  landline_text host;
  landline_text port;
  /// The rest of a URI that is neither sip nor sips.
  landline_text other;
  landline_text display_name;
  landline_text tag;
} landline_address;

/// What libosip2 read of one Via element.
typedef struct landline_via {
  landline_text transport;
  landline_text host;
  landline_text port;
  landline_text branch;
} landline_via;

/// Everything of a message that stands there once.
typedef struct landline_message {
  /// NULL in a response.
  landline_text method;
  /// 0 in a request.
  int status;
  landline_text phrase;
  landline_address request_uri;
  landline_address from;
  landline_address to;
  landline_text call_id_number;
  landline_text call_id_host;
  landline_text cseq_number;
  landline_text cseq_method;
  landline_text content_length;
  int vias;
  int contacts;
  int routes;
  int record_routes;
  int bodies;
} landline_message;

/// The lists of addresses in a message.
typedef enum landline_list { landline_contacts, landline_routes, landline_record_routes } landline_list;

/// A view of a parsed message.
landline_message landline_message_view(const osip_message_t *message);
/// The Via element at a place, counted from the top; empty where there is none.
landline_via landline_message_via(const osip_message_t *message, int place);
/// The address at a place of a list; empty where there is none, and for `*`.
landline_address landline_message_address(const osip_message_t *message, landline_list list, int place);

/// The message as libosip2 would send it, or NULL. For tests: nothing else may leave this way.
/// The caller frees it with landline_text_free.
char *landline_message_print(osip_message_t *message, size_t *count);
void landline_text_free(char *text);

#endif
