/*
 * snell-hook: the program that a client starts for every event.
 *
 * It sends its arguments, working directory, environment and standard input to the daemon and passes on the daemon's
 * reply, without parsing either. It tries four ways, one after the other: ask the daemon; start the daemon and ask;
 * decide in a new Python process; the failure policy, which needs only the name of the event. src/snell/daemon/wire.py
 * describes the frames; shim.py beside it is the same program for machines without a compiler.
 */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __APPLE__
#include <mach-o/dyld.h>
#else
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

#ifndef SNELL_VERSION
#define SNELL_VERSION "0"
#endif
#ifndef SNELL_PYTHON
#define SNELL_PYTHON NULL /* use the `python3` beside this program */
#endif
#ifndef SNELL_CONNECT_MS
#define SNELL_CONNECT_MS 2000
#endif
#ifndef SNELL_ANSWER_MS
#define SNELL_ANSWER_MS 605000 /* the longest time limit of a hook, and a little more */
#endif

#ifndef SNELL_SILENCE_MS
#define SNELL_SILENCE_MS 1000 /* of a daemon that uses no processor either; more than twice the interval of keepalives */
#endif
#ifndef SNELL_BUSY_MS
#define SNELL_BUSY_MS 10000 /* of one that does, or of which nothing is known because it is starting */
#endif
#ifndef SNELL_PROBE_MS
#define SNELL_PROBE_MS 5000 /* for a silent daemon to come back before it is ended */
#endif

#define JOIN(to, room, ...) join(to, room, (const char *const[]){__VA_ARGS__, NULL})

enum {
    LONGEST_ADDRESS = 104, /* with its final NUL: the size of the smallest `sun_path`, that of macOS */
    LONGEST_PATH = 4096,
    MOST_ARGUMENTS = 128 * 1024,
    MOST_ENVIRONMENT = 64 * 1024,
    MOST_STDIN = 16 * 1024 * 1024,   /* the limit of the daemon */
    MOST_PAYLOAD = 64 * 1024 * 1024, /* the limit without the daemon */
    MOST_REPLY = 17 * 1024 * 1024,
    USUAL = 64 * 1024, /* data of this size needs no memory from the system */
    ATOMIC = 4096,     /* bytes that a writable pipe accepts without blocking */
    REQUEST_PREFIX = 8,
    REPLY_PREFIX = 16,
    LONGEST_NAME = 64, /* of a client or an event, without separators */
    MOST_LINKS = 8,
    RETRIES = 5,
    STARTS = 2,    /* a daemon that ended twice without a reply would do so a third time */
    BACK_OFF = 30, /* the most seconds without another try; events are decided without the daemon meanwhile */
    FIRST_LOOK = 100, /* milliseconds until it is worth finding out what a daemon does that has not answered */
    MOST_LOOK = 400,
};

enum { CANNOT_START = 127 }; /* the exit code of shells for a missing program */
enum { UNREACHABLE = -1, NO_DAEMON = -2, NOT_YET = -3 }; /* instead of a connected socket */
enum { STOPPED = -1, UNKNOWN = -2 }; /* instead of the processor time of the daemon */
enum answer { COMPLETE, BROKEN, NONE };

struct bytes {
    char *at;
    size_t length, room;
};

/* The reply formats of one client for some of its events; shim_forms.txt describes the fields. */
struct form {
    const char *clients, *events;
    int takes_other_codes; /* than 0 and 2: the client treats them as failed hooks, which change nothing */
    const char *refusal;   /* NULL = this event cannot be denied; empty = by exit code 2 with the reason on stderr */
    const char *neutral;
};

struct flow {
    int from, to;
    size_t start, end;
    char held[USUAL];
};

static int hook(char **argv), bridge(const char *name), ask_daemon(char **argv), decide_here(int argc, char **argv);
static const char *cwd_in_hex(void);
static int find_paths(void), set_paths(const char *base, const char *rest), put_paths(const char *run),
    use_other_folder(void);
static int reach(void), try_to_connect(void), start_alone(void), start(void), make_private(const char *path),
    create_socket(void);
static int has_failed_lately(void), is_probed(void), lock_file(const char *path);
static void note_failure(void), probe(void), become_probe(int lock);
static long long daemon_work(pid_t *pid);
static int read_file(const char *path, char *text, size_t room), has_running_thread(pid_t pid);
static char state_in(const char *stat);
static void become_daemon(int listener), become_decision(char **words, char *script), end_with_parent(void);
static int wait_for_child(pid_t child), read_output(int file);
static int pass_on(char **argv, int code, const char *out, size_t length);
static int is_decision(char **argv, int code, const char *out, size_t length), fails_closed(char **argv);
static const struct form *form_of(char **argv);
static const char *client_in(char **argv), *option(char **argv, const char *name), *decimal(size_t value);
static int has_word(const char *words, const char *name, size_t length), has(char **argv, const char *word);
static int find_event(const char *text, size_t length, const char **event, size_t *event_length);
static int is_event_key(const char *key, size_t length);
static void fill(char *to, size_t room, const char *form, const char *reason);
static int write_head(char **argv), put_list(char **texts, size_t most), read_stdin(long long until);
static void put_field(const char *text, size_t length);
static enum answer ask(int daemon, long long until), read_reply(int daemon, long long until);
static int send_request(int daemon, long long until), replay_stdin(void), failure_policy(char **argv);
static int has_timed_out(int daemon, short events, long long until);
static enum answer withdraw(int daemon);
static void skip_keepalives(void);
static size_t reply_length(void), number(const char *from);
static void relay(int daemon, struct flow *up, struct flow *down), pump(struct flow *flow, int readable, int writable);
static int write_all(int fd, const char *text, size_t length), wait_for(int fd, short events, long long until);
static long long now(void);
static void sleep_ms(int milliseconds), put_number(char *to, size_t value);
static void copy_variables(char **to, size_t most, const char *const *prefixes, int wanted);
static int grow(struct bytes *bytes, size_t room), join(char *to, size_t room, const char *const *texts);
static int fail(const char *where, const char *what), report(const char *before, const char *after);
static int find_python(char *path), beside(char *path, const char *name), own_path(char *path);
static int new_socket(void), is_ours(int fd), memory_file(void), above_stderr(int fd);
static int resolve(const char *called, char *path);
static void close_from(int first);

extern char **environ;

