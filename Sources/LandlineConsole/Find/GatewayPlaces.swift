package import CallModel

/// Where one gateway is reached and what it keeps: as a running one has written it down, or as a configuration says.
package struct GatewayPlaces: Hashable, Sendable, Codable {
  package struct Environment: Hashable, Sendable, Codable {
    package var name: String
    /// Path of the ledger's file.
    package var ledger: String
    /// Micro-units that one top-up or correction may book; `nil` where that was not written down.
    package var largestAmountMicros: MicroUnits?
    /// Countries that every account without a list of its own may call; `nil` where they depend on the account.
    package var countries: [Int]?
    /// The same by account; who is not in it may call every country.
    package var accountCountries: [String: [Int]]?

    package init(
      name: String, ledger: String, largestAmountMicros: MicroUnits? = nil, countries: [Int]? = nil,
      accountCountries: [String: [Int]]? = nil
    ) {
      self.name = name
      self.ledger = ledger
      self.largestAmountMicros = largestAmountMicros
      self.countries = countries
      self.accountCountries = accountCountries
    }
  }

  package struct Application: Hashable, Sendable, Codable {
    package var name: String
    package var key: String
    package var environment: String
    /// Who pays for its calls.
    package var account: String
    /// The file whose first line is the secret; `nil` where the secret stands in the configuration itself.
    package var secretFile: String?

    package init(name: String, key: String, environment: String, account: String, secretFile: String? = nil) {
      self.name = name
      self.key = key
      self.environment = environment
      self.account = account
      self.secretFile = secretFile
    }
  }

  /// `ws://127.0.0.1:8080`; `nil` where the port is chosen at the start.
  package var url: String?
  /// The state folder.
  package var state: String
  /// The control socket.
  package var control: String
  /// The configuration's file.
  package var configuration: String
  /// In the order of the configuration.
  package var environments: [Environment]
  /// In the order of the configuration.
  package var applications: [Application]
  /// The SIP URI of the built-in far end, where one runs.
  package var farEnd: String?

  package init(
    url: String?, state: String, control: String, configuration: String, environments: [Environment] = [],
    applications: [Application] = [], farEnd: String? = nil
  ) {
    self.url = url
    self.state = state
    self.control = control
    self.configuration = configuration
    self.environments = environments
    self.applications = applications
    self.farEnd = farEnd
  }
}

/// What a running gateway writes down for the other commands of its user.
package struct GatewayPointer: Hashable, Sendable, Codable {
  /// `dev` or `serve`.
  package var command: String
  /// The machine, and the namespace that the process's number belongs to.
  package var host: String
  package var process: Int32
  /// When the process started, in clock ticks after the start of the machine (proc_pid_stat(5), field 22): the number of
  /// a process that has ended is given to others.
  package var startTicks: UInt64
  package var places: GatewayPlaces

  package init(command: String, host: String, process: Int32, startTicks: UInt64, places: GatewayPlaces) {
    self.command = command
    self.host = host
    self.process = process
    self.startTicks = startTicks
    self.places = places
  }

  /// `landline dev, process 4711`.
  package var name: String { "landline \(command), process \(process)" }
}
