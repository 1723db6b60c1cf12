#!/usr/bin/env python3
"""Writes instants.txt: counts and instants of plans, by other means than the
package's. Run it in this folder; it needs nothing but Python.

Every number is a Fraction, so nothing is lost. With rates a and b, a duration d
(seconds) and shots counted from 0 in each part:

    const   int(a*d) shots, shot n at n/a
    line    int((a+b)/2*d) shots, shot n at the t >= 0 that solves
            a*t + (b-a)/(2*d)*t^2 = n:  t = (sqrt(a^2 + 2*s*n) - a)/s, s = (b-a)/d
    step    int((b-a)/i)+1 consts of the rates a, a+i, a+2i, ... (i < 0 if a > b), and
            one more of rate b if the last was not b
    pause   no shots for d

Instants are rounded to nanoseconds, halves up. The root is taken of integers
with 60 decimals, far more than rounding needs.
"""
from fractions import Fraction as F
from math import floor, isqrt

NS = 10**9
DAY = 86400


def sqrt(x):
    digits = 10**60
    return F(isqrt(x.numerator * x.denominator * digits * digits), x.denominator * digits)


def const(a, d):
    return [("const", F(a), F(a), F(d))]


def line(a, b, d):
    return [("line", F(a), F(b), F(d))]


def step(a, b, i, d):
    a, b, i = F(a), F(b), F(i)
    if a == b:
        return const(a, d)
    if b < a:
        i = -i
    count = int((b - a) / i)
    rates = [a + k * i for k in range(count + 1)]
    if rates[-1] != b:
        rates.append(b)
    return [("const", r, r, F(d)) for r in rates]


def pause(d):
    return const(0, d)


def shots(part):
    _, a, b, d = part
    return floor((a + b) / 2 * d)


def at(part, n):
    name, a, b, d = part
    if a == b:
        return F(n) / a
    s = (b - a) / d
    return (sqrt(a * a + 2 * s * n) - a) / s


def rounded(seconds):
    return floor(seconds * NS + F(1, 2))


plans = [
    ("const(750,120s)", const(750, 120)),
    ("const(0.29,100)", const("0.29", 100)),
    ("const(0.5,3s)", const("0.5", 3)),
    ("const(3,1s)", const(3, 1)),
    ("const(7,1.5s)", const(7, "1.5")),
    ("const(0.1,9.999s)", const("0.1", "9.999")),
    ("const(0.000000001,1000d)", const("0.000000001", 1000 * DAY)),
    ("const(10000000,1000d)", const(10**7, 1000 * DAY)),
    ("const(9999999.999999999,1000d)", const("9999999.999999999", 1000 * DAY)),
    ("line(1,600,20s)", line(1, 600, 20)),
    ("line(0,1,1s)", line(0, 1, 1)),
    ("line(0,10,10s)", line(0, 10, 10)),
    ("line(10,0,10s)", line(10, 0, 10)),
    ("line(5,5,3s)", line(5, 5, 3)),
    ("line(100,100.000000001,1h)", line(100, "100.000000001", 3600)),
    ("line(100.000000001,100,1h)", line("100.000000001", 100, 3600)),
    ("line(0.3,0.7,12.5s)", line("0.3", "0.7", "12.5")),
    ("line(200,2000,200s)", line(200, 2000, 200)),
    ("line(0,10000000,1000d)", line(0, 10**7, 1000 * DAY)),
    ("line(10000000,0,1000d)", line(10**7, 0, 1000 * DAY)),
    ("line(10000000,9999999.999999999,1000d)", line(10**7, "9999999.999999999", 1000 * DAY)),
    ("line(0,0.000000001,1000d)", line(0, "0.000000001", 1000 * DAY)),
    ("line(10000000,0,1ms)", line(10**7, 0, "0.001")),
    ("step(1,3,1,10s)", step(1, 3, 1, 10)),
    ("step(1,6,2,10s)", step(1, 6, 2, 10)),
    ("step(6,1,2,10s)", step(6, 1, 2, 10)),
    ("step(5,5,1,2s)", step(5, 5, 1, 2)),
    ("step(1,10,100,5s)", step(1, 10, 100, 5)),
    ("step(0,1,0.1,7s)", step(0, 1, "0.1", 7)),
    ("step(10,0,3,1s)", step(10, 0, 3, 1)),
    ("const(0.5,3s) const(0.5,3s)", const("0.5", 3) * 2),
    ("pause(2s) const(10,1s) pause(1m) line(1,10,1s) pause(3s)",
     pause(2) + const(10, 1) + pause(60) + line(1, 10, 1) + pause(3)),
    ("line(1,500,10s) const(500,1m) step(500,100,130,1.5s) line(100,0,2s)",
     line(1, 500, 10) + const(500, 60) + step(500, 100, 130, "1.5") + line(100, 0, 2)),
    ("const(3,100ms) const(3,100ms) const(3,400ms) const(1,1h1m1.001s)",
     const(3, "0.1") * 2 + const(3, "0.4") + const(1, "3661.001")),
]

with open("instants.txt", "w") as out:
    print("# Written by tables.py, which says how. After each plan: its shots and nanoseconds,", file=out)
    print("# then numbers of shots with their instants in nanoseconds.", file=out)
    for text, parts in plans:
        print("\nplan", text, file=out)
        print("shots", sum(map(shots, parts)), rounded(sum(p[3] for p in parts)), file=out)
        first, begin = 0, F(0)
        for p in parts:
            count = shots(p)
            if count > 0:
                which = {0, 1, 2, 3, count // 3, count // 2, count - 3, count - 2, count - 1}
                for n in sorted(n for n in which if 0 <= n < count):
                    print("at", first + n, rounded(begin + at(p, n)), file=out)
            first, begin = first + count, begin + p[3]
