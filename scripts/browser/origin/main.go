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

type site struct {
	gzip, replaced bool
	heard          chan struct{} // the page wants the next event
}

func main() {
	s := site{heard: make(chan struct{}, 1)}
	flag.BoolVar(&s.gzip, "gzip", false, "what is text goes out in gzip")
	flag.BoolVar(&s.replaced, "replaced", false, "serve what rules should make of it")
	flag.Parse()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	http.HandleFunc("/events", s.events)
	http.HandleFunc("/heard", s.hear)
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
		text = []byte(replaced.Replace(string(text)))
	}
	w.Header().Set("Content-Type", kinds[name[strings.LastIndexByte(name, '.')+1:]])
	if s.gzip && r.Header.Get("Range") == "" && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		z.Write(text)
		z.Close()
		text = b.Bytes()
		w.Header().Set("Content-Encoding", "gzip")
	}
	w.Header().Set("ETag", fmt.Sprintf(`"%d"`, len(text)))
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(text))
}

// pause is before each event, so that no two come at once however fast the page asks.
const pause = 100 * time.Millisecond

// events sends a head at once, and three events, each when the page has had the head or event
// before it: who holds that back until there is more to send gets no more.
func (s *site) events(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	flush := http.NewResponseController(w).Flush
	send := func(text string) error {
		io.WriteString(w, text)
		return flush()
	}
	if s.gzip {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		defer z.Close()
		send = func(text string) error {
			io.WriteString(z, text)
			z.Flush()
			return flush()
		}
	}
	flush()
	text := "Old Brand event"
	if s.replaced {
		text = replaced.Replace(text)
	}
	for i := range 3 {
		select {
		case <-s.heard:
		case <-r.Context().Done():
			return
		}
		time.Sleep(pause)
		if send(fmt.Sprintf("data: %s %d\n\n", text, i+1)) != nil {
			return
		}
	}
	<-r.Context().Done() // the page closes it
}

// hear hears from the page that it has had the head of the stream, or an event.
func (s *site) hear(w http.ResponseWriter, r *http.Request) {
	select {
	case s.heard <- struct{}{}:
	default: // nobody waits
	}
	w.Header().Set("Content-Type", "text/plain")
	io.WriteString(w, "fine")
}

func (s *site) form(w http.ResponseWriter, r *http.Request) {
	said := "Old Brand has heard: " + r.FormValue("say")
	if s.replaced {
		said = replaced.Replace(said)
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
