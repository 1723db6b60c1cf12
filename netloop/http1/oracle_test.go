package http1

import (
	"bytes"
	"fmt"
	"math/big"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The oracle reads whole heads the simple way: strings and expressions, no
// byte twice looked at with care. It says yes or no, and what a head means.

// latin1 makes a character of each byte, for expressions over bytes.
func latin1(b []byte) string {
	var s strings.Builder
	for _, c := range b {
		s.WriteRune(rune(c))
	}
	return s.String()
}

func bytesOf(latin1 string) string {
	var b []byte
	for _, c := range latin1 {
		b = append(b, byte(c))
	}
	return string(b)
}

const token = "[0-9A-Za-z!#$%&'*+\\-.^_`|~]+"

var (
	requestLineForm = regexp.MustCompile(`^(` + token + `) ([!"$-~]{1,}) HTTP/1\.([0-9])$`)
	statusLineForm  = regexp.MustCompile(`^HTTP/1\.([0-9]) ([1-9][0-9][0-9])(?: ([\t -~\x{80}-\x{ff}]*))?$`)
	fieldForm       = regexp.MustCompile(`^(` + token + `):[ \t]*([\t -~\x{80}-\x{ff}]*?)[ \t]*$`)
	absoluteForm    = regexp.MustCompile(`^(?i:https?)://([^/?]+)([^?]*)(\?.*)?$`)
	hostForm        = regexp.MustCompile(`^(?:\[([0-9A-Fa-f:.]*)\]|(?:[0-9A-Za-z\-._~!$&'()*+,;=]|%[0-9A-Fa-f]{2})*)(:[0-9]*)?$`)
)

func oracleHost(s string) bool {
	m := hostForm.FindStringSubmatch(s)
	if m == nil || len(s) > 255 {
		return false
	}
	if s != "" && s[0] == '[' {
		a, err := netip.ParseAddr(m[1])
		return err == nil && a.Is6()
	}
	return true
}

// oracleList is a list's elements.
func oracleList(values []string) (list []string) {
	for _, element := range strings.Split(strings.Join(values, ","), ",") {
		if element = strings.Trim(element, " \t"); element != "" {
			list = append(list, element)
		}
	}
	return list
}

// oracleHead splits a head into its start line and the values by small name.
func oracleHead(s string) (startLine string, values map[string][]string, description []string, ok bool) {
	end := strings.Index(s, "\r\n\r\n")
	if end < 0 {
		return
	}
	lines := strings.Split(s[:end], "\r\n")
	if len(lines)-1 > MaxFields {
		return
	}
	values = map[string][]string{}
	for _, line := range lines[1:] {
		m := fieldForm.FindStringSubmatch(line)
		if m == nil {
			return
		}
		name := strings.ToLower(m[1])
		values[name] = append(values[name], m[2])
		description = append(description, fmt.Sprintf("field %s: %s", m[1], bytesOf(m[2])))
	}
	return lines[0], values, description, true
}

// oracleBody judges what concerns framing and connection, and describes it.
func oracleBody(values map[string][]string, minor int) (length int64, chunked bool, description []string, ok bool) {
	length = -1
	codings, hasCodings := values["transfer-encoding"]
	if lengths, ok := values["content-length"]; ok {
		if len(lengths) > 1 || !regexp.MustCompile(`^[0-9]+$`).MatchString(lengths[0]) || hasCodings {
			return 0, false, nil, false
		}
		n, _ := new(big.Int).SetString(lengths[0], 10)
		if length = 1<<63 - 1; n.IsInt64() {
			length = n.Int64()
		}
	}
	if hasCodings {
		list := oracleList(codings)
		if minor == 0 || len(list) != 1 || !strings.EqualFold(list[0], "chunked") {
			return 0, false, nil, false
		}
		chunked = true
	}
	var options []string
	for _, option := range oracleList(values["connection"]) {
		options = append(options, strings.ToLower(option))
	}
	has := func(option string) bool { return slices.Contains(options, option) }
	_, upgrade := values["upgrade"]
	return length, chunked, []string{
		fmt.Sprint("minor ", minor),
		fmt.Sprint("length ", length),
		fmt.Sprint("chunked ", chunked),
		fmt.Sprint("keep-alive ", !has("close") && (minor > 0 || has("keep-alive"))),
		fmt.Sprint("upgrade ", minor > 0 && upgrade && has("upgrade")),
	}, true
}

func oracleFraming(length int64, chunked bool, otherwise Framing) (Framing, int64) {
	switch {
	case chunked:
		return Chunked, 0
	case length > 0:
		return Sized, length
	case length == 0:
		return None, 0
	}
	return otherwise, 0
}

// oracleRequest describes a request as describeRequest does, if it is whole
// and right.
func oracleRequest(in []byte) (description []string, ok bool) {
	s := latin1(in)
	for strings.HasPrefix(s, "\r\n") {
		s = s[2:]
	}
	before := len(in) - len([]rune(s))
	if bytes.Index(in[before:], []byte("\r\n\r\n"))+before+4 > MaxHead {
		return nil, false
	}
	line, values, fields, ok := oracleHead(s)
	m := requestLineForm.FindStringSubmatch(line)
	if !ok || m == nil {
		return nil, false
	}
	method, target, minor := m[1], m[2], min(int(m[3][0]-'0'), 1)
	form, path, query, authority := "origin", target, "no query", ""
	if len(method) > MaxMethod || len(target) > MaxTarget {
		return nil, false
	}
	hosts, hasHost := values["host"]
	if hasHost && (len(hosts) > 1 || !oracleHost(hosts[0])) || !hasHost && minor > 0 {
		return nil, false
	}
	if hasHost {
		authority = hosts[0]
	}
	absolute := absoluteForm.FindStringSubmatch(target)
	switch {
	case method == "CONNECT":
		form, path, authority = "authority", "", target
		colon := strings.LastIndexByte(target, ':')
		if !oracleHost(target) || colon < 1 || colon == len(target)-1 || strings.HasSuffix(target, "]") {
			return nil, false
		}
	case target[0] == '/':
	case target == "*" && method == "OPTIONS":
		form = "asterisk"
	case absolute != nil:
		form, authority, path = "absolute", absolute[1], absolute[2]+absolute[3]
		if !oracleHost(authority) || authority[0] == ':' {
			return nil, false
		}
	default:
		return nil, false
	}
	if form == "origin" || form == "absolute" {
		before, after, has := strings.Cut(path, "?")
		if path = before; has {
			query = "query " + after
		}
		if path == "" {
			path = "/"
			if !has && method == "OPTIONS" {
				path = "*"
			}
		}
	}
	length, chunked, rest, ok := oracleBody(values, minor)
	if !ok {
		return nil, false
	}
	expectations := oracleList(values["expect"])
	for _, e := range expectations {
		if !strings.EqualFold(e, "100-continue") {
			return nil, false
		}
	}
	kind, size := oracleFraming(length, chunked, None)
	description = []string{
		"method " + method,
		"target " + target,
		"form " + form,
		"path " + path,
		query,
		"authority " + authority,
		fmt.Sprint("continue ", len(expectations) > 0 && minor > 0 && kind != None),
		describeFraming(kind, size),
	}
	return append(append(description, fields...), rest...), true
}

// oracleResponse describes an answer to method as describeResponse does.
func oracleResponse(in []byte, method string) (description []string, ok bool) {
	if bytes.Index(in, []byte("\r\n\r\n"))+4 > MaxHead {
		return nil, false
	}
	line, values, fields, ok := oracleHead(latin1(in))
	m := statusLineForm.FindStringSubmatch(line)
	if !ok || m == nil {
		return nil, false
	}
	length, chunked, rest, ok := oracleBody(values, min(int(m[1][0]-'0'), 1))
	if !ok {
		return nil, false
	}
	kind, size := oracleFraming(length, chunked, UntilClose)
	if method == "HEAD" || m[2] < "200" || m[2] == "204" || m[2] == "304" || method == "CONNECT" && m[2] < "300" {
		kind, size = None, 0
	}
	description = []string{"status " + m[2], "reason " + bytesOf(m[3]), describeFraming(kind, size)}
	return append(append(description, fields...), rest...), true
}

// againstOracle holds a request that was fed with in against the oracle.
func againstOracle(t testing.TB, in []byte, r *Request) {
	t.Helper()
	want, ok := oracleRequest(in)
	if taken := r.end > 0; taken != ok {
		t.Fatalf("%.300q: taken %v (%v), by the oracle %v", in, taken, r.fault, ok)
	}
	if ok && !slices.Equal(describeRequest(r), want) {
		t.Fatalf("%.300q:\nhave %q\nwant %q", in, describeRequest(r), want)
	}
}

var (
	quotedString  = `"(?:[\t !#-\[\]-~\x{80}-\x{ff}]|\\[\t -~\x{80}-\x{ff}])*"`
	chunkLineForm = regexp.MustCompile(`^([0-9A-Fa-f]{1,16})((?:[ \t]*;[ \t]*` + token + `(?:[ \t]*=[ \t]*(?:` + token + `|` + quotedString + `))?)*)$`)
)

// oracleChunked decodes a whole chunked body: its data, its trailers, what
// follows, and whether it is right.
func oracleChunked(in []byte) (data []byte, trailers []string, rest []byte, ok bool) {
	extensions := 0
	for {
		end := bytes.Index(in, []byte("\r\n"))
		if end < 0 || end+2 > MaxChunkLine {
			return
		}
		m := chunkLineForm.FindStringSubmatch(latin1(in[:end]))
		if m == nil {
			return
		}
		in = in[end+2:]
		extensions += len([]rune(m[2]))
		size, _ := new(big.Int).SetString(m[1], 16)
		if extensions > freeExtensions+len(data) {
			return
		}
		if size.Sign() == 0 {
			break
		}
		if size.Cmp(big.NewInt(int64(len(in)-2))) > 0 {
			return
		}
		n := int(size.Int64())
		data = append(data, in[:n]...)
		if string(in[n:n+2]) != "\r\n" {
			return
		}
		in = in[n+2:]
	}
	if bytes.HasPrefix(in, []byte("\r\n")) {
		return data, nil, in[2:], true
	}
	section := latin1(append([]byte("x\r\n"), in...))
	end := bytes.Index(in, []byte("\r\n\r\n"))
	if end < 0 || end+4 > MaxHead {
		return
	}
	_, values, fields, ok := oracleHead(section)
	for _, name := range []string{"content-length", "transfer-encoding", "host", "connection", "upgrade", "trailer", "te", "expect", "content-encoding"} {
		if _, has := values[name]; has {
			return nil, nil, nil, false
		}
	}
	return data, fields, in[end+4:], ok
}
