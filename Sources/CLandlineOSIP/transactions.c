#include "landline_osip.h"

#include <stdalign.h>
#include <stddef.h>
#include <stdio.h>

#include <osip2/osip_mt.h>

// Most events that one call causes; a machine causes four at most.
enum { maximum_events = 16 };

// Nine tenths and more of osip_transaction_t are DNS records that nothing here reads, so only the part before them is
// kept.
enum { kept_bytes = offsetof(osip_transaction_t, record) };

struct landline_machine {
  // First, so that the library's callbacks find the machine by its transaction.
  alignas(osip_transaction_t) unsigned char transaction[kept_bytes];
  union {
    osip_ict_t ict;
    osip_nict_t nict;
    osip_ist_t ist;
    osip_nist_t nist;
  } context;
  // Of the last response that it sent or received.
  int status;
};

enum { kind_count = 4, status_classes = 7 };

// What machines of one kind and transport have in common.
typedef struct prototype {
  // As the library makes one at the time 0. Machines share its texts, and its queue, which is empty between calls.
  osip_transaction_t *transaction;
  osip_message_t *request;
} prototype;

struct landline_machines {
  osip_t *osip;
  prototype prototypes[kind_count][2];
  // By the first digit of the status, from 1.
  osip_message_t *responses[status_classes];
  int event_count;
  landline_machine_event events[maximum_events];
};

static osip_transaction_t *transaction_of(const landline_machine *machine) { return (osip_transaction_t *)machine; }

static landline_machine *machine_of(osip_transaction_t *transaction) { return (landline_machine *)transaction; }

// The clock and the random numbers of libosip2: exported there, found here first by the dynamic linker.

static _Thread_local int64_t now_milliseconds;
static _Thread_local uint64_t random_draws;

int osip_gettimeofday(struct timeval *time, void *zone) {
  (void)zone;
  time->tv_sec = now_milliseconds / 1000;
  time->tv_usec = now_milliseconds % 1000 * 1000;
  return 0;
}

unsigned int osip_build_random_number(void) {
  random_draws++;
  return 0;
}

// -1 s means "not running" to the machines, and far ends overflow their arithmetic.
static const int64_t maximum_now = INT64_C(1) << 52;

void landline_machines_set_now(int64_t milliseconds) {
  now_milliseconds = milliseconds < 0 ? 0 : milliseconds > maximum_now ? maximum_now : milliseconds;
}

int64_t landline_machines_clock(void) {
  // Through the library, so that a library that kept its own clock shows.
  return (int64_t)osip_getsystemtime(NULL) * 1000;
}

uint64_t landline_machines_random_draws(void) { return random_draws; }

// Callbacks: record only.

static void record(osip_transaction_t *transaction, landline_machine_event_source source, int type) {
  struct landline_machines *machines = osip_get_application_context(transaction->config);
  if (machines == NULL || machines->event_count >= maximum_events) return;
  machines->events[machines->event_count++] = (landline_machine_event){.source = source, .type = type};
}

static int on_send(osip_transaction_t *transaction, osip_message_t *message, char *host, int port, int socket) {
  (void)host;
  (void)port;
  (void)socket;
  if (message == NULL) return 0;
  if (MSG_IS_RESPONSE(message)) {
    record(transaction, LANDLINE_MACHINE_SENDS_RESPONSE, machine_of(transaction)->status);
  } else {
    record(transaction, MSG_IS_ACK(message) ? LANDLINE_MACHINE_SENDS_ACK : LANDLINE_MACHINE_SENDS_REQUEST, 0);
  }
  return 0;
}

static void on_message(int type, osip_transaction_t *transaction, osip_message_t *message) {
  (void)message;
  record(transaction, LANDLINE_MACHINE_MESSAGE, type);
}

static void on_end(int type, osip_transaction_t *transaction) { record(transaction, LANDLINE_MACHINE_ENDED, type); }

static void on_transport_error(int type, osip_transaction_t *transaction, int error) {
  (void)error;
  record(transaction, LANDLINE_MACHINE_TRANSPORT_ERROR, type);
}

// Skeletons: what the machines read of a message, and nothing that came from a peer. Each is parsed once and shared by
// all machines, so that the library must never free one: it frees a machine's last response when it gets the next, and
// messages that it does not want; `respond` sees to both.

