extension SIPHost {
  /// Reads a host as messages of others write it: IPv6 in brackets, and names with underscores or with a last label
  /// that begins with a digit, as containers have.
  /// - Parameter base: Added to every offset, for a host inside a longer text.
  /// - Throws: ``InvalidValue`` with the rules of ``SIPHost``.
  package init(signalled bytes: ArraySlice<UInt8>, base: Int = 0) throws(InvalidValue) {
    try self.init(bytes, base: base, isSignalled: true)
  }
}
