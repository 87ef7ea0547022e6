// Nothing to import: functions that Embedded Swift's standard library expects from its platform. `tools/cross` defines
// TONEARM_EMBEDDED; on the host this target is empty, because there the full standard library brings its own.
#pragma once
