package ammo

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
)

// zip packs each text as a gzip member of its own.
func zip(t testing.TB, level int, texts ...string) string {
	t.Helper()
	var out strings.Builder
	for _, text := range texts {
		w, err := gzip.NewWriterLevel(&out, level) // the standard library's: a second opinion
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(w, text)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return out.String()
}

// open writes a file and opens it. Its name says nothing.
func open(t *testing.T, stored string) *File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "some.ammo")
	write(t, path, stored)
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// pass reads records to the end of the pass, as lines of NUMBER OFFSET TAG BYTES.
func pass(next func() (Record, error)) (lines []string, err error) {
	for {
		r, err := next()
		if err != nil {
			return lines, err
		}
		lines = append(lines, fmt.Sprintf("%d %d %s %q", r.Number, r.Offset, r.Tag, r.Bytes))
	}
}

// randomText is n records, some of them longer than any buffer, with blank
// lines between.
func randomText(seed uint64, n int) (text string, lines []string) {
	random := rand.New(rand.NewPCG(seed, 0))
	var out strings.Builder
	for i := range n {
		out.WriteString([]string{"", "\n", " \n\r\n"}[random.IntN(3)])
		request := make([]byte, 1+random.IntN(300))
		if random.IntN(50) == 0 {
			request = make([]byte, 1+random.IntN(200_000))
		}
		for j := range request {
			request[j] = "ab\r\n0 \x00\xff"[random.IntN(8)]
		}
		tag := []string{"", "t", "GET:/users/<id>"}[random.IntN(3)]
		lines = append(lines, fmt.Sprintf("%d %d %s %q", i+1, out.Len(), tag, request))
		fmt.Fprintf(&out, "%d %s\n%s", len(request), tag, request)
	}
	return out.String(), lines
}

func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: got %d records, want %d", what, len(got), len(want))
		return
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%s: got %.100s, want %.100s", what, got[i], want[i])
			return
		}
	}
}

func TestFile(t *testing.T) {
	text, want := randomText(1, 400)
	third := len(text) / 3
	for name, stored := range map[string]string{
		"plain":        text,
		"gzip":         zip(t, gzip.BestCompression, text),
		"stored":       zip(t, gzip.NoCompression, text),
		"members":      zip(t, gzip.BestSpeed, text[:third], "", text[third:2*third], text[2*third:], ""),
		"zero ends":    text + "\n0\n5 a\nnot a record",
		"zero in gzip": zip(t, gzip.BestSpeed, text+"\n0\n", "rubbish"),
	} {
		f := open(t, stored)
		for range 3 {
			got, err := pass(f.Next)
			same(t, name, got, want)
			if _, again := f.Next(); err != io.EOF || again != io.EOF {
				t.Errorf("%s: a pass ended with %v, then %v", name, err, again)
			}
			if err := f.Rewind(); err != nil {
				t.Fatal(err)
			}
		}
		for _, records := range []int{0, 1, 2, 399, 400} { // left in the middle
			for range records {
				f.Next()
			}
			if err := f.Rewind(); err != nil {
				t.Fatal(err)
			}
			got, _ := pass(f.Next)
			same(t, fmt.Sprintf("%s, rewound after %d records", name, records), got, want)
			f.Rewind()
		}
	}
}

