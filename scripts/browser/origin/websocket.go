package main

import (
	"bufio"
	"crypto/sha1"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
)

// echo answers each text message with the same (RFC 6455), until the client closes.
func echo(w http.ResponseWriter, r *http.Request) {
	key := r.Header.Get("Sec-WebSocket-Key")
	if key == "" || r.Header.Get("Upgrade") != "websocket" {
		http.Error(w, "WebSockets only", http.StatusBadRequest)
		return
	}
	conn, rw, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer conn.Close()
	sum := sha1.Sum([]byte(key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	fmt.Fprintf(rw, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n\r\n", base64.StdEncoding.EncodeToString(sum[:]))
	for rw.Flush() == nil {
		kind, text, err := readFrame(rw.Reader)
		if err != nil {
			return
		}
		rw.Write(append([]byte{0x80 | kind, byte(len(text))}, text...))
		if kind == 8 { // close
			rw.Flush()
			return
		}
	}
}

// readFrame reads a frame of up to 125 bytes, which those of the page are.
func readFrame(r *bufio.Reader) (kind byte, text []byte, err error) {
	var head [6]byte // with the mask that clients always use
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, err
	}
	n := int(head[1] & 0x7f)
	if n > 125 || head[1]&0x80 == 0 {
		return 0, nil, fmt.Errorf("a frame of length %d", n)
	}
	text = make([]byte, n)
	_, err = io.ReadFull(r, text)
	for i := range text {
		text[i] ^= head[2+i%4]
	}
	return head[0] & 15, text, err
}
