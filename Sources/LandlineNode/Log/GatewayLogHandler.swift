public import Logging

/// What swift-log writes to: one record for each event, to the process's ``LogOutput``.
public struct GatewayLogHandler: LogHandler {
  private let label: String
  private let output: LogOutput
  private var ownLevel: Logger.Level?
  /// Goes into every record of this logger. Of one key, the statement's own value wins, then the provider's.
  public var metadata: Logger.Metadata = [:]
  /// Asked anew for each record.
  public var metadataProvider: Logger.MetadataProvider?

  /// - Parameter label: The part of the gateway that speaks, such as `landline.sip`.
  public init(label: String, output: LogOutput, metadataProvider: Logger.MetadataProvider? = nil) {
    self.label = label
    self.output = output
    self.metadataProvider = metadataProvider
  }

  /// The output's level, whatever it is at the time, unless this logger was given one of its own.
  public var logLevel: Logger.Level {
    get { ownLevel ?? output.level }
    set { ownLevel = newValue }
  }

  /// `nil` takes the key out of this logger's ``metadata``.
  public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  /// Called by swift-log for statements that ``logLevel`` lets through; the level is not looked at again here.
  public func log(event: LogEvent) {
    // The nearest to the statement wins.
    var all = metadata
    if let provided = metadataProvider?.get() { all.merge(provided) { _, new in new } }
    if let own = event.metadata { all.merge(own) { _, new in new } }
    output.write(event, label: label, metadata: all)
  }
}
