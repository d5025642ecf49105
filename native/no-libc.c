/*
 * The few functions of the C library that snell-hook calls, implemented as Linux system calls (x86-64 and arm64).
 *
 * With glibc a process takes twice as long to start, also if linked statically: glibc queries the processor in ways
 * that are slow in virtual machines. musl does not, but few machines have it. With -nostdlib, this file replaces them;
 * without it, snell-hook is an ordinary program.
 */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CALL_6(name, a, b, c, d, e, f, ...) \
    checked(kernel(SYS_##name, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f)))
#define CALL(...) CALL_6(__VA_ARGS__, 0, 0, 0, 0, 0, 0)

int main(int argc, char **argv);

char **environ;
static unsigned long *auxiliary; /* pairs of a key and its value, after the environment */
static int last_error;

#if defined __x86_64__
__asm__(".globl _start\n_start: xor %ebp, %ebp\n mov %rsp, %rdi\n and $-16, %rsp\n call begin\n");

static long kernel(long number, long a, long b, long c, long d, long e, long f) {
    register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}
#elif defined __aarch64__
__asm__(".globl _start\n_start: mov x29, #0\n mov x0, sp\n bl begin\n");

static long kernel(long number, long a, long b, long c, long d, long e, long f) {
    register long x8 __asm__("x8") = number, x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d, x4 __asm__("x4") = e, x5 __asm__("x5") = f;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
    return x0;
}
#else
#error "only for x86-64 and arm64"
#endif

/* INVARIANT: `stack` is as the kernel made it: argc, the arguments, NULL, the environment, NULL, auxiliary vector. */
__attribute__((noreturn, used)) void begin(long *stack) {
    int argc = (int)stack[0];
    char **argv = (char **)(stack + 1);
    environ = argv + argc + 1;
    auxiliary = (unsigned long *)environ;
    while (*auxiliary++ != 0)
        continue;
    _exit(main(argc, argv));
}

int *__errno_location(void) {
    return &last_error;
}

static long checked(long result) {
    if (result >= 0 || result < -4095)
        return result;
    last_error = (int)-result;
    return -1;
}

void _exit(int code) {
    for (;;)
        kernel(SYS_exit_group, code, 0, 0, 0, 0, 0);
}

long syscall(long number, ...) {
    va_list rest;
    va_start(rest, number);
    long a = va_arg(rest, long), b = va_arg(rest, long), c = va_arg(rest, long);
    va_end(rest);
    return checked(kernel(number, a, b, c, 0, 0, 0));
}

int open(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    int mode = flags & O_CREAT ? va_arg(rest, int) : 0;
    va_end(rest);
    return (int)CALL(openat, AT_FDCWD, path, flags, mode);
}

int fcntl(int fd, int command, ...) {
    va_list rest;
    va_start(rest, command);
    int argument = va_arg(rest, int);
    va_end(rest);
    return (int)CALL(fcntl, fd, command, argument);
}

int poll(struct pollfd *watched, nfds_t number, int milliseconds) {
    struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
    return (int)CALL(ppoll, watched, number, milliseconds < 0 ? NULL : &time);
}

void (*signal(int number, void (*handler)(int)))(int) {
    struct {
        void (*handler)(int);
        unsigned long flags;
        void (*restorer)(void);
        unsigned long mask;
    } wanted = {handler, 0, NULL, 0}, before = {SIG_DFL, 0, NULL, 0};
    return CALL(rt_sigaction, number, &wanted, &before, sizeof wanted.mask) < 0 ? SIG_ERR : before.handler;
}

/* The kernel returns the former path of a removed directory; the C library returns an error. */
char *getcwd(char *path, size_t room) {
    return CALL(getcwd, path, room) > 0 && path[0] == '/' ? path : NULL;
}

int getentropy(void *to, size_t length) {
    return CALL(getrandom, to, length, 0) == (long)length ? 0 : -1;
}

int dup2(int from, int to) {
    return from == to ? to : (int)CALL(dup3, from, to, 0);
}

pid_t fork(void) {
    return (pid_t)CALL(clone, SIGCHLD);
}

pid_t waitpid(pid_t child, int *status, int options) {
    return (pid_t)CALL(wait4, child, status, options);
}

int kill(pid_t process, int number) {
    return (int)CALL(kill, process, number);
}

void *mmap(void *at, size_t length, int protection, int flags, int fd, off_t offset) {
    return (void *)CALL(mmap, at, length, protection, flags, fd, offset);
}

int socket(int domain, int type, int protocol) {
    return (int)CALL(socket, domain, type, protocol);
}

int connect(int fd, const struct sockaddr *address, socklen_t length) {
    return (int)CALL(connect, fd, address, length);
}

int bind(int fd, const struct sockaddr *address, socklen_t length) {
    return (int)CALL(bind, fd, address, length);
}

int listen(int fd, int backlog) {
    return (int)CALL(listen, fd, backlog);
}

int shutdown(int fd, int how) {
    return (int)CALL(shutdown, fd, how);
}

int getsockopt(int fd, int level, int name, void *value, socklen_t *length) {
    return (int)CALL(getsockopt, fd, level, name, value, length);
}

ssize_t read(int fd, void *to, size_t length) {
    return CALL(read, fd, to, length);
}

ssize_t write(int fd, const void *from, size_t length) {
    return CALL(write, fd, from, length);
}

ssize_t writev(int fd, const struct iovec *parts, int number) {
    return CALL(writev, fd, parts, number);
}

off_t lseek(int fd, off_t offset, int whence) {
    return CALL(lseek, fd, offset, whence);
}

int close(int fd) {
    return (int)CALL(close, fd);
}

int isatty(int fd) {
    char settings[256]; /* a struct termios is shorter */
    return CALL(ioctl, fd, TCGETS, settings) == 0;
}

int flock(int fd, int operation) {
    return (int)CALL(flock, fd, operation);
}

int fchmod(int fd, mode_t mode) {
    return (int)CALL(fchmod, fd, mode);
}

int fstat(int fd, struct stat *found) {
    return (int)CALL(fstat, fd, found);
}

int lstat(const char *path, struct stat *found) {
    return (int)CALL(newfstatat, AT_FDCWD, path, found, AT_SYMLINK_NOFOLLOW);
}

int mkdir(const char *path, mode_t mode) {
    return (int)CALL(mkdirat, AT_FDCWD, path, mode);
}

int unlink(const char *path) {
    return (int)CALL(unlinkat, AT_FDCWD, path, 0);
}

ssize_t readlink(const char *path, char *to, size_t room) {
    return CALL(readlinkat, AT_FDCWD, path, to, room);
}

int memfd_create(const char *name, unsigned flags) {
    return (int)CALL(memfd_create, name, flags);
}

int chdir(const char *path) {
    return (int)CALL(chdir, path);
}

mode_t umask(mode_t mask) {
    return (mode_t)CALL(umask, mask);
}

pid_t setsid(void) {
    return (pid_t)CALL(setsid, 0);
}

uid_t geteuid(void) {
    return (uid_t)CALL(geteuid, 0);
}

int execve(const char *path, char *const argv[], char *const environment[]) {
    return (int)CALL(execve, path, argv, environment);
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    return (int)CALL(clock_gettime, clock, time);
}

char *getenv(const char *name) {
    size_t length = strlen(name);
    for (char **entry = environ; *entry; entry++)
        if (strncmp(*entry, name, length) == 0 && (*entry)[length] == '=')
            return *entry + length + 1;
    return NULL;
}

unsigned long getauxval(unsigned long key) {
    for (unsigned long *pair = auxiliary; *pair != AT_NULL; pair += 2)
        if (*pair == key)
            return pair[1];
    return 0;
}

void *memcpy(void *restrict to, const void *restrict from, size_t length) {
    for (size_t i = 0; i < length; i++)
        ((char *)to)[i] = ((const char *)from)[i];
    return to;
}

void *memset(void *to, int byte, size_t length) {
    for (size_t i = 0; i < length; i++)
        ((char *)to)[i] = (char)byte;
    return to;
}

int memcmp(const void *left, const void *right, size_t length) {
    const unsigned char *a = left, *b = right;
    for (; length > 0; a++, b++, length--)
        if (*a != *b)
            return *a - *b;
    return 0;
}

size_t strlen(const char *text) {
    size_t length = 0;
    while (text[length] != '\0')
        length++;
    return length;
}

int strcmp(const char *left, const char *right) {
    return strncmp(left, right, (size_t)-1);
}

int strncmp(const char *left, const char *right, size_t length) {
    for (; length > 0; left++, right++, length--)
        if (*left != *right || *left == '\0')
            return (unsigned char)*left - (unsigned char)*right;
    return 0;
}

char *(strrchr)(const char *text, int wanted) {
    const char *found = NULL;
    for (; *text; text++)
        if (*text == (char)wanted)
            found = text;
    return (char *)found;
}

size_t strspn(const char *text, const char *allowed) {
    size_t length = 0;
    for (const char *each = allowed; text[length] != '\0' && *each != '\0';)
        if (text[length] == *each) {
            length++;
            each = allowed;
        } else {
            each++;
        }
    return length;
}
