#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "gun.h"

uint64_t now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void histogram_add(struct histogram *h, uint64_t ns)
{
	// Shifted so far, the value has SUB_BITS+1 bits, the first of them set;
	// small ones stay as they are.
	int shift = ns < SUBS ? 0 : 63 - __builtin_clzll(ns) - SUB_BITS;
	size_t slot = ((size_t)shift << SUB_BITS) + (ns >> shift);
	h->slots[slot < SLOTS ? slot : SLOTS - 1]++;
	h->n++;
	if (ns > h->max)
		h->max = ns;
}

double histogram_us(const struct histogram *h, double quantile)
{
	uint64_t seen = 0, rank = quantile * h->n;
	for (size_t slot = 0; slot < SLOTS; slot++) {
		seen += h->slots[slot];
		if (seen > rank) {
			size_t shift = slot < 2 * SUBS ? 0 : (slot >> SUB_BITS) - 1;
			double low = (double)((slot - (shift << SUB_BITS)) << shift);
			return (low + ((size_t)1 << shift) / 2.0) / 1000;
		}
	}
	return h->max / 1000.0;
}

struct cpu cpu_of(pid_t pid)
{
	struct cpu c = {0};
	clockid_t clock;
	struct timespec t;
	// The clock of another process counts all its threads, those that have
	// ended and those that run, in nanoseconds.
	if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &t) != 0)
		die("process %d: its CPU time cannot be read; has it ended?", pid);
	c.total = t.tv_sec + t.tv_nsec / 1e9;

	char path[64], text[1024];
	unsigned long user, sys;
	snprintf(path, sizeof path, "/proc/%d/stat", pid);
	FILE *f = fopen(path, "r");
	size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
	if (f)
		fclose(f);
	text[n] = 0;
	char *rest = strrchr(text, ')'); // the name before it may hold anything
	if (!rest || sscanf(rest + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &sys) != 2)
		die("%s: not as expected", path);
	c.user = (double)user / sysconf(_SC_CLK_TCK);
	c.sys = (double)sys / sysconf(_SC_CLK_TCK);
	return c;
}

double machine_busy(void)
{
	unsigned long user, nice, sys, idle, iowait, irq, softirq, steal = 0;
	FILE *f = fopen("/proc/stat", "r");
	int n = f ? fscanf(f, "cpu %lu %lu %lu %lu %lu %lu %lu %lu", &user, &nice, &sys, &idle, &iowait, &irq, &softirq, &steal) : 0;
	if (f)
		fclose(f);
	if (n < 7)
		die("/proc/stat: not as expected");
	return (double)(user + nice + sys + irq + softirq + steal) / (double)sysconf(_SC_CLK_TCK);
}
