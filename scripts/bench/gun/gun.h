// The parts of the gun: what it fires (requests.c), connections (conn.c), heads
// of answers (answer.c), figures (figures.c), the schedule and the report
// (gun.c).
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct request {
	const char *bytes;
	size_t len;
	bool head; // its answer has no body
};

struct requests {
	struct request *all;
	size_t n;
};

// load_requests reads phantom ammo, "SIZE [TAG]\n" and SIZE bytes a record,
// without the records whose tag begins with skip (NULL: none).
struct requests load_requests(const char *file, const char *skip);

// get_request is a GET of one path.
struct requests get_request(const char *path, const char *host, bool close);

struct answer {
	int status;
	int64_t length; // of the body; -1: not given
	bool close;     // the server will end the connection
};

enum { NEED_MORE = 0, MALFORMED = -1 };

// parse_head returns the length of the head, NEED_MORE or MALFORMED.
ssize_t parse_head(const char *p, size_t n, struct answer *a);

// A histogram of nanoseconds, exact to 0.2 %: values are told apart by their
// ten leading bits.
enum { SUB_BITS = 9, SUBS = 1 << SUB_BITS, SLOTS = 32 * SUBS };

struct histogram {
	uint64_t n, max;
	uint64_t slots[SLOTS];
};

void histogram_add(struct histogram *h, uint64_t ns);
double histogram_us(const struct histogram *h, double quantile);

// now_ns is the monotonic clock.
uint64_t now_ns(void);

// CPU time of a process, all its threads together. total comes from the
// scheduler and is exact; user and sys are the kernel's clock ticks of 10 ms.
struct cpu {
	double total, user, sys; // seconds
};

struct cpu cpu_of(pid_t pid);

// machine_busy is the time in seconds that all processors together have worked,
// or were kept from it by the hypervisor.
double machine_busy(void);

extern struct options {
	struct sockaddr_in target;
	struct requests requests;
	int connections;
	double rate, seconds, warmup;
	bool close, any, block;
	pid_t pid;
} opt;

// What was counted since the beginning, errors, or since the warm-up.
extern struct counts {
	struct histogram latency;
	uint64_t errors, connects, body_bytes;
	char first_error[256];
} got;

// open_all makes the connections, all idle, with nobody at the other end yet.
void open_all(void);

// start_idle sends the next request on an idle connection, if there is one.
bool start_idle(uint64_t begin);

// poll_all deals with what has come; it waits for that at most timeout ms.
void poll_all(int timeout);

void die(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));
