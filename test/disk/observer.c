/*
 * Records the changes that a process makes to the files below a folder, in their order. Loaded with LD_PRELOAD.
 *
 *   DISK_ROOT   the observed folder
 *   DISK_TRACE  the file for the trace
 *   DISK_ACKS   a file; each write to it is an acknowledgement, and its bytes are the text of the acknowledgement
 *
 * One entry of the trace: kind (1 byte), flags (1), name length (2), inode (8), offset (8), data length (8), name, data. Numbers are
 * little endian. One lock covers each call and its entry, so the calls can have happened in the order of the trace.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { MAX_FD = 65536 };
enum { UNWATCHED = 0, WATCHED = 1, ACKS = 2 };

static struct { uint8_t kind; uint8_t synced; uint8_t appends; } table[MAX_FD];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char root[PATH_MAX];
static char acks[PATH_MAX];
static int trace = -1;

#define REAL(type, name, ...) \
  static type (*real)(__VA_ARGS__); \
  if (!real) real = (type (*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)

static void put(const void *bytes, size_t length) {
  const char *at = bytes;
  while (length > 0) {
    ssize_t done = syscall(SYS_write, trace, at, length);
    if (done < 0) _exit(97);
    at += done;
    length -= (size_t)done;
  }
}

static void note(char kind, uint8_t flags, uint64_t inode, uint64_t offset, const char *name, const void *data, uint64_t length) {
  if (trace < 0) return;
  uint16_t named = (uint16_t)strlen(name);
  char head[28];
  head[0] = kind;
  head[1] = (char)flags;
  memcpy(head + 2, &named, 2);
  memcpy(head + 4, &inode, 8);
  memcpy(head + 12, &offset, 8);
  memcpy(head + 20, &length, 8);
  put(head, sizeof head);
  put(name, named);
  if (data) put(data, length);
}

__attribute__((constructor)) static void begin(void) {
  const char *folder = getenv("DISK_ROOT"), *file = getenv("DISK_TRACE"), *to = getenv("DISK_ACKS");
  if (!folder || !file || !to || !realpath(folder, root)) return;
  snprintf(acks, sizeof acks, "%s", to);
  trace = (int)syscall(SYS_openat, AT_FDCWD, file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

static int is_below(const char *path) {
  size_t length = strlen(root);
  return trace >= 0 && strncmp(path, root, length) == 0 && (path[length] == '/' || path[length] == 0);
}

static uint64_t inode_of(int fd) {
  struct stat found;
  return fstat(fd, &found) == 0 ? (uint64_t)found.st_ino : 0;
}

static int kind_of(int fd) { return fd >= 0 && fd < MAX_FD ? table[fd].kind : UNWATCHED; }

static const char *absolute(int folder, const char *path, char *into) {
  char base[PATH_MAX];
  if (path[0] == '/') return path;
  if (folder == AT_FDCWD) {
    if (!getcwd(base, sizeof base)) return path;
  } else {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
    ssize_t length = readlink(link, base, sizeof base - 1);
    if (length < 0) return path;
    base[length] = 0;
  }
  if (snprintf(into, PATH_MAX, "%s/%s", base, path) >= PATH_MAX) _exit(98);
  return into;
}

/* The kernel's name of an open file, independent of the path that opened it. */
static const char *name_of(int fd, char *into) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, into, PATH_MAX - 1);
  into[length < 0 ? 0 : length] = 0;
  return into;
}

/* Records an open. The flags of the entry: 1 for a folder, 2 if the call created the file, 4 if it truncated the file. */
static void opened(int fd, int flags, int existed) {
  struct stat found;
  char path[PATH_MAX];
  if (trace < 0) return;
  name_of(fd, path);
  if (fd < 0 || fd >= MAX_FD) return;
  table[fd].kind = strcmp(path, acks) == 0 ? ACKS : is_below(path) ? WATCHED : UNWATCHED;
  table[fd].synced = (flags & (O_DSYNC | O_SYNC)) != 0;
  table[fd].appends = (flags & O_APPEND) != 0;
  if (table[fd].kind != WATCHED || fstat(fd, &found) != 0) return;
  note('o', (uint8_t)((S_ISDIR(found.st_mode) ? 1 : 0) | (existed ? 0 : 2) | (flags & O_TRUNC ? 4 : 0)), found.st_ino, 0, path, NULL, 0);
}

static int open_at(int folder, const char *path, int flags, mode_t mode) {
  struct stat before;
  pthread_mutex_lock(&lock);
  int existed = fstatat(folder, path, &before, 0) == 0;
  int fd = (int)syscall(SYS_openat, folder, path, flags, mode);
  int error = errno;
  if (fd >= 0) opened(fd, flags, existed);
  pthread_mutex_unlock(&lock);
  errno = error;
  return fd;
}

