import CLinux
import Platform

/// The lines of this machine's GPIO chips, by way of libgpiod.
///
/// Thread: the event loop's. Nothing is kept open but the lines that were handed out.
public final class GPIOLines: LineProvider {
    private let deviceFolder: String
    private let consumer: String

    /// - Parameter deviceFolder: where the `gpiochip` devices are.
    /// - Parameter consumer: what the kernel tells others who has a line.
    public init(deviceFolder: String = "/dev", consumer: String = "tonearm") {
        self.deviceFolder = deviceFolder
        self.consumer = consumer
    }

    /// - Throws: why the line cannot be had now. It may be different later: drivers load late, programs end.
    public func input(
        _ line: LineReference, active: ActiveLevel, bias: LineBias
    ) throws(LineError) -> any LineEventSource {
        let chip = try open(line)
        let offset = try Self.offset(of: line, on: chip)
        do throws(ChipFailure) {
            try chip.requestEdges(offset, consumer: consumer, active: active, bias: bias)
        } catch {
            throw Self.requestError(error, line, offset, chip)
        }
        return InputLine(line, chip, offset)
    }

    /// - Throws: why the line cannot be had now.
    public func output(
        _ line: LineReference, active: ActiveLevel, initially: Bool
    ) throws(LineError) -> any LineOutput {
        let chip = try open(line)
        let offset = try Self.offset(of: line, on: chip)
        do throws(ChipFailure) {
            try chip.requestOutput(offset, consumer: consumer, active: active, initially: initially)
        } catch {
            throw Self.requestError(error, line, offset, chip)
        }
        return OutputLine(line, chip, offset)
    }

    // MARK: Finding

    /// The chip of `line`. One whose label is the one that is asked for goes before one whose name it is.
    private func open(_ line: LineReference) throws(LineError) -> ChipHandle {
        var present: [String] = []
        var forbidden: String?
        var byName: String?
        for device in devices() {
            do throws(ChipFailure) {
                let chip = try ChipHandle(device: device)
                if chip.label.hasSameBytes(as: line.chip) { return chip }
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

/// A requested input line. Its end gives the line back.
private final class InputLine: LineEventSource {
    private let line: LineReference
    private let chip: ChipHandle
    private let offset: Int
    let descriptor: Int32

    init(_ line: LineReference, _ chip: consuming ChipHandle, _ offset: Int) {
        self.line = line
        descriptor = chip.descriptor(offset)
        self.chip = chip
        self.offset = offset
    }

    func takeEdges() throws(LineError) -> [LineEdge] {
        do throws(ChipFailure) {
            return try chip.takeEdges(offset)
        } catch {
            throw .failed(line, operation: "read edges", code: error.code)
        }
    }

    func isActive() throws(LineError) -> Bool {
        do throws(ChipFailure) {
            return try chip.isActive(offset)
        } catch {
            throw .failed(line, operation: "read", code: error.code)
        }
    }
}

/// A requested output line. Its end gives the line back.
private final class OutputLine: LineOutput {
    private let line: LineReference
    private let chip: ChipHandle
    private let offset: Int

    init(_ line: LineReference, _ chip: consuming ChipHandle, _ offset: Int) {
        self.line = line
        self.chip = chip
        self.offset = offset
    }

    func set(_ isActive: Bool) throws(LineError) {
        do throws(ChipFailure) {
            try chip.set(offset, isActive)
        } catch {
            throw .failed(line, operation: "set", code: error.code)
        }
    }
}
