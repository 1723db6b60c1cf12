package phout

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A second opinion on the format, which shares no code with the package: a
// table of patterns for what a file may hold, big numbers for what a row
// becomes, and Python for how Tank reads it.

var whole = `(0|[1-9][0-9]{0,18})`

var tankColumns = []struct {
	name    string
	pattern *regexp.Regexp
	most    int64
}{
	{"time", regexp.MustCompile(`^` + whole + `\.[0-9]{3}$`), 0},
	{"tag", regexp.MustCompile(`^[^\r]*$`), 0},
	{"interval_real", regexp.MustCompile(`^` + whole + `$`), math.MaxInt64 / 1000},
	{"connect_time", regexp.MustCompile(`^` + whole + `$`), math.MaxInt64 / 1000},
	{"send_time", regexp.MustCompile(`^` + whole + `$`), math.MaxInt64 / 1000},
	{"latency", regexp.MustCompile(`^` + whole + `$`), math.MaxInt64 / 1000},
	{"receive_time", regexp.MustCompile(`^` + whole + `$`), math.MaxInt64 / 1000},
	{"interval_event", regexp.MustCompile(`^` + whole + `$`), math.MaxInt64 / 1000},
	{"size_out", regexp.MustCompile(`^` + whole + `$`), math.MaxInt64},
	{"size_in", regexp.MustCompile(`^` + whole + `$`), math.MaxInt64},
	{"net_code", regexp.MustCompile(`^` + whole + `$`), math.MaxInt32},
	{"proto_code", regexp.MustCompile(`^` + whole + `$`), math.MaxInt32},
}

var numberedTag = regexp.MustCompile(`^(?s:(.*))#` + whole + `$`)

// tankLine is a line's row, or the 1-based column that is wrong, 0 for none in
// particular.
func tankLine(line string, numbered bool) (row Row, fine bool, wrong int) {
	fields := strings.Split(line, "\t")
	if len(fields) != len(tankColumns) {
		return Row{}, false, 0
	}
	values := map[string]int64{}
	for i, column := range tankColumns {
		if !column.pattern.MatchString(fields[i]) {
			return Row{}, false, i + 1
		}
		var err error
		switch {
		case column.name == "time":
			values["ms"], err = strconv.ParseInt(strings.Replace(fields[i], ".", "", 1), 10, 64)
			if values["ms"] > math.MaxInt64/1_000_000 {
				err = strconv.ErrRange
			}
		case column.name == "tag" && numbered:
			parts := numberedTag.FindStringSubmatch(fields[i])
			if parts == nil {
				return Row{}, false, i + 1
			}
			row.Tag = parts[1]
			row.Number, err = strconv.ParseInt(parts[2], 10, 64)
		case column.name == "tag":
			row.Tag = fields[i]
		default:
			values[column.name], err = strconv.ParseInt(fields[i], 10, 64)
			if values[column.name] > column.most {
				err = strconv.ErrRange
			}
		}
		if err != nil {
			return Row{}, false, i + 1
		}
	}
	if values["interval_real"]-values["connect_time"]-values["send_time"]-values["latency"]-values["receive_time"] != 0 {
		return Row{}, false, 3
	}
	row.Sent = values["ms"] * 1_000_000
	row.Connect, row.Send = time.Duration(values["connect_time"]*1000), time.Duration(values["send_time"]*1000)
	row.Latency, row.Receive = time.Duration(values["latency"]*1000), time.Duration(values["receive_time"]*1000)
	row.Event = time.Duration(values["interval_event"] * 1000)
	row.Out, row.In, row.Net, row.Status = values["size_out"], values["size_in"], int(values["net_code"]), int(values["proto_code"])
	return row, true, 0
}

// tankNumbers is what a row's columns must hold, but for the tag: the time in
// milliseconds, then the ten numbers.
func tankNumbers(row Row) []int64 {
	edge := new(big.Int)
	last := big.NewInt(math.MaxInt64 / 1000 * 1000)
	micros := []int64{0} // rounded instants
	for _, span := range []time.Duration{row.Connect, row.Send, row.Latency, row.Receive} {
		edge.Add(edge, big.NewInt(int64(span)))
		if edge.Cmp(last) > 0 {
			edge.Set(last)
		}
		us := new(big.Int).Add(edge, big.NewInt(500))
		micros = append(micros, us.Div(us, big.NewInt(1000)).Int64())
	}
	whole := micros[4]
	return []int64{row.Sent / 1_000_000, whole, micros[1] - micros[0], micros[2] - micros[1], micros[3] - micros[2], micros[4] - micros[3], whole,
		row.Out, row.In, int64(row.Net), int64(row.Status)}
}

