import CallModel
import LandlineConsole
import Testing

@Suite("Where commands find their gateway, ledger and application")
struct FinderTests {
  static let devKey = "11111111-1111-1111-1111-111111111111"
  static let phoneKey = "22222222-2222-2222-2222-222222222222"
  static let shopKey = "33333333-3333-3333-3333-333333333333"

  static let dev = GatewayPlaces(
    url: "ws://127.0.0.1:8080", state: "/home/a/dev", control: "/home/a/dev/control.sock",
    configuration: "/home/a/dev/landline.yaml", environments: [.init(name: "sandbox", ledger: "/home/a/dev/ledger.db")],
    applications: [
      .init(name: "demo", key: devKey, environment: "sandbox", account: "demo", secretFile: "/home/a/dev/secret")
    ], farEnd: "sip:127.0.0.1:5099")
  static let two = GatewayPlaces(
    url: "ws://127.0.0.1:8090", state: "/srv/l", control: "/srv/l/control.sock", configuration: "/srv/landline.yaml",
    environments: [
      .init(name: "production", ledger: "/srv/l/production.ledger"), .init(name: "test", ledger: "/srv/l/test.ledger"),
    ],
    applications: [
      .init(name: "phone", key: phoneKey, environment: "production", account: "acme"),
      .init(name: "shop", key: shopKey, environment: "test", account: "acme", secretFile: "/srv/secrets/shop"),
    ])
  static let devRuns = GatewayPointer(command: "dev", host: "h", process: 71, startTicks: 9, places: dev)
  static let twoRuns = GatewayPointer(command: "serve", host: "h", process: 42, startTicks: 5, places: two)

  static func finder(
    _ gateways: [GatewayPointer] = [], variables: [String: String] = [:], files: [String: Finder.Configured] = [:],
    _ change: (inout Finder.Flags) -> Void = { _ in }
  ) -> Finder {
    var flags = Finder.Flags()
    change(&flags)
    return Finder(
      flags: flags, variables: variables, gateways: gateways, settingsFolder: "/home/a/.config",
      stateFolder: "/home/a/.local/state", workingFolder: "/home/a", exists: { files[$0] != nil },
      configured: { files[$0] ?? .missing })
  }

  /// One row: what is given, the ledger that is used, and who named it.
  struct LedgerRow: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var finder: Finder
    var ledger: String
    var origin: String

