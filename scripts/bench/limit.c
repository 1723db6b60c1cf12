// The limit: about the least a server can do on one thread of Linux. It waits
// on epoll, counts the ends of heads in what it reads and answers each with the
// same bytes, as many as the Travels API sends on average. It understands
// nothing else of HTTP: what a real server needs beyond it is parsing, looking
// up and safety.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

static const char usage[] =
	"usage: limit [--busy] [--close [--rude]] [--port N]\n"
	"\n"
	"Answers every request on 127.0.0.1 with the same 200, until SIGTERM.\n"
	"\n"
	"  --busy     never sleep: ask epoll again and again\n"
	"  --close    one answer a connection, then an orderly end: shutdown(WR), read to\n"
	"             the peer's end, close\n"
	"  --rude     with --close: close as soon as the answer is sent\n"
	"  --port N   listen there (default 0: any free port, which it prints)\n";

#define BODY "{\"id\":4021,\"email\":\"limit4@example.test\",\"first_name\":\"Constants\"," \
	"\"last_name\":\"Answer\",\"gender\":\"m\",\"birth_date\":-1234567890}"
#define HEAD(connection) "HTTP/1.1 200 OK\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n" \
	"Content-Type: application/json\r\nContent-Length: 125\r\nConnection: " connection "\r\n\r\n"
_Static_assert(sizeof BODY - 1 == 125, "the API's answers have 125 bytes on average");

// Pipelined requests are answered up to this many a send.
enum { BATCH = 64 };

enum { MOST_CONNS = 1 << 16 };

// A connection, at the place of its descriptor.
struct conn {
	size_t owed;           // bytes of answers not yet sent
	size_t at;             // where in the answer the next of them is
	unsigned char matched; // bytes of CRLFCRLF at the end of what was read
	bool ending;           // our side is shut: what comes is thrown away
};

static struct conn conns[MOST_CONNS];
static char batch[BATCH * 512];
static size_t answer_len, batch_len;
static char in[16 << 10];
static bool closing, rude;
static int ep;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void on_term(int sig)
{
	(void)sig;
	_exit(0);
}

// heads_in counts the ends of heads. Most of a head is passed by memchr, so
// that the limit does not consist of looking at bytes.
static size_t heads_in(struct conn *c, const char *p, size_t n)
{
	const char *end = p + n;
	size_t heads = 0;
	while (p < end) {
		if (c->matched == 0) {
			p = memchr(p, '\r', end - p);
			if (!p)
				break;
			p++;
			c->matched = 1;
		} else if (*p == "\r\n\r\n"[c->matched]) {
			p++;
			if (++c->matched == 4) {
				heads++;
				c->matched = 0;
			}
		} else {
			c->matched = 0; // a CR here is found again by memchr
		}
	}
	return heads;
}

enum sent { ALL, FULL, GONE };

// flush sends what is owed, or as much as there is room for, or finds that the
// connection is GONE, and closes it.
static enum sent flush(int fd)
{
	struct conn *c = &conns[fd];
	while (c->owed) {
		size_t n = batch_len - c->at;
		if (n > c->owed)
			n = c->owed;
		// The last bytes of a connection wait for its FIN, and both leave in
		// one packet.
		int last = closing && !rude ? MSG_MORE : 0;
		ssize_t sent = send(fd, batch + c->at, n, MSG_NOSIGNAL | last);
		if (sent < 0) {
			if (errno == EAGAIN)
				return FULL; // EPOLLOUT will come
			close(fd);
			return GONE;
		}
		c->owed -= sent;
		c->at = (c->at + sent) % answer_len;
	}
	if (closing) {
		if (rude) {
			close(fd);
			return GONE;
		}
		// Unread input would turn a close into a reset, which may overtake
		// the answer.
		shutdown(fd, SHUT_WR);
		c->ending = true;
	}
	return ALL;
}

