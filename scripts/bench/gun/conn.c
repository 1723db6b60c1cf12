// A connection of the gun: sends a request, reads its answer, and is ready for
// the next.
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "gun.h"

// Without a request a connection is idle; with fd -1 it is to be made.
struct conn {
	int fd;
	const struct request *request;
	size_t sent;
	uint64_t begin; // of the request: sent, or planned
	bool in_body;
	struct answer answer;
	int64_t left;   // bytes of the body to come
	size_t head_len;
	char head[8192]; // a head that came in pieces
};

struct counts got;

static int ep;
static size_t next_request;
static char in[64 << 10];

// Idle connections, oldest first, so that a low rate uses all of them.
static struct conn **idle;
static int idle_first, idle_n;

enum { MOST_ERRORS = 1000 };

static void rest(struct conn *c)
{
	c->request = NULL;
	idle[(idle_first + idle_n++) % opt.connections] = c;
}

static void hang_up(struct conn *c)
{
	close(c->fd);
	c->fd = -1;
}

static void count_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void count_error(const char *format, ...)
{
	va_list args;
	if (got.errors++ == 0) {
		va_start(args, format);
		vsnprintf(got.first_error, sizeof got.first_error, format, args);
		va_end(args);
	}
	if (got.errors >= MOST_ERRORS) {
		fprintf(stderr, "gun: %d errors, gave up; the first: %s\n", MOST_ERRORS, got.first_error);
		exit(1);
	}
}

// fail ends a request without its answer.
static void fail(struct conn *c, const char *what, int error)
{
	count_error("%s%s%s", what, error ? ": " : "", error ? strerror(error) : "");
	if (c->fd >= 0)
		hang_up(c);
	if (c->request)
		rest(c);
}

static void push(struct conn *c)
{
	ssize_t n = send(c->fd, c->request->bytes + c->sent, c->request->len - c->sent, MSG_NOSIGNAL);
	if (n >= 0)
		c->sent += n;
	else if (errno != EAGAIN)
		fail(c, c->sent ? "send" : "connect or send", errno);
}

// start sends the next request. Nagle's algorithm stays on: it delays nothing
// where only one request is under way.
static void start(struct conn *c, uint64_t begin)
{
	c->request = &opt.requests.all[next_request];
	if (++next_request == opt.requests.n)
		next_request = 0;
	c->begin = begin;
	c->sent = c->head_len = 0;
	c->in_body = false;
	if (c->fd < 0) {
		struct epoll_event e = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.ptr = c};
		c->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
		if (c->fd < 0)
			die("socket: %s", strerror(errno));
		got.connects++;
		if (connect(c->fd, (struct sockaddr *)&opt.target, sizeof opt.target) < 0 && errno != EINPROGRESS)
			return fail(c, "connect", errno);
		if (epoll_ctl(ep, EPOLL_CTL_ADD, c->fd, &e) < 0)
			die("epoll_ctl: %s", strerror(errno));
	}
	push(c); // over loopback the connection is there already
}

enum taken { PART, WHOLE, FAILED };

// take reads a piece of an answer.
static enum taken take(struct conn *c, const char *p, size_t n)
{
	if (!c->in_body) {
		ssize_t head;
		size_t before = c->head_len;
		if (before == 0) {
			head = parse_head(p, n, &c->answer);
		} else {
			size_t more = n < sizeof c->head - before ? n : sizeof c->head - before;
			memcpy(c->head + before, p, more);
			head = parse_head(c->head, before + more, &c->answer);
		}
		if (head == NEED_MORE && before + n <= sizeof c->head) {
			if (before == 0)
				memcpy(c->head, p, n);
			c->head_len = before + n;
			return PART;
		}
		if (head <= 0)
			return fail(c, "an answer with a broken head, or one we cannot read", 0), FAILED;
		c->in_body = true;
		c->left = c->request->head ? 0 : c->answer.length;
		if (c->left < 0) // the end of the connection is the end of the body
			c->left = INT64_MAX, c->answer.close = true;
		p += head - before;
		n -= head - before;
	}
	if ((int64_t)n > c->left)
		return fail(c, "bytes beyond the answer", 0), FAILED;
	c->left -= n;
	got.body_bytes += n;
	return c->left == 0 ? WHOLE : PART;
}

static void finish(struct conn *c)
{
	uint64_t now = now_ns();
	histogram_add(&got.latency, now - c->begin);
	if (c->answer.status != 200 && !opt.any)
		count_error("status %d for %.*s", c->answer.status,
			    (int)strcspn(c->request->bytes, "\r"), c->request->bytes);
	if (opt.rate > 0)
		rest(c);
	else
		start(c, now);
}

static void event(struct conn *c, uint32_t events)
{
	enum taken state = PART;
	if (c->request && c->sent < c->request->len)
		push(c);
	while (c->fd >= 0) {
		ssize_t n = recv(c->fd, in, sizeof in, 0);
		if (n < 0 && errno == EAGAIN)
			break;
		if (n < 0)
			return fail(c, "recv", errno);
		if (n == 0) {
			bool whole = state == WHOLE || !c->request || (c->in_body && c->left == 0) ||
				     (c->in_body && c->answer.length < 0);
			if (!whole)
				return fail(c, "the connection ended before the answer did", 0);
			hang_up(c);
			if (c->request)
				finish(c);
			return;
		}
		if (!c->request || c->sent < c->request->len)
			return fail(c, "an answer before the request", 0);
		state = take(c, in, n);
		if (state == FAILED)
			return;
		if ((size_t)n < sizeof in && !(events & EPOLLRDHUP))
			break;
	}
	// Where the connection ends with the answer, its end is waited for.
	if (state == WHOLE && !opt.close && !c->answer.close)
		finish(c);
}

void open_all(void)
{
	struct conn *all = calloc(opt.connections, sizeof *all);
	idle = calloc(opt.connections, sizeof *idle);
	ep = epoll_create1(0);
	if (!all || !idle || ep < 0)
		die("%d connections: %s", opt.connections, strerror(errno));
	for (int i = 0; i < opt.connections; i++) {
		all[i].fd = -1;
		rest(&all[i]);
	}
}

bool start_idle(uint64_t begin)
{
	if (idle_n == 0)
		return false;
	struct conn *c = idle[idle_first];
	idle_first = (idle_first + 1) % opt.connections;
	idle_n--;
	start(c, begin);
	return true;
}

void poll_all(int timeout)
{
	struct epoll_event events[256];
	int n = epoll_wait(ep, events, 256, timeout);
	for (int i = 0; i < n; i++)
		event(events[i].data.ptr, events[i].events);
}
