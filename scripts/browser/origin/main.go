// Origin is a site for scripts/browser.sh: a page with all that a browser fetches. Its
// links lead to https://www.origin.example, and it is complete only if somebody on the way
// turns them into its own.
//
//	origin [--gzip] [--replaced]
//
// With --gzip what is text goes out in gzip, events too, one by one. With --replaced it
// serves what rules should make of it. It prints "listening on HOST:PORT".
package main

import (
	"bytes"
	"compress/gzip"
	"embed"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"time"
)

//go:embed page
var page embed.FS

type site struct{ gzip, replaced bool }

// replacer does what the rules of the proxy's configuration do, as far as they matter.
var replacer = strings.NewReplacer(
	"https://www.origin.example", "", "//www.origin.example", "", "https://cdn7.origin.example", "", "wss://live.origin.example", "",
	"Old Brand", "New Brand", "old brand", "New Brand", "colour", "color",
)

func main() {
	var s site
	flag.BoolVar(&s.gzip, "gzip", false, "what is text goes out in gzip")
	flag.BoolVar(&s.replaced, "replaced", false, "serve what rules should make of it")
	flag.Parse()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	http.HandleFunc("/events", s.events)
	http.HandleFunc("/ws", echo)
	http.HandleFunc("/form", s.form)
	http.HandleFunc("/image.png", picture(120, 60))
	http.HandleFunc("/icon.png", picture(16, 16))
	http.HandleFunc("/", s.file)
	fmt.Printf("listening on %v\n", l.Addr())
	log.Fatal(http.Serve(l, nil))
}

var kinds = map[string]string{
	"html": "text/html; charset=utf-8", "js": "application/javascript", "css": "text/css", "json": "application/json", "txt": "text/plain; charset=utf-8",
}

// file answers with one of the page's files, or a part of it.
func (s *site) file(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, "/")
	if name == "" {
		name = "index.html"
	}
	text, err := page.ReadFile("page/" + name)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	if s.replaced {
		text = []byte(replacer.Replace(string(text)))
	}
	w.Header().Set("Content-Type", kinds[name[strings.LastIndexByte(name, '.')+1:]])
	w.Header().Set("ETag", fmt.Sprintf(`"%d"`, len(text)))
	if s.gzip && r.Header.Get("Range") == "" && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		z.Write(text)
		z.Close()
		text = b.Bytes()
		w.Header().Set("Content-Encoding", "gzip")
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(text))
}

// pause is between events: long enough to tell whether each has come at once.
const pause = 100 * time.Millisecond

// events sends a head, and three events, each some time later.
func (s *site) events(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	var out io.Writer = w
	flush := http.NewResponseController(w).Flush
	if s.gzip {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		defer z.Close()
		out = z
		rest := flush
		flush = func() error { z.Flush(); return rest() }
	} else if err := flush(); err != nil {
		return
	}
	text := "Old Brand event"
	if s.replaced {
		text = replacer.Replace(text)
	}
	for i := range 3 {
		time.Sleep(pause)
		fmt.Fprintf(out, "data: %s %d\n\n", text, i+1)
		if flush() != nil {
			return
		}
	}
	<-r.Context().Done() // the page closes it
}

func (s *site) form(w http.ResponseWriter, r *http.Request) {
	said := "Old Brand has heard: " + r.FormValue("say")
	if s.replaced {
		said = replacer.Replace(said)
	}
	w.Header().Set("Content-Type", "text/plain")
	io.WriteString(w, said)
}

func picture(width, height int) http.HandlerFunc {
	m := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			m.Set(x, y, color.RGBA{uint8(x * 255 / width), uint8(y * 255 / height), 128, 255})
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		panic(err) // a picture in memory always can be
	}
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "image/png")
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(b.Bytes()))
	}
}
