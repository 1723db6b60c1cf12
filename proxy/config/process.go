package config

import "redoubt/internal/jsonc"

// checkProcess looks for what does not go together with the process that the
// configuration is for.
func (r *reader) checkProcess(v jsonc.Value) error {
	if r.options.API != "" {
		if servers, ok := at(v, "upstreams", apiName, "servers"); ok {
			return servers.Errorf("the upstream %q is the API in this process, and has no other servers; leave \"servers\" out, or give the upstream another name", apiName)
		}
		if admin, ok := at(v, "admin"); ok && r.Admin != "" {
			return admin.Errorf("\"admin\" is --admin's part here: it tells of the API and of the proxy; leave it out")
		}
	}
	for _, u := range r.Upstreams {
		if u.Connections > 0 && u.Connections < r.options.Loops {
			most, _ := at(v, "upstreams", u.Name, "connections")
			return most.Errorf("connections %d: that is fewer than the %d event loops, which share them: allow as many, or use fewer --workers", u.Connections, r.options.Loops)
		}
	}
	return nil
}

// at is the value that has these names on its way from the outside in.
func at(v jsonc.Value, names ...string) (found jsonc.Value, ok bool) {
	if len(names) == 0 {
		return v, true
	}
	_ = v.Members("", func(name string, _, inner jsonc.Value) error { // what is no object has none
		if name == names[0] {
			found, ok = at(inner, names[1:]...)
		}
		return nil
	})
	return found, ok
}
