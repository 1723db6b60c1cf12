package phout

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

const fine = "1328786207.081 a#b#7 1820 250 14 1505 51 1601 369 594 0 404\n"

// tabs makes the blanks of a line its tabs.
func tabs(s string) string { return strings.ReplaceAll(s, " ", "\t") }

func TestReader(t *testing.T) {
	const us = time.Microsecond
	first := Row{Sent: 1328786207_081_000_000, Tag: "a#b#7", Connect: 250 * us, Send: 14 * us, Latency: 1505 * us, Receive: 51 * us, Event: 1601 * us, Out: 369, In: 594, Status: 404}
	second := Row{Sent: 1328786208_000_000_000, Tag: "#0", Latency: 2 * time.Second, Event: 1999 * time.Millisecond, Out: 18, Net: 110}
	text := tabs(fine + "1328786208.000 #0 2000000 0 0 2000000 0 1999000 18 0 110 0\n")
	for _, in := range []io.Reader{strings.NewReader(text), iotest.OneByteReader(strings.NewReader(text)), iotest.DataErrReader(strings.NewReader(text))} {
		for _, numbered := range []bool{false, true} {
			r := NewReader(strings.NewReader(text), "f")
			if !numbered {
				r = NewReader(in, "f")
			}
			r.Numbered = numbered
			want := []Row{first, second}
			if numbered {
				want[0].Tag, want[0].Number = "a#b", 7
				want[1].Tag = ""
			}
			for _, want := range want {
				if got, err := r.Next(); err != nil || got != want {
					t.Fatalf("got  %+v, %v\nwant %+v", got, err, want)
				}
			}
			for range 2 {
				if row, err := r.Next(); err != io.EOF || row != (Row{}) {
					t.Fatalf("after the last: %+v, %v", row, err)
				}
			}
		}
	}
}

func TestReaderErrors(t *testing.T) {
	f := func(numbered bool, line, want string) {
		t.Helper()
		r := NewReader(strings.NewReader(tabs(fine+line)), "some/phout.txt")
		r.Numbered = numbered
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
		for range 2 { // it stays
			_, err := r.Next()
			var syntax *SyntaxError
			if !errors.As(err, &syntax) || err.Error() != "some/phout.txt: line 2"+want {
				t.Errorf("%q:\ngot  %v\nwant some/phout.txt: line 2%s", line, err, want)
			}
		}
	}
	f(false, "\n", `: want 12 columns parted by tabs, got 1 in ""`)
	f(false, "1.000 a 0 0 0 0 0 0 0 0 0\n", `: want 12 columns parted by tabs, got 11 in "1.000\ta\t0\t0\t0\t0\t0\t0\t0\t0\t0"`)
	f(false, "1.000 a 0 0 0 0 0 0 0 0 0 0 \n", `: want 12 columns parted by tabs, got 13 in "1.000\ta\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t"`)
	f(false, "1.000 a 0 0", `: want a line that ends in a newline, got the end of the file after "1.000\ta\t0\t0"`)
	f(false, "1.000 a 0 0 0 0 0 0 0 0 0 0", `: want a line that ends in a newline, got the end of the file after "1.000\ta\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0"`)
	f(false, "1.000 "+strings.Repeat("a", 1<<16)+" 0 0 0 0 0 0 0 0 0 0\n", `: want a line of at most 65536 bytes, got "1.000\t`+strings.Repeat("a", 54)+`"...`)

	for _, time := range []string{"", "1", "1.", "1.0", "1.00", "1.0000", ".000", "01.000", "-1.000", "+1.000", "1,000", "1.0x0", "1e3.000", "1. 00", "9223372036.855", "9223372037.000", "99999999999999999999.000"} {
		time = strings.ReplaceAll(time, " ", "\v")
		f(false, time+" a 0 0 0 0 0 0 0 0 0 0\n", `, column 1 (time): want Unix seconds with three decimals, got `+quote([]byte(time)))
	}

	f(false, "1.000 a\rb 0 0 0 0 0 0 0 0 0 0\n", `, column 2 (tag): want a tag without carriage returns, got "a\rb"`)
	for _, tag := range []string{"", "a", "a7", "a#", "a#x", "a#07", "a#-1", "a#7 ", "a#9223372036854775808"} {
		tag = strings.ReplaceAll(tag, " ", "\v")
		f(true, "1.000 "+tag+" 0 0 0 0 0 0 0 0 0 0\n", `, column 2 (tag): want a tag with its number, TAG#N, got `+quote([]byte(tag)))
	}

	for column, name := range map[int]string{3: "interval_real", 4: "connect_time", 5: "send_time", 6: "latency", 7: "receive_time", 8: "interval_event", 9: "size_out", 10: "size_in", 11: "net_code", 12: "proto_code"} {
		most := "9223372036854775"
		values := []string{"", "-1", "+1", "1.0", "00", "01", "1e1", "x", "0x1", "1_0", "9223372036854776", "18446744073709551616", "99999999999999999999", "200\r"}
		switch column {
		case 9, 10:
			most = "9223372036854775807"
			values[10] = "9223372036854775808"
		case 11, 12:
			most = "2147483647"
			values[10] = "2147483648"
		}
		for _, value := range values {
			fields := strings.Fields("1.000 a 0 0 0 0 0 0 0 0 0 0")
			fields[column-1] = value
			f(false, strings.Join(fields, "\t")+"\n", fmt.Sprintf(", column %d (%s): want a whole number from 0 to %s, got %q", column, name, most, value))
		}
	}

	f(false, "1.000 a 11 1 2 3 4 10 0 0 0 0\n", `, column 3 (interval_real): want 10, the sum of columns 4 to 7, got 11`)
	f(false, "1.000 a 9 1 2 3 4 10 0 0 0 0\n", `, column 3 (interval_real): want 10, the sum of columns 4 to 7, got 9`)
	f(false, "1.000 a 0 9223372036854775 9223372036854775 0 0 0 0 0 0 0\n", `, column 3 (interval_real): want 18446744073709550, the sum of columns 4 to 7, got 0`)
}

