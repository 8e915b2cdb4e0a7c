// Sockets for media: what the system offers that Swift's module of the C library leaves out (recvmmsg(2), sendmmsg(2),
// epoll(7), eventfd(2), the CPU time of one thread). Nothing here decides anything.
#ifndef LANDLINE_SOCKETS_H
#define LANDLINE_SOCKETS_H

#include <stdbool.h>
#include <stdint.h>

/// One datagram: where its bytes are, and who sent it or who gets it. IPv4 addresses are mapped into IPv6
/// (RFC 4291 section 2.5.5.2); address and port are in host order.
struct landline_datagram {
  void *data;
  /// Bytes of room at `data`, for receiving.
  uint32_t capacity;
  /// Bytes of the datagram; those that found no room are not counted.
  uint32_t count;
  uint64_t high;
  uint64_t low;
  uint16_t port;
  /// The datagram was longer than its room.
  bool is_truncated;
};

/// What became of datagrams that were to be sent; only ever grows.
struct landline_send_counters {
  uint64_t calls;
  uint64_t datagrams;
  uint64_t bytes;
  /// The kernel had no room (EAGAIN, ENOBUFS, ENOMEM).
  uint64_t no_room;
  /// There is no way to the address, or nobody there (ENETUNREACH, EHOSTUNREACH, ECONNREFUSED, EPERM, EACCES).
  uint64_t unreachable;
  /// Anything else, and an IPv6 address on an IPv4 socket.
  uint64_t failed;
};

/// Room for the system's own description of several datagrams.
struct landline_batch;

/// For at most `capacity` datagrams at `datagrams`, which stay where they are, with their room, while the batch lives.
/// @return to be freed with landline_batch_free; NULL when memory is short.
struct landline_batch *landline_batch_make(struct landline_datagram *datagrams, int32_t capacity);
void landline_batch_free(struct landline_batch *batch);

/// Takes what has come, at most `limit` datagrams, without waiting.
/// @return how many; 0 when there are none; -errno after an error.
int32_t landline_receive(int32_t socket, struct landline_batch *batch, int32_t limit);

/// Hands the first `count` datagrams to the kernel without waiting. One that it refuses is counted; the others go.
void landline_send(
    int32_t socket, bool is_ipv4, struct landline_batch *batch, int32_t count, struct landline_send_counters *counters);

/// The same for one datagram, without a batch.
void landline_send_one(
    int32_t socket, bool is_ipv4, const struct landline_datagram *datagram, struct landline_send_counters *counters);

/// What a UDP socket is opened with.
struct landline_socket_options {
  uint64_t high;
  uint64_t low;
  /// 0: the system chooses.
  uint16_t port;
  /// Bytes that the kernel is asked to hold, each way; it may grant less.
  int32_t receive_bytes;
  int32_t send_bytes;
  /// The TOS byte or the traffic class (RFC 2474): the code point times four.
  int32_t traffic_class;
  /// The kernel drops what comes from another machine, whatever address it names: only packets of the loopback
  /// interface pass, which is how a machine talks to each of its own addresses.
  bool only_this_machine;
};

/// Opens and binds; neither blocks nor is inherited. An IPv6 socket takes IPv6 only.
/// @param port set to the port that it is bound to; only one that the system chose is asked for.
/// @param granted set to the bytes that the kernel holds for receiving, its own use included; may be null.
/// @return the descriptor; -errno after an error.
int32_t landline_socket_open(const struct landline_socket_options *options, uint16_t *port, int32_t *granted);

/// Reads and forgets at most `limit` datagrams.
/// @return how many there were.
int32_t landline_socket_discard(int32_t socket, int32_t limit);

/// epoll_create1(2). @return the descriptor; -errno after an error.
int32_t landline_poll_open(void);
/// Tells of input with `tag`, as long as there is some. @return 0; -errno after an error.
int32_t landline_poll_add(int32_t poll, int32_t descriptor, uint64_t tag);
/// Tells of each landline_wake once, with `tag`: what it counts need not be read. @return 0; -errno after an error.
int32_t landline_poll_add_wake(int32_t poll, int32_t wake, uint64_t tag);
int32_t landline_poll_remove(int32_t poll, int32_t descriptor);

/// What epoll_wait(2) fills.
struct landline_poll_events;
struct landline_poll_events *landline_poll_events_make(int32_t capacity);
void landline_poll_events_free(struct landline_poll_events *events);

/// Waits for input, at most `nanoseconds`; negative: for ever. @return how many descriptors have input, 0 when
/// interrupted; -errno after an error.
int32_t landline_poll_wait(int32_t poll, struct landline_poll_events *events, int64_t nanoseconds);
uint64_t landline_poll_tag(const struct landline_poll_events *events, int32_t index);

/// eventfd(2). @return the descriptor; -errno after an error.
int32_t landline_wake_open(void);
void landline_wake(int32_t wake);

/// Sleeps until a nanosecond of CLOCK_MONOTONIC; earlier when a signal comes.
void landline_sleep_until(int64_t nanoseconds);
/// close(2).
void landline_descriptor_close(int32_t descriptor);
/// The lowest descriptor that is free at or above `from`; -errno after an error.
int32_t landline_descriptor_lowest(int32_t from);
/// The soft RLIMIT_NOFILE, getrlimit(2): every descriptor is below it. INT32_MAX where it is larger, or unknown.
int32_t landline_descriptor_limit(void);

/// CLOCK_MONOTONIC.
int64_t landline_monotonic_nanoseconds(void);
/// CPU time that the calling thread has used.
int64_t landline_thread_nanoseconds(void);

/// Runs `body` on a new, detached thread. At most 15 characters of `name` count.
/// @return 0; -errno after an error, and then `body` is never run.
int32_t landline_thread_start(const char *name, void (*body)(void *argument), void *argument);

/// Gives pages of the heap that nothing is in back to the system (malloc_trim(3)). Walks the whole heap.
void landline_return_memory(void);

#endif
