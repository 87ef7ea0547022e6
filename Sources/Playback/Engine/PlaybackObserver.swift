/// Follows what the playback engine does with its items. `StreamNeed` is an observer, and `Player` has another one that
/// records sessions. An observer leaves the functions that it does not need empty.
///
/// Thread: all functions are called on control, and must return soon.
package protocol PlaybackObserver: AnyObject {
    /// The user has pressed play.
    func pressed()

    /// An item's source is being opened.
    /// - Parameters:
    ///   - session: the id of its playback session.
    ///   - isNext: whether it was requested as the next product.
    func opens(_ item: ItemID, _ product: MediaProduct, session: String, isNext: Bool)

    /// The effects of an event are about to be carried out.
    /// - Parameter before: the engine before the event.
    func willCarryOut(
        _ event: PlaybackStateMachine.Event, _ effects: [PlaybackStateMachine.Effect], _ before: PlaybackMoment)

    /// The effects of an event were carried out.
    /// - Parameters:
    ///   - after: the engine now.
    ///   - now: returns the state of the engine when it is called.
    func didCarryOut(
        _ event: PlaybackStateMachine.Event, _ effects: [PlaybackStateMachine.Effect], _ before: PlaybackMoment,
        _ after: PlaybackMoment, now: @escaping () -> PlaybackMoment)

    /// The content service is asked for an item that is being opened or plays, or has answered.
    /// - Parameter moment: the engine now.
    func fetches(_ item: ItemID, _ report: FetchReport, _ moment: PlaybackMoment)

    /// The source of an item starts over, in a new playback session.
    /// - Parameter moment: the engine now.
    func renewed(_ item: ItemID, session: String, _ moment: PlaybackMoment)

    /// The engine ends.
    func ends(_ moment: PlaybackMoment)
}

extension PlaybackObserver {
    package func pressed() {}
    package func opens(_ item: ItemID, _ product: MediaProduct, session: String, isNext: Bool) {}
    package func willCarryOut(
        _ event: PlaybackStateMachine.Event, _ effects: [PlaybackStateMachine.Effect], _ before: PlaybackMoment
    ) {}
    package func renewed(_ item: ItemID, session: String, _ moment: PlaybackMoment) {}
    package func ends(_ moment: PlaybackMoment) {}
}
