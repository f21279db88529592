package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

// expected is what a run is to end with.
type expected struct {
	expect  string // the digest; "": any
	weights string // that of the weights, likewise
}

func (e *expected) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&e.expect, "expect-digest", "", "fail with status 8 unless the run ends with this digest")
	f.StringVar(&e.weights, "expect-weights", "", "fail with status 8 unless the plastic weights end with this digest")
}

// arguments are the flags again.
func (e *expected) arguments() (args []string) {
	if e.expect != "" {
		args = append(args, "--expect-digest", e.expect)
	}
	if e.weights != "" {
		args = append(args, "--expect-weights", e.weights)
	}
	return args
}

// check refuses what is no digest.
func (e *expected) check() error {
	return errors.Join(checkDigest("--expect-digest", e.expect), checkDigest("--expect-weights", e.weights))
}

func checkDigest(flag, digest string) error {
	if digest == "" {
		return nil
	}
	if _, err := strconv.ParseUint(digest, 16, 64); err != nil || len(digest) != 16 {
		return usageError{fmt.Errorf("%s %q, want 16 hexadecimal digits as `burst run` prints them", flag, digest)}
	}
	return nil
}

// compare holds the digests of a run to those that it is to end with. weights is "" where no weight changes.
func (e *expected) compare(digest, weights string) error {
	if e.expect != "" && !strings.EqualFold(digest, e.expect) {
		return assertionError{fmt.Errorf("digest %s, want %s", digest, strings.ToLower(e.expect))}
	}
	switch {
	case e.weights == "" || strings.EqualFold(weights, e.weights):
		return nil
	case weights == "":
		return assertionError{fmt.Errorf("the network has no plastic weights, want weights of digest %s", strings.ToLower(e.weights))}
	}
	return assertionError{fmt.Errorf("weights of digest %s, want %s", weights, strings.ToLower(e.weights))}
}
