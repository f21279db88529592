//go:build !amd64

package amounts

func makers() []Maker { return []Maker{plain} }
