import CGPIOD
import CLinux
import Platform

/// The lines of this machine's GPIO chips, through libgpiod.
///
/// Thread: the event loop's. Only requested lines stay open.
public final class GPIOLines: LineProvider {
    private let deviceFolder: String
    private let consumer: String

    /// - Parameter deviceFolder: the folder of the `gpiochip` devices.
    /// - Parameter consumer: the name that the kernel shows to other programs for a used line.
    public init(deviceFolder: String = "/dev", consumer: String = "tonearm") {
        self.deviceFolder = deviceFolder
        self.consumer = consumer
    }

    /// - Throws: when the line cannot be used now. A retry may succeed: drivers load late, programs end.
    public func input(
        _ line: LineReference, active: ActiveLevel, bias: LineBias, debounce: Int
    ) throws(LineError) -> any LineEventSource {
        let chip = try open(line)
        let offset = try Self.offset(of: line, on: chip)
        let request: tonearm_gpio_request
        do throws(ChipFailure) {
            request = try chip.requestInput(offset, consumer: consumer, active: active, bias: bias, debounce: debounce)
        } catch {
            throw Self.requestError(error, line, offset, chip)
        }
        return InputLine(line, RequestedLine(request, of: chip))
    }

    /// - Throws: when the line cannot be used now.
    public func output(
        _ line: LineReference, active: ActiveLevel, initially: Bool
    ) throws(LineError) -> any LineOutput {
        let chip = try open(line)
        let offset = try Self.offset(of: line, on: chip)
        let request: tonearm_gpio_request
        do throws(ChipFailure) {
            request = try chip.requestOutput(offset, consumer: consumer, active: active, initially: initially)
        } catch {
            throw Self.requestError(error, line, offset, chip)
        }
        return OutputLine(line, RequestedLine(request, of: chip))
    }

    // MARK: Search

    /// The chip of `line`. A chip with this label is preferred to one with this name.
    private func open(_ line: LineReference) throws(LineError) -> ChipHandle {
        var present: [String] = []
        var forbidden: String?
        var byName: String?
        for device in devices() {
            do throws(ChipFailure) {
                let chip = try ChipHandle(device: device)
                if line.isOnChip(labelled: chip.label) { return chip }
                if chip.name.hasSameBytes(as: line.chip) { byName = device }
                present.append(chip.label)
            } catch {
                if error.code == EACCES || error.code == EPERM { forbidden = device }
            }
        }
        if let byName {
            do throws(ChipFailure) {
                return try ChipHandle(device: byName)
            } catch {
                throw .failed(line, operation: "open", code: error.code)
            }
        }
        if let forbidden { throw .noPermission(line, device: forbidden) }
        throw .chipMissing(line, present: present)
    }

    private func devices() -> [String] {
        guard let entries = try? Folder.entries(of: deviceFolder) else { return [] }
        let names = entries.filter { $0.kind == .other && $0.name.utf8.starts(with: "gpiochip".utf8) }
        return names.map { "\(deviceFolder)/\($0.name)" }
    }

    private static func offset(of line: LineReference, on chip: borrowing ChipHandle) throws(LineError) -> Int {
        switch line.line {
        case .offset(let offset):
            if offset < chip.lineCount { return offset }
        case .name(let name):
            for offset in 0..<chip.lineCount {
                guard let known = (try? chip.information(offset))?.name else { continue }
                if known.hasSameBytes(as: name) { return offset }
            }
        }
        throw .lineMissing(line, count: chip.lineCount)
    }

    private static func requestError(
        _ failure: ChipFailure, _ line: LineReference, _ offset: Int, _ chip: borrowing ChipHandle
    ) -> LineError {
        guard failure.code == EBUSY else { return .failed(line, operation: "request", code: failure.code) }
        return .lineTaken(line, by: (try? chip.information(offset))?.consumer)
    }
}

/// An input line. `deinit` releases the line.
private final class InputLine: LineEventSource {
    private let reference: LineReference
    private let line: RequestedLine
    let descriptor: Int32

    init(_ reference: LineReference, _ line: consuming RequestedLine) {
        self.reference = reference
        descriptor = line.descriptor
        self.line = line
    }

    func takeEdges() throws(LineError) -> [LineEdge] {
        do throws(ChipFailure) {
            return try line.takeEdges()
        } catch {
            throw .failed(reference, operation: "read edges", code: error.code)
        }
    }

    func isActive() throws(LineError) -> Bool {
        do throws(ChipFailure) {
            return try line.isActive()
        } catch {
            throw .failed(reference, operation: "read", code: error.code)
        }
    }
}

/// An output line. `deinit` releases the line.
private final class OutputLine: LineOutput {
    private let reference: LineReference
    private let line: RequestedLine

    init(_ reference: LineReference, _ line: consuming RequestedLine) {
        self.reference = reference
        self.line = line
    }

    func set(_ isActive: Bool) throws(LineError) {
        do throws(ChipFailure) {
            try line.set(isActive)
        } catch {
            throw .failed(reference, operation: "set", code: error.code)
        }
    }
}
