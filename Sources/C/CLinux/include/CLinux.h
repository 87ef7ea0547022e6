// The C library and the kernel's interfaces as one module, the same for the host and for Embedded Swift (which has no
// Glibc module). Functions of our own are only what Swift cannot say: variadic calls, errno and macros.
#pragma once

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "arguments.h"

/// The calling thread's errno.
int tonearm_errno(void);
/// open(2), which is variadic in C.
int tonearm_open(const char *path, int flags, mode_t mode);
