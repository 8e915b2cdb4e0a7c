#define _GNU_SOURCE
#include "landline_sockets.h"

#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

union address {
  struct sockaddr plain;
  struct sockaddr_in ipv4;
  struct sockaddr_in6 ipv6;
};

struct landline_batch {
  struct landline_datagram *datagrams;
  int32_t capacity;
  struct mmsghdr *headers;
  struct iovec *vectors;
  union address *addresses;
};

// High and low halves of an IPv4 address mapped into IPv6.
#define MAPPED UINT64_C(0xFFFF00000000)

static bool is_mapped(uint64_t high, uint64_t low) { return high == 0 && low >> 32 == 0xFFFF; }

/// @return the length; 0 where an IPv6 address is meant for an IPv4 socket or the other way round.
static socklen_t write_address(union address *address, bool is_ipv4, uint64_t high, uint64_t low, uint16_t port) {
  if (is_ipv4 != is_mapped(high, low)) return 0;
  if (is_ipv4) {
    address->ipv4 = (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl((uint32_t)low)};
    return sizeof address->ipv4;
  }
  address->ipv6 = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_port = htons(port)};
  uint64_t halves[2] = {htobe64(high), htobe64(low)};
  memcpy(&address->ipv6.sin6_addr, halves, sizeof halves);
  return sizeof address->ipv6;
}

static void read_address(const union address *address, struct landline_datagram *datagram) {
  if (address->plain.sa_family == AF_INET) {
    datagram->high = 0;
    datagram->low = MAPPED | ntohl(address->ipv4.sin_addr.s_addr);
    datagram->port = ntohs(address->ipv4.sin_port);
  } else {
    uint64_t halves[2];
    memcpy(halves, &address->ipv6.sin6_addr, sizeof halves);
    datagram->high = be64toh(halves[0]);
    datagram->low = be64toh(halves[1]);
    datagram->port = ntohs(address->ipv6.sin6_port);
  }
}

struct landline_batch *landline_batch_make(struct landline_datagram *datagrams, int32_t capacity) {
  struct landline_batch *batch = calloc(1, sizeof *batch);
  if (!batch) return NULL;
  size_t count = (size_t)capacity;
  batch->datagrams = datagrams;
  batch->capacity = capacity;
  batch->headers = calloc(count, sizeof *batch->headers);
  batch->vectors = calloc(count, sizeof *batch->vectors);
  batch->addresses = calloc(count, sizeof *batch->addresses);
  if (!batch->headers || !batch->vectors || !batch->addresses) {
    landline_batch_free(batch);
    return NULL;
  }
  for (size_t index = 0; index < count; index++) {
    batch->vectors[index] =
        (struct iovec){.iov_base = datagrams[index].data, .iov_len = datagrams[index].capacity};
    batch->headers[index].msg_hdr = (struct msghdr){
        .msg_name = &batch->addresses[index],
        .msg_namelen = sizeof batch->addresses[index],
        .msg_iov = &batch->vectors[index],
        .msg_iovlen = 1};
  }
  return batch;
}

void landline_batch_free(struct landline_batch *batch) {
  if (!batch) return;
  free(batch->headers);
  free(batch->vectors);
  free(batch->addresses);
  free(batch);
}

int32_t landline_receive(int32_t socket, struct landline_batch *batch, int32_t limit) {
  if (limit > batch->capacity) limit = batch->capacity;
  int count = recvmmsg(socket, batch->headers, (unsigned)limit, MSG_DONTWAIT, NULL);
  if (count < 0) return errno == EAGAIN || errno == EINTR ? 0 : -errno;
  for (int index = 0; index < count; index++) {
    struct mmsghdr *header = &batch->headers[index];
    struct landline_datagram *datagram = &batch->datagrams[index];
    datagram->count = header->msg_len;
    datagram->is_truncated = (header->msg_hdr.msg_flags & MSG_TRUNC) != 0;
    read_address(&batch->addresses[index], datagram);
    // The kernel wrote how long the address is; the next call needs to know how much room it has.
    header->msg_hdr.msg_namelen = sizeof batch->addresses[index];
  }
  return count;
}

static void count_error(int error, struct landline_send_counters *counters) {
  switch (error) {
    case EAGAIN:
    case ENOBUFS:
    case ENOMEM: counters->no_room++; break;
    case ENETUNREACH:
    case EHOSTUNREACH:
    case ENETDOWN:
    case EHOSTDOWN:
    case ECONNREFUSED:
    case EPERM:
    case EACCES: counters->unreachable++; break;
    default: counters->failed++;
  }
}

