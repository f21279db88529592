// Package ptxtext writes PTX so that it compresses well, and back.
//
// A compiler numbers registers and blocks through a whole kernel, so that two kernels alike but for one more register at the start
// differ in nearly every line:
//
//	add.s32 %r41, %r40, %r7;      add.s32 %r42, %r41, %r8;
//
// Where each number is the difference from the one before it of the same kind, they are the same from the third number on:
//
//	add.s32 %r+41, %r-1, %r-33;   add.s32 %r+42, %r-1, %r-33;
package ptxtext

import (
	"bytes"
	"errors"
	"strconv"
)

// Relative is text with differences in place of the numbers behind %, BB and _. It fails if Absolute would not give the text back.
func Relative(text []byte) ([]byte, error) {
	out := make([]byte, 0, len(text))
	var last kinds
	for i := 0; i < len(text); {
		n := digits(text[i:])
		if n == 0 {
			out = append(out, text[i])
			i++
			continue
		}
		number, err := strconv.Atoi(string(text[i : i+n]))
		if k := kind(text[:i]); k != nil && err == nil {
			before := last.of(k)
			if number >= *before {
				out = append(out, '+')
			}
			out = strconv.AppendInt(out, int64(number-*before), 10)
			*before = number
		} else {
			out = append(out, text[i:i+n]...)
		}
		i += n
	}
	if !bytes.Equal(Absolute(out), text) {
		return nil, errors.New("the text has a sign where a register's or a block's number is to be, or a number that begins with 0")
	}
	return out, nil
}

// Absolute is the text that Relative was given.
func Absolute(text []byte) []byte {
	out := make([]byte, 0, len(text)+len(text)/8)
	var last kinds
	for {
		sign := bytes.IndexAny(text, "+-")
		if sign < 0 {
			return append(out, text...)
		}
		out = append(out, text[:sign]...)
		number := text[sign : sign+1+digits(text[sign+1:])]
		difference, err := strconv.Atoi(string(number))
		if k := kind(out); k != nil && err == nil {
			at := last.of(k)
			*at += difference
			out = strconv.AppendInt(out, int64(*at), 10)
		} else {
			out = append(out, number...)
		}
		text = text[sign+len(number):]
	}
}

// digits is how many digits a text begins with.
func digits(text []byte) int {
	n := 0
	for n < len(text) && '0' <= text[n] && text[n] <= '9' {
		n++
	}
	return n
}

// kind is what stands before a number, if it is a register's or a block's: % and small letters, BB, or _; else nil.
func kind(before []byte) []byte {
	at := len(before)
	for at > 0 && 'a' <= before[at-1] && before[at-1] <= 'z' {
		at--
	}
	switch {
	case at > 0 && at < len(before) && before[at-1] == '%':
		return before[at-1:]
	case bytes.HasSuffix(before, []byte("BB")):
		return before[len(before)-2:]
	case bytes.HasSuffix(before, []byte("_")):
		return before[len(before)-1:]
	}
	return nil
}

// kinds holds the last number of each kind. There are some ten.
type kinds []struct {
	name string
	last int
}

// of is where the last number of a kind is kept, which is 0 before its first one.
func (k *kinds) of(name []byte) *int {
	for i := range *k {
		if (*k)[i].name == string(name) {
			return &(*k)[i].last
		}
	}
	*k = append(*k, struct {
		name string
		last int
	}{name: string(name)})
	return &(*k)[len(*k)-1].last
}
