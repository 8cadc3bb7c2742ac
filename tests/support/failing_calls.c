/* Fail one call that writes, or all from it on: loaded with LD_PRELOAD into the Python processes of a program under test.

   FAULTS=FILE:NUMBER:ERRNO:MORE:FOLDER  counts calls below FOLDER in FILE (an int, shared by all processes); call NUMBER fails, and with
   MORE=1 each one after it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int *counter, number, error, more;
static char folder[PATH_MAX];

static void *next(const char *name) { return dlsym(RTLD_NEXT, name); }

__attribute__((constructor)) static void begin(void) {
    char file[PATH_MAX], *given = getenv("FAULTS");
    if (!given || strncmp(program_invocation_short_name, "python", 6)) return;
    if (sscanf(given, "%[^:]:%d:%d:%d:%[^:]", file, &number, &error, &more, folder) != 5) return;
    int fd = ((int (*)(const char *, int, ...))next("open"))(file, O_RDWR | O_CLOEXEC);
    void *shared = mmap(0, sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (shared != MAP_FAILED) counter = shared;
}

static int fails(const char *path) {
    if (!counter || strncmp(path, folder, strlen(folder)) || strstr(path, "__pycache__")) return 0;
    int now = __sync_fetch_and_add(counter, 1);
    if (now != number && !(more && now > number)) return 0;
    errno = error;
    return 1;
}

static int file_fails(int fd) {
    char link[64], path[PATH_MAX];
    int before = errno;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = counter ? readlink(link, path, sizeof path - 1) : -1;
    errno = before;
    if (length < 0) return 0;
    path[length] = 0;
    return fails(path);
}

static int name_fails(int at, const char *name) {
    char whole[PATH_MAX], link[64];
    int before = errno;
    if (!counter || !name) return 0;
    if (*name == '/') return fails(name);
    snprintf(link, sizeof link, at == AT_FDCWD ? "/proc/self/cwd" : "/proc/self/fd/%d", at);
    ssize_t length = readlink(link, whole, sizeof whole - 1);
    errno = before;
    if (length < 0) return 0;
    snprintf(whole + length, sizeof whole - length, "/%s", name);
    return fails(whole);
}

#define WRITES (O_WRONLY | O_RDWR | O_CREAT)
#define OPENS(name, given, at, path, ...)                                                \
    int name given {                                                                     \
        va_list rest;                                                                    \
        va_start(rest, flags);                                                           \
        int mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, int) : 0;                \
        va_end(rest);                                                                    \
        if (flags & WRITES && name_fails(at, path)) return -1;                           \
        return ((int (*)())next(#name))(__VA_ARGS__, flags, mode);                       \
    }
OPENS(open, (const char *path, int flags, ...), AT_FDCWD, path, path)
OPENS(open64, (const char *path, int flags, ...), AT_FDCWD, path, path)
OPENS(openat, (int at, const char *path, int flags, ...), at, path, at, path)
OPENS(openat64, (int at, const char *path, int flags, ...), at, path, at, path)

#define CALL(type, name, given, failed, ...)                                             \
    type name given { return failed ? -1 : ((type(*) given)next(#name))(__VA_ARGS__); }
CALL(ssize_t, write, (int fd, const void *data, size_t size), file_fails(fd), fd, data, size)
CALL(ssize_t, pwrite, (int fd, const void *data, size_t size, off_t at), file_fails(fd), fd, data, size, at)
CALL(ssize_t, pwrite64, (int fd, const void *data, size_t size, off64_t at), file_fails(fd), fd, data, size, at)
CALL(int, fsync, (int fd), file_fails(fd), fd)
CALL(int, fdatasync, (int fd), file_fails(fd), fd)
CALL(int, ftruncate64, (int fd, off64_t size), file_fails(fd), fd, size)
CALL(int, fchmod, (int fd, mode_t mode), file_fails(fd), fd, mode)
CALL(int, mkdir, (const char *path, mode_t mode), name_fails(AT_FDCWD, path), path, mode)
CALL(int, mkdirat, (int at, const char *path, mode_t mode), name_fails(at, path), at, path, mode)
CALL(int, unlink, (const char *path), name_fails(AT_FDCWD, path), path)
CALL(int, unlinkat, (int at, const char *path, int flags), name_fails(at, path), at, path, flags)
CALL(int, link, (const char *from, const char *to), name_fails(AT_FDCWD, to), from, to)
CALL(int, linkat, (int a, const char *from, int b, const char *to, int f), name_fails(b, to), a, from, b, to, f)
CALL(int, rename, (const char *from, const char *to), name_fails(AT_FDCWD, to), from, to)
CALL(int, renameat, (int a, const char *from, int b, const char *to), name_fails(b, to), a, from, b, to)
CALL(int, renameat2, (int a, const char *from, int b, const char *to, unsigned f), name_fails(b, to), a, from, b, to, f)
