package exact

import (
	"math"
	"testing"
)

// goldenBits are argument and result as bits; they hold on every processor.
var goldenBits = []struct {
	name    string
	f       func(float64) float64
	x, want uint64
}{
	{"exp", Exp, 0xc06eb67d9aad7a04, 0x29c708e7627d961a},
	{"exp", Exp, 0xc0762cfafd848c29, 0x1ff1557f25e32d88},
	{"exp", Exp, 0x40702868e356d3ec, 0x573f6b85d9237889},
	{"exp", Exp, 0x4071aa46a7ef2b58, 0x596b3835cc4a436c},
	{"exp", Exp, 0x4066d3551d1b910c, 0x5065bcb208ca5232},
	{"exp", Exp, 0xc08579967ecaed70, 0x01f7f40e27957095},
	{"expm1", Expm1, 0xc02c1490186417c8, 0xbfeffffe53267dc1},
	{"expm1", Expm1, 0xc0344661d1d845a2, 0xbfefffffff28cfae},
	{"expm1", Expm1, 0x402d8bb87b226d94, 0x4143dfa09455099f},
	{"expm1", Expm1, 0x403026a6fff09ca8, 0x4163b614067d7279},
	{"expm1", Expm1, 0x4024de79b43675fc, 0x40e09b9a555fd53c},
	{"expm1", Expm1, 0xc043a25db5c0d916, 0xbff0000000000000},
	{"log", Log, 0x245c6405d2353124, 0xc0731cc2e3aeb097},
	{"log", Log, 0x6f918bacc603f1ec, 0x40808229b5d67942},
	{"log", Log, 0x1993715bf79af45f, 0xc07a965c14464b91},
	{"log", Log, 0x07601f551fcb3aee, 0xc0839a531a8bbeae},
	{"log", Log, 0x24723eff8e4a163f, 0xc0730da7842984af},
	{"log", Log, 0x3342dc5de3802574, 0xc061916b902ffdbc},
	{"log1p", Log1p, 0xbfd676d9ad1cdfd4, 0xbfdbab466757700d},
	{"log1p", Log1p, 0xbfe0384e4179d14e, 0xbfe69fa77cec9a13},
	{"log1p", Log1p, 0x3fd7a2f9fc1b8adc, 0x3fd41dc09e3478e8},
	{"log1p", Log1p, 0x3fd9d7719980faa8, 0x3fd5b4e03396e92b},
	{"log1p", Log1p, 0x3fd0b1faf691f7fc, 0x3fcdab8192fd2004},
	{"log1p", Log1p, 0xbfef6a2f89348e8a, 0xc010018d9a67651c},
	{"quantile", NormalQuantile, 0x3fd4c49329719016, 0xbfdd214cce7a540d},
	{"quantile", NormalQuantile, 0x3fcf8f637d0c5d64, 0xbfe5ee56f50ab247},
	{"quantile", NormalQuantile, 0x3fe5e8be7f06e2b7, 0x3fdec4fcee8c8166},
	{"quantile", NormalQuantile, 0x3fe675dc66603eaa, 0x3fe0f46b7da8ace4},
	{"quantile", NormalQuantile, 0x3fe42c7ebda47dff, 0x3fd54fd073ca78f2},
	{"quantile", NormalQuantile, 0x3f82ba0ed96e2ec0, 0xc002e0bdf41d14cd},
	{"quantile", NormalQuantile, 0x01a56e1fc2f8f359, 0xc04286074064c26e},
	{"quantile", NormalQuantile, 0x3c670ef54646d497, 0xc020fcd277291303},
	{"quantile", NormalQuantile, 0x3f747ae147ae147b, 0xc0049b4c64d6915f},
	{"quantile", NormalQuantile, 0x3f98d4fdf3b645a2, 0xbfff913f9b7aa941},
	{"quantile", NormalQuantile, 0x3feffffde7210be9, 0x40130381a97985f1},
	{"expm1", Expm1, 0xbf747ae147ae147b, 0xbf746dcb6c16ba88},
	{"exp", Exp, 0xbf747ae147ae147b, 0x3fefd7246927d28b},
	{"expm1", Expm1, 0xbf847ae147ae147b, 0xbf8460c0b518c09f},
	{"exp", Exp, 0xbf847ae147ae147b, 0x3fefae7cfd2b9cfe},
	{"expm1", Expm1, 0x3e112e0be826d695, 0x3e112e0be84bbb51},
	{"exp", Exp, 0x3e112e0be826d695, 0x3ff000000044b830},
	{"expm1", Expm1, 0xc08748cccccccccd, 0xbff0000000000000},
	{"exp", Exp, 0xc08748cccccccccd, 0x0000000000000001},
	{"sin", Sin, 0x3fd3333333333333, 0x3fd2e9cd95baba33},
	{"sin", Sin, 0xbff199999999999a, 0xbfec84c54c2d6338},
	{"sin", Sin, 0x4004cccccccccccd, 0x3fe07efcbba085bb},
	{"sin", Sin, 0xc010cccccccccccd, 0x3febe3f2dfd012d7},
	{"sin", Sin, 0x40deadfb4c5d390b, 0xbd9222d468569696},
	{"sin", Sin, 0x40f0000000000000, 0x3fe62566735b8513},
	{"cos", Cos, 0x3fd3333333333333, 0x3fee921dd42f09ba},
	{"cos", Cos, 0xbff199999999999a, 0x3fdd07b806c76111},
	{"cos", Cos, 0x4004cccccccccccd, 0xbfeb6ba1f680f470},
	{"cos", Cos, 0xc010cccccccccccd, 0xbfdf606eec8ac71e},
	{"cos", Cos, 0x40ceadfb4c5d390c, 0x3ff0000000000000},
	{"cos", Cos, 0xc0f0000000000000, 0xbfe719453109288c},
	{"tanh", Tanh, 0x3fd3333333333333, 0x3fd2a4dda7d914f9},
	{"tanh", Tanh, 0xbff199999999999a, 0xbfe99db01fde2405},
	{"tanh", Tanh, 0x4004cccccccccccd, 0x3fefa61ccb69a660},
	{"tanh", Tanh, 0x3e112e0be826d695, 0x3e112e0be826d694},
	{"tanh", Tanh, 0xc033800000000000, 0xbff0000000000000},
	{"tanh", Tanh, 0x4035e66666666666, 0x3ff0000000000000},
}

func TestGoldenBits(t *testing.T) {
	for _, g := range goldenBits {
		x := math.Float64frombits(g.x)
		if got := math.Float64bits(g.f(x)); got != g.want {
			t.Errorf("%s(%v): bits %#016x, want %#016x", g.name, x, got, g.want)
		}
	}
}