void landline_send(
    int32_t socket, bool is_ipv4, struct landline_batch *batch, int32_t count, struct landline_send_counters *counters) {
  if (count > batch->capacity) count = batch->capacity;
  int filled = 0;
  for (int index = 0; index < count; index++) {
    const struct landline_datagram *datagram = &batch->datagrams[index];
    socklen_t length =
        write_address(&batch->addresses[filled], is_ipv4, datagram->high, datagram->low, datagram->port);
    if (!length) {
      counters->failed++;
      continue;
    }
    batch->vectors[filled] = (struct iovec){.iov_base = datagram->data, .iov_len = datagram->count};
    batch->headers[filled].msg_hdr.msg_namelen = length;
    filled++;
  }
  // Each turn gives away one datagram at least, or is one of few interruptions.
  int interruptions = 0;
  for (int done = 0; done < filled;) {
    counters->calls++;
    int sent = sendmmsg(socket, batch->headers + done, (unsigned)(filled - done), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent > 0) {
      for (int index = done; index < done + sent; index++) counters->bytes += batch->headers[index].msg_len;
      counters->datagrams += (uint64_t)sent;
      done += sent;
    } else if (errno == EINTR && interruptions < 4) {
      interruptions++;
    } else {
      count_error(errno, counters);
      done++;
    }
  }
}

void landline_send_one(
    int32_t socket, bool is_ipv4, const struct landline_datagram *datagram, struct landline_send_counters *counters) {
  union address address;
  socklen_t length = write_address(&address, is_ipv4, datagram->high, datagram->low, datagram->port);
  if (!length) {
    counters->failed++;
    return;
  }
  for (int attempt = 0; attempt < 4; attempt++) {
    counters->calls++;
    ssize_t sent =
        sendto(socket, datagram->data, datagram->count, MSG_DONTWAIT | MSG_NOSIGNAL, &address.plain, length);
    if (sent >= 0) {
      counters->datagrams++;
      counters->bytes += (uint64_t)sent;
      return;
    }
    if (errno != EINTR) break;
  }
  count_error(errno, counters);
}

static void set_option(int socket, int level, int name, int value) {
  // A kernel that knows an option not, or grants less, is no reason to go without media.
  (void)setsockopt(socket, level, name, &value, sizeof value);
}

/// Lets only packets pass that arrive by the loopback interface. @return 0; -errno after an error.
static int admit_this_machine_only(int socket) {
  unsigned loopback = if_nametoindex("lo");
  if (!loopback) return -errno;
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)(SKF_AD_OFF + SKF_AD_IFINDEX)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, loopback, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
      BPF_STMT(BPF_RET | BPF_K, 0),
  };
  struct sock_fprog program = {.len = sizeof code / sizeof *code, .filter = code};
  return setsockopt(socket, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) ? -errno : 0;
}

int32_t landline_socket_open(const struct landline_socket_options *options, uint16_t *port, int32_t *granted) {
  bool is_ipv4 = is_mapped(options->high, options->low);
  int descriptor = socket(is_ipv4 ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return -errno;
  set_option(descriptor, SOL_SOCKET, SO_RCVBUF, options->receive_bytes);
  set_option(descriptor, SOL_SOCKET, SO_SNDBUF, options->send_bytes);
  if (is_ipv4) {
    set_option(descriptor, IPPROTO_IP, IP_TOS, options->traffic_class);
  } else {
    set_option(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, 1);
    set_option(descriptor, IPPROTO_IPV6, IPV6_TCLASS, options->traffic_class);
  }
  // Before it is bound: nothing of others is ever in its queue.
  int refused = options->only_this_machine ? admit_this_machine_only(descriptor) : 0;
  if (refused) {
    close(descriptor);
    return refused;
  }
  union address address;
  socklen_t length = write_address(&address, is_ipv4, options->high, options->low, options->port);
  socklen_t size = sizeof *granted;
  if (bind(descriptor, &address.plain, length) ||
      (options->port == 0 && getsockname(descriptor, &address.plain, &length)) ||
      (granted && getsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, granted, &size))) {
    int error = errno;
    close(descriptor);
    return -error;
  }
  *port = ntohs(is_ipv4 ? address.ipv4.sin_port : address.ipv6.sin6_port);
  return descriptor;
}

int32_t landline_socket_discard(int32_t socket, int32_t limit) {
  char byte;
  int32_t count = 0;
  while (count < limit && recv(socket, &byte, sizeof byte, MSG_DONTWAIT | MSG_TRUNC) >= 0) count++;
  return count;
}

