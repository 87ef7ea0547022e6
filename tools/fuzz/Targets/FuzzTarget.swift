// The functions that libFuzzer calls. FUZZ_TARGET in the environment names the parser.

import Glibc

/// A parser and checks of its result. It ends without a trap for any bytes.
struct FuzzTarget: Sendable {
    let name: String
    let run: @Sendable ([UInt8]) -> Void

    init(_ name: String, _ run: @escaping @Sendable ([UInt8]) -> Void) {
        self.name = name
        self.run = run
    }
}

private let allTargets =
    platformTargets + mediaTargets + outputTargets + boardTargets + applianceTargets + databaseTargets
    + networkTargets + discoveryTargets + playerTargets + clientTargets + originTargets
    + pictureTargets

private let target: FuzzTarget = {
    let name = getenv("FUZZ_TARGET").map { String(cString: $0) } ?? ""
    guard let target = allTargets.first(where: { $0.name == name }) else {
        fatalError("no target \(name); there are: \(allTargets.map(\.name).joined(separator: " "))")
    }
    return target
}()

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    target.run(Array(UnsafeBufferPointer(start: data, count: count)))
    return 0
}

/// The parts of the input, for targets that take more than one argument: cut at each 0 byte.
func pieces(of bytes: [UInt8]) -> [String] {
    bytes.split(separator: 0, omittingEmptySubsequences: false).map { String(decoding: $0, as: UTF8.self) }
}

/// Ends the run with `message` when `condition` does not hold. Unlike `precondition`, it prints the message in
/// optimised programs too.
func require(_ condition: Bool, _ message: @autoclosure () -> String) {
    if !condition { fatalError(message()) }
}
