package clib

// MissingError is a library that is not installed.
type MissingError struct{ Name string }

func (e *MissingError) Error() string { return e.Name + " is not installed" }
