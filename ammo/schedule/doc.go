// Package schedule says when shots are to be fired. It is arithmetic alone and
// knows no clock: a Plan gives the instant of every shot, and how many are due
// at any instant, both counted from the plan's beginning.
//
// # The text of a plan
//
// A plan is parts that follow each other, separated by any blanks or none:
//
//	const(RATE, DURATION)                  the same rate all the time
//	line(FROM, TO, DURATION)               from one rate evenly to another
//	step(FROM, TO, INCREMENT, DURATION)    a stair, each step DURATION long; the
//	                                       last is at TO in any case
//	pause(DURATION)                        the same as const(0, DURATION)
//
// or it is one flood, a closed loop in which each connection fires as soon as
// it has been answered:
//
//	flood(CONNECTIONS, DURATION)
//
// Names may be in capitals. Rates are shots a second, decimals such as 0.5.
// Durations are decimals with the units d, h, m, s and ms, also joined
// (1h30m); a number alone is seconds. A number alone behind others (1h30) is
// refused, since Tank takes it for seconds and people for minutes. MaxRate,
// MaxDuration and MaxParts limit what a plan may be.
//
// # Counts and instants
//
// The counts are Yandex.Tank's: a part has as many shots as the area below its
// rate, rounded down. The first shot of a part is at its beginning, and shot n
// where the area has grown to n. A part lasts its whole duration, whatever is
// left of the area at its end, and the next begins there.
//
// Decimals are counted exactly (const(0.29,100) has 29 shots), and instants are
// exact to the nearest nanosecond, where Tank's are cut to milliseconds.
package schedule
