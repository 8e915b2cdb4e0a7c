#include "landline_osip.h"

static landline_text text(const char *bytes) {
  landline_text result = {bytes, bytes == NULL ? 0 : strlen(bytes)};
  return result;
}

static int is_named(const char *name, const char *expected) {
  return name != NULL && osip_strcasecmp(name, expected) == 0;
}

/// The first parameter of this name.
static landline_text parameter(const osip_list_t *parameters, const char *name) {
  osip_list_iterator_t place;
  osip_generic_param_t *item = osip_list_get_first(parameters, &place);
  while (item != NULL) {
    if (is_named(item->gname, name)) return text(item->gvalue);
    item = osip_list_get_next(&place);
  }
  return text(NULL);
}

static void read_uri(const osip_uri_t *uri, landline_address *address) {
  if (uri == NULL) return;
  address->scheme = text(uri->scheme);
  address->user = text(uri->username);
  address->host = text(uri->host);
  address->port = text(uri->port);
  address->other = text(uri->string);
}

static landline_address read_address(const osip_from_t *field) {
  landline_address address;
  memset(&address, 0, sizeof address);
  if (field == NULL) return address;
  read_uri(field->url, &address);
  address.display_name = text(field->displayname);
  address.tag = parameter(&field->gen_params, "tag");
  return address;
}

landline_message landline_message_view(const osip_message_t *message) {
  landline_message view;
  memset(&view, 0, sizeof view);
  view.method = text(message->sip_method);
  view.status = message->status_code;
  view.phrase = text(message->reason_phrase);
  read_uri(message->req_uri, &view.request_uri);
  view.from = read_address(message->from);
  view.to = read_address(message->to);
  if (message->call_id != NULL) {
    view.call_id_number = text(message->call_id->number);
    view.call_id_host = text(message->call_id->host);
  }
  if (message->cseq != NULL) {
    view.cseq_number = text(message->cseq->number);
    view.cseq_method = text(message->cseq->method);
  }
  if (message->content_length != NULL) view.content_length = text(message->content_length->value);
  view.vias = osip_list_size(&message->vias);
  view.contacts = osip_list_size(&message->contacts);
  view.routes = osip_list_size(&message->routes);
  view.record_routes = osip_list_size(&message->record_routes);
  view.bodies = osip_list_size(&message->bodies);
  return view;
}

landline_via landline_message_via(const osip_message_t *message, int place) {
  landline_via result;
  memset(&result, 0, sizeof result);
  const osip_via_t *via = osip_list_get(&message->vias, place);
  if (via == NULL) return result;
  result.transport = text(via->protocol);
  result.host = text(via->host);
  result.port = text(via->port);
  result.branch = parameter(&via->via_params, "branch");
  return result;
}

landline_address landline_message_address(const osip_message_t *message, landline_list list, int place) {
  const osip_list_t *addresses = &message->contacts;
  if (list == landline_routes) addresses = &message->routes;
  if (list == landline_record_routes) addresses = &message->record_routes;
  return read_address(osip_list_get(addresses, place));
}

char *landline_message_print(osip_message_t *message, size_t *count) {
  char *printed = NULL;
  *count = 0;
  osip_message_force_update(message);
  if (osip_message_to_str(message, &printed, count) != OSIP_SUCCESS) return NULL;
  return printed;
}

void landline_text_free(char *printed) { osip_free(printed); }
