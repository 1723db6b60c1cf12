package subst

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// page is HTML of about so many bytes, with a domain that rules look for in
// every kilobyte or so.
func page(size int) string {
	rnd := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("the of and to in that it was for on are with as his they be at one have this from or had by hot but some what there we can out other were all your when up use word how said an each she which do their time if will way about many then them would write like so these her long make thing see him two has look more day could go come did my sound no most number who over know water than call first people may down side been now find any new work part take get place made live where after back little only round man year came show every good me give our under name very through just form much great think say help low line before turn cause same mean differ move right boy old too does tell sentence set three want air well also play small end put home read hand port large spell add even land here must big high such follow act why ask men change went light kind off need house picture try us again animal point mother world near build self earth father")
	word := func() string { return words[rnd.IntN(len(words))] }
	var b strings.Builder
	b.WriteString("<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"><title>A page</title></head>\n<body>\n")
	for b.Len() < size {
		fmt.Fprintf(&b, "<div class=\"%s-%s\" id=\"%s%d\">\n  <h2>%s %s</h2>\n  <p>", word(), word(), word(), rnd.IntN(1000), word(), word())
		for range 60 + rnd.IntN(60) {
			b.WriteString(word())
			b.WriteByte(" .,"[max(0, rnd.IntN(12)-9)])
		}
		if rnd.IntN(2) == 0 {
			fmt.Fprintf(&b, "<a href=\"https://www.origin.example/%s/%s?id=%d\">%s</a>", word(), word(), rnd.IntN(100000), word())
		}
		b.WriteString("</p>\n</div>\n")
	}
	return b.String()[:size]
}

// tenRules are of the kinds that pages are rewritten with.
func tenRules() []Rule {
	return []Rule{
		{`(https?:)?//(www\.)?origin\.example`, `$1//shop.example`, "gi"},
		{`cdn[0-9]+\.origin\.example`, "cdn.shop.example", "g"},
		{`<script[^>]*tracker[^>]*></script>`, "", "gi"},
		{`UA-[0-9]{4,9}-[0-9]{1,4}`, "UA-0-0", "g"},
		{`(?i)<meta name="generator"[^>]*>`, "", "g"},
		{`\bcolour\b`, "color", "g"},
		{`session_id=[0-9a-f]{8,32}`, "session_id=0", "g"},
		{`</head>`, `<link rel="stylesheet" href="/x.css"></head>`, ""},
		{`[0-9]{1,3}(\.[0-9]{1,3}){3}`, "0.0.0.0", "g"},
		{`data-src="([^"]*)"`, `src="$1"`, "g"},
	}
}

// thirtyRules are those and twenty domains.
func thirtyRules() []Rule {
	rules := tenRules()
	for i := range 20 {
		rules = append(rules, Rule{fmt.Sprintf(`(https?:)?//([a-z0-9-]+\.)?site%02d\.example`, i), fmt.Sprintf("$1//mirror%02d.example", i), "g"})
	}
	return rules
}

// bareTable is a table of the size that ten rules need, with entries that lead all
// about.
func bareTable(b *testing.B) (table []uint32, classOf [256]uint8) {
	set, err := Compile(tenRules(), Options{})
	if err != nil {
		b.Fatal(err)
	}
	stride := uint32(set.stride)
	table = make([]uint32, 64*stride)
	for i := range table {
		table[i] = uint32(i*7%64) * stride
	}
	return table, set.program.classOf
}

// BenchmarkBareWalk is what a table costs that is asked for each byte, where
// the answer is where to ask next.
func BenchmarkBareWalk(b *testing.B) {
	text := []byte(page(4 << 20))
	table, classOf := bareTable(b)
	b.SetBytes(int64(len(text)))
	row := uint32(0)
	for b.Loop() {
		row = walk(table, &classOf, text, row)
	}
}

// walk is apart from the benchmark, whose loop keeps variables in memory.
//
//go:noinline
func walk(table []uint32, classOf *[256]uint8, text []byte, row uint32) uint32 {
	for _, b := range text {
		row = table[row+uint32(classOf[b])]
	}
	return row
}

// BenchmarkLanes is two such walks in turn, through either half of a text.
func BenchmarkLanes(b *testing.B) {
	text := []byte(page(4 << 20))
	table, classOf := bareTable(b)
	b.SetBytes(int64(len(text)))
	one, two := uint32(0), uint32(0)
	for b.Loop() {
		one, two = walkTwo(table, &classOf, text, one, two)
	}
}

//go:noinline
func walkTwo(table []uint32, classOf *[256]uint8, text []byte, one, two uint32) (uint32, uint32) {
	half := len(text) / 2
	first, second := text[:half], text[half:2*half]
	for i := range first {
		one = table[one+uint32(classOf[first[i]])]
		two = table[two+uint32(classOf[second[i]])]
	}
	return one, two
}

func BenchmarkReplace(b *testing.B) {
	text := []byte(page(4 << 20))
	for _, c := range []struct {
		name  string
		rules []Rule
	}{
		{"1", []Rule{{"origin.example", "shop.example", "gl"}}},
		{"10", tenRules()},
		{"30", thirtyRules()},
		{"word+ing", []Rule{{"[a-z]+ing", "", "g"}}},
		{"digits", []Rule{{`\d+`, "", "g"}}},
	} {
		for _, mode := range []Match{Longest, First} {
			b.Run(fmt.Sprintf("%s/%v", c.name, []string{"longest", "first"}[mode]), func(b *testing.B) {
				set, err := Compile(c.rules, Options{Match: mode})
				if err != nil {
					b.Fatal(err)
				}
				t := set.NewStream()
				n := 0
				emit := func(piece []byte) { n += len(piece) }
				b.SetBytes(int64(len(text)))
				b.ReportAllocs()
				for b.Loop() {
					t.Reset()
					for from := 0; from < len(text); from += 16 << 10 {
						t.FeedTo(text[from:min(from+16<<10, len(text))], emit)
					}
					t.FinishTo(emit)
				}
			})
		}
	}
}

// BenchmarkFind is the search alone: going over each byte, to compare with
// BenchmarkBareWalk, and skipping.
func BenchmarkFind(b *testing.B) {
	text := []byte(page(4 << 20))
	for _, rules := range [][]Rule{tenRules(), thirtyRules()} {
		for _, skips := range []bool{false, true} {
			b.Run(fmt.Sprintf("%d/skipping=%v", len(rules), skips), func(b *testing.B) {
				set, err := Compile(rules, Options{})
				if err != nil {
					b.Fatal(err)
				}
				if !skips {
					set.skipper = nil
				}
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					set.FindAll(text, func(start, end, rule int) bool { return true })
				}
			})
		}
	}
}
