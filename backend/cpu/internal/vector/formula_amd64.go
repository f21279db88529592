package vector

// wideFormula are the instructions by AVX2. The assembly takes whole blocks; what is left over is the plain loops' work.
func wideFormula() Formula {
	return Formula{
		Add: numbers(addAVX2, add), Sub: numbers(subAVX2, sub), Mul: numbers(mulAVX2, mul), Div: numbers(divAVX2, div),
		Min: numbers(minAVX2, least), Max: numbers(maxAVX2, most), Neg: number(negAVX2, neg), Abs: number(absAVX2, abs), Sqrt: number(sqrtAVX2, sqrt),
		Less: compares(lessAVX2, less), LessEqual: compares(lessEqualAVX2, lessEqual), Equal: compares(equalAVX2, equal),
		And: flags(andAVX2, and), Or: flags(orAVX2, or), ButNot: flags(butNotAVX2, butNot), Not: wideNot,
		MulAdd: wideMulAdd, LessBut: compareBut(lessButAVX2, lessBut), LessEqualBut: compareBut(lessEqualButAVX2, lessEqualBut), Select: wideSelect,
		Input: wideInput, AddInput: wideAddInput, MulAddInput: wideMulAddInput, Quiet: wideQuiet, Settle: wideSettle, SettleEither: wideSettleEither,
		Countdown: wideCountdown,
	}
}

func numbers(wide func(out, a, b *float32, blocks uint64), plain func(out, a, b []float32)) func(out, a, b []float32) {
	return func(out, a, b []float32) {
		n := len(out) / Block
		if n > 0 {
			_, _ = a[n*Block-1], b[n*Block-1]
			wide(&out[0], &a[0], &b[0], uint64(n))
		}
		if m := n * Block; m < len(out) {
			plain(out[m:], a[m:], b[m:])
		}
	}
}

func number(wide func(out, a *float32, blocks uint64), plain func(out, a []float32)) func(out, a []float32) {
	return func(out, a []float32) {
		n := len(out) / Block
		if n > 0 {
			_ = a[n*Block-1]
			wide(&out[0], &a[0], uint64(n))
		}
		if m := n * Block; m < len(out) {
			plain(out[m:], a[m:])
		}
	}
}

func compares(wide func(out *uint32, a, b *float32, blocks uint64), plain func(out []uint32, a, b []float32)) func(out []uint32, a, b []float32) {
	return func(out []uint32, a, b []float32) {
		n := len(out) / Block
		if n > 0 {
			_, _ = a[n*Block-1], b[n*Block-1]
			wide(&out[0], &a[0], &b[0], uint64(n))
		}
		if m := n * Block; m < len(out) {
			plain(out[m:], a[m:], b[m:])
		}
	}
}

func flags(wide func(out, a, b *uint32, blocks uint64), plain func(out, a, b []uint32)) func(out, a, b []uint32) {
	return func(out, a, b []uint32) {
		n := len(out) / Block
		if n > 0 {
			_, _ = a[n*Block-1], b[n*Block-1]
			wide(&out[0], &a[0], &b[0], uint64(n))
		}
		if m := n * Block; m < len(out) {
			plain(out[m:], a[m:], b[m:])
		}
	}
}

func compareBut(wide func(out *uint32, a, b *float32, flag *uint32, blocks uint64), plain func(out []uint32, a, b []float32, flag []uint32)) func(out []uint32, a, b []float32, flag []uint32) {
	return func(out []uint32, a, b []float32, flag []uint32) {
		n := len(out) / Block
		if n > 0 {
			_, _, _ = a[n*Block-1], b[n*Block-1], flag[n*Block-1]
			wide(&out[0], &a[0], &b[0], &flag[0], uint64(n))
		}
		if m := n * Block; m < len(out) {
			plain(out[m:], a[m:], b[m:], flag[m:])
		}
	}
}

func wideNot(out, a []uint32) {
	n := len(out) / Block
	if n > 0 {
		_ = a[n*Block-1]
		notAVX2(&out[0], &a[0], uint64(n))
	}
	if m := n * Block; m < len(out) {
		not(out[m:], a[m:])
	}
}

