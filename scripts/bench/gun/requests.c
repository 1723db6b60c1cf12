#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gun.h"

static char *whole_file(const char *file, size_t *n)
{
	FILE *f = fopen(file, "rb");
	if (!f)
		die("%s: %s", file, strerror(errno));
	size_t room = 1 << 20, got;
	char *text = malloc(room);
	*n = 0;
	while (text && (got = fread(text + *n, 1, room - *n - 1, f)) > 0) {
		*n += got;
		if (*n == room - 1)
			text = realloc(text, room *= 2);
	}
	if (!text || ferror(f))
		die("%s: cannot be read whole", file);
	fclose(f);
	text[*n] = 0; // an end for strtoul
	return text;
}

struct requests load_requests(const char *file, const char *skip)
{
	struct requests r = {0};
	size_t n, room = 0;
	char *p = whole_file(file, &n), *start = p, *end = p + n;
	while (p < end) {
		if (*p == '\n' || *p == '\r') { // blank lines between records
			p++;
			continue;
		}
		char *rest, *eol = memchr(p, '\n', end - p);
		size_t size = strtoul(p, &rest, 10);
		if (rest == p || !eol)
			die("%s: byte %td: a line \"SIZE [TAG]\" should be here", file, p - start);
		if (size == 0) // ends the file early
			break;
		while (rest < eol && *rest == ' ')
			rest++;
		p = eol + 1;
		if (size > (size_t)(end - p))
			die("%s: byte %td: %zu bytes of request should follow, %td do", file, p - start, size, end - p);
		if (!skip || strncmp(rest, skip, strlen(skip)) != 0) {
			if (r.n == room) {
				room = room ? 2 * room : 1024;
				r.all = realloc(r.all, room * sizeof *r.all);
				if (!r.all)
					die("%s: no memory for %zu requests", file, room);
			}
			r.all[r.n++] = (struct request){p, size, size > 5 && memcmp(p, "HEAD ", 5) == 0};
		}
		p += size;
	}
	if (r.n == 0)
		die("%s: no request in it", file);
	return r;
}

struct requests get_request(const char *path, const char *host, bool close)
{
	struct requests r = {malloc(sizeof *r.all), 1};
	char *bytes;
	int len = asprintf(&bytes, "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: %s\r\n\r\n", path, host,
			   close ? "close" : "keep-alive");
	if (len < 0 || !r.all)
		die("no memory for a request");
	r.all[0] = (struct request){bytes, len, false};
	return r;
}
