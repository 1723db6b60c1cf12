// The gun: fires requests from one thread and measures a server. It spins on
// epoll by default, so that neither its own waking up counts as the server's
// time nor does the server pay for waking it.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "gun.h"

static const char usage[] =
	"usage: gun [FLAG...] 127.0.0.1:PORT\n"
	"\n"
	"Fires requests at a server and prints one line of JSON. Exits 1 if any answer\n"
	"was wrong, 2 for wrong usage or input.\n"
	"\n"
	"  --requests FILE    phantom ammo, \"SIZE [TAG]\" and the request; fired in turn, again and again\n"
	"  --skip PREFIX      leave out records whose tag begins so\n"
	"  --path PATH        GET this instead (default /users/1)\n"
	"  --connections N    (default 64) each has one request under way\n"
	"  --rate R           open loop: R requests/s on a fixed schedule; latency counts from the\n"
	"                     planned instant. Without it each answer is followed by a request\n"
	"  --close            a connection per request: connect, send, read to the end, close\n"
	"  --seconds S        (default 3) measured, after\n"
	"  --warmup S         (default 0.5)\n"
	"  --any              any status is fine; otherwise only 200 is\n"
	"  --block            sleep while there is nothing to read; not with --rate\n"
	"  --pid PID          measure the CPU time of the server, this process\n";

struct options opt = {.connections = 64, .seconds = 3, .warmup = 0.5};

// What the clocks said when measuring began.
static struct {
	struct cpu server, own;
	double machine;
} before;

static void look_at_clocks(void)
{
	before.machine = machine_busy();
	before.own = cpu_of(getpid());
	before.server = cpu_of(opt.pid);
}

