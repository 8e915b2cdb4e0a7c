import Foundation

/// A program that tests run as a foreign peer or need to set one up.
public enum PeerProgram: String, Sendable, CaseIterable {
  case sipp, baresip, kamailio, openssl, timeout, chromium, flite, tshark, janus, unshare, ip, secsipidx
  case ffmpeg, ffprobe
  case firefox = "firefox-esr"
  case linphone = "linphone-daemon"

  private var package: String {
    switch self {
    case .sipp: "sip-tester"
    case .baresip: "baresip"
    case .kamailio: "kamailio kamailio-tls-modules"
    case .openssl: "openssl"
    case .timeout: "coreutils"
    case .chromium: "chromium"
    case .flite: "flite"
    case .tshark: "tshark"
    case .janus: "janus"
    case .unshare: "util-linux"
    case .ip: "iproute2"
    case .secsipidx: "secsipidx"
    case .firefox: "firefox-esr"
    case .linphone: "linphone-cli"
    case .ffmpeg, .ffprobe: "ffmpeg"
    }
  }

  /// `nil` where it is not installed.
  public var path: String? {
    let folders =
      (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":") + [
        "/usr/local/bin", "/usr/bin", "/usr/sbin",
      ]
    return folders.lazy.map { "\($0)/\(rawValue)" }.first { FileManager.default.isExecutableFile(atPath: $0) }
  }

  public var isInstalled: Bool { path != nil }
  public var absence: String { "\(rawValue) is not installed: apt-get install \(package)" }
}
