package http1

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"
)

// Every busy connection has a Request.
func TestSizes(t *testing.T) {
	if size := unsafe.Sizeof(Request{}); size > 1024 {
		t.Errorf("a Request has %d bytes", size)
	}
	if size := unsafe.Sizeof(Body{}); size > 96 {
		t.Errorf("a Body has %d bytes", size)
	}
}

func TestFaults(t *testing.T) {
	texts := map[string]bool{}
	for f := range faults {
		if f.Error() == "" || texts[f.Error()] || f != 0 && (f.Status() < 400 || StatusText(f.Status()) == "") {
			t.Errorf("fault %d: %d %q", f, f.Status(), f.Error())
		}
		texts[f.Error()] = true
	}
	if f := Fault(255); f.Status() != 400 || f.Error() == "" {
		t.Error("an unknown fault")
	}
}

func TestKnown(t *testing.T) {
	if knownFields > 64 {
		t.Fatal("more known fields than bits in head.seen")
	}
	for k := Host; k < knownFields; k++ {
		name := k.String()
		for _, s := range []string{name, strings.ToLower(name), strings.ToUpper(name)} {
			if got := KnownField(s); got != k {
				t.Errorf("%s is %v", s, got)
			}
		}
		for i := range name { // with one byte another, longer, shorter
			for c := range 256 {
				changed := name[:i] + string([]byte{byte(c)}) + name[i+1:]
				if got := KnownField(changed); got != Other && !strings.EqualFold(changed, got.String()) {
					t.Errorf("%q is %v", changed, got)
				}
			}
			if got := KnownField(name[:i]); got != Other && got.String() != name[:i] {
				t.Errorf("%q is %v", name[:i], got)
			}
		}
		if KnownField(name+"x") != Other || KnownField("x"+name) != Other {
			t.Errorf("%s and x", name)
		}
	}
	if Other.String() != "" || Known(255).String() != "" {
		t.Error("a name for Other")
	}
}

func TestByteScans(t *testing.T) {
	for size := range 20 {
		for i := range size {
			for c := range 256 {
				b := bytes.Repeat([]byte{'a'}, size)
				b[i] = byte(c)
				if i > 0 { // an end after this byte must not hide it
					b[size-1] = max(b[size-1], '!')
				}
				check := func(what string, got int, bit uint8) {
					want := 0
					for want < size && class[b[want]]&bit != 0 {
						want++
					}
					if got != want {
						t.Fatalf("%s of %q: %d, want %d", what, b, got, want)
					}
				}
				check("value", valueEnd(b, 0), inValue)
				check("target", targetEnd(b, 0), inTarget)
			}
		}
	}
	random := rand.New(rand.NewPCG(1, 1))
	for range 20000 { // neighbours that borrow from each other
		b := make([]byte, 24)
		for i := range b {
			b[i] = " \t!\x1f\x7e\x7f\x80\xff#\"$\x00\x01"[random.IntN(13)]
			if random.IntN(4) > 0 {
				b[i] = 'a'
			}
		}
		value, target := 0, 0
		for value < len(b) && class[b[value]]&inValue != 0 {
			value++
		}
		for target < len(b) && class[b[target]]&inTarget != 0 {
			target++
		}
		if valueEnd(b, 0) != value || targetEnd(b, 0) != target {
			t.Fatalf("%q: %d, %d", b, valueEnd(b, 0), targetEnd(b, 0))
		}
	}
}

func TestIPv6(t *testing.T) {
	check := func(s string) {
		a, err := netip.ParseAddr(s)
		if want := err == nil && a.Is6(); isIPv6([]byte(s)) != want {
			t.Fatalf("%q: %v", s, !want)
		}
	}
	for _, s := range strings.Fields(`:: ::1 1:: 1::2 1:2:3:4:5:6:7:8 1:2:3:4:5:6:7:: ::2:3:4:5:6:7:8 1:2:3:4:5:6:7:8:9 1:2:3:4:5:6:7 1:2:3:4:5:6::8
		::ffff:1.2.3.4 1:2:3:4:5:6:1.2.3.4 1:2:3:4:5:6:7:1.2.3.4 1:2:3:4:5::1.2.3.4 1::2:3:4:5:6:1.2.3.4 ::1.2.3 ::1.2.3.4.5 ::1.2.3.256 ::01.2.3.4 ::1.2.3.
		12345:: ::g : ::: 1:::2 1::2::3 1: :1 1:2:3:4:5:6:7:8: 1.2.3.4 :1.2.3.4 ::1.2.3.4: fe80::1 0000::00 ::abcd:EF01`) {
		check(s)
	}
	check("")
	random := rand.New(rand.NewPCG(2, 2))
	for range 300_000 {
		b := make([]byte, random.IntN(24))
		for i := range b {
			b[i] = "::::::12f0..2"[random.IntN(13)]
		}
		check(string(b))
	}
}

