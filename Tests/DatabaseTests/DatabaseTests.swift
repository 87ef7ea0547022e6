import Testing
@testable import Database
