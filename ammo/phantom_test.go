package ammo

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// readAll reads records to the end and copies them.
func readAll(p *PhantomReader) (records []Record, err error) {
	for {
		r, err := p.Next()
		if err != nil {
			return records, err
		}
		r, _ = r.AppendTo(nil)
		records = append(records, r)
	}
}

func TestPhantomReader(t *testing.T) {
	f := func(text string, want ...string) { // want: tag|bytes
		t.Helper()
		for name, in := range map[string]io.Reader{
			"whole": strings.NewReader(text), "byte by byte": iotest.OneByteReader(strings.NewReader(text)),
		} {
			records, err := readAll(NewPhantomReader(in, "f", 0))
			if err != io.EOF {
				t.Errorf("%q, %s: %v", text, name, err)
			}
			var got []string
			for i, r := range records {
				got = append(got, fmt.Sprintf("%s|%s", r.Tag, r.Bytes))
				if r.Number != i+1 {
					t.Errorf("%q: record %d says it is number %d", text, i+1, r.Number)
				}
			}
			if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
				t.Errorf("%q, %s: got %q, want %q", text, name, got, want)
			}
		}
	}
	f("")
	f("\n\n \n")
	f("3\nabc", "|abc")
	f("3 tag\nabc3\nxyz", "tag|abc", "|xyz")
	f("3 GET:/users/<entity_id>\nabc\n\n\r\n3 a/b|c#1;d=\"$e\" \nxyz\n", "GET:/users/<entity_id>|abc", `a/b|c#1;d="$e"|xyz`)
	f("3 first second\nabc3 first second third\r\nxyz", "first|abc", "first|xyz") // Tank's tag is the second field
	f(" \t3 \t tag\t\t\tnote\nabc\n", "tag|abc")
	f("3\ttag\r\nabc\n3\r\nabc\n3 \t\nabc", "tag|abc", "|abc", "|abc")
	f("3 a\rb\nabc3\va\fb\nabc", "a|abc", "a|abc")                                                  // all of ASCII's white space
	f("3 \u00a0a\u2003b\u0085 x\nabc3 \xa0\x85 x\nabc", "\u00a0a\u2003b\u0085|abc", "\xa0\x85|abc") // and no other: it may be part of a letter
	f("5 a\nx\n\ny\n1 b\nz", "a|x\n\ny\n", "b|z")                                                   // line ends inside are the request's
	f("1 a\nx\n0\n1 b\ny", "a|x")                                                                   // 0 ends
	f("1 a\nx\n0 the end\nrubbish", "a|x")
	f("1 a\nx0", "a|x")     // also without a line end behind it
	f("1 a\nx0 end", "a|x") // and with a tag
	f("007 a\n7 bytes", "a|7 bytes")
	f("2 тег:/\n\x00\xff", "тег:/|\x00\xff")
}

func TestPhantomErrors(t *testing.T) {
	f := func(text string, record int, offset int64, want, got string) {
		t.Helper()
		records, err := readAll(NewPhantomReader(strings.NewReader(text), "dir/x.ammo", 1000))
		var bad *SyntaxError
		if !errors.As(err, &bad) {
			t.Errorf("%.40q: got %d records and %v", text, len(records), err)
			return
		}
		if bad.File != "dir/x.ammo" || bad.Record != record || bad.Offset != offset ||
			!strings.Contains(bad.Want, want) || !strings.Contains(bad.Got, got) {
			t.Errorf("%.40q: %v; want record %d, byte %d, %q, %q", text, bad, record, offset, want, got)
		}
	}
	f("x\n", 1, 0, "size line", `"x"`)
	f("3 a\nabcGET / HTTP/1.1\r\n\r\n", 2, 7, "size line", "GET / HTTP/1.1")
	f("-3 a\nabc", 1, 0, "size line", "-3")
	f("+3 a\nabc", 1, 0, "size line", "+3")
	f("3a\nabc", 1, 0, "size line", "3a")
	f("\n\n3 a\nab", 1, 8, "3 bytes", "after 2")
	f("1 a\nx\n5 b\n", 2, 10, "5 bytes", "after 0")
	f("1001 a\n", 1, 0, "at most 1000", "1001")
	f("99999999999999999999999 a\n", 1, 0, "at most 1000", "9999")
	f("5 a", 1, 0, "ends in a newline", "5 a")
	f("tag 5\nhello", 1, 0, "size line", `"tag 5"`)
	f("1\nx1 b\n", 2, 7, "1 bytes", "after 0")
	f(strings.Repeat("9", 5000), 1, 0, "at most 4096", "999")
	f(strings.Repeat("9", 100000)+"\n", 1, 0, "at most", "999")
}

