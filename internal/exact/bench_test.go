package exact

import "testing"

func BenchmarkDraw(b *testing.B) {
	sum := uint32(0)
	for i := range b.N {
		sum += Draw(42, Wiring, uint64(i), 7)[0]
	}
	b.ReportMetric(float64(sum&1), "parity")
}

func BenchmarkNormal(b *testing.B) {
	sum := 0.0
	for i := range b.N {
		sum += Normal(uint64(i) * 0x9e3779b97f4a7c15)
	}
	b.ReportMetric(sum/float64(b.N), "mean")
}

func BenchmarkLog(b *testing.B) {
	sum := 0.0
	for i := range b.N {
		sum += Log(float64(i + 1))
	}
	b.ReportMetric(sum/float64(b.N), "mean")
}

func BenchmarkStream(b *testing.B) {
	s, x := NewStream(42, Wiring, 7), make([]uint64, 1024)
	for i := range b.N {
		s.X(uint64(i)*1024, x)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1024, "ns/draw")
	b.ReportMetric(float64(x[77]&1), "parity")
}