var cleanTag = strings.NewReplacer("\t", "_", "\n", "_", "\r", "_")

// TestRoundTrip writes random rows and reads them back, with the Reader and
// with the table.
func TestRoundTrip(t *testing.T) {
	rng := random(t)
	for round := range 20_000 {
		row := randomRow(rng)
		numbered := round%2 == 0
		line := row.Append(nil, numbered)

		n := tankNumbers(row)
		want := Row{
			Sent: n[0] * 1_000_000, Tag: cleanTag.Replace(row.Tag), Out: row.Out, In: row.In, Net: row.Net, Status: row.Status,
			Connect: time.Duration(n[2] * 1000), Send: time.Duration(n[3] * 1000), Latency: time.Duration(n[4] * 1000), Receive: time.Duration(n[5] * 1000), Event: time.Duration(n[6] * 1000),
		}
		if numbered {
			want.Number = row.Number
		}
		r := NewReader(bytes.NewReader(line), "rows")
		r.Numbered = numbered
		got, err := r.Next()
		if err != nil || got != want {
			t.Fatalf("%+v\nas %q\nread %+v\nwant %+v, %v", row, line, got, want, err)
		}
		if got, fine, wrong := tankLine(strings.TrimSuffix(string(line), "\n"), numbered); !fine || got != want {
			t.Fatalf("%+v\nas %q\nby the table %+v, column %d\nwant %+v", row, line, got, wrong, want)
		}
		if again := got.Append(nil, numbered); !bytes.Equal(again, line) {
			t.Fatalf("%q\nwritten again %q", line, again)
		}
		// But for shots of centuries, which are cut.
		spans := []time.Duration{got.Connect, got.Send, got.Latency, got.Receive}
		for i, exact := range []time.Duration{row.Connect, row.Send, row.Latency, row.Receive} {
			if off := exact - spans[i]; n[1] < math.MaxInt64/1000 && off.Abs() >= time.Microsecond {
				t.Fatalf("%+v: span %d is off by %v", row, i, off)
			}
		}
	}
}

// tankPython reads a phout file as Tank does, once by splitting and once as
// pandas is told to (csv without quoting), and prints a row a line as JSON.
const tankPython = `
import csv, json, sys
path, numbered = sys.argv[1], sys.argv[2] == "true"
with open(path, encoding="utf-8", newline="\n") as f:
    rows = [line.rstrip("\n").split("\t") for line in f]
with open(path, encoding="utf-8", newline="") as f:
    assert rows == list(csv.reader(f, delimiter="\t", quoting=csv.QUOTE_NONE)), "csv reads other rows"
for row in rows:
    assert len(row) == 12, row
    time, tag, numbers = float(row[0]), row[1], [int(x) for x in row[2:]]
    assert numbers[0] == sum(numbers[1:5]), row
    number = 0
    if numbered:
        tag, number = tag.rsplit("#", 1)
    print(json.dumps({"ms": round(time * 1000), "tag": tag, "number": int(number), "numbers": numbers}))
`

func TestPythonReads(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3")
	}
	rng := random(t)
	rows := make([]Row, 2000)
	for i := range rows {
		rows[i] = randomRow(rng)
	}
	for _, numbered := range []bool{false, true} {
		path := filepath.Join(t.TempDir(), "phout.txt")
		file, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		w := NewWriter(file, numbered)
		if err := w.Write(rows); err != nil {
			t.Fatal(err)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(python, "-c", tankPython, path, fmt.Sprint(numbered))
		var complaint strings.Builder
		cmd.Stderr = &complaint
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v: %s", err, &complaint)
		}
		lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
		if len(lines) != len(rows) {
			t.Fatalf("%d rows, wrote %d", len(lines), len(rows))
		}
		for i, line := range lines {
			var got struct {
				MS      int64
				Tag     string
				Number  int64
				Numbers []int64
			}
			if err := json.Unmarshal(line, &got); err != nil {
				t.Fatalf("%v in %q", err, line)
			}
			row := rows[i]
			number := int64(0)
			if numbered {
				number = row.Number
			}
			numbers := tankNumbers(row)
			if got.MS != numbers[0] || got.Tag != cleanTag.Replace(row.Tag) || got.Number != number || fmt.Sprint(got.Numbers) != fmt.Sprint(numbers[1:]) {
				t.Fatalf("%+v\nread %s\nwant %q %d %v", row, line, cleanTag.Replace(row.Tag), number, numbers)
			}
		}
	}
}
