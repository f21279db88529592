package genome

import (
	"strings"
	"testing"
)

// BenchmarkParse reads a small genome without mistakes, with one of meaning and with one of syntax.
func BenchmarkParse(b *testing.B) {
	for _, c := range []struct{ name, text string }{
		{"sound", base},
		{"meaning", strings.Replace(base, "leak", "laek", 1)},
		{"syntax", strings.Replace(base, "    leak", "   leak", 1)},
		{"open quote", strings.Replace(base, "model: feagi", "model: \"feagi", 1)},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(c.text)))
			for b.Loop() {
				_, _ = Parse("net.yaml", []byte(c.text), nil)
			}
		})
	}
}
