import CGPIOD
import CLinux

/// An open GPIO chip (`struct gpiod_chip`). It cannot be copied, and its `deinit` closes the chip.
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
        var info = tonearm_gpio_chip_info()
        do throws(ChipFailure) {
            try ChipFailure.check(tonearm_gpio_chip_info(chip, &info))
        } catch {
            gpiod_chip_close(chip)
            throw error
        }
        raw = chip
        label = info.label.text
        name = info.name.text
        lineCount = Int(clamping: info.line_count)
    }

    deinit { gpiod_chip_close(raw) }

    /// The kernel's information about a line.
    struct LineInformation {
        var name: String?
        var consumer: String?
    }

    func information(_ offset: Int) throws(ChipFailure) -> LineInformation {
        var info = tonearm_gpio_line_info()
        try ChipFailure.check(tonearm_gpio_line_info(raw, UInt32(offset), &info))
        func text(_ name: tonearm_gpio_name) -> String? { name.text.isEmpty ? nil : name.text }
        return LineInformation(name: text(info.name), consumer: text(info.consumer))
    }

    /// Requests both edges of a line, for a `RequestedLine`.
    /// - Parameter debounce: the debounce time in milliseconds; the kernel filters bounces if it can.
    func requestInput(
        _ offset: Int, consumer: String, active: ActiveLevel, bias: LineBias, debounce: Int
    ) throws(ChipFailure) -> tonearm_gpio_request {
        var request = tonearm_gpio_request()
        let code = consumer.withCString { consumer in
            let input = tonearm_gpio_input(
                consumer: consumer, active_low: active == .low, bias: bias.constant,
                debounce: UInt32(clamping: Int64(debounce) * 1000))
            return tonearm_gpio_request_input(raw, UInt32(offset), input, &request)
        }
        try ChipFailure.check(code)
        return request
    }

    /// Requests an output line, for a `RequestedLine`.
    func requestOutput(
        _ offset: Int, consumer: String, active: ActiveLevel, initially: Bool
    ) throws(ChipFailure) -> tonearm_gpio_request {
        var request = tonearm_gpio_request()
        try ChipFailure.check(
            tonearm_gpio_request_output(raw, UInt32(offset), consumer, active == .low, initially, &request))
        return request
    }
}

/// The errno of libgpiod.
struct ChipFailure: Error {
    var code: Int32

    static func check(_ code: Int32) throws(ChipFailure) {
        if code != 0 { throw ChipFailure(code: code) }
    }
}

extension tonearm_gpio_name {
    fileprivate var text: String {
        withUnsafeBytes(of: bytes) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
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
