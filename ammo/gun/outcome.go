package gun

import (
	"syscall"
)

// Outcome is what has become of a shot that was sent.
type Outcome uint8

// Outcomes. All but Answered are failures.
const (
	Answered Outcome = iota
	Refused
	Unreachable
	NoPorts
	NoFiles
	NoMemory
	ConnectTimeout
	Timeout
	Reset
	Closed
	Cut
	Malformed
	Surplus
	Lost
	Other
	outcomes
)

var outcomeTexts = [outcomes]struct {
	name, text string
	net        syscall.Errno // in phout.txt
}{
	Answered:       {"answered", "the whole answer came", 0},
	Refused:        {"refused", "the connection was refused", syscall.ECONNREFUSED},
	Unreachable:    {"unreachable", "there is no way to the server", syscall.EHOSTUNREACH},
	NoPorts:        {"no-ports", "this machine has no port left for another connection: keep connections alive, use fewer, or widen net.ipv4.ip_local_port_range", syscall.EADDRNOTAVAIL},
	NoFiles:        {"no-files", "there is no descriptor left for another connection: raise ulimit -n, or use fewer --instances", syscall.EMFILE},
	NoMemory:       {"no-memory", "there is no memory left for buffers: all connections together have 1 GB", syscall.ENOMEM},
	ConnectTimeout: {"connect-timeout", "no connection within the time-out", syscall.ETIMEDOUT},
	Timeout:        {"timeout", "no whole answer within the time-out", syscall.ETIMEDOUT},
	Reset:          {"reset", "the server reset the connection", syscall.ECONNRESET},
	Closed:         {"closed", "the server closed the connection without an answer", syscall.EPIPE},
	Cut:            {"cut", "the server closed the connection before the answer was whole", syscall.ECONNABORTED},
	Malformed:      {"malformed", "the answer is not HTTP, or more than the gun takes", syscall.EPROTO},
	Surplus:        {"surplus", "more bytes followed than the answer had announced", syscall.EMSGSIZE},
	Lost:           {"lost", "it went down with the connection, behind another shot that failed", syscall.ECANCELED},
	Other:          {"other", "the connection failed otherwise", syscall.EIO},
}

// String is the name under which o is counted.
func (o Outcome) String() string { return outcomeTexts[o].name }

// Text says what has happened, and where possible what to do.
func (o Outcome) Text() string { return outcomeTexts[o].text }

// OutcomeText is the Text of the outcome of that name.
func OutcomeText(name string) string {
	for o := range outcomes {
		if o.String() == name {
			return o.Text()
		}
	}
	return ""
}

// Net is the outcome's net_code in phout.txt: an error number of Linux, or 0.
func (o Outcome) Net() int { return int(outcomeTexts[o].net) }
