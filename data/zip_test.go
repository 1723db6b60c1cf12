package data

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// zipOf makes a zip of files with the standard library, which shares no code
// with what reads it.
func zipOf(t testing.TB, files map[string]string, method uint16) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		f, err := w.CreateHeader(&zip.FileHeader{Name: name, Method: method})
		if err != nil {
			t.Fatal(err)
		}
		f.Write([]byte(files[name]))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// zipFolder makes a folder whose data.zip holds files.
func zipFolder(t testing.TB, files map[string]string) string {
	t.Helper()
	return folder(t, map[string]string{zipName: string(zipOf(t, files, zip.Deflate))})
}

func TestLoadZip(t *testing.T) {
	for _, method := range []uint16{zip.Deflate, zip.Store} {
		for _, workers := range []int{1, 3} {
			f := newFake()
			dir := folder(t, map[string]string{zipName: string(zipOf(t, smallSet(), method))})
			stats, err := loadInto(dir, f, workers)
			if err != nil || f.counts() != smallCounts || stats.Records != smallCounts {
				t.Errorf("method %d, %d workers: %+v, %v", method, workers, f.counts(), err)
			}
		}
	}
	// With folders inside, the folders as entries too.
	set := map[string]string{"data/": ""}
	for name, text := range smallSet() {
		set["data/"+name] = text
	}
	f := newFake()
	if _, err := loadInto(zipFolder(t, set), f, 2); err != nil || f.counts() != smallCounts {
		t.Errorf("in a folder: %+v, %v", f.counts(), err)
	}
}

// TestZipWins has a zip and files: the zip's records and the folder's options
// are taken.
func TestZipWins(t *testing.T) {
	inZip := map[string]string{"users_1.json": fileOf("users", userJSON(5)), optionsName: "7\n1"}
	f := newFake()
	dir := folder(t, map[string]string{zipName: string(zipOf(t, inZip, zip.Deflate)), "users_1.json": "!", "visits_1.json": "!"})
	if _, err := loadInto(dir, f, 2); err != nil || f.counts() != (Counts{Users: 1}) {
		t.Errorf("%+v, %v", f.counts(), err)
	}
	options := func(want Options) {
		t.Helper()
		s, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if s.Options() != want {
			t.Errorf("%+v, want %+v", s.Options(), want)
		}
	}
	options(Options{Now: 7, Rating: true})
	os.WriteFile(filepath.Join(dir, optionsName), []byte("8\n0"), 0o666)
	options(Options{Now: 8})
}

