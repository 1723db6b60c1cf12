package model

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

// TestOfficialAnswers recomputes all answers of the contest's training set.
// The files are read by hand here, because ammo's readers are for servers to
// be checked with and this package stands below it.
func TestOfficialAnswers(t *testing.T) {
	dir := os.Getenv("REDOUBT_TRAVELS")
	if dir == "" {
		t.Skip("REDOUBT_TRAVELS is unset: set it to the folder of the official training set (data, ammo, answers)")
	}
	m, err := LoadDir(filepath.Join(dir, "data"))
	if err != nil {
		t.Fatal(err)
	}
	total, wrong := 0, 0
	for _, phase := range []string{"phase_1_get", "phase_2_post", "phase_3_get"} {
		ammo := bufio.NewReader(bytes.NewReader(readFile(t, dir, "ammo", phase+".ammo")))
		answers := strings.Split(strings.TrimSpace(string(readFile(t, dir, "answers", phase+".answ"))), "\n")
		for _, line := range answers {
			columns := strings.Split(line, "\t")
			got := m.Do(columns[0], columns[1], nextBody(t, ammo))
			total++
			if strconv.Itoa(got.Status) != columns[2] || len(columns) > 3 && !sameJSON(t, got.Body, columns[3]) {
				wrong++
				t.Errorf("%s %s: got %d %s, want %s %s", columns[0], columns[1], got.Status, got.Body, columns[2], columns[3:])
			}
			if wrong > 10 {
				t.Fatal("too many wrong answers")
			}
		}
	}
	if total != 11_000 {
		t.Errorf("recomputed %d answers, want 11,000", total)
	}
}

// nextBody reads one record "SIZE TAG\n<bytes>" and gives what Content-Length
// counts of it.
func nextBody(t *testing.T, r *bufio.Reader) []byte {
	t.Helper()
	line, err := r.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	size, _, _ := strings.Cut(strings.TrimSpace(line), " ")
	n, err := strconv.Atoi(size)
	if err != nil {
		t.Fatal(err)
	}
	record := make([]byte, n)
	for i := range record {
		record[i], _ = r.ReadByte()
	}
	head, body, _ := strings.Cut(string(record), "\r\n\r\n")
	_, rest, found := strings.Cut(head, "Content-Length: ")
	if !found {
		return nil
	}
	length, _, _ := strings.Cut(rest, "\r\n")
	n, err = strconv.Atoi(length)
	if err != nil {
		t.Fatal(err)
	}
	return []byte(body[:n])
}

func readFile(t *testing.T, parts ...string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(parts...))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func sameJSON(t *testing.T, a []byte, b string) bool {
	t.Helper()
	var x, y any
	if err := json.Unmarshal(a, &x); err != nil {
		t.Error(err)
	}
	if err := json.Unmarshal([]byte(b), &y); err != nil {
		t.Error(err)
	}
	return reflect.DeepEqual(x, y)
}