void die(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	fputs("gun: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	exit(2);
}

struct span {
	uint64_t begin, end; // what is measured
	uint64_t unsent;     // planned requests for which no connection was idle
};

// fire runs the loop until the time is over.
static struct span fire(void)
{
	uint64_t begin = now_ns(), now = begin, last = begin;
	uint64_t measure = begin + (uint64_t)(opt.warmup * 1e9), end = measure + (uint64_t)(opt.seconds * 1e9);
	double gap = opt.rate > 0 ? 1e9 / opt.rate : 0;
	uint64_t planned = 0; // requests; the next is due at begin + planned*gap
	struct span s = {0};
	while (now < end) {
		last = now;
		if (gap == 0) {
			while (start_idle(now_ns())) // only at first, and after errors
				;
		} else {
			uint64_t due;
			while ((due = begin + (uint64_t)((double)planned * gap)) <= now && start_idle(due))
				planned++;
		}
		poll_all(opt.block ? 100 : 0);
		now = now_ns();
		if (s.begin == 0 && now >= measure) {
			memset(&got.latency, 0, sizeof got.latency);
			got.connects = got.body_bytes = 0;
			if (opt.pid)
				look_at_clocks();
			s.begin = now = now_ns();
		}
	}
	s.end = now;
	if (gap > 0) {
		uint64_t due = (uint64_t)((double)(last - begin) / gap) + 1;
		s.unsent = due > planned ? due - planned : 0;
	}
	return s;
}

static void report(struct span s)
{
	const struct histogram *h = &got.latency;
	double seconds = (double)(s.end - s.begin) / 1e9, n = h->n ? (double)h->n : 1;
	printf("{\"requests\":%lu,\"errors\":%lu,\"unsent\":%lu,\"seconds\":%.3f,\"rps\":%.1f,\"p50_us\":%.2f,"
	       "\"p90_us\":%.2f,\"p99_us\":%.2f,\"max_us\":%.2f,\"connects\":%lu,\"body_bytes\":%.1f",
	       h->n, got.errors, s.unsent, seconds, (double)h->n / seconds, histogram_us(h, 0.5), histogram_us(h, 0.9),
	       histogram_us(h, 0.99), (double)h->max / 1e3, got.connects, (double)got.body_bytes / n);
	if (opt.pid) {
		struct cpu server = cpu_of(opt.pid), own = cpu_of(getpid());
		double total = server.total - before.server.total;
		// Whatever else ran may have kept the two waiting, or cooled their caches.
		double others = machine_busy() - before.machine - total - (own.total - before.own.total);
		printf(",\"cpu_us_per_request\":%.4f,\"cpu_share\":%.3f,\"user_seconds\":%.2f,\"sys_seconds\":%.2f,"
		       "\"gun_us_per_request\":%.4f,\"others_share\":%.3f", total * 1e6 / n, total / seconds,
		       server.user - before.server.user, server.sys - before.server.sys,
		       (own.total - before.own.total) * 1e6 / n, others > 0 ? others / seconds : 0);
	}
	printf("}\n");
	if (got.errors)
		fprintf(stderr, "gun: %lu errors, the first: %s\n", got.errors, got.first_error);
	else if (h->n == 0)
		fprintf(stderr, "gun: no answer in %.1f s\n", seconds);
}

static double positive(const char *flag, const char *text, double least)
{
	char *end;
	double v = strtod(text, &end);
	if (end == text || *end || !(v >= least && v <= 1e7))
		die("--%s %s: a number from %g should be here", flag, text, least);
	return v;
}

static void set_target(char *target)
{
	char *colon = strrchr(target, ':');
	if (!colon)
		die("%s: write 127.0.0.1:PORT", target);
	*colon = 0;
	opt.target.sin_family = AF_INET;
	opt.target.sin_port = htons((uint16_t)positive("target", colon + 1, 1));
	if (inet_pton(AF_INET, target, &opt.target.sin_addr) != 1)
		die("%s: write an address in digits, as 127.0.0.1", target);
	*colon = ':';
}

int main(int argc, char **argv)
{
	static const struct option flags[] = {
		{"requests", required_argument, 0, 'f'},
		{"skip", required_argument, 0, 's'},
		{"path", required_argument, 0, 'u'},
		{"connections", required_argument, 0, 'n'},
		{"rate", required_argument, 0, 'r'},
		{"close", no_argument, 0, 'c'},
		{"seconds", required_argument, 0, 't'},
		{"warmup", required_argument, 0, 'w'},
		{"any", no_argument, 0, 'a'},
		{"block", no_argument, 0, 'b'},
		{"pid", required_argument, 0, 'p'},
		{"help", no_argument, 0, 'h'},
		{0},
	};
	const char *file = NULL, *skip = NULL, *path = "/users/1";
	for (int o, i; (o = getopt_long(argc, argv, "h", flags, &i)) != -1;) {
		switch (o) {
		case 'f': file = optarg; break;
		case 's': skip = optarg; break;
		case 'u': path = optarg; break;
		case 'n': opt.connections = (int)positive(flags[i].name, optarg, 1); break;
		case 'r': opt.rate = positive(flags[i].name, optarg, 1); break;
		case 'c': opt.close = true; break;
		case 't': opt.seconds = positive(flags[i].name, optarg, 0.1); break;
		case 'w': opt.warmup = positive(flags[i].name, optarg, 0); break;
		case 'a': opt.any = true; break;
		case 'b': opt.block = true; break;
		case 'p': opt.pid = (pid_t)positive(flags[i].name, optarg, 1); break;
		case 'h': fputs(usage, stdout); return 0;
		default: fputs(usage, stderr); return 2;
		}
	}
	if (optind != argc - 1 || (opt.block && opt.rate > 0)) {
		fputs(usage, stderr);
		return 2;
	}
	set_target(argv[optind]);
	opt.requests = file ? load_requests(file, skip) : get_request(path, argv[optind], opt.close);

	struct rlimit files;
	getrlimit(RLIMIT_NOFILE, &files);
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);

	open_all();
	struct span s = fire();
	report(s);
	return got.errors || got.latency.n == 0;
}
