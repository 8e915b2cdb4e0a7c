/// Why a codec could not be made.
public enum CodecFailure: Error, Hashable, Sendable {
  /// The codec has no such sampling rate, in Hz.
  case samplingRate(Int)
  /// The library refused, with an error number of its own.
  case library(Int32)
}
