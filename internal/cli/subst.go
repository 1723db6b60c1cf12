package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"redoubt/proxy/subst"
)

type substCmd struct {
	Rules   string   `placeholder:"FILE.json" help:"Rules: a list of {\"find\", \"put\", \"flags\"}, or a body object as in the proxy's configuration."`
	Replace replaces `sep:"none" placeholder:"s/RE/TEXT/gi" help:"A rule; may be repeated. Any delimiter will do for /."`
	Match   string   `placeholder:"MODE" help:"Which of the matches that begin leftmost wins: longest (the default), or first as in Perl."`
	Hold    string   `placeholder:"SIZE" help:"The longest match, in bytes or such as 8k or 1m (8k). So much is held back at most."`
	Pieces  string   `placeholder:"N" help:"Cut the input into pieces of N bytes. The output is the same."`
	Show    bool     `help:"Colour what was put in by its rule. A legend with counts follows on standard error."`
	Stats   bool     `help:"Report bytes, speed, replacements by rule and warnings on standard error."`
	File    string   `arg:"" optional:"" help:"The text; - or nothing is standard input."`
}

// Help is shown below the flags' line.
func (*substCmd) Help() string {
	return `A stream editor: replaces by all rules at once, in one pass, and writes what is certain as soon as it is. Rules do not see
each other's output. Where several match, the one that begins leftmost wins, then the longest, then the earlier rule.

A rule is s/RE/TEXT/FLAGS:
  RE      Go's syntax; it matches bytes, . is one byte
  TEXT    $1 or ${1} is a group, $& the whole match, $$ a dollar sign
  FLAGS   g replaces every match and not only the first, i ignores case, l takes RE as literal text
A backslash before the delimiter takes its meaning away.

  redoubt subst --replace 's/colour/color/gi' book.txt
  redoubt subst --replace 's|(https?:)?//origin\.example|$1//shop.example|g' --replace 's/\d{16}/(card)/g' < page.html
  tail -f access.log | redoubt subst --show --replace 's/ (5\d\d) / $1 /g'
  redoubt subst --rules rules.json --stats big.html > rewritten.html

rules.json, with comments:
  [ {"find": "(https?:)?//origin\\.example", "put": "$1//shop.example", "flags": "gi"},   // \\ is one backslash
    {"find": "TODO: *", "put": ""} ]

Exits with 0 at the end of the text, 1 if it could not be read or written or the run was interrupted, 2 for wrong flags or
rules. docs/subst.md has the rules' meaning in full.`
}

func (c *substCmd) Run(s *streams) error {
	rules, set, err := c.compile()
	if err != nil {
		return badInput(err)
	}
	pieces := 0
	if c.Pieces != "" {
		if pieces, err = parseSize(c.Pieces); err != nil {
			return badInput(fmt.Errorf("--pieces %w", err))
		}
	}
	in, err := c.open()
	if err != nil {
		return badInput(err)
	}
	defer in.Close()
	e := newEditor(set, s.out, pieces)
	err = e.edit(s.ctx, in)
	if c.Stats {
		e.printStats(s.err, set.Info())
	}
	if c.Stats || c.Show {
		printRules(s.err, rules, set.Info(), e.stream.Stats().Matches, c.Show, c.Stats)
	}
	return err
}

// compile makes the set that the flags ask for, and returns its rules as they
// were written.
func (c *substCmd) compile() ([]subst.Rule, *subst.Set, error) {
	var o subst.Options
	var rules []subst.Rule
	var where func(*subst.RuleError) error
	switch {
	case c.Rules != "" && len(c.Replace) > 0:
		return nil, nil, errors.New("--rules and --replace do not go together: write all rules into the file")
	case c.Rules == "" && len(c.Replace) == 0:
		return nil, nil, errors.New("nothing to replace: give --replace 's/RE/TEXT/g' or --rules FILE.json")
	case c.Rules != "":
		f, err := readRules(c.Rules)
		if err != nil {
			return nil, nil, err
		}
		rules, o, where = f.rules, f.options, f.ruleError
	default:
		var err error
		if rules, err = c.Replace.rules(); err != nil {
			return nil, nil, err
		}
		where = c.Replace.wrong
	}
	var err error
	if c.Match != "" {
		if o.Match, err = parseMatch(c.Match); err != nil {
			return nil, nil, fmt.Errorf("--match %w", err)
		}
	}
	if c.Hold != "" {
		if o.Hold, err = parseSize(c.Hold); err != nil {
			return nil, nil, fmt.Errorf("--hold %w", err)
		}
	}
	set, err := subst.Compile(rules, o)
	if err == nil && c.Show {
		set, err = subst.Compile(coloured(rules), o)
	}
	if bad, ok := errors.AsType[*subst.RuleError](err); ok {
		return nil, nil, where(bad)
	}
	return rules, set, err
}

// open opens the text.
func (c *substCmd) open() (io.ReadCloser, error) {
	if c.File == "" || c.File == "-" {
		return io.NopCloser(os.Stdin), nil // whoever reads from it may still be at it
	}
	f, err := os.Open(c.File)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err == nil && info.IsDir() {
		f.Close()
		return nil, fmt.Errorf("%s is a folder: name a file", c.File)
	}
	return f, nil
}

// colours of rules, in turn: the foreground's numbers of ANSI terminals.
// Inverted, so that blanks show, too.
func colourOf(rule int) int { return [...]int{32, 33, 36, 35, 34, 31}[rule%6] }

// coloured returns rules that put the same in colour. What is put in place of
// something is shown; what is only removed, too, crossed out.
func coloured(rules []subst.Rule) []subst.Rule {
	rules = slices.Clone(rules)
	for i := range rules {
		style, put := "7", rules[i].Put
		if put == "" {
			style, put = "9", "$&"
		}
		rules[i].Put = fmt.Sprintf("\x1b[%s;%dm%s\x1b[0m", style, colourOf(i), put)
	}
	return rules
}
