import CGPIOD
import CLinux

/// A requested line and its chip. It cannot be copied, and its `deinit` releases the line.
///
/// Thread: the event loop's.
struct RequestedLine: ~Copyable {
    private let chip: ChipHandle
    private let request: tonearm_gpio_request

    /// - Parameter request: a request of that chip.
    init(_ request: tonearm_gpio_request, of chip: consuming ChipHandle) {
        self.chip = chip
        self.request = request
    }

    // The chip is closed after the line.
    deinit { tonearm_gpio_release(request) }

    /// The descriptor of an input: readable while edges are waiting.
    var descriptor: Int32 { tonearm_gpio_descriptor(request) }

    /// Returns waiting edges; empty when there is none.
    func takeEdges() throws(ChipFailure) -> [LineEdge] {
        var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&waiting, 1, 0) > 0 else { return [] }
        var edges = InlineArray<16, tonearm_gpio_edge>(repeating: tonearm_gpio_edge())
        var count: Int32 = 0
        var span = edges.mutableSpan
        let code = span.withUnsafeMutableBufferPointer { tonearm_gpio_read_edges(request, $0.baseAddress, &count) }
        try ChipFailure.check(code)
        return (0..<Int(count)).map { LineEdge(isActive: edges[$0].is_active, time: edges[$0].time) }
    }

    func isActive() throws(ChipFailure) -> Bool {
        var value = false
        try ChipFailure.check(tonearm_gpio_get(request, &value))
        return value
    }

    func set(_ isActive: Bool) throws(ChipFailure) { try ChipFailure.check(tonearm_gpio_set(request, isActive)) }
}
