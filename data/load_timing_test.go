package data

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
)

// timingFiles returns a file of 10,000 records of each kind, with values as
// uneven as in the official sets.
func timingFiles() map[kind]string {
	rng := rand.New(rand.NewPCG(1, 2))
	names := []string{"Инна", "Роман", "Артём", "Борислав", "Алёна", "Людмила", "Мирослав", "Терленчан", "Стыкушутева", "Клерыкаина", "Фетленкий", "Пенленный"}
	places := []string{"Поместье", "Серпантин", "Ручей", "Дача", "Белстан", "Лиссадам", "Ньюква", "Барсдорф", "Белоруссия", "Мальдивы", "Лаос", "Эстония", "Санкт-Тюнск"}
	domains := []string{"icloud.com", "list.me", "ya.ru", "yahoo.com", "mail.ru", "inbox.com"}
	var records [kinds][]string
	for i := range 10_000 {
		letters := make([]byte, 5+rng.IntN(14))
		for i := range letters {
			letters[i] = 'a' + byte(rng.IntN(26))
		}
		records[users] = append(records[users], fmt.Sprintf(`{"first_name": "%s", "last_name": "%s", "birth_date": %d, "gender": "%c", "id": %d, "email": "%s@%s"}`,
			names[rng.IntN(len(names))], names[rng.IntN(len(names))], rng.IntN(2_000_000_000)-1_000_000_000, "mf"[rng.IntN(2)], 500_000+i, letters, domains[rng.IntN(len(domains))]))
		records[locations] = append(records[locations], fmt.Sprintf(`{"distance": %d, "city": "%s", "place": "%s", "id": %d, "country": "%s"}`,
			rng.IntN(100), places[rng.IntN(len(places))], places[rng.IntN(len(places))], 400_000+i, places[rng.IntN(len(places))]))
		records[visits] = append(records[visits], fmt.Sprintf(`{"user": %d, "location": %d, "visited_at": %d, "id": %d, "mark": %d}`,
			rng.IntN(1_000_000)+1, rng.IntN(760_000)+1, 946_684_800+rng.IntN(473_000_000), 5_000_000+i, rng.IntN(5)))
	}
	files := map[kind]string{}
	for k := users; k < kinds; k++ {
		files[k] = fileOf(k.String(), records[k]...)
	}
	return files
}

// BenchmarkFile reads a file's records, which differ, unlike those of
// BenchmarkReader, in what a CPU learns to foresee.
func BenchmarkFile(b *testing.B) {
	for k, text := range timingFiles() {
		b.Run(k.String(), func(b *testing.B) {
			src := []byte(text)
			w := worker{load: &load{ctx: context.Background()}, adder: nowhere{}}
			b.SetBytes(int64(len(src)))
			b.ReportAllocs()
			records := 0
			for b.Loop() {
				i, more := w.reader.begin(src, k)
				for more {
					var err error
					if i, err = w.record(k, src, i); err != nil {
						b.Fatal(err)
					}
					records++
					i, more = w.reader.after(src, i)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(records), "ns/record")
		})
	}
}

// BenchmarkLoad loads twelve files into nothing.
func BenchmarkLoad(b *testing.B) {
	set := map[string]string{}
	for k, text := range timingFiles() {
		for n := range 4 {
			set[fmt.Sprintf("%s_%d.json", k, n+1)] = text
		}
	}
	for name, dir := range map[string]string{"folder": folder(b, set), "zip": zipFolder(b, set)} {
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/workers=%d", name, workers), func(b *testing.B) {
				s, err := Open(dir)
				if err != nil {
					b.Fatal(err)
				}
				defer s.Close()
				b.SetBytes(s.Bytes())
				b.ReportAllocs()
				for b.Loop() {
					if _, err := s.Load(context.Background(), func() Adder { return nowhere{} }, workers, nil); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