static char usual_run[LONGEST_PATH]; /* the folder for socket and locks, unless it cannot be used */
static char run_path[LONGEST_ADDRESS], lock_path[LONGEST_ADDRESS], gave_up_path[LONGEST_ADDRESS];
static char daemon_lock_path[LONGEST_ADDRESS], probe_path[LONGEST_ADDRESS];
static struct sockaddr_un address;
static char head_room[MOST_ARGUMENTS + MOST_ENVIRONMENT + LONGEST_PATH + 256], stdin_room[USUAL], reply_room[USUAL];
static struct bytes head = {head_room, 0, sizeof head_room};
static struct bytes input = {stdin_room, 0, sizeof stdin_room};
static struct bytes reply = {reply_room, 0, sizeof reply_room};
static char request_id[33];
static size_t payload_length; /* of all data, also of the part that was dropped */
static int stdin_was_read, starts, is_hung, is_repeated;
static const char *fail_where, *fail_what, *called_as;
static char line[LONGEST_PATH + 512]; /* the last message */
static const char no_memory[] = "there is no memory for the payload";
static void (*usual_sigpipe)(int);

/* Generated by hatch_build.py from shim_forms.txt (`forms`, keys of event names) and shim_help.txt (`help`). */
#include "snell-forms.h"

int main(int argc, char **argv) {
    const char *version = "snell-hook " SNELL_VERSION "\n";
    usual_sigpipe = signal(SIGPIPE, SIG_IGN);
    called_as = argv[0];
    if (argc == 2 && strcmp(argv[1], "--version") == 0)
        return write_all(1, version, strlen(version)) != 0;
    if (argc == 2 ? strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 : argc == 1 && isatty(0))
        return write_all(1, help, sizeof help - 1) != 0; /* clients pass arguments, so an event costs no isatty */
    if (argc > 1 && strcmp(argv[1], "--bridge") == 0)
        return bridge(argc == 3 ? argv[2] : "");
    return hook(argv) == 0 ? ask_daemon(argv) : decide_here(argc, argv);
}

/* Get the daemon's reply to this event. */
static int hook(char **argv) {
    long long until = 0;
    if (write_head(argv) != 0 || find_paths() != 0)
        return -1;
    for (int attempt = 0; attempt <= RETRIES; attempt++) {
        if (attempt > 0) /* the last daemon ended, perhaps for a newer one */
            sleep_ms(5 << attempt);
        int daemon = reach();
        if (daemon < 0)
            return -1;
        if (!stdin_was_read && read_stdin(until = now() + SNELL_ANSWER_MS) != 0)
            return -1;
        enum answer answer = ask(daemon, until);
        close(daemon);
        if (answer == COMPLETE && starts > 0)
            unlink(gave_up_path);
        if (answer != NONE)
            return answer == COMPLETE ? 0 : -1;
        is_repeated = 1;
    }
    return -1;
}

/* Connect stdin and stdout to a protocol server in the daemon. */
static int bridge(const char *name) {
    static struct flow up, down;
    size_t plain = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-");
    if (plain == 0 || name[plain] != '\0') {
        fail(name, "is not a valid name; call `snell-hook --bridge NAME` with letters, digits, `.`, `_` and `-`");
        return report("", "");
    }
    int daemon = find_paths() == 0 ? reach() : UNREACHABLE;
    if (daemon < 0 || JOIN(up.held, USUAL, "{\"cmd\":\"bridge\",\"args\":{\"name\":\"", name, "\",\"cwd\":\"",
                           cwd_in_hex(), "\"}}\n") != 0)
        return report("", "");
    up.end = strlen(up.held);
    relay(daemon, &up, &down);
    return 0;
}

/* The working directory as hex digits, so that no path needs quoting; empty if it was removed. */
static const char *cwd_in_hex(void) {
    static char cwd[LONGEST_PATH], hex[2 * LONGEST_PATH];
    if (!getcwd(cwd, sizeof cwd))
        return "";
    for (size_t i = 0; cwd[i] != '\0'; i++) {
        hex[2 * i] = "0123456789abcdef"[(unsigned char)cwd[i] >> 4];
        hex[2 * i + 1] = "0123456789abcdef"[cwd[i] & 15];
    }
    return hex;
}

/* The rules of src/snell/system/paths.py. */
static int find_paths(void) {
    const char *home = getenv("SNELL_HOME"), *state = getenv("XDG_STATE_HOME");
    if (home && *home)
        return set_paths(home, "/run");
    if (state && *state == '/')
        return set_paths(state, "/snell/run");
    home = getenv("HOME");
    return set_paths(home && *home ? home : "HOME", "/.local/state/snell/run");
}

static int set_paths(const char *base, const char *rest) {
    if (*base != '/')
        return fail(base, "is not an absolute path; set HOME or SNELL_HOME to one");
    address.sun_family = AF_UNIX;
    if (JOIN(usual_run, LONGEST_PATH, base, rest) != 0)
        return fail(base, "is too long; set SNELL_HOME to a shorter path");
    return put_paths(usual_run) == 0 ? 0 : use_other_folder();
}

static int put_paths(const char *run) {
    return JOIN(run_path, LONGEST_ADDRESS, run) != 0 || JOIN(lock_path, LONGEST_ADDRESS, run, "/start.lock") != 0 ||
           JOIN(gave_up_path, LONGEST_ADDRESS, run, "/gave-up") != 0 ||
           JOIN(daemon_lock_path, LONGEST_ADDRESS, run, "/daemon.lock") != 0 ||
           JOIN(probe_path, LONGEST_ADDRESS, run, "/probe.lock") != 0 ||
           JOIN(address.sun_path, LONGEST_ADDRESS, run, "/snell.sock") != 0;
}

/* The folder for a path that is too long for a socket, or that cannot be written: of this user, named by its hash. */
static int use_other_folder(void) {
    char folder[LONGEST_ADDRESS], digits[17] = "";
    uint64_t hash = 14695981039346656037u; /* FNV-1a */
    for (const char *at = usual_run; *at; at++)
        hash = (hash ^ (unsigned char)*at) * 1099511628211u;
    for (int i = 0; i < 16; i++)
        digits[i] = "0123456789abcdef"[hash >> (60 - 4 * i) & 15];
    JOIN(folder, sizeof folder, "/tmp/snell-", decimal(geteuid()), "-", digits);
    return put_paths(folder);
}

