import Foundation

/// Counts the allocator's calls in a process that is started with ``environment``.
final class AllocationCounter {
  private let page: UnsafeMutableRawPointer
  let environment: [String: String]

  init(library: String, folder: String) throws(BenchProblem) {
    let path = "\(folder)/allocations-\(UUID().uuidString)"
    let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard file >= 0, ftruncate(file, 8) == 0,
      let page = mmap(nil, 8, PROT_READ, MAP_SHARED, file, 0), page != MAP_FAILED
    else { throw BenchProblem("\(path) cannot be made") }
    close(file)
    self.page = page
    environment = ["LD_PRELOAD": library, "LANDLINE_ALLOCATIONS": path]
  }

  deinit { munmap(page, 8) }

  var count: Int { page.load(as: Int.self) }
}
