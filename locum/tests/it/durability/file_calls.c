// Preloaded into the server; concerns the files of the SQLite database only.
//
// SYNC_LOG     a file to which the length of the WAL is written after each flush of the WAL
// OMIT_SYNC    if set, flushes are left out, as with a disk that does not obey
// EXIT_AT_CALL the number of the write or flush before which the process ends
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static int is_file(int fd, const char *end) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < (ssize_t)strlen(end)) return 0;
  path[length] = 0;
  return strcmp(path + length - strlen(end), end) == 0;
}

static int is_wal(int fd) { return is_file(fd, "/locum.db-wal"); }

static void count_call(int fd) {
  static atomic_long calls;
  const char *last = getenv("EXIT_AT_CALL");
  if (last && (is_wal(fd) || is_file(fd, "/locum.db")) && atomic_fetch_add(&calls, 1) + 1 >= atol(last)) _exit(137);
}

static void log_flush(int fd) {
  const char *path = getenv("SYNC_LOG");
  struct stat file;
  int log;
  if (!path || !is_wal(fd) || fstat(fd, &file) || (log = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600)) < 0) return;
  dprintf(log, "%lld\n", (long long)file.st_size);
  close(log);
}

static int flush(int fd, const char *name) {
  int (*real)(int) = dlsym(RTLD_NEXT, name);
  count_call(fd);
  if (getenv("OMIT_SYNC") && is_wal(fd)) return 0;
  int result = real(fd);
  if (result == 0) log_flush(fd);
  return result;
}

int fsync(int fd) { return flush(fd, "fsync"); }
int fdatasync(int fd) { return flush(fd, "fdatasync"); }

#define POSITIONED(name, offset_type)                                            \
  ssize_t name(int fd, const void *bytes, size_t count, offset_type offset) {    \
    ssize_t (*real)(int, const void *, size_t, offset_type) = dlsym(RTLD_NEXT, #name); \
    count_call(fd);                                                              \
    return real(fd, bytes, count, offset);                                       \
  }

POSITIONED(pwrite, off_t)
POSITIONED(pwrite64, off64_t)

ssize_t write(int fd, const void *bytes, size_t count) {
  ssize_t (*real)(int, const void *, size_t) = dlsym(RTLD_NEXT, "write");
  count_call(fd);
  return real(fd, bytes, count);
}
