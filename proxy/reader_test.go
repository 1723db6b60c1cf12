//go:build linux

package proxy

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// message is one that strict has read.
type message struct {
	head     string // as it came, with the empty line
	start    string // its first line, without its CRLF
	method   string // of a request
	status   int    // of an answer
	minor    int
	fields   [][2]string
	framing  string // "none", "sized", "chunked" or "close"
	body     string
	trailers [][2]string
}

// get is the values of the fields of a name, in order.
func (m *message) get(name string) (values []string) {
	for _, f := range m.fields {
		if strings.EqualFold(f[0], name) {
			values = append(values, f[1])
		}
	}
	return values
}

// own are the fields that a proxy adds to what it passes on, or whose value
// nobody could foretell.
var own = regexp.MustCompile(`(?i)^(Via|Forwarded|X-Forwarded-.*|X-Request-ID|Date|Server-Timing|Connection)$`)

// String is the message on one line, without the proxy's own fields.
func (m message) String() string {
	b := m.start
	for _, f := range m.fields {
		if !own.MatchString(f[0]) {
			b += "|" + f[0] + ": " + f[1]
		}
	}
	b += "||" + m.body
	for _, f := range m.trailers {
		b += "|" + f[0] + ": " + f[1]
	}
	return b
}

// strict judges what leaves the proxy, byte by byte, as a peer would that
// forgives nothing. It shares no code with http1. With lax it takes what a
// client may say and a proxy must not: see where it is asked.
type strict struct {
	in  string
	at  int
	lax bool
}

var errMore = errors.New("not whole")

// no is why a message is no good. It is thrown, and caught by caught.
func no(format string, args ...any) { panic(fmt.Errorf(format, args...)) }

func caught(err *error) {
	switch r := recover().(type) {
	case nil:
	case error:
		*err = r
	default:
		panic(r)
	}
}

// requests reads requests to the end of in. rest is one that is not whole.
func requests(in string, lax bool) (list []message, rest string, err error) {
	s := strict{in: in, lax: lax}
	for s.at < len(in) {
		from := s.at
		m, err := s.request()
		if err == errMore {
			return list, in[from:], nil
		}
		if err != nil {
			return list, in[from:], err
		}
		list = append(list, m)
	}
	return list, "", nil
}

// answers reads answers to these requests. closed tells that the connection
// has ended in order behind them.
func answers(in string, to []message, closed bool) (list []message, rest string, err error) {
	s := strict{in: in}
	over := false
	for s.at < len(in) {
		from := s.at
		if over {
			return list, in[from:], fmt.Errorf("bytes behind the last answer")
		}
		asked := message{method: "GET", minor: 1} // one that was no good
		if n := finals(list); n < len(to) {
			asked = to[n]
		} else if n > len(to) {
			return list, in[from:], fmt.Errorf("more answers than requests")
		}
		m, err := s.answer(&asked, closed)
		if err == errMore {
			return list, in[from:], nil
		}
		if err != nil {
			return list, in[from:], err
		}
		list = append(list, m)
		if m.status == 101 {
			return list, in[s.at:], nil
		}
		over = slices.Contains(m.get("Connection"), "close")
	}
	return list, "", nil
}

// finals counts those that are not of 1xx.
func finals(list []message) (n int) {
	for i := range list {
		if list[i].status >= 200 || list[i].status == 101 {
			n++
		}
	}
	return n
}

// line is the next line, whose only CR and LF are its end.
func (s *strict) line() string {
	n := strings.IndexByte(s.in[s.at:], '\n')
	if n < 0 {
		panic(errMore)
	}
	line := s.in[s.at : s.at+n]
	s.at += n + 1
	if !strings.HasSuffix(line, "\r") || strings.Count(line, "\r") > 1 {
		no("the line %q does not end in CRLF", line)
	}
	return line[:len(line)-1]
}

