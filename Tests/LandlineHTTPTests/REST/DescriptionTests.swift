import CallModel
import Testing

/// The description tells of every route, and of nothing else.
@Suite struct DescriptionTests {
  @Test func everyRouteAnswersAndNothingElseIsDescribed() async throws {
    let kit = try await RESTKit()
    let operations = kit.description.operations
    #expect(operations.count == 88)
    #expect(Set(operations.map { "\($0.method) \($0.path)" }).count == operations.count)
    for (method, path) in operations {
      let uri = path.replacing(/\{[a-z]+\}/, with: "none")
      let answer = try await kit.send(method, uri, method == "POST" ? "{}" : nil, key: "k-\(path.count)")
      // Whatever it is, the router knew it.
      #expect(answer.status != 405, "\(method) \(path)")
      #expect(answer.tree["detail"] != .string("no route has this path"), "\(method) \(path)")
      // Any other method is refused with those that are described.
      let known = operations.filter { matches($0.path, uri) }.map(\.method)
      let other = ["PATCH", "PUT", "DELETE", "POST"].first { !known.contains($0) } ?? ""
      let refused = try await kit.send(other, uri)
      #expect(refused.status == 405)
      #expect(refused.headers["allow"]?.contains(method) == true)
    }
    await kit.close()
  }

  /// Whether a path as sent is one of a path with names in braces.
  private func matches(_ path: String, _ uri: String) -> Bool {
    let parts = (path.split(separator: "/"), uri.split(separator: "/"))
    return parts.0.count == parts.1.count && zip(parts.0, parts.1).allSatisfy { $0 == $1 || $0.hasPrefix("{") }
  }

  @Test func everyReferenceLeadsSomewhereAndIdsAreUnique() async throws {
    let kit = try await RESTKit()
    let schemas = Set(kit.description.tree["components"]?["schemas"]?.names ?? [])
    var ids: [String] = []
    var references: Set<String> = []
    func visit(_ tree: JSONValue) {
      switch tree {
      case .object(let object):
        for member in object.members {
          if member.name == "$ref", let name = member.value.stringValue?.split(separator: "/").last {
            references.insert(String(name))
          }
          if member.name == "operationId", let id = member.value.stringValue { ids.append(id) }
          visit(member.value)
        }
      case .array(let values): values.forEach(visit)
      default: break
      }
    }
    visit(kit.description.tree)
    #expect(references.isSubset(of: schemas))
    #expect(schemas.subtracting(references).isEmpty)
    #expect(ids.count == Set(ids).count)
    await kit.close()
  }
}