/* Return a connection to the daemon; start it first if none is running. */
static int reach(void) {
    long long until = now() + SNELL_CONNECT_MS;
    int daemon = try_to_connect();
    while (daemon == NO_DAEMON || daemon == NOT_YET) {
        if (now() > until || (daemon == NOT_YET && is_probed()))
            return fail(address.sun_path, "the daemon does not accept connections");
        if (daemon == NO_DAEMON)
            daemon = start_alone();
        if (daemon == NOT_YET) {
            sleep_ms(5);
            daemon = try_to_connect();
        }
    }
    return daemon;
}

static int try_to_connect(void) {
    int fd = new_socket(), outcome;
    if (fd < 0)
        return fail(address.sun_path, "the socket could not be created");
    if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0) {
        if (is_ours(fd))
            return fd;
        outcome = fail(address.sun_path, "belongs to another user; set SNELL_HOME to a directory of your own");
    } else if (errno == ENOENT || errno == ECONNREFUSED) {
        outcome = NO_DAEMON;
    } else if (errno == EAGAIN || errno == EINTR) {
        outcome = NOT_YET; /* its queue is full */
    } else {
        outcome = fail(address.sun_path, "connecting failed");
    }
    close(fd);
    return outcome;
}

/* Start the daemon, unless another process does so at this moment; then go on trying to connect. */
static int start_alone(void) {
    int is_usable = make_private(run_path) == 0, lock = is_usable ? lock_file(lock_path) : -1, daemon = NOT_YET;
    if (lock < 0 && (errno == EROFS || errno == EACCES || errno == ENOENT) && strcmp(run_path, usual_run) == 0) {
        use_other_folder();
        return try_to_connect();
    }
    if (!is_usable)
        return UNREACHABLE;
    if (lock < 0)
        return fail(lock_path, "cannot be opened; check its owner, and remove it");
    if (flock(lock, LOCK_EX | LOCK_NB) == 0) {
        daemon = start();
        flock(lock, LOCK_UN); /* closing is not enough: until it executes Python, the daemon has the lock open too */
    }
    close(lock);
    return daemon;
}

/* INVARIANT: the lock is held, so no other process removes or creates the socket. */
static int start(void) {
    int daemon = try_to_connect();
#ifndef __linux__ /* elsewhere a full queue looks like a missing daemon at first */
    for (int attempts = 0; daemon == NO_DAEMON && errno == ECONNREFUSED && attempts < 20; attempts++) {
        sleep_ms(10);
        daemon = try_to_connect();
    }
#endif
    if (daemon != NO_DAEMON)
        return daemon;
    if (starts == 0 && has_failed_lately())
        return fail(address.sun_path,
                    "the daemon ended at once; Snell tries again soon, `snell daemon run` shows why");
    if (starts++ == STARTS) {
        note_failure();
        return fail(address.sun_path, "the daemon was started and ended at once");
    }
    int listener = create_socket();
    if (listener < 0)
        return UNREACHABLE;
    pid_t child = fork();
    if (child == 0)
        become_daemon(listener);
    close(listener);
    if (child < 0)
        return fail(address.sun_path, "no process could be created for the daemon");
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
        continue;
    return try_to_connect(); /* the connection waits in the queue until the daemon is ready */
}

/*
 * Whether a start has failed recently: not every event should try to start a broken daemon. The file has a byte for each
 * failure in a row, and the time without another try doubles with each, since a daemon may also have been killed.
 */
static int has_failed_lately(void) {
    struct stat found;
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    if (lstat(gave_up_path, &found) != 0 || found.st_mtime > time.tv_sec)
        return 0;
    return time.tv_sec < found.st_mtime + (found.st_size < 6 ? 1 << found.st_size >> 1 : BACK_OFF);
}