var (
	token      = "[-!#$%&'*+.^_`|~0-9A-Za-z]+"
	fieldLine  = regexp.MustCompile("^(" + token + "):[ \t]*((?:[\t\x20-\x7e]|[^\x00-\x7f])*?)[ \t]*$")
	askLine    = regexp.MustCompile("^(" + token + ") ([\x21\x22\x24-\x7e]+) HTTP/1\\.([0-9])$")
	answerLine = regexp.MustCompile("^HTTP/1\\.1 ([1-9][0-9][0-9]) (?:[\t\x20-\x7e]|[^\x00-\x7f])*$")
	hostValue  = regexp.MustCompile(`^(\[[0-9A-Fa-f:.]+\]|([-._~!$&'()*+,;=0-9A-Za-z]|%[0-9A-Fa-f]{2})*)(:[0-9]*)?$`)
	sizeLine   = regexp.MustCompile(`^[1-9a-f][0-9a-f]{0,15}$|^0$`)
	laxSize    = regexp.MustCompile(`^([0-9A-Fa-f]{1,16})(?:[ \t]*;[ \t]*` + token + `[ \t]*(?:=[ \t]*(?:` + token + `|"(?:[^"\\]|\\.)*"))?)*$`)
)

// latin makes of each byte a character, so that expressions see bytes.
func latin(b string) string {
	runes := make([]rune, len(b))
	for i := range len(b) {
		runes[i] = rune(b[i])
	}
	return string(runes)
}

func (s *strict) fieldLines() (fields [][2]string) {
	for {
		line := s.line()
		if line == "" {
			return fields
		}
		parts := fieldLine.FindStringSubmatch(latin(line))
		if parts == nil {
			no("%q is no field line", line)
		}
		if fields = append(fields, [2]string{parts[1], parts[2]}); len(fields) > 200 {
			no("%d fields", len(fields))
		}
	}
}

// onlyOnce are fields that no message may have twice.
var onlyOnce = []string{"Host", "Content-Length", "Transfer-Encoding", "Connection", "X-Request-ID", "X-Forwarded-For", "X-Forwarded-Host",
	"X-Forwarded-Proto", "Forwarded", "Expect", "Upgrade", "TE"}

// ends are fields that end at a proxy.
var ends = []string{"Keep-Alive", "Proxy-Connection", "Proxy-Authenticate", "Proxy-Authorization"}

// framed reads the body that the head speaks of, and its trailers.
func (s *strict) framed(m *message) {
	length, coding := m.get("Content-Length"), m.get("Transfer-Encoding")
	switch {
	case len(length) > 0 && len(coding) > 0:
		no("Content-Length beside Transfer-Encoding")
	case len(coding) > 0:
		said := strings.Join(coding, ",")
		if s.lax {
			said = strings.ToLower(strings.Join(strings.FieldsFunc(said, func(c rune) bool { return strings.ContainsRune(", \t", c) }), " "))
		}
		if said != "chunked" || m.minor == 0 {
			no("Transfer-Encoding %q in 1.%d", coding, m.minor)
		}
		m.framing = "chunked"
	case len(length) > 0:
		n, err := strconv.ParseUint(length[0], 10, 63)
		if err != nil || length[0][0] == '+' {
			no("Content-Length %q", length[0])
		}
		m.framing = "sized"
		m.body = s.take(n)
	default:
		m.framing = "none"
	}
	if m.framing == "chunked" {
		s.chunks(m)
	}
}

func (s *strict) take(n uint64) string {
	if uint64(len(s.in)-s.at) < n {
		panic(errMore)
	}
	s.at += int(n)
	return s.in[s.at-int(n) : s.at]
}

func (s *strict) chunks(m *message) {
	for {
		line := s.line()
		digits := line
		if s.lax {
			parts := laxSize.FindStringSubmatch(latin(line))
			if parts == nil {
				no("%q is no chunk's line", line)
			}
			digits = parts[1]
		} else if !sizeLine.MatchString(line) {
			no("%q is no chunk's size", line)
		}
		n, err := strconv.ParseUint(digits, 16, 63)
		if err != nil {
			no("chunk size %q", digits)
		}
		if n == 0 {
			break
		}
		m.body += s.take(n)
		if s.take(2) != "\r\n" {
			no("a chunk that does not end in CRLF")
		}
	}
	m.trailers = s.fieldLines()
	for _, f := range m.trailers {
		for _, bad := range []string{"Host", "Content-Length", "Transfer-Encoding", "Connection", "Expect", "TE", "Upgrade", "Content-Encoding", "Trailer"} {
			if strings.EqualFold(f[0], bad) {
				no("%s among trailers", f[0])
			}
		}
	}
}

