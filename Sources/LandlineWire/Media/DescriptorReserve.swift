import CLandlineSockets
import Synchronization

/// The last descriptors of the process, which connections and ports of calls leave alone.
///
/// The store, the log and the runtime open files too. Without one, Dispatch even ends the process: it reads the state of its
/// threads from `/proc` and takes a file that does not open for a thread that is gone.
///
/// A system gives the lowest free descriptor, so one within the reserve means that all below are in use. Where descriptors
/// were opened and closed at the same time, some of the reserve may be in use and others free: half of it must be whole.
public enum DescriptorReserve {
  /// Of a process that may open many; a quarter of a smaller limit.
  package static let most: Int32 = 64

  package static let advice = "almost no file descriptor is left: let the process open more files"

  /// One look at a time: it opens what it looks for, and another would find that in use.
  private static let looking = Mutex(())

  /// Whether another connection or port would take one of the reserve.
  public static var isReached: Bool {
    looking.withLock { _ in
      let limit = landline_descriptor_limit()
      let middle = limit - size(of: limit) / 2
      return holds(landline_descriptor_lowest(0), of: limit) || landline_descriptor_lowest(middle) != middle
    }
  }

  package static func holds(_ descriptor: Int32) -> Bool { holds(descriptor, of: landline_descriptor_limit()) }

  /// - Parameter descriptor: negative for none at all.
  package static func holds(_ descriptor: Int32, of limit: Int32) -> Bool {
    descriptor < 0 || descriptor >= limit - size(of: limit)
  }

  private static func size(of limit: Int32) -> Int32 { min(most, limit / 4) }
}
