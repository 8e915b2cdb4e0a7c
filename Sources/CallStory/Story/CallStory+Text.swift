extension CallStory {
  /// The story as `landline explain` prints it.
  public func text(width: Int, isMasked: Bool) -> String {
    conclusion + "\n"
  }
}
