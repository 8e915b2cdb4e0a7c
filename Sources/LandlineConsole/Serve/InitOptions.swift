/// What `landline init` was asked.
package struct InitOptions: Sendable {
  /// The folder to make.
  package var folder: String
  /// Who pays for the application's calls.
  package var account = "acme"
  package var currency = "EUR"
  /// The application's name in the configuration.
  package var application = "phone"
  /// A SIP URI; `nil`: the gateway answers the test numbers itself.
  package var trunk: String?
  /// The numeric address of this machine that trunks and apps reach; `nil` for the one that packets to others carry.
  package var address: String?
  /// Address and port of the door for apps and REST.
  package var httpBind = "127.0.0.1:8080"
  /// A file of prices; `nil` for a few to begin with.
  package var deck: String?
  /// The number that calls show.
  package var callerNumber: String?

  package init(folder: String) { self.folder = folder }
}
