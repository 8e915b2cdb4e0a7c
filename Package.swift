// swift-tools-version: 6.2
import PackageDescription

/// Settings of every Swift target of ours: language mode 6, no warning survives, imports stay private to
/// the file that wrote them unless the file says otherwise.
let ours: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

/// Settings of test targets that hold many expectations and little arithmetic: without optimisation, which takes more time
/// to do than it saves.
let expectations: [SwiftSetting] = ours + [.unsafeFlags(["-Onone"])]

/// Swift's runtime and Foundation inside the executable: it runs where Swift is not installed, and starts sooner, since the
/// system's loader has less to put together.
let staticRuntime: [LinkerSetting] = [
  .unsafeFlags(
    ["-static-stdlib"]
      + ["CoreFoundation", "_FoundationICU", "_FoundationCShims", "_FoundationCollections"].map { "-l\($0)" })
]

let package = Package(
  name: "landline",
  products: [
    .executable(name: "landline", targets: ["landline"]),
    .executable(name: "landline-lab", targets: ["landline-lab"]),
    .library(name: "LandlineClient", targets: ["LandlineClient"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
    .package(url: "https://github.com/apple/swift-nio-extras", from: "1.34.0"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.5.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
  ],
  targets: [
    // C libraries, one module each, one importer each.
    .target(
      name: "CLandlineSQLite", cSettings: [.unsafeFlags(["-Wall", "-Wextra", "-Werror"])],
      linkerSettings: [.linkedLibrary("sqlite3")]),
    .systemLibrary(name: "CLandlineCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(name: "CLandlineCares", pkgConfig: "libcares", providers: [.apt(["libc-ares-dev"])]),
    .target(
      name: "CLandlinePhoneNumber",
      cxxSettings: [.unsafeFlags(["-Wall", "-Wextra", "-Werror"])],
      linkerSettings: [.linkedLibrary("phonenumber")]),
    .target(
      name: "CLandlineOSIP", cSettings: [.define("OSIP_MT"), .unsafeFlags(["-Wall", "-Wextra", "-Werror"])],
      linkerSettings: [.linkedLibrary("osip2"), .linkedLibrary("osipparser2")]),
    .target(
      name: "CLandlineTLS", cSettings: [.unsafeFlags(["-Wall", "-Wextra", "-Werror"])],
      linkerSettings: [.linkedLibrary("ssl"), .linkedLibrary("crypto")]),
    .systemLibrary(name: "CLandlineSRTP", pkgConfig: "libsrtp2", providers: [.apt(["libsrtp2-dev"])]),
    .target(
      name: "CLandlineOpus", exclude: ["Speech"], cSettings: [.unsafeFlags(["-Wall", "-Wextra", "-Werror"])],
      linkerSettings: [.linkedLibrary("opus")]),
    .target(name: "CLandlineSockets", cSettings: [.unsafeFlags(["-Wall", "-Wextra", "-Werror"])]),
    .target(
      name: "CLandlinePages", exclude: ["Pages", "Documentation"],
      cSettings: [.unsafeFlags(["-Wall", "-Wextra", "-Werror"])],
      linkerSettings: [.linkedLibrary("z")]),
    .target(name: "CLandlineLedgerFloor", linkerSettings: [.linkedLibrary("sqlite3")]),

    // Values and cores: no clock, socket, file or random source inside.
    .target(name: "CallModel", swiftSettings: ours),
    .target(name: "LandlineDigest", dependencies: ["CLandlineCrypto"], swiftSettings: ours),
    .target(name: "SDPCore", dependencies: ["CallModel"], swiftSettings: ours),
    .target(
      name: "SecureTransport",
      dependencies: ["CallModel", "LandlineDigest", "SDPCore", "CLandlineTLS", "CLandlineSRTP"],
      swiftSettings: ours),
    .target(
      name: "MediaCore", dependencies: ["CallModel", "SDPCore", "SecureTransport", "CLandlineOpus"],
      swiftSettings: ours),
    .target(name: "RoutingCore", dependencies: ["CallModel"], swiftSettings: ours),
    .target(name: "LedgerCore", dependencies: ["CallModel", "LandlineDigest"], swiftSettings: ours),

    .target(name: "SIPCore", dependencies: ["CallModel", "LandlineDigest", "CLandlineOSIP"], swiftSettings: ours),

    .target(
      name: "AppProtocol", dependencies: ["CallModel", "LandlineDigest"], exclude: ["API"], swiftSettings: ours),
    .target(
      name: "CallEngine",
      dependencies: ["CallModel", "SIPCore", "SDPCore", "RoutingCore", "LedgerCore", "AppProtocol"],
      swiftSettings: ours),
    .target(
      name: "CallStory", dependencies: ["CallModel", "SIPCore", "SDPCore", "AppProtocol", "CallEngine"],
      swiftSettings: ours),

    .target(
      name: "NodeCore",
      dependencies: [
        "CallModel", "SIPCore", "SDPCore", "RoutingCore", "LedgerCore", "AppProtocol", "CallEngine", "CallStory",
      ],
      swiftSettings: ours),

    // Shells.
    .target(
      name: "NumberPlan", dependencies: ["CallModel", "CLandlinePhoneNumber"], swiftSettings: ours),
    .target(name: "LandlineResolver", dependencies: ["CallModel", "SIPCore", "CLandlineCares"], swiftSettings: ours),
    .target(
      name: "LandlineWire",
      dependencies: [
        "CallModel", "LandlineDigest", "LandlineResolver", "SIPCore", "MediaCore", "SecureTransport",
        "CLandlineSockets",
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOTLS", package: "swift-nio"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
      ],
      swiftSettings: ours),
    .target(
      name: "LandlineOutbound",
      dependencies: [
        "CallModel", "SIPCore", "LandlineResolver",
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
      ],
      swiftSettings: ours),
    .target(name: "LandlineSQLite", dependencies: ["LedgerCore", "CLandlineSQLite"], swiftSettings: ours),
    .target(
      name: "LedgerSQLite", dependencies: ["CallModel", "LedgerCore", "RoutingCore", "LandlineSQLite"],
      swiftSettings: ours),
    .target(
      name: "RecordsSQLite", dependencies: ["CallModel", "LedgerCore", "AppProtocol", "CallEngine", "LandlineSQLite"],
      swiftSettings: ours),
    .target(name: "LedgerSpool", dependencies: ["CallModel", "LedgerCore"], swiftSettings: ours),
    .target(
      name: "LandlineRecording",
      dependencies: [
        "CallModel", "LandlineDigest", "MediaCore", "CallEngine", .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: ours),
    .target(
      name: "LandlineConfiguration",
      dependencies: [
        "CallModel", "SIPCore", "SDPCore", "RoutingCore", "AppProtocol", "CallEngine", "LandlineWire",
        .product(name: "Yams", package: "Yams"),
      ],
      swiftSettings: ours),
    .target(
      name: "LandlineNode",
      dependencies: [
        "CallModel", "SIPCore", "SDPCore", "SecureTransport", "MediaCore", "RoutingCore", "LedgerCore", "LedgerSQLite",
        "LedgerSpool", "AppProtocol", "CallEngine", "CallStory", "NodeCore", "LandlineResolver", "LandlineWire",
        "LandlineConfiguration", "LandlineOutbound", "LandlineRecording",
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "CoreMetrics", package: "swift-metrics"),
      ],
      swiftSettings: ours),
    .target(
      name: "LandlineHTTP",
      dependencies: [
        "CallModel", "LandlineDigest", "SIPCore", "RoutingCore", "LedgerCore", "NumberPlan", "AppProtocol",
        "CallEngine", "CallStory", "NodeCore", "LandlineWire", "LandlineNode", "CLandlinePages",
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOWebSocket", package: "swift-nio"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
        .product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "HummingbirdCore", package: "hummingbird"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "CoreMetrics", package: "swift-metrics"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ],
      swiftSettings: ours),
    .target(
      name: "LandlineServer",
      dependencies: [
        "CallModel", "SIPCore", "SDPCore", "SecureTransport", "MediaCore", "RoutingCore", "LedgerCore", "LedgerSQLite",
        "RecordsSQLite", "LedgerSpool", "AppProtocol", "CallEngine", "NodeCore", "LandlineResolver", "LandlineWire",
        "LandlineConfiguration", "LandlineNode", "LandlineHTTP", "LandlineRecording",
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ],
      swiftSettings: ours),
    .target(
      name: "LandlineClient",
      dependencies: [
        "CallModel", "SDPCore", "SecureTransport", "MediaCore", "AppProtocol",
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOTLS", package: "swift-nio"),
        .product(name: "NIOWebSocket", package: "swift-nio"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
      ],
      swiftSettings: ours),
    .target(
      name: "LandlineConsole",
      dependencies: [
        "CallModel", "RoutingCore", "LedgerCore", "LedgerSQLite", "RecordsSQLite", "NumberPlan", "SIPCore", "SDPCore",
        "NodeCore",
        "LandlineConfiguration", "LandlineWire", "LandlineResolver", "LandlineNode", "LandlineHTTP", "LandlineServer",
        "LandlineClient",
        "AppProtocol", "CallEngine", "CallStory",
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "Metrics", package: "swift-metrics"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
        .product(name: "UnixSignals", package: "swift-service-lifecycle"),
      ],
      swiftSettings: ours),
    .target(
      name: "SimulationKit",
      dependencies: [
        "CallModel", "SIPCore", "SDPCore", "RoutingCore", "LedgerCore", "LandlineSQLite", "LedgerSQLite", "AppProtocol",
        "CallEngine",
        "NodeCore",
      ],
      swiftSettings: ours),
    .target(
      name: "LandlineBench",
      dependencies: [
        "CallModel", "RoutingCore", "LedgerCore", "LandlineSQLite", "LedgerSQLite", "CLandlineLedgerFloor", "SIPCore",
        "SDPCore",
        "SecureTransport", "MediaCore", "AppProtocol", "LandlineWire",
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOWebSocket", package: "swift-nio"),
      ],
      swiftSettings: ours),
    .target(
      name: "LandlineArguments",
      dependencies: [
        "CallModel", "LandlineConsole", .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: ours),
    .executableTarget(
      name: "landline",
      dependencies: [
        "CallModel", "LandlineArguments", "LandlineConsole",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: ours, linkerSettings: staticRuntime),
    // For those who work on the gateway; not installed with it.
    .executableTarget(
      name: "landline-lab",
      dependencies: [
        "CallEngine", "CallModel", "LandlineArguments", "LandlineBench", "LandlineConfiguration", "LandlineConsole",
        "LedgerCore", "LedgerSQLite", "SimulationKit",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: ours),

    // Tests, one target for each target under test.
    .target(name: "TestVectors", path: "Tests/TestVectors", swiftSettings: ours),
    .target(name: "PeerKit", path: "Tests/PeerKit", exclude: ["Scripts"], swiftSettings: ours),
    .testTarget(name: "PeerKitTests", dependencies: ["PeerKit"], swiftSettings: ours),
    .testTarget(
      name: "ForeignPeerTests",
      dependencies: [
        "PeerKit", "TestVectors", "LandlineWire", "SIPCore", "MediaCore", "SecureTransport", "SDPCore", "CallModel",
        "LandlineServer", "LandlineHTTP", "LandlineNode", "LandlineConfiguration", "AppProtocol", "CallEngine",
        "CallStory", "NodeCore", "LedgerSQLite", "LedgerCore", "RoutingCore",
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ],
      exclude: ["Scenarios"],
      swiftSettings: expectations),
    .testTarget(name: "CallModelTests", dependencies: ["CallModel", "TestVectors"], swiftSettings: ours),
    .testTarget(
      name: "NumberPlanTests", dependencies: ["NumberPlan", "CallModel", "TestVectors"], swiftSettings: ours),
    .testTarget(
      name: "SDPCoreTests", dependencies: ["SDPCore", "CallModel", "TestVectors"], exclude: ["Golden"],
      swiftSettings: ours),
    .testTarget(
      name: "SecureTransportTests", dependencies: ["SecureTransport", "SDPCore", "CallModel", "TestVectors"],
      swiftSettings: ours),
    .testTarget(
      name: "MediaCoreTests", dependencies: ["MediaCore", "SecureTransport", "SDPCore", "CallModel", "TestVectors"],
      swiftSettings: ours),
    .testTarget(
      name: "RoutingCoreTests", dependencies: ["RoutingCore", "CallModel", "PeerKit", "TestVectors"],
      exclude: ["Golden"],
      swiftSettings: ours),
    .testTarget(name: "LandlineDigestTests", dependencies: ["LandlineDigest"], swiftSettings: ours),
    .testTarget(
      name: "SIPCoreTests", dependencies: ["SIPCore", "LandlineDigest", "CallModel", "PeerKit", "TestVectors"],
      swiftSettings: expectations),
    .testTarget(
      name: "PublishedAttackTests",
      dependencies: [
        "SIPCore", "SDPCore", "SecureTransport", "MediaCore", "AppProtocol", "LandlineResolver", "CallModel", "PeerKit",
      ],
      swiftSettings: expectations),
    .testTarget(
      name: "LandlineResolverTests", dependencies: ["LandlineResolver", "SIPCore", "CallModel"], swiftSettings: ours),
    .testTarget(
      name: "LandlineWireTests",
      dependencies: [
        "PeerKit", "LandlineWire", "LandlineResolver", "SIPCore", "CallModel",
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
      ],
      swiftSettings: expectations),
    // Apart from the wire's other tests: they keep both cores busy, or thousands of files open.
    .testTarget(
      name: "MediaLoopTests",
      dependencies: ["PeerKit", "LandlineWire", "MediaCore", "SecureTransport", "SDPCore", "CallModel"],
      swiftSettings: expectations),
    .testTarget(
      name: "LedgerCoreTests", dependencies: ["LedgerCore", "CallModel", "TestVectors"], swiftSettings: ours),
    .testTarget(
      name: "LedgerSQLiteTests",
      dependencies: [
        "LedgerSQLite", "LandlineSQLite", "LedgerCore", "RoutingCore", "CallModel", "PeerKit", "TestVectors",
      ],
      swiftSettings: expectations),
    .testTarget(
      name: "RecordsSQLiteTests",
      dependencies: [
        "RecordsSQLite", "LandlineSQLite", "LedgerSQLite", "LedgerCore", "AppProtocol", "CallEngine", "CallModel",
        "PeerKit",
      ],
      swiftSettings: expectations),
    .testTarget(
      name: "LedgerStoreTests",
      dependencies: ["SimulationKit", "LedgerSQLite", "LedgerCore", "CallModel", "PeerKit", "TestVectors"],
      swiftSettings: expectations),
    .testTarget(
      name: "LedgerSpoolTests", dependencies: ["LedgerSpool", "LedgerSQLite", "LedgerCore", "CallModel"],
      swiftSettings: ours),
    .testTarget(
      name: "SimulationKitTests",
      dependencies: [
        "SimulationKit", "CallEngine", "MediaCore", "SecureTransport", "SDPCore", "LedgerSQLite", "LedgerCore",
        "CallModel", "PeerKit", "TestVectors",
      ],
      swiftSettings: ours),
    .testTarget(
      name: "LandlineRecordingTests",
      dependencies: [
        "LandlineRecording", "CallEngine", "MediaCore", "CallModel", "PeerKit",
        .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: expectations),
    .testTarget(
      name: "LandlineConfigurationTests",
      dependencies: [
        "LandlineConfiguration", "AppProtocol", "CallEngine", "LandlineWire", "RoutingCore", "SDPCore", "SIPCore",
        "CallModel", "TestVectors",
      ],
      swiftSettings: expectations),
    .testTarget(
      name: "AppProtocolTests", dependencies: ["AppProtocol", "LandlineDigest", "CallModel", "TestVectors"],
      swiftSettings: expectations),
    .testTarget(
      name: "CallEngineTests",
      dependencies: [
        "CallEngine", "AppProtocol", "LedgerCore", "LedgerSQLite", "RoutingCore", "SIPCore", "SDPCore", "CallModel",
        "PeerKit", "TestVectors",
      ],
      swiftSettings: ours),
    .testTarget(
      name: "NodeCoreTests",
      dependencies: [
        "NodeCore", "AppProtocol", "CallEngine", "LedgerCore", "RoutingCore", "SIPCore", "SDPCore", "CallModel",
        "TestVectors",
      ],
      swiftSettings: ours),
    .testTarget(
      name: "CallStoryTests",
      dependencies: [
        "CallStory", "CallEngine", "SIPCore", "SDPCore", "AppProtocol", "CallModel", "PeerKit", "TestVectors",
      ],
      exclude: ["Golden"],
      swiftSettings: expectations),
    // A client of the gateway's doors that sends any byte.
    .target(
      name: "DoorKit",
      dependencies: [
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
        .product(name: "Logging", package: "swift-log"),
      ],
      path: "Tests/DoorKit", swiftSettings: ours),
    .testTarget(
      name: "LandlineNodeTests",
      dependencies: [
        "LandlineNode", "NodeCore", "CallEngine", "CallStory", "AppProtocol", "LandlineConfiguration", "LandlineWire",
        "LedgerSQLite", "RecordsSQLite", "LedgerSpool", "LedgerCore", "RoutingCore", "SIPCore", "MediaCore",
        "CallModel",
        "PeerKit",
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "CoreMetrics", package: "swift-metrics"),
        .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: expectations),
    // Apart from the node's other tests: its sound is judged in real time.
    .testTarget(
      name: "FarEndTests",
      dependencies: [
        "LandlineNode", "LandlineWire", "SIPCore", "SDPCore", "MediaCore", "SecureTransport", "AppProtocol",
        "CallModel",
        "PeerKit",
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
      ],
      swiftSettings: expectations),
    .testTarget(
      name: "LandlineHTTPTests",
      dependencies: [
        "LandlineHTTP", "LandlineNode", "NodeCore", "CallEngine", "CallStory", "AppProtocol", "LedgerSQLite",
        "LedgerCore", "SIPCore", "CallModel", "PeerKit", "DoorKit",
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "HummingbirdTesting", package: "hummingbird"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ],
      swiftSettings: expectations),
    .testTarget(
      name: "LandlineServerTests",
      dependencies: [
        "LandlineServer", "LandlineNode", "LandlineConfiguration", "AppProtocol", "PeerKit", "DoorKit",
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ],
      swiftSettings: expectations),
    .testTarget(
      name: "LandlineClientTests",
      dependencies: [
        "LandlineClient", "AppProtocol", "MediaCore", "SecureTransport", "SDPCore", "CallModel", "PeerKit",
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOWebSocket", package: "swift-nio"),
      ],
      swiftSettings: ours),
    .testTarget(name: "LandlineBenchTests", dependencies: ["LandlineBench"], swiftSettings: ours),
    .testTarget(
      name: "LandlineConsoleTests",
      dependencies: [
        "LandlineConsole", "LandlineWire", "LedgerSQLite", "RecordsSQLite", "LedgerCore", "RoutingCore", "SIPCore",
        "CallModel",
        "AppProtocol", "CallEngine", "CallStory", "TestVectors", "PeerKit",
      ],
      exclude: ["Golden"],
      swiftSettings: expectations),

    .testTarget(
      name: "LandlineOutboundTests",
      dependencies: [
        "LandlineOutbound", "LandlineResolver", "CallModel", "PeerKit",
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
      ],
      swiftSettings: expectations),

    // Every way in for bytes of strangers, as the fuzzer (Deploy/fuzz) and an ordinary test feed it.
    .target(
      name: "FuzzDoors",
      dependencies: [
        "CallModel", "SIPCore", "SDPCore", "SecureTransport", "MediaCore", "RoutingCore", "LedgerCore", "LedgerSpool",
        "AppProtocol", "CallEngine", "CallStory", "LandlineResolver", "LandlineConfiguration", "LandlineNode",
        "LandlineHTTP",
        "LandlineOutbound", "LandlineRecording", "TestVectors",
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOEmbedded", package: "swift-nio"),
        .product(name: "Logging", package: "swift-log"),
      ],
      path: "Tests/Fuzz/Doors", swiftSettings: ours),
    .testTarget(name: "FuzzDoorTests", dependencies: ["FuzzDoors"], swiftSettings: ours),
  ],
  cxxLanguageStandard: .cxx17
)

// The cores up to the hall and its tests alone, for whoever builds them again and again (Tests/Mutations/run).
if Context.environment["LANDLINE_CORES"] != nil {
  func names(_ dependencies: [Target.Dependency]) -> [String] {
    dependencies.compactMap { dependency in
      if case .byNameItem(let name, _) = dependency { name } else { nil }
    }
  }
  var kept: Set = ["NodeCoreTests"]
  var found = kept
  while !found.isEmpty {
    found = Set(package.targets.filter { found.contains($0.name) }.flatMap { names($0.dependencies) }).subtracting(kept)
    kept.formUnion(found)
  }
  package.targets.removeAll { !kept.contains($0.name) }
  package.products = []
  package.dependencies = []
}

// Fuzzing needs a runtime of its own as main program, so this executable exists only where it is asked for (Deploy/fuzz):
// an ordinary build could not link it. Of the shells only the readers are built then: no input of a stranger gets past
// them to the network libraries, whose instrumented build would take longer than all the rest.
if Context.environment["LANDLINE_FUZZ"] != nil {
  let readers: [String: (sources: [String], dependencies: [Target.Dependency])] = [
    "LandlineResolver": (["Message"], ["CallModel", "SIPCore"]),
    "LandlineWire": (["Settings"], ["CallModel", "SIPCore"]),
    "LandlineOutbound": (
      ["Answer"],
      [
        "CallModel", .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOHTTP1", package: "swift-nio"),
      ]
    ),
    "LandlineNode": (
      ["Log"], ["CallModel", "LandlineConfiguration", .product(name: "Logging", package: "swift-log")]
    ),
    "LandlineHTTP": (["Request"], ["CallModel", "LandlineDigest", "LedgerCore", "AppProtocol", "CallEngine"]),
    "LandlineRecording": (["Sealed"], ["CallModel", "LandlineDigest"]),
  ]
  for target in package.targets {
    guard let part = readers[target.name] else { continue }
    target.sources = part.sources
    target.dependencies = part.dependencies
  }
  package.targets.append(
    .executableTarget(
      name: "LandlineFuzz", dependencies: ["FuzzDoors"], path: "Tests/Fuzz/Main",
      swiftSettings: ours + [.unsafeFlags(["-parse-as-library"])]))
  package.products = [.executable(name: "landline-fuzz", targets: ["LandlineFuzz"])]
}
