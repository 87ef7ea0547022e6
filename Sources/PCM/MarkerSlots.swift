/// The markers of a ring, in the order in which they were put. A marker has a number, and its slot is used again once
/// it is released.
///
/// The producer's thread calls `put`. The rest is for the consumer's thread.
struct MarkerSlots: ~Copyable {
    private let slots: UnsafeMutablePointer<PCMRing.PlacedMarker>
    private let capacity: Int
    /// Counts markers put; owned by the producer.
    private let putCursor = Cursor()
    /// Counts markers that cannot be rewound to any more; owned by the consumer.
    private let releasedCursor = Cursor()

    init(capacity: Int) {
        self.capacity = capacity
        slots = .allocate(capacity: capacity)
    }

    deinit { slots.deallocate() }

    private func slot(_ number: Int64) -> UnsafeMutablePointer<PCMRing.PlacedMarker> {
        slots + Int(number % Int64(capacity))
    }

    /// Whether there is a slot for another marker. Producer's thread.
    var hasRoom: Bool { putCursor.owned() - releasedCursor.read() < capacity }

    /// Puts a marker into a free slot. Producer's thread.
    func put(_ marker: PCMRing.PlacedMarker) {
        let count = putCursor.owned()
        slot(count).initialize(to: marker)
        putCursor.publish(count + 1)
    }

    /// How many markers were put. Consumer's thread.
    var putCount: Int64 { putCursor.read() }

    /// How many markers were released. Consumer's thread.
    var releasedCount: Int64 { releasedCursor.owned() }

    /// The marker with a number, from `releasedCount` to before `putCount`. Consumer's thread.
    subscript(_ number: Int64) -> PCMRing.PlacedMarker { slot(number).pointee }

    /// Returns the slots of the first `count` markers to the producer. Consumer's thread.
    func release(_ count: Int64) { releasedCursor.publish(count) }
}
