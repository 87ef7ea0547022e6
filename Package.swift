// swift-tools-version: 6.1
import PackageDescription

// The engine has no remote package dependency: what it needs beside the standard library is a C library of Debian's,
// wrapped in exactly one module (docs/decisions/no-package-dependencies.md). `tools/cross` builds the same targets as
// Embedded Swift.
// TagLib is C++: what ships for boards does not have it.
let isEmbedded = Context.environment["TONEARM_EMBEDDED"] != nil
let package = Package(
    name: "tonearm",
    products: [
        .executable(name: "tonearm", targets: ["tonearm"]),
        // Makes thumbnails for tonearm, which starts it.
        .executable(name: "tonearm-pictures", targets: ["PictureProgram"]),
        // The player, for programs of other packages: docs/example.
        .library(name: "TonearmPlayer", targets: ["Player", "Output"]),
        // The self-hosted content service: full Swift, never on a board.
        .executable(name: "tonearm-origin", targets: ["Origin"]),
    ],
    traits: [
        .default(enabledTraits: isEmbedded ? ["AAC"] : ["AAC", "TagWriting"]),
        .trait(
            name: "AAC",
            description: "AAC-LC, HE-AAC and HE-AAC v2 by libfaad2, which puts the programs under the GPL"),
        .trait(name: "TagWriting", description: "tonearm loudness --write-tags by TagLib, which is C++"),
    ],
    targets: [
        // C: module maps, and the few lines that Swift cannot say (variadic calls, errno, macros).
        .target(name: "CLinux", path: "Sources/C/CLinux", linkerSettings: [.linkedLibrary("m")]),
        // Vector instructions without a name in Swift; used by Media alone.
        .systemLibrary(name: "CVectors", path: "Sources/C/CVectors"),
        // alsa-lib: the kernel's own interface to sound cards; used by Output alone.
        .systemLibrary(
            name: "CALSA", path: "Sources/C/CALSA", pkgConfig: "alsa", providers: [.apt(["libasound2-dev"])]),
        // libFLAC: the reference decoder; used by Media alone.
        .systemLibrary(name: "CFLAC", path: "Sources/C/CFLAC", pkgConfig: "flac", providers: [.apt(["libflac-dev"])]),
        // libsoxr: conversion of sample rates; used by PCM alone.
        .systemLibrary(name: "CSoxr", path: "Sources/C/CSoxr", pkgConfig: "soxr", providers: [.apt(["libsoxr-dev"])]),
        // libebur128: loudness and true peak; used by PCM alone.
        .systemLibrary(
            name: "CEBUR128", path: "Sources/C/CEBUR128", pkgConfig: "libebur128",
            providers: [.apt(["libebur128-dev"])]),
        // libmpg123: MP3, frame by frame; used by Media alone.
        .systemLibrary(
            name: "CMPG123", path: "Sources/C/CMPG123", pkgConfig: "libmpg123", providers: [.apt(["libmpg123-dev"])]),
        // libvorbis: Vorbis, packet by packet; used by Media alone.
        .systemLibrary(
            name: "CVorbis", path: "Sources/C/CVorbis", pkgConfig: "vorbis", providers: [.apt(["libvorbis-dev"])]),
        // libopus: Opus, packet by packet; used by Media alone.
        .systemLibrary(
            name: "COpus", path: "Sources/C/COpus", pkgConfig: "opus", providers: [.apt(["libopus-dev"])]),
        // libwavpack: WavPack, block by block; used by Media alone.
        .systemLibrary(
            name: "CWavPack", path: "Sources/C/CWavPack", pkgConfig: "wavpack", providers: [.apt(["libwavpack-dev"])]),
        // libfaad2: AAC, with the package trait AAC; used by Media alone.
        .systemLibrary(name: "CFAAD", path: "Sources/C/CFAAD", providers: [.apt(["libfaad-dev"])]),
        // TagLib: writes tags, with the package trait TagWriting; used by tonearm alone, by way of a few lines of C++.
        .systemLibrary(
            name: "CTagLib", path: "Sources/C/CTagLib", pkgConfig: "taglib", providers: [.apt(["libtag1-dev"])]),
        .target(name: "CTagWriting", dependencies: ["CTagLib"], path: "Sources/C/CTagWriting"),
        // expat: XML, for DASH manifests; used by Manifests alone.
        .systemLibrary(
            name: "CExpat", path: "Sources/C/CExpat", pkgConfig: "expat", providers: [.apt(["libexpat1-dev"])]),
        // SQLite: everything that persists; used by Database alone.
        .systemLibrary(
            name: "CSQLite", path: "Sources/C/CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        // libgpiod, 1.6 or 2: the kernel's interface to GPIO lines; used by Board alone.
        .systemLibrary(
            name: "CGPIOD", path: "Sources/C/CGPIOD", pkgConfig: "libgpiod", providers: [.apt(["libgpiod-dev"])]),
        // jansson: JSON; used by Platform alone.
        .systemLibrary(
            name: "CJansson", path: "Sources/C/CJansson", pkgConfig: "jansson", providers: [.apt(["libjansson-dev"])]),

        // mbedTLS: ciphers, hashes, signatures, servers with TLS, and in what ships certificates; used by Crypto alone.
        // 2.28 has no .pc file.
        .systemLibrary(name: "CMbedTLS", path: "Sources/C/CMbedTLS", providers: [.apt(["libmbedtls-dev"])]),
        // libcurl: HTTP, with connection reuse, happy eyeballs, proxies and TLS; used by Network alone.
        .systemLibrary(
            name: "CCurl", path: "Sources/C/CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),

        // libmicrohttpd: the HTTP server of the daemon and of the content service; used by HTTPServer alone.
        .systemLibrary(
            name: "CMicroHTTPD", path: "Sources/C/CMicroHTTPD", pkgConfig: "libmicrohttpd",
            providers: [.apt(["libmicrohttpd-dev"])]),

        // libjpeg-turbo, libpng and libwebp's decoder: pictures; used by Pictures alone.
        .systemLibrary(
            name: "CTurboJPEG", path: "Sources/C/CTurboJPEG", pkgConfig: "libturbojpeg",
            providers: [.apt(["libturbojpeg0-dev"])]),
        .systemLibrary(
            name: "CPNG", path: "Sources/C/CPNG", pkgConfig: "libpng16", providers: [.apt(["libpng-dev"])]),
        .systemLibrary(
            name: "CWebP", path: "Sources/C/CWebP", pkgConfig: "libwebp", providers: [.apt(["libwebp-dev"])]),

        // Imports point down only, in the order of this list.
        .target(name: "Platform", dependencies: ["CLinux", "CJansson"]),
        .target(name: "PCM", dependencies: ["Platform", "CSoxr", "CEBUR128", "CLinux"]),
        .target(name: "Crypto", dependencies: ["Platform", "CMbedTLS"]),
        // Packets between the daemon and tonearm-pictures.
        .target(name: "PictureRequests"),
        // Thumbnails, for a process that may do nothing else.
        .target(name: "Pictures", dependencies: ["CTurboJPEG", "CPNG", "CWebP"]),
        // Filters of system calls, for both programs.
        .target(name: "Confinement", dependencies: ["CLinux"]),
        .target(name: "PictureService", dependencies: ["Confinement", "Pictures", "PictureRequests", "CLinux"]),
        .executableTarget(name: "PictureProgram", dependencies: ["PictureService", "CLinux"]),
        .target(name: "Database", dependencies: ["Platform", "CSQLite", "CLinux"]),
        // For the web page of the daemon, and for the content service.
        .target(name: "HTTPServer", dependencies: ["Crypto", "Platform", "CMicroHTTPD", "CLinux"]),
        // Multicast DNS: others find this machine and its services.
        .target(name: "Discovery", dependencies: ["Platform", "CLinux"]),
        // Crypto is for the cache, and for TLS in what ships, where libcurl has mbedTLS.
        .target(name: "Network", dependencies: ["Crypto", "Platform", "CCurl", "CLinux"]),
        .target(
            name: "Media",
            dependencies: [
                "Crypto", "PCM", "Platform", "CLinux", "CVectors", "CFLAC", "CMPG123", "CVorbis", "COpus", "CWavPack",
                .target(name: "CFAAD", condition: .when(traits: ["AAC"])),
            ]),
        // Texts that name music: manifests of streams, playlists, cue sheets.
        .target(name: "Manifests", dependencies: ["Media", "PCM", "Platform", "CExpat", "CLinux"]),
        // The index of music folders, for the player and the origin.
        .target(
            name: "Library", dependencies: ["Manifests", "Media", "Database", "Crypto", "PCM", "Platform", "CLinux"]),
        .target(name: "Output", dependencies: ["PCM", "Platform", "CALSA", "CLinux"]),
        .target(name: "Board", dependencies: ["Platform", "CGPIOD", "CLinux"]),
        // A resource over the network as bytes: retries, resumption, the buffer, the cache.
        .target(name: "Fetching", dependencies: ["Manifests", "Media", "Network", "Database", "Crypto", "Platform"]),
        // The playback engine, and the files on the disks.
        .target(
            name: "Playback",
            dependencies: [
                "Fetching", "Manifests", "Media", "Output", "Network", "Database", "Crypto", "PCM", "Platform",
                "CLinux",
            ]),
        // The login of a content service, and its streaming privileges.
        .target(name: "Account", dependencies: ["Fetching", "Media", "Network", "Crypto", "Platform"]),
        // Products of a content service, and files of the web.
        .target(
            name: "Streaming",
            dependencies: [
                "Playback", "Account", "Fetching", "Manifests", "Media", "Network", "Crypto", "PCM", "Platform",
            ]),
        // The offline engine: downloads, and the copies that they make.
        .target(
            name: "Offline",
            dependencies: [
                "Streaming", "Playback", "Account", "Fetching", "Manifests", "Media", "Network", "Database", "Crypto",
                "PCM", "Platform", "CLinux",
            ]),
        // Events about playing and downloading: derived from facts, and stored until they are delivered.
        .target(name: "Events", dependencies: ["Database", "Platform"]),
        // The public face: composes the engines, and chooses the source of a product.
        .target(
            name: "Player",
            dependencies: [
                "Offline", "Streaming", "Account", "Playback", "Fetching", "Events", "Manifests", "Media", "Output",
                "Network", "Database", "Crypto", "PCM", "Platform",
            ]),
        // The play queue and its conductor, for the daemon and for `tonearm play`.
        .target(name: "Queue", dependencies: ["Player", "Output", "Database", "Platform", "CLinux"]),
        .target(
            name: "Appliance",
            dependencies: [
                "Queue", "Player", "Library", "Events", "Board", "HTTPServer", "Media", "Output", "Network",
                "Discovery",
                "Database",
                "Crypto", "PCM", "PictureRequests", "Platform", "CLinux",
            ]),
        .target(
            name: "Control",
            dependencies: [
                "Appliance", "Queue", "Player", "Library", "Events", "HTTPServer", "Media", "Output", "Network",
                "Database", "Crypto", "PCM", "Platform", "CLinux",
            ]),
        .target(
            name: "MPD",
            dependencies: [
                "Appliance", "Queue", "Player", "Library", "Media", "Output", "Database", "PCM", "Platform", "CLinux",
            ]),
        .executableTarget(
            name: "tonearm",
            dependencies: [
                "MPD", "Control", "Appliance", "Queue", "Board", "Player", "Library", "Media", "Output", "Network",
                "Database", "PCM", "Confinement", "Platform", "CLinux",
                .target(name: "CTagWriting", condition: .when(traits: ["TagWriting"])),
            ]),

        // Programs that need no board, in full Swift, which tools/cross does not build.
        .target(
            name: "OriginService",
            dependencies: ["HTTPServer", "Library", "Media", "Database", "Crypto", "PCM", "Platform"]),
        .executableTarget(name: "Origin", dependencies: ["OriginService", "Platform"]),

        // Shared by the tests of several modules: a clock driven by hand, scratch folders.
        .target(name: "TestSupport", dependencies: ["Platform", "CLinux"], path: "Tests/Support/TestSupport"),
        // Watches the calls of a process that change files, or ends it at one of them.
        .target(name: "FileCalls", path: "Tests/Support/FileCalls"),
        // Writes to files until a test cuts it off, kills it or has seen its file calls.
        .executableTarget(
            name: "CutProgram",
            dependencies: [
                "MPD", "Control", "Appliance", "Queue", "Player", "Offline", "Playback", "Account", "Library", "Events",
                "Network", "Database", "Crypto", "Platform", "CLinux", "FileCalls", "OfflineTestSupport",
            ],
            path: "Tests/Support/CutProgram"),
        .testTarget(name: "PlatformTests", dependencies: ["Platform", "CutProgram", "TestSupport"]),
        .testTarget(name: "PictureRequestsTests", dependencies: ["PictureRequests"]),
        // Pictures of real encoders, with the pixels that other decoders see.
        .target(
            name: "PictureTestSupport", dependencies: ["TestSupport"], path: "Tests/Support/PictureTestSupport"),
        .testTarget(name: "PicturesTests", dependencies: ["Pictures", "PictureTestSupport", "TestSupport"]),
        // Tries what the sandbox of tonearm-pictures forbids.
        .executableTarget(
            name: "SandboxCheck", dependencies: ["PictureService", "CLinux"], path: "Tests/Support/SandboxCheck"),
        .testTarget(
            name: "PictureServiceTests",
            dependencies: [
                "Confinement", "PictureService", "PictureRequests", "Pictures", "PictureProgram", "SandboxCheck",
                "PictureTestSupport", "TestSupport",
            ]),
        .testTarget(name: "PCMTests", dependencies: ["PCM", "TestSupport"]),
        // Published test vectors, for the tests on the host and for the program below.
        .target(name: "CryptoVectors", dependencies: ["Crypto"], path: "Tests/Support/CryptoVectors"),
        .testTarget(name: "CryptoTests", dependencies: ["Crypto", "CryptoVectors", "Platform", "TestSupport"]),
        .testTarget(
            name: "EventsTests", dependencies: ["Events", "CutProgram", "Database", "Platform", "TestSupport"]),
        .testTarget(name: "DatabaseTests", dependencies: ["Database", "CutProgram", "TestSupport"]),
        // For tools/test-binaries: ciphers, certificates and TLS as they ship.
        .executableTarget(
            name: "SelfCheck", dependencies: ["CryptoVectors", "Network", "Crypto", "Platform", "CLinux"],
            path: "Tests/Support/SelfCheck"),
        .testTarget(name: "NetworkTests", dependencies: ["Network", "Platform", "CLinux", "TestSupport"]),
        .testTarget(name: "DiscoveryTests", dependencies: ["Discovery", "Platform", "CLinux", "TestSupport"]),
        .testTarget(name: "HTTPServerTests", dependencies: ["HTTPServer", "Crypto", "Platform", "TestSupport"]),
        .testTarget(name: "MediaTests", dependencies: ["Manifests", "Media", "Crypto", "CVectors", "TestSupport"]),
        .testTarget(name: "ManifestsTests", dependencies: ["Manifests", "Media", "PCM", "Platform", "TestSupport"]),
        .testTarget(
            name: "LibraryTests",
            dependencies: ["Library", "Media", "Database", "PCM", "Platform", "CLinux", "TestSupport"]),
        // Counts what a thread allocates; for the tests that prove that the audio thread does not.
        .target(name: "AllocationCounter", path: "Tests/Support/AllocationCounter"),
        // A sound card for alsa-lib that moves and fails when a test says so.
        .target(name: "SimulatedCard", path: "Tests/Support/SimulatedCard", linkerSettings: [.linkedLibrary("asound")]),
        // A device for the renderer that plays when a test says so.
        .target(
            name: "OutputTestSupport",
            dependencies: ["Output", "PCM", "Platform", "SimulatedCard", "CLinux", "TestSupport"],
            path: "Tests/Support/OutputTestSupport"),
        .testTarget(
            name: "OutputTests",
            dependencies: ["Output", "AllocationCounter", "SimulatedCard", "OutputTestSupport", "TestSupport"]),
        // GPIO lines that a test moves.
        .target(
            name: "BoardTestSupport", dependencies: ["Board", "Platform", "CLinux"],
            path: "Tests/Support/BoardTestSupport"),
        .testTarget(name: "BoardTests", dependencies: ["Board", "BoardTestSupport", "CLinux", "TestSupport"]),
        // A content service with known files, for the tests of the offline engine.
        .target(
            name: "OfflineTestSupport", dependencies: ["Player", "Network", "Platform"],
            path: "Tests/Support/OfflineTestSupport"),
        // Players and services that a test drives, for the tests of the player's modules.
        .target(
            name: "PlayerTestSupport",
            dependencies: [
                "Player", "Events", "Manifests", "Media", "Output", "Network", "Database", "Crypto", "PCM", "Platform",
                "CLinux", "OfflineTestSupport", "OutputTestSupport", "TestSupport",
            ],
            path: "Tests/Support/PlayerTestSupport"),
        .testTarget(
            name: "FetchingTests",
            dependencies: [
                "Fetching", "Manifests", "Database", "Network", "CutProgram", "PlayerTestSupport", "TestSupport",
            ]),
        .testTarget(
            name: "PlaybackTests",
            dependencies: [
                "Playback", "Manifests", "AllocationCounter", "OutputTestSupport", "PlayerTestSupport", "TestSupport",
            ]),
        .testTarget(name: "AccountTests", dependencies: ["Account", "Network", "PlayerTestSupport", "TestSupport"]),
        .testTarget(
            name: "StreamingTests",
            dependencies: [
                "Streaming", "Manifests", "Network", "Crypto", "OfflineTestSupport", "PlayerTestSupport", "TestSupport",
            ]),
        .testTarget(
            name: "OfflineTests",
            dependencies: [
                "Offline", "Network", "Database", "Crypto", "CutProgram", "OfflineTestSupport",
                "PlayerTestSupport", "TestSupport",
            ]),
        .testTarget(
            name: "PlayerTests",
            dependencies: ["Player", "Events", "Network", "Database", "PlayerTestSupport", "TestSupport"]),
        // For tools/bench: the time from `play()` to the first frame, many events, files and offline copies.
        .executableTarget(
            name: "Meter",
            dependencies: [
                "Player", "Offline", "Playback", "Account", "Library", "Events", "Output", "Network", "Database",
                "Crypto", "Platform", "CLinux", "OfflineTestSupport",
            ],
            path: "Tests/Support/Meter"),
        // For tools/bench: downloads a file, into a file or into the sealed cache.
        .executableTarget(
            name: "DownloadMeter", dependencies: ["Network", "Crypto", "Platform", "CLinux"],
            path: "Tests/Support/DownloadMeter"),
        // A conductor with a real player on a paced card, and files that identify themselves.
        .target(
            name: "QueueTestSupport",
            dependencies: ["Queue", "Player", "Output", "OutputTestSupport", "Platform", "TestSupport"],
            path: "Tests/Support/QueueTestSupport"),
        .testTarget(
            name: "QueueTests",
            dependencies: [
                "Queue", "Player", "Output", "Database", "Platform", "CLinux", "CutProgram", "QueueTestSupport",
                "OutputTestSupport", "TestSupport",
            ]),
        // Speaks the protocol of tonearm-pictures, and fails as a test says.
        .executableTarget(name: "PictureSimulator", path: "Tests/Support/PictureSimulator"),
        // A daemon on a loop that the test drives, with a real player on a paced card.
        .target(
            name: "ApplianceTestSupport",
            dependencies: [
                "Appliance", "Player", "Offline", "Fetching", "Playback", "Account", "Media", "Output", "Board",
                "Database", "PCM", "Platform", "BoardTestSupport", "OfflineTestSupport", "OutputTestSupport",
                "QueueTestSupport", "TestSupport",
            ],
            path: "Tests/Support/ApplianceTestSupport"),
        .testTarget(
            name: "ApplianceTests",
            dependencies: [
                "Appliance", "Queue", "Player", "Library", "Events", "Media", "Board", "Network", "Discovery",
                "Database", "PictureRequests", "PictureSimulator",
                "Platform",
                "CLinux", "CutProgram", "ApplianceTestSupport", "BoardTestSupport", "OfflineTestSupport",
                "OutputTestSupport", "QueueTestSupport", "TestSupport",
            ]),
        .testTarget(
            name: "ControlTests",
            dependencies: [
                "Control", "Appliance", "Queue", "Player", "Library", "Events", "Media", "Network", "HTTPServer",
                "Database", "PictureRequests", "PictureSimulator", "Platform", "CLinux", "CutProgram",
                "ApplianceTestSupport",
                "OfflineTestSupport", "OutputTestSupport", "QueueTestSupport", "TestSupport",
            ]),
        .testTarget(
            name: "MPDTests",
            dependencies: [
                "MPD", "Appliance", "Queue", "Player", "Library", "Media", "Database", "Platform", "CLinux",
                "ApplianceTestSupport", "OutputTestSupport", "QueueTestSupport", "TestSupport",
            ]),
        // The built program, run by a test.
        .target(
            name: "ProgramTestSupport", dependencies: ["Platform", "CLinux", "TestSupport"],
            path: "Tests/Support/ProgramTestSupport"),
        .testTarget(
            name: "CommandLineTests",
            dependencies: [
                "tonearm", "Control", "Appliance", "Board", "Player", "Media", "Output", "Database", "PCM", "Platform",
                "CLinux", "ProgramTestSupport", "TestSupport",
            ]),
        .testTarget(
            name: "OriginTests",
            dependencies: [
                "Origin", "OriginService", "HTTPServer", "tonearm", "Library", "Player", "Media", "Network", "Database",
                "Crypto", "PCM", "Platform", "ProgramTestSupport", "TestSupport",
            ]),
    ],
    swiftLanguageModes: [.v6]
)

// Embedded Swift compiles the code of all modules into the program that calls it. Machine code of each module alone
// would take most of the time of a build, and is not needed (docs/decisions/code-of-one-module.md).
if isEmbedded {
    for target in package.targets where target.type == .regular {
        target.swiftSettings = [.unsafeFlags(["-Xfrontend", "-emit-empty-object-file"])]
    }
}
