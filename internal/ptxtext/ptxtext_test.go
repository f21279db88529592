package ptxtext

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRelative(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{"add.s32 %r41, %r40, %r7;", "add.s32 %r+41, %r-1, %r-33;"},
		{"ld.global.u64 %rd12, [%rd3+8];", "ld.global.u64 %rd+12, [%rd-9+8];"},
		{"@%p2 bra $L__BB1_14;\n$L__BB1_14:", "@%p+2 bra $L__BB+1_+14;\n$L__BB+0_+0:"},
		{".reg .f32 %f<12>; // 7", ".reg .f32 %f<12>; // 7"},
		{"mov.f32 %f1, 0f3F800000; mov.u32 %r2, %tid.x;", "mov.f32 %f+1, 0f3F800000; mov.u32 %r+2, %tid.x;"},
		{"%r1 %f9 %r2 %f7", "%r+1 %f+9 %r+1 %f-2"},
		{"run_param_0", "run_param_+0"},
	} {
		got, err := Relative([]byte(c.text))
		require.NoError(t, err, c.text)
		require.Equal(t, c.want, string(got))
		require.Equal(t, c.text, string(Absolute(got)))
	}
	for _, text := range []string{"%r-1", "%r99999999999999999999 %r1"} {
		got, err := Relative([]byte(text))
		require.NoError(t, err, text)
		require.Equal(t, text, string(Absolute(got)))
	}
	for _, text := range []string{"_+8", "BB+0", "_007"} {
		_, err := Relative([]byte(text))
		require.ErrorContains(t, err, "number", text)
	}
}

// FuzzRelative: whatever is not refused comes back.
func FuzzRelative(f *testing.F) {
	for _, s := range []string{"%r1 %r2", "$L__BB12_3: %rd4+8", "_+1", "%f", "-", "_-"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := Relative([]byte(text))
		if err == nil {
			require.Equal(t, text, string(Absolute(got)))
		}
	})
}