// input reads and answers, and tells whether the connection is still open. A
// read that does not fill the buffer was the last, unless the peer is known to
// have ended: then its end is still to be read, and no further event will come.
static bool input(int fd, bool to_the_end)
{
	struct conn *c = &conns[fd];
	for (;;) {
		ssize_t n = recv(fd, in, sizeof in, 0);
		if (n < 0 && errno == EAGAIN)
			return true;
		if (n == 0 && c->owed)
			return true;
		if (n <= 0) {
			close(fd);
			return false;
		}
		size_t heads = c->ending ? 0 : heads_in(c, in, n);
		if (closing && heads > 1)
			heads = 1;
		if (heads) {
			c->owed += heads * answer_len;
			enum sent sent = flush(fd);
			if (sent != ALL)
				return sent == FULL;
		}
		if ((size_t)n < sizeof in && !to_the_end)
			return true;
	}
}

static void event(int fd, uint32_t events)
{
	bool was_full = conns[fd].owed > 0;
	if (was_full && flush(fd) != ALL)
		return;
	// What came while it was full has had its event already.
	input(fd, was_full || (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)));
}

// welcome accepts who waits. The first request is mostly there already, so it
// is answered before epoll hears of the connection.
static void welcome(int listener)
{
	for (int i = 0; i < 64; i++) {
		int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
		if (fd < 0) {
			if (errno == EAGAIN || errno == ECONNABORTED)
				return;
			die("accept4");
		}
		if (fd >= MOST_CONNS) {
			fprintf(stderr, "limit: more than %d connections\n", MOST_CONNS);
			exit(1);
		}
		conns[fd] = (struct conn){0};
		if (!input(fd, false))
			continue;
		struct epoll_event e = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.fd = fd};
		if (epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e) < 0)
			die("epoll_ctl");
	}
}

static int listen_on(int port)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	int one = 1;
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof a;
	if (fd < 0)
		die("socket");
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	if (bind(fd, (struct sockaddr *)&a, sizeof a) < 0)
		die("bind");
	if (listen(fd, 4096) < 0)
		die("listen");
	getsockname(fd, (struct sockaddr *)&a, &len);
	printf("listening on 127.0.0.1:%d\n", ntohs(a.sin_port));
	fflush(stdout);
	return fd;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{"busy", no_argument, 0, 'b'},
		{"close", no_argument, 0, 'c'},
		{"rude", no_argument, 0, 'r'},
		{"port", required_argument, 0, 'p'},
		{"help", no_argument, 0, 'h'},
		{0},
	};
	int timeout = -1, port = 0;
	for (int o; (o = getopt_long(argc, argv, "h", options, NULL)) != -1;) {
		switch (o) {
		case 'b': timeout = 0; break;
		case 'c': closing = true; break;
		case 'r': rude = true; break;
		case 'p': port = atoi(optarg); break;
		case 'h': fputs(usage, stdout); return 0;
		default: fputs(usage, stderr); return 2;
		}
	}
	if (optind != argc || (rude && !closing)) {
		fputs(usage, stderr);
		return 2;
	}
	const char *answer = closing ? HEAD("close") BODY : HEAD("keep-alive") BODY;
	answer_len = strlen(answer);
	batch_len = BATCH * answer_len;
	for (int i = 0; i < BATCH; i++)
		memcpy(batch + i * answer_len, answer, answer_len);

	struct rlimit files;
	getrlimit(RLIMIT_NOFILE, &files);
	files.rlim_cur = files.rlim_max < MOST_CONNS ? files.rlim_max : MOST_CONNS;
	setrlimit(RLIMIT_NOFILE, &files);
	signal(SIGTERM, on_term);

	int listener = listen_on(port);
	ep = epoll_create1(0);
	struct epoll_event e = {.events = EPOLLIN, .data.fd = listener};
	if (ep < 0 || epoll_ctl(ep, EPOLL_CTL_ADD, listener, &e) < 0)
		die("epoll");
	for (;;) {
		struct epoll_event events[256];
		int n = epoll_wait(ep, events, 256, timeout);
		for (int i = 0; i < n; i++) {
			if (events[i].data.fd == listener)
				welcome(listener);
			else
				event(events[i].data.fd, events[i].events);
		}
	}
}