    init(_ name: String, _ finder: Finder, _ ledger: String, _ origin: String) {
      testDescription = name
      self.finder = finder
      self.ledger = ledger
      self.origin = origin
    }
  }

  static let ledgers: [LedgerRow] = [
    LedgerRow("nothing", finder(), "/home/a/.local/state/landline/ledger.db", "default"),
    LedgerRow("a gateway", finder([devRuns]), "/home/a/dev/ledger.db", "landline dev, process 71"),
    LedgerRow(
      "a flag above all", finder([devRuns], variables: ["LANDLINE_DATABASE": "v.db"]) { $0.database = "f.db" }, "f.db",
      "--database"),
    LedgerRow(
      "a variable above the gateway", finder([devRuns], variables: ["LANDLINE_DATABASE": "v.db"]), "v.db",
      "LANDLINE_DATABASE"),
    LedgerRow(
      "an empty variable is none", finder([devRuns], variables: ["LANDLINE_DATABASE": ""]), "/home/a/dev/ledger.db",
      "landline dev, process 71"),
    LedgerRow(
      "an environment by its name, above the variable",
      finder([twoRuns], variables: ["LANDLINE_DATABASE": "v.db"]) { $0.environment = "test" }, "/srv/l/test.ledger",
      "landline serve, process 42"),
    LedgerRow(
      "an environment chooses the gateway that has it", finder([devRuns, twoRuns]) { $0.environment = "production" },
      "/srv/l/production.ledger", "landline serve, process 42"),
    LedgerRow(
      "the newest of several", finder([devRuns, twoRuns]), "/home/a/dev/ledger.db",
      "landline dev, process 71, the newest of 2; --control, --state or --url names another"),
    LedgerRow(
      "a state folder chooses", finder([twoRuns, devRuns]) { $0.state = "dev" }, "/home/a/dev/ledger.db",
      "landline dev, process 71"),
    LedgerRow(
      "a socket chooses", finder([twoRuns, devRuns]) { $0.control = "/home/a/dev/control.sock" },
      "/home/a/dev/ledger.db", "landline dev, process 71"),
    LedgerRow(
      "a variable chooses", finder([twoRuns, devRuns], variables: ["LANDLINE_STATE": "/home/a/dev"]),
      "/home/a/dev/ledger.db", "landline dev, process 71, the newest of 2; --control, --state or --url names another"),
    LedgerRow(
      "a configuration chooses, though none runs with it",
      finder([devRuns], files: ["/etc/x.yaml": .places(oneEnvironment)]) { $0.configuration = "/etc/x.yaml" },
      "/srv/one.ledger", "/etc/x.yaml"),
    LedgerRow(
      "the user's configuration, where none runs",
      finder(files: ["/home/a/.config/landline/landline.yaml": .places(oneEnvironment)]), "/srv/one.ledger",
      "/home/a/.config/landline/landline.yaml"),
    LedgerRow(
      "the variable's configuration",
      finder(variables: ["LANDLINE_CONFIG": "/etc/x.yaml"], files: ["/etc/x.yaml": .places(oneEnvironment)]),
      "/srv/one.ledger", "/etc/x.yaml"),
    LedgerRow(
      "the machine's configuration", finder(files: ["/etc/landline/landline.yaml": .places(oneEnvironment)]),
      "/srv/one.ledger", "/etc/landline/landline.yaml"),
  ]

  static let oneEnvironment: GatewayPlaces = {
    var places = two
    places.environments = [.init(name: "production", ledger: "/srv/one.ledger")]
    return places
  }()

  @Test("The ledger", arguments: ledgers)
  func ledger(_ row: LedgerRow) throws {
    let found = try row.finder.ledger()
    #expect(found.value == row.ledger)
    #expect(found.origin.description == row.origin)
  }

  @Test("The largest top-up is that of the ledger's environment, where a gateway or a configuration named the ledger")
  func largestAmount() throws {
    var places = Self.two
    places.environments[1].largestAmountMicros = 2_500_000
    let runs = GatewayPointer(command: "serve", host: "h", process: 42, startTicks: 5, places: places)
    let files = ["/home/a/.config/landline/landline.yaml": Finder.Configured.places(places)]
    let rows: [(Finder, MicroUnits?)] = [
      (Self.finder([runs]) { $0.environment = "test" }, 2_500_000),
      (Self.finder([runs]) { $0.environment = "production" }, nil),
      (Self.finder(files: files) { $0.environment = "test" }, 2_500_000),
      (Self.finder([runs]) { $0.database = "/srv/l/test.ledger" }, nil), (Self.finder([Self.devRuns]), nil),
      (Self.finder(), nil),
    ]
    for (index, (finder, amount)) in rows.enumerated() {
      #expect(try finder.environment()?.largestAmountMicros == amount, "row \(index)")
    }
    #expect(throws: FinderProblem.self) { try Self.finder([runs]).environment() }
  }

  @Test("What could be meant in several ways is refused with the ways named")
  func ambiguous() {
    #expect(throws: FinderProblem.environments(["production", "test"], of: "landline serve, process 42")) {
      try Self.finder([Self.twoRuns]).ledger()
    }
    let file = ["/etc/landline/landline.yaml": Finder.Configured.places(Self.two)]
    #expect(throws: FinderProblem.environments(["production", "test"], of: "/etc/landline/landline.yaml")) {
      try Self.finder(files: file).ledger()
    }
    #expect(
      throws: FinderProblem.unknownEnvironment(
        "beta", known: ["production", "test"], of: "/etc/landline/landline.yaml")
    ) {
      try Self.finder([Self.devRuns], files: file) { $0.environment = "beta" }.ledger()
    }
    #expect(throws: FinderProblem.configuration("/etc/landline/landline.yaml")) {
      try Self.finder(files: ["/etc/landline/landline.yaml": .broken]).ledger()
    }
    #expect(throws: FinderProblem.applications(Self.two.applications, of: "landline serve, process 42")) {
      try Self.finder([Self.twoRuns]).application(at: "ws://127.0.0.1:8090")
    }
  }

  @Test("The control socket, by the same order")
  func control() {
    let cases: [(Finder, String)] = [
      (Self.finder(), "/var/lib/landline/control.sock"), (Self.finder([Self.devRuns]), "/home/a/dev/control.sock"),
      (Self.finder([Self.devRuns], variables: ["LANDLINE_CONTROL": "/v.sock"]), "/v.sock"),
      (Self.finder([Self.devRuns], variables: ["LANDLINE_STATE": "/v"]), "/v/control.sock"),
      (Self.finder([Self.devRuns]) { $0.state = "/f" }, "/f/control.sock"),
      (Self.finder([Self.devRuns]) { $0.control = "/f.sock" }, "/f.sock"),
      (Self.finder([Self.devRuns, Self.twoRuns]) { $0.environment = "test" }, "/srv/l/control.sock"),
      (Self.finder(files: ["/etc/landline/landline.yaml": .places(Self.two)]), "/srv/l/control.sock"),
    ]
    for (finder, path) in cases { #expect(finder.control.value == path) }
  }

  @Test("The configuration: a command that starts a gateway asks no other")
  func configuration() {
    let finder = Self.finder([Self.devRuns])
    #expect(finder.configuration().value == "/home/a/dev/landline.yaml")
    #expect(finder.configuration(isOfGateway: false).value == "/etc/landline/landline.yaml")
    let named = Self.finder([Self.devRuns], variables: ["LANDLINE_CONFIG": "mine.yaml"])
    #expect(named.configuration().value == "mine.yaml")
  }

  @Test("Address, key and secret are of one gateway, and no secret goes to another")
  func application() throws {
    let dev = Self.finder([Self.devRuns])
    let url = try #require(try dev.url())
    #expect(url.value == "ws://127.0.0.1:8080")
    let (key, secret) = try dev.application(at: url.value)
    #expect(key?.value == Self.devKey)
    #expect(secret?.value == .file("/home/a/dev/secret"))

    let elsewhere = Self.finder([Self.devRuns]) { $0.url = "ws://192.0.2.9:8080" }
    let foreign = try elsewhere.application(at: "ws://192.0.2.9:8080")
    #expect(foreign.key == nil && foreign.secret == nil)

    let named = Self.finder([Self.twoRuns]) { $0.applicationKey = Self.shopKey }
    #expect(try named.application(at: "ws://127.0.0.1:8090").secret?.value == .file("/srv/secrets/shop"))
    let inner = Self.finder([Self.twoRuns]) { $0.environment = "production" }
    #expect(
      try inner.application(at: "ws://127.0.0.1:8090").secret?.value
        == .configuration("/srv/landline.yaml", key: Self.phoneKey))
    let variables = ["LANDLINE_APPLICATION_KEY": "k", "LANDLINE_APPLICATION_SECRET": "s"]
    let given = try Self.finder([Self.devRuns], variables: variables).application(at: url.value)
    #expect(given.key?.value == "k" && given.secret?.value == .variable("LANDLINE_APPLICATION_SECRET"))
    #expect(try Self.finder().url() == nil)
    #expect(dev.user == "cli")
  }

  @Test("Nothing is said of a flag; a variable is named where it leads past the gateway that runs")
  func notes() throws {
    func note(_ finder: Finder) throws -> String? {
      finder.remark("ledger", try finder.ledger()) { $0.environments.map(\.ledger) }
    }
    #expect(try note(Self.finder([Self.devRuns]) { $0.database = "f.db" }) == nil)
    #expect(try note(Self.finder(variables: ["LANDLINE_DATABASE": "v.db"])) == nil)
    #expect(
      try note(Self.finder([Self.devRuns], variables: ["LANDLINE_DATABASE": "/home/a/dev/ledger.db"])) == nil)
    #expect(
      try note(Self.finder([Self.devRuns], variables: ["LANDLINE_DATABASE": "v.db"]))
        == "v.db (LANDLINE_DATABASE), not that of landline dev, process 71")
    #expect(try note(Self.finder([Self.devRuns])) == "/home/a/dev/ledger.db (landline dev, process 71)")
    #expect(
      try note(Self.finder())
        == "/home/a/.local/state/landline/ledger.db (default: no gateway of yours runs, and no configuration names one)"
    )
  }
}
