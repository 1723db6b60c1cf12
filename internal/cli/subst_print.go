package cli

import (
	"fmt"
	"io"
	"strings"
	"unicode"

	"redoubt/proxy/subst"
)

// printStats writes what a run has met, for people.
func (e *editor) printStats(w io.Writer, info subst.Info) {
	stats := e.stream.Stats()
	perByte, speed := 0.0, 0.0
	if e.in > 0 {
		perByte = float64(stats.Steps) / float64(e.in)
	}
	if work := (e.took - e.to.took).Seconds(); work > 0 {
		speed = float64(e.in) / 1e6 / work
	}
	fmt.Fprintf(w, "in        %15s bytes\n", thousands(e.in))
	fmt.Fprintf(w, "out       %15s bytes\n", thousands(e.to.n))
	fmt.Fprintf(w, "speed     %15.1f MB/s, without reading and writing\n", speed)
	fmt.Fprintf(w, "steps     %15.2f a byte\n", perByte)
	fmt.Fprintf(w, "overruns  %15s beginnings given up at the hold limit\n", thousands(stats.Overruns))
	if info.Skips && info.Rate > 0 {
		fmt.Fprintf(w, "skipping  %15v finds what rules are looked for by, about once in %.0f bytes\n", info.Kernel, 1/info.Rate)
	} else if !info.Skips {
		fmt.Fprintf(w, "skipping  %15s every byte is looked at\n", "no:")
	}
}

// printRules writes a line a rule with how often it has replaced, and with
// details what it is looked for by.
func printRules(w io.Writer, rules []subst.Rule, info subst.Info, counts []int64, colour, details bool) {
	fmt.Fprintf(w, "rule      %15s\n", "replaced")
	for i, r := range rules {
		text := ruleText(r)
		if colour {
			text = fmt.Sprintf("\x1b[7;%dm%s\x1b[0m", colourOf(i), text)
		}
		fmt.Fprintf(w, "%-6d    %15s  %s\n", i+1, thousands(counts[i]), text)
		if !details {
			continue
		}
		if r := info.Rules[i]; r.Class != subst.Walked && r.Min >= 0 {
			fmt.Fprintf(w, "%27slooked for by %s (%v)\n", "", shortList(r.Signs), r.Class)
		}
		for _, warning := range info.Rules[i].Warnings {
			fmt.Fprintf(w, "%27swarning: %s\n", "", warning)
		}
	}
}

// shortList names the first few of many.
func shortList(all []string) string {
	const most = 4
	if len(all) <= most {
		return strings.Join(all, " or ")
	}
	return fmt.Sprintf("%s, or %d others", strings.Join(all[:most], ", "), len(all)-most)
}

// ruleText is a rule in the form of --replace, on one line and not too long.
func ruleText(r subst.Rule) string {
	delimiter := "/"
	for _, d := range []string{"/", "|", ",", "#", "!", "%", "@", "~"} {
		if !strings.Contains(r.Find+r.Put, d) {
			delimiter = d
			break
		}
	}
	short := func(text string) string {
		const most = 60
		text = strings.Map(func(c rune) rune {
			switch {
			case c < ' ':
				return '␀' + c // the picture of a control character
			case !unicode.IsPrint(c):
				return '·'
			}
			return c
		}, text)
		if runes := []rune(text); len(runes) > most {
			text = string(runes[:most-1]) + "…"
		}
		return text
	}
	return "s" + delimiter + short(r.Find) + delimiter + short(r.Put) + delimiter + r.Flags
}