func TestZipRefuses(t *testing.T) {
	refuse := func(file []byte, want string) {
		t.Helper()
		_, err := loadInto(folder(t, map[string]string{zipName: string(file)}), newFake(), 2)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	of := func(files map[string]string) []byte { return zipOf(t, files, zip.Deflate) }
	refuse(nil, "data.zip: ")
	refuse([]byte("{}"), "data.zip: ")
	refuse(of(nil), "data.zip holds no users_*.json")
	refuse(of(map[string]string{"readme": "x"}), "data.zip holds no users_*.json")
	refuse(of(map[string]string{"a/users_1.json": "{}", "b/users_1.json": "{}"}), "data.zip:users_1.json is there twice")
	refuse(of(map[string]string{"users_1.json": "{}", optionsName: "5\n7"}), "data.zip:options.txt:2: ")
	refuse(of(map[string]string{"users_1.json": "{}", optionsName: strings.Repeat("5", 2000)}), "data.zip:options.txt: over 1024 bytes")
	refuse(of(map[string]string{"users_1.json": fileOf("users", userJSON(1), "{}")}), "data.zip:users_1.json: record 2: lacks id")

	// Names, sizes and sums that the directory gives wrongly.
	text := fileOf("users", userJSON(1), userJSON(2))
	var deflated bytes.Buffer
	w, _ := flate.NewWriter(&deflated, 6)
	w.Write([]byte(text))
	w.Close()
	right := zip.FileHeader{
		Name: "users_1.json", Method: zip.Deflate, CRC32: crc32.ChecksumIEEE([]byte(text)),
		UncompressedSize64: uint64(len(text)), CompressedSize64: uint64(deflated.Len()),
	}
	lie := func(change func(*zip.FileHeader), want string) {
		t.Helper()
		h := right
		change(&h)
		var b bytes.Buffer
		zw := zip.NewWriter(&b)
		f, err := zw.CreateRaw(&h)
		if err != nil {
			t.Fatal(err)
		}
		f.Write(deflated.Bytes())
		zw.Close()
		if want == "" {
			f := newFake()
			if _, err := loadInto(folder(t, map[string]string{zipName: b.String()}), f, 1); err != nil || len(f.users) != 2 {
				t.Errorf("%d users, %v", len(f.users), err)
			}
			return
		}
		refuse(b.Bytes(), want)
	}
	lie(func(h *zip.FileHeader) {}, "")
	lie(func(h *zip.FileHeader) { h.UncompressedSize64-- }, fmt.Sprintf("has more than the %d bytes it claims", len(text)-1))
	lie(func(h *zip.FileHeader) { h.UncompressedSize64 = 0 }, "has more than the 0 bytes it claims")
	lie(func(h *zip.FileHeader) { h.UncompressedSize64++ }, fmt.Sprintf("unexpected EOF (after %d of %d bytes)", len(text), len(text)+1))
	lie(func(h *zip.FileHeader) { h.CompressedSize64-- }, "cannot be unpacked: ")
	lie(func(h *zip.FileHeader) { h.CompressedSize64 = 0 }, "cannot have")
	lie(func(h *zip.FileHeader) { h.CompressedSize64 = 1 << 40 }, "in a zip of")
	lie(func(h *zip.FileHeader) { h.UncompressedSize64 = 1 << 40 }, "has 1099511627776 bytes; one file may have 1073741824")
	lie(func(h *zip.FileHeader) { h.UncompressedSize64 = 1 << 29 }, "cannot have 536870912 bytes, compressed to")
	lie(func(h *zip.FileHeader) { h.CRC32 ^= 1 }, "is damaged: its CRC is")
	lie(func(h *zip.FileHeader) { h.Flags |= 1 }, "is encrypted")
	lie(func(h *zip.FileHeader) { h.Method = 93 }, "method 93")
	lie(func(h *zip.FileHeader) { h.Method = zip.Store }, "two sizes")
	lie(func(h *zip.FileHeader) { h.Method, h.UncompressedSize64 = zip.Store, h.CompressedSize64 }, "is damaged")
	lie(func(h *zip.FileHeader) { h.Name = "visits_1.json" }, `promises a field "visits", not "users"`)
}

// TestZipDamaged cuts a zip at every byte, and flips each of its bytes in
// turn. Cut ones are refused; flips in the files' bytes are refused too, or, in the bits that fill
// up a deflated block, do no harm. Elsewhere they may rename a file, and so
// hide it: all that counts is that nothing breaks.
func TestZipDamaged(t *testing.T) {
	set := map[string]string{
		"users_1.json": fileOf("users", userJSON(1), userJSON(2)), "locations_1.json": fileOf("locations", locationJSON(1)),
		"visits_1.json": fileOf("visits", visitJSON(1, 2, 1), visitJSON(2, 1, 1)), optionsName: "5\n0",
	}
	whole := zipOf(t, set, zip.Deflate)
	dir := folder(t, map[string]string{zipName: string(whole)})
	path := filepath.Join(dir, zipName)
	var loaded *fake
	damaged := func(file []byte) error {
		if err := os.WriteFile(path, file, 0o666); err != nil {
			t.Fatal(err)
		}
		loaded = newFake()
		_, err := loadInto(dir, loaded, 2)
		return err
	}
	if err := damaged(whole); err != nil {
		t.Fatal(err)
	}
	want := loaded
	for n := range len(whole) {
		if damaged(whole[:n]) == nil {
			t.Errorf("cut to %d of %d bytes, the zip was accepted", n, len(whole))
		}
	}
	directory, err := zip.NewReader(bytes.NewReader(whole), int64(len(whole)))
	if err != nil {
		t.Fatal(err)
	}
	records := make([]bool, len(whole))
	for _, f := range directory.File {
		if _, ok := kindOfFile(f.Name); ok {
			offset, _ := f.DataOffset()
			for i := range f.CompressedSize64 {
				records[offset+int64(i)] = true
			}
		}
	}
	for i := range whole {
		flipped := bytes.Clone(whole)
		flipped[i] ^= 1 << (i % 8)
		if err := damaged(flipped); err == nil && records[i] && !reflect.DeepEqual(loaded, want) {
			t.Errorf("byte %d was flipped, and other records were loaded", i)
		}
	}
}

// TestZipBomb has a stream of 64 MB, nearly all of them zero, that claims
// less: it is not inflated any further.
func TestZipBomb(t *testing.T) {
	text := bytes.Repeat([]byte{' '}, 64<<20)
	file := zipOf(t, map[string]string{"users_1.json": string(text)}, zip.Deflate)
	// The directory's entry is 46 bytes and the name before the 22 of its end.
	entry := file[len(file)-22-len("users_1.json")-46:]
	binary.LittleEndian.PutUint32(entry[24:], 100)
	_, err := loadInto(folder(t, map[string]string{zipName: string(file)}), newFake(), 1)
	if err == nil || !strings.Contains(err.Error(), "has more than the 100 bytes it claims") {
		t.Error(err)
	}
}