int32_t landline_poll_open(void) {
  int descriptor = epoll_create1(EPOLL_CLOEXEC);
  return descriptor < 0 ? -errno : descriptor;
}

static int32_t add(int32_t poll, int32_t descriptor, uint32_t events, uint64_t tag) {
  struct epoll_event event = {.events = events, .data.u64 = tag};
  return epoll_ctl(poll, EPOLL_CTL_ADD, descriptor, &event) ? -errno : 0;
}

int32_t landline_poll_add(int32_t poll, int32_t descriptor, uint64_t tag) {
  return add(poll, descriptor, EPOLLIN, tag);
}

int32_t landline_poll_add_wake(int32_t poll, int32_t wake, uint64_t tag) {
  return add(poll, wake, EPOLLIN | EPOLLET, tag);
}

int32_t landline_poll_remove(int32_t poll, int32_t descriptor) {
  struct epoll_event unused = {0};
  return epoll_ctl(poll, EPOLL_CTL_DEL, descriptor, &unused) ? -errno : 0;
}

struct landline_poll_events {
  int32_t capacity;
  struct epoll_event events[];
};

struct landline_poll_events *landline_poll_events_make(int32_t capacity) {
  struct landline_poll_events *events = calloc(1, sizeof *events + (size_t)capacity * sizeof events->events[0]);
  if (events) events->capacity = capacity;
  return events;
}

void landline_poll_events_free(struct landline_poll_events *events) { free(events); }

int32_t landline_poll_wait(int32_t poll, struct landline_poll_events *events, int64_t nanoseconds) {
  int count;
  if (nanoseconds <= 0) {
    count = epoll_wait(poll, events->events, events->capacity, nanoseconds < 0 ? -1 : 0);
  } else {
    struct timespec timeout = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
    count = epoll_pwait2(poll, events->events, events->capacity, &timeout, NULL);
    // Before Linux 5.11: whole milliseconds, rounded up, so that nothing wakes before its time over and over.
    if (count < 0 && errno == ENOSYS) {
      int64_t milliseconds = (nanoseconds + 999999) / 1000000;
      count = epoll_wait(poll, events->events, events->capacity, milliseconds > 60000 ? 60000 : (int)milliseconds);
    }
  }
  if (count < 0) return errno == EINTR ? 0 : -errno;
  return count;
}

uint64_t landline_poll_tag(const struct landline_poll_events *events, int32_t index) {
  return events->events[index].data.u64;
}

int32_t landline_wake_open(void) {
  int descriptor = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  return descriptor < 0 ? -errno : descriptor;
}

void landline_wake(int32_t wake) {
  // Nobody reads the counter: 2^64 wakes take longer than any machine runs.
  uint64_t one = 1;
  ssize_t written;
  do written = write(wake, &one, sizeof one);
  while (written < 0 && errno == EINTR);
}

void landline_descriptor_close(int32_t descriptor) { (void)close(descriptor); }

int32_t landline_descriptor_lowest(int32_t from) {
  int any = eventfd(0, EFD_CLOEXEC);
  if (any < 0) return -errno;
  int lowest = any >= from ? any : fcntl(any, F_DUPFD_CLOEXEC, from);
  int error = errno;
  if (lowest != any) close(any);
  if (lowest < 0) return -error;
  close(lowest);
  return lowest;
}

int32_t landline_descriptor_limit(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur > INT32_MAX) return INT32_MAX;
  return (int32_t)limit.rlim_cur;
}

static int64_t nanoseconds(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

void landline_sleep_until(int64_t nanoseconds) {
  struct timespec time = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
}

int64_t landline_monotonic_nanoseconds(void) { return nanoseconds(CLOCK_MONOTONIC); }
int64_t landline_thread_nanoseconds(void) { return nanoseconds(CLOCK_THREAD_CPUTIME_ID); }

struct start {
  void (*body)(void *);
  void *argument;
};

static void *run(void *argument) {
  struct start start = *(struct start *)argument;
  free(argument);
  start.body(start.argument);
  return NULL;
}

int32_t landline_thread_start(const char *name, void (*body)(void *argument), void *argument) {
  struct start *start = malloc(sizeof *start);
  if (!start) return -ENOMEM;
  *start = (struct start){.body = body, .argument = argument};
  pthread_t thread;
  int error = pthread_create(&thread, NULL, run, start);
  if (error) {
    free(start);
    return -error;
  }
  char short_name[16];
  snprintf(short_name, sizeof short_name, "%s", name);
  (void)pthread_setname_np(thread, short_name);
  (void)pthread_detach(thread);
  return 0;
}
