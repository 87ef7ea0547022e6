import ApplianceTestSupport
import Board
import Database
import Media
import Output
import PCM
import Platform

@testable import Appliance
@testable import Player

// The code in the doc comments of the main types. Each function holds that of the type in its first comment; it is
// compiled, and not run. DocumentedUsesTests compares the two.

func useOfPlayer() throws {
    // Player/Player.swift
    let settings = PlayerSettings(output: RendererSettings(device: "hw:CARD=DAC"), stateFolder: "/var/lib/player")
    let player = try Player(settings: settings)
    player.playbackEngine.bus.subscribe { message in print(message) }
    player.playbackEngine.load(MediaProduct(productType: .track, productId: "/music/a.flac", referenceId: "1"))
    player.playbackEngine.play()
}

func useOfPlaybackEngine(_ engine: PlaybackEngine, _ first: MediaProduct, _ second: MediaProduct) {
    // Playback/Engine/PlaybackEngine.swift
    engine.bus.subscribe { message in
        guard case .mediaProductTransition(let transition) = message, transition.active == first else { return }
        engine.setNext(second)  // it follows without a gap
    }
    engine.load(first)
    engine.play()
}

func useOfOfflineEngine(_ engine: OfflineEngine, _ product: MediaProduct) {
    // Offline/OfflineEngine.swift
    engine.bus.subscribe { message in
        guard case .done(let referenceId) = message else { return }
        print("\(referenceId) plays without a network now")
    }
    if engine.offline(product) { print("the download is stored, and survives a power cut") }
}

func useOfByteSource(_ bytes: [UInt8]) throws -> any AudioDecoder {
    // Media/Core/Bytes/ByteSource.swift
    final class Memory: ByteSource {
        private let bytes: [UInt8]
        var length: Int64? { Int64(bytes.count) }

        init(_ bytes: [UInt8]) { self.bytes = bytes }

        func read(
            into buffer: UnsafeMutableRawBufferPointer, at offset: Int64
        ) throws(ByteSourceError) -> ByteRead {
            let rest = bytes.dropFirst(Int(offset)).prefix(buffer.count)
            buffer.copyBytes(from: rest)
            return ByteRead(count: rest.count)
        }
    }
    let decoder = try AudioFile.open(Memory(bytes))
    return decoder
}

func useOfRenderer(_ stream: PCMStream) throws {
    // Output/Rendering/Renderer.swift
    let renderer = try Renderer(
        provider: ALSADeviceProvider(), clock: SystemMonotonicClock(),
        settings: RendererSettings(device: "hw:CARD=DAC"), priority: .realtime(40))
    renderer.begin(stream)  // a decoder fills its ring
    renderer.run(generation: 1)
    while let event = renderer.nextEvent() { print(event.kind) }  // every few milliseconds
}

func useOfEventLoop() throws {
    // Platform/EventLoop/EventLoop.swift
    let loop = try EventLoop()
    loop.schedule(after: 1_000_000_000) { loop.stop() }
    loop.post { print("posted by any thread, run by the thread of the loop") }
    loop.run()
}

func useOfStorageThread(_ modules: [SchemaModule], _ loop: EventLoop) throws {
    // Database/StorageThread.swift
    let storage = try StorageThread("/var/lib/player/state.db", modules: modules)
    storage.join()
    storage.write(answerOn: loop) { (database) throws(DatabaseError) in
        try KeyValueStore(database, table: "setting").set(.text("60 %"), for: "maximum")
    } answer: { error in
        print(error?.description ?? "on the medium")
    }
    storage.leave()
}

func useOfDaemon(_ daemon: Daemon, _ board: BoardProfile, _ lines: any LineProvider) {
    // Appliance/Daemon/Daemon.swift
    daemon.attach(board, lines: lines)
    daemon.openLibrary()
    daemon.start()
    daemon.loop.run()
    daemon.shutDown()
}

func useOfCommands(_ commands: CommandDispatcher) {
    // Appliance/Execution/CommandDispatcher.swift
    commands.perform(.toggle)  // as a button does
}
