package config

import "redoubt/internal/jsonc"

// Schema is a configuration with all keys, their defaults and a line of help
// each. Parse takes it, also when its examples, which begin with //, are no
// comments any more.
func Schema() []byte {
	return jsonc.Sample(`All keys of the proxy's configuration, with their defaults. Only upstreams, their servers
and a route's upstream must be there. Lines that begin with // are examples: take // away.
Comments may stand anywhere, and commas at the end.
`, new(reader).fields())
}
