package subst_test

import (
	"fmt"
	"io"
	"os"
	"strings"

	"redoubt/proxy/subst"
)

// The pieces of a body as they come from the network. Only what is part of an
// open match waits for the next one.
func ExampleStream() {
	set, err := subst.Compile([]subst.Rule{
		{Find: `(https?:)?//origin\.example`, Put: "$1//shop.example", Flags: "gi"},
		{Find: `colour`, Put: "color", Flags: "g"},
	}, subst.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	stream := set.NewStream()
	var out []byte
	for _, piece := range []string{`<a href="http://ori`, `gin.example/">colou`, `rful</a>`} {
		out = stream.Feed(out[:0], []byte(piece))
		fmt.Printf("%q, %d held\n", out, stream.Held())
	}
	fmt.Printf("%q\n", stream.Finish(out[:0]))
	fmt.Println(stream.Stats().Matches)
	// Output:
	// "<a href=\"", 10 held
	// "http://shop.example/\">", 5 held
	// "colorful</a>", 0 held
	// ""
	// [1 1]
}

// What stays as it is comes as slices of the piece, without a copy.
func ExampleStream_FeedTo() {
	set, err := subst.Compile([]subst.Rule{{Find: "cat", Put: "dog", Flags: "g"}}, subst.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	stream := set.NewStream()
	emit := func(part []byte) { fmt.Printf("%q\n", part) }
	stream.FeedTo([]byte("one cat, two cats, a c"), emit)
	stream.FinishTo(emit)
	// Output:
	// "one "
	// "dog"
	// ", two "
	// "dog"
	// "s, a "
	// "c"
}

func ExampleNewReader() {
	set, err := subst.Compile([]subst.Rule{{Find: `\bfoo\b`, Put: "bar", Flags: "g"}}, subst.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, _ = io.Copy(os.Stdout, subst.NewReader(strings.NewReader("foo, food and foo\n"), set))
	// Output: bar, food and bar
}

func ExampleSet_FindAll() {
	set, err := subst.Compile([]subst.Rule{{Find: "[0-9]+"}, {Find: "[0-9]+%"}, {Find: "[a-z]+"}}, subst.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	text := []byte("up 12 to 30%")
	set.FindAll(text, func(start, end, rule int) bool {
		fmt.Printf("rule %d: %s\n", rule, text[start:end])
		return true
	})
	// Output:
	// rule 2: up
	// rule 0: 12
	// rule 2: to
	// rule 1: 30%
}

// Errors tell the rule, the place and the way out.
func ExampleCompile_error() {
	_, err := subst.Compile([]subst.Rule{{Find: "a(b)c", Put: "$1"}, {Find: "price", Put: "$5"}}, subst.Options{})
	fmt.Println(err)
	// Output: rule 2: put, at byte 0: $5: find has no groups; write $$ for a dollar sign
}
