package nginxconf

import (
	"path"
	"slices"
	"strings"
)

// carriedOver are directives that others than walk have dealt with.
func carriedOver() []string {
	return []string{"http", "server", "upstream", "location", "listen", "server_name", "proxy_pass", "proxy_set_header", "proxy_hide_header", "add_header", "proxy_redirect",
		"sub_filter", "sub_filter_once", "sub_filter_types", "sub_filter_last_modified", "subs_filter", "subs_filter_types", "subs_filter_bypass",
		"replace_filter", "replace_filter_types", "replace_filter_max_buffered_size", "replace_filter_last_modified", "replace_filter_skip",
		"client_max_body_size", "client_header_timeout", "client_body_timeout", "proxy_read_timeout", "keepalive_timeout", "send_timeout", "proxy_connect_timeout",
		"set_real_ip_from", "real_ip_header", "allow", "deny", "limit_req", "limit_conn", "limit_req_zone", "limit_conn_zone", "set"}
}

// withoutEffect are directives that make no difference to what clients and servers
// get, here.
func withoutEffect() []string {
	return []string{"user", "worker_*", "pid", "pcre_jit", "daemon", "master_process", "events", "error_log", "env", "lock_file", "load_module", "thread_pool", "debug_*", "timer_resolution",
		"sendfile*", "tcp_nopush", "tcp_nodelay", "aio*", "directio*", "open_file_cache*", "reset_timedout_connection", "lingering_*", "output_buffers", "postpone_output", "read_ahead",
		"types", "types_hash_*", "default_type", "map_hash_*", "server_names_hash_*", "variables_hash_*", "proxy_headers_hash_*", "server_name_in_redirect", "port_in_redirect",
		"server_tokens", "log_format", "open_log_file_cache", "log_not_found", "log_subrequest", "client_body_*", "client_header_buffer_size", "large_client_header_buffers",
		"connection_pool_size", "request_pool_size", "keepalive_requests", "keepalive_disable", "keepalive_time", "proxy_http_version", "proxy_buffer*", "proxy_busy_buffers_size",
		"proxy_max_temp_file_size", "proxy_temp_*", "proxy_request_buffering", "proxy_socket_keepalive", "proxy_send_lowat", "subs_buffers", "resolver*", "limit_*_log_level",
		"real_ip_recursive", "index", "root", "alias", "etag", "if_modified_since", "chunked_transfer_encoding", "msie_*", "ssl_*", "recursive_error_pages", "gunzip", "gunzip_*",
		"satisfy", "absolute_redirect", "allow_methods", "proxy_pass_header", "underscores_in_headers", "ignore_invalid_headers", "gzip_*", "send_lowat", "fastcgi_*", "uwsgi_*", "scgi_*", "grpc_*", "memcached_*"}
}

