import Testing
@testable import PCM
