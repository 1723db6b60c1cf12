package prefilter

import "testing"

func TestPair(t *testing.T) {
	tests := []struct {
		window string // places, of which X stands for any byte, and a capital for both forms
		at     [2]int
		none   bool
	}{
		{window: "qa", at: [2]int{0, 1}},
		{window: "eqez", at: [2]int{1, 3}},
		{window: "zqee", at: [2]int{0, 1}},
		{window: "eeqz", at: [2]int{3, 2}},
		{window: "Xq.z", at: [2]int{1, 3}},
		{window: "QZee", at: [2]int{0, 1}},
		{window: "q", none: true},
		{window: "XXXq", none: true},
	}
	for _, test := range tests {
		var sets []Set
		for _, c := range []byte(test.window) {
			switch {
			case c == 'X':
				sets = append(sets, full)
			case c >= 'A' && c <= 'Z':
				sets = append(sets, setOf(string([]byte{c, c | 0x20})))
			default:
				sets = append(sets, setOf(string(c)))
			}
		}
		p := pairOf(sets)
		if p == nil != test.none {
			t.Errorf("%s: %v", test.window, p)
			continue
		}
		if p != nil && min(p.at[0], p.at[1]) != min(test.at[0], test.at[1]) || p != nil && max(p.at[0], p.at[1]) != max(test.at[0], test.at[1]) {
			t.Errorf("%s: places %v, want %v", test.window, p.at, test.at)
		}
	}
}

// One window, of letters and what else there is, in texts of little else.
func TestOneWindow(t *testing.T) {
	eachKernel(t, func(t *testing.T, kernel Kernel) {
		rnd := random(t)
		pairs := 0
		for range 3000 {
			w := make(Window, 1+rnd.IntN(Width))
			for k := range w {
				switch rnd.IntN(5) {
				case 0:
					w[k] = setOf("aA")
				case 1:
					w[k] = setOf("\xe9\xc9")
				case 2:
					w[k] = randomSet(rnd, true)
				default:
					w[k] = setOf("ab\x80"[rnd.IntN(3):][:1])
				}
			}
			text := make([]byte, rnd.IntN(300))
			for i := range text {
				text[i] = "aaaabbA.\xe9\xc9\x80"[rnd.IntN(11)]
			}
			j := join([]Window{w}, 1, kernel)
			if j.filter.pair != nil {
				pairs++
			}
			j.compare(t, text)
		}
		if pairs == 0 && kernel != Plain {
			t.Error("no two places were ever compared")
		}
	})
}
