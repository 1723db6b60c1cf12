package main

import "strings"

var (
	sections = []string{"hero", "content", "teaser", "grid", "list", "footer-links", "product", "review", "sidebar", "banner", "card", "media"}
	hosts    = []string{"www.origin.example", "www.origin.example", "www.origin.example", "m.origin.example", "origin.example", "api.origin.example", "img.origin.example"}
	others   = []string{"www.partner.example", "maps.places.test", "video.stream.test", "social.people.test", "news.daily.test"}
	tongues  = []string{"de", "fr", "es", "it", "en"}
	boxes    = []string{"info", "sales", "press", "jobs", "support"}
)

// page is HTML: running text with its markup, and now and then what rules look
// for: a domain of the origin each KB, the rest less often.
func (w *writer) page(size int) {
	w.add("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>%s</title>\n", w.title())
	w.add("<meta name=\"generator\" content=\"OriginPress 6.2\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n")
	w.add("<link rel=\"stylesheet\" href=\"//static.origin.example/css/main.css?v=20260412\">\n</head>\n<body class=\"home page\">\n")
	for w.Len() < size {
		w.section()
	}
}

func (w *writer) section() {
	kind := w.of(sections)
	w.add("<section class=\"%s %s--%s\" id=\"%s-%d\">\n  <div class=\"container\">\n    <h2 class=\"%s__title\">%s</h2>\n",
		kind, kind, w.of([]string{"wide", "dark", "narrow", "plain"}), kind, w.below(10000), kind, w.title())
	for range 1 + w.below(3) {
		switch w.below(9) {
		default:
			w.paragraph()
		case 3, 4:
			w.links()
		case 5:
			w.figure()
		case 6:
			w.table()
		case 7:
			w.form()
		case 8:
			w.oddment()
		}
	}
	w.add("  </div>\n</section>\n")
}

