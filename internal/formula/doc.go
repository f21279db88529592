// Package formula holds neuron models that users write: the language of their expressions, the straight-line program
// that these become, and its meaning. It stands below genome, which reads the text, and the backends, which run the program.
//
// # Programs
//
// A Program is a list of instructions, each of which makes one value from values before it; no value is made twice. A
// value is a number, which is a float32, or a flag, which is true or false. There are no jumps: both sides of a select are
// worked out. A program runs once a neuron and burst, in step 4 of the law, and reads nothing but
//
//   - State k: the neuron's k-th state variable as the burst before left it; 0 is V, k > 0 is State.More[k−1];
//   - Param k: the k-th of Program.Params: one value for the area, or one a neuron;
//   - Input k: what port k received in this burst, float32(acc)/float32(scale): the int32 sum and the scale each converted
//     to float32 (the sum rounded to nearest, ties to even; the scale, at most 2^24, is exact), and a correctly rounded division;
//   - Refractory: the flag r > 0, with r the bursts of silence left as the burst before left it.
//
// It gives the new state variables, Next, and the flag Fired, which is never true together with Refractory: a program made
// by this package holds the test itself, and whatever a reset does, so that a backend only stores Next and counts r:
// r becomes the area's refractory bursts where Fired is true, else r − 1 where r > 0.
//
// # Meaning of the instructions
//
// All are IEEE 754 binary32, subnormal numbers kept, each result rounded on its own to nearest, ties to even; none is fused.
//
//	neg a        a with its sign bit turned over        abs a    a with its sign bit cleared
//	sqrt a       correctly rounded                      add, sub, mul, div a b    correctly rounded
//	min a b      a where a < b, else b: b where either is no number, b of two zeros
//	max a b      a where b < a, else b: likewise
//	less a b     a < b; false where either is no number; −0 equals 0
//	lesseq a b   a ≤ b; likewise                        equal a b    a = b; likewise
//	and, or, not of flags
//	select a b c     b where the flag a is true, else c
//
// exp of an expression in update, threshold or reset is no instruction: it becomes about 65 of these (exp.go), within a unit of
// the last place of e^a, 0 from a = −104 down and infinite from 89 up; of NaN it makes NaN.
//
// a > b and a ≥ b are less b a and lesseq b a; a ≠ b is not equal a b, true where either is no number. Which of the
// many bit patterns a NaN has is not said and cannot be seen: a comparison does not tell, and a state variable that is
// NaN or infinite ends the run.
package formula
