/// Where a value of the configuration comes from.
public enum ConfigurationOrigin: Hashable, Sendable, CustomStringConvertible {
  /// A flag of the command line, with its dashes.
  case flag(String)
  /// A variable of the process's environment.
  case environment(String)
  /// Line of the file, from 1.
  case file(line: Int)
  /// Nobody said otherwise.
  case standard

  /// `--state`, `LANDLINE_STATE`, `line 12`, `default`.
  public var description: String {
    switch self {
    case .flag(let name), .environment(let name): name
    case .file(let line): "line \(line)"
    case .standard: "default"
    }
  }
}

/// What stands above the file: flags of the command line, and under them variables of the environment.
public struct ConfigurationOverrides: Sendable {
  /// Keys that can be set outside the file; the raw value is the key's path in it.
  public enum Key: String, Hashable, Sendable, CaseIterable {
    case node
    case state
    case httpBind = "http.bind"
    case logLevel = "log.level"
    case logFormat = "log.format"

    /// `LANDLINE_HTTP_BIND`.
    public var variable: String {
      "LANDLINE_" + String(rawValue.uppercased().map { $0 == "." || $0 == "-" ? "_" : $0 })
    }

    /// `--http-bind`.
    public var flag: String { "--" + String(rawValue.map { $0 == "." ? "-" : $0 }) }
  }

  private var values: [String: (text: String, origin: ConfigurationOrigin)] = [:]
  /// The folder that systemd made for the service's state (systemd.exec, `StateDirectory=`), where it did.
  let stateDirectory: String?

  /// - Parameters:
  ///   - flags: Only those that were given.
  ///   - environment: The whole of the process's environment; an empty variable counts as not set.
  public init(flags: [Key: String] = [:], environment: [String: String] = [:]) {
    for key in Key.allCases {
      if let text = flags[key] {
        values[key.rawValue] = (text, .flag(key.flag))
      } else if let text = environment[key.variable], !text.isEmpty {
        values[key.rawValue] = (text, .environment(key.variable))
      }
    }
    // With several folders the first one is ours.
    stateDirectory = environment["STATE_DIRECTORY"]?.split(separator: ":").first.map(String.init)
  }

  subscript(path: String) -> (text: String, origin: ConfigurationOrigin)? { values[path] }
}

/// One value as it holds, and where it comes from. Secrets are not among them.
public struct ConfigurationSetting: Hashable, Sendable {
  /// `http.bind`.
  public let key: String
  /// As text; `<redacted>` for what is too large or too secret to show.
  public let value: String
  /// ``ConfigurationOrigin/standard`` where nobody named a value.
  public let origin: ConfigurationOrigin
}
