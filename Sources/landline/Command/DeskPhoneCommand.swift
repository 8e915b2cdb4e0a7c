import ArgumentParser
import LandlineArguments
import LandlineConsole

struct DeskPhoneCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "desk-phone", abstract: "Telephones that register with the gateway, each a device of a user.",
    subcommands: [List.self, Show.self, Set.self, Remove.self])
}

extension DeskPhoneCommand {
  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list", abstract: "Desk phones of a running gateway, and where they are registered.",
      discussion: """
        landline desk-phone list
        landline desk-phone list --json
        """)

    @OptionGroup(title: "Common")
    var common: CommonOptions

    func run() async throws {
      try await common.console {
        try await $0.deskPhoneList(control: common.gateway.control, environment: common.gateway.environment)
      }
    }
  }

  struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "show", abstract: "Everything that holds for one desk phone.",
      discussion: "landline desk-phone show lobby")

    @Argument(help: "The name that it registers with.")
    var name: String

    @OptionGroup(title: "Common")
    var common: CommonOptions

    func run() async throws {
      try await common.console {
        try await $0.deskPhoneShow(name, control: common.gateway.control, environment: common.gateway.environment)
      }
    }
  }

  struct Set: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "set", abstract: "Make a desk phone, or change what is named of it.",
      discussion: """
        landline desk-phone set lobby --user alice
        landline desk-phone set lobby --country 46
        landline desk-phone set lobby --new-password

        A new desk phone gets a password, which is shown once: only digests of it are kept. The telephone registers with NAME
        and that password at any of the gateway's SIP addresses. A desk phone that stands in the configuration is changed
        there.
        """)

    @Argument(help: "The name that it registers with: letters, digits, dots, hyphens and underscores.")
    var name: String

    @Option(help: "Whose device it is.")
    var user: String?

    @Option(help: "The user's application, by name or key (default: the environment's only one).")
    var application: String?

    @Option(help: "Country calling code of numbers that are dialled without one, such as 46; none for none.")
    var country: String?

    @Option(help: "A file whose first line is the password, in place of one that is made.", completion: .file())
    var passwordFile: String?

    @Flag(help: "Make another password; the telephone has to register again.")
    var newPassword = false

    @OptionGroup(title: "Common")
    var common: CommonOptions

    func run() async throws {
      var options = DeskPhoneOptions(name: name)
      options.user = user
      options.application = application
      options.country = country
      options.passwordFile = passwordFile
      options.makesPassword = newPassword
      let chosen = options
      try await common.console {
        try await $0.deskPhoneSet(
          chosen, control: common.gateway.control, environment: common.gateway.environment)
      }
    }
  }

  struct Remove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "remove", abstract: "Remove a desk phone: it is registered no longer.",
      discussion: "landline desk-phone remove lobby")

    @Argument(help: "The name that it registers with.")
    var name: String

    @OptionGroup(title: "Common")
    var common: CommonOptions

    func run() async throws {
      try await common.console {
        try await $0.deskPhoneRemove(name, control: common.gateway.control, environment: common.gateway.environment)
      }
    }
  }
}