// However the file arrives, its records are the same.
func TestFileCuts(t *testing.T) {
	text, want := randomText(2, 30)
	small, wantSmall := "\n3 a\nabc\n3 b\r\nxyz4\nGET \n", []string{`1 1 a "abc"`, `2 9 b "xyz"`, `3 17  "GET "`}
	for name, f := range map[string]func(io.Reader) io.Reader{
		"byte by byte": iotest.OneByteReader, "half": iotest.HalfReader, "end with data": iotest.DataErrReader,
	} {
		for _, stored := range []string{text, zip(t, 1, text)} {
			got, err := pass(readFile("f", f(strings.NewReader(stored))).Next)
			same(t, name, got, want)
			if err != io.EOF {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	for _, stored := range []string{small, zip(t, 1, small), zip(t, 1, small[:7], small[7:])} {
		for cut := range len(stored) {
			in := io.MultiReader(strings.NewReader(stored[:cut]), strings.NewReader(stored[cut:]))
			got, err := pass(readFile("f", in).Next)
			same(t, fmt.Sprintf("%q cut at %d", stored[:2], cut), got, wantSmall)
			if err != io.EOF {
				t.Errorf("cut at %d: %v", cut, err)
			}
		}
	}
}

func TestFileEmpty(t *testing.T) {
	for _, stored := range []string{"", "\n", " \r\n\n", "0", "0\n1 a\nx", zip(t, 6, ""), zip(t, 6, "\n", "")} {
		f := open(t, stored)
		for range 2 {
			if _, err := f.Next(); err != io.EOF {
				t.Errorf("%q: got %v, want io.EOF", stored, err)
			}
			if err := f.Rewind(); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestFileErrors(t *testing.T) {
	f := func(stored string, record int, text string) {
		t.Helper()
		file := open(t, stored)
		_, err := pass(file.Next)
		bad, ok := errors.AsType[*SyntaxError](err)
		if !ok || bad.File != file.Name() || bad.Record != record || err.Error() != file.Name()+": "+text {
			t.Errorf("got  %v\nwant %s", err, text)
		}
		if err := file.Rewind(); err != nil {
			t.Fatal(err)
		}
		if _, again := pass(file.Next); again == nil || again.Error() != err.Error() {
			t.Errorf("a second pass: %v", again)
		}
	}
	long := strings.Repeat("1 a\nx", 50_000) // 250,000 bytes
	f("1 a\nxab\n", 2, `record 2, byte 5: want a size line "SIZE TAG", got "ab"`)
	f("\x1f", 1, `record 1, byte 0: want a size line that ends in a newline, got the end of the file after "\x1f"`)
	f(zip(t, 6, "1 a\nxab\n"), 2, `record 2, byte 5 of the unpacked text: want a size line "SIZE TAG", got "ab"`)
	f(zip(t, 6, "5 a\n", "xy"), 1, `record 1, byte 6 of the unpacked text: want 5 bytes of request, got the end of the file after 2`)
	f(zip(t, 6, long, "x y\n"), 50_001, `record 50001, byte 250000 of the unpacked text: want a size line "SIZE TAG", got "x y"`)
	f("\x1f\x8b\x07aaaaaaaaa", 1, `record 1, byte 0 of the unpacked text: want sound gzip data, got no valid gzip header before byte 10 of the file`)
	f("\x1f\x8b", 1, `record 1, byte 0 of the unpacked text: want sound gzip data, got the end of the file after byte 2`)
	packed := zip(t, 6, "1 a\nx")
	n := len(packed)
	f(packed+"2 a\nxx\n2 b\nxx\n", 2, fmt.Sprintf(`record 2, byte 5 of the unpacked text: want sound gzip data, got no valid gzip header before byte %d of the file`, n+10))
	f(packed+"\n", 2, fmt.Sprintf(`record 2, byte 5 of the unpacked text: want sound gzip data, got the end of the file after byte %d`, n+1))
	f(packed[:n-1]+"\x01", 2, fmt.Sprintf(`record 2, byte 5 of the unpacked text: want sound gzip data, got another checksum or length at byte %d of the file`, n))
	f(packed[:10]+"\xff"+packed[11:], 1, `record 1, byte 0 of the unpacked text: want sound gzip data, got damaged data at byte 11 of the file`)
	stored := zip(t, gzip.NoCompression, long)
	f(stored[:200_000], 39_995, `record 39995, byte 199970 of the unpacked text: want sound gzip data, got the end of the file after byte 200000`)
}

// What a file is, each pass sees anew.
func TestFileRewritten(t *testing.T) {
	f := open(t, zip(t, 6, "1 a\nx"))
	pass(f.Next)
	write(t, f.Name(), "1 a\nx!\n")
	if err := f.Rewind(); err != nil {
		t.Fatal(err)
	}
	got, err := pass(f.Next)
	same(t, "plain now", got, []string{`1 0 a "x"`})
	if bad, ok := errors.AsType[*SyntaxError](err); !ok || bad.Offset != 5 || bad.Unpacked {
		t.Errorf("got %v", err)
	}
}

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	if _, err := Open(dir); !errors.Is(err, syscall.EISDIR) || !strings.Contains(err.Error(), dir) {
		t.Errorf("a folder: %v", err)
	}
	if _, err := Open(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

// A read that fails says nothing about what the file holds.
func TestFileReadFails(t *testing.T) {
	broken := errors.New("disk on fire")
	f := func(stored string, text string) {
		t.Helper()
		file := readFile("x.ammo", io.MultiReader(strings.NewReader(stored), iotest.ErrReader(broken)))
		_, err := pass(file.Next)
		if _, syntax := errors.AsType[*SyntaxError](err); syntax || !errors.Is(err, broken) || err.Error() != "x.ammo: "+text+": disk on fire" {
			t.Errorf("got %v, want %s", err, text)
		}
		if _, again := file.Next(); again != err {
			t.Errorf("then %v", again)
		}
	}
	f("", "byte 0")
	f("1", "byte 0")
	f("5 a\nxx", "byte 6")
	f("1 a\nx", "byte 5")
	packed := zip(t, 6, "1 a\nx")
	f(packed, "byte 5 of the unpacked text")
	f(packed[:5], "byte 0 of the unpacked text")
	f(packed[:len(packed)-3], "byte 5 of the unpacked text")
}

func TestFileProgress(t *testing.T) {
	text, _ := randomText(3, 1000)
	for _, stored := range []string{text, zip(t, 6, text)} {
		f := open(t, stored)
		for range 2 {
			before, between := f.Progress(), 0
			if before != 0 {
				t.Errorf("before a pass: %v", before)
			}
			for {
				_, err := f.Next()
				now := f.Progress()
				if now < before || now > 1 {
					t.Fatalf("from %v to %v", before, now)
				}
				if now > 0.3 && now < 0.7 {
					between++
				}
				if before = now; err != nil {
					break
				}
			}
			if before != 1 || between < 100 {
				t.Errorf("at the end: %v, %d records in between", before, between)
			}
			f.Rewind()
		}
	}
}

// A file that loses its end while it is fired is no shorter file.
func TestFileCut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.ammo")
	text := strings.Repeat("100000 tag\n"+strings.Repeat("x", 100000)+"\n", 20)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Next(); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, int64(len(text)/2)); err != nil {
		t.Fatal(err)
	}
	for n := 1; ; n++ {
		if _, err = f.Next(); err != nil {
			if n != 10 || err == io.EOF || !strings.Contains(err.Error(), "was cut to") {
				t.Errorf("after %d records: %v", n, err)
			}
			return
		}
	}
}
