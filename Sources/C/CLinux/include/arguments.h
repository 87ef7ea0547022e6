#pragma once

/// How many arguments the process was started with, the program's name included. Embedded Swift has no CommandLine.
int tonearm_argument_count(void);
/// The argument at `index`, 0 being the program's name; valid for the life of the process, NULL beyond the last.
const char *tonearm_argument(int index);
