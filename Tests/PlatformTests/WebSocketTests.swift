import Testing

@testable import Platform

extension WebSocketMachine {
    fileprivate mutating func receive(_ bytes: [UInt8], at now: Int64 = 0) -> [Output] {
        bytes.withUnsafeBytes { receive($0, at: now) }
    }
}

@Suite("WebSockets without I/O (RFC 6455)")
struct WebSocketTests {
    private typealias Frame = WebSocketFrame
    private typealias Output = WebSocketMachine.Output

    /// Examples of RFC 6455, 5.7, and 1.3.
    @Test("writes the frames of the standard's examples")
    func examples() {
        let hello = Array("Hello".utf8)
        #expect(Frame(.text, hello).bytes(mask: nil) == [0x81, 5, 0x48, 0x65, 0x6C, 0x6C, 0x6F])
        #expect(
            Frame(.text, hello).bytes(mask: 0x37FA_213D)
                == [0x81, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58])
        #expect(Frame(.text, Array("Hel".utf8), isFinal: false).bytes(mask: nil) == [1, 3, 0x48, 0x65, 0x6C])
        #expect(Frame(.binary, .init(repeating: 0, count: 256)).bytes(mask: nil).prefix(4) == [0x82, 0x7E, 1, 0])
        #expect(
            Frame(.binary, .init(repeating: 0, count: 65_536)).bytes(mask: nil).prefix(10)
                == [0x82, 0x7F, 0, 0, 0, 0, 0, 1, 0, 0])
        #expect(WebSocketKey.accept("dGhlIHNhbXBsZSBub25jZQ==") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
        // Messages of SHA-1 that end at and around the borders of a block.
        let accepts = [
            0: "Kfh9QIsMVZcl6xEPYxPHzW8SZ8w=", 19: "yzaGyu0mcUukN7CdsSwa30tnCpc=", 20: "dUYRM7bOMwDmbriNIPr11x+r3E0=",
            27: "NCEiOv6lMC9mC8oEZnneqRdJ4DU=", 28: "xMWmCBqYJY4uXzUs8PNU1t+Pzro=",
        ]
        for (count, accept) in accepts {
            #expect(WebSocketKey.accept(String(repeating: "a", count: count)) == accept, "\(count)")
        }
    }

    @Test("encodes base64 that decodes to the same bytes")
    func base64() {
        for (bytes, text) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")] {
            #expect(Base64.text(Array(bytes.utf8)) == text)
        }
        let all = (0...255).map { UInt8($0) }
        #expect(Base64.bytes(Base64.text(all).utf8) == all)
    }

    /// A text in three frames, with a ping and a pong between them, texts of all kinds of length, and a close frame.
    private static let conversation: [WebSocketFrame] = [
        Frame(.text, Array("gr".utf8) + [0xC3], isFinal: false), Frame(.ping, [1, 2, 3]),
        Frame(.continuation, [0xBC], isFinal: false), Frame(.pong), Frame(.continuation, [0xC3, 0x9F, 0x65]),
        Frame(.text), Frame(.text, .init(repeating: 0x61, count: 125)),
        Frame(.text, .init(repeating: 0x62, count: 126)),
        Frame(.close, [0x03, 0xE9] + Array("gone".utf8)), Frame(.text, [0x63]),
    ]

    private static let answers: [WebSocketMachine.Output] = [
        .send(Frame(.pong, [1, 2, 3])), .text("grüße"), .text(""), .text(String(repeating: "a", count: 125)),
        .text(String(repeating: "b", count: 126)), .send(Frame(closing: 1001)), .ended(.closed(code: 1001)),
    ]

    @Test("understands a conversation that is cut at any byte, for both roles", arguments: [true, false])
    func cuts(isServer: Bool) {
        let bytes = Self.conversation.flatMap { $0.bytes(mask: isServer ? 0xA1B2_C3D4 : nil) }
        for cut in 0...bytes.count {
            var machine = WebSocketMachine(isServer ? .server : .client, at: 0)
            let outputs = machine.receive(Array(bytes[..<cut])) + machine.receive(Array(bytes[cut...]))
            #expect(outputs == Self.answers, "cut at \(cut)")
            #expect(machine.deadline == nil && machine.send("x").isEmpty && machine.disconnected().isEmpty)
        }
        var machine = WebSocketMachine(isServer ? .server : .client, at: 0)
        #expect(bytes.flatMap { machine.receive([$0]) } == Self.answers)
    }

    @Test(
        "closes with the code of the standard after a fault",
        arguments: [
            // Reserved bits, unknown kinds, control frames that are too long or in parts, a mask.
            ([0xC1, 0], .protocolError), ([0xA1, 0], .protocolError), ([0x91, 0], .protocolError),
            ([0x83, 0], .protocolError), ([0x8B, 0], .protocolError), ([0x09, 0], .protocolError),
            ([0x89, 126, 0, 126], .protocolError), ([0x88, 127], .protocolError), ([0x81, 0x80], .protocolError),
            // A continuation of nothing, and a message in a message.
            ([0x80, 0], .protocolError), ([0x01, 0, 0x81, 0], .protocolError), ([0x01, 0, 0x82, 0], .protocolError),
            // Lengths that are not the shortest form, or negative.
            ([0x81, 126, 0, 125], .protocolError), ([0x81, 127, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF], .protocolError),
            ([0x81, 127, 0x80, 0, 0, 0, 0, 0, 0, 0], .protocolError),
            // Close frames with half a code, impossible codes, and a reason that is no text.
            ([0x88, 1, 3], .protocolError), ([0x88, 2, 3, 0xED], .protocolError), ([0x88, 2, 3, 0xEE], .protocolError),
            ([0x88, 2, 3, 0xE7], .protocolError), ([0x88, 2, 3, 0xF7], .protocolError),
            ([0x88, 2, 0x13, 0x88], .protocolError), ([0x88, 3, 3, 0xE8, 0xFF], .notUTF8),
            ([0x82, 0], .notText), ([0x81, 1, 0xFF], .notUTF8), ([0x81, 2, 0xC3, 0x28], .notUTF8),
            ([0x01, 1, 0xC3, 0x80, 1, 0x28], .notUTF8), ([0x81, 3, 0xED, 0xA0, 0x80], .notUTF8),
            // Refused by their heads, before their bytes arrive.
            ([0x81, 127, 0, 0, 0, 0, 0, 1, 0, 1], .tooLarge),
            ([0x81, 127, 0x7F, 255, 255, 255, 255, 255, 255, 255], .tooLarge),
        ] as [([UInt8], WebSocketFault)])
    func faults(bytes: [UInt8], fault: WebSocketFault) {
        var machine = WebSocketMachine(.client, at: 0)
        let close = Output.send(Frame(closing: fault.rawValue))
        #expect(machine.receive(bytes) == [close, .ended(.fault(fault))])
        #expect(machine.receive([0x81, 0]).isEmpty)
    }

    @Test("a message may have 64 KiB, in one frame or in many")
    func limit() {
        let piece = Frame(.continuation, .init(repeating: 0x61, count: 1024), isFinal: false).bytes(mask: nil)
        var machine = WebSocketMachine(.client, at: 0)
        #expect(machine.receive([0x01, 0]).isEmpty)
        for _ in 0..<64 { #expect(machine.receive(piece).isEmpty) }
        #expect(machine.receive([0x80, 0]) == [.text(String(repeating: "a", count: 65_536))])
        #expect(machine.receive(Frame(.text, .init(repeating: 0x61, count: 65_536)).bytes(mask: nil)).count == 1)
        #expect(machine.receive([0x01, 0]).isEmpty)
        for _ in 0..<64 { #expect(machine.receive(piece).isEmpty) }
        #expect(machine.receive([0x80, 1]).last == .ended(.fault(.tooLarge)))
    }

    @Test("a client's frame without a mask is a fault for a server")
    func unmasked() {
        var machine = WebSocketMachine(.server, at: 0)
        #expect(machine.receive([0x81, 0]).last == .ended(.fault(.protocolError)))
    }

    @Test("a silent peer gets a ping, and the connection ends without an answer; any bytes are one")
    func silence() {
        var limits = WebSocketMachine.Limits()
        (limits.pingInterval, limits.patience) = (60, 20)
        var machine = WebSocketMachine(.client, limits: limits, at: 100)
        #expect(machine.deadline == 160)
        #expect(machine.timePassed(at: 159).isEmpty)
        #expect(machine.timePassed(at: 160) == [.send(Frame(.ping))])
        #expect(machine.deadline == 180)
        #expect(machine.receive([0x8A], at: 170).isEmpty)
        #expect(machine.deadline == 230)
        #expect(machine.receive([0], at: 171).isEmpty)
        #expect(machine.timePassed(at: 231) == [.send(Frame(.ping))])
        #expect(machine.timePassed(at: 251) == [.ended(.silence)])
        #expect(machine.deadline == nil && machine.timePassed(at: 1000).isEmpty)
    }

    @Test("closing sends the code, drops texts, and ends with the answer, the connection or the time")
    func closing() {
        func closing() -> WebSocketMachine {
            var machine = WebSocketMachine(.client, at: 0)
            #expect(machine.close(code: 1000, at: 5) == [.send(Frame(closing: 1000))])
            #expect(machine.close(code: 1001, at: 5).isEmpty && machine.send("x").isEmpty)
            #expect(machine.receive([0x81, 1, 0x61, 0x89, 0]).isEmpty)
            return machine
        }
        var machine = closing()
        #expect(machine.receive([0x88, 2, 0x03, 0xE8]) == [.ended(.closedHere)])
        machine = closing()
        #expect(machine.receive([0xFF, 0]) == [.ended(.closedHere)])
        machine = closing()
        #expect(machine.disconnected() == [.ended(.closedHere)])
        machine = closing()
        #expect(machine.deadline == 3_000_000_005)
        #expect(machine.timePassed(at: 3_000_000_005) == [.ended(.closedHere)])
        machine = WebSocketMachine(.client, at: 0)
        #expect(machine.disconnected() == [.ended(.lost)])
        machine = WebSocketMachine(.client, at: 0)
        #expect(machine.receive([0x88, 0]) == [.send(Frame(closing: nil)), .ended(.closed(code: nil))])
    }

    @Test("changed bytes never crash it, give no more than they have, and are the same in any pieces")
    func mutations() {
        var generator = Generator(state: 1)
        for role in [WebSocketMachine.Role.client, .server] {
            let seed = Self.conversation.flatMap { $0.bytes(mask: role == .server ? 0x0102_0304 : nil) }
            for _ in 0..<3000 {
                var bytes = seed
                for _ in 0..<Int.random(in: 1...4, using: &generator) {
                    let index = Int.random(in: 0..<bytes.count, using: &generator)
                    bytes[index] = UInt8.random(in: 0...255, using: &generator)
                    if Bool.random(using: &generator) { bytes.removeSubrange(0..<index / 8) }
                }
                var (whole, pieces) = (WebSocketMachine(role, at: 0), WebSocketMachine(role, at: 0))
                let outputs = whole.receive(bytes)
                var inPieces: [WebSocketMachine.Output] = []
                while !bytes.isEmpty {
                    let count = Int.random(in: 1...bytes.count, using: &generator)
                    inPieces += pieces.receive(Array(bytes.prefix(count)))
                    bytes.removeFirst(count)
                }
                #expect(outputs == inPieces)
                #expect(outputs.count <= seed.count)
            }
        }
    }
}

/// The same numbers in each run.
private struct Generator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state ^ state >> 29
    }
}