func TestPhantomErrorStays(t *testing.T) {
	p := NewPhantomReader(strings.NewReader("x\n1 a\nb"), "f", 0)
	_, first := p.Next()
	_, second := p.Next()
	if first == nil || first != second {
		t.Errorf("first %v, then %v: want the same again", first, second)
	}
	p.Reset(strings.NewReader("1 a\nb"))
	if r, err := p.Next(); err != nil || string(r.Bytes) != "b" || r.Number != 1 || r.Offset != 0 {
		t.Errorf("after Reset: %v, %v", r, err)
	}

	broken := errors.New("disk on fire")
	p = NewPhantomReader(io.MultiReader(strings.NewReader("9 a\nb"), iotest.ErrReader(broken)), "f", 0)
	if _, err := p.Next(); !errors.Is(err, broken) {
		t.Errorf("got %v, want the reader's own error wrapped", err)
	}
}

// A size that lies must not cost its memory before the bytes are there.
func TestPhantomMemory(t *testing.T) {
	p := NewPhantomReader(strings.NewReader("900000000 a\nshort"), "f", 1<<30)
	if _, err := p.Next(); err == nil {
		t.Fatal("no error for a cut record")
	}
	if cap(p.buf) > 1<<20 {
		t.Errorf("a cut record of 5 bytes cost a buffer of %d", cap(p.buf))
	}
}

func TestPhantomReuse(t *testing.T) {
	var file bytes.Buffer
	w := NewPhantomWriter(&file)
	for range 1000 {
		if err := w.Write("tag", bytes.Repeat([]byte("x"), 300)); err != nil {
			t.Fatal(err)
		}
	}
	w.Flush()
	in := bytes.NewReader(file.Bytes())
	p := NewPhantomReader(in, "f", 0)
	readAll(p)
	allocs := testing.AllocsPerRun(3, func() {
		in.Seek(0, io.SeekStart)
		p.Reset(in)
		for {
			if _, err := p.Next(); err != nil {
				return
			}
		}
	})
	if allocs > 0 {
		t.Errorf("reading 1,000 records with warm buffers allocates %v times", allocs)
	}
}

func TestPhantomWriterRefuses(t *testing.T) {
	w := NewPhantomWriter(io.Discard)
	for _, tag := range []string{"a\nb", "a\r", " a", "a ", "a b", "a\tb", "\v", "a\fb", " ", strings.Repeat("x", 5000)} {
		if w.Write(tag, []byte("x")) == nil {
			t.Errorf("tag %.20q was taken", tag)
		}
	}
	if w.Write("a", nil) == nil {
		t.Error("an empty request was taken")
	}
}

// FuzzPhantom reads anything; what comes out must survive being written and
// read again.
func FuzzPhantom(f *testing.F) {
	for _, seed := range []string{"", "3 a\nabc", "3\nabc\n\n2 b <c>\nxy0\n", "9 a\nx", "x", "1 a\n\n1 b\n\n", "0", "5000000 a\n", "3\t a \r\nabc", "1 a b c\nx", "1 a:/<$>\u00a0\nx0 end"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		records, err := readAll(NewPhantomReader(bytes.NewReader(file), "f", 1<<20))
		var bad *SyntaxError
		if err != io.EOF && !errors.As(err, &bad) {
			t.Fatalf("error %v", err)
		}
		var again bytes.Buffer
		w := NewPhantomWriter(&again)
		for _, r := range records {
			if err := w.Write(string(r.Tag), r.Bytes); err != nil {
				if len(r.Tag) > 4000 {
					return // longer than we would write ourselves
				}
				t.Fatal(err)
			}
		}
		w.Flush()
		second, err := readAll(NewPhantomReader(&again, "f", 0))
		if err != io.EOF || len(second) != len(records) {
			t.Fatalf("wrote %d records, read %d: %v", len(records), len(second), err)
		}
		for i := range records {
			if !bytes.Equal(records[i].Bytes, second[i].Bytes) || !bytes.Equal(records[i].Tag, second[i].Tag) {
				t.Fatalf("record %d: %q %q became %q %q", i, records[i].Tag, records[i].Bytes, second[i].Tag, second[i].Bytes)
			}
		}
	})
}
