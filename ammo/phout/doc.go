// Package phout writes and reads phout.txt, Yandex.Tank's file of shots: a
// line a shot, twelve columns parted by tabs.
//
//	 1  time            Unix seconds with three decimals: when the shot began
//	 2  tag             of the ammo, may be empty; TAG#N where shots are numbered
//	 3  interval_real   the whole shot: the sum of the next four
//	 4  connect_time    until connected, 0 on a connection that was there
//	 5  send_time       from then until the request was sent
//	 6  latency         from then until the first byte of the answer
//	 7  receive_time    from then until its last
//	 8  interval_event  the whole shot, by the gun's event loop
//	 9  size_out        bytes sent
//	10  size_in         bytes received
//	11  net_code        0, or the errno of what went wrong: 104 reset, 110 timed out, 111 refused
//	12  proto_code      HTTP status, 0 without an answer
//
// Times are whole microseconds. Lines come as shots end, not as they begin.
//
// # Times that add up
//
// A Row has nanoseconds. Spans that are rounded each by itself need not add up
// to their rounded sum, so Append rounds the instants between them, counted
// from the beginning of the shot, and writes the differences. The sum is then
// exact, and no column is off by a whole microsecond. The time of day is
// cut to the millisecond rather than rounded: a shot belongs to the second in
// which it began.
//
// In Tank's own files interval_event is somewhat shorter than interval_real,
// by what its gun did between the events of a shot. Our gun takes events at
// once and reads one clock for both, so Append writes the same number twice.
package phout
