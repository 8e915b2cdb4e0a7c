/// Decides where a command finds its gateway, its ledger and its application, by one order for all of them: a flag, a
/// variable of the environment, the gateway that this user runs, the configuration, a default. It reads nothing itself.
package struct Finder: Sendable {
  /// What the command line names. Each of ``control``, ``state``, ``configuration`` and ``url`` says which of several
  /// gateways is meant as well.
  package struct Flags: Hashable, Sendable {
    package var database: String?
    package var control: String?
    package var state: String?
    package var configuration: String?
    package var environment: String?
    package var url: String?
    package var applicationKey: String?
    package var secretFile: String?
    package var user: String?

    package init() {}
  }

  /// What a configuration's file says.
  package enum Configured: Hashable, Sendable {
    case places(GatewayPlaces)
    /// There is no such file, or this user may not read it.
    case missing
    case broken
  }

  package var flags: Flags
  package var variables: [String: String]
  /// Those that run, the newest first.
  package var gateways: [GatewayPointer]
  /// Folder of the user's own settings and state: `~/.config`, `~/.local/state`.
  package var settingsFolder: String
  package var stateFolder: String
  /// Where relative paths of flags and variables start.
  package var workingFolder: String
  /// Whether a file exists.
  package var exists: @Sendable (String) -> Bool
  /// Reads a configuration; asked only where nothing above it decides.
  package var configured: @Sendable (String) -> Configured

  package init(
    flags: Flags, variables: [String: String], gateways: [GatewayPointer], settingsFolder: String, stateFolder: String,
    workingFolder: String, exists: @escaping @Sendable (String) -> Bool,
    configured: @escaping @Sendable (String) -> Configured
  ) {
    self.flags = flags
    self.variables = variables
    self.gateways = gateways
    self.settingsFolder = settingsFolder
    self.stateFolder = stateFolder
    self.workingFolder = workingFolder
    self.exists = exists
    self.configured = configured
  }

  /// The configuration of the machine, where a user has none.
  package static let systemConfiguration = "/etc/landline/landline.yaml"
  /// The state folder of a gateway that nothing gives another.
  package static let systemState = "/var/lib/landline"
}

/// A place, and who named it.
package struct Found<Value: Hashable & Sendable>: Hashable, Sendable {
  package var value: Value
  package var origin: FoundOrigin

  package init(_ value: Value, _ origin: FoundOrigin) {
    self.value = value
    self.origin = origin
  }
}

/// Who named a place.
package enum FoundOrigin: Hashable, Sendable, CustomStringConvertible {
  /// With its dashes.
  case flag(String)
  case variable(String)
  /// A gateway that runs, and how many of this user's do.
  case gateway(GatewayPointer, among: Int)
  /// Path of a file.
  case configuration(String)
  case standard

  /// `--database`, `LANDLINE_DATABASE`, `landline dev, process 4711`, `/etc/landline/landline.yaml`, `default`.
  package var description: String {
    switch self {
    case .flag(let name), .variable(let name), .configuration(let name): name
    case .gateway(let gateway, let count):
      gateway.name + (count > 1 ? ", the newest of \(count); --control, --state or --url names another" : "")
    case .standard: "default"
    }
  }

  /// Whether somebody named the place for this very command or shell.
  package var isGiven: Bool {
    switch self {
    case .flag, .variable: true
    case .gateway, .configuration, .standard: false
    }
  }
}

/// Where the secret of an application stands.
package enum SecretPlace: Hashable, Sendable {
  /// In the file's first line.
  case file(String)
  /// In this variable of the environment.
  case variable(String)
  /// In the configuration, under this application's key.
  case configuration(String, key: String)
}

/// Why nothing can be used.
package enum FinderProblem: Error, Hashable, Sendable {
  /// Several environments could be meant: their names.
  case environments([String], of: String)
  /// The environment that was named is not there; those that are.
  case unknownEnvironment(String, known: [String], of: String)
  /// Several applications could be meant: key, name and environment of each.
  case applications([GatewayPlaces.Application], of: String)
  /// The configuration that would have to say it cannot be read.
  case configuration(String)
}
