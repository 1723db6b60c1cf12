// The next line keeps go build, which knows C files, away from this one.
//go:build ignore

// Hyperscan, a peer of scripts/bench.sh subst: goes over a body in pieces, as a
// stream, with the rules that the other engines have, and counts matches, each
// with its start. It reports every end of a match, and matches inside others, so
// that its count is another than that of engines that replace.
#include <errno.h>
#include <getopt.h>
#include <hs/hs.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char usage[] =
	"usage: hyperscan --rules FILE --set NAME --body FILE [--piece BYTES] [--seconds S]\n"
	"\n"
	"  --rules FILE     SETS, FLAGS and FIND with tabs between, as in rules.tsv\n"
	"  --set NAME       which of its sets\n"
	"  --body FILE      the text\n"
	"  --piece BYTES    scanned at a time (default 16384)\n"
	"  --seconds S      to measure (default 1); a pass that has begun is finished\n";

enum { MOST_RULES = 256 };

struct rules {
	char *find[MOST_RULES];
	unsigned flags[MOST_RULES];
	unsigned ids[MOST_RULES];
	unsigned n;
};

struct count {
	unsigned long long matches;
	unsigned long long bytes; // so that starts are not for nothing
};

static void fail(const char *what, const char *name)
{
	fprintf(stderr, "hyperscan: %s: %s\n", name, what);
	exit(1);
}

static void need(hs_error_t code, const char *call)
{
	if (code != HS_SUCCESS) {
		fprintf(stderr, "hyperscan: %s: error %d\n", call, code);
		exit(1);
	}
}

// whole is the content of a file, with a zero behind it.
static char *whole(const char *name, size_t *size)
{
	FILE *f = fopen(name, "rb");
	if (!f)
		fail(strerror(errno), name);
	size_t room = 1 << 16;
	char *text = malloc(room);
	*size = 0;
	while (text) {
		*size += fread(text + *size, 1, room - 1 - *size, f);
		if (*size < room - 1)
			break;
		text = realloc(text, room *= 2);
	}
	if (!text || ferror(f))
		fail("it cannot be read", name);
	fclose(f);
	text[*size] = 0;
	return text;
}

// quoted is a literal as an expression.
static char *quoted(const char *literal)
{
	char *expression = malloc(2 * strlen(literal) + 1), *p = expression;
	if (!expression)
		fail("no memory", literal);
	for (; *literal; literal++) {
		if (strchr("\\.+*?()|[]{}^$#/-", *literal))
			*p++ = '\\';
		*p++ = *literal;
	}
	*p = 0;
	return expression;
}

static bool among(const char *name, char *list)
{
	for (char *rest, *one = strtok_r(list, ",", &rest); one; one = strtok_r(NULL, ",", &rest))
		if (strcmp(one, name) == 0)
			return true;
	return false;
}

// read_rules takes the rules of a set out of the file's text, which they stay in.
static void read_rules(struct rules *rules, char *text, const char *name, const char *set)
{
	for (char *rest, *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		char *fields, *sets = strtok_r(line, "\t", &fields);
		if (!sets || *sets == '#')
			continue;
		char *letters = strtok_r(NULL, "\t", &fields), *find = strtok_r(NULL, "\t", &fields);
		if (!find)
			fail("a line without FIND", name);
		if (!among(set, sets))
			continue;
		if (rules->n == MOST_RULES)
			fail("too many rules", name);
		rules->find[rules->n] = strchr(letters, 'l') ? quoted(find) : find;
		rules->flags[rules->n] = HS_FLAG_SOM_LEFTMOST | (strchr(letters, 'i') ? HS_FLAG_CASELESS : 0);
		rules->ids[rules->n] = rules->n;
		rules->n++;
	}
	if (rules->n == 0)
		fail("no such set", set);
}

static int on_match(unsigned id, unsigned long long from, unsigned long long to, unsigned flags, void *context)
{
	(void)id, (void)flags;
	struct count *c = context;
	c->matches++;
	c->bytes += to - from;
	return 0;
}

// pass goes over the body once. The stream is made once and begun anew, which is
// cheaper than to open one for each body.
static struct count pass(hs_stream_t *stream, hs_scratch_t *scratch, const char *body, size_t size, size_t piece)
{
	struct count c = {0};
	for (size_t at = 0; at < size; at += piece) {
		size_t n = size - at < piece ? size - at : piece;
		need(hs_scan_stream(stream, body + at, n, 0, scratch, on_match, &c), "hs_scan_stream");
	}
	need(hs_reset_stream(stream, 0, scratch, on_match, &c), "hs_reset_stream");
	return c;
}

static double seconds_on(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{"rules", required_argument, 0, 'r'}, {"set", required_argument, 0, 's'}, {"body", required_argument, 0, 'b'},
		{"piece", required_argument, 0, 'p'}, {"seconds", required_argument, 0, 't'}, {"help", no_argument, 0, 'h'}, {0},
	};
	const char *rules_name = NULL, *set = NULL, *body_name = NULL;
	size_t piece = 16 << 10;
	double seconds = 1;
	for (int o; (o = getopt_long(argc, argv, "", options, NULL)) != -1;) {
		switch (o) {
		case 'r': rules_name = optarg; break;
		case 's': set = optarg; break;
		case 'b': body_name = optarg; break;
		case 'p': piece = strtoul(optarg, NULL, 10); break;
		case 't': seconds = strtod(optarg, NULL); break;
		case 'h': fputs(usage, stdout); return 0;
		default: fputs(usage, stderr); return 2;
		}
	}
	if (!rules_name || !set || !body_name || piece == 0 || optind < argc) {
		fputs(usage, stderr);
		return 2;
	}

	size_t size, rules_size;
	char *body = whole(body_name, &size), *text = whole(rules_name, &rules_size);
	static struct rules rules;
	read_rules(&rules, text, rules_name, set);

	hs_database_t *database;
	hs_compile_error_t *error;
	if (hs_compile_multi((const char *const *)rules.find, rules.flags, rules.ids, rules.n,
			HS_MODE_STREAM | HS_MODE_SOM_HORIZON_LARGE, NULL, &database, &error) != HS_SUCCESS)
		fail(error->message, error->expression >= 0 ? rules.find[error->expression] : set);
	hs_scratch_t *scratch = NULL;
	need(hs_alloc_scratch(database, &scratch), "hs_alloc_scratch");
	hs_stream_t *stream;
	need(hs_open_stream(database, 0, &stream), "hs_open_stream");

	pass(stream, scratch, body, size, piece); // to warm up
	struct count c;
	unsigned long long passes = 0;
	double wall = 0, start = seconds_on(CLOCK_MONOTONIC), cpu = seconds_on(CLOCK_PROCESS_CPUTIME_ID);
	while (passes == 0 || wall < seconds) {
		c = pass(stream, scratch, body, size, piece);
		passes++;
		wall = seconds_on(CLOCK_MONOTONIC) - start;
	}
	cpu = seconds_on(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	printf("{\"engine\":\"hyperscan\",\"set\":\"%s\",\"mb_per_s\":%.3f,\"bytes\":%zu,\"matches\":%llu,\"matched_bytes\":%llu,"
		"\"passes\":%llu,\"seconds\":%.3f,\"cpu_seconds\":%.3f,\"others_share\":%.3f}\n",
		set, size * (double)passes / cpu / 1e6, size, c.matches, c.bytes, passes, wall, cpu, cpu < wall ? 1 - cpu / wall : 0);
	return 0;
}
