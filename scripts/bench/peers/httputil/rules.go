package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
)

// rule is a rule with flag g.
type rule struct {
	find *regexp.Regexp // nil: literal
	text []byte         // to look for, where it is literal
	put  []byte
}

// readRules reads a list of rules.
func readRules(file string) ([]rule, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var list []struct{ Find, Put, Flags string }
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	rules := make([]rule, len(list))
	for i, r := range list {
		if rules[i], err = newRule(r.Find, r.Put, r.Flags); err != nil {
			return nil, fmt.Errorf("%s: rule %d: %w", file, i+1, err)
		}
	}
	return rules, nil
}

// groups are as Go does not have them: the longest run of digits after $.
var groups = regexp.MustCompile(`\$(\d+|&)`)

func newRule(find, put, flags string) (rule, error) {
	if !strings.Contains(flags, "g") {
		return rule{}, fmt.Errorf("flags %q: every match is replaced here, so there must be a g", flags)
	}
	insensitive := strings.Contains(flags, "i")
	if strings.Contains(flags, "l") {
		if !insensitive {
			return rule{text: []byte(find), put: []byte(put)}, nil
		}
		find = regexp.QuoteMeta(find)
	}
	if insensitive {
		find = "(?i)" + find
	}
	put = groups.ReplaceAllStringFunc(put, func(group string) string {
		n, _ := strconv.Atoi(group[1:]) // & is all of the match, group 0
		return fmt.Sprintf("${%d}", n)
	})
	expression, err := regexp.Compile(find)
	return rule{find: expression, put: []byte(put)}, err
}

// edit replaces in HTML: rule by rule, in the whole body, as package regexp wants
// it and as such programs are written.
func edit(r *http.Response, rules []rule) error {
	if !strings.HasPrefix(r.Header.Get("Content-Type"), "text/html") {
		return nil
	}
	body := bytes.NewBuffer(make([]byte, 0, max(r.ContentLength, 0)+bytes.MinRead)) // room to see its end in
	_, err := body.ReadFrom(r.Body)
	r.Body.Close()
	if err != nil {
		return err
	}
	text := body.Bytes()
	for _, rule := range rules {
		if rule.find == nil {
			text = bytes.ReplaceAll(text, rule.text, rule.put)
		} else {
			text = rule.find.ReplaceAll(text, rule.put)
		}
	}
	r.Body = io.NopCloser(bytes.NewReader(text))
	r.ContentLength = int64(len(text))
	r.Header.Set("Content-Length", strconv.Itoa(len(text)))
	return nil
}