// told are directives that make one, and what can be done. A * stands for any rest.
func told() []struct{ name, text string } {
	return []struct{ name, text string }{
		{"gzip", "nothing is compressed here that the server has not compressed; let the server do it"},
		{"brotli*", "nothing is compressed here that the server has not compressed; let the server do it"},
		{"access_log", "see \"log\": {\"file\": ..., \"format\": \"combined\"}; no log is written unless asked for"},
		{"rewrite", "see \"url\" in \"request\" for the path that the server gets; redirects cannot be written here"},
		{"return", "the proxy makes no answers of its own; let a server do it"},
		{"error_page", "the proxy has no pages of its own: errors of servers pass as they are"},
		{"proxy_intercept_errors", "errors of servers pass as they are"},
		{"try_files", "there are no files here: all requests go to the server"},
		{"if", "what is in it is left out; routes look at host and path only"},
		{"limit_except", "what is in it is left out; \"block.methods\" refuses methods, on all routes"},
		{"auth_basic*", "nobody is asked for a password: ANYBODY IS LET IN. Let the server ask"},
		{"auth_request*", "nobody is asked whether a request may pass: ANYBODY IS LET IN. Let the server ask"},
		{"auth_jwt*", "nobody is asked for a token: ANYBODY IS LET IN. Let the server ask"},
		{"valid_referers", "see \"block.headers\" for those who are refused"},
		{"ssl_verify_client", "nobody is asked for a certificate: ANYBODY IS LET IN. Let whoever speaks TLS ask"},
		{"secure_link*", "links are not checked: ANYBODY IS LET IN"},
		{"proxy_cache*", "nothing is cached here"},
		{"proxy_no_cache", "nothing is cached here"},
		{"proxy_store*", "nothing is stored here"},
		{"proxy_next_upstream*", "another server is tried if no connection could be had, or an idle one has ended without a byte of an answer, and then for GET, HEAD and OPTIONS only"},
		{"proxy_send_timeout", "a server that takes no more of a request counts as one that does not answer: \"timeouts.response\""},
		{"proxy_ssl_*", "servers are spoken to without TLS"},
		{"proxy_cookie_*", "see \"headers\" in \"response\": a rule for Set-Cookie does it"},
		{"proxy_method", "requests keep their method"},
		{"proxy_set_body", "requests keep their body"},
		{"proxy_pass_request_*", "requests are passed on as a whole"},
		{"proxy_bind", "the system chooses the address that servers see"},
		{"proxy_ignore_*", "see docs/proxy.md for what is passed on"},
		{"proxy_limit_rate", "answers come as fast as they are taken"},
		{"proxy_force_ranges", "ranges are up to the server"},
		{"limit_rate*", "answers come as fast as they are taken"},
		{"limit_req_status", "it is 429"},
		{"limit_conn_status", "it is 429"},
		{"limit_*_dry_run", "see \"block.dry_run\", which is for all of the filter"},
		{"expires", "write the fields as \"set\" in \"response\""},
		{"add_trailer", "trailers of servers are passed on, none is added"},
		{"charset*", "texts keep their encoding; see \"set\" in \"response\" for Content-Type"},
		{"merge_slashes", "paths are looked at as they were sent"},
		{"ssl", "TLS is not spoken here: let whoever does pass requests on"},
		{"http2*", "clients are spoken to in HTTP/1.1"},
		{"http3*", "clients are spoken to in HTTP/1.1"},
		{"mirror*", "requests go to one server"},
		{"*_by_lua*", "programs are not run"},
		{"lua_*", "programs are not run"},
		{"js_*", "programs are not run"},
		{"perl*", "programs are not run"},
		{"echo*", "the proxy makes no answers of its own; let a server do it"},
		{"more_*", "see \"remove\", \"set\" and \"add\" in \"request\" and \"response\""},
		{"ssi*", "nothing is included in pages"},
		{"addition_types", "nothing is added to pages"},
		{"add_before_body", "nothing is added to pages"},
		{"add_after_body", "nothing is added to pages"},
		{"map", "variables are not known here, but for those with one value (a single default)"},
		{"geo", "variables are not known here, but for those with one value (a single default)"},
		{"split_clients", "variables are not known here; \"share\" of \"body\" is for a part of the clients"},
		{"geoip*", "clients are told apart by their networks only"},
		{"stub_status", "see --admin: /metrics"},
		{"autoindex*", "there are no files here"},
		{"dav_*", "there are no files here"},
		{"random_index", "there are no files here"},
		{"stream", "the proxy is for HTTP only"},
		{"mail", "the proxy is for HTTP only"},
	}
}

// fits tells whether a name is one of a pattern.
func fits(pattern, name string) bool {
	ok, _ := path.Match(pattern, name)
	return ok
}

// walk goes over all directives of levels that were carried over, and tells of those
// that were not.
func (t *translator) walk(list []*directive) {
	carried, without, says := carriedOver(), withoutEffect(), told()
	for _, d := range list {
		off := len(d.args) == 1 && strings.EqualFold(d.args[0], "off")
		i := slices.IndexFunc(says, func(s struct{ name, text string }) bool { return fits(s.name, d.name) })
		switch {
		case t.handled[d]:
		case d.name == "server" || d.name == "http" || d.name == "location":
			t.inside(d)
		case slices.Contains(carried, d.name):
		case (d.name == "map" || d.name == "geo") && len(d.block) == 1 && d.block[0].name == "default", d.name == "map" && d.arg(0) == "$http_upgrade":
			// a constant, and what "upgrade" takes the place of
		case i >= 0 && !off:
			t.notes.add(d, "%s", says[i].text)
		case i >= 0 || slices.ContainsFunc(without, func(pattern string) bool { return fits(pattern, d.name) }):
			t.harmless[d.name]++
		default:
			t.notes.add(d, "not known here; it is left out")
		}
	}
}

// inside walks a level, if it was carried over.
func (t *translator) inside(d *directive) {
	modifier, _ := kind(d)
	switch {
	case d.name == "http" || t.met[d]:
		t.walk(d.block)
	case d.name == "server":
		t.notes.add(d, "no location of it sends requests on (%s); its hosts are answered as those that no server names", does(d.block))
	case modifier == "@":
		t.notes.add(d, "nothing that was carried over leads there")
	case modifier == "~" || modifier == "~*":
		t.notes.add(d, "%s", t.left[d])
	default: // told before, but some inside may have been carried over
		for _, in := range d.block {
			if in.name == "location" {
				t.inside(in)
			}
		}
	}
}

// does says what a level without proxy_pass answers by.
func does(block []*directive) string {
	for _, d := range block {
		if slices.Contains([]string{"return", "deny", "root", "alias", "fastcgi_pass", "uwsgi_pass", "scgi_pass", "grpc_pass", "stub_status", "rewrite", "internal", "try_files", "empty_gif", "echo", "memcached_pass"}, d.name) {
			return d.String()
		}
	}
	return "files"
}
