package http1

import "bytes"

// cutElement takes the first element off a list (RFC 9110, 5.6.1), skipping
// empty ones: of none left it is empty. It cuts at every comma, also in quoted
// strings: what is looked for in lists here is never quoted, and must not hide
// behind a quote that is not closed.
func cutElement(list []byte) (element, rest []byte) {
	for len(list) > 0 && (list[0] == ',' || isBlank(list[0])) {
		list = list[1:]
	}
	end := len(list)
	if comma := bytes.IndexByte(list, ','); comma >= 0 {
		end = comma
	}
	element, rest = list[:end], list[end:]
	for len(element) > 0 && isBlank(element[len(element)-1]) {
		element = element[:len(element)-1]
	}
	return element, rest
}
