import Foundation

/// Small C programs that count what a process does; built for a run as the yardstick is.
enum CountingPrograms {
  /// Builds one of them.
  /// - Returns: its path; `nil` where there is no compiler.
  static func build(_ name: String, _ text: String, _ arguments: [String] = [], in folder: String) -> String? {
    let (source, program) = ("\(folder)/\(name).c", "\(folder)/\(name)")
    guard (try? text.write(toFile: source, atomically: true, encoding: .utf8)) != nil,
      (try? PeerProgram("gcc", ["-O2", "-w", "-o", program, source] + arguments))?.wait() == 0
    else { return nil }
    return program
  }

  /// As a library that is loaded before all others.
  static func buildAllocations(in folder: String) -> String? {
    build("allocations", allocations, ["-shared", "-fPIC"], in: folder)
  }

  /// Loaded before everything else, counts calls of the allocator into a file of 8 bytes that LANDLINE_ALLOCATIONS names.
  static let allocations = """
    #define _GNU_SOURCE
    #include <dlfcn.h>
    #include <fcntl.h>
    #include <stddef.h>
    #include <stdlib.h>
    #include <sys/mman.h>
    #include <unistd.h>
    extern void *__libc_malloc(size_t); extern void *__libc_calloc(size_t, size_t);
    extern void *__libc_realloc(void *, size_t); extern void *__libc_memalign(size_t, size_t);
    static long nowhere, *count = &nowhere;
    __attribute__((constructor)) static void start(void) {
      const char *name = getenv("LANDLINE_ALLOCATIONS");
      int file = name ? open(name, O_RDWR | O_CLOEXEC) : -1;
      void *page = file < 0 ? MAP_FAILED : mmap(0, 8, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
      if (page != MAP_FAILED) count = page;
    }
    static void counted(void) { __atomic_fetch_add(count, 1, __ATOMIC_RELAXED); }
    void *malloc(size_t n) { counted(); return __libc_malloc(n); }
    void *calloc(size_t n, size_t m) { counted(); return __libc_calloc(n, m); }
    void *realloc(void *p, size_t n) { counted(); return __libc_realloc(p, n); }
    void *memalign(size_t a, size_t n) { counted(); return __libc_memalign(a, n); }
    void *aligned_alloc(size_t a, size_t n) { counted(); return __libc_memalign(a, n); }
    int posix_memalign(void **p, size_t a, size_t n) { counted(); *p = __libc_memalign(a, n); return *p ? 0 : 12; }
    """

  /// `instructions PID SECONDS`: instructions of user space of all threads in that time, or `absent` where the kernel or
  /// the processor does not count them.
  static let instructions = """
    #include <dirent.h>
    #include <linux/perf_event.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>
    #include <sys/syscall.h>
    #include <unistd.h>
    int main(int c, char **v) {
      if (c < 3) return 2;
      char path[64]; snprintf(path, sizeof path, "/proc/%d/task", atoi(v[1]));
      DIR *threads = opendir(path); struct dirent *entry; int counters[512], n = 0;
      while (threads && n < 512 && (entry = readdir(threads))) {
        if (atoi(entry->d_name) <= 0) continue;
        struct perf_event_attr what; memset(&what, 0, sizeof what);
        what.size = sizeof what; what.type = PERF_TYPE_HARDWARE; what.config = PERF_COUNT_HW_INSTRUCTIONS;
        what.exclude_kernel = 1;
        int counter = syscall(SYS_perf_event_open, &what, atoi(entry->d_name), -1, -1, 0);
        if (counter >= 0) counters[n++] = counter;
      }
      if (n == 0) { puts("absent"); return 0; }
      long long before = 0, after = 0, value;
      for (int i = 0; i < n; i++) if (read(counters[i], &value, 8) == 8) before += value;
      usleep(atof(v[2]) * 1e6);
      for (int i = 0; i < n; i++) if (read(counters[i], &value, 8) == 8) after += value;
      printf("%lld\\n", after - before);
      return 0;
    }
    """

  /// `events PID EVENT…`: says `ready`, counts until its input ends, and then prints each event with how often it happened
  /// in all threads of the process, or `absent` where the kernel does not count it for this user. An event is
  /// `switches`, or a tracepoint such as `raw_syscalls/sys_enter`.
  static let events = """
    #include <dirent.h>
    #include <linux/perf_event.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>
    #include <sys/syscall.h>
    #include <unistd.h>
    enum { MOST_EVENTS = 16, MOST_THREADS = 512 };
    static int counters[MOST_EVENTS][MOST_THREADS], threads[MOST_THREADS];
    static long identifier(const char *event) {
      char path[256]; long id = -1;
      snprintf(path, sizeof path, "/sys/kernel/tracing/events/%s/id", event);
      FILE *file = fopen(path, "r");
      if (file) { if (fscanf(file, "%ld", &id) != 1) id = -1; fclose(file); }
      return id;
    }
    int main(int c, char **v) {
      int events = c - 2, n = 0;
      if (events < 1 || events > MOST_EVENTS) return 2;
      char path[64]; snprintf(path, sizeof path, "/proc/%d/task", atoi(v[1]));
      DIR *list = opendir(path); struct dirent *entry;
      while (list && n < MOST_THREADS && (entry = readdir(list)))
        if (atoi(entry->d_name) > 0) threads[n++] = atoi(entry->d_name);
      for (int e = 0; e < events; e++) {
        struct perf_event_attr what; memset(&what, 0, sizeof what);
        int isSwitches = !strcmp(v[e + 2], "switches");
        long id = isSwitches ? PERF_COUNT_SW_CONTEXT_SWITCHES : identifier(v[e + 2]);
        what.size = sizeof what; what.type = isSwitches ? PERF_TYPE_SOFTWARE : PERF_TYPE_TRACEPOINT;
        what.config = id; what.inherit = 1;
        for (int t = 0; t < n; t++)
          counters[e][t] = id < 0 ? -1 : syscall(SYS_perf_event_open, &what, threads[t], -1, -1, 0);
      }
      puts("ready"); fflush(stdout);
      char byte; while (read(0, &byte, 1) > 0) {}
      for (int e = 0; e < events; e++) {
        long long sum = 0, value; int counted = 0;
        for (int t = 0; t < n; t++)
          if (counters[e][t] >= 0 && read(counters[e][t], &value, 8) == 8) { sum += value; counted++; }
        if (counted) printf("%s %lld\\n", v[e + 2], sum); else printf("%s absent\\n", v[e + 2]);
      }
      return 0;
    }
    """
}