func TestSplitAuthority(t *testing.T) {
	for in, want := range map[string]string{
		"": "||true", "a": "a||true", "a:": "a||true", "a:80": "a|80|true", "[::1]": "[::1]||true", "[::1]:80": "[::1]|80|true",
		":80": "|80|true", "1.2.3.4:5": "1.2.3.4|5|true",
	} {
		host, port, ok := SplitAuthority([]byte(in))
		if got := fmt.Sprintf("%s|%s|%v", host, port, ok); got != want {
			t.Errorf("%q: %s", in, got)
		}
	}
}

// A head that comes byte by byte costs each byte once: the reader has always
// scanned all that there is, and does not look there again, but once for each
// element at its end, and there only at bytes that this test leaves alone.
func TestLinear(t *testing.T) {
	long := strings.Repeat("v", 8000)
	fields := "Host: a\r\n" + long + ": " + long + "\r\nX: \t \t " + long + "\r\n\r\n"
	check := func(text string, scanned *uint16, next func(in []byte) (n int, fault Fault)) {
		t.Helper()
		in := []byte(text)
		line := 0
		for n := 1; n < len(in); n++ {
			if got, fault := next(in[:n:n]); got != 0 || fault != 0 {
				t.Fatalf("%d bytes of %.20q: %d, %v", n, text, got, fault)
			}
			if int(*scanned) != n {
				t.Fatalf("%d of %d bytes of %.20q are scanned", *scanned, n, text)
			}
			switch c := in[n-1]; {
			case c == '\n':
				clear(in[:n])
				line = n
			case c == 'v' && n-line > len("GET /v"):
				in[n-1] = 0 // a fault wherever it is seen
			}
		}
		if n, fault := next(in); n != len(in) || fault != 0 {
			t.Fatalf("%.20q: %d, %v", text, n, fault)
		}
	}
	var request Request
	check("GET /"+long+" HTTP/1.1\r\n"+fields, &request.lines.pos, request.Parse)
	var answer Response
	check("HTTP/1.1 200 "+long+"\r\n"+fields, &answer.lines.pos, answer.Parse)
	var body Body
	body.Reset(Chunked, 0)
	body.Next([]byte("0\r\n"))
	check(strings.Replace(fields, "Host", "hosT2", 1), &body.lines.pos, func(in []byte) (int, Fault) {
		_, n, done, fault := body.Next(in)
		if done != (n > 0) {
			t.Fatal(n, done)
		}
		return n, fault
	})
}

func TestFieldsAndViews(t *testing.T) {
	in := []byte("GET / HTTP/1.1\r\nHost: a\r\nVary: a, b\r\nX-Mine:  1 \r\nvary:,c ,\r\nx-mine: 2\r\n" + strings.Repeat("N", 300) + ": long \r\n\r\nrest")
	var r Request
	if n, fault := r.Parse(in); n != len(in)-4 || fault != 0 {
		t.Fatal(n, fault)
	}
	if v, ok := r.Find("X-MINE"); string(v) != "1" || !ok {
		t.Errorf("X-MINE: %q", v)
	}
	if v, ok := r.Find("host"); string(v) != "a" || !ok {
		t.Errorf("host: %q", v)
	}
	if r.Query() != nil {
		t.Error("a query that is not there")
	}
	if v, ok := r.Find("X-Other"); v != nil || ok || r.Has(Via) || r.Get(Via) != nil {
		t.Error("a field that is not there")
	}
	if v, ok := r.Find(strings.Repeat("n", 300)); string(v) != "long" || !ok {
		t.Errorf("a long name: %q", v)
	}
	if r.Has(Other) || r.Get(Other) != nil {
		t.Error("a field of no name")
	}
	var elements []string
	for e := range r.Elements(Vary) {
		elements = append(elements, string(e))
	}
	if !slices.Equal(elements, []string{"a", "b", "c"}) {
		t.Errorf("Vary: %q", elements)
	}
	for e := range r.Elements(Vary) {
		if string(e) != "a" {
			t.Error("goes on after a break")
		}
		break
	}
	var lines []byte
	for _, f := range r.Fields() {
		lines = append(lines, r.Line(f)...)
	}
	if want := in[len("GET / HTTP/1.1\r\n") : len(in)-len("\r\nrest")]; !bytes.Equal(lines, want) {
		t.Errorf("lines %q", lines)
	}
	if want := in[:len(in)-4]; !bytes.Equal(r.Head(), want) {
		t.Errorf("head %q", r.Head())
	}
	r.Reset()
	if n, _ := r.Parse([]byte("\r\nGET /b HTTP/1.0\r\n\r\n")); n == 0 || len(r.Fields()) != 0 || r.Has(Host) || string(r.Head()) != "GET /b HTTP/1.0\r\n\r\n" {
		t.Error("after Reset")
	}
}

