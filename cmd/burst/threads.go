package main

import (
	"errors"
	"strconv"

	"github.com/spf13/pflag"
)

// threadsValue is a number of threads; 0 is auto.
type threadsValue int

const autoThreads = "auto"

func (t *threadsValue) Type() string { return "int" }

func (t *threadsValue) String() string {
	if *t == 0 {
		return autoThreads
	}
	return strconv.Itoa(int(*t))
}

func (t *threadsValue) Set(text string) error {
	if text == autoThreads {
		*t = 0
		return nil
	}
	n, err := strconv.Atoi(text)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return errors.New("want a whole number of at most 63 bits, or " + autoThreads)
	case err != nil:
		return errors.New("want a whole number, or " + autoThreads)
	}
	*t = threadsValue(n)
	return nil
}

func threadsFlag(f *pflag.FlagSet, to *int) {
	f.Var((*threadsValue)(to), "threads", "threads of the cpu backend and of building, or auto: one a processor, and for bursts the number that is fastest")
}