static osip_message_t *parsed(const char *text, int length) {
  osip_message_t *message = NULL;
  if (length <= 0 || osip_message_init(&message) != OSIP_SUCCESS) return NULL;
  if (osip_message_parse(message, text, (size_t)length) != OSIP_SUCCESS) {
    osip_message_free(message);
    return NULL;
  }
  return message;
}

// Values of one character are refused in some places.
#define FIELDS \
  "Via: SIP/2.0/%s ab\r\nFrom: <sip:ab>\r\nTo: <sip:ab>\r\nCall-ID: ab\r\nCSeq: 1 %s\r\nContent-Length: 0\r\n\r\n"

static osip_message_t *request_skeleton(osip_fsm_type_t type, bool is_stream) {
  char text[256];
  const char *method = type == ICT || type == IST ? "INVITE" : "OPTIONS";
  const char *transport = is_stream ? "TCP" : "UDP";
  int length = snprintf(text, sizeof text, "%s sip:ab SIP/2.0\r\n" FIELDS, method, transport, method);
  return length < (int)sizeof text ? parsed(text, length) : NULL;
}

// Of a response no machine reads more than the class of its status, and that there is a Via.
static osip_message_t *response_skeleton(int status_class) {
  char text[256];
  int length = snprintf(text, sizeof text, "SIP/2.0 %d OK\r\n" FIELDS, status_class * 100, "UDP", "INVITE");
  return length < (int)sizeof text ? parsed(text, length) : NULL;
}

// The shared part.

static bool make_prototype(prototype *made, osip_t *osip, osip_fsm_type_t type, bool is_stream) {
  made->request = request_skeleton(type, is_stream);
  if (made->request == NULL) return false;
  if (osip_transaction_init(&made->transaction, type, osip, made->request) != OSIP_SUCCESS) return false;
  // Out of the library's list, which every look-up and timer would walk.
  osip_remove_transaction(osip, made->transaction);
  return true;
}

static bool make_shared(landline_machines *machines) {
  static const osip_fsm_type_t types[kind_count] = {ICT, NICT, IST, NIST};
  int64_t now = now_milliseconds;
  bool is_made = true;
  now_milliseconds = 0;
  for (int kind = 0; kind < kind_count && is_made; kind++) {
    is_made = make_prototype(&machines->prototypes[kind][false], machines->osip, types[kind], false)
              && make_prototype(&machines->prototypes[kind][true], machines->osip, types[kind], true);
  }
  now_milliseconds = now;
  for (int class = 1; class < status_classes && is_made; class++) {
    machines->responses[class] = response_skeleton(class);
    is_made = machines->responses[class] != NULL;
  }
  return is_made;
}

landline_machines *landline_machines_new(void) {
  struct landline_machines *machines = calloc(1, sizeof *machines);
  if (machines == NULL) return NULL;
  if (osip_init(&machines->osip) != OSIP_SUCCESS) {
    free(machines);
    return NULL;
  }
  if (!make_shared(machines)) {
    landline_machines_free(machines);
    return NULL;
  }
  osip_set_application_context(machines->osip, machines);
  osip_set_cb_send_message(machines->osip, on_send);
  for (int type = 0; type < OSIP_MESSAGE_CALLBACK_COUNT; type++) {
    osip_set_message_callback(machines->osip, type, on_message);
  }
  for (int type = 0; type < OSIP_KILL_CALLBACK_COUNT; type++) {
    osip_set_kill_transaction_callback(machines->osip, type, on_end);
  }
  for (int type = 0; type < OSIP_TRANSPORT_ERROR_CALLBACK_COUNT; type++) {
    osip_set_transport_error_callback(machines->osip, type, on_transport_error);
  }
  return machines;
}

void landline_machines_free(landline_machines *machines) {
  if (machines == NULL) return;
  for (int kind = 0; kind < kind_count; kind++) {
    for (int stream = 0; stream < 2; stream++) {
      osip_transaction_free2(machines->prototypes[kind][stream].transaction);
      osip_message_free(machines->prototypes[kind][stream].request);
    }
  }
  for (int class = 1; class < status_classes; class++) osip_message_free(machines->responses[class]);
  osip_release(machines->osip);
  free(machines);
}

int landline_machines_event_count(const landline_machines *machines) { return machines->event_count; }

