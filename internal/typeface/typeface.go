// Package typeface is the one face of all text in pictures, Liberation Sans regular. Package plot, and plot/font/liberation, would put
// twelve faces into the program, of 4.5 MB.
package typeface

import (
	"sync"

	"codeberg.org/go-fonts/liberation/liberationsansregular"
	"golang.org/x/image/font/opentype"
	"gonum.org/v1/plot/font"
)

// Font names the face, in a size.
func Font(size font.Length) font.Font {
	return font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
}

// Cache holds the face, and measures of its letters.
var Cache = sync.OnceValue(func() *font.Cache {
	face, err := opentype.Parse(liberationsansregular.TTF)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return font.NewCache(font.Collection{{Font: Font(0), Face: face}})
})
