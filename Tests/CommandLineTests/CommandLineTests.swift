import Testing
@testable import tonearm