func wideMulAdd(out, a, b, c []float32) {
	n := len(out) / Block
	if n > 0 {
		_, _, _ = a[n*Block-1], b[n*Block-1], c[n*Block-1]
		mulAddAVX2(&out[0], &a[0], &b[0], &c[0], uint64(n))
	}
	if m := n * Block; m < len(out) {
		mulAdd(out[m:], a[m:], b[m:], c[m:])
	}
}

func wideSelect(out []float32, flag []uint32, a, b []float32) {
	n := len(out) / Block
	if n > 0 {
		_, _, _ = flag[n*Block-1], a[n*Block-1], b[n*Block-1]
		selectAVX2(&out[0], &flag[0], &a[0], &b[0], uint64(n))
	}
	if m := n * Block; m < len(out) {
		choose(out[m:], flag[m:], a[m:], b[m:])
	}
}

func wideInput(acc []int32, scale *float32, out []float32, live []uint8) {
	n := len(acc) / Block
	if n > 0 {
		_, _ = out[n*Block-1], live[n-1]
		inputAVX2(&acc[0], scale, &out[0], &live[0], uint64(n))
	}
	if m := n * Block; m < len(acc) {
		input(acc[m:], scale, out[m:], live[n:])
	}
}

func wideAddInput(acc []int32, scale *float32, out, a []float32, live []uint8) {
	n := len(acc) / Block
	if n > 0 {
		_, _, _ = out[n*Block-1], a[n*Block-1], live[n-1]
		addInputAVX2(&acc[0], scale, &out[0], &a[0], &live[0], uint64(n))
	}
	if m := n * Block; m < len(acc) {
		addInput(acc[m:], scale, out[m:], a[m:], live[n:])
	}
}

func wideMulAddInput(acc []int32, scale *float32, out, a, b []float32, live []uint8) {
	n := len(acc) / Block
	if n > 0 {
		_, _, _, _ = out[n*Block-1], a[n*Block-1], b[n*Block-1], live[n-1]
		mulAddInputAVX2(&acc[0], scale, &out[0], &a[0], &b[0], &live[0], uint64(n))
	}
	if m := n * Block; m < len(acc) {
		mulAddInput(acc[m:], scale, out[m:], a[m:], b[m:], live[n:])
	}
}

func wideQuiet(r []uint16, out []uint32) {
	n := len(r) / Block
	if n > 0 {
		_ = out[n*Block-1]
		quietAVX2(&r[0], &out[0], uint64(n))
	}
	if m := n * Block; m < len(r) {
		quiet(r[m:], out[m:])
	}
}

func wideSettle(now, state []float32, live []uint8) {
	n := len(now) / Block
	if n > 0 {
		_, _ = state[n*Block-1], live[n-1]
		settleAVX2(&now[0], &state[0], &live[0], uint64(n))
	}
	if m := n * Block; m < len(now) {
		settle(now[m:], state[m:], live[n:])
	}
}

func wideSettleEither(flag []uint32, a, b, state []float32, live []uint8) {
	n := len(flag) / Block
	if n > 0 {
		_, _, _, _ = a[n*Block-1], b[n*Block-1], state[n*Block-1], live[n-1]
		settleEitherAVX2(&flag[0], &a[0], &b[0], &state[0], &live[0], uint64(n))
	}
	if m := n * Block; m < len(flag) {
		settleEither(flag[m:], a[m:], b[m:], state[m:], live[n:])
	}
}

func wideCountdown(fired []uint32, refractory *uint32, r []uint16, words []uint64, live []uint8) {
	n := len(fired) / Block
	if n > 0 {
		_, _, _ = r[n*Block-1], words[n-1], live[n-1]
		countdownAVX2(&fired[0], refractory, &r[0], &words[0], &live[0], uint64(n))
	}
	if m := n * Block; m < len(fired) {
		countdown(fired[m:], refractory, r[m:], words[n:], live[n:])
	}
}
