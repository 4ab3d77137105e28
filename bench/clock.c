// A clock that can be stopped, for a process that is measured.
//
// Preloaded into a process (LD_PRELOAD), this answers for CLOCK_MONOTONIC, which programs wait by,
// and ends waits by it. The file that BENCH_CLOCK names says what time it is: two numbers of 64 bits,
// in nanoseconds. The first is the moment at which the clock stands, or 0 while it runs; the second is
// how far it is behind the machine's then. CLOCK_REALTIME is left alone.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

// How long a wait lasts before it looks whether a clock that stands was moved.
#define LOOK_EACH 10000000L
#define SECOND 1000000000L

struct shared {
    _Atomic int64_t stands;
    _Atomic int64_t behind;
};

static struct shared running, *shared = &running;
static int (*next_clock_gettime)(clockid_t, struct timespec *);
static int (*next_epoll_wait)(int, struct epoll_event *, int, int);
static long (*next_syscall)(long, ...);

__attribute__((constructor)) static void open_clock(void) {
    next_clock_gettime = dlsym(RTLD_NEXT, "clock_gettime");
    next_epoll_wait = dlsym(RTLD_NEXT, "epoll_wait");
    next_syscall = dlsym(RTLD_NEXT, "syscall");
    const char *path = getenv("BENCH_CLOCK");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0) {
        return;
    }
    void *mapped = mmap(NULL, sizeof(struct shared), PROT_READ, MAP_SHARED, file, 0);
    close(file);
    if (mapped != MAP_FAILED) {
        shared = mapped;
    }
}

static int64_t now(void) {
    int64_t stands = shared->stands;
    if (stands) {
        return stands;
    }
    struct timespec time;
    next_clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * SECOND + time.tv_nsec - shared->behind;
}

// How long to wait now, on the way to a moment.
static int64_t slice(int64_t left) {
    return shared->stands && left > LOOK_EACH ? LOOK_EACH : left;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    if (!next_clock_gettime) {
        open_clock();
    }
    if (clock != CLOCK_MONOTONIC) {
        return next_clock_gettime(clock, time);
    }
    int64_t at = now();
    time->tv_sec = at / SECOND;
    time->tv_nsec = at % SECOND;
    return 0;
}

int epoll_wait(int epoll, struct epoll_event *events, int most, int timeout) {
    if (timeout <= 0) {
        return next_epoll_wait(epoll, events, most, timeout);
    }
    int64_t end = now() + timeout * 1000000L;
    for (;;) {
        int64_t left = end - now();
        int wait = left > 0 ? (slice(left) + 999999) / 1000000 : 0;
        int ready = next_epoll_wait(epoll, events, most, wait);
        if (ready != 0 || left <= 0) {
            return ready;
        }
    }
}

static long wait_on_futex(long word, int operation, long value, int64_t end) {
    for (;;) {
        int64_t left = end - now();
        if (left <= 0) {
            errno = ETIMEDOUT;
            return -1;
        }
        int64_t wait = slice(left);
        struct timespec time = {wait / SECOND, wait % SECOND};
        long woken = next_syscall(SYS_futex, word, operation, value, &time, 0L, 0L);
        if (woken != -1 || errno != ETIMEDOUT) {
            return woken;
        }
    }
}

long syscall(long number, ...) {
    if (!next_syscall) {
        open_clock();
    }
    va_list list;
    va_start(list, number);
    long a[6];
    for (int at = 0; at < 6; at++) {
        a[at] = va_arg(list, long);
    }
    va_end(list);
    const struct timespec *timeout = (const struct timespec *)a[3];
    int command = a[1] & FUTEX_CMD_MASK, waits = command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET;
    if (number != SYS_futex || !waits || !timeout || (a[1] & FUTEX_CLOCK_REALTIME)) {
        return next_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    }
    // FUTEX_WAIT takes a span, FUTEX_WAIT_BITSET a moment.
    int64_t end = timeout->tv_sec * SECOND + timeout->tv_nsec;
    end += command == FUTEX_WAIT ? now() : 0;
    return wait_on_futex(a[0], FUTEX_WAIT | (a[1] & FUTEX_PRIVATE_FLAG), a[2], end);
}
