package cli

import (
	"errors"
	"strings"
	"testing"

	"redoubt/proxy/subst"
)

// A file of rules is read or refused with its place, whatever is in it.
func FuzzSubstRules(f *testing.F) {
	for _, text := range []string{
		`[]`, `{"rules":[]}`, "// c\n[{\"find\":\"\\u00e9\\ud83d\\ude00(\",\"put\":\"$1\",\"flags\":\"gil\"},]",
		`{"types":[""],"match":"first","hold":"8k","share":1,"memory":true,"rules":[{"find":"","put":""}]}`,
		`[{"find":"\ud83d\u0028","put":"\\"}]`, `/**/"\"`, `[{"find":"a","put":"\/$"}]`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		file := new(rulesFile)
		err := file.parse("f.json", []byte(text))
		if err == nil {
			_, err = subst.Compile(file.rules, file.options)
			if bad, ok := errors.AsType[*subst.RuleError](err); ok {
				err = file.ruleError(bad)
			}
		}
		if err != nil && !strings.HasPrefix(err.Error(), "f.json:") {
			t.Errorf("%q: %v", text, err)
		}
	})
}
