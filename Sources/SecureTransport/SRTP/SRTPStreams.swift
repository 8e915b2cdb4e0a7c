/// What is remembered of each source that one key protects.
///
/// Nothing is ever forgotten while the key lives: forgetting a sender's numbers would use a key stream twice, and
/// forgetting a receiver's would let an old packet pass as that of a new source. So a new source is refused instead when
/// ``maximumSources`` is reached; only whoever holds the key can get there.
struct SRTPStreams {
  /// Sources under one key. A real peer has one or two.
  static let maximumSources = 1024

  struct Stream {
    let source: UInt32
    var rtp = ReplayWindow()
    var rtcp = ReplayWindow()
  }

  private var streams: ContiguousArray<Stream> = []
  private var recent = 0

  var isFull: Bool { streams.count >= SRTPStreams.maximumSources }

  /// Where the source stands.
  @inline(__always) mutating func find(_ source: UInt32) -> Int? {
    if recent < streams.count, streams[recent].source == source { return recent }
    return search(source)
  }

  private mutating func search(_ source: UInt32) -> Int? {
    for index in streams.indices where streams[index].source == source {
      recent = index
      return index
    }
    return nil
  }

  /// `nil` when there is no room.
  mutating func add(_ source: UInt32) -> Int? {
    guard !isFull else { return nil }
    streams.append(Stream(source: source))
    recent = streams.count - 1
    return recent
  }

  subscript(index: Int) -> Stream {
    @inline(__always) _read { yield streams[index] }
    @inline(__always) _modify { yield &streams[index] }
  }
}