static void note_failure(void) {
    int file = open(gave_up_path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (write(file, "x", 1) == 1)
        close(file);
}

static int lock_file(const char *path) {
    return open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
}

/* Whether another caller has found the daemon silent, and waits for it to come back. */
static int is_probed(void) {
    int lock = open(probe_path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    int is_held = lock >= 0 && flock(lock, LOCK_SH | LOCK_NB) != 0;
    close(lock);
    return is_held;
}

/* Let one process wait for a silent daemon and end it if it does not come back; no event waits for that. */
static void probe(void) {
    int lock = lock_file(probe_path);
    if (lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) == 0 && fork() == 0)
        become_probe(lock);
    close(lock);
}

static void become_probe(int lock) {
    static const char ping[] = "{\"cmd\":\"ping\",\"args\":{},\"env\":{}}\n";
    pid_t pid = 0;
    int nothing = open("/dev/null", O_RDWR);
    setsid();
    for (int fd = 0; fd < 3; fd++)
        dup2(nothing, fd);
    dup2(lock, 3);
    close_from(4);
    int daemon = try_to_connect();
    long long until = now() + SNELL_PROBE_MS;
    if (daemon >= 0 && write(daemon, ping, sizeof ping - 1) > 0 && wait_for(daemon, POLLIN, until) == 0)
        _exit(0);
    daemon_work(&pid);
    int starting = lock_file(lock_path);
    if (pid > 1)
        kill(pid, SIGKILL);
    else if (flock(starting, LOCK_EX | LOCK_NB) == 0) /* it was stopped before it took its lock: start another one */
        unlink(address.sun_path);
    for (until = now() + SNELL_CONNECT_MS; now() < until && daemon_work(&pid) != UNKNOWN;)
        sleep_ms(10); /* until it is gone, no caller should try to connect to it */
    _exit(0);
}

/* Return the processor time that the daemon has used, in ticks. The holder of its lock has written its id into it. */
static long long daemon_work(pid_t *pid) {
    char text[512], path[64];
    int lock = open(daemon_lock_path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    int is_held = lock >= 0 && flock(lock, LOCK_SH | LOCK_NB) != 0;
    close(lock);
    text[is_held ? read_file(daemon_lock_path, text, 16) : 0] = '\0';
    text[strspn(text, "0123456789")] = '\0';
    *pid = 0;
    for (char *digit = text; *digit; digit++)
        *pid = *pid * 10 + (*digit - '0');
    JOIN(path, sizeof path, "/proc/", text, "/stat");
    text[*pid > 1 ? read_file(path, text, sizeof text - 1) : 0] = '\0';
    if (state_in(text) == 'T') /* by a signal; 't' is a debugger, which may go on at any moment */
        return STOPPED;
    long long used = 0, value = 0;
    const char *at = strrchr(text, ')');
    for (int field = 1; at && *at && field <= 14; at++) /* the 12th and the 13th after the name */
        if (*at == ' ')
            used += field > 12 ? value : 0, value = 0, field++;
        else
            value = value * 10 + (*at - '0');
    return at ? used : UNKNOWN;
}

/* The state of a process, as a letter; it follows the name, which may contain anything. */
static char state_in(const char *stat) {
    const char *end = strrchr(stat, ')');
    return end && end[1] == ' ' ? end[2] : '?';
}

/* Whether a thread of the process uses the processor or the disk, or waits for its turn. */
static int has_running_thread(pid_t pid) {
    int is_running = 0;
#ifdef __linux__
    static char list[4096] __attribute__((aligned(8)));
    char path[64], stat[512];
    JOIN(path, sizeof path, "/proc/", decimal((size_t)pid), "/task");
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    long length = folder < 0 ? 0 : syscall(SYS_getdents64, folder, list, sizeof list);
    for (long at = 0; at < length && !is_running; at += *(unsigned short *)(list + at + 16)) {
        JOIN(path, sizeof path, "/proc/", decimal((size_t)pid), "/task/", list + at + 19, "/stat");
        stat[read_file(path, stat, sizeof stat - 1)] = '\0';
        is_running = state_in(stat) == 'R' || state_in(stat) == 'D';
    }
    close(folder);
#else
    (void)pid;
#endif
    return is_running;
}

static int read_file(const char *path, char *text, size_t room) {
    int file = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    ssize_t got = file < 0 ? 0 : read(file, text, room);
    close(file);
    return got > 0 ? (int)got : 0;
}

static int make_private(const char *path) {
    char part[LONGEST_ADDRESS] = "";
    struct stat found;
    for (size_t i = 0; path[i] != '\0'; i++) {
        part[i] = path[i];
        if (path[i + 1] == '/' || path[i + 1] == '\0')
            mkdir(part, 0700); /* if it fails, the next step will too */
    }
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) /* `errno` tells the caller whether another folder may be used */
        return fail(path, "is not a directory, or cannot be created; set SNELL_HOME to another directory");
    int usable = fstat(fd, &found) == 0 && found.st_uid == geteuid();
    if (usable && (found.st_mode & 077) != 0)
        usable = fchmod(fd, 0700) == 0;
    close(fd);
    errno = 0;
    return usable ? 0 : fail(path, "belongs to another user; set SNELL_HOME to a directory of your own");
}

static int create_socket(void) {
    struct stat found;
    if (lstat(address.sun_path, &found) == 0 && !S_ISSOCK(found.st_mode))
        return fail(address.sun_path, "is not a socket; move it away");
    unlink(address.sun_path); /* left by a daemon that was killed */
    int fd = new_socket();
    mode_t usual = umask(0177);
    int failed = bind(fd, (struct sockaddr *)&address, sizeof address) != 0 || listen(fd, 1024) != 0;
    umask(usual);
    if (!failed)
        return fd;
    close(fd);
    return fail(address.sun_path, "the socket could not be created");
}

/* INVARIANT: the daemon inherits only the listening socket: no open pipe, no secret, no parent. */
static void become_daemon(int listener) {
    static const char *const kept[] = {
        "HOME=", "USER=", "LOGNAME=", "SHELL=", "PATH=", "LANG=", "LC_", "TZ=", "TMPDIR=", "XDG_", "SNELL_", NULL};
    /* Its threads take turns anyway, and large pieces of memory go back to the system. */
    static char *environment[128] = {"SNELL_LISTEN_FD=3", "MALLOC_ARENA_MAX=1", "MALLOC_MMAP_THRESHOLD_=65536"};
    char python[LONGEST_PATH], script[LONGEST_PATH] = "";
    static char code[] = "from snell.daemon.main import main; raise SystemExit(main())"; /* -m would import more */
    char *words[] = {python, "-I", "-c", code, NULL}, *others[] = {script, "daemon", "run", NULL};
    setsid();
    if (fork() != 0)
        _exit(0);
    int usable = find_python(python) == 0, nothing = open("/dev/null", O_RDWR);
    beside(script, "snell");
#ifdef SNELL_TESTING
    if (getenv("SNELL_DAEMON"))
        usable = JOIN(python, LONGEST_PATH, getenv("SNELL_DAEMON")) == 0;
#endif
    for (int fd = 0; fd < 3; fd++)
        dup2(nothing, fd);
    if (listener == 3)
        fcntl(listener, F_SETFD, 0);
    else
        dup2(listener, 3);
    close_from(4);
    umask(077);
    signal(SIGPIPE, usual_sigpipe);
    size_t own = 3;
#ifndef __APPLE__
    if (syscall(SYS_prctl, PR_SET_CHILD_SUBREAPER, 1, 0) == 0) /* Python would have to load ctypes for this */
        environment[own++] = "SNELL_ADOPTS=1";
#endif
    copy_variables(environment + own, 127 - own, kept, 1);
    if (usable && chdir("/") == 0) {
        execve(python, words, environment);
        execve(script, others, environment); /* see become_decision */
    }
    _exit(127);
}

/* Write the request except stdin. */
static int write_head(char **argv) {
    static char cwd[LONGEST_PATH];
    unsigned char random[16];
    if (getentropy(random, sizeof random) != 0)
        return fail("getentropy", "random numbers are not available");
    for (int i = 0; i < 32; i++)
        request_id[i] = "0123456789abcdef"[random[i / 2] >> (i % 2 * 4) & 15];
    memcpy(head.at, "SNL1", 4);
    head.length = REQUEST_PREFIX;
    put_field("1 " SNELL_VERSION, strlen("1 " SNELL_VERSION));
    put_field(request_id, 32);
    put_field(cwd, getcwd(cwd, sizeof cwd) ? strlen(cwd) : 0); /* empty if it was removed */
    if (put_list(argv + 1, MOST_ARGUMENTS) != 0)
        return fail(argv[0], "the arguments are longer than 128 KB");
    put_list(environ, MOST_ENVIRONMENT);
    head.length += 4; /* for the length of stdin */
    return 0;
}

static void put_field(const char *text, size_t length) {
    put_number(head.at + head.length, length);
    memcpy(head.at + head.length + 4, text, length);
    head.length += 4 + length;
}

/* Write a field of texts joined by NUL; texts that do not fit are left out. */
static int put_list(char **texts, size_t most) {
    char *field = head.at + head.length;
    size_t used = 0;
    int left_out = 0;
    for (; *texts; texts++) {
        size_t length = strlen(*texts);
        if (used + length > most) {
            left_out = 1;
        } else {
            memcpy(field + 4 + used, *texts, length + 1);
            used += length + 1;
        }
    }
    used -= used > 0; /* the last NUL separates nothing */
    put_number(field, used);
    head.length += 4 + used;
    return left_out;
}

static int read_stdin(long long until) {
    stdin_was_read = 1;
    for (;;) {
        if (input.length == input.room && input.length <= MOST_PAYLOAD && grow(&input, MOST_PAYLOAD + 1) != 0)
            return fail("stdin", no_memory);
        if (wait_for(0, POLLIN, until) != 0)
            return fail("stdin", "the client does not close it");
        /* Data beyond the limit is read and dropped: a client may block until all of it is read. */
        int is_kept = input.length <= MOST_PAYLOAD;
        ssize_t got = is_kept ? read(0, input.at + input.length, input.room - input.length)
                              : read(0, reply.at, reply.room);
        if (got < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (got <= 0) /* a closed stdin counts as empty */
            break;
        input.length += is_kept ? (size_t)got : 0;
        payload_length += (size_t)got;
    }
    if (input.length > MOST_PAYLOAD)
        return fail("stdin", "the payload is larger than 64 MB");
    return input.length > MOST_STDIN ? fail("stdin", "the payload is larger than 16 MB") : 0;
}

static enum answer ask(int daemon, long long until) {
    put_number(head.at + 4, head.length - REQUEST_PREFIX + input.length);
    put_number(head.at + head.length - 4, input.length);
    reply.length = 0;
    if (send_request(daemon, until) != 0)
        return BROKEN;
    enum answer answer = read_reply(daemon, until);
    return is_hung ? withdraw(daemon) : answer;
}

/* Take the request back, so that the daemon does not decide it later as well; a reply that has come meanwhile counts. */
static enum answer withdraw(int daemon) {
    ssize_t told = write(daemon, "x", 1); /* fails if the daemon has replied, or not even read the request */
    shutdown(daemon, SHUT_RD);            /* from here on the daemon cannot send */
    is_hung = 0;
    is_hung = read_reply(daemon, now() + SNELL_CONNECT_MS) != COMPLETE || told > 1;
    fail(address.sun_path, "the daemon does not answer");
    return is_hung ? BROKEN : COMPLETE;
}

static int send_request(int daemon, long long until) {
    struct iovec parts[3] = {{head.at, head.length}, {input.at, input.length}, {"r", (size_t)is_repeated}};
    while (parts[0].iov_len + parts[1].iov_len + parts[2].iov_len > 0) {
        ssize_t sent = writev(daemon, parts, 3);
        if (sent < 0 && errno != EAGAIN && errno != EINTR)
            return 0; /* it has closed, perhaps after a reply */
        if (sent < 0 && errno == EAGAIN && has_timed_out(daemon, POLLOUT, until))
            return fail(address.sun_path, "the daemon does not read");
        for (int i = 0; i < 3 && sent > 0; i++) {
            size_t taken = (size_t)sent < parts[i].iov_len ? (size_t)sent : parts[i].iov_len;
            parts[i].iov_base = (char *)parts[i].iov_base + taken;
            parts[i].iov_len -= taken;
            sent -= (ssize_t)taken;
        }
    }
    return 0;
}

/* Read the complete reply before any of it is passed on; a partial one could be mistaken for another reply. */
static enum answer read_reply(int daemon, long long until) {
    size_t length = REPLY_PREFIX;
    while (reply.length < length) {
        if (has_timed_out(daemon, POLLIN, until)) {
            fail(address.sun_path, "the daemon does not answer");
            return BROKEN;
        }
        ssize_t got = read(daemon, reply.at + reply.length, reply.room - reply.length);
        if (got < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (got <= 0) {
            fail(address.sun_path, "the daemon ended without an answer");
            return reply.length == 0 ? NONE : BROKEN;
        }
        reply.length += (size_t)got;
        skip_keepalives();
        if (reply.length >= REPLY_PREFIX && (length = reply_length()) == 0)
            return BROKEN;
    }
    return COMPLETE;
}

/*
 * Whether the daemon has sent nothing for too long, and must be taken for hung: at once if it was stopped or another
 * caller has found so, later if it does nothing at all, and much later if it is busy.
 */
static int has_timed_out(int daemon, short events, long long until) {
    long long began = now(), time = began, active_at = began, work = UNKNOWN;
    for (int look = FIRST_LOOK; !is_hung; look += look < MOST_LOOK ? look : 0) {
        long long next = time + look, quiet_at = active_at + SNELL_SILENCE_MS;
        next = time < quiet_at && quiet_at < next ? quiet_at : next;
        if (wait_for(daemon, events, next < until ? next : until) == 0)
            return 0;
        pid_t pid;
        long long before = work;
        work = daemon_work(&pid);
        time = now();
        if (work == UNKNOWN || (before != UNKNOWN && work != before) || has_running_thread(pid))
            active_at = time;
        is_hung = work == STOPPED || time >= active_at + SNELL_SILENCE_MS || time >= began + SNELL_BUSY_MS ||
                  time >= until || is_probed();
    }
    return 1;
}

/* Drop the keepalives before the reply. */
static void skip_keepalives(void) {
    size_t dots = 0;
    while (dots < reply.length && reply.at[dots] == '.')
        dots++;
    reply.length -= dots;
    for (size_t i = 0; dots > 0 && i < reply.length; i++)
        reply.at[i] = reply.at[i + dots];
}

/* Return the length of the complete reply and reserve memory for it; 0 if it is not a valid one. */
static size_t reply_length(void) {
    size_t code = number(reply.at + 4), out = number(reply.at + 8), err = number(reply.at + 12);
    size_t length = REPLY_PREFIX + out + err;
    if (memcmp(reply.at, "SNR1", 4) != 0 || code > 255 || out > MOST_REPLY || err > MOST_REPLY - out) {
        fail(address.sun_path, "the daemon uses another protocol; restart it with `snell daemon stop`");
        return 0;
    }
    if (length > reply.room && grow(&reply, length) != 0) {
        fail(address.sun_path, "there is no memory for the reply");
        return 0;
    }
    return length;
}

static int ask_daemon(char **argv) {
    size_t out = number(reply.at + 8), err = number(reply.at + 12);
    write_all(2, reply.at + REPLY_PREFIX + out, err);
    fail(address.sun_path, "the daemon did not decide; `snell doctor` shows the problem");
    int code = (int)number(reply.at + 4);
    if (code != 0 && code != 2)
        return pass_on(argv, code, reply.at + REPLY_PREFIX, out);
    write_all(1, reply.at + REPLY_PREFIX, out);
    return code;
}

/*
 * Decide in a new Python process, which is slower; by the request id it knows an event that the daemon has decided.
 * This process waits, and passes the output on only after a normal exit: a hook may kill or stop the process that runs
 * it, or Snell may be incomplete, and then the failure policy applies.
 */
static int decide_here(int argc, char **argv) {
    char python[LONGEST_PATH], script[LONGEST_PATH] = "";
    char *first[] = {python, "-I", "-m", "snell", "hook", "--request-id", request_id, NULL, NULL};
    size_t used = 7;
    char *words[sizeof first / sizeof *first + (size_t)argc]; /* without its own name, with the final NULL */
    signal(SIGXFSZ, SIG_IGN); /* if no file may be written, the failure policy applies */
    report("", "; deciding without the daemon");
    if (!stdin_was_read)
        read_stdin(now() + SNELL_ANSWER_MS);
    if (fail_what == no_memory) /* an incomplete event must not be judged */
        return failure_policy(argv);
    beside(script, "snell");
    int output = memory_file();
    if (output < 0)
        fail("stdout", "there is no memory for the reply");
    if (output < 0 || find_python(python) != 0 || replay_stdin() != 0)
        return failure_policy(argv);
    if (is_hung)
        probe();
    if (payload_length > MOST_PAYLOAD) {
        first[used++] = "--payload-bytes";
        first[used++] = (char *)decimal(payload_length);
    }
    memcpy(words, first, used * sizeof *first);
    memcpy(words + used, argv + 1, (size_t)argc * sizeof *argv);
    signal(SIGCHLD, SIG_DFL); /* if the client ignores it, the exit status of the child is lost */
    pid_t child = fork();
    if (child == 0) {
        dup2(output, 1);
        become_decision(words, script);
    }
    int status = child < 0 ? -1 : wait_for_child(child), has_ended = status >= 0 && WIFEXITED(status);
    if (!has_ended)
        fail(python, "was killed or hung while it decided; check what your hooks do");
    else if (WEXITSTATUS(status) == CANNOT_START)
        fail(python, "cannot be started; install Snell again");
    else
        fail(python, "ended without a decision; `snell doctor` shows the problem");
    if (!has_ended || WEXITSTATUS(status) == CANNOT_START || read_output(output) != 0)
        return failure_policy(argv);
    return pass_on(argv, WEXITSTATUS(status), reply.at, reply.length);
}

/* Read the output of the decision into `reply`. */
static int read_output(int file) {
    off_t length = lseek(file, 0, SEEK_END);
    reply.length = 0;
    if (length < 0 || ((size_t)length > reply.room && grow(&reply, (size_t)length) != 0))
        return -1;
    lseek(file, 0, SEEK_SET);
    while (reply.length < (size_t)length) {
        ssize_t got = read(file, reply.at + reply.length, (size_t)length - reply.length);
        if (got <= 0)
            return -1;
        reply.length += (size_t)got;
    }
    return 0;
}

/* Pass the decision to the client; if it is not a valid one, reply by the failure policy. */
static int pass_on(char **argv, int code, const char *out, size_t length) {
    if (is_decision(argv, code, out, length)) {
        write_all(1, out, length);
        return code;
    }
    int policy = failure_policy(argv);
    return code == 2 ? 2 : policy;
}

/* Whether an exit code and an output are a complete decision for this client. */
static int is_decision(char **argv, int code, const char *out, size_t length) {
    const struct form *form = form_of(argv);
    int closed = fails_closed(argv) && form->refusal;
    if (code != 0 && code != 2)
        return !closed && form->takes_other_codes;
    if (code == 2) /* a broken Python exits with 2 too, and some clients read only the output */
        return !closed || !*form->refusal || length > 0;
    if (length == 0)
        return !*form->neutral;
    return *out == '{' ? find_event(out, length, NULL, NULL) == 0 : !closed;
}

static void become_decision(char **words, char *script) {
    static const char *const dropped[] = {"LD_", "DYLD_", "GCONV_PATH=", "GLIBC_TUNABLES=", "PYTHON", NULL};
    copy_variables(environ, SIZE_MAX, dropped, 0);
    signal(SIGPIPE, usual_sigpipe);
    end_with_parent();
    execve(words[0], words, environ);
    words[3] = script; /* in ~/.local/bin there is no Python, but a script that knows where it is */
    execve(script, words + 3, environ);
    _exit(CANNOT_START);
}

/* Return the exit status of a child; -1 if it had to be killed. */
static int wait_for_child(pid_t child) {
    long long until = now() + SNELL_ANSWER_MS;
    int status = 0;
    while (waitpid(child, &status, WNOHANG) != child) {
        if (now() > until) {
            kill(child, SIGKILL);
            return -1;
        }
        sleep_ms(2);
    }
    return status;
}

static int replay_stdin(void) {
    if (!stdin_was_read)
        return 0;
    int file = memory_file();
    if (file < 0 || write_all(file, input.at, input.length) != 0 || lseek(file, 0, SEEK_SET) != 0 || dup2(file, 0) != 0)
        return fail("stdin", "the payload could not be passed on");
    return 0;
}

/* Print a deny with --fail-closed, else no opinion, in the client's format; return the exit code. */
static int failure_policy(char **argv) {
    static char answer[4 * sizeof line];
    const struct form *form = form_of(argv);
    int closed = fails_closed(argv) && form->refusal;
    report(closed ? "denied, because Snell could not check it (--fail-closed): "
                  : "not checked, because Snell could not run: ",
           "");
    fill(answer, sizeof answer, closed ? form->refusal : form->neutral, line);
    write_all(1, answer, strlen(answer));
    return closed && !*form->refusal ? 2 : 0;
}

/* A --rewake call asks for no decision, so there is nothing to deny. */
static int fails_closed(char **argv) {
    return has(argv, "--fail-closed") && !has(argv, "--rewake");
}

/* Return the reply formats of the calling client for its event. */
static const struct form *form_of(char **argv) {
    const char *client = client_in(argv), *event = option(argv, "--event");
    size_t length = strlen(event);
    find_event(input.at, input.length, &event, &length);
    for (;; client = "generic")
        for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
            if (has_word(forms[i].clients, client, strlen(client)) &&
                (*forms[i].events == '*' || has_word(forms[i].events, event, length)))
                return &forms[i];
}

static const char *client_in(char **argv) {
    const char *named = option(argv, "--client");
    for (; !*named && argv[0] && argv[1]; argv++)
        if (argv[1][0] != '-' && strcmp(argv[0], "--event") != 0 && strcmp(argv[0], "--request-id") != 0)
            named = argv[1];
    return named;
}

/* Return the value of an option, written `--name value` or `--name=value`; the last one wins. */
static const char *option(char **argv, const char *name) {
    const char *value = "";
    size_t length = strlen(name);
    for (; *argv; argv++)
        if (strncmp(*argv, name, length) == 0 && (*argv)[length] == '=')
            value = *argv + length + 1;
        else if (strcmp(*argv, name) == 0 && argv[1])
            value = *++argv;
    return value;
}

static int has(char **argv, const char *word) {
    while (*argv && strcmp(*argv, word) != 0)
        argv++;
    return *argv != NULL;
}

/* Whether a name is one of these words; only its letters (in lower case) and digits are compared. */
static int has_word(const char *words, const char *name, size_t length) {
    char plain[LONGEST_NAME];
    size_t used = 0, end;
    for (size_t i = 0; i < length && used < sizeof plain; i++) {
        char letter = name[i] >= 'A' && name[i] <= 'Z' ? (char)(name[i] + ('a' - 'A')) : name[i];
        if ((letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9'))
            plain[used++] = letter;
    }
    for (; *words; words += end + (words[end] == ' ')) {
        for (end = 0; words[end] != '\0' && words[end] != ' ';)
            end++;
        if (end == used && memcmp(words, plain, end) == 0)
            return 1;
    }
    return 0;
}

/*
 * Scan JSON by its quotes and brackets; return nonzero if it is incomplete. `event` becomes the event's name if the top
 * level has exactly one: deeper values may have been written by the model.
 */
static int find_event(const char *text, size_t length, const char **event, size_t *event_length) {
    const char *named = NULL;
    size_t named_length = 0, depth = 0, names = 0;
    int is_value = 0, is_event = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '"') {
            size_t start = ++i;
            while (i < length && text[i] != '"')
                i += text[i] == '\\' ? 2 : 1;
            if (i >= length)
                depth++; /* counts as a bracket that is not closed */
            else if (depth == 1 && is_value && is_event)
                named = text + start, named_length = i - start, names++;
            else if (depth == 1 && !is_value)
                is_event = is_event_key(text + start, i - start);
        } else if (text[i] == '{' || text[i] == '[') {
            depth++;
        } else if (text[i] == '}' || text[i] == ']') {
            depth -= depth > 0;
        } else if (depth == 1 && (text[i] == ':' || text[i] == ',')) {
            is_value = text[i] == ':';
        }
    }
    if (event && names == 1)
        *event = named, *event_length = named_length;
    return depth == 0 ? 0 : -1;
}

static int is_event_key(const char *key, size_t length) {
    for (size_t i = 0; i < sizeof event_keys / sizeof *event_keys; i++)
        if (strlen(event_keys[i]) == length && memcmp(event_keys[i], key, length) == 0)
            return 1;
    return 0;
}

/* Fill the reason into a reply format. A path may contain characters that JSON needs escaped. */
static void fill(char *to, size_t room, const char *form, const char *reason) {
    char plain[sizeof line];
    size_t length = strlen(reason);
    for (size_t i = 0; i < length; i++)
        plain[i] = reason[i] < ' ' || reason[i] > '~' || reason[i] == '"' || reason[i] == '\\' ? '?' : reason[i];
    plain[length] = *to = '\0';
    for (char one[2] = ""; *form; form++) {
        size_t used = strlen(to);
        one[0] = *form;
        JOIN(to + used, room - used, *form == SNELL_REASON ? plain : one);
    }
}

static const char *decimal(size_t value) {
    static char digits[24];
    char *at = digits + sizeof digits - 1;
    do
        *--at = (char)('0' + value % 10);
    while (value /= 10);
    return at;
}

/* Relay until the daemon or stdout closes. After the end of stdin the daemon has a little time to answer. */
static void relay(int daemon, struct flow *up, struct flow *down) {
    long long until = INT64_MAX;
    up->from = 0, up->to = daemon;
    down->from = daemon, down->to = 1;
    while (down->from >= 0 || down->start < down->end) {
        int up_holds = up->start < up->end, down_holds = down->start < down->end;
        struct pollfd watched[] = {
            {up_holds ? -1 : up->from, POLLIN, 0},
            {up_holds ? up->to : -1, POLLOUT, 0},
            {down_holds ? -1 : down->from, POLLIN, 0},
            {down->to, down_holds ? POLLOUT : 0, 0}, /* also when idle: it reports that stdout was closed */
        };
        int ready = poll(watched, 4, until == INT64_MAX ? -1 : SNELL_CONNECT_MS);
        if (now() > until || (ready > 0 && watched[3].revents & (POLLERR | POLLHUP | POLLNVAL)))
            return;
        if (ready <= 0)
            continue;
        pump(up, watched[0].revents, watched[1].revents);
        pump(down, watched[2].revents, watched[3].revents);
        if (until == INT64_MAX && up->from < 0 && up->start == up->end) {
            shutdown(daemon, SHUT_WR);
            until = now() + SNELL_CONNECT_MS;
        }
    }
}

static void pump(struct flow *flow, int readable, int writable) {
    if (readable) {
        ssize_t got = read(flow->from, flow->held, sizeof flow->held);
        flow->start = 0;
        flow->end = got > 0 ? (size_t)got : 0;
        if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
            flow->from = -1;
    }
    if (writable) {
        size_t left = flow->end - flow->start;
        ssize_t written = write(flow->to, flow->held + flow->start, left < ATOMIC ? left : ATOMIC);
        if (written > 0)
            flow->start += (size_t)written;
        else if (errno != EAGAIN && errno != EINTR)
            flow->from = -1, flow->start = flow->end;
    }
}

static int write_all(int fd, const char *text, size_t length) {
    long long until = now() + SNELL_ANSWER_MS;
    while (length > 0) {
        if (wait_for(fd, POLLOUT, until) != 0)
            return -1;
        ssize_t written = write(fd, text, length < ATOMIC ? length : ATOMIC);
        if (written < 0 && errno != EINTR && errno != EAGAIN)
            return -1;
        text += written > 0 ? written : 0;
        length -= written > 0 ? (size_t)written : 0;
    }
    return 0;
}

static int wait_for(int fd, short events, long long until) {
    struct pollfd watched = {fd, events, 0};
    for (;;) {
        long long left = until - now();
        if (poll(&watched, 1, left > 0 ? (int)left : 0) > 0)
            return 0;
        if (left <= 0)
            return -1;
    }
}

static void sleep_ms(int milliseconds) {
    poll(NULL, 0, milliseconds);
}

static long long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (long long)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static int grow(struct bytes *bytes, size_t room) {
    char *more = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
    if (more == MAP_FAILED)
        return -1;
    memcpy(more, bytes->at, bytes->length);
    bytes->at = more;
    bytes->room = room;
    return 0;
}

static void put_number(char *to, size_t value) {
    for (int i = 0; i < 4; i++)
        to[i] = (char)(value >> 8 * i & 255);
}

static size_t number(const char *from) {
    size_t value = 0;
    for (int i = 0; i < 4; i++)
        value |= (size_t)(unsigned char)from[i] << 8 * i;
    return value;
}

/* Copy the variables that begin (or, if not wanted, do not begin) with one of these; `to` may be `environ` itself. */
static void copy_variables(char **to, size_t most, const char *const *prefixes, int wanted) {
    for (char **entry = environ; *entry && most > 0; entry++) {
        int found = 0;
        for (const char *const *prefix = prefixes; *prefix; prefix++)
            found |= strncmp(*entry, *prefix, strlen(*prefix)) == 0;
        if (found == wanted) {
            *to++ = *entry;
            most--;
        }
    }
    *to = NULL;
}

static int fail(const char *where, const char *what) {
    fail_where = where;
    fail_what = what;
    return -1;
}

static int report(const char *before, const char *after) {
    JOIN(line, sizeof line - 1, "snell-hook: ", before, "`", fail_where, "`: ", fail_what, after);
    size_t length = strlen(line);
    write_all(2, line, length);
    write_all(2, "\n", 1);
    return 1;
}

/* Concatenate texts; return nonzero if they had to be cut. */
static int join(char *to, size_t room, const char *const *texts) {
    for (; *texts; texts++) {
        size_t length = strlen(*texts), taken = length < room ? length : room - 1;
        memcpy(to, *texts, taken);
        to += taken;
        room -= taken;
        *to = '\0';
        if (taken < length)
            return -1;
    }
    return 0;
}

static int find_python(char *path) {
    const char *fixed = SNELL_PYTHON;
    return fixed ? JOIN(path, LONGEST_PATH, fixed) : beside(path, "python3");
}

static int beside(char *path, const char *name) {
    char own[LONGEST_PATH];
    if (own_path(own) != 0)
        return fail("snell-hook", "its own path cannot be found");
    *strrchr(own, '/') = '\0';
    return JOIN(path, LONGEST_PATH, own, "/", name);
}

/* From here on: differences between systems. */

static int own_path(char *path) {
#ifdef __APPLE__
    char called[LONGEST_PATH];
    uint32_t size = sizeof called;
    return _NSGetExecutablePath(called, &size) == 0 && realpath(called, path) ? 0 : -1;
#else
    ssize_t length = readlink("/proc/self/exe", path, LONGEST_PATH - 1);
    if (length <= 0 || path[0] != '/') /* there is no /proc */
        return resolve((const char *)getauxval(AT_EXECFN), path) == 0 ? 0 : resolve(called_as, path);
    path[length] = '\0';
    return 0;
#endif
}

/* Find the absolute path of this program by the path that it was called with. A bare name is not enough. */
static int resolve(const char *called, char *path) {
    char link[LONGEST_PATH], folder[LONGEST_PATH] = "";
    if (!called || !strrchr(called, '/') || (*called != '/' && !getcwd(folder, sizeof folder)))
        return -1;
    int failed = JOIN(path, LONGEST_PATH, folder, *folder ? "/" : "", called);
    for (int links = 0; !failed && links <= MOST_LINKS; links++) {
        ssize_t length = readlink(path, link, sizeof link - 1);
        if (length < 0)
            return errno == EINVAL ? 0 : -1; /* it exists, and is not a link */
        link[length] = '\0';
        *strrchr(path, '/') = '\0';
        JOIN(folder, sizeof folder, path);
        failed = *link == '/' ? JOIN(path, LONGEST_PATH, link) : JOIN(path, LONGEST_PATH, folder, "/", link);
    }
    return -1;
}

static int new_socket(void) {
#ifdef SOCK_CLOEXEC
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
#else
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    fcntl(fd, F_SETFL, O_NONBLOCK);
#endif
    return above_stderr(fd);
}

/* Return a descriptor above the standard ones, which a client may have closed. */
static int above_stderr(int fd) {
    if (fd < 0 || fd > 2)
        return fd;
    int higher = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    close(fd);
    return higher;
}

static int is_ours(int fd) {
#ifdef SO_PEERCRED
    struct ucred peer;
    socklen_t size = sizeof peer;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == geteuid();
#else
    uid_t user;
    gid_t group;
    return getpeereid(fd, &user, &group) == 0 && user == geteuid();
#endif
}

static int memory_file(void) {
#ifdef MFD_CLOEXEC
    return above_stderr(memfd_create("snell-hook", MFD_CLOEXEC));
#else
    char path[] = "/tmp/snell-hook-XXXXXX";
    int fd = mkstemp(path);
    unlink(path);
    return above_stderr(fd);
#endif
}

/* A signal that ends this process, such as from a client at its time limit, also ends the decision. */
static void end_with_parent(void) {
#ifdef __linux__
    syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGTERM, 0);
#endif
}

static void close_from(int first) {
#ifdef SYS_close_range
    if (syscall(SYS_close_range, first, ~0U, 0) == 0)
        return;
#endif
    for (int fd = first; fd < 1024; fd++)
        close(fd);
}
