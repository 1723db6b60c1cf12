package handlers_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// Lists of thousands of visits are kept in chunks: they answer as short ones
// do, while visits come, move and change and their travellers with them.
func TestLongLists(t *testing.T) {
	bothModes(t, func(t *testing.T, ready bool) {
		p := newPair(t, newStore(t, ready))
		random := rand.New(rand.NewPCG(3, 3))
		for id := range 3 {
			p.ask("POST", "/users/new", fmt.Sprintf(`{"id":%d,"email":"%d","first_name":"a","last_name":"b","gender":"m","birth_date":%d}`, id, id, id*400_000_000))
			p.ask("POST", "/locations/new", fmt.Sprintf(`{"id":%d,"distance":%d,"place":"p%d","country":"c%d","city":"d"}`, id, id*10, id, id))
		}
		date := func() int {
			if random.IntN(3) == 0 {
				return 500 // a crowd on one date
			}
			return random.IntN(1000)
		}
		look := func() {
			a, b := date(), date()
			for id := range 3 {
				p.ask("GET", fmt.Sprintf("/users/%d/visits?fromDate=%d&toDate=%d&toDistance=15", id, a, b), "")
				p.ask("GET", fmt.Sprintf("/locations/%d/avg?fromDate=%d&toDate=%d", id, a, b), "")
				p.ask("GET", fmt.Sprintf("/locations/%d/avg?fromDate=%d", id, a), "")
				p.ask("GET", fmt.Sprintf("/locations/%d/avg?fromAge=35&gender=%s", id, pick(random, "m", "f")), "")
			}
		}
		n := rounds(6000)
		for i := range n {
			p.ask("POST", "/visits/new", fmt.Sprintf(`{"id":%d,"user":%d,"location":%d,"visited_at":%d,"mark":%d}`, i, random.IntN(3), random.IntN(3), date(), random.IntN(6)))
			if i%500 == 0 {
				look()
			}
		}
		for i := range n {
			switch random.IntN(100) {
			case 0:
				p.ask("POST", fmt.Sprintf("/users/%d", random.IntN(3)), fmt.Sprintf(`{"gender":"%s","birth_date":%d}`, pick(random, "m", "f"), random.IntN(1_000_000_000)))
				look()
			case 1, 2, 3:
				p.ask("POST", fmt.Sprintf("/visits/%d", random.IntN(n)), fmt.Sprintf(`{"user":%d,"location":%d}`, random.IntN(3), random.IntN(3)))
			case 4, 5, 6:
				p.ask("POST", fmt.Sprintf("/visits/%d", random.IntN(n)), fmt.Sprintf(`{"visited_at":%d,"mark":%d}`, date(), random.IntN(6)))
			default:
				p.ask("POST", fmt.Sprintf("/visits/%d", i), fmt.Sprintf(`{"location":0,"visited_at":%d}`, date()))
			}
		}
		look()
		for id := range 3 {
			p.ask("GET", fmt.Sprintf("/users/%d/visits", id), "")
		}
	})
}
