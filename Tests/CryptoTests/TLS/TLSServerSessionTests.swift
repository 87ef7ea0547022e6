import Foundation
import Platform
import TestSupport
import Testing

@testable import Crypto

@Suite("The server's end of TLS")
struct TLSServerSessionTests {
    private func session(_ kind: ServerCertificate.Kind = .p256) throws -> TLSServerSession {
        let files = try ServerCertificate.of(kind)
        return try TLSServerSession(
            TLSIdentity(
                certificate: ServerCertificate.bytes(files.chain),
                key: SecretBytes(copying: try ServerCertificate.bytes(files.key))))
    }

    /// Connects a Python program with the test: it has the socket `plain`, and the authority in `context`.
    private func client(_ script: String, authority: String) throws -> (socket: StreamSocket, process: TestProcess) {
        let (own, theirs) = try StreamSocket.pair(seconds: 60)
        let start = """
            import socket, ssl, sys
            context = ssl.create_default_context(cafile="\(authority)")
            plain = socket.socket(fileno=0)
            plain.settimeout(60)

            """
        return try withExtendedLifetime(theirs) {
            (
                own,
                try TestProcess(
                    "/usr/bin/python3", ["-c", ServerCertificate.halfClosedClient + start + script],
                    input: .descriptor(theirs.descriptor))
            )
        }
    }

    /// Moves the encrypted bytes once, and waits for the client if there was nothing to move.
    private func exchange(_ session: inout TLSServerSession, _ socket: StreamSocket) throws {
        while !session.output.isEmpty {
            guard let count = try socket.send(session.output) else { break }
            session.sent(count)
        }
        try waitForDescriptor(socket.descriptor, "bytes of the client")
        if let count = try socket.receive(into: session.inputRoom()) {
            guard count > 0 else { throw Unexpected("the client has closed") }
            session.received(count)
        }
    }

    private func read(_ session: inout TLSServerSession, _ socket: StreamSocket) throws -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 1000)
        while true {
            switch buffer.withUnsafeMutableBytes({ session.read(into: $0) }) {
            case .bytes(let count): return Array(buffer[..<count])
            case .waiting: try exchange(&session, socket)
            case .end: return nil
            case .failed: throw Unexpected("not decrypted")
            }
        }
    }

    @Test("Nothing can be written before the handshake")
    func early() throws {
        var session = try session()
        let isWritten = [UInt8]("early".utf8).withUnsafeBytes { session.write($0) }
        #expect(!isWritten)
    }

    @Test(
        "Python verifies the chain, and 100,000 bytes pass in both directions",
        arguments: [.p256, .p384, .rsa] as [ServerCertificate.Kind])
    func exchange(kind: ServerCertificate.Kind) throws {
        let script = """
            tls = context.wrap_socket(plain, server_hostname="localhost", suppress_ragged_eofs=False)
            sent = bytes(i % 251 for i in range(100_000))
            tls.sendall(sent)
            received = b""
            while len(received) < 100_000:
                received += tls.recv(70_000)
            print(tls.version(), received == sent[::-1], flush=True)
            print(tls.recv(10), flush=True)
            tls.unwrap()
            """
        let (socket, process) = try client(script, authority: ServerCertificate.of(kind).authority)
        defer { process.kill() }
        var session = try session(kind)
        while case let handshake = session.handshake(), handshake != .done {
            #expect(handshake == .waiting)
            try exchange(&session, socket)
        }
        var received: [UInt8] = []
        while received.count < 100_000, let bytes = try read(&session, socket) { received += bytes }
        #expect(received == (0..<100_000).map { UInt8($0 % 251) })
        for start in stride(from: 0, to: received.count, by: TLSServerSession.writeLimit) {
            let part = Array(received.reversed()[start..<min(start + TLSServerSession.writeLimit, received.count)])
            #expect(part.withUnsafeBytes { session.write($0) })
            while !session.output.isEmpty {
                if let count = try socket.send(session.output) { session.sent(count) } else { Deadline.pause() }
            }
        }
        #expect(try process.nextLine() == "TLSv1.2 True")
        session.close()
        session.sent(try #require(try socket.send(session.output)))
        #expect(try process.nextLine() == "b''")
        // The answer to close_notify.
        #expect(try read(&session, socket) == nil)
    }

    @Test("A client that closes its side is answered; the session still writes")
    func halfClose() throws {
        let script = """
            print(half_closed(plain, context, b""), flush=True)
            """
        let (socket, process) = try client(script, authority: ServerCertificate.of(.p256).authority)
        defer { process.kill() }
        var session = try session()
        while session.handshake() == .waiting { try exchange(&session, socket) }
        #expect(try read(&session, socket) == nil)
        let answer = Array("the answer".utf8)
        #expect(answer.withUnsafeBytes { session.write($0) })
        session.sent(try #require(try socket.send(session.output)))
        session.close()
        session.sent(try #require(try socket.send(session.output)))
        #expect(try process.nextLine() == "b'the answer'")
    }

    @Test("Bytes that are no TLS, or damaged, end the handshake, and none is taken beyond the buffer")
    func garbage() throws {
        var random = SeededRandom(11)
        for round in 0..<300 {
            var session = try session()
            // Half of them look like a record of a handshake, up to its length.
            var bytes = (0..<Int.random(in: 0..<6000, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            if round % 2 == 0 {
                bytes = [0x16, 3, .random(in: 0...4, using: &random), .random(in: 0...80, using: &random)] + bytes
            }
            var rest = bytes[...]
            var handshake = session.handshake()
            while handshake == .waiting, !rest.isEmpty {
                let room = session.inputRoom()
                try #require(!room.isEmpty)
                let count = min(room.count, rest.count, Int.random(in: 1...900, using: &random))
                room.copyBytes(from: rest.prefix(count))
                session.received(count)
                rest = rest.dropFirst(count)
                handshake = session.handshake()
                session.sent(session.output.count)
            }
            #expect(handshake != .done)
        }
    }
}
