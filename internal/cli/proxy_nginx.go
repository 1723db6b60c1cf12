package cli

import (
	"fmt"
	"strings"

	"redoubt/proxy/config"
	"redoubt/proxy/nginxconf"
)

// convertNginx writes a configuration of the proxy that does what one of nginx says, and
// tells on standard error what is missing from it.
func convertNginx(s *streams, file string) error {
	r, err := nginxconf.Translate(file)
	if err != nil {
		return badInput(fileError("--nginx", err))
	}
	if _, err := config.Parse(file, r.Text, config.Options{}); err != nil {
		return fmt.Errorf("--nginx %s: what became of it is no configuration, please report that: %w", file, err)
	}
	s.out.Write(r.Text) // out remembers what fails
	for _, n := range r.Notes {
		fmt.Fprintln(s.err, clean(n.String()))
	}
	if r.Left > 0 {
		fmt.Fprintf(s.err, "redoubt proxy: %s: %d of %d rules for bodies could not be carried over, or not everywhere\n", file, r.Left, r.Rules)
	}
	return nil
}

// clean keeps what a file brought from taking over a terminal.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' || r == 0x7f {
			return '?'
		}
		return r
	}, text)
}
