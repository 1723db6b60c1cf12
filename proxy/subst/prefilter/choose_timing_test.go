package prefilter

import "testing"

// BenchmarkChoose is what a rule pays for its window, and for a long stretch.
func BenchmarkChoose(b *testing.B) {
	run := func(name string, one []Set) {
		var stretch []Set
		for len(stretch) < 64 {
			stretch = append(stretch, one...)
		}
		b.Run(name+"/choose=16", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Choose(stretch[:16])
			}
		})
		b.Run(name+"/rate=64", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Rate(stretch[:64])
			}
		})
	}
	line := full
	line[0] &^= 1 << '\n'
	run("literal", literal("//origin.example"))
	run("words", []Set{setOf("abcdefghijklmnopqrstuvwxyz")})
	run("any", []Set{line})
}
