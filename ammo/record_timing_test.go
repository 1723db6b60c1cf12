package ammo

import "testing"

// BenchmarkRecord is what a gun asks of each record of the contest's shape.
func BenchmarkRecord(b *testing.B) {
	r := Record{Bytes: []byte("GET /users/84/visits?toDate=1104537600 HTTP/1.1\r\nHost: travels.com\r\nUser-Agent: Technolab/1.0 (Docker; CentOS) Highload/1.0\r\nAccept: */*\r\nConnection: keep-alive\r\n\r\n")}
	b.Run("Closes", func(b *testing.B) {
		for b.Loop() {
			r.Closes()
		}
	})
	b.Run("MethodTarget", func(b *testing.B) {
		for b.Loop() {
			r.MethodTarget()
		}
	})
}
