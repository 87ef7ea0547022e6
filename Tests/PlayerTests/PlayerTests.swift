import Testing
@testable import Player
