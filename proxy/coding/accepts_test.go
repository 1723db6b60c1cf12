package coding

import "testing"

func TestParse(t *testing.T) {
	for name, want := range map[string]Coding{
		"gzip": Gzip, "GZip": Gzip, "x-gzip": Gzip, "deflate": Deflate, "br": Brotli, "zstd": Zstd,
		"": Identity, "none": Identity, "identity": Identity, "None": Identity,
	} {
		if c, ok := Parse([]byte(name)); c != want || !ok {
			t.Errorf("%q: %v %t", name, c, ok)
		}
	}
	for _, name := range []string{"compress", "gzip2", "x-br", "*", "zst"} {
		if c, ok := Parse([]byte(name)); ok {
			t.Errorf("%q: %v", name, c)
		}
	}
}

func TestAccepts(t *testing.T) {
	takes := func(a *Accepts) (s string) {
		for _, c := range all[1:] {
			if a.Takes(c) {
				s += " " + c.String()
			}
		}
		return s
	}
	for _, c := range []struct {
		fields       []string
		takes, asked string
		answer       Coding // of a body that has come in br
	}{
		{nil, "", "identity", Identity}, // one who has not said gets none
		{[]string{""}, "", "identity", Identity},
		{[]string{"gzip"}, " gzip", "gzip", Gzip},
		{[]string{"gzip, deflate, br, zstd"}, " gzip deflate br zstd", "gzip, deflate, br, zstd", Gzip},
		{[]string{"br"}, " br", "br", Brotli},
		{[]string{"BR;Q=1.0 , sdch"}, " br", "br", Brotli},
		{[]string{"br;q=0.5", "gzip;q=0"}, " br", "br;q=0.500", Brotli},
		{[]string{"gzip;q=0.8, br;q=0.123,identity;q=0"}, " gzip br", "gzip;q=0.800, br;q=0.123, identity;q=0", Gzip},
		{[]string{"*"}, " gzip deflate br zstd", "gzip, br, zstd, deflate", Gzip},
		{[]string{"*;q=0.5, gzip;q=0, br"}, " deflate br zstd", "br, zstd;q=0.500, deflate;q=0.500", Brotli},
		{[]string{"*;q=0"}, "", "identity", Identity},
		{[]string{"compress, identity"}, "", "identity", Identity},
		{[]string{"gzip;q=2, br;q=x, zstd;q=0.1234, deflate;p=1"}, "", "identity", Identity}, // weights that are none
		{[]string{"gzip;q=1.001"}, "", "identity", Identity},
		{[]string{"gzip;q=0.0"}, "", "identity", Identity},
		{[]string{"gzip;q=0, gzip"}, "", "identity", Identity}, // the first counts
		{[]string{",, gzip ,,"}, " gzip", "gzip", Gzip},
		{[]string{"x-gzip"}, " gzip", "gzip", Gzip},
	} {
		var a Accepts
		for _, f := range c.fields {
			a.Add([]byte(f))
		}
		if got := takes(&a); got != c.takes {
			t.Errorf("%q takes%s, want%s", c.fields, got, c.takes)
		}
		if got := string(a.Append([]byte("x"))); got != "x"+c.asked {
			t.Errorf("%q: a server is asked for %q, want %q", c.fields, got[1:], c.asked)
		}
		if got := a.Answer(Brotli); got != c.answer {
			t.Errorf("%q: br goes on as %v, want %v", c.fields, got, c.answer)
		}
		if got := a.Answer(Identity); got != Identity {
			t.Errorf("%q: identity goes on as %v", c.fields, got)
		}
	}
	var a Accepts
	value := []byte("gzip;q=0.8, br, zstd;q=0.1, *;q=0")
	room := make([]byte, 0, 200)
	if n := testing.AllocsPerRun(100, func() { a = Accepts{}; a.Add(value); room = a.Append(room[:0]) }); n > 1 && !instrumented {
		t.Errorf("%v allocations", n)
	}
}
