/// Every door, and the planted faults that show whether a rig finds anything.
public enum FuzzDoors {
  public static let all: [FuzzDoor] =
    SIPDoors.all + SIPValueDoors.all + SIPCallDoors.all + RegistrarDoors.all + DigestDoors.all + LocationDoors.all
    + SDPDoors.all
    + TransportDoors.all + MediaDoors.all + AppDoors.all + ProofDoors.all + ValueDoors.all + RESTDoors.all
    + LogDoors.all + IdentityDoors.all
    + BookDoors.all + StoryDoors.all + RecordingDoors.all

  public static let canaries = CanaryDoors.all

  /// The door or canary with this name.
  public static func named(_ name: String) -> FuzzDoor? { (all + canaries).first { $0.name == name } }
}
