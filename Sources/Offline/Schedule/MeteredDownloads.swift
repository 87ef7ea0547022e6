/// The downloads whose route was metered, since the last change of a route.
struct MeteredDownloads: Equatable {
    /// The number of downloads that try a metered route before all wait. The products of a service usually share a
    /// route, but other services may use other routes.
    private static let most = 8

    /// The numbers of their downloads.
    var numbers: Set<Int64> = []
    /// Whether `wayWaited` is still to come. One timer is enough, however often the routes change.
    var isTimed = false

    var isFull: Bool { numbers.count >= Self.most }
}
