package data

import (
	"encoding/json"
	"testing"

	jsoniter "github.com/json-iterator/go"

	"redoubt/store"
)

// Records as the official set has them.
var plainRecords = map[kind][]byte{
	users:     []byte(`{"first_name": "Мирослав", "last_name": "Фетленкий", "birth_date": -506476800, "gender": "m", "id": 10003, "email": "nanipenfepsensatrec@mail.ru"}`),
	locations: []byte(`{"distance": 80, "city": "Барсдорф", "place": "Поместье", "id": 3003, "country": "Белоруссия"}`),
	visits:    []byte(`{"user": 3875, "location": 3490, "visited_at": 1321301734, "id": 100001, "mark": 2}`),
}

func BenchmarkReader(b *testing.B) {
	for k := users; k < kinds; k++ {
		src := plainRecords[k]
		b.Run(k.String(), func(b *testing.B) {
			var r Reader
			var u store.User
			var l store.Location
			var v store.Visit
			b.SetBytes(int64(len(src)))
			b.ReportAllocs()
			for b.Loop() {
				var err error
				switch k {
				case users:
					err = r.User(src, &u)
				case locations:
					err = r.Location(src, &l)
				case visits:
					err = r.Visit(src, &v)
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkReaderEscaped reads a user whose strings are all escapes, as
// Python's json.dumps writes them.
func BenchmarkReaderEscaped(b *testing.B) {
	src := []byte(`{"first_name": "\u041c\u0438\u0440\u043e\u0441\u043b\u0430\u0432", "last_name": "\u0424\u0435\u0442\u043b\u0435\u043d\u043a\u0438\u0439", "birth_date": -506476800}`)
	var r Reader
	var u store.User
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		if err := r.User(src, &u); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPlain looks for the ends of a user's strings, in words and byte by
// byte.
func BenchmarkPlain(b *testing.B) {
	texts := [][]byte{[]byte(`Мирослав", "last_name`), []byte(`Фетленкий", "birth_date`), []byte(`m", "id": 10003`), []byte(`nanipenfepsensatrec@mail.ru"}`)}
	for name, find := range map[string]func([]byte, int) int{"words": plain, "bytes": plainBytes} {
		b.Run(name, func(b *testing.B) {
			sum := 0
			for b.Loop() {
				for _, s := range texts {
					sum += find(s, 0)
				}
			}
			if sum != b.N*(16+18+1+27) {
				b.Fatal(sum)
			}
		})
	}
}

// The same records by the libraries, which check less.

type visitFields struct {
	ID        uint32 `json:"id"`
	Location  uint32 `json:"location"`
	User      uint32 `json:"user"`
	VisitedAt int32  `json:"visited_at"`
	Mark      uint8  `json:"mark"`
}

type userFields struct {
	ID        uint32 `json:"id"`
	Email     string `json:"email"`
	FirstName string `json:"first_name"`
	LastName  string `json:"last_name"`
	Gender    string `json:"gender"`
	BirthDate int32  `json:"birth_date"`
}

func BenchmarkEncodingJSON(b *testing.B) { benchmarkUnmarshal(b, json.Unmarshal) }

func BenchmarkJSONIterator(b *testing.B) {
	benchmarkUnmarshal(b, jsoniter.ConfigFastest.Unmarshal)
}

func benchmarkUnmarshal(b *testing.B, unmarshal func([]byte, any) error) {
	b.Run("users", func(b *testing.B) {
		b.SetBytes(int64(len(plainRecords[users])))
		b.ReportAllocs()
		for b.Loop() {
			var u userFields
			if err := unmarshal(plainRecords[users], &u); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("visits", func(b *testing.B) {
		b.SetBytes(int64(len(plainRecords[visits])))
		b.ReportAllocs()
		for b.Loop() {
			var v visitFields
			if err := unmarshal(plainRecords[visits], &v); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkJSONIteratorVisit uses the Iterator API, field by field.
func BenchmarkJSONIteratorVisit(b *testing.B) {
	src := plainRecords[visits]
	it := jsoniter.NewIterator(jsoniter.ConfigFastest)
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		var v visitFields
		it.ResetBytes(src)
		for field := it.ReadObject(); field != ""; field = it.ReadObject() {
			switch field {
			case "id":
				v.ID = it.ReadUint32()
			case "location":
				v.Location = it.ReadUint32()
			case "user":
				v.User = it.ReadUint32()
			case "visited_at":
				v.VisitedAt = it.ReadInt32()
			case "mark":
				v.Mark = it.ReadUint8()
			}
		}
		if it.Error != nil {
			b.Fatal(it.Error)
		}
	}
}
