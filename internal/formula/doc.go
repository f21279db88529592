// Package formula compiles the neuron models that users write. It defines the language of the expressions, the program that
// they become, and the meaning of its instructions. Package genome reads the text; the backends run the program.
//
// # Programs
//
// A Program is a list of instructions. Each computes one value from earlier values, and no value is computed twice. A value
// is a number (float32) or a flag (true or false). There are no jumps: both operands of a select are computed. In step 4 of
// each burst a program runs once for every neuron. It reads only
//
//   - State k: the neuron's k-th state variable as the burst before left it; 0 is V, k > 0 is State.More[k−1];
//   - Param k: the k-th of Program.Params: one value for the area, or one a neuron;
//   - Input k: what port k received in this burst, float32(acc)/float32(scale): the int32 sum and the scale each converted
//     to float32 (the sum rounded to nearest, ties to even; the scale, at most 2^24, is exact), and a correctly rounded division;
//   - Refractory: the flag r > 0, with r the bursts of silence left as the burst before left it.
//
// It computes the new state variables, Next, and the flag Fired. The program itself tests Refractory and does the reset, so
// Fired and Refractory are never both true. A backend only stores Next and updates r: if Fired, r becomes the area's
// refractory time in bursts, else r − 1 if r > 0.
//
// # Meaning of the instructions
//
// All are IEEE 754 binary32 with subnormal numbers. Each result is rounded to nearest, ties to even; nothing is fused.
//
//	neg a        a with its sign bit turned over        abs a    a with its sign bit cleared
//	sqrt a       correctly rounded                      add, sub, mul, div a b    correctly rounded
//	min a b      a where a < b, else b: b where either is NaN, b of two zeros
//	max a b      a where b < a, else b: likewise
//	less a b     a < b; false where either is NaN; −0 equals 0
//	lesseq a b   a ≤ b; likewise                        equal a b    a = b; likewise
//	and, or, not of flags
//	select a b c     b where the flag a is true, else c
//	random k         of the 32-bit draw k of the neuron in this burst, w: ⌊w/2^8⌋·2^−24, exact
//	tail k           likewise: (float32(w) + ½)·2^−32 where w < 2^31, else −(float32(2^32 − 1 − w) + ½)·2^−32
//
// Draws are those of the law, purpose 11 (engine/doc.go). Each call of random() or normal() in the text is one, with a number of its own;
// the numbers count in the order of the text, calls whose number nothing needs too.
//
// exp, log, pow, tanh, floor, sin, cos and normal in update, threshold and reset are not instructions. The compiler expands them; the
// results are within one unit in the last place of the exact ones. exp takes about 90 instructions (exp.go); it is 0 for a ≤ −104 and
// infinite for a ≥ 89. log takes about 150; it is −∞ for both zeros, and NaN below. pow takes about 430 (pow.go) and
// follows C's powf: NaN where a < 0 and b is not whole, and 1 where b = 0 or a = 1, even if the other operand is NaN. In all
// other cases a NaN operand gives NaN. floor (about 15) is exact; it keeps −0 and infinities. tanh (about 230), sin and cos (about
// 100 each, trig.go) keep −0 but for cos; sin and cos are NaN where |a| > 65,536. normal() (about 95) is
// the quantile of tail, within 1e-6 of max(1, |z|), from −6.34 to 6.34. A state variable that becomes NaN ends the run.
//
// # Kernels
//
// A Kernel is worked out in float64, every operation rounded on its own, with exp and so on of internal/exact. Over bounds it by intervals:
// the ends of a sum, difference, product, quotient, minimum, maximum, square root, floor or absolute value are the least and the
// largest of what the operation makes of its operands' ends; for x·x of one name or step they are the squares of the ends of |x|. What
// may be infinite or NaN may be anything, and so may what is made of it; a condition on it is 0…1. That is a result with such an end, a
// quotient by an interval with 0, a root or logarithm whose operand may leave its domain, sin or cos beyond ±65,536. exp, expm1, log, log1p, tanh take their ends each, pow those of
// its four corners where the base is > 0 (≥ 0 with an exponent > 0), else anything; these are widened, lo − |lo|/2^36 … hi + |hi|/2^36. sin
// and cos are −1…1; in a kernel that reads columns from the lesser of their ends − 2^−36 to the larger + 2^−36, but −1 (1) where an odd
// (even) k lies in ⌈lo/π − z − 2^−36⌉ … ⌊hi/π − z + 2^−36⌋, z = 0 for cos and ½ for sin. A condition is 1 or 0 where it is so at all ends,
// else 0…1; select takes either operand then, or both.
//
// # Comparisons
//
// a > b and a ≥ b are less b a and lesseq b a; a ≠ b is not equal a b, true where either is NaN. The bit pattern of a NaN is
// not specified and cannot be observed: comparisons do not depend on it, and a state variable that is NaN or infinite ends
// the run.
package formula