landline_machine_event landline_machines_event(const landline_machines *machines, int index) {
  if (index < 0 || index >= machines->event_count) {
    return (landline_machine_event){.source = LANDLINE_MACHINE_MESSAGE, .type = -1};
  }
  return machines->events[index];
}

// One machine: a copy of its prototype. The library never frees a transaction by itself.

// Moves a time of the prototype, which was made at 0, to a machine that is made now. One that does not run stays.
static void shift(struct timeval *time) {
  if (time->tv_sec < 0) return;
  int64_t shifted = now_milliseconds + (int64_t)time->tv_sec * 1000 + time->tv_usec / 1000;
  time->tv_sec = shifted / 1000;
  time->tv_usec = shifted % 1000 * 1000;
}

landline_machine *landline_machine_new(landline_machines *machines, landline_machine_kind kind, bool is_stream) {
  const prototype *made = &machines->prototypes[kind][is_stream];
  landline_machine *machine = osip_malloc(sizeof *machine);
  if (machine == NULL) return NULL;
  machine->status = 0;
  osip_transaction_t *transaction = transaction_of(machine);
  memcpy(transaction, made->transaction, kept_bytes);
  transaction->your_instance = made->request;
  // The library counts some intervals from here.
  shift(&transaction->created_time);
  switch (transaction->ctx_type) {
  case ICT:
    machine->context.ict = *made->transaction->ict_context;
    transaction->ict_context = &machine->context.ict;
    shift(&machine->context.ict.timer_a_start);
    shift(&machine->context.ict.timer_b_start);
    break;
  case NICT:
    machine->context.nict = *made->transaction->nict_context;
    transaction->nict_context = &machine->context.nict;
    shift(&machine->context.nict.timer_e_start);
    shift(&machine->context.nict.timer_f_start);
    break;
  case IST:
    machine->context.ist = *made->transaction->ist_context;
    transaction->ist_context = &machine->context.ist;
    break;
  case NIST:
    machine->context.nist = *made->transaction->nist_context;
    transaction->nist_context = &machine->context.nist;
    break;
  }
  return machine;
}

void landline_machine_free(landline_machine *machine) {
  if (machine == NULL) return;
  // Made by the library for a failure of an INVITE; everything else is shared.
  osip_message_free(transaction_of(machine)->ack);
  osip_free(machine);
}

// The library frees the event.
static void execute(osip_transaction_t *transaction, type_t type, osip_message_t *message) {
  osip_event_t *event = osip_malloc(sizeof *event);
  if (event == NULL) return;
  *event = (osip_event_t){.type = type, .transactionid = transaction->transactionid, .sip = message};
  osip_transaction_execute(transaction, event);
}

void landline_machine_start(landline_machines *machines, landline_machine *machine) {
  osip_transaction_t *transaction = transaction_of(machine);
  osip_message_t *request = transaction->your_instance;
  machines->event_count = 0;
  if (transaction->orig_request != NULL) return;
  switch (transaction->ctx_type) {
  case ICT: execute(transaction, SND_REQINVITE, request); break;
  case NICT: execute(transaction, SND_REQUEST, request); break;
  case IST: execute(transaction, RCV_REQINVITE, request); break;
  case NIST: execute(transaction, RCV_REQUEST, request); break;
  }
}

void landline_machine_repeat(landline_machines *machines, landline_machine *machine) {
  osip_transaction_t *transaction = transaction_of(machine);
  machines->event_count = 0;
  // A machine frees a repeated request unread.
  if (transaction->ctx_type == IST) execute(transaction, RCV_REQINVITE, NULL);
  if (transaction->ctx_type == NIST) execute(transaction, RCV_REQUEST, NULL);
}

void landline_machine_acknowledge(landline_machines *machines, landline_machine *machine) {
  osip_transaction_t *transaction = transaction_of(machine);
  machines->event_count = 0;
  // An ACK is kept and not read. A repeated one would start timer I again, without end.
  if (transaction->ctx_type == IST && transaction->state != IST_CONFIRMED) execute(transaction, RCV_REQACK, NULL);
}

// Whether the machine keeps a response; in any other state it frees one unread.
static bool takes_response(const osip_transaction_t *transaction) {
  switch (transaction->state) {
  case ICT_CALLING:
  case ICT_PROCEEDING:
  case NICT_TRYING:
  case NICT_PROCEEDING:
  case IST_PROCEEDING:
  case NIST_TRYING:
  case NIST_PROCEEDING: return true;
  default: return false;
  }
}