// TestReaderIO tells a file that cannot be read from one that is broken.
func TestReaderIO(t *testing.T) {
	broken := errors.New("the disk is on fire")
	r := NewReader(io.MultiReader(strings.NewReader(tabs(fine+"1.000 a")), iotest.ErrReader(broken)), "f")
	if _, err := r.Next(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		_, err := r.Next()
		var syntax *SyntaxError
		if !errors.Is(err, broken) || errors.As(err, &syntax) || err.Error() != "f: line 2: the disk is on fire" {
			t.Errorf("%v", err)
		}
	}
}

// TestReaderAllocatesNothing for tags that repeat.
func TestReaderAllocatesNothing(t *testing.T) {
	r := NewReader(strings.NewReader(strings.Repeat(tabs(fine), 200)), "f")
	if _, err := r.Next(); err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(100, func() {
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations a row", n)
	}
}

// FuzzReader compares the reader with the table of tank_test.go, line by line.
func FuzzReader(f *testing.F) {
	for _, text := range []string{
		"", "\n", fine, fine + fine, fine[:20], fine + "1.000 a", "0.000  0 0 0 0 0 0 0 0 0 0\n", "0.000 #0 0 0 0 0 0 0 0 0 0 0\r\n",
		"9223372036.854 a##1 9223372036854775 9223372036854775 0 0 0 9223372036854775 9223372036854775807 9223372036854775807 2147483647 2147483647\n",
		"1.000 a#1 10 1 2 3 4 10 0 0 0 0\n1.000 a#1 11 1 2 3 4 10 0 0 0 0\n", "1.000 a 0 0 0 0 0 0 0 0 0 0 0\n",
	} {
		f.Add(tabs(text), false)
		f.Add(tabs(text), true)
	}
	f.Fuzz(func(t *testing.T, text string, numbered bool) {
		r := NewReader(strings.NewReader(text), "f")
		r.Numbered = numbered
		for n := 1; ; n++ {
			row, err := r.Next()
			line, rest, ended := strings.Cut(text, "\n")
			if text == "" {
				if err != io.EOF {
					t.Fatalf("at the end: %+v, %v", row, err)
				}
				return
			}
			want, fine, wrong := tankLine(line, numbered)
			if !ended || len(line) >= maxLine {
				want, fine, wrong = Row{}, false, 0
			}
			if row != want || fine != (err == nil) {
				t.Fatalf("%q: %+v, %v, by the table %+v, fine: %v", line, row, err, want, fine)
			}
			if !fine {
				var syntax *SyntaxError
				if !errors.As(err, &syntax) || syntax.Line != n || syntax.Column != wrong || syntax.Want == "" || syntax.Got == "" {
					t.Fatalf("%q: %v, want line %d, column %d", line, err, n, wrong)
				}
				return
			}
			// Written again, all is as it was but for interval_event.
			fields := strings.Split(line, "\t")
			fields[7] = fields[2]
			if again := string(row.Append(nil, numbered)); again != strings.Join(fields, "\t")+"\n" {
				t.Fatalf("%q\nwritten again %q", line, again)
			}
			text = rest
		}
	})
}
