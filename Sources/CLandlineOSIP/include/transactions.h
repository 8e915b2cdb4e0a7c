#ifndef LANDLINE_TRANSACTIONS_H
#define LANDLINE_TRANSACTIONS_H

// libosip2's four transaction machines, without its lists, its clock and its copies of messages.
//
// A machine decides when something is sent, passed on and over. It sees skeletons of messages only: a method or a
// status, and whether the transport is a stream. Bytes, destinations and the index stay with the caller. What a
// machine did during a call is read after the call, in order, with landline_machines_event.

#include <stdbool.h>
#include <stdint.h>

/// The time that machines see on this thread: milliseconds, from 0.
void landline_machines_set_now(int64_t milliseconds);
/// What libosip2 reads as its clock on this thread.
int64_t landline_machines_clock(void);
/// How often libosip2 asked for a random number on this thread: identifiers never come from it.
uint64_t landline_machines_random_draws(void);

typedef enum landline_machine_kind {
  LANDLINE_INVITE_CLIENT,
  LANDLINE_CLIENT,
  LANDLINE_INVITE_SERVER,
  LANDLINE_SERVER
} landline_machine_kind;

typedef enum landline_machine_event_source {
  LANDLINE_MACHINE_SENDS_REQUEST,
  LANDLINE_MACHINE_SENDS_ACK,
  LANDLINE_MACHINE_SENDS_RESPONSE,
  /// The type is one of osip_message_callback_type_t.
  LANDLINE_MACHINE_MESSAGE,
  LANDLINE_MACHINE_ENDED,
  LANDLINE_MACHINE_TRANSPORT_ERROR
} landline_machine_event_source;

typedef struct landline_machine_event {
  landline_machine_event_source source;
  int32_t type;
} landline_machine_event;

/// What the machines of one event loop share; used by one thread at a time.
typedef struct landline_machines landline_machines;
typedef struct landline_machine landline_machine;

/// NULL without memory. landline_osip_prepare comes first.
landline_machines *landline_machines_new(void);
/// Every machine must be gone.
void landline_machines_free(landline_machines *machines);

/// A client machine sends with landline_machine_start, a server machine receives with it. NULL without memory.
landline_machine *landline_machine_new(landline_machines *machines, landline_machine_kind kind, bool is_stream);
void landline_machine_free(landline_machine *machine);

/// The request is sent, or was received.
void landline_machine_start(landline_machines *machines, landline_machine *machine);
/// The request of a server machine was received again.
void landline_machine_repeat(landline_machines *machines, landline_machine *machine);
/// The ACK of a server machine was received.
void landline_machine_acknowledge(landline_machines *machines, landline_machine *machine);
/// A client machine received, or a server machine sends, a response with this status, 100 to 699.
void landline_machine_respond(landline_machines *machines, landline_machine *machine, int status);
/// Fires the timers that are due.
void landline_machine_run_timers(landline_machines *machines, landline_machine *machine);

/// Milliseconds when the next timer is due; -1 without one.
int64_t landline_machine_deadline(const landline_machine *machine);

/// Events of the last call.
int landline_machines_event_count(const landline_machines *machines);
landline_machine_event landline_machines_event(const landline_machines *machines, int index);

#endif