void landline_machine_respond(landline_machines *machines, landline_machine *machine, int status) {
  osip_transaction_t *transaction = transaction_of(machine);
  machines->event_count = 0;
  if (status < 100 || status > 699) return;
  osip_message_t *response = NULL;
  if (takes_response(transaction)) {
    response = machines->responses[status / 100];
    transaction->last_response = NULL;
    machine->status = status;
  }
  bool is_client = transaction->ctx_type == ICT || transaction->ctx_type == NICT;
  type_t type = is_client ? RCV_STATUS_1XX : SND_STATUS_1XX;
  if (status >= 200) type = is_client ? RCV_STATUS_2XX : SND_STATUS_2XX;
  if (status >= 300) type = is_client ? RCV_STATUS_3456XX : SND_STATUS_3456XX;
  osip_nict_t *client = status < 200 ? transaction->nict_context : NULL;
  struct timeval running = {.tv_sec = -1};
  if (client != NULL) running = client->timer_e_start;
  execute(transaction, type, response);
  // A provisional response changes the next interval, not the running one (RFC 3261 section 17.1.2.2); the library
  // starts anew, so that a peer could put off every copy.
  if (client != NULL && running.tv_sec >= 0) client->timer_e_start = running;
}

void landline_machine_run_timers(landline_machines *machines, landline_machine *machine) {
  osip_transaction_t *transaction = transaction_of(machine);
  osip_t *osip = machines->osip;
  machines->event_count = 0;
  // Alone in the list for as long as the library walks it.
  switch (transaction->ctx_type) {
  case ICT:
    osip_list_add(&osip->osip_ict_transactions, transaction, 0);
    osip_timers_ict_execute(osip);
    osip_list_remove(&osip->osip_ict_transactions, 0);
    break;
  case NICT:
    osip_list_add(&osip->osip_nict_transactions, transaction, 0);
    osip_timers_nict_execute(osip);
    osip_list_remove(&osip->osip_nict_transactions, 0);
    break;
  case IST:
    osip_list_add(&osip->osip_ist_transactions, transaction, 0);
    osip_timers_ist_execute(osip);
    osip_list_remove(&osip->osip_ist_transactions, 0);
    break;
  case NIST:
    osip_list_add(&osip->osip_nist_transactions, transaction, 0);
    osip_timers_nist_execute(osip);
    osip_list_remove(&osip->osip_nist_transactions, 0);
    break;
  }
  osip_event_t *event;
  while ((event = osip_fifo_tryget(transaction->transactionff)) != NULL) {
    osip_transaction_execute(transaction, event);
  }
}

static void earlier(int64_t *deadline, const struct timeval *timer) {
  if (timer->tv_sec < 0) return;
  // Machines count in microseconds, and only whole milliseconds ever go in.
  int64_t due = (int64_t)timer->tv_sec * 1000 + timer->tv_usec / 1000;
  if (*deadline < 0 || due < *deadline) *deadline = due;
}

int64_t landline_machine_deadline(const landline_machine *machine) {
  const osip_transaction_t *transaction = transaction_of(machine);
  int64_t deadline = -1;
  switch (transaction->state) {
  case ICT_CALLING:
    earlier(&deadline, &transaction->ict_context->timer_a_start);
    earlier(&deadline, &transaction->ict_context->timer_b_start);
    break;
  case ICT_COMPLETED: earlier(&deadline, &transaction->ict_context->timer_d_start); break;
  case NICT_TRYING:
  case NICT_PROCEEDING:
    earlier(&deadline, &transaction->nict_context->timer_e_start);
    earlier(&deadline, &transaction->nict_context->timer_f_start);
    break;
  case NICT_COMPLETED: earlier(&deadline, &transaction->nict_context->timer_k_start); break;
  case IST_COMPLETED:
    earlier(&deadline, &transaction->ist_context->timer_g_start);
    earlier(&deadline, &transaction->ist_context->timer_h_start);
    break;
  case IST_CONFIRMED: earlier(&deadline, &transaction->ist_context->timer_i_start); break;
  case NIST_COMPLETED: earlier(&deadline, &transaction->nist_context->timer_j_start); break;
  default: break;
  }
  return deadline;
}
