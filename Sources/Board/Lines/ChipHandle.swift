import CGPIOD
import CLinux

/// An open GPIO chip (`struct gpiod_chip`). Closing is its end and releases its lines; it cannot be copied.
///
/// Thread: the event loop's.
struct ChipHandle: ~Copyable {
    private let raw: OpaquePointer
    let label: String
    /// `gpiochip0`
    let name: String
    let lineCount: Int

    /// - Parameter device: `/dev/gpiochip0`
    /// - Throws: the errno.
    init(device: String) throws(ChipFailure) {
        guard let chip = gpiod_chip_open(device) else { throw ChipFailure(code: tonearm_errno()) }
        raw = chip
        label = String(cString: gpiod_chip_label(chip))
        name = String(cString: gpiod_chip_name(chip))
        lineCount = Int(gpiod_chip_num_lines(chip))
    }

    deinit { gpiod_chip_close(raw) }

    /// What the kernel knows of a line.
    struct LineInformation {
        var name: String?
        var consumer: String?
        var isUsed: Bool
    }

    func information(_ offset: Int) throws(ChipFailure) -> LineInformation {
        var info = tonearm_gpio_line_info()
        try ChipFailure.check(tonearm_gpio_line_info(raw, UInt32(offset), &info))
        return LineInformation(
            name: info.name.map { String(cString: $0) }, consumer: info.consumer.map { String(cString: $0) },
            isUsed: info.is_used)
    }

    // MARK: Requests

    func requestEdges(_ offset: Int, consumer: String, active: ActiveLevel, bias: LineBias) throws(ChipFailure) {
        try ChipFailure.check(
            tonearm_gpio_request_edges(raw, UInt32(offset), consumer, active == .low, bias.constant))
    }

    func requestOutput(
        _ offset: Int, consumer: String, active: ActiveLevel, initially: Bool
    ) throws(ChipFailure) {
        try ChipFailure.check(
            tonearm_gpio_request_output(raw, UInt32(offset), consumer, active == .low, initially))
    }

    // MARK: Requested lines

    /// Readable while there are edges; -1 for a line whose edges were not requested.
    func descriptor(_ offset: Int) -> Int32 { tonearm_gpio_descriptor(raw, UInt32(offset)) }

    /// None when none is waiting.
    func takeEdges(_ offset: Int) throws(ChipFailure) -> [LineEdge] {
        let descriptor = descriptor(offset)
        var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&waiting, 1, 0) > 0 else { return [] }
        var edges = InlineArray<16, tonearm_gpio_edge>(repeating: tonearm_gpio_edge())
        var count: Int32 = 0
        var span = edges.mutableSpan
        let code = span.withUnsafeMutableBufferPointer { tonearm_gpio_read_edges(descriptor, $0.baseAddress, &count) }
        try ChipFailure.check(code)
        return (0..<Int(count)).map { LineEdge(isActive: edges[$0].is_active, time: edges[$0].time) }
    }

    func isActive(_ offset: Int) throws(ChipFailure) -> Bool {
        var value = false
        try ChipFailure.check(tonearm_gpio_get(raw, UInt32(offset), &value))
        return value
    }

    func set(_ offset: Int, _ isActive: Bool) throws(ChipFailure) {
        try ChipFailure.check(tonearm_gpio_set(raw, UInt32(offset), isActive))
    }
}

/// What libgpiod left in errno.
struct ChipFailure: Error {
    var code: Int32

    static func check(_ code: Int32) throws(ChipFailure) {
        if code != 0 { throw ChipFailure(code: code) }
    }
}

extension LineBias {
    fileprivate var constant: tonearm_gpio_bias {
        switch self {
        case .asIs: tonearm_gpio_bias_as_is
        case .none: tonearm_gpio_bias_none
        case .pullUp: tonearm_gpio_bias_pull_up
        case .pullDown: tonearm_gpio_bias_pull_down
        }
    }
}
