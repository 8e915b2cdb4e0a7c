/// The form of sound between an app and a call: mono, 16 bits, in frames of 20 ms.
public enum AudioFormat {
  /// Hz.
  public static let samplingRate = 48_000
  /// Length of a frame: sources and sinks are called so often.
  public static let frameMilliseconds = 20
  /// Samples of a frame.
  public static let frameSamples = samplingRate / 1000 * frameMilliseconds
}
