package filter

import (
	"errors"
	"math"
	"net/netip"
	"regexp"
	"strings"
	"testing"
)

func TestErrorsNameWhatIsWrong(t *testing.T) {
	any := regexp.MustCompile(".")
	for _, test := range []struct {
		o      Options
		field  string
		index  int
		reason string // a part of it
	}{
		{Options{Answer: 200}, "answer", -1, "200"},
		{Options{Answer: 600}, "answer", -1, "600"},
		{Options{Answer: -2}, "answer", -1, "-2"},
		{Options{Connections: -1}, "connections", -1, "negative"},
		{Options{Networks: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), {}}}, "networks", 1, "no network"},
		{Options{Networks: prefixes("::ffff:10.0.0.0/95")}, "networks", 0, "IPv4"},
		{Options{Methods: []string{"GET", ""}}, "methods", 1, `""`},
		{Options{Methods: []string{"A B"}}, "methods", 0, `"A B"`},
		{Options{Methods: []string{"GÉT"}}, "methods", 0, "no method"},
		{Options{Methods: []string{strings.Repeat("M", 65)}}, "methods", 0, "no method"},
		{Options{Paths: []string{"/a", "b"}}, "paths", 1, "slash"},
		{Options{Paths: []string{""}}, "paths", 0, "slash"},
		{Options{Paths: []string{"*"}}, "paths", 0, "slash"},
		{Options{Paths: []string{"/a", "/b", "/*/c"}}, "paths", 2, "star"},
		{Options{Paths: []string{"/a**"}}, "paths", 0, "star"},
		{Options{Paths: []string{"/a?b=*"}}, "paths", 0, "queries"},
		{Options{Paths: []string{"/a#b"}}, "paths", 0, "queries"},
		{Options{Headers: []Header{{"A", any}, {"B:", any}}}, "headers", 1, `"B:"`},
		{Options{Headers: []Header{{"", any}}}, "headers", 0, "name"},
		{Options{Headers: []Header{{"A", nil}}}, "headers", 0, "match"},
		{Options{Rate: Rate{Burst: 5}}, "rate.requests", -1, "more than 0"},
		{Options{Rate: Rate{Requests: -1}}, "rate.requests", -1, "-1"},
		{Options{Rate: Rate{Requests: math.NaN()}}, "rate.requests", -1, "NaN"},
		{Options{Rate: Rate{Requests: math.Inf(1)}}, "rate.requests", -1, "million"},
		{Options{Rate: Rate{Requests: 1e6 + 1}}, "rate.requests", -1, "million"},
		{Options{Rate: Rate{Requests: 5, Burst: -1}}, "rate.burst", -1, "negative"},
		{Options{Rate: Rate{Requests: 1, Burst: math.MaxInt}}, "rate.burst", -1, "ten years"},
		{Options{Rate: Rate{Requests: math.SmallestNonzeroFloat64}}, "rate.burst", -1, "ten years"},
	} {
		f, err := New(test.o, nil)
		var e *Error
		if f != nil || !errors.As(err, &e) {
			t.Errorf("%+v: %v, %v", test.o, f, err)
			continue
		}
		if e.Field != test.field || e.Index != test.index || !strings.Contains(e.Reason, test.reason) {
			t.Errorf("%+v: %#v", test.o, e)
		}
	}
	if got := (&Error{"paths", 2, "bad"}).Error(); got != "paths[2]: bad" {
		t.Error(got)
	}
	if got := (&Error{"answer", -1, "bad"}).Error(); got != "answer: bad" {
		t.Error(got)
	}
}

func TestWhatIsAllowed(t *testing.T) {
	for _, o := range []Options{
		{},
		{Answer: 400}, {Answer: 599}, {Answer: CloseSilently},
		{Rate: Rate{Requests: 1e6, Burst: 1e9}},
		{Rate: Rate{Requests: 1. / 86400}},
		{Paths: []string{"/", "/*", "/a b", "/café/*", "/%zz", "/a%2a"}},
	} {
		if _, err := New(o, nil); err != nil {
			t.Errorf("%+v: %v", o, err)
		}
	}
}