#define MODE(flags) \
  mode_t mode = 0; \
  if ((flags) & (O_CREAT | O_TMPFILE)) { va_list rest; va_start(rest, flags); mode = va_arg(rest, mode_t); va_end(rest); }

int open(const char *path, int flags, ...) { MODE(flags) return open_at(AT_FDCWD, path, flags, mode); }
int open64(const char *path, int flags, ...) { MODE(flags) return open_at(AT_FDCWD, path, flags | O_LARGEFILE, mode); }
int openat(int folder, const char *path, int flags, ...) { MODE(flags) return open_at(folder, path, flags, mode); }
int openat64(int folder, const char *path, int flags, ...) { MODE(flags) return open_at(folder, path, flags | O_LARGEFILE, mode); }

int close(int fd) {
  pthread_mutex_lock(&lock);
  if (fd >= 0 && fd < MAX_FD) table[fd].kind = UNWATCHED;
  int result = (int)syscall(SYS_close, fd);
  pthread_mutex_unlock(&lock);
  return result;
}

/* Copies the state of a descriptor to its duplicate. */
static void copied(int from, int to) {
  if (to >= 0 && to < MAX_FD && from >= 0 && from < MAX_FD) table[to] = table[from];
}
int dup(int fd) { REAL(int, "dup", int); int to = real(fd); copied(fd, to); return to; }
int dup2(int fd, int to) { REAL(int, "dup2", int, int); int done = real(fd, to); if (done >= 0) copied(fd, done); return done; }
int dup3(int fd, int to, int flags) { REAL(int, "dup3", int, int, int); int done = real(fd, to, flags); if (done >= 0) copied(fd, done); return done; }

/* `at` below 0: at the position of the descriptor. */
static ssize_t write_at(int fd, const struct iovec *parts, int count, off_t at) {
  if (kind_of(fd) == UNWATCHED) return at < 0 ? (ssize_t)syscall(SYS_writev, fd, parts, count) : (ssize_t)syscall(SYS_pwritev, fd, parts, count, at, 0);
  pthread_mutex_lock(&lock);
  off_t position = at;
  if (at < 0) {
    struct stat found;
    position = table[fd].appends && fstat(fd, &found) == 0 ? found.st_size : lseek(fd, 0, SEEK_CUR);
  }
  ssize_t done = at < 0 ? (ssize_t)syscall(SYS_writev, fd, parts, count) : (ssize_t)syscall(SYS_pwritev, fd, parts, count, at, 0);
  int error = errno;
  ssize_t left = done;
  uint64_t inode = inode_of(fd);
  for (int index = 0; index < count && left > 0; index += 1) {
    size_t length = parts[index].iov_len < (size_t)left ? parts[index].iov_len : (size_t)left;
    note(kind_of(fd) == ACKS ? 'a' : 'w', table[fd].synced, inode, (uint64_t)position, "", parts[index].iov_base, length);
    position += (off_t)length;
    left -= (ssize_t)length;
  }
  pthread_mutex_unlock(&lock);
  errno = error;
  return done;
}

ssize_t write(int fd, const void *bytes, size_t length) { struct iovec one = { (void *)bytes, length }; return write_at(fd, &one, 1, -1); }
ssize_t pwrite(int fd, const void *bytes, size_t length, off_t at) { struct iovec one = { (void *)bytes, length }; return write_at(fd, &one, 1, at); }
ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t at) { struct iovec one = { (void *)bytes, length }; return write_at(fd, &one, 1, at); }
ssize_t writev(int fd, const struct iovec *parts, int count) { return write_at(fd, parts, count, -1); }
ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t at) { return write_at(fd, parts, count, at); }
ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t at) { return write_at(fd, parts, count, at); }

#define AROUND(type, fd, entry, call) \
  if (kind_of(fd) != WATCHED) return call; \
  pthread_mutex_lock(&lock); \
  type result = call; \
  int error = errno; \
  if (result >= 0) { entry; } \
  pthread_mutex_unlock(&lock); \
  errno = error; \
  return result

