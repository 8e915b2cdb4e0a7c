import CallModel

// MARK: - Queries and registrations

extension UserAgent {
  func ping(_ id: QueryID, _ plan: OutgoingQuery) {
    guard queries[id] == nil else { return }
    context.meet(plan.paths)
    queries[id] = Query(plan, id: id, context: context)
    with(query: id) { $0.start() }
  }

  func register(_ id: QueryID, _ plan: OutgoingRegistration) {
    guard registrations[id] == nil else { return }
    context.meet(plan.paths)
    registrations[id] = Registration(plan, id: id, context: context)
    with(registration: id) { $0.start() }
  }

  func unregister(_ id: QueryID) { with(registration: id) { $0.stop() } }

  func with(query id: QueryID, _ action: (Query) -> Void) {
    guard let query = queries[id] else { return }
    action(query)
    if query.isFinished { queries[id] = nil }
    deadlines.set(.query(id), query.nextDeadline)
  }

  func with(registration id: QueryID, _ action: (Registration) -> Void) {
    guard let registration = registrations[id] else { return }
    action(registration)
    if registration.isFinished { registrations[id] = nil }
    deadlines.set(.registration(id), registration.nextDeadline)
  }
}