// A fault stays, and so does a result.
func TestOutcomeStays(t *testing.T) {
	var r Request
	for range 2 {
		if n, fault := r.Parse([]byte("GET /\x00")); n != 0 || fault != BadTarget {
			t.Fatal(n, fault)
		}
	}
	var b Body
	b.Reset(Chunked, 0)
	for range 2 {
		if _, _, done, fault := b.Next([]byte("x")); done || fault != BadChunkSize {
			t.Fatal(done, fault)
		}
	}
	if b.EOF() {
		t.Error("a body at fault has ended")
	}
}

func TestBarredTrailers(t *testing.T) {
	barred := []Known{ContentLength, TransferEncoding, Host, ContentEncoding, Connection, Upgrade, Expect, TE, Trailer}
	for k := Host; k < knownFields; k++ {
		var b Body
		b.Reset(Chunked, 0)
		_, _, done, fault := b.Next([]byte("0\r\n" + k.String() + ": x\r\n\r\n"))
		if slices.Contains(barred, k) != (fault == FramingInTrailer) || done != (fault == 0) {
			t.Errorf("%v: %v, %v", k, done, fault)
		}
	}
}

func TestStatusText(t *testing.T) {
	renamed := map[int]string{ // RFC 9110, 15.5; net/http has the old names
		413: "Content Too Large", 414: "URI Too Long", 416: "Range Not Satisfiable", 422: "Unprocessable Content",
		306: "", 418: "", 510: "", // unused, a joke, obsolete
	}
	for code := -1; code < 1100; code++ {
		want := http.StatusText(code)
		if name, ok := renamed[code]; ok {
			want = name
		}
		if got := StatusText(code); got != want {
			t.Errorf("%d: %q, want %q", code, got, want)
		}
	}
}

func TestAppendDate(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	for _, unix := range []int64{0, -1, 951782400, 1718093551, -62167219200, 253402300799, random.Int64N(1 << 37)} {
		want := time.Unix(unix, 0).UTC().Format(http.TimeFormat)
		if got := AppendDate([]byte("x"), unix); string(got) != "x"+want {
			t.Errorf("%d: %s, want %s", unix, got, want)
		}
		if when, err := http.ParseTime(want); err != nil || when.Unix() != unix {
			t.Errorf("%d reads as %v, %v", unix, when, err)
		}
	}
	for _, unix := range []int64{-1 << 63, 1<<63 - 1} {
		if got := AppendDate(nil, unix); len(got) != 29 {
			t.Errorf("%d: %s", unix, got)
		}
	}
}

func TestIsToken(t *testing.T) {
	const marks = "!#$%&'*+-.^_`|~"
	for c := range 256 {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9'
		want := letter || c < 0x80 && strings.ContainsRune(marks, rune(c))
		for _, s := range []string{string([]byte{byte(c)}), string([]byte{'a', byte(c), 'b'})} {
			if IsToken(s) != want || IsToken([]byte(s)) != want {
				t.Errorf("%q: %v", s, IsToken(s))
			}
		}
	}
	if IsToken("") || IsToken([]byte{}) {
		t.Error("nothing is a token")
	}
}