/* A sync takes longer than the rest of a commit, as on a disk. So a process that does not wait for the sync acknowledges before it. */
static void delay_sync(int fd) { if (kind_of(fd) == WATCHED) usleep(2000); }
int fsync(int fd) { delay_sync(fd); AROUND(int, fd, note('s', 1, inode_of(fd), 0, "", NULL, 0), (int)syscall(SYS_fsync, fd)); }
int fdatasync(int fd) { delay_sync(fd); AROUND(int, fd, note('s', 0, inode_of(fd), 0, "", NULL, 0), (int)syscall(SYS_fdatasync, fd)); }
int ftruncate(int fd, off_t size) { AROUND(int, fd, note('t', 0, inode_of(fd), (uint64_t)size, "", NULL, 0), (int)syscall(SYS_ftruncate, fd, size)); }
int ftruncate64(int fd, off64_t size) { AROUND(int, fd, note('t', 0, inode_of(fd), (uint64_t)size, "", NULL, 0), (int)syscall(SYS_ftruncate, fd, size)); }
int fallocate(int fd, int mode, off_t at, off_t length) { AROUND(int, fd, note('x', 0, inode_of(fd), 0, "fallocate", NULL, 0), (int)syscall(SYS_fallocate, fd, mode, at, length)); }
int fallocate64(int fd, int mode, off64_t at, off64_t length) { AROUND(int, fd, note('x', 0, inode_of(fd), 0, "fallocate", NULL, 0), (int)syscall(SYS_fallocate, fd, mode, at, length)); }
ssize_t sendfile(int to, int from, off_t *at, size_t count) { AROUND(ssize_t, to, note('x', 0, inode_of(to), 0, "sendfile", NULL, 0), (ssize_t)syscall(SYS_sendfile, to, from, at, count)); }
ssize_t sendfile64(int to, int from, off64_t *at, size_t count) { AROUND(ssize_t, to, note('x', 0, inode_of(to), 0, "sendfile", NULL, 0), (ssize_t)syscall(SYS_sendfile, to, from, at, count)); }
ssize_t copy_file_range(int from, off64_t *at, int to, off64_t *where, size_t length, unsigned flags) {
  AROUND(ssize_t, to, note('x', 0, inode_of(to), 0, "copy_file_range", NULL, 0), (ssize_t)syscall(SYS_copy_file_range, from, at, to, where, length, flags));
}

/* The observer cannot record writes through a mapping. The test rejects them, except for files that need not survive. */
static void *map(void *at, size_t length, int protection, int flags, int fd, off_t offset) {
  if (kind_of(fd) == WATCHED && (protection & PROT_WRITE) && (flags & MAP_SHARED)) {
    pthread_mutex_lock(&lock);
    note('x', 0, inode_of(fd), 0, "mmap", NULL, 0);
    pthread_mutex_unlock(&lock);
  }
  return (void *)syscall(SYS_mmap, at, length, protection, flags, fd, offset);
}
void *mmap(void *at, size_t length, int protection, int flags, int fd, off_t offset) { return map(at, length, protection, flags, fd, offset); }
void *mmap64(void *at, size_t length, int protection, int flags, int fd, off64_t offset) { return map(at, length, protection, flags, fd, offset); }

/* A rename is two entries: `r` from the old name, `n` to the new one. */
static int rename_at(int from_folder, const char *from, int to_folder, const char *to, unsigned flags) {
  char space[PATH_MAX], other[PATH_MAX];
  struct stat found;
  const char *source = absolute(from_folder, from, space), *target = absolute(to_folder, to, other);
  pthread_mutex_lock(&lock);
  int done = (int)syscall(SYS_renameat2, from_folder, from, to_folder, to, flags);
  int error = errno;
  if (done == 0 && is_below(target)) {
    uint64_t inode = stat(target, &found) == 0 ? (uint64_t)found.st_ino : 0;
    note('r', 0, inode, 0, source, NULL, 0);
    note('n', 0, inode, 0, target, NULL, 0);
  }
  pthread_mutex_unlock(&lock);
  errno = error;
  return done;
}
int rename(const char *from, const char *to) { return rename_at(AT_FDCWD, from, AT_FDCWD, to, 0); }
int renameat(int a, const char *from, int b, const char *to) { return rename_at(a, from, b, to, 0); }
int renameat2(int a, const char *from, int b, const char *to, unsigned flags) { return rename_at(a, from, b, to, flags); }

static int remove_at(int folder, const char *path, int flags) {
  char space[PATH_MAX];
  const char *full = absolute(folder, path, space);
  pthread_mutex_lock(&lock);
  int done = (int)syscall(SYS_unlinkat, folder, path, flags);
  int error = errno;
  if (done == 0 && is_below(full)) note('u', flags & AT_REMOVEDIR ? 1 : 0, 0, 0, full, NULL, 0);
  pthread_mutex_unlock(&lock);
  errno = error;
  return done;
}
int unlink(const char *path) { return remove_at(AT_FDCWD, path, 0); }
int unlinkat(int folder, const char *path, int flags) { return remove_at(folder, path, flags); }
int rmdir(const char *path) { return remove_at(AT_FDCWD, path, AT_REMOVEDIR); }
