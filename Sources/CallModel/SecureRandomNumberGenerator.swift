import Glibc
import Synchronization

/// Random numbers of the system's secure generator, asked for in blocks: a call needs some 170 of them, and Swift's own
/// `SystemRandomNumberGenerator` makes a system call for each. All values of this type share one block.
public struct SecureRandomNumberGenerator: RandomNumberGenerator, Sendable {
  private static let block = Mutex(RandomBlock())

  public init() {}

  /// 64 random bits that nobody else gets.
  public func next() -> UInt64 { SecureRandomNumberGenerator.block.withLock { $0.next() } }
}

/// Random words that the system has given and nobody has taken yet. A word that was taken is blotted out, so that memory
/// which leaks does not tell keys of the past.
struct RandomBlock: ~Copyable {
  /// Words that are asked for at a time: the 256 bytes that getentropy(3) gives at most.
  static let count = 32

  private var words = [UInt64](repeating: 0, count: RandomBlock.count)
  private var left = 0

  mutating func next() -> UInt64 {
    if left == 0 {
      let isFilled = words.withUnsafeMutableBytes { getentropy($0.baseAddress, $0.count) == 0 }
      // The system's own way waits where a block could not be had.
      guard isFilled else {
        var generator = SystemRandomNumberGenerator()
        return generator.next()
      }
      left = words.count
    }
    left -= 1
    defer { words[left] = 0 }
    return words[left]
  }
}
