package nginxconf

import (
	"strings"

	"redoubt/proxy/config"
)

// accepts asks the proxy whether it takes a part of a configuration, beside a server
// that all need. If not, the directive is told why.
func (t *translator) accepts(d *directive, key string, value any) bool {
	o := object{{key, value}}
	if key != "upstreams" {
		o.add("upstreams", object{{"origin", object{{"servers", []any{"127.0.0.1:9000"}}}}})
	}
	_, err := config.Parse("nginx", []byte(inline(o)), config.Options{})
	if err != nil {
		_, reason, _ := strings.Cut(err.Error(), ": ") // behind the place
		t.notes.add(d, "%s; it is left out", reason)
	}
	return err == nil
}

// matches asks about the host or the path of a route.
func (t *translator) matches(d *directive, key, value string) bool {
	return t.accepts(d, "routes", []any{object{{"match", object{{key, value}}}, {"upstream", "origin"}}})
}