// once looks for fields that stand there too often, or not at all should.
func (s *strict) once(m *message, unwanted ...string) {
	for _, name := range onlyOnce {
		if v := m.get(name); len(v) > 1 && (!s.lax || name == "Host" || name == "Content-Length") {
			no("%s %d times: %q", name, len(v), v)
		}
	}
	for _, name := range unwanted {
		if v := m.get(name); len(v) > 0 {
			no("%s: %q", name, v)
		}
	}
}

func (s *strict) request() (m message, err error) {
	defer caught(&err)
	for s.lax && strings.HasPrefix(s.in[s.at:], "\r\n") {
		s.at += 2
	}
	if s.at == len(s.in) {
		return m, errMore
	}
	m.start = s.line()
	parts := askLine.FindStringSubmatch(latin(m.start))
	if parts == nil {
		no("%q is no request line", m.start)
	}
	from := s.at - len(m.start) - 2
	m.method = parts[1]
	m.minor = min(int(parts[3][0]-'0'), 1)
	m.fields = s.fieldLines()
	m.head = s.in[from:s.at]
	host := m.get("Host")
	if len(host) != 1 && !(s.lax && m.minor == 0 && len(host) == 0) || len(host) == 1 && !hostValue.MatchString(host[0]) {
		no("Host %q", host)
	}
	if s.lax {
		s.once(&m)
		s.framed(&m)
		return m, nil
	}
	if parts[3] != "1" {
		no("version 1.%s", parts[3])
	}
	if parts[2][0] != '/' && (parts[2] != "*" || m.method != "OPTIONS") {
		no("target %q", parts[2])
	}
	s.once(&m, ends...)
	if ids := m.get("X-Request-ID"); len(ids) != 1 {
		no("X-Request-ID %q", ids)
	}
	upgrade, te, expect := m.get("Upgrade"), m.get("TE"), m.get("Expect")
	switch connection := strings.Join(m.get("Connection"), ""); {
	case len(upgrade) > 0 && connection != "Upgrade", len(te) > 0 && (connection != "TE" || te[0] != "trailers"),
		len(upgrade)+len(te) == 0 && connection != "":
		no("Connection %q, Upgrade %q, TE %q", connection, upgrade, te)
	}
	s.framed(&m)
	if len(expect) > 0 && (expect[0] != "100-continue" || m.framing == "none") {
		no("Expect %q", expect)
	}
	return m, nil
}

func (s *strict) answer(to *message, closed bool) (m message, err error) {
	defer caught(&err)
	from := s.at
	m.start, m.minor = s.line(), 1
	parts := answerLine.FindStringSubmatch(latin(m.start))
	if parts == nil {
		no("%q is no status line", m.start)
	}
	m.status, _ = strconv.Atoi(parts[1])
	m.fields = s.fieldLines()
	m.head = s.in[from:s.at]
	s.once(&m, ends...)
	s.once(&m, "TE", "Expect", "Host")
	m.framing = "none"
	connection := strings.Join(m.get("Connection"), "")
	if m.status < 200 || m.status == 204 || m.status == 304 {
		s.once(&m, "Content-Length", "Transfer-Encoding")
	}
	if m.status < 200 && to.minor == 0 {
		no("%d for HTTP/1.0", m.status)
	}
	if m.status == 101 {
		if connection != "Upgrade" || len(m.get("Upgrade")) != 1 {
			no("101 with Connection %q, Upgrade %q", connection, m.get("Upgrade"))
		}
		return m, nil
	}
	s.once(&m, "Upgrade")
	if m.status < 200 {
		s.once(&m, "Connection")
		return m, nil
	}
	if connection != "close" && connection != "keep-alive" {
		no("Connection %q", connection)
	}
	if len(m.get("Date")) == 0 {
		no("no Date")
	}
	if to.minor == 0 {
		s.once(&m, "Transfer-Encoding")
	}
	switch {
	case m.status == 204 || m.status == 304:
	case to.method == "HEAD":
		if len(m.get("Content-Length")) > 0 && len(m.get("Transfer-Encoding")) > 0 {
			no("Content-Length beside Transfer-Encoding")
		}
	case len(m.get("Content-Length"))+len(m.get("Transfer-Encoding")) == 0:
		if connection != "close" {
			no("a body without an end")
		}
		if !closed {
			panic(errMore)
		}
		m.framing, m.body, s.at = "close", s.in[s.at:], len(s.in)
	default:
		s.framed(&m)
	}
	return m, nil
}
