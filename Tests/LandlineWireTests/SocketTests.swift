import Testing

/// Tests with real sockets, one at a time: some count open files or fill buffers of the kernel.
@Suite(.serialized, .timeLimit(.minutes(3)))
enum SocketTests {}
