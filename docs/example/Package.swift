// swift-tools-version: 6.1
import PackageDescription

// A program of another package that plays files with Tonearm. It is built and run by tools/example-test.
let package = Package(
    name: "example",
    dependencies: [.package(name: "tonearm", path: "../..")],
    targets: [
        .executableTarget(
            name: "example", dependencies: [.product(name: "TonearmPlayer", package: "tonearm")], path: "Sources")
    ]
)
