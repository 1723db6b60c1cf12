package body

import (
	"bytes"
	"fmt"
	"strings"

	"redoubt/netloop/http1"
)

// mediaType is a pattern of media types, in small letters.
type mediaType struct{ kind, sub string } // "*": any

// ParseType tells what is wrong with a pattern of media types: "text/html", "text/*",
// "*/*" or "*".
func ParseType(text string) error {
	_, err := parseType(text)
	return err
}

func parseType(text string) (mediaType, error) {
	if text == "*" {
		return mediaType{"*", "*"}, nil
	}
	kind, sub, ok := strings.Cut(strings.ToLower(text), "/")
	switch {
	case !ok || !isWord(kind) || !isWord(sub):
		return mediaType{}, fmt.Errorf(`%.80q is no media type; write as "text/html", "text/*" or "*/*"`, text)
	case kind == "*" && sub != "*":
		return mediaType{}, fmt.Errorf(`%.80q: before the slash * stands only in "*/*"`, text)
	}
	return mediaType{kind, sub}, nil
}

// isWord tells whether a part of a pattern is a token, or *.
func isWord(text string) bool {
	return http1.IsToken([]byte(text)) && (text == "*" || !strings.Contains(text, "*"))
}

// takes tells whether a value of Content-Type is one of the pattern's. None is of
// none but any.
func (t mediaType) takes(value []byte) bool {
	if t.kind == "*" {
		return true
	}
	value, _, _ = bytes.Cut(value, []byte(";"))
	kind, sub, ok := bytes.Cut(bytes.TrimSpace(value), []byte("/"))
	return ok && isLike(kind, t.kind) && (t.sub == "*" || isLike(sub, t.sub))
}

// isLike is without case; text is in small letters, and a token.
func isLike(b []byte, text string) bool {
	if len(b) != len(text) {
		return false
	}
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != text[i] {
			return false
		}
	}
	return true
}