func (w *writer) title() string {
	text := w.word()
	for range 1 + w.below(5) {
		text += " " + w.word()
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

func (w *writer) paragraph() {
	w.add("    <p>")
	for range 2 + w.below(4) {
		w.WriteString(w.title())
		for range 4 + w.below(16) {
			if w.in(12) {
				w.WriteByte(',')
			}
			w.WriteByte(' ')
			switch w.below(120) {
			default:
				w.WriteString(w.word())
			case 0:
				w.add("<a href=\"%s\">%s %s</a>", w.address(), w.word(), w.word())
			case 1:
				w.add("<strong>%s</strong>", w.word())
			case 2:
				w.add("<em class=\"%s\">%s</em>", w.word(), w.word())
			case 3:
				w.WriteString(w.digits(1 + w.below(4)))
			case 4:
				w.WriteString(w.of([]string{"café", "naïve", "“so”", "–", "&nbsp;", "&amp;", "it’s"}))
			}
		}
		w.WriteString(w.of([]string{". ", ". ", ". ", "? ", "! ", ": "}))
	}
	w.add("</p>\n")
}

// address is where a link leads to.
func (w *writer) address() string {
	path := "/" + w.word() + "/" + w.word()
	switch w.below(10) {
	case 0, 1:
		return "https://" + w.of(hosts) + path
	case 2:
		return "https://" + w.of(hosts) + "/" + w.of(tongues) + path + ".html"
	case 3:
		return "https://" + w.of(others) + path
	case 4:
		return path + "?id=" + w.digits(5)
	}
	return path + "-" + w.word() + ".html"
}

func (w *writer) links() {
	w.add("    <ul class=\"nav nav-%s\">\n", w.word())
	for range 3 + w.below(6) {
		rel := ""
		if w.in(12) {
			rel = w.of([]string{` rel="nofollow"`, ` rel="noopener"`})
		}
		w.add("      <li class=\"nav-item\"><a class=\"nav-link\" href=\"%s\"%s>%s</a></li>\n", w.address(), rel, w.title())
	}
	w.add("    </ul>\n")
}

func (w *writer) figure() {
	source := w.of([]string{"src", "src", "src", "data-src", "data-lazy"})
	host := w.of([]string{"", "", "", "//static.origin.example", "http://img.origin.example", "https://cdn" + w.digits(1) + ".origin.example"})
	w.add("    <figure style=\"max-width:%d%%;margin:%dpx auto\">\n      <img %s=\"%s/wp-content/uploads/%s-%s.jpg\" width=\"%d\" height=\"%d\" alt=\"%s\">\n",
		40+w.below(60), w.below(40), source, host, w.word(), w.word(), 100+w.below(900), 100+w.below(600), w.title())
	w.add("      <figcaption>%s</figcaption>\n    </figure>\n", w.title())
}

func (w *writer) table() {
	w.add("    <table class=\"table\">\n      <tr><th>%s</th><th>%s</th><th>%s</th></tr>\n", w.word(), w.word(), w.word())
	for range 2 + w.below(5) {
		price := w.of([]string{"$", "€", "€"})
		w.add("      <tr><td>%s</td><td class=\"num\">%s</td><td>%s%d.%s</td></tr>\n", w.title(), w.digits(2+w.below(4)), price, 1+w.below(900), w.digits(2))
	}
	w.add("    </table>\n")
}

func (w *writer) form() {
	w.add("    <form method=\"post\" action=\"/%s/%s\">\n      <input type=\"hidden\" name=\"token\" value=\"%s\">\n", w.word(), w.word(), w.hex(32))
	for range 1 + w.below(3) {
		name := w.word()
		w.add("      <label for=\"f-%s\">%s</label> <input type=\"text\" id=\"f-%s\" name=\"%s\" placeholder=\"%s\">\n", name, w.title(), name, name, w.title())
	}
	w.add("      <button type=\"submit\" class=\"btn btn-primary\">%s</button>\n    </form>\n", w.title())
}

// oddment is one of the things of which a page has a few.
func (w *writer) oddment() {
	switch w.below(16) {
	case 0:
		w.add("    <script>var tag=\"UA-%s-%s\",box=\"GTM-%s\";</script>\n", w.digits(7), w.digits(1), strings.ToUpper(w.hex(7)))
	case 1:
		w.add("    <a href=\"/login?session_id=%s&amp;next=%%2F\">%s</a>\n", w.hex(24), w.title())
	case 2:
		w.add("    <p class=\"contact\">Ask our sales team: +1 555 %s %s, <a href=\"mailto:%s@example.com\">%s</a></p>\n", w.digits(3), w.digits(4), w.of(boxes), w.word())
	case 3:
		w.add("    <p class=\"legal\">Copyright Origin Inc. %d. Powered by <b>OriginPress</b></p>\n", 2010+w.below(16))
	case 4:
		w.add("    <!-- build %s of 20%02d-%02d-%02d at 10.%d.%d.%d -->\n", w.digits(5), w.below(26), 1+w.below(12), 1+w.below(28), w.below(256), w.below(256), w.below(256))
	case 5:
		w.add("    <a href=\"/sale?utm_source=%s&amp;utm_campaign=%s%s\" rel=\"noopener\">%s</a>\n", w.word(), w.word(), w.digits(2), w.title())
	case 6:
		w.add("    <script async src=\"https://tracker.origin.example/t.js?v=%s\"></script>\n", w.digits(10))
	case 7:
		w.add("    <iframe width=\"%d\" height=\"%d\" src=\"https://ads.example/slot/%s\"></iframe>\n", 100+w.below(500), 100+w.below(300), w.digits(4))
	case 8:
		w.add("    <time datetime=\"20%02d-%02d-%02d\">%s</time>\n", w.below(26), 1+w.below(12), 1+w.below(28), w.title())
	case 9:
		w.add("    <a href=\"https://social.people.test/share?u=%s&amp;fbclid=%s\">%s</a>\n", w.word(), w.hex(40), w.word())
	case 10:
		w.add("    <p>%s: a new colour scheme. Powered by OriginPress, tried on staging.origin.example.</p>\n", w.title())
	case 11:
		w.add("    <p>%s@partner.example, %s@example.com</p>\n", w.word(), w.of(boxes))
	default:
		w.add("    <script>")
		for range 4 + w.below(8) {
			w.statement(2)
		}
		w.add("</script>\n")
	}
}
