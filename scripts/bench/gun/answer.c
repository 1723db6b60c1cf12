#define _GNU_SOURCE
#include <string.h>
#include <strings.h>

#include "gun.h"

// number reads decimal digits up to the end of the line.
static int64_t number(const char *p, const char *end)
{
	int64_t v = 0;
	while (p < end && *p == ' ')
		p++;
	if (p == end || end - p > 15)
		return -1;
	for (; p < end; p++) {
		if (*p < '0' || *p > '9')
			return -1;
		v = 10 * v + (*p - '0');
	}
	return v;
}

// field tells whether the line [p, end) is the named field, and leaves its value
// in *value.
static bool field(const char *p, const char *end, const char *name, size_t len, const char **value)
{
	if ((size_t)(end - p) <= len || p[len] != ':' || strncasecmp(p, name, len) != 0)
		return false;
	*value = p + len + 1;
	return true;
}

#define FIELD(p, end, name, value) field(p, end, name, sizeof name - 1, value)

ssize_t parse_head(const char *p, size_t n, struct answer *a)
{
	const char *head_end = memmem(p, n, "\r\n\r\n", 4);
	if (!head_end)
		return NEED_MORE;
	if (head_end - p < 12 || memcmp(p, "HTTP/1.", 7) != 0)
		return MALFORMED;
	*a = (struct answer){.length = -1};
	a->status = (p[9] - '0') * 100 + (p[10] - '0') * 10 + (p[11] - '0');
	if (a->status < 200 || a->status > 599)
		return MALFORMED;

	// From line end to line end; the last is the head's.
	for (const char *line = memchr(p, '\r', n); line + 2 < head_end;) {
		const char *value, *eol;
		line += 2;
		eol = memchr(line, '\r', head_end + 1 - line);
		switch (*line | 0x20) { // most lines are none of these
		case 'c':
			if (FIELD(line, eol, "Content-Length", &value)) {
				a->length = number(value, eol);
				if (a->length < 0)
					return MALFORMED;
			} else if (FIELD(line, eol, "Connection", &value)) {
				a->close = eol - value >= 5 && strncasecmp(eol - 5, "close", 5) == 0;
			}
			break;
		case 't':
			if (FIELD(line, eol, "Transfer-Encoding", &value))
				return MALFORMED; // nobody needs it here
		}
		line = eol;
	}
	return head_end + 4 - p;
}
