import SDPCore

/// The leg that a stream of sound comes in on, as far as its playout has to do with it.
protocol PlayoutSource: AnyObject {
  func codec(of payloadType: UInt8) -> AudioCodec
  /// Milliseconds (RFC 3550) of the stream.
  var jitterMilliseconds: Double { get }
  /// Packets whose sound could not be decoded.
  var malformed: UInt64 { get set }
  /// Packets of sound that were made good from the copy within the next one's sound, and those that had to be concealed.
  var recoveredByCodec: UInt64 { get set }
  var concealed: UInt64 { get set }
}
